/* What a ladder costs on cells of another box: can two boxes share one header? Pure. */
#ifndef UC_FIT_SHARE_H
#define UC_FIT_SHARE_H

#include "fit/fit.h"

struct uc_share {
    double mean;  /* weighted, of what it costs over the box's own ladder, a ratio less 1 */
    double worst; /* largest at one size */
    size_t worst_at;
    size_t sizes;      /* at which both could be compared */
    size_t unmeasured; /* at which the cells do not hold one of the two: they count for nothing */
};

/* Costs of a ladder over those of the box's own ladder, on the box's cells. 0; -ENODATA where no
 * size can be compared; -ENOMEM or -E2BIG. */
int uc_fit_share(const struct uc_cells *cells, const struct uc_fit_options *o,
                 const struct uc_ladder *ladder, const struct uc_ladder *own, struct uc_share *out);

#endif
