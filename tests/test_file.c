/* Whole files: the old one or the new one, never a part. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

/* A folder for one test, with room for a path inside it. */
struct place {
    char dir[64];
    char file[96];
};

static int make_place(void **state)
{
    struct place *p = calloc(1, sizeof(*p));

    if (!p)
        return -1;
    strcpy(p->dir, "/tmp/ucopy-file-XXXXXX");
    if (!mkdtemp(p->dir))
        return -1;
    snprintf(p->file, sizeof(p->file), "%s/file", p->dir);
    *state = p;
    return 0;
}

static int entries(const char *dir, bool remove_them)
{
    DIR *d = opendir(dir);
    int n = 0;

    assert_non_null(d);
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        n++;
        if (remove_them && unlinkat(dirfd(d), e->d_name, 0))
            unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
    }
    closedir(d);
    return n;
}

static int remove_place(void **state)
{
    struct place *p = *state;

    entries(p->dir, true);
    rmdir(p->dir);
    free(p);
    return 0;
}

static void expect_text(const char *path, const char *want, size_t len)
{
    char *text = NULL;
    size_t n = 0;

    assert_int_equal(uc_read_file(path, 1 << 24, &text, &n), 0);
    assert_int_equal(n, len);
    assert_memory_equal(text, want, len);
    assert_int_equal(text[n], 0);
    free(text);
}

static void any_bytes_come_back(void **state)
{
    /* Around the reader's first buffer of 64 KiB, and NUL bytes inside. */
    static const size_t lengths[] = {0, 1, 65535, 65536, 65537, 131072, 1 << 20};
    struct place *p = *state;
    char *text = malloc(1 << 20);

    assert_non_null(text);
    for (size_t i = 0; i < 1 << 20; i++)
        text[i] = (char)(i * 7 + (i >> 8));
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        assert_int_equal(uc_write_file(p->file, text, lengths[i]), 0);
        expect_text(p->file, text, lengths[i]);
    }
    assert_int_equal(entries(p->dir, false), 1);
    free(text);
}

static void the_limit_is_inclusive(void **state)
{
    struct place *p = *state;
    char *text = NULL;

    assert_int_equal(uc_write_file(p->file, "12345", 5), 0);
    assert_int_equal(uc_read_file(p->file, 4, &text, NULL), -EFBIG);
    assert_null(text);
    assert_int_equal(uc_read_file(p->file, 5, &text, NULL), 0);
    assert_string_equal(text, "12345");
    free(text);
}

static void reading_what_is_no_file(void **state)
{
    struct place *p = *state;
    char *text = NULL;

    assert_int_equal(uc_read_file(p->file, 100, &text, NULL), -ENOENT);
    assert_int_equal(uc_read_file(p->dir, 100, &text, NULL), -EISDIR);
    assert_int_equal(uc_read_file("/dev/zero", 100, &text, NULL), -EFBIG);
    assert_null(text);
}

static void no_folder_no_file(void **state)
{
    struct place *p = *state;
    char path[128];

    snprintf(path, sizeof(path), "%s/absent/file", p->dir);
    assert_int_equal(uc_write_file(path, "x", 1), -ENOENT);
    assert_int_equal(uc_write_file(p->dir, "x", 1), -EISDIR);
    assert_int_equal(entries(p->dir, false), 0);
}

/* A file made with mkostemp is private; the profile must get the mode that any new file gets. */
static void the_mode_follows_the_umask(void **state)
{
    struct place *p = *state;
    struct stat st;
    mode_t old = umask(027);

    assert_int_equal(uc_write_file(p->file, "x", 1), 0);
    umask(old);
    assert_int_equal(stat(p->file, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
}

/* A device is written to and stays a device. Reached through a link of ours, so that a writer which
 * renames over it replaces the link and never the machine's /dev/full. */
static void a_full_device_fails_and_stays(void **state)
{
    struct place *p = *state;
    struct stat st;

    assert_int_equal(symlink("/dev/full", p->file), 0);
    assert_int_equal(uc_write_file(p->file, "x", 1), -ENOSPC);
    assert_int_equal(stat(p->file, &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    assert_int_equal(entries(p->dir, false), 1);
}

/* The disk is full in the middle of the new text: the limit on file sizes stands for it. */
static void a_failed_write_leaves_the_old_file(void **state)
{
    static char big[65536];
    struct place *p = *state;
    struct rlimit old, small;
    int rc;

    assert_int_equal(uc_write_file(p->file, "old", 3), 0);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 4096;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    rc = uc_write_file(p->file, big, sizeof(big));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(rc, -EFBIG);
    expect_text(p->file, "old", 3);
    assert_int_equal(entries(p->dir, false), 1);
}

static void expect_entries(const char *dir, int n)
{
    assert_int_equal(entries(dir, false), n);
}

/* Files that belong together: nothing is replaced before both lie there whole, and what is dropped
 * leaves nothing. */
static void staged_files_replace_nothing_yet(void **state)
{
    struct place *p = *state;
    struct uc_staged a, b;
    char other[128];

    snprintf(other, sizeof(other), "%s/other", p->dir);
    assert_int_equal(uc_write_file(p->file, "old", 3), 0);
    assert_int_equal(uc_stage_file(&a, p->file, "new", 3), 0);
    assert_int_equal(uc_stage_file(&b, other, "two", 3), 0);
    expect_text(p->file, "old", 3);
    assert_int_equal(access(other, F_OK), -1);
    expect_entries(p->dir, 3);
    uc_drop_file(&b);
    uc_drop_file(&b);
    expect_entries(p->dir, 2);
    assert_int_equal(uc_replace_file(&a), 0);
    uc_drop_file(&a);
    expect_text(p->file, "new", 3);
    expect_entries(p->dir, 1);
}

/* The folder goes away between the two steps. */
static void a_staged_file_may_fail_to_replace(void **state)
{
    struct place *p = *state;
    struct uc_staged a;

    assert_int_equal(uc_stage_file(&a, p->file, "new", 3), 0);
    entries(p->dir, true);
    assert_int_equal(uc_replace_file(&a), -ENOENT);
    assert_null(a.tmp);
    expect_entries(p->dir, 0);
}

static void write_for_ever(const char *path)
{
    static char text[2][200000];

    prctl(PR_SET_PDEATHSIG, SIGKILL); /* no writer outlives a test that failed */
    memset(text[0], 'a', sizeof(text[0]));
    memset(text[1], 'b', sizeof(text[1]));
    for (unsigned i = 0;; i++)
        if (uc_write_file(path, text[i & 1], sizeof(text[0])))
            _exit(1);
}

static void expect_whole(const char *path)
{
    char *text = NULL;
    size_t n = 0;

    assert_int_equal(uc_read_file(path, 1 << 20, &text, &n), 0);
    assert_int_equal(n, 200000);
    for (size_t i = 1; i < n; i++)
        if (text[i] != text[0])
            fail_msg("byte %zu is '%c' in a file of '%c'", i, text[i], text[0]);
    free(text);
}

static void killed_at_any_moment_the_file_is_whole(void **state)
{
    struct place *p = *state;

    for (unsigned round = 0; round < 40; round++) {
        pid_t child = fork();
        int status;
        assert_true(child >= 0);
        if (!child)
            write_for_ever(p->file);
        while (access(p->file, F_OK))
            usleep(100);
        usleep(500 + round * 97);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        expect_whole(p->file);
    }
}

/* Two runs in one folder: each file is one writer's or the other's. */
static void two_writers_and_a_reader(void **state)
{
    struct place *p = *state;
    pid_t child[2];

    for (int i = 0; i < 2; i++) {
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (!child[i])
            write_for_ever(p->file);
    }
    while (access(p->file, F_OK))
        usleep(100);
    for (int i = 0; i < 200; i++)
        expect_whole(p->file);
    for (int i = 0; i < 2; i++) {
        kill(child[i], SIGKILL);
        assert_int_equal(waitpid(child[i], NULL, 0), child[i]);
    }
}

static void a_writable_folder_is_left_as_it_was(void **state)
{
    struct place *p = *state;

    assert_int_equal(uc_dir_writable(p->dir), 0);
    assert_int_equal(entries(p->dir, false), 0);
    assert_int_equal(uc_dir_writable(p->file), -ENOENT);
    assert_int_equal(uc_write_file(p->file, "", 0), 0);
    assert_int_equal(uc_dir_writable(p->file), -ENOTDIR);
}

/* Looked at as it will be written: nothing is made, and what is there stays. */
static void a_writable_path_is_told(void **state)
{
    struct place *p = *state;
    char *text;

    assert_int_equal(uc_path_writable(p->file), 0);
    assert_int_equal(entries(p->dir, false), 0);
    assert_int_equal(uc_write_file(p->file, "old", 3), 0);
    assert_int_equal(uc_path_writable(p->file), 0);
    assert_int_equal(uc_read_file(p->file, 8, &text, NULL), 0);
    assert_string_equal(text, "old");
    free(text);
    assert_int_equal(entries(p->dir, false), 1);
    assert_int_equal(uc_path_writable(p->dir), -EISDIR);
    assert_int_equal(uc_path_writable("/dev/full"), 0);
    assert_int_equal(uc_path_writable("/nowhere/file"), -ENOENT);
}

/* Root may write anywhere that permissions forbid, so the kernel's own file system is asked. */
static void an_unwritable_folder_is_told(void **state)
{
    if (access("/proc/self", F_OK))
        skip();
    assert_true(uc_dir_writable("/proc/self") < 0);
    assert_true(uc_write_file("/proc/self/ucopy", "x", 1) < 0);
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(any_bytes_come_back),
        IN_PLACE(the_limit_is_inclusive),
        IN_PLACE(reading_what_is_no_file),
        IN_PLACE(no_folder_no_file),
        IN_PLACE(the_mode_follows_the_umask),
        IN_PLACE(a_full_device_fails_and_stays),
        IN_PLACE(a_failed_write_leaves_the_old_file),
        IN_PLACE(staged_files_replace_nothing_yet),
        IN_PLACE(a_staged_file_may_fail_to_replace),
        IN_PLACE(killed_at_any_moment_the_file_is_whole),
        IN_PLACE(two_writers_and_a_reader),
        IN_PLACE(a_writable_folder_is_left_as_it_was),
        IN_PLACE(a_writable_path_is_told),
        cmocka_unit_test(an_unwritable_folder_is_told),
    };

    return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
