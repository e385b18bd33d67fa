/* Why a copy was chosen, from made-up counts of several shapes: what is told must follow from them,
 * and what cannot be believed must not be used. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "fit/explain.h"

/* Two copies that cost the same: what a test changes is what it is about. */
struct pair {
    struct uc_tally chosen[UC_EVENTS], other[UC_EVENTS];
};

static struct uc_tally around(double mid)
{
    return (struct uc_tally){mid * .99, mid, mid * 1.01, ""};
}

static struct pair alike(void)
{
    static const double usual[UC_EVENTS] = {[UC_CYCLES] = 40,
                                            [UC_INSTRUCTIONS] = 60,
                                            [UC_BRANCH_MISSES] = .1,
                                            [UC_L1D_MISSES] = 2,
                                            [UC_L2_MISSES] = .01};
    struct pair p;

    for (int e = 0; e < UC_EVENTS; e++)
        p.chosen[e] = p.other[e] = around(usual[e]);
    return p;
}

static void assert_told(struct pair *p, const char *wanted)
{
    char text[512];

    uc_tally_check(p->chosen, true);
    uc_tally_check(p->other, true);
    assert_string_equal(uc_explain(p->chosen, p->other, "rep_movsb", text, sizeof(text)), wanted);
}

static void fewer_misses_are_told(void **state)
{
    struct pair p = alike();

    p.chosen[UC_CYCLES] = around(24.1);
    p.other[UC_CYCLES] = around(131.5);
    p.chosen[UC_BRANCH_MISSES] = around(.072);
    p.chosen[UC_L1D_MISSES] = around(14);
    assert_told(&p, "24.1 cycles a call, rep_movsb 132; fewer: 28.0 branch misses a 1000 calls; "
                    "more: 12.0 L1D misses; no difference in instructions, L2 misses");
}

static void fewer_instructions_are_told(void **state)
{
    struct pair p = alike();

    p.chosen[UC_CYCLES] = around(36);
    p.chosen[UC_INSTRUCTIONS] = around(49.75);
    assert_told(&p,
                "36.0 cycles a call, rep_movsb 40.0; fewer: 10.2 instructions; no difference in "
                "branch misses, L1D misses, L2 misses");
}

/* Costing the same or more is said too, whatever was chosen by time. */
static void no_gain_is_told(void **state)
{
    struct pair p = alike();

    assert_told(&p, "40.0 cycles a call, rep_movsb no visibly other number; no difference in "
                    "instructions, branch misses, L1D misses, L2 misses");
    p.chosen[UC_CYCLES] = around(50);
    p.chosen[UC_L2_MISSES] = around(3);
    assert_told(&p, "50.0 cycles a call, rep_movsb 40.0; more: 2.99 L2 misses; no difference in "
                    "instructions, branch misses, L1D misses");
}

/* Middles that differ are no difference where the repeats overlap; nor are those that never
 * overlap but differ by less than a per cent. */
static void spread_is_no_difference(void **state)
{
    struct pair p = alike();

    p.chosen[UC_INSTRUCTIONS] = (struct uc_tally){40, 45, 59.41, ""};
    p.chosen[UC_L1D_MISSES] = (struct uc_tally){1.99, 1.99, 1.99, ""};
    p.other[UC_L1D_MISSES] = (struct uc_tally){2, 2, 2, ""};
    assert_told(&p, "40.0 cycles a call, rep_movsb no visibly other number; no difference in "
                    "instructions, branch misses, L1D misses, L2 misses");
    p.chosen[UC_INSTRUCTIONS].hi = 59.39;
    p.chosen[UC_L1D_MISSES] = (struct uc_tally){1.97, 1.97, 1.97, ""};
    assert_told(&p, "40.0 cycles a call, rep_movsb no visibly other number; fewer: 15.0 "
                    "instructions, 30.0 L1D misses a 1000 calls; no difference in branch misses, "
                    "L2 misses");
}

static void what_was_not_counted_is_said(void **state)
{
    struct pair p = alike();

    strcpy(p.other[UC_L2_MISSES].why, "multiplexed: counted for a part of the time only");
    p.chosen[UC_L2_MISSES] = around(77);
    assert_told(&p, "40.0 cycles a call, rep_movsb no visibly other number; no difference in "
                    "instructions, branch misses, L1D misses; not counted: L2 misses (multiplexed: "
                    "counted for a part of the time only)");
    for (int e = 0; e < UC_EVENTS; e++)
        strcpy(p.chosen[e].why, "x");
    assert_told(&p, "against rep_movsb; not counted: cycles (x), instructions (x), branch misses "
                    "(x), L1D misses (x), L2 misses (x)");
}

static void implausible_counts_are_not_used(void **state)
{
    struct pair p = alike();

    p.chosen[UC_CYCLES] = around(0);
    p.chosen[UC_BRANCH_MISSES] = around(61);
    p.other[UC_L1D_MISSES] = around(0);
    assert_told(&p, "against rep_movsb; no difference in instructions, L2 misses; not counted: "
                    "cycles (implausible: 0), branch misses (implausible: more than instructions), "
                    "L1D misses (implausible: 0 in copies larger than L1D)");
    p = alike();
    p.other[UC_INSTRUCTIONS] = around(40 * 17);
    assert_told(&p, "against rep_movsb; no difference in branch misses, L1D misses, L2 misses; not "
                    "counted: cycles (implausible: 17 instructions a cycle), instructions "
                    "(implausible: 17 instructions a cycle)");
    p = alike();
    p.chosen[UC_INSTRUCTIONS] = p.other[UC_INSTRUCTIONS] = around(0);
    assert_told(&p,
                "40.0 cycles a call, rep_movsb no visibly other number; no difference in branch "
                "misses, L1D misses, L2 misses; not counted: instructions (implausible: 0)");
}

/* No misses at all are what short copies have. */
static void no_misses_are_plausible(void **state)
{
    struct pair p = alike();
    char text[512];

    p.chosen[UC_L1D_MISSES] = p.chosen[UC_L2_MISSES] = p.chosen[UC_BRANCH_MISSES] = around(0);
    uc_tally_check(p.chosen, false);
    uc_explain(p.chosen, p.other, "rep_movsb", text, sizeof(text));
    assert_string_equal(text, "40.0 cycles a call, rep_movsb no visibly other number; fewer: 100 "
                              "branch misses a 1000 calls, 2.00 L1D misses, 10.0 L2 misses a 1000 "
                              "calls; no difference in instructions");
}

/* Of any numbers: a direction is told only where all repeats agree on it, and no buffer is too
 * small. */
static void directions_follow_the_numbers(void **state)
{
    struct uc_rng rng = {1};

    for (int i = 0; i < 2000; i++) {
        struct pair p;
        char text[2048], small[40];
        for (int e = 0; e < UC_EVENTS; e++)
            for (int k = 0; k < 2; k++) {
                double mid = uc_rng_unit(&rng) * (1 << uc_rng_below(&rng, 20));
                struct uc_tally t = {mid * uc_rng_unit(&rng), mid, mid * (1 + uc_rng_unit(&rng)),
                                     ""};
                *(k ? &p.other[e] : &p.chosen[e]) = t;
            }
        uc_explain(p.chosen, p.other, "other", text, sizeof(text));
        const char *fewer = strstr(text, "; fewer"), *more = strstr(text, "; more"),
                   *same = strstr(text, "; no difference");
        for (int e = UC_INSTRUCTIONS; e < UC_EVENTS; e++) {
            const struct uc_tally *a = &p.chosen[e], *b = &p.other[e];
            const char *at = strstr(text, uc_event_word[e]);
            const char *list = same && at > same ? same : more && at > more ? more : fewer;
            bool below = a->hi < b->lo && b->mid - a->mid >= .01 * b->mid,
                 above = a->lo > b->hi && a->mid - b->mid >= .01 * a->mid;
            assert_non_null(at);
            assert_ptr_equal(list, below ? fewer : above ? more : same);
        }
        uc_explain(p.chosen, p.other, "other", small, sizeof(small));
        assert_int_equal(strncmp(small, text, sizeof(small) - 1), 0);
        assert_int_equal(small[sizeof(small) - 1], 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fewer_misses_are_told),
        cmocka_unit_test(fewer_instructions_are_told),
        cmocka_unit_test(no_gain_is_told),
        cmocka_unit_test(spread_is_no_difference),
        cmocka_unit_test(what_was_not_counted_is_said),
        cmocka_unit_test(implausible_counts_are_not_used),
        cmocka_unit_test(no_misses_are_plausible),
        cmocka_unit_test(directions_follow_the_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
