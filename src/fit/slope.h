/* Start-up cost and slope: the line a + b n through what a strategy costs at fixed sizes, one line
 * for each cache region. It decides nothing; it tells in two figures what a curve looks like. Pure:
 * the same answer for the same cells in any order.
 *
 * The fit is a weighted least squares of relative errors by Huber's M-estimator. Relative, as a
 * cost runs over three decades within a region and a cell is as sure in per cent at each end of it:
 * errors are divided by the line's own value, not by the reading, which would pull the line down
 * (McCullagh and Nelder, "Generalized Linear Models", ch. 9: constant coefficient of variation). In
 * this form no size has leverage over the others: at small ones only a counts, at large ones only
 * b. Huber's weights (k = 1.345, 95 % efficient; Huber and Ronchetti, "Robust Statistics", 7.3)
 * bound what one spike can do and have one solution; a rule that drops spikes has several, and with
 * the handful of sizes that a region may have it drops good ones. Each octave counts the same, as
 * in the weights of the choice, and within it a cell by its variance: that of its own interval, and
 * what the line misses all cells by.
 *
 * The intervals (95 %) come from the cells' own, widened where the line misses the cells by more
 * than these allow (by Student's t); of a table without intervals from the misses alone. */
#ifndef UC_FIT_SLOPE_H
#define UC_FIT_SLOPE_H

#include <stdbool.h>
#include <stddef.h>

#include "measure/cells.h"

/* src and dst lie in a cache together up to half of its size; between that and the whole of it a
 * copy is half in, and belongs to no region. */
enum uc_region {
    UC_REGION_L1,     /* 1 byte to half of L1 */
    UC_REGION_L2,     /* L1 to half of L2 */
    UC_REGION_L3,     /* L2 to half of L3 */
    UC_REGION_MEMORY, /* above L3 */
    UC_REGIONS
};
extern const char *const uc_region_name[UC_REGIONS]; /* "l1", "l2", "l3", "memory" */

#define UC_SLOPE_SIZES 3 /* fewer in a region: nothing is told of it */

struct uc_slope_options {
    size_t l1d, l2, l3;   /* bytes. 0: l1d and l2 are taken as the choice takes them, 32 KiB and 256
                             KiB; without l3 neither it nor memory can be told */
    unsigned environment; /* UCOPY_USER or UCOPY_KERNEL */
};

struct uc_estimate {
    double mid, lo, hi; /* with its 95 % interval */
};

struct uc_slope {
    bool measured; /* false: fewer than UC_SLOPE_SIZES sizes, and nothing but their number below */
    size_t sizes, from, to;
    struct uc_estimate start; /* a, in the table's unit */
    struct uc_estimate byte;  /* b, a byte */
    double off; /* by how much the line misses the cells, a ratio: half of their weight by less */
};

struct uc_slopes_row {
    char strategy[UC_NAME];
    struct uc_slope region[UC_REGIONS];
};

struct uc_slopes {
    struct uc_slopes_row *v; /* by name, every strategy of the table but the limits */
    size_t n;
    struct uc_slope_options o; /* with the caches that were used */
    enum uc_unit unit;
};

/* Of fixed sizes, called, one thread, warm code, drawn placements, dst not read, in state natural
 * or in that of the region. 0 or -ENOMEM. */
int uc_slopes_fit(const struct uc_cells *cells, const struct uc_slope_options *o,
                  struct uc_slopes *out);
void uc_slopes_free(struct uc_slopes *s);

/* The row of a strategy, or NULL. */
const struct uc_slopes_row *uc_slopes_find(const struct uc_slopes *s, const char *strategy);

/* 10^9 bytes a second of a cost in ns a byte; NaN where that is 0 or below. */
double uc_slope_gb_s(double ns_a_byte);

#endif
