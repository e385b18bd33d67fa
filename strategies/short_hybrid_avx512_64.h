/* A masked xmm move to 16, where branches on the size are many; folds above, which a reader of dst does
 * not wait for. Wins where sizes mix and dst is read; loses to masks where it is not. Near a page end it
 * falls back to folds: a window in an untouched page costs hundreds of ticks. */
UCOPY_LEAF void *ucopy_short_hybrid_avx512_64(void *dst, const void *src, ucopy_size n)
{
    if (n > 16)
        ucopy_fold_16_64_avx512(dst, src, n);
    else if (__builtin_expect(!ucopy_near_page_end(dst, src, 16), 1))
        ucopy_masked_0_16(dst, src, n);
    else if (n >= 4)
        ucopy_fold_4_16(dst, src, n);
    else if (n)
        ucopy_move_1_3(dst, src, n);
    return dst;
}
