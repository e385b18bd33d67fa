/* The picture as a script for gnuplot. Pure: curves in, text out. */
#ifndef UC_REPORT_PLOT_SCRIPT_H
#define UC_REPORT_PLOT_SCRIPT_H

#include "report/curves.h"

#define UC_PLOT_PANELS (12 * UC_ENTRY_COUNT)

/* One entry of one profile. All texts are plain. */
struct uc_plot_panel {
    const char *title;
    const char *weights; /* name of the weights that the costs are averaged by */
    const struct uc_ladder *ladder;
    const struct uc_curves *curves;
};

/* Panels side by side, columns of them in a row; svg, else PNG. Shown are the strategies that a
 * panel's ladder names and the C library, with their intervals, and the ranges under them. */
void uc_plot_script(const struct uc_plot_panel *panel, size_t n, size_t columns, bool svg,
                    FILE *out);

#endif
