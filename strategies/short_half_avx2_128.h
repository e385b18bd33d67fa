/* Folds by ymm from 33 to 128, pairs below. Serves to 128. Wins where sizes mix and dst is read at once,
 * on CPUs with AVX2 alone; loses where vzeroupper costs more than the moves saved. */
UCOPY_LEAF void *ucopy_short_half_avx2_128(void *dst, const void *src, ucopy_size n)
{
    if (n <= 16) {
        if (n >= 8)
            ucopy_pair_8_16(dst, src, n);
        else if (n >= 4)
            ucopy_pair_4_8(dst, src, n);
        else if (n)
            ucopy_move_1_3(dst, src, n);
    } else if (n <= 32) {
        ucopy_pair_16_32_avx(dst, src, n);
    } else {
        ucopy_fold_32_128_avx2(dst, src, n);
    }
    return dst;
}
