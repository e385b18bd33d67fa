#include "report/curves.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- which strategies, and in which order ---- */

/* Place among all: chosen by the first range served, then runners-up, then the C library. */
static size_t rank(const struct uc_ladder *l, const struct uc_curve *c)
{
    for (size_t i = 0; i < l->n; i++)
        if (!strcmp(l->segment[i].strategy, c->strategy))
            return i;
    for (size_t i = 0; i < l->n; i++)
        if (!strcmp(l->segment[i].runner_up, c->strategy))
            return UC_MAX_SEGMENTS + i;
    return c->role == UCOPY_BASELINE ? 2 * UC_MAX_SEGMENTS : 2 * UC_MAX_SEGMENTS + 1;
}

static int by_rank(const void *a, const void *b, void *ladder)
{
    const struct uc_curve *x = a, *y = b;
    size_t i = rank(ladder, x), j = rank(ladder, y);

    return i == j ? strcmp(x->strategy, y->strategy) : i < j ? -1 : 1;
}

static struct uc_curve *find(struct uc_curves *c, const char *strategy)
{
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->v[i].strategy, strategy))
            return &c->v[i];
    return NULL;
}

static int add(struct uc_curves *c, const struct uc_cell *cell)
{
    if (find(c, cell->strategy))
        return 0;
    struct uc_curve *v = realloc(c->v, (c->n + 1) * sizeof(*v));
    if (!v)
        return -ENOMEM;
    c->v = v;
    struct uc_curve *new = &v[c->n++];
    memset(new, 0, sizeof(*new));
    strcpy(new->strategy, cell->strategy);
    new->role = cell->role;
    return 0;
}

static int list(const struct uc_profile *p, const struct uc_fit_options *o, struct uc_curves *c)
{
    struct uc_ladder *l = (struct uc_ladder *)(uintptr_t)&p->entry[o->entry].ladder;
    int rc = 0;

    for (size_t i = 0; i < p->cells.n && !rc; i++)
        if (p->cells.v[i].entry == o->entry)
            rc = add(c, &p->cells.v[i]);
    if (c->n)
        qsort_r(c->v, c->n, sizeof(*c->v), by_rank, l);
    for (size_t i = 0; i < c->n; i++) {
        c->v[i].chosen = rank(l, &c->v[i]) < UC_MAX_SEGMENTS;
        for (size_t s = 0; s < l->n; s++)
            c->v[i].runner_up |= !strcmp(l->segment[s].runner_up, c->v[i].strategy);
    }
    return rc;
}

/* ---- their points ---- */

static int fill(const struct uc_fit_model *m, const struct uc_ladder *l, struct uc_curve *c)
{
    const size_t *size;
    size_t n = uc_fit_model_sizes(m, &size);

    c->point = calloc(n + 1, sizeof(*c->point));
    if (!c->point)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        struct uc_point *p = &c->point[c->n];
        size_t dispatch_max = uc_ladder_segment(l, size[i])->max;
        p->size = size[i];
        p->cost = uc_fit_model_cost(m, c->strategy, size[i], dispatch_max, &p->lo, &p->hi);
        p->raw = uc_fit_model_raw(m, c->strategy, size[i]);
        c->n += p->cost > 0;
    }
    return 0;
}

/* What was measured at no size of the entry's table (probes alone) has no curve. */
static void drop_empty(struct uc_curves *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n; i++)
        if (c->v[i].n)
            c->v[n++] = c->v[i];
        else
            free(c->v[i].point);
    c->n = n;
}

int uc_curves_make(const struct uc_profile *p, const struct uc_fit_options *o, struct uc_curves *c)
{
    memset(c, 0, sizeof(*c));
    int rc = list(p, o, c);
    if (rc || !c->n)
        return rc;
    struct uc_fit_model *m = uc_fit_model_new(&p->cells, o);
    for (size_t i = 0; m && i < c->n && !rc; i++)
        rc = fill(m, &p->entry[o->entry].ladder, &c->v[i]);
    drop_empty(c);
    uc_fit_model_free(m);
    return rc;
}

void uc_curves_free(struct uc_curves *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->v[i].point);
    free(c->v);
    memset(c, 0, sizeof(*c));
}

/* ---- as JSON ---- */

static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *curve_json(const struct uc_curve *c)
{
    json_t *size = json_array(), *cost = json_array(), *lo = json_array(), *hi = json_array(),
           *raw = json_array();
    int rc = 0;

    for (const struct uc_point *p = c->point; p < c->point + c->n; p++) {
        rc |= json_array_append_new(size, json_integer((json_int_t)p->size));
        rc |= json_array_append_new(cost, number(p->cost));
        rc |= json_array_append_new(lo, number(p->lo));
        rc |= json_array_append_new(hi, number(p->hi));
        rc |= json_array_append_new(raw, number(p->raw));
    }
    json_t *out = json_pack("{s:o, s:o, s:o, s:o, s:o}", "size", size, "cost", cost, "lo", lo, "hi",
                            hi, "raw", raw);
    if (rc) {
        json_decref(out);
        out = NULL;
    }
    return out;
}

json_t *uc_curves_json(const struct uc_curves *c)
{
    json_t *out = json_object();
    int rc = !out;

    for (size_t i = 0; i < c->n; i++)
        rc |= json_object_set_new(out, c->v[i].strategy, curve_json(&c->v[i]));
    if (!rc)
        return out;
    json_decref(out);
    return NULL;
}
