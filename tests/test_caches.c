/* Cache sizes: the rules by which one of four sources is taken, the files under /sys, and the steps
 * of a latency curve, on curves with a known answer. Nothing here depends on this machine's caches.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rng.h"
#include "machine/caches.h"

#define K ((size_t)1 << 10)
#define M ((size_t)1 << 20)

/* ---- choice ---- */

struct choice {
    const char *name;
    size_t by[UC_CACHE_SOURCES]; /* libcpuid, hwloc, sysfs, measured */
    size_t l2;
    enum uc_cache_source source;
    bool disagree;
};

static const struct choice choices[] = {
    {"all agree", {M, M, M, M}, M, UC_BY_CPUID, false},
    {"measured a little less", {2 * M, 2 * M, 2 * M, M + M / 4}, 2 * M, UC_BY_CPUID, false},
    {"measured half", {2 * M, 2 * M, 2 * M, M}, M, UC_BY_CHASE, true},
    {"measured much less: a guest's slice",
     {508 * M, 0, 508 * M, 24 * M},
     24 * M,
     UC_BY_CHASE,
     true},
    {"libcpuid knows nothing", {0, M, M, 0}, M, UC_BY_HWLOC, false},
    {"only the OS knows", {0, 0, M, 0}, M, UC_BY_SYSFS, false},
    {"only the chase knows", {0, 0, 0, M}, M, UC_BY_CHASE, false},
    {"the told contradict, measured decides", {M, 0, 4 * M, 2 * M}, 2 * M, UC_BY_CHASE, true},
    {"the told contradict, nothing measured", {M, 0, 4 * M, 0}, 256 * K, UC_BY_FALLBACK, true},
    {"nobody knows", {0, 0, 0, 0}, 256 * K, UC_BY_FALLBACK, false},
};

static void test_choice(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
        const struct choice *c = &choices[i];
        struct uc_caches caches = {0};
        memcpy(caches.l2.by, c->by, sizeof(c->by));
        uc_caches_choose(&caches);
        if (caches.l2.bytes != c->l2 || caches.l2.source != c->source ||
            caches.l2.disagree != c->disagree)
            fail_msg("%s: %zu by %s%s", c->name, caches.l2.bytes,
                     uc_cache_source_name[caches.l2.source],
                     caches.l2.disagree ? ", disagree" : "");
    }
}

static void test_assumed(void **state)
{
    struct uc_caches c = {0};

    (void)state;
    uc_caches_choose(&c);
    assert_int_equal(c.l1d.bytes, 32 * K);
    assert_int_equal(c.l2.bytes, 256 * K);
    assert_int_equal(c.l3.bytes, 0);
    assert_string_equal(uc_cache_source_name[c.l3.source], "assumed");
}

/* ---- /sys ---- */

static char root[64];

static void put(const char *index, const char *name, const char *text)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof(path), "%s/cpu3", root);
    mkdir(path, 0700);
    snprintf(path, sizeof(path), "%s/cpu3/cache", root);
    mkdir(path, 0700);
    snprintf(path, sizeof(path), "%s/cpu3/cache/%s", root, index);
    mkdir(path, 0700);
    snprintf(path, sizeof(path), "%s/cpu3/cache/%s/%s", root, index, name);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void put_index(const char *index, const char *level, const char *type, const char *size)
{
    put(index, "level", level);
    put(index, "type", type);
    put(index, "size", size);
    put(index, "coherency_line_size", "128\n");
}

static int make_root(void **state)
{
    (void)state;
    strcpy(root, "/tmp/ucopy-caches-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof(command), "rm -r %s", root);
    return system(command);
}

static void test_sysfs(void **state)
{
    size_t level[3], line;

    (void)state;
    put_index("index0", "1\n", "Data\n", "48K\n");
    put_index("index1", "1\n", "Instruction\n", "32K\n");
    put_index("index2", "2\n", "Unified\n", "2048K\n");
    put_index("index3", "3\n", "Unified\n", "266240K\n");
    put_index("index4", "4\n", "Unified\n", "1048576K\n");
    uc_caches_sysfs(root, 3, level, &line);
    assert_int_equal(level[0], 48 * K);
    assert_int_equal(level[1], 2 * M);
    assert_int_equal(level[2], 260 * M);
    assert_int_equal(line, 128);
}

static void test_sysfs_odd(void **state)
{
    static const char *const odd[] = {"0K\n", "-1\n",  "-1K\n",  "",
                                      "\n",   "big\n", "48KB\n", "99999999999999999999K\n"};
    size_t level[3], line;

    (void)state;
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        put_index("index0", "1\n", "Data\n", odd[i]);
        uc_caches_sysfs(root, 3, level, &line);
        if (level[0] || level[1] || level[2])
            fail_msg("size \"%s\" is taken for %zu bytes", odd[i], level[0]);
    }
    put_index("index0", "-1\n", "Data\n", "48K\n");
    uc_caches_sysfs(root, 3, level, &line);
    assert_int_equal(level[0] + level[1] + level[2] + line, 0);
}

static void test_sysfs_absent(void **state)
{
    size_t level[3] = {1, 1, 1}, line = 1;

    (void)state;
    uc_caches_sysfs("/nonexistent", 0, level, &line);
    assert_int_equal(level[0] + level[1] + level[2] + line, 0);
}

static void test_read_line(void **state)
{
    struct uc_caches c;
    struct uc_cpu cpu = {.l1d = 32 * K, .l2 = M, .line = 128};

    (void)state;
    uc_caches_read(&c, &cpu, NULL, 0);
    assert_int_equal(c.l1d.by[UC_BY_CPUID], 32 * K);
    assert_int_equal(c.l2.by[UC_BY_CPUID], M);
    assert_int_equal(c.l3.by[UC_BY_CPUID], 0);
    assert_int_equal(c.l1d.by[UC_BY_HWLOC], 0);
    assert_int_equal(c.l1d.by[UC_BY_CHASE], 0);
    assert_int_equal(c.line, 128);
    cpu.line = 0;
    uc_caches_read(&c, &cpu, NULL, 1 << 20); /* no such PU: nothing under /sys */
    assert_int_equal(c.line, 64);
    assert_int_equal(c.l1d.by[UC_BY_SYSFS], 0);
}

/* ---- steps of a curve ---- */

struct curve {
    const char *name;
    double noise;   /* relative, uniform to both sides */
    bool sharp;     /* beyond its size a cache serves nothing, else what fits of it */
    double spikes;  /* chance of a point three times too slow, two calm ones between */
    size_t to;      /* largest footprint */
    size_t size[3]; /* 0: no such cache */
    double cost[4]; /* of the three and of memory */
    size_t want[3];
};

static const struct curve curves[] = {
    {"sharp", 0, true, 0, 256 * M, {32 * K, M, 32 * M}, {4, 14, 45, 250}, {32 * K, M, 32 * M}},
    {"48 KiB, 2 MiB",
     0,
     true,
     0,
     256 * M,
     {48 * K, 2 * M, 28 * M},
     {5, 15, 70, 300},
     {48 * K, 2 * M, 28 * M}},
    {"1.25 MiB",
     0,
     true,
     0,
     256 * M,
     {48 * K, 1280 * K, 24 * M},
     {5, 15, 70, 300},
     {48 * K, 1280 * K, 24 * M}},
    {"3 % noise",
     .03,
     true,
     0,
     256 * M,
     {32 * K, 512 * K, 16 * M},
     {4, 12, 40, 300},
     {32 * K, 512 * K, 16 * M}},
    {"10 % noise",
     .1,
     true,
     0,
     256 * M,
     {32 * K, M, 16 * M},
     {4, 14, 50, 300},
     {32 * K, M, 16 * M}},
    {"gradual",
     .03,
     false,
     0,
     256 * M,
     {32 * K, 512 * K, 16 * M},
     {4, 12, 40, 300},
     {32 * K, 512 * K, 16 * M}},
    {"spikes", .03, true, .2, 256 * M, {32 * K, M, 32 * M}, {4, 14, 45, 250}, {32 * K, M, 32 * M}},
    {"no L3", .03, true, 0, 256 * M, {32 * K, M, 0}, {4, 14, 0, 200}, {32 * K, M, 0}},
    {"one level", .03, true, 0, 256 * M, {0, 0, 0}, {0, 0, 0, 5}, {0, 0, 0}},
    {"stops within L3",
     .03,
     true,
     0,
     16 * M,
     {32 * K, M, 64 * M},
     {4, 14, 45, 250},
     {32 * K, M, 0}},
    {"stops within L2", .03, true, 0, M, {32 * K, 4 * M, 64 * M}, {4, 14, 45, 250}, {32 * K, 0, 0}},
    {"stops on the way to memory",
     0,
     false,
     0,
     56 * M,
     {32 * K, M, 32 * M},
     {4, 14, 45, 1000},
     {32 * K, M, 0}},
};

static double model(const struct curve *c, size_t bytes)
{
    double left = 1, cost = 0;

    for (int i = 0; i < 3; i++) {
        double fits = !c->size[i]           ? 0
                      : bytes <= c->size[i] ? 1
                      : c->sharp            ? 0
                                            : (double)c->size[i] / (double)bytes;
        double served = fmax(fits - (1 - left), 0);
        cost += served * c->cost[i];
        left -= served;
    }
    return cost + left * c->cost[3];
}

static size_t draw(const struct curve *c, struct uc_rng *rng, size_t *bytes, double *cost)
{
    size_t n = 0, calm = 0;

    for (size_t f = 4 * K; f <= c->to; n++, calm++) {
        bytes[n] = f;
        cost[n] = model(c, f) * (1 + c->noise * (2 * uc_rng_unit(rng) - 1));
        if (calm > 2 && uc_rng_unit(rng) < c->spikes) {
            cost[n] *= 3;
            calm = 0;
        }
        f += ((size_t)1 << (63 - __builtin_clzll(f))) / 4;
    }
    return n;
}

/* Exact where the curve is; within a half where it rises gradually or a spike hides the step
 * itself. */
static bool near(const struct curve *c, size_t got, size_t want)
{
    size_t quarters = c->sharp && !c->spikes ? 4 : 6;

    return got * 4 <= want * quarters && want * 4 <= got * quarters;
}

static void test_steps(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(curves) / sizeof(curves[0]); i++)
        for (uint64_t seed = 1; seed <= 200; seed++) {
            const struct curve *c = &curves[i];
            struct uc_rng rng = {seed};
            size_t bytes[128], step[3], n;
            double cost[128];
            n = draw(c, &rng, bytes, cost);
            uc_caches_steps(bytes, cost, n, step);
            for (int k = 0; k < 3; k++)
                if (!near(c, step[k], c->want[k]))
                    fail_msg("%s, seed %u: level %d ends at %zu, not %zu", c->name, (unsigned)seed,
                             k + 1, step[k], c->want[k]);
        }
}

static void test_steps_short(void **state)
{
    size_t bytes[200], step[3] = {1, 1, 1};
    double cost[200];

    (void)state;
    for (size_t i = 0; i < 200; i++) {
        bytes[i] = (i + 1) * K;
        cost[i] = i < 100 ? 4 : 400;
    }
    for (size_t n = 0; n < 6; n++) {
        uc_caches_steps(bytes + 98, cost + 98, n, step);
        assert_int_equal(step[0] + step[1] + step[2], 0);
    }
    uc_caches_steps(bytes, cost, 200, step);
    assert_int_equal(step[0] + step[1] + step[2], 0);
    uc_caches_steps(bytes, cost, 128, step);
    assert_int_equal(step[0], 100 * K);
}

/* ---- the chase itself: its answers are possible ones ---- */

static void test_measure(void **state)
{
    struct uc_caches c = {0};
    const struct uc_cache *cache[3] = {&c.l1d, &c.l2, &c.l3};
    size_t below = 0;

    (void)state;
    assert_int_equal(uc_caches_measure(&c, 8 * M), 0);
    for (int i = 0; i < 3; i++) {
        size_t got = cache[i]->by[UC_BY_CHASE];
        if (got && (got <= below || got > 8 * M || got % 64))
            fail_msg("level %d: %zu bytes after %zu", i + 1, got, below);
        below = got ? got : below;
        assert_int_equal(cache[i]->by[UC_BY_CPUID], 0);
    }
}

static int measure_without_memory(void)
{
    const struct rlimit none = {1, 1};
    struct uc_caches c = {0};

    if (setrlimit(RLIMIT_AS, &none))
        return 1;
    return uc_caches_measure(&c, 8 * M) != -ENOMEM;
}

static void test_no_memory(void **state)
{
    int status;
    pid_t child = fork();

    (void)state;
    if (!child)
        _exit(measure_without_memory());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_assumed),
        cmocka_unit_test_setup_teardown(test_sysfs, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_sysfs_odd, make_root, remove_root),
        cmocka_unit_test(test_sysfs_absent),
        cmocka_unit_test(test_read_line),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_steps_short),
        cmocka_unit_test(test_measure),
        cmocka_unit_test(test_no_memory),
    };

    return cmocka_run_group_tests_name("caches", tests, NULL, NULL);
}
