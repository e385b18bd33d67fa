/* Barring by the worst placement: a strategy whose worst page distance (or page end) costs over limit_ratio times
 * the best worst case, among those within the margin of the fastest there, is kept out of that range
 * of sizes. Zen 3's `rep movsb` is the fastest at page distance 0 and 19 times slower at 15. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fit/model.h"

/* A probe speaks for sizes up to this many times larger or smaller. */
#define REACH 2.

struct worst {
    double cost;                 /* 0: not probed */
    const struct uc_cell *probe; /* the worst one */
};

enum kind { DISTANCE, END, KINDS };

static enum kind kind_of(const struct uc_cell *c)
{
    return c->page_distance >= 0 ? DISTANCE : END;
}

static size_t index_of(const struct uc_fit_model *m, size_t size)
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

static void find_worst(const struct uc_fit_model *m, const struct uc_cell *const *probe, size_t n,
                       enum kind kind, struct worst *w)
{
    memset(w, 0, m->strategies * m->sizes * sizeof(*w));
    for (size_t i = 0; i < n; i++) {
        const struct uc_cell *c = probe[i];
        size_t s = uc_model_find(m, c->strategy), at = index_of(m, c->size);
        if (s == m->strategies || at == m->sizes || c->mix != UC_FIXED || kind_of(c) != kind)
            continue;
        struct worst *x = &w[s * m->sizes + at];
        if (c->cost > x->cost)
            *x = (struct worst){c->cost, c};
    }
}

/* The best worst case at size i among the probed candidates within the margin of the fastest; 0: none. */
static double best_worst(const struct uc_fit_model *m, const struct worst *w, size_t i)
{
    double fastest = HUGE_VAL, best = 0;

    for (size_t s = 0; s < m->strategies; s++) {
        double f = m->fixed[s * m->sizes + i].mid;
        if (m->strategy[s].candidate && !isnan(f))
            fastest = fmin(fastest, f);
    }
    for (size_t s = 0; s < m->strategies; s++) {
        double f = m->fixed[s * m->sizes + i].mid, cost = w[s * m->sizes + i].cost;
        if (!m->strategy[s].candidate || isnan(f) || f > fastest * (1 + m->weights->margin))
            continue;
        if (cost > 0 && (best <= 0 || cost < best))
            best = cost;
    }
    return best;
}

/* The probed size of s nearest to size i, within reach; m->sizes: none. */
static size_t nearest_probe(const struct uc_fit_model *m, const struct worst *w, size_t s, size_t i)
{
    size_t best = m->sizes;
    double least = log(REACH) + 1e-9;

    for (size_t k = 0; k < m->sizes; k++) {
        double far = fabs(log1p((double)m->size[k]) - log1p((double)m->size[i]));
        if (w[s * m->sizes + k].cost > 0 && far < least) {
            best = k;
            least = far;
        }
    }
    return best;
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

static void bar_by(struct uc_fit_model *m, const struct worst *w, const double *best)
{
    for (size_t s = 0; s < m->strategies; s++)
        for (size_t i = 0; i < m->sizes && m->strategy[s].candidate; i++) {
            size_t k = nearest_probe(m, w, s, i);
            if (k == m->sizes || best[k] <= 0 || m->barred[s * m->sizes + i])
                continue;
            const struct worst *x = &w[s * m->sizes + k];
            if (x->cost <= m->weights->limit_ratio * best[k])
                continue;
            m->barred[s * m->sizes + i] = true;
            note(m, s, i, x, x->cost / best[k]);
        }
}

int uc_model_bar(struct uc_fit_model *m, const struct uc_cell *const *probe, size_t n)
{
    struct worst *w = malloc(m->strategies * m->sizes * sizeof(*w));
    double *best = malloc(m->sizes * sizeof(*best));

    if (!w || !best) {
        free(w);
        free(best);
        return -ENOMEM;
    }
    for (enum kind kind = DISTANCE; kind < KINDS && n; kind++) {
        find_worst(m, probe, n, kind, w);
        for (size_t i = 0; i < m->sizes; i++)
            best[i] = best_worst(m, w, i);
        bar_by(m, w, best);
    }
    free(w);
    free(best);
    return 0;
}
