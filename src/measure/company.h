/* What other cores do beside a timed batch: they copy too, or they write its dst before it. */
#ifndef UC_MEASURE_COMPANY_H
#define UC_MEASURE_COMPANY_H

#include "machine/crew.h"
#include "measure/batch.h"

struct uc_company;

/* others: cores beside the one that pu is on; bytes: of each one's src and dst (0: they only
 * write). Each maps and first touches its own. The errors of uc_crew_open, and -ENOMEM. */
int uc_company_open(struct uc_company **out, struct uc_topology *t, int pu, unsigned others,
                    size_t bytes, uint64_t seed);
void uc_company_close(struct uc_company *c); /* NULL is allowed */

/* Calls for a place, drawn for each one's own buffers. 0 or -ENOMEM. */
int uc_company_draw(struct uc_company *c, const struct uc_batch *like, const struct uc_weights *w,
                    const struct uc_sizes *mix, struct uc_rng *rng);
/* All run the loop over their calls from here to the stop; returns when each has done so once. */
void uc_company_start(struct uc_company *c, uc_loop *loop, uc_copy_fn *fn);
void uc_company_stop(struct uc_company *c);

/* The first of them stores to every line of each call's dst, and changes nothing there. */
void uc_company_write(struct uc_company *c, const struct uc_call *calls, size_t n);

#endif
