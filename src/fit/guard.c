/* Guards: a strategy that falls off a cliff at a few page distances is better with one test in
 * front of it, which sends those copies to another. The test costs four instructions and a branch
 * that is predicted unless it is taken: on a Zen 3 guest too little to be seen beside 12 ns (0.4 ns
 * are charged there). `rep movsb` of 512 bytes to 32 KiB, whose distances 1 to 62 cost 8 to 27
 * times the others, was 3 to 17 % faster with it, mean over drawn placements. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "fit/model.h"

#define PAGE 4096
#define WIDEST (PAGE / 16) /* a branch that is taken more often is not free to predict */
/* The instructions, in mispredictions: these take 15 to 20 cycles, those less than one. */
#define INSTRUCTIONS .05
#define REACH 2.    /* a probe speaks for sizes up to this many times larger or smaller */
#define MOST 65536u /* probes; a run's table has 3,000, a hostile one gets no guards */

/* One probe of a page distance. */
struct probe {
    size_t s, at; /* strategy, size */
    int distance;
    double cost;
};

struct guards {
    struct uc_fit_model *m;
    const struct uc_fit_options *o;
    struct probe *v; /* by strategy, distance, size */
    size_t n;
    double *least; /* of the strategy at hand at each size; 0: not probed */
};

static int by_place(const void *a, const void *b)
{
    const struct probe *x = a, *y = b;

    if (x->s != y->s)
        return x->s < y->s ? -1 : 1;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Of several at one place (consumers, states) the dearest. */
static void collect(struct guards *g, const struct uc_cell *const *cell, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        struct probe p = {uc_model_find(g->m, cell[i]->strategy),
                          uc_model_size(g->m, cell[i]->size), cell[i]->page_distance,
                          cell[i]->cost};
        if (p.s < g->m->strategies && p.at < g->m->sizes && p.distance >= 0 &&
            cell[i]->mix == UC_FIXED)
            g->v[g->n++] = p;
    }
    qsort(g->v, g->n, sizeof(*g->v), by_place);
    for (size_t i = 0; i < g->n; i++)
        if (kept && !by_place(&g->v[kept - 1], &g->v[i]))
            g->v[kept - 1].cost = fmax(g->v[kept - 1].cost, g->v[i].cost);
        else
            g->v[kept++] = g->v[i];
    g->n = kept;
}

static const struct probe *find(const struct guards *g, size_t s, int distance, size_t at)
{
    const struct probe key = {s, at, distance, 0};
    return g->n ? bsearch(&key, g->v, g->n, sizeof(key), by_place) : NULL;
}

static void find_least(struct guards *g, size_t from, size_t to)
{
    for (size_t i = 0; i < g->m->sizes; i++)
        g->least[i] = 0;
    for (size_t i = from; i < to; i++) {
        double *least = &g->least[g->v[i].at];
        if (*least <= 0 || g->v[i].cost < *least)
            *least = g->v[i].cost;
    }
}

/* Behind the last probe of the same strategy and distance. */
static size_t end_of_distance(const struct guards *g, size_t i, size_t to)
{
    int distance = g->v[i].distance;

    while (i < to && g->v[i].distance == distance)
        i++;
    return i;
}

/* A cliff: at most of its sizes over limit_ratio times the least. */
static bool is_cliff(const struct guards *g, size_t from, size_t to)
{
    size_t bad = 0;

    for (size_t i = from; i < to; i++)
        bad += g->v[i].cost > g->m->weights->limit_ratio * g->least[g->v[i].at];
    return 2 * bad > to - from;
}

/* The first cliff: from behind the last good distance before it to the next good one. */
static bool find_cliff(const struct guards *g, size_t from, size_t to, struct uc_model_guard *out)
{
    size_t next;

    *out = (struct uc_model_guard){.lo = 0, .hi = PAGE - 1};
    for (size_t i = from; i < to; i = next) {
        next = end_of_distance(g, i, to);
        bool cliff = is_cliff(g, i, next);
        if (cliff)
            out->present = true;
        else if (!out->present)
            out->lo = g->v[i].distance + 1;
        else {
            out->hi = g->v[i].distance - 1;
            break;
        }
    }
    return out->present && out->hi - out->lo < WIDEST;
}

/* Share of all copies at these distances, by the weights. */
static double share_of(const struct guards *g, const struct uc_model_guard *x)
{
    double equal = g->m->weights->equal_distance;
    return (1 - equal) * (double)(x->hi - x->lo + 1) / PAGE + (x->lo == 0 ? equal : 0);
}

/* Does e serve all that s does, and by itself? */
static bool may_stand_in(const struct uc_fit_model *m, size_t e, size_t s)
{
    const struct uc_model_strategy *a = &m->strategy[e], *b = &m->strategy[s];
    return e != s && a->candidate && !a->dispatch && a->min <= b->min && a->max >= b->max &&
           (!a->streaming || b->streaming);
}

/* What the guarded strategy gains with e behind the guard, relative to its own good distances and
 * less the guard's price: the mean over what was probed of both. */
static double gain_with(const struct guards *g, size_t from, size_t to,
                        const struct uc_model_guard *x, size_t e)
{
    double gain = 0, share = share_of(g, x);
    size_t n = 0;

    for (size_t i = from; i < to; i++) {
        const struct probe *p = &g->v[i];
        const struct probe *other =
            p->distance >= x->lo && p->distance <= x->hi ? find(g, e, p->distance, p->at) : NULL;
        if (!other)
            continue;
        gain += (share * (p->cost - other->cost) - x->price) / g->least[p->at];
        n++;
    }
    return n ? gain / (double)n : -HUGE_VAL;
}

static bool guard_of(const struct guards *g, size_t s, size_t from, size_t to,
                     struct uc_model_guard *out)
{
    double best = g->m->weights->margin;
    bool found = false;

    if (!g->m->strategy[s].candidate || g->m->strategy[s].dispatch || !find_cliff(g, from, to, out))
        return false;
    out->price = g->o->branch_cost * (INSTRUCTIONS + share_of(g, out));
    for (size_t e = 0; e < g->m->strategies; e++) {
        double gain = may_stand_in(g->m, e, s) ? gain_with(g, from, to, out, e) : -HUGE_VAL;
        if (gain < best)
            continue;
        found = true;
        best = gain;
        out->otherwise = e;
    }
    return found;
}

static double distance(const struct uc_fit_model *m, size_t i, size_t k)
{
    return fabs(log1p((double)m->size[k]) - log1p((double)m->size[i]));
}

/* Guarded are the sizes within reach of a probe; they pay for it. */
static void apply(struct guards *g, size_t s)
{
    struct uc_fit_model *m = g->m;
    bool *on = &m->guarded[s * m->sizes];
    size_t last = m->sizes;

    for (size_t i = 0; i < m->sizes; i++) {
        last = g->least[i] > 0 ? i : last;
        on[i] = last < m->sizes && distance(m, i, last) <= log(REACH) + 1e-9;
    }
    last = m->sizes;
    for (size_t i = m->sizes; i-- > 0;) {
        last = g->least[i] > 0 ? i : last;
        on[i] |= last < m->sizes && distance(m, i, last) <= log(REACH) + 1e-9;
        if (on[i] && m->lowest[i] > 0)
            m->fixed[s * m->sizes + i].mid += m->guard[s].price / m->lowest[i];
    }
}

static void guard_all(struct guards *g)
{
    for (size_t from = 0, to; from < g->n; from = to) {
        size_t s = g->v[from].s;
        struct uc_model_guard found;
        for (to = from; to < g->n && g->v[to].s == s; to++)
            ;
        find_least(g, from, to);
        if (!guard_of(g, s, from, to, &found))
            continue;
        g->m->guard[s] = found;
        g->m->guards++;
        apply(g, s);
    }
}

int uc_model_guards(struct uc_fit_model *m, const struct uc_fit_options *o,
                    const struct uc_cell *const *probe, size_t n)
{
    struct guards g = {.m = m, .o = o};
    int rc = 0;

    m->guard = calloc(m->strategies, sizeof(*m->guard));
    m->guarded = calloc(m->strategies * m->sizes, sizeof(*m->guarded));
    if (!m->guard || !m->guarded)
        return -ENOMEM;
    if (!(o->branch_cost > 0) || n > MOST)
        return 0; /* without a price nothing is bought */
    g.v = malloc((n + 1) * sizeof(*g.v));
    g.least = malloc(m->sizes * sizeof(*g.least));
    if (g.v && g.least) {
        collect(&g, probe, n);
        guard_all(&g);
    } else
        rc = -ENOMEM;
    free(g.v);
    free(g.least);
    return rc;
}

const struct uc_model_guard *uc_model_guard_in(const struct uc_fit_model *m, size_t s, size_t first,
                                               size_t last)
{
    for (size_t i = first; i <= last && m->guard[s].present; i++)
        if (m->guarded[s * m->sizes + i])
            return &m->guard[s];
    return NULL;
}
