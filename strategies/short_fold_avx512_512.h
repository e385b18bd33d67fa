/* Two octaves a test by registers 16 and up: five tests in all to 512. Wins where sizes mix and dst is read
 * later; loses to masks where that is much later. */
UCOPY_LEAF void *ucopy_short_fold_avx512_512(void *dst, const void *src, ucopy_size n)
{
    if (n <= 16) {
        if (n >= 4)
            ucopy_fold_4_16(dst, src, n);
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
