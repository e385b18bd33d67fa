/* To 16 without a branch on the size, a fold by xmm above. Wins where sizes mix and dst is read at once;
 * loses on repeated sizes by its extra moves. */
UCOPY_LEAF void *ucopy_short_free16_sse2_64(void *dst, const void *src, ucopy_size n)
{
    if (n <= 16)
        ucopy_free_0_16(dst, src, n);
    else
        ucopy_fold_16_64_sse2(dst, src, n);
    return dst;
}
