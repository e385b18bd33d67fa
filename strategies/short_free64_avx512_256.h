/* To 64 without a branch on the size, a fold by ymm to 128, eight ymm moves to 256. Wins where sizes mix
 * and dst is read at once; loses on repeated sizes by its extra moves. */
UCOPY_LEAF void *ucopy_short_free64_avx512_256(void *dst, const void *src, ucopy_size n)
{
    if (n <= 64)
        ucopy_free_0_64(dst, src, n);
    else if (n <= 128)
        ucopy_fold_32_128_avx512(dst, src, n);
    else
        ucopy_oct_128_256_avx512(dst, src, n);
    return dst;
}
