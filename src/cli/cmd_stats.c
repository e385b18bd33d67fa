/* `ucopy-tune stats FILE`: rows of samples compared the way strategies are. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "base/stats.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "measure/samples.h"

#define LEVEL .95

struct request {
    const char *file;
};

struct summary {
    double mean;
    struct uc_interval median;
    bool *outlier;
    enum uc_shift shift;
    size_t at; /* first sample of the new level */
};

/* In the order of enum uc_verdict. */
static const char *const verdict_name[] = {"not enough", "no difference", "first larger",
                                           "second larger"};

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
    struct request *r = state->input;

    if (key != ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    if (r->file)
        return uc_usage("one FILE at a time, given '%s' and '%s'", r->file, arg);
    r->file = arg;
    return 0;
}

static int summarise(const struct uc_sample_row *row, struct summary *s)
{
    s->mean = uc_mean(row->v, row->n);
    s->median = uc_median_interval(row->v, row->n, LEVEL);
    s->outlier = malloc(row->n * sizeof(*s->outlier));
    if (!s->outlier)
        return -ENOMEM;
    uc_outliers(row->v, row->n, s->outlier);
    s->shift = uc_level_change(row->v, row->n, &s->at);
    return 0;
}

/* Five significant digits, whole numbers in full, no exponent where it can be helped. */
static const char *number(double v, char buf[32])
{
    int digits = 4 - (int)floor(log10(v));

    if (digits > 12 || digits < -9)
        snprintf(buf, 32, "%.5g", v);
    else
        snprintf(buf, 32, "%.*f", digits > 0 ? digits : 0, v);
    return buf;
}

/* The text. */

static void print_row(const struct uc_samples *s, size_t i, const struct summary *m, int width)
{
    const struct uc_sample_row *row = &s->row[i];
    char mean[32], mid[32], lo[32], hi[32];
    const char *sep = "  ";

    printf("%-*s %3zu %12s %12s", width, row->name, row->n, number(m->mean, mean),
           number(m->median.mid, mid));
    if (m->median.coverage > 0)
        printf("  %s to %s (%.1f %%)", number(m->median.lo, lo), number(m->median.hi, hi),
               100 * m->median.coverage);
    for (size_t k = 0; k < row->n; k++) {
        if (!m->outlier[k])
            continue;
        printf("%soutlier %s = %s", sep, s->column[row->column[k]], number(row->v[k], lo));
        sep = "; ";
    }
    if (m->shift == UC_FIRST_DIFFERS)
        printf("%sthe first sample differs", sep);
    if (m->shift == UC_LEVEL_CHANGES)
        printf("%sthe level changes at %s", sep, s->column[row->column[m->at]]);
    putchar('\n');
}

static void print_comparison(const struct uc_samples *s, size_t a, size_t b,
                             const struct uc_comparison *c)
{
    static const char *const text[] = {"not enough", "no difference", "smaller", "larger"};

    printf("%s against %s: %s; ratio %.4f", s->row[b].name, s->row[a].name, text[c->verdict],
           c->ratio.mid);
    if (c->ratio.coverage > 0)
        printf(", %.4f to %.4f (covers with %.1f %%)", c->ratio.lo, c->ratio.hi,
               100 * c->ratio.coverage);
    printf(", p = %.2g\n", c->p);
}

static int name_width(const struct uc_samples *s)
{
    int width = 3;

    for (size_t i = 0; i < s->rows; i++)
        if ((int)strlen(s->row[i].name) > width)
            width = (int)strlen(s->row[i].name);
    return width < 60 ? width : 60;
}

typedef int pair_fn(const struct uc_samples *s, size_t a, size_t b, const struct uc_comparison *c,
                    void *state);

static int one_pair(const struct uc_samples *s, size_t a, size_t b, void *state, pair_fn *f)
{
    const struct uc_sample_row *x = &s->row[a], *y = &s->row[b];
    struct uc_comparison c;
    int rc = uc_compare_rows(x->v, x->n, y->v, y->n, LEVEL, &c);

    return rc ? rc : f(s, a, b, &c, state);
}

/* Every later row against the first, and against the one before it. */
static int each_pair(const struct uc_samples *s, void *state, pair_fn *f)
{
    int rc = 0;

    for (size_t b = 1; b < s->rows && !rc; b++) {
        rc = one_pair(s, 0, b, state, f);
        if (!rc && b > 1)
            rc = one_pair(s, b - 1, b, state, f);
    }
    return rc;
}

static int print_pair(const struct uc_samples *s, size_t a, size_t b, const struct uc_comparison *c,
                      void *state)
{
    (void)state;
    print_comparison(s, a, b, c);
    return 0;
}

static int print_text(const struct uc_samples *s, const struct summary *m)
{
    int width = name_width(s);

    uc_print_version();
    printf("%-*s %3s %12s %12s  %s\n", width, "row", "n", "mean", "median",
           "interval of the median");
    for (size_t i = 0; i < s->rows; i++)
        print_row(s, i, &m[i], width);
    if (s->rows > 1)
        putchar('\n');
    return each_pair(s, NULL, print_pair);
}

/* JSON. */

static json_t *interval_json(const struct uc_interval *i)
{
    if (i->coverage <= 0)
        return json_null();
    return json_pack("{s:f, s:f, s:f}", "lo", i->lo, "hi", i->hi, "coverage", i->coverage);
}

static json_t *outliers_json(const struct uc_samples *s, const struct uc_sample_row *row,
                             const struct summary *m)
{
    json_t *list = json_array();

    for (size_t k = 0; k < row->n && list; k++)
        if (m->outlier[k])
            json_array_append_new(list, json_pack("{s:o, s:f}", "sample",
                                                  uc_json_string(s->column[row->column[k]]),
                                                  "value", row->v[k]));
    return list;
}

static json_t *row_json(const struct uc_samples *s, size_t i, const struct summary *m)
{
    static const char *const shift[] = {"steady", "first sample differs", "level changes"};
    const struct uc_sample_row *row = &s->row[i];

    return json_pack("{s:o, s:I, s:f, s:f, s:o, s:o, s:s, s:o}", "name", uc_json_string(row->name),
                     "n", (json_int_t)row->n, "mean", m->mean, "median", m->median.mid,
                     "median_interval", interval_json(&m->median), "outliers",
                     outliers_json(s, row, m), "shift", shift[m->shift], "shift_at",
                     m->shift == UC_LEVEL_CHANGES ? uc_json_string(s->column[row->column[m->at]])
                                                  : json_null());
}

static int add_pair(const struct uc_samples *s, size_t a, size_t b, const struct uc_comparison *c,
                    void *state)
{
    json_t *pair =
        json_pack("{s:o, s:o, s:f, s:o, s:f, s:s}", "first", uc_json_string(s->row[a].name),
                  "second", uc_json_string(s->row[b].name), "ratio", c->ratio.mid, "interval",
                  interval_json(&c->ratio), "p", c->p, "verdict", verdict_name[c->verdict]);
    return json_array_append_new(state, pair) ? -ENOMEM : 0;
}

static int print_json(const struct uc_samples *s, const struct summary *m)
{
    json_t *rows = json_array(), *pairs = json_array();
    json_t *all = json_pack("{s:s, s:o, s:o}", "tool", UC_TOOL, "rows", rows, "comparisons", pairs);
    int rc = all ? 0 : -ENOMEM;

    for (size_t i = 0; i < s->rows && !rc; i++)
        rc = json_array_append_new(rows, row_json(s, i, &m[i])) ? -ENOMEM : 0;
    if (!rc)
        rc = each_pair(s, pairs, add_pair);
    if (rc) {
        json_decref(all);
        all = NULL;
    }
    return uc_print_json(all);
}

/* 0, a negative errno, or the exit code of what was said already. */
static int compare(const struct uc_samples *s, bool json)
{
    struct summary *m = calloc(s->rows, sizeof(*m));
    int rc = m ? 0 : -ENOMEM;

    for (size_t i = 0; i < s->rows && !rc; i++)
        rc = summarise(&s->row[i], &m[i]);
    if (!rc)
        rc = json ? print_json(s, m) : print_text(s, m);
    for (size_t i = 0; i < s->rows && m; i++)
        free(m[i].outlier);
    free(m);
    return rc;
}

static int run_file(const char *path, bool json)
{
    struct uc_samples s;
    char why[256];
    unsigned line;
    int rc = uc_samples_read(path, &s, &line, why, sizeof(why));

    if (rc) {
        if (rc == -EINVAL && line)
            uc_error("%s:%u: %s", path, line, why);
        else
            uc_error("%s: %s", path, rc == -EINVAL ? why : strerror(-rc));
        return rc == -ENOMEM ? UC_EXIT_MACHINE : UC_EXIT_USAGE;
    }
    rc = compare(&s, json);
    if (rc < 0)
        uc_error("%s: %s", path, strerror(-rc));
    uc_samples_free(&s);
    return rc ? UC_EXIT_MACHINE : UC_EXIT_OK;
}

static int run(int argc, char **argv)
{
    static const char *const format[] = {"text", "json"};
    static const struct argp own = {
        .parser = parse_own,
        .args_doc = "FILE",
        .doc = "Compares rows of samples by ranks. FILE is a CSV: a line of column names, then "
               "rows of a name and "
               "numbers above 0; # starts a comment line. Each row's mean and median, outliers by "
               "name, and changes "
               "of level; each row against the first and against the one before it: exact "
               "Mann-Whitney test, "
               "Hodges-Lehmann estimate of the ratio, its interval and true coverage. --format "
               "text (default) or json."
               "\v"
               "Example: ucopy-tune stats runs.csv",
    };
    struct request r = {NULL};
    struct uc_options o;
    int rc = uc_options_parse(&o, UC_OPT_FORMAT, &own, &r, argc, argv);

    if (rc)
        return rc - 1;
    if (!r.file) {
        uc_usage("stats needs a FILE");
        return UC_EXIT_USAGE;
    }
    int json = o.format ? uc_option_word("--format", o.format, format, 2) : 0;
    return json < 0 ? UC_EXIT_USAGE : run_file(r.file, json);
}

const struct uc_command uc_command_stats = {
    .name = "stats",
    .summary = "rows of samples compared the way strategies are",
    .run = run,
};
