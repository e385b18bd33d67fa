#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fields.h"
#include "base/file.h"
#include "base/units.h"
#include "measure/cells.h"

#define FILE_MAX ((size_t)512 << 20)
#define ROW_MAX ((size_t)1 << 20)
#define SIZE_LIMIT ((size_t)1 << 40) /* 1 TiB: sums of sizes stay far from overflow */
#define COST_MIN 1e-9
#define COST_MAX 1e15
#define COLUMN_MAX 256

/* One column: how a field becomes part of a cell (0, or what is wrong with it), whether a cell
 * differs from the default there, and how it is written. */
struct column {
    const char *name;
    const char *(*read)(struct uc_cell *c, const char *text);
    bool (*told)(const struct uc_cell *c);
    void (*write)(const struct uc_cell *c, FILE *out);
};

/* Fields. An empty one means what an absent column means. */

static const char *read_word(const char *const *names, int count, const char *text, void *value)
{
    int v = uc_word(names, count, text);

    if (v < 0)
        return "unknown word";
    *(unsigned *)value = (unsigned)v;
    return NULL;
}

static const char *read_int(const char *text, long min, long max, int *value)
{
    long v;

    if (uc_parse_long(text, min, max, &v))
        return "not a number in range";
    *value = (int)v;
    return NULL;
}

/* strtod alone would take "inf", "nan", hexadecimal and leading blanks. */
static const char *read_double(const char *text, double min, double max, double *value)
{
    char *end;
    double v = strtod(text, &end);

    if (strspn(text, "0123456789.eE+-") != strlen(text) || end == text || *end)
        return "not a number";
    if (!isfinite(v) || v < min || v > max)
        return "number out of range";
    *value = v;
    return NULL;
}

static const char *read_bytes(const char *text, size_t *value)
{
    size_t v;

    if (uc_parse_size(text, &v))
        return "not a size in bytes";
    if (v > SIZE_LIMIT)
        return "size above 1 TiB";
    *value = v;
    return NULL;
}

/* Costs are written with 5 significant digits and no exponent. */
static void write_cost(double v, FILE *out)
{
    int digits = v > 0 ? 4 - (int)floor(log10(v)) : 0;
    double unit = pow(10, -digits);

    if (digits > 0)
        fprintf(out, "%.*f", digits, v);
    else
        fprintf(out, "%.0f", round(v / unit) * unit);
}

#define WORD_COLUMN(field, names, count)                                 \
    static const char *read_##field(struct uc_cell *c, const char *text) \
    {                                                                    \
        unsigned v = 0;                                                  \
        const char *wrong = read_word(names, count, text, &v);           \
        if (!wrong)                                                      \
            c->field = v;                                                \
        return wrong;                                                    \
    }                                                                    \
    static bool told_##field(const struct uc_cell *c)                    \
    {                                                                    \
        return c->field != 0;                                            \
    }                                                                    \
    static void write_##field(const struct uc_cell *c, FILE *out)        \
    {                                                                    \
        fputs(names[c->field], out);                                     \
    }

#define INT_COLUMN(field, min, max, absent)                              \
    static const char *read_##field(struct uc_cell *c, const char *text) \
    {                                                                    \
        return read_int(text, min, max, &c->field);                      \
    }                                                                    \
    static bool told_##field(const struct uc_cell *c)                    \
    {                                                                    \
        return c->field != (absent);                                     \
    }                                                                    \
    static void write_##field(const struct uc_cell *c, FILE *out)        \
    {                                                                    \
        if (c->field != (absent))                                        \
            fprintf(out, "%d", c->field);                                \
    }

WORD_COLUMN(src_state, uc_state_name, UC_STATE_COUNT)
WORD_COLUMN(dst_state, uc_state_name, UC_STATE_COUNT)
WORD_COLUMN(consumer, uc_consumer_name, UC_CONSUMER_COUNT)
WORD_COLUMN(mix, uc_mix_name, UC_MIX_COUNT)
WORD_COLUMN(order, uc_order_name, UC_ORDER_COUNT)
WORD_COLUMN(form, uc_form_name, UC_FORM_COUNT)
WORD_COLUMN(code, uc_code_name, UC_CODE_COUNT)
WORD_COLUMN(entry, uc_entry_name, UC_ENTRY_COUNT)
WORD_COLUMN(role, ucopy_role_name, 4)
INT_COLUMN(dst_align, 0, 63, -1)
INT_COLUMN(src_align, 0, 63, -1)
INT_COLUMN(page_distance, 0, 4095, -1)
INT_COLUMN(threads, 1, 65536, 1)
INT_COLUMN(code_placement, 0, 1, -1)

static const char *read_strategy(struct uc_cell *c, const char *text)
{
    if (strlen(text) >= sizeof(c->strategy))
        return "name longer than 47 characters";
    for (const char *p = text; *p; p++)
        if (!isgraph((unsigned char)*p) && *p != ' ')
            return "name of other than printable ASCII characters";
    memset(c->strategy, 0, sizeof(c->strategy));
    memcpy(c->strategy, text, strlen(text));
    return NULL;
}

static const char *read_size(struct uc_cell *c, const char *text)
{
    return read_bytes(text, &c->size);
}

static const char *read_size_hi(struct uc_cell *c, const char *text)
{
    return read_bytes(text, &c->size_hi);
}

static bool told_size_hi(const struct uc_cell *c)
{
    return c->size_hi != 0;
}

static void write_size_hi(const struct uc_cell *c, FILE *out)
{
    if (c->size_hi)
        fprintf(out, "%zu", c->size_hi);
}

static const char *read_cost(struct uc_cell *c, const char *text)
{
    return read_double(text, COST_MIN, COST_MAX, &c->cost);
}

static const char *read_lo(struct uc_cell *c, const char *text)
{
    return read_double(text, 0, COST_MAX, &c->lo);
}

static const char *read_hi(struct uc_cell *c, const char *text)
{
    return read_double(text, 0, COST_MAX, &c->hi);
}

static const char *const environment_name[] = {"", "user", "kernel", "both"};

static const char *read_environment(struct uc_cell *c, const char *text)
{
    const char *wrong = read_word(environment_name, 4, text, &c->environment);

    if (!wrong && c->environment == UCOPY_BOTH)
        c->environment = 0;
    return wrong;
}

static bool told_environment(const struct uc_cell *c)
{
    return c->environment != 0;
}

static void write_environment(const struct uc_cell *c, FILE *out)
{
    fputs(environment_name[c->environment & UCOPY_BOTH], out);
}

/* kind, or kind:distance. */
static const char *read_end(struct uc_end *e, const char *text)
{
    char kind[16];
    const char *colon = strchr(text, ':');
    size_t n = colon ? (size_t)(colon - text) : strlen(text);
    unsigned v = 0;

    if (n >= sizeof(kind))
        return "unknown word";
    memcpy(kind, text, n);
    kind[n] = 0;
    const char *wrong = read_word(uc_end_kind_name, UC_END_KIND_COUNT, kind, &v);
    if (wrong)
        return wrong;
    e->kind = v;
    return colon ? read_int(colon + 1, 0, INT_MAX, &e->distance) : NULL;
}

static void write_end(const struct uc_end *e, FILE *out)
{
    fputs(uc_end_kind_name[e->kind], out);
    if (e->distance >= 0)
        fprintf(out, ":%d", e->distance);
}

static const char *read_dst_end(struct uc_cell *c, const char *text)
{
    return read_end(&c->dst_end, text);
}

static const char *read_src_end(struct uc_cell *c, const char *text)
{
    return read_end(&c->src_end, text);
}

static bool told_dst_end(const struct uc_cell *c)
{
    return c->dst_end.kind != UC_END_DRAWN || c->dst_end.distance >= 0;
}

static bool told_src_end(const struct uc_cell *c)
{
    return c->src_end.kind != UC_END_DRAWN || c->src_end.distance >= 0;
}

static void write_dst_end(const struct uc_cell *c, FILE *out)
{
    write_end(&c->dst_end, out);
}

static void write_src_end(const struct uc_cell *c, FILE *out)
{
    write_end(&c->src_end, out);
}

static const char *read_n(struct uc_cell *c, const char *text)
{
    int v = 0;
    const char *wrong = read_int(text, 0, INT_MAX, &v);

    c->n = (unsigned)v;
    return wrong;
}

static bool told_n(const struct uc_cell *c)
{
    return c->n != 0;
}

static void write_n(const struct uc_cell *c, FILE *out)
{
    if (c->n)
        fprintf(out, "%u", c->n);
}

static const char *read_mapping_spread(struct uc_cell *c, const char *text)
{
    return read_double(text, 0, COST_MAX, &c->mapping_spread);
}

static bool told_mapping_spread(const struct uc_cell *c)
{
    return c->mapping_spread > 0;
}

static void write_mapping_spread(const struct uc_cell *c, FILE *out)
{
    if (c->mapping_spread > 0)
        fprintf(out, "%.4f", c->mapping_spread);
}

static const char *read_code_ratio(struct uc_cell *c, const char *text)
{
    return read_double(text, 0, COST_MAX, &c->code_ratio);
}

static bool told_code_ratio(const struct uc_cell *c)
{
    return c->code_ratio > 0;
}

static void write_code_ratio(const struct uc_cell *c, FILE *out)
{
    if (c->code_ratio > 0)
        fprintf(out, "%.4f", c->code_ratio);
}

static const char *read_code_bytes(struct uc_cell *c, const char *text)
{
    return uc_parse_long(text, 0, LONG_MAX, &c->code_bytes) ? "not a number in range" : NULL;
}

static bool told_code_bytes(const struct uc_cell *c)
{
    return c->code_bytes >= 0;
}

static void write_code_bytes(const struct uc_cell *c, FILE *out)
{
    if (c->code_bytes >= 0)
        fprintf(out, "%ld", c->code_bytes);
}

#define COLUMN(name)                                  \
    {                                                 \
#name, read_##name, told_##name, write_##name \
    }

/* In the order in which they are written; strategy, size and the costs go before. */
static const struct column optional[] = {
    COLUMN(size_hi),        COLUMN(mix),        COLUMN(order),          COLUMN(consumer),
    COLUMN(src_state),      COLUMN(dst_state),  COLUMN(entry),          COLUMN(environment),
    COLUMN(form),           COLUMN(code),       COLUMN(dst_align),      COLUMN(src_align),
    COLUMN(page_distance),  COLUMN(dst_end),    COLUMN(src_end),        COLUMN(threads),
    COLUMN(code_placement), COLUMN(code_ratio), COLUMN(mapping_spread), COLUMN(code_bytes),
    COLUMN(role),           COLUMN(n),
};
#define OPTIONAL (sizeof(optional) / sizeof(optional[0]))

static const struct column needed[] = {{"strategy", read_strategy, NULL, NULL},
                                       {"size", read_size, NULL, NULL}};
static const struct column interval[] = {{"lo", read_lo, NULL, NULL}, {"hi", read_hi, NULL, NULL}};
/* The first of these that the table has is its cost. */
static const struct column costs[] = {{"ns", read_cost, NULL, NULL},
                                      {"tsc_ticks", read_cost, NULL, NULL},
                                      {"ticks", read_cost, NULL, NULL}};

/* Reading. */

struct reader {
    const struct column *column[COLUMN_MAX]; /* by position; NULL: ignored */
    size_t columns;
    bool header;
    unsigned *line_of; /* of each cell, for duplicates */
    size_t cap;
    unsigned *line;
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

static const struct column *in_list(const struct column *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i].name, name))
            return &list[i];
    return NULL;
}

static const struct column *find_column(const char *name)
{
    const struct column *c = in_list(needed, 2, name);

    if (!c)
        c = in_list(interval, 2, name);
    if (!c)
        c = in_list(costs, 3, name);
    return c ? c : in_list(optional, OPTIONAL, name);
}

static bool has(const struct reader *r, const struct column *c)
{
    for (size_t i = 0; i < r->columns; i++)
        if (r->column[i] == c)
            return true;
    return false;
}

/* One cost column counts; the others are ignored like unknown ones. */
static int choose_cost(struct reader *r, struct uc_cells *c)
{
    int unit = 0;

    while (unit < 3 && !has(r, &costs[unit]))
        unit++;
    if (unit == 3)
        return fail(r, "no column for the cost: ns, tsc_ticks or ticks");
    c->unit = (enum uc_unit)unit;
    for (size_t i = 0; i < r->columns; i++)
        for (int u = unit + 1; u < 3; u++)
            if (r->column[i] == &costs[u])
                r->column[i] = NULL;
    return 0;
}

static int read_header(struct reader *r, struct uc_cells *c, char *line)
{
    char *name;

    while ((name = uc_next_field(&line))) {
        const struct column *col = find_column(name);
        if (r->columns == COLUMN_MAX)
            return fail(r, "more than %d columns", COLUMN_MAX);
        if (col && has(r, col))
            return fail(r, "column %s: named twice", name);
        r->column[r->columns++] = col;
    }
    r->header = true;
    for (size_t i = 0; i < 2; i++)
        if (!has(r, &needed[i]))
            return fail(r, "no column %s", needed[i].name);
    if (has(r, &interval[0]) != has(r, &interval[1]))
        return fail(r, "column %s: lo and hi go together", has(r, &interval[0]) ? "lo" : "hi");
    return choose_cost(r, c);
}

/* What fields say together. */
static int check_cell(struct reader *r, struct uc_cells *c, struct uc_cell *cell)
{
    if (!cell->strategy[0])
        return fail(r, "column strategy: empty");
    if (cell->cost <= 0)
        return fail(r, "column %s: empty", costs[c->unit].name);
    if (cell->size_hi && cell->mix == UC_FIXED)
        cell->mix = UC_BAND;
    if (cell->mix == UC_BAND && cell->size_hi < cell->size)
        return fail(r, "column size_hi: %s", cell->size_hi ? "below size" : "a band needs it");
    if ((cell->lo < 0) != (cell->hi < 0))
        return fail(r, "column %s: empty", cell->lo < 0 ? "lo" : "hi");
    if (cell->hi < 0) {
        cell->lo = cell->hi = cell->cost;
        return 0;
    }
    if (cell->lo > cell->cost || cell->hi < cell->cost)
        return fail(r, "column %s: the cost lies outside of lo to hi",
                    cell->lo > cell->cost ? "lo" : "hi");
    c->has_interval = true;
    return 0;
}

static int keep_line(struct reader *r, size_t n)
{
    if (n >= ROW_MAX)
        return fail(r, "more than %zu rows", ROW_MAX);
    if (n >= r->cap) {
        size_t cap = r->cap ? 2 * r->cap : 1024;
        unsigned *v = realloc(r->line_of, cap * sizeof(*v));
        if (!v)
            return -ENOMEM;
        r->line_of = v;
        r->cap = cap;
    }
    r->line_of[n] = *r->line;
    return 0;
}

static int read_row(struct reader *r, struct uc_cells *c, char *line)
{
    struct uc_cell cell = uc_cell_default("", SIZE_MAX);
    size_t n = 0;
    char *field;

    cell.lo = cell.hi = -1;
    for (; (field = uc_next_field(&line)); n++) {
        if (n >= r->columns)
            break;
        const struct column *col = r->column[n];
        const char *wrong = col && *field ? col->read(&cell, field) : NULL;
        if (wrong)
            return fail(r, "column %s: %s: \"%.40s\"", col->name, wrong, field);
    }
    if (n != r->columns || field)
        return fail(r, "%s fields than the first line names columns", field ? "more" : "fewer");
    if (cell.size == SIZE_MAX)
        return fail(r, "column size: empty");
    int rc = check_cell(r, c, &cell);
    if (!rc)
        rc = keep_line(r, c->n);
    return rc ? rc : uc_cells_add(c, &cell);
}

static int read_line(struct reader *r, struct uc_cells *c, char *line)
{
    line += strspn(line, " \t");
    if (*line == '#' || !line[strspn(line, " \t\r")])
        return 0;
    return r->header ? read_row(r, c, line) : read_header(r, c, line);
}

struct numbered {
    const struct uc_cell *cell;
    unsigned line;
};

static int by_cell(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    int d = uc_cells_same_place(x->cell, y->cell) ? strcmp(x->cell->strategy, y->cell->strategy)
                                                  : uc_cells_compare(x->cell, y->cell);
    return d ? d : (x->line > y->line) - (x->line < y->line);
}

static int refuse_duplicates(struct reader *r, const struct uc_cells *c)
{
    struct numbered *v = malloc((c->n + 1) * sizeof(*v));
    int rc = 0;

    if (!v)
        return -ENOMEM;
    for (size_t i = 0; i < c->n; i++)
        v[i] = (struct numbered){&c->v[i], r->line_of[i]};
    qsort(v, c->n, sizeof(*v), by_cell);
    for (size_t i = 1; i < c->n && !rc; i++)
        if (uc_cells_same_place(v[i - 1].cell, v[i].cell) &&
            !strcmp(v[i - 1].cell->strategy, v[i].cell->strategy)) {
            *r->line = v[i].line;
            rc = fail(r, "the same row as line %u: %s at %zu bytes", v[i - 1].line,
                      v[i].cell->strategy, v[i].cell->size);
        }
    free(v);
    return rc;
}

static int read_lines(struct reader *r, struct uc_cells *c, char *text)
{
    char *next;
    int rc = 0;

    if (!strncmp(text, "\xEF\xBB\xBF", 3))
        text += 3;
    for (char *at = text; at && !rc; at = next) {
        next = strchr(at, '\n');
        if (next)
            *next++ = 0;
        ++*r->line;
        rc = read_line(r, c, at);
    }
    if (!rc && !r->header)
        rc = fail(r, "no line that names the columns");
    if (!rc && !c->n)
        rc = fail(r, "no rows");
    return rc ? rc : refuse_duplicates(r, c);
}

int uc_cells_read_csv(const char *path, struct uc_cells *c, unsigned *line, char *why,
                      size_t why_cap)
{
    struct reader r = {.line = line, .why = why, .why_cap = why_cap};
    char *text = NULL;
    size_t len;

    memset(c, 0, sizeof(*c));
    *line = 0;
    if (why_cap)
        *why = 0;
    int rc = uc_read_file(path, FILE_MAX, &text, &len);
    if (rc)
        return rc;
    rc = memchr(text, 0, len) ? fail(&r, "holds a NUL byte") : read_lines(&r, c, text);
    free(text);
    free(r.line_of);
    if (rc)
        uc_cells_free(c);
    return rc;
}

/* Writing. */

static void pick_columns(const struct uc_cells *c, bool *used)
{
    for (size_t i = 0; i < OPTIONAL; i++) {
        used[i] = false;
        for (size_t k = 0; k < c->n && !used[i]; k++)
            used[i] = optional[i].told(&c->v[k]);
    }
}

static void write_costs(const struct uc_cells *c, const struct uc_cell *cell, double tsc_hz,
                        FILE *out)
{
    fprintf(out, "%s,%zu,", cell->strategy, cell->size);
    write_cost(cell->cost, out);
    if (c->has_interval) {
        fputc(',', out);
        write_cost(cell->lo, out);
        fputc(',', out);
        write_cost(cell->hi, out);
    }
    if (tsc_hz > 0) {
        fputc(',', out);
        write_cost(cell->cost * tsc_hz / 1e9, out);
    }
}

void uc_cells_write_csv(const struct uc_cells *c, double tsc_hz, FILE *out)
{
    bool used[OPTIONAL];
    double hz = c->unit == UC_NS ? tsc_hz : 0;

    pick_columns(c, used);
    fprintf(out, "strategy,size,%s%s%s", uc_unit_name[c->unit], c->has_interval ? ",lo,hi" : "",
            hz > 0 ? ",tsc_ticks" : "");
    for (size_t i = 0; i < OPTIONAL; i++)
        if (used[i])
            fprintf(out, ",%s", optional[i].name);
    fputc('\n', out);
    for (size_t k = 0; k < c->n; k++) {
        write_costs(c, &c->v[k], hz, out);
        for (size_t i = 0; i < OPTIONAL; i++) {
            if (!used[i])
                continue;
            fputc(',', out);
            optional[i].write(&c->v[k], out);
        }
        fputc('\n', out);
    }
}
