/* Overlapping head and tail moves to 64, xmm from 17 on, one test an octave, short sizes first. Wins on
 * repeated sizes on every x86-64; loses where sizes mix: each octave is one more branch to mispredict. */
UCOPY_LEAF void *ucopy_short_tree_sse2_64(void *dst, const void *src, ucopy_size n)
{
    if (n <= 16) {
        if (n >= 8)
            ucopy_pair_8_16(dst, src, n);
        else if (n >= 4)
            ucopy_pair_4_8(dst, src, n);
        else if (n)
            ucopy_move_1_3(dst, src, n);
    } else if (n <= 32) {
        ucopy_pair_16_32_sse2(dst, src, n);
    } else {
        ucopy_quad_32_64_sse2(dst, src, n);
    }
    return dst;
}
