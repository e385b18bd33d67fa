/* Why each range's copy was chosen, by hardware counters where there are any: it and its runner-up
 * over the same calls, at one place that stands for the range. */
#include "cli/tune.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "cli/command.h"
#include "fit/explain.h"
#include "machine/counters.h"
#include "measure/count.h"

/* What a range is explained by. */
struct example {
    struct uc_subject pair[2]; /* the chosen, the runner-up */
    struct uc_cell place;
    struct uc_sizes mix; /* of a band */
    struct uc_tally tally[2][UC_EVENTS];
};

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Short ranges from 0 on are decided by mixed sizes: the first band that reaches as far as the
 * range, else the largest that both serve. */
static bool take_band(struct example *x, size_t hi)
{
    size_t most = smaller(x->pair[0].max, x->pair[1].max), end = 0;

    for (size_t b = 0; b < uc_band_count; b++)
        if (uc_band_end[b] <= most && end < hi)
            end = uc_band_end[b];
    x->place = uc_cell_default("", 0);
    x->place.mix = UC_BAND;
    x->place.size_hi = end;
    x->place.src_state = x->place.dst_state = UC_L1;
    return end > 0 && !uc_sizes_fleet(&x->mix, end);
}

/* The measured size nearest to the middle of the range, by octaves; dst not read, or not used. */
static bool take_size(const struct uc_tune *t, struct example *x, enum uc_entry e, size_t lo,
                      size_t hi)
{
    double middle = (log1p((double)lo) + log1p((double)hi)) / 2, best = INFINITY;

    for (size_t i = 0; i < t->plan.n; i++) {
        const struct uc_cell *c = &t->plan.place[i];
        double off = fabs(log1p((double)c->size) - middle);
        if (c->entry != e || c->mix != UC_FIXED || t->plan.group[i] == UC_PROBES || c->size < lo ||
            c->size > hi || off >= best)
            continue;
        best = off;
        x->place = *c;
    }
    if (e == UC_COPY)
        x->place.consumer = UC_NONE;
    return best < INFINITY;
}

/* False: no other all through the range, or none that serves the same sizes. */
static bool choose_example(const struct uc_tune *t, enum uc_entry e, size_t i, struct example *x)
{
    const struct uc_ladder *l = &t->profile.entry[e].ladder;
    const struct uc_segment *s = &l->segment[i];
    const struct ucopy_strategy *chosen = ucopy_find(s->strategy),
                                *other = ucopy_find(s->runner_up);
    size_t lo = i ? l->segment[i - 1].max + 1 : 0, hi = smaller(s->max, t->top);

    memset(x, 0, sizeof(*x));
    if (!chosen || !other)
        return false;
    x->pair[0] = uc_subject_called(chosen);
    x->pair[1] = uc_subject_called(other);
    if (e == UC_COPY && !lo && hi <= UC_SMALL_MAX && take_band(x, hi))
        return true;
    lo = larger(lo, larger(x->pair[0].min, x->pair[1].min));
    hi = smaller(hi, smaller(x->pair[0].max, x->pair[1].max));
    return lo <= hi && take_size(t, x, e, lo, hi);
}

static int count(struct uc_tune *t, struct example *x)
{
    const struct uc_caches *caches = &t->session.caches;
    size_t l2 = caches->l2.bytes ? caches->l2.bytes : 256 * 1024;
    struct uc_rng rng = {t->o->seed};
    struct uc_pools pools = {0};
    struct uc_batch b = {0};
    int rc = uc_pools_map(&pools, uc_batch_bytes(&x->place, caches),
                          x->place.consumer == UC_EVICT ? 2 * l2 : 0, false, t->o->seed);

    if (!rc)
        rc = uc_batch_draw(&b, &x->place, &pools, caches, &t->weights,
                           x->place.mix == UC_BAND ? &x->mix : NULL, &rng);
    if (!rc)
        rc = uc_count_batch(&b, x->pair, 2, x->tally);
    for (int k = 0; k < 2 && !rc; k++)
        uc_tally_check(x->tally[k], caches->l1d.bytes && x->place.size > caches->l1d.bytes);
    uc_batch_free(&b);
    uc_pools_unmap(&pools);
    return rc;
}

/* [chosen, runner-up], the middle of the repeats; why not where it is not to be used. */
static json_t *event_json(const struct example *x, int e)
{
    const struct uc_tally *a = &x->tally[0][e], *b = &x->tally[1][e];

    if (a->why[0] || b->why[0])
        return json_string(a->why[0] ? a->why : b->why);
    return json_pack("[oo]", uc_tune_real(a->mid, 5), uc_tune_real(b->mid, 5));
}

static json_t *example_json(const struct uc_segment *s, const struct example *x, const char *text)
{
    json_t *events = json_object();
    bool band = x->place.mix == UC_BAND;

    for (int e = 0; e < UC_EVENTS; e++)
        json_object_set_new(events, uc_event_word[e], event_json(x, e));
    return json_pack("{s:o, s:s, s:s, s:[I, I], s:s, s:o, s:s}", "max",
                     s->max == SIZE_MAX ? json_null() : json_integer((json_int_t)s->max),
                     "strategy", s->strategy, "runner_up", s->runner_up, "sizes",
                     (json_int_t)x->place.size,
                     (json_int_t)(band ? x->place.size_hi : x->place.size), "consumer",
                     uc_consumer_name[x->place.consumer], "counts", events, "text", text);
}

static int explain_entry(struct uc_tune *t, enum uc_entry e)
{
    struct uc_profile_entry *entry = &t->profile.entry[e];
    json_t *rows = json_array();
    int rc = 0;

    for (size_t i = 0; i < entry->ladder.n && !rc; i++) {
        struct example x;
        char text[1024];
        if (!choose_example(t, e, i, &x))
            continue;
        rc = count(t, &x);
        uc_explain(x.tally[0], x.tally[1], x.pair[1].name, text, sizeof(text));
        if (!rc)
            json_array_append_new(rows, example_json(&entry->ladder.segment[i], &x, text));
        uc_sizes_free(&x.mix);
    }
    json_decref(entry->counters);
    const char *pmu = uc_counters_pmu();
    entry->counters =
        json_pack("{s:o, s:o}", "pmu", pmu ? json_string(pmu) : json_null(), "segments", rows);
    return rc;
}

int uc_tune_explain(struct uc_tune *t)
{
    int rc = 0;

    t->counted = !uc_count_possible(t->no_counters, sizeof(t->no_counters));
    for (int e = 0; e < UC_ENTRY_COUNT && t->counted && !rc; e++)
        rc = explain_entry(t, (enum uc_entry)e);
    return rc ? uc_tune_failed(t, rc) : 0;
}
