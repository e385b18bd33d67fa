/* Whole copies, timed side by side: what the sweep's cells cannot tell of a ladder, its own time
 * does. */
#include "cli/tune.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/msg.h"
#include "cli/command.h"

/* The fixed sizes: each stands for those from its predecessor on. */
static const size_t whole_size[] = {0,  1,  3,   6,   8,   12,  16,  24,   32,   40,
                                    64, 96, 128, 200, 256, 400, 512, 1024, 2048, 4096};
enum { WHOLE_SIZES = sizeof(whole_size) / sizeof(whole_size[0]) };

/* The mix: the fleet's, or the named one's sizes to UC_SMALL_MAX. */
static struct uc_cell mix_place(const struct uc_tune *t, enum uc_consumer k, enum uc_order order)
{
    struct uc_cell c = uc_cell_default("", 0);

    c.src_state = c.dst_state = UC_L1;
    c.consumer = k;
    c.order = order;
    c.mix = t->weights.sizes ? UC_NAMED : UC_BAND;
    c.size_hi = UC_SMALL_MAX;
    return c;
}

static int add_consumer(const struct uc_tune *t, enum uc_consumer k, bool mixes, struct uc_plan *p)
{
    struct uc_cell c = uc_cell_default("", 0);
    int rc = 0;

    c.src_state = c.dst_state = UC_L1;
    c.consumer = k;
    for (size_t i = 0; i < WHOLE_SIZES && !rc; i++) {
        c.size = whole_size[i];
        rc = uc_plan_add(p, &c, UC_SMALL);
    }
    for (int order = UC_RANDOM; order <= UC_LEARNED && mixes && !rc; order++) {
        struct uc_cell mix = mix_place(t, k, (enum uc_order)order);
        rc = uc_plan_add(p, &mix, UC_BANDS);
    }
    return rc;
}

/* Each fixed size, and the mix in an order that never repeats and in one that is learned, under
 * each consumer with weight. */
static int whole_plan(const struct uc_tune *t, bool mixes, struct uc_plan *p)
{
    int rc = 0;

    memset(p, 0, sizeof(*p));
    for (int k = 0; k < UC_CONSUMER_COUNT && !rc; k++)
        if (t->weights.consumer_small[k] > 0)
            rc = add_consumer(t, (enum uc_consumer)k, mixes, p);
    return rc;
}

/* Weight of the sizes that a fixed size stands for, among all to UC_SMALL_MAX. Where a distribution
 * has no such size, the fleet's count: it does not say which, and some copy must be taken. */
static double whole_weight(const struct uc_weights *w, size_t size)
{
    bool none = uc_size_weight(w, 0, UC_SMALL_MAX) <= 0;
    const struct uc_weights *by = none ? &uc_weights_default : w;
    size_t lo = 0;

    for (size_t i = 0; i < WHOLE_SIZES && whole_size[i] < size; i++)
        lo = whole_size[i] + 1;
    return uc_size_weight(by, lo, size) / uc_size_weight(by, 0, UC_SMALL_MAX);
}

static bool is_libc(const struct uc_cell *c)
{
    return !strcmp(c->strategy, "libc");
}

double uc_tune_least_cost(const struct uc_cells *cells, const struct uc_cell *c)
{
    double least = INFINITY;

    for (size_t k = 0; k < cells->n; k++)
        if (!is_libc(&cells->v[k]) && uc_cells_same_place(&cells->v[k], c))
            least = fmin(least, cells->v[k].cost);
    return least;
}

static double libc_cost(const struct uc_cells *cells, const struct uc_cell *c)
{
    struct uc_cell called = *c;

    called.form = UC_CALLED;
    for (size_t k = 0; k < cells->n; k++)
        if (is_libc(&cells->v[k]) && uc_cells_same_place(&cells->v[k], &called))
            return cells->v[k].cost;
    return NAN;
}

struct sum {
    double cost, weight;
};

static void add(struct sum *s, double cost, double weight)
{
    s->cost += weight * cost;
    s->weight += weight;
}

/* A learned order has no weight in the cost: there the copy must only not lose to libc. */
static double cell_weight(const struct uc_weights *w, const struct uc_cell *c)
{
    if (c->mix == UC_FIXED)
        return w->mix[UC_FIXED] * whole_weight(w, c->size);
    return c->order == UC_RANDOM ? w->mix[UC_BAND] : 0;
}

struct uc_whole uc_tune_score_whole(const struct uc_weights *weights, const struct uc_cells *cells,
                                    const struct uc_subject *u)
{
    struct uc_whole out = {.libc = INFINITY};
    struct sum all = {0}, of[UC_CONSUMER_COUNT] = {{0}};

    for (size_t i = 0; i < cells->n; i++) {
        const struct uc_cell *c = &cells->v[i];
        if (strcmp(c->strategy, u->name) != 0 || c->form != u->form)
            continue;
        double ratio = c->cost / uc_tune_least_cost(cells, c), w = cell_weight(weights, c);
        add(&of[c->consumer], ratio, w);
        add(&all, ratio, w * weights->consumer_small[c->consumer]);
        out.worst = fmax(out.worst, ratio);
        if (c->mix != UC_FIXED)
            out.libc = fmin(out.libc, libc_cost(cells, c) / c->cost);
    }
    for (int k = 0; k < UC_CONSUMER_COUNT; k++)
        out.under[k] = of[k].weight > 0 ? of[k].cost / of[k].weight : NAN;
    out.cost = all.weight > 0 ? all.cost / all.weight : INFINITY;
    return out;
}

/* What it loses to libc in the worst of the mixes comes on top of the cost: a copy that is the best
 * on the whole, and slower than the C library for somebody, is not worth having. */
static double charged(const struct uc_whole *w)
{
    return w->cost * (w->libc < 1 ? 1 / w->libc : 1);
}

/* The least cost; within half a per cent the first. */
#define WHOLE_TIE 1.005

size_t uc_tune_best_whole(const struct uc_whole *w, size_t n)
{
    size_t best = 0;

    for (size_t i = 1; i < n; i++)
        if (charged(&w[best]) > WHOLE_TIE * charged(&w[i]))
            best = i;
    return best;
}

static void tell(const struct uc_subject *u, const struct uc_whole *w)
{
    char libc[64] = "";

    if (isfinite(w->libc)) /* else no mix was timed */
        snprintf(libc, sizeof(libc), "; libc over it %.2f at least in mixes", w->libc);
    uc_detail("whole: %s costs %.4f (none %.3f, read %.3f, wait %.3f), %.2f at worst%s", u->name,
              w->cost, w->under[UC_NONE], w->under[UC_READ], w->under[UC_WAIT], w->worst, libc);
}

int uc_tune_time_whole(struct uc_tune *t, const struct uc_subject *tries, size_t n, double seconds,
                       double done, struct uc_whole *w)
{
    struct uc_subject u[UC_MAX_WHOLE + 1];
    struct uc_weights weights = t->weights;
    struct uc_sizes cut = {0};
    struct uc_plan plan = {0};
    struct uc_cells cells = {0};
    struct uc_sweep_options so =
        uc_tune_sweep_options(t, "whole ladders", seconds, done, done + 0.04);
    int rc = weights.sizes ? uc_sizes_cut(weights.sizes, 0, UC_SMALL_MAX, &cut) : 0;
    bool mixes = rc != -EINVAL; /* the named mix may have larger sizes alone */

    weights.sizes = weights.sizes ? &cut : NULL;
    so.weights = &weights;
    so.race = false;
    so.group_share[UC_SMALL] = 0.4;
    so.group_share[UC_BANDS] = 0.6;
    memcpy(u, tries, n * sizeof(*u));
    u[n] = uc_subject_called(ucopy_find("libc"));
    rc = rc == -ENOMEM || whole_plan(t, mixes, &plan) ? UC_EXIT_MACHINE : 0;
    if (rc)
        uc_error("no memory to time whole ladders");
    else
        rc = uc_tune_sweep(t, &plan, u, n + 1, &so, &cells, NULL);
    for (size_t i = 0; i < n && !rc; i++) {
        w[i] = uc_tune_score_whole(&t->weights, &cells, &u[i]);
        tell(&u[i], &w[i]);
    }
    uc_plan_free(&plan);
    uc_cells_free(&cells);
    uc_sizes_free(&cut);
    return rc;
}
