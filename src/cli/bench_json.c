/* `bench --format json`: one object whatever table was asked for. What a table has not is null. */
#include "cli/bench.h"

#include <string.h>

#include "cli/output.h"
#include "profile/profile.h"

static json_t *ratio_json(double mid, double lo, double hi)
{
    return json_pack("[ooo]", uc_json_number(mid, 4), uc_json_number(lo, 4), uc_json_number(hi, 4));
}

static const struct uc_subject *subject_of(const struct uc_bench_answer *a, const struct uc_cell *c)
{
    for (size_t k = 0; k < a->n; k++)
        if (a->u[k].form == c->form && !strcmp(a->u[k].name, c->strategy))
            return &a->u[k];
    return NULL;
}

static const struct uc_cell *called_form(const struct uc_bench_answer *a, const struct uc_cell *c)
{
    for (size_t k = 0; k < a->n; k++)
        if (a->u[k].form == UC_CALLED && !strcmp(a->u[k].name, c->strategy))
            return uc_bench_cell(a->cells, &a->u[k], c->size, c->code);
    return NULL;
}

static json_t *code_json(const struct uc_subject *u)
{
    return json_pack("{s:I, s:I, s:I}", "site", (json_int_t)u->code.site, "dispatch",
                     (json_int_t)u->code.dispatch, "strategy", (json_int_t)u->code.strategy);
}

/* The first copy's time over this one's; of all forms, this form's over the called one's. */
static json_t *row_json(const struct uc_bench_answer *a, const struct uc_cell *c)
{
    const struct uc_cell *first = a->forms ? NULL : uc_bench_cell(a->cells, a->u, c->size, UC_WARM);
    const struct uc_cell *called = a->forms ? called_form(a, c) : NULL;
    const struct uc_subject *u = a->forms ? subject_of(a, c) : NULL;

    return json_pack(
        "{s:I, s:o, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o}", "size",
        (json_int_t)c->size, "size_hi", uc_json_size(c->size_hi, 0), "copy", c->strategy, "form",
        uc_form_name[c->form], "code", uc_code_name[c->code], "ns", uc_json_number(c->cost, 5),
        "lo", uc_json_number(c->lo, 5), "hi", uc_json_number(c->hi, 5), "tsc_ticks",
        uc_json_number(c->cost * a->s->clock.tsc_hz / 1e9, 5), "readings", (json_int_t)c->n,
        "times_as_fast",
        first ? ratio_json(first->cost / c->cost, first->lo / c->hi, first->hi / c->lo)
              : json_null(),
        "over_called",
        called ? ratio_json(c->cost / called->cost, c->lo / called->hi, c->hi / called->lo)
               : json_null(),
        "code_bytes", u ? code_json(u) : json_null(), "code_ratio",
        uc_json_positive(c->code_ratio, 4));
}

static json_t *rows_json(const struct uc_bench_answer *a)
{
    json_t *rows = json_array();
    int rc = !rows;

    for (size_t i = 0; i < a->cells->n; i++)
        rc |= json_array_append_new(rows, row_json(a, &a->cells->v[i]));
    if (!rc)
        return rows;
    json_decref(rows);
    return NULL;
}

static json_t *mix_json(const struct uc_bench_mix_facts *m)
{
    if (!m)
        return json_null();
    return json_pack(
        "{s:o, s:s, s:I, s:o, s:o}", "name", uc_json_string(m->name), "order",
        uc_order_name[m->order], "to", (json_int_t)m->to, "larger",
        m->larger > 0 ? json_pack("{s:o, s:I, s:I}", "share", uc_json_number(m->larger, 6), "from",
                                  (json_int_t)m->larger_from, "to", (json_int_t)m->larger_to)
                      : json_null(),
        "not_replayed", uc_json_number(m->not_replayed, 6));
}

static json_t *counts_json(const struct uc_bench_counts *all)
{
    json_t *list = json_array();
    int rc = !list;

    if (!all || !all->n) {
        json_decref(list);
        return json_null();
    }
    for (size_t i = 0; i < all->n; i++) {
        const struct uc_bench_count *x = &all->v[i];
        rc |= json_array_append_new(
            list,
            json_pack("{s:I, s:o, s:o, s:o, s:o}", "size", (json_int_t)x->size, "copy",
                      uc_json_string(x->copy), "event", uc_json_string(x->count.event), "a_call",
                      x->count.valid ? uc_json_number(x->a_call, 6) : json_null(), "why_not",
                      x->count.valid ? json_null() : uc_json_string(x->count.why)));
    }
    if (!rc)
        return list;
    json_decref(list);
    return NULL;
}

int uc_bench_print_json(const struct uc_bench_answer *a)
{
    return uc_print_json(json_pack(
        "{s:s, s:s, s:i, s:o, s:s, s:s, s:i, s:s, s:o, s:o, s:o, s:o}", "tool", UC_TOOL, "key",
        a->s->cpu.key, "cpu", a->s->pu, "tsc_hz", uc_json_number(a->s->clock.tsc_hz, 6), "unit",
        uc_unit_name[a->cells->unit], "state", uc_state_name[a->state], "threads",
        a->cells->n ? a->cells->v[0].threads : 1, "consumer", uc_consumer_name[a->consumer], "mix",
        mix_json(a->mix), "rows", rows_json(a), "counts", counts_json(a->counts), "slopes",
        a->slopes ? uc_slopes_to_json(a->slopes) : json_null()));
}
