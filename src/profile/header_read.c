/* A generated header read back: whose it is, and its limits with their strategies. Its own text is
 * enough: the macros hold the ladder, the comment at its head the CPU, the weights' name, the
 * runners-up and what was barred. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/units.h"
#include "profile/profile.h"

#define MAX_HEADER ((size_t)4 << 20)

struct reader {
    const char *text;
    char prefix[UC_STEM + 16]; /* UCOPY_AMD_1A_02 */
    char *why;
    size_t cap;
};

static int refuse(const struct reader *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static int refuse(const struct reader *r, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(r->why, r->cap, fmt, ap);
    va_end(ap);
    for (char *c = r->why; *c; c++) /* it may quote the file, which may hold anything */
        if ((unsigned char)*c < ' ' || *c == 0x7F)
            *c = '?';
    return -EINVAL;
}

/* Text from behind words to the first of the characters in end; false where it is not there or is
 * too long. */
static bool text_behind(const char *text, const char *words, const char *end, char *buf, size_t cap)
{
    const char *at = strstr(text, words);

    if (!at)
        return false;
    at += strlen(words);
    size_t n = strcspn(at, end);
    if (!n || n >= cap)
        return false;
    snprintf(buf, cap, "%.*s", (int)n, at);
    return true;
}

/* A file that was cut off ends before its last line closes the guard. */
static bool is_whole(const char *text)
{
    size_t n = strlen(text);

    while (n && isspace((unsigned char)text[n - 1]))
        n--;
    return n >= 6 && !memcmp(text + n - 6, "#endif", 6);
}

static int read_prefix(struct reader *r)
{
    char guard[sizeof(r->prefix)];

    if (strstr(r->text, "\n/* One copy for several CPUs, picked at run time: "))
        return refuse(r, "a header of several CPUs: give one of the profiles that it is made of");

    if (!text_behind(r->text, "\n#ifndef UCOPY_", "\n", guard, sizeof(guard) - 8) ||
        strlen(guard) < 3 || strcmp(guard + strlen(guard) - 2, "_H") != 0)
        return refuse(r, "no header of ucopy-tune: it has no guard UCOPY_..._H");
    guard[strlen(guard) - 2] = 0;
    snprintf(r->prefix, sizeof(r->prefix), "UCOPY_%.*s", UC_STEM, guard);
    if (!is_whole(r->text))
        return refuse(r, "cut off: its last line is not #endif");
    return 0;
}

/* Is the stem, in capitals, what all names begin with? A header that was renamed by hand is not
 * asked who it was. */
static bool is_prefix(const struct reader *r, const char *stem)
{
    const char *p = r->prefix + strlen("UCOPY_");

    for (; *stem && *p; stem++, p++)
        if ((isalnum((unsigned char)*stem) ? toupper((unsigned char)*stem) : '_') != *p)
            return false;
    return !*stem && !*p;
}

/* "How to copy n bytes on amd-1a-02, AMD EPYC 9000, under KVM." */
static void read_name(const struct reader *r, struct uc_profile *p)
{
    char line[160], *under;

    if (!text_behind(r->text, "How to copy n bytes on ", "\n", line, sizeof(line)) ||
        !strchr(line, ','))
        return;
    line[strlen(line) - 1] = 0; /* the full stop */
    if ((under = strstr(line, ", under ")))
        *under = 0;
    const char *name = strchr(line, ',');
    snprintf(p->cpu.name, sizeof(p->cpu.name), "%.48s", name ? name + 2 : "");
}

/* "<key>[-kernel][-<variant>]" */
static int read_identity(struct reader *r, struct uc_profile *p)
{
    char stem[UC_STEM], *rest;

    if (!text_behind(r->text, "How to copy n bytes on ", ",\n", p->cpu.key, sizeof(p->cpu.key)) ||
        !text_behind(r->text, "\n * Made by ", " \n", p->tool, sizeof(p->tool)))
        return refuse(r, "no header of ucopy-tune: its head does not name the CPU");
    if (p->cpu.key[strlen(p->cpu.key) - 1] == '.')
        p->cpu.key[strlen(p->cpu.key) - 1] = 0;
    const char *from = strstr(r->text, " from ");
    const char *end = from ? strstr(from, ".json") : NULL;
    size_t n = end ? (size_t)(end - from) - strlen(" from ") : 0;
    if (!n || n >= sizeof(stem))
        return refuse(r, "no header of ucopy-tune: its head does not name its profile");
    snprintf(stem, sizeof(stem), "%.*s", (int)n, from + strlen(" from "));
    size_t key = strlen(p->cpu.key);
    if (strncmp(stem, p->cpu.key, key) != 0 || !is_prefix(r, stem))
        return refuse(r, "its head (%.60s) and its names (%.60s) disagree", stem, r->prefix);
    rest = stem + key;
    p->has_cpu = true;
    p->environment = strncmp(rest, "-kernel", 7) ? UCOPY_USER : UCOPY_KERNEL;
    rest += p->environment == UCOPY_KERNEL ? 7 : 0;
    if (*rest == '-')
        snprintf(p->variant, sizeof(p->variant), "%.31s", rest + 1);
    if (*rest && (*rest != '-' || !uc_variant_valid(p->variant)))
        return refuse(r, "its head names a profile that cannot be (%.60s)", stem);
    read_name(r, p);
    return 0;
}

static bool macro(const struct reader *r, const char *entry, size_t i, const char *word, char *buf,
                  size_t cap)
{
    char line[sizeof(r->prefix) + 64];

    snprintf(line, sizeof(line), "\n#define %s_%s_%zu_%s ", r->prefix, entry, i + 1, word);
    return text_behind(r->text, line, "\n", buf, cap);
}

static int read_segment(const struct reader *r, const char *entry, size_t i, struct uc_ladder *l)
{
    struct uc_segment *s = &l->segment[i];
    char max[24], quoted[UC_NAME + 2];
    size_t n;

    if (!macro(r, entry, i, "STRATEGY", quoted, sizeof(quoted)))
        return refuse(r, "%s_%s_%zu_STRATEGY is missing or too long", r->prefix, entry, i + 1);
    n = strlen(quoted);
    if (n < 3 || quoted[0] != '"' || quoted[n - 1] != '"')
        return refuse(r, "%s_%s_%zu_STRATEGY is no string", r->prefix, entry, i + 1);
    snprintf(s->strategy, sizeof(s->strategy), "%.*s", (int)n - 2, quoted + 1);
    s->max = SIZE_MAX;
    s->bracketed = macro(r, entry, i, "MAX", max, sizeof(max));
    if (!s->bracketed)
        return 0;
    if (max[strspn(max, "0123456789")] || uc_parse_size(max, &s->max))
        return refuse(r, "%s_%s_%zu_MAX is no size", r->prefix, entry, i + 1);
    if (i && l->segment[i - 1].max != SIZE_MAX && s->max <= l->segment[i - 1].max)
        return refuse(r, "%s_%s_%zu_MAX is not above the one before", r->prefix, entry, i + 1);
    return 0;
}

/* How many ranges the macros name; the last one has no limit. */
static int read_ladder(const struct reader *r, const char *entry, struct uc_profile_entry *e)
{
    char any[UC_NAME + 2];
    int rc = 0;

    while (e->ladder.n < UC_MAX_SEGMENTS && !rc &&
           (macro(r, entry, e->ladder.n, "STRATEGY", any, sizeof(any)) ||
            macro(r, entry, e->ladder.n, "MAX", any, sizeof(any))))
        rc = read_segment(r, entry, e->ladder.n++, &e->ladder);
    e->present = e->ladder.n > 0;
    for (size_t i = 0; i < e->ladder.n && !rc; i++)
        if ((e->ladder.segment[i].max == SIZE_MAX) != (i + 1 == e->ladder.n))
            rc = refuse(r, "%s_%s_%zu_MAX is %s", r->prefix, entry, i + 1,
                        i + 1 == e->ladder.n ? "there, though no range follows it" : "missing");
    return rc;
}

/* "; next rep_movsb, 5 % slower", "; tie with rep_movsq; not bracketed, measured to 64 MiB" */
static void read_runner_up(const char *line, struct uc_segment *s)
{
    char measured[16], unit[8];
    int per_cent = 0;

    s->tie = text_behind(line, "; tie with ", ",;\n", s->runner_up, sizeof(s->runner_up));
    if (!s->tie)
        text_behind(line, "; next ", ",;\n", s->runner_up, sizeof(s->runner_up));
    s->margin = s->runner_up[0] ? 1 : 0;
    const char *by = s->runner_up[0] && !s->tie ? strstr(line, s->runner_up) : NULL;
    if (by && sscanf(by + strlen(s->runner_up), ", %d %% %7s", &per_cent, unit) == 2)
        s->margin = 1 + (strncmp(unit, "faster", 6) ? per_cent : -per_cent) / 100.0;
    const char *to = strstr(line, "measured to ");
    char size[32];
    if (to && sscanf(to, "measured to %15s %7s", measured, unit) == 2) {
        snprintf(size, sizeof(size), "%s%c", measured, strstr(unit, "iB") ? unit[0] : 0);
        if (uc_parse_size(size, &s->measured_to))
            s->measured_to = 0;
    }
}

/* The lines of the comment that tell an entry's ranges, in their order. */
static void read_comment(const struct reader *r, const char *title, struct uc_ladder *l)
{
    const char *line = strstr(r->text, title);
    const char *end = strstr(r->text, "*/\n#ifndef");

    for (size_t i = 0; i < l->n && line && (!end || line < end); i++) {
        char text[256];
        line = strchr(line + 1, '\n');
        if (!line || strncmp(line, "\n *", 3) != 0)
            return;
        snprintf(text, sizeof(text), "%.*s", (int)strcspn(line + 1, "\n"), line + 1);
        if (strstr(text, l->segment[i].strategy))
            read_runner_up(text, &l->segment[i]);
    }
}

/* "Over twice the best at their worst placements, in copy: rep_movsb 112 to 120; rep_movsq 480\n *
 * to 512."
 */
static void read_barred(const struct reader *r, const char *entry, struct uc_profile_entry *e)
{
    char words[80], list[4096], *save;

    snprintf(words, sizeof(words),
             "\n * Over twice the best at their worst placements, in %s:", entry);
    if (!text_behind(r->text, words, ".", list, sizeof(list)))
        return;
    for (char *c = list; *c; c++)
        if (*c == '\n' || *c == '*')
            *c = ' ';
    for (char *item = strtok_r(list, ";", &save); item && e->barred_n < UC_MAX_NOTES;
         item = strtok_r(NULL, ";", &save)) {
        struct uc_barred *b = &e->barred[e->barred_n];
        if (sscanf(item, " %47s %zu to %zu", b->strategy, &b->from, &b->to) == 3 &&
            b->from <= b->to)
            e->barred_n++;
    }
}

static int read_all(struct reader *r, struct uc_profile *p)
{
    char weights[48], grade[8];
    int rc = read_prefix(r);

    if (!rc)
        rc = read_identity(r, p);
    if (!rc)
        rc = read_ladder(r, "COPY", &p->entry[UC_COPY]);
    if (!rc)
        rc = read_ladder(r, "NOCACHE", &p->entry[UC_NOCACHE]);
    if (!rc && !p->entry[UC_COPY].present && !p->entry[UC_NOCACHE].present)
        rc = refuse(r, "%s_COPY_1_STRATEGY is missing", r->prefix);
    if (rc)
        return rc;
    read_comment(r, "\n * copy: ", &p->entry[UC_COPY].ladder);
    read_comment(r, "\n * nocache: ", &p->entry[UC_NOCACHE].ladder);
    read_barred(r, "copy", &p->entry[UC_COPY]);
    read_barred(r, "nocache", &p->entry[UC_NOCACHE]);
    p->complete = !strstr(r->text, "\n * INCOMPLETE: ");
    if (text_behind(r->text, "Best by the weights named ", ".\n", weights, sizeof(weights)))
        p->weights = json_pack("{s:s}", "name", weights);
    if (text_behind(r->text, "Grade of the measurement: ", ".\n", grade, sizeof(grade)))
        p->method = json_pack("{s:s}", "grade", grade);
    return 0;
}

int uc_profile_read_header(const char *path, struct uc_profile *p, char *why, size_t why_cap)
{
    struct reader r = {.why = why, .cap = why_cap};
    char *text = NULL;
    int rc = uc_read_file(path, MAX_HEADER, &text, NULL);

    memset(p, 0, sizeof(*p));
    snprintf(why, why_cap, "%s", "");
    r.text = text;
    if (!rc)
        rc = read_all(&r, p);
    if (rc)
        uc_profile_free(p);
    free(text);
    return rc;
}
