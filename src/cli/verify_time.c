/* `verify`: the limits of a profile timed again, interleaved, and judged. */
#include "cli/verify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "cli/command.h"
#include "measure/plan.h"
#include "measure/sweep.h"
#include "measure/verify.h"

/* Seconds of timing; with the caches' chase, the clock and the checks a run stays under 15. */
#define BUDGET 10.5
#define QUICK_BUDGET 3.0
/* src and dst of this size and the rest stay under 600 MB. */
#define MOST_BYTES ((size_t)96 << 20)

static size_t top_of(const struct uc_ladder *l)
{
    size_t measured = l->n ? l->segment[l->n - 1].measured_to : 0;

    return measured > ((size_t)64 << 20) && measured <= MOST_BYTES ? measured : (size_t)64 << 20;
}

/* Bands price a range that begins at or below 4 KiB by sizes up to its end. */
static int add_bands(struct uc_plan *plan, const struct uc_plan_options *o,
                     const struct uc_ladder *l)
{
    int rc = 0;
    size_t done = uc_band_count, first = 0;

    for (size_t i = 0; i < l->n && first <= UC_SMALL_MAX && !rc; i++) {
        size_t b = 0;
        while (b + 1 < uc_band_count && uc_band_end[b] < l->segment[i].max)
            b++;
        if (b != done)
            rc = uc_plan_add_band(plan, o, b);
        done = b;
        first = l->segment[i].max + 1;
    }
    return rc;
}

static int make_plan(const struct uc_verify_run *v, enum uc_entry entry, struct uc_plan *plan)
{
    const struct uc_ladder *l = &v->p.entry[entry].ladder;
    struct uc_plan_options o = {.caches = &v->session.caches, .weights = &v->weights};
    size_t size[UC_DRIFT_SIZES], n = uc_drift_sizes(l, top_of(l), size);
    int rc = 0;

    for (size_t i = 0; i < n && !rc; i++)
        rc = uc_plan_add_size(plan, &o, entry, size[i]);
    if (!rc && entry == UC_COPY)
        rc = add_bands(plan, &o, l);
    return rc;
}

/* Every strategy of the ladder and every runner-up that can be had here, each at the sizes at which
 * it is asked for. Bands begin at 0. */
static size_t make_subjects(const struct uc_verify_run *v, enum uc_entry entry,
                            struct uc_subject *u)
{
    const struct uc_ladder *l = &v->p.entry[entry].ladder;
    size_t n = 0, lo, hi;

    for (size_t i = 0; i < ucopy_strategy_count && n < UC_DRIFT_ITEMS; i++) {
        const struct ucopy_strategy *s = &ucopy_strategies[i];
        if ((s->isa & ~v->session.isa) || !uc_drift_span(l, s->name, &lo, &hi))
            continue;
        u[n] = uc_subject_called(s);
        if (lo > UC_SMALL_MAX && lo > u[n].min)
            u[n].min = lo;
        if (hi > UC_SMALL_MAX && hi < u[n].max)
            u[n].max = hi;
        n++;
    }
    return n;
}

static int check_subjects(struct uc_verify_run *v, const struct uc_subject *u, size_t n,
                          const struct uc_plan *plan)
{
    size_t *size = malloc((plan->n + 1) * sizeof(*size)), sizes = 0;
    struct uc_verify_failure f;
    int rc = size ? 0 : -ENOMEM;

    for (size_t i = 0; i < plan->n && !rc; i++)
        if (plan->place[i].mix == UC_FIXED && (!sizes || size[sizes - 1] != plan->place[i].size))
            size[sizes++] = plan->place[i].size;
    for (size_t k = 0; k < n && rc >= 0; k++) {
        rc = uc_verify_strategy(ucopy_find(u[k].name), size, sizes, &f);
        if (rc > 0) {
            uc_error("%s fails its check: %s (size %zu, dst mod 64 = %u, src mod 64 = %u)",
                     u[k].name, f.what, f.size, f.dst_align, f.src_align);
            v->failed++;
            rc = 0;
        }
    }
    free(size);
    return rc;
}

static int time_entry(const struct uc_verify_run *v, const struct uc_plan *plan,
                      const struct uc_subject *u, size_t n, double seconds, struct uc_cells *cells)
{
    struct uc_sweep *sweep = NULL;
    struct uc_sweep_options so = {
        .weights = &v->weights,
        .caches = &v->session.caches,
        .clock = (struct uc_clock *)&v->session.clock,
        .seconds = seconds,
        .group_share = {[UC_SMALL] = .25,
                        [UC_BANDS] = .2,
                        [UC_MIDDLE] = .1,
                        [UC_LARGE] = .45,
                        [UC_EVICTS] = .55},
        .seed = v->o->seed,
        .what = "timing the thresholds again",
        .done_after = 1,
    };
    int rc = uc_sweep_new(&sweep, plan, u, n, &so);

    if (!rc)
        rc = uc_sweep_run(sweep);
    if (!rc)
        rc = uc_sweep_cells(sweep, cells);
    uc_sweep_free(sweep);
    return rc;
}

static int judge(struct uc_verify_run *v, enum uc_entry entry, const struct uc_cells *cells)
{
    const struct uc_fit_options fo = {
        .weights = &v->weights,
        .entry = entry,
        .environment = v->p.environment,
        .l1d = v->session.caches.l1d.bytes,
        .l2 = v->session.caches.l2.bytes,
        .strategies = v->known,
        .strategy_count = v->known_count,
    };

    const struct uc_profile_entry *e = &v->p.entry[entry];
    return uc_drift_judge(cells, &fo, &e->ladder, e->barred, e->barred_n, v->item[entry],
                          &v->items[entry]);
}

static int verify_entry(struct uc_verify_run *v, enum uc_entry entry, double seconds)
{
    struct uc_subject *u = calloc(UC_DRIFT_ITEMS, sizeof(*u));
    struct uc_plan plan = {0};
    struct uc_cells cells = {0};
    int rc = u ? make_plan(v, entry, &plan) : -ENOMEM;
    size_t n = rc ? 0 : make_subjects(v, entry, u);

    if (!rc)
        rc = check_subjects(v, u, n, &plan);
    if (!rc)
        rc = time_entry(v, &plan, u, n, seconds, &cells);
    if (!rc)
        rc = judge(v, entry, &cells);
    uc_cells_free(&cells);
    uc_plan_free(&plan);
    free(u);
    return rc;
}

int uc_verify_run_time(struct uc_verify_run *v)
{
    static const double share[UC_ENTRY_COUNT] = {[UC_COPY] = .6, [UC_NOCACHE] = .4};
    double budget = v->o->budget > 0 ? v->o->budget : v->o->quick ? QUICK_BUDGET : BUDGET;
    int rc = 0;

    for (int e = 0; e < UC_ENTRY_COUNT && !rc; e++)
        if (v->p.entry[e].present)
            rc = verify_entry(v, (enum uc_entry)e, share[e] * budget);
    uc_progress_end();
    if (rc == -EINTR) {
        uc_error("interrupted: no verdict");
        return uc_session_interrupted_code();
    }
    if (rc)
        uc_error("no memory to time %s: %s", v->path, strerror(-rc));
    return rc ? UC_EXIT_MACHINE : 0;
}
