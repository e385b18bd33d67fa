#include "fit/drift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/model.h"

#define Z95 1.959964

const char *const uc_drift_name[3] = {"holds", "unsure", "drifted"};

/* ---- sizes ---- */

static size_t first_of(const struct uc_ladder *l, size_t i)
{
    return i ? l->segment[i - 1].max + 1 : 0;
}

/* Last size of a range; of the open one, the largest that was measured. */
static size_t last_of(const struct uc_ladder *l, size_t i)
{
    const struct uc_segment *s = &l->segment[i];
    size_t first = first_of(l, i);

    if (s->max != SIZE_MAX)
        return s->max;
    return s->measured_to > first ? s->measured_to : 4 * (first ? first : 64);
}

/* So far through a range, by ratios: .5 is its middle. */
static size_t within(const struct uc_ladder *l, size_t i, double share)
{
    double first = fmax((double)first_of(l, i), 1), last = (double)last_of(l, i);

    return (size_t)lround(first * pow(last / first, share));
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Where the border between the ranges i and i + 1 may lie by what it was told with: the interval of
 * the crossing and the range in which moving it costs nothing, which always holds the border itself
 * unless it was edited by hand. Within the two ranges. */
static void told(const struct uc_ladder *l, size_t i, size_t *lo, size_t *hi)
{
    const struct uc_segment *s = &l->segment[i];

    if (s->free_lo <= s->max && s->max <= s->free_hi) {
        *lo = s->lo ? smaller(s->lo, s->free_lo) : s->free_lo;
        *hi = larger(s->hi, s->free_hi);
    } else {
        *lo = s->max / 2;
        *hi = s->max > SIZE_MAX / 2 ? s->max : 2 * s->max;
    }
    *lo = larger(smaller(*lo, s->max), first_of(l, i));
    *hi = smaller(larger(*hi, s->max), last_of(l, i + 1));
}

static int by_size(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

size_t uc_drift_sizes(const struct uc_ladder *l, size_t top, size_t size[UC_DRIFT_SIZES])
{
    size_t n = 0, kept = 0;

    for (size_t i = 0; i < l->n; i++) {
        for (int quarter = 1; quarter < 4; quarter++)
            size[n++] = within(l, i, quarter / 4.);
        if (i + 1 == l->n)
            size[n++] = last_of(l, i);
        if (i + 1 == l->n)
            break;
        size_t t = l->segment[i].max, lo, hi;
        size_t half = larger(t / 2, first_of(l, i)), twice = smaller(2 * t, last_of(l, i + 1));
        told(l, i, &lo, &hi);
        const size_t at[] = {larger(t, 1) - 1, t, t + 1, half, twice, lo, hi};
        memcpy(size + n, at, sizeof(at));
        n += sizeof(at) / sizeof(at[0]);
    }
    qsort(size, n, sizeof(*size), by_size);
    for (size_t i = 0; i < n; i++)
        if (size[i] <= top && (!kept || size[kept - 1] != size[i]))
            size[kept++] = size[i];
    return kept;
}

bool uc_drift_span(const struct uc_ladder *l, const char *strategy, size_t *lo, size_t *hi)
{
    bool found = false;

    for (size_t i = 0; i < l->n; i++) {
        bool own = !strcmp(l->segment[i].strategy, strategy);
        if (!own && strcmp(l->segment[i].runner_up, strategy) != 0)
            continue;
        size_t first = first_of(l, own && i ? i - 1 : i);
        size_t last = own && i + 1 < l->n ? l->segment[i + 1].max : l->segment[i].max;
        *lo = found ? smaller(*lo, first) : first;
        *hi = found ? larger(*hi, last) : last;
        found = true;
    }
    return found;
}

/* ---- verdicts ---- */

struct loss {
    double mid;         /* NaN: not measured */
    double var, common; /* common: that of the band's reading, which all sizes share */
};

/* m->sizes where the size was not timed. */
static size_t index_of(const struct uc_fit_model *m, size_t size)
{
    size_t n = 0;

    while (n < m->sizes && m->size[n] != size)
        n++;
    return n;
}

static bool may_serve(const struct uc_fit_model *m, size_t s, size_t size)
{
    size_t n = index_of(m, size);

    return size >= m->strategy[s].min && size <= m->strategy[s].max &&
           (n == m->sizes || !m->barred[s * m->sizes + n]);
}

/* What a costs over b at the n-th size, less 1. */
static struct loss loss_at(const struct uc_fit_model *m, size_t a, size_t b, size_t n, size_t band)
{
    double ca, cb;
    struct uc_est x = uc_model_cost(m, a, n, band, &ca), y = uc_model_cost(m, b, n, band, &cb);
    double ratio = x.mid / y.mid, xx = x.mid * x.mid, yy = y.mid * y.mid;

    if (isnan(ratio) || !may_serve(m, a, m->size[n]) || !may_serve(m, b, m->size[n]))
        return (struct loss){NAN, 0, 0};
    return (struct loss){ratio - 1, ratio * ratio * (x.var / xx + y.var / yy),
                         ratio * ratio * (ca / xx + cb / yy)};
}

/* The mean over the sizes first to last at which both were timed. */
static struct loss mean_loss(const struct uc_fit_model *m, size_t a, size_t b, size_t first,
                             size_t last, size_t band)
{
    struct loss sum = {0, 0, 0};
    double weight = 0, common = 0;

    for (size_t n = 0; n < m->sizes; n++) {
        struct loss at = loss_at(m, a, b, n, band);
        if (m->size[n] < first || m->size[n] > last || isnan(at.mid))
            continue;
        weight += 1;
        sum.mid += at.mid;
        sum.var += at.var;
        common += sqrt(at.common);
    }
    if (!(weight > 0))
        return (struct loss){NAN, 0, 0};
    return (struct loss){sum.mid / weight, sum.var / (weight * weight),
                         common * common / (weight * weight)};
}

static double half_width(const struct loss *l)
{
    return Z95 * sqrt(l->var + l->common);
}

static enum uc_drift beyond(const struct loss *l, double bound)
{
    if (isnan(l->mid))
        return UC_UNSURE;
    return l->mid - half_width(l) > bound    ? UC_DRIFTED
           : l->mid + half_width(l) <= bound ? UC_HOLDS
                                             : UC_UNSURE;
}

/* One side of a threshold: the strategy in use there against the one of the other side. */
struct side {
    bool down;          /* the side below: the limit could move down */
    size_t used, other; /* in the model */
    size_t first, last; /* the sizes beside the threshold */
    size_t edge;        /* end of the told interval on this side */
    size_t band;
};

static bool can_be_moved(const struct uc_fit_model *m, const struct side *s)
{
    return may_serve(m, s->other, s->first) || may_serve(m, s->other, s->last);
}

/* What cannot be had the other way is right as it is: a short-size dispatch serves no size above
 * its own. */
static enum uc_drift judge_side(const struct uc_fit_model *m, const struct side *s,
                                struct loss *beside)
{
    *beside = (struct loss){NAN, 0, 0};
    if (!can_be_moved(m, s))
        return UC_HOLDS;
    *beside = mean_loss(m, s->used, s->other, s->first, s->last, s->band);
    enum uc_drift at = beyond(beside, UC_DRIFT_BOUND);
    bool inside = s->down ? s->edge >= s->first : s->edge <= s->last;
    if (at == UC_HOLDS || inside)
        return at;
    if (!may_serve(m, s->other, s->edge)) /* as far as it can be moved it was told that it may */
        return UC_HOLDS;
    struct loss edge = mean_loss(m, s->used, s->other, s->edge, s->edge, s->band);
    enum uc_drift decides = beyond(&edge, UC_DRIFT_BOUND);
    return at == UC_UNSURE && decides == UC_DRIFTED ? UC_UNSURE : decides;
}

/* The round number between two timed sizes near which the losses say that the curves cross. */
static void set_now(struct uc_drift_item *d, size_t lo, double at_lo, size_t hi, double at_hi)
{
    double x0 = log((double)larger(lo, 1)), x1 = log((double)larger(hi, 1));
    double u = at_lo / (at_lo - at_hi);
    size_t at = (size_t)exp(x0 + fmin(fmax(u, 0), 1) * (x1 - x0));

    d->now_lo = lo;
    d->now_hi = hi > lo ? hi - 1 : lo;
    d->now = uc_roundest(d->now_lo, d->now_hi, smaller(larger(at, d->now_lo), d->now_hi));
}

/* Walks away from the threshold, to where the strategy in use no longer loses; where it loses as
 * far as the other one serves, that is the limit, and where this is the whole range, it goes. */
static void find_now(const struct uc_fit_model *m, const struct side *s, size_t first, size_t last,
                     struct uc_drift_item *d)
{
    const struct uc_model_strategy *other = &m->strategy[s->other];
    size_t n = index_of(m, s->down ? s->last : s->first), before = n;
    bool stopped = false;

    for (; n < m->sizes && m->size[n] >= first && m->size[n] <= last; n += s->down ? -1 : 1) {
        struct loss l = loss_at(m, s->used, s->other, n, s->band);
        struct loss l0 = loss_at(m, s->used, s->other, before, s->band);
        if (l.mid <= 0 && s->down)
            set_now(d, m->size[n], l.mid, m->size[before], l0.mid);
        else if (l.mid <= 0)
            set_now(d, m->size[before], l0.mid, m->size[n], l.mid);
        if (l.mid <= 0)
            return;
        stopped = isnan(l.mid); /* the other one is barred from here on */
        if (!stopped)
            before = n;
    }
    if (s->down && other->min > first)
        d->now = d->now_lo = d->now_hi = other->min - 1;
    else if (!s->down && other->max < last)
        d->now = d->now_lo = d->now_hi = other->max;
    else if (stopped)
        d->now = d->now_lo = d->now_hi = m->size[before] - s->down;
    else
        d->gone = true;
}

static void write_loss(struct uc_drift_item *d, const struct loss *l)
{
    d->loss = l->mid;
    d->lo = l->mid - half_width(l);
    d->hi = l->mid + half_width(l);
}

static void judge_limit(const struct uc_fit_model *m, const struct uc_ladder *l, size_t i,
                        struct uc_drift_item *d)
{
    size_t t = l->segment[i].max;
    size_t a = uc_model_find(m, l->segment[i].strategy);
    size_t b = uc_model_find(m, l->segment[i + 1].strategy);

    *d = (struct uc_drift_item){.limit = true,
                                .first = t,
                                .last = t,
                                .verdict = UC_UNSURE,
                                .loss = NAN,
                                .lo = NAN,
                                .hi = NAN};
    told(l, i, &d->told_lo, &d->told_hi);
    memcpy(d->chosen, l->segment[i].strategy, sizeof(d->chosen));
    memcpy(d->other, l->segment[i + 1].strategy, sizeof(d->other));
    if (a == m->strategies || b == m->strategies)
        return;
    size_t band = uc_model_band(m, t);
    const struct side below = {true, a, b, larger(t, 1) - 1, t, d->told_lo, band};
    const struct side above = {false, b, a, t + 1, t + 1, d->told_hi, band};
    struct loss at_below, at_above;
    enum uc_drift down = judge_side(m, &below, &at_below), up = judge_side(m, &above, &at_above);
    bool shows_above =
        up > down || (up == down && (isnan(at_below.mid) || at_above.mid > at_below.mid));
    d->verdict = shows_above ? up : down;
    write_loss(d, shows_above ? &at_above : &at_below);
    if (shows_above) {
        memcpy(d->chosen, l->segment[i + 1].strategy, sizeof(d->chosen));
        memcpy(d->other, l->segment[i].strategy, sizeof(d->other));
    }
    if (d->verdict != UC_DRIFTED)
        return;
    if (shows_above)
        find_now(m, &above, t + 1, last_of(l, i + 1), d);
    else
        find_now(m, &below, first_of(l, i), t, d);
}

/* A range is held against its runner-up over all its sizes that were timed. A runner-up that was
 * faster when it was not chosen (it is barred, or serves a part) has that much in advance. */
static void judge_range(const struct uc_fit_model *m, const struct uc_ladder *l, size_t i,
                        struct uc_drift_item *d)
{
    const struct uc_segment *s = &l->segment[i];
    size_t a = uc_model_find(m, s->strategy), b = uc_model_find(m, s->runner_up);
    double advance = s->margin > 0 && s->margin < 1 ? 1 / s->margin - 1 : 0;

    *d = (struct uc_drift_item){.first = first_of(l, i),
                                .last = s->max,
                                .verdict = s->runner_up[0] ? UC_UNSURE : UC_HOLDS,
                                .loss = NAN,
                                .lo = NAN,
                                .hi = NAN};
    memcpy(d->chosen, s->strategy, sizeof(d->chosen));
    memcpy(d->other, s->runner_up, sizeof(d->other));
    if (a == m->strategies || b == m->strategies)
        return;
    struct loss all = mean_loss(m, a, b, d->first, d->last, uc_model_band(m, s->max));
    write_loss(d, &all);
    d->verdict = beyond(&all, UC_DRIFT_BOUND + advance);
}

/* ---- few rounds ---- */

/* Rounds from which the median has a 95 % interval at all (1 - 2 / 2^6 = .97). */
#define ENOUGH_ROUNDS 6
/* One or two rounds say nothing of their spread. */
#define BLIND_ROUNDS 3
#define BLIND_SPREAD 1.5

/* The interval of a cell of few rounds is no 95 % interval, at the worst one reading with none: so
 * that nothing is called sure on such evidence it becomes as wide as all its rounds lay apart. */
static void widen(struct uc_cell *c)
{
    double spread = fmax(c->mapping_spread, 1);

    if (!c->n || c->n >= ENOUGH_ROUNDS)
        return;
    if (c->n < BLIND_ROUNDS)
        spread = fmax(spread, BLIND_SPREAD);
    c->lo = fmin(c->lo, c->cost / spread);
    c->hi = fmax(c->hi, c->cost * spread);
}

static int widened(const struct uc_cells *cells, struct uc_cells *out)
{
    int rc = 0;

    *out = (struct uc_cells){.unit = cells->unit, .has_interval = cells->has_interval};
    for (size_t i = 0; i < cells->n && !rc; i++) {
        struct uc_cell c = cells->v[i];
        widen(&c);
        rc = uc_cells_add(out, &c);
    }
    return rc;
}

static void bar(struct uc_fit_model *m, const struct uc_barred *barred, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t s = uc_model_find(m, barred[i].strategy);
        for (size_t k = 0; k < m->sizes && s < m->strategies; k++)
            if (m->size[k] >= barred[i].from && m->size[k] <= barred[i].to)
                m->barred[s * m->sizes + k] = true;
    }
}

int uc_drift_judge(const struct uc_cells *cells, const struct uc_fit_options *o,
                   const struct uc_ladder *l, const struct uc_barred *barred, size_t barred_n,
                   struct uc_drift_item item[UC_DRIFT_ITEMS], size_t *n)
{
    struct uc_cells sure;
    struct uc_fit_model m;
    char why[128];
    int rc = widened(cells, &sure);

    *n = 0;
    if (!rc)
        rc = uc_model_build(&sure, o, &m, why, sizeof(why));
    uc_cells_free(&sure); /* the model keeps none of them */
    if (rc)
        return rc;
    bar(&m, barred, barred_n);
    for (size_t i = 0; i < l->n; i++) {
        judge_range(&m, l, i, &item[(*n)++]);
        if (i + 1 < l->n)
            judge_limit(&m, l, i, &item[(*n)++]);
    }
    uc_model_clear(&m);
    return 0;
}
