#include <errno.h>
#include <math.h>
#include <string.h>

#include "fit/model.h"

#define Z95 1.959964

struct ranked {
    double cost, var;
};

/* The best single strategy at a size; inside a dispatch's range the other dispatches are the
 * measure, since a leaf alone pays for no choice by size. */
static struct ranked best_at(const struct uc_fit_model *m, size_t n, size_t band, bool dispatches)
{
    struct ranked best = {HUGE_VAL, 0};

    for (size_t s = 0; s < m->strategies; s++) {
        const struct uc_model_strategy *x = &m->strategy[s];
        double common;
        struct uc_est e = uc_model_cost(m, s, n, band, &common);
        if (!x->candidate || (dispatches && !x->dispatch) || m->size[n] < x->min ||
            m->size[n] > x->max || !(e.mid < best.cost))
            continue;
        best = (struct ranked){e.mid, e.var + common};
    }
    return best;
}

static void add_size(const struct uc_fit_model *m, size_t s, size_t n, size_t band, double bound,
                     double *weight, struct uc_regret *out)
{
    double common;
    struct uc_est e = uc_model_cost(m, s, n, band, &common);

    if (isnan(e.mid))
        return;
    struct ranked best = best_at(m, n, band, m->strategy[s].dispatch);
    double regret = fmax(0, e.mid / best.cost - 1);
    double half = m->no_spread ? 0 : Z95 * sqrt(e.var + common + best.var) / best.cost;
    out->mean += m->weight[n] * regret;
    *weight += m->weight[n];
    out->sizes++;
    out->above_bound += regret - half > bound;
    if (regret > out->worst) {
        out->worst = regret;
        out->worst_at = m->size[n];
    }
}

const struct uc_segment *uc_ladder_segment(const struct uc_ladder *l, size_t size)
{
    size_t i = 0;

    while (i + 1 < l->n && size > l->segment[i].max)
        i++;
    return &l->segment[i];
}

bool uc_ladder_same(const struct uc_ladder *a, const struct uc_ladder *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (a->segment[i].max != b->segment[i].max ||
            strcmp(a->segment[i].strategy, b->segment[i].strategy) != 0)
            return false;
    return true;
}

static void add_all(const struct uc_fit_model *m, const struct uc_ladder *ladder, double bound,
                    struct uc_regret *out)
{
    double weight = 0;

    for (size_t n = 0; n < m->sizes; n++) {
        const struct uc_segment *seg = uc_ladder_segment(ladder, m->size[n]);
        size_t s = uc_model_find(m, seg->strategy);
        if (s < m->strategies)
            add_size(m, s, n, uc_model_band(m, seg->max), bound, &weight, out);
    }
    if (weight > 0)
        out->mean /= weight;
}

int uc_fit_regret(const struct uc_cells *cells, const struct uc_fit_options *o,
                  const struct uc_ladder *ladder, double bound, struct uc_regret *out)
{
    struct uc_fit_model m;
    char why[128];

    memset(out, 0, sizeof(*out));
    int rc = uc_model_build(cells, o, &m, why, sizeof(why));
    if (rc)
        return rc;
    add_all(&m, ladder, bound, out);
    uc_model_clear(&m);
    return out->sizes ? 0 : -ENODATA;
}
