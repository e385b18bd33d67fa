/* Below 4 bytes without a further branch, from 4 to 16 without one, general registers, to 64. Wins where sizes
 * mix and vector registers are not allowed; loses to wider registers. */
UCOPY_LEAF void *ucopy_short_step_gpr_64(void *dst, const void *src, ucopy_size n)
{
    if (n < 4)
        ucopy_free_0_3(dst, src, n);
    else if (n <= 16)
        ucopy_free_4_16(dst, src, n);
    else if (n <= 32)
        ucopy_quad_16_32(dst, src, n);
    else
        ucopy_oct_32_64(dst, src, n);
    return dst;
}
