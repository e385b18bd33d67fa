/* The kernel's copies by length. One call moves up to 1024 segments of one length between user
 * memory and a file in memory; the call that moves the same bytes in segments of a page is taken
 * off, since the file's pages cost as much as the effect; what is left is told against segments of
 * one byte (an empty one would skip the copy's whole path). So neither the call's own cost nor that
 * of a segment is in the figures, and no figure is an absolute cost. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine/buffers.h"
#include "measure/sweep.h"
#include "syscalls/short_copies.h"
#include "syscalls/sys.h"

#define PAGE 4096u
#define CALLS 4     /* a reading: some 100 us */
#define LINE_TOP 64 /* slopes are those of lengths from 1 to this */

enum { SEGMENTS, PAGES, KINDS }; /* of the two calls of a length */

const char *const uc_short_call[2] = {"preadv", "pwritev"};

size_t uc_short_length(size_t i)
{
    static const size_t above[] = {80, 96, 128, 192, 256, 512, 1024, 2048, 4096, 16384, 65536};

    return i < 64 ? i + 1 : above[i - 64];
}

size_t uc_short_segments(size_t length)
{
    size_t most = UC_SHORT_BYTES / uc_short_stride(length);

    return most < UC_SHORT_SEGMENTS ? most : UC_SHORT_SEGMENTS;
}

size_t uc_short_stride(size_t length)
{
    return (length + 63) & ~(size_t)63;
}

struct calls {
    const struct uc_sys_run *run;
    int fd;
    struct uc_buffer user;
    struct iovec *segments;
    struct {
        int direction, kind;
        size_t length; /* index */
    } row[2 * KINDS * UC_SHORT_LENGTHS];
    size_t rows;
    unsigned round;
    double ns[UC_SYS_SAMPLES][2][KINDS][UC_SHORT_LENGTHS]; /* a call; NAN: none */
};

/* ---- readings ---- */

static int map_user(void *ctx)
{
    struct calls *c = ctx;

    return uc_buffer_map(&c->user, UC_SHORT_BYTES, UC_NEXT_UNMAPPED, uc_ticks());
}

static void unmap_user(void *ctx)
{
    struct calls *c = ctx;

    uc_buffer_unmap(&c->user);
    c->round++;
}

/* How many segments; together they hold uc_short_segments(length) * length bytes either way. */
static size_t lay_out(struct calls *c, size_t length, int kind)
{
    size_t n = uc_short_segments(length), left = n * length, i = 0;

    for (; kind == SEGMENTS && i < n; i++)
        c->segments[i] = (struct iovec){c->user.start + i * uc_short_stride(length), length};
    for (; kind == PAGES && left; i++) {
        size_t bytes = left < PAGE ? left : PAGE;
        c->segments[i] = (struct iovec){c->user.start + i * PAGE, bytes};
        left -= bytes;
    }
    return i;
}

static ssize_t move(struct calls *c, int direction, size_t n)
{
    return direction ? uc_sys_pwritev(c->fd, c->segments, n, 0)
                     : uc_sys_preadv(c->fd, c->segments, n, 0);
}

/* A call that was interrupted or moved a part is no reading. */
static int read_calls(void *ctx, size_t i, double *ns)
{
    struct calls *c = ctx;
    size_t length = uc_short_length(c->row[i].length);
    size_t n = lay_out(c, length, c->row[i].kind);
    ssize_t whole = (ssize_t)(uc_short_segments(length) * length), moved = whole;
    uint64_t t = uc_ticks();

    for (int k = 0; k < CALLS && moved == whole; k++)
        moved = move(c, c->row[i].direction, n);
    t = uc_ticks() - t;
    if (moved == whole)
        *ns = uc_sys_ns(c->run, t) / CALLS;
    return moved < 0 && moved != -EINTR ? (int)moved : 0;
}

static double keep(void *ctx, size_t i, double ns)
{
    struct calls *c = ctx;

    c->ns[c->round - 1][c->row[i].direction][c->row[i].kind][c->row[i].length] = ns;
    return ns;
}

static int add_rows(struct calls *c, struct uc_sys_result *r)
{
    for (int d = 0; d < 2; d++)
        for (int kind = 0; kind < KINDS; kind++)
            for (size_t i = 0; i < UC_SHORT_LENGTHS; i++) {
                int row = uc_sys_row(r, uc_short_call[d], "ns", uc_short_length(i),
                                     kind == SEGMENTS ? "segments" : "segments of a page");
                if (row < 0)
                    return row;
                r->row[row].raw = true;
                c->row[c->rows].direction = d;
                c->row[c->rows].kind = kind;
                c->row[c->rows++].length = i;
            }
    return 0;
}

/* ---- what they tell ---- */

/* ns a segment of the given length, of one call. */
static double a_segment(const struct calls *c, unsigned round, int d, int kind, size_t i)
{
    return c->ns[round][d][kind][i] / (double)uc_short_segments(uc_short_length(i));
}

/* What the page corrections of length i and of one byte differ by, in one round. */
static double correction(const struct calls *c, unsigned round, int d, size_t i)
{
    return a_segment(c, round, d, PAGES, i) - a_segment(c, round, d, PAGES, 0);
}

static double difference(const struct calls *c, unsigned round, int d, size_t i)
{
    return a_segment(c, round, d, SEGMENTS, i) - a_segment(c, round, d, SEGMENTS, 0) -
           correction(c, round, d, i);
}

/* Least squares over lengths from 1 to LINE_TOP, a byte; NAN where one is missing. */
static double slope(const struct calls *c, unsigned round, int d,
                    double (*of)(const struct calls *c, unsigned round, int d, size_t i))
{
    double middle = (LINE_TOP + 1) / 2., up = 0, square = 0;

    for (size_t i = 0; i < LINE_TOP; i++) {
        double x = (double)uc_short_length(i) - middle;
        up += x * of(c, round, d, i);
        square += x * x;
    }
    return up / square;
}

/* The middle over rounds; false with fewer than can be compared. */
static bool middle(const double *v, unsigned n, struct uc_interval *out)
{
    double known[UC_SYS_SAMPLES];
    unsigned k = 0;

    for (unsigned i = 0; i < n; i++)
        if (isfinite(v[i]))
            known[k++] = v[i];
    if (k >= UC_SYS_ROUNDS)
        *out = uc_median_interval(known, k, UC_SYS_LEVEL);
    return k >= UC_SYS_ROUNDS;
}

static struct uc_short_told tell_length(const struct calls *c, int d, size_t i)
{
    double whole[UC_SYS_SAMPLES], pages[UC_SYS_SAMPLES];
    struct uc_short_told told = {.known = false};
    struct uc_interval page;

    for (unsigned k = 0; k < c->round; k++) {
        whole[k] = difference(c, k, d, i);
        pages[k] = correction(c, k, d, i);
    }
    told.known = middle(whole, c->round, &told.difference) && middle(pages, c->round, &page);
    told.drowns = told.known && fabs(page.mid) > fabs(told.difference.mid);
    return told;
}

static int tell_slope(const struct calls *c, struct uc_sys_result *r, int d)
{
    double whole[UC_SYS_SAMPLES], pages[UC_SYS_SAMPLES];
    struct uc_interval s, page;
    char name[80];

    for (unsigned k = 0; k < c->round; k++) {
        whole[k] = slope(c, k, d, difference);
        pages[k] = slope(c, k, d, correction);
    }
    if (!middle(whole, c->round, &s) || !middle(pages, c->round, &page))
        return 0;
    snprintf(name, sizeof(name), "%s, slope from 1 to %d B", uc_short_call[d], LINE_TOP);
    return uc_sys_figure_at(r, name, "ns a byte", UC_SYS_NO_SIZE, &s,
                            fabs(page.mid) > fabs(s.mid) ? "drowns" : "");
}

static int tell_drowning(struct uc_sys_result *r, int d, const struct uc_short_told *told)
{
    size_t known = 0, drowns = 0;

    for (size_t i = 1; i < UC_SHORT_LENGTHS; i++) {
        known += told[i].known;
        drowns += told[i].drowns;
    }
    if (!known)
        return 0;
    return uc_sys_note(r,
                       "%s: at %zu of %zu lengths the difference drowns: what the two page "
                       "corrections differ by is more",
                       uc_short_call[d], drowns, known);
}

static int tell(const struct calls *c, struct uc_sys_result *r, int d, struct uc_short_told *told)
{
    char name[80];
    int rc = 0;

    snprintf(name, sizeof(name), "%s, a segment against one of 1 byte", uc_short_call[d]);
    for (size_t i = 1; i < UC_SHORT_LENGTHS && !rc; i++) {
        told[i] = tell_length(c, d, i);
        if (told[i].known)
            rc = uc_sys_figure_at(r, name, "ns", uc_short_length(i), &told[i].difference,
                                  told[i].drowns ? "drowns" : "");
    }
    if (!rc)
        rc = tell_slope(c, r, d);
    return rc ? rc : tell_drowning(r, d, told);
}

/* ---- the whole ---- */

static int measure(struct uc_sys_run *run, struct uc_sys_result *r, struct calls *c,
                   struct uc_short_told told[2][UC_SHORT_LENGTHS])
{
    struct uc_sys_rounds w = {.first = r->rows,
                              .readings = 3,
                              .seconds = .6 * run->seconds,
                              .begin = map_user,
                              .end = unmap_user,
                              .read = read_calls,
                              .value = keep,
                              .ctx = c};
    int rc = add_rows(c, r);

    w.rows = c->rows;
    for (double *ns = &c->ns[0][0][0][0]; ns < (double *)(&c->ns + 1); ns++)
        *ns = NAN;
    if (!rc)
        rc = uc_sys_rounds(run, r, &w);
    for (int d = 0; d < 2 && !rc; d++)
        rc = tell(c, r, d, told[d]);
    return rc;
}

/* Pages that were never written cost more than a copy. */
static int fill(int fd)
{
    char *data = malloc(UC_SHORT_BYTES);
    int rc = data ? 0 : -ENOMEM;

    for (size_t i = 0; i < UC_SHORT_BYTES && data; i++)
        data[i] = (char)(i * 7);
    if (!rc)
        rc = uc_sys_write_all(fd, data, UC_SHORT_BYTES);
    free(data);
    return rc;
}

int uc_short_calls(struct uc_sys_run *run, struct uc_sys_result *r,
                   struct uc_short_told told[2][UC_SHORT_LENGTHS])
{
    struct calls *c = calloc(1, sizeof(*c));
    int rc = c ? 0 : -ENOMEM;

    if (!rc) {
        c->run = run;
        c->fd = uc_sys_memfd();
        c->segments = malloc(UC_SHORT_SEGMENTS * sizeof(*c->segments));
        rc = c->fd < 0 ? c->fd : c->segments ? fill(c->fd) : -ENOMEM;
    }
    if (!rc)
        rc = measure(run, r, c, told);
    if (c && c->fd >= 0)
        uc_sys_close(c->fd);
    free(c ? c->segments : NULL);
    free(c);
    return uc_sys_refused(rc) ? uc_sys_skip(r, rc, NULL, "preadv and pwritev") : rc;
}
