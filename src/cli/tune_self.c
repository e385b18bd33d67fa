/* Does the method agree with itself here and now? Before anything is chosen by time one strategy is
 * timed under two names (A/A): what the two differ by is what nobody can tell apart. */
#include "cli/tune.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "base/stats.h"
#include "cli/command.h"

static const char again[] = "libc again";

/* libc under a second name. */
struct uc_subject uc_tune_again(void)
{
    struct uc_subject u = uc_subject_called(ucopy_find("libc"));

    memcpy(u.name, again, sizeof(again));
    return u;
}

static const struct uc_cell *first_name(const struct uc_cells *c, const struct uc_cell *x)
{
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->v[i].strategy, "libc") && uc_cells_same_place(&c->v[i], x))
            return &c->v[i];
    return NULL;
}

/* The difference that nine in ten places stay under; far states, which differ most, are left out.
 */
static double difference(const struct uc_cells *c)
{
    double *v = malloc((c->n ? c->n : 1) * sizeof(*v));
    size_t n = 0;

    for (size_t i = 0; i < c->n && v; i++) {
        const struct uc_cell *x = &c->v[i];
        const struct uc_cell *a = strcmp(x->strategy, again) ? NULL : first_name(c, x);
        if (a && x->src_state == UC_L1)
            v[n++] = fabs(log(x->cost / a->cost));
    }
    if (n)
        uc_sort(v, n);
    double d = n ? uc_quantile(v, n, 0.9) : 0;
    free(v);
    return d;
}

double uc_tune_take_again(struct uc_cells *c)
{
    double d = difference(c);
    size_t kept = 0;

    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->v[i].strategy, again) != 0)
            c->v[kept++] = c->v[i];
    c->n = kept;
    return d;
}

static int self_plan(struct uc_plan *p)
{
    static const size_t size[] = {1, 8, 24, 64, 128, 256, 512, 1024, 2048, 4096};
    int rc = 0;

    memset(p, 0, sizeof(*p));
    for (size_t i = 0; i < sizeof(size) / sizeof(size[0]); i++)
        for (int k = UC_NONE; k <= UC_WAIT && !rc; k++) {
            struct uc_cell c = uc_cell_default("", size[i]);
            c.src_state = c.dst_state = UC_L1;
            c.consumer = (enum uc_consumer)k;
            rc = uc_plan_add(p, &c, UC_SMALL);
        }
    return rc ? UC_EXIT_MACHINE : 0;
}

/* Beyond what a grade of B allows it is said at once, while the run can still be broken off. */
static void tell(const struct uc_tune *t)
{
    uc_detail("self-test: libc and libc again differ by up to %.1f %% in nine of ten places",
              100 * t->noise.opening);
    if (t->noise.opening > UC_SELF_POOR)
        uc_warn("self-test: one copy timed under two names differs by %.0f %% at a tenth of the "
                "places; this run will tell no smaller differences. 'ucopy-tune info' tells what "
                "disturbs",
                100 * t->noise.opening);
}

int uc_tune_self(struct uc_tune *t)
{
    struct uc_subject u[2] = {uc_subject_called(ucopy_find("libc")), uc_tune_again()};
    struct uc_sweep_options so =
        uc_tune_sweep_options(t, "self-test", fmin(1, 0.02 * t->whole_budget), 0, 0.01);
    struct uc_cells cells = {0};
    struct uc_plan plan;
    int rc = self_plan(&plan);

    so.race = false;
    so.group_share[UC_SMALL] = 1;
    if (rc)
        uc_error("no memory for the self-test");
    else
        rc = uc_tune_sweep(t, &plan, u, 2, &so, &cells, NULL);
    if (!rc) {
        t->noise.opening = uc_tune_take_again(&cells);
        tell(t);
    }
    uc_plan_free(&plan);
    uc_cells_free(&cells);
    return rc;
}
