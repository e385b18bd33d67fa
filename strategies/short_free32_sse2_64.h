/* To 32 without a branch on the size, four xmm moves above. Wins where sizes mix and dst is read at once;
 * loses on repeated sizes by its extra moves. */
UCOPY_LEAF void *ucopy_short_free32_sse2_64(void *dst, const void *src, ucopy_size n)
{
    if (n <= 32)
        ucopy_free_0_32(dst, src, n);
    else
        ucopy_quad_32_64_sse2(dst, src, n);
    return dst;
}
