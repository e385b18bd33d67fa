/* The inside of a sweep, for the sweep's own files and the journal. */
#ifndef UC_MEASURE_SWEEP_STATE_H
#define UC_MEASURE_SWEEP_STATE_H

#include "measure/sweep.h"

/* Most rounds of a group, however much time there is. */
#define UC_MAX_ROUNDS 1536

struct uc_series {
    const struct uc_cell *place;
    enum uc_group group;
    float *value;                             /* [round][subject]: ticks a call, NAN: none */
    unsigned room;                            /* rounds that value has room for */
    bool *out;                                /* [subject]: serves it not, or raced out */
    double best;                              /* the best candidate's cost so far, for the race */
    const struct uc_series *smaller, *larger; /* the neighbouring sizes; NULL: none */
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
    bool done;     /* taken up from the journal of a sweep that had ended */
    unsigned most; /* times the rounds that are enough; grows while there is time */
    double spent[UC_GROUPS];
    double started;
    unsigned long readings, dropped;
    struct uc_rng rng;
};

static inline float *uc_sweep_value(const struct uc_sweep *s, const struct uc_series *e,
                                    size_t subject, unsigned round)
{
    return &e->value[round * s->subjects + subject];
}

/* Room for so many rounds of a series, new ones without readings. 0 or -ENOMEM. */
int uc_sweep_room(const struct uc_sweep *s, struct uc_series *e, unsigned rounds);

/* The groups whose readings take milliseconds and go through memory. */
bool uc_sweep_through_memory(enum uc_group g);
bool uc_sweep_serves(const struct uc_subject *u, const struct uc_cell *place);
/* The places of the next smaller and the next larger fixed size that are else the same, in a group.
 */
void uc_sweep_find_neighbours(struct uc_sweep *s);
/* The subject's cost at a place so far, in ticks; NAN: no reading. */
double uc_sweep_middle(const struct uc_sweep *s, const struct uc_series *e, size_t subject);
/* How many of v, which it may sort, count. */
size_t uc_sweep_counting(enum uc_group g, double *v, size_t n);
/* Drops who cannot win any more. */
void uc_sweep_race(struct uc_sweep *s, enum uc_group g);

#endif
