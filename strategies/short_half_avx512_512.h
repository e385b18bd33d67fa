/* Folds above 16 by registers 16 and up, pairs below, which a reader of dst does not wait for. Serves to 512.
 * Wins where sizes mix and dst is read at once; loses on repeated sizes by its extra moves. */
UCOPY_LEAF void *ucopy_short_half_avx512_512(void *dst, const void *src, ucopy_size n)
{
    if (n <= 16) {
        if (n >= 8)
            ucopy_pair_8_16(dst, src, n);
        else if (n >= 4)
            ucopy_pair_4_8(dst, src, n);
        else if (n)
            ucopy_move_1_3(dst, src, n);
    } else if (n <= 64) {
        ucopy_fold_16_64_avx512(dst, src, n);
    } else if (n <= 256) {
        ucopy_fold_64_256_avx512(dst, src, n);
    } else {
        ucopy_oct_256_512_avx512(dst, src, n);
    }
    return dst;
}
