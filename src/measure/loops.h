/* The timed loops. One text for the tuner's own (through a pointer, or with a leaf inlined) and for
 * the loops that are compiled around a generated header, so that both are timed by the same
 * instructions. It includes nothing and stands alone.
 *
 * A call holds absolute pointers, and what the consumer looks at as offsets from a base: an 8-byte,
 * a 4-byte and a 1-byte load, of which one lies inside dst and the others on a line that nobody
 * writes (offset 0). So a mix of sizes brings no branch of its own into the loop: largest width of
 * 8, 4 and 1 that fits the size. */
struct uc_call {
    unsigned size;
    unsigned look8, look4, look1;
    char *dst;
    const char *src;
};

typedef void *uc_copy_fn(void *, const void *, __SIZE_TYPE__);
typedef unsigned long uc_loop(uc_copy_fn *copy, const struct uc_call *calls, __SIZE_TYPE__ n,
                              const char *base);

/* One per consumer of the l1 cells; scan reads all of dst. Each returns the TSC ticks of the whole
 * batch, the timer's own overhead included. */
struct uc_loops {
    uc_loop *none, *read, *wait, *scan;
};

#define UC_LOOPS_INLINE static __inline__ __attribute__((always_inline, unused))

UC_LOOPS_INLINE unsigned long uc_loop_ticks(void)
{
    unsigned lo, hi;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(lo), "=d"(hi) : : "memory");
    return (unsigned long)hi << 32 | lo;
}

/* The loads of `read`: their values are used by nobody. */
UC_LOOPS_INLINE void uc_loop_look(const struct uc_call *c, const char *base)
{
    __asm__ volatile("mov (%[b],%[o8]), %%rax\n\t"
                     "mov (%[b],%[o4]), %%eax\n\t"
                     "movzbl (%[b],%[o1]), %%eax"
                     :
                     : [b] "r"(base), [o8] "r"((__SIZE_TYPE__)c->look8),
                       [o4] "r"((__SIZE_TYPE__)c->look4), [o1] "r"((__SIZE_TYPE__)c->look1)
                     : "rax", "memory");
}

/* The loads of `wait`: 0, but known only when they have arrived. Their address waits for the copy
 * before, as dst itself does: a reader knows where to look no sooner than the copy knew where to
 * write. */
UC_LOOPS_INLINE __SIZE_TYPE__ uc_loop_await(const struct uc_call *c, const char *base)
{
    __SIZE_TYPE__ w;
    __asm__ volatile("mov (%[b],%[o8]), %[w]\n\t"
                     "mov (%[b],%[o4]), %%eax\n\t"
                     "or %%rax, %[w]\n\t"
                     "movzbl (%[b],%[o1]), %%eax\n\t"
                     "or %%rax, %[w]\n\t"
                     "and $0, %[w]"
                     : [w] "=&r"(w)
                     : [b] "r"(base), [o8] "r"((__SIZE_TYPE__)c->look8),
                       [o4] "r"((__SIZE_TYPE__)c->look4), [o1] "r"((__SIZE_TYPE__)c->look1)
                     : "rax", "cc", "memory");
    return w;
}

/* The loads of `scan`: all of dst, 64 bytes a turn by four 16-byte loads; n >= 64. */
UC_LOOPS_INLINE void uc_loop_scan(const char *p, __SIZE_TYPE__ n)
{
    const char *end = p + n - 64;
    __asm__ volatile("1:\n\t"
                     "movups (%[p]), %%xmm0\n\t"
                     "movups 16(%[p]), %%xmm0\n\t"
                     "movups 32(%[p]), %%xmm0\n\t"
                     "movups 48(%[p]), %%xmm0\n\t"
                     "add $64, %[p]\n\t"
                     "cmp %[end], %[p]\n\t"
                     "jbe 1b"
                     : [p] "+&r"(p)
                     : [end] "r"(end)
                     : "xmm0", "cc", "memory");
}

/* Defines the loops <name>_none to <name>_scan and their table <name>_loops around COPY(d, s, n).
 */
#define UC_LOOP_(name, kind, attribute, COPY, offset, after)                              \
    attribute static __attribute__((noinline, aligned(64))) unsigned long name##_##kind(  \
        uc_copy_fn *copy, const struct uc_call *calls, __SIZE_TYPE__ n, const char *base) \
    {                                                                                     \
        __SIZE_TYPE__ zero = 0, i;                                                        \
        unsigned long t;                                                                  \
        (void)copy;                                                                       \
        (void)base;                                                                       \
        (void)zero;                                                                       \
        t = uc_loop_ticks();                                                              \
        for (i = 0; i < n; i++) {                                                         \
            const struct uc_call *c = &calls[i];                                          \
            COPY((char *)((__SIZE_TYPE__)c->dst offset),                                  \
                 (const char *)((__SIZE_TYPE__)c->src offset), c->size);                  \
            after;                                                                        \
        }                                                                                 \
        return uc_loop_ticks() - t;                                                       \
    }
#define UC_DEFINE_LOOPS(name, attribute, COPY)                                         \
    UC_LOOP_(name, none, attribute, COPY, , (void)0)                                   \
    UC_LOOP_(name, read, attribute, COPY, , uc_loop_look(c, base))                     \
    UC_LOOP_(name, wait, attribute, COPY, +zero, zero = uc_loop_await(c, base + zero)) \
    UC_LOOP_(name, scan, attribute, COPY, , uc_loop_scan(c->dst, c->size))             \
    __attribute__((unused)) static const struct uc_loops name##_loops = {              \
        name##_none, name##_read, name##_wait, name##_scan};
