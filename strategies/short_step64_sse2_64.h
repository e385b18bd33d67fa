/* Below 4 bytes without a further branch, from 4 to 64 without one, by xmm registers; serves to 64. Wins
 * where sizes mix; loses to a tree on repeated sizes by six more moves. */
UCOPY_LEAF void *ucopy_short_step64_sse2_64(void *dst, const void *src, ucopy_size n)
{
    if (n < 4)
        ucopy_free_0_3(dst, src, n);
    else
        ucopy_free_4_64_sse2(dst, src, n);
    return dst;
}
