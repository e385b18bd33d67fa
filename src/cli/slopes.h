/* Tables of start-up cost and slope, on stdout. */
#ifndef UC_CLI_SLOPES_H
#define UC_CLI_SLOPES_H

#include "fit/slope.h"

/* Every strategy and region, with intervals. */
void uc_slopes_print(const struct uc_slopes *s);

/* In 100 columns: one strategy in a line; NULL: the lines above the first. */
void uc_slopes_print_brief(const struct uc_slopes *s, const struct uc_slopes_row *row);

#endif
