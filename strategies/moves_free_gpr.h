/* Moves of 0 to 16, 32 or 64 bytes without a branch on the size. Every width moves its head and its tail; a width that
 * n does not reach works on a scratch area of the stack instead, by a conditional move of both pointers, so that
 * nothing outside the buffers is touched and size 0 needs no test. Narrow widths come first: where a later load takes
 * what a wide store wrote last, it is served from that store. The price is a handful of stores; the gain is that
 * mixed sizes mispredict nothing.
 * The scratch area is read at one half and written at the other, or each call would wait for the one before. It is
 * brought to a line by hand: on a stack that happens to lie badly a store across a page end cost 140 cycles, and
 * an aligned array would make the compiler realign the whole frame. It is nobody's data, so it is not cleared either,
 * where the compiler is told to clear all variables. */
/* 0 to 16, general registers. */
UCOPY_LEAF void ucopy_free_0_16(void *d, const void *s, ucopy_size n)
{
    __attribute__((uninitialized)) char scratch[32 + 31];
    ucopy_size line = ((ucopy_size)scratch + 31) & ~(ucopy_size)31, a, b, h;
    void *p, *q;

    __asm__ volatile("test %[n], %[n]\n\t"
                     "mov %[s], %[p]\n\t"
                     "cmovz %[in], %[p]\n\t"
                     "mov %[d], %[q]\n\t"
                     "cmovz %[out], %[q]\n\t"
                     "mov %k[n], %k[h]\n\t"
                     "shr $1, %k[h]\n\t"
                     "movzbl (%[p]), %k[a]\n\t"
                     "movzbl (%[p],%[h]), %k[b]\n\t"
                     "movb %b[a], (%[q])\n\t"
                     "movzbl -1(%[p],%[n]), %k[a]\n\t"
                     "movb %b[b], (%[q],%[h])\n\t"
                     "movb %b[a], -1(%[q],%[n])\n\t"
                     "cmp $4, %[n]\n\t"
                     "mov %[s], %[p]\n\t"
                     "cmovb %[in], %[p]\n\t"
                     "mov %[d], %[q]\n\t"
                     "cmovb %[out], %[q]\n\t"
                     "mov (%[p]), %k[a]\n\t"
                     "mov -4(%[p],%[n]), %k[b]\n\t"
                     "mov %k[a], (%[q])\n\t"
                     "mov %k[b], -4(%[q],%[n])\n\t"
                     "cmp $8, %[n]\n\t"
                     "mov %[s], %[p]\n\t"
                     "cmovb %[in], %[p]\n\t"
                     "mov %[d], %[q]\n\t"
                     "cmovb %[out], %[q]\n\t"
                     "mov (%[p]), %[a]\n\t"
                     "mov -8(%[p],%[n]), %[b]\n\t"
                     "mov %[a], (%[q])\n\t"
                     "mov %[b], -8(%[q],%[n])"
                     : [a] "=&q"(a), [b] "=&q"(b), [h] "=&r"(h), [p] "=&r"(p), [q] "=&r"(q), "=m"(scratch)
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n), [in] "r"(line + 8), [out] "r"(line + 24)
                     : "cc", "memory");
}
