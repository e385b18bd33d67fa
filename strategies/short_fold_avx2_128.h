/* Two octaves a test, xmm from 17 on, ymm from 65. Serves to 128. Wins where sizes mix on CPUs with AVX2
 * alone; loses on repeated sizes by its extra moves. */
UCOPY_LEAF void *ucopy_short_fold_avx2_128(void *dst, const void *src, ucopy_size n)
{
    if (n <= 16) {
        if (n >= 4)
            ucopy_fold_4_16(dst, src, n);
        else if (n)
            ucopy_move_1_3(dst, src, n);
    } else if (n <= 64) {
        ucopy_fold_16_64_avx(dst, src, n);
    } else {
        ucopy_fold_32_128_avx2(dst, src, n);
    }
    return dst;
}
