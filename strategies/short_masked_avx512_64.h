/* One masked zmm move for every size to 64, no branch on the size. Wins where sizes mix and dst is not
 * read at once; loses where it is. Near a page end it falls back to folds: a window in an untouched page
 * costs hundreds of ticks. */
UCOPY_LEAF void *ucopy_short_masked_avx512_64(void *dst, const void *src, ucopy_size n)
{
    if (__builtin_expect(!ucopy_near_page_end(dst, src, 64), 1))
        ucopy_masked_0_64(dst, src, n);
    else if (n >= 16)
        ucopy_fold_16_64_avx512(dst, src, n);
    else if (n >= 4)
        ucopy_fold_4_16(dst, src, n);
    else if (n)
        ucopy_move_1_3(dst, src, n);
    return dst;
}
