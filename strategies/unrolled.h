/* Eight general registers, 64 bytes a turn, then words, then bytes. How: the loop of the kernel's
 * first user copy. Wins for short copies where vector registers may not be used and before the string
 * instructions have started up; loses above a few hundred bytes: 8 bytes a store. */
UCOPY_LEAF void *ucopy_unrolled(void *dst, const void *src, ucopy_size n)
{
    void *d = dst;

    __asm__ volatile("sub $64, %[n]\n\t"
                     "jb 2f\n\t"
                     ".p2align 4\n"
                     "1:\n\t"
                     "mov (%[s]), %%rax\n\t"
                     "mov 8(%[s]), %%rcx\n\t"
                     "mov 16(%[s]), %%rdx\n\t"
                     "mov 24(%[s]), %%r8\n\t"
                     "mov %%rax, (%[d])\n\t"
                     "mov %%rcx, 8(%[d])\n\t"
                     "mov %%rdx, 16(%[d])\n\t"
                     "mov %%r8, 24(%[d])\n\t"
                     "mov 32(%[s]), %%r9\n\t"
                     "mov 40(%[s]), %%r10\n\t"
                     "mov 48(%[s]), %%r11\n\t"
                     "mov 56(%[s]), %%rax\n\t"
                     "mov %%r9, 32(%[d])\n\t"
                     "mov %%r10, 40(%[d])\n\t"
                     "mov %%r11, 48(%[d])\n\t"
                     "mov %%rax, 56(%[d])\n\t"
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
                     "mov %%rax, (%[d])\n\t"
                     "add $8, %[s]\n\t"
                     "add $8, %[d]\n\t"
                     "dec %%ecx\n\t"
                     "jnz 3b\n"
                     "4:\n\t"
                     "and $7, %k[n]\n\t"
                     "jz 6f\n"
                     "5:\n\t"
                     "movzbl (%[s]), %%eax\n\t"
                     "movb %%al, (%[d])\n\t"
                     "inc %[s]\n\t"
                     "inc %[d]\n\t"
                     "dec %k[n]\n\t"
                     "jnz 5b\n"
                     "6:"
                     : [d] "+D"(d), [s] "+S"(src), [n] "+r"(n)
                     :
                     : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "cc", "memory");
    return dst;
}
