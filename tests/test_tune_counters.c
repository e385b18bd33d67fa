/* The main job on a machine with a PMU and on one without, both made up: what the kernel would
 * count is injected, and the summary and the profile must tell it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>

#include "cli/command.h"
#include "machine/counters.h"
#include "measure/count.h"
#include "tests/program.h"

#include <perfmon/pfmlib_perf_event.h>

/* One fake counter a descriptor. The chosen copy and its runner-up are run by turns, and each run
 * is read twice: before it and after. */
enum { FDS = 1024, CALLS = 64 * 1024 };
static struct {
    uint64_t config, value, time;
    unsigned reads;
} counter[FDS];

/* Events of Skylake: unit mask << 8 | event. */
enum { CYCLES = 0x3c, INSTRUCTIONS = 0xc0, BRANCHES = 0xc5, L1D = 0x0151, L2 = 0x1ff1 };

static int fake_open(struct perf_event_attr *attr, int cpu)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (attr->exclude_user || !attr->exclude_kernel || !attr->exclude_hv || !attr->disabled)
        fail_msg("event %llx is not of user mode alone", (unsigned long long)attr->config);
    assert_true(fd >= 0 && fd < FDS);
    memset(&counter[fd], 0, sizeof(counter[fd]));
    counter[fd].config = attr->config & 0xffff;
    return fd;
}

/* What one run of a batch counts. Of 64 Ki mixed sizes: 4 cycles a call fewer than the runner-up's,
 * and 30 branch misses a 1000 calls; instructions and lines are alike. */
static uint64_t of_run(uint64_t config, bool runner_up)
{
    switch (config) {
    case CYCLES:
        return CALLS * (runner_up ? 24u : 20u);
    case INSTRUCTIONS:
        return CALLS * 30u;
    case BRANCHES:
        return CALLS * (runner_up ? 80u : 50u) / 1000;
    default:
        return CALLS;
    }
}

static ssize_t fake_read(int fd, void *buf, size_t size)
{
    bool runner_up = counter[fd].reads / 2 % 2, after = counter[fd].reads++ % 2;

    if (after) {
        counter[fd].value += of_run(counter[fd].config, runner_up);
        counter[fd].time += 1000;
    }
    uint64_t s[3] = {counter[fd].value, counter[fd].time,
                     counter[fd].config == L2 ? counter[fd].time / 2 : counter[fd].time};
    memcpy(buf, s, size);
    return (ssize_t)size;
}

static int no_pmu(struct perf_event_attr *attr, int cpu)
{
    errno = ENOENT;
    return -1;
}

/* The main job in this process; what it prints is the folder's `summary`. */
static int tune(void)
{
    char *argv[] = {"ucopy-tune", "--quick", "--budget", "100ms",         "--consumer", "none",
                    "-q",         "-o",      dir,        "--environment", "kernel",     NULL};
    char path[100];

    snprintf(path, sizeof(path), "%s/summary", dir);
    fflush(stdout);
    int kept = dup(1), out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(kept >= 0 && out >= 0);
    dup2(out, 1);
    int rc = uc_command_tune.run(11, argv);
    fflush(stdout);
    dup2(kept, 1);
    close(kept);
    close(out);
    return rc;
}

/* entries.<entry>.counters of the profile that was written; NULL: it has none. */
static json_t *counters_of(const char *entry)
{
    char *name = only(".json"), path[300];
    json_t *p, *c = NULL;

    assert_non_null(name);
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    p = json_load_file(path, 0, NULL);
    assert_int_equal(json_unpack(p, "{s:{s:{s?O}}}", "entries", entry, "counters", &c), 0);
    json_decref(p);
    free(name);
    return c;
}

/* The summary with its lines joined again where it broke them. */
static char *joined_summary(void)
{
    char *text = slurp("summary"), *to = text;

    for (const char *from = text; *from;)
        if (strncmp(from, "\n      ", 7))
            *to++ = *from++;
        else
            *to++ = ' ', from += 7;
    *to = 0;
    return text;
}

static double number_of(const json_t *row, const char *event, size_t i)
{
    const json_t *counts = json_object_get(json_object_get(row, "counts"), event);
    return json_number_value(json_array_get(counts, i));
}

/* Mixed sizes are 64 Ki calls, of which each number is known; single ones are fewer calls, and the
 * two copies differ as much. */
static void is_what_was_counted(const json_t *row)
{
    const json_t *sizes = json_object_get(row, "sizes");
    const char *text = json_string_value(json_object_get(row, "text"));
    char wanted[256];

    assert_true(fabs(number_of(row, "cycles", 1) / number_of(row, "cycles", 0) - 1.2) < .001);
    assert_true(
        fabs(number_of(row, "branch misses", 1) / number_of(row, "branch misses", 0) - 1.6) < .001);
    assert_non_null(strstr(text, "; fewer: "));
    assert_non_null(strstr(text, "; no difference in instructions, L1D misses; not counted: L2 "
                                 "misses (multiplexed: "));
    if (json_equal(json_array_get(sizes, 0), json_array_get(sizes, 1)))
        return;
    snprintf(wanted, sizeof(wanted),
             "20.0 cycles a call, %s 24.0; fewer: 30.0 branch misses a 1000 calls; ",
             json_string_value(json_object_get(row, "runner_up")));
    assert_int_equal(strncmp(text, wanted, strlen(wanted)), 0);
}

/* Every explanation of the profile stands in the summary; returns how many. */
static size_t told_of(const char *entry)
{
    json_t *c = counters_of(entry), *row;
    char *summary = joined_summary();
    size_t i, rows = 0;

    assert_string_equal(json_string_value(json_object_get(c, "pmu")), "skl");
    json_array_foreach(json_object_get(c, "segments"), i, row)
    {
        const char *text = json_string_value(json_object_get(row, "text"));
        if (!strstr(summary, text))
            fail_msg("the summary lacks \"%s\":\n%s", text, summary);
        is_what_was_counted(row);
        rows++;
    }
    free(summary);
    json_decref(c);
    return rows;
}

static void the_choices_are_explained(void **state)
{
    uc_perf_system.open = fake_open;
    uc_perf_system.read = fake_read;
    assert_int_equal(tune(), 0);
    assert_true(told_of("copy") + told_of("nocache") > 0);
}

static void without_a_pmu_the_reason_is_told(void **state)
{
    char why[256] = "";

    uc_perf_system.open = no_pmu;
    assert_int_equal(uc_count_possible(why, sizeof(why)), -ENOENT);
    if (strncmp(why, "CPU_CLK_UNHALTED:THREAD_P: No such file or directory: no PMU is exposed to",
                74))
        fail_msg("%s", why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_choices_are_explained, make_dir, remove_dir),
        cmocka_unit_test(without_a_pmu_the_reason_is_told),
    };
    setenv("LIBPFM_FORCE_PMU", "skl", 1);
    setenv("CC", "/nowhere/cc", 1); /* whole copies are not what this is about */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
