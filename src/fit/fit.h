/* The decision: cells in, segments out. Pure: no clock, no I/O, no CPU call, the same bytes out for
 * the same cells in any order. Least regret by dynamic programming over the size grid. */
#ifndef UC_FIT_FIT_H
#define UC_FIT_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "measure/weights.h"
#include "measure/cells.h"

#define UC_MAX_SEGMENTS 12
#define UC_MAX_LADDERS 3
#define UC_MAX_NOTES 64

/* What the decision must know of a strategy beside its cells. Strategies in the table that are not
 * listed count as candidates that serve every size they have cells for. */
struct uc_fit_strategy {
    const char *name;
    size_t min, max; /* sizes it may serve */
    unsigned rank;   /* lower is simpler: wins ties */
    bool dispatch;   /* a short-size dispatch, taken whole from size 0 */
    bool streaming;
    enum ucopy_role role;
};

struct uc_fit_options {
    const struct uc_weights *weights;
    enum uc_entry entry;
    unsigned environment;  /* UCOPY_USER or UCOPY_KERNEL */
    unsigned max_segments; /* 1 to UC_MAX_SEGMENTS; 6 by default */
    size_t l1d, l2;        /* bytes; 0: unknown (32 KiB and 256 KiB are assumed) */
    double branch_cost;    /* price of one misprediction in the cells' unit; 0: unknown, then 0 is
                              charged and said */
    const struct uc_fit_strategy *strategies;
    size_t strategy_count;
    int threads; /* the cells to decide by: of so many cores copying at once; 0: of one */
};

struct uc_guard {
    char test[16]; /* "page_distance", "page_end", "dst_align"; "" none */
    long lo, hi;   /* inclusive range in which the guard sends the copy to the other strategy */
    char otherwise[UC_NAME];
};

struct uc_segment {
    size_t max; /* largest size, inclusive; SIZE_MAX: the last */
    char strategy[UC_NAME];
    size_t lo, hi; /* 95 % interval of the crossing at max; 0, 0: none (last segment, or no spread
                      given) */
    size_t free_lo, free_hi;     /* range in which moving max costs nothing measurable */
    char runner_up[UC_NAME];     /* "" where no other strategy serves the range */
    double margin;               /* runner-up over chosen, weighted over the range, a ratio */
    double margin_lo, margin_hi; /* its interval; equal to margin where no spread is given */
    bool tie;                    /* the interval holds 1: chosen for simplicity */
    bool bracketed;              /* false: won up to the last size measured */
    size_t measured_to;          /* largest size with cells in this segment */
    struct uc_guard guard;
};

struct uc_ladder {
    size_t n;
    struct uc_segment segment[UC_MAX_SEGMENTS];
    double loss; /* weighted mean relative loss against the best strategy at each size, borders'
                    price included */
};

struct uc_barred {
    char strategy[UC_NAME];
    size_t from, to;
    double ratio;
    char why[96];
};
struct uc_anomaly {
    char strategy[UC_NAME];
    size_t size;
    double ratio;
}; /* one size out of line with its neighbours */

struct uc_fit_result {
    struct uc_ladder
        ladder[UC_MAX_LADDERS]; /* the best first; structurally different ones after it */
    size_t ladders;
    struct uc_barred barred[UC_MAX_NOTES];
    size_t barred_n;
    struct uc_anomaly anomaly[UC_MAX_NOTES];
    size_t anomaly_n;
    bool no_spread; /* the table gave no intervals: nothing is said of how sure */
    char why[128];  /* reason of a failure */
};

/* Decides. 0; -ENODATA with result->why where no candidate serves the sizes (no cells of the entry,
 * nothing that starts at the smallest size); -E2BIG with why for a table beyond all use (more than
 * 256 strategies); -ENOMEM. A strategy with a cliff is guarded where that
 * pays, else barred; no guards without branch_cost. */
int uc_fit(const struct uc_cells *cells, const struct uc_fit_options *o,
           struct uc_fit_result *result);

/* Weighted relative cost of one strategy at one size of the table: cost over the lowest cost of any
 * candidate in that cell, averaged under the weights; the dispatch range decides the band. NaN: not
 * measured. lo, hi (may be NULL) get the interval. */
double uc_fit_cost(const struct uc_cells *cells, const struct uc_fit_options *o,
                   const char *strategy, size_t size, size_t dispatch_max, double *lo, double *hi);

/* The same for many costs of one table, which is indexed once. NULL where it has no candidate's
 * cells, or without memory. */
struct uc_fit_model;
struct uc_fit_model *uc_fit_model_new(const struct uc_cells *cells, const struct uc_fit_options *o);
double uc_fit_model_cost(const struct uc_fit_model *m, const char *strategy, size_t size,
                         size_t dispatch_max, double *lo, double *hi);
/* The weighted mean of its fixed cells as measured, in the table's unit. NaN: not measured. */
double uc_fit_model_raw(const struct uc_fit_model *m, const char *strategy, size_t size);
/* The sizes of the table, ascending; they belong to the model. */
size_t uc_fit_model_sizes(const struct uc_fit_model *m, const size_t **sizes);
void uc_fit_model_free(struct uc_fit_model *m);

/* The segment that serves a size; of a ladder without segments, an empty one. */
const struct uc_segment *uc_ladder_segment(const struct uc_ladder *l, size_t size);

/* Do two ladders decide the same: the same strategies up to the same limits? */
bool uc_ladder_same(const struct uc_ladder *a, const struct uc_ladder *b);

struct uc_regret {
    double mean;  /* weighted */
    double worst; /* largest at one size */
    size_t worst_at;
    size_t above_bound; /* sizes whose interval lies wholly above the bound */
    size_t sizes;
};

/* Regret of a ladder on cells (fresh ones: the readings that judge). bound: .10 by default. */
int uc_fit_regret(const struct uc_cells *cells, const struct uc_fit_options *o,
                  const struct uc_ladder *ladder, double bound, struct uc_regret *out);

#endif
