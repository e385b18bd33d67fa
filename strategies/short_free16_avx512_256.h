/* To 16 without a branch on the size, folds by xmm to 64 and ymm to 128, eight ymm moves to 256. Wins
 * where sizes mix and dst is read at once; loses on repeated sizes by its extra moves. */
UCOPY_LEAF void *ucopy_short_free16_avx512_256(void *dst, const void *src, ucopy_size n)
{
    if (n <= 16)
        ucopy_free_0_16(dst, src, n);
    else if (n <= 64)
        ucopy_fold_16_64_avx512(dst, src, n);
    else if (n <= 128)
        ucopy_fold_32_128_avx512(dst, src, n);
    else
        ucopy_oct_128_256_avx512(dst, src, n);
    return dst;
}
