/* Does a decision that was made before still hold on fresh cells? Pure, as the decision itself is:
 * a ladder and cells in, a verdict on each threshold and each range out.
 *
 * A threshold is judged where it lies: at T - 1 and T the strategy below it is in use, at T + 1 the
 * one above it. It holds where the one in use costs at most UC_DRIFT_BOUND more than the other.
 * Where it costs more, that alone proves no drift: borders are told with an interval, and
 * thresholds are round numbers out of it. So the end of that interval decides: drifted where the
 * strategy in use loses surely there too, which says that the curves cross outside the interval. A
 * profile tells its intervals; where none is told (a header alone), an octave to each side is
 * taken. */
#ifndef UC_FIT_DRIFT_H
#define UC_FIT_DRIFT_H

#include "fit/fit.h"

/* What the regret of a size is held against too (DESIGN.md, "Choice and proof are apart"): less is
 * no reason to ship another header. */
#define UC_DRIFT_BOUND 0.10

enum uc_drift { UC_HOLDS, UC_UNSURE, UC_DRIFTED }; /* the graver the larger */
extern const char *const uc_drift_name[3];

struct uc_drift_item {
    bool limit;         /* a threshold; false: a range, held against its runner-up */
    size_t first, last; /* the range's sizes (SIZE_MAX: to the end); of a threshold both are it */
    char chosen[UC_NAME], other[UC_NAME]; /* of a threshold: in use and not, on the side that
                                             decides; other is "" where a range has no rival */
    enum uc_drift verdict;
    double loss, lo, hi;     /* what the chosen costs over the other, a ratio less 1, and its 95 %
                                interval; NaN: not measured */
    size_t told_lo, told_hi; /* of a threshold: where it may lie by what it was told with */
    /* Of a threshold that drifted: what would be right now. */
    bool gone;  /* the strategy in use wins nowhere in its range: it goes */
    size_t now; /* else the round number between these two */
    size_t now_lo, now_hi;
};

#define UC_DRIFT_ITEMS (2 * UC_MAX_SEGMENTS)
#define UC_DRIFT_SIZES (12 * UC_MAX_SEGMENTS)

/* The sizes to time for a ladder, ascending, none above top: T - 1, T, T + 1, half, double and the
 * ends of the told interval of each threshold T, and the middle and quarters of each range. Returns
 * how many. */
size_t uc_drift_sizes(const struct uc_ladder *l, size_t top, size_t size[UC_DRIFT_SIZES]);

/* The sizes, inclusive, at which a strategy is looked at: its own ranges, those beside them, and
 * those in which it is the runner-up. False: nowhere. */
bool uc_drift_span(const struct uc_ladder *l, const char *strategy, size_t *lo, size_t *hi);

/* Judges a ladder on fresh cells: thresholds and ranges in the order of their sizes. What was
 * barred when the ladder was chosen (its worst placements are not timed again) is no alternative.
 * 0, -ENODATA where the cells hold no candidate of the entry, -ENOMEM or -E2BIG. */
int uc_drift_judge(const struct uc_cells *cells, const struct uc_fit_options *o,
                   const struct uc_ladder *l, const struct uc_barred *barred, size_t barred_n,
                   struct uc_drift_item item[UC_DRIFT_ITEMS], size_t *n);

#endif
