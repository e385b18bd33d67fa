/* The price of a mispredicted branch. */
#ifndef UC_MEASURE_BRANCH_H
#define UC_MEASURE_BRANCH_H

/* TSC ticks a misprediction: a loop over 64 Ki random bits against the same loop over zeros, the
 * least of several runs, divided by the half that no predictor guesses. About 10 ms. At least 0. */
double uc_branch_cost_ticks(void);

#endif
