/* The table of strategies: what each row promises agrees with the text that it embeds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "strategies/registry.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static bool is_libc(const struct ucopy_strategy *s)
{
    return s->flags & UCOPY_LIBC;
}

/* One name for one thing: file, function, CLI, JSON. So it is a C identifier in lower case. */
static void name_is_a_name(const struct ucopy_strategy *s)
{
    if (strspn(s->name, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(s->name) ||
        !isalpha(s->name[0]))
        fail_msg("'%s' is no name", s->name);
    if (ucopy_find(s->name) != s)
        fail_msg("'%s' is there twice", s->name);
}

static void range_is_a_range(const struct ucopy_strategy *s)
{
    if (s->min > s->max)
        fail_msg("%s serves nothing: %zu to %zu", s->name, s->min, s->max);
    if (!!(s->flags & UCOPY_DISPATCH) && s->max == UCOPY_NO_LIMIT)
        fail_msg("%s is a short-size dispatch and has no largest size", s->name);
}

static void description_is_one_line(const struct ucopy_strategy *s)
{
    if (!s->description[0] || strpbrk(s->description, "\n\t\"\\"))
        fail_msg("%s: the description is no plain line: '%s'", s->name, s->description);
}

static void role_agrees_with_flags(const struct ucopy_strategy *s)
{
    bool half = s->flags & (UCOPY_LOADS | UCOPY_STORES);

    if (half != (s->role == UCOPY_LIMIT) || is_libc(s) != (s->role == UCOPY_BASELINE))
        fail_msg("%s: a %s with flags %#x", s->name, ucopy_role_name[s->role], s->flags);
    if ((s->flags & UCOPY_LOADS) && (s->flags & UCOPY_STORES))
        fail_msg("%s: both halves are a copy", s->name);
}

/* The kernel's entry may use general registers alone. */
static void environments_agree_with_isa(const struct ucopy_strategy *s)
{
    if (!(s->environments & UCOPY_USER) || s->environments & ~(uint32_t)UCOPY_BOTH)
        fail_msg("%s: environments %#x", s->name, s->environments);
    if (!is_libc(s) && !s->isa != !!(s->environments & UCOPY_KERNEL))
        fail_msg("%s: instruction sets %#x in environments %#x", s->name, s->isa, s->environments);
}

static void row_is_sound(void **state)
{
    const struct ucopy_strategy *s = *state;

    name_is_a_name(s);
    range_is_a_range(s);
    description_is_one_line(s);
    role_agrees_with_flags(s);
    environments_agree_with_isa(s);
    assert_non_null(s->fn);
}

/* Both places of the code are where they are said to be, whatever the compiler aligns functions to.
 */
static void code_lies_at_both_places(void **state)
{
    const struct ucopy_strategy *s = *state;

    if (is_libc(s)) {
        assert_null(s->shifted);
        return;
    }
    assert_int_equal((uintptr_t)s->fn % 64, 0);
    assert_int_equal((uintptr_t)s->shifted % 64, UCOPY_SHIFT);
}

/* All parts that a row names, joined behind its own text; returns whether there was room. */
static bool whole_text(const struct ucopy_strategy *s, char *text, size_t cap)
{
    char names[256], *rest = names, *name;
    size_t used = (size_t)snprintf(text, cap, "%s", s->text);

    snprintf(names, sizeof(names), "%s", s->includes);
    while ((name = strsep(&rest, " ")) && *name && used < cap) {
        if (!ucopy_part_text(name))
            fail_msg("%s needs the part '%s', which is none", s->name, name);
        used += (size_t)snprintf(text + used, cap - used, "%s", ucopy_part_text(name));
    }
    return used < cap;
}

static void has_its_function(const struct ucopy_strategy *s)
{
    char head[100];
    const char *found;

    snprintf(head, sizeof(head), "UCOPY_LEAF void *ucopy_%s(", s->name);
    found = strstr(s->text, head);
    if (!found || strstr(found + 1, head))
        fail_msg("%s: its text has not '%s' once", s->name, head);
}

static void is_whole(const struct ucopy_strategy *s)
{
    size_t length = strlen(s->text);

    if (strncmp(s->text, "/* ", 3) || strcmp(s->text + length - 3, "\n}\n"))
        fail_msg("%s: its text does not run from a comment to a function's end", s->name);
    if (strchr(s->text, '#') || strstr(s->text, "__attribute__"))
        fail_msg("%s: its text has a directive or an attribute left", s->name);
}

/* A word of the text means a flag or an instruction set, and the other way round. */
static void says(const struct ucopy_strategy *s, const char *text, const char *word, bool expected)
{
    if (!!strstr(text, word) != expected)
        fail_msg("%s: '%s' is %s in its text", s->name, word, expected ? "not" : "there");
}

static void agrees_with_its_text(const struct ucopy_strategy *s, const char *text)
{
    bool streams = s->flags & UCOPY_STREAMING, masked = s->flags & UCOPY_MASKED;

    says(s, text, "movnt", streams);
    says(s, text, "sfence", streams);
    says(s, text, "%{%%k", masked);
    if (!(s->isa & UCOPY_ISA_BMI2))
        says(s, text, "bzhi", false);
    if (!(s->isa & UCOPY_ISA_AVX2))
        says(s, text, "ymm", false);
    if (!(s->isa & UCOPY_ISA_AVX512BW))
        says(s, text, "zmm", false);
    if (!(s->isa & UCOPY_ISA_SSE2))
        says(s, text, "xmm", false);
}

/* The widest instruction set that a row asks for is one that its text uses. */
static void asks_for_what_it_uses(const struct ucopy_strategy *s, const char *text)
{
    if (s->isa & UCOPY_ISA_AVX512BW)
        assert_true(strstr(text, "zmm") || strstr(text, "mm16"));
    else if (s->isa & UCOPY_ISA_AVX2)
        says(s, text, "ymm", true);
    else if (s->isa & UCOPY_ISA_SSE2)
        says(s, text, "xmm", true);
}

static void text_agrees_with_row(void **state)
{
    static char text[1 << 20];
    const struct ucopy_strategy *s = *state;

    if (is_libc(s)) {
        assert_null(s->text);
        return;
    }
    assert_non_null(s->text);
    has_its_function(s);
    is_whole(s);
    assert_true(whole_text(s, text, sizeof(text)));
    agrees_with_its_text(s, text);
    asks_for_what_it_uses(s, text);
}

static size_t roles(enum ucopy_role role)
{
    size_t n = 0;

    for (size_t i = 0; i < ucopy_strategy_count; i++)
        n += ucopy_strategies[i].role == role;
    return n;
}

static void one_baseline_and_one_reference(void **state)
{
    assert_int_equal(roles(UCOPY_BASELINE), 1);
    assert_int_equal(roles(UCOPY_REFERENCE), 1);
    assert_true(roles(UCOPY_LIMIT) > 0);
    assert_string_equal(ucopy_role_name[UCOPY_CANDIDATE], "candidate");
    assert_string_equal(ucopy_role_name[UCOPY_BASELINE], "baseline");
    assert_string_equal(ucopy_role_name[UCOPY_REFERENCE], "reference");
    assert_string_equal(ucopy_role_name[UCOPY_LIMIT], "limit");
}

/* Every size has a candidate on every machine, in both environments. */
static void baseline_machine_is_served(void **state)
{
    bool none = false, any = false;

    for (size_t i = 0; i < ucopy_strategy_count; i++) {
        const struct ucopy_strategy *s = &ucopy_strategies[i];
        bool everywhere = s->role == UCOPY_CANDIDATE && !s->isa && s->environments == UCOPY_BOTH;
        none |= everywhere && s->min == 0;
        any |= everywhere && s->max == UCOPY_NO_LIMIT && !(s->flags & UCOPY_STREAMING);
    }
    assert_true(none && any);
}

static void unknown_names_are_none(void **state)
{
    static const char *const unknown[] = {"",          "lib", "libc ", "LIBC", "ucopy_unrolled",
                                          "unrolled.h"};

    for (size_t i = 0; i < COUNT(unknown); i++) {
        assert_null(ucopy_find(unknown[i]));
        assert_null(ucopy_part_text(unknown[i]));
    }
}

/* The header embeds both in front of everything else. */
static void prelude_and_detection_are_parts(void **state)
{
    assert_non_null(strstr(ucopy_part_text("prelude"), "#define UCOPY_LEAF "));
    assert_non_null(strstr(ucopy_part_text("detect"), "ucopy_isa_usable("));
    assert_null(ucopy_part_text("unrolled"));
}

static void isa_words_are_read_back(void **state)
{
    char text[200];

    for (uint32_t isa = 0; isa < 1u << UCOPY_ISA_COUNT; isa++) {
        char *rest = ucopy_isa_text(isa, text, sizeof(text)) ? text : NULL, *word;
        uint32_t again = 0;
        while ((word = strsep(&rest, " ")))
            again |= ucopy_isa_bit(word, strlen(word));
        assert_int_equal(again, isa);
    }
    assert_string_equal(ucopy_isa_text(UCOPY_ISA_AVX2 | UCOPY_ISA_BMI2, text, sizeof(text)),
                        "avx2 bmi2");
    assert_string_equal(ucopy_isa_text(0, text, sizeof(text)), "");
}

static void other_isa_words_are_none(void **state)
{
    assert_int_equal(ucopy_isa_bit("avx512bw", 6), 0);
    assert_int_equal(ucopy_isa_bit("avx2,", 5), 0);
    assert_int_equal(ucopy_isa_bit("avx2,bmi2", 4), UCOPY_ISA_AVX2);
    assert_int_equal(ucopy_isa_bit("", 0), 0);
    assert_int_equal(ucopy_isa_bit("AVX2", 4), 0);
}

/* A buffer that is too small holds the beginning and its end, and nothing behind it is written. */
static void isa_text_keeps_to_its_buffer(void **state)
{
    char text[16];

    for (size_t cap = 1; cap < sizeof(text); cap++) {
        memset(text, '#', sizeof(text));
        ucopy_isa_text((1u << UCOPY_ISA_COUNT) - 1, text, cap);
        assert_int_equal(text[cap], '#');
        assert_int_equal(strlen(text), cap - 1);
    }
}

static struct CMUnitTest row(const struct ucopy_strategy *s, CMUnitTestFunction run,
                             const char *what)
{
    static char names[1024][80];
    static size_t n;

    snprintf(names[n], sizeof(names[n]), "%s: %s", s->name, what);
    return (struct CMUnitTest){names[n++], run, NULL, NULL, (void *)(uintptr_t)s};
}

int main(void)
{
    static const struct CMUnitTest whole[] = {
        cmocka_unit_test(one_baseline_and_one_reference),
        cmocka_unit_test(baseline_machine_is_served),
        cmocka_unit_test(unknown_names_are_none),
        cmocka_unit_test(prelude_and_detection_are_parts),
        cmocka_unit_test(isa_words_are_read_back),
        cmocka_unit_test(other_isa_words_are_none),
        cmocka_unit_test(isa_text_keeps_to_its_buffer),
    };
    static struct CMUnitTest tests[COUNT(whole) + 1024];
    size_t n = COUNT(whole);

    memcpy(tests, whole, sizeof(whole));
    for (size_t i = 0; i < ucopy_strategy_count && i < 512; i++) {
        tests[n++] = row(&ucopy_strategies[i], row_is_sound, "the row is sound");
        tests[n++] =
            row(&ucopy_strategies[i], code_lies_at_both_places, "the code lies at both places");
        tests[n++] =
            row(&ucopy_strategies[i], text_agrees_with_row, "the text agrees with the row");
    }
    return _cmocka_run_group_tests("registry", tests, n, NULL, NULL);
}
