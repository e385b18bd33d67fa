/* How good was the measurement? A grade from evidence, by stated rules. */
#ifndef UC_MEASURE_GRADE_H
#define UC_MEASURE_GRADE_H

#include <stdbool.h>
#include <stddef.h>

struct uc_noise {
    double dropped; /* share of readings dropped: switched, faulted or moved */
    double steal;   /* share of wall time that the hypervisor took; negative: unknown */
    double
        sibling; /* share of time that a sibling of the core was busy; negative: unknown or none */
    double opening; /* A/A before the run: what one strategy differs from itself by, timed under two
                       names, in nine of ten l1 cells */
    double self; /* A/A among all others: the difference between one strategy and itself that nine
                    in ten l1 cells stay under */
    double half_width; /* median half-width of the cells' intervals, relative */
    bool emulated;     /* an emulator's times: C, however quiet */
};

#define UC_GRADE_REASONS 7
#define UC_SELF_POOR 0.08 /* an A/A difference beyond this makes the grade C */

struct uc_grade {
    char letter; /* A, B or C */
    char reason[UC_GRADE_REASONS][128];
    size_t reasons; /* why not better; 0 for A */
};

/* A: dropped <= 2 %, steal <= 1 %, sibling <= 5 %, opening and self <= 3 %, half-width <= 3 %. B:
 * up to 10, 5, 25, 8 and 8 %. C: beyond. Unknown evidence lowers nothing: a box without /proc/stat
 * is not noisy for it. */
void uc_grade_of(const struct uc_noise *n, struct uc_grade *g);

#endif
