#include "measure/subject.h"

#include <stdio.h>
#include <string.h>

#include "strategies_code.h"

#define CALL_POINTER(d, s, n) copy(d, s, n)
UC_DEFINE_LOOPS(called, , CALL_POINTER)
const struct uc_loops uc_called_loops = {called_none, called_read, called_wait, called_scan};

/* The same file again, as text. */
__asm__(".pushsection .rodata\n"
        ".globl uc_loops_text\n"
        "uc_loops_text: .incbin \"" UC_LOOPS_PATH "\"\n"
        ".byte 0\n"
        ".popsection");

/* Every strategy's loops with its leaf inlined; the attribute is that of the called form. */
#define INLINE_LOOPS(name, attribute) UC_DEFINE_LOOPS(inline_##name, attribute, ucopy_##name)
#define LOOPS_LIBC(name)
#define LOOPS_BASE(name) INLINE_LOOPS(name, )
#define LOOPS_SSE2 LOOPS_BASE
#define LOOPS_AVX2 LOOPS_BASE
#define LOOPS_AVX512(name) \
    INLINE_LOOPS(name, __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,bmi2"))))
#define UCOPY_STRATEGY(name, needs, env, min, max, flags, role, rank, parts, text) \
    LOOPS_##needs(name)
#include "strategies/strategies.def"
#undef UCOPY_STRATEGY

#define ROW_LIBC(name) {#name, NULL},
#define ROW_OURS(name) {#name, &inline_##name##_loops},
#define ROW_BASE ROW_OURS
#define ROW_SSE2 ROW_OURS
#define ROW_AVX2 ROW_OURS
#define ROW_AVX512 ROW_OURS
#define UCOPY_STRATEGY(name, needs, env, min, max, flags, role, rank, parts, text) ROW_##needs(name)
static const struct {
    const char *name;
    const struct uc_loops *loops;
} inline_table[] = {
#include "strategies/strategies.def"
};
#undef UCOPY_STRATEGY

struct uc_subject uc_subject_function(const char *name, uc_copy_fn *fn)
{
    struct uc_subject u = {
        .role = UCOPY_BASELINE, .fn = fn, .loops = &uc_called_loops, .max = UCOPY_NO_LIMIT};
    snprintf(u.name, sizeof(u.name), "%s", name);
    return u;
}

struct uc_subject uc_subject_called(const struct ucopy_strategy *s)
{
    struct uc_subject u = uc_subject_function(s->name, s->fn);

    u.shifted = s->shifted;
    u.role = s->role;
    u.min = s->min;
    u.max = s->max;
    u.dispatch = s->flags & UCOPY_DISPATCH;
    return u;
}

struct uc_subject uc_subject_inline(const struct ucopy_strategy *s)
{
    struct uc_subject u = uc_subject_called(s);

    for (size_t i = 0; i < sizeof(inline_table) / sizeof(inline_table[0]); i++)
        if (!strcmp(inline_table[i].name, s->name) && inline_table[i].loops) {
            u.loops = inline_table[i].loops;
            u.form = UC_INLINE;
            u.shifted = NULL;
        }
    return u;
}
