/* Inside of src/fit: the cells indexed once, as relative costs by strategy and size that the rest
 * of the decision adds up. */
#ifndef UC_FIT_MODEL_H
#define UC_FIT_MODEL_H

#include "fit/fit.h"

/* Bounds that keep a hostile table from taking minutes or all memory; a run's table has 60
 * strategies. */
#define UC_MODEL_STRATEGIES 256
#define UC_MODEL_DENSE ((size_t)16 << 20)

struct uc_est {
    double mid, var; /* NaN, 0: not measured */
};

struct uc_model_strategy {
    char name[UC_NAME];
    size_t min, max;
    unsigned rank; /* UINT_MAX where nothing is known of it: simpler goes by name */
    bool dispatch, streaming, candidate;
};

/* A test of the page distance in front of a strategy. (guard.c) */
struct uc_model_guard {
    bool present;
    long lo, hi;      /* distances that another strategy copies, inclusive */
    size_t otherwise; /* which */
    double price;     /* a call, in the table's unit */
};

struct uc_fit_model {
    const struct uc_weights *weights;
    size_t strategies, sizes, bands;
    struct uc_model_strategy *strategy; /* by name */
    size_t *size;                       /* ascending */
    double *weight;                     /* of each size; together 1 */
    double *lowest;                     /* weighted lowest cost at each size, in the table's unit */
    struct uc_est *fixed;               /* [strategy][size]: relative, one size repeated */
    double *raw;                  /* [strategy][size]: as measured, weighted, in the table's unit */
    size_t *band_hi;              /* ascending */
    struct uc_est *band;          /* [strategy][band]: relative, sizes drawn up to band_hi */
    bool *barred;                 /* [strategy][size] */
    struct uc_model_guard *guard; /* [strategy] */
    size_t guards;                /* how many have one */
    bool *guarded;                /* [strategy][size]: it stands there, its price is in fixed */
    struct uc_anomaly anomaly[UC_MAX_NOTES];
    size_t anomaly_n;
    struct uc_barred bar[UC_MAX_NOTES];
    size_t bar_n;
    double mix_band; /* share of the band in a size's cost, 0 without bands */
    bool no_spread;
};

/* 0, -ENODATA, -E2BIG or -ENOMEM, with why. */
int uc_model_build(const struct uc_cells *cells, const struct uc_fit_options *o,
                   struct uc_fit_model *m, char *why, size_t why_cap);
void uc_model_clear(struct uc_fit_model *m);

/* The band that prices a segment whose largest size is max: the smallest that reaches so far, else
 * the largest; 0 without bands. */
size_t uc_model_band(const struct uc_fit_model *m, size_t max);

/* Cost of strategy s at size n in that band; *common is the part of the variance that all sizes
 * of the band share. NaN: not measured. */
struct uc_est uc_model_cost(const struct uc_fit_model *m, size_t s, size_t n, size_t band,
                            double *common);

/* The part of it that the band gives: the cell of that band, else of the nearest smaller one, else
 * of the nearest larger one; NaN: the strategy has no band cells, and its fixed cells count alone.
 */
struct uc_est uc_model_band_cost(const struct uc_fit_model *m, size_t s, size_t band);

/* Index of a name; m->strategies where absent. */
size_t uc_model_find(const struct uc_fit_model *m, const char *name);

/* Is a simpler than b? Fewer instruction sets first; by name where nothing is known. */
bool uc_model_simpler(const struct uc_model_strategy *a, const struct uc_model_strategy *b);

/* Costs of the raw table, before they are made relative: [strategy][size][place], cost 0: absent.
 */
struct uc_raw {
    double cost, se;
};

/* Replaces single sizes that are out of line with both neighbours by what lies between these, and
 * lists them in m. (spikes.c) */
int uc_model_spikes(struct uc_fit_model *m, struct uc_raw *raw, size_t places);

/* Finds the guards that pay, before barring: what they send elsewhere is no worst case. 0 or
 * -ENOMEM. (guard.c) */
int uc_model_guards(struct uc_fit_model *m, const struct uc_fit_options *o,
                    const struct uc_cell *const *probe, size_t n);
/* The guard of strategy s where it stands at one of the sizes first to last, else NULL. */
const struct uc_model_guard *uc_model_guard_in(const struct uc_fit_model *m, size_t s, size_t first,
                                               size_t last);

/* Index of a size; m->sizes where absent. */
size_t uc_model_size(const struct uc_fit_model *m, size_t size);

/* Bars strategies from sizes by the probes of one placement. (bar.c) */
int uc_model_bar(struct uc_fit_model *m, const struct uc_cell *const *probe, size_t n);

/* Interval, at level 95 %, of the crossing between strategies a (below) and b (above) within the
 * sizes first to last: index of the largest size that is surely a's and of the smallest that is
 * surely b's. border is the last size of a as chosen, and lies within. (cross.c) */
int uc_crossing(const struct uc_fit_model *m, size_t a, size_t b, size_t first, size_t border,
                size_t last, size_t *lo, size_t *hi);

/* The roundest number in [lo, hi], near to at: powers of two, then 3 * 2^k, then the fewest
 * significant bits. (round.c) */
size_t uc_roundest(size_t lo, size_t hi, size_t at);

#endif
