/* Moves of short copies by general registers. Each serves a range of sizes by a fixed set of loads and
 * stores that begin with the buffer and end with it, overlapping in between. All loads come first, so that
 * the stores of one move never delay its loads.
 * A fold serves two octaves without a branch: its offset k is the register's width in the upper octave and
 * 0 in the lower, ((n - 1) >> 1) & width, where both middle moves repeat the outer ones. */
/* 1 to 3: first, middle and last byte. */
UCOPY_LEAF void ucopy_move_1_3(void *d, const void *s, ucopy_size n)
{
    __asm__ volatile("movzbl (%[s]), %%eax\n\t"
                     "movzbl (%[s],%[half]), %%ecx\n\t"
                     "movzbl -1(%[s],%[n]), %%r8d\n\t"
                     "movb %%al, (%[d])\n\t"
                     "movb %%cl, (%[d],%[half])\n\t"
                     "movb %%r8b, -1(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n), [half] "r"(n >> 1)
                     : "rax", "rcx", "r8", "memory");
}
/* 4 to 8: two 4-byte moves. */
UCOPY_LEAF void ucopy_pair_4_8(void *d, const void *s, ucopy_size n)
{
    __asm__ volatile("mov (%[s]), %%eax\n\t"
                     "mov -4(%[s],%[n]), %%ecx\n\t"
                     "mov %%eax, (%[d])\n\t"
                     "mov %%ecx, -4(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n)
                     : "rax", "rcx", "memory");
}
/* 8 to 16: two 8-byte moves. */
UCOPY_LEAF void ucopy_pair_8_16(void *d, const void *s, ucopy_size n)
{
    __asm__ volatile("mov (%[s]), %%rax\n\t"
                     "mov -8(%[s],%[n]), %%rcx\n\t"
                     "mov %%rax, (%[d])\n\t"
                     "mov %%rcx, -8(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n)
                     : "rax", "rcx", "memory");
}
/* 4 to 16: four 4-byte moves. */
UCOPY_LEAF void ucopy_fold_4_16(void *d, const void *s, ucopy_size n)
{
    ucopy_size k = ((n - 1) >> 1) & 4;

    __asm__ volatile("mov (%[s]), %%eax\n\t"
                     "mov (%[s],%[k]), %%ecx\n\t"
                     "mov -4(%[s],%[e]), %%r8d\n\t"
                     "mov -4(%[s],%[n]), %%r9d\n\t"
                     "mov %%eax, (%[d])\n\t"
                     "mov %%ecx, (%[d],%[k])\n\t"
                     "mov %%r8d, -4(%[d],%[e])\n\t"
                     "mov %%r9d, -4(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n), [k] "r"(k), [e] "r"(n - k)
                     : "rax", "rcx", "r8", "r9", "memory");
}
/* 8 to 32: four 8-byte moves. */
UCOPY_LEAF void ucopy_fold_8_32(void *d, const void *s, ucopy_size n)
{
    ucopy_size k = ((n - 1) >> 1) & 8;

    __asm__ volatile("mov (%[s]), %%rax\n\t"
                     "mov (%[s],%[k]), %%rcx\n\t"
                     "mov -8(%[s],%[e]), %%r8\n\t"
                     "mov -8(%[s],%[n]), %%r9\n\t"
                     "mov %%rax, (%[d])\n\t"
                     "mov %%rcx, (%[d],%[k])\n\t"
                     "mov %%r8, -8(%[d],%[e])\n\t"
                     "mov %%r9, -8(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n), [k] "r"(k), [e] "r"(n - k)
                     : "rax", "rcx", "r8", "r9", "memory");
}
/* 16 to 32: four 8-byte moves. */
UCOPY_LEAF void ucopy_quad_16_32(void *d, const void *s, ucopy_size n)
{
    __asm__ volatile("mov (%[s]), %%rax\n\t"
                     "mov 8(%[s]), %%rcx\n\t"
                     "mov -16(%[s],%[n]), %%r8\n\t"
                     "mov -8(%[s],%[n]), %%r9\n\t"
                     "mov %%rax, (%[d])\n\t"
                     "mov %%rcx, 8(%[d])\n\t"
                     "mov %%r8, -16(%[d],%[n])\n\t"
                     "mov %%r9, -8(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n)
                     : "rax", "rcx", "r8", "r9", "memory");
}
/* 32 to 64: eight 8-byte moves in two groups, by four registers. */
UCOPY_LEAF void ucopy_oct_32_64(void *d, const void *s, ucopy_size n)
{
    __asm__ volatile("mov (%[s]), %%rax\n\t"
                     "mov 8(%[s]), %%rcx\n\t"
                     "mov 16(%[s]), %%r8\n\t"
                     "mov 24(%[s]), %%r9\n\t"
                     "mov %%rax, (%[d])\n\t"
                     "mov %%rcx, 8(%[d])\n\t"
                     "mov %%r8, 16(%[d])\n\t"
                     "mov %%r9, 24(%[d])\n\t"
                     "mov -32(%[s],%[n]), %%rax\n\t"
                     "mov -24(%[s],%[n]), %%rcx\n\t"
                     "mov -16(%[s],%[n]), %%r8\n\t"
                     "mov -8(%[s],%[n]), %%r9\n\t"
                     "mov %%rax, -32(%[d],%[n])\n\t"
                     "mov %%rcx, -24(%[d],%[n])\n\t"
                     "mov %%r8, -16(%[d],%[n])\n\t"
                     "mov %%r9, -8(%[d],%[n])"
                     :
                     : [d] "r"(d), [s] "r"(s), [n] "r"(n)
                     : "rax", "rcx", "r8", "r9", "memory");
}
