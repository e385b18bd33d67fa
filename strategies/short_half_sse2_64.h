/* Folds by xmm from 17 to 64, pairs below, which a reader of dst does not wait for. Serves to 64. Wins
 * where sizes mix and dst is read at once; loses on repeated sizes by its extra moves. */
UCOPY_LEAF void *ucopy_short_half_sse2_64(void *dst, const void *src, ucopy_size n)
{
    if (n <= 16) {
        if (n >= 8)
            ucopy_pair_8_16(dst, src, n);
        else if (n >= 4)
            ucopy_pair_4_8(dst, src, n);
        else if (n)
            ucopy_move_1_3(dst, src, n);
    } else {
        ucopy_fold_16_64_sse2(dst, src, n);
    }
    return dst;
}
