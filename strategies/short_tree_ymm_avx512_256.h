/* Overlapping head and tail moves to 256 by ymm from 33 on, one test an octave, short sizes first. Wins
 * over short_tree_avx512_512 where 64-byte stores split lines; loses where sizes mix. */
UCOPY_LEAF void *ucopy_short_tree_ymm_avx512_256(void *dst, const void *src, ucopy_size n)
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
        ucopy_fold_32_128_avx512(dst, src, n);
    } else {
        ucopy_oct_128_256_avx512(dst, src, n);
    }
    return dst;
}
