/* Short copies by length (the shape of the table published in 2017: 64 was the largest length at
 * which the unrolled copy had a gain still measurable). By system calls in short_calls.c; here the
 * same segments copied in user mode by three strategies, and up to which length the gain can be
 * told, in the replay and through the call. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "machine/buffers.h"
#include "syscalls/experiments.h"
#include "syscalls/short_copies.h"

#define SERIES "replay"
#define STRATEGIES 3

static const char *const strategy[STRATEGIES] = {"unrolled", "rep_movsq", "rep_movsb"};

struct replay {
    const struct uc_sys_run *run;
    struct uc_subject u[STRATEGIES];
    size_t first; /* row */
    struct uc_buffer file, user;
    struct uc_call calls[UC_SHORT_SEGMENTS];
};

static size_t row_of(const struct replay *p, size_t u, size_t length)
{
    return p->first + u * UC_SHORT_LENGTHS + length;
}

static int map_buffers(void *ctx)
{
    struct replay *p = ctx;
    int rc = uc_buffer_map(&p->file, UC_SHORT_BYTES, UC_NEXT_UNMAPPED, uc_ticks());

    if (!rc)
        rc = uc_buffer_map(&p->user, UC_SHORT_BYTES, UC_NEXT_UNMAPPED, uc_ticks());
    if (rc)
        uc_buffer_unmap(&p->file);
    return rc;
}

static void unmap_buffers(void *ctx)
{
    struct replay *p = ctx;

    uc_buffer_unmap(&p->file);
    uc_buffer_unmap(&p->user);
}

/* As preadv moves them: out of a file's pages, one segment behind the other. */
static int read_replay(void *ctx, size_t i, double *ns)
{
    struct replay *p = ctx;
    const struct uc_subject *u = &p->u[i / UC_SHORT_LENGTHS];
    size_t length = uc_short_length(i % UC_SHORT_LENGTHS), n = uc_short_segments(length);
    const char *base = (const char *)p->user.start;

    for (size_t k = 0; k < n; k++)
        p->calls[k] = (struct uc_call){.size = (unsigned)length,
                                       .dst = (char *)p->user.start + k * uc_short_stride(length),
                                       .src = (const char *)p->file.start + k * length};
    u->loops->none(u->fn, p->calls, n, base);
    *ns = uc_sys_replay(p->run, u, p->calls, n, base) / (double)n;
    return 0;
}

static int add_rows(struct replay *p, struct uc_sys_result *r)
{
    p->first = r->rows;
    for (size_t u = 0; u < STRATEGIES; u++) {
        uc_sys_subject(p->run, strategy[u], &p->u[u]); /* general registers: every CPU has them */
        for (size_t i = 0; i < UC_SHORT_LENGTHS; i++) {
            int row = uc_sys_row(r, SERIES, "ns", uc_short_length(i), strategy[u]);
            if (row < 0)
                return row;
        }
    }
    return 0;
}

static int compare(const struct replay *p, struct uc_sys_result *r)
{
    int rc = 0;

    for (size_t u = 1; u < STRATEGIES; u++)
        for (size_t i = 0; i < UC_SHORT_LENGTHS && !rc; i++)
            rc = uc_sys_compare(r, row_of(p, 0, i), row_of(p, u, i));
    return rc;
}

/* ---- what to take from it ---- */

static bool gains(const struct replay *p, const struct uc_sys_result *r, size_t u, size_t i)
{
    const struct uc_sys_pair *c = uc_sys_compared(r, row_of(p, 0, i), row_of(p, u, i));

    return c && c->c.verdict == UC_SECOND_LARGER;
}

/* How many lengths, from 1 on, without one that is not measurably faster. */
static int tell_gain(const struct replay *p, struct uc_sys_result *r, size_t u)
{
    size_t n = 0, later = 0;

    while (n < UC_SHORT_LENGTHS && gains(p, r, u, n))
        n++;
    for (size_t i = n; i < UC_SHORT_LENGTHS; i++)
        later += gains(p, r, u, i);
    if (!n)
        return uc_sys_note(r,
                           "replay: no gain of unrolled over %s can be measured at 1 byte; it can "
                           "at %zu of %d lengths",
                           strategy[u], later, UC_SHORT_LENGTHS);
    return uc_sys_note(r,
                       "replay: unrolled has a measurable gain over %s at every length from 1 to "
                       "%zu, and at %zu of the %zu lengths above",
                       strategy[u], uc_short_length(n - 1), later, UC_SHORT_LENGTHS - n);
}

static double replay_gain(const struct replay *p, const struct uc_sys_result *r, size_t u, size_t i)
{
    return uc_sys_middle(r, row_of(p, u, i)).mid - uc_sys_middle(r, row_of(p, 0, i)).mid;
}

/* Would the call show a gain as large as the replay's? It tells a difference to half its interval,
 * and nothing where it drowns. */
static bool shows(const struct uc_short_told *told, double gain)
{
    return told->known && !told->drowns &&
           (told->difference.hi - told->difference.lo) / 2 < fabs(gain);
}

static int tell_call(const struct replay *p, struct uc_sys_result *r, int d,
                     const struct uc_short_told *told)
{
    size_t gaining = 0, shown = 0, known = 0;

    for (size_t i = 1; i < 64; i++) {
        if (!gains(p, r, STRATEGIES - 1, i))
            continue;
        known += told[i].known;
        gaining++;
        shown += shows(&told[i], replay_gain(p, r, STRATEGIES - 1, i));
    }
    if (!known)
        return 0;
    return uc_sys_note(r,
                       "%s: of %zu lengths from 2 to 64 at which unrolled gains over %s in the "
                       "replay, the call could show a gain as large at %zu; at the others it "
                       "drowns it",
                       uc_short_call[d], gaining, strategy[STRATEGIES - 1], shown);
}

static int replay(struct uc_sys_run *run, struct uc_sys_result *r,
                  struct uc_short_told told[2][UC_SHORT_LENGTHS], struct replay *p)
{
    struct uc_sys_rounds w = {.readings = 3,
                              .seconds = .4 * run->seconds,
                              .begin = map_buffers,
                              .end = unmap_buffers,
                              .read = read_replay,
                              .ctx = p};
    int rc = add_rows(p, r);

    w.first = p->first;
    w.rows = r->rows - p->first;
    if (!rc)
        rc = uc_sys_rounds(run, r, &w);
    if (!rc)
        rc = compare(p, r);
    for (size_t u = 1; u < STRATEGIES && !rc; u++)
        rc = tell_gain(p, r, u);
    for (int d = 0; d < 2 && !rc; d++)
        rc = tell_call(p, r, d, told[d]);
    return rc;
}

static int short_copies(struct uc_sys_run *run, struct uc_sys_result *r)
{
    struct uc_short_told(*told)[UC_SHORT_LENGTHS] = calloc(2, sizeof(*told));
    struct replay *p = calloc(1, sizeof(*p));
    int rc = told && p ? uc_short_calls(run, r, told) : -ENOMEM;

    if (!rc) {
        p->run = run;
        rc = replay(run, r, told, p);
    }
    free(p);
    free(told);
    return rc;
}

const struct uc_sys_experiment uc_sys_short_copies = {
    .name = "short_copies",
    .summary = "the kernel's copies by length, 1 byte to 64 KiB",
    .seconds = 9,
    .run = short_copies,
};
