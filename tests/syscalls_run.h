/* Runs experiments of `syscalls` without a session, with a hook that fails one call. */
#ifndef TESTS_SYSCALLS_RUN_H
#define TESTS_SYSCALLS_RUN_H

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>

#include "measure/sweep.h"
#include "syscalls/sys.h"
#include "syscalls/syscalls.h"
#include "tests/program.h"

static struct {
    const char *call; /* NULL: none */
    int error;
    unsigned skip;  /* calls of that name that are let through first */
    unsigned times; /* that fail */
    size_t most;    /* bytes (segments, messages) that a call of that name moves; 0: all */
    unsigned seen;
} inject;

static int hook(const char *call, size_t *bytes)
{
    if (!inject.call || strcmp(call, inject.call) != 0)
        return 0;
    inject.seen++;
    if (inject.most && *bytes > inject.most)
        *bytes = inject.most;
    if (inject.skip) {
        inject.skip--;
        return 0;
    }
    if (!inject.times)
        return 0;
    inject.times--;
    return inject.error;
}

static inline void fail_call(const char *call, int error, unsigned skip, unsigned times)
{
    memset(&inject, 0, sizeof(inject));
    inject.call = call;
    inject.error = error;
    inject.skip = skip;
    inject.times = times;
    uc_sys_hook = hook;
}

static inline int no_hook(void **state)
{
    uc_sys_hook = NULL;
    uc_interrupted = 0;
    return 0;
}

static inline struct uc_sys_run make_run(char **folder)
{
    static const struct uc_clock clock_1ghz = {.tsc_hz = 1e9};
    static const struct uc_caches caches;
    struct uc_sys_run run = {.seconds = 1e-3,
                             .clock = &clock_1ghz,
                             .caches = &caches,
                             .pu = sched_getcpu(),
                             .other_pu = -1,
                             .rng = {1},
                             .name = "test"};
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(run.pu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    assert_int_equal(uc_sys_folder_make(dir, folder), 0);
    run.dir = *folder;
    return run;
}

static inline size_t open_files(void)
{
    size_t n = 0;

    for (int fd = 0; fd < 256; fd++) {
        char link[64], name[64];
        snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        n += readlink(link, name, sizeof(name)) > 0;
    }
    return n;
}

/* In a folder of its own; whatever comes back, it leaves neither a file nor a descriptor. */
static inline int run_experiment_for(const char *name, double seconds, struct uc_sys_result *r)
{
    size_t i = 0, before = open_files();
    char *folder;
    struct uc_sys_run run = make_run(&folder);

    while (i < uc_sys_experiment_count && strcmp(uc_sys_experiments[i]->name, name) != 0)
        i++;
    assert_true(i < uc_sys_experiment_count);
    run.seconds = seconds;
    int rc = uc_sys_experiments[i]->run(&run, r);
    assert_int_equal(uc_sys_folder_remove(folder), 0);
    assert_int_not_equal(access(folder, F_OK), 0);
    free(folder);
    assert_int_equal(open_files(), before);
    return rc;
}

static inline int run_experiment(const char *name, struct uc_sys_result *r)
{
    return run_experiment_for(name, 1e-3, r);
}

static inline bool skipped(const struct uc_sys_result *r, const char *what, const char *why)
{
    for (size_t i = 0; i < r->skips; i++)
        if (strstr(r->skip[i].what, what) && strstr(r->skip[i].why, why))
            return true;
    return false;
}

static inline bool noted(const struct uc_sys_result *r, const char *words)
{
    for (size_t i = 0; i < r->notes; i++)
        if (strstr(r->note[i], words))
            return true;
    return false;
}

/* Rows with samples; name NULL: all of the series. */
static inline size_t measured(const struct uc_sys_result *r, const char *series, const char *name)
{
    size_t n = 0;

    for (size_t i = 0; i < r->rows; i++)
        n += r->row[i].n && !strcmp(r->row[i].series, series) &&
             (!name || !strcmp(r->row[i].name, name));
    return n;
}

static inline void well_formed(const struct uc_sys_result *r)
{
    for (size_t i = 0; i < r->rows; i++) {
        const struct uc_sys_row *row = &r->row[i];
        assert_true(*row->series && *row->name && row->unit && *row->unit);
        assert_false(strchr(row->series, ',') || strchr(row->name, ','));
        assert_true(row->n <= UC_SYS_SAMPLES);
        for (size_t k = 0; k < row->n; k++)
            assert_true(isfinite(row->v[k]) && row->v[k] > 0);
    }
    for (size_t i = 0; i < r->figures; i++)
        assert_true(r->figure[i].lo <= r->figure[i].value && r->figure[i].value <= r->figure[i].hi);
}

#endif
