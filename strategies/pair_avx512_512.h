/* Eight overlapping zmm moves, without a test or a loop. Wins from 257 to 512 where a loop's set-up shows; serves
 * nothing else. */
UCOPY_LEAF void *ucopy_pair_avx512_512(void *dst, const void *src, ucopy_size n)
{
    ucopy_oct_256_512_avx512(dst, src, n);
    return dst;
}
