/* SPDX-License-Identifier: 0BSD */
/* How to copy n bytes on amd-19-01, AMD EPYC, under KVM.
 * Made by ucopy-tune 0.1.0 from amd-19-01-kernel.json: do not edit, tune again.
 *
 * The limits are measured performance limits, not correctness limits: the largest size,
 * inclusive, for which a strategy was chosen. Measured in user mode with memcpy's
 * contract (buffers equal or apart, any alignment, returns dst).
 * For the kernel: general registers and string instructions only, no target
 * attribute. No fault handling was measured and none is here: no exception table, no
 * user access. It is about speed and not correctness: with other limits the copies
 * would be as correct and, as measured on this CPU, slower or no faster.
 *
 * copy: dst is used soon
 *         0 to 64         short_step_gpr_64; next short_free_gpr_64, 10 % slower
 *        65 to 512        unrolled; next rep_movsb, 5 % faster where both were measured
 *       513 and above     rep_movsb; at page_distance 1 to 62 unrolled; next rep_movsb_aligned, under 5 % slower; not bracketed, measured to 64 MiB
 * nocache: dst is not used soon
 *         0 to 8192       unrolled; next short_step_gpr_64, 15 % faster where both were measured
 *      8193 and above     movnti; next rep_movsq, 50 % slower; not bracketed, measured to 64 MiB
 * Best by the weights named default. Grade of the measurement: A.
 * Against the best strategy of each size copy costs 0 % more, 35 % at worst (at 480).
 * Against the best strategy of each size nocache costs 10 % more, 35 % at worst (at 4).
 * Time of glibc 2.36 memcpy over that of copy, called / inlined with -march=native, geometric means:
 *   one size repeated: dst not read 0.80 / 1.00, read at once 0.65 / 0.65, waited for 0.90 / 0.90
 *   mixed, to 4 KiB:   dst not read 0.95 / 1.15, read at once 1.00 / 1.15, waited for 0.95 / 1.05
 *   the same, learned: dst not read 0.90 / 1.60, read at once 0.95 / 1.10, waited for 0.95 / 0.95
 *
 * How it was measured: nanoseconds a call in a user program on one CPU, the low end of many
 * readings in random order over fresh mappings; alignment, page distances, page ends and what is
 * done with dst after the copy are as the weights have them. Not in it: faults, SMAP, the entry
 * into the kernel, patched call sites.
 * Linux 6.18.44-fc-v595, microcode 0x1000065, timer: rdtsc between lfences.
 * The ranges together cost least by the weights, within 3 %; a tie goes to the simpler strategy.
 * Why these limits of copy, by 95 % intervals:
 *   64: its strategy serves no larger size
 *   512: both sides cost the same at 200 to 768; 128 to 767 would do as well
 * Why these limits of nocache, by 95 % intervals:
 *   8192: both sides cost the same at 6144 to 12288; 6144 to 12287 would do as well
 *
 * Use: include it, and call
 *   ucopy_amd_19_01_kernel(dst, src, n): copies where dst is used soon
 *   ucopy_amd_19_01_kernel_nocache(dst, src, n): copies where it is not
 *   ucopy_amd_19_01_kernel_is_this_cpu(): is this a CPU of the measured family and model?
 *   ucopy_amd_19_01_kernel_usable(): has this CPU what the code needs, and has the OS enabled it?
 * Where it is not usable, under sanitizers and with UCOPY_NO_ASM defined, the copies are
 * UCOPY_FALLBACK(dst, src, n): __builtin_memcpy, unless you define it before (a library
 * that provides memcpy must). For the assembler, and on other architectures, only the
 * numbers are defined. */
#ifndef UCOPY_AMD_19_01_KERNEL_H
#define UCOPY_AMD_19_01_KERNEL_H

#define UCOPY_AMD_19_01_KERNEL_COPY_1_MAX 64
#define UCOPY_AMD_19_01_KERNEL_COPY_2_MAX 512
#define UCOPY_AMD_19_01_KERNEL_COPY_SHORT_STEP_GPR_64_MAX 64
#define UCOPY_AMD_19_01_KERNEL_COPY_UNROLLED_MAX 512
#define UCOPY_AMD_19_01_KERNEL_COPY_STREAMS 0
#define UCOPY_AMD_19_01_KERNEL_NOCACHE_1_MAX 8192
#define UCOPY_AMD_19_01_KERNEL_NOCACHE_UNROLLED_MAX 8192
#define UCOPY_AMD_19_01_KERNEL_NOCACHE_STREAMS 1

#ifndef __ASSEMBLER__
#define UCOPY_AMD_19_01_KERNEL_COPY_1_STRATEGY "short_step_gpr_64"
#define UCOPY_AMD_19_01_KERNEL_COPY_2_STRATEGY "unrolled"
#define UCOPY_AMD_19_01_KERNEL_COPY_3_STRATEGY "rep_movsb"
#define UCOPY_AMD_19_01_KERNEL_NOCACHE_1_STRATEGY "unrolled"
#define UCOPY_AMD_19_01_KERNEL_NOCACHE_2_STRATEGY "movnti"

#if defined(__x86_64__) && !defined(__ILP32__)

#ifndef UCOPY_FALLBACK
#define UCOPY_FALLBACK(d, s, n) ((n) ? __builtin_memcpy(d, s, n) : (d))
#endif

/* Sanitizers check memcpy and see nothing of assembly. */
#if defined(UCOPY_NO_ASM) || defined(__SANITIZE_ADDRESS__) || \
    defined(__SANITIZE_THREAD__) || defined(__SANITIZE_HWADDRESS__)
#define UCOPY_AMD_19_01_KERNEL_ONLY_FALLBACK 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer) || __has_feature(hwaddress_sanitizer)
#define UCOPY_AMD_19_01_KERNEL_ONLY_FALLBACK 1
#endif
#endif
#ifndef UCOPY_AMD_19_01_KERNEL_ONLY_FALLBACK
#define UCOPY_AMD_19_01_KERNEL_ONLY_FALLBACK 0
#endif

#define UCOPY_AMD_19_01_KERNEL_PROMISED 1 /* no instruction set is needed beyond x86-64 */

/* What every strategy's text relies on. A leaf is always inlined and has no target attribute: its
 * called form, a noinline function, carries the attribute of the instruction sets it needs. */
typedef __SIZE_TYPE__ ucopy_amd_19_01_kernel_size;
#define UCOPY_AMD_19_01_KERNEL_LEAF static __inline__ __attribute__((always_inline, unused))

#ifndef UCOPY_NO_ASM
/* Detection: what the CPU has and the OS has enabled. The tuner runs this text and the generated
 * header embeds it. It is compiled without AVX, since it runs before anybody knows. */

/* The raw registers that the answer depends on. */
struct ucopy_amd_19_01_kernel_cpuid {
    unsigned max_leaf;
    unsigned vendor[3]; /* EBX, EDX, ECX of leaf 0: the vendor's 12 characters in order */
    unsigned leaf1_eax, leaf1_ecx, leaf1_edx;
    unsigned leaf7_ebx, leaf7_ecx, leaf7_edx; /* 0 where max_leaf < 7 */
    unsigned xcr0; /* low half; 0 where OSXSAVE (leaf 1 ECX bit 27) is clear */
};

__attribute__((unused)) static void ucopy_amd_19_01_kernel_cpuid_leaf(unsigned leaf, unsigned subleaf, unsigned r[4])
{
    __asm__ volatile("cpuid"
                     : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3])
                     : "0"(leaf), "2"(subleaf));
}

/* Executes CPUID three times, up to 13,000 ticks each where a hypervisor traps it: call it once. */
__attribute__((unused)) static void ucopy_amd_19_01_kernel_cpuid_read(struct ucopy_amd_19_01_kernel_cpuid *c)
{
    unsigned r[4];

    ucopy_amd_19_01_kernel_cpuid_leaf(0, 0, r);
    c->max_leaf = r[0];
    c->vendor[0] = r[1];
    c->vendor[1] = r[3];
    c->vendor[2] = r[2];
    ucopy_amd_19_01_kernel_cpuid_leaf(1, 0, r);
    c->leaf1_eax = r[0];
    c->leaf1_ecx = r[2];
    c->leaf1_edx = r[3];
    c->leaf7_ebx = c->leaf7_ecx = c->leaf7_edx = 0;
    if (c->max_leaf >= 7) {
        ucopy_amd_19_01_kernel_cpuid_leaf(7, 0, r);
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

/* Bits as in UCOPY_AMD_19_01_KERNEL_ISA_LIST: 0 erms, 1 fsrm, 2 sse2, 3 avx2, 4 bmi2, 5 avx512bw (with F, VL, DQ,
 * BMI2), 6 avx512vbmi2. AVX needs XCR0 bits 1 and 2, AVX-512 bits 5 to 7 as well (Intel SDM
 * vol. 1, 14.3 and 15.2). */
__attribute__((unused)) static unsigned ucopy_amd_19_01_kernel_isa_usable(const struct ucopy_amd_19_01_kernel_cpuid *c)
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
__attribute__((unused)) static unsigned ucopy_amd_19_01_kernel_cpu_family(unsigned eax)
{
    unsigned family = eax >> 8 & 15;
    return family == 15 ? family + (eax >> 20 & 255) : family;
}

__attribute__((unused)) static unsigned ucopy_amd_19_01_kernel_cpu_model(unsigned eax)
{
    unsigned family = eax >> 8 & 15;
    unsigned model = eax >> 4 & 15;
    return family == 6 || family == 15 ? model | (eax >> 16 & 15) << 4 : model;
}

/* 1: looked; 2: is this CPU; 4: is usable. Looked at once, since CPUID can trap and
 * take thousands of ticks; two threads that look at once find the same. */
static int ucopy_amd_19_01_kernel_state __attribute__((unused));

__attribute__((noinline, cold, unused)) static int ucopy_amd_19_01_kernel_look(void)
{
    struct ucopy_amd_19_01_kernel_cpuid c;
    int state = 1;

    ucopy_amd_19_01_kernel_cpuid_read(&c);
    if (c.vendor[0] == 0x68747541u && c.vendor[1] == 0x69746e65u && c.vendor[2] == 0x444d4163u &&
        ucopy_amd_19_01_kernel_cpu_family(c.leaf1_eax) == 0x19u &&
        ucopy_amd_19_01_kernel_cpu_model(c.leaf1_eax) == 0x1u)
        state |= 2;
    state |= 4;
    __atomic_store_n(&ucopy_amd_19_01_kernel_state, state, __ATOMIC_RELAXED);
    return state;
}

static __inline__ __attribute__((unused)) int ucopy_amd_19_01_kernel_is_this_cpu(void)
{
    int state = __atomic_load_n(&ucopy_amd_19_01_kernel_state, __ATOMIC_RELAXED);
    return ((state ? state : ucopy_amd_19_01_kernel_look()) & 2) != 0;
}

static __inline__ __attribute__((unused)) int ucopy_amd_19_01_kernel_usable(void)
{
    int state = __atomic_load_n(&ucopy_amd_19_01_kernel_state, __ATOMIC_RELAXED);
    return ((state ? state : ucopy_amd_19_01_kernel_look()) & 4) != 0;
}
#else /* without assembly there is no CPUID */
static __inline__ __attribute__((unused)) int ucopy_amd_19_01_kernel_is_this_cpu(void)
{
    return 0;
}

static __inline__ __attribute__((unused)) int ucopy_amd_19_01_kernel_usable(void)
{
    return 0;
}
#endif

#if !UCOPY_AMD_19_01_KERNEL_ONLY_FALLBACK

/* Moves of short copies by general registers. Each serves a range of sizes by a fixed set of loads and
 * stores that begin with the buffer and end with it, overlapping in between. All loads come first, so that
 * the stores of one move never delay its loads.
 * A fold serves two octaves without a branch: its offset k is the register's width in the upper octave and
 * 0 in the lower, ((n - 1) >> 1) & width, where both middle moves repeat the outer ones. */
/* 1 to 3: first, middle and last byte. */
UCOPY_AMD_19_01_KERNEL_LEAF void ucopy_amd_19_01_kernel_move_1_3(void *d, const void *s, ucopy_amd_19_01_kernel_size n)
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
UCOPY_AMD_19_01_KERNEL_LEAF void ucopy_amd_19_01_kernel_pair_4_8(void *d, const void *s, ucopy_amd_19_01_kernel_size n)
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
UCOPY_AMD_19_01_KERNEL_LEAF void ucopy_amd_19_01_kernel_pair_8_16(void *d, const void *s, ucopy_amd_19_01_kernel_size n)
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
UCOPY_AMD_19_01_KERNEL_LEAF void ucopy_amd_19_01_kernel_fold_4_16(void *d, const void *s, ucopy_amd_19_01_kernel_size n)
{
    ucopy_amd_19_01_kernel_size k = ((n - 1) >> 1) & 4;

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
UCOPY_AMD_19_01_KERNEL_LEAF void ucopy_amd_19_01_kernel_fold_8_32(void *d, const void *s, ucopy_amd_19_01_kernel_size n)
{
    ucopy_amd_19_01_kernel_size k = ((n - 1) >> 1) & 8;

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
UCOPY_AMD_19_01_KERNEL_LEAF void ucopy_amd_19_01_kernel_quad_16_32(void *d, const void *s, ucopy_amd_19_01_kernel_size n)
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
UCOPY_AMD_19_01_KERNEL_LEAF void ucopy_amd_19_01_kernel_oct_32_64(void *d, const void *s, ucopy_amd_19_01_kernel_size n)
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

/* Moves for dispatches that test for 4 bytes first: below 4 and from 4 on, each without a further branch on
 * the size; see moves_free_gpr.h for what happens on the scratch area. From 4 on the four-byte pair always
 * lies inside the buffers, so only the wider pairs need the conditional moves. Pointers begin at the scratch
 * area and are moved to the buffers, which takes no register more than a called function has for free. */
/* 0 to 3: first, middle and last byte, or the scratch area's. */
UCOPY_AMD_19_01_KERNEL_LEAF void ucopy_amd_19_01_kernel_free_0_3(void *d, const void *s, ucopy_amd_19_01_kernel_size n)
{
    __attribute__((uninitialized)) char scratch[4];
    ucopy_amd_19_01_kernel_size a, b, h;
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
UCOPY_AMD_19_01_KERNEL_LEAF void ucopy_amd_19_01_kernel_free_4_16(void *d, const void *s, ucopy_amd_19_01_kernel_size n)
{
    __attribute__((uninitialized, aligned(16))) char scratch[32];
    ucopy_amd_19_01_kernel_size a, b;
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

/* Below 4 bytes without a further branch, from 4 to 16 without one, general registers, to 64. Wins where sizes
 * mix and vector registers are not allowed; loses to wider registers. */
UCOPY_AMD_19_01_KERNEL_LEAF void *ucopy_amd_19_01_kernel_short_step_gpr_64(void *dst, const void *src, ucopy_amd_19_01_kernel_size n)
{
    if (n < 4)
        ucopy_amd_19_01_kernel_free_0_3(dst, src, n);
    else if (n <= 16)
        ucopy_amd_19_01_kernel_free_4_16(dst, src, n);
    else if (n <= 32)
        ucopy_amd_19_01_kernel_quad_16_32(dst, src, n);
    else
        ucopy_amd_19_01_kernel_oct_32_64(dst, src, n);
    return dst;
}

/* Eight general registers, 64 bytes a turn, then words, then bytes. How: the loop of the kernel's
 * first user copy. Wins for short copies where vector registers may not be used and before the string
 * instructions have started up; loses above a few hundred bytes: 8 bytes a store. */
UCOPY_AMD_19_01_KERNEL_LEAF void *ucopy_amd_19_01_kernel_unrolled(void *dst, const void *src, ucopy_amd_19_01_kernel_size n)
{
    void *d = dst;

    __asm__ volatile("sub $64, %[n]\n\t"
                     "jb 2f\n\t"
                     ".p2align 4\n"
                     "1:\n\t"
                     "mov (%[s]), %%rax\n\t"
                     "mov 8(%[s]), %%rcx\n\t"
                     "mov 16(%[s]), %%rdx\n\t"
                     "mov 24(%[s]), %%r8\n\t"
                     "mov %%rax, (%[d])\n\t"
                     "mov %%rcx, 8(%[d])\n\t"
                     "mov %%rdx, 16(%[d])\n\t"
                     "mov %%r8, 24(%[d])\n\t"
                     "mov 32(%[s]), %%r9\n\t"
                     "mov 40(%[s]), %%r10\n\t"
                     "mov 48(%[s]), %%r11\n\t"
                     "mov 56(%[s]), %%rax\n\t"
                     "mov %%r9, 32(%[d])\n\t"
                     "mov %%r10, 40(%[d])\n\t"
                     "mov %%r11, 48(%[d])\n\t"
                     "mov %%rax, 56(%[d])\n\t"
                     "add $64, %[s]\n\t"
                     "add $64, %[d]\n\t"
                     "sub $64, %[n]\n\t"
                     "jae 1b\n"
                     "2:\n\t"
                     "add $64, %[n]\n\t"
                     "mov %k[n], %%ecx\n\t"
                     "shr $3, %%ecx\n\t"
                     "jz 4f\n"
                     "3:\n\t"
                     "mov (%[s]), %%rax\n\t"
                     "mov %%rax, (%[d])\n\t"
                     "add $8, %[s]\n\t"
                     "add $8, %[d]\n\t"
                     "dec %%ecx\n\t"
                     "jnz 3b\n"
                     "4:\n\t"
                     "and $7, %k[n]\n\t"
                     "jz 6f\n"
                     "5:\n\t"
                     "movzbl (%[s]), %%eax\n\t"
                     "movb %%al, (%[d])\n\t"
                     "inc %[s]\n\t"
                     "inc %[d]\n\t"
                     "dec %k[n]\n\t"
                     "jnz 5b\n"
                     "6:"
                     : [d] "+D"(d), [s] "+S"(src), [n] "+r"(n)
                     :
                     : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "cc", "memory");
    return dst;
}

/* The string instruction. How: microcode moves whole lines where ERMS is present. Wins from a few
 * hundred bytes to the streaming range where its start-up (20 to 60 ticks) is paid back; loses
 * below, and by much where dst lies 1 to 63 bytes behind src in its page. */
UCOPY_AMD_19_01_KERNEL_LEAF void *ucopy_amd_19_01_kernel_rep_movsb(void *dst, const void *src, ucopy_amd_19_01_kernel_size n)
{
    void *d = dst;

    __asm__ volatile("rep movsb" : "+D"(d), "+S"(src), "+c"(n) : : "memory");
    return dst;
}

/* Two octaves a test by general registers, eight moves above 32. Wins where sizes mix and vector registers
 * may not be used; loses on repeated sizes by its extra moves. */
UCOPY_AMD_19_01_KERNEL_LEAF void *ucopy_amd_19_01_kernel_short_fold_gpr_64(void *dst, const void *src, ucopy_amd_19_01_kernel_size n)
{
    if (n > 32)
        ucopy_amd_19_01_kernel_oct_32_64(dst, src, n);
    else if (n >= 8)
        ucopy_amd_19_01_kernel_fold_8_32(dst, src, n);
    else if (n >= 4)
        ucopy_amd_19_01_kernel_pair_4_8(dst, src, n);
    else if (n)
        ucopy_amd_19_01_kernel_move_1_3(dst, src, n);
    return dst;
}

/* Streaming stores from general registers. How: a head of bytes to an 8-byte boundary of dst, 64
 * bytes a turn by movnti, words, bytes, sfence. Wins for large copies whose dst is not read soon
 * where vector registers may not be used; loses wherever dst is read again, and always when short. */
UCOPY_AMD_19_01_KERNEL_LEAF void *ucopy_amd_19_01_kernel_movnti(void *dst, const void *src, ucopy_amd_19_01_kernel_size n)
{
    void *d = dst;

    __asm__ volatile("mov %k[d], %%ecx\n\t"
                     "neg %%ecx\n\t"
                     "and $7, %%ecx\n\t"
                     "cmp %[n], %%rcx\n\t"
                     "cmova %[n], %%rcx\n\t"
                     "sub %%rcx, %[n]\n\t"
                     "rep movsb\n\t"
                     "sub $64, %[n]\n\t"
                     "jb 2f\n\t"
                     ".p2align 4\n"
                     "1:\n\t"
                     "mov (%[s]), %%rax\n\t"
                     "mov 8(%[s]), %%rcx\n\t"
                     "mov 16(%[s]), %%rdx\n\t"
                     "mov 24(%[s]), %%r8\n\t"
                     "movnti %%rax, (%[d])\n\t"
                     "movnti %%rcx, 8(%[d])\n\t"
                     "movnti %%rdx, 16(%[d])\n\t"
                     "movnti %%r8, 24(%[d])\n\t"
                     "mov 32(%[s]), %%r9\n\t"
                     "mov 40(%[s]), %%r10\n\t"
                     "mov 48(%[s]), %%r11\n\t"
                     "mov 56(%[s]), %%rax\n\t"
                     "movnti %%r9, 32(%[d])\n\t"
                     "movnti %%r10, 40(%[d])\n\t"
                     "movnti %%r11, 48(%[d])\n\t"
                     "movnti %%rax, 56(%[d])\n\t"
                     "add $64, %[s]\n\t"
                     "add $64, %[d]\n\t"
                     "sub $64, %[n]\n\t"
                     "jae 1b\n"
                     "2:\n\t"
                     "add $64, %[n]\n\t"
                     "mov %k[n], %%ecx\n\t"
                     "shr $3, %%ecx\n\t"
                     "jz 4f\n"
                     "3:\n\t"
                     "mov (%[s]), %%rax\n\t"
                     "movnti %%rax, (%[d])\n\t"
                     "add $8, %[s]\n\t"
                     "add $8, %[d]\n\t"
                     "dec %%ecx\n\t"
                     "jnz 3b\n"
                     "4:\n\t"
                     "mov %k[n], %%ecx\n\t"
                     "and $7, %%ecx\n\t"
                     "rep movsb\n\t"
                     "sfence"
                     : [d] "+D"(d), [s] "+S"(src), [n] "+r"(n)
                     :
                     : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "cc", "memory");
    return dst;
}

/* The ladder of copy. */
__attribute__((noinline, unused, aligned(64)))
static void *ucopy_amd_19_01_kernel_copy_called(void *dst, const void *src, ucopy_amd_19_01_kernel_size n)
{
    if (n <= UCOPY_AMD_19_01_KERNEL_COPY_1_MAX)
        return ucopy_amd_19_01_kernel_short_step_gpr_64(dst, src, n);
    if (n <= UCOPY_AMD_19_01_KERNEL_COPY_2_MAX)
        return ucopy_amd_19_01_kernel_unrolled(dst, src, n);
    if ((((ucopy_amd_19_01_kernel_size)dst - (ucopy_amd_19_01_kernel_size)src) & 4095) - 1 <= 61)
        return ucopy_amd_19_01_kernel_unrolled(dst, src, n);
    return ucopy_amd_19_01_kernel_rep_movsb(dst, src, n);
}

#if !UCOPY_AMD_19_01_KERNEL_PROMISED
__attribute__((noinline, cold, unused))
static void *ucopy_amd_19_01_kernel_copy_unsure(void *dst, const void *src, ucopy_amd_19_01_kernel_size n)
{
    if (!ucopy_amd_19_01_kernel_usable())
        return UCOPY_FALLBACK(dst, src, n);
    return ucopy_amd_19_01_kernel_copy_called(dst, src, n);
}
#endif

#define UCOPY_AMD_19_01_KERNEL_COPY_INLINE_MAX 64
#define UCOPY_AMD_19_01_KERNEL_COPY_INLINE_STRATEGY "short_fold_gpr_64"
#define UCOPY_AMD_19_01_KERNEL_COPY_INLINE(d, s, n) ucopy_amd_19_01_kernel_short_fold_gpr_64(d, s, n)

/* The ladder of nocache. */
__attribute__((noinline, unused, aligned(64)))
static void *ucopy_amd_19_01_kernel_nocache_called(void *dst, const void *src, ucopy_amd_19_01_kernel_size n)
{
    if (n <= UCOPY_AMD_19_01_KERNEL_NOCACHE_1_MAX)
        return ucopy_amd_19_01_kernel_unrolled(dst, src, n);
    return ucopy_amd_19_01_kernel_movnti(dst, src, n);
}

#if !UCOPY_AMD_19_01_KERNEL_PROMISED
__attribute__((noinline, cold, unused))
static void *ucopy_amd_19_01_kernel_nocache_unsure(void *dst, const void *src, ucopy_amd_19_01_kernel_size n)
{
    if (!ucopy_amd_19_01_kernel_usable())
        return UCOPY_FALLBACK(dst, src, n);
    return ucopy_amd_19_01_kernel_nocache_called(dst, src, n);
}
#endif

#endif /* !UCOPY_AMD_19_01_KERNEL_ONLY_FALLBACK */

/* Copies n bytes from src to dst, which is used soon. Returns dst. */
static __inline__ __attribute__((unused)) void *
ucopy_amd_19_01_kernel(void *dst, const void *src, ucopy_amd_19_01_kernel_size n)
{
#if UCOPY_AMD_19_01_KERNEL_ONLY_FALLBACK
    return UCOPY_FALLBACK(dst, src, n);
#else
    if (__builtin_constant_p(n) && n <= 64)
        return n ? __builtin_memcpy(dst, src, n) : dst;
#ifdef UCOPY_AMD_19_01_KERNEL_COPY_INLINE_MAX
    if (n <= UCOPY_AMD_19_01_KERNEL_COPY_INLINE_MAX)
        return UCOPY_AMD_19_01_KERNEL_COPY_INLINE(dst, src, n);
#endif
#if !UCOPY_AMD_19_01_KERNEL_PROMISED
    if (__builtin_expect(!(__atomic_load_n(&ucopy_amd_19_01_kernel_state, __ATOMIC_RELAXED) & 4), 0))
        return ucopy_amd_19_01_kernel_copy_unsure(dst, src, n);
#endif
    return ucopy_amd_19_01_kernel_copy_called(dst, src, n);
#endif
}

/* Copies n bytes from src to dst, which is not used soon: caches stay as they are
 * where that pays. Returns dst. */
static __inline__ __attribute__((unused)) void *
ucopy_amd_19_01_kernel_nocache(void *dst, const void *src, ucopy_amd_19_01_kernel_size n)
{
#if UCOPY_AMD_19_01_KERNEL_ONLY_FALLBACK
    return UCOPY_FALLBACK(dst, src, n);
#else
    if (__builtin_constant_p(n) && n <= 64)
        return n ? __builtin_memcpy(dst, src, n) : dst;
#ifdef UCOPY_AMD_19_01_KERNEL_NOCACHE_INLINE_MAX
    if (n <= UCOPY_AMD_19_01_KERNEL_NOCACHE_INLINE_MAX)
        return UCOPY_AMD_19_01_KERNEL_NOCACHE_INLINE(dst, src, n);
#endif
#if !UCOPY_AMD_19_01_KERNEL_PROMISED
    if (__builtin_expect(!(__atomic_load_n(&ucopy_amd_19_01_kernel_state, __ATOMIC_RELAXED) & 4), 0))
        return ucopy_amd_19_01_kernel_nocache_unsure(dst, src, n);
#endif
    return ucopy_amd_19_01_kernel_nocache_called(dst, src, n);
#endif
}


#endif /* x86-64 */
#endif /* not the assembler */
#endif
