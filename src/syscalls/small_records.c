/* Small records (the shape of the measurement published in 2018, when copies under 128 bytes
 * stopped using rep movsb and the time spent on these copies halved): an operation is 64 bytes in
 * and 32 bytes out, with 256 in flight. By aio, whose requests and completions the kernel copies,
 * and by io_uring, which shares them; and replayed: each request copied in, handled, its completion
 * copied out, by several strategies, and handled where it lies without any copy. What the two
 * differ by is the copies' share. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/buffers.h"
#include "syscalls/experiments.h"
#include "syscalls/small_records.h"
#include "syscalls/sys.h"

#define REQUEST 64u
#define COMPLETION 32u
#define FLIGHTS 8 /* to a reading */
#define CALLED "operation"
#define REPLAYED "replay"

/* ---- by system calls ---- */

enum { AIO, URING, WAYS };

struct calls {
    const struct uc_sys_run *run;
    struct uc_aio aio;
    struct uc_uring uring;
    int fd;
    uint64_t file[UC_FLIGHT], out[UC_FLIGHT];
    int way[WAYS]; /* of row i */
    size_t ways;
};

static int flight(struct calls *c, int way)
{
    return way == AIO ? uc_aio_flight(&c->aio) : uc_uring_flight(&c->uring, c->fd, c->out);
}

/* What arrived is looked at after the clock. */
static int read_flights(void *ctx, size_t i, double *ns)
{
    struct calls *c = ctx;
    int rc = 0;

    memset(c->out, 0, sizeof(c->out));
    uint64_t t = uc_ticks();
    for (int k = 0; k < FLIGHTS && !rc; k++)
        rc = flight(c, c->way[i]);
    t = uc_ticks() - t;
    if (!rc && memcmp(c->out, c->file, sizeof(c->file)) != 0)
        rc = -EIO;
    *ns = uc_sys_ns(c->run, t) / (FLIGHTS * UC_FLIGHT);
    return rc;
}

/* rc is that of opening it. */
static int add_way(struct calls *c, struct uc_sys_result *r, int rc, int way, const char *name)
{
    if (rc)
        return uc_sys_refused(rc) ? uc_sys_skip(r, rc, NULL, "%s", name) : rc;
    rc = uc_sys_row(r, CALLED, "ns", UC_SYS_NO_SIZE, name);
    if (rc < 0)
        return rc;
    c->way[c->ways++] = way;
    return 0;
}

static int time_calls(struct uc_sys_run *run, struct uc_sys_result *r, struct calls *c)
{
    struct uc_sys_rounds w = {.first = r->rows,
                              .readings = 3,
                              .seconds = .3 * run->seconds,
                              .read = read_flights,
                              .ctx = c};
    int rc = add_way(c, r, uc_aio_open(&c->aio, c->fd, c->out), AIO, "aio");

    if (!rc)
        rc = add_way(c, r, uc_uring_open(&c->uring), URING, "io_uring");
    w.rows = c->ways;
    return rc || !c->ways ? rc : uc_sys_rounds(run, r, &w);
}

static int calls(struct uc_sys_run *run, struct uc_sys_result *r)
{
    struct calls *c = calloc(1, sizeof(*c));
    int rc = c ? 0 : -ENOMEM;

    if (!c)
        return rc;
    c->run = run;
    for (unsigned i = 0; i < UC_FLIGHT; i++)
        c->file[i] = uc_rng_next(&run->rng) | 1;
    c->fd = uc_sys_memfd();
    rc = c->fd < 0 ? c->fd : uc_sys_write_all(c->fd, c->file, sizeof(c->file));
    if (!rc)
        rc = time_calls(run, r, c);
    uc_aio_close(&c->aio);
    uc_uring_close(&c->uring);
    if (c->fd >= 0)
        uc_sys_close(c->fd);
    free(c);
    return uc_sys_refused(rc) ? uc_sys_skip(r, rc, NULL, "aio and io_uring") : rc;
}

/* ---- the replay ---- */

static const char *const strategy[] = {"rep_movsb",         "rep_movsq",          "unrolled",
                                       "short_tree_gpr_64", "short_half_sse2_64", "libc"};
#define STRATEGIES (sizeof(strategy) / sizeof(strategy[0]))
#define ROWS (STRATEGIES + 1) /* the last: no copy at all */

struct replay {
    const struct uc_sys_run *run;
    struct uc_subject u[ROWS];
    size_t first;
    struct uc_buffer user, kernel; /* requests, completions behind them; slots */
    struct uc_call calls[UC_FLIGHT];
};

/* All of a request is read, and all of a completion written. */
static inline void handle(const uint64_t *request, uint64_t *completion)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < REQUEST / 8; i++)
        sum = (sum ^ request[i]) * 0x9E3779B97F4A7C15u;
    completion[0] = request[0];
    completion[1] = sum;
    completion[2] = sum >> 32;
    completion[3] = 0;
}

/* A call holds the request as src and the kernel's slot as dst; its completion lies at base, 32
 * bytes each. */
static __attribute__((noinline)) unsigned long copied(uc_copy_fn *copy, const struct uc_call *calls,
                                                      size_t n, const char *base)
{
    unsigned long t = uc_loop_ticks();

    for (size_t i = 0; i < n; i++)
        copy(calls[i].dst, calls[i].src, REQUEST);
    for (size_t i = 0; i < n; i++) {
        uint64_t completion[COMPLETION / 8];
        handle((const uint64_t *)calls[i].dst, completion);
        copy((char *)(uintptr_t)base + i * COMPLETION, completion, COMPLETION);
    }
    return uc_loop_ticks() - t;
}

static __attribute__((noinline)) unsigned long
in_place(uc_copy_fn *copy, const struct uc_call *calls, size_t n, const char *base)
{
    unsigned long t = uc_loop_ticks();

    (void)copy;
    for (size_t i = 0; i < n; i++)
        handle((const uint64_t *)calls[i].src, (uint64_t *)((uintptr_t)base + i * COMPLETION));
    return uc_loop_ticks() - t;
}

static const struct uc_loops copied_loops = {.none = copied}, in_place_loops = {.none = in_place};

/* Slots in an order of their own, as an allocator hands them out. */
static int map_buffers(void *ctx)
{
    struct replay *p = ctx;
    struct uc_rng rng = {uc_ticks()};
    int rc =
        uc_buffer_map(&p->user, UC_FLIGHT * (REQUEST + COMPLETION), UC_NEXT_UNMAPPED, rng.state);

    if (!rc)
        rc = uc_buffer_map(&p->kernel, UC_FLIGHT * REQUEST, UC_NEXT_UNMAPPED, ~rng.state);
    if (rc) {
        uc_buffer_unmap(&p->user);
        return rc;
    }
    for (size_t i = 0; i < UC_FLIGHT; i++) {
        size_t k = uc_rng_below(&rng, i + 1);
        p->calls[i].size = REQUEST;
        p->calls[i].src = (const char *)p->user.start + i * REQUEST;
        p->calls[i].dst = p->calls[k].dst;
        p->calls[k].dst = (char *)p->kernel.start + i * REQUEST;
    }
    return 0;
}

static void unmap_buffers(void *ctx)
{
    struct replay *p = ctx;

    uc_buffer_unmap(&p->user);
    uc_buffer_unmap(&p->kernel);
}

/* The completions must be those of the requests, however they were moved. */
static bool right(const struct replay *p, const char *base)
{
    for (size_t i = 0; i < UC_FLIGHT; i++) {
        uint64_t completion[COMPLETION / 8];
        handle((const uint64_t *)p->calls[i].src, completion);
        if (memcmp(base + i * COMPLETION, completion, COMPLETION) != 0)
            return false;
    }
    return true;
}

static int read_replay(void *ctx, size_t i, double *ns)
{
    struct replay *p = ctx;
    const struct uc_subject *u = &p->u[i];
    char *base = (char *)p->user.start + UC_FLIGHT * REQUEST;

    memset(base, 0, UC_FLIGHT * COMPLETION);
    u->loops->none(u->fn, p->calls, UC_FLIGHT, base);
    *ns = uc_sys_replay(p->run, u, p->calls, UC_FLIGHT, base) / UC_FLIGHT;
    return right(p, base) ? 0 : -EIO;
}

/* Rows of the strategies that this CPU can run, and that without copies. */
static int add_rows(struct replay *p, struct uc_sys_result *r, size_t *rows)
{
    int row = 0;

    p->first = r->rows;
    for (size_t i = 0; i < STRATEGIES && row >= 0; i++) {
        if (!uc_sys_subject(p->run, strategy[i], &p->u[*rows]))
            continue;
        p->u[*rows].loops = &copied_loops;
        row = uc_sys_row(r, REPLAYED, "ns", UC_SYS_NO_SIZE, p->u[(*rows)++].name);
    }
    p->u[*rows].loops = &in_place_loops;
    if (row >= 0)
        row = uc_sys_row(r, REPLAYED, "ns", UC_SYS_NO_SIZE, "no copy");
    ++*rows;
    return row < 0 ? row : 0;
}

/* ---- what to take from it ---- */

static const struct uc_sys_row *called(const struct uc_sys_result *r, const char *name)
{
    for (size_t i = 0; i < r->rows; i++)
        if (r->row[i].n && !strcmp(r->row[i].series, CALLED) && !strcmp(r->row[i].name, name))
            return &r->row[i];
    return NULL;
}

/* 1 less the time without copies over that with them. */
static int tell_share(struct uc_sys_result *r, const struct uc_sys_row *with,
                      const struct uc_sys_row *without)
{
    struct uc_comparison c;
    char name[80];
    int rc = uc_compare_rows(with->v, with->n, without->v, without->n, UC_SYS_LEVEL, &c);

    if (rc)
        return rc;
    snprintf(name, sizeof(name), "the copies' share of a replayed operation, %.32s", with->name);
    return uc_sys_figure(r, name, "%", 100 * (1 - c.ratio.mid), 100 * (1 - c.ratio.hi),
                         100 * (1 - c.ratio.lo));
}

/* What the copies add in the replay, over a real operation. */
static int tell_beside(struct uc_sys_result *r, const struct uc_sys_row *with,
                       const struct uc_sys_row *without)
{
    const struct uc_sys_row *aio = called(r, "aio");
    char name[80];

    if (!aio)
        return 0;
    double copies = uc_median(with->v, with->n) - uc_median(without->v, without->n);
    snprintf(name, sizeof(name), "as much would be of an aio operation, %.32s", with->name);
    double share = 100 * copies / uc_median(aio->v, aio->n);
    return uc_sys_figure(r, name, "%", share, share, share);
}

static int tell(struct uc_sys_result *r, size_t first, size_t rows)
{
    size_t last = first + rows - 1;
    int rc = 0;

    for (size_t i = first; i < last && r->row[last].n && !rc; i++) {
        if (!r->row[i].n)
            continue;
        rc = tell_share(r, &r->row[i], &r->row[last]);
        if (!rc)
            rc = tell_beside(r, &r->row[i], &r->row[last]);
        if (!rc && i > first)
            rc = uc_sys_compare(r, first, i);
    }
    return rc ? rc
              : uc_sys_note(r,
                            "an operation is one of %u in flight: 64 bytes in, 32 bytes out; aio "
                            "copies both, io_uring shares the memory",
                            UC_FLIGHT);
}

static int replay(struct uc_sys_run *run, struct uc_sys_result *r, struct replay *p)
{
    struct uc_sys_rounds w = {.readings = 5,
                              .seconds = .7 * run->seconds,
                              .begin = map_buffers,
                              .end = unmap_buffers,
                              .read = read_replay,
                              .ctx = p};
    int rc = add_rows(p, r, &w.rows);

    w.first = p->first;
    if (!rc)
        rc = uc_sys_rounds(run, r, &w);
    return rc ? rc : tell(r, p->first, w.rows);
}

static int small_records(struct uc_sys_run *run, struct uc_sys_result *r)
{
    struct replay *p = calloc(1, sizeof(*p));
    int rc = p ? calls(run, r) : -ENOMEM;

    if (!rc) {
        p->run = run;
        rc = replay(run, r, p);
    }
    free(p);
    return rc;
}

const struct uc_sys_experiment uc_sys_small_records = {
    .name = "small_records",
    .summary = "64 bytes in and 32 bytes out an operation, 256 in flight",
    .seconds = 3,
    .run = small_records,
};
