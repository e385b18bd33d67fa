/* SPDX-License-Identifier: 0BSD */
/* How to copy n bytes on intel-06-cf, Intel(R) Xeon(R) Processor, under KVM.
 * Made by ucopy-tune 0.1.0 from intel-06-cf.json: do not edit, tune again.
 *
 * The limits are measured performance limits, not correctness limits: the largest size,
 * inclusive, for which a strategy was chosen. Measured in user mode with memcpy's
 * contract (buffers equal or apart, any alignment, returns dst).
 *
 * copy: dst is used soon
 *         0 to 256        short_free32_sse2_256; next short_free16_avx512_256, under 5 % slower
 *       257 to 16384      avx512_loop_x2; next avx512_loop_x4, 5 % slower
 *     16385 to 8388608    rep_movsb; next rep_movsb_aligned, under 5 % slower
 *   8388609 to 16777216   sse2_pages_stream; tie with avx2_stream_x4
 *  16777217 and above     avx512_stream_x4; tie with avx512_pages_stream; not bracketed, measured to 64 MiB
 * nocache: dst is not used soon
 *         0 to 256        short_tree_avx2_256; next short_tree_avx512_512, 5 % slower
 *       257 to 4096       avx2_loop_x8; tie with avx512_loop_x4_unaligned
 *      4097 to 16384      avx512_stream_x4; next avx2_stream_x4, 5 % slower
 *     16385 and above     avx512_pages_stream; next sse2_pages_stream, 5 % slower; not bracketed, measured to 64 MiB
 * Best by the weights named default. Grade of the measurement: A.
 * Against the best strategy of each size copy costs 10 % more, 30 % at worst (at 16 MiB).
 * Against the best strategy of each size nocache costs 10 % more, 75 % at worst (at 256).
 * Time of glibc 2.36 memcpy over that of copy, called / inlined with -march=native, geometric means:
 *   one size repeated: dst not read 0.90 / 1.30, read at once 0.95 / 1.00, waited for 1.00 / 1.00
 *   mixed, to 4 KiB:   dst not read 1.90 / 2.30, read at once 1.80 / 2.05, waited for 1.20 / 1.20
 * Over twice the best at their worst placements, in copy: avx2_stream_x4 128 to 128.
 *
 * Use: include it, and call
 *   ucopy_intel_06_cf(dst, src, n): copies where dst is used soon
 *   ucopy_intel_06_cf_nocache(dst, src, n): copies where it is not
 *   ucopy_intel_06_cf_is_this_cpu(): is this a CPU of the measured family and model?
 *   ucopy_intel_06_cf_usable(): has this CPU what the code needs, and has the OS enabled it?
 * Where it is not usable, under sanitizers and with UCOPY_NO_ASM defined, the copies are
 * UCOPY_FALLBACK(dst, src, n): __builtin_memcpy, unless you define it before (a library
 * that provides memcpy must). For the assembler, and on other architectures, only the
 * numbers are defined. */
#ifndef UCOPY_INTEL_06_CF_H
#define UCOPY_INTEL_06_CF_H

#define UCOPY_INTEL_06_CF_COPY_1_MAX 256
#define UCOPY_INTEL_06_CF_COPY_2_MAX 16384
#define UCOPY_INTEL_06_CF_COPY_3_MAX 8388608
#define UCOPY_INTEL_06_CF_COPY_4_MAX 16777216
#define UCOPY_INTEL_06_CF_COPY_SHORT_FREE32_SSE2_256_MAX 256
#define UCOPY_INTEL_06_CF_COPY_AVX512_LOOP_X2_MAX 16384
#define UCOPY_INTEL_06_CF_COPY_REP_MOVSB_MAX 8388608
#define UCOPY_INTEL_06_CF_COPY_SSE2_PAGES_STREAM_MAX 16777216
#define UCOPY_INTEL_06_CF_COPY_STREAMS 1
#define UCOPY_INTEL_06_CF_NOCACHE_1_MAX 256
#define UCOPY_INTEL_06_CF_NOCACHE_2_MAX 4096
#define UCOPY_INTEL_06_CF_NOCACHE_3_MAX 16384
#define UCOPY_INTEL_06_CF_NOCACHE_SHORT_TREE_AVX2_256_MAX 256
#define UCOPY_INTEL_06_CF_NOCACHE_AVX2_LOOP_X8_MAX 4096
#define UCOPY_INTEL_06_CF_NOCACHE_AVX512_STREAM_X4_MAX 16384
#define UCOPY_INTEL_06_CF_NOCACHE_STREAMS 1

#ifndef __ASSEMBLER__
#define UCOPY_INTEL_06_CF_COPY_1_STRATEGY "short_free32_sse2_256"
#define UCOPY_INTEL_06_CF_COPY_2_STRATEGY "avx512_loop_x2"
#define UCOPY_INTEL_06_CF_COPY_3_STRATEGY "rep_movsb"
#define UCOPY_INTEL_06_CF_COPY_4_STRATEGY "sse2_pages_stream"
#define UCOPY_INTEL_06_CF_COPY_5_STRATEGY "avx512_stream_x4"
#define UCOPY_INTEL_06_CF_NOCACHE_1_STRATEGY "short_tree_avx2_256"
#define UCOPY_INTEL_06_CF_NOCACHE_2_STRATEGY "avx2_loop_x8"
#define UCOPY_INTEL_06_CF_NOCACHE_3_STRATEGY "avx512_stream_x4"
#define UCOPY_INTEL_06_CF_NOCACHE_4_STRATEGY "avx512_pages_stream"

#if defined(__x86_64__) && !defined(__ILP32__)

#ifndef UCOPY_FALLBACK
#define UCOPY_FALLBACK(d, s, n) ((n) ? __builtin_memcpy(d, s, n) : (d))
#endif

/* Sanitizers check memcpy and see nothing of assembly. */
#if defined(UCOPY_NO_ASM) || defined(__SANITIZE_ADDRESS__) || \
    defined(__SANITIZE_THREAD__) || defined(__SANITIZE_HWADDRESS__)
#define UCOPY_INTEL_06_CF_ONLY_FALLBACK 1
#elif !defined(__SSE2__) /* as under -mgeneral-regs-only */
#define UCOPY_INTEL_06_CF_ONLY_FALLBACK 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer) || __has_feature(hwaddress_sanitizer)
#define UCOPY_INTEL_06_CF_ONLY_FALLBACK 1
#endif
#endif
#ifndef UCOPY_INTEL_06_CF_ONLY_FALLBACK
#define UCOPY_INTEL_06_CF_ONLY_FALLBACK 0
#endif

/* Was the compiler told that every CPU has what the code needs? Then nothing is tested. */
#if defined(__SSE2__) && \
    defined(__AVX2__) && \
    defined(__BMI2__) && \
    defined(__AVX512F__) && \
    defined(__AVX512VL__) && \
    defined(__AVX512BW__) && \
    defined(__AVX512DQ__)
#define UCOPY_INTEL_06_CF_PROMISED 1
#else
#define UCOPY_INTEL_06_CF_PROMISED 0
#endif

/* What every strategy's text relies on. A leaf is always inlined and has no target attribute: its
 * called form, a noinline function, carries the attribute of the instruction sets it needs. */
typedef __SIZE_TYPE__ ucopy_intel_06_cf_size;
#define UCOPY_INTEL_06_CF_LEAF static __inline__ __attribute__((always_inline, unused))

#ifndef UCOPY_NO_ASM
/* Detection: what the CPU has and the OS has enabled. The tuner runs this text and the generated
 * header embeds it. It is compiled without AVX, since it runs before anybody knows. */

/* The raw registers that the answer depends on. */
struct ucopy_intel_06_cf_cpuid {
    unsigned max_leaf;
    unsigned vendor[3]; /* EBX, EDX, ECX of leaf 0: the vendor's 12 characters in order */
    unsigned leaf1_eax, leaf1_ecx, leaf1_edx;
    unsigned leaf7_ebx, leaf7_ecx, leaf7_edx; /* 0 where max_leaf < 7 */
    unsigned xcr0; /* low half; 0 where OSXSAVE (leaf 1 ECX bit 27) is clear */
};

__attribute__((unused)) static void ucopy_intel_06_cf_cpuid_leaf(unsigned leaf, unsigned subleaf, unsigned r[4])
{
    __asm__ volatile("cpuid"
                     : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3])
                     : "0"(leaf), "2"(subleaf));
}

/* Executes CPUID three times, up to 13,000 ticks each where a hypervisor traps it: call it once. */
__attribute__((unused)) static void ucopy_intel_06_cf_cpuid_read(struct ucopy_intel_06_cf_cpuid *c)
{
    unsigned r[4];

    ucopy_intel_06_cf_cpuid_leaf(0, 0, r);
    c->max_leaf = r[0];
    c->vendor[0] = r[1];
    c->vendor[1] = r[3];
    c->vendor[2] = r[2];
    ucopy_intel_06_cf_cpuid_leaf(1, 0, r);
    c->leaf1_eax = r[0];
    c->leaf1_ecx = r[2];
    c->leaf1_edx = r[3];
    c->leaf7_ebx = c->leaf7_ecx = c->leaf7_edx = 0;
    if (c->max_leaf >= 7) {
        ucopy_intel_06_cf_cpuid_leaf(7, 0, r);
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

/* Bits as in UCOPY_INTEL_06_CF_ISA_LIST: 0 erms, 1 fsrm, 2 sse2, 3 avx2, 4 bmi2, 5 avx512bw (with F, VL, DQ,
 * BMI2), 6 avx512vbmi2. AVX needs XCR0 bits 1 and 2, AVX-512 bits 5 to 7 as well (Intel SDM
 * vol. 1, 14.3 and 15.2). */
__attribute__((unused)) static unsigned ucopy_intel_06_cf_isa_usable(const struct ucopy_intel_06_cf_cpuid *c)
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
__attribute__((unused)) static unsigned ucopy_intel_06_cf_cpu_family(unsigned eax)
{
    unsigned family = eax >> 8 & 15;
    return family == 15 ? family + (eax >> 20 & 255) : family;
}

__attribute__((unused)) static unsigned ucopy_intel_06_cf_cpu_model(unsigned eax)
{
    unsigned family = eax >> 8 & 15;
    unsigned model = eax >> 4 & 15;
    return family == 6 || family == 15 ? model | (eax >> 16 & 15) << 4 : model;
}

/* 1: looked; 2: is this CPU; 4: is usable. Looked at once, since CPUID can trap and
 * take thousands of ticks; two threads that look at once find the same. */
static int ucopy_intel_06_cf_state __attribute__((unused));

__attribute__((noinline, cold, unused)) static int ucopy_intel_06_cf_look(void)
{
    struct ucopy_intel_06_cf_cpuid c;
    int state = 1;

    ucopy_intel_06_cf_cpuid_read(&c);
    if (c.vendor[0] == 0x756e6547u && c.vendor[1] == 0x49656e69u && c.vendor[2] == 0x6c65746eu &&
        ucopy_intel_06_cf_cpu_family(c.leaf1_eax) == 0x6u &&
        ucopy_intel_06_cf_cpu_model(c.leaf1_eax) == 0xcfu)
        state |= 2;
    if ((ucopy_intel_06_cf_isa_usable(&c) & 0x3cu) == 0x3cu)
        state |= 4;
    __atomic_store_n(&ucopy_intel_06_cf_state, state, __ATOMIC_RELAXED);
    return state;
}

static __inline__ __attribute__((unused)) int ucopy_intel_06_cf_is_this_cpu(void)
{
    int state = __atomic_load_n(&ucopy_intel_06_cf_state, __ATOMIC_RELAXED);
    return ((state ? state : ucopy_intel_06_cf_look()) & 2) != 0;
}

static __inline__ __attribute__((unused)) int ucopy_intel_06_cf_usable(void)
{
    int state = __atomic_load_n(&ucopy_intel_06_cf_state, __ATOMIC_RELAXED);
    return ((state ? state : ucopy_intel_06_cf_look()) & 4) != 0;
}
#else /* without assembly there is no CPUID */
static __inline__ __attribute__((unused)) int ucopy_intel_06_cf_is_this_cpu(void)
{
    return 0;
}

static __inline__ __attribute__((unused)) int ucopy_intel_06_cf_usable(void)
{
    return 0;
}
#endif

#if !UCOPY_INTEL_06_CF_ONLY_FALLBACK

/* Moves of short copies by general registers. Each serves a range of sizes by a fixed set of loads and
 * stores that begin with the buffer and end with it, overlapping in between. All loads come first, so that
 * the stores of one move never delay its loads.
 * A fold serves two octaves without a branch: its offset k is the register's width in the upper octave and
 * 0 in the lower, ((n - 1) >> 1) & width, where both middle moves repeat the outer ones. */
/* 1 to 3: first, middle and last byte. */
UCOPY_INTEL_06_CF_LEAF void ucopy_intel_06_cf_move_1_3(void *d, const void *s, ucopy_intel_06_cf_size n)
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
UCOPY_INTEL_06_CF_LEAF void ucopy_intel_06_cf_pair_4_8(void *d, const void *s, ucopy_intel_06_cf_size n)
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
UCOPY_INTEL_06_CF_LEAF void ucopy_intel_06_cf_pair_8_16(void *d, const void *s, ucopy_intel_06_cf_size n)
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
UCOPY_INTEL_06_CF_LEAF void ucopy_intel_06_cf_fold_4_16(void *d, const void *s, ucopy_intel_06_cf_size n)
{
    ucopy_intel_06_cf_size k = ((n - 1) >> 1) & 4;

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
UCOPY_INTEL_06_CF_LEAF void ucopy_intel_06_cf_fold_8_32(void *d, const void *s, ucopy_intel_06_cf_size n)
{
    ucopy_intel_06_cf_size k = ((n - 1) >> 1) & 8;

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
UCOPY_INTEL_06_CF_LEAF void ucopy_intel_06_cf_quad_16_32(void *d, const void *s, ucopy_intel_06_cf_size n)
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
UCOPY_INTEL_06_CF_LEAF void ucopy_intel_06_cf_oct_32_64(void *d, const void *s, ucopy_intel_06_cf_size n)
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

/* Moves of short copies by xmm registers; see moves_gpr.h for pairs and folds. */
/* 16 to 32: two 16-byte moves. */
UCOPY_INTEL_06_CF_LEAF void ucopy_intel_06_cf_pair_16_32_sse2(void *d, const void *s, ucopy_intel_06_cf_size n)
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
UCOPY_INTEL_06_CF_LEAF void ucopy_intel_06_cf_quad_32_64_sse2(void *d, const void *s, ucopy_intel_06_cf_size n)
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
UCOPY_INTEL_06_CF_LEAF void ucopy_intel_06_cf_fold_16_64_sse2(void *d, const void *s, ucopy_intel_06_cf_size n)
{
    ucopy_intel_06_cf_size k = ((n - 1) >> 1) & 16;

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
UCOPY_INTEL_06_CF_LEAF void ucopy_intel_06_cf_oct_64_128_sse2(void *d, const void *s, ucopy_intel_06_cf_size n)
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
UCOPY_INTEL_06_CF_LEAF void ucopy_intel_06_cf_move_128_256_sse2(void *d, const void *s, ucopy_intel_06_cf_size n)
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

/* As moves_free_gpr.h, with xmm registers. */
/* 0 to 32. */
UCOPY_INTEL_06_CF_LEAF void ucopy_intel_06_cf_free_0_32(void *d, const void *s, ucopy_intel_06_cf_size n)
{
    __attribute__((uninitialized)) char scratch[64 + 63];
    ucopy_intel_06_cf_size line = ((ucopy_intel_06_cf_size)scratch + 63) & ~(ucopy_intel_06_cf_size)63, a, b, h;
    void *p, *q;

    __asm__ volatile("test %[n], %[n]\n\t"
                     "mov %[s], %[p]\n\t"
                     "cmovz %[in], %[p]\n\t"
                     "mov %[d], %[q]\n\t"
                     "cmovz %[out], %[q]\n\t"
                     "mov %k[n], %k[h]\n\t"
                     "shr $1, %k[h]\n\t"
                     "movzbl (%[p]), %k[a]\n\t"
                     "movzbl (%[p],%[h]), %k[b]\n\t"
                     "movb %b[a], (%[q])\n\t"
                     "movzbl -1(%[p],%[n]), %k[a]\n\t"
                     "movb %b[b], (%[q],%[h])\n\t"
                     "movb %b[a], -1(%[q],%[n])\n\t"
                     "cmp $4, %[n]\n\t"
                     "mov %[s], %[p]\n\t"
                     "cmovb %[in], %[p]\n\t"
                     "mov %[d], %[q]\n\t"
                     "cmovb %[out], %[q]\n\t"
                     "mov (%[p]), %k[a]\n\t"
                     "mov -4(%[p],%[n]), %k[b]\n\t"
                     "mov %k[a], (%[q])\n\t"
                     "mov %k[b], -4(%[q],%[n])\n\t"
                     "cmp $8, %[n]\n\t"
                     "mov %[s], %[p]\n\t"
                     "cmovb %[in], %[p]\n\t"
                     "mov %[d], %[q]\n\t"
                     "cmovb %[out], %[q]\n\t"
                     "mov (%[p]), %[a]\n\t"
                     "mov -8(%[p],%[n]), %[b]\n\t"
                     "mov %[a], (%[q])\n\t"
                     "mov %[b], -8(%[q],%[n])\n\t"
                     "cmp $16, %[n]\n\t"
                     "mov %[s], %[p]\n\t"
                     "cmovb %[in], %[p]\n\t"
                     "mov %[d], %[q]\n\t"
                     "cmovb %[out], %[q]\n\t"
                     "movups (%[p]), %%xmm0\n\t"
                     "movups -16(%[p],%[n]), %%xmm1\n\t"
                     "movups %%xmm0, (%[q])\n\t"
                     "movups %%xmm1, -16(%[q],%[n])"
                     : [a] "=&q"(a), [b] "=&q"(b), [h] "=&r"(h), [p] "=&r"(p), [q] "=&r"(q), "=m"(scratch)
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n), [in] "r"(line + 16), [out] "r"(line + 48)
                     : "xmm0", "xmm1", "cc", "memory");
}

/* As short_free32_sse2_64, with eight and sixteen xmm moves to 256. Wins where sizes mix and dst is read
 * at once; loses on repeated sizes by its extra moves. */
UCOPY_INTEL_06_CF_LEAF void *ucopy_intel_06_cf_short_free32_sse2_256(void *dst, const void *src, ucopy_intel_06_cf_size n)
{
    if (n <= 32)
        ucopy_intel_06_cf_free_0_32(dst, src, n);
    else if (n <= 64)
        ucopy_intel_06_cf_quad_32_64_sse2(dst, src, n);
    else if (n <= 128)
        ucopy_intel_06_cf_oct_64_128_sse2(dst, src, n);
    else
        ucopy_intel_06_cf_move_128_256_sse2(dst, src, n);
    return dst;
}

/* Two zmm registers a turn, dst aligned. Wins from 128 bytes where the tail of longer blocks is wasted;
 * loses on long copies. */
UCOPY_INTEL_06_CF_LEAF void *ucopy_intel_06_cf_avx512_loop_x2(void *dst, const void *src, ucopy_intel_06_cf_size n)
{
    void *d = dst, *d_end = (char *)dst + n - 2 * 64;
    const void *s_end = (const char *)src + n - 2 * 64;
    __asm__ volatile("vmovdqu64 (%[s]), %%zmm16\n\t"
                     "vmovdqu64 %%zmm16, (%[d])\n\t"
                     "sub %[d], %[s]\n\t"
                     "add $64, %[d]\n\t"
                     "and $-64, %[d]\n\t"
                     "add %[d], %[s]\n\t"
                     "cmp %[d_end], %[d]\n\t"
                     "jae 2f\n\t"
                     ".p2align 5\n"
                     "1:\n\t"
                     "vmovdqu64 0*64(%[s]), %%zmm16\n\t"
                     "vmovdqu64 1*64(%[s]), %%zmm17\n\t"
                     "vmovdqa64 %%zmm16, 0*64(%[d])\n\t"
                     "vmovdqa64 %%zmm17, 1*64(%[d])\n\t"
                     "add $2*64, %[s]\n\t"
                     "add $2*64, %[d]\n\t"
                     "cmp %[d_end], %[d]\n\t"
                     "jb 1b\n"
                     "2:\n\t"
                     "vmovdqu64 0*64(%[s_end]), %%zmm16\n\t"
                     "vmovdqu64 1*64(%[s_end]), %%zmm17\n\t"
                     "vmovdqu64 %%zmm16, 0*64(%[d_end])\n\t"
                     "vmovdqu64 %%zmm17, 1*64(%[d_end])\n\t"
                     : [d] "+&r"(d), [s] "+&r"(src)
                     : [d_end] "r"(d_end), [s_end] "r"(s_end)
                     : "xmm16", "xmm17", "cc", "memory");
    return dst;
}

/* The string instruction. How: microcode moves whole lines where ERMS is present. Wins from a few
 * hundred bytes to the streaming range where its start-up (20 to 60 ticks) is paid back; loses
 * below, and by much where dst lies 1 to 63 bytes behind src in its page. */
UCOPY_INTEL_06_CF_LEAF void *ucopy_intel_06_cf_rep_movsb(void *dst, const void *src, ucopy_intel_06_cf_size n)
{
    void *d = dst;

    __asm__ volatile("rep movsb" : "+D"(d), "+S"(src), "+c"(n) : : "memory");
    return dst;
}

/* Streaming stores by xmm, two pages in parallel, a line of each a turn. Wins for copies beyond the last
 * level cache where one stream leaves memory idle; loses below, and where dst is read soon. */
UCOPY_INTEL_06_CF_LEAF void *ucopy_intel_06_cf_sse2_pages_stream(void *dst, const void *src, ucopy_intel_06_cf_size n)
{
    void *d = dst, *d_end = (char *)dst + n - (4 * 16);
    const void *s_end = (const char *)src + n - (4 * 16);
    ucopy_intel_06_cf_size turns;
    __asm__ volatile("movups 0*16(%[s]), %%xmm0\n\t"
                     "movups 1*16(%[s]), %%xmm1\n\t"
                     "movups 2*16(%[s]), %%xmm2\n\t"
                     "movups 3*16(%[s]), %%xmm3\n\t"
                     "movups %%xmm0, 0*16(%[d])\n\t"
                     "movups %%xmm1, 1*16(%[d])\n\t"
                     "movups %%xmm2, 2*16(%[d])\n\t"
                     "movups %%xmm3, 3*16(%[d])\n\t"
                     "sub %[d], %[s]\n\t"
                     "add $64, %[d]\n\t"
                     "and $-64, %[d]\n\t"
                     "add %[d], %[s]\n"
                     "1:\n\t"
                     "lea 8192(%[d]), %[turns]\n\t"
                     "cmp %[d_end], %[turns]\n\t"
                     "ja 3f\n\t"
                     "mov $4096/(4*16), %k[turns]\n\t"
                     ".p2align 5\n"
                     "2:\n\t"
                     "movups 0*16(%[s]), %%xmm0\n\t"
                     "movups 1*16(%[s]), %%xmm1\n\t"
                     "movups 2*16(%[s]), %%xmm2\n\t"
                     "movups 3*16(%[s]), %%xmm3\n\t"
                     "movups 4096(%[s]), %%xmm4\n\t"
                     "movups 4096+1*16(%[s]), %%xmm5\n\t"
                     "movups 4096+2*16(%[s]), %%xmm6\n\t"
                     "movups 4096+3*16(%[s]), %%xmm7\n\t"
                     "movntps %%xmm0, 0*16(%[d])\n\t"
                     "movntps %%xmm1, 1*16(%[d])\n\t"
                     "movntps %%xmm2, 2*16(%[d])\n\t"
                     "movntps %%xmm3, 3*16(%[d])\n\t"
                     "movntps %%xmm4, 4096(%[d])\n\t"
                     "movntps %%xmm5, 4096+1*16(%[d])\n\t"
                     "movntps %%xmm6, 4096+2*16(%[d])\n\t"
                     "movntps %%xmm7, 4096+3*16(%[d])\n\t"
                     "add $4*16, %[s]\n\t"
                     "add $4*16, %[d]\n\t"
                     "dec %k[turns]\n\t"
                     "jnz 2b\n\t"
                     "add $4096, %[s]\n\t"
                     "add $4096, %[d]\n\t"
                     "jmp 1b\n"
                     "3:\n\t"
                     "cmp %[d_end], %[d]\n\t"
                     "jae 5f\n"
                     "4:\n\t"
                     "movups 0*16(%[s]), %%xmm0\n\t"
                     "movups 1*16(%[s]), %%xmm1\n\t"
                     "movups 2*16(%[s]), %%xmm2\n\t"
                     "movups 3*16(%[s]), %%xmm3\n\t"
                     "movntps %%xmm0, 0*16(%[d])\n\t"
                     "movntps %%xmm1, 1*16(%[d])\n\t"
                     "movntps %%xmm2, 2*16(%[d])\n\t"
                     "movntps %%xmm3, 3*16(%[d])\n\t"
                     "add $4*16, %[s]\n\t"
                     "add $4*16, %[d]\n\t"
                     "cmp %[d_end], %[d]\n\t"
                     "jb 4b\n"
                     "5:\n\t"
                     "movups 0*16(%[s_end]), %%xmm0\n\t"
                     "movups 1*16(%[s_end]), %%xmm1\n\t"
                     "movups 2*16(%[s_end]), %%xmm2\n\t"
                     "movups 3*16(%[s_end]), %%xmm3\n\t"
                     "movups %%xmm0, 0*16(%[d_end])\n\t"
                     "movups %%xmm1, 1*16(%[d_end])\n\t"
                     "movups %%xmm2, 2*16(%[d_end])\n\t"
                     "movups %%xmm3, 3*16(%[d_end])\n\t"
                     "sfence"
                     : [d] "+&r"(d), [s] "+&r"(src), [turns] "=&r"(turns)
                     : [d_end] "r"(d_end), [s_end] "r"(s_end)
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "cc", "memory");
    return dst;
}

/* Streaming stores by zmm, four lines a turn, sfence behind: a write-combining buffer filled by one store.
 * Wins for large copies whose dst is not read soon; loses by a factor where it is. */
UCOPY_INTEL_06_CF_LEAF void *ucopy_intel_06_cf_avx512_stream_x4(void *dst, const void *src, ucopy_intel_06_cf_size n)
{
    void *d = dst, *d_end = (char *)dst + n - 4 * 64;
    const void *s_end = (const char *)src + n - 4 * 64;
    __asm__ volatile("vmovdqu64 (%[s]), %%zmm16\n\t"
                     "vmovdqu64 %%zmm16, (%[d])\n\t"
                     "sub %[d], %[s]\n\t"
                     "add $64, %[d]\n\t"
                     "and $-64, %[d]\n\t"
                     "add %[d], %[s]\n\t"
                     "cmp %[d_end], %[d]\n\t"
                     "jae 2f\n\t"
                     ".p2align 5\n"
                     "1:\n\t"
                     "vmovdqu64 0*64(%[s]), %%zmm16\n\t"
                     "vmovdqu64 1*64(%[s]), %%zmm17\n\t"
                     "vmovdqu64 2*64(%[s]), %%zmm18\n\t"
                     "vmovdqu64 3*64(%[s]), %%zmm19\n\t"
                     "vmovntdq %%zmm16, 0*64(%[d])\n\t"
                     "vmovntdq %%zmm17, 1*64(%[d])\n\t"
                     "vmovntdq %%zmm18, 2*64(%[d])\n\t"
                     "vmovntdq %%zmm19, 3*64(%[d])\n\t"
                     "add $4*64, %[s]\n\t"
                     "add $4*64, %[d]\n\t"
                     "cmp %[d_end], %[d]\n\t"
                     "jb 1b\n"
                     "2:\n\t"
                     "vmovdqu64 0*64(%[s_end]), %%zmm16\n\t"
                     "vmovdqu64 1*64(%[s_end]), %%zmm17\n\t"
                     "vmovdqu64 2*64(%[s_end]), %%zmm18\n\t"
                     "vmovdqu64 3*64(%[s_end]), %%zmm19\n\t"
                     "vmovdqu64 %%zmm16, 0*64(%[d_end])\n\t"
                     "vmovdqu64 %%zmm17, 1*64(%[d_end])\n\t"
                     "vmovdqu64 %%zmm18, 2*64(%[d_end])\n\t"
                     "vmovdqu64 %%zmm19, 3*64(%[d_end])\n\t"
                     "sfence"
                     : [d] "+&r"(d), [s] "+&r"(src)
                     : [d_end] "r"(d_end), [s_end] "r"(s_end)
                     : "xmm16", "xmm17", "xmm18", "xmm19", "cc", "memory");
    return dst;
}

/* Moves of 0 to 16, 32 or 64 bytes without a branch on the size. Every width moves its head and its tail; a width that
 * n does not reach works on a scratch area of the stack instead, by a conditional move of both pointers, so that
 * nothing outside the buffers is touched and size 0 needs no test. Narrow widths come first: where a later load takes
 * what a wide store wrote last, it is served from that store. The price is a handful of stores; the gain is that
 * mixed sizes mispredict nothing.
 * The scratch area is read at one half and written at the other, or each call would wait for the one before. It is
 * brought to a line by hand: on a stack that happens to lie badly a store across a page end cost 140 cycles, and
 * an aligned array would make the compiler realign the whole frame. It is nobody's data, so it is not cleared either,
 * where the compiler is told to clear all variables. */
/* 0 to 16, general registers. */
UCOPY_INTEL_06_CF_LEAF void ucopy_intel_06_cf_free_0_16(void *d, const void *s, ucopy_intel_06_cf_size n)
{
    __attribute__((uninitialized)) char scratch[32 + 31];
    ucopy_intel_06_cf_size line = ((ucopy_intel_06_cf_size)scratch + 31) & ~(ucopy_intel_06_cf_size)31, a, b, h;
    void *p, *q;

    __asm__ volatile("test %[n], %[n]\n\t"
                     "mov %[s], %[p]\n\t"
                     "cmovz %[in], %[p]\n\t"
                     "mov %[d], %[q]\n\t"
                     "cmovz %[out], %[q]\n\t"
                     "mov %k[n], %k[h]\n\t"
                     "shr $1, %k[h]\n\t"
                     "movzbl (%[p]), %k[a]\n\t"
                     "movzbl (%[p],%[h]), %k[b]\n\t"
                     "movb %b[a], (%[q])\n\t"
                     "movzbl -1(%[p],%[n]), %k[a]\n\t"
                     "movb %b[b], (%[q],%[h])\n\t"
                     "movb %b[a], -1(%[q],%[n])\n\t"
                     "cmp $4, %[n]\n\t"
                     "mov %[s], %[p]\n\t"
                     "cmovb %[in], %[p]\n\t"
                     "mov %[d], %[q]\n\t"
                     "cmovb %[out], %[q]\n\t"
                     "mov (%[p]), %k[a]\n\t"
                     "mov -4(%[p],%[n]), %k[b]\n\t"
                     "mov %k[a], (%[q])\n\t"
                     "mov %k[b], -4(%[q],%[n])\n\t"
                     "cmp $8, %[n]\n\t"
                     "mov %[s], %[p]\n\t"
                     "cmovb %[in], %[p]\n\t"
                     "mov %[d], %[q]\n\t"
                     "cmovb %[out], %[q]\n\t"
                     "mov (%[p]), %[a]\n\t"
                     "mov -8(%[p],%[n]), %[b]\n\t"
                     "mov %[a], (%[q])\n\t"
                     "mov %[b], -8(%[q],%[n])"
                     : [a] "=&q"(a), [b] "=&q"(b), [h] "=&r"(h), [p] "=&r"(p), [q] "=&r"(q), "=m"(scratch)
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n), [in] "r"(line + 8), [out] "r"(line + 24)
                     : "cc", "memory");
}

/* To 16 without a branch on the size, a fold by xmm above. Wins where sizes mix and dst is read at once;
 * loses on repeated sizes by its extra moves. */
UCOPY_INTEL_06_CF_LEAF void *ucopy_intel_06_cf_short_free16_sse2_64(void *dst, const void *src, ucopy_intel_06_cf_size n)
{
    if (n <= 16)
        ucopy_intel_06_cf_free_0_16(dst, src, n);
    else
        ucopy_intel_06_cf_fold_16_64_sse2(dst, src, n);
    return dst;
}

/* Moves of short copies by ymm registers, vzeroupper behind each; see moves_gpr.h for pairs and folds. */
/* 16 to 32: two 16-byte moves in the VEX spelling, which leaves no upper half dirty. */
UCOPY_INTEL_06_CF_LEAF void ucopy_intel_06_cf_pair_16_32_avx(void *d, const void *s, ucopy_intel_06_cf_size n)
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
UCOPY_INTEL_06_CF_LEAF void ucopy_intel_06_cf_fold_16_64_avx(void *d, const void *s, ucopy_intel_06_cf_size n)
{
    ucopy_intel_06_cf_size k = ((n - 1) >> 1) & 16;

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
UCOPY_INTEL_06_CF_LEAF void ucopy_intel_06_cf_pair_32_64_avx2(void *d, const void *s, ucopy_intel_06_cf_size n)
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
UCOPY_INTEL_06_CF_LEAF void ucopy_intel_06_cf_fold_32_128_avx2(void *d, const void *s, ucopy_intel_06_cf_size n)
{
    ucopy_intel_06_cf_size k = ((n - 1) >> 1) & 32;

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
UCOPY_INTEL_06_CF_LEAF void ucopy_intel_06_cf_oct_128_256_avx2(void *d, const void *s, ucopy_intel_06_cf_size n)
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

/* Overlapping head and tail moves to 256, ymm from 33 on, one test an octave, short sizes first. Wins on
 * repeated sizes; loses where sizes mix. */
UCOPY_INTEL_06_CF_LEAF void *ucopy_intel_06_cf_short_tree_avx2_256(void *dst, const void *src, ucopy_intel_06_cf_size n)
{
    if (n <= 16) {
        if (n >= 8)
            ucopy_intel_06_cf_pair_8_16(dst, src, n);
        else if (n >= 4)
            ucopy_intel_06_cf_pair_4_8(dst, src, n);
        else if (n)
            ucopy_intel_06_cf_move_1_3(dst, src, n);
    } else if (n <= 32) {
        ucopy_intel_06_cf_pair_16_32_avx(dst, src, n);
    } else if (n <= 64) {
        ucopy_intel_06_cf_pair_32_64_avx2(dst, src, n);
    } else if (n <= 128) {
        ucopy_intel_06_cf_fold_32_128_avx2(dst, src, n);
    } else {
        ucopy_intel_06_cf_oct_128_256_avx2(dst, src, n);
    }
    return dst;
}

/* Eight ymm registers a turn, dst aligned, vzeroupper behind. Wins over x4 where loop overhead shows; loses
 * below 512 bytes. */
UCOPY_INTEL_06_CF_LEAF void *ucopy_intel_06_cf_avx2_loop_x8(void *dst, const void *src, ucopy_intel_06_cf_size n)
{
    void *d = dst, *d_end = (char *)dst + n - 8 * 32;
    const void *s_end = (const char *)src + n - 8 * 32;
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
                     "vmovdqu 4*32(%[s]), %%ymm4\n\t"
                     "vmovdqu 5*32(%[s]), %%ymm5\n\t"
                     "vmovdqu 6*32(%[s]), %%ymm6\n\t"
                     "vmovdqu 7*32(%[s]), %%ymm7\n\t"
                     "vmovdqa %%ymm0, 0*32(%[d])\n\t"
                     "vmovdqa %%ymm1, 1*32(%[d])\n\t"
                     "vmovdqa %%ymm2, 2*32(%[d])\n\t"
                     "vmovdqa %%ymm3, 3*32(%[d])\n\t"
                     "vmovdqa %%ymm4, 4*32(%[d])\n\t"
                     "vmovdqa %%ymm5, 5*32(%[d])\n\t"
                     "vmovdqa %%ymm6, 6*32(%[d])\n\t"
                     "vmovdqa %%ymm7, 7*32(%[d])\n\t"
                     "add $8*32, %[s]\n\t"
                     "add $8*32, %[d]\n\t"
                     "cmp %[d_end], %[d]\n\t"
                     "jb 1b\n"
                     "2:\n\t"
                     "vmovdqu 0*32(%[s_end]), %%ymm0\n\t"
                     "vmovdqu 1*32(%[s_end]), %%ymm1\n\t"
                     "vmovdqu 2*32(%[s_end]), %%ymm2\n\t"
                     "vmovdqu 3*32(%[s_end]), %%ymm3\n\t"
                     "vmovdqu 4*32(%[s_end]), %%ymm4\n\t"
                     "vmovdqu 5*32(%[s_end]), %%ymm5\n\t"
                     "vmovdqu 6*32(%[s_end]), %%ymm6\n\t"
                     "vmovdqu 7*32(%[s_end]), %%ymm7\n\t"
                     "vmovdqu %%ymm0, 0*32(%[d_end])\n\t"
                     "vmovdqu %%ymm1, 1*32(%[d_end])\n\t"
                     "vmovdqu %%ymm2, 2*32(%[d_end])\n\t"
                     "vmovdqu %%ymm3, 3*32(%[d_end])\n\t"
                     "vmovdqu %%ymm4, 4*32(%[d_end])\n\t"
                     "vmovdqu %%ymm5, 5*32(%[d_end])\n\t"
                     "vmovdqu %%ymm6, 6*32(%[d_end])\n\t"
                     "vmovdqu %%ymm7, 7*32(%[d_end])\n\t"
                     "\n\t"
                     "vzeroupper"
                     : [d] "+&r"(d), [s] "+&r"(src)
                     : [d_end] "r"(d_end), [s_end] "r"(s_end)
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc", "memory");
    return dst;
}

/* Streaming stores by zmm, two pages in parallel, two lines of each a turn. Wins and loses as
 * sse2_pages_stream. */
UCOPY_INTEL_06_CF_LEAF void *ucopy_intel_06_cf_avx512_pages_stream(void *dst, const void *src, ucopy_intel_06_cf_size n)
{
    void *d = dst, *d_end = (char *)dst + n - (2 * 64);
    const void *s_end = (const char *)src + n - (2 * 64);
    ucopy_intel_06_cf_size turns;
    __asm__ volatile("vmovdqu64 0*64(%[s]), %%zmm16\n\t"
                     "vmovdqu64 1*64(%[s]), %%zmm17\n\t"
                     "vmovdqu64 %%zmm16, 0*64(%[d])\n\t"
                     "vmovdqu64 %%zmm17, 1*64(%[d])\n\t"
                     "sub %[d], %[s]\n\t"
                     "add $64, %[d]\n\t"
                     "and $-64, %[d]\n\t"
                     "add %[d], %[s]\n"
                     "1:\n\t"
                     "lea 8192(%[d]), %[turns]\n\t"
                     "cmp %[d_end], %[turns]\n\t"
                     "ja 3f\n\t"
                     "mov $4096/(2*64), %k[turns]\n\t"
                     ".p2align 5\n"
                     "2:\n\t"
                     "vmovdqu64 0*64(%[s]), %%zmm16\n\t"
                     "vmovdqu64 1*64(%[s]), %%zmm17\n\t"
                     "vmovdqu64 4096(%[s]), %%zmm18\n\t"
                     "vmovdqu64 4096+1*64(%[s]), %%zmm19\n\t"
                     "vmovntdq %%zmm16, 0*64(%[d])\n\t"
                     "vmovntdq %%zmm17, 1*64(%[d])\n\t"
                     "vmovntdq %%zmm18, 4096(%[d])\n\t"
                     "vmovntdq %%zmm19, 4096+1*64(%[d])\n\t"
                     "add $2*64, %[s]\n\t"
                     "add $2*64, %[d]\n\t"
                     "dec %k[turns]\n\t"
                     "jnz 2b\n\t"
                     "add $4096, %[s]\n\t"
                     "add $4096, %[d]\n\t"
                     "jmp 1b\n"
                     "3:\n\t"
                     "cmp %[d_end], %[d]\n\t"
                     "jae 5f\n"
                     "4:\n\t"
                     "vmovdqu64 0*64(%[s]), %%zmm16\n\t"
                     "vmovdqu64 1*64(%[s]), %%zmm17\n\t"
                     "vmovntdq %%zmm16, 0*64(%[d])\n\t"
                     "vmovntdq %%zmm17, 1*64(%[d])\n\t"
                     "add $2*64, %[s]\n\t"
                     "add $2*64, %[d]\n\t"
                     "cmp %[d_end], %[d]\n\t"
                     "jb 4b\n"
                     "5:\n\t"
                     "vmovdqu64 0*64(%[s_end]), %%zmm16\n\t"
                     "vmovdqu64 1*64(%[s_end]), %%zmm17\n\t"
                     "vmovdqu64 %%zmm16, 0*64(%[d_end])\n\t"
                     "vmovdqu64 %%zmm17, 1*64(%[d_end])\n\t"
                     "sfence"
                     : [d] "+&r"(d), [s] "+&r"(src), [turns] "=&r"(turns)
                     : [d_end] "r"(d_end), [s_end] "r"(s_end)
                     : "xmm16", "xmm17", "xmm18", "xmm19", "cc", "memory");
    return dst;
}

__attribute__((noinline, unused, aligned(64), target("sse2,avx2,bmi2,avx512f,avx512vl,avx512bw,avx512dq")))
static void *ucopy_intel_06_cf_avx512_loop_x2_called(void *dst, const void *src, ucopy_intel_06_cf_size n)
{
    return ucopy_intel_06_cf_avx512_loop_x2(dst, src, n);
}

__attribute__((noinline, unused, aligned(64)))
static void *ucopy_intel_06_cf_rep_movsb_called(void *dst, const void *src, ucopy_intel_06_cf_size n)
{
    return ucopy_intel_06_cf_rep_movsb(dst, src, n);
}

__attribute__((noinline, unused, aligned(64), target("sse2,avx2,bmi2,avx512f,avx512vl,avx512bw,avx512dq")))
static void *ucopy_intel_06_cf_avx512_stream_x4_called(void *dst, const void *src, ucopy_intel_06_cf_size n)
{
    return ucopy_intel_06_cf_avx512_stream_x4(dst, src, n);
}

/* The ladder of copy. */
__attribute__((noinline, unused, aligned(64)))
static void *ucopy_intel_06_cf_copy_called(void *dst, const void *src, ucopy_intel_06_cf_size n)
{
    if (n <= UCOPY_INTEL_06_CF_COPY_1_MAX)
        return ucopy_intel_06_cf_short_free32_sse2_256(dst, src, n);
    if (n <= UCOPY_INTEL_06_CF_COPY_2_MAX)
        return ucopy_intel_06_cf_avx512_loop_x2_called(dst, src, n);
    if (n <= UCOPY_INTEL_06_CF_COPY_3_MAX)
        return ucopy_intel_06_cf_rep_movsb_called(dst, src, n);
    if (n <= UCOPY_INTEL_06_CF_COPY_4_MAX)
        return ucopy_intel_06_cf_sse2_pages_stream(dst, src, n);
    return ucopy_intel_06_cf_avx512_stream_x4_called(dst, src, n);
}

#if !UCOPY_INTEL_06_CF_PROMISED
__attribute__((noinline, cold, unused))
static void *ucopy_intel_06_cf_copy_unsure(void *dst, const void *src, ucopy_intel_06_cf_size n)
{
    if (!ucopy_intel_06_cf_usable())
        return UCOPY_FALLBACK(dst, src, n);
    return ucopy_intel_06_cf_copy_called(dst, src, n);
}
#endif

#define UCOPY_INTEL_06_CF_COPY_INLINE_MAX 64
#define UCOPY_INTEL_06_CF_COPY_INLINE_STRATEGY "short_free16_sse2_64"
#define UCOPY_INTEL_06_CF_COPY_INLINE(d, s, n) ucopy_intel_06_cf_short_free16_sse2_64(d, s, n)

__attribute__((noinline, unused, aligned(64), target("sse2,avx2,bmi2,avx512f,avx512vl,avx512bw,avx512dq")))
static void *ucopy_intel_06_cf_avx512_pages_stream_called(void *dst, const void *src, ucopy_intel_06_cf_size n)
{
    return ucopy_intel_06_cf_avx512_pages_stream(dst, src, n);
}

/* The ladder of nocache. */
__attribute__((noinline, unused, aligned(64)))
static void *ucopy_intel_06_cf_nocache_called(void *dst, const void *src, ucopy_intel_06_cf_size n)
{
    if (n <= UCOPY_INTEL_06_CF_NOCACHE_1_MAX)
        return ucopy_intel_06_cf_short_tree_avx2_256(dst, src, n);
    if (n <= UCOPY_INTEL_06_CF_NOCACHE_2_MAX)
        return ucopy_intel_06_cf_avx2_loop_x8(dst, src, n);
    if (n <= UCOPY_INTEL_06_CF_NOCACHE_3_MAX)
        return ucopy_intel_06_cf_avx512_stream_x4_called(dst, src, n);
    return ucopy_intel_06_cf_avx512_pages_stream_called(dst, src, n);
}

#if !UCOPY_INTEL_06_CF_PROMISED
__attribute__((noinline, cold, unused))
static void *ucopy_intel_06_cf_nocache_unsure(void *dst, const void *src, ucopy_intel_06_cf_size n)
{
    if (!ucopy_intel_06_cf_usable())
        return UCOPY_FALLBACK(dst, src, n);
    return ucopy_intel_06_cf_nocache_called(dst, src, n);
}
#endif

#endif /* !UCOPY_INTEL_06_CF_ONLY_FALLBACK */

/* Copies n bytes from src to dst, which is used soon. Returns dst. */
static __inline__ __attribute__((unused)) void *
ucopy_intel_06_cf(void *dst, const void *src, ucopy_intel_06_cf_size n)
{
#if UCOPY_INTEL_06_CF_ONLY_FALLBACK
    return UCOPY_FALLBACK(dst, src, n);
#else
    if (__builtin_constant_p(n) && n <= 64)
        return n ? __builtin_memcpy(dst, src, n) : dst;
#ifdef UCOPY_INTEL_06_CF_COPY_INLINE_MAX
    if (n <= UCOPY_INTEL_06_CF_COPY_INLINE_MAX)
        return UCOPY_INTEL_06_CF_COPY_INLINE(dst, src, n);
#endif
#if !UCOPY_INTEL_06_CF_PROMISED
    if (__builtin_expect(!(__atomic_load_n(&ucopy_intel_06_cf_state, __ATOMIC_RELAXED) & 4), 0))
        return ucopy_intel_06_cf_copy_unsure(dst, src, n);
#endif
    return ucopy_intel_06_cf_copy_called(dst, src, n);
#endif
}

/* Copies n bytes from src to dst, which is not used soon: caches stay as they are
 * where that pays. Returns dst. */
static __inline__ __attribute__((unused)) void *
ucopy_intel_06_cf_nocache(void *dst, const void *src, ucopy_intel_06_cf_size n)
{
#if UCOPY_INTEL_06_CF_ONLY_FALLBACK
    return UCOPY_FALLBACK(dst, src, n);
#else
    if (__builtin_constant_p(n) && n <= 64)
        return n ? __builtin_memcpy(dst, src, n) : dst;
#ifdef UCOPY_INTEL_06_CF_NOCACHE_INLINE_MAX
    if (n <= UCOPY_INTEL_06_CF_NOCACHE_INLINE_MAX)
        return UCOPY_INTEL_06_CF_NOCACHE_INLINE(dst, src, n);
#endif
#if !UCOPY_INTEL_06_CF_PROMISED
    if (__builtin_expect(!(__atomic_load_n(&ucopy_intel_06_cf_state, __ATOMIC_RELAXED) & 4), 0))
        return ucopy_intel_06_cf_nocache_unsure(dst, src, n);
#endif
    return ucopy_intel_06_cf_nocache_called(dst, src, n);
#endif
}


#endif /* x86-64 */
#endif /* not the assembler */
#endif
