#include "fit/fit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fit/ladder.h"

#define Z95 1.959964
/* One more segment must gain more than this many standard deviations: the search picks the best of
 * thousands of ranges, of which 1 in 20 would pass at 1.96 by noise alone. */
#define SURE 3.5
/* Weighted mean loss below which nothing is measurable whatever the intervals say: .03 % of all
 * copies' cost, or half a per cent within one of some 20 octaves. */
#define SEGMENT_FLOOR 3e-4
/* A border may move where that costs less than FREE_FLOOR, or, up to FREE_CAP, less than a standard
 * deviation. */
#define FREE_FLOOR 2e-4
#define FREE_CAP 1e-3

struct fit {
    const struct uc_fit_model *m;
    struct uc_sums sums;
    unsigned k;
    struct uc_steps *list; /* [(k + 1) * UC_MAX_LADDERS] */
};

static size_t first_of(const struct uc_steps *l, size_t i)
{
    return i ? l->end[i - 1] + 1 : 0;
}

static size_t band_of(const struct uc_fit_model *m, const struct uc_steps *l, size_t i)
{
    return uc_model_band(m, m->size[l->end[i]]);
}

/* Choosing among the ladders found. */

/* How two ladders differ: only sizes count that they serve differently. */
struct difference {
    double var;
    double far;                      /* weight of the sizes above UC_SMALL_MAX among them */
    double largest[UC_MAX_SEGMENTS]; /* what single sizes make of it, descending */
};

static void note_largest(struct difference *d, double gain)
{
    for (size_t i = 0; i < UC_MAX_SEGMENTS && gain > 0; i++)
        if (gain > d->largest[i]) {
            double t = d->largest[i];
            d->largest[i] = gain;
            gain = t;
        }
}

/* a and b serve the sizes first to last by x and y, priced in the bands bx and by. */
static void add_range(const struct fit *f, struct difference *d, size_t x, size_t bx, size_t y,
                      size_t by, size_t first, size_t last)
{
    double fx = uc_sums_factor(&f->sums, x), fy = uc_sums_factor(&f->sums, y);

    d->var += uc_sums_cost(&f->sums, x, first, last, bx).var +
              uc_sums_cost(&f->sums, y, first, last, by).var;
    for (size_t n = first; n <= last; n++)
        d->far += f->m->size[n] > UC_SMALL_MAX ? f->m->weight[n] : 0;
    for (size_t n = first; n <= last; n++)
        note_largest(d, fx * uc_sums_cost(&f->sums, x, n, n, bx).mid -
                            fy * uc_sums_cost(&f->sums, y, n, n, by).mid);
}

static struct difference differ(const struct fit *f, const struct uc_steps *a,
                                const struct uc_steps *b)
{
    struct difference d = {0};
    size_t first = 0;

    for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
        size_t last = a->end[i] < b->end[j] ? a->end[i] : b->end[j];
        size_t x = band_of(f->m, a, i), y = band_of(f->m, b, j);
        if (a->strategy[i] != b->strategy[j] || x != y)
            add_range(f, &d, a->strategy[i], x, b->strategy[j], y, first, last);
        first = last + 1;
        i += a->end[i] == last;
        j += b->end[j] == last;
    }
    return d;
}

/* Is the longer ladder measurably better? Not by what noise makes of the best of so many ranges,
 * and not by single sizes: one a border is left out of the count. Above UC_SMALL_MAX it must be
 * better by the margin where it differs: the caches of a shared box change by more from run to run,
 * which the intervals of one run do not tell, and a range that gains 2 % today is another one's
 * tomorrow. */
static bool worth_more(const struct fit *f, const struct uc_steps *l, const struct uc_steps *best)
{
    struct difference d = differ(f, l, best);
    double gain = l->loss - best->loss;

    if (gain <= SURE * sqrt(d.var) || gain <= f->m->weights->margin * d.far)
        return false;
    for (size_t i = l->n; i < best->n; i++)
        gain -= d.largest[i - l->n];
    return gain > SEGMENT_FLOOR;
}

/* Against each longer one, not the best alone: that may have three borders more than are worth
 * their while, which all count against the one that is. */
static bool outdone(const struct fit *f, unsigned n)
{
    for (unsigned m = n + 1; m <= f->k; m++) {
        const struct uc_steps *longer = &f->list[m * UC_MAX_LADDERS];
        if (longer->n && worth_more(f, &f->list[n * UC_MAX_LADDERS], longer))
            return true;
    }
    return false;
}

/* The shortest ladder than which no longer one is measurably better. */
static const struct uc_steps *choose(const struct fit *f)
{
    for (unsigned n = 1; n <= f->k; n++)
        if (f->list[n * UC_MAX_LADDERS].n && !outdone(f, n))
            return &f->list[n * UC_MAX_LADDERS];
    return NULL;
}

static bool fits_between(const struct fit *f, const struct uc_steps *l, size_t i, size_t r)
{
    return (!i || uc_sums_joins(&f->sums, l->strategy[i - 1], r)) &&
           (i + 1 == l->n || uc_sums_joins(&f->sums, r, l->strategy[i + 1]));
}

/* The simplest strategy whose cost over the segment cannot be told from that of the chosen one;
 * noise alone is no excuse: it must lie within the margin too. */
static size_t simplest_tie(const struct fit *f, const struct uc_steps *l, size_t i)
{
    size_t first = first_of(l, i), last = l->end[i], band = band_of(f->m, l, i);
    size_t chosen = l->strategy[i], simplest = chosen;
    double factor = uc_sums_factor(&f->sums, chosen);
    struct uc_sum c = uc_sums_cost(&f->sums, chosen, first, last, band);

    for (size_t r = 0; r < f->m->strategies; r++) {
        if (r == chosen || !uc_sums_serves(&f->sums, r, first, last) || !fits_between(f, l, i, r) ||
            !uc_model_simpler(&f->m->strategy[r], &f->m->strategy[simplest]))
            continue;
        double fr = uc_sums_factor(&f->sums, r);
        struct uc_sum x = uc_sums_cost(&f->sums, r, first, last, band);
        double sd = sqrt(c.var * factor * factor + x.var * fr * fr);
        double more = x.mid * fr - c.mid * factor;
        if (more <= Z95 * sd && more <= f->m->weights->margin * c.mid * factor)
            simplest = r;
    }
    return simplest;
}

static void merge_equal(struct uc_steps *l)
{
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++) {
        if (n && l->strategy[n - 1] == l->strategy[i]) {
            l->end[n - 1] = l->end[i];
            continue;
        }
        l->strategy[n] = l->strategy[i];
        l->end[n++] = l->end[i];
    }
    l->n = n;
}

static int settle_ties(const struct fit *f, struct uc_steps *l)
{
    struct uc_steps simpler = *l;

    for (size_t i = 0; i < l->n; i++)
        simpler.strategy[i] = simplest_tie(f, &simpler, i); /* its neighbours before are settled */
    if (!memcmp(simpler.strategy, l->strategy, l->n * sizeof(*l->strategy)))
        return 0;
    merge_equal(&simpler);
    int rc = uc_ladder_borders(&f->sums, &simpler);
    if (!rc)
        *l = simpler;
    return rc == -ENODATA ? 0 : rc;
}

static bool same_sequence(const struct uc_steps *a, const struct uc_steps *b)
{
    return a->n == b->n && !memcmp(a->strategy, b->strategy, a->n * sizeof(*a->strategy));
}

/* The next best ladder of another sequence than those taken; NULL where there is none. */
static const struct uc_steps *next_best(const struct fit *f, const struct uc_steps *taken, size_t n)
{
    const struct uc_steps *best = NULL;

    for (size_t i = 0; i < (f->k + 1) * UC_MAX_LADDERS; i++) {
        const struct uc_steps *l = &f->list[i];
        bool known = !l->n;
        for (size_t j = 0; j < n; j++)
            known |= same_sequence(l, &taken[j]);
        if (!known && (!best || l->loss + SEGMENT_FLOOR * (double)l->n <
                                    best->loss + SEGMENT_FLOOR * (double)best->n))
            best = l;
    }
    return best;
}

/* Borders: how far each may move, and where it goes. */

static bool costs_nothing(double loss, double var)
{
    return loss <= FREE_FLOOR || (loss <= FREE_CAP && loss <= sqrt(var));
}

/* Cost of serving the sizes first to last by x instead of by y. */
static bool free_swap(const struct fit *f, size_t x, size_t y, size_t first, size_t last,
                      size_t band)
{
    double fx = uc_sums_factor(&f->sums, x), fy = uc_sums_factor(&f->sums, y);
    struct uc_sum a = uc_sums_cost(&f->sums, x, first, last, band);
    struct uc_sum b = uc_sums_cost(&f->sums, y, first, last, band);

    return costs_nothing(a.mid * fx - b.mid * fy, a.var * fx * fx + b.var * fy * fy);
}

/* Indices of the least and the largest size at which the border may lie. */
static void free_range(const struct fit *f, const struct uc_steps *l, size_t i, size_t *lo,
                       size_t *hi)
{
    size_t a = l->strategy[i], b = l->strategy[i + 1], at = l->end[i], band = band_of(f->m, l, i);
    size_t first = first_of(l, i), last = l->end[i + 1];

    *lo = *hi = at;
    while (*lo > first && uc_sums_serves(&f->sums, b, *lo, last) &&
           free_swap(f, b, a, *lo, at, band))
        --*lo;
    while (*hi + 1 < last && uc_sums_serves(&f->sums, a, first, *hi + 1) &&
           free_swap(f, a, b, at + 1, *hi + 1, band))
        ++*hi;
}

/* Between two sizes of the grid a border is free as far as both strategies may serve. */
static void set_free(const struct fit *f, const struct uc_steps *l, size_t i,
                     struct uc_segment *seg)
{
    const struct uc_fit_model *m = f->m;
    const struct uc_model_strategy *a = &m->strategy[l->strategy[i]];
    const struct uc_model_strategy *b = &m->strategy[l->strategy[i + 1]];
    size_t lo, hi;

    free_range(f, l, i, &lo, &hi);
    seg->free_lo = m->size[lo];
    seg->free_hi = uc_sums_serves(&f->sums, l->strategy[i], first_of(l, i), hi + 1)
                       ? m->size[hi + 1] - 1
                       : m->size[hi];
    if (seg->free_hi > a->max)
        seg->free_hi = a->max;
    if (b->min && seg->free_lo < b->min - 1)
        seg->free_lo = b->min - 1;
    /* Only one of the two may serve up to there, measured or not. */
    if (seg->free_hi < seg->free_lo && a->max >= seg->free_lo)
        seg->free_hi = seg->free_lo;
}

static int set_border(const struct fit *f, struct uc_steps *l, size_t i, struct uc_segment *seg)
{
    const struct uc_fit_model *m = f->m;
    size_t lo, hi, at = l->end[i];
    int rc = uc_crossing(m, l->strategy[i], l->strategy[i + 1], first_of(l, i), at, l->end[i + 1],
                         &lo, &hi);

    if (rc)
        return rc;
    seg->lo = m->no_spread ? 0 : m->size[lo];
    seg->hi = m->no_spread ? 0 : m->size[hi];
    seg->bracketed = true;
    set_free(f, l, i, seg);
    seg->max = uc_roundest(seg->free_lo, seg->free_hi, m->size[at]);
    while (l->end[i] > first_of(l, i) && m->size[l->end[i]] > seg->max)
        l->end[i]--;
    while (m->size[l->end[i] + 1] <= seg->max)
        l->end[i]++;
    return 0;
}

/* Who comes second, and by how much. */

struct rival {
    double ours, theirs, var; /* sums over the sizes that both have */
    double cover;             /* their weight */
};

static struct rival compare(const struct uc_fit_model *m, size_t s, size_t r, size_t first,
                            size_t last, size_t band)
{
    struct rival v = {0};
    double common_s = 0, common_r = 0;

    for (size_t i = first; i <= last; i++) {
        double w = m->weight[i], cs, cr;
        struct uc_est a = uc_model_cost(m, s, i, band, &cs), b = uc_model_cost(m, r, i, band, &cr);
        if (isnan(a.mid) || isnan(b.mid) || m->size[i] < m->strategy[r].min ||
            m->size[i] > m->strategy[r].max || m->barred[r * m->sizes + i])
            continue;
        v.ours += w * a.mid;
        v.theirs += w * b.mid;
        v.var += w * w * (a.var + b.var);
        v.cover += w;
        common_s += w * sqrt(cs);
        common_r += w * sqrt(cr);
    }
    v.var += common_s * common_s + common_r * common_r;
    return v;
}

/* The runner-up is the best of those that have at least half of the range (some were raced out). */
static void set_runner_up(const struct fit *f, const struct uc_steps *l, size_t i,
                          struct uc_segment *seg)
{
    const struct uc_fit_model *m = f->m;
    size_t first = first_of(l, i), last = l->end[i], s = l->strategy[i];
    double range = f->sums.all[last + 1] - f->sums.all[first];

    seg->margin = seg->margin_lo = seg->margin_hi = 1;
    for (size_t r = 0; r < m->strategies; r++) {
        if (r == s || !m->strategy[r].candidate || (m->strategy[r].dispatch && i > 0))
            continue;
        struct rival v = compare(m, s, r, first, last, band_of(m, l, i));
        if (!(v.cover > range / 2 - 1e-12) ||
            (seg->runner_up[0] && v.theirs / v.ours >= seg->margin))
            continue;
        double half = Z95 * sqrt(v.var) / v.ours;
        memcpy(seg->runner_up, m->strategy[r].name, sizeof(seg->runner_up));
        seg->margin = v.theirs / v.ours;
        seg->tie = seg->margin - half <= 1 && seg->margin + half >= 1;
        seg->margin_lo = seg->margin - (m->no_spread ? 0 : half);
        seg->margin_hi = seg->margin + (m->no_spread ? 0 : half);
    }
}

/* Largest size of the range at which the strategy itself has cells. */
static size_t measured_to(const struct uc_fit_model *m, size_t s, size_t first, size_t last)
{
    while (last > first && isnan(m->fixed[s * m->sizes + last].mid))
        last--;
    return m->size[last];
}

static double best_at(const struct uc_fit_model *m, size_t n, size_t band)
{
    double best = HUGE_VAL, common;

    for (size_t s = 0; s < m->strategies; s++) {
        double c = uc_model_cost(m, s, n, band, &common).mid;
        if (m->strategy[s].candidate && c < best)
            best = c;
    }
    return best;
}

static double loss_of(const struct fit *f, const struct uc_steps *l)
{
    double loss = 0, common;

    for (size_t i = 0; i < l->n; i++) {
        size_t band = band_of(f->m, l, i);
        for (size_t n = first_of(l, i); n <= l->end[i]; n++)
            loss += f->m->weight[n] * (uc_model_cost(f->m, l->strategy[i], n, band, &common).mid -
                                       best_at(f->m, n, band));
        loss += uc_sums_border(&f->sums, first_of(l, i), l->end[i]);
    }
    return loss;
}

static void set_guard(const struct uc_fit_model *m, size_t s, size_t first, size_t last,
                      struct uc_segment *seg)
{
    const struct uc_model_guard *g = uc_model_guard_in(m, s, first, last);

    if (!g)
        return;
    strcpy(seg->guard.test, "page_distance");
    seg->guard.lo = g->lo;
    seg->guard.hi = g->hi;
    memcpy(seg->guard.otherwise, m->strategy[g->otherwise].name, sizeof(seg->guard.otherwise));
}

static int write_ladder(const struct fit *f, struct uc_steps l, struct uc_ladder *out)
{
    int rc = 0;

    out->n = l.n;
    for (size_t i = 0; i < l.n && !rc; i++) {
        struct uc_segment *seg = &out->segment[i];
        memcpy(seg->strategy, f->m->strategy[l.strategy[i]].name, sizeof(seg->strategy));
        seg->max = SIZE_MAX;
        if (i + 1 < l.n)
            rc = set_border(f, &l, i, seg);
        set_runner_up(f, &l, i, seg);
        set_guard(f->m, l.strategy[i], first_of(&l, i), l.end[i], seg);
        seg->measured_to = measured_to(f->m, l.strategy[i], first_of(&l, i), l.end[i]);
    }
    out->loss = loss_of(f, &l);
    return rc;
}

/* A ladder must serve from 0 for ever and keep barred strategies out; where the table allows no
 * such one (it holds but short strategies), what it does allow. */
static int search(struct fit *f)
{
    static const struct {
        bool open_ends, bars;
    } rule[] = {{true, true}, {false, true}, {true, false}, {false, false}};

    for (size_t i = 0; i < sizeof(rule) / sizeof(rule[0]); i++) {
        f->sums.open_ends = rule[i].open_ends;
        f->sums.bars = rule[i].bars;
        int rc = uc_ladders(&f->sums, f->k, f->list);
        if (rc || choose(f))
            return rc;
    }
    return -ENODATA;
}

static int decide(struct fit *f, struct uc_fit_result *out)
{
    struct uc_steps taken[UC_MAX_LADDERS];
    int rc = search(f);

    if (rc) {
        snprintf(out->why, sizeof(out->why),
                 rc == -ENODATA ? "no sequence of at most %u candidates serves all sizes from %zu"
                                : "out of memory",
                 f->k, f->m->size[0]);
        return rc;
    }
    taken[0] = *choose(f);
    rc = settle_ties(f, &taken[0]);
    for (size_t n = 0; n < UC_MAX_LADDERS && !rc; n++) {
        const struct uc_steps *next = n ? next_best(f, taken, n) : &taken[0];
        if (!next)
            break;
        taken[n] = *next;
        rc = write_ladder(f, taken[n], &out->ladder[n]);
        out->ladders = n + 1;
    }
    return rc;
}

int uc_fit(const struct uc_cells *cells, const struct uc_fit_options *o, struct uc_fit_result *out)
{
    struct uc_fit_model m;
    struct fit f = {.m = &m, .k = o->max_segments};

    memset(out, 0, sizeof(*out));
    if (f.k < 1 || f.k > UC_MAX_SEGMENTS)
        f.k = f.k < 1 ? 1 : UC_MAX_SEGMENTS;
    int rc = uc_model_build(cells, o, &m, out->why, sizeof(out->why));
    if (rc)
        return rc;
    out->no_spread = m.no_spread;
    f.list = calloc((f.k + 1) * UC_MAX_LADDERS, sizeof(*f.list));
    rc = f.list ? uc_sums_new(&m, o->branch_cost, &f.sums) : -ENOMEM;
    if (!rc)
        rc = decide(&f, out);
    memcpy(out->barred, m.bar, sizeof(out->barred));
    out->barred_n = m.bar_n;
    memcpy(out->anomaly, m.anomaly, sizeof(out->anomaly));
    out->anomaly_n = m.anomaly_n;
    uc_sums_free(&f.sums);
    free(f.list);
    uc_model_clear(&m);
    return rc;
}
