/* Start-up cost and slope by region: made-up cells with a known line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fit/slope.h"
#include "gauss.h"

#define KI ((size_t)1024)
#define MI (KI * KI)

static const struct uc_slope_options caches = {32 * KI, 512 * KI, 16 * MI, UCOPY_USER};

/* A line in each region: what starting costs, and a byte. */
static const double start[UC_REGIONS] = {3, 20, 200, 4000},
                    byte[UC_REGIONS] = {.012, .03, .05, .12};

static int region(size_t n)
{
    return n <= 16 * KI    ? UC_REGION_L1
           : n <= 256 * KI ? UC_REGION_L2
           : n <= 8 * MI   ? UC_REGION_L3
                           : UC_REGION_MEMORY;
}

static struct uc_cell *put(struct uc_cells *c, const char *name, size_t n, double cost, double half)
{
    struct uc_cell x = uc_cell_default(name, n);

    x.cost = cost;
    x.lo = cost * (1 - half);
    x.hi = cost * (1 + half);
    assert_int_equal(uc_cells_add(c, &x), 0);
    return &c->v[c->n - 1];
}

/* A size of every octave and so many steps between, each off by noise, a standard deviation; told:
 * its interval says so. */
static void put_curve(struct uc_cells *c, const char *name, size_t top, int steps, double noise,
                      bool told, struct uc_rng *rng)
{
    for (size_t octave = 1; octave < top; octave *= 2)
        for (int i = 0; i < steps; i++) {
            size_t n = octave + octave * (size_t)i / (size_t)steps;
            if (i && n == octave + octave * (size_t)(i - 1) / (size_t)steps)
                continue;
            double cost =
                (start[region(n)] + byte[region(n)] * (double)n) * fmax(.2, 1 + noise * gauss(rng));
            put(c, name, n, cost, told ? 1.96 * noise : 0);
        }
}

static struct uc_slopes fit(const struct uc_cells *c, const struct uc_slope_options *o)
{
    struct uc_slopes s;

    assert_int_equal(uc_slopes_fit(c, o, &s), 0);
    return s;
}

static struct uc_slopes_row fit_one(const struct uc_cells *c)
{
    struct uc_slopes s = fit(c, &caches);
    struct uc_slopes_row row;

    assert_int_equal(s.n, 1);
    row = s.v[0];
    uc_slopes_free(&s);
    return row;
}

static bool covers(const struct uc_estimate *e, double truth)
{
    assert_true(e->lo <= e->mid && e->mid <= e->hi);
    return e->lo <= truth && truth <= e->hi;
}

static void near(double value, double truth, double by)
{
    if (!(fabs(value / truth - 1) <= by))
        fail_msg("%g is not %g", value, truth);
}

static void exact_lines(void **state)
{
    (void)state;
    struct uc_rng rng = {1};
    struct uc_cells c = {0};

    put_curve(&c, "x", 256 * MI, 4, 0, false, &rng);
    struct uc_slopes_row row = fit_one(&c);
    for (int r = 0; r < UC_REGIONS; r++) {
        assert_true(row.region[r].measured);
        near(row.region[r].start.mid, start[r], 1e-4);
        near(row.region[r].byte.mid, byte[r], 1e-6);
        near(row.region[r].byte.lo, byte[r], 1e-3);
        near(row.region[r].byte.hi, byte[r], 1e-3);
        assert_true(row.region[r].off < 1e-6);
    }
    assert_int_equal(row.region[UC_REGION_L1].from, 1);
    assert_int_equal(row.region[UC_REGION_L1].to, 16 * KI);
    assert_int_equal(row.region[UC_REGION_L2].from, 32 * KI);
    assert_int_equal(row.region[UC_REGION_L2].to, 256 * KI);
    assert_int_equal(row.region[UC_REGION_L3].from, 512 * KI);
    assert_int_equal(row.region[UC_REGION_L3].to, 8 * MI);
    assert_true(row.region[UC_REGION_MEMORY].from > 16 * MI);
    uc_cells_free(&c);
}

/* Half of a 95 % interval that holds the truth less often than 93.5 % is none; one that holds it
 * always says nothing. */
static void coverage(double noise, bool told, int steps)
{
    enum { SEEDS = 1500 };
    unsigned held[UC_REGIONS][2] = {{0}};
    double width[UC_REGIONS] = {0};

    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        struct uc_rng rng = {seed * 7919};
        struct uc_cells c = {0};
        put_curve(&c, "x", 256 * MI, steps, noise, told, &rng);
        struct uc_slopes_row row = fit_one(&c);
        for (int r = 0; r < UC_REGIONS; r++) {
            assert_true(row.region[r].measured);
            held[r][0] += covers(&row.region[r].start, start[r]);
            held[r][1] += covers(&row.region[r].byte, byte[r]);
            width[r] += (row.region[r].byte.hi - row.region[r].byte.lo) / byte[r] / SEEDS;
        }
        uc_cells_free(&c);
    }
    for (int r = 0; r < UC_REGIONS; r++)
        print_message("# %g %% noise, %s, %s: start %.1f %%, slope %.1f %%, width %.3f\n",
                      100 * noise, told ? "told" : "not told", uc_region_name[r],
                      100. * held[r][0] / SEEDS, 100. * held[r][1] / SEEDS, width[r]);
    for (int r = 0; r < UC_REGIONS; r++)
        for (int k = 0; k < 2; k++)
            assert_true(held[r][k] >= .935 * SEEDS);
    assert_true(width[UC_REGION_L1] < 4 * noise);
}

static void intervals_hold_the_truth(void **state)
{
    (void)state;
    coverage(.01, true, 4);
    coverage(.03, true, 4);
    coverage(.10, true, 4);
    coverage(.03, true, 2);
}

static void misses_alone_tell_too(void **state)
{
    (void)state;
    coverage(.03, false, 4);
    coverage(.10, false, 2);
}

/* The mean of many fits is the line: relative to the readings it would lie noise^2 too low. */
static void no_bias(void **state)
{
    enum { SEEDS = 1000 };
    double sum_a = 0, sum_b = 0;

    (void)state;
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        struct uc_rng rng = {seed};
        struct uc_cells c = {0};
        put_curve(&c, "x", 16 * KI + 1, 4, .1, true, &rng);
        struct uc_slopes_row row = fit_one(&c);
        sum_a += row.region[UC_REGION_L1].start.mid / start[0] / SEEDS;
        sum_b += row.region[UC_REGION_L1].byte.mid / byte[0] / SEEDS;
        uc_cells_free(&c);
    }
    near(sum_a, 1, .005);
    near(sum_b, 1, .005);
}

/* One size three times dearer, wherever it is: least squares would move either figure by 5 to 30
 * per cent. */
static void a_spike_moves_little(void **state)
{
    (void)state;
    struct uc_rng rng = {5};
    struct uc_cells c = {0};

    put_curve(&c, "x", 16 * KI + 1, 4, .02, true, &rng);
    struct uc_slope clean = fit_one(&c).region[UC_REGION_L1];
    for (size_t i = 0; i < c.n; i++) {
        double up = i % 2 ? 3 : .4;
        struct uc_cell was = c.v[i];
        c.v[i].cost *= up;
        c.v[i].lo *= up;
        c.v[i].hi *= up;
        struct uc_slope s = fit_one(&c).region[UC_REGION_L1];
        near(s.start.mid, clean.start.mid, .02);
        near(s.byte.mid, clean.byte.mid, .04);
        c.v[i] = was;
    }
    uc_cells_free(&c);
}

/* A cell whose interval is wide says little. */
static void unsure_cells_count_less(void **state)
{
    (void)state;
    struct uc_rng rng = {6};
    struct uc_cells c = {0};

    put_curve(&c, "x", 16 * KI + 1, 1, .002, true, &rng);
    struct uc_cell *last = &c.v[c.n - 1];
    last->cost *= 1.1;
    last->lo = last->cost * .5;
    last->hi = last->cost * 1.5;
    near(fit_one(&c).region[UC_REGION_L1].byte.mid, byte[0], .01);
    uc_cells_free(&c);
}

/* A curve that is no line: the figures say by how much it is missed, and the interval grows. */
static void steps_are_told(void **state)
{
    (void)state;
    struct uc_cells line = {0}, stairs = {0};

    for (size_t n = 64; n <= 16 * KI; n += 64) {
        double cost = 3 + .012 * (double)n;
        put(&line, "x", n, cost, .001);
        put(&stairs, "x", n, cost * (n / 64 % 2 ? 1.1 : .9), .001);
    }
    struct uc_slope a = fit_one(&line).region[UC_REGION_L1],
                    b = fit_one(&stairs).region[UC_REGION_L1];
    assert_true(a.off < .002);
    near(b.off, .1, .2);
    assert_true(b.byte.hi - b.byte.lo > 20 * (a.byte.hi - a.byte.lo));
    uc_cells_free(&line);
    uc_cells_free(&stairs);
}

static void too_few_sizes(void **state)
{
    (void)state;
    struct uc_cells c = {0};

    put(&c, "x", 64, 4, .01);
    put(&c, "x", 128, 5, .01);
    put(&c, "x", 0, 1, .01);            /* nothing to copy: another path */
    put(&c, "x", 24 * KI, 400, .01);    /* src and dst are half in L1 */
    put(&c, "x", 12 * MI, 400000, .01); /* and here in L3 */
    struct uc_slopes_row row = fit_one(&c);
    for (int r = 0; r < UC_REGIONS; r++)
        assert_false(row.region[r].measured);
    assert_int_equal(row.region[UC_REGION_L1].sizes, 2);
    assert_int_equal(row.region[UC_REGION_L1].from, 0);
    assert_int_equal(row.region[UC_REGION_L2].sizes, 0);
    put(&c, "x", 256, 7, .01);
    row = fit_one(&c);
    assert_true(row.region[UC_REGION_L1].measured);
    assert_int_equal(row.region[UC_REGION_L1].sizes, 3);
    near(row.region[UC_REGION_L1].start.mid, 3, .01);
    near(row.region[UC_REGION_L1].byte.mid, 1. / 64, .01);
    uc_cells_free(&c);
}

/* The size of a cache that nobody knows: the first two as the choice takes them, the last one not.
 */
static void unknown_caches(void **state)
{
    (void)state;
    struct uc_rng rng = {3};
    struct uc_cells c = {0};

    put_curve(&c, "x", 256 * MI, 4, 0, false, &rng);
    struct uc_slopes s = fit(&c, &(struct uc_slope_options){.environment = UCOPY_USER});
    assert_int_equal(s.o.l1d, 32 * KI);
    assert_int_equal(s.v[0].region[UC_REGION_L1].to, 16 * KI);
    assert_int_equal(s.v[0].region[UC_REGION_L2].to, 128 * KI);
    assert_false(s.v[0].region[UC_REGION_L3].measured);
    assert_false(s.v[0].region[UC_REGION_MEMORY].measured);
    uc_slopes_free(&s);
    uc_cells_free(&c);
}

static void other_cells_do_not_count(void **state)
{
    (void)state;
    struct uc_rng rng = {4};
    struct uc_cells c = {0};

    put_curve(&c, "x", 16 * KI + 1, 2, .01, true, &rng);
    struct uc_slopes_row alone = fit_one(&c);
    for (size_t n = 5; n <= 16 * KI; n *= 2) { /* sizes that the curve has not */
        put(&c, "x", n, 1e5, .01)->consumer = UC_READ;
        put(&c, "x", n, 1e5, .01)->form = UC_INLINE;
        put(&c, "x", n, 1e5, .01)->code = UC_COLD;
        put(&c, "x", n, 1e5, .01)->threads = 2;
        put(&c, "x", n, 1e5, .01)->page_distance = 1;
        put(&c, "x", n, 1e5, .01)->dst_align = 0;
        put(&c, "x", n, 1e5, .01)->dst_end.kind = UC_END_UNMAPPED;
        put(&c, "x", n, 1e5, .01)->entry = UC_NOCACHE;
        put(&c, "x", n, 1e5, .01)->environment = UCOPY_KERNEL;
        put(&c, "x", n, 1e5, .01)->mix = UC_NAMED;
        struct uc_cell *band = put(&c, "x", 0, 1e5, .01);
        band->mix = UC_BAND;
        band->size_hi = n;
        struct uc_cell *far = put(&c, "x", n, 1e5, .01);
        far->src_state = far->dst_state = UC_MEMORY;
        put(&c, "x", n, 1e5, .01)->src_state = UC_L1; /* and dst natural: neither */
        put(&c, "limit", n, 1, .01)->role = UCOPY_LIMIT;
    }
    struct uc_slopes_row row = fit_one(&c);
    assert_memory_equal(&row, &alone, sizeof(row));
    uc_cells_free(&c);
}

/* In the state asked for and in what comes of itself: the first counts, and a size counts once. */
static void a_size_counts_once(void **state)
{
    (void)state;
    struct uc_cells c = {0};

    for (size_t n = 64; n <= 512; n *= 2) {
        put(&c, "x", n, 1e5, .01);
        struct uc_cell *near_cell = put(&c, "x", n, 3 + .012 * (double)n, .01);
        near_cell->src_state = near_cell->dst_state = UC_L1;
    }
    struct uc_slope s = fit_one(&c).region[UC_REGION_L1];
    assert_int_equal(s.sizes, 4);
    near(s.start.mid, 3, 1e-6);
    uc_cells_free(&c);
}

static void any_order(void **state)
{
    (void)state;
    struct uc_rng rng = {9};
    struct uc_cells c = {0};

    put_curve(&c, "x", 64 * MI, 3, .1, true, &rng);
    put_curve(&c, "another", 64 * MI, 2, .1, true, &rng);
    struct uc_slopes first = fit(&c, &caches);
    assert_int_equal(first.n, 2);
    assert_string_equal(first.v[0].strategy, "another");
    for (int round = 0; round < 20; round++) {
        for (size_t i = c.n - 1; i; i--) {
            size_t k = uc_rng_below(&rng, i + 1);
            struct uc_cell x = c.v[i];
            c.v[i] = c.v[k];
            c.v[k] = x;
        }
        struct uc_slopes s = fit(&c, &caches);
        assert_int_equal(s.n, first.n);
        assert_memory_equal(s.v, first.v, s.n * sizeof(*s.v));
        uc_slopes_free(&s);
    }
    assert_non_null(uc_slopes_find(&first, "x"));
    assert_null(uc_slopes_find(&first, "y"));
    uc_slopes_free(&first);
    uc_cells_free(&c);
}

/* Whatever stands in a table: what is told is finite, and its interval holds it. */
static void wild_tables(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 2000; seed++) {
        struct uc_rng rng = {seed};
        struct uc_cells c = {0};
        size_t n = uc_rng_below(&rng, 12);
        for (size_t i = 0; i < n; i++) {
            size_t size = (size_t)(uc_rng_next(&rng) >> uc_rng_below(&rng, 64));
            put(&c, "x", size, exp(100 * (uc_rng_unit(&rng) - .5)), uc_rng_unit(&rng));
        }
        struct uc_slopes s = fit(&c, &caches);
        for (int r = 0; r < UC_REGIONS && s.n; r++) {
            const struct uc_slope *x = &s.v[0].region[r];
            if (!x->measured)
                continue;
            assert_true(isfinite(x->start.lo) && isfinite(x->start.hi));
            assert_true(isfinite(x->byte.lo) && isfinite(x->byte.hi) && isfinite(x->off));
            covers(&x->start, 0);
            covers(&x->byte, 0);
        }
        uc_slopes_free(&s);
        uc_cells_free(&c);
    }
}

static void bytes_a_second(void **state)
{
    (void)state;
    assert_float_equal(uc_slope_gb_s(.02), 50, 1e-9);
    assert_true(isnan(uc_slope_gb_s(0)));
    assert_true(isnan(uc_slope_gb_s(-1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_lines),           cmocka_unit_test(intervals_hold_the_truth),
        cmocka_unit_test(misses_alone_tell_too), cmocka_unit_test(no_bias),
        cmocka_unit_test(a_spike_moves_little),  cmocka_unit_test(unsure_cells_count_less),
        cmocka_unit_test(steps_are_told),        cmocka_unit_test(too_few_sizes),
        cmocka_unit_test(unknown_caches),        cmocka_unit_test(other_cells_do_not_count),
        cmocka_unit_test(a_size_counts_once),    cmocka_unit_test(any_order),
        cmocka_unit_test(wild_tables),           cmocka_unit_test(bytes_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
