#include "cli/profile_table.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/msg.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/given.h"

#define MOST_README ((size_t)1 << 20)

/* ---- the table ---- */

/* Text from a profile in a cell: nothing that ends the cell or begins markup. */
static void put_cell_text(const char *text, FILE *out)
{
    for (; *text; text++)
        fputc((unsigned char)*text < ' ' || strchr("|<>`*[]\\", *text) ? '.' : *text, out);
}

/* "256 `a`, 16 KiB `b`, above `c`" */
static void put_limits(const struct uc_profile_entry *e, FILE *out)
{
    char size[UC_SIZE_TEXT];

    if (!e->present)
        fputs("-", out);
    for (size_t i = 0; e->present && i < e->ladder.n; i++) {
        const struct uc_segment *s = &e->ladder.segment[i];
        fprintf(out, "%s%s ", i ? ", " : "",
                s->max == SIZE_MAX ? "above" : uc_size_text(s->max, size));
        put_cell_text(s->strategy, out);
    }
}

/* Over the consumers that were measured, geometric mean; NaN: none. */
static double gain_of(const struct uc_profile *p, const char *mix)
{
    const json_t *called = json_object_get(p->validation, "libc_gain");
    double logs = 0;
    int n = 0;

    for (int k = 0; k < UC_CONSUMER_COUNT; k++) {
        const json_t *consumer = json_object_get(called, uc_consumer_name[k]);
        double mean = json_number_value(json_object_get(json_object_get(consumer, mix), "geomean"));
        if (mean > 0) {
            logs += log(mean);
            n++;
        }
    }
    return n ? exp(logs / n) : NAN;
}

static void put_gain(const struct uc_profile *p, FILE *out)
{
    double fixed = gain_of(p, "fixed"), mixed = gain_of(p, "band");
    const char *libc = json_string_value(json_object_get(p->validation, "libc"));

    if (isnan(fixed) && isnan(mixed)) {
        fputs("-", out);
        return;
    }
    if (!isnan(mixed))
        fprintf(out, "%.2f mixed, ", mixed);
    if (!isnan(fixed))
        fprintf(out, "%.2f repeated, ", fixed);
    put_cell_text(libc ? libc : "libc", out);
}

static void put_row(const struct uc_profile *p, FILE *out)
{
    const char *grade = uc_given_method(p, "grade");

    fprintf(out, "| %s | %s%s%s | ", p->has_cpu ? p->cpu.key : "-", uc_given_environment(p),
            *p->variant ? ", " : "", p->variant);
    put_cell_text(*p->cpu.name ? p->cpu.name : "-", out);
    for (int e = 0; e < UC_ENTRY_COUNT; e++) {
        fputs(" | ", out);
        put_limits(&p->entry[e], out);
    }
    fputs(" | ", out);
    put_cell_text(*grade ? grade : "-", out);
    fputs(" | ", out);
    put_gain(p, out);
    fputs(" |\n", out);
}

char *uc_profile_table(const struct uc_profile *const *p, size_t n)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    if (!out)
        return NULL;
    fputs("| key | environment | name | copy: limits and strategies | nocache | grade | gain over "
          "libc |\n| --- | --- | --- | --- | --- | --- | --- |\n",
          out);
    for (size_t i = 0; i < n; i++)
        put_row(p[i], out);
    if (!fclose(out))
        return text;
    free(text);
    return NULL;
}

char *uc_profile_table_splice(const char *text, const char *table)
{
    const char *begin = strstr(text, UC_TABLE_BEGIN);
    const char *end = begin ? strstr(begin, UC_TABLE_END) : NULL;
    size_t before = end ? (size_t)(begin - text) : strlen(text);
    const char *gap = end || !before ? "" : text[before - 1] == '\n' ? "\n" : "\n\n";
    char *out;

    if (asprintf(&out, "%.*s%s" UC_TABLE_BEGIN "\n%s" UC_TABLE_END "%s", (int)before, text, gap,
                 table, end ? end + strlen(UC_TABLE_END) : "\n") < 0)
        return NULL;
    return out;
}

/* ---- the folder ---- */

static int by_name(const void *a, const void *b)
{
    const struct uc_profile *x = *(const struct uc_profile *const *)a;
    const struct uc_profile *y = *(const struct uc_profile *const *)b;
    int order = strcmp(x->cpu.key, y->cpu.key);

    if (!order)
        order = (int)x->environment - (int)y->environment; /* user first */
    return order ? order : strcmp(x->variant, y->variant);
}

static int write_readme(const char *dir, const struct uc_profile *const *p, size_t n)
{
    char path[4096], *old = NULL, *table = uc_profile_table(p, n), *new = NULL;

    snprintf(path, sizeof(path), "%s/README.md", dir);
    int rc = table ? uc_read_file(path, MOST_README, &old, NULL) : -ENOMEM;
    if (rc == -ENOENT) {
        old = strdup("# Profiles\n");
        rc = old ? 0 : -ENOMEM;
    }
    new = rc ? NULL : uc_profile_table_splice(old, table);
    if (!rc)
        rc = new ? 0 : -ENOMEM;
    if (!rc && strcmp(old, new) != 0)
        rc = uc_write_file(path, new, strlen(new));
    if (rc)
        uc_error("%s: the table of profiles cannot be written: %s", path, strerror(-rc));
    free(table);
    free(old);
    free(new);
    return rc ? UC_EXIT_MACHINE : 0;
}

static int is_profile(const struct dirent *d)
{
    size_t n = strlen(d->d_name);
    return d->d_name[0] != '.' && n > 5 && !strcmp(d->d_name + n - 5, ".json");
}

static int read_all(const char *dir, struct dirent *const *name, size_t n, struct uc_profile *p,
                    const struct uc_profile **order)
{
    char path[4096];
    int rc = 0;

    for (size_t i = 0; i < n && !rc; i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, name[i]->d_name);
        rc = uc_given_read(path, &p[i]);
        order[i] = &p[i];
    }
    return rc;
}

int uc_profile_table_write(const char *dir)
{
    struct dirent **name;
    int found = scandir(dir, &name, is_profile, alphasort);

    if (found < 0) {
        uc_error("%s: %s", dir, strerror(errno));
        return UC_EXIT_MACHINE;
    }
    size_t n = (size_t)found;
    struct uc_profile *p = calloc(n + 1, sizeof(*p));
    const struct uc_profile **order = calloc(n + 1, sizeof(*order));
    int rc = p && order ? read_all(dir, name, n, p, order) : UC_EXIT_MACHINE;
    if (!rc) {
        qsort(order, n, sizeof(*order), by_name);
        rc = write_readme(dir, order, n);
    }
    for (size_t i = 0; i < n; i++) {
        if (p)
            uc_profile_free(&p[i]);
        free(name[i]);
    }
    free(name);
    free(p);
    free(order);
    return rc;
}
