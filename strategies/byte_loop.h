/* One byte a turn. How: a load and a store of one byte. Wins nowhere: it is the reference that the
 * other strategies are checked against. */
UCOPY_LEAF void *ucopy_byte_loop(void *dst, const void *src, ucopy_size n)
{
    void *d = dst;
    unsigned byte;

    __asm__ volatile("test %[n], %[n]\n\t"
                     "jz 2f\n"
                     "1:\n\t"
                     "movzbl (%[s]), %k[byte]\n\t"
                     "movb %b[byte], (%[d])\n\t"
                     "inc %[s]\n\t"
                     "inc %[d]\n\t"
                     "dec %[n]\n\t"
                     "jnz 1b\n"
                     "2:"
                     : [d] "+r"(d), [s] "+r"(src), [n] "+r"(n), [byte] "=&q"(byte)
                     :
                     : "cc", "memory");
    return dst;
}
