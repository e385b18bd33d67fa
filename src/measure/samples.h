/* Rows of samples: a CSV whose first line names the columns; in each row a name, then numbers above
 * 0. */
#ifndef UC_MEASURE_SAMPLES_H
#define UC_MEASURE_SAMPLES_H

#include <stddef.h>

#define UC_MAX_SAMPLES 4096 /* in a row */
#define UC_MAX_ROWS 1024

struct uc_sample_row {
    char *name;
    size_t n;
    double *v;
    size_t *column; /* of each value: an empty field is a missing sample */
};

struct uc_samples {
    size_t columns;
    char **column; /* names of the columns behind the first */
    size_t rows;
    struct uc_sample_row *row;
};

/* '#' starts a comment line. 0; -EINVAL with *line and why; or the errno of reading. *s is empty on
 * failure. */
int uc_samples_read(const char *path, struct uc_samples *s, unsigned *line, char *why,
                    size_t why_cap);
void uc_samples_free(struct uc_samples *s);

#endif
