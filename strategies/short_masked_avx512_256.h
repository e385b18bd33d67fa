/* One masked zmm move to 64, four overlapping ones above. Wins and loses as short_masked_avx512_64. Near a
 * page end it falls back to folds: a window in an untouched page costs hundreds of ticks. */
UCOPY_LEAF void *ucopy_short_masked_avx512_256(void *dst, const void *src, ucopy_size n)
{
    if (n > 64)
        ucopy_fold_64_256_avx512(dst, src, n);
    else if (__builtin_expect(!ucopy_near_page_end(dst, src, 64), 1))
        ucopy_masked_0_64(dst, src, n);
    else if (n >= 16)
        ucopy_fold_16_64_avx512(dst, src, n);
    else if (n >= 4)
        ucopy_fold_4_16(dst, src, n);
    else if (n)
        ucopy_move_1_3(dst, src, n);
    return dst;
}
