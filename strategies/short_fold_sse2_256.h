/* Two octaves a test to 64, xmm from 17 on. Serves to 256. Wins where sizes mix on CPUs without AVX-512;
 * loses on repeated sizes by its extra moves, and below 16 to a reader that waits for two stores. */
UCOPY_LEAF void *ucopy_short_fold_sse2_256(void *dst, const void *src, ucopy_size n)
{
    if (n <= 16) {
        if (n >= 4)
            ucopy_fold_4_16(dst, src, n);
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
