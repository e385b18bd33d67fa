#include "strategies/registry.h"

#include <stdio.h>
#include <string.h>

#include "strategies_code.h" /* generated: the expanded texts, to compile */
#include "strategies_text.h" /* generated: the same texts, to embed */

const char *const ucopy_role_name[4] = {"candidate", "baseline", "reference", "limit"};

/* What the word in a row's `needs` column means: instruction sets, the attribute of the called
 * form, and where function and text come from. libc has no text of ours: its own function is
 * called, where the library put it. */
#define NEEDS_LIBC 0
#define NEEDS_BASE 0
#define NEEDS_SSE2 UCOPY_ISA_SSE2
#define NEEDS_AVX2 (UCOPY_ISA_SSE2 | UCOPY_ISA_AVX2)
#define NEEDS_AVX512 (UCOPY_ISA_SSE2 | UCOPY_ISA_AVX2 | UCOPY_ISA_BMI2 | UCOPY_ISA_AVX512BW)

/* Both places of the code: at a line of 64 bytes, and UCOPY_SHIFT behind one, which is as many
 * one-byte nops in front of the entry. Without the comment gcc would make one function of the two.
 */
#define CALLED_FORM(name, attribute)                                                               \
    attribute static __attribute__((noinline, aligned(64))) void *called_##name(                   \
        void *dst, const void *src, size_t n)                                                      \
    {                                                                                              \
        return ucopy_##name(dst, src, n);                                                          \
    }                                                                                              \
    attribute static __attribute__((                                                               \
        noinline, aligned(64),                                                                     \
        patchable_function_entry(UCOPY_SHIFT, UCOPY_SHIFT))) void *shifted_##name(void *dst,       \
                                                                                  const void *src, \
                                                                                  size_t n)        \
    {                                                                                              \
        __asm__ volatile("# shifted");                                                             \
        return ucopy_##name(dst, src, n);                                                          \
    }
/* Below AVX-512 the clobbers need no attribute, and with AVX2's gcc would add a vzeroupper of its
 * own. */
#define FORM_LIBC(name)
#define FORM_BASE(name) CALLED_FORM(name, )
#define FORM_SSE2 FORM_BASE
#define FORM_AVX2 FORM_BASE
#define FORM_AVX512(name) \
    CALLED_FORM(name, __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,bmi2"))))
#define UCOPY_STRATEGY(name, needs, env, min, max, flags, role, rank, parts, text) \
    FORM_##needs(name)
#include "strategies.def"
#undef UCOPY_STRATEGY

#define LINKS_LIBC(name) memcpy, NULL, NULL
#define LINKS_OURS(name) called_##name, shifted_##name, text_##name
#define LINKS_BASE LINKS_OURS
#define LINKS_SSE2 LINKS_OURS
#define LINKS_AVX2 LINKS_OURS
#define LINKS_AVX512 LINKS_OURS
#define UCOPY_STRATEGY(name, needs, env, min, max, flags, role, rank, parts, text) \
    {#name, NEEDS_##needs, UCOPY_##env,         min,  max, flags, UCOPY_##role,    \
     rank,  text,          LINKS_##needs(name), parts},
const struct ucopy_strategy ucopy_strategies[] = {
#include "strategies.def"
};
#undef UCOPY_STRATEGY
const size_t ucopy_strategy_count = sizeof(ucopy_strategies) / sizeof(ucopy_strategies[0]);

const struct ucopy_strategy *ucopy_find(const char *name)
{
    for (size_t i = 0; i < ucopy_strategy_count; i++)
        if (!strcmp(ucopy_strategies[i].name, name))
            return &ucopy_strategies[i];
    return NULL;
}

#define PART_ROW(name) {#name, part_##name},
static const struct {
    const char *name, *text;
} parts[] = {UCOPY_PARTS(PART_ROW)};

const char *ucopy_part_text(const char *name)
{
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (!strcmp(parts[i].name, name))
            return parts[i].text;
    return NULL;
}

#define ISA_NAME(id, bit, name, attribute) name,
static const char *const isa_name[] = {UCOPY_ISA_LIST(ISA_NAME)};

const char *ucopy_isa_text(uint32_t isa, char *buf, size_t cap)
{
    size_t used = 0;

    buf[0] = 0;
    for (unsigned i = 0; i < UCOPY_ISA_COUNT; i++)
        if (isa >> i & 1 && used < cap)
            used += (size_t)snprintf(buf + used, cap - used, "%s%s", used ? " " : "", isa_name[i]);
    return buf;
}

uint32_t ucopy_isa_bit(const char *name, size_t len)
{
    for (unsigned i = 0; i < UCOPY_ISA_COUNT; i++)
        if (strlen(isa_name[i]) == len && !strncmp(isa_name[i], name, len))
            return 1u << i;
    return 0;
}
