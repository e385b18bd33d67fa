/* One more size where a limit lies in a wide gap of the grid: from 16 MiB on its steps are whole
 * octaves, and a limit could be told no closer than that. Narrower gaps are left: a look of a
 * second late in the run agrees with itself and not with the whole run's readings (12 MiB, found
 * between 8 and 16 MiB by such a look, was wrong by a fifth). */
#include "cli/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "cli/command.h"

#define WIDE 1.6 /* neighbouring sizes of the grid that are further apart, a ratio */
#define CONTENDER                                                                   \
    1.5 /* cost over the best's, at either end of the gap, up to which one is timed \
         */
#define MAX_GAPS (UC_ENTRY_COUNT * UC_MAX_SEGMENTS)

struct gap {
    enum uc_entry entry;
    size_t below, above; /* sizes of the grid */
};

/* A round size in the middle: of the form x * 2^k with few bits. */
static size_t middle_of(const struct gap *g)
{
    size_t step = 1;

    while (2 * step <= (g->above - g->below) / 2)
        step *= 2;
    return g->below + (g->above - g->below) / 2 / step * step;
}

/* The gap of the grid in which a limit lies; false where it is narrow. */
static bool find_gap(const size_t *size, size_t n, size_t limit, struct gap *g)
{
    size_t i = 0;

    while (i < n && size[i] <= limit)
        i++;
    if (!i || i == n || (double)size[i] <= WIDE * (double)size[i - 1])
        return false;
    g->below = size[i - 1];
    g->above = size[i];
    return true;
}

static size_t find_gaps(const struct uc_tune *t, struct gap *gap, bool *contender)
{
    size_t gaps = 0;

    for (int e = 0; e < UC_ENTRY_COUNT; e++) {
        const struct uc_ladder *l = &t->profile.entry[e].ladder;
        struct uc_fit_options fo = uc_tune_fit_options(t, (enum uc_entry)e);
        struct uc_fit_model *m = uc_fit_model_new(&t->cells, &fo);
        const size_t *size;
        size_t n = m ? uc_fit_model_sizes(m, &size) : 0;
        for (size_t i = 0; i + 1 < l->n && m; i++) {
            struct gap g = {.entry = (enum uc_entry)e};
            if (!find_gap(size, n, l->segment[i].max, &g))
                continue;
            for (size_t k = 0; k < t->strategies; k++) {
                double a = uc_fit_model_cost(m, t->known[k].name, g.below, g.below, NULL, NULL);
                double b = uc_fit_model_cost(m, t->known[k].name, g.above, g.above, NULL, NULL);
                contender[k] |= a <= CONTENDER || b <= CONTENDER;
            }
            gap[gaps++] = g;
        }
        uc_fit_model_free(m);
    }
    return gaps;
}

static int refine_plan(const struct uc_tune *t, const struct gap *gap, size_t n, struct uc_plan *p)
{
    struct uc_plan_options po = {&t->session.caches, &t->weights, t->top, t->o->quick, true};
    int rc = 0;

    memset(p, 0, sizeof(*p));
    for (size_t i = 0; i < n && !rc; i++)
        rc = uc_plan_add_size(p, &po, gap[i].entry, middle_of(&gap[i]));
    return rc;
}

/* The proof times the new places too. */
static int adopt(struct uc_tune *t, const struct uc_plan *p)
{
    int rc = 0;

    for (size_t i = 0; i < p->n && !rc; i++)
        rc = uc_plan_add(&t->plan, &p->place[i], p->group[i]);
    return rc;
}

int uc_tune_refine(struct uc_tune *t, bool *found)
{
    struct uc_sweep_options so =
        uc_tune_sweep_options(t, "closer to the limits", 0.03 * t->budget, 0.64, 0.66);
    struct uc_subject u[UC_MAX_SUBJECTS];
    bool contender[UC_MAX_SUBJECTS] = {false};
    struct gap gap[MAX_GAPS];
    size_t n = 0, gaps = find_gaps(t, gap, contender);
    struct uc_plan plan;
    int rc = refine_plan(t, gap, gaps, &plan) || adopt(t, &plan) ? UC_EXIT_MACHINE : 0;

    *found = gaps;
    so.race = false;
    for (int g = 0; g < UC_GROUPS; g++)
        so.group_share[g] = 1;
    for (size_t k = 0; k < t->strategies; k++)
        if (contender[k] || t->strategy[k]->role == UCOPY_BASELINE)
            u[n++] = uc_subject_called(t->strategy[k]);
    if (rc)
        uc_error("no memory to look closer at the limits");
    else if (gaps)
        rc = uc_tune_sweep(t, &plan, u, n, &so, &t->cells, NULL);
    uc_plan_free(&plan);
    return rc;
}
