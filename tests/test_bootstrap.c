/* ./bootstrap with made-up tools in PATH, and the count of test points at its end. The folder of
 * the sources is named by the variable UCOPY_SOURCE. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* One test's folder: tree/ holds a copy of bootstrap, bin/ is the whole PATH, here/ is where the
 * caller stands. */
struct place {
    char dir[64];
};

static const char *source(void)
{
    const char *path = getenv("UCOPY_SOURCE");

    if (!path)
        fail_msg("UCOPY_SOURCE does not name the sources");
    return path;
}

static void shell(const char *fmt, ...)
{
    char command[1024];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(command, sizeof(command), fmt, ap);
    va_end(ap);
    if (system(command))
        fail_msg("failed: %s", command);
}

static int make_place(void **state)
{
    struct place *p = calloc(1, sizeof(*p));

    if (!p)
        return -1;
    strcpy(p->dir, "/tmp/ucopy-boot-XXXXXX");
    if (!mkdtemp(p->dir))
        return -1;
    shell("cd %s && mkdir -p tree/build tree/tests bin here && cp %s/bootstrap tree/", p->dir,
          source());
    *state = p;
    return 0;
}

static int remove_place(void **state)
{
    struct place *p = *state;

    shell("rm -rf %s", p->dir);
    free(p);
    return 0;
}

/* A program in bin/ (or elsewhere below dir) that notes its name and arguments in `calls`, then
 * does this. */
static void fake(const struct place *p, const char *path, const char *body)
{
    char file[160], text[1024];

    snprintf(file, sizeof(file), "%s/%s", p->dir, path);
    snprintf(text, sizeof(text), "#!/bin/sh\necho \"${0##*/} $*\" >>%s/calls\n%s\n", p->dir, body);
    assert_int_equal(uc_write_file(file, text, strlen(text)), 0);
    assert_int_equal(chmod(file, 0755), 0);
}

/* All that is looked for, found. */
static void fake_tools(const struct place *p)
{
    static const char *const tools[] = {"cc",    "python3", "meson",   "ninja",       "pkg-config",
                                        "clang", "g++",     "objdump", "qemu-x86_64", "gnuplot"};

    for (size_t i = 0; i < COUNT(tools); i++) {
        char path[64];
        snprintf(path, sizeof(path), "bin/%s", tools[i]);
        fake(p, path, "exit 0");
    }
}

/* An apt-get, and what bootstrap needs beside it. Not root here does not matter: id says so. */
static void fake_apt(const struct place *p, const char *body)
{
    static const char *const real[] = {"env", "grep", "mktemp", "rm", "tail"};

    for (size_t i = 0; i < COUNT(real); i++)
        shell("ln -s \"$(command -v %s)\" %s/bin/%s", real[i], p->dir, real[i]);
    fake(p, "bin/id", "echo 0");
    fake(p, "bin/apt-get", body);
}

static char *text_of(const struct place *p, const char *name)
{
    char path[160], *text = NULL;

    snprintf(path, sizeof(path), "%s/%s", p->dir, name);
    if (uc_read_file(path, 1 << 20, &text, NULL))
        text = strdup("");
    assert_non_null(text);
    return text;
}

static int run(const struct place *p, const char *arguments)
{
    char command[512];
    int status;

    snprintf(
        command, sizeof(command),
        "cd %s/here && UCOPY_CHART_JS=/dev/null PATH=%s/bin ../tree/bootstrap %s >../out 2>../err",
        p->dir, p->dir, arguments);
    status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect_in(const struct place *p, const char *name, const char *needle, bool there)
{
    char *text = text_of(p, name);
    bool found = strstr(text, needle) != NULL;

    if (found != there)
        print_error("%s holds: %s\n", name, text);
    free(text);
    if (found != there)
        fail_msg("'%s' is %sin %s", needle, found ? "" : "not ", name);
}

static void wrong_words_are_usage(void **state)
{
    static const char *const words[] = {"", "tun", "test word", "--help-me"};
    struct place *p = *state;

    for (size_t i = 0; i < COUNT(words); i++) {
        assert_int_equal(run(p, words[i]), 2);
        expect_in(p, "err", "usage: ./bootstrap tune", true);
        expect_in(p, "out", "\n", false);
    }
}

/* Nothing at all in PATH: the list must come from the shell alone. */
static void without_apt_it_says_what_to_install(void **state)
{
    static const char *const packages[] = {
        "gcc",         "libc6-dev",      "python3",      "meson",
        "ninja-build", "pkgconf",        "libcpuid-dev", "libhwloc-dev",
        "libpfm4-dev", "libjansson-dev", "libmd-dev",    "libcmocka-dev"};
    struct place *p = *state;

    assert_int_equal(run(p, "tune"), 3);
    for (size_t i = 0; i < COUNT(packages); i++) {
        char line[64];
        snprintf(line, sizeof(line), "\n  %s: ", packages[i]);
        expect_in(p, "err", line, true);
    }
    assert_int_equal(run(p, "test"), 3);
}

static void only_what_is_missing_is_named(void **state)
{
    struct place *p = *state;

    fake_tools(p);
    fake(p, "bin/pkg-config", "case $* in *hwloc*) exit 1 ;; esac");
    assert_int_equal(run(p, "tune"), 3);
    expect_in(p, "err", "\n  libhwloc-dev: library hwloc 2.0 or newer", true);
    expect_in(p, "err", "jansson", false);
    expect_in(p, "err", "gcc", false);
}

static void with_everything_there_it_installs_nothing(void **state)
{
    struct place *p = *state;
    char here[96];

    fake_tools(p);
    fake_apt(p, "exit 1");
    fake(p, "tree/build/ucopy-tune", "pwd; exit 7");
    assert_int_equal(run(p, "tune --quick -o 'a b'"), 7);
    expect_in(p, "calls", "apt-get", false);
    expect_in(p, "calls", "meson compile", true);
    expect_in(p, "calls", "ucopy-tune tune --quick -o a b\n", true);
    snprintf(here, sizeof(here), "%s/here\n", p->dir);
    expect_in(p, "out", here, true);
}

static void a_failing_apt_is_one_clear_line(void **state)
{
    struct place *p = *state;

    fake_apt(p, "echo chatter; echo 'E: Could not get lock'; exit 100");
    assert_int_equal(run(p, "tune"), 3);
    expect_in(
        p, "calls",
        "apt-get -q -o DPkg::Lock::Timeout=60 install -y --no-install-recommends gcc libc6-dev",
        true);
    expect_in(p, "err", "bootstrap: error: apt-get could not install these", true);
    expect_in(p, "err", "E: Could not get lock\n", true);
    expect_in(p, "err", "chatter", false);
}

/* An install that ends well and yet brings nothing is found out. */
static void what_apt_did_not_bring_is_named(void **state)
{
    struct place *p = *state;

    fake_tools(p);
    shell("rm %s/bin/ninja", p->dir);
    fake_apt(p, "exit 0");
    assert_int_equal(run(p, "tune"), 3);
    expect_in(p, "calls", "install -y --no-install-recommends ninja-build\n", true);
    expect_in(p, "err", "still missing:\n  ninja-build: program ninja\n", true);
}

static void tests_go_on_without_the_useful(void **state)
{
    struct place *p = *state;

    fake_tools(p);
    shell("rm %s/bin/clang", p->dir);
    fake(p, "bin/rm", "exit 0");
    assert_int_equal(run(p, "test"), 0);
    expect_in(p, "err",
              "going on without these; tests that use them are skipped:\n  clang: program clang\n",
              true);
    expect_in(p, "calls", "meson test -C build\n", true);
    expect_in(p, "calls", "python3 tests/count.py build/meson-logs/testlog.json\n", true);
}

/* ---- the count ---- */

static void expect_count(const struct place *p, const char *log, int code, const char *last)
{
    char path[128], command[512], *out;
    size_t n, k = strlen(last);
    int status;

    snprintf(path, sizeof(path), "%s/log", p->dir);
    assert_int_equal(uc_write_file(path, log, strlen(log)), 0);
    snprintf(command, sizeof(command), "python3 %s/tests/count.py %s >%s/out 2>%s/err", source(),
             path, p->dir, p->dir);
    status = system(command);
    out = text_of(p, "out");
    n = strlen(out);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != code || n < k || strcmp(out + n - k, last))
        fail_msg("log: %s\nstatus: %d\nout: %s", log, status, out);
    free(out);
}

#define LOG(result, text) \
    "{\"name\": \"t\", \"result\": \"" result "\", \"stdout\": \"" text "\"}\n"

static void points_are_counted_one_by_one(void **state)
{
    struct place *p = *state;

    expect_count(p, LOG("OK", "1..2\\nok 1 - a\\nok 2 - b\\n"), 0,
                 "2 passed, 0 failed, 0 skipped\n");
    expect_count(p, LOG("FAIL", "1..3\\nok 1 - a\\nnot ok 2 - b\\n# not ok - t\\nok 3 # SKIP c\\n"),
                 1, "skipped  t: # SKIP c\nFAILED   t: b\n1 passed, 1 failed, 1 skipped\n");
    expect_count(
        p, LOG("OK", "1..1\\nok 1 - a\\n") LOG("SKIP", "1..2\\nok 1 # SKIP x\\nok 2 # SKIP y\\n"),
        0, "1 passed, 0 failed, 2 skipped\n");
    expect_count(p, LOG("OK", "1..1\\nok 1 - a\\n") LOG("SKIP", "1..0 # SKIP no compiler\\n"), 0,
                 "1 passed, 0 failed, 1 skipped\n");
    expect_count(p, LOG("OK", "1..1\\nok 1\\n  ok 1 - inner\\n# ok - t\\nokay\\n"), 0,
                 "1 passed, 0 failed, 0 skipped\n");
}

static void compilers_are_named_once(void **state)
{
    struct place *p = *state;

    expect_count(
        p,
        LOG("OK",
            "# compiler gcc: gcc 1.2\\n# compiler clang: clang 3\\n1..1\\nok 1 - # compiler x\\n")
            LOG("OK", "# compiler gcc: gcc 1.2\\n1..1\\nok 1 # SKIP a\\n"),
        0,
        "compiler gcc: gcc 1.2\ncompiler clang: clang 3\nskipped  t: # SKIP a\n1 passed, 0 failed, 1 skipped\n");
}

/* A crash shows as points that never came, or as an exit code behind good points. */
static void a_program_that_died_counts_as_failed(void **state)
{
    struct place *p = *state;

    expect_count(p, LOG("ERROR", "1..3\\nok 1 - a\\n"), 1, "1 passed, 2 failed, 0 skipped\n");
    expect_count(p, LOG("TIMEOUT", "1..2\\nok 1 - a\\nnot ok 2 - b\\n"), 1,
                 "1 passed, 1 failed, 0 skipped\n");
    expect_count(p, LOG("TIMEOUT", ""), 1, "0 passed, 1 failed, 0 skipped\n");
    expect_count(p, LOG("ERROR", "1..1\\nok 1 - a\\n"), 1, "1 passed, 1 failed, 0 skipped\n");
    expect_count(p, LOG("SKIP", ""), 1, "0 passed, 1 failed, 0 skipped\n");
}

static void nothing_run_is_no_success(void **state)
{
    struct place *p = *state;

    expect_count(p, "", 1, "0 passed, 0 failed, 0 skipped\n");
    expect_count(p, "{broken", 1, "0 passed, 0 failed, 0 skipped\n");
    expect_count(p, LOG("SKIP", "1..0 # SKIP all\\n"), 1, "0 passed, 0 failed, 1 skipped\n");
}

/* cmocka 1.1.5 tells a skipped test as "not ok"; a real failure and the way a program died must
 * come through. */
static void tap_is_put_right(void **state)
{
    struct place *p = *state;
    char command[512];
    int status;

    fake(p, "here/program",
         "printf '1..4\\nok 1 - a\\nnot ok 2 # SKIP b\\nnot ok 3 - c # SKIP\\nword\\n# note\\n'; "
         "kill -SEGV $$");
    snprintf(command, sizeof(command), "python3 %s/tests/tap.py %s/here/program >%s/out", source(),
             p->dir, p->dir);
    status = system(command);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 128 + 11);
    expect_in(p, "out", "1..4\nok 1 - a\nok 2 # SKIP b\nnot ok 3 - c # SKIP\n# word\n# note\n",
              true);
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(wrong_words_are_usage),
        IN_PLACE(without_apt_it_says_what_to_install),
        IN_PLACE(only_what_is_missing_is_named),
        IN_PLACE(with_everything_there_it_installs_nothing),
        IN_PLACE(a_failing_apt_is_one_clear_line),
        IN_PLACE(what_apt_did_not_bring_is_named),
        IN_PLACE(tests_go_on_without_the_useful),
        IN_PLACE(points_are_counted_one_by_one),
        IN_PLACE(compilers_are_named_once),
        IN_PLACE(a_program_that_died_counts_as_failed),
        IN_PLACE(nothing_run_is_no_success),
        IN_PLACE(tap_is_put_right),
    };

    return cmocka_run_group_tests_name("bootstrap", tests, NULL, NULL);
}
