/* Moves for dispatches that test for 4 bytes first: below 4 and from 4 on, each without a further branch on
 * the size; see moves_free_gpr.h for what happens on the scratch area. From 4 on the four-byte pair always
 * lies inside the buffers, so only the wider pairs need the conditional moves. Pointers begin at the scratch
 * area and are moved to the buffers, which takes no register more than a called function has for free. */
/* 0 to 3: first, middle and last byte, or the scratch area's. */
UCOPY_LEAF void ucopy_free_0_3(void *d, const void *s, ucopy_size n)
{
    __attribute__((uninitialized)) char scratch[4];
    ucopy_size a, b, h;
    void *p = scratch + 1, *q = scratch + 3;

    __asm__ volatile("mov %k[n], %k[h]\n\t"
                     "test %[n], %[n]\n\t"
                     "cmovnz %[s], %[p]\n\t"
                     "cmovnz %[d], %[q]\n\t"
                     "shr $1, %k[h]\n\t"
                     "movzbl (%[p]), %k[a]\n\t"
                     "movzbl (%[p],%[h]), %k[b]\n\t"
                     "movb %b[a], (%[q])\n\t"
                     "movzbl -1(%[p],%[n]), %k[a]\n\t"
                     "movb %b[b], (%[q],%[h])\n\t"
                     "movb %b[a], -1(%[q],%[n])"
                     : [a] "=&q"(a), [b] "=&q"(b), [h] "=&r"(h), [p] "+&r"(p), [q] "+&r"(q), "=m"(scratch)
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n)
                     : "cc", "memory");
}
/* 4 to 16: two 4-byte moves, and two of 8 bytes, which below 8 work on 12 bytes of an aligned 16, so that none
 * straddles a line. */
UCOPY_LEAF void ucopy_free_4_16(void *d, const void *s, ucopy_size n)
{
    __attribute__((uninitialized, aligned(16))) char scratch[32];
    ucopy_size a, b;
    void *p = scratch + 4, *q = scratch + 20;

    __asm__ volatile("mov (%[s]), %k[a]\n\t"
                     "mov -4(%[s],%[n]), %k[b]\n\t"
                     "cmp $8, %[n]\n\t"
                     "cmovae %[s], %[p]\n\t"
                     "cmovae %[d], %[q]\n\t"
                     "mov %k[a], (%[d])\n\t"
                     "mov %k[b], -4(%[d],%[n])\n\t"
                     "mov (%[p]), %[a]\n\t"
                     "mov -8(%[p],%[n]), %[b]\n\t"
                     "mov %[a], (%[q])\n\t"
                     "mov %[b], -8(%[q],%[n])"
                     : [a] "=&r"(a), [b] "=&r"(b), [p] "+&r"(p), [q] "+&r"(q), "=m"(scratch)
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n)
                     : "cc", "memory");
}
