/* Each limit T of the chosen ladders, timed where it lies: at T - 1, T and T + 1 the strategy in
 * use and the next one. A limit is inclusive, and a copy of exactly T bytes may be the one that a
 * strategy is bad at (a last whole vector, a loop's first turn). */
#include "cli/tune.h"

#include <math.h>
#include <string.h>

#include "base/msg.h"
#include "cli/command.h"

static bool has_limit(const struct uc_ladder *l, size_t i)
{
    return i + 1 < l->n && l->segment[i].max > 0 && l->segment[i].max != SIZE_MAX;
}

static const struct ucopy_strategy *usable(const struct uc_tune *t, const char *name)
{
    for (size_t k = 0; k < t->strategies; k++)
        if (!strcmp(t->strategy[k]->name, name))
            return t->strategy[k];
    return NULL;
}

static size_t limit_subjects(const struct uc_tune *t, struct uc_subject *u)
{
    size_t n = 0;

    for (size_t k = 0; k < t->strategies; k++) {
        bool used = false;
        for (int e = 0; e < UC_ENTRY_COUNT; e++)
            for (size_t i = 0; i < t->profile.entry[e].ladder.n; i++)
                used |=
                    !strcmp(t->profile.entry[e].ladder.segment[i].strategy, t->strategy[k]->name);
        if (used)
            u[n++] = uc_subject_called(t->strategy[k]);
    }
    return n;
}

static int limit_plan(const struct uc_tune *t, struct uc_plan *p)
{
    struct uc_plan_options po = {&t->session.caches, &t->weights, t->top, t->o->quick, true};
    int rc = 0;

    memset(p, 0, sizeof(*p));
    for (int e = 0; e < UC_ENTRY_COUNT; e++) {
        const struct uc_ladder *l = &t->profile.entry[e].ladder;
        for (size_t i = 0; i < l->n && !t->stood[e]; i++)
            for (size_t n = l->segment[i].max - 1; has_limit(l, i) && n <= l->segment[i].max + 1;
                 n++)
                rc = rc ? rc : uc_plan_add_size(p, &po, (enum uc_entry)e, n);
    }
    return rc;
}

/* What the next strategy costs over the one in use, with its interval; NaN: one of the two does not
 * serve the size. */
struct ratio {
    double mid, lo, hi;
};

static struct ratio ratio_at(const struct uc_fit_model *m, const struct uc_tune *t,
                             const struct uc_segment *s, size_t n)
{
    const struct ucopy_strategy *a = usable(t, s[0].strategy), *b = usable(t, s[1].strategy);
    struct ratio none = {NAN, NAN, NAN};
    double alo, ahi, blo, bhi;

    if (!a || !b || n < a->min || n > a->max || n < b->min || n > b->max)
        return none;
    double x = uc_fit_model_cost(m, s[0].strategy, n, s[0].max, &alo, &ahi);
    double y = uc_fit_model_cost(m, s[1].strategy, n, s[0].max, &blo, &bhi);
    return isnan(x) || isnan(y) ? none : (struct ratio){y / x, blo / ahi, bhi / alo};
}

static json_t *three(const struct ratio *r, size_t offset)
{
    json_t *a = json_array();

    for (int i = 0; i < 3; i++)
        json_array_append_new(a, uc_tune_real(*(const double *)((const char *)&r[i] + offset), 4));
    return a;
}

/* At T the next strategy costs surely less, by more than the margin, and at T - 1 it does not: the
 * limit is one too high. */
static bool one_too_high(const struct ratio *r, double margin)
{
    return r[1].hi < 1 / (1 + margin) && !(r[0].hi < 1 / (1 + margin));
}

static void lower(struct uc_segment *s)
{
    s->max--;
    if (s->free_lo > s->max)
        s->free_lo = s->max;
    if (s->lo > s->max)
        s->lo = s->max;
}

int uc_tune_judge_limits(struct uc_tune *t, enum uc_entry e, const struct uc_cells *cells)
{
    struct uc_profile_entry *entry = &t->profile.entry[e];
    struct uc_fit_options fo = uc_tune_fit_options(t, e);
    struct uc_fit_model *m = uc_fit_model_new(cells, &fo);

    if (!m)
        return 0; /* no limit, no cells */
    json_decref(entry->limits);
    entry->limits = json_object();
    for (size_t i = 0; i < entry->ladder.n; i++) {
        struct uc_segment *s = &entry->ladder.segment[i];
        struct ratio r[3];
        char key[24];
        if (!has_limit(&entry->ladder, i))
            continue;
        for (size_t k = 0; k < 3; k++)
            r[k] = ratio_at(m, t, s, s->max - 1 + k);
        if (one_too_high(r, t->weights.margin)) {
            uc_detail("the limit %zu of %s is lowered by one: there %s is already faster", s->max,
                      s->strategy, s[1].strategy);
            lower(s);
        }
        snprintf(key, sizeof(key), "%zu", s->max);
        json_object_set_new(entry->limits, key,
                            json_pack("{s:o, s:o, s:o}", "next_over_chosen",
                                      three(r, offsetof(struct ratio, mid)), "lo",
                                      three(r, offsetof(struct ratio, lo)), "hi",
                                      three(r, offsetof(struct ratio, hi))));
    }
    uc_fit_model_free(m);
    return 0;
}

int uc_tune_limits(struct uc_tune *t)
{
    struct uc_subject u[UC_MAX_SUBJECTS];
    struct uc_sweep_options so =
        uc_tune_sweep_options(t, "each limit, one less and one more", 0.03 * t->budget, 0.76, 0.78);
    struct uc_cells cells = {0};
    struct uc_plan plan;
    int rc = limit_plan(t, &plan) ? UC_EXIT_MACHINE : 0;

    so.race = false;
    for (int g = 0; g < UC_GROUPS; g++)
        so.group_share[g] = 1;
    if (rc)
        uc_error("no memory to time the limits");
    else if (plan.n)
        rc = uc_tune_sweep(t, &plan, u, limit_subjects(t, u), &so, &cells, NULL);
    for (int e = 0; e < UC_ENTRY_COUNT && plan.n && !rc; e++)
        if (!t->stood[e])
            rc = uc_tune_judge_limits(t, (enum uc_entry)e, &cells);
    uc_plan_free(&plan);
    uc_cells_free(&cells);
    return rc;
}
