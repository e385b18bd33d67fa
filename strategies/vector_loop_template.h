/* The vector loop, from which the *_loop_* strategies are made. Parameters:
 *   UCOPY_NAME      the function
 *   UCOPY_WIDTH, UCOPY_HIGH  the register file (registers_template.h)
 *   UCOPY_UNROLL    2, 4 or 8 registers a turn
 *   UCOPY_ALIGN     1: the loop stores to whole registers of dst; 0: wherever dst lies
 *   UCOPY_STREAM    1: the loop's stores are streaming (needs UCOPY_ALIGN), with sfence behind them
 *   UCOPY_PREFETCH  bytes ahead of src that each line is prefetched (prefetchnta); 0: not
 * Serves n from UCOPY_UNROLL * UCOPY_WIDTH on: the head is one register (with UCOPY_ALIGN), the loop
 * moves blocks, and the last block ends with the buffer, overlapping what the loop wrote. */
#include "registers_template.h"

#define UCOPY_AT(i) UCOPY_TEXT(i) "*" UCOPY_TEXT(UCOPY_WIDTH)
#define UCOPY_LOAD(i) UCOPY_MOVE " " UCOPY_AT(i) "(%[s]), " UCOPY_REG(i) "\n\t"
#define UCOPY_STORE(i) UCOPY_MOVE_LOOP " " UCOPY_REG(i) ", " UCOPY_AT(i) "(%[d])\n\t"
#define UCOPY_LAST_LOAD(i) UCOPY_MOVE " " UCOPY_AT(i) "(%[s_end]), " UCOPY_REG(i) "\n\t"
#define UCOPY_LAST_STORE(i) UCOPY_MOVE " " UCOPY_REG(i) ", " UCOPY_AT(i) "(%[d_end])"

#define UCOPY_EACH_2(M) M(0) M(1)
#define UCOPY_EACH_4(M) UCOPY_EACH_2(M) M(2) M(3)
#define UCOPY_EACH_8(M) UCOPY_EACH_4(M) M(4) M(5) M(6) M(7)
#define UCOPY_EACH UCOPY_PASTE(UCOPY_EACH_, UCOPY_UNROLL)
#define UCOPY_LAST_LINE(i) UCOPY_LAST_STORE(i) "\n\t"

#if UCOPY_STREAM
#define UCOPY_MOVE_LOOP UCOPY_MOVE_STREAM
#define UCOPY_FENCE "sfence"
#elif UCOPY_ALIGN
#define UCOPY_MOVE_LOOP UCOPY_MOVE_ALIGNED
#define UCOPY_FENCE ""
#else
#define UCOPY_MOVE_LOOP UCOPY_MOVE
#define UCOPY_FENCE ""
#endif

#if UCOPY_PREFETCH
#define UCOPY_AHEAD_1(k) "prefetchnta " UCOPY_TEXT(UCOPY_PREFETCH) "+" #k "(%[s])\n\t"
#if UCOPY_UNROLL * UCOPY_WIDTH == 64
#define UCOPY_AHEAD UCOPY_AHEAD_1(0)
#elif UCOPY_UNROLL * UCOPY_WIDTH == 128
#define UCOPY_AHEAD UCOPY_AHEAD_1(0) UCOPY_AHEAD_1(64)
#else
#define UCOPY_AHEAD UCOPY_AHEAD_1(0) UCOPY_AHEAD_1(64) UCOPY_AHEAD_1(128) UCOPY_AHEAD_1(192)
#endif
#else
#define UCOPY_AHEAD
#endif

#if UCOPY_ALIGN
#define UCOPY_HEAD                                                                                 \
    UCOPY_MOVE " (%[s]), " UCOPY_REG(0) "\n\t"                                                     \
    UCOPY_MOVE " " UCOPY_REG(0) ", (%[d])\n\t"                                                     \
    "sub %[d], %[s]\n\t"                                                                           \
    "add $" UCOPY_TEXT(UCOPY_WIDTH) ", %[d]\n\t"                                                   \
    "and $-" UCOPY_TEXT(UCOPY_WIDTH) ", %[d]\n\t"                                                  \
    "add %[d], %[s]\n\t"
#else
#define UCOPY_HEAD
#endif
#define UCOPY_BLOCK UCOPY_TEXT(UCOPY_UNROLL) "*" UCOPY_TEXT(UCOPY_WIDTH)

/* d and s are early clobbers: where n is known to be one block, d_end equals d and s_end equals s, and without the &
 * a compiler gives both one register, which the head then moves. */
UCOPY_LEAF void *UCOPY_PASTE(ucopy_, UCOPY_NAME)(void *dst, const void *src, ucopy_size n)
{
    void *d = dst, *d_end = (char *)dst + n - UCOPY_UNROLL * UCOPY_WIDTH;
    const void *s_end = (const char *)src + n - UCOPY_UNROLL * UCOPY_WIDTH;

    __asm__ volatile(UCOPY_HEAD
                     "cmp %[d_end], %[d]\n\t"
                     "jae 2f\n\t"
                     ".p2align 5\n"
                     "1:\n\t"
                     UCOPY_AHEAD
                     UCOPY_EACH(UCOPY_LOAD)
                     UCOPY_EACH(UCOPY_STORE)
                     "add $" UCOPY_BLOCK ", %[s]\n\t"
                     "add $" UCOPY_BLOCK ", %[d]\n\t"
                     "cmp %[d_end], %[d]\n\t"
                     "jb 1b\n"
                     "2:\n\t"
                     UCOPY_EACH(UCOPY_LAST_LOAD)
                     UCOPY_EACH(UCOPY_LAST_LINE)
                     UCOPY_FENCE UCOPY_CLEAN
                     : [d] "+&r"(d), [s] "+&r"(src)
                     : [d_end] "r"(d_end), [s_end] "r"(s_end)
                     : UCOPY_PASTE(UCOPY_CLOBBER_, UCOPY_UNROLL), "cc", "memory");
    return dst;
}
