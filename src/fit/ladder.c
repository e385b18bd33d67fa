/* The search for ladders of least loss: dynamic programming over the size grid that keeps, for
 * every last size and count of segments, several different sequences of strategies. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fit/ladder.h"

/* Sequences kept at each point: three of each last strategy would be enough to extend by any other;
 * twice UC_MAX_LADDERS with at most UC_MAX_LADDERS of one last strategy always holds those. */
#define KEPT (2 * UC_MAX_LADDERS)
/* Borders are searched at this many sizes at most, so that a table of thousands of sizes takes
 * seconds and not minutes; a run's table has 230. */
#define CUTS 512
#define EPSILON_BORDER 1e-6 /* of two ladders that cost the same the shorter wins */
#define BRANCH_SHARE \
    .05 /* a predicted branch, as a share of a mispredicted one: 1 of some 20 cycles */

static void sum_sizes(struct uc_sums *s)
{
    const struct uc_fit_model *m = s->m;

    for (size_t n = 0; n < m->sizes; n++) {
        double share = m->size[n] <= UC_SMALL_MAX ? m->mix_band : 0;
        s->share[n + 1] = s->share[n] + m->weight[n] * share;
        s->all[n + 1] = s->all[n] + m->weight[n];
        s->fleet[n + 1] = uc_fleet_share(0, m->size[n]);
    }
    for (size_t n = m->sizes; n-- > 0;)
        s->tail[n] = s->tail[n + 1] + m->weight[n] / m->lowest[n];
}

/* The part of a strategy's costs that does not depend on the band. */
static void sum_strategy(struct uc_sums *s, size_t i)
{
    const struct uc_fit_model *m = s->m;
    const struct uc_model_strategy *x = &m->strategy[i];
    bool banded = !isnan(uc_model_band_cost(m, i, 0).mid);

    for (size_t n = 0, at = i * (m->sizes + 1); n < m->sizes; n++, at++) {
        struct uc_est e = m->fixed[i * m->sizes + n];
        double share = banded && m->size[n] <= UC_SMALL_MAX ? m->mix_band : 0;
        double w = m->weight[n] * (1 - share);
        bool gap = isnan(e.mid) || m->size[n] < x->min || m->size[n] > x->max;
        s->own[at + 1] = s->own[at] + (gap ? 0 : w * e.mid);
        s->var[at + 1] = s->var[at] + (gap ? 0 : w * w * e.var);
        s->gaps[at + 1] = s->gaps[at] + gap;
        s->barred[at + 1] = s->barred[at] + m->barred[i * m->sizes + n];
    }
}

int uc_sums_new(const struct uc_fit_model *m, double branch_cost, struct uc_sums *s)
{
    size_t row = m->sizes + 1;

    *s = (struct uc_sums){.m = m, .branch_cost = branch_cost, .open_ends = true, .bars = true};
    s->own = calloc(m->strategies * row, sizeof(*s->own));
    s->var = calloc(m->strategies * row, sizeof(*s->var));
    s->gaps = calloc(m->strategies * row, sizeof(*s->gaps));
    s->barred = calloc(m->strategies * row, sizeof(*s->barred));
    s->share = calloc(row, sizeof(*s->share));
    s->all = calloc(row, sizeof(*s->all));
    s->tail = calloc(row, sizeof(*s->tail));
    s->fleet = calloc(row, sizeof(*s->fleet));
    if (!s->own || !s->var || !s->gaps || !s->barred || !s->share || !s->all || !s->tail ||
        !s->fleet) {
        uc_sums_free(s);
        return -ENOMEM;
    }
    sum_sizes(s);
    for (size_t i = 0; i < m->strategies; i++)
        sum_strategy(s, i);
    return 0;
}

void uc_sums_free(struct uc_sums *s)
{
    free(s->own);
    free(s->var);
    free(s->gaps);
    free(s->barred);
    free(s->share);
    free(s->all);
    free(s->tail);
    free(s->fleet);
    memset(s, 0, sizeof(*s));
}

bool uc_sums_measured(const struct uc_sums *s, size_t strategy, size_t first, size_t last)
{
    const unsigned *gaps = s->gaps + strategy * (s->m->sizes + 1);
    return gaps[last + 1] == gaps[first];
}

bool uc_sums_serves(const struct uc_sums *s, size_t strategy, size_t first, size_t last)
{
    const struct uc_model_strategy *m = &s->m->strategy[strategy];
    const unsigned *barred = s->barred + strategy * (s->m->sizes + 1);

    if (!m->candidate || !uc_sums_measured(s, strategy, first, last))
        return false;
    if (s->bars && barred[last + 1] != barred[first])
        return false;
    if (m->dispatch && first > 0)
        return false;
    if (!s->open_ends)
        return true;
    return (first > 0 || !m->min) && (last + 1 < s->m->sizes || m->max == UCOPY_NO_LIMIT);
}

struct uc_sum uc_sums_cost(const struct uc_sums *s, size_t strategy, size_t first, size_t last,
                           size_t band)
{
    size_t row = strategy * (s->m->sizes + 1);
    struct uc_est b = uc_model_band_cost(s->m, strategy, band);
    double share = isnan(b.mid) ? 0 : s->share[last + 1] - s->share[first];

    return (struct uc_sum){
        .mid = s->own[row + last + 1] - s->own[row + first] + (share > 0 ? share * b.mid : 0),
        .var = s->var[row + last + 1] - s->var[row + first] + share * share * b.var,
    };
}

double uc_sums_factor(const struct uc_sums *s, size_t strategy)
{
    return s->m->strategy[strategy].streaming ? 1 + s->m->weights->margin : 1;
}

double uc_sums_segment(const struct uc_sums *s, size_t strategy, size_t first, size_t last)
{
    size_t band = uc_model_band(s->m, s->m->size[last]);
    return uc_sums_factor(s, strategy) * uc_sums_cost(s, strategy, first, last, band).mid;
}

/* Every call that is larger than the border before pays this one: a branch, and the misses of a
 * predictor that knows no more than which side is the likelier (sizes come in no order). */
double uc_sums_border(const struct uc_sums *s, size_t first, size_t last)
{
    if (last + 1 >= s->m->sizes)
        return 0;
    if (s->m->size[last] > UC_SMALL_MAX)
        return EPSILON_BORDER;
    double left = 1 - (first ? s->fleet[first] : 0);
    double p = left > 0 ? (s->fleet[last + 1] - (first ? s->fleet[first] : 0)) / left : 0;
    double price = s->branch_cost * (fmin(p, 1 - p) + BRANCH_SHARE);
    return EPSILON_BORDER + price * s->tail[first];
}

/* The search. */

struct entry {
    double cost; /* border at its end included */
    uint64_t sequence;
    size_t strategy, first;
    const struct entry *before;
};

struct kept {
    size_t n;
    double
        full; /* nothing from this cost on gets in: that of the worst, once all places are taken */
    struct entry entry[KEPT];
};

/* Where a new entry goes: over the same sequence, over the worst of its last strategy where that
 * has its share, else over the worst of all. NULL: it is no better. */
static struct entry *place_for(struct kept *k, const struct entry *e)
{
    struct entry *worst = NULL, *worst_same = NULL;
    size_t same = 0;

    for (size_t i = 0; i < k->n; i++) {
        struct entry *at = &k->entry[i];
        if (at->sequence == e->sequence)
            return e->cost < at->cost ? at : NULL;
        if (at->strategy == e->strategy) {
            same++;
            if (!worst_same || at->cost > worst_same->cost)
                worst_same = at;
        }
        if (!worst || at->cost > worst->cost)
            worst = at;
    }
    if (same == UC_MAX_LADDERS)
        return e->cost < worst_same->cost ? worst_same : NULL;
    if (k->n < KEPT)
        return &k->entry[k->n++];
    return e->cost < worst->cost ? worst : NULL;
}

static void keep(struct kept *k, const struct entry *e)
{
    struct entry *at = place_for(k, e);

    if (!at)
        return;
    *at = *e;
    if (k->n < KEPT)
        return;
    k->full = k->entry[0].cost;
    for (size_t i = 1; i < KEPT; i++)
        k->full = fmax(k->full, k->entry[i].cost);
}

static uint64_t extend(uint64_t sequence, size_t strategy)
{
    return (sequence ^ (strategy + 1)) * 0x9E3779B97F4A7C15u + 0x632BE59BD9B4E019u;
}

static bool may_cut(const struct uc_fit_model *m, size_t n)
{
    size_t stride = (m->sizes + CUTS - 1) / CUTS;
    return n % stride == 0 || n + 1 == m->sizes;
}

static void first_segments(const struct uc_sums *s, struct kept *row)
{
    for (size_t last = 0; last < s->m->sizes; last++) {
        if (!may_cut(s->m, last))
            continue;
        for (size_t i = 0; i < s->m->strategies; i++) {
            if (!uc_sums_serves(s, i, 0, last))
                continue;
            struct entry e = {.sequence = extend(0, i), .strategy = i};
            e.cost = uc_sums_segment(s, i, 0, last) + uc_sums_border(s, 0, last);
            keep(&row[last], &e);
        }
    }
}

bool uc_sums_joins(const struct uc_sums *s, size_t a, size_t b)
{
    const struct uc_model_strategy *m = s->m->strategy;
    return !s->open_ends || !m[b].min || m[a].max >= m[b].min - 1;
}

/* more: what the new segment and its border cost. */
static void extend_by(const struct uc_sums *s, const struct kept *before, struct kept *to,
                      size_t strategy, size_t first, double more)
{
    for (size_t i = 0; i < before->n; i++) {
        const struct entry *b = &before->entry[i];
        if (b->strategy == strategy || !uc_sums_joins(s, b->strategy, strategy) ||
            (to->n == KEPT && b->cost + more >= to->full))
            continue;
        struct entry e = {b->cost + more, extend(b->sequence, strategy), strategy, first, b};
        keep(to, &e);
    }
}

static void next_segments(const struct uc_sums *s, const struct kept *before, struct kept *row)
{
    for (size_t last = 1; last < s->m->sizes; last++) {
        if (!may_cut(s->m, last))
            continue;
        for (size_t first = 1; first <= last; first++) {
            if (!before[first - 1].n)
                continue;
            double border = uc_sums_border(s, first, last);
            for (size_t i = 0; i < s->m->strategies; i++)
                if (uc_sums_serves(s, i, first, last))
                    extend_by(s, &before[first - 1], &row[last], i, first,
                              border + uc_sums_segment(s, i, first, last));
        }
    }
}

static void write_steps(const struct entry *e, size_t n, size_t last, struct uc_steps *out)
{
    out->n = n;
    out->loss = e->cost;
    for (; e; e = e->before) {
        n--;
        out->end[n] = last;
        out->strategy[n] = e->strategy;
        last = e->first - 1;
    }
}

static int by_cost(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

int uc_ladders(const struct uc_sums *s, unsigned k, struct uc_steps *list)
{
    size_t sizes = s->m->sizes;
    struct kept *rows = calloc(k * sizes, sizeof(*rows));

    if (!rows)
        return -ENOMEM;
    memset(list, 0, (k + 1) * UC_MAX_LADDERS * sizeof(*list));
    first_segments(s, rows);
    for (unsigned i = 1; i < k; i++)
        next_segments(s, rows + (i - 1) * sizes, rows + i * sizes);
    for (unsigned i = 0; i < k; i++) {
        struct kept *end = &rows[i * sizes + sizes - 1];
        qsort(end->entry, end->n, sizeof(*end->entry), by_cost);
        for (size_t j = 0; j < end->n && j < UC_MAX_LADDERS; j++)
            write_steps(&end->entry[j], i + 1, sizes - 1, &list[(i + 1) * UC_MAX_LADDERS + j]);
    }
    free(rows);
    return 0;
}

/* Borders of one sequence. */

struct step {
    double cost;
    size_t first;
};

static void borders_of(const struct uc_sums *s, size_t strategy, const struct step *before,
                       struct step *row)
{
    for (size_t last = 0; last < s->m->sizes; last++) {
        row[last].cost = HUGE_VAL;
        if (!may_cut(s->m, last))
            continue;
        for (size_t first = before ? 1 : 0; first <= (before ? last : 0); first++) {
            if ((before && !isfinite(before[first - 1].cost)) ||
                !uc_sums_serves(s, strategy, first, last))
                continue;
            double cost = uc_sums_segment(s, strategy, first, last) +
                          uc_sums_border(s, first, last) + (before ? before[first - 1].cost : 0);
            if (cost < row[last].cost)
                row[last] = (struct step){cost, first};
        }
    }
}

int uc_ladder_borders(const struct uc_sums *s, struct uc_steps *l)
{
    size_t sizes = s->m->sizes, last = sizes - 1;
    struct step *rows = malloc(l->n * sizes * sizeof(*rows));
    int rc = 0;

    if (!rows)
        return -ENOMEM;
    rows[0].cost = HUGE_VAL;
    for (size_t i = 0; i < l->n; i++)
        borders_of(s, l->strategy[i], i ? rows + (i - 1) * sizes : NULL, rows + i * sizes);
    l->loss = l->n ? rows[(l->n - 1) * sizes + last].cost : HUGE_VAL;
    if (!isfinite(l->loss))
        rc = -ENODATA;
    for (size_t i = l->n; i-- > 0 && !rc;) {
        l->end[i] = last;
        last = rows[i * sizes + last].first - 1;
    }
    free(rows);
    return rc;
}
