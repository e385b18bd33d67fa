/* The proof: fresh readings, which the choice did not see, of the chosen strategies, their
 * contenders, libc and the compiled header. */
#include "cli/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "cli/command.h"

#define WRITING 0.6   /* seconds: fits, JSON, header */
#define COMPILING 0.6 /* seconds: the header once or twice */

/* The best two at each size by the readings that chose, and all that the ladder names. */
static int mark_contenders(const struct uc_tune *t, enum uc_entry entry, bool *wanted)
{
    struct uc_fit_options fo = uc_tune_fit_options(t, entry);
    const struct uc_ladder *ladder = &t->profile.entry[entry].ladder;
    struct uc_fit_model *m = uc_fit_model_new(&t->cells, &fo);
    struct uc_ranked c[UC_MAX_SUBJECTS];

    if (!m)
        return UC_EXIT_MACHINE;
    for (size_t i = 0; i < t->plan.sizes; i++) {
        size_t n = 0, size = t->plan.size[i], dispatch_max = uc_ladder_segment(ladder, size)->max;
        for (size_t k = 0; k < t->strategies; k++) {
            double cost =
                uc_fit_model_cost(m, t->strategy[k]->name, size, dispatch_max, NULL, NULL);
            if (t->strategy[k]->role == UCOPY_CANDIDATE && !isnan(cost))
                c[n++] = (struct uc_ranked){k, cost};
        }
        uc_tune_rank(c, n);
        for (size_t r = 0; r < n && r < 2; r++)
            wanted[c[r].who] = true;
    }
    uc_fit_model_free(m);
    for (size_t k = 0; k < t->strategies; k++)
        for (size_t i = 0; i < ladder->n; i++)
            if (!strcmp(t->strategy[k]->name, ladder->segment[i].strategy))
                wanted[k] = true;
    return 0;
}

/* The whole mix in an order that is learned: it chooses nothing, and shows who loses to libc there.
 */
static int add_learned(const struct uc_tune *t, struct uc_plan *p)
{
    int rc = 0;

    for (int k = 0; k < UC_CONSUMER_COUNT && !rc; k++) {
        struct uc_cell c = uc_cell_default("", 0);
        if (t->weights.consumer_small[k] <= 0)
            continue;
        c.size_hi = UC_SMALL_MAX;
        c.mix = UC_BAND;
        c.order = UC_LEARNED;
        c.src_state = c.dst_state = UC_L1;
        c.consumer = (enum uc_consumer)k;
        rc = uc_plan_add(p, &c, UC_BANDS);
    }
    return rc;
}

static int proof_plan(const struct uc_tune *t, enum uc_entry entry, struct uc_plan *p)
{
    int rc = 0;

    memset(p, 0, sizeof(*p));
    for (size_t i = 0; i < t->plan.n && !rc; i++)
        if (t->plan.place[i].entry == entry && t->plan.group[i] != UC_PROBES)
            rc = uc_plan_add(p, &t->plan.place[i], t->plan.group[i]);
    if (!rc && entry == UC_COPY)
        rc = add_learned(t, p);
    return rc ? UC_EXIT_MACHINE : 0;
}

static size_t proof_subjects(const struct uc_tune *t, const bool *wanted,
                             const struct uc_built *baseline, const struct uc_built *native,
                             struct uc_subject *u)
{
    size_t n = 0;

    u[n++] = uc_subject_called(ucopy_find("libc"));
    for (size_t k = 0; k < t->strategies; k++)
        if (wanted[k])
            u[n++] = uc_subject_called(t->strategy[k]);
    if (baseline->handle)
        u[n++] = baseline->called;
    if (native->handle)
        u[n++] = native->inlined;
    return n;
}

static int prove_entry(struct uc_tune *t, enum uc_entry entry, double seconds, double from,
                       double to)
{
    struct uc_sweep_options so =
        uc_tune_sweep_options(t, "proving on fresh readings", seconds, from, to);
    struct uc_subject *u = malloc(UC_MAX_SUBJECTS * sizeof(*u));
    bool wanted[UC_MAX_SUBJECTS] = {false};
    struct uc_built baseline = {0}, native = {0};
    struct uc_plan plan = {0};
    int rc = u ? mark_contenders(t, entry, wanted) : UC_EXIT_MACHINE;

    if (!rc && t->has_compiler) {
        uc_tune_build(t, "generated", entry, false, &baseline);
        if (entry == UC_COPY)
            uc_tune_build(t, "generated", entry, true, &native);
    }
    if (!rc)
        rc = proof_plan(t, entry, &plan);
    so.seed = ~so.seed;
    so.fill = true;
    so.group_share[UC_SMALL] = .34;
    so.group_share[UC_BANDS] = .25;
    so.group_share[UC_MIDDLE] = .06;
    so.group_share[UC_LARGE] = .35;
    so.group_share[UC_EVICTS] = .9;
    if (!rc)
        rc = uc_tune_sweep(t, &plan, u, proof_subjects(t, wanted, &baseline, &native, u), &so,
                           &t->proof, NULL);
    uc_built_unload(&baseline);
    uc_built_unload(&native);
    uc_plan_free(&plan);
    free(u);
    return rc;
}

int uc_tune_prove(struct uc_tune *t)
{
    /* all that is left, less the time to write */
    double left = fmax(uc_tune_left(t) - WRITING, 0);
    int rc = prove_entry(t, UC_COPY, 0.55 * left - COMPILING, 0.78, 0.90);

    if (!rc)
        rc = prove_entry(t, UC_NOCACHE, uc_tune_left(t) - WRITING - COMPILING, 0.90, 1);
    for (int e = 0; e < UC_ENTRY_COUNT && !rc; e++) {
        struct uc_fit_options fo = uc_tune_fit_options(t, (enum uc_entry)e);
        if (uc_fit_regret(&t->proof, &fo, &t->profile.entry[e].ladder, 0.10, &t->regret[e])) {
            uc_error("no memory for the proof");
            rc = UC_EXIT_MACHINE;
        }
    }
    return rc;
}

static const struct uc_cell *libc_beside(const struct uc_cells *proof, const struct uc_cell *c)
{
    struct uc_cell called = *c;

    called.form = UC_CALLED;
    for (size_t i = 0; i < proof->n; i++)
        if (!strcmp(proof->v[i].strategy, "libc") && uc_cells_same_place(&proof->v[i], &called))
            return &proof->v[i];
    return NULL;
}

static bool near_state(const struct uc_cell *c)
{
    return c->entry == UC_NOCACHE || c->src_state == UC_L1 || c->src_state == UC_NATURAL;
}

struct uc_gain uc_tune_gain(const struct uc_cells *proof, enum uc_entry entry, enum uc_form form,
                            enum uc_consumer consumer, enum uc_mix mix, enum uc_order order,
                            size_t lo, size_t hi)
{
    struct uc_gain g = {.worst = INFINITY};
    double logs = 0;

    for (size_t i = 0; i < proof->n; i++) {
        const struct uc_cell *c = &proof->v[i];
        size_t size = c->mix == UC_BAND ? c->size_hi : c->size;
        if (strcmp(c->strategy, "generated") != 0 || c->entry != entry || c->form != form ||
            c->mix != mix || c->order != order || c->consumer != consumer || !near_state(c) ||
            size < lo || size > hi)
            continue;
        const struct uc_cell *libc = libc_beside(proof, c);
        if (!libc)
            continue;
        double ratio = libc->cost / c->cost;
        logs += log(ratio);
        g.n++;
        g.slower += libc->hi / c->lo < 1;
        if (ratio < g.worst) {
            g.worst = ratio;
            g.worst_size = size;
        }
    }
    g.geomean = g.n ? exp(logs / (double)g.n) : 0;
    return g;
}
