/* Moves of short copies by xmm registers; see moves_gpr.h for pairs and folds. */
/* 16 to 32: two 16-byte moves. */
UCOPY_LEAF void ucopy_pair_16_32_sse2(void *d, const void *s, ucopy_size n)
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
UCOPY_LEAF void ucopy_quad_32_64_sse2(void *d, const void *s, ucopy_size n)
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
UCOPY_LEAF void ucopy_fold_16_64_sse2(void *d, const void *s, ucopy_size n)
{
    ucopy_size k = ((n - 1) >> 1) & 16;

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
UCOPY_LEAF void ucopy_oct_64_128_sse2(void *d, const void *s, ucopy_size n)
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
UCOPY_LEAF void ucopy_move_128_256_sse2(void *d, const void *s, ucopy_size n)
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
