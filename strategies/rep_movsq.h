/* The string instruction by eight bytes, then the tail. How: microcode as rep_movsb, on CPUs
 * without ERMS the faster of the two. The tail is one overlapping 8-byte move, or single bytes
 * below 8. Loses where rep_movsb does. */
UCOPY_LEAF void *ucopy_rep_movsq(void *dst, const void *src, ucopy_size n)
{
    void *d = dst;
    ucopy_size words = n >> 3, tail;

    __asm__ volatile("cmp $8, %[n]\n\t"
                     "jb 1f\n\t"
                     "mov -8(%[s],%[n]), %[tail]\n\t"
                     "add %[d], %[n]\n\t"
                     "rep movsq\n\t"
                     "mov %[tail], -8(%[n])\n\t"
                     "jmp 2f\n"
                     "1:\n\t"
                     "mov %[n], %[words]\n\t"
                     "rep movsb\n"
                     "2:"
                     : [d] "+D"(d), [s] "+S"(src), [words] "+c"(words), [n] "+r"(n), [tail] "=&r"(tail)
                     :
                     : "cc", "memory");
    return dst;
}
