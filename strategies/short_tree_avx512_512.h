/* Overlapping head and tail moves to 512 by registers 16 and up, zmm from 65 on, one test an octave, short sizes
 * first. Wins on repeated sizes; loses where sizes mix. */
UCOPY_LEAF void *ucopy_short_tree_avx512_512(void *dst, const void *src, ucopy_size n)
{
    if (n <= 16) {
        if (n >= 8)
            ucopy_pair_8_16(dst, src, n);
        else if (n >= 4)
            ucopy_pair_4_8(dst, src, n);
        else if (n)
            ucopy_move_1_3(dst, src, n);
    } else if (n <= 32) {
        ucopy_pair_16_32_avx512(dst, src, n);
    } else if (n <= 64) {
        ucopy_pair_32_64_avx512(dst, src, n);
    } else if (n <= 128) {
        ucopy_pair_64_128_avx512(dst, src, n);
    } else if (n <= 256) {
        ucopy_quad_128_256_avx512(dst, src, n);
    } else {
        ucopy_oct_256_512_avx512(dst, src, n);
    }
    return dst;
}
