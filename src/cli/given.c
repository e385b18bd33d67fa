#include "cli/given.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/msg.h"
#include "cli/choice.h"
#include "cli/command.h"

static bool is_header(const char *path)
{
    size_t n = strlen(path);
    return n > 2 && !strcmp(path + n - 2, ".h");
}

static int refused(const char *path, int rc, const char *why)
{
    uc_error("%s: %s", path, *why ? why : strerror(-rc));
    return rc == -ENOMEM ? UC_EXIT_MACHINE : UC_EXIT_USAGE;
}

static bool same_limits(const struct uc_profile *a, const struct uc_profile *b)
{
    for (int e = 0; e < UC_ENTRY_COUNT; e++)
        if (!uc_ladder_same(&a->entry[e].ladder, &b->entry[e].ladder))
            return false;
    return true;
}

static bool same_cpu(const struct uc_profile *a, const struct uc_profile *b)
{
    return a->has_cpu && b->has_cpu && !strcmp(a->cpu.key, b->cpu.key) &&
           a->environment == b->environment && !strcmp(a->variant, b->variant);
}

/* Puts the profile beside a header in its place where both say the same. */
static void take_profile_beside(const char *path, struct uc_profile *p)
{
    char json[4096], why[512] = "";
    struct uc_profile beside;

    snprintf(json, sizeof(json), "%.*s.json", (int)strlen(path) - 2, path);
    if (access(json, F_OK))
        return;
    int rc = uc_profile_read(json, &beside, why, sizeof(why));
    if (rc) {
        uc_warn("%s counts alone: its profile, %s, cannot be read (%s)", path, json,
                *why ? why : strerror(-rc));
        return;
    }
    if (same_cpu(p, &beside) && same_limits(p, &beside)) {
        uc_profile_free(p);
        *p = beside;
        return;
    }
    uc_warn("%s counts alone: its profile, %s, %s", path, json,
            same_cpu(p, &beside) ? "tells other limits" : "is another CPU's");
    uc_profile_free(&beside);
}

int uc_given_read(const char *path, struct uc_profile *p)
{
    char why[512] = "";
    int rc = is_header(path) ? uc_profile_read_header(path, p, why, sizeof(why))
                             : uc_profile_read(path, p, why, sizeof(why));

    if (rc)
        return refused(path, rc, why);
    if (is_header(path))
        take_profile_beside(path, p);
    if (p->digest_differs)
        uc_warn("%s: edited by hand (its digest differs); used as it is", path);
    if (!p->complete)
        uc_warn("%s: the run that made it was interrupted", path);
    return 0;
}

int uc_given_profile(const char *path, struct uc_profile *p)
{
    char why[512] = "";
    int rc = uc_profile_read(path, p, why, sizeof(why));

    if (rc)
        return refused(path, rc, why);
    if (p->digest_differs)
        uc_warn("%s: edited by hand (its digest differs); used as it is", path);
    return 0;
}

bool uc_given_is_header_of(const char *path, const struct uc_profile *p)
{
    char why[512];
    struct uc_profile header;

    if (uc_profile_read_header(path, &header, why, sizeof(why)))
        return false;
    bool same = same_cpu(&header, p) && same_limits(&header, p);
    uc_profile_free(&header);
    return same;
}

const char *uc_given_environment(const struct uc_profile *p)
{
    return p->environment == UCOPY_KERNEL ? "kernel" : "user";
}

const char *uc_given_method(const struct uc_profile *p, const char *key)
{
    const char *text = json_string_value(json_object_get(p->method, key));
    return text ? text : "";
}

bool uc_given_weights(const struct uc_profile *p, struct uc_weights *w)
{
    const char *name = json_string_value(json_object_get(p->weights, "name"));

    *w = uc_weights_default;
    if (!name || !strcmp(name, "default") || !strncmp(name, "sizes:", 6))
        return true;
    if (strncmp(name, "consumer:", 9) != 0)
        return false;
    int consumer = uc_word(uc_consumer_name, UC_CONSUMER_COUNT, name + 9);
    return consumer >= 0 && !uc_weights_consumer(w, (enum uc_consumer)consumer);
}

int uc_given_fit(const struct uc_profile *p, enum uc_entry entry, struct uc_weights *w,
                 struct uc_fit_strategy **list, struct uc_fit_options *o)
{
    size_t known;

    uc_given_weights(p, w);
    *list = uc_choice_strategies(p->environment, &known);
    *o = (struct uc_fit_options){.weights = w,
                                 .entry = entry,
                                 .environment = p->environment,
                                 .l1d = p->caches.l1d.bytes,
                                 .l2 = p->caches.l2.bytes,
                                 .strategies = *list,
                                 .strategy_count = known};
    return *list ? 0 : -ENOMEM;
}

int uc_given_share(const struct uc_profile *on, enum uc_entry entry, const struct uc_ladder *ladder,
                   const struct uc_ladder *own, struct uc_share *out)
{
    struct uc_weights w;
    struct uc_fit_options o;
    struct uc_fit_strategy *list;
    int rc = uc_given_fit(on, entry, &w, &list, &o);

    if (!rc)
        rc = uc_fit_share(&on->cells, &o, ladder, own, out);
    free(list);
    return rc;
}

static int add_isa(const char *name, void *isa)
{
    const struct ucopy_strategy *s = ucopy_find(name);

    if (s)
        *(uint32_t *)isa |= s->isa;
    return 0;
}

uint32_t uc_given_isa(const struct uc_profile *p)
{
    uint32_t isa = 0;

    uc_profile_each_strategy(p, add_isa, &isa);
    return isa;
}
