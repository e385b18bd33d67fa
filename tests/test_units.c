/* Numbers as people write them: the whole string, in range, with its unit, or an error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "base/units.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static void sizes_with_every_unit(void **state)
{
    static const struct {
        const char *text;
        size_t bytes;
    } good[] = {
        {"0", 0},
        {"1", 1},
        {"007", 7},
        {"4095", 4095},
        {"1k", 1024},
        {"1K", 1024},
        {"64M", 64u << 20},
        {"4G", (size_t)4 << 30},
        {"0G", 0},
        {"18446744073709551615", SIZE_MAX},
        {"17179869183G", SIZE_MAX - (((size_t)1 << 30) - 1)},
    };

    for (size_t i = 0; i < COUNT(good); i++) {
        size_t bytes = 12345;
        if (uc_parse_size(good[i].text, &bytes) || bytes != good[i].bytes)
            fail_msg("'%s' is %zu, not %zu", good[i].text, good[i].bytes, bytes);
    }
}

/* The value must stay as it was: a caller that forgot to look at the result would run with it. */
static void refused_size(const char *text, int rc)
{
    size_t bytes = 12345;
    int got = uc_parse_size(text, &bytes);

    if (got != rc || bytes != 12345)
        fail_msg("'%s': returned %d, not %d, and left %zu", text, got, rc, bytes);
}

static void sizes_that_are_none(void **state)
{
    static const char *const bad[] = {"",    " ",    "k",    "-1", "+1",  " 1",  "1 ",  "1kb",
                                      "1kk", "1.5k", "0x10", "1T", "1e3", "1,0", "1\n", "\xd9\xa1"};

    for (size_t i = 0; i < COUNT(bad); i++)
        refused_size(bad[i], -EINVAL);
}

static void sizes_past_the_largest(void **state)
{
    static const char *const large[] = {"18446744073709551616", "18014398509481984k",
                                        "17592186044416M", "17179869184G",
                                        "99999999999999999999999999"};

    for (size_t i = 0; i < COUNT(large); i++)
        refused_size(large[i], -ERANGE);
}

static void any_size_is_read_back(void **state)
{
    struct uc_rng rng = {7};
    char text[32];

    for (int i = 0; i < 10000; i++) {
        size_t want = (size_t)(uc_rng_next(&rng) >> uc_rng_below(&rng, 64)), got;
        snprintf(text, sizeof(text), "%zu", want);
        assert_int_equal(uc_parse_size(text, &got), 0);
        assert_true(got == want);
    }
}

static void durations_with_every_unit(void **state)
{
    static const struct {
        const char *text;
        double seconds;
    } good[] = {
        {"20", 20},  {"20s", 20},   {"0.25s", .25},   {"250ms", .25},   {"10m", 600},
        {".5m", 30}, {"1e2ms", .1}, {"86400", 86400}, {"1440m", 86400},
    };

    for (size_t i = 0; i < COUNT(good); i++) {
        double seconds = -1;
        int rc = uc_parse_duration(good[i].text, &seconds);
        double off = seconds - good[i].seconds;
        if (rc || off > 1e-12 || off < -1e-12)
            fail_msg("'%s': returned %d with %g s, not %g", good[i].text, rc, seconds,
                     good[i].seconds);
    }
}

static void refused_duration(const char *text, int rc)
{
    double seconds = -1;
    int got = uc_parse_duration(text, &seconds);

    if (got != rc || seconds >= 0)
        fail_msg("'%s': returned %d, not %d, and left %g", text, got, rc, seconds);
}

static void durations_that_are_none(void **state)
{
    static const char *const bad[] = {"",    "s",    "-1",  "+1",  "inf", "nan", " 1s", "1 s", "1h",
                                      "1ss", "1min", "0x1", "0X1", ".",   "1,5", "1us", "ms"};

    for (size_t i = 0; i < COUNT(bad); i++)
        refused_duration(bad[i], -EINVAL);
}

static void durations_out_of_range(void **state)
{
    static const char *const out[] = {"0", "0s", "0.0ms", "86401", "1441m", "1e300", "1e999"};

    for (size_t i = 0; i < COUNT(out); i++)
        refused_duration(out[i], -ERANGE);
}

static void whole_numbers(void **state)
{
    static const struct {
        const char *text;
        int rc;
        long value;
    } row[] = {
        {"-5", 0, -5},       {"0", 0, 0},         {"10", 0, 10},
        {"11", -ERANGE, 0},  {"-6", -ERANGE, 0},  {"99999999999999999999", -ERANGE, 0},
        {"", -EINVAL, 0},    {"-", -EINVAL, 0},   {"+1", -EINVAL, 0},
        {"1.0", -EINVAL, 0}, {"1x", -EINVAL, 0},  {" 1", -EINVAL, 0},
        {"1 ", -EINVAL, 0},  {"0x1", -EINVAL, 0}, {"--1", -EINVAL, 0},
    };

    for (size_t i = 0; i < COUNT(row); i++) {
        long v = 77;
        int rc = uc_parse_long(row[i].text, -5, 10, &v);
        if (rc != row[i].rc || v != (rc ? 77 : row[i].value))
            fail_msg("'%s': returned %d with %ld", row[i].text, rc, v);
    }
}

static void ends_of_the_range_of_long(void **state)
{
    char text[32];
    long v;

    snprintf(text, sizeof(text), "%ld", LONG_MAX);
    assert_int_equal(uc_parse_long(text, LONG_MIN, LONG_MAX, &v), 0);
    assert_true(v == LONG_MAX);
    snprintf(text, sizeof(text), "%ld", LONG_MIN);
    assert_int_equal(uc_parse_long(text, LONG_MIN, LONG_MAX, &v), 0);
    assert_true(v == LONG_MIN);
    assert_int_equal(uc_parse_long("9223372036854775808", LONG_MIN, LONG_MAX, &v), -ERANGE);
}

static void sizes_as_text(void **state)
{
    static const struct {
        size_t bytes;
        const char *text;
    } row[] = {
        {0, "0"},
        {64, "64"},
        {1023, "1023"},
        {1024, "1 KiB"},
        {1536, "1.5 KiB"},
        {2112, "2112"},
        {16383, "16383"},
        {(3u << 20) / 4, "768 KiB"},
        {48u << 10, "48 KiB"},
        {64u << 20, "64 MiB"},
        {(size_t)5 << 40, "5120 GiB"},
    };
    char buf[UC_SIZE_TEXT];

    for (size_t i = 0; i < COUNT(row); i++)
        assert_string_equal(uc_size_text(row[i].bytes, buf), row[i].text);
}

/* The text is exact (where it shows a point, in quarters), and the largest fits the buffer. */
static void text_without_a_point_is_exact(void **state)
{
    static const struct {
        const char *unit;
        const char *letter;
    } unit[] = {{" KiB", "k"}, {" MiB", "M"}, {" GiB", "G"}};
    struct uc_rng rng = {11};

    for (int i = 0; i < 20000; i++) {
        size_t want = (size_t)(uc_rng_next(&rng) >> (1 + uc_rng_below(&rng, 63)));
        size_t got = ~want;
        char buf[UC_SIZE_TEXT];
        if (strchr(uc_size_text(want, buf), '.'))
            continue;
        for (size_t u = 0; u < COUNT(unit); u++) {
            char *at = strstr(buf, unit[u].unit);
            if (at)
                strcpy(at, unit[u].letter);
        }
        assert_int_equal(uc_parse_size(buf, &got), 0);
        if (got != want)
            fail_msg("%zu is shown as '%s'", want, buf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_with_every_unit),         cmocka_unit_test(sizes_that_are_none),
        cmocka_unit_test(sizes_past_the_largest),        cmocka_unit_test(any_size_is_read_back),
        cmocka_unit_test(durations_with_every_unit),     cmocka_unit_test(durations_that_are_none),
        cmocka_unit_test(durations_out_of_range),        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(ends_of_the_range_of_long),     cmocka_unit_test(sizes_as_text),
        cmocka_unit_test(text_without_a_point_is_exact),
    };

    return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
