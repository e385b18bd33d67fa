/* Size distributions: the published fleet mix (figures committed) and files of the user's. */
#ifndef UC_MEASURE_SIZES_H
#define UC_MEASURE_SIZES_H

#include <stddef.h>

#include "base/rng.h"

struct uc_sizes {
    char name[64]; /* file stem, or "fleet" */
    size_t n;
    size_t *size;  /* ascending, distinct */
    double *share; /* of all calls, sums to 1 */
    double *cum;   /* cumulated share */
};

/* A distribution from a file: first line `size:probability,...` (later lines are ignored), or one
 * `size` or `size,count` a line. 0, -EINVAL with *line and *why, or the errno of reading. Sizes
 * above 1 GiB, negative or not finite shares and an all-zero table are errors. */
int uc_sizes_read(const char *path, struct uc_sizes *s, unsigned *line, const char **why);

/* The fleet mix cut to [0, max], renormalised. 0 or -ENOMEM. */
int uc_sizes_fleet(struct uc_sizes *s, size_t max);

/* Any distribution cut to [lo, hi], renormalised; -EINVAL where nothing is left. */
int uc_sizes_cut(const struct uc_sizes *from, size_t lo, size_t hi, struct uc_sizes *out);

/* Share of sizes in [lo, hi] under the whole fleet mix. */
double uc_fleet_share(size_t lo, size_t hi);

size_t uc_sizes_draw(const struct uc_sizes *s, struct uc_rng *rng);
void uc_sizes_free(struct uc_sizes *s);

#endif
