/* The string instruction. How: microcode moves whole lines where ERMS is present. Wins from a few
 * hundred bytes to the streaming range where its start-up (20 to 60 ticks) is paid back; loses
 * below, and by much where dst lies 1 to 63 bytes behind src in its page. */
UCOPY_LEAF void *ucopy_rep_movsb(void *dst, const void *src, ucopy_size n)
{
    void *d = dst;

    __asm__ volatile("rep movsb" : "+D"(d), "+S"(src), "+c"(n) : : "memory");
    return dst;
}
