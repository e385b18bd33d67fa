/* Two octaves a test by general registers, eight moves above 32. Wins where sizes mix and vector registers
 * may not be used; loses on repeated sizes by its extra moves. */
UCOPY_LEAF void *ucopy_short_fold_gpr_64(void *dst, const void *src, ucopy_size n)
{
    if (n > 32)
        ucopy_oct_32_64(dst, src, n);
    else if (n >= 8)
        ucopy_fold_8_32(dst, src, n);
    else if (n >= 4)
        ucopy_pair_4_8(dst, src, n);
    else if (n)
        ucopy_move_1_3(dst, src, n);
    return dst;
}
