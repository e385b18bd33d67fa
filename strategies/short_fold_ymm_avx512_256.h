/* Two octaves a test, xmm to 64, ymm to 256. Wins over short_fold_avx512_512 where 64-byte stores split
 * lines; loses on repeated sizes by its extra moves. */
UCOPY_LEAF void *ucopy_short_fold_ymm_avx512_256(void *dst, const void *src, ucopy_size n)
{
    if (n <= 16) {
        if (n >= 4)
            ucopy_fold_4_16(dst, src, n);
        else if (n)
            ucopy_move_1_3(dst, src, n);
    } else if (n <= 64)
        ucopy_fold_16_64_avx512(dst, src, n);
    else if (n <= 128)
        ucopy_fold_32_128_avx512(dst, src, n);
    else
        ucopy_oct_128_256_avx512(dst, src, n);
    return dst;
}
