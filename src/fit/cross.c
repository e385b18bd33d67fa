/* Where do two noisy curves cross? The difference of the costs falls through the crossing, so it is
 * fitted by isotonic regression, and every border is kept that the likelihood ratio does not
 * refuse: its limit law is the same for every falling curve (Banerjee and Wellner 2001, "Likelihood
 * ratio tests for monotone functions"; 95 % quantile 2.29), so neither a slope nor a bandwidth must
 * be guessed, as the normal limit or a bootstrap of the crossing would have it (the border of least
 * loss has cube-root asymptotics). */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "fit/ladder.h"

/* Sizes looked at on each side of the border: time grows with the square of it. */
#define WINDOW 512
#define QUANTILE95 2.286922
#define Z95 1.959964

struct point {
    size_t size; /* index */
    double d, precision;
};

/* Cost of b less cost of a, at the sizes where both are measured and may serve. */
static size_t differences(const struct uc_fit_model *m, size_t a, size_t b, size_t first,
                          size_t border, size_t last, struct point *p, double *common)
{
    size_t n = 0, band = uc_model_band(m, m->size[border]);

    *common = 0;
    for (size_t i = first; i <= last; i++) {
        double ca, cb;
        struct uc_est x = uc_model_cost(m, a, i, band, &ca), y = uc_model_cost(m, b, i, band, &cb);
        double fa = 1 + m->strategy[a].streaming * m->weights->margin;
        double fb = 1 + m->strategy[b].streaming * m->weights->margin;
        if (isnan(x.mid) || isnan(y.mid) || m->barred[a * m->sizes + i] ||
            m->barred[b * m->sizes + i])
            continue;
        *common = fmax(*common, ca * fa * fa + cb * fb * fb);
        /* Costs are told to 5 digits: no point is surer than that. */
        double var = fmax(x.var * fa * fa + y.var * fb * fb, 1e-10 * x.mid * y.mid);
        p[n++] = (struct point){i, y.mid * fb - x.mid * fa, 1 / var};
    }
    return n;
}

struct block {
    double mean, precision;
    size_t n;
};

/* Falling fit of n points by pooling adjacent violators; returns the weighted squares left when the
 * fit is also held at or above floor and at or below ceiling. */
static double squares(const struct point *p, size_t n, double shift, double floor, double ceiling,
                      struct block *block)
{
    size_t blocks = 0, at = 0;
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        struct block now = {p[i].d + shift, p[i].precision, 1};
        while (blocks && block[blocks - 1].mean <= now.mean) {
            const struct block *b = &block[--blocks];
            double precision = b->precision + now.precision;
            now.mean = (b->mean * b->precision + now.mean * now.precision) / precision;
            now.precision = precision;
            now.n += b->n;
        }
        block[blocks++] = now;
    }
    for (size_t i = 0; i < blocks; i++) {
        double fit = fmin(fmax(block[i].mean, floor), ceiling);
        for (size_t j = 0; j < block[i].n; j++, at++)
            sum += p[at].precision * pow(p[at].d + shift - fit, 2);
    }
    return sum;
}

/* Widens [lo, hi] (positions in p) by the borders that are not refused. */
static void accept(const struct point *p, size_t n, double shift, struct block *block, size_t *lo,
                   size_t *hi)
{
    double best = squares(p, n, shift, -HUGE_VAL, HUGE_VAL, block);

    for (size_t i = 0; i < n; i++) {
        double left = squares(p, i + 1, shift, 0, HUGE_VAL, block);
        double right = squares(p + i + 1, n - i - 1, shift, -HUGE_VAL, 0, block);
        if (left + right - best > QUANTILE95)
            continue;
        if (i < *lo)
            *lo = i;
        if (i + 1 > *hi)
            *hi = i + 1 < n ? i + 1 : i;
    }
}

int uc_crossing(const struct uc_fit_model *m, size_t a, size_t b, size_t first, size_t border,
                size_t last, size_t *lo, size_t *hi)
{
    double common;

    first = border - first > WINDOW ? border - WINDOW : first;
    last = last - border > WINDOW ? border + WINDOW : last;
    size_t room = last - first + 1, l = room, h = 0;
    struct point *p = malloc(room * sizeof(*p));
    struct block *block = malloc(room * sizeof(*block));
    int rc = p && block ? 0 : -ENOMEM;

    *lo = border;
    *hi = border < last ? border + 1 : border;
    if (rc)
        goto out;
    size_t n = differences(m, a, b, first, border, last, p, &common);
    if (!n)
        goto out;
    /* The band's share is one reading for all sizes: it moves the whole curve up or down. */
    double sway = Z95 * sqrt(common);
    accept(p, n, 0, block, &l, &h);
    if (sway > 0) {
        accept(p, n, sway, block, &l, &h);
        accept(p, n, -sway, block, &l, &h);
    }
    if (l < n && p[l].size < *lo)
        *lo = p[l].size;
    if (h && p[h].size > *hi)
        *hi = p[h].size;
out:
    free(p);
    free(block);
    return rc;
}
