/* rep movsb behind a head that brings dst to a line. How: the first 64 bytes by eight general
 * registers, then the string instruction from the next line of dst on. Wins over rep_movsb where
 * microcode is slow for a dst inside a line; loses where it does not care. */
UCOPY_LEAF void *ucopy_rep_movsb_aligned(void *dst, const void *src, ucopy_size n)
{
    void *d = dst;

    __asm__ volatile("mov (%[s]), %%rax\n\t"
                     "mov 8(%[s]), %%rdx\n\t"
                     "mov 16(%[s]), %%r8\n\t"
                     "mov 24(%[s]), %%r9\n\t"
                     "mov %%rax, (%[d])\n\t"
                     "mov %%rdx, 8(%[d])\n\t"
                     "mov %%r8, 16(%[d])\n\t"
                     "mov %%r9, 24(%[d])\n\t"
                     "mov 32(%[s]), %%rax\n\t"
                     "mov 40(%[s]), %%rdx\n\t"
                     "mov 48(%[s]), %%r8\n\t"
                     "mov 56(%[s]), %%r9\n\t"
                     "mov %%rax, 32(%[d])\n\t"
                     "mov %%rdx, 40(%[d])\n\t"
                     "mov %%r8, 48(%[d])\n\t"
                     "mov %%r9, 56(%[d])\n\t"
                     "lea 64(%[d]), %%rax\n\t"
                     "and $-64, %%rax\n\t"
                     "sub %[d], %%rax\n\t"
                     "add %%rax, %[d]\n\t"
                     "add %%rax, %[s]\n\t"
                     "sub %%rax, %[n]\n\t"
                     "rep movsb"
                     : [d] "+D"(d), [s] "+S"(src), [n] "+c"(n)
                     :
                     : "rax", "rdx", "r8", "r9", "cc", "memory");
    return dst;
}
