/* What every strategy costs at every size under a profile's weights: the curves of its picture.
 * Pure: a profile in, numbers out. */
#ifndef UC_REPORT_CURVES_H
#define UC_REPORT_CURVES_H

#include "profile/profile.h"

struct uc_point {
    size_t size;
    double cost, lo, hi; /* weighted, over the lowest of each cell: 1 is the cheapest in all */
    double raw;          /* weighted mean of the cells of one size, in the cells' unit; NaN: none */
};

struct uc_curve {
    char strategy[UC_NAME];
    enum ucopy_role role;
    bool chosen, runner_up; /* somewhere on the entry's ladder */
    struct uc_point *point; /* sizes ascending */
    size_t n;
};

struct uc_curves {
    struct uc_curve *v; /* chosen ones in the ladder's order, runners-up, baselines, then by name */
    size_t n;
};

/* The curves of an entry. 0, with none where the profile has no cells of it; -ENOMEM; -E2BIG. */
int uc_curves_make(const struct uc_profile *p, const struct uc_fit_options *o, struct uc_curves *c);
void uc_curves_free(struct uc_curves *c);

/* {"<strategy>": {"size": [...], "cost": [...], "lo": [...], "hi": [...], "raw": [...]}, ...} in
 * the order of the curves. NULL: no memory. */
json_t *uc_curves_json(const struct uc_curves *c);

#endif
