/* Hardware counts of copies, in a pass apart from timing: the same drawn calls for each, some
 * repeats, few events at a time so that no PMU has to share a counter between two. */
#ifndef UC_MEASURE_COUNT_H
#define UC_MEASURE_COUNT_H

#include "measure/batch.h"
#include "measure/tally.h"

/* Can cycles and instructions be counted here, by this thread and in user mode? 0, or a negative
 * errno with why. */
int uc_count_possible(char *why, size_t why_cap);

/* Counts the calls of the batch under each of n subjects, by turns, into tally[subject][event]; an
 * event that cannot be had says why in its tallies. 0; -EINTR after a signal; -ENOMEM. */
int uc_count_batch(struct uc_batch *b, const struct uc_subject *u, size_t n,
                   struct uc_tally (*tally)[UC_EVENTS]);

#endif
