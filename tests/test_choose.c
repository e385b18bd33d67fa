/* What is made of whole copies' times, and of the same readings for one consumer alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tune.h"

static void add(struct uc_cells *cells, const char *name, size_t size, enum uc_consumer k,
                enum uc_mix mix, enum uc_order order, double cost)
{
    struct uc_cell c = uc_cell_default(name, size);

    c.src_state = c.dst_state = size <= 4096 ? UC_L1 : UC_NATURAL;
    c.consumer = k;
    c.mix = mix;
    c.order = order;
    c.size_hi = mix == UC_BAND ? UC_SMALL_MAX : 0;
    c.cost = c.lo = c.hi = cost;
    c.n = 10;
    assert_int_equal(uc_cells_add(cells, &c), 0);
}

static struct uc_subject called(const char *name)
{
    struct uc_subject u = {.form = UC_CALLED};

    snprintf(u.name, sizeof(u.name), "%s", name);
    return u;
}

/* Two tries beside libc: one is quick on the mixes and slow where their order is learned. */
static void whole_copies_are_scored(void **state)
{
    struct uc_weights w = uc_weights_default;
    struct uc_cells cells = {0};
    struct uc_subject quick = called("quick"), even = called("even");

    (void)state;
    for (int k = UC_NONE; k <= UC_WAIT; k++) {
        add(&cells, "quick", 0, k, UC_BAND, UC_RANDOM, 5);
        add(&cells, "even", 0, k, UC_BAND, UC_RANDOM, k == UC_READ ? 10 : 5);
        add(&cells, "libc", 0, k, UC_BAND, UC_RANDOM, 10);
        add(&cells, "quick", 0, k, UC_BAND, UC_LEARNED, k == UC_WAIT ? 8 : 4);
        add(&cells, "even", 0, k, UC_BAND, UC_LEARNED, 4);
        add(&cells, "libc", 0, k, UC_BAND, UC_LEARNED, 4);
    }
    struct uc_whole q = uc_tune_score_whole(&w, &cells, &quick),
                    e = uc_tune_score_whole(&w, &cells, &even);
    assert_float_equal(q.cost, 1, 1e-6);
    assert_float_equal(e.cost, 1.5, 1e-6); /* half the weight is read's */
    assert_float_equal(e.under[UC_READ], 2, 1e-6);
    assert_float_equal(e.under[UC_NONE], 1, 1e-6);
    assert_true(isnan(e.under[UC_SCAN]));
    assert_float_equal(q.worst, 2, 1e-6); /* a learned order has no weight, and is seen */
    assert_float_equal(q.libc, 0.5, 1e-6);
    assert_float_equal(e.libc, 1, 1e-6);
    uc_cells_free(&cells);
}

/* A distribution of large sizes alone has no weight for short ones: the fleet's is taken. */
static void large_sizes_alone_are_scored(void **state)
{
    size_t size = 1 << 20;
    double one = 1;
    struct uc_sizes large = {.name = "large", .n = 1, .size = &size, .share = &one, .cum = &one};
    struct uc_weights w = uc_weights_default;
    struct uc_cells cells = {0};
    struct uc_subject fast = called("fast"), slow = called("slow");

    (void)state;
    w.sizes = &large;
    add(&cells, "slow", 8, UC_NONE, UC_FIXED, UC_RANDOM, 10);
    add(&cells, "fast", 8, UC_NONE, UC_FIXED, UC_RANDOM, 5);
    add(&cells, "libc", 8, UC_NONE, UC_FIXED, UC_RANDOM, 5);
    struct uc_whole both[] = {uc_tune_score_whole(&w, &cells, &slow),
                              uc_tune_score_whole(&w, &cells, &fast)};
    assert_float_equal(both[0].cost, 2, 1e-6);
    assert_float_equal(both[1].cost, 1, 1e-6);
    assert_int_equal(uc_tune_best_whole(both, 2), 1);
    uc_cells_free(&cells);
}

/* What is lost to libc in one mix counts as cost; near equals go to the first. */
static void losing_to_libc_is_charged(void **state)
{
    struct uc_whole w[] = {
        {.cost = 1.02, .libc = 1.3}, {.cost = 1.0, .libc = 0.97}, {.cost = 1.018, .libc = 2}};

    (void)state;
    assert_int_equal(uc_tune_best_whole(w, 3), 0);
    w[1].libc = 1;
    assert_int_equal(uc_tune_best_whole(w, 3), 1);
    w[0].cost = 1.004;
    assert_int_equal(uc_tune_best_whole(w, 3), 0);
}

/* "plain" is right for a reader of all of dst, "bold" where nobody reads it. */
static void consumers_choose_for_themselves(void **state)
{
    static const struct uc_options o = {.consumer = -1};
    struct uc_tune *t = calloc(1, sizeof(*t));
    struct uc_fit_result r;

    (void)state;
    assert_non_null(t);
    t->o = &o;
    t->weights = uc_weights_default;
    t->profile.environment = UCOPY_USER;
    for (size_t size = 1; size <= 64u << 20; size *= 2)
        for (int k = 0; k <= UC_SCAN; k++) {
            bool small = size <= UC_SMALL_MAX;
            if (k == UC_SCAN ? small : k != UC_NONE && !small)
                continue;
            add(&t->cells, "plain", size, k, UC_FIXED, UC_RANDOM, 10);
            add(&t->cells, "bold", size, k, UC_FIXED, UC_RANDOM, small || k == UC_SCAN ? 13 : 6);
        }
    t->cells.has_interval = true;
    struct uc_options choice = o;
    choice.environment = UCOPY_USER;
    choice.max_segments = 6;
    t->o = &choice;
    struct uc_fit_options fo = uc_tune_fit_options(t, UC_COPY);
    assert_int_equal(uc_fit(&t->cells, &fo, &r), 0);
    t->profile.entry[UC_COPY].ladder = r.ladder[0];
    assert_int_equal(r.ladder[0].n, 1);
    assert_int_equal(uc_tune_consumers(t), 0);
    json_t *of = t->profile.entry[UC_COPY].consumers, *none = json_object_get(of, "none");
    assert_true(json_number_value(json_object_get(none, "gain")) > 1.2);
    json_t *segments = json_object_get(none, "segments");
    assert_int_equal(json_array_size(segments), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(segments, 0), "strategy")),
                        "plain");
    assert_string_equal(json_string_value(json_object_get(json_array_get(segments, 1), "strategy")),
                        "bold");
    assert_true(json_is_null(json_object_get(of, "scan")));
    assert_true(json_is_null(json_object_get(of, "read")));
    json_decref(of);
    t->profile.entry[UC_COPY].consumers = NULL;
    choice.consumer = UC_READ; /* a variant is for one already */
    assert_int_equal(uc_tune_consumers(t), 0);
    assert_null(t->profile.entry[UC_COPY].consumers);
    uc_cells_free(&t->cells);
    free(t);
}

/* A run with one limit, 64, between these two, and what they cost at 63, 64 and 65. */
static struct uc_tune *with_limit(const double (*cost)[3], struct uc_cells *cells)
{
    static const char *const name[2] = {"unrolled", "rep_movsb"};
    struct uc_tune *t = calloc(1, sizeof(*t));
    static struct uc_options o;
    struct uc_ladder *l = &t->profile.entry[UC_COPY].ladder;

    assert_non_null(t);
    o.environment = UCOPY_USER;
    o.max_segments = 6;
    t->o = &o;
    t->weights = uc_weights_default;
    for (size_t k = 0; k < 2; k++) {
        t->strategy[k] = ucopy_find(name[k]);
        t->known[k] = (struct uc_fit_strategy){
            .name = name[k], .max = UCOPY_NO_LIMIT, .role = UCOPY_CANDIDATE};
        for (size_t i = 0; i < 3; i++)
            for (int c = UC_NONE; c <= UC_WAIT; c++)
                add(cells, name[k], 63 + i, c, UC_FIXED, UC_RANDOM, cost[k][i]);
        snprintf(l->segment[k].strategy, sizeof(l->segment[k].strategy), "%s", name[k]);
        l->segment[k].max = k ? SIZE_MAX : 64;
    }
    cells->has_interval = true;
    t->strategies = l->n = 2;
    l->segment[0].free_lo = l->segment[0].free_hi = 64;
    assert_int_equal(uc_tune_judge_limits(t, UC_COPY, cells), 0);
    return t;
}

/* A limit is inclusive: where a copy of exactly that size is what the strategy is bad at, it goes
 * down by one, and not where the next one is better one byte below too, which is the fit's
 * business. */
static void a_limit_one_too_high_is_lowered(void **state)
{
    static const double step[2][3] = {{3, 4, 4}, {3.2, 3.2, 3.2}},
                        fits[2][3] = {{3, 3, 4}, {3.2, 3.2, 3.2}},
                        wide[2][3] = {{4, 4, 4}, {3, 3, 3}},
                        slight[2][3] = {{3, 3.25, 4}, {3.2, 3.2, 3.2}};
    static const struct {
        const double (*cost)[3];
        size_t max;
    } row[] = {{step, 63}, {fits, 64}, {wide, 64}, {slight, 64}};

    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct uc_cells cells = {0};
        struct uc_tune *t = with_limit(row[i].cost, &cells);
        struct uc_profile_entry *e = &t->profile.entry[UC_COPY];
        const json_t *at = json_object_get(e->limits, row[i].max == 63 ? "63" : "64"),
                     *ratio = json_object_get(at, "next_over_chosen");
        assert_int_equal(e->ladder.segment[0].max, row[i].max);
        assert_true(e->ladder.segment[0].free_lo <= row[i].max);
        assert_int_equal(json_array_size(ratio), 3);
        for (size_t k = 0; k < 3; k++)
            assert_float_equal(json_number_value(json_array_get(ratio, k)),
                               row[i].cost[1][k] / row[i].cost[0][k], 1e-3);
        json_decref(e->limits);
        free(t);
        uc_cells_free(&cells);
    }
}

/* The middle over a strategy's own cells at sizes of the range; probes, bands and cells without a
 * second placement are none of them. */
static void code_placement_is_told_over_a_range(void **state)
{
    struct uc_cells cells = {0};

    (void)state;
    for (size_t n = 1; n <= 9; n++) {
        add(&cells, "a", n, UC_NONE, UC_FIXED, UC_RANDOM, 5);
        cells.v[cells.n - 1].code_ratio = 1 + 0.01 * (double)n;
        add(&cells, "b", n, UC_NONE, UC_FIXED, UC_RANDOM, 5);
        cells.v[cells.n - 1].code_ratio = 9;
    }
    add(&cells, "a", 5, UC_READ, UC_FIXED, UC_RANDOM, 5); /* no ratio */
    add(&cells, "a", 0, UC_READ, UC_BAND, UC_RANDOM, 5);
    cells.v[cells.n - 1].code_ratio = 9;
    add(&cells, "a", 5, UC_WAIT, UC_FIXED, UC_RANDOM, 5);
    cells.v[cells.n - 1].code_ratio = 9;
    cells.v[cells.n - 1].page_distance = 1;
    struct uc_code_ratio r = uc_tune_code_ratio(&cells, UC_COPY, "a", 1, 9);
    assert_int_equal(r.n, 9);
    assert_float_equal(r.middle, 1.05, 1e-9);
    assert_float_equal(r.low, 1.03, 1e-9);
    assert_float_equal(r.high, 1.07, 1e-9);
    assert_int_equal(uc_tune_code_ratio(&cells, UC_COPY, "a", 8, SIZE_MAX).n, 2);
    assert_int_equal(uc_tune_code_ratio(&cells, UC_NOCACHE, "a", 1, 9).n, 0);
    uc_cells_free(&cells);
}

/* From where a ladder streams. */
static void the_streaming_limit_is_found(void **state)
{
    struct uc_tune *t = calloc(1, sizeof(*t));
    struct uc_ladder l = {
        .n = 2,
        .segment = {{.max = 8192, .strategy = "near"}, {.max = SIZE_MAX, .strategy = "far"}}};

    (void)state;
    assert_non_null(t);
    t->strategies = 2;
    t->known[0] = (struct uc_fit_strategy){.name = "near"};
    t->known[1] = (struct uc_fit_strategy){.name = "far", .streaming = true};
    assert_int_equal(uc_tune_streams_above(t, &l), 8192);
    l.n = 1;
    assert_int_equal(uc_tune_streams_above(t, &l), SIZE_MAX);
    memcpy(l.segment[0].strategy, "far", sizeof("far"));
    assert_int_equal(uc_tune_streams_above(t, &l), 0);
    free(t);
}

/* What another core wrote last: the chosen copy beside the best one, of such cells alone. */
static void the_best_copy_into_anothers_lines_is_found(void **state)
{
    static const struct {
        const char *name;
        enum uc_state dst;
        double cost;
    } row[] = {{"a", UC_OTHER_CORE, 20}, {"b", UC_OTHER_CORE, 10}, {"c", UC_L1, 1}};
    struct uc_tune *t = calloc(1, sizeof(*t));
    struct uc_ladder *l = &t->profile.entry[UC_COPY].ladder;
    struct uc_shared s;

    (void)state;
    assert_non_null(t);
    assert_int_equal(uc_tune_shared(t, 0, &s), 0);
    l->n = 1;
    l->segment[0].max = SIZE_MAX;
    l->segment[0].strategy[0] = 'a';
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct uc_cell c = uc_cell_default(row[i].name, 64);
        c.dst_state = row[i].dst;
        c.cost = c.lo = c.hi = row[i].cost;
        assert_int_equal(uc_cells_add(&t->cells, &c), 0);
    }
    assert_int_equal(uc_tune_shared(t, 0, &s), 64);
    assert_string_equal(s.chosen->strategy, "a");
    assert_string_equal(s.best->strategy, "b");
    assert_int_equal(uc_tune_shared(t, 1, &s), 0);
    uc_cells_free(&t->cells);
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_copies_are_scored),
        cmocka_unit_test(large_sizes_alone_are_scored),
        cmocka_unit_test(code_placement_is_told_over_a_range),
        cmocka_unit_test(losing_to_libc_is_charged),
        cmocka_unit_test(consumers_choose_for_themselves),
        cmocka_unit_test(a_limit_one_too_high_is_lowered),
        cmocka_unit_test(the_streaming_limit_is_found),
        cmocka_unit_test(the_best_copy_into_anothers_lines_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
