/* The project's statistics, used by every command. Two named estimators:
 *
 * rows    independent samples of two things, compared by ranks: exact Mann-Whitney test,
 *         Hodges-Lehmann estimate of the ratio with its interval and true coverage
 *         (Hollander, Wolfe and Chicken, "Nonparametric Statistical Methods", ch. 4).
 * rounds  one value a round (a mapping); the middle over rounds with the interval that order
 *         statistics give (David and Nagaraja, "Order Statistics", 7.1: exact binomial).
 */
#ifndef UC_BASE_STATS_H
#define UC_BASE_STATS_H

#include <stdbool.h>
#include <stddef.h>

struct uc_interval {
    double mid;      /* estimate */
    double lo, hi;   /* interval; equal to mid where there are too few values for one */
    double coverage; /* true coverage of [lo, hi]; 0 where there is no interval */
};

/* Sorts ascending in place. NaN is not allowed. */
void uc_sort(double *v, size_t n);

/* Quantile q in [0, 1] of a sorted array, n >= 1, by linear interpolation (Hyndman and Fan, type
 * 7). */
double uc_quantile(const double *sorted, size_t n, double q);

double uc_mean(const double *v, size_t n);
double uc_median(const double *v, size_t n); /* n >= 1; v is left as it is */

/* The rounds estimator. Median and the narrowest symmetric order-statistic interval of at least the
 * given level (0.95). With too few values for the level: the whole range, and its true coverage. n
 * >= 1. */
struct uc_interval uc_median_interval(const double *v, size_t n, double level);

enum uc_verdict {
    UC_NOT_ENOUGH,    /* no rank test can tell at this level with so few samples */
    UC_NO_DIFFERENCE, /* the interval of the ratio holds 1 */
    UC_FIRST_LARGER,
    UC_SECOND_LARGER,
};

struct uc_comparison {
    struct uc_interval ratio; /* second over first, Hodges-Lehmann on logarithms; values above 0 */
    double p;                 /* two-sided, exact (with ties: exact on mid-ranks) */
    enum uc_verdict verdict;
};

/* The rows estimator. a: the first row, b: the second, all values above 0. 0, or -EINVAL. */
int uc_compare_rows(const double *a, size_t na, const double *b, size_t nb, double level,
                    struct uc_comparison *out);

/* Outliers by rank-proof distance: |v - median| over 5 scaled MADs (and 5 % of the median where
 * the MAD is smaller). Marks out[i], returns how many. n >= 3, else 0. */
size_t uc_outliers(const double *v, size_t n, bool *out);

enum uc_shift { UC_STEADY, UC_FIRST_DIFFERS, UC_LEVEL_CHANGES };

/* Does the level of a series change? UC_LEVEL_CHANGES with *at = the index where the new level
 * begins, only where at least 3 samples stand on each side; else UC_FIRST_DIFFERS where the first
 * sample lies outside all others by more than their whole range. */
enum uc_shift uc_level_change(const double *v, size_t n, size_t *at);

#endif
