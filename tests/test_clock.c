/* The clock: the rules that turn marks and chains into rates, on tables; and that a real
 * calibration gives something a CPU can have. No rate is compared with another run's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine/clock.h"

#define SECOND 1000000000u

static void assert_near(double value, double wanted, double relative)
{
    if (!(fabs(value - wanted) <= relative * wanted))
        fail_msg("%.9g, wanted %.9g within %g", value, wanted, relative);
}

/* Marks of a clock of hz, 20 ms apart. */
static void make_marks(struct uc_clock_mark *marks, size_t n, double hz)
{
    for (size_t i = 0; i < n; i++) {
        marks[i].ns = 5 * SECOND + i * 20000000u;
        marks[i].ticks = (uint64_t)(1e12 + (double)i * 0.02 * hz);
    }
}

static void rate_of_even_marks(void **state)
{
    static const double hz[] = {1e6, 24e6, 2.3e9, 5.7e9};
    for (size_t i = 0; i < sizeof(hz) / sizeof(hz[0]); i++)
        for (size_t n = 2; n <= UC_CLOCK_MARKS; n++) {
            struct uc_clock_mark marks[UC_CLOCK_MARKS];
            double got = 0, spread = 1;
            make_marks(marks, n, hz[i]);
            assert_int_equal(uc_clock_rate(marks, n, &got, &spread), 0);
            assert_near(got, hz[i], 1e-6);
            assert_true(spread >= 0 && spread < 1e-4);
        }
}

/* A preemption between the two clocks of one mark: its ticks are late by 3 ms. */
static void one_late_mark_moves_only_the_spread(void **state)
{
    for (size_t late = 0; late < UC_CLOCK_MARKS; late++) {
        struct uc_clock_mark marks[UC_CLOCK_MARKS];
        double got, spread;
        make_marks(marks, UC_CLOCK_MARKS, 2e9);
        marks[late].ticks += (uint64_t)(0.003 * 2e9);
        assert_int_equal(uc_clock_rate(marks, UC_CLOCK_MARKS, &got, &spread), 0);
        assert_near(got, 2e9, 1e-6);
        assert_true(spread > 0.1);
    }
}

static void a_clock_that_does_not_run(void **state)
{
    for (size_t at = 1; at < UC_CLOCK_MARKS; at++)
        for (int back = 0; back < 2; back++)
            for (int which = 0; which < 2; which++) {
                struct uc_clock_mark marks[UC_CLOCK_MARKS];
                double got, spread;
                make_marks(marks, UC_CLOCK_MARKS, 2e9);
                if (which == 0)
                    marks[at].ticks = marks[at - 1].ticks - (uint64_t)back;
                else
                    marks[at].ns = marks[at - 1].ns - (uint64_t)back;
                assert_int_equal(uc_clock_rate(marks, UC_CLOCK_MARKS, &got, &spread), -ENOTSUP);
            }
}

static void too_few_or_too_many_marks(void **state)
{
    struct uc_clock_mark marks[UC_CLOCK_MARKS + 1];
    double got, spread;
    make_marks(marks, UC_CLOCK_MARKS + 1, 2e9);
    assert_int_equal(uc_clock_rate(marks, 0, &got, &spread), -EINVAL);
    assert_int_equal(uc_clock_rate(marks, 1, &got, &spread), -EINVAL);
    assert_int_equal(uc_clock_rate(marks, UC_CLOCK_MARKS + 1, &got, &spread), -EINVAL);
}

static void cycle_from_two_chains(void **state)
{
    static const struct {
        const char *what;
        double add, imul, cycle;
    } row[] = {
        {"both agree", 0.8, 2.4, 0.8},
        {"add disturbed a little", 0.84, 2.4, 0.8},
        {"imul disturbed a little", 0.8, 2.5, 0.8},
        {"imul of 4 cycles", 1, 4, 1},
        {"imul of 5 cycles", 1, 5, 1},
        {"imul of 2 cycles", 1, 2, 1},
        {"imul of 3 cycles, disturbed much", 1, 4.4, 1},
        {"add folded to half a cycle", 0.5, 3, 1},
        {"add folded to nearly nothing", 0.05, 3, 1},
        {"a chain without time", 0, 3, 0},
        {"a chain that went back", -1, 3, 0},
        {"no imul time", 1, 0, 1},
        {"imul went back", 1, -2, 1},
        {"not a number", NAN, 3, 0},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        double got = uc_clock_cycle(row[i].add, row[i].imul);
        if (!(fabs(got - row[i].cycle) < 1e-9))
            fail_msg("%s: %g, wanted %g", row[i].what, got, row[i].cycle);
    }
}

static void estimates_have_median_and_extremes(void **state)
{
    static const double hz[] = {3e9, 2e9, 4e9, 2.5e9, 9e9};
    static const double median[] = {3e9, 2.5e9, 3e9, 2.75e9, 3e9};
    struct uc_clock c;
    memset(&c, 0, sizeof(c));
    for (unsigned i = 0; i < 5; i++) {
        uc_clock_add_core(&c, hz[i]);
        assert_int_equal(c.core_n, i + 1);
        assert_near(c.core_hz, median[i], 1e-12);
    }
    assert_near(c.core_lo, 2e9, 1e-12);
    assert_near(c.core_hi, 9e9, 1e-12);
}

/* Long after the kept ones are full, early and late estimates still weigh the same. */
static void the_median_is_of_the_whole_run(void **state)
{
    struct uc_clock c;
    unsigned early = 0;
    memset(&c, 0, sizeof(c));
    for (int i = 0; i < 20000; i++)
        uc_clock_add_core(&c, i < 10000 ? 2e9 : 3e9);
    for (size_t i = 0; i < UC_CORE_KEPT; i++)
        early += c.core_kept[i] < 2.5e9;
    /* 256 expected; five standard deviations of 11.3 */
    assert_in_range(early, 200, 312);
    assert_int_equal(c.core_n, 20000);
    assert_near(c.core_lo, 2e9, 1e-12);
    assert_near(c.core_hi, 3e9, 1e-12);
}

static void ticks_do_not_go_back(void **state)
{
    uint64_t last = uc_ticks();
    for (int i = 0; i < 1000; i++) {
        uint64_t now = uc_ticks();
        assert_true(now >= last);
        last = now;
    }
}

static void calibration_gives_what_a_cpu_can_have(void **state)
{
    struct uc_clock c;
    memset(&c, 0xff, sizeof(c));
    assert_int_equal(uc_clock_calibrate(&c), 0);
    assert_true(c.tsc_hz > 1e6 && c.tsc_hz < 2e10);
    assert_true(c.tsc_spread >= 0);
    assert_true(c.overhead_ticks >= 0);
    assert_true(c.core_n <= 1);
    unsigned succeeded = 0;
    for (int i = 0; i < 100; i++) { /* any one may fall into a preemption */
        unsigned before = c.core_n;
        double hz = uc_clock_sample_core(&c);
        assert_int_equal(c.core_n, before + (hz > 0));
        if (!(hz > 0))
            continue;
        succeeded++;
        assert_true(hz > 1e6 && c.core_lo <= hz && hz <= c.core_hi);
        assert_true(c.core_lo <= c.core_hz && c.core_hz <= c.core_hi);
    }
    assert_true(succeeded > 0);
}

static void seconds_go_on(void **state)
{
    double before = uc_seconds();
    usleep(2000);
    assert_true(uc_seconds() >= before + 0.002);
}

/* RDTSC raises SIGSEGV here: calibration must say so instead of dying. */
static void child_without_rdtsc(void)
{
    struct uc_clock c, zero;
    memset(&c, 0xff, sizeof(c));
    memset(&zero, 0, sizeof(zero));
    if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0))
        _exit(77);
    int rc = uc_clock_calibrate(&c);
    _exit(rc == -ENOTSUP && !memcmp(&c, &zero, sizeof(c)) ? 0 : 1);
}

static void rdtsc_disabled_is_an_error(void **state)
{
    int status;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        child_without_rdtsc();
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        print_message("# skipped: RDTSC cannot be disabled here\n");
        skip();
    }
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rate_of_even_marks),
        cmocka_unit_test(one_late_mark_moves_only_the_spread),
        cmocka_unit_test(a_clock_that_does_not_run),
        cmocka_unit_test(too_few_or_too_many_marks),
        cmocka_unit_test(cycle_from_two_chains),
        cmocka_unit_test(estimates_have_median_and_extremes),
        cmocka_unit_test(the_median_is_of_the_whole_run),
        cmocka_unit_test(ticks_do_not_go_back),
        cmocka_unit_test(calibration_gives_what_a_cpu_can_have),
        cmocka_unit_test(seconds_go_on),
        cmocka_unit_test(rdtsc_disabled_is_an_error),
    };
    return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
