#include "measure/samples.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fields.h"
#include "base/file.h"

#define FILE_MAX ((size_t)64 << 20)
#define SAMPLE_MIN 1e-300
#define SAMPLE_MAX 1e300 /* so that sums and ratios stay finite */

struct reader {
    struct uc_samples *s;
    char *why;
    size_t why_cap;
};

__attribute__((format(printf, 2, 3))) static int fail(struct reader *r, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(r->why, r->why_cap, fmt, ap);
    va_end(ap);
    return -EINVAL;
}

static int read_header(struct reader *r, char *line)
{
    char *field = uc_next_field(&line);

    r->s->column = calloc(UC_MAX_SAMPLES, sizeof(*r->s->column));
    if (!r->s->column)
        return -ENOMEM;
    while ((field = uc_next_field(&line))) {
        if (r->s->columns == UC_MAX_SAMPLES)
            return fail(r, "more than %d samples", UC_MAX_SAMPLES);
        r->s->column[r->s->columns] = strdup(field);
        if (!r->s->column[r->s->columns++])
            return -ENOMEM;
    }
    return r->s->columns ? 0 : fail(r, "no column of samples behind the first");
}

static int read_sample(struct reader *r, struct uc_sample_row *row, size_t column,
                       const char *field)
{
    char *end;
    double v = strtod(field, &end);

    if (!*field)
        return 0;
    if (strspn(field, "0123456789.eE+-") != strlen(field) || end == field || *end)
        return fail(r, "column %s: not a number: \"%.40s\"", r->s->column[column], field);
    if (!isfinite(v) || v < SAMPLE_MIN || v > SAMPLE_MAX)
        return fail(r, "column %s: not above 0: \"%.40s\"", r->s->column[column], field);
    row->v[row->n] = v;
    row->column[row->n++] = column;
    return 0;
}

static int read_fields(struct reader *r, struct uc_sample_row *row, char *line)
{
    size_t column = 0;
    char *field;

    for (; (field = uc_next_field(&line)); column++) {
        if (column == r->s->columns)
            return fail(r, "more fields than the first line names columns");
        int rc = read_sample(r, row, column, field);
        if (rc)
            return rc;
    }
    return row->n ? 0 : fail(r, "row %.40s: no samples", row->name);
}

static int read_row(struct reader *r, char *line)
{
    struct uc_samples *s = r->s;
    char *name = uc_next_field(&line);

    if (!*name)
        return fail(r, "a row without a name");
    if (s->rows == UC_MAX_ROWS)
        return fail(r, "more than %d rows", UC_MAX_ROWS);
    if (!s->row)
        s->row = calloc(UC_MAX_ROWS, sizeof(*s->row));
    if (!s->row)
        return -ENOMEM;
    struct uc_sample_row *row = &s->row[s->rows++];
    row->name = strdup(name);
    row->v = malloc(s->columns * sizeof(*row->v));
    row->column = malloc(s->columns * sizeof(*row->column));
    if (!row->name || !row->v || !row->column)
        return -ENOMEM;
    return read_fields(r, row, line);
}

static int read_lines(struct reader *r, char *text, unsigned *line)
{
    char *next;
    int rc = 0;

    for (char *at = text; at && !rc; at = next) {
        next = strchr(at, '\n');
        if (next)
            *next++ = 0;
        ++*line;
        at += strspn(at, " \t\r");
        if (!*at || *at == '#')
            continue;
        rc = r->s->columns ? read_row(r, at) : read_header(r, at);
    }
    return rc || r->s->rows ? rc : fail(r, "no rows of samples");
}

int uc_samples_read(const char *path, struct uc_samples *s, unsigned *line, char *why,
                    size_t why_cap)
{
    struct reader r = {s, why, why_cap};
    char *text = NULL;
    size_t len;

    memset(s, 0, sizeof(*s));
    *line = 0;
    if (why_cap)
        *why = 0;
    int rc = uc_read_file(path, FILE_MAX, &text, &len);
    if (rc)
        return rc;
    rc = memchr(text, 0, len) ? fail(&r, "holds a NUL byte") : read_lines(&r, text, line);
    free(text);
    if (rc)
        uc_samples_free(s);
    return rc;
}

void uc_samples_free(struct uc_samples *s)
{
    for (size_t i = 0; i < s->columns; i++)
        free(s->column[i]);
    for (size_t i = 0; i < s->rows; i++) {
        free(s->row[i].name);
        free(s->row[i].v);
        free(s->row[i].column);
    }
    free(s->column);
    free(s->row);
    memset(s, 0, sizeof(*s));
}
