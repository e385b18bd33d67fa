/* Pairs to 32, folds by ymm to 128, eight ymm moves to 256: fewer and wider stores than
 * short_half_avx512_512 from 33 to 128. Wins where such sizes are read at once; loses a test elsewhere. */
UCOPY_LEAF void *ucopy_short_half_ymm_avx512_256(void *dst, const void *src, ucopy_size n)
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
    } else if (n <= 128) {
        ucopy_fold_32_128_avx512(dst, src, n);
    } else {
        ucopy_oct_128_256_avx512(dst, src, n);
    }
    return dst;
}
