/* Guards, on made-up tables whose cliff is known: which page distances they catch, who stands in,
 * and that none is set where it does not pay, where nobody can stand in, or where its price is
 * unknown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "fit/fit.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const int distance[] = {0, 1, 16, 63, 64, 4032, 4065, 4095};
static const size_t probed[] = {64, 256, 1024, 4096, 16384};

/* a and b cost 10 + n / 100, b times `ahead`; at distances first to last a costs `cliff` times as
 * much, b as it is. */
struct table {
    double cliff, ahead, noise;
    size_t first, last; /* in distance[] */
    bool b_falls_too;
    struct uc_rng rng;
};

static struct uc_cell cell_of(struct table *t, const char *name, size_t size, double factor)
{
    struct uc_cell c = uc_cell_default(name, size);
    double truth = (10 + (double)size / 100) * factor;

    c.cost = truth * (1 + t->noise * (2 * uc_rng_unit(&t->rng) - 1));
    c.lo = c.cost * (1 - t->noise - .001);
    c.hi = c.cost * (1 + t->noise + .001);
    return c;
}

static void add(struct uc_cells *c, struct uc_cell cell)
{
    assert_int_equal(uc_cells_add(c, &cell), 0);
}

static struct uc_cells cells_of(struct table *t)
{
    struct uc_cells c = {.has_interval = true};

    for (double n = 16; n <= 1 << 20; n *= sqrt(2)) {
        add(&c, cell_of(t, "a", (size_t)(n + .5), 1));
        add(&c, cell_of(t, "b", (size_t)(n + .5), t->ahead));
    }
    for (size_t i = 0; i < COUNT(probed); i++)
        for (size_t k = 0; k < COUNT(distance); k++) {
            bool bad = k >= t->first && k <= t->last;
            struct uc_cell a = cell_of(t, "a", probed[i], bad ? t->cliff : 1),
                           b = cell_of(t, "b", probed[i],
                                       t->ahead * (bad && t->b_falls_too ? t->cliff : 1));
            a.page_distance = b.page_distance = distance[k];
            add(&c, a);
            add(&c, b);
        }
    return c;
}

static struct uc_fit_strategy known[2];

static struct uc_fit_options options(double branch_cost)
{
    known[0] = (struct uc_fit_strategy){.name = "a", .max = UCOPY_NO_LIMIT, .rank = 2};
    known[1] = (struct uc_fit_strategy){.name = "b", .max = UCOPY_NO_LIMIT, .rank = 1};
    return (struct uc_fit_options){.weights = &uc_weights_default,
                                   .environment = UCOPY_USER,
                                   .max_segments = 6,
                                   .branch_cost = branch_cost,
                                   .strategies = known,
                                   .strategy_count = COUNT(known)};
}

static struct uc_fit_result fitted; /* too large for the stack */

/* The first guard of the best ladder; NULL: none. */
static const struct uc_guard *guard_of(struct table *t, const struct uc_fit_options *o)
{
    struct uc_cells c = cells_of(t);
    const struct uc_guard *g = NULL;

    assert_int_equal(uc_fit(&c, o, &fitted), 0);
    for (size_t i = fitted.ladder[0].n; i-- > 0;)
        if (fitted.ladder[0].segment[i].guard.test[0])
            g = &fitted.ladder[0].segment[i].guard;
    uc_cells_free(&c);
    return g;
}

static void assert_guard(const struct uc_guard *g, long lo, long hi)
{
    assert_non_null(g);
    assert_string_equal(g->test, "page_distance");
    assert_string_equal(g->otherwise, "b");
    assert_int_equal(g->lo, lo);
    assert_int_equal(g->hi, hi);
}

/* From behind the last distance known to be good to before the next one. */
static void a_cliff_is_guarded(void **state)
{
    static const struct {
        size_t first, last;
        long lo, hi;
    } row[] = {{1, 2, 1, 62}, {1, 3, 1, 63}, {2, 2, 2, 62}, {6, 7, 4033, 4095}, {7, 7, 4066, 4095}};
    struct uc_fit_options o = options(5);

    for (size_t i = 0; i < COUNT(row); i++) {
        struct table t = {20, 1.5, .005, row[i].first, row[i].last, false, {i}};
        assert_guard(guard_of(&t, &o), row[i].lo, row[i].hi);
        assert_int_equal(fitted.ladder[0].n, 1);
        assert_string_equal(fitted.ladder[0].segment[0].strategy, "a");
    }
}

/* b is within the margin and has no cliff: without a guard a would be barred by it. */
static void a_guard_spares_the_bar(void **state)
{
    struct table t = {20, 1.025, .001, 1, 2, false, {1}};
    struct uc_fit_options o = options(0);

    assert_null(guard_of(&t, &o)); /* its price is unknown */
    assert_int_equal(fitted.barred_n, 1);
    assert_string_equal(fitted.barred[0].strategy, "a");
    o = options(1);
    t.rng.state = 1;
    assert_guard(guard_of(&t, &o), 1, 62);
    assert_int_equal(fitted.barred_n, 0);
}

/* What the guard does not catch still bars. */
static void the_rest_of_the_cliffs_bars(void **state)
{
    struct table t = {20, 1.025, .001, 1, 2, false, {1}};
    struct uc_fit_options o = options(1);
    struct uc_cells c = cells_of(&t);

    for (size_t i = 0; i < c.n; i++)
        if (!strcmp(c.v[i].strategy, "a") && c.v[i].page_distance == 4095)
            c.v[i].cost = c.v[i].lo = c.v[i].hi = 20 * c.v[i].cost;
    assert_int_equal(uc_fit(&c, &o, &fitted), 0);
    assert_int_equal(fitted.barred_n, 1);
    assert_non_null(strstr(fitted.barred[0].why, "page distance 4095"));
    uc_cells_free(&c);
}

/* Nor does it help to be sent to one that falls itself: c is level, but cannot stand in. */
static void what_the_stand_in_costs_bars(void **state)
{
    struct table t = {20, 1.5, .001, 1, 2, false, {1}};
    struct uc_fit_options o = options(1);
    struct uc_fit_strategy three[3] = {known[0], known[1], {.name = "c", .min = 64}};
    struct uc_cells c = cells_of(&t);
    size_t n = c.n;

    three[2].max = UCOPY_NO_LIMIT;
    o.strategies = three;
    o.strategy_count = 3;
    for (size_t i = 0; i < n; i++)
        if (!strcmp(c.v[i].strategy, "a") && c.v[i].size >= 64) {
            struct uc_cell x = cell_of(&t, "c", c.v[i].size, 1.02);
            x.page_distance = c.v[i].page_distance;
            add(&c, x);
        }
    assert_int_equal(uc_fit(&c, &o, &fitted), 0);
    assert_int_equal(fitted.barred_n, 0); /* b costs 1.5 there */
    for (size_t i = 0; i < n; i++)
        if (!strcmp(c.v[i].strategy, "b") && c.v[i].page_distance >= 0)
            c.v[i].cost = c.v[i].lo = c.v[i].hi = 2 * c.v[i].cost;
    assert_int_equal(uc_fit(&c, &o, &fitted), 0);
    assert_int_equal(fitted.barred_n, 1);
    assert_string_equal(fitted.barred[0].strategy, "a");
    assert_true(fitted.barred[0].ratio < 4);
    uc_cells_free(&c);
}

static void nobody_can_stand_in(void **state)
{
    struct table t = {20, 1.5, .005, 1, 2, false, {1}};
    struct uc_fit_options o = options(5);

    known[1].max = 32768;
    assert_null(guard_of(&t, &o));
    o = options(5);
    known[1].min = 64;
    assert_null(guard_of(&t, &o));
    o = options(5);
    known[1].streaming = true;
    assert_null(guard_of(&t, &o));
    o = options(5);
    known[1].role = UCOPY_BASELINE;
    assert_null(guard_of(&t, &o));
    o = options(5);
    t.b_falls_too = true;
    assert_null(guard_of(&t, &o));
    t.b_falls_too = false;
    assert_guard(guard_of(&t, &o), 1, 62); /* and who is not any of that can */
}

/* Any cliff: a guard where it gains more than the margin, none where it gains less. The gain, from
 * the truth: share of the distances, times what the cliff costs beyond b, less the price. */
static void guards_follow_the_gain(void **state)
{
    static const struct {
        size_t first, last;
        double width;
    } run[] = {{1, 1, 15}, {1, 2, 62}, {1, 3, 63}, {6, 7, 63}, {7, 7, 30}};
    int with = 0, without = 0;

    for (unsigned seed = 1; seed <= 400; seed++) {
        struct uc_rng r = {seed};
        size_t k = uc_rng_below(&r, COUNT(run));
        double branch = 4 * uc_rng_unit(&r), gain = 0;
        struct table t = {1.2 + 20 * uc_rng_unit(&r),
                          1.1 + uc_rng_unit(&r),
                          .01,
                          run[k].first,
                          run[k].last,
                          false,
                          {seed}};
        struct uc_fit_options o = options(branch);
        double share = .9 * run[k].width / 4096;
        for (size_t i = 0; i < COUNT(probed); i++)
            gain += (share * (t.cliff - t.ahead) -
                     branch * (.05 + share) / (10 + (double)probed[i] / 100)) /
                    COUNT(probed);
        bool clear = fabs(gain / .03 - 1) > .15 && fabs(t.cliff / 2 - 1) > .1;
        bool wanted = gain > .03 && t.cliff > 2;
        const struct uc_guard *g = guard_of(&t, &o);
        if (clear && wanted != (g != NULL))
            fail_msg("seed %u: gain %.4f, cliff %.2f, %s guard", seed, gain, t.cliff,
                     g ? "a" : "no");
        with += clear && wanted;
        without += clear && !wanted;
    }
    assert_in_range(with, 50, 350);
    assert_in_range(without, 50, 350);
}

/* Where the good distance after the cliff is far away most copies would be sent elsewhere. */
static void a_guard_is_narrow(void **state)
{
    struct table t = {20, 1.5, .005, 4, 4, false, {1}};
    struct uc_fit_options o = options(5);

    assert_null(guard_of(&t, &o)); /* 64 to 4031 */
    t = (struct table){20, 1.5, .005, 0, 7, false, {1}};
    assert_null(guard_of(&t, &o)); /* all: no cliff but the level */
}

/* A range without a probe within twice its sizes has no guard. */
static void guards_stand_where_it_was_probed(void **state)
{
    struct table t = {20, 1.5, .001, 1, 2, false, {1}};
    struct uc_fit_options o = options(5);
    struct uc_cells c = cells_of(&t);

    for (size_t i = 0; i < c.n; i++) /* b serves a range in the middle */
        if (!strcmp(c.v[i].strategy, "b") && c.v[i].page_distance < 0 && c.v[i].size > 20000 &&
            c.v[i].size < 200000)
            c.v[i].cost = c.v[i].lo = c.v[i].hi = .3 * c.v[i].cost;
    assert_int_equal(uc_fit(&c, &o, &fitted), 0);
    const struct uc_ladder *l = &fitted.ladder[0];
    assert_int_equal(l->n, 3);
    assert_guard(&l->segment[0].guard, 1, 62);
    assert_string_equal(l->segment[2].strategy, "a");
    assert_string_equal(l->segment[1].guard.test, "");
    assert_string_equal(l->segment[2].guard.test, "");
    uc_cells_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cliff_is_guarded),
        cmocka_unit_test(a_guard_spares_the_bar),
        cmocka_unit_test(the_rest_of_the_cliffs_bars),
        cmocka_unit_test(what_the_stand_in_costs_bars),
        cmocka_unit_test(nobody_can_stand_in),
        cmocka_unit_test(guards_follow_the_gain),
        cmocka_unit_test(a_guard_is_narrow),
        cmocka_unit_test(guards_stand_where_it_was_probed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
