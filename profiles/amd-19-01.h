/* SPDX-License-Identifier: 0BSD */
/* How to copy n bytes on amd-19-01, AMD EPYC, under KVM.
 * Made by ucopy-tune 0.1.0 from amd-19-01.json: do not edit, tune again.
 *
 * The limits are measured performance limits, not correctness limits: the largest size,
 * inclusive, for which a strategy was chosen. Measured in user mode with memcpy's
 * contract (buffers equal or apart, any alignment, returns dst).
 *
 * copy: dst is used soon
 *         0 to 256        short_step32_avx2_256; next short_step32_sse2_64, under 5 % slower
 *       257 to 12582912   avx2_loop_x4; next rep_movsq, under 5 % slower
 *  12582913 and above     avx2_stream_x4; tie with avx2_stream_x4_prefetch; not bracketed, measured to 64 MiB
 * nocache: dst is not used soon
 *         0 to 256        short_fold_avx2_256; tie with short_fold_sse2_64
 *       257 to 16384      sse2_loop_x8; next sse2_loop_x4, under 5 % slower
 *     16385 and above     avx2_stream_x4; tie with avx2_stream_x4_prefetch; not bracketed, measured to 64 MiB
 * Best by the weights named default. Grade of the measurement: A.
 * Against the best strategy of each size copy costs 0 % more, 15 % at worst (at 50).
 * Against the best strategy of each size nocache costs 5 % more, 25 % at worst (at 0).
 * Time of glibc 2.36 memcpy over that of copy, called / inlined with -march=native, geometric means:
 *   one size repeated: dst not read 1.00 / 1.25, read at once 0.95 / 1.00, waited for 1.05 / 1.05
 *   mixed, to 4 KiB:   dst not read 1.25 / 1.55, read at once 1.30 / 1.45, waited for 1.15 / 1.20
 *   the same, learned: dst not read 1.05 / 1.85, read at once 1.15 / 1.35, waited for 1.00 / 1.00
 * Over twice the best at their worst placements, in copy: rep_movsq 16384 to 32768.
 *
 * Use: include it, and call
 *   ucopy_amd_19_01(dst, src, n): copies where dst is used soon
 *   ucopy_amd_19_01_nocache(dst, src, n): copies where it is not
 *   ucopy_amd_19_01_is_this_cpu(): is this a CPU of the measured family and model?
 *   ucopy_amd_19_01_usable(): has this CPU what the code needs, and has the OS enabled it?
 * Where it is not usable, under sanitizers and with UCOPY_NO_ASM defined, the copies are
 * UCOPY_FALLBACK(dst, src, n): __builtin_memcpy, unless you define it before (a library
 * that provides memcpy must). For the assembler, and on other architectures, only the
 * numbers are defined. */
#ifndef UCOPY_AMD_19_01_H
#define UCOPY_AMD_19_01_H

#define UCOPY_AMD_19_01_COPY_1_MAX 256
#define UCOPY_AMD_19_01_COPY_2_MAX 12582912
#define UCOPY_AMD_19_01_COPY_SHORT_STEP32_AVX2_256_MAX 256
#define UCOPY_AMD_19_01_COPY_AVX2_LOOP_X4_MAX 12582912
#define UCOPY_AMD_19_01_COPY_STREAMS 1
#define UCOPY_AMD_19_01_NOCACHE_1_MAX 256
#define UCOPY_AMD_19_01_NOCACHE_2_MAX 16384
#define UCOPY_AMD_19_01_NOCACHE_SHORT_FOLD_AVX2_256_MAX 256
#define UCOPY_AMD_19_01_NOCACHE_SSE2_LOOP_X8_MAX 16384
#define UCOPY_AMD_19_01_NOCACHE_STREAMS 1

#ifndef __ASSEMBLER__
#define UCOPY_AMD_19_01_COPY_1_STRATEGY "short_step32_avx2_256"
#define UCOPY_AMD_19_01_COPY_2_STRATEGY "avx2_loop_x4"
#define UCOPY_AMD_19_01_COPY_3_STRATEGY "avx2_stream_x4"
#define UCOPY_AMD_19_01_NOCACHE_1_STRATEGY "short_fold_avx2_256"
#define UCOPY_AMD_19_01_NOCACHE_2_STRATEGY "sse2_loop_x8"
#define UCOPY_AMD_19_01_NOCACHE_3_STRATEGY "avx2_stream_x4"

#if defined(__x86_64__) && !defined(__ILP32__)

#ifndef UCOPY_FALLBACK
#define UCOPY_FALLBACK(d, s, n) ((n) ? __builtin_memcpy(d, s, n) : (d))
#endif

/* Sanitizers check memcpy and see nothing of assembly. */
#if defined(UCOPY_NO_ASM) || defined(__SANITIZE_ADDRESS__) || \
    defined(__SANITIZE_THREAD__) || defined(__SANITIZE_HWADDRESS__)
#define UCOPY_AMD_19_01_ONLY_FALLBACK 1
#elif !defined(__SSE2__) /* as under -mgeneral-regs-only */
#define UCOPY_AMD_19_01_ONLY_FALLBACK 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer) || __has_feature(hwaddress_sanitizer)
#define UCOPY_AMD_19_01_ONLY_FALLBACK 1
#endif
#endif
#ifndef UCOPY_AMD_19_01_ONLY_FALLBACK
#define UCOPY_AMD_19_01_ONLY_FALLBACK 0
#endif

/* Was the compiler told that every CPU has what the code needs? Then nothing is tested. */
#if defined(__SSE2__) && \
    defined(__AVX2__)
#define UCOPY_AMD_19_01_PROMISED 1
#else
#define UCOPY_AMD_19_01_PROMISED 0
#endif

/* What every strategy's text relies on. A leaf is always inlined and has no target attribute: its
 * called form, a noinline function, carries the attribute of the instruction sets it needs. */
typedef __SIZE_TYPE__ ucopy_amd_19_01_size;
#define UCOPY_AMD_19_01_LEAF static __inline__ __attribute__((always_inline, unused))

#ifndef UCOPY_NO_ASM
/* Detection: what the CPU has and the OS has enabled. The tuner runs this text and the generated
 * header embeds it. It is compiled without AVX, since it runs before anybody knows. */

/* The raw registers that the answer depends on. */
struct ucopy_amd_19_01_cpuid {
    unsigned max_leaf;
    unsigned vendor[3]; /* EBX, EDX, ECX of leaf 0: the vendor's 12 characters in order */
    unsigned leaf1_eax, leaf1_ecx, leaf1_edx;
    unsigned leaf7_ebx, leaf7_ecx, leaf7_edx; /* 0 where max_leaf < 7 */
    unsigned xcr0; /* low half; 0 where OSXSAVE (leaf 1 ECX bit 27) is clear */
};

__attribute__((unused)) static void ucopy_amd_19_01_cpuid_leaf(unsigned leaf, unsigned subleaf, unsigned r[4])
{
    __asm__ volatile("cpuid"
                     : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3])
                     : "0"(leaf), "2"(subleaf));
}

/* Executes CPUID three times, up to 13,000 ticks each where a hypervisor traps it: call it once. */
__attribute__((unused)) static void ucopy_amd_19_01_cpuid_read(struct ucopy_amd_19_01_cpuid *c)
{
    unsigned r[4];

    ucopy_amd_19_01_cpuid_leaf(0, 0, r);
    c->max_leaf = r[0];
    c->vendor[0] = r[1];
    c->vendor[1] = r[3];
    c->vendor[2] = r[2];
    ucopy_amd_19_01_cpuid_leaf(1, 0, r);
    c->leaf1_eax = r[0];
    c->leaf1_ecx = r[2];
    c->leaf1_edx = r[3];
    c->leaf7_ebx = c->leaf7_ecx = c->leaf7_edx = 0;
    if (c->max_leaf >= 7) {
        ucopy_amd_19_01_cpuid_leaf(7, 0, r);
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

/* Bits as in UCOPY_AMD_19_01_ISA_LIST: 0 erms, 1 fsrm, 2 sse2, 3 avx2, 4 bmi2, 5 avx512bw (with F, VL, DQ,
 * BMI2), 6 avx512vbmi2. AVX needs XCR0 bits 1 and 2, AVX-512 bits 5 to 7 as well (Intel SDM
 * vol. 1, 14.3 and 15.2). */
__attribute__((unused)) static unsigned ucopy_amd_19_01_isa_usable(const struct ucopy_amd_19_01_cpuid *c)
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
__attribute__((unused)) static unsigned ucopy_amd_19_01_cpu_family(unsigned eax)
{
    unsigned family = eax >> 8 & 15;
    return family == 15 ? family + (eax >> 20 & 255) : family;
}

__attribute__((unused)) static unsigned ucopy_amd_19_01_cpu_model(unsigned eax)
{
    unsigned family = eax >> 8 & 15;
    unsigned model = eax >> 4 & 15;
    return family == 6 || family == 15 ? model | (eax >> 16 & 15) << 4 : model;
}

/* 1: looked; 2: is this CPU; 4: is usable. Looked at once, since CPUID can trap and
 * take thousands of ticks; two threads that look at once find the same. */
static int ucopy_amd_19_01_state __attribute__((unused));

__attribute__((noinline, cold, unused)) static int ucopy_amd_19_01_look(void)
{
    struct ucopy_amd_19_01_cpuid c;
    int state = 1;

    ucopy_amd_19_01_cpuid_read(&c);
    if (c.vendor[0] == 0x68747541u && c.vendor[1] == 0x69746e65u && c.vendor[2] == 0x444d4163u &&
        ucopy_amd_19_01_cpu_family(c.leaf1_eax) == 0x19u &&
        ucopy_amd_19_01_cpu_model(c.leaf1_eax) == 0x1u)
        state |= 2;
    if ((ucopy_amd_19_01_isa_usable(&c) & 0xcu) == 0xcu)
        state |= 4;
    __atomic_store_n(&ucopy_amd_19_01_state, state, __ATOMIC_RELAXED);
    return state;
}

static __inline__ __attribute__((unused)) int ucopy_amd_19_01_is_this_cpu(void)
{
    int state = __atomic_load_n(&ucopy_amd_19_01_state, __ATOMIC_RELAXED);
    return ((state ? state : ucopy_amd_19_01_look()) & 2) != 0;
}

static __inline__ __attribute__((unused)) int ucopy_amd_19_01_usable(void)
{
    int state = __atomic_load_n(&ucopy_amd_19_01_state, __ATOMIC_RELAXED);
    return ((state ? state : ucopy_amd_19_01_look()) & 4) != 0;
}
#else /* without assembly there is no CPUID */
static __inline__ __attribute__((unused)) int ucopy_amd_19_01_is_this_cpu(void)
{
    return 0;
}

static __inline__ __attribute__((unused)) int ucopy_amd_19_01_usable(void)
{
    return 0;
}
#endif

#if !UCOPY_AMD_19_01_ONLY_FALLBACK

/* Moves of short copies by general registers. Each serves a range of sizes by a fixed set of loads and
 * stores that begin with the buffer and end with it, overlapping in between. All loads come first, so that
 * the stores of one move never delay its loads.
 * A fold serves two octaves without a branch: its offset k is the register's width in the upper octave and
 * 0 in the lower, ((n - 1) >> 1) & width, where both middle moves repeat the outer ones. */
/* 1 to 3: first, middle and last byte. */
UCOPY_AMD_19_01_LEAF void ucopy_amd_19_01_move_1_3(void *d, const void *s, ucopy_amd_19_01_size n)
{
    __asm__ volatile("movzbl (%[s]), %%eax\n\t"
                     "movzbl (%[s],%[half]), %%ecx\n\t"
                     "movzbl -1(%[s],%[n]), %%r8d\n\t"
                     "movb %%al, (%[d])\n\t"
                     "movb %%cl, (%[d],%[half])\n\t"
                     "movb %%r8b, -1(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n), [half] "r"(n >> 1)
                     : "rax", "rcx", "r8", "memory");
}
/* 4 to 8: two 4-byte moves. */
UCOPY_AMD_19_01_LEAF void ucopy_amd_19_01_pair_4_8(void *d, const void *s, ucopy_amd_19_01_size n)
{
    __asm__ volatile("mov (%[s]), %%eax\n\t"
                     "mov -4(%[s],%[n]), %%ecx\n\t"
                     "mov %%eax, (%[d])\n\t"
                     "mov %%ecx, -4(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n)
                     : "rax", "rcx", "memory");
}
/* 8 to 16: two 8-byte moves. */
UCOPY_AMD_19_01_LEAF void ucopy_amd_19_01_pair_8_16(void *d, const void *s, ucopy_amd_19_01_size n)
{
    __asm__ volatile("mov (%[s]), %%rax\n\t"
                     "mov -8(%[s],%[n]), %%rcx\n\t"
                     "mov %%rax, (%[d])\n\t"
                     "mov %%rcx, -8(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n)
                     : "rax", "rcx", "memory");
}
/* 4 to 16: four 4-byte moves. */
UCOPY_AMD_19_01_LEAF void ucopy_amd_19_01_fold_4_16(void *d, const void *s, ucopy_amd_19_01_size n)
{
    ucopy_amd_19_01_size k = ((n - 1) >> 1) & 4;

    __asm__ volatile("mov (%[s]), %%eax\n\t"
                     "mov (%[s],%[k]), %%ecx\n\t"
                     "mov -4(%[s],%[e]), %%r8d\n\t"
                     "mov -4(%[s],%[n]), %%r9d\n\t"
                     "mov %%eax, (%[d])\n\t"
                     "mov %%ecx, (%[d],%[k])\n\t"
                     "mov %%r8d, -4(%[d],%[e])\n\t"
                     "mov %%r9d, -4(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n), [k] "r"(k), [e] "r"(n - k)
                     : "rax", "rcx", "r8", "r9", "memory");
}
/* 8 to 32: four 8-byte moves. */
UCOPY_AMD_19_01_LEAF void ucopy_amd_19_01_fold_8_32(void *d, const void *s, ucopy_amd_19_01_size n)
{
    ucopy_amd_19_01_size k = ((n - 1) >> 1) & 8;

    __asm__ volatile("mov (%[s]), %%rax\n\t"
                     "mov (%[s],%[k]), %%rcx\n\t"
                     "mov -8(%[s],%[e]), %%r8\n\t"
                     "mov -8(%[s],%[n]), %%r9\n\t"
                     "mov %%rax, (%[d])\n\t"
                     "mov %%rcx, (%[d],%[k])\n\t"
                     "mov %%r8, -8(%[d],%[e])\n\t"
                     "mov %%r9, -8(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n), [k] "r"(k), [e] "r"(n - k)
                     : "rax", "rcx", "r8", "r9", "memory");
}
/* 16 to 32: four 8-byte moves. */
UCOPY_AMD_19_01_LEAF void ucopy_amd_19_01_quad_16_32(void *d, const void *s, ucopy_amd_19_01_size n)
{
    __asm__ volatile("mov (%[s]), %%rax\n\t"
                     "mov 8(%[s]), %%rcx\n\t"
                     "mov -16(%[s],%[n]), %%r8\n\t"
                     "mov -8(%[s],%[n]), %%r9\n\t"
                     "mov %%rax, (%[d])\n\t"
                     "mov %%rcx, 8(%[d])\n\t"
                     "mov %%r8, -16(%[d],%[n])\n\t"
                     "mov %%r9, -8(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n)
                     : "rax", "rcx", "r8", "r9", "memory");
}
/* 32 to 64: eight 8-byte moves in two groups, by four registers. */
UCOPY_AMD_19_01_LEAF void ucopy_amd_19_01_oct_32_64(void *d, const void *s, ucopy_amd_19_01_size n)
{
    __asm__ volatile("mov (%[s]), %%rax\n\t"
                     "mov 8(%[s]), %%rcx\n\t"
                     "mov 16(%[s]), %%r8\n\t"
                     "mov 24(%[s]), %%r9\n\t"
                     "mov %%rax, (%[d])\n\t"
                     "mov %%rcx, 8(%[d])\n\t"
                     "mov %%r8, 16(%[d])\n\t"
                     "mov %%r9, 24(%[d])\n\t"
                     "mov -32(%[s],%[n]), %%rax\n\t"
                     "mov -24(%[s],%[n]), %%rcx\n\t"
                     "mov -16(%[s],%[n]), %%r8\n\t"
                     "mov -8(%[s],%[n]), %%r9\n\t"
                     "mov %%rax, -32(%[d],%[n])\n\t"
                     "mov %%rcx, -24(%[d],%[n])\n\t"
                     "mov %%r8, -16(%[d],%[n])\n\t"
                     "mov %%r9, -8(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n)
                     : "rax", "rcx", "r8", "r9", "memory");
}

/* Moves of short copies by ymm registers, vzeroupper behind each; see moves_gpr.h for pairs and folds. */
/* 16 to 32: two 16-byte moves in the VEX spelling, which leaves no upper half dirty. */
UCOPY_AMD_19_01_LEAF void ucopy_amd_19_01_pair_16_32_avx(void *d, const void *s, ucopy_amd_19_01_size n)
{
    __asm__ volatile("vmovdqu (%[s]), %%xmm0\n\t"
                     "vmovdqu -16(%[s],%[n]), %%xmm1\n\t"
                     "vmovdqu %%xmm0, (%[d])\n\t"
                     "vmovdqu %%xmm1, -16(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n)
                     : "xmm0", "xmm1", "memory");
}
/* 16 to 64: four 16-byte moves in the VEX spelling. */
UCOPY_AMD_19_01_LEAF void ucopy_amd_19_01_fold_16_64_avx(void *d, const void *s, ucopy_amd_19_01_size n)
{
    ucopy_amd_19_01_size k = ((n - 1) >> 1) & 16;

    __asm__ volatile("vmovdqu (%[s]), %%xmm0\n\t"
                     "vmovdqu (%[s],%[k]), %%xmm1\n\t"
                     "vmovdqu -16(%[s],%[e]), %%xmm2\n\t"
                     "vmovdqu -16(%[s],%[n]), %%xmm3\n\t"
                     "vmovdqu %%xmm0, (%[d])\n\t"
                     "vmovdqu %%xmm1, (%[d],%[k])\n\t"
                     "vmovdqu %%xmm2, -16(%[d],%[e])\n\t"
                     "vmovdqu %%xmm3, -16(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n), [k] "r"(k), [e] "r"(n - k)
                     : "xmm0", "xmm1", "xmm2", "xmm3", "memory");
}
/* 32 to 64: two 32-byte moves. */
UCOPY_AMD_19_01_LEAF void ucopy_amd_19_01_pair_32_64_avx2(void *d, const void *s, ucopy_amd_19_01_size n)
{
    __asm__ volatile("vmovdqu (%[s]), %%ymm0\n\t"
                     "vmovdqu -32(%[s],%[n]), %%ymm1\n\t"
                     "vmovdqu %%ymm0, (%[d])\n\t"
                     "vmovdqu %%ymm1, -32(%[d],%[n])\n\t"
                     "vzeroupper"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n)
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory");
}
/* 32 to 128: four 32-byte moves. */
UCOPY_AMD_19_01_LEAF void ucopy_amd_19_01_fold_32_128_avx2(void *d, const void *s, ucopy_amd_19_01_size n)
{
    ucopy_amd_19_01_size k = ((n - 1) >> 1) & 32;

    __asm__ volatile("vmovdqu (%[s]), %%ymm0\n\t"
                     "vmovdqu (%[s],%[k]), %%ymm1\n\t"
                     "vmovdqu -32(%[s],%[e]), %%ymm2\n\t"
                     "vmovdqu -32(%[s],%[n]), %%ymm3\n\t"
                     "vmovdqu %%ymm0, (%[d])\n\t"
                     "vmovdqu %%ymm1, (%[d],%[k])\n\t"
                     "vmovdqu %%ymm2, -32(%[d],%[e])\n\t"
                     "vmovdqu %%ymm3, -32(%[d],%[n])\n\t"
                     "vzeroupper"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n), [k] "r"(k), [e] "r"(n - k)
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory");
}
/* 128 to 256: eight 32-byte moves. */
UCOPY_AMD_19_01_LEAF void ucopy_amd_19_01_oct_128_256_avx2(void *d, const void *s, ucopy_amd_19_01_size n)
{
    __asm__ volatile("vmovdqu (%[s]), %%ymm0\n\t"
                     "vmovdqu 32(%[s]), %%ymm1\n\t"
                     "vmovdqu 64(%[s]), %%ymm2\n\t"
                     "vmovdqu 96(%[s]), %%ymm3\n\t"
                     "vmovdqu -128(%[s],%[n]), %%ymm4\n\t"
                     "vmovdqu -96(%[s],%[n]), %%ymm5\n\t"
                     "vmovdqu -64(%[s],%[n]), %%ymm6\n\t"
                     "vmovdqu -32(%[s],%[n]), %%ymm7\n\t"
                     "vmovdqu %%ymm0, (%[d])\n\t"
                     "vmovdqu %%ymm1, 32(%[d])\n\t"
                     "vmovdqu %%ymm2, 64(%[d])\n\t"
                     "vmovdqu %%ymm3, 96(%[d])\n\t"
                     "vmovdqu %%ymm4, -128(%[d],%[n])\n\t"
                     "vmovdqu %%ymm5, -96(%[d],%[n])\n\t"
                     "vmovdqu %%ymm6, -64(%[d],%[n])\n\t"
                     "vmovdqu %%ymm7, -32(%[d],%[n])\n\t"
                     "vzeroupper"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n)
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory");
}

/* Moves for dispatches that test for 4 bytes first: below 4 and from 4 on, each without a further branch on
 * the size; see moves_free_gpr.h for what happens on the scratch area. From 4 on the four-byte pair always
 * lies inside the buffers, so only the wider pairs need the conditional moves. Pointers begin at the scratch
 * area and are moved to the buffers, which takes no register more than a called function has for free. */
/* 0 to 3: first, middle and last byte, or the scratch area's. */
UCOPY_AMD_19_01_LEAF void ucopy_amd_19_01_free_0_3(void *d, const void *s, ucopy_amd_19_01_size n)
{
    __attribute__((uninitialized)) char scratch[4];
    ucopy_amd_19_01_size a, b, h;
    void *p = scratch + 1, *q = scratch + 3;

    __asm__ volatile("mov %k[n], %k[h]\n\t"
                     "test %[n], %[n]\n\t"
                     "cmovnz %[s], %[p]\n\t"
                     "cmovnz %[d], %[q]\n\t"
                     "shr $1, %k[h]\n\t"
                     "movzbl (%[p]), %k[a]\n\t"
                     "movzbl (%[p],%[h]), %k[b]\n\t"
                     "movb %b[a], (%[q])\n\t"
                     "movzbl -1(%[p],%[n]), %k[a]\n\t"
                     "movb %b[b], (%[q],%[h])\n\t"
                     "movb %b[a], -1(%[q],%[n])"
                     : [a] "=&q"(a), [b] "=&q"(b), [h] "=&r"(h), [p] "+&r"(p), [q] "+&r"(q), "=m"(scratch)
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n)
                     : "cc", "memory");
}
/* 4 to 16: two 4-byte moves, and two of 8 bytes, which below 8 work on 12 bytes of an aligned 16, so that none
 * straddles a line. */
UCOPY_AMD_19_01_LEAF void ucopy_amd_19_01_free_4_16(void *d, const void *s, ucopy_amd_19_01_size n)
{
    __attribute__((uninitialized, aligned(16))) char scratch[32];
    ucopy_amd_19_01_size a, b;
    void *p = scratch + 4, *q = scratch + 20;

    __asm__ volatile("mov (%[s]), %k[a]\n\t"
                     "mov -4(%[s],%[n]), %k[b]\n\t"
                     "cmp $8, %[n]\n\t"
                     "cmovae %[s], %[p]\n\t"
                     "cmovae %[d], %[q]\n\t"
                     "mov %k[a], (%[d])\n\t"
                     "mov %k[b], -4(%[d],%[n])\n\t"
                     "mov (%[p]), %[a]\n\t"
                     "mov -8(%[p],%[n]), %[b]\n\t"
                     "mov %[a], (%[q])\n\t"
                     "mov %[b], -8(%[q],%[n])"
                     : [a] "=&r"(a), [b] "=&r"(b), [p] "+&r"(p), [q] "+&r"(q), "=m"(scratch)
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n)
                     : "cc", "memory");
}

/* 4 to 32 and 4 to 64 bytes without a branch on the size, by xmm registers in the VEX spelling, which leaves no upper half dirty;
 * see moves_step_gpr.h. */
UCOPY_AMD_19_01_LEAF void ucopy_amd_19_01_free_4_32_avx2(void *d, const void *s, ucopy_amd_19_01_size n)
{
    __attribute__((uninitialized)) char scratch[64 + 63];
    ucopy_amd_19_01_size in = (((ucopy_amd_19_01_size)scratch + 63) & ~(ucopy_amd_19_01_size) 63) + 16, a, b;
    void *p, *q;
    __asm__ volatile("mov (%[s]), %k[a]\n\t"
                     "mov -4(%[s],%[n]), %k[b]\n\t"
                     "mov %[in], %[p]\n\t"
                     "lea 32(%[in]), %[q]\n\t"
                     "cmp $8, %[n]\n\t"
                     "cmovae %[s], %[p]\n\t"
                     "cmovae %[d], %[q]\n\t"
                     "mov %k[a], (%[d])\n\t"
                     "mov %k[b], -4(%[d],%[n])\n\t"
                     "mov (%[p]), %[a]\n\t"
                     "mov -8(%[p],%[n]), %[b]\n\t"
                     "mov %[in], %[p]\n\t"
                     "cmp $16, %[n]\n\t"
                     "cmovae %[s], %[p]\n\t"
                     "mov %[a], (%[q])\n\t"
                     "mov %[b], -8(%[q],%[n])\n\t"
                     "lea 32(%[in]), %[q]\n\t"
                     "cmovae %[d], %[q]\n\t"
                     "vmovdqu (%[p]), %%xmm0\n\t"
                     "vmovdqu -16(%[p],%[n]), %%xmm1\n\t"
                     "vmovdqu %%xmm0, (%[q])\n\t"
                     "vmovdqu %%xmm1, -16(%[q],%[n])"
                     : [a] "=&r"(a), [b] "=&r"(b), [p] "=&r"(p), [q] "=&r"(q), "=m"(scratch)
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n), [in] "r"(in)
                     : "xmm0", "xmm1", "cc", "memory");
}
UCOPY_AMD_19_01_LEAF void ucopy_amd_19_01_free_4_64_avx2(void *d, const void *s, ucopy_amd_19_01_size n)
{
    __attribute__((uninitialized)) char scratch[64 + 63];
    ucopy_amd_19_01_size in = (((ucopy_amd_19_01_size)scratch + 63) & ~(ucopy_amd_19_01_size) 63) + 16, a, b;
    void *p, *q;
    __asm__ volatile("mov (%[s]), %k[a]\n\t"
                     "mov -4(%[s],%[n]), %k[b]\n\t"
                     "mov %[in], %[p]\n\t"
                     "lea 32(%[in]), %[q]\n\t"
                     "cmp $8, %[n]\n\t"
                     "cmovae %[s], %[p]\n\t"
                     "cmovae %[d], %[q]\n\t"
                     "mov %k[a], (%[d])\n\t"
                     "mov %k[b], -4(%[d],%[n])\n\t"
                     "mov (%[p]), %[a]\n\t"
                     "mov -8(%[p],%[n]), %[b]\n\t"
                     "mov %[in], %[p]\n\t"
                     "cmp $16, %[n]\n\t"
                     "cmovae %[s], %[p]\n\t"
                     "mov %[a], (%[q])\n\t"
                     "mov %[b], -8(%[q],%[n])\n\t"
                     "lea 32(%[in]), %[q]\n\t"
                     "cmovae %[d], %[q]\n\t"
                     "lea -1(%[n]), %k[a]\n\t"
                     "shr $1, %k[a]\n\t"
                     "and $16, %k[a]\n\t"
                     "mov %k[n], %k[b]\n\t"
                     "sub %k[a], %k[b]\n\t"
                     "vmovdqu (%[p]), %%xmm0\n\t"
                     "vmovdqu (%[p],%[a]), %%xmm1\n\t"
                     "vmovdqu -16(%[p],%[b]), %%xmm2\n\t"
                     "vmovdqu -16(%[p],%[n]), %%xmm3\n\t"
                     "vmovdqu %%xmm0, (%[q])\n\t"
                     "vmovdqu %%xmm1, (%[q],%[a])\n\t"
                     "vmovdqu %%xmm2, -16(%[q],%[b])\n\t"
                     "vmovdqu %%xmm3, -16(%[q],%[n])"
                     : [a] "=&r"(a), [b] "=&r"(b), [p] "=&r"(p), [q] "=&r"(q), "=m"(scratch)
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n), [in] "r"(in)
                     : "xmm0", "xmm1", "xmm2", "xmm3", "cc", "memory");
}

/* Below 4 bytes without a further branch, from 4 to 32 without one, by xmm and ymm registers; serves to 256. Wins
 * where sizes mix; loses to a tree on repeated sizes by four more moves. */
UCOPY_AMD_19_01_LEAF void *ucopy_amd_19_01_short_step32_avx2_256(void *dst, const void *src, ucopy_amd_19_01_size n)
{
    if (n < 4)
        ucopy_amd_19_01_free_0_3(dst, src, n);
    else if (n <= 32)
        ucopy_amd_19_01_free_4_32_avx2(dst, src, n);
    else if (n <= 128)
        ucopy_amd_19_01_fold_32_128_avx2(dst, src, n);
    else
        ucopy_amd_19_01_oct_128_256_avx2(dst, src, n);
    return dst;
}

/* Four ymm registers a turn, dst aligned, vzeroupper behind. Wins on CPUs with 32-byte stores; loses to
 * 64-byte stores where the store port is that wide. */
UCOPY_AMD_19_01_LEAF void *ucopy_amd_19_01_avx2_loop_x4(void *dst, const void *src, ucopy_amd_19_01_size n)
{
    void *d = dst, *d_end = (char *)dst + n - 4 * 32;
    const void *s_end = (const char *)src + n - 4 * 32;
    __asm__ volatile("vmovdqu (%[s]), %%ymm0\n\t"
                     "vmovdqu %%ymm0, (%[d])\n\t"
                     "sub %[d], %[s]\n\t"
                     "add $32, %[d]\n\t"
                     "and $-32, %[d]\n\t"
                     "add %[d], %[s]\n\t"
                     "cmp %[d_end], %[d]\n\t"
                     "jae 2f\n\t"
                     ".p2align 5\n"
                     "1:\n\t"
                     "vmovdqu 0*32(%[s]), %%ymm0\n\t"
                     "vmovdqu 1*32(%[s]), %%ymm1\n\t"
                     "vmovdqu 2*32(%[s]), %%ymm2\n\t"
                     "vmovdqu 3*32(%[s]), %%ymm3\n\t"
                     "vmovdqa %%ymm0, 0*32(%[d])\n\t"
                     "vmovdqa %%ymm1, 1*32(%[d])\n\t"
                     "vmovdqa %%ymm2, 2*32(%[d])\n\t"
                     "vmovdqa %%ymm3, 3*32(%[d])\n\t"
                     "add $4*32, %[s]\n\t"
                     "add $4*32, %[d]\n\t"
                     "cmp %[d_end], %[d]\n\t"
                     "jb 1b\n"
                     "2:\n\t"
                     "vmovdqu 0*32(%[s_end]), %%ymm0\n\t"
                     "vmovdqu 1*32(%[s_end]), %%ymm1\n\t"
                     "vmovdqu 2*32(%[s_end]), %%ymm2\n\t"
                     "vmovdqu 3*32(%[s_end]), %%ymm3\n\t"
                     "vmovdqu %%ymm0, 0*32(%[d_end])\n\t"
                     "vmovdqu %%ymm1, 1*32(%[d_end])\n\t"
                     "vmovdqu %%ymm2, 2*32(%[d_end])\n\t"
                     "vmovdqu %%ymm3, 3*32(%[d_end])\n\t"
                     "\n\t"
                     "vzeroupper"
                     : [d] "+&r"(d), [s] "+&r"(src)
                     : [d_end] "r"(d_end), [s_end] "r"(s_end)
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc", "memory");
    return dst;
}

/* Streaming stores by ymm, two lines a turn, sfence and vzeroupper behind. Wins as sse2_stream_x4; loses the
 * same way. */
UCOPY_AMD_19_01_LEAF void *ucopy_amd_19_01_avx2_stream_x4(void *dst, const void *src, ucopy_amd_19_01_size n)
{
    void *d = dst, *d_end = (char *)dst + n - 4 * 32;
    const void *s_end = (const char *)src + n - 4 * 32;
    __asm__ volatile("vmovdqu (%[s]), %%ymm0\n\t"
                     "vmovdqu %%ymm0, (%[d])\n\t"
                     "sub %[d], %[s]\n\t"
                     "add $32, %[d]\n\t"
                     "and $-32, %[d]\n\t"
                     "add %[d], %[s]\n\t"
                     "cmp %[d_end], %[d]\n\t"
                     "jae 2f\n\t"
                     ".p2align 5\n"
                     "1:\n\t"
                     "vmovdqu 0*32(%[s]), %%ymm0\n\t"
                     "vmovdqu 1*32(%[s]), %%ymm1\n\t"
                     "vmovdqu 2*32(%[s]), %%ymm2\n\t"
                     "vmovdqu 3*32(%[s]), %%ymm3\n\t"
                     "vmovntdq %%ymm0, 0*32(%[d])\n\t"
                     "vmovntdq %%ymm1, 1*32(%[d])\n\t"
                     "vmovntdq %%ymm2, 2*32(%[d])\n\t"
                     "vmovntdq %%ymm3, 3*32(%[d])\n\t"
                     "add $4*32, %[s]\n\t"
                     "add $4*32, %[d]\n\t"
                     "cmp %[d_end], %[d]\n\t"
                     "jb 1b\n"
                     "2:\n\t"
                     "vmovdqu 0*32(%[s_end]), %%ymm0\n\t"
                     "vmovdqu 1*32(%[s_end]), %%ymm1\n\t"
                     "vmovdqu 2*32(%[s_end]), %%ymm2\n\t"
                     "vmovdqu 3*32(%[s_end]), %%ymm3\n\t"
                     "vmovdqu %%ymm0, 0*32(%[d_end])\n\t"
                     "vmovdqu %%ymm1, 1*32(%[d_end])\n\t"
                     "vmovdqu %%ymm2, 2*32(%[d_end])\n\t"
                     "vmovdqu %%ymm3, 3*32(%[d_end])\n\t"
                     "sfence\n\t"
                     "vzeroupper"
                     : [d] "+&r"(d), [s] "+&r"(src)
                     : [d_end] "r"(d_end), [s_end] "r"(s_end)
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc", "memory");
    return dst;
}

/* Moves of short copies by xmm registers; see moves_gpr.h for pairs and folds. */
/* 16 to 32: two 16-byte moves. */
UCOPY_AMD_19_01_LEAF void ucopy_amd_19_01_pair_16_32_sse2(void *d, const void *s, ucopy_amd_19_01_size n)
{
    __asm__ volatile("movups (%[s]), %%xmm0\n\t"
                     "movups -16(%[s],%[n]), %%xmm1\n\t"
                     "movups %%xmm0, (%[d])\n\t"
                     "movups %%xmm1, -16(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n)
                     : "xmm0", "xmm1", "memory");
}
/* 32 to 64: four 16-byte moves. */
UCOPY_AMD_19_01_LEAF void ucopy_amd_19_01_quad_32_64_sse2(void *d, const void *s, ucopy_amd_19_01_size n)
{
    __asm__ volatile("movups (%[s]), %%xmm0\n\t"
                     "movups 16(%[s]), %%xmm1\n\t"
                     "movups -32(%[s],%[n]), %%xmm2\n\t"
                     "movups -16(%[s],%[n]), %%xmm3\n\t"
                     "movups %%xmm0, (%[d])\n\t"
                     "movups %%xmm1, 16(%[d])\n\t"
                     "movups %%xmm2, -32(%[d],%[n])\n\t"
                     "movups %%xmm3, -16(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n)
                     : "xmm0", "xmm1", "xmm2", "xmm3", "memory");
}
/* 16 to 64: four 16-byte moves. */
UCOPY_AMD_19_01_LEAF void ucopy_amd_19_01_fold_16_64_sse2(void *d, const void *s, ucopy_amd_19_01_size n)
{
    ucopy_amd_19_01_size k = ((n - 1) >> 1) & 16;

    __asm__ volatile("movups (%[s]), %%xmm0\n\t"
                     "movups (%[s],%[k]), %%xmm1\n\t"
                     "movups -16(%[s],%[e]), %%xmm2\n\t"
                     "movups -16(%[s],%[n]), %%xmm3\n\t"
                     "movups %%xmm0, (%[d])\n\t"
                     "movups %%xmm1, (%[d],%[k])\n\t"
                     "movups %%xmm2, -16(%[d],%[e])\n\t"
                     "movups %%xmm3, -16(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n), [k] "r"(k), [e] "r"(n - k)
                     : "xmm0", "xmm1", "xmm2", "xmm3", "memory");
}
/* 64 to 128: eight 16-byte moves. */
UCOPY_AMD_19_01_LEAF void ucopy_amd_19_01_oct_64_128_sse2(void *d, const void *s, ucopy_amd_19_01_size n)
{
    __asm__ volatile("movups (%[s]), %%xmm0\n\t"
                     "movups 16(%[s]), %%xmm1\n\t"
                     "movups 32(%[s]), %%xmm2\n\t"
                     "movups 48(%[s]), %%xmm3\n\t"
                     "movups -64(%[s],%[n]), %%xmm4\n\t"
                     "movups -48(%[s],%[n]), %%xmm5\n\t"
                     "movups -32(%[s],%[n]), %%xmm6\n\t"
                     "movups -16(%[s],%[n]), %%xmm7\n\t"
                     "movups %%xmm0, (%[d])\n\t"
                     "movups %%xmm1, 16(%[d])\n\t"
                     "movups %%xmm2, 32(%[d])\n\t"
                     "movups %%xmm3, 48(%[d])\n\t"
                     "movups %%xmm4, -64(%[d],%[n])\n\t"
                     "movups %%xmm5, -48(%[d],%[n])\n\t"
                     "movups %%xmm6, -32(%[d],%[n])\n\t"
                     "movups %%xmm7, -16(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n)
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "memory");
}
/* 128 to 256: sixteen 16-byte moves in two groups, by eight registers. */
UCOPY_AMD_19_01_LEAF void ucopy_amd_19_01_move_128_256_sse2(void *d, const void *s, ucopy_amd_19_01_size n)
{
    __asm__ volatile("movups (%[s]), %%xmm0\n\t"
                     "movups 16(%[s]), %%xmm1\n\t"
                     "movups 32(%[s]), %%xmm2\n\t"
                     "movups 48(%[s]), %%xmm3\n\t"
                     "movups 64(%[s]), %%xmm4\n\t"
                     "movups 80(%[s]), %%xmm5\n\t"
                     "movups 96(%[s]), %%xmm6\n\t"
                     "movups 112(%[s]), %%xmm7\n\t"
                     "movups %%xmm0, (%[d])\n\t"
                     "movups %%xmm1, 16(%[d])\n\t"
                     "movups %%xmm2, 32(%[d])\n\t"
                     "movups %%xmm3, 48(%[d])\n\t"
                     "movups %%xmm4, 64(%[d])\n\t"
                     "movups %%xmm5, 80(%[d])\n\t"
                     "movups %%xmm6, 96(%[d])\n\t"
                     "movups %%xmm7, 112(%[d])\n\t"
                     "movups -128(%[s],%[n]), %%xmm0\n\t"
                     "movups -112(%[s],%[n]), %%xmm1\n\t"
                     "movups -96(%[s],%[n]), %%xmm2\n\t"
                     "movups -80(%[s],%[n]), %%xmm3\n\t"
                     "movups -64(%[s],%[n]), %%xmm4\n\t"
                     "movups -48(%[s],%[n]), %%xmm5\n\t"
                     "movups -32(%[s],%[n]), %%xmm6\n\t"
                     "movups -16(%[s],%[n]), %%xmm7\n\t"
                     "movups %%xmm0, -128(%[d],%[n])\n\t"
                     "movups %%xmm1, -112(%[d],%[n])\n\t"
                     "movups %%xmm2, -96(%[d],%[n])\n\t"
                     "movups %%xmm3, -80(%[d],%[n])\n\t"
                     "movups %%xmm4, -64(%[d],%[n])\n\t"
                     "movups %%xmm5, -48(%[d],%[n])\n\t"
                     "movups %%xmm6, -32(%[d],%[n])\n\t"
                     "movups %%xmm7, -16(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n)
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "memory");
}

/* Below 4 bytes without a further branch, from 4 to 15 without one, by xmm registers; serves to 64. Wins
 * where sizes mix; loses to a tree on repeated sizes by two more moves. */
UCOPY_AMD_19_01_LEAF void *ucopy_amd_19_01_short_step16_sse2_64(void *dst, const void *src, ucopy_amd_19_01_size n)
{
    if (n < 4)
        ucopy_amd_19_01_free_0_3(dst, src, n);
    else if (n < 16)
        ucopy_amd_19_01_free_4_16(dst, src, n);
    else
        ucopy_amd_19_01_fold_16_64_sse2(dst, src, n);
    return dst;
}

/* Two octaves a test, xmm from 17 on, ymm from 65. Serves to 256. Wins where sizes mix on CPUs with AVX2
 * alone; loses on repeated sizes by its extra moves. */
UCOPY_AMD_19_01_LEAF void *ucopy_amd_19_01_short_fold_avx2_256(void *dst, const void *src, ucopy_amd_19_01_size n)
{
    if (n <= 16) {
        if (n >= 4)
            ucopy_amd_19_01_fold_4_16(dst, src, n);
        else if (n)
            ucopy_amd_19_01_move_1_3(dst, src, n);
    } else if (n <= 64) {
        ucopy_amd_19_01_fold_16_64_avx(dst, src, n);
    } else if (n <= 128) {
        ucopy_amd_19_01_fold_32_128_avx2(dst, src, n);
    } else {
        ucopy_amd_19_01_oct_128_256_avx2(dst, src, n);
    }
    return dst;
}

/* Eight xmm registers a turn, dst aligned: one line written in one go twice. Wins where four in flight do
 * not hide the load latency; loses to wider registers. */
UCOPY_AMD_19_01_LEAF void *ucopy_amd_19_01_sse2_loop_x8(void *dst, const void *src, ucopy_amd_19_01_size n)
{
    void *d = dst, *d_end = (char *)dst + n - 8 * 16;
    const void *s_end = (const char *)src + n - 8 * 16;
    __asm__ volatile("movups (%[s]), %%xmm0\n\t"
                     "movups %%xmm0, (%[d])\n\t"
                     "sub %[d], %[s]\n\t"
                     "add $16, %[d]\n\t"
                     "and $-16, %[d]\n\t"
                     "add %[d], %[s]\n\t"
                     "cmp %[d_end], %[d]\n\t"
                     "jae 2f\n\t"
                     ".p2align 5\n"
                     "1:\n\t"
                     "movups 0*16(%[s]), %%xmm0\n\t"
                     "movups 1*16(%[s]), %%xmm1\n\t"
                     "movups 2*16(%[s]), %%xmm2\n\t"
                     "movups 3*16(%[s]), %%xmm3\n\t"
                     "movups 4*16(%[s]), %%xmm4\n\t"
                     "movups 5*16(%[s]), %%xmm5\n\t"
                     "movups 6*16(%[s]), %%xmm6\n\t"
                     "movups 7*16(%[s]), %%xmm7\n\t"
                     "movaps %%xmm0, 0*16(%[d])\n\t"
                     "movaps %%xmm1, 1*16(%[d])\n\t"
                     "movaps %%xmm2, 2*16(%[d])\n\t"
                     "movaps %%xmm3, 3*16(%[d])\n\t"
                     "movaps %%xmm4, 4*16(%[d])\n\t"
                     "movaps %%xmm5, 5*16(%[d])\n\t"
                     "movaps %%xmm6, 6*16(%[d])\n\t"
                     "movaps %%xmm7, 7*16(%[d])\n\t"
                     "add $8*16, %[s]\n\t"
                     "add $8*16, %[d]\n\t"
                     "cmp %[d_end], %[d]\n\t"
                     "jb 1b\n"
                     "2:\n\t"
                     "movups 0*16(%[s_end]), %%xmm0\n\t"
                     "movups 1*16(%[s_end]), %%xmm1\n\t"
                     "movups 2*16(%[s_end]), %%xmm2\n\t"
                     "movups 3*16(%[s_end]), %%xmm3\n\t"
                     "movups 4*16(%[s_end]), %%xmm4\n\t"
                     "movups 5*16(%[s_end]), %%xmm5\n\t"
                     "movups 6*16(%[s_end]), %%xmm6\n\t"
                     "movups 7*16(%[s_end]), %%xmm7\n\t"
                     "movups %%xmm0, 0*16(%[d_end])\n\t"
                     "movups %%xmm1, 1*16(%[d_end])\n\t"
                     "movups %%xmm2, 2*16(%[d_end])\n\t"
                     "movups %%xmm3, 3*16(%[d_end])\n\t"
                     "movups %%xmm4, 4*16(%[d_end])\n\t"
                     "movups %%xmm5, 5*16(%[d_end])\n\t"
                     "movups %%xmm6, 6*16(%[d_end])\n\t"
                     "movups %%xmm7, 7*16(%[d_end])\n\t"
                     : [d] "+&r"(d), [s] "+&r"(src)
                     : [d_end] "r"(d_end), [s_end] "r"(s_end)
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "cc", "memory");
    return dst;
}

/* The ladder of copy. */
__attribute__((noinline, unused, aligned(64)))
static void *ucopy_amd_19_01_copy_called(void *dst, const void *src, ucopy_amd_19_01_size n)
{
    if (n <= UCOPY_AMD_19_01_COPY_1_MAX)
        return ucopy_amd_19_01_short_step32_avx2_256(dst, src, n);
    if (n <= UCOPY_AMD_19_01_COPY_2_MAX)
        return ucopy_amd_19_01_avx2_loop_x4(dst, src, n);
    return ucopy_amd_19_01_avx2_stream_x4(dst, src, n);
}

#if !UCOPY_AMD_19_01_PROMISED
__attribute__((noinline, cold, unused))
static void *ucopy_amd_19_01_copy_unsure(void *dst, const void *src, ucopy_amd_19_01_size n)
{
    if (!ucopy_amd_19_01_usable())
        return UCOPY_FALLBACK(dst, src, n);
    return ucopy_amd_19_01_copy_called(dst, src, n);
}
#endif

#define UCOPY_AMD_19_01_COPY_INLINE_MAX 64
#define UCOPY_AMD_19_01_COPY_INLINE_STRATEGY "short_step16_sse2_64"
#define UCOPY_AMD_19_01_COPY_INLINE(d, s, n) ucopy_amd_19_01_short_step16_sse2_64(d, s, n)

__attribute__((noinline, unused, aligned(64)))
static void *ucopy_amd_19_01_sse2_loop_x8_called(void *dst, const void *src, ucopy_amd_19_01_size n)
{
    return ucopy_amd_19_01_sse2_loop_x8(dst, src, n);
}

/* The ladder of nocache. */
__attribute__((noinline, unused, aligned(64)))
static void *ucopy_amd_19_01_nocache_called(void *dst, const void *src, ucopy_amd_19_01_size n)
{
    if (n <= UCOPY_AMD_19_01_NOCACHE_1_MAX)
        return ucopy_amd_19_01_short_fold_avx2_256(dst, src, n);
    if (n <= UCOPY_AMD_19_01_NOCACHE_2_MAX)
        return ucopy_amd_19_01_sse2_loop_x8_called(dst, src, n);
    return ucopy_amd_19_01_avx2_stream_x4(dst, src, n);
}

#if !UCOPY_AMD_19_01_PROMISED
__attribute__((noinline, cold, unused))
static void *ucopy_amd_19_01_nocache_unsure(void *dst, const void *src, ucopy_amd_19_01_size n)
{
    if (!ucopy_amd_19_01_usable())
        return UCOPY_FALLBACK(dst, src, n);
    return ucopy_amd_19_01_nocache_called(dst, src, n);
}
#endif

#endif /* !UCOPY_AMD_19_01_ONLY_FALLBACK */

/* Copies n bytes from src to dst, which is used soon. Returns dst. */
static __inline__ __attribute__((unused)) void *
ucopy_amd_19_01(void *dst, const void *src, ucopy_amd_19_01_size n)
{
#if UCOPY_AMD_19_01_ONLY_FALLBACK
    return UCOPY_FALLBACK(dst, src, n);
#else
    if (__builtin_constant_p(n) && n <= 64)
        return n ? __builtin_memcpy(dst, src, n) : dst;
#ifdef UCOPY_AMD_19_01_COPY_INLINE_MAX
    if (n <= UCOPY_AMD_19_01_COPY_INLINE_MAX)
        return UCOPY_AMD_19_01_COPY_INLINE(dst, src, n);
#endif
#if !UCOPY_AMD_19_01_PROMISED
    if (__builtin_expect(!(__atomic_load_n(&ucopy_amd_19_01_state, __ATOMIC_RELAXED) & 4), 0))
        return ucopy_amd_19_01_copy_unsure(dst, src, n);
#endif
    return ucopy_amd_19_01_copy_called(dst, src, n);
#endif
}

/* Copies n bytes from src to dst, which is not used soon: caches stay as they are
 * where that pays. Returns dst. */
static __inline__ __attribute__((unused)) void *
ucopy_amd_19_01_nocache(void *dst, const void *src, ucopy_amd_19_01_size n)
{
#if UCOPY_AMD_19_01_ONLY_FALLBACK
    return UCOPY_FALLBACK(dst, src, n);
#else
    if (__builtin_constant_p(n) && n <= 64)
        return n ? __builtin_memcpy(dst, src, n) : dst;
#ifdef UCOPY_AMD_19_01_NOCACHE_INLINE_MAX
    if (n <= UCOPY_AMD_19_01_NOCACHE_INLINE_MAX)
        return UCOPY_AMD_19_01_NOCACHE_INLINE(dst, src, n);
#endif
#if !UCOPY_AMD_19_01_PROMISED
    if (__builtin_expect(!(__atomic_load_n(&ucopy_amd_19_01_state, __ATOMIC_RELAXED) & 4), 0))
        return ucopy_amd_19_01_nocache_unsure(dst, src, n);
#endif
    return ucopy_amd_19_01_nocache_called(dst, src, n);
#endif
}


#endif /* x86-64 */
#endif /* not the assembler */
#endif
