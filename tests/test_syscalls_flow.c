/* `syscalls`: cached reads and datagrams: bytes really come, lost, short and refused ones are told.
 * Nothing here looks at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/syscalls_run.h"

static size_t sampled(const struct uc_sys_result *r, const char *series)
{
    size_t n = 0;

    for (size_t i = 0; i < r->rows; i++)
        n += strcmp(r->row[i].series, series) ? 0 : r->row[i].n;
    return n;
}

/* ---- cached reads: the experiment itself looks at every byte ---- */

static void cached_reads_compares_every_buffer(void **state)
{
    struct uc_sys_result r = {0};

    fail_call("pread", EINTR, 5, 1);
    inject.most = 300000;
    assert_int_equal(run_experiment("cached_reads", &r), 0);
    assert_true(inject.seen > 5 * 9 * 8 * 7); /* rounds, kinds, reads, parts */
    well_formed(&r);
    size_t kinds = measured(&r, "2 MiB cached reads", NULL);
    assert_true(kinds == 10 || (kinds == 9 && skipped(&r, "huge pages", "no huge page")));
    assert_true(sampled(&r, "2 MiB cached reads") >= 5 * kinds);
    if (skipped(&r, "inline, called and checked copies", ""))
        print_message("# no compiler\n");
    else
        assert_int_equal(measured(&r, "replay of a 2 MiB read", NULL), 12);
    uc_sys_result_free(&r);
}

static void cached_reads_without_advice_or_compiler(void **state)
{
    struct uc_sys_result r = {0};

    fail_call("madvise", EINVAL, 0, UINT_MAX);
    setenv("CC", "/nonexistent", 1);
    assert_int_equal(run_experiment("cached_reads", &r), 0);
    unsetenv("CC");
    assert_true(skipped(&r, "inline, called and checked copies", "compiler"));
    assert_int_equal(measured(&r, "2 MiB cached reads", "page-aligned"), 1);
    assert_int_equal(r.figures, 0);
    uc_sys_result_free(&r);
}

static void cached_reads_end_on_errors(void **state)
{
    struct uc_sys_result r = {0};

    fail_call("write", ENOSPC, 0, 1);
    assert_int_equal(run_experiment("cached_reads", &r), -ENOSPC);
    uc_sys_result_free(&r);
    fail_call("pread", EIO, 20, 1);
    assert_int_equal(run_experiment("cached_reads", &r), -EIO);
    assert_string_equal(uc_sys_failed_call(), "pread");
    uc_sys_result_free(&r);
    uc_interrupted = 1;
    assert_int_equal(run_experiment("cached_reads", &r), -EINTR);
    uc_sys_result_free(&r);
}

/* ---- datagrams ---- */

static const char full[] = "from a full queue";

static void datagrams_by_every_way_and_length(void **state)
{
    struct uc_sys_result r = {0};

    assert_int_equal(run_experiment("datagrams", &r), 0);
    well_formed(&r);
    assert_int_equal(measured(&r, full, "recvfrom"), 7);
    assert_int_equal(measured(&r, full, "recvmmsg"), 7);
    assert_int_equal(measured(&r, full, "recvfrom 0 B"), 7);
    assert_int_equal(r.figures, 7);
    assert_int_equal(r.pairs, 14);
    assert_true(skipped(&r, "under a flood", "no second CPU"));
    uc_sys_result_free(&r);
}

/* Sends that a full buffer refuses are packets fewer, and interrupted calls go on. */
static void fewer_packets_end_it_too(void **state)
{
    struct uc_sys_result r = {0};

    fail_call("send", ENOBUFS, 10, 500);
    assert_int_equal(run_experiment("datagrams", &r), 0);
    assert_int_equal(measured(&r, full, NULL), 21);
    assert_true(noted(&r, "0 packets were lost"));
    uc_sys_result_free(&r);
    fail_call("recvfrom", EINTR, 10, 5);
    assert_int_equal(run_experiment("datagrams", &r), 0);
    assert_int_equal(measured(&r, full, NULL), 21);
    uc_sys_result_free(&r);
}

static bool drained_at_poll;

/* The wait for what is on its way is over without it, once. */
static int lose(const char *call, size_t *bytes)
{
    if (!strcmp(call, "poll") && drained_at_poll) {
        drained_at_poll = false;
        return ETIMEDOUT;
    }
    return hook(call, bytes);
}

/* The queue says that it is empty and the wait ends without a packet: those of that batch are lost.
 */
static void lost_packets_are_counted(void **state)
{
    struct uc_sys_result r = {0};

    fail_call("recvmmsg", EAGAIN, 1, 1);
    assert_int_equal(run_experiment("datagrams", &r), 0);
    assert_true(noted(&r, "0 packets were lost")); /* they came later */
    uc_sys_result_free(&r);
    fail_call("recvmmsg", EAGAIN, 1, 1);
    drained_at_poll = true;
    uc_sys_hook = lose;
    assert_int_equal(run_experiment("datagrams", &r), 0);
    assert_true(noted(&r, "32 packets were lost")); /* of 64, all but the first call's */
    assert_int_equal(measured(&r, full, NULL), 21);
    uc_sys_result_free(&r);
}

/* A packet that comes cut is no packet of that length. */
static void cut_packets_do_not_count(void **state)
{
    struct uc_sys_result r = {0};

    fail_call("recvfrom", 0, 0, 0);
    inject.most = 100;
    assert_int_equal(run_experiment("datagrams", &r), 0);
    assert_int_equal(measured(&r, full, "recvmmsg"), 7);
    for (size_t i = 0; i < r.rows; i++)
        if (!strcmp(r.row[i].name, "recvfrom"))
            assert_int_equal(r.row[i].n > 0, r.row[i].size <= 100);
    uc_sys_result_free(&r);
}

static void refused_datagrams_are_skipped(void **state)
{
    struct uc_sys_result r = {0};

    fail_call("recvmmsg", ENOSYS, 0, UINT_MAX);
    assert_int_equal(run_experiment("datagrams", &r), 0);
    assert_true(skipped(&r, "from a full queue recvmmsg", "recvmmsg: Function not implemented"));
    assert_int_equal(measured(&r, full, "recvfrom"), 7);
    uc_sys_result_free(&r);
    static const char *const setup[] = {"socket", "bind", "getsockname", "connect"};
    for (size_t i = 0; i < 4; i++) {
        fail_call(setup[i], EACCES, 1, 1); /* the second of two */
        assert_int_equal(run_experiment("datagrams", &r), -EACCES);
        assert_string_equal(uc_sys_failed_call(), setup[i]);
        uc_sys_result_free(&r);
    }
    fail_call("recvfrom", EIO, 100, 1);
    assert_int_equal(run_experiment("datagrams", &r), -EIO);
    uc_sys_result_free(&r);
}

/* The sender's own thread, on this CPU too: it ends, and its failure is told. */
static int run_flood(struct uc_sys_result *r)
{
    char *folder;
    struct uc_sys_run run = make_run(&folder);
    size_t i = 0, before = open_files();

    while (strcmp(uc_sys_experiments[i]->name, "datagrams") != 0)
        i++;
    run.other_pu = run.pu;
    int rc = uc_sys_experiments[i]->run(&run, r);
    assert_int_equal(uc_sys_folder_remove(folder), 0);
    free(folder);
    assert_int_equal(open_files(), before);
    return rc;
}

static void a_flood_ends_by_itself(void **state)
{
    struct uc_sys_result r = {0};

    assert_int_equal(run_flood(&r), 0);
    assert_int_equal(measured(&r, "under a flood", NULL), 14);
    assert_true(noted(&r, "under a flood recvmmsg found no packet"));
    well_formed(&r);
    uc_sys_result_free(&r);
    fail_call("send", EPERM, 5 * 21 * 1024, UINT_MAX); /* behind all that fill the queue */
    assert_int_equal(run_flood(&r), 0);
    assert_int_equal(measured(&r, "under a flood", NULL), 0);
    assert_true(skipped(&r, "under a flood recvfrom", "send: Operation not permitted"));
    uc_sys_result_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(cached_reads_compares_every_buffer, no_hook),
        cmocka_unit_test_teardown(cached_reads_without_advice_or_compiler, no_hook),
        cmocka_unit_test_teardown(cached_reads_end_on_errors, no_hook),
        cmocka_unit_test_teardown(datagrams_by_every_way_and_length, no_hook),
        cmocka_unit_test_teardown(fewer_packets_end_it_too, no_hook),
        cmocka_unit_test_teardown(lost_packets_are_counted, no_hook),
        cmocka_unit_test_teardown(cut_packets_do_not_count, no_hook),
        cmocka_unit_test_teardown(refused_datagrams_are_skipped, no_hook),
        cmocka_unit_test_teardown(a_flood_ends_by_itself, no_hook),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
