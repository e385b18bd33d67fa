/* The page: one HTML file that holds all it needs. Pure: data in, text out. */
#ifndef UC_REPORT_PAGE_H
#define UC_REPORT_PAGE_H

#include <jansson.h>
#include <stdio.h>

/* Is this text the chart library that the page draws with (Chart.js 3, one script for browsers)? */
#define UC_CHART_NAME "Chart.js 3"
int uc_page_chart_valid(const char *text);

/* Writes the page. title is plain text; data is what the page's script shows, see page_data.js;
 * chart is the library's own text, taken into the page as it is. 0 or -ENOMEM; failures of out are
 * the caller's to see. */
int uc_page_write(const char *title, json_t *data, const char *chart, FILE *out);

#endif
