/* The weights behind every number that the tool prints, and their defaults (DESIGN.md, "Weights").
 * Used to draw placements while measuring and to weigh cells while fitting. */
#ifndef UC_MEASURE_WEIGHTS_H
#define UC_MEASURE_WEIGHTS_H

#include "measure/cells.h"
#include "measure/sizes.h"

#define UC_SMALL_MAX \
    4096 /* largest size that the mix weights, bands and short consumers apply to */

struct uc_weights {
    const char *name;             /* "default", "sizes:<stem>", "consumer:read", ... */
    const struct uc_sizes *sizes; /* NULL: every octave 1 B to 64 MiB the same, size 0 as one more,
                                     within octaves to 4 KiB by the fleet mix */
    double mix[UC_MIX_COUNT];     /* fixed .5, band .5: to UC_SMALL_MAX; above, fixed alone */
    double
        consumer_small[UC_CONSUMER_COUNT]; /* copy, to UC_SMALL_MAX: none .25, read .5, wait .25 */
    double consumer_large[UC_CONSUMER_COUNT]; /* copy, above: none .25, scan .75 */
    double state_small[UC_STATE_COUNT]; /* copy, to a quarter of L1: l1 .8, l2 .15, memory .05 */
    double
        nocache_src[UC_STATE_COUNT]; /* nocache: src l2 .5, l3 .25, memory .25; dst memory; evict */
    double page_end;                 /* share of copies that end at a page end: 1/64 */
    double equal_distance;           /* share with equal page offset: .1 */
    double both_aligned, dst_off, src_off, both_off; /* .4 .2 .2 .2 */
    double limit_ratio; /* worst distance bars a strategy above this ratio: 2 */
    double margin; /* a win under this ratio less 1 is no win for streaming or hysteresis: .03 */
};

extern const struct uc_weights uc_weights_default;

/* Counts one consumer alone, under the name "consumer:<its word>". Above UC_SMALL_MAX read and wait
 * are not measured: there it is scan for read, none for wait. -EINVAL for evict, which is
 * nocache's. */
int uc_weights_consumer(struct uc_weights *w, enum uc_consumer consumer);

/* Weight of the sizes in [lo, hi] under w (all sizes together 1). For w->sizes NULL: octaves to 64
 * MiB. */
double uc_size_weight(const struct uc_weights *w, size_t lo, size_t hi);

#endif
