/* What hardware counters say of one copy, a call. */
#ifndef UC_MEASURE_TALLY_H
#define UC_MEASURE_TALLY_H

#include <stdbool.h>

#include "machine/counter_events.h"

/* One event of one copy: counts a call, of some repeats over the same calls. */
struct uc_tally {
    double lo, mid, hi; /* the least, the middle and the greatest */
    char why[256];      /* why it is not to be used; "": it is */
};

/* "cycles", "L1D misses", ... */
extern const char *const uc_event_word[UC_EVENTS];

/* Marks what no CPU counts: no cycles or instructions, more than 16 instructions a cycle, more
 * branch misses than instructions; and, of a copy of more than L1D holds, no line brought in. */
void uc_tally_check(struct uc_tally tally[UC_EVENTS], bool larger_than_l1d);

#endif
