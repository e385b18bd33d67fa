/* Why a copy was chosen, told from hardware counts of it and of its runner-up. Pure: numbers in,
 * one line out; what was not counted, or cannot be, is said and not used. */
#ifndef UC_FIT_EXPLAIN_H
#define UC_FIT_EXPLAIN_H

#include <stddef.h>

#include "measure/tally.h"

/* "24.1 cycles a call, rep_movsb 31.5; fewer: 28 branch misses a 1000 calls, 3.2 instructions;
 * ...". An event differs where all repeats of one copy lie below all of the other's and the middles
 * are a per cent apart; any other says "no difference". Cut where buf is too small. Returns buf. */
const char *uc_explain(const struct uc_tally chosen[UC_EVENTS],
                       const struct uc_tally other[UC_EVENTS], const char *other_name, char *buf,
                       size_t cap);

#endif
