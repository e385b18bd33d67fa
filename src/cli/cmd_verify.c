/* `ucopy-tune verify PROFILE`: does it still hold on this box? Its thresholds are timed again, and
 * an exit code tells. */
#include <errno.h>
#include <gnu/libc-version.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/msg.h"
#include "base/units.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "cli/given.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/session.h"
#include "fit/drift.h"
#include "measure/plan.h"
#include "measure/sweep.h"
#include "measure/verify.h"

/* Seconds of timing; with the caches' chase, the clock and the checks a run stays under 15. */
#define BUDGET 10.5
#define QUICK_BUDGET 3.0
/* src and dst of this size and the rest stay under 600 MB. */
#define MOST_BYTES ((size_t)96 << 20)
/* The chase that tells the caches, as the tuning run does it. */
#define CHASE_BYTES ((size_t)256 << 20)

struct verify {
    const struct uc_options *o;
    const char *path;
    struct uc_profile p;
    struct uc_weights weights;
    struct uc_session session;
    struct uc_fit_strategy *known;
    size_t known_count;
    struct uc_drift_item item[UC_ENTRY_COUNT][UC_DRIFT_ITEMS];
    size_t items[UC_ENTRY_COUNT];
    unsigned failed; /* strategies that failed their check */
};

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
    struct verify *v = state->input;

    if (key != ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    if (v->path)
        return uc_usage("one PROFILE at a time, given '%s' and '%s'", v->path, arg);
    v->path = arg;
    return 0;
}

/* ---- is it this box's at all? ---- */

/* Vendor, family and model, without the kind of core. */
static size_t model_length(const char *key)
{
    size_t n = strlen(key);

    return n > 2 && key[n - 2] == '-' && (key[n - 1] == 'p' || key[n - 1] == 'e') ? n - 2 : n;
}

static bool same_model(const char *a, const char *b)
{
    return model_length(a) == model_length(b) && !strncmp(a, b, model_length(a));
}

static int foreign(const struct verify *v, const struct uc_cpu *here)
{
    uc_error("%s is of %s%s%s, and this CPU is %s%s%s: nothing was timed", v->path, v->p.cpu.key,
             *v->p.cpu.name ? ", " : "", v->p.cpu.name, here->key, *here->name ? ", " : "",
             here->name);
    return UC_EXIT_MACHINE;
}

/* Before anything is waited for or pinned; which kind of core it is shows when pinned. */
static int check_model(const struct verify *v)
{
    struct uc_cpu here;
    int rc = uc_cpu_identify(&here);

    if (!v->p.has_cpu) {
        uc_error("%s names no CPU: there is nothing to hold this one against", v->path);
        return UC_EXIT_USAGE;
    }
    if (rc) {
        uc_error("cannot identify this CPU: %s", strerror(-rc));
        return UC_EXIT_MACHINE;
    }
    return same_model(v->p.cpu.key, here.key) ? 0 : foreign(v, &here);
}

static int known_here(const char *name, void *unknown)
{
    if (ucopy_find(name))
        return 0;
    *(const char **)unknown = name;
    return 1;
}

static int check_strategies(const struct verify *v)
{
    const char *unknown = NULL, *stale = uc_profile_stale(&v->p);

    if (uc_profile_each_strategy(&v->p, known_here, &unknown)) {
        uc_error("%s: this program knows no strategy '%s' and cannot time it", v->path, unknown);
        return UC_EXIT_USAGE;
    }
    if (stale)
        uc_warn("%s: %s has changed since it was measured; what is timed is this program's",
                v->path, stale);
    return 0;
}

static int check_here(const struct verify *v)
{
    const struct uc_session *s = &v->session;
    uint32_t lacking = uc_given_isa(&v->p) & ~s->isa;
    char names[128];

    if (strcmp(v->p.cpu.key, s->cpu.key) != 0)
        return foreign(v, &s->cpu);
    if (!lacking)
        return 0;
    uc_error("%s needs what is missing or disabled on this CPU (%s): %s; nothing was timed",
             v->path, s->cpu.key, ucopy_isa_text(lacking, names, sizeof(names)));
    return UC_EXIT_MACHINE;
}

/* ---- timing ---- */

static size_t top_of(const struct uc_ladder *l)
{
    size_t measured = l->n ? l->segment[l->n - 1].measured_to : 0;

    return measured > ((size_t)64 << 20) && measured <= MOST_BYTES ? measured : (size_t)64 << 20;
}

/* Bands price a range that begins at or below 4 KiB by sizes up to its end. */
static int add_bands(struct uc_plan *plan, const struct uc_plan_options *o,
                     const struct uc_ladder *l)
{
    int rc = 0;
    size_t done = uc_band_count, first = 0;

    for (size_t i = 0; i < l->n && first <= UC_SMALL_MAX && !rc; i++) {
        size_t b = 0;
        while (b + 1 < uc_band_count && uc_band_end[b] < l->segment[i].max)
            b++;
        if (b != done)
            rc = uc_plan_add_band(plan, o, b);
        done = b;
        first = l->segment[i].max + 1;
    }
    return rc;
}

static int make_plan(const struct verify *v, enum uc_entry entry, struct uc_plan *plan)
{
    const struct uc_ladder *l = &v->p.entry[entry].ladder;
    struct uc_plan_options o = {.caches = &v->session.caches, .weights = &v->weights};
    size_t size[UC_DRIFT_SIZES], n = uc_drift_sizes(l, top_of(l), size);
    int rc = 0;

    for (size_t i = 0; i < n && !rc; i++)
        rc = uc_plan_add_size(plan, &o, entry, size[i]);
    if (!rc && entry == UC_COPY)
        rc = add_bands(plan, &o, l);
    return rc;
}

/* Every strategy of the ladder and every runner-up that can be had here, each at the sizes at which
 * it is asked for. Bands begin at 0. */
static size_t make_subjects(const struct verify *v, enum uc_entry entry, struct uc_subject *u)
{
    const struct uc_ladder *l = &v->p.entry[entry].ladder;
    size_t n = 0, lo, hi;

    for (size_t i = 0; i < ucopy_strategy_count && n < UC_DRIFT_ITEMS; i++) {
        const struct ucopy_strategy *s = &ucopy_strategies[i];
        if ((s->isa & ~v->session.isa) || !uc_drift_span(l, s->name, &lo, &hi))
            continue;
        u[n] = uc_subject_called(s);
        if (lo > UC_SMALL_MAX && lo > u[n].min)
            u[n].min = lo;
        if (hi > UC_SMALL_MAX && hi < u[n].max)
            u[n].max = hi;
        n++;
    }
    return n;
}

static int check_subjects(struct verify *v, const struct uc_subject *u, size_t n,
                          const struct uc_plan *plan)
{
    size_t *size = malloc((plan->n + 1) * sizeof(*size)), sizes = 0;
    struct uc_verify_failure f;
    int rc = size ? 0 : -ENOMEM;

    for (size_t i = 0; i < plan->n && !rc; i++)
        if (plan->place[i].mix == UC_FIXED && (!sizes || size[sizes - 1] != plan->place[i].size))
            size[sizes++] = plan->place[i].size;
    for (size_t k = 0; k < n && rc >= 0; k++) {
        rc = uc_verify_strategy(ucopy_find(u[k].name), size, sizes, &f);
        if (rc > 0) {
            uc_error("%s fails its check: %s (size %zu, dst mod 64 = %u, src mod 64 = %u)",
                     u[k].name, f.what, f.size, f.dst_align, f.src_align);
            v->failed++;
            rc = 0;
        }
    }
    free(size);
    return rc;
}

static int time_entry(const struct verify *v, const struct uc_plan *plan,
                      const struct uc_subject *u, size_t n, double seconds, struct uc_cells *cells)
{
    struct uc_sweep *sweep = NULL;
    struct uc_sweep_options so = {
        .weights = &v->weights,
        .caches = &v->session.caches,
        .clock = (struct uc_clock *)&v->session.clock,
        .seconds = seconds,
        .group_share = {[UC_SMALL] = .25,
                        [UC_BANDS] = .2,
                        [UC_MIDDLE] = .1,
                        [UC_LARGE] = .45,
                        [UC_EVICTS] = .55},
        .seed = v->o->seed,
        .what = "timing the thresholds again",
        .done_after = 1,
    };
    int rc = uc_sweep_new(&sweep, plan, u, n, &so);

    if (!rc)
        rc = uc_sweep_run(sweep);
    if (!rc)
        rc = uc_sweep_cells(sweep, cells);
    uc_sweep_free(sweep);
    return rc;
}

static int judge(struct verify *v, enum uc_entry entry, const struct uc_cells *cells)
{
    const struct uc_fit_options fo = {
        .weights = &v->weights,
        .entry = entry,
        .environment = v->p.environment,
        .l1d = v->session.caches.l1d.bytes,
        .l2 = v->session.caches.l2.bytes,
        .strategies = v->known,
        .strategy_count = v->known_count,
    };

    const struct uc_profile_entry *e = &v->p.entry[entry];
    return uc_drift_judge(cells, &fo, &e->ladder, e->barred, e->barred_n, v->item[entry],
                          &v->items[entry]);
}

static int verify_entry(struct verify *v, enum uc_entry entry, double seconds)
{
    struct uc_subject *u = calloc(UC_DRIFT_ITEMS, sizeof(*u));
    struct uc_plan plan = {0};
    struct uc_cells cells = {0};
    int rc = u ? make_plan(v, entry, &plan) : -ENOMEM;
    size_t n = rc ? 0 : make_subjects(v, entry, u);

    if (!rc)
        rc = check_subjects(v, u, n, &plan);
    if (!rc)
        rc = time_entry(v, &plan, u, n, seconds, &cells);
    if (!rc)
        rc = judge(v, entry, &cells);
    uc_cells_free(&cells);
    uc_plan_free(&plan);
    free(u);
    return rc;
}

static int verify_all(struct verify *v)
{
    static const double share[UC_ENTRY_COUNT] = {[UC_COPY] = .6, [UC_NOCACHE] = .4};
    double budget = v->o->budget > 0 ? v->o->budget : v->o->quick ? QUICK_BUDGET : BUDGET;
    int rc = 0;

    for (int e = 0; e < UC_ENTRY_COUNT && !rc; e++)
        if (v->p.entry[e].present)
            rc = verify_entry(v, (enum uc_entry)e, share[e] * budget);
    uc_progress_end();
    if (rc == -EINTR) {
        uc_error("interrupted: no verdict");
        return uc_session_interrupted_code();
    }
    if (rc)
        uc_error("no memory to time %s: %s", v->path, strerror(-rc));
    return rc ? UC_EXIT_MACHINE : 0;
}

/* ---- what it says ---- */

/* What has changed on this box since, of that which a profile tells. */
struct change {
    const char *what, *then;
    char now[128];
};

static size_t changes(const struct verify *v, struct change c[3])
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

static unsigned count(const struct verify *v, bool limit, enum uc_drift verdict)
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

static void print_entry(const struct verify *v, enum uc_entry entry)
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

static void print_text(const struct verify *v)
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
           count(v, true, UC_HOLDS), count(v, true, UC_DRIFTED), count(v, true, UC_UNSURE),
           count(v, false, UC_HOLDS), count(v, false, UC_DRIFTED), count(v, false, UC_UNSURE));
}

static void csv_number(double x)
{
    if (isfinite(x))
        printf(",%.4f", x);
    else
        putchar(',');
}

static void print_csv(const struct verify *v)
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

static json_t *items_json(const struct verify *v)
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

static json_t *changes_json(const struct verify *v)
{
    struct change c[3];
    size_t n = changes(v, c);
    json_t *o = json_object();

    for (size_t i = 0; i < n; i++)
        json_object_set_new(o, c[i].what,
                            json_pack("{s:s, s:s}", "then", c[i].then, "now", c[i].now));
    return o;
}

static int print_json(const struct verify *v)
{
    json_t *o = json_pack(
        "{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:{s:I, s:I, s:I}}", "tool", UC_TOOL, "file", v->path,
        "key", v->p.cpu.key, "environment", uc_given_environment(&v->p), "variant",
        uc_json_string(v->p.variant), "changed", changes_json(v), "entries", items_json(v),
        "verdicts", "holds", (json_int_t)(count(v, true, UC_HOLDS) + count(v, false, UC_HOLDS)),
        "drifted", (json_int_t)(count(v, true, UC_DRIFTED) + count(v, false, UC_DRIFTED)), "unsure",
        (json_int_t)(count(v, true, UC_UNSURE) + count(v, false, UC_UNSURE)));
    return uc_print_json(o);
}

static int print(const struct verify *v, int format)
{
    if (format == 1)
        return print_json(v);
    if (format == 2)
        print_csv(v);
    else
        print_text(v);
    return 0;
}

static int answer(const struct verify *v)
{
    bool drifted = count(v, true, UC_DRIFTED) + count(v, false, UC_DRIFTED);
    bool unsure = count(v, true, UC_UNSURE) + count(v, false, UC_UNSURE);

    return drifted || v->failed || (unsure && v->o->strict) ? UC_EXIT_NO : UC_EXIT_OK;
}

/* ---- the command ---- */

static int run(struct verify *v, int format)
{
    int rc = check_model(v);

    if (!rc)
        rc = check_strategies(v);
    if (!rc && !v->p.hashes)
        uc_note("%s alone tells no intervals; its profile beside it would", v->path);
    if (!rc && !uc_given_weights(&v->p, &v->weights))
        uc_warn("%s: chosen by weights that this program does not know; the default ones judge",
                v->path);
    if (!rc)
        rc = uc_session_open(&v->session, v->o, CHASE_BYTES);
    if (rc)
        return rc;
    v->known = uc_choice_strategies(v->p.environment, &v->known_count);
    rc = v->known ? check_here(v) : UC_EXIT_MACHINE;
    if (!rc)
        rc = verify_all(v);
    if (!rc)
        rc = print(v, format);
    if (!rc)
        rc = answer(v);
    uc_session_close(&v->session);
    free(v->known);
    return rc;
}

static int verify(int argc, char **argv)
{
    static const char *const formats[] = {"text", "json", "csv"};
    static const struct argp own = {
        .parser = parse_own,
        .args_doc = "PROFILE",
        .doc = "Does a profile still hold on this box? PROFILE is a generated header or its JSON. "
               "Around each limit T the strategies of both sides are timed again at T - 1, T and "
               "T + 1, and in each range the chosen one against its runner-up; each limit and "
               "range holds, has drifted (then what would be right now is told) or stays unsure. "
               "--format text (default), json or csv. Exit codes: 0 all of it holds or is unsure; "
               "1 something drifted, or is unsure under --strict; 3 this CPU is another, and "
               "nothing was timed."
               "\v"
               "Example: ucopy-tune verify profiles/amd-1a-02.h",
    };
    struct uc_options o;
    struct verify *v = calloc(1, sizeof(*v));

    if (!v)
        return UC_EXIT_MACHINE;
    v->o = &o;
    int rc = uc_options_parse(&o, UC_OPT_RUN | UC_OPT_FORMAT | UC_OPT_STRICT, &own, v, argc, argv);
    int format = rc || !o.format ? 0 : uc_option_word("--format", o.format, formats, 3);

    if (rc) {
        free(v);
        return rc - 1;
    }
    if (!v->path)
        uc_usage("verify needs a PROFILE");
    rc = v->path && format >= 0 ? uc_given_read(v->path, &v->p) : UC_EXIT_USAGE;
    if (!rc)
        rc = run(v, format);
    uc_profile_free(&v->p);
    free(v);
    return rc;
}

const struct uc_command uc_command_verify = {
    .name = "verify",
    .summary = "does a profile still hold on this box?",
    .run = verify,
};
