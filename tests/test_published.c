/* The program on the published tables: what `fit` and `stats` say of them, and how they refuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct said {
    int code;
    char text[1 << 16]; /* stdout and stderr together */
};

static struct said said;

/* Runs the program with these arguments; @ stands for the folder of the published tables. */
static const char *run(const char *arguments)
{
    char command[8192], file[4096];
    const char *program = getenv("UCOPY_TUNE"), *source = getenv("UCOPY_SOURCE");
    size_t used;

    if (!program || !source || access(program, X_OK)) {
        print_message("skipped: UCOPY_TUNE or UCOPY_SOURCE is not set, or not built\n");
        skip();
    }
    snprintf(file, sizeof(file), "%s/tests/data/", source);
    used = (size_t)snprintf(command, sizeof(command), "'%s' ", program);
    for (const char *p = arguments; *p; p++)
        used += (size_t)snprintf(command + used, sizeof(command) - used, *p == '@' ? "%s" : "%.1s",
                                 *p == '@' ? file : p);
    snprintf(command + used, sizeof(command) - used, " 2>&1");
    FILE *f = popen(command, "r");
    assert_non_null(f);
    said.text[fread(said.text, 1, sizeof(said.text) - 1, f)] = 0;
    int status = pclose(f);
    said.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return said.text;
}

static void says(const char *part)
{
    if (!strstr(said.text, part))
        fail_msg("does not say \"%s\":\n%s", part, said.text);
}

static json_t *json_said(void)
{
    json_error_t e;
    json_t *v = json_loads(said.text, 0, &e);

    if (!v)
        fail_msg("%s:\n%s", e.text, said.text);
    return v;
}

static void fit_short_copies(void **state)
{
    run("fit @short-copies.csv");
    assert_int_equal(said.code, 0);
    says("unrolled");
    says("not bracketed: measured to 64");
    says("no spread given");
    says("          64 unrolled                           38           51           13    +34.2 %");
    says("start-up and slope in ticks: cost = start-up + slope x size");
    says("# L1 32 KiB, L2 256 KiB, L3 unknown;");
    says("unrolled                   l1             32  ");
    says("64 from 1 to 64");
    says("l2, l3, memory: not measured (fewer than 3 sizes)");
}

static void fit_short_copies_as_json(void **state)
{
    const char *strategy, *runner_up;
    int bracketed, measured_to;
    json_t *max, *cpu;

    run("fit @short-copies.csv --format json");
    assert_int_equal(said.code, 0);
    json_t *v = json_said();
    assert_int_equal(json_unpack(v, "{s:o, s:{s:{s:[{s:s, s:s, s:b, s:i, s:o}]}}}", "cpu", &cpu,
                                 "entries", "copy", "segments", "strategy", &strategy, "runner_up",
                                 &runner_up, "bracketed", &bracketed, "measured_to", &measured_to,
                                 "max", &max),
                     0);
    assert_string_equal(strategy, "unrolled");
    assert_string_equal(runner_up, "rep_string");
    assert_true(!bracketed && measured_to == 64 && json_is_null(max) && json_is_null(cpu));
    json_decref(v);
}

/* The decision from a profile's own cells is that of the table. */
static void fit_of_its_own_json(void **state)
{
    char path[] = "/tmp/ucopy-fit-XXXXXX.json", arguments[128];
    static char first[sizeof(said.text)];

    run("fit @short-copies.csv --format json --key amd-1a-02");
    assert_int_equal(said.code, 0);
    says("\"key\": \"amd-1a-02\"");
    int fd = mkstemps(path, 5);
    assert_int_equal(write(fd, said.text, strlen(said.text)), strlen(said.text));
    close(fd);
    snprintf(first, sizeof(first), "%s", said.text);
    snprintf(arguments, sizeof(arguments), "fit %s --format json --key amd-1a-02", path);
    run(arguments);
    unlink(path);
    assert_int_equal(said.code, 0);
    assert_string_equal(said.text, first);
}

/* Lines without noise: what the table is made of is what is told, with the caches of the options.
 */
static void fit_tells_slopes(void **state)
{
    char path[] = "/tmp/ucopy-fit-XXXXXX.csv", arguments[128];
    double start, kib, gb, lo, hi;
    int l3_bytes, from, sizes;
    json_t *l1, *memory;
    int fd = mkstemps(path, 4);
    FILE *f = fdopen(fd, "w");

    fputs("strategy,size,ns,lo,hi\n", f);
    for (long n = 64; n <= 64l << 20; n *= 2) {
        double ns = n <= 1l << 20 ? 5 + .5 * (double)n : 1000 + 2 * (double)n;
        fprintf(f, "one,%ld,%.3f,%.3f,%.3f\n", n, ns, ns * .99, ns * 1.01);
    }
    fclose(f);
    snprintf(arguments, sizeof(arguments), "fit %s --l1d 64 --l2 64 --l3 4M --format json", path);
    run(arguments);
    assert_int_equal(said.code, 0);
    json_t *v = json_said();
    assert_int_equal(
        json_unpack(v, "{s:{s:i, s:{s:{s:o, s:{s:i, s:i, s:F, s:F, s:F, s:[F,F]}, s:o}}}}",
                    "slopes", "l3", &l3_bytes, "strategies", "one", "l1", &l1, "l3", "sizes",
                    &sizes, "from", &from, "start", &start, "per_kib", &kib, "gb_s", &gb,
                    "per_kib_interval", &lo, &hi, "memory", &memory),
        0);
    assert_int_equal(l3_bytes, 4 << 20);
    assert_true(json_is_null(l1));
    assert_int_equal(from, 64);
    assert_int_equal(sizes, 16); /* 64 to 2 MiB, of which the last is off the line */
    assert_true(start > 4.9 && start < 5.1 && kib > 510 && kib < 514 && gb > 1.99 && gb < 2.01);
    assert_true(lo < kib && kib < hi);
    assert_int_equal(json_unpack(memory, "{s:i, s:F}", "sizes", &sizes, "per_kib", &kib), 0);
    assert_true(sizes == 4 && kib > 2047 && kib < 2049);
    json_decref(v);
    snprintf(arguments, sizeof(arguments), "fit %s --l1d 64 --l2 64 --l3 4M", path);
    run(arguments);
    unlink(path);
    assert_int_equal(said.code, 0);
    says("one                        l3     ");
    says("16 from 64 to 2 MiB");
    says("l1, l2: not measured (fewer than 3 sizes)");
}

static void fit_emits(void **state)
{
    run("fit @short-copies.csv --format c");
    assert_int_equal(said.code, 0);
    says("UCOPY_UNNAMED_COPY_1_STRATEGY \"unrolled\"");
    run("fit @short-copies.csv --format asm");
    assert_int_equal(said.code, 0);
    says("_COPY_STREAMS 0");
}

static void fit_refuses(void **state)
{
    static const struct {
        const char *arguments;
        int code;
        const char *says;
    } bad[] = {
        {"fit", 2, "needs a table"},
        {"fit a b", 2, "one table at a time"},
        {"fit @nothing.csv", 2, "nothing.csv: No such file"},
        {"fit @cached-reads.csv", 2, "cached-reads.csv:3: no column strategy"},
        {"fit @short-copies.csv --format poem", 2, "--format"},
        {"fit @short-copies.csv --l1d much", 2, "--l1d: 'much'"},
        {"fit @short-copies.csv --l3 0", 2, "--l3: '0'"},
        {"fit @short-copies.csv --branch-cost -1", 2, "--branch-cost: '-1'"},
        {"fit @short-copies.csv --entry paste", 2, "--entry"},
        {"fit @short-copies.csv --entry nocache", 1, "no decision for nocache"},
        {"fit @short-copies.csv --consumer evict", 2, "--consumer evict"},
        {"fit @short-copies.csv --sizes-from @nothing", 2, "nothing"},
        {"fit @short-copies.csv --key what-is-this", 2, "--key what-is-this"},
        {"stats", 2, "needs a FILE"},
        {"stats @small-writes.csv --format poem", 2, "--format"},
        {"stats @nothing.csv", 2, "nothing.csv: No such file"},
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        run(bad[i].arguments);
        if (said.code != bad[i].code || !strstr(said.text, bad[i].says) ||
            strchr(said.text, '\n') != said.text + strlen(said.text) - 1)
            fail_msg("%s: exit code %d\n%s", bad[i].arguments, said.code, said.text);
    }
}

static void stats_small_writes(void **state)
{
    run("stats @small-writes.csv");
    assert_int_equal(said.code, 0);
    says("outlier sample_2 = 3106750");
    says("2.6.29-rc6 nocache from one page against 2.6.29-rc6 nocache at every size: larger");
    says("p = 0.032");
    says("covers with 96.8 %");
}

static void stats_cached_reads(void **state)
{
    run("stats @cached-reads.csv");
    assert_int_equal(said.code, 0);
    says("289.85");
    says("272.73");
    says("284.58");
    for (int i = 0; i < 2; i++) {
        const char *row = i ? "\nout-of-line copy" : "\ninlined copy";
        const char *at = strstr(said.text, row);
        assert_non_null(at);
        size_t n = strcspn(at + 1, "\n");
        assert_non_null(memmem(at, n + 1, "the first sample differs", 24));
    }
    assert_null(memmem(said.text, (size_t)(strstr(said.text, "\ninlined") - said.text),
                       "the first sample differs", 24));
}

static void stats_as_json(void **state)
{
    double mean, p;
    const char *shift, *verdict;

    run("stats @cached-reads.csv --format json");
    assert_int_equal(said.code, 0);
    json_t *v = json_said();
    json_t *row = json_array_get(json_object_get(v, "rows"), 1);
    json_t *pair = json_array_get(json_object_get(v, "comparisons"), 0);
    assert_int_equal(json_array_size(json_object_get(v, "comparisons")), 3);
    assert_int_equal(json_unpack(row, "{s:f, s:s}", "mean", &mean, "shift", &shift), 0);
    assert_int_equal(json_unpack(pair, "{s:f, s:s}", "p", &p, "verdict", &verdict), 0);
    assert_true(fabs(mean - 272.728) < 1e-9 && fabs(p - 2 / 252.) < 1e-9);
    assert_string_equal(shift, "first sample differs");
    assert_string_equal(verdict, "first larger");
    json_decref(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fit_short_copies),    cmocka_unit_test(fit_short_copies_as_json),
        cmocka_unit_test(fit_of_its_own_json), cmocka_unit_test(fit_tells_slopes),
        cmocka_unit_test(fit_emits),           cmocka_unit_test(fit_refuses),
        cmocka_unit_test(stats_small_writes),  cmocka_unit_test(stats_cached_reads),
        cmocka_unit_test(stats_as_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
