#include "measure/sweep.h"

#include <alloca.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "base/stats.h"
#include "measure/journal.h"
#include "measure/sweep_state.h"

volatile sig_atomic_t uc_interrupted;

unsigned uc_sweep_most(enum uc_group g)
{
    return g == UC_SMALL                                       ? 48
           : g == UC_LARGE || g == UC_EVICTS || g == UC_PROBES ? 24
                                                               : UC_MAX_ROUNDS;
}

static bool serves(const struct uc_subject *u, const struct uc_cell *p)
{
    if (u->role == UCOPY_LIMIT && !(p->dst_align == 0 && p->src_align == 0))
        return false;
    /* the reference is checked against, not raced */
    if (u->role == UCOPY_REFERENCE)
        return false;
    if (p->code == UC_COLD && !u->cold)
        return false;
    /* inlining is a question of short copies at hand, not of worst cases and far states */
    if (u->form == UC_INLINE && u->role == UCOPY_CANDIDATE &&
        (p->size > 64 || p->entry != UC_COPY || p->page_distance >= 0 || p->dst_align >= 0 ||
         p->src_end.kind != UC_END_DRAWN || p->dst_end.kind != UC_END_DRAWN ||
         p->src_state == UC_L2 || p->src_state == UC_L3 || p->src_state == UC_MEMORY))
        return false;
    if (p->mix != UC_FIXED)
        return u->min == 0 && u->max >= p->size_hi;
    return p->size >= u->min && p->size <= u->max;
}

static int series_init(struct uc_sweep *s, struct uc_series *e, size_t i)
{
    size_t cells = s->subjects * uc_sweep_most(s->plan->group[i]);

    e->place = &s->plan->place[i];
    e->group = s->plan->group[i];
    e->value = malloc(cells * sizeof(*e->value));
    e->out = calloc(s->subjects, sizeof(*e->out));
    if (!e->value || !e->out)
        return -ENOMEM;
    for (size_t k = 0; k < cells; k++)
        e->value[k] = NAN;
    for (size_t k = 0; k < s->subjects; k++)
        e->out[k] = !serves(&s->subject[k], e->place);
    return 0;
}

int uc_sweep_new(struct uc_sweep **out, const struct uc_plan *plan,
                 const struct uc_subject *subjects, size_t subject_count,
                 const struct uc_sweep_options *o)
{
    struct uc_sweep *s = calloc(1, sizeof(*s));
    int rc = 0;

    if (!s)
        return -ENOMEM;
    s->o = *o;
    s->plan = plan;
    s->subject = subjects;
    s->subjects = subject_count;
    s->rng.state = o->seed;
    s->series = calloc(plan->n ? plan->n : 1, sizeof(*s->series));
    if (!s->series)
        rc = -ENOMEM;
    for (size_t i = 0; i < plan->n && !rc; i++, s->n++)
        rc = series_init(s, &s->series[i], i);
    for (size_t b = 0; b < uc_band_count && !rc; b++)
        rc = uc_sizes_fleet(&s->band[b], uc_band_end[b]);
    if (rc) {
        uc_sweep_free(s);
        return rc;
    }
    *out = s;
    return 0;
}

void uc_sweep_free(struct uc_sweep *s)
{
    if (!s)
        return;
    for (size_t i = 0; s->series && i < s->plan->n; i++) {
        free(s->series[i].value);
        free(s->series[i].out);
    }
    for (size_t b = 0; b < uc_band_count; b++)
        uc_sizes_free(&s->band[b]);
    uc_pools_unmap(&s->large);
    free(s->series);
    free(s);
}

static const struct uc_sizes *mix_of(const struct uc_sweep *s, const struct uc_cell *p)
{
    if (p->mix == UC_NAMED)
        return s->o.weights->sizes;
    for (size_t b = 0; p->mix == UC_BAND && b < uc_band_count; b++)
        if (uc_band_end[b] == p->size_hi)
            return &s->band[b];
    return NULL;
}

static void shuffle(size_t *v, size_t n, struct uc_rng *rng)
{
    for (size_t i = n; i > 1; i--) {
        size_t k = uc_rng_below(rng, i), t = v[i - 1];
        v[i - 1] = v[k];
        v[k] = t;
    }
}

static void progress(const struct uc_sweep *s, enum uc_group g)
{
    double t = uc_seconds() - s->started, share = t / s->o.seconds;

    if (share > 1)
        share = 1;
    char what[96];
    snprintf(what, sizeof(what), "%s: %s", s->o.what, uc_group_name[g]);
    uc_progress(what, s->o.done_before + share * (s->o.done_after - s->o.done_before),
                fmax(s->o.seconds - t, 0) + s->o.seconds_after);
}

/* The groups whose readings take milliseconds and go through memory. */
static bool through_memory(enum uc_group g)
{
    return g == UC_LARGE || g == UC_EVICTS;
}

/* A bound thread runs elsewhere only where its mask was changed from outside, or its CPU went
 * offline. A move shows within a reading; one made on the new CPU alone would look undisturbed. */
static bool moved_away(const struct uc_sweep *s)
{
    return s->o.pu && sched_getcpu() != *s->o.pu;
}

/* One place in one round: the same drawn calls for all, each twice, in two orders; the lesser
 * counts. */
static int measure_series(struct uc_sweep *s, struct uc_series *e, struct uc_batch *b,
                          unsigned round)
{
    size_t order[256], n = 0, most = uc_sweep_most(e->group);

    for (size_t k = 0; k < s->subjects && n < 256; k++)
        if (!e->out[k])
            order[n++] = k;
    b->undisturbed = 0;
    for (int repeat = 0; repeat < 2; repeat++) {
        shuffle(order, n, &s->rng);
        for (size_t i = 0; i < n; i++) {
            if (uc_interrupted)
                return -EINTR;
            float *v = &e->value[order[i] * most + round];
            double t =
                uc_batch_time(b, &s->subject[order[i]], s->o.clock->overhead_ticks, &s->dropped);
            s->readings++;
            if (moved_away(s))
                return -EXDEV;
            if (!isnan(t) && (isnan(*v) || t < *v))
                *v = (float)t;
        }
        if (through_memory(e->group))
            break; /* milliseconds each: later rounds are their repeats */
    }
    return 0;
}

static int values_of(const struct uc_series *e, size_t subject, unsigned rounds, double *out)
{
    int n = 0;

    for (unsigned r = 0; r < rounds; r++) {
        float v = e->value[subject * uc_sweep_most(e->group) + r];
        if (!isnan(v))
            out[n++] = v;
    }
    return n;
}

/* Where every line goes through memory, neighbours add to a reading and nothing takes away from it:
 * of such rounds the lower third counts. Elsewhere all do. Returns how many of v (sorted) are left.
 */
static size_t counting(enum uc_group g, double *v, size_t n)
{
    if (!through_memory(g))
        return n;
    uc_sort(v, n);
    return (n + 2) / 3;
}

static double middle(const struct uc_series *e, size_t subject, unsigned rounds)
{
    double v[UC_MAX_ROUNDS];
    size_t n = counting(e->group, v, (size_t)values_of(e, subject, rounds, v));

    return n ? uc_median(v, n) : NAN;
}

/* How far above the best a strategy may be after so many rounds. A copy that is not read again
 * differs by up to four from one reading to the next: none is out by the first. */
static double race_limit(enum uc_group g, unsigned rounds)
{
    bool dear = through_memory(g), evicts = g == UC_EVICTS;

    if (rounds < 2)
        return evicts ? 4 : dear ? 1.6 : 2.5;
    if (rounds < 4)
        return evicts ? 2 : dear ? 1.4 : 1.6;
    return rounds < 8 ? (evicts ? 1.5 : 1.35) : 1.25;
}

/* Out of the race: above the best by far after few rounds, by less after more. Baselines and limits
 * stay. */
static void race(struct uc_sweep *s, enum uc_group g)
{
    double limit = race_limit(g, s->rounds[g]);
    unsigned rounds = s->rounds[g];

    for (size_t i = 0; i < s->n; i++) {
        struct uc_series *e = &s->series[i];
        double best = INFINITY;
        if (e->group != g)
            continue;
        for (size_t k = 0; k < s->subjects; k++)
            if (!e->out[k] && s->subject[k].role == UCOPY_CANDIDATE)
                best = fmin(best, middle(e, k, rounds));
        for (size_t k = 0; k < s->subjects; k++)
            if (!e->out[k] && s->subject[k].role == UCOPY_CANDIDATE &&
                middle(e, k, rounds) > limit * best)
                e->out[k] = true;
    }
}

static size_t pool_bytes(const struct uc_sweep *s, enum uc_group g)
{
    size_t most = 0;

    for (size_t i = 0; i < s->n; i++)
        if (s->series[i].group == g) {
            size_t need = uc_batch_bytes(s->series[i].place, s->o.caches);
            most = need > most ? need : most;
        }
    return most;
}

static size_t warm_bytes(const struct uc_sweep *s)
{
    size_t l2 = s->o.caches->l2.bytes ? s->o.caches->l2.bytes : 256 * 1024;
    return 2 * l2;
}

/* A fresh small pool every round, the large one every eighth: mapping it costs as much as many
 * copies of it. */
static int round_pools(struct uc_sweep *s, enum uc_group g, struct uc_pools *fresh,
                       struct uc_pools **use)
{
    unsigned round = s->rounds[g];
    int rc = 0;

    if (g != UC_LARGE) {
        *use = fresh;
        return uc_pools_map(fresh, pool_bytes(s, g), g == UC_EVICTS ? warm_bytes(s) : 0, round & 1,
                            uc_rng_next(&s->rng));
    }
    if (!s->large.src.mapping || s->large_age++ % 8 == 7) {
        uc_pools_unmap(&s->large);
        rc = uc_pools_map(&s->large, pool_bytes(s, g), warm_bytes(s), round & 1,
                          uc_rng_next(&s->rng));
    }
    *use = &s->large;
    return rc;
}

static void forget_round(struct uc_sweep *s, enum uc_group g)
{
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < s->subjects && s->series[i].group == g; k++)
            s->series[i].value[k * uc_sweep_most(g) + s->rounds[g]] = NAN;
}

static int measure_round(struct uc_sweep *s, enum uc_group g)
{
    /* The stack lies elsewhere in its page every round, as it does from run to run: copies that use
     * it, and the calls themselves, cost up to twice as much where it lies badly. */
    volatile char *offset = alloca(16 + 16 * uc_rng_below(&s->rng, 256));
    struct uc_pools fresh = {0}, *pools;
    struct uc_batch batch = {0};
    size_t n = 0, *order = malloc((s->n ? s->n : 1) * sizeof(*order));
    *offset = 0;
    int rc = order ? round_pools(s, g, &fresh, &pools) : -ENOMEM;

    for (size_t i = 0; i < s->n && !rc; i++)
        if (s->series[i].group == g)
            order[n++] = i;
    if (!rc)
        shuffle(order, n, &s->rng);
    for (size_t i = 0; i < n && !rc; i++) {
        struct uc_series *e = &s->series[order[i]];
        progress(s, g);
        rc = uc_batch_draw(&batch, e->place, pools, s->o.caches, s->o.weights, mix_of(s, e->place),
                           &s->rng);
        if (!rc)
            rc = measure_series(s, e, &batch, s->rounds[g]);
    }
    if (rc) /* broken off: the round never was */
        forget_round(s, g);
    uc_clock_sample_core(s->o.clock);
    uc_batch_free(&batch);
    uc_pools_unmap(&fresh);
    free(order);
    return rc;
}

/* The group that is furthest behind its share and may still run; UC_GROUPS: none. */
static enum uc_group next_group(const struct uc_sweep *s)
{
    enum uc_group best = UC_GROUPS;
    double behind = INFINITY, elapsed = uc_seconds() - s->started;

    for (int g = 0; g < UC_GROUPS; g++) {
        double share = s->o.group_share[g];
        if (share <= 0 || s->rounds[g] >= uc_sweep_most((enum uc_group)g))
            continue;
        double used = s->spent[g] / share;
        double round = s->rounds[g] ? s->spent[g] / s->rounds[g] : 0;
        if (s->rounds[g] >= 2 && elapsed + round > s->o.seconds)
            continue;
        if (s->rounds[g] < 2)
            used = (double)s->rounds[g] - 2; /* before all that have two */
        if (used < behind) {
            behind = used;
            best = (enum uc_group)g;
        }
    }
    return best;
}

static bool has_places(const struct uc_sweep *s, enum uc_group g)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->series[i].group == g)
            return true;
    return false;
}

/* Kept from time to time, for a kill that gives no notice; a failure costs only the journal. */
static void keep_journal(const struct uc_sweep *s, double *saved)
{
    double now = uc_seconds();

    if (!s->o.journal || now - *saved < 5)
        return;
    *saved = now;
    uc_journal_save(s, s->o.journal);
}

static double total_spent(const struct uc_sweep *s)
{
    double sum = 0;

    for (int g = 0; g < UC_GROUPS; g++)
        sum += s->spent[g];
    return sum;
}

int uc_sweep_run(struct uc_sweep *s)
{
    double saved = uc_seconds();
    enum uc_group g;
    int rc = 0;

    s->started = uc_seconds() - total_spent(s); /* a resumed run has spent some already */
    for (int k = 0; k < UC_GROUPS; k++)
        if (!has_places(s, (enum uc_group)k))
            s->o.group_share[k] = 0;
    while (!rc && (g = next_group(s)) < UC_GROUPS) {
        double t = uc_seconds();
        rc = measure_round(s, g);
        s->spent[g] += uc_seconds() - t;
        if (!rc) {
            s->rounds[g]++;
            if (s->o.race)
                race(s, g);
            keep_journal(s, &saved);
        }
    }
    return rc;
}

#define FEW 8u

/* Subjects of a place. */
static size_t timed(const struct uc_sweep *s, const struct uc_series *e)
{
    size_t n = 0;

    for (size_t k = 0; k < s->subjects; k++)
        n += !e->out[k];
    return n;
}

/* How a round's values lie against each strategy's own middle: what the round did to all of them
 * but one. That one is left out where there are few, since their middle would often be its own
 * value, and its interval nothing. */
static void round_factors(const struct uc_sweep *s, const struct uc_series *e, size_t but,
                          double *factor)
{
    unsigned rounds = s->rounds[e->group], most = uc_sweep_most(e->group);
    double ratio[256], mid[256];

    for (size_t k = 0; k < s->subjects && k < 256; k++)
        mid[k] = middle(e, k, rounds);
    for (unsigned r = 0; r < rounds; r++) {
        size_t n = 0;
        for (size_t k = 0; k < s->subjects && k < 256; k++) {
            float v = e->value[k * most + r];
            if (!isnan(v) && mid[k] > 0 && k != but)
                ratio[n++] = v / mid[k];
        }
        factor[r] = n >= 2 ? uc_median(ratio, n) : 1;
    }
}

static void fill_cell(const struct uc_sweep *s, const struct uc_series *e, size_t k,
                      const double *factor, struct uc_cell *c)
{
    double v[UC_MAX_ROUNDS], lo = INFINITY, hi = 0, ns = 1e9 / s->o.clock->tsc_hz;
    size_t n = 0;

    for (unsigned r = 0; r < s->rounds[e->group]; r++) {
        float x = e->value[k * uc_sweep_most(e->group) + r];
        if (isnan(x))
            continue;
        lo = fmin(lo, x);
        hi = fmax(hi, x);
        v[n++] = x / factor[r];
    }
    c->n = (unsigned)n;
    if (!n)
        return;
    n = counting(e->group, v, n);
    struct uc_interval m = uc_median_interval(v, n, 0.95);
    c->cost = m.mid * ns;
    c->lo = m.lo * ns;
    c->hi = m.hi * ns;
    c->mapping_spread = hi / lo;
}

/* All that a program with one call site carries. */
static long code_bytes(const struct uc_code_bytes *b)
{
    return b->site ? b->site + b->dispatch + b->strategy : -1;
}

int uc_sweep_cells(const struct uc_sweep *s, struct uc_cells *out)
{
    double factor[UC_MAX_ROUNDS];
    int rc = 0;

    out->unit = UC_NS;
    out->has_interval = true;
    for (size_t i = 0; i < s->n && !rc; i++) {
        const struct uc_series *e = &s->series[i];
        bool few = timed(s, e) < FEW;
        if (!few)
            round_factors(s, e, s->subjects, factor);
        for (size_t k = 0; k < s->subjects && !rc; k++) {
            if (few)
                round_factors(s, e, k, factor);
            struct uc_cell c = *e->place;
            memcpy(c.strategy, s->subject[k].name, sizeof(c.strategy));
            c.role = s->subject[k].role;
            c.form = s->subject[k].form;
            c.code_bytes = code_bytes(&s->subject[k].code);
            fill_cell(s, e, k, factor, &c);
            if (c.n)
                rc = uc_cells_add(out, &c);
        }
    }
    return rc;
}

void uc_sweep_facts(const struct uc_sweep *s, struct uc_sweep_facts *f)
{
    memset(f, 0, sizeof(*f));
    memcpy(f->rounds, s->rounds, sizeof(f->rounds));
    f->readings = s->readings;
    f->dropped = s->dropped;
    memcpy(f->seconds, s->spent, sizeof(f->seconds));
}
