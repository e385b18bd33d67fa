/* To 16 without a branch on the size, then one test an octave, general registers alone. Wins where sizes
 * mix and dst is read at once; loses on repeated sizes by its extra moves. */
UCOPY_LEAF void *ucopy_short_free_gpr_64(void *dst, const void *src, ucopy_size n)
{
    if (n <= 16)
        ucopy_free_0_16(dst, src, n);
    else if (n <= 32)
        ucopy_quad_16_32(dst, src, n);
    else
        ucopy_oct_32_64(dst, src, n);
    return dst;
}
