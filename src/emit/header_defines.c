/* The ladder as macros. */
#include <ctype.h>
#include <string.h>

#include "emit/header.h"

const char *uc_header_key(const char *key, char buf[UC_KEY_CAP])
{
    snprintf(buf, UC_KEY_CAP, "%s_", key);
    for (char *c = buf; *c; c++)
        if (*c == '-')
            *c = '_';
    return buf;
}

struct uc_entry_names uc_entry_names(const char *key, int entry)
{
    struct uc_entry_names e;

    snprintf(e.name, sizeof e.name, "%s%s", key, uc_entry_name[entry]);
    for (size_t i = 0; i < sizeof e.name; i++)
        e.macro[i] = (char)toupper((unsigned char)e.name[i]);
    return e;
}

static size_t ranges_of(const struct uc_ladder *l, const char *strategy)
{
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++)
        n += !strcmp(l->segment[i].strategy, strategy);
    return n;
}

/* Does any range stream? 1, 0, or -1 where a strategy is not known here. */
static int streams(const struct uc_ladder *l)
{
    int found = 0;

    for (size_t i = 0; i < l->n; i++) {
        const struct ucopy_strategy *s = ucopy_find(l->segment[i].strategy);
        if (!s)
            return -1;
        found |= !!(s->flags & UCOPY_STREAMING);
    }
    return found;
}

static void put_capitals(const char *name, FILE *out)
{
    for (; *name; name++)
        fputc(isalnum((unsigned char)*name) ? toupper((unsigned char)*name) : '_', out);
}

static void put_numbers(const struct uc_ladder *l, const char *entry, FILE *out)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->segment[i].max != SIZE_MAX)
            fprintf(out, "#define UCOPY_%s_%zu_MAX %zu\n", entry, i + 1, l->segment[i].max);
    for (size_t i = 0; i < l->n; i++) {
        const struct uc_segment *s = l->segment + i;
        if (s->max == SIZE_MAX || ranges_of(l, s->strategy) != 1)
            continue;
        fprintf(out, "#define UCOPY_%s_", entry);
        put_capitals(s->strategy, out);
        fprintf(out, "_MAX %zu\n", s->max);
    }
    if (streams(l) >= 0)
        fprintf(out, "#define UCOPY_%s_STREAMS %d\n", entry, streams(l));
}

void uc_header_numbers(const struct uc_profile *p, const char *key, FILE *out)
{
    for (int i = 0; i < UC_ENTRY_COUNT; i++)
        if (p->entry[i].present)
            put_numbers(&p->entry[i].ladder, uc_entry_names(key, i).macro, out);
}

void uc_header_names(const struct uc_profile *p, const char *key, FILE *out)
{
    for (int i = 0; i < UC_ENTRY_COUNT; i++)
        for (size_t k = 0; p->entry[i].present && k < p->entry[i].ladder.n; k++)
            fprintf(out, "#define UCOPY_%s_%zu_STRATEGY \"%s\"\n", uc_entry_names(key, i).macro,
                    k + 1, p->entry[i].ladder.segment[k].strategy);
}
