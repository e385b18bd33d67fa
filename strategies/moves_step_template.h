/* The moves of 4 to 32 and 4 to 64 bytes without a branch on the size, from which moves_step_*.h are made:
 * two moves of 4 bytes, two of 8, and two or four of 16; see moves_step_gpr.h. Parameters:
 *   UCOPY_SUFFIX   ends the functions' names
 *   UCOPY_MOVE     the move of 16 bytes
 *   UCOPY_X(i)     its i-th register in the asm text
 *   UCOPY_CLOBBER_2, UCOPY_CLOBBER_4  the first two, the first four
 * The four moves of 16 are a fold (moves_gpr.h): a is 16 from 33 on, else 0, and b is n - a. Where they go to the
 * scratch line, in to in + 15 and what lies up to 12 bytes in front, they stay inside it. */
#define UCOPY_PASTE_(a, b) a##b
#define UCOPY_PASTE(a, b) UCOPY_PASTE_(a, b)

/* The pairs of 4 and 8, loaded and stored; then p and q for 16 bytes. */
#define UCOPY_TO_16                                                                                \
    "mov (%[s]), %k[a]\n\t"                                                                        \
    "mov -4(%[s],%[n]), %k[b]\n\t"                                                                 \
    "mov %[in], %[p]\n\t"                                                                          \
    "lea 32(%[in]), %[q]\n\t"                                                                      \
    "cmp $8, %[n]\n\t"                                                                             \
    "cmovae %[s], %[p]\n\t"                                                                        \
    "cmovae %[d], %[q]\n\t"                                                                        \
    "mov %k[a], (%[d])\n\t"                                                                        \
    "mov %k[b], -4(%[d],%[n])\n\t"                                                                 \
    "mov (%[p]), %[a]\n\t"                                                                         \
    "mov -8(%[p],%[n]), %[b]\n\t"                                                                  \
    "mov %[in], %[p]\n\t"                                                                          \
    "cmp $16, %[n]\n\t"                                                                            \
    "cmovae %[s], %[p]\n\t"                                                                        \
    "mov %[a], (%[q])\n\t"                                                                         \
    "mov %[b], -8(%[q],%[n])\n\t"                                                                  \
    "lea 32(%[in]), %[q]\n\t"                                                                      \
    "cmovae %[d], %[q]\n\t"

UCOPY_LEAF void UCOPY_PASTE(ucopy_free_4_32_, UCOPY_SUFFIX)(void *d, const void *s, ucopy_size n)
{
    __attribute__((uninitialized)) char scratch[64 + 63];
    ucopy_size in = (((ucopy_size)scratch + 63) & ~(ucopy_size)63) + 16, a, b;
    void *p, *q;

    __asm__ volatile(UCOPY_TO_16
                     UCOPY_MOVE " (%[p]), " UCOPY_X(0) "\n\t"
                     UCOPY_MOVE " -16(%[p],%[n]), " UCOPY_X(1) "\n\t"
                     UCOPY_MOVE " " UCOPY_X(0) ", (%[q])\n\t"
                     UCOPY_MOVE " " UCOPY_X(1) ", -16(%[q],%[n])"
                     : [a] "=&r"(a), [b] "=&r"(b), [p] "=&r"(p), [q] "=&r"(q), "=m"(scratch)
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n), [in] "r"(in)
                     : UCOPY_CLOBBER_2, "cc", "memory");
}

UCOPY_LEAF void UCOPY_PASTE(ucopy_free_4_64_, UCOPY_SUFFIX)(void *d, const void *s, ucopy_size n)
{
    __attribute__((uninitialized)) char scratch[64 + 63];
    ucopy_size in = (((ucopy_size)scratch + 63) & ~(ucopy_size)63) + 16, a, b;
    void *p, *q;

    __asm__ volatile(UCOPY_TO_16
                     "lea -1(%[n]), %k[a]\n\t"
                     "shr $1, %k[a]\n\t"
                     "and $16, %k[a]\n\t"
                     "mov %k[n], %k[b]\n\t"
                     "sub %k[a], %k[b]\n\t"
                     UCOPY_MOVE " (%[p]), " UCOPY_X(0) "\n\t"
                     UCOPY_MOVE " (%[p],%[a]), " UCOPY_X(1) "\n\t"
                     UCOPY_MOVE " -16(%[p],%[b]), " UCOPY_X(2) "\n\t"
                     UCOPY_MOVE " -16(%[p],%[n]), " UCOPY_X(3) "\n\t"
                     UCOPY_MOVE " " UCOPY_X(0) ", (%[q])\n\t"
                     UCOPY_MOVE " " UCOPY_X(1) ", (%[q],%[a])\n\t"
                     UCOPY_MOVE " " UCOPY_X(2) ", -16(%[q],%[b])\n\t"
                     UCOPY_MOVE " " UCOPY_X(3) ", -16(%[q],%[n])"
                     : [a] "=&r"(a), [b] "=&r"(b), [p] "=&r"(p), [q] "=&r"(q), "=m"(scratch)
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n), [in] "r"(in)
                     : UCOPY_CLOBBER_4, "cc", "memory");
}
