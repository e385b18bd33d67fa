/* Below 4 bytes without a further branch, from 4 to 15 without one, by xmm registers; serves to 256. Wins
 * where sizes mix; loses to a tree on repeated sizes by two more moves. */
UCOPY_LEAF void *ucopy_short_step16_sse2_256(void *dst, const void *src, ucopy_size n)
{
    if (n < 4)
        ucopy_free_0_3(dst, src, n);
    else if (n < 16)
        ucopy_free_4_16(dst, src, n);
    else if (n <= 64)
        ucopy_fold_16_64_sse2(dst, src, n);
    else if (n <= 128)
        ucopy_oct_64_128_sse2(dst, src, n);
    else
        ucopy_move_128_256_sse2(dst, src, n);
    return dst;
}
