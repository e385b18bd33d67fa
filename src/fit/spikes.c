/* A single size out of line with both neighbours (4032 B three times slower than 4000 and 4064) is
 * told, and moves nothing: the choice sees the line between the neighbours instead. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/model.h"

#define SPIKE 1.25       /* out of line by more than this, against each neighbour */
#define SHARED_SPIKE 1.1 /* others that move by this much in the same direction share it */
#define SURE 3           /* standard deviations, where spread is given */

struct curve {
    const struct uc_raw *v;
    size_t stride, n;
};

/* The measured neighbours of size i. */
static bool neighbours(const struct curve *c, size_t i, size_t *before, size_t *after)
{
    size_t b = i, a = i + 1;

    while (b > 0 && c->v[(b - 1) * c->stride].cost <= 0)
        b--;
    while (a < c->n && c->v[a * c->stride].cost <= 0)
        a++;
    if (b == 0 || a >= c->n || c->v[i * c->stride].cost <= 0)
        return false;
    *before = b - 1;
    *after = a;
    return true;
}

/* Logarithm of the cost over the nearer of its neighbours' where it lies outside of both; 0
 * between. */
static double stands_out(const struct curve *c, size_t i)
{
    size_t b, a;

    if (!neighbours(c, i, &b, &a))
        return 0;
    double lo = fmin(c->v[b * c->stride].cost, c->v[a * c->stride].cost);
    double hi = fmax(c->v[b * c->stride].cost, c->v[a * c->stride].cost);
    double x = c->v[i * c->stride].cost;
    return x > hi ? log(x / hi) : x < lo ? log(x / lo) : 0;
}

static double relative_var(const struct uc_raw *r)
{
    return pow(r->se / r->cost, 2);
}

static bool is_spike(const struct curve *c, size_t i, double out)
{
    size_t b, a;

    if (fabs(out) <= log(SPIKE) || !neighbours(c, i, &b, &a))
        return false;
    double var = relative_var(&c->v[i * c->stride]) +
                 fmax(relative_var(&c->v[b * c->stride]), relative_var(&c->v[a * c->stride]));
    return fabs(out) > SURE * sqrt(var);
}

/* Do half of the other strategies move the same way at this size? Then the size is special. */
static bool shared(const struct uc_fit_model *m, const struct uc_raw *raw, size_t places, size_t p,
                   size_t s, size_t i, double out)
{
    size_t others = 0, same = 0, b, a;

    for (size_t o = 0; o < m->strategies; o++) {
        struct curve c = {raw + o * m->sizes * places + p, places, m->sizes};
        if (o == s || !neighbours(&c, i, &b, &a))
            continue;
        double x = stands_out(&c, i);
        others++;
        same += fabs(x) > log(SHARED_SPIKE) && (x > 0) == (out > 0);
    }
    return others && 2 * same >= others;
}

static void note(struct uc_fit_model *m, size_t s, size_t i, double out)
{
    struct uc_anomaly *a = m->anomaly;

    for (size_t k = 0; k < m->anomaly_n; k++)
        if (a[k].size == m->size[i] && !strcmp(a[k].strategy, m->strategy[s].name)) {
            if (fabs(out) > fabs(log(a[k].ratio)))
                a[k].ratio = exp(out);
            return;
        }
    if (m->anomaly_n == UC_MAX_NOTES)
        return;
    a += m->anomaly_n++;
    memcpy(a->strategy, m->strategy[s].name, sizeof(a->strategy));
    a->size = m->size[i];
    a->ratio = exp(out);
}

/* What lies between the neighbours, on the logarithms of size and cost. */
static struct uc_raw between(const struct uc_fit_model *m, const struct curve *c, size_t i)
{
    size_t b, a;

    if (!neighbours(c, i, &b, &a))
        return c->v[i * c->stride];
    const struct uc_raw *x = &c->v[b * c->stride], *y = &c->v[a * c->stride];
    double s0 = log1p((double)m->size[b]), s1 = log1p((double)m->size[a]);
    double u = (log1p((double)m->size[i]) - s0) / (s1 - s0);
    double cost = exp((1 - u) * log(x->cost) + u * log(y->cost));
    return (struct uc_raw){cost, cost * sqrt(fmax(relative_var(x), relative_var(y)))};
}

int uc_model_spikes(struct uc_fit_model *m, struct uc_raw *raw, size_t places)
{
    size_t all = m->strategies * m->sizes * places;
    struct uc_raw *seen = malloc((all + 1) * sizeof(*seen));

    if (!seen)
        return -ENOMEM;
    memcpy(seen, raw, all * sizeof(*seen));
    for (size_t s = 0; s < m->strategies; s++)
        for (size_t p = 0; p < places; p++)
            for (size_t i = 1; i + 1 < m->sizes; i++) {
                struct curve c = {seen + s * m->sizes * places + p, places, m->sizes};
                double out = stands_out(&c, i);
                if (!is_spike(&c, i, out) || shared(m, seen, places, p, s, i, out))
                    continue;
                note(m, s, i, out);
                raw[(s * m->sizes + i) * places + p] = between(m, &c, i);
            }
    free(seen);
    return 0;
}
