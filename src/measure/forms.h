/* One copy in three forms, compiled around a strategy's text or a generated header: inline, called,
 * and called behind one check of the source's end (`checked`), each timed with warm and with cold
 * code, and each once more in a function that holds the call site alone, for its size. It includes
 * nothing and stands behind loops.h. */
struct uc_form_loops {
    struct uc_loops warm, cold; /* without scan */
};
struct uc_forms {
    struct uc_form_loops inlined, called, checked;
    uc_copy_fn *copy;     /* the called form */
    unsigned long *limit; /* what the check compares with: the last end that may be read */
};

#ifdef UC_FORMS_CODE /* the rest is for the generated unit alone */

/* As a function of another unit, of which the caller knows nothing: gcc would else keep values in
 * registers that the function leaves alone. */
#if defined(__GNUC__) && !defined(__clang__)
#define UC_FORM_APART __attribute__((noipa, aligned(64)))
#else
#define UC_FORM_APART __attribute__((noinline, aligned(64)))
#endif

/* Never lowered but by a test. In memory, as a kernel's limit of a task is. */
static unsigned long uc_form_limit = -1UL;

/* Does the source end beyond the limit? What a kernel asks before it copies from a user: one
 * addition and one comparison with memory; the branch on it is always predicted. */
UC_LOOPS_INLINE int uc_form_beyond(const void *s, __SIZE_TYPE__ n)
{
    __SIZE_TYPE__ end;
    int beyond;
    __asm__("lea (%[s],%[n]), %[end]\n\tcmp %[limit], %[end]"
            : "=@cca"(beyond), [end] "=&r"(end)
            : [s] "r"(s), [n] "r"(n), [limit] "m"(uc_form_limit));
    return beyond;
}

/* The other work between two calls of cold code: 12,288 steps of 16 bytes, each with a branch that
 * is taken or not by one bit of noise and with a jump that is always taken. 192 KiB is three to six
 * times the instruction caches of today (32 and 64 KiB) and holds no more than a part of most L2;
 * 18,432 taken branches are more than most branch target buffers hold (6.5 Ki in Zen 3's, 12 Ki in
 * Golden Cove's; 24 Ki in Zen 5's two levels); the noise fills the history by which directions are
 * predicted, and it is new every time. So it flushes L1i and the cache of decoded instructions, the
 * targets and directions of branches, and most of the first-level instruction TLB. It touches no
 * data but its seed, and the copy's code stays in L2. On a Zen 3 guest calls of 8 to 200 bytes by
 * two dispatches cost 1 to 8 ns behind one step, 2 to 12 behind 1,024, 3 to 18 behind 4,096, 13 to
 * 36 behind 12,288 and 14 to 40 behind 24,576. */
__asm__(".pushsection .text\n"
        ".p2align 6\n"
        ".globl uc_form_steps\n"
        ".hidden uc_form_steps\n"
        ".type uc_form_steps, @function\n"
        "uc_form_steps:\n"
        ".rept 12288\n\t"
        "ror $1, %rdi\n\t"
        "jc 1f\n\t"
        ".p2align 3\n"
        "1:\n\t"
        "jmp 2f\n\t"
        ".p2align 4\n"
        "2:\n"
        ".endr\n\t"
        "ret\n"
        ".size uc_form_steps, . - uc_form_steps\n"
        ".popsection");
__attribute__((visibility("hidden"))) void uc_form_steps(unsigned long noise);

static __attribute__((noinline, unused)) void uc_form_other_work(void)
{
    static unsigned long seed = 1; /* Knuth's MMIX generator: any noise will do */
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    uc_form_steps(seed ^ seed >> 29);
}

/* Cold code is timed call by call, the other work outside: it takes a thousand times as long as the
 * copy, so that no difference of two loops could tell. What the timer itself takes is read in front
 * of each call and taken off; the line in which the call begins has then come, as it has where a
 * program runs into a call. The sum may be below 0 for a call of nothing. */
#define UC_COLD_LOOP_(name, kind, attribute, COPY, after)                                 \
    attribute static __attribute__((noinline, aligned(64))) unsigned long name##_##kind(  \
        uc_copy_fn *copy, const struct uc_call *calls, __SIZE_TYPE__ n, const char *base) \
    {                                                                                     \
        unsigned long sum = 0, t, u;                                                      \
        __SIZE_TYPE__ i;                                                                  \
        (void)copy;                                                                       \
        (void)base;                                                                       \
        for (i = 0; i < n; i++) {                                                         \
            const struct uc_call *c = &calls[i];                                          \
            char *dst = c->dst;                                                           \
            const char *src = c->src;                                                     \
            __SIZE_TYPE__ size = c->size;                                                 \
            uc_form_other_work();                                                         \
            __asm__ volatile("" : "+r"(dst), "+r"(src), "+r"(size));                      \
            t = uc_loop_ticks();                                                          \
            u = uc_loop_ticks();                                                          \
            COPY(dst, src, size);                                                         \
            after;                                                                        \
            sum += uc_loop_ticks() - u - (u - t);                                         \
        }                                                                                 \
        return sum;                                                                       \
    }

/* The call site by itself. It is followed by a call of nothing, as in uc_site_none, so that what
 * both spend on entering a function and on aligning the stack for a call is no part of the
 * difference. */
#define UC_SITE_(name, attribute, COPY)                                                \
    attribute __attribute__((used, noinline, aligned(64))) static void uc_site_##name( \
        void *d, const void *s, __SIZE_TYPE__ n)                                       \
    {                                                                                  \
        COPY(d, s, n);                                                                 \
        uc_site_nothing();                                                             \
        __asm__ volatile(""); /* or the call would become a jump */                    \
    }
static UC_FORM_APART void uc_site_nothing(void)
{
    __asm__ volatile("");
}
#define UC_FORM_NO_COPY(d, s, n) (void)0
UC_SITE_(none, , UC_FORM_NO_COPY)

#define UC_FORM_LOOPS_(name, attribute, COPY)                                          \
    UC_LOOP_(warm_##name, none, attribute, COPY, , (void)0)                            \
    UC_LOOP_(warm_##name, read, attribute, COPY, , uc_loop_look(c, base))              \
    UC_LOOP_(warm_##name, wait, attribute, COPY, +zero, zero = uc_loop_await(c, base)) \
    UC_COLD_LOOP_(cold_##name, none, attribute, COPY, (void)0)                         \
    UC_COLD_LOOP_(cold_##name, read, attribute, COPY, uc_loop_look(c, base))           \
    UC_COLD_LOOP_(cold_##name, wait, attribute, COPY, (void)uc_loop_await(c, base))    \
    UC_SITE_(name, attribute, COPY)
#define UC_FORM_ROW_(name)                                                \
    {                                                                     \
        {warm_##name##_none, warm_##name##_read, warm_##name##_wait, 0},  \
        {                                                                 \
            cold_##name##_none, cold_##name##_read, cold_##name##_wait, 0 \
        }                                                                 \
    }

/* Defines uc_forms_<id> around COPY(d, s, n); attribute is that of the instruction sets it needs.
 */
#define UC_DEFINE_FORMS(id, attribute, COPY)                                                      \
    attribute static UC_FORM_APART void *uc_called_##id(void *d, const void *s, __SIZE_TYPE__ n)  \
    {                                                                                             \
        return COPY(d, s, n);                                                                     \
    }                                                                                             \
    UC_LOOPS_INLINE void uc_checked_##id(void *d, const void *s, __SIZE_TYPE__ n)                 \
    {                                                                                             \
        if (__builtin_expect(!uc_form_beyond(s, n), 1))                                           \
            uc_called_##id(d, s, n);                                                              \
    }                                                                                             \
    UC_FORM_LOOPS_(inlined_##id, attribute, COPY)                                                 \
    UC_FORM_LOOPS_(called_##id, , uc_called_##id)                                                 \
    UC_FORM_LOOPS_(checked_##id, , uc_checked_##id)                                               \
    const struct uc_forms uc_forms_##id = {UC_FORM_ROW_(inlined_##id), UC_FORM_ROW_(called_##id), \
                                           UC_FORM_ROW_(checked_##id), uc_called_##id,            \
                                           &uc_form_limit};

#endif
