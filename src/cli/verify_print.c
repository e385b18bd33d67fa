/* What `verify` found, as text, CSV and JSON. */
#include "cli/verify.h"

#include <gnu/libc-version.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/units.h"
#include "cli/given.h"
#include "cli/output.h"

/* What has changed on this box since, of that which a profile tells. */
struct change {
    const char *what, *then;
    char now[128];
};

static size_t changes(const struct uc_verify_run *v, struct change c[3])
{
    struct utsname u = {0};
    size_t n = 0;
    char now[3][128];
    static const char *const key[] = {"kernel", "libc", "microcode"};

    uname(&u);
    snprintf(now[0], sizeof(now[0]), "%s", u.release);
    snprintf(now[1], sizeof(now[1]), "glibc %s", gnu_get_libc_version());
    snprintf(now[2], sizeof(now[2]), "%s", v->session.cpu.microcode);
    for (size_t i = 0; i < 3; i++) {
        const char *then = uc_given_method(&v->p, key[i]);
        if (!*then || !*now[i] || !strcmp(then, now[i]))
            continue;
        c[n].what = key[i];
        c[n].then = then;
        memcpy(c[n++].now, now[i], sizeof(now[i]));
    }
    return n;
}

unsigned uc_verify_run_count(const struct uc_verify_run *v, bool limit, enum uc_drift verdict)
{
    unsigned n = 0;

    for (int e = 0; e < UC_ENTRY_COUNT; e++)
        for (size_t i = 0; i < v->items[e]; i++)
            n += v->item[e][i].limit == limit && v->item[e][i].verdict == verdict;
    return n;
}

static void where_text(const struct uc_drift_item *d, char *buf, size_t cap)
{
    char a[UC_SIZE_TEXT], b[UC_SIZE_TEXT];

    if (d->limit)
        snprintf(buf, cap, "limit %s", uc_size_text(d->first, a));
    else if (d->last == SIZE_MAX)
        snprintf(buf, cap, "  above %s", uc_size_text(d->first ? d->first - 1 : 0, a));
    else
        snprintf(buf, cap, "  %s%s to %s", d->first ? "over " : "",
                 uc_size_text(d->first ? d->first - 1 : 0, a), uc_size_text(d->last, b));
}

/* A tenth of a per cent tells nothing of what is off by the whole, and would not fit its column. */
static int decimals(double ratio)
{
    return fabs(ratio) < 1 ? 1 : 0;
}

static void loss_text(const struct uc_drift_item *d, char *buf, size_t cap)
{
    if (!d->other[0])
        snprintf(buf, cap, "-");
    else if (isnan(d->loss) && d->limit && d->verdict == UC_HOLDS)
        snprintf(buf, cap, "no other way");
    else if (isnan(d->loss))
        snprintf(buf, cap, "not timed");
    else
        snprintf(buf, cap, "%+.*f +-%.*f %%", decimals(d->loss), 100 * d->loss,
                 decimals(d->hi - d->loss), 100 * (d->hi - d->loss));
}

static void print_now(const struct uc_drift_item *d)
{
    char a[UC_SIZE_TEXT], b[UC_SIZE_TEXT], c[UC_SIZE_TEXT];

    if (d->verdict != UC_DRIFTED)
        return;
    if (!d->limit)
        printf("      right now: %s in this range\n", d->other);
    else if (d->gone)
        printf("      right now: no limit here; %s in place of %s\n", d->other, d->chosen);
    else
        printf("      right now: a limit of %s (from %s to %s)\n", uc_size_text(d->now, a),
               uc_size_text(d->now_lo, b), uc_size_text(d->now_hi, c));
}

static void print_entry(const struct uc_verify_run *v, enum uc_entry entry)
{
    printf("\n%-24s %-8s %-25s %-25s %s\n", uc_entry_name[entry], "verdict", "in use", "against",
           "costs more");
    for (size_t i = 0; i < v->items[entry]; i++) {
        const struct uc_drift_item *d = &v->item[entry][i];
        char where[64], loss[64];
        where_text(d, where, sizeof(where));
        loss_text(d, loss, sizeof(loss));
        printf("%-24s %-8s %-25s %-25s %s\n", where, uc_drift_name[d->verdict], d->chosen,
               d->other[0] ? d->other : "no other serves it", loss);
        print_now(d);
    }
}

static void print_text(const struct uc_verify_run *v)
{
    struct change c[3];
    size_t n = changes(v, c);

    uc_print_version();
    printf("%s (%s%s%s): %s, CPU %d\n", v->p.cpu.key, uc_given_environment(&v->p),
           *v->p.variant ? ", " : "", v->p.variant, v->session.cpu.name, v->session.pu);
    for (size_t i = 0; i < n; i++)
        printf("%s then %.36s, now %.36s\n", c[i].what, c[i].then, c[i].now);
    for (int e = 0; e < UC_ENTRY_COUNT; e++)
        if (v->p.entry[e].present)
            print_entry(v, (enum uc_entry)e);
    printf("\nlimits: %u hold, %u drifted, %u unsure; ranges: %u hold, %u drifted, %u unsure\n",
           uc_verify_run_count(v, true, UC_HOLDS), uc_verify_run_count(v, true, UC_DRIFTED),
           uc_verify_run_count(v, true, UC_UNSURE), uc_verify_run_count(v, false, UC_HOLDS),
           uc_verify_run_count(v, false, UC_DRIFTED), uc_verify_run_count(v, false, UC_UNSURE));
}

static void csv_number(double x)
{
    if (isfinite(x))
        printf(",%.4f", x);
    else
        putchar(',');
}

static void print_csv(const struct uc_verify_run *v)
{
    puts("entry,kind,first,last,in_use,against,verdict,loss,lo,hi,right_now,right_now_lo,"
         "right_now_hi");
    for (int e = 0; e < UC_ENTRY_COUNT; e++)
        for (size_t i = 0; i < v->items[e]; i++) {
            const struct uc_drift_item *d = &v->item[e][i];
            printf("%s,%s,%zu,", uc_entry_name[e], d->limit ? "limit" : "range", d->first);
            if (d->last != SIZE_MAX)
                printf("%zu", d->last);
            printf(",%s,%s,%s", d->chosen, d->other, uc_drift_name[d->verdict]);
            csv_number(d->loss);
            csv_number(d->lo);
            csv_number(d->hi);
            if (d->verdict == UC_DRIFTED && d->limit && !d->gone)
                printf(",%zu,%zu,%zu\n", d->now, d->now_lo, d->now_hi);
            else
                puts(",,,");
        }
    uc_print_version();
}

static json_t *number_or_null(double x)
{
    return isfinite(x) ? json_real(round(x * 1e4) / 1e4) : json_null();
}

static json_t *now_json(const struct uc_drift_item *d)
{
    if (d->verdict != UC_DRIFTED)
        return json_null();
    if (!d->limit || d->gone)
        return json_pack("{s:n, s:s}", "limit", "strategy", d->other);
    return json_pack("{s:I, s:[I, I]}", "limit", (json_int_t)d->now, "between",
                     (json_int_t)d->now_lo, (json_int_t)d->now_hi);
}

static json_t *item_json(const struct uc_drift_item *d)
{
    return json_pack("{s:s, s:I, s:o, s:s, s:o, s:s, s:o, s:o, s:o, s:o}", "kind",
                     d->limit ? "limit" : "range", "first", (json_int_t)d->first, "last",
                     uc_json_size(d->last, SIZE_MAX), "in_use", d->chosen, "against",
                     uc_json_string(d->other), "verdict", uc_drift_name[d->verdict], "loss",
                     number_or_null(d->loss), "lo", number_or_null(d->lo), "hi",
                     number_or_null(d->hi), "right_now", now_json(d));
}

static json_t *items_json(const struct uc_verify_run *v)
{
    json_t *entries = json_object();

    for (int e = 0; e < UC_ENTRY_COUNT; e++) {
        json_t *list = v->p.entry[e].present ? json_array() : json_null();
        for (size_t i = 0; i < v->items[e]; i++)
            json_array_append_new(list, item_json(&v->item[e][i]));
        json_object_set_new(entries, uc_entry_name[e], list);
    }
    return entries;
}

static json_t *changes_json(const struct uc_verify_run *v)
{
    struct change c[3];
    size_t n = changes(v, c);
    json_t *o = json_object();

    for (size_t i = 0; i < n; i++)
        json_object_set_new(o, c[i].what,
                            json_pack("{s:s, s:s}", "then", c[i].then, "now", c[i].now));
    return o;
}

static int print_json(const struct uc_verify_run *v)
{
    json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:{s:I, s:I, s:I}}", "tool", UC_TOOL,
                          "file", v->path, "key", v->p.cpu.key, "environment",
                          uc_given_environment(&v->p), "variant", uc_json_string(v->p.variant),
                          "changed", changes_json(v), "entries", items_json(v), "verdicts", "holds",
                          (json_int_t)(uc_verify_run_count(v, true, UC_HOLDS) +
                                       uc_verify_run_count(v, false, UC_HOLDS)),
                          "drifted",
                          (json_int_t)(uc_verify_run_count(v, true, UC_DRIFTED) +
                                       uc_verify_run_count(v, false, UC_DRIFTED)),
                          "unsure",
                          (json_int_t)(uc_verify_run_count(v, true, UC_UNSURE) +
                                       uc_verify_run_count(v, false, UC_UNSURE)));
    return uc_print_json(o);
}

int uc_verify_run_print(const struct uc_verify_run *v, int format)
{
    if (format == 1)
        return print_json(v);
    if (format == 2)
        print_csv(v);
    else
        print_text(v);
    return 0;
}
