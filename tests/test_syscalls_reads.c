/* `syscalls`: reads of a file, with the copy and without: all bytes come, short and interrupted
 * calls go on, refusals are told by name, nothing stays behind. Nothing here looks at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "syscalls/nocopy_ways.h"
#include "tests/syscalls_run.h"

/* ---- the ways of reading a piece ---- */

static void read_by(enum uc_way way, const char *call, size_t most)
{
    struct uc_file_reader f;
    char *folder;
    struct uc_sys_run run = make_run(&folder);

    assert_int_equal(uc_file_reader_open(&f, &run, 2), 0);
    if (f.way_rc[way]) {
        print_message("# %s: %s\n", f.way_call[way], strerror(-f.way_rc[way]));
    } else {
        fail_call(call, EINTR, 1, 1);
        inject.most = most;
        for (int place = 0; place < UC_PLACES; place++) {
            memset(f.ring[place].start, 0, f.ring_bytes[place]);
            uc_file_reader_ready(&f, (enum uc_place)place, 1);
            assert_int_equal(uc_file_reader_read(&f, way, (enum uc_place)place, 1), 0);
            assert_int_equal(uc_file_reader_holds(&f, (enum uc_place)place, 1), uc_way_copies(way));
        }
        assert_true(inject.seen > UC_PLACES + 1);
    }
    no_hook(NULL);
    uc_file_reader_close(&f);
    assert_int_equal(uc_sys_folder_remove(folder), 0);
    free(folder);
}

static void every_way_reads_all_bytes(void **state)
{
    read_by(UC_WAY_READ, "preadv", 2);
    read_by(UC_WAY_DIRECT, "preadv", 3);
    read_by(UC_WAY_SPLICE, "splice", 5000);
    read_by(UC_WAY_SOCKET, "readv", 1);
    read_by(UC_WAY_SOCKET, "sendfile", 30000);
    read_by(UC_WAY_DROPPED, "recvfrom", 7000);
}

/* A byte that is another is seen. */
static void wrong_bytes_are_seen(void **state)
{
    struct uc_file_reader f;
    char *folder;
    struct uc_sys_run run = make_run(&folder);

    assert_int_equal(uc_file_reader_open(&f, &run, 2), 0);
    assert_int_equal(uc_file_reader_read(&f, UC_WAY_READ, UC_IN_MEMORY, 1), 0);
    assert_true(uc_file_reader_holds(&f, UC_IN_MEMORY, 1));
    assert_false(uc_file_reader_holds(&f, UC_IN_MEMORY, 0));
    f.ring[UC_IN_MEMORY].start[2 * UC_PIECE - 1] ^= 1;
    assert_false(uc_file_reader_holds(&f, UC_IN_MEMORY, 1));
    uc_file_reader_close(&f);
    assert_int_equal(uc_sys_folder_remove(folder), 0);
    free(folder);
}

/* ---- nocopy_reads ---- */

static void nocopy_reads_measures_every_way(void **state)
{
    struct uc_sys_result r = {0};
    size_t samples = 0;

    assert_int_equal(run_experiment("nocopy_reads", &r), 0);
    well_formed(&r);
    assert_int_equal(measured(&r, "cached reads", "read into L1"), 1);
    assert_int_equal(measured(&r, "cached reads", "splice"), 1);
    assert_int_equal(measured(&r, "cached reads", "socket MSG_TRUNC"), 1);
    assert_int_equal(measured(&r, "cached reads", NULL), measured(&r, "cached reads: mean", NULL));
    assert_int_equal(measured(&r, "cached reads: 99th percentile", NULL), 0); /* of 8 reads */
    assert_int_equal(measured(&r, "replay of cached reads", NULL), 3);
    for (size_t i = 0; i < r.rows; i++)
        samples += r.row[i].n;
    assert_true(samples >= r.rows * UC_SYS_ROUNDS);
    assert_true(noted(&r, "a file of 2 MiB on "));
    uc_sys_result_free(&r);
}

/* Each call fails by turns: what needs it is skipped, and all else is there. */
static void what_is_refused_is_skipped_by_name(void **state)
{
    static const struct {
        const char *call;
        int error;
        const char *what, *gone;
        size_t left;
    } refusal[] = {
        {"splice", EPERM, "cached reads splice", "splice", 10},
        {"pipe2", EMFILE, "cached reads: splice", "splice", 10},
        {"socket", EAFNOSUPPORT, "cached reads: socket", "socket MSG_TRUNC", 7},
        {"bind", EACCES, "cached reads: socket", "socket into L2", 7},
        {"listen", EPERM, "cached reads: socket", "socket into L2", 7},
        {"connect", ECONNREFUSED, "cached reads: socket", "socket into L2", 7},
        {"accept4", EMFILE, "cached reads: socket", "socket into L2", 7},
        {"sendfile", ENOSYS, "cached reads socket MSG_TRUNC", "socket into memory", 7},
        {"recvfrom", EPERM, "cached reads socket MSG_TRUNC", "socket MSG_TRUNC", 10},
        {"posix_fadvise", ENOSYS, "uncached reads", "none", 11},
        {"mincore", EPERM, "uncached reads", "none", 11},
    };

    for (size_t i = 0; i < sizeof(refusal) / sizeof(refusal[0]); i++) {
        struct uc_sys_result r = {0};
        char why[120];
        /* the first in its second round: what it has measured till then goes too */
        fail_call(refusal[i].call, refusal[i].error, i ? 0 : 20, UINT_MAX);
        assert_int_equal(run_experiment("nocopy_reads", &r), 0);
        snprintf(why, sizeof(why), "%s: %s", refusal[i].call, strerror(refusal[i].error));
        if (!skipped(&r, refusal[i].what, why))
            fail_msg("%s is not told", why);
        assert_int_equal(measured(&r, "cached reads", refusal[i].gone), 0);
        assert_int_equal(measured(&r, "cached reads: mean", refusal[i].gone), 0);
        if (measured(&r, "cached reads", "O_DIRECT into L1"))
            assert_int_equal(measured(&r, "cached reads", NULL), refusal[i].left);
        well_formed(&r);
        uc_sys_result_free(&r);
    }
}

static void nocopy_reads_end_on_errors(void **state)
{
    static const struct {
        const char *call;
        int error;
    } failure[] = {{"write", ENOSPC}, {"open", EACCES},    {"fdatasync", EIO}, {"preadv", EIO},
                   {"splice", EIO},   {"sendfile", EPIPE}, {"recvfrom", EIO}};

    for (size_t i = 0; i < sizeof(failure) / sizeof(failure[0]); i++) {
        struct uc_sys_result r = {0};
        fail_call(failure[i].call, failure[i].error, i < 2 ? 0 : 1, 1);
        assert_int_equal(run_experiment("nocopy_reads", &r), -failure[i].error);
        assert_string_equal(uc_sys_failed_call(), failure[i].call);
        uc_sys_result_free(&r);
    }
}

/* As after Ctrl-C: the next call that waits is interrupted, and no other begins. */
static void an_interrupt_ends_the_run(void **state)
{
    struct uc_sys_result r = {0};

    uc_interrupted = 1;
    assert_int_equal(run_experiment("nocopy_reads", &r), -EINTR);
    uc_sys_result_free(&r);
}

/* Where pages stay in the cache, nothing is called uncached. */
static void a_cached_file_is_not_called_uncached(void **state)
{
    struct uc_file_reader f;
    char *folder;
    struct uc_sys_run run = make_run(&folder);

    assert_int_equal(uc_file_reader_open(&f, &run, 2), 0);
    int rc = uc_file_reader_drop(&f);
    assert_int_equal(rc ? uc_sys_resident(f.fd, 2 * UC_PIECE) > 0 : 0, rc == -EBUSY);
    assert_int_equal(uc_file_reader_read(&f, UC_WAY_READ, UC_IN_L1, 0), 0);
    assert_true(uc_sys_resident(f.fd, 2 * UC_PIECE) >= (ssize_t)(UC_PIECE / 4096));
    uc_file_reader_close(&f);
    assert_int_equal(uc_sys_folder_remove(folder), 0);
    free(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_way_reads_all_bytes, no_hook),
        cmocka_unit_test_teardown(wrong_bytes_are_seen, no_hook),
        cmocka_unit_test_teardown(nocopy_reads_measures_every_way, no_hook),
        cmocka_unit_test_teardown(what_is_refused_is_skipped_by_name, no_hook),
        cmocka_unit_test_teardown(nocopy_reads_end_on_errors, no_hook),
        cmocka_unit_test_teardown(an_interrupt_ends_the_run, no_hook),
        cmocka_unit_test_teardown(a_cached_file_is_not_called_uncached, no_hook),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
