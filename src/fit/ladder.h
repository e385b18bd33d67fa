/* Inside of src/fit: sums of weighted costs over ranges of sizes, and the search for ladders. */
#ifndef UC_FIT_LADDER_H
#define UC_FIT_LADDER_H

#include "fit/model.h"

/* A ladder in indices of the model: segment i serves the sizes up to end[i] by strategy[i]. */
struct uc_steps {
    size_t n;
    size_t end[UC_MAX_SEGMENTS];
    size_t strategy[UC_MAX_SEGMENTS];
    double loss; /* weighted mean relative cost with the borders' price */
};

/* Prefix sums: [strategy][size + 1] and [size + 1]. */
struct uc_sums {
    const struct uc_fit_model *m;
    double branch_cost;
    bool open_ends; /* the first segment serves from 0 and the last one for ever, whatever the table
                       holds */
    bool bars;      /* barred strategies are kept out */
    double *own, *var;
    unsigned *gaps, *barred;
    double *share, *all, *tail, *fleet;
};

int uc_sums_new(const struct uc_fit_model *m, double branch_cost, struct uc_sums *s);
void uc_sums_free(struct uc_sums *s);

struct uc_sum {
    double mid, var;
};

/* Weighted cost of a strategy over the sizes first to last (indices), priced in a band. */
struct uc_sum uc_sums_cost(const struct uc_sums *s, size_t strategy, size_t first, size_t last,
                           size_t band);
/* May b follow a? Between two sizes of the grid lie others, which one of the two must serve. */
bool uc_sums_joins(const struct uc_sums *s, size_t a, size_t b);
/* What the choice counts it as: streaming must win by more than the margin. */
double uc_sums_factor(const struct uc_sums *s, size_t strategy);
double uc_sums_segment(const struct uc_sums *s, size_t strategy, size_t first, size_t last);
/* Price of the border at the end of the segment first to last; 0 after the last size. */
double uc_sums_border(const struct uc_sums *s, size_t first, size_t last);

/* Has it costs at all these sizes? And may it serve them as one segment? */
bool uc_sums_measured(const struct uc_sums *s, size_t strategy, size_t first, size_t last);
bool uc_sums_serves(const struct uc_sums *s, size_t strategy, size_t first, size_t last);

/* The best ladders of each count of segments n up to k, of different sequences of strategies, at
 * list[n * UC_MAX_LADDERS ...], best first; n == 0 where there is none. list has room for k + 1
 * counts. */
int uc_ladders(const struct uc_sums *s, unsigned k, struct uc_steps *list);

/* Moves the borders of a given sequence of strategies to where they cost least; -ENODATA where it
 * cannot serve the sizes. */
int uc_ladder_borders(const struct uc_sums *s, struct uc_steps *l);

#endif
