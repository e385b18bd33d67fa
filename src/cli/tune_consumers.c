/* What each consumer alone would have chosen: the same readings, weighed for it. */
#include "cli/tune.h"

#include <math.h>
#include <string.h>

#include "base/msg.h"
#include "cli/command.h"

/* The dispatch that is the cheapest whole under one consumer; the chosen one stays unless it is
 * beaten by more than the margin. */
static const struct uc_fit_strategy *dispatch_under(const struct uc_tune *t, enum uc_consumer k)
{
    size_t best = t->whole_chosen;

    if (!t->wholes || isnan(t->whole[best].under[k]))
        return NULL;
    for (size_t i = 0; i < t->wholes; i++)
        if (t->whole[i].under[k] < t->whole[best].under[k])
            best = i;
    double margin = t->whole[t->whole_chosen].under[k] / t->whole[best].under[k] - 1;
    return t->whole_of[margin > t->weights.margin ? best : t->whole_chosen];
}

/* The ladder for one consumer: the fit's, behind the dispatch that was timed. */
static bool ladder_under(const struct uc_tune *t, enum uc_consumer k,
                         const struct uc_fit_options *fo, struct uc_ladder *out)
{
    const struct uc_fit_strategy *f = dispatch_under(t, k);
    struct uc_fit_result r;
    struct uc_ladder other;

    if (uc_fit(&t->cells, fo, &r))
        return false;
    *out = r.ladder[0];
    if (f && uc_tune_with_dispatch(t, out, f, &other))
        *out = other;
    return true;
}

static json_t *ladder_json(const struct uc_ladder *l, double gain)
{
    json_t *segments = json_array();

    for (size_t i = 0; i < l->n; i++) {
        const struct uc_segment *s = &l->segment[i];
        json_array_append_new(
            segments, json_pack("{s:o, s:s}", "max",
                                s->max == SIZE_MAX ? json_null() : json_integer((json_int_t)s->max),
                                "strategy", s->strategy));
    }
    return json_pack("{s:o, s:o}", "gain", uc_tune_real(gain, 4), "segments", segments);
}

/* null: it would choose the same, or what would not win by more than the margin. */
static json_t *under(const struct uc_tune *t, enum uc_consumer k)
{
    const struct uc_ladder *chosen = &t->profile.entry[UC_COPY].ladder;
    struct uc_fit_options fo = uc_tune_fit_options(t, UC_COPY);
    struct uc_weights w = t->weights;
    struct uc_regret a, b;
    struct uc_ladder l;

    fo.weights = &w;
    if (uc_weights_consumer(&w, k) || !ladder_under(t, k, &fo, &l) || uc_ladder_same(chosen, &l) ||
        uc_fit_regret(&t->cells, &fo, chosen, 0.10, &a) ||
        uc_fit_regret(&t->cells, &fo, &l, 0.10, &b))
        return json_null();
    double gain = (1 + a.mean) / (1 + b.mean);
    return gain > 1 + t->weights.margin ? ladder_json(&l, gain) : json_null();
}

int uc_tune_consumers(struct uc_tune *t)
{
    json_t *o;

    if (t->o->consumer >= 0 || t->stood[UC_COPY])
        return 0;
    o = json_object();
    for (int k = 0; k < UC_CONSUMER_COUNT && o; k++)
        if (t->weights.consumer_small[k] > 0 || t->weights.consumer_large[k] > 0)
            json_object_set_new(o, uc_consumer_name[k], under(t, (enum uc_consumer)k));
    if (!o) {
        uc_error("no memory for the profile");
        return UC_EXIT_MACHINE;
    }
    t->profile.entry[UC_COPY].consumers = o;
    return 0;
}
