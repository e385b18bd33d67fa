/* Barring by the worst placement: a strategy whose worst page distance (or page end) costs over
 * limit_ratio times the best worst case, among those within the margin of the fastest there, is
 * kept out of that range of sizes. Zen 3's `rep movsb` is the fastest at page distance 0 and 19
 * times slower at 15. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fit/model.h"

/* A probe speaks for sizes up to this many times larger or smaller. */
#define REACH 2.
/* Told of are those that would have had a chance: up to this many times slower than the fastest. */
#define CHANCE 1.25

struct worst {
    double cost;                 /* 0: not probed */
    const struct uc_cell *probe; /* the worst one */
};

enum kind { DISTANCE, END, KINDS };

static enum kind kind_of(const struct uc_cell *c)
{
    return c->page_distance >= 0 ? DISTANCE : END;
}

size_t uc_model_size(const struct uc_fit_model *m, size_t size)
{
    size_t lo = 0, hi = m->sizes;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (m->size[mid] < size)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < m->sizes && m->size[lo] == size ? lo : m->sizes;
}

static void take_worst(struct worst *x, const struct uc_cell *c)
{
    if (c->cost > x->cost)
        *x = (struct worst){c->cost, c};
}

/* Does the guard of s keep it from such a copy? */
static bool sent_elsewhere(const struct uc_fit_model *m, size_t s, size_t at,
                           const struct uc_cell *c)
{
    const struct uc_model_guard *g = &m->guard[s];
    return g->present && m->guarded[s * m->sizes + at] && c->page_distance >= g->lo &&
           c->page_distance <= g->hi;
}

/* A probe of e counts for those whose guard sends such copies to e. */
static void take_for_guarded(const struct uc_fit_model *m, size_t e, size_t at,
                             const struct uc_cell *c, struct worst *w)
{
    for (size_t s = 0; s < m->strategies && m->guards; s++)
        if (m->guard[s].otherwise == e && sent_elsewhere(m, s, at, c))
            take_worst(&w[s * m->sizes + at], c);
}

static void find_worst(const struct uc_fit_model *m, const struct uc_cell *const *probe, size_t n,
                       enum kind kind, struct worst *w)
{
    memset(w, 0, m->strategies * m->sizes * sizeof(*w));
    for (size_t i = 0; i < n; i++) {
        const struct uc_cell *c = probe[i];
        size_t s = uc_model_find(m, c->strategy), at = uc_model_size(m, c->size);
        if (s == m->strategies || at == m->sizes || c->mix != UC_FIXED || kind_of(c) != kind)
            continue;
        if (!sent_elsewhere(m, s, at, c))
            take_worst(&w[s * m->sizes + at], c);
        take_for_guarded(m, s, at, c, w);
    }
}

/* What a size offers: the lowest cost, and the best worst case among the probed candidates within
 * the margin of it (0: none). */
struct offer {
    double fastest, worst;
};

static struct offer offer_at(const struct uc_fit_model *m, const struct worst *w, size_t i)
{
    struct offer o = {HUGE_VAL, 0};

    for (size_t s = 0; s < m->strategies; s++) {
        double f = m->fixed[s * m->sizes + i].mid;
        if (m->strategy[s].candidate && !isnan(f))
            o.fastest = fmin(o.fastest, f);
    }
    for (size_t s = 0; s < m->strategies; s++) {
        double f = m->fixed[s * m->sizes + i].mid, cost = w[s * m->sizes + i].cost;
        if (!m->strategy[s].candidate || isnan(f) || f > o.fastest * (1 + m->weights->margin))
            continue;
        if (cost > 0 && (o.worst <= 0 || cost < o.worst))
            o.worst = cost;
    }
    return o;
}

static double distance(const struct uc_fit_model *m, size_t i, size_t k)
{
    return fabs(log1p((double)m->size[k]) - log1p((double)m->size[i]));
}

/* near[i]: of the sizes with a probe of this strategy the one nearest to size i; m->sizes where
 * none is within reach. w: this strategy's. */
static void find_nearest(const struct uc_fit_model *m, const struct worst *w, size_t *near)
{
    size_t last = m->sizes;

    for (size_t i = 0; i < m->sizes; i++)
        near[i] = last = w[i].cost > 0 ? i : last;
    last = m->sizes;
    for (size_t i = m->sizes; i-- > 0;) {
        last = w[i].cost > 0 ? i : last;
        if (last < m->sizes &&
            (near[i] == m->sizes || distance(m, i, last) < distance(m, i, near[i])))
            near[i] = last;
        if (near[i] < m->sizes && distance(m, i, near[i]) > log(REACH) + 1e-9)
            near[i] = m->sizes;
    }
}

static void tell(char *why, size_t cap, const struct worst *w, double ratio)
{
    if (w->probe->page_distance >= 0)
        snprintf(why, cap, "at page distance %d it costs %.1f times the best worst case",
                 w->probe->page_distance, ratio);
    else
        snprintf(why, cap, "at a page end (dst %s, src %s) it costs %.1f times the best worst case",
                 uc_end_kind_name[w->probe->dst_end.kind], uc_end_kind_name[w->probe->src_end.kind],
                 ratio);
}

/* One more size barred for s: the note before grows where it ends at the size before. */
static void note(struct uc_fit_model *m, size_t s, size_t i, const struct worst *w, double ratio)
{
    struct uc_barred *b = m->bar_n ? &m->bar[m->bar_n - 1] : NULL;
    bool grows = b && i && b->to == m->size[i - 1] && !strcmp(b->strategy, m->strategy[s].name);

    if (!grows && m->bar_n == UC_MAX_NOTES)
        return;
    if (!grows) {
        b = &m->bar[m->bar_n++];
        memcpy(b->strategy, m->strategy[s].name, sizeof(b->strategy));
        b->from = m->size[i];
        b->ratio = 0;
    }
    b->to = m->size[i];
    if (ratio > b->ratio) {
        b->ratio = ratio;
        tell(b->why, sizeof(b->why), w, ratio);
    }
}

static void bar_strategy(struct uc_fit_model *m, size_t s, const struct worst *w,
                         const struct offer *o, const size_t *near)
{
    for (size_t i = 0; i < m->sizes; i++) {
        size_t k = near[i], at = s * m->sizes + i;
        if (k == m->sizes || o[k].worst <= 0 || m->barred[at] ||
            w[k].cost <= m->weights->limit_ratio * o[k].worst)
            continue;
        m->barred[at] = true;
        if (m->fixed[at].mid <= CHANCE * o[i].fastest)
            note(m, s, i, &w[k], w[k].cost / o[k].worst);
    }
}

static void bar_by(struct uc_fit_model *m, const struct worst *w, struct offer *o, size_t *near)
{
    for (size_t i = 0; i < m->sizes; i++)
        o[i] = offer_at(m, w, i);
    for (size_t s = 0; s < m->strategies; s++) {
        if (!m->strategy[s].candidate)
            continue;
        find_nearest(m, w + s * m->sizes, near);
        bar_strategy(m, s, w + s * m->sizes, o, near);
    }
}

int uc_model_bar(struct uc_fit_model *m, const struct uc_cell *const *probe, size_t n)
{
    struct worst *w = malloc(m->strategies * m->sizes * sizeof(*w));
    struct offer *o = malloc(m->sizes * sizeof(*o));
    size_t *near = malloc(m->sizes * sizeof(*near));
    int rc = w && o && near ? 0 : -ENOMEM;

    for (enum kind kind = DISTANCE; kind < KINDS && n && !rc; kind++) {
        find_worst(m, probe, n, kind, w);
        bar_by(m, w, o, near);
    }
    free(w);
    free(o);
    free(near);
    return rc;
}
