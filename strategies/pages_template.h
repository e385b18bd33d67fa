/* Two pages in parallel, from which the *_pages_stream strategies are made. Parameters as in
 * vector_loop_template.h: UCOPY_NAME, UCOPY_WIDTH, UCOPY_HIGH; UCOPY_UNROLL registers from each page a turn
 * (UCOPY_UNROLL * UCOPY_WIDTH is 64 or 128). Alternating between two pages keeps two DRAM rows and two
 * hardware prefetch streams busy. Serves n from 16 KiB on. */
#include "registers_template.h"

#define UCOPY_GROUP (UCOPY_UNROLL * UCOPY_WIDTH)
#define UCOPY_AT(i) UCOPY_TEXT(i) "*" UCOPY_TEXT(UCOPY_WIDTH)
#define UCOPY_LOAD(i) UCOPY_MOVE " " UCOPY_AT(i) "(%[s]), " UCOPY_REG(i) "\n\t"
#define UCOPY_STORE(i) UCOPY_MOVE_STREAM " " UCOPY_REG(i) ", " UCOPY_AT(i) "(%[d])\n\t"
#define UCOPY_HEAD_STORE(i) UCOPY_MOVE " " UCOPY_REG(i) ", " UCOPY_AT(i) "(%[d])\n\t"
#define UCOPY_LAST_LOAD(i) UCOPY_MOVE " " UCOPY_AT(i) "(%[s_end]), " UCOPY_REG(i) "\n\t"
#define UCOPY_LAST_STORE(i) UCOPY_MOVE " " UCOPY_REG(i) ", " UCOPY_AT(i) "(%[d_end])\n\t"
#if UCOPY_UNROLL == 2
#define UCOPY_EACH(M) M(0) M(1)
#define UCOPY_OTHER_LOADS                                                                          \
    UCOPY_MOVE " 4096(%[s]), " UCOPY_REG(2) "\n\t"                                                 \
    UCOPY_MOVE " 4096+" UCOPY_AT(1) "(%[s]), " UCOPY_REG(3) "\n\t"
#define UCOPY_OTHER_STORES                                                                         \
    UCOPY_MOVE_STREAM " " UCOPY_REG(2) ", 4096(%[d])\n\t"                                          \
    UCOPY_MOVE_STREAM " " UCOPY_REG(3) ", 4096+" UCOPY_AT(1) "(%[d])\n\t"
#define UCOPY_CLOBBERS UCOPY_CLOBBER_4
#else
#define UCOPY_EACH(M) M(0) M(1) M(2) M(3)
#define UCOPY_OTHER_LOADS                                                                          \
    UCOPY_MOVE " 4096(%[s]), " UCOPY_REG(4) "\n\t"                                                 \
    UCOPY_MOVE " 4096+" UCOPY_AT(1) "(%[s]), " UCOPY_REG(5) "\n\t"                                 \
    UCOPY_MOVE " 4096+" UCOPY_AT(2) "(%[s]), " UCOPY_REG(6) "\n\t"                                 \
    UCOPY_MOVE " 4096+" UCOPY_AT(3) "(%[s]), " UCOPY_REG(7) "\n\t"
#define UCOPY_OTHER_STORES                                                                         \
    UCOPY_MOVE_STREAM " " UCOPY_REG(4) ", 4096(%[d])\n\t"                                          \
    UCOPY_MOVE_STREAM " " UCOPY_REG(5) ", 4096+" UCOPY_AT(1) "(%[d])\n\t"                          \
    UCOPY_MOVE_STREAM " " UCOPY_REG(6) ", 4096+" UCOPY_AT(2) "(%[d])\n\t"                          \
    UCOPY_MOVE_STREAM " " UCOPY_REG(7) ", 4096+" UCOPY_AT(3) "(%[d])\n\t"
#define UCOPY_CLOBBERS UCOPY_CLOBBER_8
#endif

UCOPY_LEAF void *UCOPY_PASTE(ucopy_, UCOPY_NAME)(void *dst, const void *src, ucopy_size n)
{
    void *d = dst, *d_end = (char *)dst + n - UCOPY_GROUP;
    const void *s_end = (const char *)src + n - UCOPY_GROUP;
    ucopy_size turns;

    __asm__ volatile(UCOPY_EACH(UCOPY_LOAD)
                     UCOPY_EACH(UCOPY_HEAD_STORE)
                     "sub %[d], %[s]\n\t"
                     "add $64, %[d]\n\t"
                     "and $-64, %[d]\n\t"
                     "add %[d], %[s]\n"
                     "1:\n\t"
                     "lea 8192(%[d]), %[turns]\n\t"
                     "cmp %[d_end], %[turns]\n\t"
                     "ja 3f\n\t"
                     "mov $4096/(" UCOPY_TEXT(UCOPY_UNROLL) "*" UCOPY_TEXT(UCOPY_WIDTH) "), %k[turns]\n\t"
                     ".p2align 5\n"
                     "2:\n\t"
                     UCOPY_EACH(UCOPY_LOAD)
                     UCOPY_OTHER_LOADS
                     UCOPY_EACH(UCOPY_STORE)
                     UCOPY_OTHER_STORES
                     "add $" UCOPY_TEXT(UCOPY_UNROLL) "*" UCOPY_TEXT(UCOPY_WIDTH) ", %[s]\n\t"
                     "add $" UCOPY_TEXT(UCOPY_UNROLL) "*" UCOPY_TEXT(UCOPY_WIDTH) ", %[d]\n\t"
                     "dec %k[turns]\n\t"
                     "jnz 2b\n\t"
                     "add $4096, %[s]\n\t"
                     "add $4096, %[d]\n\t"
                     "jmp 1b\n"
                     "3:\n\t"
                     "cmp %[d_end], %[d]\n\t"
                     "jae 5f\n"
                     "4:\n\t"
                     UCOPY_EACH(UCOPY_LOAD)
                     UCOPY_EACH(UCOPY_STORE)
                     "add $" UCOPY_TEXT(UCOPY_UNROLL) "*" UCOPY_TEXT(UCOPY_WIDTH) ", %[s]\n\t"
                     "add $" UCOPY_TEXT(UCOPY_UNROLL) "*" UCOPY_TEXT(UCOPY_WIDTH) ", %[d]\n\t"
                     "cmp %[d_end], %[d]\n\t"
                     "jb 4b\n"
                     "5:\n\t"
                     UCOPY_EACH(UCOPY_LAST_LOAD)
                     UCOPY_EACH(UCOPY_LAST_STORE)
                     "sfence" UCOPY_CLEAN
                     : [d] "+&r"(d), [s] "+&r"(src), [turns] "=&r"(turns)
                     : [d_end] "r"(d_end), [s_end] "r"(s_end)
                     : UCOPY_CLOBBERS, "cc", "memory");
    return dst;
}
