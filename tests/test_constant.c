/* Each leaf inlined with a size that the compiler knows: its smallest, the next, and a larger one.
 * What is known to be equal may share a register, so operands that a block writes must say so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "strategies/registry.h"
#include "strategies_code.h"

#define ROOM 256
#define LARGER(min, max) ((max) < (min) + 4096 ? (max) : (min) + 4096)

typedef void known_fn(unsigned char *dst, const unsigned char *src);

/* Three functions a strategy, each with its size built in. */
#define KNOWN_(name, attribute, tag, n)                                                           \
    attribute static                                                                              \
        __attribute__((noinline)) void name##_##tag(unsigned char *dst, const unsigned char *src) \
    {                                                                                             \
        ucopy_##name(dst, src, n);                                                                \
    }
#define KNOWN(name, attribute, min, max)     \
    KNOWN_(name, attribute, least, min)      \
    KNOWN_(name, attribute, next, (min) + 1) \
    KNOWN_(name, attribute, larger, LARGER(min, max))
#define KNOWN_LIBC(name, min, max)
#define KNOWN_BASE(name, min, max) KNOWN(name, , min, max)
#define KNOWN_SSE2 KNOWN_BASE
#define KNOWN_AVX2 KNOWN_BASE
#define KNOWN_AVX512(name, min, max) \
    KNOWN(name, __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,bmi2"))), min, max)
#define UCOPY_STRATEGY(name, needs, env, min, max, flags, role, rank, parts, text) \
    KNOWN_##needs(name, min, max)
#include "strategies/strategies.def"
#undef UCOPY_STRATEGY

#define ROW_LIBC(name, min, max)
#define ROW_BASE(name, min, max) \
    {#name, {name##_least, name##_next, name##_larger}, {min, (min) + 1, LARGER(min, max)}},
#define ROW_SSE2 ROW_BASE
#define ROW_AVX2 ROW_BASE
#define ROW_AVX512 ROW_BASE
#define UCOPY_STRATEGY(name, needs, env, min, max, flags, role, rank, parts, text) \
    ROW_##needs(name, min, max)
static const struct {
    const char *name;
    known_fn *fn[3];
    size_t size[3];
} rows[] = {
#include "strategies/strategies.def"
};
#undef UCOPY_STRATEGY

static unsigned char from[32768], to[32768], want[32768];

static void check(const char *name, known_fn *fn, size_t n, size_t at)
{
    memset(to, 0xAA, sizeof(to));
    memset(want, 0xAA, sizeof(want));
    memcpy(want + ROOM + at, from + ROOM + 3, n);
    fn(to + ROOM + at, from + ROOM + 3);
    if (memcmp(to, want, sizeof(to)) != 0)
        fail_msg("%s with the constant size %zu, dst mod 64 = %zu", name, n,
                 (size_t)(to + ROOM + at) % 64);
}

static void known_sizes_are_copied(void **state)
{
    struct ucopy_cpuid c;

    ucopy_cpuid_read(&c);
    for (size_t i = 0; i < sizeof(from); i++)
        from[i] = (unsigned char)(i * 7 + i / 256);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct ucopy_strategy *s = ucopy_find(rows[i].name);
        if (s->role == UCOPY_LIMIT)
            continue;
        if (s->isa & ~ucopy_isa_usable(&c)) {
            printf("# skipped: %s is not usable here\n", s->name);
            continue;
        }
        for (size_t k = 0; k < 3; k++)
            for (size_t at = 0; at < 64; at++)
                check(rows[i].name, rows[i].fn[k], rows[i].size[k], at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_sizes_are_copied)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
