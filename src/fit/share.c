#include "fit/share.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "fit/model.h"

/* Cost of a ladder at the n-th size; NaN: not measured. */
static double cost_at(const struct uc_fit_model *m, const struct uc_ladder *l, size_t n)
{
    const struct uc_segment *seg = uc_ladder_segment(l, m->size[n]);
    size_t s = uc_model_find(m, seg->strategy);
    double common;

    return s < m->strategies ? uc_model_cost(m, s, n, uc_model_band(m, seg->max), &common).mid
                             : NAN;
}

static void add_all(const struct uc_fit_model *m, const struct uc_ladder *ladder,
                    const struct uc_ladder *own, struct uc_share *out)
{
    double weight = 0;

    out->worst = -HUGE_VAL;
    for (size_t n = 0; n < m->sizes; n++) {
        double loss = cost_at(m, ladder, n) / cost_at(m, own, n) - 1;
        if (isnan(loss)) {
            out->unmeasured++;
            continue;
        }
        out->sizes++;
        weight += m->weight[n];
        out->mean += m->weight[n] * loss;
        if (loss > out->worst) {
            out->worst = loss;
            out->worst_at = m->size[n];
        }
    }
    if (weight > 0)
        out->mean /= weight;
}

int uc_fit_share(const struct uc_cells *cells, const struct uc_fit_options *o,
                 const struct uc_ladder *ladder, const struct uc_ladder *own, struct uc_share *out)
{
    struct uc_fit_model m;
    char why[128];

    memset(out, 0, sizeof(*out));
    int rc = uc_model_build(cells, o, &m, why, sizeof(why));
    if (rc)
        return rc;
    add_all(&m, ladder, own, out);
    uc_model_clear(&m);
    return out->sizes ? 0 : -ENODATA;
}
