/* Evidence: what the kernel counts for this thread, and /proc/stat in the forms that machines have.
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
#include <sys/mman.h>
#include <unistd.h>

#include "machine/evidence.h"

static char path[64];

static void write_stat(const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static int make_path(void **state)
{
    strcpy(path, "/tmp/ucopy-evidence-XXXXXX");
    int fd = mkstemp(path);
    return fd < 0 || close(fd);
}

static int drop_path(void **state)
{
    return unlink(path);
}

/* user nice system idle iowait irq softirq steal guest guest_nice: busy of cpu0 is 1+2+3+6+7. */
static const char four[] = "cpu  10 20 30 40 50 60 70 80 0 0\n"
                           "cpu0 1 2 3 1000 5 6 7 800 0 0\n"
                           "cpu1 100 0 0 2000 0 0 0 11 0 0\n"
                           "cpu2 0 200 0 3000 0 0 0 12 0 0\n"
                           "cpu3 0 0 400 4000 9999 0 0 13 0 0\n"
                           "intr 1 2 3\nctxt 99\n";

static void reads_the_lines_of_the_cpus(void **state)
{
    struct uc_machine_load l;
    cpu_set_t siblings;
    CPU_ZERO(&siblings);
    CPU_SET(2, &siblings);
    write_stat(four);
    uc_machine_load_from(&l, path, 0, &siblings);
    assert_true(l.known);
    assert_int_equal(l.steal, 800);
    assert_int_equal(l.busy_others, 700);
    assert_int_equal(l.busy_siblings, 200);
    assert_true(l.seconds > 0);
    uc_machine_load_from(&l, path, 3, NULL);
    assert_int_equal(l.steal, 13);
    assert_int_equal(l.busy_others, 319);
    assert_int_equal(l.busy_siblings, 0);
}

static void numbers_above_64(void **state)
{
    struct uc_machine_load l;
    cpu_set_t siblings;
    CPU_ZERO(&siblings);
    CPU_SET(1023, &siblings);
    write_stat("cpu  1 1 1 1 1 1 1 1\ncpu70 1 0 0 0 0 0 0 5\ncpu1023 40 0 0 0 0 0 0 6\n"
               "cpu5000 2 0 0 0 0 0 0 7\n");
    uc_machine_load_from(&l, path, 70, &siblings);
    assert_true(l.known);
    assert_int_equal(l.steal, 5);
    assert_int_equal(l.busy_siblings, 40);
    assert_int_equal(l.busy_others, 42);
}

/* Old kernels have fewer fields, damaged files anything. */
static void short_and_damaged_lines(void **state)
{
    static const struct {
        const char *text;
        bool known;
        unsigned steal, others;
    } row[] = {
        {"", false, 0, 0},
        {"cpu  1 2 3 4 5 6 7 8\n", false, 0, 0},
        {"cpu0 1 2 3 4\ncpu1 5 6 7 8\n", true, 0, 18},
        {"cpu0\ncpu1 5\n", true, 0, 5},
        {"cpu0 1 2 3 4 5 6 7 8", true, 8, 0},
        {"cpu0 x y z\ncpu1 1 z 9\n", true, 0, 1},
        {"cpux 1 2 3\ncpu0 1 2 3 4 5 6 7 8\n", true, 8, 0},
        {"cpu-1 5 5 5 5 5 5 5 5\ncpu0 1 2 3 4 5 6 7 8\n", true, 8, 0},
        {"intr 5\ncpu0 1 2 3 4 5 6 7 8\n", false, 0, 0},
        {"cpu1 1 2 3 4 5 6 7 8\n", false, 0, 19},
        {"garbage", false, 0, 0},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct uc_machine_load l;
        write_stat(row[i].text);
        uc_machine_load_from(&l, path, 0, NULL);
        if (l.known != row[i].known || l.steal != row[i].steal || l.busy_others != row[i].others)
            fail_msg("row %zu: known %d, steal %u, others %u", i, l.known, (unsigned)l.steal,
                     (unsigned)l.busy_others);
    }
}

static void without_proc_all_is_unknown(void **state)
{
    struct uc_machine_load a, b;
    uint64_t busy[CPU_SETSIZE];
    memset(&a, 0xff, sizeof(a));
    uc_machine_load_from(&a, "/nonexistent/stat", 0, NULL);
    uc_machine_load_from(&b, "/nonexistent/stat", 0, NULL);
    b.seconds = a.seconds + 1;
    assert_false(a.known);
    assert_true(uc_steal_share(&a, &b) < 0);
    assert_true(uc_sibling_share(&a, &b) < 0);
    assert_int_equal(uc_busy_ticks("/nonexistent/stat", busy), -ENOENT);
}

static void shares_of_wall_time(void **state)
{
    double hz = (double)sysconf(_SC_CLK_TCK);
    uint64_t half = (uint64_t)hz; /* ticks in the first of two seconds */
    static const struct uc_machine_load zero = {.seconds = 10, .known = true};
    struct uc_machine_load end = {.seconds = 12, .known = true, .steal = half};
    assert_true(fabs(uc_steal_share(&zero, &end) - 0.5) < 1e-9);
    assert_true(uc_sibling_share(&zero, &end) == 0);
    end.busy_siblings = 3 * half;
    assert_true(uc_sibling_share(&zero, &end) == 1);
    end.busy_siblings = half / 2;
    assert_true(fabs(uc_sibling_share(&zero, &end) - 0.25) < 1e-9);
    /* the counter went back */
    struct uc_machine_load later = {.seconds = 14, .known = true, .steal = half - 1};
    assert_true(uc_steal_share(&end, &later) == 0);
    /* no time between, or time that goes back */
    assert_true(uc_steal_share(&end, &end) < 0);
    assert_true(uc_steal_share(&end, &zero) < 0);
    end.known = false;
    assert_true(uc_steal_share(&zero, &end) < 0);
    assert_true(uc_sibling_share(&zero, &end) < 0);
}

static void busy_ticks_by_number(void **state)
{
    uint64_t busy[CPU_SETSIZE];
    write_stat(four);
    assert_int_equal(uc_busy_ticks(path, busy), 0);
    assert_int_equal(busy[0], 19);
    assert_int_equal(busy[1], 100);
    assert_int_equal(busy[2], 200);
    assert_int_equal(busy[3], 400);
    assert_int_equal(busy[4], 0);
    write_stat("cpu9999 1 1 1 1\ncpu1024 1 1 1 1\ncpu1023 7 0 0 0\n");
    assert_int_equal(uc_busy_ticks(path, busy), 0);
    assert_int_equal(busy[1023], 7);
}

static void faults_are_counted(void **state)
{
    enum { PAGES = 16 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct uc_evidence before, after;
    char *p = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(p, MAP_FAILED);
    madvise(p, PAGES * page, MADV_NOHUGEPAGE);
    uc_evidence_now(&before);
    for (size_t i = 0; i < PAGES; i++)
        *(volatile char *)(p + i * page) = 1;
    uc_evidence_now(&after);
    munmap(p, PAGES * page);
    assert_true(after.faults - before.faults >= PAGES);
    assert_true(uc_disturbed(&before, &after));
}

static void switches_are_counted(void **state)
{
    struct uc_evidence before, after;
    uc_evidence_now(&before);
    usleep(1000);
    uc_evidence_now(&after);
    assert_true(after.switches > before.switches);
    assert_true(uc_disturbed(&before, &after));
}

/* Some of 10,000 pairs of looks are undisturbed, or the looks themselves disturb. */
static void looking_does_not_disturb(void **state)
{
    int undisturbed = 0;
    for (int i = 0; i < 10000; i++) {
        struct uc_evidence before, after;
        uc_evidence_now(&before);
        uc_evidence_now(&after);
        undisturbed += !uc_disturbed(&before, &after);
    }
    assert_true(undisturbed > 0);
}

static void each_kind_disturbs(void **state)
{
    static const struct uc_evidence base = {5, 6, 7};
    static const struct uc_evidence other[] = {{6, 6, 7}, {5, 7, 7}, {5, 6, 0}, {5, 6, -1}};
    assert_false(uc_disturbed(&base, &base));
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
        assert_true(uc_disturbed(&base, &other[i]));
}

static void bind_to(int pu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(pu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
}

static void a_move_is_seen(void **state)
{
    cpu_set_t mask;
    struct uc_evidence first, second;
    int a = 0, b;
    assert_int_equal(sched_getaffinity(0, sizeof(mask), &mask), 0);
    if (CPU_COUNT(&mask) < 2) {
        print_message("# skipped: one CPU allowed\n");
        skip();
    }
    while (!CPU_ISSET(a, &mask))
        a++;
    for (b = a + 1; !CPU_ISSET(b, &mask);)
        b++;
    bind_to(a);
    uc_evidence_now(&first);
    bind_to(b);
    uc_evidence_now(&second);
    assert_int_equal(sched_setaffinity(0, sizeof(mask), &mask), 0);
    assert_int_equal(first.cpu, a);
    assert_int_equal(second.cpu, b);
    assert_true(uc_disturbed(&first, &second));
}

static void the_word_in_brackets(void **state)
{
    static const struct {
        const char *line, *word;
    } row[] = {
        {"always [madvise] never", "madvise"},
        {"[always] madvise never", "always"},
        {"always madvise [never]", "never"},
        {"always madvise never", ""},
        {"always [madvise", ""},
        {"] [", ""},
        {"x] [y", ""},
        {"[]", ""},
        {"", ""},
        {"[longer than the buffer]", "longer "},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char buf[8] = "?";
        assert_string_equal(uc_bracketed(row[i].line, buf, sizeof(buf)), row[i].word);
    }
}

static void facts_that_are_absent_are_empty(void **state)
{
    char buf[16] = "?";
    assert_string_equal(uc_governor(999999, buf, sizeof(buf)), "");
    uc_thp_mode(buf, sizeof(buf));
    assert_true(!strcmp(buf, "") || !strcmp(buf, "always") || !strcmp(buf, "madvise") ||
                !strcmp(buf, "never"));
}

/* The real file, where there is one: this thread works for a while, so its PU is busy. */
static void this_machine(void **state)
{
    struct uc_machine_load l;
    uint64_t busy[CPU_SETSIZE];
    int pu = sched_getcpu();
    if (access(UC_PROC_STAT, R_OK)) {
        print_message("# skipped: no %s\n", UC_PROC_STAT);
        skip();
    }
    uc_machine_load_now(&l, pu, NULL);
    assert_true(l.known);
    assert_int_equal(uc_busy_ticks(UC_PROC_STAT, busy), 0);
    uint64_t sum = 0;
    for (int i = 0; i < CPU_SETSIZE; i++)
        sum += i == pu ? 0 : busy[i];
    assert_true(sum >= l.busy_others);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_lines_of_the_cpus),
        cmocka_unit_test(numbers_above_64),
        cmocka_unit_test(short_and_damaged_lines),
        cmocka_unit_test(without_proc_all_is_unknown),
        cmocka_unit_test(shares_of_wall_time),
        cmocka_unit_test(busy_ticks_by_number),
        cmocka_unit_test(faults_are_counted),
        cmocka_unit_test(switches_are_counted),
        cmocka_unit_test(looking_does_not_disturb),
        cmocka_unit_test(each_kind_disturbs),
        cmocka_unit_test(a_move_is_seen),
        cmocka_unit_test(the_word_in_brackets),
        cmocka_unit_test(facts_that_are_absent_are_empty),
        cmocka_unit_test(this_machine),
    };
    return cmocka_run_group_tests_name("evidence", tests, make_path, drop_path);
}
