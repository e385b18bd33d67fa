/* What a run found, on stdout, in 100 columns. Every figure names what it is. */
#include "cli/tune.h"

#include <gnu/libc-version.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/output.h"
#include "cli/slopes.h"

/* Where a range ends; it begins where the one above it does. */
static void range_text(size_t hi, bool first, char *buf, size_t cap)
{
    char a[UC_SIZE_TEXT];

    if (hi == SIZE_MAX)
        snprintf(buf, cap, first ? "all sizes" : "above");
    else
        snprintf(buf, cap, "to %s", uc_size_text(hi, a));
}

/* Why a range has its strategy although another one was faster where both were measured. */
static const char *against_faster(const struct uc_profile_entry *e, const struct uc_segment *s)
{
    const struct ucopy_strategy *other = ucopy_find(s->runner_up);
    size_t last = s->max == SIZE_MAX ? s->measured_to : s->max;

    if (e->whole && s == e->ladder.segment) /* timed beside others from end to end */
        return "by the whole ladder's cost";
    if (other && (other->max < last || (s > e->ladder.segment && other->min > s[-1].max + 1)))
        return "the other serves a part";
    for (size_t i = 0; i < e->barred_n; i++)
        if (!strcmp(e->barred[i].strategy, s->runner_up) && e->barred[i].from <= last &&
            (s == e->ladder.segment || e->barred[i].to > s[-1].max))
            return "the other is barred in it";
    return "by the cost of all ranges";
}

static void sure_text(const struct uc_profile_entry *e, const struct uc_segment *s, char *buf,
                      size_t cap)
{
    char a[UC_SIZE_TEXT], b[UC_SIZE_TEXT];

    if (!s->runner_up[0])
        snprintf(buf, cap, "no other all through it");
    else if (s->tie)
        snprintf(buf, cap, "tie: the simpler one");
    else if (s->margin < 1)
        snprintf(buf, cap, "%s", against_faster(e, s));
    else if (s->max == SIZE_MAX)
        snprintf(buf, cap, "measured to %s", uc_size_text(s->measured_to, a));
    else if (!s->bracketed)
        snprintf(buf, cap, "open; measured to %s", uc_size_text(s->measured_to, a));
    else if (s->lo)
        snprintf(buf, cap, "crosses %s to %s", uc_size_text(s->lo, a), uc_size_text(s->hi, b));
    else
        snprintf(buf, cap, "no spread given");
}

/* Over the fixed sizes of the range, all consumers with cells, geometric mean. */
static double range_gain(const struct uc_tune *t, enum uc_entry entry, size_t lo, size_t hi)
{
    double logs = 0;
    size_t n = 0;

    for (int k = 0; k < UC_CONSUMER_COUNT; k++) {
        struct uc_gain g = uc_tune_gain(&t->proof, entry, UC_CALLED, (enum uc_consumer)k, UC_FIXED,
                                        UC_RANDOM, lo, hi);
        if (g.n) {
            logs += (double)g.n * log(g.geomean);
            n += g.n;
        }
    }
    return n ? exp(logs / (double)n) : NAN;
}

static void print_entry(const struct uc_tune *t, enum uc_entry entry)
{
    const struct uc_ladder *l = &t->profile.entry[entry].ladder;
    size_t lo = 0;

    printf("\n%s\n%-10s %-25s %-6s %-29s %s\n",
           entry == UC_COPY ? "copy (dst used soon)" : "nocache (dst not used)", "size", "strategy",
           "x libc", "runner-up, % slower", "how sure");
    for (size_t i = 0; i < l->n; i++) {
        const struct uc_segment *s = &l->segment[i];
        char range[64], sure[96], runner[64] = "", gain[16] = "-";
        double g = range_gain(t, entry, lo, s->max);
        range_text(s->max, !i, range, sizeof(range));
        sure_text(&t->profile.entry[entry], s, sure, sizeof(sure));
        if (s->runner_up[0])
            snprintf(runner, sizeof(runner), "%s %+.0f", s->runner_up, 100 * (s->margin - 1));
        if (!isnan(g))
            snprintf(gain, sizeof(gain), "%.2f", g);
        printf("%-10s %-25s %-6s %-29s %s\n", range, s->strategy, gain, runner, sure);
        if (s->guard.test[0])
            printf("           but %s at page distance %ld to %ld\n", s->guard.otherwise,
                   s->guard.lo, s->guard.hi);
        lo = s->max == SIZE_MAX ? lo : s->max + 1;
    }
}

static void print_regret(const struct uc_tune *t, enum uc_entry entry)
{
    const struct uc_regret *r = &t->regret[entry];
    char at[UC_SIZE_TEXT];

    printf("  %-8s mean %.1f %%, worst %.1f %% at %s; at %zu of %zu sizes the interval lies above "
           "10 %%\n",
           uc_entry_name[entry], 100 * r->mean, 100 * r->worst, uc_size_text(r->worst_at, at),
           r->above_bound, r->sizes);
}

/* How sizes follow each other: one repeated, mixed, mixed in an order that the predictor learns. */
static const struct {
    const char *word;
    enum uc_mix mix;
    enum uc_order order;
} sizes[] = {{"fixed", UC_FIXED, UC_RANDOM},
             {"mixed", UC_BAND, UC_RANDOM},
             {"learned", UC_BAND, UC_LEARNED}};

static void print_gain_line(const struct uc_tune *t, enum uc_form form, enum uc_consumer k,
                            size_t of, enum uc_entry entry)
{
    bool fixed = sizes[of].mix == UC_FIXED;
    struct uc_gain g = uc_tune_gain(&t->proof, entry, form, k, sizes[of].mix, sizes[of].order,
                                    fixed ? 1 : 0, SIZE_MAX);
    char at[UC_SIZE_TEXT], slower[80] = "";

    if (!g.n)
        return;
    if (g.slower)
        snprintf(slower, sizeof(slower), "; slower than libc at %zu of %zu", g.slower, g.n);
    printf("  %-8s %-8s %-6s %-8s %6.2f  %5.2f at %s%s%s\n", uc_entry_name[entry],
           uc_form_name[form], uc_consumer_name[k], sizes[of].word, g.geomean, g.worst,
           fixed ? "" : "0 to ", uc_size_text(g.worst_size, at), slower);
}

static void print_gains(const struct uc_tune *t)
{
    printf("\nGain over glibc %s memcpy (libc time / generated time; inlined: built with "
           "-march=native)\n"
           "  entry    form     dst is sizes      mean  worst\n",
           gnu_get_libc_version());
    for (int form = UC_CALLED; form <= UC_INLINE; form++)
        for (int k = 0; k < UC_CONSUMER_COUNT; k++)
            for (size_t of = 0; of < sizeof(sizes) / sizeof(sizes[0]); of++)
                for (int e = 0; e < UC_ENTRY_COUNT; e++)
                    print_gain_line(t, (enum uc_form)form, (enum uc_consumer)k, of,
                                    (enum uc_entry)e);
}

/* "avx2_loop_x4 to 8 MiB, avx2_stream_x4 above" */
static void put_ladder(const json_t *segments, FILE *out)
{
    for (size_t i = 0; i < json_array_size(segments); i++) {
        const json_t *s = json_array_get(segments, i), *max = json_object_get(s, "max");
        char end[UC_SIZE_TEXT];
        fprintf(out, "%s%s", i ? ", " : "", json_string_value(json_object_get(s, "strategy")));
        if (json_is_integer(max))
            fprintf(out, " to %s", uc_size_text((size_t)json_integer_value(max), end));
        else
            fputs(i ? " above" : " for all sizes", out);
    }
}

static void print_other_choice(const char *consumer, const json_t *other)
{
    double gain = json_number_value(json_object_get(other, "gain"));
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    if (!f)
        return;
    fprintf(f, "  %-5s %.0f %% cheaper by ", consumer, 100 * (1 - 1 / gain));
    put_ladder(json_object_get(other, "segments"), f);
    fclose(f);
    uc_print_wrapped(text ? text : "", 6, stdout);
    free(text);
}

static void print_limit(const char *entry, const char *limit, const json_t *at)
{
    const json_t *ratio = json_object_get(at, "next_over_chosen");
    size_t i, max = strtoul(limit, NULL, 10);
    json_t *r;
    char size[UC_SIZE_TEXT];

    printf("  %-8s %-8s", entry, uc_size_text(max, size));
    json_array_foreach(ratio, i, r) if (json_is_number(r)) printf("  %5.2f", json_number_value(r));
    else printf("      -");
    putchar('\n');
}

/* Each limit where it lies. */
static void print_limits(const struct uc_tune *t)
{
    bool said = false;

    for (int e = 0; e < UC_ENTRY_COUNT; e++) {
        const char *limit;
        json_t *at;
        json_object_foreach(t->profile.entry[e].limits, limit, at)
        {
            if (!said)
                puts(
                    "\nAt the limits: time of the next strategy over that of the one in use, at one byte "
                    "less,\nat the limit itself (inclusive), and at one byte more (-: one of them does "
                    "not go there)");
            said = true;
            print_limit(uc_entry_name[e], limit, at);
        }
    }
}

static const char *limit_text(size_t n, char *buf)
{
    return n == SIZE_MAX ? "never" : uc_size_text(n, buf);
}

static void print_load(const struct uc_tune *t)
{
    size_t alone = uc_tune_streams_above(t, &t->profile.entry[UC_COPY].ladder),
           all = uc_tune_streams_above(t, &t->load);
    char a[UC_SIZE_TEXT], b[UC_SIZE_TEXT];

    if (!t->load.n)
        return;
    printf("\nWith all %u cores copying at once streaming pays above: %s", t->other_cores + 1,
           limit_text(all, a));
    printf(all == alone ? ", as for one core\n" : " (one core: %s)\n", limit_text(alone, b));
}

/* What another core wrote last has no weight: told where the choice would be another. */
static void print_shared(const struct uc_tune *t)
{
    struct uc_shared s;
    char size[UC_SIZE_TEXT];

    if (!uc_tune_shared(t, 0, &s))
        return;
    puts(
        "Where another core wrote dst last (no weight), the chosen copy's time, and the best one's");
    for (size_t i = 0; uc_tune_shared(t, i, &s); i++) {
        bool differs = s.chosen->lo > s.best->hi;
        printf("  %-8s %9.4g ns  ", uc_size_text(s.size, size), s.chosen->cost);
        if (differs)
            printf("%9.4g ns  %s\n", s.best->cost, s.best->strategy);
        else
            puts("no other is surely better");
    }
}

static void print_company(const struct uc_tune *t)
{
    if (!t->other_cores)
        puts("\nOther cores: not timed, this process may use one core alone");
    print_load(t);
    print_shared(t);
}

/* Where the choice would be another one if dst were always used in one way. */
static void print_consumers(const struct uc_tune *t)
{
    const json_t *of = t->profile.entry[UC_COPY].consumers;
    const char *name, *sep = "";
    json_t *other;

    if (!of)
        return;
    puts("\nFor one consumer alone (--consumer makes a variant tuned for it), copy would be");
    json_object_foreach((json_t *)of, name, other) if (!json_is_null(other))
    {
        print_other_choice(name, other);
    }
    fputs("  ", stdout);
    json_object_foreach((json_t *)of, name, other) if (json_is_null(other))
    {
        printf("%s%s", sep, name);
        sep = ", ";
    }
    puts(*sep ? ": the same, or no more than the margin cheaper" : "every one: another");
}

static void print_explanation(enum uc_entry e, const json_t *row, bool first)
{
    const json_t *max = json_object_get(row, "max"), *counted = json_object_get(row, "sizes");
    size_t lo = (size_t)json_integer_value(json_array_get(counted, 0)),
           hi = (size_t)json_integer_value(json_array_get(counted, 1));
    char range[64], a[UC_SIZE_TEXT], text[1200];

    range_text(json_is_integer(max) ? (size_t)json_integer_value(max) : SIZE_MAX, first, range,
               sizeof(range));
    snprintf(text, sizeof(text), "  %s %s, %s %s: %s", uc_entry_name[e], range,
             hi > lo ? "mixed to" : "at", uc_size_text(hi, a),
             json_string_value(json_object_get(row, "text")));
    uc_print_wrapped(text, 6, stdout);
}

/* Why the chosen copies win, each in one line; or why nobody can tell. */
static void print_explanations(const struct uc_tune *t)
{
    char text[320];

    if (!t->counted) {
        snprintf(text, sizeof(text), "No hardware counters explain the choices: %s",
                 t->no_counters);
        putchar('\n');
        uc_print_wrapped(text, 6, stdout);
        return;
    }
    puts(
        "\nBy hardware counters, user mode, apart from timing; copy with dst not read, nocache with a "
        "warm\nset read after it; a call of the chosen copy against its runner-up's");
    for (int e = 0; e < UC_ENTRY_COUNT; e++) {
        const json_t *rows = json_object_get(t->profile.entry[e].counters, "segments"), *row;
        size_t i;
        json_array_foreach(rows, i, row)
            print_explanation((enum uc_entry)e, row, t->profile.entry[e].ladder.n == 1);
    }
}

#define MOST_NOTES 6

/* Is the strategy the chosen one at that size? */
static bool chosen_at(const struct uc_ladder *l, const char *strategy, size_t size)
{
    return !strcmp(uc_ladder_segment(l, size)->strategy, strategy);
}

/* What kept a fast strategy out, and sizes at which a chosen one falls out of line; the profile has
 * them all. */
static void print_notes(const struct uc_tune *t)
{
    for (int e = 0; e < UC_ENTRY_COUNT; e++) {
        const struct uc_profile_entry *p = &t->profile.entry[e];
        for (size_t i = 0; i < p->barred_n && i < MOST_NOTES; i++) {
            char text[256];
            snprintf(text, sizeof(text), "  barred from %s, %zu to %zu: %s (%s)", uc_entry_name[e],
                     p->barred[i].from, p->barred[i].to, p->barred[i].strategy, p->barred[i].why);
            uc_print_wrapped(text, 6, stdout);
        }
        if (p->barred_n > MOST_NOTES)
            printf("  barred from %s: %zu more, in the profile\n", uc_entry_name[e],
                   p->barred_n - MOST_NOTES);
        for (size_t i = 0; i < p->anomaly_n; i++)
            if (p->anomaly[i].ratio > 1 &&
                chosen_at(&p->ladder, p->anomaly[i].strategy, p->anomaly[i].size))
                printf("  out of line: %s at %zu bytes, %.2f times its neighbours\n",
                       p->anomaly[i].strategy, p->anomaly[i].size, p->anomaly[i].ratio);
    }
}

static void print_prior(const struct uc_tune *t)
{
    char text[256];

    for (int e = 0; e < UC_ENTRY_COUNT; e++) {
        if (!t->has_prior || t->kept || t->stood[e] || !(t->prior_loss[e] > 0))
            continue;
        snprintf(text, sizeof(text),
                 "%s changed: on these readings the decision before costs %.1f %% over the best at "
                 "each size, this one %.1f %%",
                 uc_entry_name[e], 100 * t->prior_loss[e], 100 * t->new_loss[e]);
        uc_print_wrapped(text, 6, stdout);
    }
}

/* Is this the first range that the strategy serves, of both entries? */
static bool first_use(const struct uc_tune *t, int entry, size_t segment)
{
    const char *strategy = t->profile.entry[entry].ladder.segment[segment].strategy;

    for (int e = 0; e <= entry; e++) {
        const struct uc_ladder *l = &t->profile.entry[e].ladder;
        for (size_t i = 0; i < (e < entry ? l->n : segment); i++)
            if (!strcmp(l->segment[i].strategy, strategy))
                return false;
    }
    return true;
}

/* One line a chosen strategy; the profile has all of them, with their intervals. */
static void print_slopes(const struct uc_tune *t)
{
    struct uc_slope_options o = uc_tune_slope_options(t);
    struct uc_slopes s;

    if (uc_slopes_fit(&t->cells, &o, &s))
        return;
    uc_slopes_print_brief(&s, NULL);
    for (int e = 0; e < UC_ENTRY_COUNT; e++) {
        const struct uc_ladder *l = &t->profile.entry[e].ladder;
        for (size_t i = 0; i < l->n; i++) {
            const struct uc_slopes_row *row = uc_slopes_find(&s, l->segment[i].strategy);
            if (row && first_use(t, e, i))
                uc_slopes_print_brief(&s, row);
        }
    }
    uc_slopes_free(&s);
}

static const char *wide_isa(const char *strategy)
{
    uint32_t isa = ucopy_find(strategy)->isa;
    return isa & UCOPY_ISA_AVX512BW ? "AVX-512" : "AVX2";
}

static void print_grade(const struct uc_grade *g)
{
    char text[2048];
    size_t n = (size_t)snprintf(text, sizeof(text), "grade %c", g->letter);

    for (size_t i = 0; i < g->reasons && n < sizeof(text); i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", i ? "; " : ": ", g->reason[i]);
    uc_print_wrapped(text, 6, stdout);
}

/* What `syscalls --save` put into the profile before this run stays in it. */
static void print_syscalls(const struct uc_tune *t)
{
    if (t->profile.syscalls)
        puts("\nWhat system calls cost here, measured before, stays in the profile "
             "(ucopy-tune syscalls --save)");
}

void uc_tune_summary(const struct uc_tune *t)
{
    printf("%s: %s, CPU %d\n", t->session.cpu.key, t->session.cpu.name, t->session.pu);
    print_grade(&t->grade);
    printf("%lu readings, %lu dropped; weights: %s\n", t->facts.readings, t->facts.dropped,
           t->weights.name);
    for (int e = 0; e < UC_ENTRY_COUNT; e++)
        print_entry(t, (enum uc_entry)e);
    const struct uc_profile_entry *copy = &t->profile.entry[UC_COPY];
    if (copy->inline_baseline.strategy[0])
        printf("inlined to %zu: %s\n", copy->inline_baseline.max, copy->inline_baseline.strategy);
    if (copy->inline_wide.strategy[0] &&
        strcmp(copy->inline_wide.strategy, copy->inline_baseline.strategy) != 0)
        printf("inlined to %zu where the compiler may use %s: %s\n", copy->inline_wide.max,
               wide_isa(copy->inline_wide.strategy), copy->inline_wide.strategy);
    printf(
        "\nRegret on fresh readings (weighted cost over that of the best strategy at each size)\n");
    for (int e = 0; e < UC_ENTRY_COUNT; e++)
        print_regret(t, (enum uc_entry)e);
    if (t->has_compiler)
        print_gains(t);
    print_slopes(t);
    print_limits(t);
    print_company(t);
    print_explanations(t);
    uc_tune_print_code(t);
    print_consumers(t);
    print_notes(t);
    print_syscalls(t);
    print_prior(t);
    if (t->kept_from_quick)
        printf(
            "\n%s is of a longer run, which a quick one does not replace;\nthe files are left as they are "
            "(--renew replaces them).\n",
            t->header_path);
    else if (t->kept)
        printf("\nThe decision in %s stands; the files are left as they are.\n", t->header_path);
    else if (!t->unwritten)
        printf("\nWrote %s and %s\n", t->header_path, t->json_path);
}
