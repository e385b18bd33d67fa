/* Below 4 bytes without a further branch, from 4 to 32 without one, by xmm and ymm registers; serves to 256. Wins
 * where sizes mix; loses to a tree on repeated sizes by four more moves. */
UCOPY_LEAF void *ucopy_short_step32_avx2_256(void *dst, const void *src, ucopy_size n)
{
    if (n < 4)
        ucopy_free_0_3(dst, src, n);
    else if (n <= 32)
        ucopy_free_4_32_avx2(dst, src, n);
    else if (n <= 128)
        ucopy_fold_32_128_avx2(dst, src, n);
    else
        ucopy_oct_128_256_avx2(dst, src, n);
    return dst;
}
