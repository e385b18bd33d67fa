/* Rows of samples as text and as CSV. */
#include <gnu/libc-version.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/units.h"
#include "cli/syscalls.h"
#include "cli/output.h"

#define COLUMNS 6 /* of a table by size */

/* Five significant digits, whole numbers in full, four decimals at most. */
static const char *number(double v, char buf[32])
{
    int digits = v ? 4 - (int)floor(log10(fabs(v))) : 0;

    snprintf(buf, 32, "%.*f", digits < 0 ? 0 : digits > 4 ? 4 : digits, v);
    return buf;
}

static bool same_series(const struct uc_sys_row *a, const struct uc_sys_row *b)
{
    return !strcmp(a->series, b->series);
}

/* Is this the first measured row of a series that the text shows? */
static bool opens_series(const struct uc_sys_result *r, size_t row)
{
    if (r->row[row].raw)
        return false;
    for (size_t i = 0; i < row; i++)
        if (r->row[i].n && same_series(&r->row[i], &r->row[row]))
            return false;
    return r->row[row].n;
}

static void label(const struct uc_sys_row *row, char *buf, size_t cap)
{
    char size[UC_SIZE_TEXT];

    if (row->size == UC_SYS_NO_SIZE)
        snprintf(buf, cap, "%s", row->name);
    else
        snprintf(buf, cap, "%s, %s%s", row->name, uc_size_text(row->size, size),
                 row->size < 1024 ? " B" : "");
}

/* ---- a series whose rows are of few sizes: a line a row ---- */

static void print_list(const struct uc_sys_result *r, size_t first)
{
    printf("\n  %-40s %3s %12s  %s\n", r->row[first].series, "n", r->row[first].unit,
           "interval of the median");
    for (size_t i = first; i < r->rows; i++) {
        const struct uc_sys_row *row = &r->row[i];
        char text[80], mid[32], lo[32], hi[32];
        if (!row->n || !same_series(row, &r->row[first]))
            continue;
        struct uc_interval m = uc_sys_middle(r, i);
        label(row, text, sizeof(text));
        printf("    %-38s %3zu %12s", text, row->n, number(m.mid, mid));
        if (m.coverage > 0)
            printf("  %s to %s (%.1f %%)", number(m.lo, lo), number(m.hi, hi), 100 * m.coverage);
        putchar('\n');
    }
}

/* ---- a series of many sizes: a line a size, a column a name ---- */

struct columns {
    const char *name[COLUMNS];
    size_t n;
};

static bool add_column(struct columns *c, const char *name)
{
    for (size_t i = 0; i < c->n; i++)
        if (!strcmp(c->name[i], name))
            return true;
    if (c->n == COLUMNS)
        return false;
    c->name[c->n++] = name;
    return true;
}

static const struct uc_sys_row *find_row(const struct uc_sys_result *r, const char *series_name,
                                         const char *name, size_t size)
{
    for (size_t i = 0; i < r->rows; i++)
        if (r->row[i].n && r->row[i].size == size && !strcmp(r->row[i].series, series_name) &&
            !strcmp(r->row[i].name, name))
            return &r->row[i];
    return NULL;
}

/* Is this the first measured row of its size in its series? */
static bool opens_size(const struct uc_sys_result *r, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (r->row[i].n && r->row[i].size == r->row[row].size &&
            same_series(&r->row[i], &r->row[row]))
            return false;
    return r->row[row].n;
}

static size_t count_sizes(const struct uc_sys_result *r, size_t first, struct columns *c,
                          bool *fits)
{
    size_t sizes = 0;

    *fits = true;
    for (size_t i = first; i < r->rows; i++) {
        if (!r->row[i].n || !same_series(&r->row[i], &r->row[first]))
            continue;
        sizes += opens_size(r, i);
        *fits = add_column(c, r->row[i].name) && *fits;
    }
    return sizes;
}

static void print_matrix(const struct uc_sys_result *r, size_t first, const struct columns *c)
{
    const char *series = r->row[first].series;
    char text[32];

    printf("\n  %s, %s\n  %10s", series, r->row[first].unit, "size");
    for (size_t i = 0; i < c->n; i++)
        printf(" %16.16s", c->name[i]);
    putchar('\n');
    for (size_t i = first; i < r->rows; i++) {
        if (strcmp(r->row[i].series, series) != 0 || !opens_size(r, i))
            continue;
        printf("  %10zu", r->row[i].size);
        for (size_t k = 0; k < c->n; k++) {
            const struct uc_sys_row *row = find_row(r, series, c->name[k], r->row[i].size);
            printf(" %16s", row ? number(uc_median(row->v, row->n), text) : "-");
        }
        putchar('\n');
    }
}

/* ---- comparisons ---- */

/* Of every length to 64 the text of several experiments shows these. */
static bool brief_size(size_t size)
{
    return size < 4 || size % 8 == 0;
}

/* Pairs of the same two names at the same size each stand in one table. */
static bool same_table(const struct uc_sys_result *r, const struct uc_sys_pair *a,
                       const struct uc_sys_pair *b)
{
    return same_series(&r->row[a->first], &r->row[b->first]) &&
           !strcmp(r->row[a->first].name, r->row[b->first].name) &&
           !strcmp(r->row[a->second].name, r->row[b->second].name) &&
           same_series(&r->row[a->second], &r->row[b->second]);
}

static bool of_one_size(const struct uc_sys_result *r, const struct uc_sys_pair *p)
{
    return r->row[p->first].size == r->row[p->second].size;
}

static bool in_table(const struct uc_sys_result *r, size_t pair)
{
    size_t lines = 0;

    for (size_t i = 0; i < r->pairs; i++)
        lines += of_one_size(r, &r->pair[i]) && same_table(r, &r->pair[i], &r->pair[pair]);
    return lines > 1 && of_one_size(r, &r->pair[pair]);
}

static bool opens_table(const struct uc_sys_result *r, size_t pair)
{
    for (size_t i = 0; i < pair; i++)
        if (same_table(r, &r->pair[i], &r->pair[pair]))
            return false;
    return true;
}

static void print_pair(const struct uc_sys_result *r, const struct uc_sys_pair *p)
{
    static const char *const text[] = {"not enough samples", "no difference", "smaller", "larger"};
    char a[80], b[80];

    label(&r->row[p->first], a, sizeof(a));
    label(&r->row[p->second], b, sizeof(b));
    printf("    %s against %s: %s; ratio %.3f", b, a, text[p->c.verdict], p->c.ratio.mid);
    if (p->c.ratio.coverage > 0)
        printf(", %.3f to %.3f (covers with %.1f %%)", p->c.ratio.lo, p->c.ratio.hi,
               100 * p->c.ratio.coverage);
    putchar('\n');
}

static void print_line(const struct uc_sys_result *r, const struct uc_sys_pair *p)
{
    const struct uc_sys_row *a = &r->row[p->first], *b = &r->row[p->second];
    double x = uc_median(a->v, a->n), y = uc_median(b->v, b->n);
    char first[32], second[32], difference[32];

    printf("  %10zu %16s %16s %16s %9.1f %%%s\n", a->size, number(x, first), number(y, second),
           number(y - x, difference), 100 * (y / x - 1),
           p->c.verdict == UC_NO_DIFFERENCE ? "  no difference"
           : p->c.verdict == UC_NOT_ENOUGH  ? "  not enough samples"
                                            : "");
}

static void print_pair_table(const struct uc_sys_result *r, size_t pair, bool brief)
{
    const struct uc_sys_pair *p = &r->pair[pair];

    printf("\n  %s, %s\n  %10s %16.16s %16.16s %16s %11s\n", r->row[p->first].series,
           r->row[p->first].unit, "size", r->row[p->first].name, r->row[p->second].name,
           "difference", "per cent");
    for (size_t i = pair; i < r->pairs; i++)
        if (same_table(r, &r->pair[i], p) && of_one_size(r, &r->pair[i]) &&
            (!brief || brief_size(r->row[r->pair[i].first].size)))
            print_line(r, &r->pair[i]);
}

/* Does every row of the series stand in a table of pairs? */
static bool in_tables(const struct uc_sys_result *r, size_t first)
{
    for (size_t i = first; i < r->rows; i++) {
        bool found = !r->row[i].n || !same_series(&r->row[i], &r->row[first]);
        for (size_t k = 0; k < r->pairs && !found; k++)
            found = (r->pair[k].first == i || r->pair[k].second == i) && in_table(r, k);
        if (!found)
            return false;
    }
    return true;
}

static void print_pairs(const struct uc_sys_result *r, const char *series, bool brief)
{
    for (size_t i = 0; i < r->pairs; i++) {
        if (strcmp(r->row[r->pair[i].first].series, series) != 0)
            continue;
        if (!in_table(r, i))
            print_pair(r, &r->pair[i]);
        else if (opens_table(r, i))
            print_pair_table(r, i, brief);
    }
}

static void print_series(const struct uc_sys_result *r, size_t first, bool brief)
{
    struct columns c = {.n = 0};
    bool fits;
    size_t sizes = count_sizes(r, first, &c, &fits);

    if (sizes < 3 || !fits)
        print_list(r, first);
    else if (!in_tables(r, first))
        print_matrix(r, first, &c);
    print_pairs(r, r->row[first].series, brief);
}

/* ---- the rest ---- */

__attribute__((format(printf, 1, 2))) static void put_sentence(const char *fmt, ...)
{
    char text[1024] = "    ";
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text + 4, sizeof(text) - 4, fmt, ap);
    va_end(ap);
    uc_print_wrapped(text, 6, stdout);
}

static void print_figure(const struct uc_sys_figure *f)
{
    char v[32], lo[32], hi[32];

    printf("    %s: %s", f->name, number(f->value, v));
    if (f->hi > f->lo)
        printf(", %s to %s", number(f->lo, lo), number(f->hi, hi));
    printf("%s%s%s%s\n", *f->unit ? " " : "", f->unit, *f->remark ? "; " : "", f->remark);
}

static void print_figure_line(const struct uc_sys_figure *f)
{
    char v[32], lo[32], hi[32];

    printf("  %10zu %16s", f->size, number(f->value, v));
    if (f->hi > f->lo)
        printf("  %s to %s", number(f->lo, lo), number(f->hi, hi));
    printf("%s%s\n", *f->remark ? "  " : "", f->remark);
}

/* A table for each name that stands with sizes. */
static void print_figure_tables(const struct uc_sys_result *r, bool brief)
{
    const char *name = "";

    for (size_t i = 0; i < r->figures; i++) {
        const struct uc_sys_figure *f = &r->figure[i];
        if (f->size == UC_SYS_NO_SIZE)
            continue;
        if (strcmp(f->name, name) != 0)
            printf("\n  %s, %s\n  %10s %16s  interval\n", f->name, f->unit, "size", "median");
        name = f->name;
        if (!brief || brief_size(f->size))
            print_figure_line(f);
    }
}

static void print_experiment(const struct uc_syscalls_done *d, bool brief)
{
    const struct uc_sys_result *r = &d->result;

    printf("\n%s: %s\n", d->experiment->name, d->experiment->summary);
    for (size_t i = 0; i < r->rows; i++)
        if (opens_series(r, i))
            print_series(r, i, brief);
    print_figure_tables(r, brief);
    if (r->figures || r->notes || r->skips)
        putchar('\n');
    for (size_t i = 0; i < r->figures; i++)
        if (r->figure[i].size == UC_SYS_NO_SIZE)
            print_figure(&r->figure[i]);
    for (size_t i = 0; i < r->notes; i++)
        put_sentence("%s", r->note[i]);
    for (size_t i = 0; i < r->skips; i++)
        put_sentence("skipped: %s (%s)", r->skip[i].what, r->skip[i].why);
}

static void print_head(const struct uc_session *s)
{
    struct utsname u;

    uc_print_version();
    printf("# system calls on %s, CPU %d; Linux %s, glibc %s\n", s->cpu.key, s->pu,
           uname(&u) ? "unknown" : u.release, gnu_get_libc_version());
    puts("# a replay is the same traffic copied in user mode; nothing here moves a threshold");
}

void uc_syscalls_print(const struct uc_session *s, const struct uc_syscalls_done *done, size_t n)
{
    print_head(s);
    if (n > 1)
        puts("# of lengths to 64 some are left out; --only shows all");
    for (size_t i = 0; i < n; i++)
        print_experiment(&done[i], n > 1);
}

static void print_csv_row(const char *experiment, const struct uc_sys_row *row)
{
    printf("%s/%s/%s", experiment, row->series, row->name);
    if (row->size != UC_SYS_NO_SIZE)
        printf("/%zu", row->size);
    printf(" %s", row->unit);
    for (size_t i = 0; i < row->n; i++)
        printf(",%.6g", row->v[i]);
    putchar('\n');
}

void uc_syscalls_print_csv(const struct uc_session *s, const struct uc_syscalls_done *done,
                           size_t n)
{
    printf("row");
    for (int i = 1; i <= UC_SYS_SAMPLES; i++)
        printf(",sample_%d", i);
    putchar('\n');
    for (size_t i = 0; i < n; i++) {
        const struct uc_sys_result *r = &done[i].result;
        for (size_t k = 0; k < r->rows; k++)
            if (r->row[k].n)
                print_csv_row(done[i].experiment->name, &r->row[k]);
        for (size_t k = 0; k < r->skips; k++)
            printf("# skipped: %s (%s)\n", r->skip[k].what, r->skip[k].why);
    }
    print_head(s);
}
