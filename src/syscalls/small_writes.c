/* Small writes: 256-byte write() calls, 2000 to a pass and back to the start of the file, on tmpfs
 * and on the file system at hand (the shape of the test published in 2009, when copies into the
 * page cache streamed at every size, then from one page on). Beside it the same bytes are copied in
 * user mode, cached and streaming, in pieces of 64 bytes to 64 KiB: below a page streaming loses,
 * and from some size it may pay. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "machine/buffers.h"
#include "syscalls/experiments.h"
#include "syscalls/sys.h"

#define PAGE 4096u
#define RECORD 256u
#define RECORDS 2000u
#define PASS ((size_t)RECORD * RECORDS) /* 125 pages */
#define READING_SECONDS .01             /* passes are repeated until a reading takes as long */
#define FILES 2
#define WRITES "write" /* the series */
#define PAIRS 2
#define LARGEST (64u * 1024)

/* ---- the calls themselves ---- */

struct files {
    const struct uc_sys_run *run;
    int fd[FILES];
    size_t row[FILES];
    unsigned passes[FILES];
    size_t n;
    char record[RECORD];
};

/* Short writes are told by the file's position, which is where the pass must have ended. */
static int write_pass(struct files *f, size_t i)
{
    for (unsigned k = 0; k < RECORDS; k++) {
        ssize_t put = uc_sys_write(f->fd[i], f->record, RECORD);
        if (put == (ssize_t)RECORD)
            continue;
        size_t done = put > 0 ? (size_t)put : 0;
        int rc = put < 0 && put != -EINTR
                     ? (int)put
                     : uc_sys_write_all(f->fd[i], f->record + done, RECORD - done);
        if (rc)
            return rc;
    }
    off_t back = uc_sys_lseek(f->fd[i], 0, SEEK_SET);
    return back < 0 ? (int)back : 0;
}

static int read_passes(void *ctx, size_t i, double *ns)
{
    struct files *f = ctx;
    uint64_t t = uc_ticks();
    int rc = 0;

    for (unsigned p = 0; p < f->passes[i] && !rc; p++)
        rc = write_pass(f, i);
    *ns = uc_sys_ns(f->run, uc_ticks() - t) / f->passes[i];
    return rc;
}

/* 1000 bytes are a kB. */
static double pass_rate(void *ctx, size_t i, double ns)
{
    return (double)PASS / ns * 1e6;
}

/* The first pass makes the file's pages; how long the second takes tells how many make a reading.
 */
static int count_passes(struct files *f, size_t i)
{
    double ns;

    f->passes[i] = 1;
    int rc = write_pass(f, i);
    if (!rc)
        rc = read_passes(f, i, &ns);
    if (rc)
        return rc;
    double passes = READING_SECONDS * 1e9 / (ns > 0 ? ns : 1);
    f->passes[i] = passes < 1 ? 1 : passes > 1000 ? 1000 : (unsigned)passes;
    return 0;
}

/* fd is the file's, or a negative errno. */
static int add_file(struct files *f, struct uc_sys_result *r, int fd, const char *what)
{
    char name[24];
    int rc = fd;

    if (fd >= 0) {
        f->fd[f->n] = fd;
        rc = count_passes(f, f->n);
        if (!rc)
            rc = uc_sys_row(r, WRITES, "kB/s", RECORD, uc_sys_file_system(fd, name));
        if (rc >= 0) {
            f->row[f->n++] = (size_t)rc;
            return 0;
        }
        uc_sys_close(fd);
    }
    return uc_sys_refused(rc) ? uc_sys_skip(r, rc, NULL, "write %s", what) : rc;
}

static int add_disk(struct files *f, struct uc_sys_run *run, struct uc_sys_result *r)
{
    char name[24];
    int fd = uc_sys_create(run, "small-writes", 0);

    if (fd < 0 || strcmp(uc_sys_file_system(fd, name), "tmpfs") != 0)
        return add_file(f, r, fd, "to a file in the folder");
    uc_sys_close(fd);
    return uc_sys_skip(r, 0, "the folder lies on tmpfs; --dir names another", "write to a disk");
}

static int time_writes(struct uc_sys_run *run, struct uc_sys_result *r, struct files *f)
{
    struct uc_sys_rounds w = {.readings = 3,
                              .seconds = .4 * run->seconds,
                              .read = read_passes,
                              .value = pass_rate,
                              .ctx = f};
    int rc = add_file(f, r, uc_sys_memfd(), "tmpfs");

    if (!rc)
        rc = add_disk(f, run, r);
    w.first = f->n ? f->row[0] : 0;
    w.rows = f->n;
    if (!rc && f->n)
        rc = uc_sys_rounds(run, r, &w);
    if (!rc && f->n == FILES)
        rc = uc_sys_compare(r, f->row[0], f->row[1]);
    return rc;
}

static int writes(struct uc_sys_run *run, struct uc_sys_result *r)
{
    struct files f = {.run = run};

    for (unsigned i = 0; i < RECORD; i++)
        f.record[i] = (char)uc_rng_next(&run->rng);
    int rc = time_writes(run, r, &f);
    for (size_t i = 0; i < f.n; i++)
        uc_sys_close(f.fd[i]);
    return rc;
}

/* ---- the replay ---- */

static const size_t sizes[] = {64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 65536};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

enum { CACHED, STREAMED, FORMS };
enum { AGAIN, FLUSHED, STATES };

static const char *const series[STATES] = {"replay into cache", "replay into memory"};

struct replay {
    const struct uc_sys_run *run;
    struct uc_subject u[PAIRS][FORMS];
    size_t pairs;
    struct {
        const struct uc_subject *u;
        size_t size;
        int state;
    } row[STATES * PAIRS * FORMS * SIZES];
    size_t rows, first;
    size_t index[STATES][PAIRS][FORMS][SIZES]; /* of rows in the result; 0: none */
    struct uc_buffer src, dst;
    struct uc_call *calls;
};

static int map_buffers(void *ctx)
{
    struct replay *p = ctx;
    int rc = uc_buffer_map(&p->src, LARGEST, UC_NEXT_UNMAPPED, uc_ticks());

    if (!rc)
        rc = uc_buffer_map(&p->dst, PASS, UC_NEXT_UNMAPPED, uc_ticks());
    if (rc)
        uc_buffer_unmap(&p->src);
    return rc;
}

static void unmap_buffers(void *ctx)
{
    struct replay *p = ctx;

    uc_buffer_unmap(&p->src);
    uc_buffer_unmap(&p->dst);
}

/* One user buffer, and pages behind each other: as the file's pages are written. */
static size_t lay_out(struct replay *p, size_t size)
{
    size_t n = PASS / size;

    for (size_t i = 0; i < n; i++)
        p->calls[i] = (struct uc_call){.size = (unsigned)size,
                                       .dst = (char *)p->dst.start + i * size,
                                       .src = (const char *)p->src.start};
    return n;
}

/* A pass before the timed one leaves dst where this strategy leaves it. */
static int read_replay(void *ctx, size_t i, double *ns)
{
    struct replay *p = ctx;
    const struct uc_subject *u = p->row[i].u;
    size_t n = lay_out(p, p->row[i].size);

    u->loops->none(u->fn, p->calls, n, (const char *)p->dst.start);
    if (p->row[i].state == FLUSHED) {
        uc_flush(p->dst.start, PASS);
        uc_flush_fence();
    }
    *ns = uc_sys_replay(p->run, u, p->calls, n, (const char *)p->dst.start);
    return 0;
}

static double replay_rate(void *ctx, size_t i, double ns)
{
    const struct replay *p = ctx;
    size_t size = p->row[i].size;

    return (double)(PASS / size * size) / ns * 1e6;
}

/* The kernel's own instructions, and the widest vectors that this CPU may use. */
static void choose_pairs(struct replay *p)
{
    static const char *const pair[][FORMS] = {{"rep_movsb", "movnti"},
                                              {"avx512_loop_x4", "avx512_stream_x4"},
                                              {"avx2_loop_x4", "avx2_stream_x4"},
                                              {"sse2_loop_x4", "sse2_stream_x4"}};

    for (size_t i = 0; i < sizeof(pair) / sizeof(pair[0]) && p->pairs < PAIRS; i++)
        p->pairs += uc_sys_subject(p->run, pair[i][CACHED], &p->u[p->pairs][CACHED]) &&
                    uc_sys_subject(p->run, pair[i][STREAMED], &p->u[p->pairs][STREAMED]);
}

static int add_replay_row(struct replay *p, struct uc_sys_result *r, int state, size_t pair,
                          int form, size_t s)
{
    const struct uc_subject *u = &p->u[pair][form];

    if (sizes[s] < u->min)
        return 0;
    int row = uc_sys_row(r, series[state], "kB/s", sizes[s], u->name);
    if (row < 0)
        return row;
    if (!p->rows)
        p->first = (size_t)row;
    p->index[state][pair][form][s] = (size_t)row + 1;
    p->row[p->rows].u = u;
    p->row[p->rows].size = sizes[s];
    p->row[p->rows++].state = state;
    return 0;
}

/* Every state, pair, form and size; stops at the first that is refused. */
static int each_row(struct replay *p, struct uc_sys_result *r,
                    int (*f)(struct replay *p, struct uc_sys_result *r, int state, size_t pair,
                             int form, size_t s))
{
    int rc = 0;

    for (int state = 0; state < STATES; state++)
        for (size_t pair = 0; pair < p->pairs; pair++)
            for (int form = 0; form < FORMS; form++)
                for (size_t s = 0; s < SIZES && !rc; s++)
                    rc = f(p, r, state, pair, form, s);
    return rc;
}

static int compare_forms(struct replay *p, struct uc_sys_result *r, int state, size_t pair,
                         int form, size_t s)
{
    const size_t(*row)[SIZES] = p->index[state][pair];

    if (form == STREAMED || !row[CACHED][s] || !row[STREAMED][s])
        return 0;
    return uc_sys_compare(r, row[CACHED][s] - 1, row[STREAMED][s] - 1);
}

static int time_replay(struct uc_sys_run *run, struct uc_sys_result *r, struct replay *p)
{
    struct uc_sys_rounds w = {.readings = 3,
                              .seconds = .6 * run->seconds,
                              .begin = map_buffers,
                              .end = unmap_buffers,
                              .read = read_replay,
                              .value = replay_rate,
                              .ctx = p};
    int rc;

    choose_pairs(p);
    rc = each_row(p, r, add_replay_row);
    w.first = p->first;
    w.rows = p->rows;
    if (!rc)
        rc = uc_sys_rounds(run, r, &w);
    return rc ? rc : each_row(p, r, compare_forms);
}

/* ---- what to take from it ---- */

static enum uc_verdict verdict(const struct replay *p, const struct uc_sys_result *r, int state,
                               size_t pair, size_t s)
{
    const size_t(*row)[SIZES] = p->index[state][pair];
    const struct uc_sys_pair *c = NULL;

    if (row[CACHED][s] && row[STREAMED][s])
        c = uc_sys_compared(r, row[CACHED][s] - 1, row[STREAMED][s] - 1);
    return c ? c->c.verdict : UC_NOT_ENOUGH;
}

/* The smallest size from which on streaming surely moved more at every size; SIZES: none. */
static size_t pays_from(const struct replay *p, const struct uc_sys_result *r, int state,
                        size_t pair)
{
    size_t s = SIZES;

    while (s && verdict(p, r, state, pair, s - 1) == UC_SECOND_LARGER)
        s--;
    return s;
}

static int tell_pays(const struct replay *p, struct uc_sys_result *r, int state, size_t pair)
{
    char text[UC_SIZE_TEXT], top[UC_SIZE_TEXT];
    size_t from = pays_from(p, r, state, pair), below = 0, lost = 0;
    const char *cached = p->u[pair][CACHED].name, *streamed = p->u[pair][STREAMED].name;

    for (size_t s = 0; s < SIZES && sizes[s] < PAGE; s++) {
        below += p->index[state][pair][CACHED][s] && p->index[state][pair][STREAMED][s];
        lost += verdict(p, r, state, pair, s) == UC_FIRST_LARGER;
    }
    int rc = uc_sys_note(r, "%s: %s moves less than %s at %zu of %zu sizes below a page",
                         series[state], streamed, cached, lost, below);
    if (rc)
        return rc;
    if (from == SIZES)
        return uc_sys_note(r, "%s: from no size to %s does %s stay ahead of %s", series[state],
                           uc_size_text(LARGEST, top), streamed, cached);
    return uc_sys_note(r, "%s: from %s to %s %s moves more than %s", series[state],
                       uc_size_text(sizes[from], text), uc_size_text(LARGEST, top), streamed,
                       cached);
}

static int tell_threshold(const struct uc_sys_run *run, struct uc_sys_result *r)
{
    char text[UC_SIZE_TEXT];

    if (!run->nocache.known)
        return uc_sys_note(r,
                           "the kernel's constant of 2009 is one page, 4 KiB; --profile puts the "
                           "threshold measured for nocache beside it");
    if (run->nocache.from == SIZE_MAX)
        return uc_sys_note(r, "the kernel's constant of 2009 is one page, 4 KiB; the profile's "
                              "nocache streams at no size");
    return uc_sys_note(r,
                       "the kernel's constant of 2009 is one page, 4 KiB; the profile's nocache "
                       "streams from %s on",
                       uc_size_text(run->nocache.from, text));
}

/* Rates: as much of the write's time does the copy take in user mode. */
static int tell_share(struct uc_sys_result *r, const struct uc_sys_row *copy,
                      const struct uc_sys_row *write)
{
    struct uc_comparison c;
    char name[80];
    int rc = uc_compare_rows(copy->v, copy->n, write->v, write->n, UC_SYS_LEVEL, &c);

    if (rc)
        return rc;
    snprintf(name, sizeof(name), "%.12s into cache takes, of a write's time on %.12s", copy->name,
             write->name);
    return uc_sys_figure(r, name, "%", 100 * c.ratio.mid, 100 * c.ratio.lo, 100 * c.ratio.hi);
}

static int tell_shares(struct uc_sys_result *r, const struct replay *p)
{
    const size_t s = 2; /* RECORD among the sizes */
    int rc = 0;

    for (size_t i = 0; i < r->rows; i++)
        for (int form = 0; form < FORMS && !rc && !strcmp(r->row[i].series, WRITES); form++) {
            size_t copy = p->pairs ? p->index[AGAIN][0][form][s] : 0;
            if (copy && r->row[copy - 1].n && r->row[i].n)
                rc = tell_share(r, &r->row[copy - 1], &r->row[i]);
        }
    return rc;
}

static int tell(const struct uc_sys_run *run, struct uc_sys_result *r, const struct replay *p)
{
    int rc = tell_shares(r, p);

    for (int state = 0; state < STATES; state++)
        for (size_t pair = 0; pair < p->pairs && !rc; pair++)
            rc = tell_pays(p, r, state, pair);
    return rc ? rc : tell_threshold(run, r);
}

static int small_writes(struct uc_sys_run *run, struct uc_sys_result *r)
{
    struct replay *p = calloc(1, sizeof(*p));
    int rc = -ENOMEM;

    if (p) {
        p->run = run;
        p->calls = malloc(PASS / sizes[0] * sizeof(*p->calls));
    }
    if (p && p->calls)
        rc = writes(run, r);
    if (!rc)
        rc = time_replay(run, r, p);
    if (!rc)
        rc = tell(run, r, p);
    if (p)
        free(p->calls);
    free(p);
    return rc;
}

const struct uc_sys_experiment uc_sys_small_writes = {
    .name = "small_writes",
    .summary = "256-byte writes to a file, 2000 a pass and back to the start",
    .seconds = 8,
    .run = small_writes,
};
