/* What `compare` found, as CSV and JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cli/command.h"
#include "cli/compare.h"
#include "cli/given.h"
#include "cli/output.h"

/* ---- CSV: one kind of row a table, in one list of columns ---- */

static void csv_size(size_t n)
{
    if (n == SIZE_MAX)
        putchar(',');
    else
        printf(",%zu", n);
}

static void csv_absent(size_t profile, const char *name, const char *why, void *state)
{
    printf("absent,%s,,%c,,,,%s,,,,,,%s\n", (const char *)state, uc_compare_label(profile), name,
           why);
}

static void csv_steps(const struct uc_compare *c, const struct uc_compare_table *t)
{
    for (size_t s = 0; s < t->steps; s++)
        for (size_t k = 0; k < t->n + uc_compare_beside_libc(c, t); k++) {
            printf("step,%s,%s,", uc_compare_environment(t), uc_entry_name[t->entry]);
            if (k < t->n)
                putchar(uc_compare_label(t->who[k]));
            else
                printf("libc");
            printf(",");
            csv_size(s ? t->end[s - 1] + 1 : 0);
            csv_size(t->end[s]);
            printf(",%s,,,,,,%s\n",
                   k < t->n ? uc_compare_strategy(c, t, k, s) : uc_compare_libc(c, t, s),
                   uc_compare_differs(c, t, s) ? "differs" : "");
        }
}

static void csv_limits(const struct uc_compare_table *t)
{
    char text[UC_SIZE_TEXT];

    for (size_t i = 0; i < t->limits; i++)
        for (size_t k = 0; k < t->n; k++) {
            const struct uc_compare_limit *x = &t->limit[i];
            printf("limit,%s,%s,%c,,", uc_compare_environment(t), uc_entry_name[t->entry],
                   uc_compare_label(t->who[k]));
            csv_size(x->kind[k] == UC_AT_SIZE ? x->size[k] : SIZE_MAX);
            printf(",%s,", x->what);
            if (x->factor > 0)
                printf("%.4g", x->factor);
            printf(",,,,,%s\n", x->kind[k] == UC_AT_SIZE ? "" : uc_compare_limit_text(x, k, text));
        }
}

static void csv_losses(const struct uc_compare_table *t)
{
    char names[128];

    for (size_t row = 0; row < t->n; row++)
        for (size_t k = 0; k < t->n; k++) {
            const struct uc_compare_loss *x = &t->loss[row][k];
            if (!x->known)
                continue;
            printf("loss,%s,%s,%c,%c,,,,,%.4f,%.4f,%zu,%zu,%s%s\n", uc_compare_environment(t),
                   uc_entry_name[t->entry], uc_compare_label(t->who[row]),
                   uc_compare_label(t->who[k]), x->share.mean, x->share.worst, x->share.worst_at,
                   x->share.unmeasured, x->lacking ? "memcpy: lacks " : "",
                   ucopy_isa_text(x->lacking, names, sizeof(names)));
        }
}

void uc_compare_print_csv(const struct uc_compare *c)
{
    puts("kind,environment,entry,profile,on,first,last,what,factor,mean,worst,worst_at,unmeasured,"
         "note");
    for (size_t i = 0; i < c->n; i++)
        printf("profile,%s,,%c,,,,%s,,,,,,%s\n", uc_given_environment(&c->p[i]),
               uc_compare_label(i), c->p[i].has_cpu ? c->p[i].cpu.key : "",
               uc_given_method(&c->p[i], "grade"));
    for (size_t i = 0; i < c->tables; i++) {
        csv_steps(c, &c->table[i]);
        csv_limits(&c->table[i]);
        csv_losses(&c->table[i]);
    }
    uc_compare_each_absent(c, UCOPY_USER, csv_absent, "user");
    uc_compare_each_absent(c, UCOPY_KERNEL, csv_absent, "kernel");
    uc_print_version();
}

/* ---- JSON ---- */

static json_t *number(double x)
{
    return json_real(round(x * 1e4) / 1e4);
}

static json_t *label_json(size_t profile)
{
    return json_stringn((char[]){uc_compare_label(profile)}, 1);
}

static json_t *profile_json(const struct uc_compare *c, size_t i)
{
    const struct uc_profile *p = &c->p[i];

    return json_pack(
        "{s:o, s:s, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b}", "label",
        label_json(i), "file", c->file[i], "key", uc_json_string(p->cpu.key), "name",
        uc_json_string(p->cpu.name), "hypervisor", uc_json_string(p->cpu.hypervisor_name),
        "environment", uc_given_environment(p), "variant", uc_json_string(p->variant), "grade",
        uc_json_string(uc_given_method(p, "grade")), "kernel",
        uc_json_string(uc_given_method(p, "kernel")), "libc",
        uc_json_string(uc_given_method(p, "libc")), "microcode",
        uc_json_string(uc_given_method(p, "microcode")), "compiler",
        uc_json_string(uc_given_method(p, "compiler")), "weights",
        uc_json_string(uc_compare_weights(p)), "method", json_integer(uc_compare_method(p)),
        "complete", (int)p->complete, "edited", (int)p->digest_differs);
}

static json_t *steps_json(const struct uc_compare *c, const struct uc_compare_table *t)
{
    json_t *steps = json_array();

    for (size_t s = 0; s < t->steps; s++) {
        json_t *names = json_array();
        for (size_t k = 0; k < t->n; k++)
            json_array_append_new(names, json_string(uc_compare_strategy(c, t, k, s)));
        json_array_append_new(
            steps,
            json_pack("{s:I, s:o, s:o, s:o, s:b}", "first", (json_int_t)(s ? t->end[s - 1] + 1 : 0),
                      "last", uc_json_size(t->end[s], SIZE_MAX), "strategies", names, "libc",
                      uc_compare_beside_libc(c, t) ? json_string(uc_compare_libc(c, t, s))
                                                   : json_null(),
                      "differ", (int)uc_compare_differs(c, t, s)));
    }
    return steps;
}

static json_t *limits_json(const struct uc_compare_table *t)
{
    json_t *limits = json_array();
    char text[UC_SIZE_TEXT];

    for (size_t i = 0; i < t->limits; i++) {
        const struct uc_compare_limit *x = &t->limit[i];
        json_t *sizes = json_array();
        for (size_t k = 0; k < t->n; k++)
            json_array_append_new(sizes, x->kind[k] == UC_AT_SIZE
                                             ? json_integer((json_int_t)x->size[k])
                                             : json_string(uc_compare_limit_text(x, k, text)));
        json_array_append_new(limits,
                              json_pack("{s:s, s:o, s:o}", "what", x->what, "at", sizes, "factor",
                                        x->factor > 0 ? number(x->factor) : json_null()));
    }
    return limits;
}

static json_t *loss_json(const struct uc_compare_table *t, size_t row, size_t k)
{
    const struct uc_compare_loss *x = &t->loss[row][k];
    char names[128];

    if (!x->known)
        return json_pack("{s:o, s:o, s:n, s:n}", "profile", label_json(t->who[row]), "on",
                         label_json(t->who[k]), "mean", "worst");
    return json_pack("{s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:o}", "profile", label_json(t->who[row]),
                     "on", label_json(t->who[k]), "mean", number(x->share.mean), "worst",
                     number(x->share.worst), "worst_at", (json_int_t)x->share.worst_at, "sizes",
                     (json_int_t)x->share.sizes, "unmeasured", (json_int_t)x->share.unmeasured,
                     "lacks", uc_json_string(ucopy_isa_text(x->lacking, names, sizeof(names))));
}

static json_t *table_json(const struct uc_compare *c, const struct uc_compare_table *t)
{
    json_t *who = json_array(), *loss = json_array();

    for (size_t k = 0; k < t->n; k++)
        json_array_append_new(who, label_json(t->who[k]));
    for (size_t row = 0; row < t->n; row++)
        for (size_t k = 0; k < t->n; k++)
            json_array_append_new(loss, loss_json(t, row, k));
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "environment",
                     uc_compare_environment(t), "entry", uc_entry_name[t->entry], "profiles", who,
                     "steps", steps_json(c, t), "limits", limits_json(t), "loss", loss,
                     "one_header",
                     t->one_header < 0 ? json_null() : label_json(t->who[t->one_header]));
}

static json_t *libc_json(const struct uc_compare *c)
{
    char title[48];

    if (!c->has_libc)
        return json_null();
    return json_pack("{s:s, s:o, s:o}", "name", uc_compare_libc_title(title), "rep_movsb_from",
                     uc_json_size(c->libc.rep_movsb, SIZE_MAX), "non_temporal_from",
                     uc_json_size(c->libc.non_temporal, SIZE_MAX));
}

static void absent_json(size_t profile, const char *name, const char *why, void *list)
{
    json_array_append_new(list, json_pack("{s:s, s:o, s:s}", "strategy", name, "profile",
                                          label_json(profile), "why", why));
}

json_t *uc_compare_json(const struct uc_compare *c)
{
    json_t *profiles = json_array(), *tables = json_array(), *absent = json_array();

    for (size_t i = 0; i < c->n; i++)
        json_array_append_new(profiles, profile_json(c, i));
    for (size_t i = 0; i < c->tables; i++)
        json_array_append_new(tables, table_json(c, &c->table[i]));
    uc_compare_each_absent(c, UCOPY_USER, absent_json, absent);
    uc_compare_each_absent(c, UCOPY_KERNEL, absent_json, absent);
    return json_pack("{s:s, s:o, s:o, s:o, s:o}", "tool", UC_TOOL, "profiles", profiles, "libc",
                     libc_json(c), "tables", tables, "absent", absent);
}

int uc_compare_print_json(const struct uc_compare *c)
{
    return uc_print_json(uc_compare_json(c));
}
