/* Hysteresis: a decision that was made before stands unless the new one wins by more than the
 * margin. */
#include "cli/tune.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/msg.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/given.h"

static int read_prior(struct uc_tune *t)
{
    bool asked = t->o->prior != NULL;
    const char *path = asked ? t->o->prior : t->json_path;
    char why[256] = "";
    int rc;

    if (!asked && access(path, F_OK))
        return 0;
    rc = uc_profile_read(path, &t->prior, why, sizeof(why));
    if (rc && asked) {
        uc_error("--prior %s: %s", path, why[0] ? why : strerror(-rc));
        return UC_EXIT_USAGE;
    }
    if (rc) {
        uc_warn("%s cannot be read (%s) and counts for nothing in this decision", path,
                why[0] ? why : strerror(-rc));
        return 0;
    }
    t->has_prior = true;
    return 0;
}

int uc_tune_read_prior(struct uc_tune *t)
{
    int rc = read_prior(t);

    if (rc || !t->has_prior)
        return rc;
    if (!t->prior.has_cpu || strcmp(t->prior.cpu.key, t->session.cpu.key) != 0 ||
        t->prior.environment != t->o->environment) {
        uc_error("%s is a profile of %s%s, not of %s%s: it cannot be the prior here",
                 t->o->prior ? t->o->prior : t->json_path,
                 t->prior.has_cpu ? t->prior.cpu.key : "no named CPU",
                 t->prior.environment == UCOPY_KERNEL ? " (kernel)" : "", t->session.cpu.key,
                 t->o->environment == UCOPY_KERNEL ? " (kernel)" : "");
        return UC_EXIT_USAGE;
    }
    if (t->prior.digest_differs)
        uc_warn("%s was edited by hand since it was made",
                t->o->prior ? t->o->prior : t->json_path);
    return 0;
}

/* Can every strategy of the old ladder still be had here, with the text that was measured? */
static bool still_possible(const struct uc_tune *t, const struct uc_ladder *l)
{
    if (uc_profile_stale(&t->prior))
        return false;
    for (size_t i = 0; i < l->n; i++) {
        bool found = false;
        for (size_t k = 0; k < t->strategies; k++)
            found = found || !strcmp(t->strategy[k]->name, l->segment[i].strategy);
        if (!found)
            return false;
    }
    return l->n > 0;
}

/* Does the old ladder of an entry stand on the new readings? */
static bool stands(struct uc_tune *t, enum uc_entry e)
{
    const struct uc_ladder *old = &t->prior.entry[e].ladder, *new = &t->profile.entry[e].ladder;
    struct uc_fit_options fo = uc_tune_fit_options(t, e);
    struct uc_regret a, b;

    if (!t->prior.entry[e].present || !still_possible(t, old))
        return false;
    if (uc_ladder_same(old, new))
        return true;
    if (uc_fit_regret(&t->cells, &fo, old, 0.10, &a) ||
        uc_fit_regret(&t->cells, &fo, new, 0.10, &b))
        return false;
    t->prior_loss[e] = a.mean;
    t->new_loss[e] = b.mean;
    return a.mean <= b.mean + t->weights.margin;
}

/* Would a quick run replace the profile of a longer one? */
static bool in_the_way(const struct uc_tune *t)
{
    return t->o->quick && t->has_prior && !t->o->prior && !t->o->renew &&
           json_is_false(json_object_get(t->prior.method, "quick"));
}

/* Are the two files in the output folder of one decision? A run that is killed between the two
 * renames leaves its profile beside the header before it, or beside none. */
static bool is_whole(const struct uc_tune *t)
{
    if (!t->has_prior || t->o->prior || uc_given_is_header_of(t->header_path, &t->prior))
        return true;
    uc_warn("%s is missing or tells other limits than %s, as after a run that was killed while it "
            "wrote them",
            t->header_path, t->json_path);
    return false;
}

int uc_tune_apply_prior(struct uc_tune *t)
{
    bool all = is_whole(t);

    for (int e = 0; e < UC_ENTRY_COUNT && t->has_prior && !t->o->renew; e++) {
        t->stood[e] = stands(t, (enum uc_entry)e);
        all &= t->stood[e];
        if (t->stood[e])
            t->profile.entry[e] = t->prior.entry[e];
        json_incref(t->stood[e] ? t->profile.entry[e].load : NULL);
        json_incref(t->stood[e] ? t->profile.entry[e].whole : NULL);
        json_incref(t->stood[e] ? t->profile.entry[e].limits : NULL);
        json_incref(t->stood[e] ? t->profile.entry[e].consumers : NULL);
        json_incref(t->stood[e] ? t->profile.entry[e].counters : NULL);
    }
    t->kept = t->has_prior && !t->o->renew && all;
    if (!t->kept && in_the_way(t))
        t->kept = t->kept_from_quick = true;
    return 0;
}
