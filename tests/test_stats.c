/* The statistics library: known values, exact distributions, and intervals that cover as they say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "gauss.h"
#include "measure/samples.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static void near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("got %.10g, want %.10g", got, want);
}

static void quantiles_interpolate(void **state)
{
    const double v[] = {1, 2, 4, 8};

    near(uc_quantile(v, 4, 0), 1, 0);
    near(uc_quantile(v, 4, .25), 1.75, 1e-12);
    near(uc_quantile(v, 4, .5), 3, 1e-12);
    near(uc_quantile(v, 4, 1), 8, 0);
    near(uc_quantile(v, 1, .3), 1, 0);
    near(uc_mean(v, 4), 3.75, 1e-12);
}

/* Against sorting, over many lengths and with many ties; the values stay where they are. */
static void median_is_that_of_the_sorted(void **state)
{
    struct uc_rng r = {1};
    double v[200], kept[200], sorted[200];

    for (size_t n = 1; n <= 200; n++) {
        for (size_t i = 0; i < n; i++)
            v[i] = (double)uc_rng_below(&r, n % 3 ? 1000 : 4);
        memcpy(kept, v, sizeof(v));
        memcpy(sorted, v, sizeof(v));
        uc_sort(sorted, n);
        near(uc_median(v, n), uc_quantile(sorted, n, .5), 1e-12);
        assert_memory_equal(v, kept, n * sizeof(*v));
    }
}

/* Order statistics for the median at 95 %: ranks from the tables of the sign test. */
static void median_interval_has_the_known_ranks(void **state)
{
    static const struct {
        size_t n, lo, hi; /* ranks from 1 */
        double coverage;
    } known[] = {
        {2, 1, 2, .5},       {5, 1, 5, .9375},    {6, 1, 6, .96875},   {8, 1, 8, .9921875},
        {9, 2, 8, .9609375}, {10, 2, 9, .978516}, {15, 4, 12, .96484}, {20, 6, 15, .95861},
        {24, 7, 18, .97734}, {50, 18, 33, .9672},
    };
    double v[50];

    for (size_t i = 0; i < 50; i++)
        v[i] = (double)(50 - i);
    for (size_t i = 0; i < COUNT(known); i++) {
        size_t n = known[i].n;
        struct uc_interval r = uc_median_interval(v + 50 - n, n, .95);
        near(r.lo, (double)known[i].lo, 0);
        near(r.hi, (double)known[i].hi, 0);
        near(r.coverage, known[i].coverage, 5e-4);
    }
    struct uc_interval one = uc_median_interval(v, 1, .95);
    near(one.coverage, 0, 0);
    near(one.lo, one.mid, 0);
    near(one.hi, one.mid, 0);
}

static void median_interval_covers_what_it_says(void **state)
{
    static const size_t length[] = {6, 9, 24, 101};
    struct uc_rng r = {2};

    for (size_t k = 0; k < COUNT(length); k++) {
        double v[101], claim = 0;
        int in = 0;
        for (int run = 0; run < 4000; run++) {
            for (size_t i = 0; i < length[k]; i++)
                v[i] = exp(gauss(&r)); /* median 1, skewed */
            struct uc_interval m = uc_median_interval(v, length[k], .95);
            in += m.lo <= 1 && 1 <= m.hi;
            claim = m.coverage;
        }
        assert_true(claim >= .95);
        near(in / 4000., claim, .012);
    }
}

/* Two-sided exact p of complete separation is 2 / C(na + nb, na). */
static void separated_rows_have_the_known_p(void **state)
{
    static const struct {
        size_t na, nb;
        double arrangements;
        bool enough;
    } known[] = {{1, 1, 2, false},  {1, 5, 6, false}, {2, 5, 21, false}, {3, 3, 20, false},
                 {3, 5, 56, true},  {4, 4, 70, true}, {5, 5, 252, true}, {10, 10, 184756, true},
                 {1, 39, 40, true}, {2, 8, 45, true}};
    double a[40], b[40];

    for (size_t i = 0; i < 40; i++) {
        a[i] = 100 + (double)i;
        b[i] = 200 + (double)i;
    }
    for (size_t i = 0; i < COUNT(known); i++) {
        struct uc_comparison c;
        assert_int_equal(uc_compare_rows(a, known[i].na, b, known[i].nb, .95, &c), 0);
        near(c.p, 2 / known[i].arrangements, 1e-12);
        assert_int_equal(c.verdict, known[i].enough ? UC_SECOND_LARGER : UC_NOT_ENOUGH);
        assert_true((c.ratio.coverage >= .95) == known[i].enough);
        assert_int_equal(uc_compare_rows(b, known[i].nb, a, known[i].na, .95, &c), 0);
        assert_int_equal(c.verdict, known[i].enough ? UC_FIRST_LARGER : UC_NOT_ENOUGH);
    }
}

/* By hand: of the 6 ways to give two of {1, 2, 2, 3} to the first row all four with rank sums
 * 3.5 or 6.5 lie as far out as the observed one. */
static void ties_count_by_mid_ranks(void **state)
{
    const double a[] = {1, 2}, b[] = {2, 3}, same[] = {7, 7, 7, 7, 7};
    struct uc_comparison c;

    assert_int_equal(uc_compare_rows(a, 2, b, 2, .95, &c), 0);
    near(c.p, 4 / 6., 1e-12);
    assert_int_equal(uc_compare_rows(same, 5, same, 5, .95, &c), 0);
    near(c.p, 1, 1e-12);
    near(c.ratio.mid, 1, 1e-12);
    assert_int_equal(c.verdict, UC_NO_DIFFERENCE);
}

static void interval_agrees_with_the_test(void **state)
{
    struct uc_rng r = {3};

    for (int run = 0; run < 500; run++) {
        double a[12], b[12];
        size_t na = 4 + uc_rng_below(&r, 9), nb = 4 + uc_rng_below(&r, 9);
        for (size_t i = 0; i < 12; i++) {
            a[i] = exp(.1 * gauss(&r));
            b[i] = exp(.1 * gauss(&r) + .1);
        }
        struct uc_comparison c;
        assert_int_equal(uc_compare_rows(a, na, b, nb, .95, &c), 0);
        assert_true((c.verdict == UC_NO_DIFFERENCE) == (c.p > 1 - c.ratio.coverage + 1e-9));
        assert_true(c.ratio.lo <= c.ratio.mid && c.ratio.mid <= c.ratio.hi);
    }
}

/* On both sides of the length at which the exact count ends. */
static void ratio_covers_what_it_says(void **state)
{
    static const size_t length[][2] = {{5, 5}, {4, 9}, {20, 20}, {60, 60}};
    struct uc_rng r = {4};

    for (size_t k = 0; k < COUNT(length); k++) {
        int in = 0, runs = length[k][0] > 10 ? 300 : 3000;
        double claim = 0;
        for (int run = 0; run < runs; run++) {
            double a[60], b[60];
            struct uc_comparison c;
            for (size_t i = 0; i < length[k][0]; i++)
                a[i] = 50 * exp(.2 * gauss(&r));
            for (size_t i = 0; i < length[k][1]; i++)
                b[i] = 60 * exp(.2 * gauss(&r));
            assert_int_equal(uc_compare_rows(a, length[k][0], b, length[k][1], .95, &c), 0);
            in += c.ratio.lo <= 1.2 && 1.2 <= c.ratio.hi;
            claim = c.ratio.coverage;
        }
        assert_true(claim >= .95 && claim < .985);
        near((double)in / runs, claim, 4 * sqrt(.05 * .95 / runs));
    }
}

static void exact_and_normal_meet(void **state)
{
    struct uc_rng r = {5};
    double a[51], b[51];
    struct uc_comparison exact, normal;

    for (size_t i = 0; i < 51; i++) {
        a[i] = exp(.1 * gauss(&r));
        b[i] = exp(.1 * gauss(&r) + .03);
    }
    assert_int_equal(uc_compare_rows(a, 50, b, 50, .95, &exact), 0);
    assert_int_equal(uc_compare_rows(a, 51, b, 51, .95, &normal), 0);
    near(normal.p, exact.p, .05);
    near(normal.ratio.coverage, exact.ratio.coverage, .002);
    near(normal.ratio.lo, exact.ratio.lo, .01);
    near(normal.ratio.hi, exact.ratio.hi, .01);
}

static void rows_that_cannot_be_compared(void **state)
{
    const double good[] = {1, 2}, zero[] = {1, 0}, negative[] = {-1, 2}, nan[] = {NAN, 1},
                 infinite[] = {INFINITY, 1};
    struct uc_comparison c;

    assert_int_equal(uc_compare_rows(good, 2, zero, 2, .95, &c), -EINVAL);
    assert_int_equal(uc_compare_rows(negative, 2, good, 2, .95, &c), -EINVAL);
    assert_int_equal(uc_compare_rows(nan, 2, good, 2, .95, &c), -EINVAL);
    assert_int_equal(uc_compare_rows(good, 2, infinite, 2, .95, &c), -EINVAL);
    assert_int_equal(uc_compare_rows(good, 0, good, 2, .95, &c), -EINVAL);
}

static void outliers_are_few_and_far(void **state)
{
    const double out_by_ten[] = {313, 3107, 293, 306, 308}, tight[] = {100, 100, 100, 104, 100},
                 far[] = {100, 100, 100, 106, 100}, two[] = {1, 100};
    /* Scattered: 5 scaled MADs are 56 here. */
    const double inside[] = {100, 110, 90, 105, 95, 155}, outside[] = {100, 110, 90, 105, 95, 165};
    bool o[6];

    assert_int_equal(uc_outliers(inside, 6, o), 0);
    assert_int_equal(uc_outliers(outside, 6, o), 1);
    assert_int_equal(uc_outliers(out_by_ten, 5, o), 1);
    assert_true(o[1] && !o[0] && !o[2] && !o[3] && !o[4]);
    assert_int_equal(uc_outliers(tight, 5, o), 0);
    assert_int_equal(uc_outliers(far, 5, o), 1);
    assert_true(o[3]);
    assert_int_equal(uc_outliers(two, 2, o), 0);
}

static void levels_change_or_the_first_differs(void **state)
{
    static const struct {
        double v[8];
        size_t n;
        enum uc_shift shift;
        size_t at;
    } known[] = {
        {{1, 2, 1, 9, 10, 9}, 6, UC_LEVEL_CHANGES, 3},
        {{9, 10, 9, 9, 10, 1, 2, 1}, 8, UC_LEVEL_CHANGES, 5},
        {{1, 2, 9, 10, 9, 9}, 6, UC_STEADY, 0}, /* two samples are no level */
        {{20, 2, 1, 2, 1, 2}, 6, UC_FIRST_DIFFERS, 0},
        {{1, 20, 21, 20}, 4, UC_FIRST_DIFFERS, 0},
        {{1, 2, 1, 2, 1, 20}, 6, UC_STEADY, 0}, /* the last alone */
        {{1, 2, 1, 2, 1, 2, 1, 2}, 8, UC_STEADY, 0},
        {{5, 5, 5, 5, 5, 5}, 6, UC_STEADY, 0},
        {{1, 9}, 2, UC_STEADY, 0},
        {{1, 9, 9}, 3, UC_STEADY, 0},
    };

    for (size_t i = 0; i < COUNT(known); i++) {
        size_t at = 0;
        assert_int_equal(uc_level_change(known[i].v, known[i].n, &at), known[i].shift);
        assert_int_equal(at, known[i].at);
    }
}

/* Noise alone is called a change in at most a few of a hundred rows; a long row with a step of two
 * standard deviations and stray samples is found near its place. */
static void levels_in_noise(void **state)
{
    struct uc_rng r = {6};
    double v[60];
    size_t at, false_alarms = 0, found = 0;

    for (int run = 0; run < 400; run++) {
        size_t n = 6 + uc_rng_below(&r, 54);
        for (size_t i = 0; i < n; i++)
            v[i] = 100 + gauss(&r);
        false_alarms += uc_level_change(v, n, &at) == UC_LEVEL_CHANGES;
        for (size_t i = 0; i < 60; i++)
            v[i] = 100 + gauss(&r) + (i >= 25 ? 2 : 0) + (i % 17 == 3 ? 30 : 0);
        found += uc_level_change(v, 60, &at) == UC_LEVEL_CHANGES && at >= 20 && at <= 30;
    }
    assert_in_range(false_alarms, 0, 12);
    assert_in_range(found, 360, 400);
}

/* The published rows. */

static void read_published(const char *name, struct uc_samples *s)
{
    char path[4096], why[256];
    unsigned line;
    const char *source = getenv("UCOPY_SOURCE");

    if (!source) {
        print_message("skipped: UCOPY_SOURCE is not set\n");
        skip();
    }
    snprintf(path, sizeof(path), "%s/tests/data/%s", source, name);
    if (uc_samples_read(path, s, &line, why, sizeof(why)))
        fail_msg("%s:%u: %s", path, line, why);
}

static void published_small_writes(void **state)
{
    struct uc_samples s;
    struct uc_comparison c;
    bool out[5];

    read_published("small-writes.csv", &s);
    assert_int_equal(s.rows, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(uc_outliers(s.row[i].v, s.row[i].n, out), i == 1);
    uc_outliers(s.row[1].v, 5, out);
    assert_true(out[1]);
    assert_string_equal(s.column[s.row[1].column[1]], "sample_2");
    assert_int_equal(uc_compare_rows(s.row[0].v, 5, s.row[1].v, 5, .95, &c), 0);
    near(c.p, 8 / 252., 1e-12);
    assert_int_equal(c.verdict, UC_SECOND_LARGER);
    /* The sample that is out by ten pulls the mean to three times the rest and the ratio by
     * nothing. */
    near(c.ratio.mid, 1.05, .01);
    uc_samples_free(&s);
}

static void published_cached_reads(void **state)
{
    static const double average[] = {289.85, 272.73, 284.58};
    static const enum uc_shift shift[] = {UC_STEADY, UC_FIRST_DIFFERS, UC_FIRST_DIFFERS};
    struct uc_samples s;
    size_t at;

    read_published("cached-reads.csv", &s);
    assert_int_equal(s.rows, 3);
    for (size_t i = 0; i < 3; i++) {
        near(uc_mean(s.row[i].v, s.row[i].n), average[i], .005);
        assert_int_equal(uc_level_change(s.row[i].v, s.row[i].n, &at), shift[i]);
    }
    uc_samples_free(&s);
}

/* Reading samples. */

static int read_text(const char *text, size_t len, struct uc_samples *s, unsigned *line, char *why)
{
    char path[] = "/tmp/ucopy-samples-XXXXXX";
    int fd = mkstemp(path);
    FILE *f = fdopen(fd, "w");

    fwrite(text, 1, len, f);
    fclose(f);
    int rc = uc_samples_read(path, s, line, why, 256);
    remove(path);
    return rc;
}

static void samples_as_written(void **state)
{
    static const char text[] = "# a comment\r\n\r\nname, one ,two,three\r\n a b ,1,,3e2\n\nc,4,5,6";
    struct uc_samples s;
    unsigned line;
    char why[256];

    assert_int_equal(read_text(text, sizeof(text) - 1, &s, &line, why), 0);
    assert_int_equal(s.rows, 2);
    assert_int_equal(s.columns, 3);
    assert_string_equal(s.column[0], "one");
    assert_string_equal(s.row[0].name, "a b");
    assert_int_equal(s.row[0].n, 2);
    near(s.row[0].v[1], 300, 0);
    assert_int_equal(s.row[0].column[1], 2);
    assert_int_equal(s.row[1].n, 3);
    uc_samples_free(&s);
}

static void samples_refused(void **state)
{
    static const struct {
        const char *text;
        unsigned line;
        const char *says;
    } bad[] = {
        {"", 1, "no rows"},
        {"# only\n", 2, "no rows"},
        {"name,a\n", 2, "no rows"},
        {"name\nx\n", 1, "no column of samples"},
        {"name,a\nx,1\ny,z\n", 3, "column a: not a number: \"z\""},
        {"name,a\nx,0\n", 2, "not above 0"},
        {"name,a\nx,-1\n", 2, "not above 0"},
        {"name,a\nx,nan\n", 2, "not a number"},
        {"name,a\nx,inf\n", 2, "not a number"},
        {"name,a\nx,1e999\n", 2, "not above 0"},
        {"name,a\nx,0x1p3\n", 2, "not a number"},
        {"name,a\nx,1,2\n", 2, "more fields"},
        {"name,a\n,1\n", 2, "without a name"},
        {"name,a,b\nx,,\n", 2, "no samples"},
    };

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct uc_samples s;
        unsigned line;
        char why[256];
        int rc = read_text(bad[i].text, strlen(bad[i].text), &s, &line, why);
        if (rc != -EINVAL || line != bad[i].line || !strstr(why, bad[i].says))
            fail_msg("case %zu: rc %d, line %u, \"%s\"", i, rc, line, why);
    }
    struct uc_samples s;
    unsigned line;
    char why[256];
    assert_int_equal(read_text("name,a\nx\0y,1\n", 13, &s, &line, why), -EINVAL);
    assert_int_equal(uc_samples_read("/nonexistent", &s, &line, why, sizeof(why)), -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_interpolate),
        cmocka_unit_test(median_is_that_of_the_sorted),
        cmocka_unit_test(median_interval_has_the_known_ranks),
        cmocka_unit_test(median_interval_covers_what_it_says),
        cmocka_unit_test(separated_rows_have_the_known_p),
        cmocka_unit_test(ties_count_by_mid_ranks),
        cmocka_unit_test(interval_agrees_with_the_test),
        cmocka_unit_test(ratio_covers_what_it_says),
        cmocka_unit_test(exact_and_normal_meet),
        cmocka_unit_test(rows_that_cannot_be_compared),
        cmocka_unit_test(outliers_are_few_and_far),
        cmocka_unit_test(levels_change_or_the_first_differs),
        cmocka_unit_test(levels_in_noise),
        cmocka_unit_test(published_small_writes),
        cmocka_unit_test(published_cached_reads),
        cmocka_unit_test(samples_as_written),
        cmocka_unit_test(samples_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
