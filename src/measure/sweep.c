#include "measure/sweep.h"

#include <alloca.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "base/stats.h"
#include "measure/company.h"
#include "measure/journal.h"
#include "measure/sweep_state.h"

volatile sig_atomic_t uc_interrupted;

/* Rounds of a group that are enough where time is short for another. */
static unsigned enough(enum uc_group g)
{
    return g == UC_SMALL || g == UC_EVICTS ? 48 : g == UC_LARGE || g == UC_PROBES ? 24 : 96;
}

static unsigned most_rounds(const struct uc_sweep *s, enum uc_group g)
{
    unsigned n = enough(g) * s->most;
    return n < UC_MAX_ROUNDS ? n : UC_MAX_ROUNDS;
}

int uc_sweep_room(const struct uc_sweep *s, struct uc_series *e, unsigned rounds)
{
    unsigned room = e->room ? e->room : 16;

    while (room < rounds)
        room *= 2;
    if (room == e->room)
        return 0;
    float *v = realloc(e->value, room * s->subjects * sizeof(*v));
    if (!v)
        return -ENOMEM;
    for (size_t i = e->room * s->subjects; i < room * s->subjects; i++)
        v[i] = NAN;
    e->value = v;
    e->room = room;
    return 0;
}

static int series_init(struct uc_sweep *s, struct uc_series *e, size_t i)
{
    e->place = &s->plan->place[i];
    e->group = s->plan->group[i];
    e->out = calloc(s->subjects, sizeof(*e->out));
    if (!e->out)
        return -ENOMEM;
    for (size_t k = 0; k < s->subjects; k++)
        e->out[k] = !uc_sweep_serves(&s->subject[k], e->place);
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
    s->most = 1;
    s->series = calloc(plan->n ? plan->n : 1, sizeof(*s->series));
    if (!s->series)
        rc = -ENOMEM;
    for (size_t i = 0; i < plan->n && !rc; i++, s->n++)
        rc = series_init(s, &s->series[i], i);
    if (!rc)
        uc_sweep_find_neighbours(s);
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

/* A bound thread runs elsewhere only where its mask was changed from outside, or its CPU went
 * offline. A move shows within a reading; one made on the new CPU alone would look undisturbed. */
static bool moved_away(const struct uc_sweep *s)
{
    return s->o.pu && sched_getcpu() != *s->o.pu;
}

/* Where the code lies in a round: 0, 1, 1, 0, so that two rounds have both, and four have each with
 * either order of the buffers (round & 1). */
static bool shifted_in(unsigned round)
{
    return (round ^ round >> 1) & 1;
}

static struct uc_subject placed(const struct uc_subject *u, unsigned round)
{
    struct uc_subject p = *u;

    if (p.shifted && shifted_in(round))
        p.fn = p.shifted;
    return p;
}

/* Readings of one strategy in a round, of which the least counts. Where one takes milliseconds or
 * brings the caches into a state at length, later rounds are its repeats; up to twice an L3's share
 * readings are short and the worst of all: one in five is off by a third and more in a guest. */
static int repeats(const struct uc_series *e)
{
    if (!uc_sweep_through_memory(e->group))
        return 2;
    return e->group == UC_LARGE && e->place->size <= (8u << 20) ? 3 : 1;
}

/* One place in one round: the same drawn calls for all, each repeat in another order. */
static int measure_series(struct uc_sweep *s, struct uc_series *e, struct uc_batch *b,
                          unsigned round)
{
    size_t order[256], n = 0;

    for (size_t k = 0; k < s->subjects && n < 256; k++)
        if (!e->out[k])
            order[n++] = k;
    b->undisturbed = 0;
    for (int repeat = 0; repeat < repeats(e); repeat++) {
        shuffle(order, n, &s->rng);
        for (size_t i = 0; i < n; i++) {
            if (uc_interrupted)
                return -EINTR;
            float *v = uc_sweep_value(s, e, order[i], round);
            struct uc_subject u = placed(&s->subject[order[i]], round);
            double t = uc_batch_time(b, &u, s->o.clock->overhead_ticks, &s->dropped);
            s->readings++;
            if (moved_away(s))
                return -EXDEV;
            if (!isnan(t) && (isnan(*v) || t < *v))
                *v = (float)t;
        }
    }
    return 0;
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
        for (size_t k = 0;
             k < s->subjects && s->series[i].group == g && s->rounds[g] < s->series[i].room; k++)
            *uc_sweep_value(s, &s->series[i], k, s->rounds[g]) = NAN;
}

static int measure_round(struct uc_sweep *s, enum uc_group g)
{
    /* The stack lies elsewhere in its page every round, as it does from run to run: copies that use
     * it, and the calls themselves, cost up to twice as much where it lies badly. */
    volatile char *offset = alloca(16 + 16 * uc_rng_below(&s->rng, 256));
    struct uc_pools fresh = {0}, *pools;
    struct uc_batch batch = {.company = s->o.company};
    size_t n = 0, *order = malloc((s->n ? s->n : 1) * sizeof(*order));
    *offset = 0;
    int rc = order ? round_pools(s, g, &fresh, &pools) : -ENOMEM;

    for (size_t i = 0; i < s->n && !rc; i++)
        if (s->series[i].group == g) {
            order[n++] = i;
            rc = uc_sweep_room(s, &s->series[i], s->rounds[g] + 1);
        }
    if (!rc)
        shuffle(order, n, &s->rng);
    for (size_t i = 0; i < n && !rc; i++) {
        struct uc_series *e = &s->series[order[i]];
        progress(s, g);
        rc = uc_batch_draw(&batch, e->place, pools, s->o.caches, s->o.weights, mix_of(s, e->place),
                           &s->rng);
        if (!rc && e->place->threads > 1)
            rc = uc_company_draw(s->o.company, &batch, s->o.weights, mix_of(s, e->place), &s->rng);
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
        if (share <= 0 || s->rounds[g] >= most_rounds(s, (enum uc_group)g))
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

/* Kept every 5 seconds, for a kill that gives no notice, and less often where that takes long; a
 * failure costs only the journal. */
static void keep_journal(const struct uc_sweep *s, double *next)
{
    double now = uc_seconds();

    if (!s->o.journal || now < *next)
        return;
    uc_journal_save(s, s->o.journal);
    double took = uc_seconds() - now;
    *next = now + took + fmax(5, 30 * took);
}

static double total_spent(const struct uc_sweep *s)
{
    double sum = 0;

    for (int g = 0; g < UC_GROUPS; g++)
        sum += s->spent[g];
    return sum;
}

/* All groups have enough rounds: where the time is to be filled they get twice as many. */
static bool more(struct uc_sweep *s)
{
    if (!s->o.fill || uc_seconds() - s->started >= s->o.seconds || s->most >= UC_MAX_ROUNDS)
        return false;
    s->most *= 2;
    return true;
}

int uc_sweep_run(struct uc_sweep *s)
{
    double next_save = uc_seconds() + 5;
    enum uc_group g;
    int rc = 0;

    if (s->done)
        return 0;
    s->started = uc_seconds() - total_spent(s); /* a resumed run has spent some already */
    for (int k = 0; k < UC_GROUPS; k++)
        if (!has_places(s, (enum uc_group)k))
            s->o.group_share[k] = 0;
    while (!rc && ((g = next_group(s)) < UC_GROUPS || more(s))) {
        if (g == UC_GROUPS)
            continue;
        double t = uc_seconds();
        rc = measure_round(s, g);
        s->spent[g] += uc_seconds() - t;
        if (!rc) {
            s->rounds[g]++;
            if (s->o.race)
                uc_sweep_race(s, g);
            keep_journal(s, &next_save);
        }
    }
    s->done = !rc;
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
    unsigned rounds = s->rounds[e->group];
    double ratio[256], mid[256];

    for (size_t k = 0; k < s->subjects && k < 256; k++)
        mid[k] = uc_sweep_middle(s, e, k);
    for (unsigned r = 0; r < rounds; r++) {
        size_t n = 0;
        for (size_t k = 0; k < s->subjects && k < 256; k++) {
            float v = *uc_sweep_value(s, e, k, r);
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
        float x = *uc_sweep_value(s, e, k, r);
        if (isnan(x))
            continue;
        lo = fmin(lo, x);
        hi = fmax(hi, x);
        v[n++] = x / factor[r];
    }
    c->n = (unsigned)n;
    if (!n)
        return;
    n = uc_sweep_counting(e->group, v, n);
    struct uc_interval m = uc_median_interval(v, n, 0.95);
    c->cost = m.mid * ns;
    c->lo = m.lo * ns;
    c->hi = m.hi * ns;
    c->mapping_spread = hi / lo;
}

/* The middle of the rounds that had the code at its second placement over that of the others. */
static double code_ratio(const struct uc_sweep *s, const struct uc_series *e, size_t k,
                         const double *factor)
{
    double v[2][UC_MAX_ROUNDS];
    size_t n[2] = {0};

    for (unsigned r = 0; r < s->rounds[e->group] && s->subject[k].shifted; r++) {
        float x = *uc_sweep_value(s, e, k, r);
        int at = shifted_in(r);
        if (!isnan(x))
            v[at][n[at]++] = x / factor[r];
    }
    for (int at = 0; at < 2; at++)
        n[at] = uc_sweep_counting(e->group, v[at], n[at]);
    return n[0] && n[1] ? uc_median(v[1], n[1]) / uc_median(v[0], n[0]) : 0;
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
            c.code_ratio = code_ratio(s, e, k, factor);
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
