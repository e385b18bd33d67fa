/* Start-up cost and slope of every strategy, as a profile keeps them. */
#include <errno.h>

#include "profile/json_io.h"
#include "profile/profile.h"

static json_t *interval_json(const struct uc_estimate *e, double times)
{
    return json_pack("[oo]", uc_json_number(e->lo * times, 4), uc_json_number(e->hi * times, 4));
}

static json_t *region_json(const struct uc_slope *x, enum uc_unit unit)
{
    if (!x->measured)
        return json_null();
    return json_pack("{sI sI sI so so so so so so}", "sizes", (json_int_t)x->sizes, "from",
                     (json_int_t)x->from, "to", (json_int_t)x->to, "start",
                     uc_json_number(x->start.mid, 4), "start_interval", interval_json(&x->start, 1),
                     "per_kib", uc_json_number(1024 * x->byte.mid, 4), "per_kib_interval",
                     interval_json(&x->byte, 1024), "gb_s",
                     unit == UC_NS ? uc_json_number(uc_slope_gb_s(x->byte.mid), 4) : json_null(),
                     "off", uc_json_number(x->off, 3));
}

static json_t *row_json(const struct uc_slopes_row *row, enum uc_unit unit)
{
    json_t *o = json_object();

    for (int r = 0; r < UC_REGIONS && o; r++)
        if (json_object_set_new(o, uc_region_name[r], region_json(&row->region[r], unit))) {
            json_decref(o);
            o = NULL;
        }
    return o;
}

json_t *uc_slopes_to_json(const struct uc_slopes *s)
{
    json_t *rows = json_object();
    int rc = !rows;

    for (size_t i = 0; i < s->n; i++)
        rc |= json_object_set_new(rows, s->v[i].strategy, row_json(&s->v[i], s->unit));
    if (rc) {
        json_decref(rows);
        return NULL;
    }
    return json_pack("{ss so so so so}", "unit", uc_unit_name[s->unit], "l1d",
                     uc_json_size(s->o.l1d, 0), "l2", uc_json_size(s->o.l2, 0), "l3",
                     uc_json_size(s->o.l3, 0), "strategies", rows);
}

static bool any_measured(const struct uc_slopes *s)
{
    for (size_t i = 0; i < s->n; i++)
        for (int r = 0; r < UC_REGIONS; r++)
            if (s->v[i].region[r].measured)
                return true;
    return false;
}

int uc_profile_set_slopes(struct uc_profile *p, const struct uc_slope_options *o)
{
    struct uc_slopes s;
    int rc = uc_slopes_fit(&p->cells, o, &s);

    if (rc)
        return rc;
    json_decref(p->slopes);
    p->slopes = any_measured(&s) ? uc_slopes_to_json(&s) : NULL;
    if (any_measured(&s) && !p->slopes)
        rc = -ENOMEM;
    uc_slopes_free(&s);
    return rc;
}
