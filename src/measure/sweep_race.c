/* The race: who is still timed at a place. */
#include <math.h>

#include "base/stats.h"
#include "measure/sweep_state.h"

bool uc_sweep_serves(const struct uc_subject *u, const struct uc_cell *p)
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

bool uc_sweep_through_memory(enum uc_group g)
{
    return g == UC_LARGE || g == UC_EVICTS;
}

static void find_neighbours(struct uc_sweep *s, struct uc_series *e)
{
    for (size_t i = 0; i < s->n; i++) {
        struct uc_series *x = &s->series[i];
        struct uc_cell there = *x->place;
        size_t n = there.size;
        there.size = e->place->size;
        if (x == e || x->group != e->group || !uc_cells_same_place(&there, e->place))
            continue;
        if (n < e->place->size && (!e->smaller || n > e->smaller->place->size))
            e->smaller = x;
        if (n > e->place->size && (!e->larger || n < e->larger->place->size))
            e->larger = x;
    }
}

void uc_sweep_find_neighbours(struct uc_sweep *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->series[i].place->mix == UC_FIXED)
            find_neighbours(s, &s->series[i]);
}

static size_t values_of(const struct uc_sweep *s, const struct uc_series *e, size_t subject,
                        double *out)
{
    size_t n = 0;

    for (unsigned r = 0; r < s->rounds[e->group]; r++) {
        float v = *uc_sweep_value(s, e, subject, r);
        if (!isnan(v))
            out[n++] = v;
    }
    return n;
}

/* Where every line goes through memory, neighbours add to a reading and nothing takes away from it:
 * of such rounds the lower third counts. Elsewhere all do. Returns how many of v (sorted) are left.
 */
size_t uc_sweep_counting(enum uc_group g, double *v, size_t n)
{
    if (!uc_sweep_through_memory(g))
        return n;
    uc_sort(v, n);
    return (n + 2) / 3;
}

double uc_sweep_middle(const struct uc_sweep *s, const struct uc_series *e, size_t subject)
{
    double v[UC_MAX_ROUNDS];
    size_t n = uc_sweep_counting(e->group, v, values_of(s, e, subject, v));

    return n ? uc_median(v, n) : NAN;
}

/* How far above the best a strategy may be after so many rounds. A copy that is not read again
 * differs by up to four from one reading to the next: none is out by the first. */
static double race_limit(enum uc_group g, unsigned rounds)
{
    bool dear = uc_sweep_through_memory(g), evicts = g == UC_EVICTS;

    if (rounds < 2)
        return evicts ? 4 : dear ? 2 : 2.5;
    if (rounds < 4)
        return evicts ? 2 : 1.6;
    return rounds < 8 ? (evicts ? 1.5 : 1.35) : 1.25;
}

/* The best candidate's cost at a place so far. */
static double best_of(const struct uc_sweep *s, const struct uc_series *e)
{
    double best = INFINITY;

    for (size_t k = 0; k < s->subjects; k++)
        if (!e->out[k] && s->subject[k].role == UCOPY_CANDIDATE)
            best = fmin(best, uc_sweep_middle(s, e, k));
    return best;
}

static bool far_above(const struct uc_sweep *s, const struct uc_series *e, size_t k, double limit)
{
    return uc_sweep_middle(s, e, k) > limit * e->best;
}

/* A neighbour on the box, a fault of the caches' luck: in the groups that go through memory one
 * reading in twenty is two to four times too high, and a strategy that is out by it keeps that
 * reading as its cost. So the next size below or above must say the same. */
static bool confirmed(const struct uc_sweep *s, const struct uc_series *e, size_t k, double limit)
{
    const struct uc_series *by[] = {e->smaller, e->larger};
    bool asked = false;

    for (int i = 0; i < 2; i++) {
        if (!by[i] || !uc_sweep_serves(&s->subject[k], by[i]->place))
            continue;
        if (far_above(s, by[i], k, limit))
            return true;
        asked = true;
    }
    return !asked;
}

/* After so many rounds the race is looked at: a look takes a median of each series, and late ones
 * change little. */
static bool is_heat(unsigned rounds)
{
    while (rounds > 4 && rounds % 2 == 0)
        rounds /= 2;
    return rounds <= 4;
}

/* Out of the race: above the best by far after few rounds, by less after more, here and at a
 * neighbouring size. Baselines and limits stay. */
void uc_sweep_race(struct uc_sweep *s, enum uc_group g)
{
    double limit = race_limit(g, s->rounds[g]);

    if (!is_heat(s->rounds[g]))
        return;
    for (size_t i = 0; i < s->n; i++)
        if (s->series[i].group == g)
            s->series[i].best = best_of(s, &s->series[i]);
    for (size_t i = 0; i < s->n; i++) {
        struct uc_series *e = &s->series[i];
        for (size_t k = 0; k < s->subjects && e->group == g; k++)
            if (!e->out[k] && s->subject[k].role == UCOPY_CANDIDATE && far_above(s, e, k, limit) &&
                confirmed(s, e, k, limit))
                e->out[k] = true;
    }
}
