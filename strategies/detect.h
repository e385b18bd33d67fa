/* Detection: what the CPU has and the OS has enabled. The tuner runs this text and the generated
 * header embeds it. It is compiled without AVX, since it runs before anybody knows. */

/* The raw registers that the answer depends on. */
struct ucopy_cpuid {
    unsigned max_leaf;
    unsigned vendor[3]; /* EBX, EDX, ECX of leaf 0: the vendor's 12 characters in order */
    unsigned leaf1_eax, leaf1_ecx, leaf1_edx;
    unsigned leaf7_ebx, leaf7_ecx, leaf7_edx; /* 0 where max_leaf < 7 */
    unsigned xcr0; /* low half; 0 where OSXSAVE (leaf 1 ECX bit 27) is clear */
};

__attribute__((unused)) static void ucopy_cpuid_leaf(unsigned leaf, unsigned subleaf, unsigned r[4])
{
    __asm__ volatile("cpuid"
                     : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3])
                     : "0"(leaf), "2"(subleaf));
}

/* Executes CPUID three times, up to 13,000 ticks each where a hypervisor traps it: call it once. */
__attribute__((unused)) static void ucopy_cpuid_read(struct ucopy_cpuid *c)
{
    unsigned r[4];

    ucopy_cpuid_leaf(0, 0, r);
    c->max_leaf = r[0];
    c->vendor[0] = r[1];
    c->vendor[1] = r[3];
    c->vendor[2] = r[2];
    ucopy_cpuid_leaf(1, 0, r);
    c->leaf1_eax = r[0];
    c->leaf1_ecx = r[2];
    c->leaf1_edx = r[3];
    c->leaf7_ebx = c->leaf7_ecx = c->leaf7_edx = 0;
    if (c->max_leaf >= 7) {
        ucopy_cpuid_leaf(7, 0, r);
        c->leaf7_ebx = r[1];
        c->leaf7_ecx = r[2];
        c->leaf7_edx = r[3];
    }
    c->xcr0 = 0;
    if (c->leaf1_ecx >> 27 & 1) {
        unsigned high;
        __asm__ volatile("xgetbv" : "=a"(c->xcr0), "=d"(high) : "c"(0));
    }
}

/* Bits as in UCOPY_ISA_LIST: 0 erms, 1 fsrm, 2 sse2, 3 avx2, 4 bmi2, 5 avx512bw (with F, VL, DQ,
 * BMI2), 6 avx512vbmi2. AVX needs XCR0 bits 1 and 2, AVX-512 bits 5 to 7 as well (Intel SDM
 * vol. 1, 14.3 and 15.2). */
__attribute__((unused)) static unsigned ucopy_isa_usable(const struct ucopy_cpuid *c)
{
    unsigned ymm = (c->leaf1_ecx >> 27 & 1) && (c->leaf1_ecx >> 28 & 1) && (c->xcr0 & 0x6u) == 0x6u;
    unsigned zmm = ymm && (c->xcr0 & 0xE6u) == 0xE6u;
    unsigned bmi2 = c->leaf7_ebx >> 8 & 1;
    unsigned avx512 = zmm && bmi2 && (c->leaf7_ebx >> 16 & 1) && (c->leaf7_ebx >> 17 & 1) &&
                      (c->leaf7_ebx >> 30 & 1) && (c->leaf7_ebx >> 31 & 1);

    return (c->leaf7_ebx >> 9 & 1) | (c->leaf7_edx >> 4 & 1) << 1 | (c->leaf1_edx >> 26 & 1) << 2 |
           (ymm && (c->leaf7_ebx >> 5 & 1) ? 1u << 3 : 0u) | bmi2 << 4 | avx512 << 5 |
           (avx512 && (c->leaf7_ecx >> 6 & 1) ? 1u << 6 : 0u);
}

/* Family and model with the extended fields (Intel SDM vol. 2A, CPUID, leaf 1 EAX; AMD the same). */
__attribute__((unused)) static unsigned ucopy_cpu_family(unsigned eax)
{
    unsigned family = eax >> 8 & 15;
    return family == 15 ? family + (eax >> 20 & 255) : family;
}

__attribute__((unused)) static unsigned ucopy_cpu_model(unsigned eax)
{
    unsigned family = eax >> 8 & 15;
    unsigned model = eax >> 4 & 15;
    return family == 6 || family == 15 ? model | (eax >> 16 & 15) << 4 : model;
}
