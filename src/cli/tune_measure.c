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

static const char *journal_name(const struct uc_tune *t, unsigned i, char *buf, size_t cap)
{
    snprintf(buf, cap, i ? "%s.%u" : "%s", t->journal_path, i);
    return buf;
}

void uc_tune_drop_journals(const struct uc_tune *t)
{
    char path[sizeof(t->journal_path) + 16];

    for (unsigned i = 0; !unlink(journal_name(t, i, path, sizeof(path))); i++)
        ;
}

/* Takes up what an interrupted run has left; where that cannot be, says why and starts anew. Of the
 * sweeps behind the first, those that were not begun have left nothing. */
static void resume(struct uc_sweep *s, const char *path, bool first)
{
    int rc = uc_journal_load(s, path);

    if (rc == -ENOENT && first)
        uc_note("there is no %s to resume from: starting anew", path);
    else if (rc == -ESTALE)
        uc_warn("%s is of another plan (other sizes, strategies, seed or version): starting anew",
                path);
    else if (rc && rc != -ENOENT)
        uc_warn("%s cannot be used (%s): starting anew", path,
                rc == -EINVAL ? "it is damaged" : strerror(-rc));
}

int uc_tune_failed(const struct uc_tune *t, int rc)
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
    char path[sizeof(t->journal_path) + 16];
    struct uc_sweep *s = NULL;

    so->journal = t->keeps ? journal_name(t, t->journals, path, sizeof(path)) : NULL;
    so->branch_ns = t->branch_ns;
    int rc = uc_sweep_new(&s, plan, subjects, n, so);
    if (!rc && so->journal && t->o->resume)
        resume(s, so->journal, !t->journals);
    t->journals += t->keeps;
    if (!rc)
        rc = uc_sweep_run(s);
    if (s && so->journal && (!rc || rc == -EINTR || rc == -EXDEV))
        uc_journal_save(s, so->journal);
    if (!rc)
        rc = uc_sweep_cells(s, cells);
    if (!rc)
        tell_rounds(s, so->what, facts);
    uc_sweep_free(s);
    return rc ? uc_tune_failed(t, rc) : 0;
}

static void measure_noise(struct uc_tune *t)
{
    struct uc_machine_load now;
    double *width = malloc((t->cells.n ? t->cells.n : 1) * sizeof(*width));
    size_t n = 0;

    t->noise.emulated = uc_cpu_emulated(&t->session.cpu);
    t->noise.self = uc_tune_take_again(&t->cells);
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
    out[n++] = uc_tune_again();
    return n;
}

/* Seconds of what is neither measured nor foreseen by share: compiling the tries (some thirty, a
 * fifth of a second each; a third of them where time is short), fits, writing. */
static double untimed(const struct uc_tune *t)
{
    return uc_tune_short(t) ? 3 : 7.5;
}

/* Checks and caches are done: what is left is shared. */
static void share_budget(struct uc_tune *t)
{
    double left = uc_tune_left(t);

    t->budget = fmax(left - untimed(t), left / 2);
}

int uc_tune_measure(struct uc_tune *t)
{
    struct uc_subject *subject = malloc(UC_MAX_SUBJECTS * sizeof(*subject));
    static const double share[UC_GROUPS] = {[UC_SMALL] = .24, [UC_BANDS] = .18,  [UC_MIDDLE] = .03,
                                            [UC_LARGE] = .22, [UC_EVICTS] = .31, [UC_PROBES] = .02};
    int rc = subject ? 0 : UC_EXIT_MACHINE;

    share_budget(t);
    struct uc_sweep_options so =
        uc_tune_sweep_options(t, "measuring", 0.58 * t->budget, 0.05, 0.66);
    so.fill = true;
    memcpy(so.group_share, share, sizeof(share));
    t->keeps = true;
    if (!(t->branch_ns > 0)) /* of the run that is gone on with */
        t->branch_ns = uc_branch_cost_ticks() / t->session.clock.tsc_hz * 1e9;
    if (!rc)
        rc = uc_tune_sweep(t, &t->plan, subject, all_subjects(t, subject), &so, &t->cells,
                           &t->facts);
    if (!rc)
        measure_noise(t);
    free(subject);
    return rc;
}
