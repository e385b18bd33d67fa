/* One timed batch of calls: buffers, placements drawn from the weights, the caches brought into the
 * place's state, the loop, the evidence. */
#ifndef UC_MEASURE_BATCH_H
#define UC_MEASURE_BATCH_H

#include "base/rng.h"
#include "machine/buffers.h"
#include "machine/caches.h"
#include "measure/subject.h"
#include "measure/weights.h"

/* The buffers of one round. src and dst differ in what lies behind their end. */
struct uc_pools {
    struct uc_buffer src, dst;
    struct uc_buffer warm; /* for evict: half of L2, and what pushes src out of L2 */
};

/* Bytes of each of src and dst that a place needs. */
size_t uc_batch_bytes(const struct uc_cell *place, const struct uc_caches *caches);

/* Maps src and dst of the given size; swap exchanges what lies behind them. warm bytes may be 0. 0
 * or -ENOMEM. */
int uc_pools_map(struct uc_pools *p, size_t bytes, size_t warm, bool swap, uint64_t seed);
void uc_pools_unmap(struct uc_pools *p);

struct uc_company;

struct uc_batch {
    const struct uc_cell *place;
    const struct uc_pools *pools;
    const struct uc_caches *caches;
    struct uc_call *calls;
    size_t n, cap;
    const char *base;           /* where looks are relative to */
    struct uc_company *company; /* for several threads, and for dst written by another core */
    double undisturbed;         /* evict: ticks to read the warm set where nothing came between */
};

/* Draws the calls of a batch for a place: as many as make a reading worth timing, sizes from mix
 * for bands and named mixes (NULL else). 0 or -ENOMEM. */
int uc_batch_draw(struct uc_batch *b, const struct uc_cell *place, const struct uc_pools *pools,
                  const struct uc_caches *caches, const struct uc_weights *w,
                  const struct uc_sizes *mix, struct uc_rng *rng);
void uc_batch_free(struct uc_batch *b);

/* Brings the caches into the state, runs the subject's loop once, and returns TSC ticks a call,
 * less the timer's overhead; NAN where the reading was disturbed (switch, fault, move) three times
 * in a row. disturbed counts the readings that were dropped. */
double uc_batch_time(struct uc_batch *b, const struct uc_subject *u, double overhead,
                     unsigned long *disturbed);

/* Runs the subject's loop once, with warm code and prepared as for timing, between edge(state,
 * true) and edge(state, false); where dst is not used the warm set is read before the second. For
 * counters, in a pass apart from timing. */
void uc_batch_between(struct uc_batch *b, const struct uc_subject *u,
                      void (*edge)(void *state, bool begin), void *state);

#endif
