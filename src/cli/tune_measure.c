/* Check, then measure. */
#include "cli/tune.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/msg.h"
#include "base/stats.h"
#include "cli/command.h"
#include "measure/branch.h"
#include "measure/journal.h"
#include "measure/verify.h"

static bool usable(const struct uc_tune *t, const struct ucopy_strategy *s)
{
    return !(s->isa & ~t->session.isa) && (s->environments & t->o->environment);
}

static void keep(struct uc_tune *t, const struct ucopy_strategy *s)
{
    struct uc_fit_strategy *f = &t->known[t->strategies];

    f->name = s->name;
    f->min = s->min;
    f->max = s->max;
    f->rank = s->rank;
    f->dispatch = s->flags & UCOPY_DISPATCH;
    f->streaming = s->flags & UCOPY_STREAMING;
    f->role = s->role;
    t->strategy[t->strategies++] = s;
}

int uc_tune_check(struct uc_tune *t)
{
    struct uc_plan_options po = {&t->session.caches, &t->weights, t->top, t->o->quick, true};
    struct uc_verify_failure f;

    if (uc_plan_make(&t->plan, &po)) {
        uc_error("no memory for the plan");
        return UC_EXIT_MACHINE;
    }
    for (size_t i = 0; i < ucopy_strategy_count && t->strategies < UC_MAX_SUBJECTS; i++) {
        const struct ucopy_strategy *s = &ucopy_strategies[i];
        if (!usable(t, s))
            continue;
        if (uc_interrupted)
            return uc_session_interrupted();
        uc_progress("checking each strategy", 0.02 * (double)i / (double)ucopy_strategy_count,
                    t->budget);
        int rc = uc_verify_strategy(s, t->plan.size, t->plan.sizes, &f);
        if (rc < 0) {
            uc_error("no memory to check %s: %s", s->name, strerror(-rc));
            return UC_EXIT_MACHINE;
        }
        if (rc) {
            uc_error("%s fails its check and is left out: %s (size %zu, dst mod 64 = %u, src mod "
                     "64 = %u)",
                     s->name, f.what, f.size, f.dst_align, f.src_align);
            t->failed++;
            continue;
        }
        keep(t, s);
    }
    return 0;
}

struct uc_sweep_options uc_tune_sweep_options(struct uc_tune *t, const char *what, double seconds,
                                              double done_before, double done_after)
{
    struct uc_sweep_options so = {.weights = &t->weights,
                                  .caches = &t->session.caches,
                                  .clock = &t->session.clock,
                                  .pu = &t->session.pu,
                                  .seconds = seconds,
                                  .seed = t->o->seed,
                                  .race = true,
                                  .what = what,
                                  .done_before = done_before,
                                  .done_after = done_after,
                                  .seconds_after = (1 - done_after) * t->budget};
    return so;
}

/* Takes up what an interrupted run has left; where that cannot be, says why and starts anew. */
static void resume(struct uc_sweep *s, const char *path)
{
    int rc = uc_journal_load(s, path);

    if (rc == -ENOENT)
        uc_note("there is no %s to resume from: starting anew", path);
    else if (rc == -ESTALE)
        uc_warn("%s is of another plan (other sizes, strategies, seed or version): starting anew",
                path);
    else if (rc)
        uc_warn("%s cannot be used (%s): starting anew", path,
                rc == -EINVAL ? "it is damaged" : strerror(-rc));
}

static int sweep_failed(const struct uc_tune *t, int rc)
{
    if (rc == -ENOMEM) {
        uc_error("no memory for buffers of %zu bytes", t->top);
        return UC_EXIT_MACHINE;
    }
    bool kept = !access(t->journal_path, F_OK);
    if (kept && rc == -EINTR) {
        uc_error("interrupted: the readings so far are kept in %s; --resume goes on with them",
                 t->journal_path);
        return uc_session_interrupted_code();
    }
    int code = uc_session_failed(&t->session, rc);
    if (kept)
        uc_note("the readings so far are kept in %s; --resume goes on with them", t->journal_path);
    return code;
}

static void tell_rounds(const struct uc_sweep *s, const char *what, struct uc_sweep_facts *facts)
{
    struct uc_sweep_facts f;

    uc_sweep_facts(s, &f);
    for (int g = 0; g < UC_GROUPS; g++)
        if (f.rounds[g])
            uc_detail("%s, %s: %u rounds in %.2f s", what, uc_group_name[g], f.rounds[g],
                      f.seconds[g]);
    if (facts)
        *facts = f;
}

int uc_tune_sweep(struct uc_tune *t, const struct uc_plan *plan, const struct uc_subject *subjects,
                  size_t n, struct uc_sweep_options *so, struct uc_cells *cells,
                  struct uc_sweep_facts *facts)
{
    struct uc_sweep *s = NULL;
    int rc = uc_sweep_new(&s, plan, subjects, n, so);

    if (!rc && so->journal && t->o->resume)
        resume(s, so->journal);
    if (!rc)
        rc = uc_sweep_run(s);
    if (s && so->journal && (!rc || rc == -EINTR || rc == -EXDEV))
        uc_journal_save(s, so->journal);
    if (!rc)
        rc = uc_sweep_cells(s, cells);
    if (!rc)
        tell_rounds(s, so->what, facts);
    uc_sweep_free(s);
    return rc ? sweep_failed(t, rc) : 0;
}

/* libc under a second name, timed among the others: what the method itself adds. */
static const char again[] = "libc again";

static double take_self(struct uc_cells *c)
{
    double *v = malloc((c->n ? c->n : 1) * sizeof(*v));
    size_t n = 0, kept = 0;

    for (size_t i = 0; i < c->n; i++) {
        const struct uc_cell *x = &c->v[i];
        for (size_t k = 0; !strcmp(x->strategy, again) && x->src_state == UC_L1 && k < c->n && v;
             k++)
            if (!strcmp(c->v[k].strategy, "libc") && uc_cells_same_place(&c->v[k], x))
                v[n++] = fabs(log(x->cost / c->v[k].cost));
    }
    for (size_t i = 0; i < c->n; i++) /* the second name has served */
        if (strcmp(c->v[i].strategy, again) != 0)
            c->v[kept++] = c->v[i];
    c->n = kept;
    if (n)
        uc_sort(v, n);
    double self = n ? uc_quantile(v, n, 0.9) : 0;
    free(v);
    return self;
}

static void measure_noise(struct uc_tune *t)
{
    struct uc_machine_load now;
    double *width = malloc((t->cells.n ? t->cells.n : 1) * sizeof(*width));
    size_t n = 0;

    t->noise.emulated = uc_cpu_emulated(&t->session.cpu);
    t->noise.self = take_self(&t->cells);
    uc_machine_load_now(&now, t->session.pu, &t->session.siblings);
    t->noise.steal = uc_steal_share(&t->session.load, &now);
    t->noise.sibling =
        CPU_COUNT(&t->session.siblings) ? uc_sibling_share(&t->session.load, &now) : -1;
    t->noise.dropped = t->facts.readings ? (double)t->facts.dropped / (double)t->facts.readings : 0;
    for (size_t i = 0; i < t->cells.n && width; i++)
        if (t->cells.v[i].n >= 6)
            width[n++] = (t->cells.v[i].hi - t->cells.v[i].lo) / 2 / t->cells.v[i].cost;
    if (n)
        t->noise.half_width = uc_median(width, n);
    free(width);
    uc_grade_of(&t->noise, &t->grade);
}

static size_t all_subjects(const struct uc_tune *t, struct uc_subject *out)
{
    size_t n = 0;

    for (size_t i = 0; i < t->strategies && n < UC_MAX_SUBJECTS; i++)
        out[n++] = uc_subject_called(t->strategy[i]);
    for (size_t i = 0; i < t->strategies && n + 1 < UC_MAX_SUBJECTS; i++)
        if (t->strategy[i]->flags & UCOPY_DISPATCH)
            out[n++] = uc_subject_inline(t->strategy[i]);
    out[n] = uc_subject_called(ucopy_find("libc"));
    memcpy(out[n++].name, again, sizeof(again));
    return n;
}

int uc_tune_measure(struct uc_tune *t)
{
    struct uc_subject *subject = malloc(UC_MAX_SUBJECTS * sizeof(*subject));
    struct uc_sweep_options so =
        uc_tune_sweep_options(t, "measuring", 0.58 * t->budget, 0.05, 0.66);
    static const double share[UC_GROUPS] = {[UC_SMALL] = .24, [UC_BANDS] = .18,  [UC_MIDDLE] = .03,
                                            [UC_LARGE] = .22, [UC_EVICTS] = .31, [UC_PROBES] = .02};
    int rc = subject ? 0 : UC_EXIT_MACHINE;

    memcpy(so.group_share, share, sizeof(share));
    so.journal = t->journal_path;
    t->branch_ns = uc_branch_cost_ticks() / t->session.clock.tsc_hz * 1e9;
    if (!rc)
        rc = uc_tune_sweep(t, &t->plan, subject, all_subjects(t, subject), &so, &t->cells,
                           &t->facts);
    if (!rc)
        measure_noise(t);
    free(subject);
    return rc;
}
