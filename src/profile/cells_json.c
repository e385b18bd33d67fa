/* Cells by column. A group is one strategy in one place (all dimensions but the size); it names one
 * of the shared size grids and holds a column a value, or one number where all are the same.
 * Costs have 4 significant digits, intervals are per cent below and above, to a tenth: below the
 * spread of the readings (1 to 3 %), and 30,000 cells stay under 1 MB. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/json_io.h"

#define MAX_CELLS (1u << 20)

/* Dimensions other than strategy, size and size_hi. Those at their default are left out. All are
 * ints, or enums as wide as an int. */
struct dimension {
    const char *key;
    size_t at;
    const char *const *names; /* NULL: a number */
    int min, max;
};

static const char *const environment_name[] = {"any", "user", "kernel", "both"};

#define WORDS(field, names, count)                                   \
    {                                                                \
#field, offsetof(struct uc_cell, field), names, 0, (count)-1 \
    }
#define NUMBER(field, min, max)                                 \
    {                                                           \
#field, offsetof(struct uc_cell, field), NULL, min, max \
    }
static const struct dimension dimensions[] = {
    WORDS(entry, uc_entry_name, UC_ENTRY_COUNT),
    WORDS(role, ucopy_role_name, 4),
    WORDS(environment, environment_name, 4),
    WORDS(consumer, uc_consumer_name, UC_CONSUMER_COUNT),
    WORDS(mix, uc_mix_name, UC_MIX_COUNT),
    WORDS(order, uc_order_name, UC_ORDER_COUNT),
    WORDS(form, uc_form_name, UC_FORM_COUNT),
    WORDS(code, uc_code_name, UC_CODE_COUNT),
    WORDS(src_state, uc_state_name, UC_STATE_COUNT),
    WORDS(dst_state, uc_state_name, UC_STATE_COUNT),
    NUMBER(dst_align, -1, 63),
    NUMBER(src_align, -1, 63),
    NUMBER(page_distance, -1, 4095),
    {"dst_end", offsetof(struct uc_cell, dst_end.kind), uc_end_kind_name, 0, UC_END_KIND_COUNT - 1},
    {"dst_end_distance", offsetof(struct uc_cell, dst_end.distance), NULL, -1, 4095},
    {"src_end", offsetof(struct uc_cell, src_end.kind), uc_end_kind_name, 0, UC_END_KIND_COUNT - 1},
    {"src_end_distance", offsetof(struct uc_cell, src_end.distance), NULL, -1, 4095},
    NUMBER(threads, 1, 1 << 20),
    NUMBER(code_placement, -1, 1),
};
#define DIMENSIONS (sizeof dimensions / sizeof *dimensions)

static int *dimension_of(const struct uc_cell *cell, const struct dimension *d)
{
    return (int *)((char *)(uintptr_t)cell + d->at);
}

static int compare_groups(const struct uc_cell *a, const struct uc_cell *b)
{
    int order = strcmp(a->strategy, b->strategy);

    for (size_t i = 0; !order && i < DIMENSIONS; i++) {
        int x = *dimension_of(a, dimensions + i), y = *dimension_of(b, dimensions + i);
        order = (x > y) - (x < y);
    }
    return order;
}

static int compare_numbers(double a, double b)
{
    return (a > b) - (a < b);
}

static int compare_cells(const void *pa, const void *pb)
{
    const struct uc_cell *a = *(const struct uc_cell *const *)pa;
    const struct uc_cell *b = *(const struct uc_cell *const *)pb;
    int order = compare_groups(a, b);

    if (!order)
        order = (a->size > b->size) - (a->size < b->size);
    if (!order)
        order = (a->size_hi > b->size_hi) - (a->size_hi < b->size_hi);
    return order ? order : compare_numbers(a->cost, b->cost);
}

/* Columns. Each value of a cell as JSON, and back. */
struct column {
    const char *key;
    json_t *(*get)(const struct uc_cell *cell);
    void (*set)(struct uc_cell *cell, const struct uc_node *value);
    bool of_interval; /* only in tables that have intervals */
    bool needed;
};

static double rounded(double v)
{
    json_t *number = uc_json_number(v, 4);
    double out = json_number_value(number);
    json_decref(number);
    return out;
}

static json_t *get_size(const struct uc_cell *c)
{
    return json_integer((json_int_t)c->size);
}

static json_t *get_size_hi(const struct uc_cell *c)
{
    return json_integer((json_int_t)c->size_hi);
}

static json_t *get_cost(const struct uc_cell *c)
{
    return uc_json_number(c->cost, 4);
}

/* Per cent of the rounded cost, so that a second writing gives the same text. */
static json_t *per_cent(double difference, double cost)
{
    double share = 100 * difference / rounded(cost);
    return uc_json_number(share > 0 ? round(10 * share) / 10 : 0, 12);
}

static json_t *get_below(const struct uc_cell *c)
{
    return per_cent(rounded(c->cost) - c->lo, c->cost);
}

static json_t *get_above(const struct uc_cell *c)
{
    return per_cent(c->hi - rounded(c->cost), c->cost);
}

static json_t *get_n(const struct uc_cell *c)
{
    return json_integer(c->n);
}

static json_t *get_spread(const struct uc_cell *c)
{
    return uc_json_number(c->mapping_spread, 3);
}

static json_t *get_code_ratio(const struct uc_cell *c)
{
    return uc_json_number(c->code_ratio, 3);
}

static json_t *get_code_bytes(const struct uc_cell *c)
{
    return json_integer(c->code_bytes);
}

static void set_size(struct uc_cell *c, const struct uc_node *v)
{
    c->size = (size_t)uc_node_integer(v, 0, INT64_MAX);
}

static void set_size_hi(struct uc_cell *c, const struct uc_node *v)
{
    c->size_hi = (size_t)uc_node_integer(v, 0, INT64_MAX);
    if (c->size_hi && c->size_hi < c->size)
        uc_node_fail(v, -EINVAL, "below the size that its band begins with");
}

static double above_or_fail(const struct uc_node *v, double min, const char *what)
{
    double number = uc_node_number(v);
    if (v->v && number < min)
        uc_node_fail(v, -EINVAL, what);
    return number;
}

static void set_cost(struct uc_cell *c, const struct uc_node *v)
{
    c->cost = c->lo = c->hi = above_or_fail(v, 1e-9, "a cost must be above 0");
}

static void set_below(struct uc_cell *c, const struct uc_node *v)
{
    double below = above_or_fail(v, 0, "negative");
    if (below > 100)
        uc_node_fail(v, -EINVAL, "over 100 %");
    c->lo = c->cost * (1 - below / 100);
}

static void set_above(struct uc_cell *c, const struct uc_node *v)
{
    c->hi = c->cost * (1 + above_or_fail(v, 0, "negative") / 100);
}

static void set_n(struct uc_cell *c, const struct uc_node *v)
{
    c->n = (unsigned)uc_node_integer(v, 0, INT32_MAX);
}

static void set_spread(struct uc_cell *c, const struct uc_node *v)
{
    c->mapping_spread = above_or_fail(v, 0, "negative");
}

static void set_code_ratio(struct uc_cell *c, const struct uc_node *v)
{
    c->code_ratio = above_or_fail(v, 0, "negative");
}

static void set_code_bytes(struct uc_cell *c, const struct uc_node *v)
{
    c->code_bytes = (long)uc_node_integer(v, -1, INT32_MAX);
}

static const struct column columns[] = {
    {"size_hi", get_size_hi, set_size_hi, false, false},
    {"cost", get_cost, set_cost, false, true},
    {"below", get_below, set_below, true, true},
    {"above", get_above, set_above, true, true},
    {"n", get_n, set_n, false, false},
    {"mapping_spread", get_spread, set_spread, false, false},
    {"code_ratio", get_code_ratio, set_code_ratio, false, false},
    {"code_bytes", get_code_bytes, set_code_bytes, false, false},
};
#define COLUMNS (sizeof columns / sizeof *columns)

static json_t *make_array(struct uc_cell *const *cells, size_t n,
                          json_t *(*get)(const struct uc_cell *))
{
    json_t *array = json_array();
    int failed = !array;

    for (size_t i = 0; !failed && i < n; i++)
        failed = json_array_append_new(array, get(cells[i]));
    if (failed) {
        json_decref(array);
        array = NULL;
    }
    return array;
}

/* A column of equal values is written as that value. */
static json_t *make_column(struct uc_cell *const *cells, size_t n,
                           json_t *(*get)(const struct uc_cell *))
{
    json_t *array = make_array(cells, n, get);
    const json_t *first = json_array_get(array, 0);

    for (size_t i = 1; i < json_array_size(array); i++)
        if (!json_equal(first, json_array_get(array, i)))
            return array;
    json_t *one = json_incref((json_t *)first);
    json_decref(array);
    return one;
}

static int add_dimensions(json_t *group, const struct uc_cell *cell)
{
    struct uc_cell usual = uc_cell_default("", 0);
    int rc = json_object_set_new(group, "strategy", uc_json_string(cell->strategy));

    for (size_t i = 0; i < DIMENSIONS; i++) {
        const struct dimension *d = dimensions + i;
        int v = *dimension_of(cell, d);
        if (v != *dimension_of(&usual, d))
            rc |= json_object_set_new(group, d->key,
                                      d->names ? json_string(d->names[v]) : json_integer(v));
    }
    return rc;
}

static int add_columns(json_t *group, struct uc_cell *const *cells, size_t n, bool has_interval)
{
    struct uc_cell usual = uc_cell_default("", 0);
    int rc = 0;

    for (const struct column *c = columns; c < columns + COLUMNS; c++) {
        if (c->of_interval && !has_interval)
            continue;
        json_t *column = make_column(cells, n, c->get), *absent = c->get(&usual);
        if (!column || c->needed || !json_equal(column, absent))
            rc |= json_object_set(group, c->key, column);
        json_decref(column);
        json_decref(absent);
    }
    return rc;
}

/* Index of the sizes' grid in grids, added where it is new; -1: no memory. */
static json_int_t share_grid(json_t *grids, struct uc_cell *const *cells, size_t n)
{
    json_t *grid = make_array(cells, n, get_size), *have;
    size_t i;

    json_array_foreach(grids, i, have) if (json_equal(have, grid)) break;
    if (i == json_array_size(grids) && json_array_append(grids, grid))
        i = SIZE_MAX;
    json_decref(grid);
    return (json_int_t)i;
}

static int add_group(json_t *out, struct uc_cell *const *cells, size_t n, bool has_interval)
{
    json_int_t grid = share_grid(json_object_get(out, "grids"), cells, n);
    json_t *group = json_object();
    int rc = grid < 0 || add_dimensions(group, cells[0]);

    rc |= json_object_set_new(group, "grid", json_integer(grid));
    rc |= add_columns(group, cells, n, has_interval);
    return json_array_append_new(json_object_get(out, "groups"), group) | rc;
}

static int add_groups(json_t *out, struct uc_cell *const *cells, size_t n, bool has_interval)
{
    int rc = 0;

    for (size_t from = 0, to; from < n && !rc; from = to) {
        for (to = from + 1; to < n && !compare_groups(cells[from], cells[to]);)
            to++;
        rc = add_group(out, cells + from, to - from, has_interval);
    }
    return rc;
}

json_t *uc_cells_to_json(const struct uc_cells *cells)
{
    struct uc_cell **order = calloc(cells->n + 1, sizeof *order);
    json_t *out = json_pack("{ss sb s[] s[]}", "unit", uc_unit_name[cells->unit], "interval",
                            cells->has_interval, "grids", "groups");

    if (order && out) {
        for (size_t i = 0; i < cells->n; i++)
            order[i] = cells->v + i;
        qsort(order, cells->n, sizeof *order, compare_cells);
    }
    if (!order || !out || add_groups(out, order, cells->n, cells->has_interval)) {
        json_decref(out);
        out = NULL;
    } else if (!cells->n) {
        json_decref(out);
        out = json_null();
    }
    free(order);
    return out;
}

static int read_word(const struct uc_node *n, const char *const *names, int count)
{
    char word[UC_NAME];
    uc_node_string(n, word, sizeof word);
    int v = n->error->rc ? 0 : uc_word(names, count, word);
    if (v < 0)
        uc_node_fail(n, -EINVAL, "not a known word");
    return v < 0 ? 0 : v;
}

static void read_dimensions(const struct uc_node *group, struct uc_cell *cell)
{
    uc_get_string(group, "strategy", cell->strategy, sizeof cell->strategy);
    for (const struct dimension *d = dimensions; d < dimensions + DIMENSIONS; d++) {
        struct uc_node n = uc_node_member(group, d->key);
        if (n.v)
            *dimension_of(cell, d) = d->names ? read_word(&n, d->names, d->max + 1)
                                              : (int)uc_node_integer(&n, d->min, d->max);
    }
}

/* One cell's value of a column, which may be an array or one number for all. */
static void read_column(const struct uc_node *group, const struct column *c, struct uc_cell *cell,
                        size_t i)
{
    struct uc_node whole = uc_node_member(group, c->key);
    if (!whole.v && !c->needed)
        return;
    struct uc_node element = uc_node_element(&whole, i);
    c->set(cell, json_is_array(whole.v) ? &element : &whole);
}

static void check_length(const struct uc_node *group, const struct column *c, size_t n)
{
    struct uc_node whole = uc_node_member(group, c->key);
    if (json_is_array(whole.v) && json_array_size(whole.v) != n)
        uc_node_fail(&whole, -EINVAL, "not as long as its grid");
}

static void read_group(const struct uc_node *group, const struct uc_node *grids,
                       struct uc_cells *cells)
{
    struct uc_cell cell = uc_cell_default("", 0);

    if (!uc_node_object(group)) {
        uc_node_fail(group, -EINVAL, "missing");
        return;
    }
    read_dimensions(group, &cell);
    struct uc_node which = uc_node_member(group, "grid");
    long long count = (long long)json_array_size(grids->v);
    struct uc_node grid =
        uc_node_element(grids, (size_t)uc_node_integer(&which, 0, count ? count - 1 : 0));
    if (!uc_node_array(&grid))
        uc_node_fail(&grid, -EINVAL, "missing");
    size_t n = json_array_size(grid.v);
    if (n > MAX_CELLS - cells->n)
        uc_node_fail(group, -EINVAL, "over 1 Mi cells");
    for (size_t c = 0; c < COLUMNS; c++)
        check_length(group, columns + c, n);
    for (size_t i = 0; i < n && !group->error->rc; i++) {
        struct uc_node size = uc_node_element(&grid, i);
        set_size(&cell, &size);
        for (size_t c = 0; c < COLUMNS; c++)
            if (!columns[c].of_interval || cells->has_interval)
                read_column(group, columns + c, &cell, i);
        if (!group->error->rc && uc_cells_add(cells, &cell))
            uc_node_fail(group, -ENOMEM, "no memory");
    }
}

void uc_cells_from_json(const struct uc_node *n, struct uc_cells *cells)
{
    if (!uc_node_object(n))
        return;
    struct uc_node unit = uc_node_member(n, "unit"), grids = uc_node_member(n, "grids"),
                   groups = uc_node_member(n, "groups");
    cells->unit = (enum uc_unit)read_word(&unit, uc_unit_name, UC_TICKS + 1);
    cells->has_interval = uc_get_bool(n, "interval");
    if (!uc_node_array(&grids) || !uc_node_array(&groups)) {
        uc_node_fail(n, -EINVAL, "grids or groups missing");
        return;
    }
    for (size_t i = 0; i < json_array_size(groups.v) && !n->error->rc; i++) {
        struct uc_node group = uc_node_element(&groups, i);
        read_group(&group, &grids, cells);
    }
}
