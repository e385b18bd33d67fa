/* Reads without the copy: one file in pieces of 256 KiB, from the page cache and from its device,
 * copied to a reader (read, O_DIRECT) and not (splice into a pipe and on to /dev/null; a TCP socket
 * drained with MSG_TRUNC): the question published in 2002, there with a kernel patched to leave the
 * copy out. Here no kernel is patched, so that what avoids the copy costs something of its own, and
 * may cost more than it saves. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "syscalls/experiments.h"
#include "syscalls/nocopy_ways.h"
#include "syscalls/sys.h"

#define SHORT_SECONDS 1. /* below it the file is small, and no percentile is told */
#define SHORT_PIECES 8
#define FEWEST_FOR_TAIL 100
#define PAGE 4096u

enum state { CACHED, UNCACHED, STATES };
enum measure { RATE, MEAN, TAIL, MEASURES };

static const char *const state_name[STATES] = {"cached", "uncached"};
static const char *const way_name[UC_WAYS] = {"read", "O_DIRECT", "splice", "socket",
                                              "socket MSG_TRUNC"};
static const char *const place_name[UC_PLACES] = {"L1", "L2", "memory"};

struct line {
    enum uc_way way;
    enum uc_place place;
    size_t row[MEASURES]; /* in the result */
};

struct reads {
    struct uc_sys_run *run;
    struct uc_sys_result *r;
    struct uc_file_reader file;
    enum state state;
    struct line line[UC_WAYS * UC_PLACES];
    size_t lines;
    double *latency;       /* ns, of each piece of a pass */
    int replay[UC_PLACES]; /* rows; -1: none */
};

/* ---- rows ---- */

static void name_line(const struct line *l, char *buf, size_t cap)
{
    if (uc_way_copies(l->way))
        snprintf(buf, cap, "%s into %s", way_name[l->way], place_name[l->place]);
    else
        snprintf(buf, cap, "%s", way_name[l->way]);
}

static int add_line(struct reads *p, enum uc_way way, enum uc_place place)
{
    struct line *l = &p->line[p->lines];

    if (p->file.way_rc[way]) {
        uc_sys_failed(p->file.way_call[way], -p->file.way_rc[way]);
        return place ? 0
                     : uc_sys_skip(p->r, p->file.way_rc[way], NULL, "%s reads: %s",
                                   state_name[p->state], way_name[way]);
    }
    l->way = way;
    l->place = place;
    p->lines++;
    return 0;
}

/* A way that copies has a line for each place. */
static int add_lines(struct reads *p)
{
    int rc = 0;

    p->lines = 0;
    for (int way = 0; way < UC_WAYS; way++)
        for (int place = 0; place < (uc_way_copies((enum uc_way)way) ? UC_PLACES : 1) && !rc;
             place++)
            rc = add_line(p, (enum uc_way)way, (enum uc_place)place);
    return rc;
}

/* The rows of one measure stand together. */
static int add_rows(struct reads *p)
{
    static const char *const of[MEASURES] = {"", ": mean", ": 99th percentile"};
    static const char *const unit[MEASURES] = {"MB/s", "us", "us"};
    int measures = p->file.pieces < FEWEST_FOR_TAIL ? TAIL : MEASURES;

    for (int m = 0; m < measures; m++)
        for (size_t i = 0; i < p->lines; i++) {
            char series[40], name[48];
            snprintf(series, sizeof(series), "%s reads%s", state_name[p->state], of[m]);
            name_line(&p->line[i], name, sizeof(name));
            int row = uc_sys_row(p->r, series, unit[m], UC_SYS_NO_SIZE, name);
            if (row < 0)
                return row;
            p->line[i].row[m] = (size_t)row;
        }
    return 0;
}

/* ---- readings ---- */

static int check(const struct reads *p, const struct line *l)
{
    if (!uc_way_copies(l->way) || uc_file_reader_holds(&p->file, l->place, p->file.pieces - 1))
        return 0;
    return uc_sys_failed(way_name[l->way], EBADMSG);
}

/* The whole file, piece by piece; what a destination needs is no part of the time. */
static int read_pass(struct reads *p, const struct line *l)
{
    int rc = 0;

    memset(p->file.ring[l->place].start, 0, p->file.ring_bytes[l->place]);
    for (size_t i = 0; i < p->file.pieces && !rc; i++) {
        uc_file_reader_ready(&p->file, l->place, i);
        uint64_t t = uc_ticks();
        rc = uc_file_reader_read(&p->file, l->way, l->place, i);
        p->latency[i] = uc_sys_ns(p->run, uc_ticks() - t);
    }
    return rc ? rc : check(p, l);
}

/* Mean and tail are samples of the same pass. A tail is made of what disturbs: nothing is dropped.
 */
static int read_line(void *ctx, size_t i, double *ns)
{
    struct reads *p = ctx;
    const struct line *l = &p->line[i];
    int rc = p->state == UNCACHED ? uc_file_reader_drop(&p->file) : 0;

    if (rc == -EBUSY)
        return 0; /* pages stayed: no reading */
    if (!rc)
        rc = read_pass(p, l);
    if (rc)
        return rc;
    *ns = uc_mean(p->latency, p->file.pieces);
    rc = uc_sys_sample(p->r, l->row[MEAN], *ns / 1000);
    if (rc || p->file.pieces < FEWEST_FOR_TAIL)
        return rc;
    uc_sort(p->latency, p->file.pieces);
    return uc_sys_sample(p->r, l->row[TAIL], uc_quantile(p->latency, p->file.pieces, .99) / 1000);
}

static double rate(void *ctx, size_t i, double ns)
{
    return (double)UC_PIECE / ns * 1e3; /* 1,000,000 bytes are a MB */
}

/* A way that was refused later has no mean and no tail either. */
static void drop_refused(struct reads *p)
{
    for (size_t i = 0; i < p->lines; i++)
        for (int m = MEAN; m < MEASURES; m++)
            if (!p->r->row[p->line[i].row[RATE]].n && p->line[i].row[m])
                p->r->row[p->line[i].row[m]].n = 0;
}

/* ---- the copy alone, in user mode ---- */

struct replay {
    struct reads *p;
    struct uc_subject u;
    struct uc_buffer src;
    struct uc_call *calls;
    size_t n;
};

/* Page by page, as the page cache has them; source and memory destination come from memory. */
static int read_replay(void *ctx, size_t place, double *ns)
{
    struct replay *c = ctx;
    struct uc_file_reader *f = &c->p->file;
    char *ring = (char *)f->ring[place].start;

    for (size_t i = 0; i < c->n; i++)
        c->calls[i] = (struct uc_call){.size = PAGE,
                                       .dst = ring + i * PAGE % f->ring_bytes[place],
                                       .src = (const char *)c->src.start + i * PAGE};
    uc_touch(ring, f->ring_bytes[place]);
    uc_flush(c->src.start, c->src.bytes);
    if (place == UC_IN_MEMORY)
        uc_flush(ring, f->ring_bytes[place]);
    uc_flush_fence();
    *ns = uc_sys_replay(c->p->run, &c->u, c->calls, c->n, ring) / (double)c->n *
          (double)(UC_PIECE / PAGE);
    return 0;
}

static int replay_rows(struct replay *c, struct reads *p, size_t *first)
{
    for (int place = 0; place < UC_PLACES; place++) {
        char name[48];
        snprintf(name, sizeof(name), "%s into %s", c->u.name, place_name[place]);
        p->replay[place] = uc_sys_row(p->r, "replay of cached reads", "MB/s", UC_SYS_NO_SIZE, name);
        if (p->replay[place] < 0)
            return p->replay[place];
    }
    *first = (size_t)p->replay[0];
    return 0;
}

static int time_replay(struct reads *p)
{
    struct replay c = {.p = p, .n = p->file.ring_bytes[UC_IN_MEMORY] / PAGE};
    struct uc_sys_rounds w = {.rows = UC_PLACES,
                              .readings = 1,
                              .seconds = .1 * p->run->seconds,
                              .read = read_replay,
                              .value = rate,
                              .ctx = &c};
    int rc = uc_sys_subject(p->run, "rep_movsb", &c.u)
                 ? uc_buffer_map(&c.src, c.n * PAGE, UC_NEXT_UNMAPPED, uc_ticks())
                 : -ENOSYS;

    if (rc)
        return rc;
    c.calls = malloc(c.n * sizeof(*c.calls));
    rc = c.calls ? replay_rows(&c, p, &w.first) : -ENOMEM;
    if (!rc)
        rc = uc_sys_rounds(p->run, p->r, &w);
    free(c.calls);
    uc_buffer_unmap(&c.src);
    return rc;
}

/* ---- what to take from it ---- */

static const struct line *find(const struct reads *p, enum uc_way way, enum uc_place place)
{
    for (size_t i = 0; i < p->lines; i++)
        if (p->line[i].way == way && (p->line[i].place == place || !uc_way_copies(way)))
            return &p->line[i];
    return NULL;
}

/* Compares two lines' rates; *c stays NULL where one was not measured. */
static int compare(struct reads *p, const struct line *a, const struct line *b,
                   const struct uc_sys_pair **c)
{
    *c = NULL;
    if (!a || !b)
        return 0;
    int rc = uc_sys_compare(p->r, a->row[RATE], b->row[RATE]);
    *c = rc ? NULL : uc_sys_compared(p->r, a->row[RATE], b->row[RATE]);
    return rc;
}

/* Of the time of the copied one; the ratio is that of the rates, which is the other way round. */
static double saved(double ratio)
{
    return 100 * (1 - 1 / ratio);
}

static int tell_saved(struct reads *p, enum uc_way copied, enum uc_way not_copied,
                      enum uc_place place)
{
    const struct line *a = find(p, copied, place), *b = find(p, not_copied, place);
    const struct uc_sys_pair *c;
    char with[48], without[48], name[80];
    int rc = compare(p, a, b, &c);

    if (!c)
        return rc;
    name_line(a, with, sizeof(with));
    name_line(b, without, sizeof(without));
    if (c->c.verdict == UC_SECOND_LARGER) {
        snprintf(name, sizeof(name), "%s: share of \"%.22s\" that %.20s saves",
                 state_name[p->state], with, without);
        return uc_sys_figure(p->r, name, "%", saved(c->c.ratio.mid), saved(c->c.ratio.lo),
                             saved(c->c.ratio.hi));
    }
    if (c->c.verdict == UC_FIRST_LARGER)
        return uc_sys_note(p->r,
                           "%s: avoiding the copy by %s costs more than it saves: it takes %.2f "
                           "times as long as \"%s\"",
                           state_name[p->state], without, 1 / c->c.ratio.mid, with);
    return uc_sys_note(p->r, "%s: between \"%s\" and %s, which does not copy, no difference shows",
                       state_name[p->state], with, without);
}

/* Places against L1, and the page cache against going round it. */
static int compare_copied(struct reads *p)
{
    const struct uc_sys_pair *c;
    int rc = 0;

    for (int place = UC_IN_L2; place < UC_PLACES && !rc; place++)
        rc = compare(p, find(p, UC_WAY_READ, UC_IN_L1), find(p, UC_WAY_READ, (enum uc_place)place),
                     &c);
    if (!rc)
        rc = compare(p, find(p, UC_WAY_READ, UC_IN_MEMORY), find(p, UC_WAY_DIRECT, UC_IN_MEMORY),
                     &c);
    return rc;
}

static int tell(struct reads *p)
{
    int rc = compare_copied(p);

    for (int place = 0; place < UC_PLACES && !rc; place++) {
        rc = tell_saved(p, UC_WAY_READ, UC_WAY_SPLICE, (enum uc_place)place);
        if (!rc)
            rc = tell_saved(p, UC_WAY_READ, UC_WAY_DROPPED, (enum uc_place)place);
        if (!rc)
            rc = tell_saved(p, UC_WAY_SOCKET, UC_WAY_DROPPED, (enum uc_place)place);
    }
    return rc;
}

/* What the copy would be of a cached read, if the kernel's went as fast as this one. */
static int tell_replay(struct reads *p)
{
    int rc = 0;

    for (int place = 0; place < UC_PLACES && !rc; place++) {
        const struct line *l = find(p, UC_WAY_READ, (enum uc_place)place);
        const struct uc_sys_pair *c;
        char name[80];
        if (!l)
            continue;
        rc = uc_sys_compare(p->r, (size_t)p->replay[place], l->row[RATE]);
        c = rc ? NULL : uc_sys_compared(p->r, (size_t)p->replay[place], l->row[RATE]);
        if (!c)
            continue;
        snprintf(name, sizeof(name), "cached: the replay's time over that of \"read into %s\"",
                 place_name[place]);
        rc = uc_sys_figure(p->r, name, "%", 100 * c->c.ratio.mid, 100 * c->c.ratio.lo,
                           100 * c->c.ratio.hi);
    }
    return rc;
}

static int tell_setting(struct reads *p)
{
    char file[UC_SIZE_TEXT], fs[24], l1[UC_SIZE_TEXT], l2[UC_SIZE_TEXT], memory[UC_SIZE_TEXT];
    const size_t *ring = p->file.ring_bytes;

    return uc_sys_note(p->r,
                       "a file of %s on %s; into L1: the same %s again and again, into L2: a ring "
                       "of %s, into memory: a ring of %s, flushed from the caches",
                       uc_size_text(p->file.pieces * UC_PIECE, file),
                       uc_sys_file_system(p->file.fd, fs), uc_size_text(ring[UC_IN_L1], l1),
                       uc_size_text(ring[UC_IN_L2], l2), uc_size_text(ring[UC_IN_MEMORY], memory));
}

/* ---- the run ---- */

static int time_state(struct reads *p, double seconds)
{
    struct uc_sys_rounds w = {
        .readings = 1, .seconds = seconds, .read = read_line, .value = rate, .ctx = p};
    int rc = add_lines(p);

    if (!rc)
        rc = add_rows(p);
    w.rows = p->lines;
    w.first = p->lines ? p->line[0].row[RATE] : 0;
    if (!rc)
        rc = uc_sys_rounds(p->run, p->r, &w);
    if (!rc)
        drop_refused(p);
    return rc ? rc : tell(p);
}

static int time_cached(struct reads *p)
{
    p->state = CACHED;
    int rc = time_state(p, .35 * p->run->seconds);
    if (!rc)
        rc = time_replay(p);
    return rc ? rc : tell_replay(p);
}

static int time_uncached(struct reads *p)
{
    int rc = uc_file_reader_drop(&p->file);

    p->state = UNCACHED;
    if (rc == -EBUSY)
        return uc_sys_skip(p->r, 0, "the file's pages stay in the cache", "uncached reads");
    if (uc_sys_refused(rc))
        return uc_sys_skip(p->r, rc, NULL, "uncached reads");
    if (!rc)
        rc = time_state(p, .55 * p->run->seconds);
    if (rc)
        return rc;
    if (p->run->guest)
        return uc_sys_note(p->r, "uncached: the file has left this guest's page cache; its host "
                                 "may hold it still, so these are no speeds of a disk");
    return uc_sys_note(p->r, "uncached: the file has left the page cache; the device may have a "
                             "cache of its own");
}

static int nocopy_reads(struct uc_sys_run *run, struct uc_sys_result *r)
{
    struct reads p = {.run = run, .r = r};
    size_t pieces = run->seconds < SHORT_SECONDS ? SHORT_PIECES : UC_PIECES;
    int rc = uc_file_reader_open(&p.file, run, pieces);

    p.latency = malloc(pieces * sizeof(*p.latency));
    if (!rc && !p.latency)
        rc = -ENOMEM;
    if (!rc)
        rc = time_cached(&p);
    if (!rc)
        rc = time_uncached(&p);
    if (!rc)
        rc = tell_setting(&p);
    free(p.latency);
    uc_file_reader_close(&p.file);
    return rc;
}

const struct uc_sys_experiment uc_sys_nocopy_reads = {
    .name = "nocopy_reads",
    .summary = "256 KiB reads of a file, with the copy to the reader and without",
    .seconds = 12,
    .run = nocopy_reads,
};
