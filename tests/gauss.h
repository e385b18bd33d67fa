/* Seeded noise for property tests. */
#ifndef TESTS_GAUSS_H
#define TESTS_GAUSS_H

#include <math.h>

#include "base/rng.h"

/* Standard normal, by Box and Muller. */
static inline double gauss(struct uc_rng *r)
{
    double u = 1 - uc_rng_unit(r), v = uc_rng_unit(r);
    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

#endif
