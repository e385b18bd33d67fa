#include "base/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Above this many values in both rows together the rank distribution is taken from its normal
 * limit: the exact count needs time with the fourth power of it, and at 100 the two agree to 1e-3.
 */
#define EXACT_MAX 100

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void uc_sort(double *v, size_t n)
{
    if (n)
        qsort(v, n, sizeof(*v), by_value);
}

double uc_quantile(const double *sorted, size_t n, double q)
{
    double at = q * (double)(n - 1);
    size_t i = (size_t)at;

    if (i + 1 >= n)
        return sorted[n - 1];
    return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}

double uc_mean(const double *v, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += v[i];
    return n ? sum / (double)n : 0;
}

/* k-th smallest of v, which is permuted: Hoare's selection, so that a median needs no memory of
 * its own beyond the copy, and no failure to report. */
static double select_kth(double *v, size_t n, size_t k)
{
    size_t lo = 0, hi = n - 1;

    while (lo < hi) {
        double pivot = v[lo + (hi - lo) / 2];
        size_t i = lo, j = hi;
        for (;;) {
            while (v[i] < pivot)
                i++;
            while (v[j] > pivot)
                j--;
            if (i >= j)
                break;
            double t = v[i];
            v[i++] = v[j];
            v[j--] = t;
        }
        if (k <= j)
            hi = j;
        else
            lo = j + 1;
    }
    return v[k];
}

/* Without memory for a copy: the value that as many others lie below as above, found by counting.
 */
static double count_kth(const double *v, size_t n, size_t k)
{
    for (size_t i = 0; i < n; i++) {
        size_t below = 0, equal = 0;
        for (size_t j = 0; j < n; j++) {
            below += v[j] < v[i];
            equal += v[j] == v[i];
        }
        if (below <= k && k < below + equal)
            return v[i];
    }
    return v[0];
}

double uc_median(const double *v, size_t n)
{
    double small[64];
    double *copy = n <= 64 ? small : malloc(n * sizeof(*copy));
    double upper, lower;

    if (copy) {
        memcpy(copy, v, n * sizeof(*copy));
        upper = select_kth(copy, n, n / 2);
        lower = n % 2 ? upper : select_kth(copy, n, n / 2 - 1);
    } else {
        upper = count_kth(v, n, n / 2);
        lower = n % 2 ? upper : count_kth(v, n, n / 2 - 1);
    }
    if (copy != small)
        free(copy);
    return lower + (upper - lower) / 2;
}

/* P(X = k) of n fair coins. */
static double coins(size_t n, size_t k)
{
    double a = (double)n, b = (double)k;
    return exp(lgamma(a + 1) - lgamma(b + 1) - lgamma(a - b + 1) - a * M_LN2);
}

/* Largest j (from 0) such that [x_(j+1), x_(n-j)] still covers the median with the given
 * probability; *coverage is the true one. */
static size_t median_rank(size_t n, double level, double *coverage)
{
    double tail = coins(n, 0);
    size_t j = 0;

    while (j + 1 < n - j - 1) {
        double next = tail + coins(n, j + 1);
        if (1 - 2 * next < level)
            break;
        tail = next;
        j++;
    }
    *coverage = fmax(0, 1 - 2 * tail);
    return j;
}

struct uc_interval uc_median_interval(const double *v, size_t n, double level)
{
    struct uc_interval r = {.mid = uc_median(v, n)};
    double small[64];
    double *copy = n <= 64 ? small : malloc(n * sizeof(*copy));

    r.lo = r.hi = r.mid;
    if (!copy || n < 2)
        goto out;
    memcpy(copy, v, n * sizeof(*copy));
    uc_sort(copy, n);
    size_t j = median_rank(n, level, &r.coverage);
    r.lo = copy[j];
    r.hi = copy[n - 1 - j];
out:
    if (copy != small)
        free(copy);
    return r;
}

/* The rows estimator. Ranks are kept doubled, so that mid-ranks of ties are whole numbers. */

/* dist[s] = number of ways in which k of the n doubled ranks sum to s: the exact distribution of
 * the rank sum, ties and all (Hollander, Wolfe and Chicken, 4.1, comment 10). */
static int rank_sums(const unsigned *rank2, size_t n, size_t k, double **dist, size_t *len)
{
    size_t width = 1;

    for (size_t i = 0; i < n; i++)
        width += rank2[i];
    double *ways = calloc((k + 1) * width, sizeof(*ways));
    if (!ways)
        return -ENOMEM;
    ways[0] = 1;
    for (size_t i = 0; i < n; i++)
        for (size_t m = (i < k ? i + 1 : k); m > 0; m--)
            for (size_t s = width; s-- > rank2[i];)
                ways[m * width + s] += ways[(m - 1) * width + s - rank2[i]];
    memmove(ways, ways + k * width, width * sizeof(*ways));
    *dist = ways;
    *len = width;
    return 0;
}

struct pooled {
    double v;
    bool first;
};

static int by_pooled(const void *a, const void *b)
{
    return by_value(&((const struct pooled *)a)->v, &((const struct pooled *)b)->v);
}

/* Doubled mid-ranks of the pooled rows; *sum is that of the first row, *ties the tie correction. */
static int rank_pooled(const double *a, size_t na, const double *b, size_t nb, unsigned *rank2,
                       unsigned *sum, double *ties)
{
    size_t n = na + nb;
    struct pooled *all = malloc(n * sizeof(*all));

    if (!all)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        all[i] = (struct pooled){i < na ? a[i] : b[i - na], i < na};
    qsort(all, n, sizeof(*all), by_pooled);
    *sum = 0;
    *ties = 0;
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && !(all[i].v < all[j].v);)
            j++;
        double t = (double)(j - i);
        *ties += t * t * t - t;
        for (size_t m = i; m < j; m++) {
            rank2[m] = (unsigned)(i + 1 + j);
            *sum += all[m].first ? rank2[m] : 0;
        }
    }
    free(all);
    return 0;
}

/* Two-sided: the share of arrangements whose rank sum lies at least as far from the middle. */
static int exact_p(const unsigned *rank2, size_t na, size_t nb, unsigned sum, double *p)
{
    size_t len, n = na + nb;
    double *ways, far = 0, all = 0;
    double middle = (double)na * (double)(n + 1); /* doubled */
    double distance = fabs((double)sum - middle);
    int rc = rank_sums(rank2, n, na, &ways, &len);

    if (rc)
        return rc;
    for (size_t s = 0; s < len; s++) {
        all += ways[s];
        if (fabs((double)s - middle) >= distance - .5)
            far += ways[s];
    }
    *p = far / all;
    free(ways);
    return 0;
}

static double normal_p(size_t na, size_t nb, unsigned sum, double ties)
{
    double a = (double)na, b = (double)nb, n = a + b;
    double distance = fabs(sum / 2. - a * (n + 1) / 2) - .5;
    double variance = a * b / 12 * (n + 1 - ties / (n * (n - 1)));

    if (variance <= 0 || distance <= 0)
        return 1;
    return erfc(distance / sqrt(2 * variance));
}

/* How many of the na * nb ratios to leave off at each end, so that the rest covers with at least
 * the given level; *coverage is the true one. -1 where even all of them cover less. */
static int trim_exact(size_t na, size_t nb, double level, long *trim, double *coverage)
{
    size_t n = na + nb, len, least = na * (na + 1);
    unsigned rank2[EXACT_MAX];
    double *ways, all = 0, tail = 0;

    for (size_t i = 0; i < n; i++)
        rank2[i] = 2 * (unsigned)(i + 1);
    int rc = rank_sums(rank2, n, na, &ways, &len);
    if (rc)
        return rc;
    for (size_t s = 0; s < len; s++)
        all += ways[s];
    *trim = -1;
    for (size_t u = 0; least + 2 * u < len; u++) {
        double next = tail + ways[least + 2 * u] / all;
        if (1 - 2 * next < level)
            break;
        tail = next;
        *trim = (long)u;
    }
    *coverage = *trim < 0 ? 0 : 1 - 2 * tail;
    free(ways);
    return 0;
}

/* Coverage without u ratios at each end and one more, by the normal limit of their count. */
static double normal_coverage(double pairs, double sd, long u)
{
    return erf((pairs / 2 - (double)u - .5) / sd / M_SQRT2);
}

static void trim_normal(size_t na, size_t nb, double level, long *trim, double *coverage)
{
    double pairs = (double)na * (double)nb, sd = sqrt(pairs * (double)(na + nb + 1) / 12);
    long enough = -1, few = (long)(pairs / 2) + 1;

    while (few - enough > 1) {
        long u = enough + (few - enough) / 2;
        if (normal_coverage(pairs, sd, u) >= level)
            enough = u;
        else
            few = u;
    }
    *trim = enough;
    *coverage = enough < 0 ? 0 : normal_coverage(pairs, sd, enough);
}

/* All ratios b/a as sorted logarithms: rank-proof, and the same answer for rates as for times. */
static int hodges_lehmann(const double *a, size_t na, const double *b, size_t nb, long trim,
                          struct uc_interval *r)
{
    size_t n = na * nb;
    double *d = malloc(n * sizeof(*d));

    if (!d)
        return -ENOMEM;
    for (size_t i = 0; i < na; i++)
        for (size_t j = 0; j < nb; j++)
            d[i * nb + j] = log(b[j] / a[i]);
    uc_sort(d, n);
    r->mid = exp(n % 2 ? d[n / 2] : (d[n / 2 - 1] + d[n / 2]) / 2);
    r->lo = trim < 0 ? r->mid : exp(d[trim]);
    r->hi = trim < 0 ? r->mid : exp(d[n - 1 - (size_t)trim]);
    free(d);
    return 0;
}

static bool all_positive(const double *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(v[i]) || v[i] <= 0)
            return false;
    return n > 0;
}

static enum uc_verdict judge(const struct uc_interval *r)
{
    if (r->coverage <= 0)
        return UC_NOT_ENOUGH;
    if (r->lo > 1)
        return UC_SECOND_LARGER;
    return r->hi < 1 ? UC_FIRST_LARGER : UC_NO_DIFFERENCE;
}

int uc_compare_rows(const double *a, size_t na, const double *b, size_t nb, double level,
                    struct uc_comparison *out)
{
    unsigned sum;
    double ties;
    long trim;
    bool exact = na + nb <= EXACT_MAX;

    memset(out, 0, sizeof(*out));
    if (!all_positive(a, na) || !all_positive(b, nb))
        return -EINVAL;
    unsigned *rank2 = malloc((na + nb) * sizeof(*rank2));
    if (!rank2)
        return -ENOMEM;
    int rc = rank_pooled(a, na, b, nb, rank2, &sum, &ties);
    if (!rc && exact)
        rc = exact_p(rank2, na, nb, sum, &out->p);
    else if (!rc)
        out->p = normal_p(na, nb, sum, ties);
    if (!rc && exact)
        rc = trim_exact(na, nb, level, &trim, &out->ratio.coverage);
    else if (!rc)
        trim_normal(na, nb, level, &trim, &out->ratio.coverage);
    if (!rc)
        rc = hodges_lehmann(a, na, b, nb, trim, &out->ratio);
    if (!rc)
        out->verdict = judge(&out->ratio);
    free(rank2);
    return rc;
}

size_t uc_outliers(const double *v, size_t n, bool *out)
{
    size_t found = 0;

    memset(out, 0, n * sizeof(*out));
    double *off = n >= 3 ? malloc(n * sizeof(*off)) : NULL;
    if (!off)
        return 0;
    double median = uc_median(v, n);
    for (size_t i = 0; i < n; i++)
        off[i] = fabs(v[i] - median);
    /* 1.4826 scales the MAD to a standard deviation under normal noise. */
    double limit = fmax(5 * 1.4826 * uc_median(off, n), .05 * fabs(median));
    for (size_t i = 0; i < n; i++) {
        out[i] = off[i] > limit;
        found += out[i];
    }
    free(off);
    return found;
}

static void range_of(const double *v, size_t n, double *lo, double *hi)
{
    *lo = *hi = v[0];
    for (size_t i = 1; i < n; i++) {
        *lo = fmin(*lo, v[i]);
        *hi = fmax(*hi, v[i]);
    }
}

/* How far the ranges of v[0..k) and v[k..n) lie apart; negative where they overlap. *width is the
 * larger of the two ranges. */
static double gap_at(const double *v, size_t n, size_t k, double *width)
{
    double alo, ahi, blo, bhi;

    range_of(v, k, &alo, &ahi);
    range_of(v + k, n - k, &blo, &bhi);
    *width = fmax(ahi - alo, bhi - blo);
    return fmax(blo - ahi, alo - bhi);
}

/* Samples above v[i] less samples below it. Summed over i < k it is Pettitt's statistic: pairs in
 * order across the split, less pairs out of order (pairs on one side cancel). */
static double above_less_below(const double *v, size_t n, size_t i)
{
    double u = 0;

    for (size_t j = 0; j < n; j++)
        u += (v[j] > v[i]) - (v[j] < v[i]);
    return u;
}

/* The split with at least 3 samples on each side that separates best; 0: none. */
static size_t best_split(const double *v, size_t n, double *best)
{
    double u = 0;
    size_t split = 0;

    *best = 0;
    for (size_t k = 1; k + 3 <= n; k++) {
        u += above_less_below(v, n, k - 1);
        if (k >= 3 && fabs(u) > *best) {
            *best = fabs(u);
            split = k;
        }
    }
    return split;
}

enum uc_shift uc_level_change(const double *v, size_t n, size_t *at)
{
    double best, width, m = (double)n;
    size_t split = best_split(v, n, &best);

    /* Two clean levels (apart by more than either is wide), or Pettitt's test at 1 % (Pettitt 1979,
     * "A non-parametric approach to the change-point problem"), which a few stray samples do not
     * fool. */
    if (split && (gap_at(v, n, split, &width) > width ||
                  2 * exp(-6 * best * best / (m * m * m + m * m)) < .01)) {
        *at = split;
        return UC_LEVEL_CHANGES;
    }
    if (n >= 4 && gap_at(v, n, 1, &width) > width)
        return UC_FIRST_DIFFERS;
    return UC_STEADY;
}
