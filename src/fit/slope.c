#include "fit/slope.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const uc_region_name[UC_REGIONS] = {"l1", "l2", "l3", "memory"};

#define HUBER 1.345       /* in standard deviations: 95 % efficient where errors are normal */
#define NORMAL 1.959964   /* half of a 95 % interval in standard deviations */
#define MOST_STEPS 200    /* of reweighting; 10 to 30 are usual */
#define LEAST_MISS 1e-9   /* a relative error below it is none */
#define LEAST_SCALE 1e-12 /* of a variance: cells that a line fits exactly have none */
#define FEW 12            /* sizes below which half of them is too few for a scale */

struct point {
    double x, y;  /* size over the largest; cost */
    double var;   /* of its relative error, by its own interval */
    double share; /* of the octaves; all together 1 */
    double miss;  /* relative error against the line as it stands */
};

struct line {
    double a, b;
};

/* Which cells. */

static bool counts(const struct uc_cell *c, const struct uc_slope_options *o)
{
    return c->mix == UC_FIXED && !c->size_hi && c->consumer == UC_NONE && c->entry == UC_COPY &&
           c->form == UC_CALLED && c->code == UC_WARM && c->threads == 1 && c->code_placement < 0 &&
           c->dst_align < 0 && c->src_align < 0 && c->page_distance < 0 &&
           c->dst_end.kind == UC_END_DRAWN && c->src_end.kind == UC_END_DRAWN &&
           (!c->environment || c->environment & o->environment);
}

static int region_of_size(size_t n, const struct uc_slope_options *o)
{
    if (n && n <= o->l1d / 2)
        return UC_REGION_L1;
    if (n >= o->l1d && n <= o->l2 / 2)
        return UC_REGION_L2;
    if (n >= o->l2 && n <= o->l3 / 2)
        return UC_REGION_L3;
    return o->l3 && n > o->l3 ? UC_REGION_MEMORY : -1;
}

/* -1: none. */
static int region_of(const struct uc_cell *c, const struct uc_slope_options *o)
{
    static const enum uc_state own[UC_REGIONS] = {UC_L1, UC_L2, UC_L3, UC_MEMORY};
    int r = counts(c, o) ? region_of_size(c->size, o) : -1;

    if (r < 0 || c->src_state != c->dst_state ||
        (c->src_state != UC_NATURAL && c->src_state != own[r]))
        return -1;
    return r;
}

/* By name and size; at one size the state that was asked for stands before what comes of itself. */
static int by_curve(const void *x, const void *y)
{
    const struct uc_cell *a = *(const struct uc_cell *const *)x;
    const struct uc_cell *b = *(const struct uc_cell *const *)y;
    int d = strcmp(a->strategy, b->strategy);

    if (d)
        return d;
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    if (a->src_state != b->src_state)
        return a->src_state > b->src_state ? -1 : 1;
    return uc_cells_compare(a, b);
}

/* The line. */

static double at(const struct line *l, const struct point *p)
{
    return l->a + l->b * p->x;
}

/* What errors are divided by: the line's value, within four times of the reading, as a line on its
 * way may go through 0. */
static double level(const struct line *l, const struct point *p)
{
    return fmin(fmax(at(l, p), p->y / 4), 4 * p->y);
}

static void set_misses(const struct line *l, struct point *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i].miss = (p[i].y - at(l, &p[i])) / level(l, &p[i]);
}

/* Sums of the normal equations: of w, w x, w x^2, w y and w x y. */
struct sums {
    double w, x, xx, y, xy;
};

static void add(struct sums *s, const struct point *p, double w)
{
    s->w += w;
    s->x += w * p->x;
    s->xx += w * p->x * p->x;
    s->y += w * p->y;
    s->xy += w * p->x * p->y;
}

static bool solve(const struct sums *s, struct line *l)
{
    double det = s->w * s->xx - s->x * s->x;

    if (!(det > 0))
        return false;
    l->a = (s->xx * s->y - s->x * s->xy) / det;
    l->b = (s->w * s->xy - s->x * s->y) / det;
    return true;
}

typedef double weight_fn(const struct point *p, double common);

/* Least absolute relative error. */
static double absolute(const struct point *p, double common)
{
    (void)common;
    return p->share / fmax(fabs(p->miss), LEAST_MISS);
}

static double variance(const struct point *p, double common)
{
    return common + p->var + LEAST_SCALE;
}

static double standard(const struct point *p, double common)
{
    return fabs(p->miss) / sqrt(variance(p, common));
}

static double huber(const struct point *p, double common)
{
    double z = standard(p, common);
    return p->share / variance(p, common) * (z > HUBER ? HUBER / z : 1);
}

/* Weighs by the misses of the line before, until it moves no more. */
static void reweigh(struct point *p, size_t n, weight_fn *weight, double common, struct line *l)
{
    for (int step = 0; step < MOST_STEPS; step++) {
        struct sums s = {0};
        struct line next = *l;
        double moved = 0;
        set_misses(l, p, n);
        for (size_t i = 0; i < n; i++) {
            double d = level(l, &p[i]);
            add(&s, &p[i], weight(&p[i], common) / (d * d));
        }
        if (!solve(&s, &next))
            break;
        for (size_t i = 0; i < n; i++)
            moved = fmax(moved, fabs(at(&next, &p[i]) - at(l, &p[i])) / level(l, &p[i]));
        *l = next;
        if (moved < LEAST_MISS)
            break;
    }
    set_misses(l, p, n);
}

/* Ordinary least squares of the errors relative to the readings: where to begin. */
static bool first_line(const struct point *p, size_t n, struct line *l)
{
    struct sums s = {0};

    for (size_t i = 0; i < n; i++)
        add(&s, &p[i], p[i].share / (p[i].y * p[i].y));
    return solve(&s, l);
}

/* How sure. */

struct weighed {
    double v, share;
};

static int by_value(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;
    return (x->v > y->v) - (x->v < y->v);
}

static double median(struct weighed *w, size_t n)
{
    double sum = 0;

    qsort(w, n, sizeof(*w), by_value);
    for (size_t i = 0; i < n; i++) {
        sum += w[i].share;
        if (sum >= .5)
            return w[i].v;
    }
    return w[n - 1].v;
}

static double median_miss(const struct point *p, size_t n, struct weighed *room)
{
    for (size_t i = 0; i < n; i++)
        room[i] = (struct weighed){fabs(p[i].miss), p[i].share};
    return median(room, n);
}

static double median_var(const struct point *p, size_t n, struct weighed *room)
{
    for (size_t i = 0; i < n; i++)
        room[i] = (struct weighed){p[i].var, p[i].share};
    return median(room, n);
}

/* Variance of the relative errors that the cells' own intervals do not explain: what the line as
 * such misses by. The scale is the median absolute miss, over .6745; of few sizes, two of which a
 * line of least absolute errors meets exactly, the mean one, over .7979. */
static double common_variance(const struct point *p, size_t n, struct weighed *room)
{
    double left = (double)n / (double)(n - 2), mean = 0;

    for (size_t i = 0; i < n; i++)
        mean += fabs(p[i].miss) / (double)n;
    double scale = n < FEW ? left * mean / .7979 : sqrt(left) * median_miss(p, n, room) / .6745;
    return fmax(0, scale * scale - median_var(p, n, room));
}

/* Student's t at 97.5 %: exact for 1 and 2 degrees of freedom, from 3 on by Abramowitz and Stegun
 * 26.7.5, to half a per cent. */
static double student(size_t freedom)
{
    const double z = NORMAL, v = (double)freedom, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;

    if (freedom == 1)
        return 12.7062;
    if (freedom == 2)
        return 4.3027;
    return z + (z3 + z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * z) / (96 * v * v) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * v * v * v) +
           (79 * z7 * z * z + 776 * z7 + 1482 * z5 - 1920 * z3 - 945 * z) / (92160 * v * v * v * v);
}

static struct uc_estimate within(double mid, double half)
{
    return (struct uc_estimate){mid, mid - half, mid + half};
}

/* What a line is a sum of readings by, and the covariance of a and b that comes of theirs. */
struct spread {
    struct sums s;
    double det, aa, ab, bb;
};

static double full_weight(const struct point *p, double common, const struct line *l)
{
    return p->share / variance(p, common) / pow(level(l, p), 2);
}

static struct spread spread_of(const struct point *p, size_t n, double common, const struct line *l)
{
    struct spread c = {0};

    for (size_t i = 0; i < n; i++)
        add(&c.s, &p[i], full_weight(&p[i], common, l));
    c.det = c.s.w * c.s.xx - c.s.x * c.s.x;
    for (size_t i = 0; i < n; i++) {
        double w = full_weight(&p[i], common, l);
        double error = variance(&p[i], common) * pow(level(l, &p[i]), 2);
        double of_a = w * (c.s.xx - c.s.x * p[i].x) / c.det;
        double of_b = w * (c.s.w * p[i].x - c.s.x) / c.det;
        c.aa += of_a * of_a * error;
        c.ab += of_a * of_b * error;
        c.bb += of_b * of_b * error;
    }
    return c;
}

/* The variance of a miss over that of the cell: the line follows its own cells, and lies the nearer
 * to one the more that one has to say. */
static double left_over(const struct point *p, double common, const struct line *l,
                        const struct spread *c)
{
    double cell = variance(p, common) * pow(level(l, p), 2);
    double own =
        full_weight(p, common, l) * (c->s.xx - 2 * c->s.x * p->x + c->s.w * p->x * p->x) / c->det;
    double of_line = c->aa + 2 * c->ab * p->x + c->bb * p->x * p->x;

    return fmax(1 - 2 * own + of_line / cell, .01);
}

/* By how much the misses are larger than variance() says, a ratio of variances: Huber and
 * Ronchetti, "Robust Statistics", 7.6. */
static double excess(const struct point *p, size_t n, double common, const struct line *l,
                     const struct spread *c)
{
    double squares = 0, inside = 0;

    for (size_t i = 0; i < n; i++) {
        double z = standard(&p[i], common) / sqrt(left_over(&p[i], common, l, c));
        squares += pow(fmin(z, HUBER), 2) / (double)n;
        inside += z < HUBER ? 1 / (double)n : 0;
    }
    inside = fmax(inside, .25);
    return squares / (inside * inside);
}

/* What the cells' own intervals leave open, or what the misses show, whichever is more: that a few
 * cells happen to agree makes them no surer. */
static void set_intervals(const struct point *p, size_t n, double common, const struct line *l,
                          double largest, struct uc_slope *out)
{
    struct spread c = spread_of(p, n, common, l);
    double half = fmax(NORMAL, student(n - 2) * sqrt(excess(p, n, common, l, &c)));

    out->start = within(l->a, half * sqrt(c.aa));
    out->byte = within(l->b / largest, half * sqrt(c.bb) / largest);
}

static bool all_finite(const struct uc_slope *s)
{
    return isfinite(s->start.lo) && isfinite(s->start.hi) && isfinite(s->byte.lo) &&
           isfinite(s->byte.hi);
}

/* A cell's share is the part of the octaves for which it is the nearest size.
 * cell: of one strategy and region, ascending, one a size. */
static void set_points(const struct uc_cell *const *cell, size_t n, struct point *p)
{
    const double first = log((double)cell[0]->size), last = log((double)cell[n - 1]->size);

    for (size_t i = 0; i < n; i++) {
        const struct uc_cell *c = cell[i];
        double error = (c->hi - c->lo) / 2 / NORMAL / c->cost;
        double below = i ? log((double)cell[i - 1]->size) : first;
        double above = i + 1 < n ? log((double)cell[i + 1]->size) : last;
        p[i] = (struct point){
            .x = (double)c->size / (double)cell[n - 1]->size,
            .y = c->cost,
            .var = error * error,
            .share = (above - below) / 2 / (last - first),
        };
    }
}

static void fit_region(const struct uc_cell *const *cell, size_t n, struct point *p,
                       struct weighed *room, struct uc_slope *out)
{
    struct line l;

    memset(out, 0, sizeof(*out));
    out->sizes = n;
    if (n < UC_SLOPE_SIZES)
        return;
    out->from = cell[0]->size;
    out->to = cell[n - 1]->size;
    set_points(cell, n, p);
    if (!first_line(p, n, &l))
        return;
    reweigh(p, n, absolute, 0, &l);
    double common = common_variance(p, n, room);
    reweigh(p, n, huber, common, &l);
    set_intervals(p, n, common, &l, (double)out->to, out);
    out->off = median_miss(p, n, room);
    out->measured = all_finite(out);
}

/* The table. */

static void fit_strategy(const struct uc_cell *const *cell, size_t n,
                         const struct uc_slope_options *o, const struct uc_cell **picked,
                         struct point *p, struct weighed *room, struct uc_slopes_row *row)
{
    strcpy(row->strategy, cell[0]->strategy);
    for (int r = 0; r < UC_REGIONS; r++) {
        size_t k = 0;
        for (size_t i = 0; i < n; i++)
            if (region_of(cell[i], o) == r && !(k && picked[k - 1]->size == cell[i]->size))
                picked[k++] = cell[i];
        fit_region(picked, k, p, room, &row->region[r]);
    }
}

/* Pointers to the cells of all that copies; returns how many strategies they are of. */
static size_t sort_curves(const struct uc_cells *cells, const struct uc_cell **v, size_t *n)
{
    size_t strategies = 0;

    *n = 0;
    for (size_t i = 0; i < cells->n; i++)
        if (cells->v[i].role != UCOPY_LIMIT)
            v[(*n)++] = &cells->v[i];
    qsort(v, *n, sizeof(*v), by_curve);
    for (size_t i = 0; i < *n; i++)
        strategies += !i || strcmp(v[i]->strategy, v[i - 1]->strategy) != 0;
    return strategies;
}

static struct uc_slope_options with_caches(const struct uc_slope_options *o)
{
    struct uc_slope_options out = *o;

    out.l1d = o->l1d ? o->l1d : 32 * 1024;
    out.l2 = o->l2 ? o->l2 : 256 * 1024;
    return out;
}

int uc_slopes_fit(const struct uc_cells *cells, const struct uc_slope_options *o,
                  struct uc_slopes *out)
{
    size_t room = cells->n + 1, n = 0;
    const struct uc_cell **v = malloc(room * sizeof(*v)), **picked = malloc(room * sizeof(*v));
    struct point *p = malloc(room * sizeof(*p));
    struct weighed *w = malloc(room * sizeof(*w));

    memset(out, 0, sizeof(*out));
    out->o = with_caches(o);
    out->unit = cells->unit;
    size_t strategies = v ? sort_curves(cells, v, &n) : 0;
    out->v = calloc(strategies + 1, sizeof(*out->v));
    bool done = v && picked && p && w && out->v;
    for (size_t i = 0, end; done && i < n; i = end) {
        for (end = i + 1; end < n && !strcmp(v[end]->strategy, v[i]->strategy);)
            end++;
        fit_strategy(v + i, end - i, &out->o, picked, p, w, &out->v[out->n++]);
    }
    free(v);
    free(picked);
    free(p);
    free(w);
    if (!done)
        uc_slopes_free(out);
    return done ? 0 : -ENOMEM;
}

void uc_slopes_free(struct uc_slopes *s)
{
    free(s->v);
    s->v = NULL;
    s->n = 0;
}

const struct uc_slopes_row *uc_slopes_find(const struct uc_slopes *s, const char *strategy)
{
    for (size_t i = 0; i < s->n; i++)
        if (!strcmp(s->v[i].strategy, strategy))
            return &s->v[i];
    return NULL;
}

double uc_slope_gb_s(double ns_a_byte)
{
    return ns_a_byte > 0 ? 1 / ns_a_byte : NAN;
}
