#include "measure/cells.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAME_OF(id, text) text,
const char *const uc_state_name[] = {UC_STATES(NAME_OF)};
const char *const uc_consumer_name[] = {UC_CONSUMERS(NAME_OF)};
const char *const uc_mix_name[] = {UC_MIXES(NAME_OF)};
const char *const uc_order_name[] = {UC_ORDERS(NAME_OF)};
const char *const uc_form_name[] = {UC_FORMS(NAME_OF)};
const char *const uc_code_name[] = {UC_CODES(NAME_OF)};
const char *const uc_entry_name[] = {UC_ENTRIES(NAME_OF)};
const char *const uc_end_kind_name[] = {UC_END_KINDS(NAME_OF)};
const char *const uc_unit_name[] = {"ns", "tsc_ticks", "ticks"};

int uc_word(const char *const *names, int count, const char *word)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(names[i], word))
            return i;
    return -1;
}

struct uc_cell uc_cell_default(const char *strategy, size_t size)
{
    struct uc_cell c = {
        .size = size,
        .dst_align = -1,
        .src_align = -1,
        .page_distance = -1,
        .dst_end.distance = -1,
        .src_end.distance = -1,
        .threads = 1,
        .code_placement = -1,
        .code_bytes = -1,
    };

    strncpy(c.strategy, strategy, sizeof(c.strategy) - 1);
    return c;
}

int uc_cells_add(struct uc_cells *c, const struct uc_cell *cell)
{
    if (c->n == c->cap) {
        size_t cap = c->cap ? 2 * c->cap : 256;
        struct uc_cell *v = realloc(c->v, cap * sizeof(*v));
        if (!v)
            return -ENOMEM;
        c->v = v;
        c->cap = cap;
    }
    c->v[c->n++] = *cell;
    return 0;
}

void uc_cells_free(struct uc_cells *c)
{
    free(c->v);
    memset(c, 0, sizeof(*c));
}

#define DIFFER(field)         \
    if (a->field != b->field) \
    return a->field < b->field ? -1 : 1

int uc_cells_compare_dims(const struct uc_cell *a, const struct uc_cell *b)
{
    DIFFER(entry);
    DIFFER(environment);
    DIFFER(mix);
    DIFFER(order);
    DIFFER(consumer);
    DIFFER(src_state);
    DIFFER(dst_state);
    DIFFER(form);
    DIFFER(code);
    DIFFER(threads);
    DIFFER(code_placement);
    DIFFER(dst_align);
    DIFFER(src_align);
    DIFFER(page_distance);
    DIFFER(dst_end.kind);
    DIFFER(dst_end.distance);
    DIFFER(src_end.kind);
    DIFFER(src_end.distance);
    return 0;
}

/* Size last but for the strategy, so that a curve lies together. */
static int by_place(const struct uc_cell *a, const struct uc_cell *b)
{
    int d = uc_cells_compare_dims(a, b);

    if (d)
        return d;
    DIFFER(size_hi);
    DIFFER(size);
    return 0;
}

bool uc_cells_same_place(const struct uc_cell *a, const struct uc_cell *b)
{
    return !by_place(a, b);
}

int uc_cells_compare(const struct uc_cell *a, const struct uc_cell *b)
{
    int d = by_place(a, b);

    if (!d)
        d = strcmp(a->strategy, b->strategy);
    if (d)
        return d;
    /* Rows that differ in their figures alone are duplicates, but still get one order. */
    DIFFER(cost);
    DIFFER(lo);
    DIFFER(hi);
    DIFFER(n);
    return 0;
}

static int by_all(const void *x, const void *y)
{
    return uc_cells_compare(x, y);
}

void uc_cells_sort(struct uc_cells *c)
{
    if (c->n)
        qsort(c->v, c->n, sizeof(*c->v), by_all);
}
