/* Does a ladder hold on other cells? Made-up cells with a known answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fit/drift.h"

#define KI ((size_t)1024)
#define TOP (64 * KI * KI)

/* ---- made-up ladders and cells ---- */

static struct uc_segment *add_segment(struct uc_ladder *l, size_t max, const char *strategy,
                                      const char *runner_up)
{
    struct uc_segment *s = &l->segment[l->n++];

    memset(s, 0, sizeof(*s));
    s->max = max;
    snprintf(s->strategy, sizeof(s->strategy), "%s", strategy);
    snprintf(s->runner_up, sizeof(s->runner_up), "%s", runner_up);
    s->margin = 1.05;
    s->bracketed = max != SIZE_MAX;
    s->measured_to = max == SIZE_MAX ? TOP : max;
    return s;
}

/* Below and above a limit of 16 KiB, whose crossing was told to lie from 12 to 24 KiB. */
static struct uc_ladder two_ranges(void)
{
    struct uc_ladder l = {0};
    struct uc_segment *s = add_segment(&l, 16 * KI, "low", "");

    s->lo = 14 * KI;
    s->hi = 24 * KI;
    s->free_lo = 12 * KI;
    s->free_hi = 20 * KI;
    add_segment(&l, SIZE_MAX, "high", "");
    return l;
}

/* A strategy that costs 1 below a size and cost from it on, at all the sizes of the ladder. */
static void add_step(struct uc_cells *c, const struct uc_ladder *l, const char *name, double below,
                     size_t at, double above, double noise)
{
    size_t size[UC_DRIFT_SIZES], n = uc_drift_sizes(l, TOP, size);

    c->has_interval = true;
    for (size_t i = 0; i < n; i++) {
        struct uc_cell x = uc_cell_default(name, size[i]);
        x.cost = size[i] < at ? below : above;
        x.lo = x.cost * (1 - noise);
        x.hi = x.cost * (1 + noise);
        assert_int_equal(uc_cells_add(c, &x), 0);
    }
}

static struct uc_drift_item items[UC_DRIFT_ITEMS];
static size_t item_count;

static const struct uc_barred *barred; /* in force for judge_with */
static size_t barred_n;

static void judge_with(const struct uc_cells *c, const struct uc_ladder *l,
                       const struct uc_fit_strategy *known, size_t known_count)
{
    struct uc_fit_options o = {.weights = &uc_weights_default,
                               .environment = UCOPY_USER,
                               .strategies = known,
                               .strategy_count = known_count};

    assert_int_equal(uc_drift_judge(c, &o, l, barred, barred_n, items, &item_count), 0);
    assert_int_equal(item_count, 2 * l->n - 1);
}

/* The verdict on the one limit of two ranges. */
static const struct uc_drift_item *judge(const struct uc_cells *c, const struct uc_ladder *l)
{
    judge_with(c, l, NULL, 0);
    assert_true(items[1].limit);
    return &items[1];
}

static void verdict_is(const struct uc_drift_item *d, enum uc_drift verdict)
{
    if (d->verdict != verdict)
        fail_msg("%s at %zu is said to be %s (%s costs %.3f over %s, from %.3f to %.3f)",
                 uc_drift_name[verdict], d->first, uc_drift_name[d->verdict], d->chosen, d->loss,
                 d->other, d->lo, d->hi);
}

/* "low" is the cheaper one below a size, "high" from there on, by so much. */
static struct uc_cells crossing_at(const struct uc_ladder *l, size_t at, double by, double noise)
{
    struct uc_cells c = {0};

    add_step(&c, l, "low", 1, at, 1 + by, noise);
    add_step(&c, l, "high", 1 + by, at, 1, noise);
    return c;
}

/* ---- sizes ---- */

static bool has(const size_t *size, size_t n, size_t wanted)
{
    for (size_t i = 0; i < n; i++)
        if (size[i] == wanted)
            return true;
    return false;
}

static void both_sides_and_the_middle_are_timed(void **state)
{
    struct uc_ladder l = two_ranges();
    size_t size[UC_DRIFT_SIZES], n = uc_drift_sizes(&l, TOP, size);
    const size_t wanted[] = {16 * KI - 1, 16 * KI, 16 * KI + 1, 8 * KI, 32 * KI,
                             12 * KI,     24 * KI, 128,         TOP};

    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        if (!has(size, n, wanted[i]))
            fail_msg("%zu is not timed", wanted[i]);
    for (size_t i = 1; i < n; i++)
        assert_true(size[i - 1] < size[i]);
    n = uc_drift_sizes(&l, 16 * KI, size);
    assert_int_equal(size[n - 1], 16 * KI);
}

/* Twelve ranges, each with all its sizes, stay within the room for them. */
static void the_longest_ladder_has_room(void **state)
{
    struct uc_ladder l = {0};
    size_t size[UC_DRIFT_SIZES];

    for (size_t i = 0; i < UC_MAX_SEGMENTS; i++)
        add_segment(&l, i + 1 < UC_MAX_SEGMENTS ? (size_t)100 << 2 * i : SIZE_MAX, "some", "other");
    size_t n = uc_drift_sizes(&l, SIZE_MAX, size);
    assert_true(n > 60 && n <= UC_DRIFT_SIZES);
    for (size_t i = 0; i + 1 < UC_MAX_SEGMENTS; i++)
        assert_true(has(size, n, l.segment[i].max + 1));
}

static void strategies_are_timed_in_and_beside_their_ranges(void **state)
{
    struct uc_ladder l = {0};
    size_t lo, hi;

    add_segment(&l, 256, "a", "second");
    add_segment(&l, 4096, "b", "a");
    add_segment(&l, 65536, "c", "third");
    add_segment(&l, SIZE_MAX, "d", "third");
    assert_true(uc_drift_span(&l, "b", &lo, &hi));
    assert_int_equal(lo, 0);
    assert_int_equal(hi, 65536);
    assert_true(uc_drift_span(&l, "d", &lo, &hi));
    assert_int_equal(lo, 4097);
    assert_true(hi == SIZE_MAX);
    assert_true(uc_drift_span(&l, "third", &lo, &hi));
    assert_int_equal(lo, 4097);
    assert_true(hi == SIZE_MAX);
    assert_true(uc_drift_span(&l, "second", &lo, &hi));
    assert_int_equal(hi, 256);
    assert_false(uc_drift_span(&l, "nobody", &lo, &hi));
}

/* ---- limits ---- */

static void a_limit_at_the_crossing_holds(void **state)
{
    struct uc_ladder l = two_ranges();
    struct uc_cells c = crossing_at(&l, 16 * KI + 1, .4, .01);
    const struct uc_drift_item *d = judge(&c, &l);

    verdict_is(d, UC_HOLDS);
    assert_true(d->loss < -.2);
    assert_true(d->lo < d->loss && d->loss < d->hi);
    uc_cells_free(&c);
}

static void a_crossing_far_below_is_drift(void **state)
{
    struct uc_ladder l = two_ranges();
    struct uc_cells c = crossing_at(&l, 4 * KI, .4, .01);
    const struct uc_drift_item *d = judge(&c, &l);

    verdict_is(d, UC_DRIFTED);
    assert_string_equal(d->chosen, "low");
    assert_string_equal(d->other, "high");
    assert_true(fabs(d->loss - .4) < .001);
    assert_false(d->gone);
    assert_true(d->now_lo < 4 * KI && d->now_hi >= 4 * KI - 1 && d->now_hi < 8 * KI);
    assert_true(d->now >= d->now_lo && d->now <= d->now_hi);
    uc_cells_free(&c);
}

static void a_crossing_far_above_is_drift(void **state)
{
    struct uc_ladder l = two_ranges();
    struct uc_cells c = crossing_at(&l, 300 * KI, .4, .01);
    const struct uc_drift_item *d = judge(&c, &l);

    verdict_is(d, UC_DRIFTED);
    assert_string_equal(d->chosen, "high");
    assert_string_equal(d->other, "low");
    assert_false(d->gone);
    assert_true(d->now_lo < 300 * KI && d->now_hi >= 300 * KI - 1);
    assert_true(d->now >= d->now_lo && d->now <= d->now_hi && d->now > 24 * KI);
    uc_cells_free(&c);
}

/* Costs that fall and rise between two timed sizes cross where the line between them says. */
static void the_new_limit_is_read_off_the_curves(void **state)
{
    struct uc_ladder l = two_ranges();
    struct uc_cells c = {0};
    size_t size[UC_DRIFT_SIZES], n = uc_drift_sizes(&l, TOP, size);

    c.has_interval = true;
    for (size_t i = 0; i < n; i++) {
        struct uc_cell x = uc_cell_default("low", size[i]), y = uc_cell_default("high", size[i]);
        x.cost = pow((double)size[i] + 1, 1.2); /* they cross at 2 KiB */
        y.cost = pow((double)size[i] + 1, 1.0) * pow(2049, .2);
        x.lo = x.hi = x.cost;
        y.lo = y.hi = y.cost;
        assert_int_equal(uc_cells_add(&c, &x), 0);
        assert_int_equal(uc_cells_add(&c, &y), 0);
    }
    const struct uc_drift_item *d = judge(&c, &l);
    verdict_is(d, UC_DRIFTED);
    assert_in_range(d->now, 1500, 2500);
    uc_cells_free(&c);
}

/* The crossing has moved, but no further than it was told that it may lie. */
static void a_crossing_within_its_interval_holds(void **state)
{
    struct uc_ladder l = two_ranges();

    for (size_t at = 13 * KI; at <= 24 * KI; at += KI) {
        struct uc_cells c = crossing_at(&l, at, .4, .01);
        verdict_is(judge(&c, &l), UC_HOLDS);
        uc_cells_free(&c);
    }
}

/* Ten per cent are a bound, not a border: less is no drift wherever the curves cross. */
static void small_losses_are_no_drift(void **state)
{
    struct uc_ladder l = two_ranges();
    struct uc_cells c = crossing_at(&l, 1 * KI, .08, .005),
                    dear = crossing_at(&l, 1 * KI, .13, .005);

    verdict_is(judge(&c, &l), UC_HOLDS);
    verdict_is(judge(&dear, &l), UC_DRIFTED);
    uc_cells_free(&c);
    uc_cells_free(&dear);
}

static void wide_intervals_are_unsure(void **state)
{
    struct uc_ladder l = two_ranges();
    struct uc_cells worse = crossing_at(&l, 1 * KI, .2, .25),
                    same = crossing_at(&l, 1 * KI, .02, .2);

    verdict_is(judge(&worse, &l), UC_UNSURE);
    verdict_is(judge(&same, &l), UC_UNSURE);
    uc_cells_free(&worse);
    uc_cells_free(&same);
}

/* Two rounds that agree by chance, or one, are no interval; six are. */
static void few_rounds_are_not_sure(void **state)
{
    struct uc_ladder l = two_ranges();
    static const struct {
        unsigned rounds;
        double spread;
        enum uc_drift verdict;
    } row[] = {{1, 1, UC_UNSURE},   {2, 1.01, UC_UNSURE}, {3, 1.01, UC_DRIFTED},
               {5, 1.5, UC_UNSURE}, {6, 1.5, UC_DRIFTED}, {0, 0, UC_DRIFTED}};

    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct uc_cells c = crossing_at(&l, 1 * KI, .3, 0);
        for (size_t k = 0; k < c.n; k++) {
            c.v[k].n = row[i].rounds;
            c.v[k].mapping_spread = row[i].spread;
        }
        verdict_is(judge(&c, &l), row[i].verdict);
        uc_cells_free(&c);
    }
}

/* Without intervals (a header alone), and where the limit lies outside its own (an edited one), an
 * octave to each side is taken. */
static void without_an_interval_an_octave_counts(void **state)
{
    struct uc_ladder none = two_ranges(), edited = two_ranges();

    none.segment[0].lo = none.segment[0].hi = none.segment[0].free_lo = none.segment[0].free_hi = 0;
    edited.segment[0].max = edited.segment[0].measured_to = 64 * KI;
    struct uc_cells near = crossing_at(&none, 9 * KI, .4, .01);
    struct uc_cells far = crossing_at(&none, 6 * KI, .4, .01);
    struct uc_cells old = crossing_at(&edited, 16 * KI, .4, .01);

    verdict_is(judge(&near, &none), UC_HOLDS);
    verdict_is(judge(&far, &none), UC_DRIFTED);
    const struct uc_drift_item *d = judge(&old, &edited);
    verdict_is(d, UC_DRIFTED);
    assert_in_range(d->now, 8 * KI, 16 * KI);
    uc_cells_free(&near);
    uc_cells_free(&far);
    uc_cells_free(&old);
}

static void a_range_that_wins_nowhere_goes(void **state)
{
    struct uc_ladder l = two_ranges();
    struct uc_cells c = crossing_at(&l, TOP + 1, .4, .01), below = crossing_at(&l, 0, .4, .01);

    verdict_is(judge(&c, &l), UC_DRIFTED);
    assert_true(items[1].gone);
    assert_string_equal(items[1].other, "low");
    verdict_is(judge(&below, &l), UC_DRIFTED);
    assert_true(items[1].gone);
    assert_string_equal(items[1].other, "high");
    uc_cells_free(&c);
    uc_cells_free(&below);
}

/* A short-size dispatch serves no size above its own, and a loop none below its own: that moves no
 * limit further than it can go. */
static void limits_end_where_strategies_do(void **state)
{
    static const struct uc_fit_strategy dispatch[] = {{.name = "low", .max = 16 * 1024},
                                                      {.name = "high", .max = SIZE_MAX}};
    static const struct uc_fit_strategy loop[] = {{.name = "low", .max = SIZE_MAX},
                                                  {.name = "high", .min = 2048, .max = SIZE_MAX}};
    struct uc_ladder l = two_ranges();
    struct uc_cells above = crossing_at(&l, TOP + 1, .4, .01), below = crossing_at(&l, 0, .4, .01);

    judge_with(&above, &l, dispatch, 2);
    verdict_is(&items[1], UC_HOLDS);
    judge_with(&below, &l, loop, 2);
    verdict_is(&items[1], UC_DRIFTED);
    assert_false(items[1].gone);
    assert_int_equal(items[1].now, 2047);
    l.segment[0].free_lo = 2047;
    judge_with(&below, &l, loop, 2);
    verdict_is(&items[1], UC_HOLDS);
    uc_cells_free(&above);
    uc_cells_free(&below);
}

/* A strategy that is barred for its worst placements is no alternative there, as fast as it may be:
 * the limit moves as far as it is not barred, and where it is barred beside the limit, nowhere. */
static void a_barred_strategy_is_no_alternative(void **state)
{
    static const struct uc_barred beside = {.strategy = "high", .from = 8 * KI, .to = 16 * KI};
    static const struct uc_barred further = {.strategy = "high", .from = 1, .to = 4 * KI};
    struct uc_ladder l = two_ranges();
    struct uc_cells c = crossing_at(&l, 0, .4, .01);

    verdict_is(judge(&c, &l), UC_DRIFTED);
    assert_true(items[1].gone);
    barred_n = 1;
    barred = &beside;
    verdict_is(judge(&c, &l), UC_HOLDS);
    barred = &further;
    verdict_is(judge(&c, &l), UC_DRIFTED);
    assert_false(items[1].gone);
    assert_int_equal(items[1].now, 8 * KI - 1); /* the least size timed at which it may serve */
    barred_n = 0;
    uc_cells_free(&c);
}

/* An interval of nothing but the limit itself: beside it is beyond it. */
static void a_limit_told_exactly_has_no_room(void **state)
{
    static const struct uc_fit_strategy dispatch[] = {{.name = "low", .max = 16 * 1024},
                                                      {.name = "high", .max = SIZE_MAX}};
    struct uc_ladder l = two_ranges();
    struct uc_segment *s = &l.segment[0];

    s->lo = s->hi = s->free_lo = s->free_hi = s->max;
    struct uc_cells at = crossing_at(&l, 16 * KI + 1, .4, .01);
    struct uc_cells above = crossing_at(&l, 20 * KI, .4, .01);
    verdict_is(judge(&at, &l), UC_HOLDS);
    verdict_is(judge(&above, &l), UC_DRIFTED);
    judge_with(&above, &l, dispatch, 2);
    verdict_is(&items[1], UC_HOLDS);
    uc_cells_free(&at);
    uc_cells_free(&above);
}

/* ---- ranges ---- */

static void a_range_is_held_against_its_runner_up(void **state)
{
    struct uc_ladder l = two_ranges();
    struct uc_cells c = crossing_at(&l, 16 * KI + 1, .4, .01);

    snprintf(l.segment[0].runner_up, UC_NAME, "third");
    add_step(&c, &l, "third", .8, SIZE_MAX, 1, .01);
    judge_with(&c, &l, NULL, 0);
    verdict_is(&items[0], UC_DRIFTED);
    assert_string_equal(items[0].other, "third");
    assert_true(fabs(items[0].loss - .25) < .001);
    verdict_is(&items[1], UC_HOLDS);
    verdict_is(&items[2], UC_HOLDS); /* has no runner-up */
    assert_true(isnan(items[2].loss));
    /* it was as much faster when it was not chosen: it is barred, or serves a part */
    l.segment[0].margin = .8;
    judge_with(&c, &l, NULL, 0);
    verdict_is(&items[0], UC_HOLDS);
    uc_cells_free(&c);
}

/* ---- what is not there ---- */

static void what_was_not_timed_is_unsure(void **state)
{
    struct uc_ladder l = two_ranges();
    struct uc_cells c = {0}, none = {0};
    struct uc_fit_options o = {.weights = &uc_weights_default, .environment = UCOPY_USER};

    add_step(&c, &l, "low", 1, SIZE_MAX, 1, .01);
    verdict_is(judge(&c, &l), UC_UNSURE);
    assert_true(isnan(items[1].loss));
    struct uc_cell far = uc_cell_default("high", TOP);
    far.cost = far.lo = far.hi = 1;
    assert_int_equal(uc_cells_add(&c, &far), 0);
    verdict_is(judge(&c, &l), UC_UNSURE);
    assert_true(isnan(items[1].loss));
    assert_int_equal(uc_drift_judge(&none, &o, &l, NULL, 0, items, &item_count), -ENODATA);
    assert_int_equal(item_count, 0);
    uc_cells_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sides_and_the_middle_are_timed),
        cmocka_unit_test(the_longest_ladder_has_room),
        cmocka_unit_test(strategies_are_timed_in_and_beside_their_ranges),
        cmocka_unit_test(a_limit_at_the_crossing_holds),
        cmocka_unit_test(a_crossing_far_below_is_drift),
        cmocka_unit_test(a_crossing_far_above_is_drift),
        cmocka_unit_test(the_new_limit_is_read_off_the_curves),
        cmocka_unit_test(a_crossing_within_its_interval_holds),
        cmocka_unit_test(small_losses_are_no_drift),
        cmocka_unit_test(wide_intervals_are_unsure),
        cmocka_unit_test(few_rounds_are_not_sure),
        cmocka_unit_test(without_an_interval_an_octave_counts),
        cmocka_unit_test(a_range_that_wins_nowhere_goes),
        cmocka_unit_test(limits_end_where_strategies_do),
        cmocka_unit_test(a_barred_strategy_is_no_alternative),
        cmocka_unit_test(a_limit_told_exactly_has_no_room),
        cmocka_unit_test(a_range_is_held_against_its_runner_up),
        cmocka_unit_test(what_was_not_timed_is_unsure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
