/* Rows of samples as JSON. */
#include <gnu/libc-version.h>
#include <math.h>
#include <sys/utsname.h>

#include "cli/output.h"
#include "cli/syscalls.h"
#include "profile/json_io.h"

/* json_object_set_new and json_array_append_new fail on NULL: every failure ends up in rc. */
static json_t *done_with(json_t *v, int rc)
{
    if (!rc)
        return v;
    json_decref(v);
    return NULL;
}

static json_t *interval_json(const struct uc_interval *i)
{
    if (i->coverage <= 0)
        return json_null();
    return json_pack("{so so so}", "lo", uc_json_number(i->lo, 5), "hi", uc_json_number(i->hi, 5),
                     "coverage", uc_json_number(i->coverage, 4));
}

static json_t *samples_json(const struct uc_sys_row *row)
{
    json_t *a = json_array();
    int rc = !a;

    for (size_t i = 0; i < row->n; i++)
        rc |= json_array_append_new(a, uc_json_number(row->v[i], 6));
    return done_with(a, rc);
}

static json_t *row_json(const struct uc_sys_row *row, bool samples)
{
    struct uc_interval m = uc_median_interval(row->v, row->n, UC_SYS_LEVEL);
    json_t *o = json_pack("{ss ss so ss sI so so}", "series", row->series, "name", row->name,
                          "size", uc_json_size(row->size, UC_SYS_NO_SIZE), "unit", row->unit, "n",
                          (json_int_t)row->n, "median", uc_json_number(m.mid, 5), "interval",
                          interval_json(&m));
    int rc = !o;

    if (samples)
        rc |= json_object_set_new(o, "samples", samples_json(row));
    return done_with(o, rc);
}

static json_t *rows_json(const struct uc_sys_result *r, bool samples)
{
    json_t *a = json_array();
    int rc = !a;

    for (size_t i = 0; i < r->rows; i++)
        if (r->row[i].n)
            rc |= json_array_append_new(a, row_json(&r->row[i], samples));
    return done_with(a, rc);
}

static json_t *pair_json(const struct uc_sys_result *r, const struct uc_sys_pair *p)
{
    static const char *const verdict[] = {"not enough", "no difference", "first larger",
                                          "second larger"};
    const struct uc_sys_row *a = &r->row[p->first], *b = &r->row[p->second];

    return json_pack("{ss ss so ss so so so so ss}", "series", a->series, "first", a->name,
                     "first_size", uc_json_size(a->size, UC_SYS_NO_SIZE), "second", b->name,
                     "second_size", uc_json_size(b->size, UC_SYS_NO_SIZE), "ratio",
                     uc_json_number(p->c.ratio.mid, 5), "interval", interval_json(&p->c.ratio), "p",
                     uc_json_number(p->c.p, 3), "verdict", verdict[p->c.verdict]);
}

static json_t *pairs_json(const struct uc_sys_result *r)
{
    json_t *a = json_array();
    int rc = !a;

    for (size_t i = 0; i < r->pairs; i++)
        rc |= json_array_append_new(a, pair_json(r, &r->pair[i]));
    return done_with(a, rc);
}

static json_t *figures_json(const struct uc_sys_result *r)
{
    json_t *a = json_array();
    int rc = !a;

    for (size_t i = 0; i < r->figures; i++) {
        const struct uc_sys_figure *f = &r->figure[i];
        bool told = f->hi > f->lo;
        rc |= json_array_append_new(
            a, json_pack("{ss so so so so so so}", "name", f->name, "size",
                         uc_json_size(f->size, UC_SYS_NO_SIZE), "unit", uc_json_string(f->unit),
                         "remark", uc_json_string(f->remark), "value", uc_json_number(f->value, 5),
                         "lo", told ? uc_json_number(f->lo, 5) : json_null(), "hi",
                         told ? uc_json_number(f->hi, 5) : json_null()));
    }
    return done_with(a, rc);
}

static json_t *skips_json(const struct uc_sys_result *r)
{
    json_t *a = json_array();
    int rc = !a;

    for (size_t i = 0; i < r->skips; i++)
        rc |= json_array_append_new(
            a, json_pack("{ss ss}", "what", r->skip[i].what, "why", r->skip[i].why));
    return done_with(a, rc);
}

static json_t *notes_json(const struct uc_sys_result *r)
{
    json_t *a = json_array();
    int rc = !a;

    for (size_t i = 0; i < r->notes; i++)
        rc |= json_array_append_new(a, json_string(r->note[i]));
    return done_with(a, rc);
}

static json_t *experiment_json(const struct uc_syscalls_done *d, bool samples)
{
    const struct uc_sys_result *r = &d->result;

    return json_pack("{ss ss so so so so so}", "name", d->experiment->name, "summary",
                     d->experiment->summary, "rows", rows_json(r, samples), "comparisons",
                     pairs_json(r), "figures", figures_json(r), "skipped", skips_json(r), "notes",
                     notes_json(r));
}

json_t *uc_syscalls_json(const struct uc_session *s, const struct uc_syscalls_done *done, size_t n,
                         bool samples)
{
    struct utsname u;
    json_t *list = json_array();
    int rc = !list || uname(&u);

    for (size_t i = 0; i < n && !rc; i++)
        rc |= json_array_append_new(list, experiment_json(&done[i], samples));
    if (rc)
        return done_with(list, rc);
    return json_pack("{ss so so ss so}", "tool", UC_TOOL, "cpu", uc_json_string(s->cpu.key),
                     "kernel", uc_json_string(u.release), "libc", gnu_get_libc_version(),
                     "experiments", list);
}
