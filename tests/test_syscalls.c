/* `syscalls`: bytes are really moved, files removed, samples well-formed, refusals told by name,
 * and every system call's failure handled. Nothing here looks at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>

#include <jansson.h>

#include "measure/samples.h"
#include "measure/sweep.h"
#include "profile/profile.h"
#include "syscalls/sys.h"
#include "syscalls/syscalls.h"
#include "tests/program.h"

/* ---- a hook that fails one call ---- */

static struct {
    const char *call; /* NULL: none */
    int error;
    unsigned skip;  /* calls of that name that are let through first */
    unsigned times; /* that fail */
    size_t most;    /* bytes that a call of that name moves; 0: all */
    unsigned seen;
} inject;

static void (*look)(const char *call); /* at every call; NULL: nobody */

static int hook(const char *call, size_t *bytes)
{
    if (look)
        look(call);
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

static void fail_call(const char *call, int error, unsigned skip, unsigned times)
{
    memset(&inject, 0, sizeof(inject));
    inject.call = call;
    inject.error = error;
    inject.skip = skip;
    inject.times = times;
    uc_sys_hook = hook;
}

static int no_hook(void **state)
{
    uc_sys_hook = NULL;
    look = NULL;
    uc_interrupted = 0;
    return 0;
}

/* ---- a run without a session ---- */

static struct uc_clock clock_1ghz = {.tsc_hz = 1e9};
static struct uc_caches caches;

/* This thread on the CPU it is on, and a fresh folder in the test's own. */
static struct uc_sys_run make_run(char **folder)
{
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

static void end_run(char *folder)
{
    assert_int_equal(uc_sys_folder_remove(folder), 0);
    assert_int_not_equal(access(folder, F_OK), 0);
    free(folder);
}

static const struct uc_sys_experiment *experiment(const char *name)
{
    for (size_t i = 0; i < uc_sys_experiment_count; i++)
        if (!strcmp(uc_sys_experiments[i]->name, name))
            return uc_sys_experiments[i];
    fail_msg("no experiment %s", name);
    return NULL;
}

static bool skipped(const struct uc_sys_result *r, const char *what, const char *why)
{
    for (size_t i = 0; i < r->skips; i++)
        if (strstr(r->skip[i].what, what) && strstr(r->skip[i].why, why))
            return true;
    return false;
}

static size_t measured(const struct uc_sys_result *r, const char *series, const char *name)
{
    size_t n = 0;

    for (size_t i = 0; i < r->rows; i++)
        n += r->row[i].n && !strcmp(r->row[i].series, series) &&
             (!name || !strcmp(r->row[i].name, name));
    return n;
}

/* ---- the layer ---- */

static void short_and_interrupted_calls_go_on(void **state)
{
    char out[1000], in[1000] = "";
    int fd = uc_sys_memfd();

    assert_true(fd >= 0);
    for (size_t i = 0; i < sizeof(out); i++)
        out[i] = (char)(i * 7);
    fail_call("write", EINTR, 2, 1);
    inject.most = 300;
    assert_int_equal(uc_sys_write_all(fd, out, sizeof(out)), 0);
    assert_int_equal(inject.seen, 5);
    assert_int_equal(uc_sys_lseek(fd, 0, SEEK_SET), 0);
    fail_call("read", EINTR, 1, 1);
    inject.most = 400;
    assert_int_equal(uc_sys_read_all(fd, in, sizeof(in)), 0);
    assert_int_equal(inject.seen, 4);
    assert_memory_equal(in, out, sizeof(in));
    assert_int_equal(uc_sys_read_all(fd, in, 1), -ENODATA);
    assert_int_equal(uc_sys_close(fd), 0);
}

static void failures_end_and_are_named(void **state)
{
    int fd = uc_sys_memfd();

    fail_call("write", ENOSPC, 1, 1);
    inject.most = 10;
    assert_int_equal(uc_sys_write_all(fd, "twenty bytes of data", 20), -ENOSPC);
    assert_string_equal(uc_sys_failed_call(), "write");
    assert_int_equal(uc_sys_lseek(fd, 0, SEEK_CUR), 10);
    uc_interrupted = 1;
    fail_call("read", EINTR, 0, 1);
    char byte;
    assert_int_equal(uc_sys_read_all(fd, &byte, 1), -EINTR);
    uc_sys_close(fd);
}

static void a_folder_goes_with_its_files(void **state)
{
    char *folder;
    struct uc_sys_run run = make_run(&folder);
    int fd = uc_sys_create(&run, "file", 0);

    assert_true(fd >= 0);
    assert_int_equal(uc_sys_create(&run, "file", 0), -EEXIST);
    uc_sys_close(fd);
    fail_call("unlink", EACCES, 0, 1);
    assert_int_equal(uc_sys_folder_remove(folder), -EACCES);
    end_run(folder);
    fail_call("mkdtemp", ENOSPC, 0, 1);
    assert_int_equal(uc_sys_folder_make(dir, &folder), -ENOSPC);
    assert_null(folder);
}

/* ---- results and rounds ---- */

static void only_samples_are_samples(void **state)
{
    struct uc_sys_result r = {0};
    int row = uc_sys_row(&r, "series", "ns", 64, "name");

    assert_int_equal(row, 0);
    assert_int_equal(uc_sys_sample(&r, 0, 0), -ERANGE);
    assert_int_equal(uc_sys_sample(&r, 0, -1), -ERANGE);
    assert_int_equal(uc_sys_sample(&r, 0, NAN), -ERANGE);
    assert_int_equal(uc_sys_sample(&r, 0, INFINITY), -ERANGE);
    for (int i = 0; i < UC_SYS_SAMPLES; i++)
        assert_int_equal(uc_sys_sample(&r, 0, 1), 0);
    assert_int_equal(uc_sys_sample(&r, 0, 1), -ENOSPC);
    assert_int_equal(r.row[0].n, UC_SYS_SAMPLES);
    uc_sys_result_free(&r);
}

struct rounds {
    unsigned read[3], begun, ended;
    int error;     /* of row 1 */
    int signal_at; /* reading at which a signal comes; 0: never */
    unsigned reads;
};

static int begin(void *ctx)
{
    ((struct rounds *)ctx)->begun++;
    return 0;
}

static void end(void *ctx)
{
    ((struct rounds *)ctx)->ended++;
}

/* Row i takes 100 (i + 1) ns, and every third reading of it 50 more; row 2's second is disturbed.
 */
static int made_up(void *ctx, size_t i, double *ns)
{
    struct rounds *c = ctx;

    if ((int)++c->reads == c->signal_at)
        uc_interrupted = 1;
    if (i == 1 && c->error)
        return c->error;
    *ns = i == 2 && c->read[i] == 1 ? NAN : 100. * (double)(i + 1) + (c->read[i] % 3 ? 0 : 50);
    c->read[i]++;
    return 0;
}

static int run_made_up(struct uc_sys_result *r, struct rounds *c)
{
    struct uc_sys_rounds w = {.rows = 3,
                              .readings = 2,
                              .seconds = 1e-9,
                              .begin = begin,
                              .end = end,
                              .read = made_up,
                              .ctx = c};
    char *folder;
    struct uc_sys_run run = make_run(&folder);

    for (int i = 0; i < 3; i++)
        assert_int_equal(uc_sys_row(r, "series", "ns", 64, i == 1 ? "second" : "other"), i);
    int rc = uc_sys_rounds(&run, r, &w);
    end_run(folder);
    return rc;
}

static void a_round_gives_the_least_of_its_readings(void **state)
{
    struct uc_sys_result r = {0};
    struct rounds c = {.error = 0};

    assert_int_equal(run_made_up(&r, &c), 0);
    assert_int_equal(c.begun, UC_SYS_ROUNDS);
    assert_int_equal(c.ended, UC_SYS_ROUNDS);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(c.read[i], 2 * UC_SYS_ROUNDS);
        assert_int_equal(r.row[i].n, UC_SYS_ROUNDS);
        for (size_t k = i == 2; k < r.row[i].n; k++)
            assert_true(r.row[i].v[k] == 100. * (double)(i + 1));
    }
    assert_true(r.row[2].v[0] == 350); /* the other reading of this round was disturbed */
    assert_int_equal(uc_sys_compare(&r, 0, 1), 0);
    assert_int_equal(uc_sys_compared(&r, 0, 1)->c.verdict, UC_SECOND_LARGER);
    assert_null(uc_sys_compared(&r, 1, 0));
    uc_sys_result_free(&r);
}

static void a_refused_row_is_skipped_by_name(void **state)
{
    struct uc_sys_result r = {0};
    struct rounds c = {.error = -EOPNOTSUPP};

    assert_int_equal(run_made_up(&r, &c), 0);
    assert_int_equal(r.row[1].n, 0);
    assert_int_equal(r.row[0].n, UC_SYS_ROUNDS);
    assert_int_equal(r.skips, 1);
    assert_true(skipped(&r, "series second", strerror(EOPNOTSUPP)));
    assert_int_equal(uc_sys_compare(&r, 0, 1), 0);
    assert_int_equal(r.pairs, 0);
    uc_sys_result_free(&r);
}

static void rounds_end_on_failures_and_signals(void **state)
{
    struct uc_sys_result r = {0};
    struct rounds c = {.error = -EIO};

    assert_int_equal(run_made_up(&r, &c), -EIO);
    assert_int_equal(c.ended, 1);
    uc_sys_result_free(&r);
    c = (struct rounds){.signal_at = 8};
    assert_int_equal(run_made_up(&r, &c), -EINTR);
    assert_int_equal(c.reads, 8);
    assert_int_equal(c.begun, c.ended);
    uc_sys_result_free(&r);
}

/* ---- recorded samples ---- */

/* The published rows through the same comparison: cached copies moved more, the two rules of
 * streaming the same, with the sample that is out of line by a factor of ten in place. */
static void recorded_writes_are_told_apart(void **state)
{
    const char *source = getenv("UCOPY_SOURCE");
    struct uc_sys_result r = {0};
    struct uc_samples s;
    char path[512], why[128];
    unsigned line;

    if (!source)
        skip();
    snprintf(path, sizeof(path), "%s/tests/data/small-writes.csv", source);
    assert_int_equal(uc_samples_read(path, &s, &line, why, sizeof(why)), 0);
    for (size_t i = 0; i < s.rows; i++) {
        assert_int_equal(uc_sys_row(&r, "write", "kB/s", 256, s.row[i].name), i);
        for (size_t k = 0; k < s.row[i].n; k++)
            assert_int_equal(uc_sys_sample(&r, i, s.row[i].v[k]), 0);
    }
    assert_int_equal(uc_sys_compare(&r, 0, 1) | uc_sys_compare(&r, 0, 2), 0);
    assert_int_equal(uc_sys_compared(&r, 0, 2)->c.verdict, UC_SECOND_LARGER);
    assert_int_equal(uc_sys_compared(&r, 0, 1)->c.verdict, UC_SECOND_LARGER);
    assert_true(uc_sys_middle(&r, 1).mid == 307900);
    uc_samples_free(&s);
    uc_sys_result_free(&r);
}

/* ---- small writes ---- */

static int run_experiment(const char *name, struct uc_sys_result *r)
{
    char *folder;
    struct uc_sys_run run = make_run(&folder);
    int rc = experiment(name)->run(&run, r);

    end_run(folder);
    return rc;
}

static void well_formed(const struct uc_sys_result *r)
{
    for (size_t i = 0; i < r->rows; i++) {
        const struct uc_sys_row *row = &r->row[i];
        assert_true(*row->series && *row->name && row->unit && *row->unit);
        assert_false(strchr(row->series, ',') || strchr(row->name, ','));
        assert_true(row->n <= UC_SYS_SAMPLES);
        for (size_t k = 0; k < row->n; k++)
            assert_true(isfinite(row->v[k]) && row->v[k] > 0);
    }
}

static void small_writes_where_the_disk_is_full(void **state)
{
    struct uc_sys_result r = {0};

    /* tmpfs writes twice before the other file writes first */
    fail_call("write", ENOSPC, 4000 + 1999, 1);
    assert_int_equal(run_experiment("small_writes", &r), 0);
    if (skipped(&r, "disk", "--dir"))
        print_message("# the folder is on tmpfs: no disk to be full\n");
    else
        assert_true(skipped(&r, "write", "write: No space left on device"));
    assert_int_equal(measured(&r, "write", NULL), 1);
    assert_int_equal(measured(&r, "write", "tmpfs"), 1);
    assert_true(measured(&r, "replay into memory", "movnti") >= 10);
    well_formed(&r);
    uc_sys_result_free(&r);
}

static char seen[2 << 20];
static size_t seen_bytes, looks;

/* What the first file among this process's own whose name begins so holds. */
static void read_open_file(const char *begins)
{
    for (int fd = 3; fd < 64; fd++) {
        char link[64], name[256] = "";
        snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        if (readlink(link, name, sizeof(name) - 1) <= 0 || strncmp(name, begins, strlen(begins)))
            continue;
        ssize_t n = pread(fd, seen, sizeof(seen), 0);
        seen_bytes = n < 0 ? 0 : (size_t)n;
        looks++;
        return;
    }
}

/* At the end of each pass. */
static void look_at_records(const char *call)
{
    if (strcmp(call, "lseek") != 0)
        return;
    read_open_file("/memfd:ucopy-tune");
    assert_int_equal(seen_bytes, 512000);
    for (size_t i = 1; i < 2000; i++)
        assert_memory_equal(seen, seen + 256 * i, 256);
}

static void small_writes_write_every_record(void **state)
{
    struct uc_sys_result r = {0};
    char none[256] = "";

    looks = 0;
    fail_call("write", EINTR, 100, 1); /* one is interrupted, and all are short */
    inject.most = 200;
    look = look_at_records;
    assert_int_equal(run_experiment("small_writes", &r), 0);
    assert_true(looks > 10);
    assert_true(r.figures >= 2); /* shares of tmpfs, of the cached and of the streamed copy */
    for (size_t i = 0; i < r.figures; i++)
        assert_true(r.figure[i].value > 0 && r.figure[i].lo <= r.figure[i].hi);
    assert_true(memcmp(seen, none, 256) != 0);
    uc_sys_result_free(&r);
}

static void small_writes_end_on_errors(void **state)
{
    struct uc_sys_result r = {0};

    fail_call("write", EIO, 5000, 1);
    assert_int_equal(run_experiment("small_writes", &r), -EIO);
    assert_string_equal(uc_sys_failed_call(), "write");
    uc_sys_result_free(&r);
    fail_call("memfd_create", ENOSYS, 0, 1);
    assert_int_equal(run_experiment("small_writes", &r), 0);
    assert_true(skipped(&r, "write tmpfs", "memfd_create: Function not implemented"));
    uc_sys_result_free(&r);
    fail_call("open", EROFS, 0, 1);
    assert_int_equal(run_experiment("small_writes", &r), 0);
    assert_true(skipped(&r, "write to a file in the folder", "open: Read-only file system"));
    assert_int_equal(measured(&r, "write", "tmpfs"), 1);
    uc_sys_result_free(&r);
}

/* ---- short copies ---- */

static void look_at_pages(const char *call)
{
    if (!strcmp(call, "close"))
        read_open_file("/memfd:ucopy-tune");
}

/* The file was filled with bytes that count up by 7; pwritev put others into every page. */
static void short_copies_move_bytes_and_tell_every_length(void **state)
{
    struct uc_sys_result r = {0};
    size_t lengths = 0, slopes = 0;

    fail_call(NULL, 0, 0, 0);
    look = look_at_pages;
    assert_int_equal(run_experiment("short_copies", &r), 0);
    assert_int_equal(seen_bytes, 1 << 20);
    for (size_t page = 0; page < seen_bytes; page += 4096) {
        size_t same = 0;
        for (size_t i = 0; i < 4096; i++)
            same += seen[page + i] == (char)((page + i) * 7);
        assert_true(same < 256);
    }
    assert_int_equal(measured(&r, "replay", "unrolled"), 75);
    assert_int_equal(measured(&r, "preadv", "segments of a page"), 75);
    for (size_t i = 0; i < r.figures; i++) {
        lengths += r.figure[i].size != UC_SYS_NO_SIZE;
        slopes += strstr(r.figure[i].name, "slope") != NULL;
        assert_true(r.figure[i].lo <= r.figure[i].value && r.figure[i].value <= r.figure[i].hi);
    }
    assert_int_equal(lengths, 2 * 74);
    assert_int_equal(slopes, 2);
    assert_int_equal(r.pairs, 2 * 75);
    well_formed(&r);
    uc_sys_result_free(&r);
}

static void short_copies_go_on_without_the_calls(void **state)
{
    struct uc_sys_result r = {0};

    fail_call("preadv", EPERM, 0, UINT_MAX);
    assert_int_equal(run_experiment("short_copies", &r), 0);
    assert_true(skipped(&r, "preadv segments", "preadv: Operation not permitted"));
    assert_int_equal(r.skips, 2);
    assert_int_equal(measured(&r, "preadv", NULL), 0);
    assert_int_equal(measured(&r, "pwritev", NULL), 2 * 75);
    assert_int_equal(measured(&r, "replay", NULL), 3 * 75);
    uc_sys_result_free(&r);
    fail_call("write", ENOSPC, 0, 1);
    assert_int_equal(run_experiment("short_copies", &r), 0);
    assert_true(skipped(&r, "preadv and pwritev", "write: No space left on device"));
    uc_sys_result_free(&r);
    fail_call("pwritev", EIO, 500, 1);
    assert_int_equal(run_experiment("short_copies", &r), -EIO);
    uc_sys_result_free(&r);
}

/* A part of the bytes is no reading, and neither is an interrupted call. */
static void short_calls_are_no_readings(void **state)
{
    struct uc_sys_result r = {0};

    fail_call("preadv", EINTR, 7, 1);
    inject.most = 100;
    assert_int_equal(run_experiment("short_copies", &r), 0);
    for (size_t i = 0; i < r.rows; i++)
        if (!strcmp(r.row[i].series, "preadv") && !strcmp(r.row[i].name, "segments"))
            assert_int_equal(r.row[i].n != 0, r.row[i].size >= 16384); /* 64 and 16 segments */
    assert_true(skipped(&r, "preadv", "no whole reading"));
    uc_sys_result_free(&r);
}

/* ---- small records ---- */

static void assert_records(size_t aio, size_t uring)
{
    struct uc_sys_result r = {0};

    assert_int_equal(run_experiment("small_records", &r), 0);
    assert_int_equal(measured(&r, "operation", "aio"), aio);
    assert_int_equal(measured(&r, "operation", "io_uring"), uring);
    assert_int_equal(measured(&r, "replay", "no copy"), 1);
    assert_true(measured(&r, "replay", NULL) >= 6);
    well_formed(&r);
    uc_sys_result_free(&r);
}

static bool allowed(const char *name)
{
    struct uc_sys_result r = {0};

    assert_int_equal(run_experiment("small_records", &r), 0);
    bool ok = measured(&r, "operation", name);
    uc_sys_result_free(&r);
    return ok;
}

/* The experiment itself looks at what arrived, and fails where that is not what the file holds. */
static void small_records_arrive_by_short_and_interrupted_calls(void **state)
{
    bool aio = allowed("aio"), uring = allowed("io_uring");
    static const char *const call[] = {"io_submit", "io_getevents", "io_uring_enter"};

    for (size_t i = 0; i < sizeof(call) / sizeof(call[0]); i++) {
        fail_call(call[i], EINTR, 3, 2);
        inject.most = 100;
        assert_records(aio, uring);
        assert_true(inject.seen > 3 || !(i < 2 ? aio : uring));
    }
    if (!aio)
        print_message("# aio is not allowed here\n");
    if (!uring)
        print_message("# io_uring is not allowed here\n");
}

static void small_records_go_on_without_the_calls(void **state)
{
    bool aio = allowed("aio"), uring = allowed("io_uring");

    fail_call("io_setup", ENOSYS, 0, 1);
    assert_records(0, uring);
    fail_call("mmap", EPERM, 0, 1);
    assert_records(aio, 0);
}

static void small_records_end_on_errors(void **state)
{
    struct uc_sys_result r = {0};

    if (!allowed("aio"))
        skip();
    fail_call("io_submit", EIO, 20, 1);
    assert_int_equal(run_experiment("small_records", &r), -EIO);
    uc_sys_result_free(&r);
    fail_call("io_setup", EPERM, 0, 1);
    assert_int_equal(run_experiment("small_records", &r), 0);
    assert_true(skipped(&r, "aio", "io_setup: Operation not permitted"));
    for (size_t i = 0; i < r.figures; i++)
        assert_null(strstr(r.figure[i].name, "of an aio operation"));
    uc_sys_result_free(&r);
}

/* ---- into a profile ---- */

static void results_go_into_a_profile_and_nothing_else_changes(void **state)
{
    const char *source = getenv("UCOPY_SOURCE");
    char path[200], why[256];
    struct uc_profile p;

    if (!source)
        skip();
    assert_int_equal(sh("cp %s/profiles/amd-19-01.json given.json; cp given.json before", source),
                     0);
    snprintf(path, sizeof(path), "%s/given.json", dir);
    json_t *value = json_pack("{sf}", "made_up", 1.5);
    assert_int_equal(uc_profile_put_syscalls(path, value), 0);
    json_decref(value);
    assert_int_equal(sh("diff before given.json | grep '^>'"), 0);
    assert_int_equal(lines("out"), 1);
    assert_holds("out", "made_up");
    assert_int_equal(uc_profile_read(path, &p, why, sizeof(why)), 0);
    assert_false(p.digest_differs);
    assert_true(json_real_value(json_object_get(p.syscalls, "made_up")) == 1.5);
    uc_profile_free(&p);
    value = json_null();
    assert_int_equal(uc_profile_put_syscalls(path, value), 0);
    assert_int_equal(sh("cmp before given.json"), 0);
    assert_int_equal(sh("echo '{' >given.json"), 0);
    assert_int_equal(uc_profile_put_syscalls(path, value), -EINVAL);
    assert_int_equal(lines("given.json"), 1);
}

/* ---- the program ---- */

#define RUN "$UCOPY_TUNE syscalls --only small_records --budget 20ms --dir here "

/* A profile of this CPU: a committed one with this CPU's identity in it. */
static void make_own_profile(const char *name)
{
    char path[200];

    assert_int_equal(sh("$UCOPY_TUNE info --format json"), 0);
    snprintf(path, sizeof(path), "%s/out", dir);
    json_t *info = json_load_file(path, 0, NULL);
    snprintf(path, sizeof(path), "%s/profiles/amd-19-01.json", getenv("UCOPY_SOURCE"));
    json_t *profile = json_load_file(path, 0, NULL);
    json_t *cpu = json_array_get(json_object_get(info, "cpus"), 0);
    assert_non_null(profile);
    assert_non_null(cpu);
    json_object_set(profile, "cpu", cpu);
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    assert_int_equal(json_dump_file(profile, path, 0), 0);
    json_decref(profile);
    json_decref(info);
}

static json_t *load(const char *name)
{
    char path[200];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    json_t *v = json_load_file(path, 0, NULL);
    assert_non_null(v);
    return v;
}

static void the_program_saves_what_it_measured(void **state)
{
    if (!getenv("UCOPY_SOURCE"))
        skip();
    make_own_profile("own.json");
    assert_int_equal(sh("mkdir here; cp own.json before; " RUN "--profile own.json --save"), 0);
    json_t *before = load("before"), *after = load("own.json");
    json_t *e =
        json_array_get(json_object_get(json_object_get(after, "syscalls"), "experiments"), 0);
    assert_string_equal(json_string_value(json_object_get(e, "name")), "small_records");
    assert_null(json_object_get(json_array_get(json_object_get(e, "rows"), 0), "samples"));
    json_object_set_new(after, "syscalls", json_null());
    assert_true(json_equal(before, after));
    json_decref(before);
    json_decref(after);
    assert_int_equal(sh("rmdir here && mkdir here"), 0); /* nothing was left in it */
}

static void foreign_profiles_are_refused(void **state)
{
    if (!getenv("UCOPY_SOURCE"))
        skip();
    assert_int_equal(sh("sed 's/\"model\": *[0-9]*/\"model\": 200/' own.json >other.json"), 0);
    assert_int_equal(sh(RUN "--profile other.json"), 3);
    assert_holds("err", "and this CPU is");
    assert_int_equal(sh(RUN "--save"), 2);
    assert_int_equal(sh(RUN "--profile absent.json"), 2);
    assert_int_equal(sh("$UCOPY_TUNE syscalls --dir absent"), 3);
    assert_holds("err", "absent: No such file or directory");
}

static void rows_are_what_stats_reads(void **state)
{
    assert_int_equal(sh(RUN "--format csv >rows.csv && $UCOPY_TUNE stats rows.csv"), 0);
    assert_holds("out", "small_records/replay/rep_movsb ns");
    assert_int_equal(sh(RUN "--format json"), 0);
    json_t *all = load("out");
    json_t *e = json_array_get(json_object_get(all, "experiments"), 0), *row;
    size_t i;

    json_array_foreach(json_object_get(e, "rows"), i, row)
    {
        json_t *samples = json_object_get(row, "samples");
        assert_int_equal(json_array_size(samples), json_integer_value(json_object_get(row, "n")));
        assert_true(json_number_value(json_array_get(samples, 0)) > 0);
    }
    assert_true(i >= 6);
    json_decref(all);
}

static void unknown_names_list_the_known(void **state)
{
    assert_int_equal(sh("$UCOPY_TUNE syscalls --only small"), 2);
    for (size_t i = 0; i < uc_sys_experiment_count; i++)
        assert_holds("err", uc_sys_experiments[i]->name);
}

/* Stopped while its files are there: none is left, and the exit code is the signal's. */
static void stopped(const char *signal, int code)
{
    assert_int_equal(
        sh("rm -rf here; mkdir here; $UCOPY_TUNE syscalls --only small_writes --budget 100s --dir here & "
           "p=$!; until ls here/*/small-writes 2>/dev/null || "
           "! kill -0 $p 2>/dev/null; do sleep .02; done; kill -%s $p; wait $p",
           signal),
        code);
    assert_holds("err", "interrupted");
    assert_int_equal(sh("rmdir here && mkdir here"), 0);
}

static void signals_leave_no_file(void **state)
{
    stopped("INT", 130);
    stopped("TERM", 143);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(short_and_interrupted_calls_go_on, no_hook),
        cmocka_unit_test_teardown(failures_end_and_are_named, no_hook),
        cmocka_unit_test_teardown(a_folder_goes_with_its_files, no_hook),
        cmocka_unit_test_teardown(only_samples_are_samples, no_hook),
        cmocka_unit_test_teardown(a_round_gives_the_least_of_its_readings, no_hook),
        cmocka_unit_test_teardown(a_refused_row_is_skipped_by_name, no_hook),
        cmocka_unit_test_teardown(rounds_end_on_failures_and_signals, no_hook),
        cmocka_unit_test_teardown(recorded_writes_are_told_apart, no_hook),
        cmocka_unit_test_teardown(small_writes_where_the_disk_is_full, no_hook),
        cmocka_unit_test_teardown(small_writes_write_every_record, no_hook),
        cmocka_unit_test_teardown(small_writes_end_on_errors, no_hook),
        cmocka_unit_test_teardown(short_copies_move_bytes_and_tell_every_length, no_hook),
        cmocka_unit_test_teardown(short_copies_go_on_without_the_calls, no_hook),
        cmocka_unit_test_teardown(short_calls_are_no_readings, no_hook),
        cmocka_unit_test_teardown(small_records_arrive_by_short_and_interrupted_calls, no_hook),
        cmocka_unit_test_teardown(small_records_go_on_without_the_calls, no_hook),
        cmocka_unit_test_teardown(small_records_end_on_errors, no_hook),
        cmocka_unit_test(results_go_into_a_profile_and_nothing_else_changes),
        cmocka_unit_test(the_program_saves_what_it_measured),
        cmocka_unit_test(foreign_profiles_are_refused),
        cmocka_unit_test(rows_are_what_stats_reads),
        cmocka_unit_test(unknown_names_list_the_known),
        cmocka_unit_test(signals_leave_no_file),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
