/* What disturbs measuring: from what was seen to what is said, without this machine. And facts as
 * text and JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/disturb.h"
#include "cli/facts.h"

/* A machine at rest, and one where nothing can be seen. */
static const struct uc_seen calm = {
    .pu = 3,
    .governor = "performance",
    .thp = "madvise",
    .siblings = "7",
    .sibling_share = 0.01,
    .others_busy = 0.1,
    .steal_share = 0.001,
    .core_spread = 0.02,
    .paranoid = 2,
};
static const struct uc_seen blind = {
    .governor = "",
    .thp = "",
    .siblings = "",
    .sibling_share = -1,
    .others_busy = -1,
    .steal_share = -1,
    .paranoid = LONG_MIN,
};

static void expect(struct uc_seen s, const char *what, const char *mend)
{
    struct uc_disturbance d[UC_MAX_DISTURBANCES];
    size_t n = uc_disturbances(&s, d);

    assert_int_equal(n, 1);
    if (!strstr(d[0].what, what) || !strstr(d[0].mend, mend))
        fail_msg("\"%s\" and \"%s\" expected, said \"%s\" and \"%s\"", what, mend, d[0].what,
                 d[0].mend);
}

static void test_none(void **state)
{
    struct uc_disturbance d[UC_MAX_DISTURBANCES];

    (void)state;
    assert_int_equal(uc_disturbances(&calm, d), 0);
    assert_int_equal(uc_disturbances(&blind, d), 0);
}

#define WITH(field, value)        \
    ({                            \
        struct uc_seen s_ = calm; \
        s_.field = value;         \
        s_;                       \
    })

static void test_each(void **state)
{
    (void)state;
    expect(WITH(governor, "powersave"), "\"powersave\"", "cpu3/cpufreq/scaling_governor");
    expect(WITH(thp, "always"), "\"always\"", "echo madvise | sudo tee");
    expect(WITH(thp, "never"), "\"never\"", "echo madvise | sudo tee");
    expect(WITH(sibling_share, 0.25), "CPU 7, which shares the core, was busy for 25 %", "--core");
    expect(WITH(others_busy, 1.5), "1.5 on average", "stop");
    expect(WITH(steal_share, 0.031), "3.1 %", "host");
    expect(WITH(turbo_pstate, true), "turbo", "no_turbo");
    expect(WITH(turbo_boost, true), "boost", "cpufreq/boost");
    expect(WITH(core_spread, 0.14), "14 %", "rest");
    expect(WITH(emulated, true), "emulated", "hardware");
}

/* A high value of perf_event_paranoid bars nobody whom the kernel does not refuse. */
static void test_counters(void **state)
{
    struct uc_disturbance d[UC_MAX_DISTURBANCES];
    struct uc_seen s = calm;

    (void)state;
    s.paranoid = 4;
    assert_int_equal(uc_disturbances(&s, d), 0);
    s.refused = true;
    expect(s, "is 4", "sysctl kernel.perf_event_paranoid=2");
    s.paranoid = 2;
    expect(s, "refused", "CAP_PERFMON");
    s.paranoid = LONG_MIN;
    expect(s, "refused", "CAP_PERFMON");
}

/* All at once fit. */
static void test_all(void **state)
{
    struct uc_disturbance d[UC_MAX_DISTURBANCES];
    const struct uc_seen s = {.governor = "schedutil",
                              .thp = "always",
                              .siblings = "1",
                              .sibling_share = 1,
                              .others_busy = 3,
                              .steal_share = 0.5,
                              .turbo_pstate = true,
                              .turbo_boost = true,
                              .core_spread = 1,
                              .refused = true,
                              .paranoid = 4,
                              .emulated = true};

    (void)state;
    assert_int_equal(uc_disturbances(&s, d), 10);
    for (size_t i = 0; i < 10; i++)
        assert_true(*d[i].what && *d[i].mend);
}

static void test_facts(void **state)
{
    struct uc_facts f = {0};
    char *text = NULL, *json;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    json_t *o;

    (void)state;
    uc_fact_set(uc_fact_add(&f, "core_clock", "a chain of %d additions", 12), json_real(2.5),
                "%.1f GHz", 2.5);
    uc_fact_add(&f, "steal", "/proc/stat");
    uc_fact_set(uc_fact_add(&f, "name", "CPUID"), NULL, "%s", "x");
    uc_facts_print(&f, out);
    fclose(out);
    assert_string_equal(
        text, "  core clock  2.5 GHz                                           (a chain of 12 "
              "additions)\n"
              "  steal       unknown                                           (/proc/stat)\n"
              "  name        x                                                 (CPUID)\n");
    free(text);
    o = uc_facts_json(&f);
    json = json_dumps(o, JSON_COMPACT);
    assert_string_equal(json,
                        "{\"core_clock\":{\"value\":2.5,\"source\":\"a chain of 12 additions\"},"
                        "\"steal\":{\"value\":null,\"source\":\"/proc/stat\"},"
                        "\"name\":{\"value\":\"x\",\"source\":\"CPUID\"}}");
    free(json);
    json_decref(o);
    uc_facts_free(&f);
}

/* One fact too many takes the last place, and nothing is written beyond. */
static void test_too_many_facts(void **state)
{
    struct uc_facts f = {0};
    const size_t room = sizeof(f.v) / sizeof(f.v[0]);

    (void)state;
    for (size_t i = 0; i < room + 5; i++)
        uc_fact_set(uc_fact_add(&f, "key", "source"), json_integer((json_int_t)i), "%zu", i);
    assert_true(f.n < room);
    uc_facts_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none),     cmocka_unit_test(test_each),
        cmocka_unit_test(test_counters), cmocka_unit_test(test_all),
        cmocka_unit_test(test_facts),    cmocka_unit_test(test_too_many_facts),
    };

    return cmocka_run_group_tests_name("disturb", tests, NULL, NULL);
}
