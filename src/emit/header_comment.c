/* The first lines of a header: which CPU, what the limits are and are not, and for each range the
 * strategy, the runner-up and by how much that loses. All of it stands in the first 40 lines. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "emit/header.h"

void uc_put_safe(const char *text, FILE *out)
{
    for (; *text; text++)
        fputc(isprint((unsigned char)*text) && !strchr("*\\?", *text) ? *text : '.', out);
}

static const char *string_at(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

int uc_per_cent(double ratio)
{
    char kept[32];

    snprintf(kept, sizeof kept, "%.4g", fmin(ratio, 1000));
    return 5 * (int)round(20 * (strtod(kept, NULL) - 1));
}

void uc_header_cpu(const struct uc_profile *p, FILE *out)
{
    if (!p->has_cpu) {
        fputs("a CPU that was not named", out);
        return;
    }
    fputs(p->cpu.key, out);
    if (*p->cpu.name) {
        fputs(", ", out);
        uc_put_safe(p->cpu.name, out);
    }
    if (p->cpu.hypervisor) {
        bool named = *p->cpu.hypervisor_name && strcmp(p->cpu.hypervisor_name, "unknown");
        fputs(", under ", out);
        uc_put_safe(named ? p->cpu.hypervisor_name : "a hypervisor", out);
    }
}

void uc_header_cautions(const struct uc_profile *p, FILE *out)
{
    if (!p->complete)
        fputs(" * INCOMPLETE: the run was interrupted before all was measured.\n", out);
    if (p->has_cpu && uc_cpu_emulated(&p->cpu))
        fputs(" * EMULATED: the times are those of an emulator and say nothing about any CPU.\n",
              out);
}

static void put_title(const struct uc_profile *p, FILE *out)
{
    char stem[UC_STEM];

    fputs("/* SPDX-License-Identifier: 0BSD */\n/* How to copy n bytes on ", out);
    uc_header_cpu(p, out);
    fputs(".\n * Made by ", out);
    uc_put_safe(*p->tool ? p->tool : "ucopy-tune " UC_VERSION, out);
    fprintf(out, " from %s.json: do not edit, tune again.\n",
            uc_profile_stem(p, stem, sizeof stem));
    uc_header_cautions(p, out);
}

void uc_header_promise(unsigned environment, FILE *out)
{
    fputs(
        " *\n"
        " * The limits are measured performance limits, not correctness limits: the largest size,\n"
        " * inclusive, for which a strategy was chosen. Measured in user mode with "
        "memcpy's\n"
        " * contract (buffers equal or apart, any alignment, returns dst).\n",
        out);
    if (environment == UCOPY_KERNEL)
        fputs(
            " * For the kernel: general registers and string instructions only, no target\n"
            " * attribute. No fault handling was measured and none is here: no exception table, "
            "no\n"
            " * user access. It is about speed and not correctness: with other limits the copies\n"
            " * would be as correct and, as measured on this CPU, slower or no faster.\n",
            out);
}

void uc_header_range(size_t from, size_t to, FILE *out)
{
    if (to == SIZE_MAX)
        fprintf(out, " * %9zu and above   ", from);
    else
        fprintf(out, " * %9zu to %-9zu", from, to);
}

static void put_runner_up(const struct uc_segment *s, FILE *out)
{
    int loss = uc_per_cent(s->margin);

    if (!*s->runner_up || !(s->margin > 0)) {
        fputs("no other was measured all through it", out);
        return;
    }
    fputs(s->tie ? "tie with " : "next ", out);
    uc_put_safe(s->runner_up, out);
    if (s->tie)
        return;
    if (loss > 0)
        fprintf(out, ", %d %% slower", loss);
    else if (loss < 0) /* the ladder costs least as a whole; this one is barred, or serves a part */
        fprintf(out, ", %d %% faster where both were measured", -loss);
    else
        fputs(", under 5 % slower", out);
}

static void put_bracket(const struct uc_segment *s, FILE *out)
{
    char text[UC_SIZE_TEXT];

    if (!s->bracketed)
        fprintf(out, "; not bracketed, measured to %s", uc_size_text(s->measured_to, text));
}

static void put_guard(const struct uc_guard *g, FILE *out)
{
    if (!*g->test)
        return;
    fprintf(out, "; at %s %ld to %ld ", g->test, g->lo, g->hi);
    uc_put_safe(g->otherwise, out);
}

static void put_segment(const struct uc_segment *s, size_t from, FILE *out)
{
    uc_header_range(from, s->max, out);
    fputs("  ", out);
    uc_put_safe(s->strategy, out);
    put_guard(&s->guard, out);
    fputs("; ", out);
    put_runner_up(s, out);
    put_bracket(s, out);
    fputc('\n', out);
}

const char *uc_header_title(int entry)
{
    return entry == UC_COPY ? "copy: dst is used soon" : "nocache: dst is not used soon";
}

void uc_header_ranges(const struct uc_profile *p, int entry, FILE *out)
{
    const struct uc_profile_entry *e = p->entry + entry;
    size_t from = 0;

    if (!e->present)
        return;
    fprintf(out, " * %s\n", uc_header_title(entry));
    for (size_t i = 0; i < e->ladder.n; i++) {
        put_segment(e->ladder.segment + i, from, out);
        from = e->ladder.segment[i].max + 1;
    }
}

void uc_header_evidence(const struct uc_profile *p, FILE *out)
{
    const char *weights = string_at(p->weights, "name"), *grade = string_at(p->method, "grade");

    if (!weights && !grade)
        return;
    fputs(" *", out);
    if (weights) {
        fputs(" Best by the weights named ", out);
        uc_put_safe(weights, out);
        fputc('.', out);
    }
    if (grade) {
        fputs(" Grade of the measurement: ", out);
        uc_put_safe(grade, out);
        fputc('.', out);
    }
    fputc('\n', out);
}

/* A ratio of times, rounded to a twentieth as percentages are to 5; "-" where it was not measured.
 */
static void put_ratio(const json_t *form, const char *consumer, const char *mix, FILE *out)
{
    const json_t *r =
        json_object_get(json_object_get(json_object_get(form, consumer), mix), "geomean");

    if (json_is_number(r))
        fprintf(out, "%.2f", 1 + uc_per_cent(json_number_value(r)) / 100.0);
    else
        fputc('-', out);
}

static void put_ratios(const json_t *called, const json_t *inlined, const char *title,
                       const char *mix, FILE *out)
{
    static const char *const consumer[][2] = {
        {"none", "dst not read"}, {"read", "read at once"}, {"wait", "waited for"}};

    fprintf(out, " *   %s", title);
    for (size_t i = 0; i < sizeof consumer / sizeof *consumer; i++) {
        fprintf(out, "%s %s ", i ? "," : "", consumer[i][1]);
        put_ratio(called, consumer[i][0], mix, out);
        fputs(" / ", out);
        put_ratio(inlined, consumer[i][0], mix, out);
    }
    fputc('\n', out);
}

static void put_gain(const struct uc_profile *p, FILE *out)
{
    const json_t *called = json_object_get(p->validation, "libc_gain");
    const char *libc = string_at(p->validation, "libc");

    if (!libc || !json_is_object(called))
        return;
    const json_t *inlined = json_object_get(p->validation, "libc_gain_inlined");
    fputs(" * Time of ", out);
    uc_put_safe(libc, out);
    fputs(" memcpy over that of copy, called / inlined with -march=native, geometric means:\n",
          out);
    put_ratios(called, inlined, "one size repeated:", "fixed", out);
    put_ratios(called, inlined, "mixed, to 4 KiB:  ", "band", out);
    if (json_is_object(json_object_get(json_object_get(called, "none"), "learned")))
        put_ratios(called, inlined, "the same, learned:", "learned", out);
}

/* What was given away: against the best strategy of each size, on readings that the choice did not
 * see. */
static void put_regret(const json_t *regret, const char *entry, FILE *out)
{
    const json_t *mean = json_object_get(regret, "mean"), *worst = json_object_get(regret, "worst");
    json_int_t size = json_integer_value(json_object_get(regret, "worst_size"));
    char text[UC_SIZE_TEXT];

    if (json_is_number(mean) && json_is_number(worst))
        fprintf(out,
                " * Against the best strategy of each size %s costs %d %% more, %d %% at worst (at "
                "%s).\n",
                entry, uc_per_cent(1 + json_number_value(mean)),
                uc_per_cent(1 + json_number_value(worst)), uc_size_text((size_t)size, text));
}

/* ---- barred for their worst placements ---- */

struct line {
    FILE *out;
    size_t used;
};

/* Up to 100 columns with what ends an item; items are not broken. */
static void put_item(struct line *l, const char *item)
{
    if (l->used + strlen(item) >= 100) {
        fputs("\n *  ", l->out);
        l->used = 4;
    }
    l->used += strlen(item) + 1;
    uc_put_safe(item, l->out);
}

static bool names(const struct uc_ladder *l, const char *strategy)
{
    for (size_t i = 0; i < l->n; i++)
        if (!strcmp(l->segment[i].strategy, strategy) || !strcmp(l->segment[i].runner_up, strategy))
            return true;
    return false;
}

/* What was barred there, of those that the ranges name: a reader would else take it for an
 * alternative. Read back by src/profile/header_read.c. */
static void put_barred(const struct uc_profile_entry *e, const char *entry, FILE *out)
{
    struct line l = {out, 0};
    char item[UC_NAME + 64];

    for (size_t i = 0; i < e->barred_n; i++) {
        const struct uc_barred *b = &e->barred[i];
        if (!names(&e->ladder, b->strategy))
            continue;
        if (l.used)
            fputc(';', out);
        else
            l.used = (size_t)fprintf(
                out, " * Over twice the best at their worst placements, in %s:", entry);
        snprintf(item, sizeof item, " %s %zu to %zu", b->strategy, b->from, b->to);
        put_item(&l, item);
    }
    if (l.used)
        fputs(".\n", out);
}

/* ---- why these numbers, for the kernel's review ---- */

/* Versions of what can change a time, as far as they are known. */
static void put_versions(const struct uc_profile *p, FILE *out)
{
    static const char *const key[][2] = {
        {"kernel", "Linux"}, {"microcode", "microcode"}, {"timer", "timer:"}};
    bool any = false;

    for (size_t i = 0; i < sizeof key / sizeof *key; i++)
        if (string_at(p->method, key[i][0])) {
            fprintf(out, "%s %s ", any ? "," : " *", key[i][1]);
            uc_put_safe(string_at(p->method, key[i][0]), out);
            any = true;
        }
    if (any)
        fputs(".\n", out);
}

static void put_limit(const struct uc_segment *s, FILE *out)
{
    const struct ucopy_strategy *x = ucopy_find(s->strategy);

    fprintf(out, " *   %zu: ", s->max);
    if (x && x->max == s->max)
        fputs("its strategy serves no larger size", out);
    else if (s->hi)
        fprintf(out, "both sides cost the same at %zu to %zu", s->lo, s->hi);
    else
        fputs("no interval is known", out);
    if (s->free_hi > s->free_lo)
        fprintf(out, "; %zu to %zu would do as well", s->free_lo, s->free_hi);
    fputc('\n', out);
}

static void put_limits(const struct uc_ladder *l, const char *entry, FILE *out)
{
    if (l->n < 2)
        return;
    fprintf(out, " * Why these limits of %s, by 95 %% intervals:\n", entry);
    for (size_t i = 0; i + 1 < l->n; i++)
        put_limit(&l->segment[i], out);
}

static void put_reasons(const struct uc_profile *p, FILE *out)
{
    if (p->environment != UCOPY_KERNEL)
        return;
    fputs(" *\n"
          " * How it was measured: nanoseconds a call in a user program on one CPU, the low end of "
          "many\n"
          " * readings in random order over fresh mappings; alignment, page distances, page ends "
          "and what is\n"
          " * done with dst after the copy are as the weights have them. Not in it: faults, SMAP, "
          "the entry\n"
          " * into the kernel, patched call sites.\n",
          out);
    put_versions(p, out);
    fputs(" * The ranges together cost least by the weights, within 3 %; a tie goes to the simpler "
          "strategy.\n",
          out);
    put_limits(&p->entry[UC_COPY].ladder, "copy", out);
    put_limits(&p->entry[UC_NOCACHE].ladder, "nocache", out);
}

void uc_header_comment(const struct uc_profile *p, FILE *out)
{
    put_title(p, out);
    uc_header_promise(p->environment, out);
    fputs(" *\n", out);
    uc_header_ranges(p, UC_COPY, out);
    uc_header_ranges(p, UC_NOCACHE, out);
    uc_header_evidence(p, out);
    put_regret(json_object_get(p->validation, "regret"), "copy", out);
    put_regret(json_object_get(p->validation, "regret_nocache"), "nocache", out);
    put_gain(p, out);
    put_barred(&p->entry[UC_COPY], "copy", out);
    put_barred(&p->entry[UC_NOCACHE], "nocache", out);
    put_reasons(p, out);
}
