/* Folds by xmm from 17 to 64, pairs below, which a reader of dst does not wait for. Serves to 256. Wins
 * where sizes mix and dst is read at once; loses on repeated sizes by its extra moves. */
UCOPY_LEAF void *ucopy_short_half_sse2_256(void *dst, const void *src, ucopy_size n)
{
    if (n <= 16) {
        if (n >= 8)
            ucopy_pair_8_16(dst, src, n);
        else if (n >= 4)
            ucopy_pair_4_8(dst, src, n);
        else if (n)
            ucopy_move_1_3(dst, src, n);
    } else if (n <= 64) {
        ucopy_fold_16_64_sse2(dst, src, n);
    } else if (n <= 128) {
        ucopy_oct_64_128_sse2(dst, src, n);
    } else {
        ucopy_move_128_256_sse2(dst, src, n);
    }
    return dst;
}
