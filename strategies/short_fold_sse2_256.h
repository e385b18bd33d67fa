/* As short_fold_sse2_64, with eight and sixteen xmm moves up to 256. Wins and loses as that does. */
UCOPY_LEAF void *ucopy_short_fold_sse2_256(void *dst, const void *src, ucopy_size n)
{
    if (n > 128)
        ucopy_move_128_256_sse2(dst, src, n);
    else if (n > 64)
        ucopy_oct_64_128_sse2(dst, src, n);
    else if (n >= 16)
        ucopy_fold_16_64_sse2(dst, src, n);
    else if (n >= 4)
        ucopy_fold_4_16(dst, src, n);
    else if (n)
        ucopy_move_1_3(dst, src, n);
    return dst;
}
