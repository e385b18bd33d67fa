/* Two octaves a test, xmm from 16 on: three tests in all to 64. Wins where sizes mix on CPUs without
 * AVX-512; loses on repeated sizes by its extra moves. */
UCOPY_LEAF void *ucopy_short_fold_sse2_64(void *dst, const void *src, ucopy_size n)
{
    if (n >= 16)
        ucopy_fold_16_64_sse2(dst, src, n);
    else if (n >= 4)
        ucopy_fold_4_16(dst, src, n);
    else if (n)
        ucopy_move_1_3(dst, src, n);
    return dst;
}
