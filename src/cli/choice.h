/* What --consumer, --sizes-from and --environment mean for the choice: the weights, and which
 * strategies are candidates. */
#ifndef UC_CLI_CHOICE_H
#define UC_CLI_CHOICE_H

#include "cli/options.h"
#include "fit/fit.h"

/* Fills *w; *sizes holds the distribution of --sizes-from that it then points to (free it). 0, or
 * the exit code after one line on stderr. */
int uc_choice_weights(const struct uc_options *o, struct uc_weights *w, struct uc_sizes *sizes);

/* All strategies of this program as the fit wants them (malloc'ed, *n of them); those of another
 * environment are kept but not chosen. NULL: no memory. */
struct uc_fit_strategy *uc_choice_strategies(unsigned environment, size_t *n);

#endif
