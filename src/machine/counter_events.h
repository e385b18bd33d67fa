/* What counters tell of a copy, by meaning: the names that each PMU has for it. */
#ifndef UC_MACHINE_COUNTER_EVENTS_H
#define UC_MACHINE_COUNTER_EVENTS_H

enum uc_event {
    UC_CYCLES,
    UC_INSTRUCTIONS,
    UC_BRANCH_MISSES,
    UC_L1D_MISSES, /* lines brought into L1D */
    UC_L2_MISSES,  /* lines brought in from beyond L2 */
    UC_EVENTS
};

/* Arguments for uc_counters_open: alternatives "a|b|c". */
extern const char *const uc_event_names[UC_EVENTS];

#endif
