/* Moves of short copies by registers 16 and up, which need no vzeroupper; see moves_gpr.h for pairs and folds. */
/* 16 to 32: two 16-byte moves. */
UCOPY_LEAF void ucopy_pair_16_32_avx512(void *d, const void *s, ucopy_size n)
{
    __asm__ volatile("vmovdqu64 (%[s]), %%xmm16\n\t"
                     "vmovdqu64 -16(%[s],%[n]), %%xmm17\n\t"
                     "vmovdqu64 %%xmm16, (%[d])\n\t"
                     "vmovdqu64 %%xmm17, -16(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n)
                     : "xmm16", "xmm17", "memory");
}
/* 16 to 64: four 16-byte moves. */
UCOPY_LEAF void ucopy_fold_16_64_avx512(void *d, const void *s, ucopy_size n)
{
    ucopy_size k = ((n - 1) >> 1) & 16;

    __asm__ volatile("vmovdqu64 (%[s]), %%xmm16\n\t"
                     "vmovdqu64 (%[s],%[k]), %%xmm17\n\t"
                     "vmovdqu64 -16(%[s],%[e]), %%xmm18\n\t"
                     "vmovdqu64 -16(%[s],%[n]), %%xmm19\n\t"
                     "vmovdqu64 %%xmm16, (%[d])\n\t"
                     "vmovdqu64 %%xmm17, (%[d],%[k])\n\t"
                     "vmovdqu64 %%xmm18, -16(%[d],%[e])\n\t"
                     "vmovdqu64 %%xmm19, -16(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n), [k] "r"(k), [e] "r"(n - k)
                     : "xmm16", "xmm17", "xmm18", "xmm19", "memory");
}
/* 32 to 64: two 32-byte moves. */
UCOPY_LEAF void ucopy_pair_32_64_avx512(void *d, const void *s, ucopy_size n)
{
    __asm__ volatile("vmovdqu64 (%[s]), %%ymm16\n\t"
                     "vmovdqu64 -32(%[s],%[n]), %%ymm17\n\t"
                     "vmovdqu64 %%ymm16, (%[d])\n\t"
                     "vmovdqu64 %%ymm17, -32(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n)
                     : "xmm16", "xmm17", "memory");
}
/* 32 to 128: four 32-byte moves. */
UCOPY_LEAF void ucopy_fold_32_128_avx512(void *d, const void *s, ucopy_size n)
{
    ucopy_size k = ((n - 1) >> 1) & 32;

    __asm__ volatile("vmovdqu64 (%[s]), %%ymm16\n\t"
                     "vmovdqu64 (%[s],%[k]), %%ymm17\n\t"
                     "vmovdqu64 -32(%[s],%[e]), %%ymm18\n\t"
                     "vmovdqu64 -32(%[s],%[n]), %%ymm19\n\t"
                     "vmovdqu64 %%ymm16, (%[d])\n\t"
                     "vmovdqu64 %%ymm17, (%[d],%[k])\n\t"
                     "vmovdqu64 %%ymm18, -32(%[d],%[e])\n\t"
                     "vmovdqu64 %%ymm19, -32(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n), [k] "r"(k), [e] "r"(n - k)
                     : "xmm16", "xmm17", "xmm18", "xmm19", "memory");
}
/* 64 to 128: two 64-byte moves. */
UCOPY_LEAF void ucopy_pair_64_128_avx512(void *d, const void *s, ucopy_size n)
{
    __asm__ volatile("vmovdqu64 (%[s]), %%zmm16\n\t"
                     "vmovdqu64 -64(%[s],%[n]), %%zmm17\n\t"
                     "vmovdqu64 %%zmm16, (%[d])\n\t"
                     "vmovdqu64 %%zmm17, -64(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n)
                     : "xmm16", "xmm17", "memory");
}
/* 128 to 256: four 64-byte moves. */
UCOPY_LEAF void ucopy_quad_128_256_avx512(void *d, const void *s, ucopy_size n)
{
    __asm__ volatile("vmovdqu64 (%[s]), %%zmm16\n\t"
                     "vmovdqu64 64(%[s]), %%zmm17\n\t"
                     "vmovdqu64 -128(%[s],%[n]), %%zmm18\n\t"
                     "vmovdqu64 -64(%[s],%[n]), %%zmm19\n\t"
                     "vmovdqu64 %%zmm16, (%[d])\n\t"
                     "vmovdqu64 %%zmm17, 64(%[d])\n\t"
                     "vmovdqu64 %%zmm18, -128(%[d],%[n])\n\t"
                     "vmovdqu64 %%zmm19, -64(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n)
                     : "xmm16", "xmm17", "xmm18", "xmm19", "memory");
}
/* 64 to 256: four 64-byte moves. */
UCOPY_LEAF void ucopy_fold_64_256_avx512(void *d, const void *s, ucopy_size n)
{
    ucopy_size k = ((n - 1) >> 1) & 64;

    __asm__ volatile("vmovdqu64 (%[s]), %%zmm16\n\t"
                     "vmovdqu64 (%[s],%[k]), %%zmm17\n\t"
                     "vmovdqu64 -64(%[s],%[e]), %%zmm18\n\t"
                     "vmovdqu64 -64(%[s],%[n]), %%zmm19\n\t"
                     "vmovdqu64 %%zmm16, (%[d])\n\t"
                     "vmovdqu64 %%zmm17, (%[d],%[k])\n\t"
                     "vmovdqu64 %%zmm18, -64(%[d],%[e])\n\t"
                     "vmovdqu64 %%zmm19, -64(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n), [k] "r"(k), [e] "r"(n - k)
                     : "xmm16", "xmm17", "xmm18", "xmm19", "memory");
}
/* 256 to 512: eight 64-byte moves. */
UCOPY_LEAF void ucopy_oct_256_512_avx512(void *d, const void *s, ucopy_size n)
{
    __asm__ volatile("vmovdqu64 (%[s]), %%zmm16\n\t"
                     "vmovdqu64 64(%[s]), %%zmm17\n\t"
                     "vmovdqu64 128(%[s]), %%zmm18\n\t"
                     "vmovdqu64 192(%[s]), %%zmm19\n\t"
                     "vmovdqu64 -256(%[s],%[n]), %%zmm20\n\t"
                     "vmovdqu64 -192(%[s],%[n]), %%zmm21\n\t"
                     "vmovdqu64 -128(%[s],%[n]), %%zmm22\n\t"
                     "vmovdqu64 -64(%[s],%[n]), %%zmm23\n\t"
                     "vmovdqu64 %%zmm16, (%[d])\n\t"
                     "vmovdqu64 %%zmm17, 64(%[d])\n\t"
                     "vmovdqu64 %%zmm18, 128(%[d])\n\t"
                     "vmovdqu64 %%zmm19, 192(%[d])\n\t"
                     "vmovdqu64 %%zmm20, -256(%[d],%[n])\n\t"
                     "vmovdqu64 %%zmm21, -192(%[d],%[n])\n\t"
                     "vmovdqu64 %%zmm22, -128(%[d],%[n])\n\t"
                     "vmovdqu64 %%zmm23, -64(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n)
                     : "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "memory");
}
/* 128 to 256: eight 32-byte moves. Half as many stores split a line as with zmm where dst is not aligned. */
UCOPY_LEAF void ucopy_oct_128_256_avx512(void *d, const void *s, ucopy_size n)
{
    __asm__ volatile("vmovdqu64 (%[s]), %%ymm16\n\t"
                     "vmovdqu64 32(%[s]), %%ymm17\n\t"
                     "vmovdqu64 64(%[s]), %%ymm18\n\t"
                     "vmovdqu64 96(%[s]), %%ymm19\n\t"
                     "vmovdqu64 -128(%[s],%[n]), %%ymm20\n\t"
                     "vmovdqu64 -96(%[s],%[n]), %%ymm21\n\t"
                     "vmovdqu64 -64(%[s],%[n]), %%ymm22\n\t"
                     "vmovdqu64 -32(%[s],%[n]), %%ymm23\n\t"
                     "vmovdqu64 %%ymm16, (%[d])\n\t"
                     "vmovdqu64 %%ymm17, 32(%[d])\n\t"
                     "vmovdqu64 %%ymm18, 64(%[d])\n\t"
                     "vmovdqu64 %%ymm19, 96(%[d])\n\t"
                     "vmovdqu64 %%ymm20, -128(%[d],%[n])\n\t"
                     "vmovdqu64 %%ymm21, -96(%[d],%[n])\n\t"
                     "vmovdqu64 %%ymm22, -64(%[d],%[n])\n\t"
                     "vmovdqu64 %%ymm23, -32(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n)
                     : "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "memory");
}
