/* The sweep: places times subjects, in interleaved rounds with fresh buffers, strategies raced,
 * until the budget is spent; then aggregated into cells. */
#ifndef UC_MEASURE_SWEEP_H
#define UC_MEASURE_SWEEP_H

#include <signal.h>

#include "machine/clock.h"
#include "measure/batch.h"
#include "measure/plan.h"
#include "measure/subject.h"

/* Set by the signal handler; the sweep stops at the next batch. */
extern volatile sig_atomic_t uc_interrupted;

struct uc_sweep_options {
    const struct uc_weights *weights;
    const struct uc_caches *caches;
    struct uc_clock *clock; /* its core clock is sampled once a round */
    const int
        *pu; /* the CPU that the thread is bound to: found elsewhere it ends; NULL: anywhere */
    struct uc_company *company;    /* for places with several threads or dst in other_core */
    double seconds;                /* budget */
    double group_share[UC_GROUPS]; /* of the budget; 0: the group is not measured */
    uint64_t seed;
    bool race;           /* drop what cannot win */
    bool fill;           /* take all of the seconds, however many rounds there are by then */
    const char *journal; /* kept here while running; NULL: not */
    double branch_ns;    /* what a misprediction was found to cost, to be kept with it */
    const char *what;    /* for the progress line */
    double done_before, done_after; /* this sweep's part of the whole run, 0 to 1 */
    double seconds_after;           /* what follows it, for the time left */
};

struct uc_sweep;

/* plan and subjects are borrowed until uc_sweep_free. 0 or -ENOMEM. */
int uc_sweep_new(struct uc_sweep **out, const struct uc_plan *plan,
                 const struct uc_subject *subjects, size_t subject_count,
                 const struct uc_sweep_options *o);
void uc_sweep_free(struct uc_sweep *s);

/* Runs rounds until the budget is spent; each group that has a share gets at least two rounds. 0,
 * -EINTR after a signal, -EXDEV where the thread was moved off its CPU from outside, -ENOMEM. The
 * round broken off is dropped. */
int uc_sweep_run(struct uc_sweep *s);

/* Aggregated cells, appended to out, in ns. A round's value is the least of its interleaved
 * readings; what is common to all strategies of a round (clock, mapping) is taken out; the cell is
 * the median over rounds with its interval. */
int uc_sweep_cells(const struct uc_sweep *s, struct uc_cells *out);

struct uc_sweep_facts {
    unsigned rounds[UC_GROUPS];
    unsigned long readings, dropped; /* batches timed; dropped by rule */
    double seconds[UC_GROUPS];
};
void uc_sweep_facts(const struct uc_sweep *s, struct uc_sweep_facts *f);

#endif
