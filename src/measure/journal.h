/* The journal: what a sweep has measured so far, so that an interrupted run goes on where it
 * stopped. */
#ifndef UC_MEASURE_JOURNAL_H
#define UC_MEASURE_JOURNAL_H

#include "measure/sweep.h"

/* Writes the sweep's readings and its place in the order of rounds (by temporary and rename). 0 or
 * a negative errno. */
int uc_journal_save(const struct uc_sweep *s, const char *path);

/* Takes them up again. 0; -ENOENT where there is no journal; -ESTALE where it belongs to another
 * plan (other sizes, strategies, seed or program); -EINVAL where it is damaged. On failure the
 * sweep is as it was. */
int uc_journal_load(struct uc_sweep *s, const char *path);

/* What the journal's plan was made for and its readings are told by: a run that goes on with it
 * must use these. */
struct uc_journal_facts {
    struct uc_caches caches;
    double tsc_hz;
    double branch_ns; /* a misprediction */
};
/* 0; -EINVAL where it is damaged; or the negative errno of opening it. */
int uc_journal_facts(const char *path, struct uc_journal_facts *f);

#endif
