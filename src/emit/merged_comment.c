/* The first lines of a merged header: how a CPU is picked, and for each the ranges. */
#include <string.h>

#include "base/units.h"
#include "emit/header.h"
#include "emit/merged.h"

static unsigned environment_of(const struct uc_merged *m)
{
    return m->cpu[0].p->environment;
}

/* Names joined by commas, as many a line as fit. */
static void put_name(const char *name, const char *end, size_t *column, FILE *out)
{
    size_t n = strlen(name) + strlen(end) + 1;

    if (*column + n > 96) {
        fputs("\n *  ", out);
        *column = 4;
    }
    fprintf(out, " %s%s", name, end);
    *column += n;
}

static void put_stem(const struct uc_profile *p, bool last, size_t *column, FILE *out)
{
    char stem[UC_STEM], file[UC_STEM + 8];

    snprintf(file, sizeof file, "%s.json", uc_profile_stem(p, stem, sizeof stem));
    put_name(file, last ? ":" : ",", column, out);
}

static void put_title(const struct uc_merged *m, FILE *out)
{
    size_t column = 45;

    fputs("/* SPDX-License-Identifier: 0BSD */\n/* One copy for several CPUs, picked at run time:",
          out);
    for (size_t i = 0; i < m->n; i++)
        put_name(m->cpu[i].p->cpu.key, i + 1 < m->n ? "," : ".", &column, out);
    fputs("\n * Made by ucopy-tune " UC_VERSION " merge from", out);
    column = 45;
    for (size_t i = 0; i < m->n; i++) {
        const struct uc_merged_cpu *c = m->cpu + i;
        bool last = i + 1 == m->n;
        put_stem(c->kind[0] ? c->kind[0] : c->p, last && !c->kind[0], &column, out);
        if (c->kind[0])
            put_stem(c->kind[1], last, &column, out);
    }
    fputs("\n * do not edit, merge again.\n", out);
}

static void put_rules(FILE *out)
{
    fputs(
        " *\n"
        " * The first call, or the first question, looks at the CPU: once in each unit, without\n"
        " * constructor, and threads that look at once find the same. Later calls take one\n"
        " * indirect call and no CPUID. What is picked:\n"
        " *   1. Never what this CPU may not execute: what it lacks, or the OS has not enabled. On\n"
        " *      a hybrid CPU (leaf 7 EDX bit 15) AVX-512 counts only where both kinds of its\n"
        " *      cores were measured: CPUID tells of one core, and threads move.\n"
        " *   2. The copies of the same vendor, family and model.\n"
        " *   3. Else those of the nearest family of the vendor, and of its nearest model (of two\n"
        " *      as near, the smaller). A guess: relatives are more alike than strangers, but\n"
        " *      nobody measured this CPU. It may cost time, never the right result.\n"
        " *   4. Else UCOPY_FALLBACK: of another vendor's CPU the C library knows more.\n",
        out);
}

static void put_usage(const struct uc_merged *m, FILE *out)
{
    fputs(" *\n * Use: include it, and call\n", out);
    if (m->entry[UC_COPY])
        fputs(" *   ucopy_(dst, src, n): copies where dst is used soon\n", out);
    if (m->entry[UC_NOCACHE])
        fputs(" *   ucopy_nocache(dst, src, n): copies where it is not\n", out);
    fputs(
        " *   ucopy_chosen(): the key of the CPU whose copies were picked, or \"fallback\"\n"
        " *   ucopy_why(): why, as a sentence\n"
        " *   ucopy_is_this_cpu(): were they measured on a CPU of this family and model?\n"
        " * Where nothing is picked, under sanitizers and with UCOPY_NO_ASM defined, the copies are\n"
        " * UCOPY_FALLBACK(dst, src, n): __builtin_memcpy, unless you define it before (a library\n"
        " * that provides memcpy must). For the assembler, and on other architectures, only the\n"
        " * numbers are defined. */\n",
        out);
}

/* ---- the inlined part ---- */

static void put_share(double loss, FILE *out)
{
    int per_cent = uc_per_cent(1 + loss);

    if (per_cent > 0)
        fprintf(out, "%d %% more", per_cent);
    else
        fputs("under 5 % more", out);
}

static void put_inlined(const struct uc_merged *m, int entry, FILE *out)
{
    const struct uc_merged_inline *x = m->inlined + entry;
    char at[UC_SIZE_TEXT];

    if (!*x->part.strategy)
        return;
    fprintf(out, " *\n * At each call of %s, on every CPU, sizes to %zu are inlined as ",
            uc_entry_name[entry], x->part.max);
    uc_put_safe(x->part.strategy, out);
    fprintf(out, ",\n * the choice of %s.", x->of->cpu.key);
    if (x->worst_on) {
        fprintf(out, " Where that costs most, on %s:\n * ", x->worst_on->cpu.key);
        put_share(x->worst.mean, out);
        fputs(" than its own choice as the mean of all sizes", out);
        if (uc_per_cent(1 + x->worst.worst) > 0)
            fprintf(out, ", %d %% at %s", uc_per_cent(1 + x->worst.worst),
                    uc_size_text(x->worst.worst_at, at));
        fputc('.', out);
    } else if (m->n > 1 || m->cpu[0].kind[0]) {
        fputs(" What it costs on the others is not known.", out);
    }
    fputc('\n', out);
}

/* ---- a CPU ---- */

static void put_isa(uint32_t isa, FILE *out)
{
    char text[128];

    ucopy_isa_text(isa, text, sizeof text);
    fprintf(out, "; needs %s\n", *text ? text : "nothing beyond x86-64");
}

static void put_price(const struct uc_merged_cpu *c, int entry, FILE *out)
{
    if (!c->price[entry][0].known || !c->price[entry][1].known) {
        fputs(" *   (not priced: the cells do not hold it)\n", out);
        return;
    }
    fputs(" *   (", out);
    put_share(c->price[entry][0].share.mean, out);
    fputs(" on the p cores than their own choice, ", out);
    put_share(c->price[entry][1].share.mean, out);
    fputs(" on the e cores)\n", out);
}

/* Its runners-up are those of one kind or the other: they are left out. */
static void put_hybrid(const struct uc_merged_cpu *c, int entry, FILE *out)
{
    const struct uc_profile_entry *e = c->p->entry + entry;
    size_t from = 0;

    if (!e->present)
        return;
    fprintf(out, " * %s\n", uc_header_title(entry));
    for (size_t i = 0; i < e->ladder.n; i++) {
        uc_header_range(from, e->ladder.segment[i].max, out);
        fputs("  ", out);
        uc_put_safe(e->ladder.segment[i].strategy, out);
        fputc('\n', out);
        from = e->ladder.segment[i].max + 1;
    }
    put_price(c, entry, out);
}

static void put_kinds(const struct uc_merged_cpu *c, FILE *out)
{
    fputs(" * Threads move between its p and its e cores: one answer for both, which both may\n"
          " * execute, by the ladder of one kind or of both in turn that costs least on that kind\n"
          " * where it costs more.\n",
          out);
    for (int i = 0; i < UC_ENTRY_COUNT; i++)
        put_hybrid(c, i, out);
    for (int k = 0; k < 2; k++) {
        fprintf(out, " * %s:\n", c->kind[k]->cpu.key);
        uc_header_cautions(c->kind[k], out);
        uc_header_evidence(c->kind[k], out);
    }
}

static void put_cpu(const struct uc_merged_cpu *c, FILE *out)
{
    fputs(" *\n * ", out);
    uc_header_cpu(c->p, out);
    put_isa(uc_header_isa(c->p), out);
    if (c->kind[0]) {
        put_kinds(c, out);
        return;
    }
    uc_header_cautions(c->p, out);
    for (int i = 0; i < UC_ENTRY_COUNT; i++)
        uc_header_ranges(c->p, i, out);
    uc_header_evidence(c->p, out);
}

void uc_merged_comment(const struct uc_merged *m, FILE *out)
{
    put_title(m, out);
    put_rules(out);
    uc_header_promise(environment_of(m), out);
    for (size_t i = 0; i < m->n; i++)
        put_cpu(m->cpu + i, out);
    for (int i = 0; i < UC_ENTRY_COUNT; i++)
        put_inlined(m, i, out);
    put_usage(m, out);
}
