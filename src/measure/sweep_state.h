/* The inside of a sweep, for sweep.c and journal.c. */
#ifndef UC_MEASURE_SWEEP_STATE_H
#define UC_MEASURE_SWEEP_STATE_H

#include "measure/sweep.h"

#define UC_MAX_ROUNDS 96

struct uc_series {
    const struct uc_cell *place;
    enum uc_group group;
    float *value; /* [subject][rounds of the group]: ticks a call, NAN: none */
    bool *out;    /* [subject]: serves it not, or raced out */
};

struct uc_sweep {
    struct uc_sweep_options o;
    const struct uc_plan *plan;
    const struct uc_subject *subject;
    size_t subjects;
    struct uc_series *series;
    size_t n;
    struct uc_sizes band[8];
    struct uc_pools large; /* mapped once, kept for some rounds */
    unsigned large_age;
    unsigned rounds[UC_GROUPS];
    double spent[UC_GROUPS];
    double started;
    unsigned long readings, dropped;
    struct uc_rng rng;
};

/* Most rounds of a group. */
unsigned uc_sweep_most(enum uc_group g);

#endif
