/* What the text, the CSV and the JSON of `compare` have in common: names, and the strategies that
 * are not everywhere. */
#include "cli/compare.h"

#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/given.h"

char uc_compare_label(size_t profile)
{
    return (char)('A' + profile);
}

const char *uc_compare_environment(const struct uc_compare_table *t)
{
    return t->environment == UCOPY_KERNEL ? "kernel" : "user";
}

const char *uc_compare_libc_title(char buf[48])
{
    snprintf(buf, 48, "glibc %s here", gnu_get_libc_version());
    return buf;
}

bool uc_compare_beside_libc(const struct uc_compare *c, const struct uc_compare_table *t)
{
    return uc_compare_libc(c, t, 0) != NULL;
}

const char *uc_compare_weights(const struct uc_profile *p)
{
    const char *name = json_string_value(json_object_get(p->weights, "name"));
    return name ? name : "";
}

json_int_t uc_compare_method(const struct uc_profile *p)
{
    return json_integer_value(json_object_get(p->method, "version"));
}

const char *uc_compare_limit_text(const struct uc_compare_limit *x, size_t column,
                                  char buf[UC_SIZE_TEXT])
{
    static const char *const word[] = {
        [UC_NEVER] = "not chosen", [UC_TO_THE_END] = "no end", [UC_ABSENT] = "absent"};

    return x->kind[column] == UC_AT_SIZE ? uc_size_text(x->size[column], buf)
                                         : word[x->kind[column]];
}

/* ---- strategies that are not everywhere ---- */

/* Why there are no cells of a strategy in a profile. */
static void why_absent(const struct uc_profile *p, const char *strategy, char *buf, size_t cap)
{
    const struct ucopy_strategy *s = ucopy_find(strategy);
    uint32_t lacking = s && p->has_cpu ? s->isa & ~p->cpu.isa : 0;
    char names[128];

    if (lacking)
        snprintf(buf, cap, "lacks %s", ucopy_isa_text(lacking, names, sizeof(names)));
    else
        snprintf(buf, cap, "has no cells of it");
}

struct names {
    char (*v)[UC_NAME];
    size_t n;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* All strategies that any profile of the environment has cells of, each once. */
static struct names all_names(const struct uc_compare *c, unsigned environment)
{
    struct names out = {malloc(1024 * sizeof(*out.v)), 0};

    for (size_t i = 0; i < c->n && out.v; i++)
        for (size_t k = 0; k < c->p[i].cells.n && c->p[i].environment == environment; k++) {
            const char *name = c->p[i].cells.v[k].strategy;
            if (out.n < 1024 && !bsearch(name, out.v, out.n, sizeof(*out.v), by_name)) {
                memcpy(out.v[out.n++], name, UC_NAME);
                qsort(out.v, out.n, sizeof(*out.v), by_name);
            }
        }
    return out;
}

/* Those that one profile has no cells of; reasons lie together. */
static void absent_from(const struct uc_compare *c, size_t profile, const struct names *names,
                        uc_compare_absent_fn *f, void *state)
{
    bool *said = calloc(names->n + 1, sizeof(*said));
    char why[160], other[160];

    for (size_t i = 0; i < names->n && said; i++) {
        if (said[i] || uc_compare_has(&c->p[profile], names->v[i]))
            continue;
        why_absent(&c->p[profile], names->v[i], why, sizeof(why));
        for (size_t k = i; k < names->n; k++) {
            if (said[k] || uc_compare_has(&c->p[profile], names->v[k]))
                continue;
            why_absent(&c->p[profile], names->v[k], other, sizeof(other));
            if (strcmp(why, other) != 0)
                continue;
            f(profile, names->v[k], why, state);
            said[k] = true;
        }
    }
    free(said);
}

/* Calls f for each profile with cells that has none of a strategy that another has. */
void uc_compare_each_absent(const struct uc_compare *c, unsigned environment,
                            uc_compare_absent_fn *f, void *state)
{
    struct names names = all_names(c, environment);

    for (size_t i = 0; i < c->n; i++)
        if (c->p[i].environment == environment && c->p[i].cells.n)
            absent_from(c, i, &names, f, state);
    free(names.v);
}
