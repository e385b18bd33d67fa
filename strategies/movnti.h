/* Streaming stores from general registers. How: a head of bytes to an 8-byte boundary of dst, 64
 * bytes a turn by movnti, words, bytes, sfence. Wins for large copies whose dst is not read soon
 * where vector registers may not be used; loses wherever dst is read again, and always when short. */
UCOPY_LEAF void *ucopy_movnti(void *dst, const void *src, ucopy_size n)
{
    void *d = dst;

    __asm__ volatile("mov %k[d], %%ecx\n\t"
                     "neg %%ecx\n\t"
                     "and $7, %%ecx\n\t"
                     "cmp %[n], %%rcx\n\t"
                     "cmova %[n], %%rcx\n\t"
                     "sub %%rcx, %[n]\n\t"
                     "rep movsb\n\t"
                     "sub $64, %[n]\n\t"
                     "jb 2f\n\t"
                     ".p2align 4\n"
                     "1:\n\t"
                     "mov (%[s]), %%rax\n\t"
                     "mov 8(%[s]), %%rcx\n\t"
                     "mov 16(%[s]), %%rdx\n\t"
                     "mov 24(%[s]), %%r8\n\t"
                     "movnti %%rax, (%[d])\n\t"
                     "movnti %%rcx, 8(%[d])\n\t"
                     "movnti %%rdx, 16(%[d])\n\t"
                     "movnti %%r8, 24(%[d])\n\t"
                     "mov 32(%[s]), %%r9\n\t"
                     "mov 40(%[s]), %%r10\n\t"
                     "mov 48(%[s]), %%r11\n\t"
                     "mov 56(%[s]), %%rax\n\t"
                     "movnti %%r9, 32(%[d])\n\t"
                     "movnti %%r10, 40(%[d])\n\t"
                     "movnti %%r11, 48(%[d])\n\t"
                     "movnti %%rax, 56(%[d])\n\t"
                     "add $64, %[s]\n\t"
                     "add $64, %[d]\n\t"
                     "sub $64, %[n]\n\t"
                     "jae 1b\n"
                     "2:\n\t"
                     "add $64, %[n]\n\t"
                     "mov %k[n], %%ecx\n\t"
                     "shr $3, %%ecx\n\t"
                     "jz 4f\n"
                     "3:\n\t"
                     "mov (%[s]), %%rax\n\t"
                     "movnti %%rax, (%[d])\n\t"
                     "add $8, %[s]\n\t"
                     "add $8, %[d]\n\t"
                     "dec %%ecx\n\t"
                     "jnz 3b\n"
                     "4:\n\t"
                     "mov %k[n], %%ecx\n\t"
                     "and $7, %%ecx\n\t"
                     "rep movsb\n\t"
                     "sfence"
                     : [d] "+D"(d), [s] "+S"(src), [n] "+r"(n)
                     :
                     : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "cc", "memory");
    return dst;
}
