/* Two octaves a test, ymm from 65 on. Wins where sizes mix on CPUs with AVX2 alone; loses where vzeroupper
 * costs more than the moves saved. */
UCOPY_LEAF void *ucopy_short_fold_avx2_128(void *dst, const void *src, ucopy_size n)
{
    if (n > 64)
        ucopy_fold_32_128_avx2(dst, src, n);
    else if (n >= 16)
        ucopy_fold_16_64_avx(dst, src, n);
    else if (n >= 4)
        ucopy_fold_4_16(dst, src, n);
    else if (n)
        ucopy_move_1_3(dst, src, n);
    return dst;
}
