/* Overlapping head and tail moves by general registers, one test an octave. Wins on repeated sizes, which
 * the branch predictor learns, where vector registers may not be used; loses where sizes mix. */
UCOPY_LEAF void *ucopy_short_tree_gpr_64(void *dst, const void *src, ucopy_size n)
{
    if (n <= 16) {
        if (n >= 8)
            ucopy_pair_8_16(dst, src, n);
        else if (n >= 4)
            ucopy_pair_4_8(dst, src, n);
        else if (n)
            ucopy_move_1_3(dst, src, n);
    } else if (n <= 32) {
        ucopy_quad_16_32(dst, src, n);
    } else {
        ucopy_oct_32_64(dst, src, n);
    }
    return dst;
}
