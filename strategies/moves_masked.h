/* Masked moves (AVX-512BW and BMI2): any size up to the window by one load and one store a register,
 * without a branch on the size. Their price: a window that reaches into a page that is untouched or
 * unmapped costs hundreds of ticks although it does not fault (microcode checks the mask), and a later load is not
 * served from a masked store before that has reached the cache. So the dispatches guard page ends, and a
 * size of 0, whose pointers may be null, is sent to the stack's own line by a conditional move. */

/* Does a window of w bytes at either pointer cross a page end? */
UCOPY_LEAF int ucopy_near_page_end(const void *d, const void *s, ucopy_size w)
{
    return (((ucopy_size)d & 4095) > 4096 - w) | (((ucopy_size)s & 4095) > 4096 - w);
}

/* 0 to 16. */
UCOPY_LEAF void ucopy_masked_0_16(void *d, const void *s, ucopy_size n)
{
    ucopy_size bits;

    __asm__ volatile("test %[n], %[n]\n\t"
                     "cmovz %%rsp, %[s]\n\t"
                     "cmovz %%rsp, %[d]\n\t"
                     "mov $-1, %k[bits]\n\t"
                     "bzhi %k[n], %k[bits], %k[bits]\n\t"
                     "kmovd %k[bits], %%k1\n\t"
                     "vmovdqu8 (%[s]), %%xmm16%{%%k1%}%{z%}\n\t"
                     "vmovdqu8 %%xmm16, (%[d])%{%%k1%}"
                     : [d] "+&r"(d), [s] "+&r"(s), [bits] "=&r"(bits)
                     : [n] "r"(n)
                     : "xmm16", "k1", "cc", "memory");
}

/* 0 to 32. */
UCOPY_LEAF void ucopy_masked_0_32(void *d, const void *s, ucopy_size n)
{
    ucopy_size bits;

    __asm__ volatile("test %[n], %[n]\n\t"
                     "cmovz %%rsp, %[s]\n\t"
                     "cmovz %%rsp, %[d]\n\t"
                     "mov $-1, %k[bits]\n\t"
                     "bzhi %k[n], %k[bits], %k[bits]\n\t"
                     "kmovd %k[bits], %%k1\n\t"
                     "vmovdqu8 (%[s]), %%ymm16%{%%k1%}%{z%}\n\t"
                     "vmovdqu8 %%ymm16, (%[d])%{%%k1%}"
                     : [d] "+&r"(d), [s] "+&r"(s), [bits] "=&r"(bits)
                     : [n] "r"(n)
                     : "xmm16", "k1", "cc", "memory");
}

/* 0 to 64. */
UCOPY_LEAF void ucopy_masked_0_64(void *d, const void *s, ucopy_size n)
{
    ucopy_size bits;

    __asm__ volatile("test %[n], %[n]\n\t"
                     "cmovz %%rsp, %[s]\n\t"
                     "cmovz %%rsp, %[d]\n\t"
                     "mov $-1, %[bits]\n\t"
                     "bzhi %[n], %[bits], %[bits]\n\t"
                     "kmovq %[bits], %%k1\n\t"
                     "vmovdqu8 (%[s]), %%zmm16%{%%k1%}%{z%}\n\t"
                     "vmovdqu8 %%zmm16, (%[d])%{%%k1%}"
                     : [d] "+&r"(d), [s] "+&r"(s), [bits] "=&r"(bits)
                     : [n] "r"(n)
                     : "xmm16", "k1", "cc", "memory");
}

/* 0 to 128: two registers; bzhi keeps all bits where its index is 64 or more, and the second
 * register's count stops at 0. */
UCOPY_LEAF void ucopy_masked_0_128(void *d, const void *s, ucopy_size n)
{
    ucopy_size bits, rest;

    __asm__ volatile("test %[n], %[n]\n\t"
                     "cmovz %%rsp, %[s]\n\t"
                     "cmovz %%rsp, %[d]\n\t"
                     "xor %k[bits], %k[bits]\n\t"
                     "mov %[n], %[rest]\n\t"
                     "sub $64, %[rest]\n\t"
                     "cmovb %[bits], %[rest]\n\t"
                     "dec %[bits]\n\t"
                     "bzhi %[rest], %[bits], %[rest]\n\t"
                     "bzhi %[n], %[bits], %[bits]\n\t"
                     "kmovq %[bits], %%k1\n\t"
                     "kmovq %[rest], %%k2\n\t"
                     "vmovdqu8 (%[s]), %%zmm16%{%%k1%}%{z%}\n\t"
                     "vmovdqu8 64(%[s]), %%zmm17%{%%k2%}%{z%}\n\t"
                     "vmovdqu8 %%zmm16, (%[d])%{%%k1%}\n\t"
                     "vmovdqu8 %%zmm17, 64(%[d])%{%%k2%}"
                     : [d] "+&r"(d), [s] "+&r"(s), [bits] "=&r"(bits), [rest] "=&r"(rest)
                     : [n] "r"(n)
                     : "xmm16", "xmm17", "k1", "k2", "cc", "memory");
}
