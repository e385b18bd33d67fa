/* Moves of short copies by ymm registers, vzeroupper behind each; see moves_gpr.h for pairs and folds. */
/* 16 to 32: two 16-byte moves in the VEX spelling, which leaves no upper half dirty. */
UCOPY_LEAF void ucopy_pair_16_32_avx(void *d, const void *s, ucopy_size n)
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
UCOPY_LEAF void ucopy_fold_16_64_avx(void *d, const void *s, ucopy_size n)
{
    ucopy_size k = ((n - 1) >> 1) & 16;

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
UCOPY_LEAF void ucopy_pair_32_64_avx2(void *d, const void *s, ucopy_size n)
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
UCOPY_LEAF void ucopy_fold_32_128_avx2(void *d, const void *s, ucopy_size n)
{
    ucopy_size k = ((n - 1) >> 1) & 32;

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
UCOPY_LEAF void ucopy_oct_128_256_avx2(void *d, const void *s, ucopy_size n)
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
