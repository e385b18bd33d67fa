/* The ladder as macros. */
#include <ctype.h>
#include <string.h>

#include "emit/header.h"

const char *uc_entry_macro(int entry)
{
    static const char *const macro[UC_ENTRY_COUNT] = {[UC_COPY] = "COPY", [UC_NOCACHE] = "NOCACHE"};
    return macro[entry];
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

void uc_header_numbers(const struct uc_profile *p, FILE *out)
{
    for (int i = 0; i < UC_ENTRY_COUNT; i++)
        if (p->entry[i].present)
            put_numbers(&p->entry[i].ladder, uc_entry_macro(i), out);
}

void uc_header_names(const struct uc_profile *p, FILE *out)
{
    for (int i = 0; i < UC_ENTRY_COUNT; i++)
        for (size_t k = 0; p->entry[i].present && k < p->entry[i].ladder.n; k++)
            fprintf(out, "#define UCOPY_%s_%zu_STRATEGY \"%s\"\n", uc_entry_macro(i), k + 1,
                    p->entry[i].ladder.segment[k].strategy);
}
