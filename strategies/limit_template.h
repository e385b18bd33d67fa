/* Half a copy, from which the limits store_* and load_* are made: what the store port or the load port
 * alone can do, in the loop of vector_loop_template.h. They copy nothing and are never chosen. Parameters:
 *   UCOPY_NAME, UCOPY_WIDTH, UCOPY_HIGH  as there
 *   UCOPY_UNROLL  2, 4 or 8
 *   UCOPY_STORES  1: stores to dst; 0: loads from src
 * Serves n from UCOPY_UNROLL * UCOPY_WIDTH on; dst is aligned by the loop as in a copy. */
#include "registers_template.h"

#define UCOPY_AT(i) UCOPY_TEXT(i) "*" UCOPY_TEXT(UCOPY_WIDTH)
#if UCOPY_STORES
#define UCOPY_LINE(i) UCOPY_MOVE_ALIGNED " " UCOPY_REG(i) ", " UCOPY_AT(i) "(%[p])\n\t"
#define UCOPY_END_LINE(i) UCOPY_MOVE " " UCOPY_REG(i) ", " UCOPY_AT(i) "(%[end])\n\t"
#define UCOPY_HEAD                                                                                 \
    UCOPY_MOVE " " UCOPY_REG(0) ", (%[p])\n\t"                                                     \
    "add $" UCOPY_TEXT(UCOPY_WIDTH) ", %[p]\n\t"                                                   \
    "and $-" UCOPY_TEXT(UCOPY_WIDTH) ", %[p]\n\t"
#define UCOPY_BUFFER dst
#else
#define UCOPY_LINE(i) UCOPY_MOVE " " UCOPY_AT(i) "(%[p]), " UCOPY_REG(i) "\n\t"
#define UCOPY_END_LINE(i) UCOPY_MOVE " " UCOPY_AT(i) "(%[end]), " UCOPY_REG(i) "\n\t"
#define UCOPY_HEAD
#define UCOPY_BUFFER src
#endif
#define UCOPY_EACH_2(M) M(0) M(1)
#define UCOPY_EACH_4(M) UCOPY_EACH_2(M) M(2) M(3)
#define UCOPY_EACH_8(M) UCOPY_EACH_4(M) M(4) M(5) M(6) M(7)
#define UCOPY_EACH UCOPY_PASTE(UCOPY_EACH_, UCOPY_UNROLL)

UCOPY_LEAF void *UCOPY_PASTE(ucopy_, UCOPY_NAME)(void *dst, const void *src, ucopy_size n)
{
    const char *p = (const char *)UCOPY_BUFFER, *end = p + n - UCOPY_UNROLL * UCOPY_WIDTH;

    (void)src;
    __asm__ volatile(UCOPY_HEAD
                     "cmp %[end], %[p]\n\t"
                     "jae 2f\n\t"
                     ".p2align 5\n"
                     "1:\n\t"
                     UCOPY_EACH(UCOPY_LINE)
                     "add $" UCOPY_TEXT(UCOPY_UNROLL) "*" UCOPY_TEXT(UCOPY_WIDTH) ", %[p]\n\t"
                     "cmp %[end], %[p]\n\t"
                     "jb 1b\n"
                     "2:\n\t"
                     UCOPY_EACH(UCOPY_END_LINE)
                     UCOPY_CLEAN
                     : [p] "+&r"(p)
                     : [end] "r"(end)
                     : UCOPY_PASTE(UCOPY_CLOBBER_, UCOPY_UNROLL), "cc", "memory");
    return dst;
}
