/* As moves_free_gpr.h, with xmm registers. */
/* 0 to 32. */
UCOPY_LEAF void ucopy_free_0_32(void *d, const void *s, ucopy_size n)
{
    __attribute__((uninitialized)) char scratch[64 + 63];
    ucopy_size line = ((ucopy_size)scratch + 63) & ~(ucopy_size)63, a, b, h;
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
                     "mov %[b], -8(%[q],%[n])\n\t"
                     "cmp $16, %[n]\n\t"
                     "mov %[s], %[p]\n\t"
                     "cmovb %[in], %[p]\n\t"
                     "mov %[d], %[q]\n\t"
                     "cmovb %[out], %[q]\n\t"
                     "movups (%[p]), %%xmm0\n\t"
                     "movups -16(%[p],%[n]), %%xmm1\n\t"
                     "movups %%xmm0, (%[q])\n\t"
                     "movups %%xmm1, -16(%[q],%[n])"
                     : [a] "=&q"(a), [b] "=&q"(b), [h] "=&r"(h), [p] "=&r"(p), [q] "=&r"(q), "=m"(scratch)
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n), [in] "r"(line + 16), [out] "r"(line + 48)
                     : "xmm0", "xmm1", "cc", "memory");
}
