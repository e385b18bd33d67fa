/* What the C header cannot express: strategies that this program does not know or whose text is
 * not the one that was measured, ranges that a strategy does not serve, names that would collide.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "emit/header.h"

struct check {
    const struct uc_profile *p;
    char *why;
    size_t cap;
};

__attribute__((format(printf, 2, 3))) static int refuse(const struct check *c, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(c->why, c->cap, fmt, ap);
    va_end(ap);
    return -ENOTSUP;
}

static int check_strategy(const char *name, void *state)
{
    const struct check *c = state;
    const struct ucopy_strategy *s = ucopy_find(name);

    if (!s)
        return refuse(c, "strategy '%s' is not known to this program", name);
    if (!s->text || s->role == UCOPY_LIMIT)
        return refuse(c, "strategy '%s' has no code to embed", name);
    if (!(s->environments & c->p->environment))
        return refuse(c, "strategy '%s' does not serve the profile's environment", name);
    return 0;
}

static int check_range(const struct check *c, const char *name, size_t from, size_t to)
{
    const struct ucopy_strategy *s = ucopy_find(name);

    if (s->min <= from && s->max >= to)
        return 0;
    return refuse(c, "strategy '%s' does not serve all of its range, which begins at %zu", name,
                  from);
}

static int check_ladder(const struct check *c, const struct uc_ladder *l)
{
    size_t from = 0;
    int rc = 0;

    for (size_t i = 0; i < l->n && !rc; i++) {
        const struct uc_segment *s = l->segment + i;
        rc = check_range(c, s->strategy, from, s->max);
        if (!rc && *s->guard.test)
            rc = check_range(c, s->guard.otherwise, from, s->max);
        from = s->max + 1;
    }
    return rc;
}

/* The baseline part is compiled where the compiler was told nothing: SSE2 is all it may need. */
static int check_inline(const struct check *c, const struct uc_profile_entry *e)
{
    const struct uc_inline_part *base = &e->inline_baseline, *wide = &e->inline_wide;
    int rc = 0;

    if (*base->strategy)
        rc = check_range(c, base->strategy, 0, base->max);
    if (!rc && *base->strategy && ucopy_find(base->strategy)->isa & ~(uint32_t)UCOPY_ISA_SSE2)
        rc = refuse(c, "strategy '%s' needs more than SSE2, too much for the inline baseline",
                    base->strategy);
    if (!rc && *wide->strategy)
        rc = check_range(c, wide->strategy, 0, wide->max);
    return rc;
}

static int check_entries(const struct check *c)
{
    int present = 0, rc = 0;

    for (int i = 0; i < UC_ENTRY_COUNT && !rc; i++) {
        const struct uc_profile_entry *e = c->p->entry + i;
        if (!e->present)
            continue;
        present++;
        rc = check_ladder(c, &e->ladder);
        if (!rc)
            rc = check_inline(c, e);
    }
    return rc || present ? rc : refuse(c, "the profile has no entry");
}

static bool part_has_name(const char *includes, const char *word)
{
    char *copy = strdup(includes), *rest = copy, *name;
    bool found = false;

    while (rest && !found && (name = strsep(&rest, " "))) {
        const char *text = *name ? ucopy_part_text(name) : NULL;
        found = text && uc_text_has_name(text, word);
    }
    free(copy);
    return found;
}

/* The header without the variant calls a function <prefix>_<name>, for each <name> in its code. A
 * variant of that name would have a copy function of the same name, and share no unit with it. */
static int check_variant(const struct check *c)
{
    const char *v = c->p->variant;
    bool taken = *v && part_has_name("prelude detect", v);
    char *code = NULL;
    size_t n = 0;
    FILE *out = *v && !taken ? open_memstream(&code, &n) : NULL;

    if (out) {
        uc_header_code(c->p, out);
        fclose(out);
        taken = uc_text_has_name(code, v);
        free(code);
    }
    for (size_t i = 0; *v && !taken && i < ucopy_strategy_count; i++) {
        const struct ucopy_strategy *s = ucopy_strategies + i;
        taken = (s->text && uc_text_has_name(s->text, v)) || part_has_name(s->includes, v);
    }
    return taken ? refuse(c, "variant '%s' is a name that headers use themselves", v) : 0;
}

int uc_header_check(const struct uc_profile *p, char *why, size_t why_cap)
{
    struct check c = {p, why, why_cap};
    int rc = uc_profile_each_strategy(p, check_strategy, &c);

    if (!rc && uc_profile_stale(p))
        rc = refuse(&c, "strategy '%s' has changed since it was measured: tune again",
                    uc_profile_stale(p));
    if (!rc)
        rc = check_entries(&c);
    return rc ? rc : check_variant(&c);
}
