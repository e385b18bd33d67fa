/* As short_free32_sse2_64, with eight and sixteen xmm moves to 256. Wins where sizes mix and dst is read
 * at once; loses on repeated sizes by its extra moves. */
UCOPY_LEAF void *ucopy_short_free32_sse2_256(void *dst, const void *src, ucopy_size n)
{
    if (n <= 32)
        ucopy_free_0_32(dst, src, n);
    else if (n <= 64)
        ucopy_quad_32_64_sse2(dst, src, n);
    else if (n <= 128)
        ucopy_oct_64_128_sse2(dst, src, n);
    else
        ucopy_move_128_256_sse2(dst, src, n);
    return dst;
}
