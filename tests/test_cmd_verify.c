/* `ucopy-tune verify` from end to end on a profile made here with the smallest budget: exit codes,
 * identity, formats, bad input. What is decided is not looked at: that is test_drift's, on cells.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glob.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/file.h"

#define VERIFY "\"$UCOPY_TUNE\" verify --quick --budget 300ms "

/* The first strategy that the profile names is that of its first range. */
#define SWAP_FIRST(name) "sed '0,/\"strategy\": \"[a-z0-9_]*\"/s//\"strategy\": \"" name "\"/'"

static char dir[64];
static char stem[96]; /* of the profile made here */

static int sh(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A shell command in the test's folder; its exit code, or 128 and the signal. */
static int sh(const char *fmt, ...)
{
    char command[1024], whole[1200];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(command, sizeof(command), fmt, ap);
    va_end(ap);
    snprintf(whole, sizeof(whole), "cd %s && { %s ; } >out 2>err", dir, command);
    int status = system(whole);
    /* another user of the machine may be at it: that is said, and no part of the answer */
    snprintf(whole, sizeof(whole), "sed -i '/waiting for another timed run/d' %s/err", dir);
    assert_int_equal(system(whole), 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static char *slurp(const char *name)
{
    char path[200], *text;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    assert_int_equal(uc_read_file(path, 1 << 24, &text, NULL), 0);
    return text;
}

static void assert_holds(const char *name, const char *words)
{
    char *text = slurp(name);

    if (!strstr(text, words))
        fail_msg("%s lacks \"%s\":\n%s", name, words, text);
    free(text);
}

/* The exit code, nothing on stdout, one line on stderr that holds the words. */
static void refused(int code, int wanted, const char *words)
{
    char *out = slurp("out"), *err = slurp("err");
    size_t n = strlen(err);
    bool one_line = n && strcspn(err, "\n") == n - 1;

    if (code != wanted || *out || !strstr(err, words) || !one_line)
        fail_msg("exit code %d, stdout \"%s\", stderr \"%s\", wanted %d and \"%s\"", code, out, err,
                 wanted, words);
    free(out);
    free(err);
}

static int make_profile(void **state)
{
    char pattern[128];
    glob_t g;

    strcpy(dir, "/tmp/ucopy-verify-test-XXXXXX");
    if (!getenv("UCOPY_TUNE") || !mkdtemp(dir) ||
        sh("\"$UCOPY_TUNE\" tune --quick --budget 1s --core 0 --profile-dir ."))
        return -1;
    snprintf(pattern, sizeof(pattern), "%s/*.json", dir);
    if (glob(pattern, 0, NULL, &g))
        return -1;
    snprintf(stem, sizeof(stem), "%s", strrchr(g.gl_pathv[0], '/') + 1);
    *strstr(stem, ".json") = 0;
    globfree(&g);
    return 0;
}

static int remove_dir(void **state)
{
    char command[100];

    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command);
}

static json_t *json_out(void)
{
    char *text = slurp("out");
    json_error_t e;
    json_t *root = json_loads(text, 0, &e);

    if (!root)
        fail_msg("no JSON: %s\n%s", e.text, text);
    free(text);
    return root;
}

static json_int_t verdicts(const json_t *root, const char *which)
{
    return json_integer_value(json_object_get(json_object_get(root, "verdicts"), which));
}

/* The answer says by its exit code what it says in words: 1 where something drifted, and where
 * something is unsure under --strict; else 0. */
static void check_answer(const char *file, const char *more, bool strict)
{
    int code = sh(VERIFY "--format json %s %s", more, file);
    json_t *root = json_out(), *copy, *item;
    json_int_t drifted = verdicts(root, "drifted"), unsure = verdicts(root, "unsure");
    json_int_t all = drifted + unsure + verdicts(root, "holds"), listed = 0;
    size_t i;

    assert_int_equal(code, drifted || (strict && unsure));
    assert_memory_equal(stem, json_string_value(json_object_get(root, "key")),
                        strlen(json_string_value(json_object_get(root, "key"))));
    copy = json_object_get(json_object_get(root, "entries"), "copy");
    assert_true(json_array_size(copy) > 0);
    json_array_foreach(copy, i, item)
    {
        const char *verdict = json_string_value(json_object_get(item, "verdict"));
        assert_true((json_is_null(json_object_get(item, "right_now"))) ==
                    (strcmp(verdict, "drifted") != 0));
        listed++;
    }
    listed +=
        (json_int_t)json_array_size(json_object_get(json_object_get(root, "entries"), "nocache"));
    assert_int_equal(listed, all);
    json_decref(root);
}

/* The run that made the profile has listed it. */
static void the_table_lists_the_profile(void **state)
{
    char row[128];

    snprintf(row, sizeof(row), "\n| %s | user |", stem);
    assert_holds("README.md", row);
}

static void header_and_profile_are_judged(void **state)
{
    char header[128], json[128];

    snprintf(header, sizeof(header), "%s.h", stem);
    snprintf(json, sizeof(json), "%s.json", stem);
    check_answer(header, "--core 0", false);
    check_answer(json, "--strict", true);
}

static void a_header_needs_no_profile_beside_it(void **state)
{
    assert_int_equal(sh("mkdir -p alone && cp %s.h alone/x.h", stem), 0);
    check_answer("alone/x.h", "", false);
    assert_holds("err", "");
    /* one that says something else does not count, and that is said */
    assert_int_equal(sh(SWAP_FIRST("byte_loop") " %s.json >alone/x.json", stem), 0);
    check_answer("alone/x.h", "", false);
    assert_holds("err", "tells other limits");
    assert_int_equal(sh("echo '{' >alone/x.json"), 0);
    check_answer("alone/x.h", "", false);
    assert_holds("err", "x.json, cannot be read (line ");
}

static void text_and_csv_name_every_limit(void **state)
{
    int code = sh(VERIFY "%s.json", stem);

    assert_in_range(code, 0, 1);
    assert_holds("out", "verdict");
    assert_holds("out", "\nlimits: ");
    assert_holds("out", "CPU ");
    assert_holds("out", "# ucopy-tune " UC_VERSION "\n");
    char *text = slurp("out");
    for (const char *p = text; *p; p += strcspn(p, "\n") + 1)
        if (strcspn(p, "\n") > 100)
            fail_msg("%zu columns: %.*s", strcspn(p, "\n"), (int)strcspn(p, "\n"), p);
    free(text);
    code = sh(VERIFY "--format csv %s.json", stem);
    assert_in_range(code, 0, 1);
    assert_holds("out", "entry,kind,first,last,in_use,against,verdict,loss,lo,hi,right_now,");
    assert_holds("out", "\ncopy,range,0,");
    text = slurp("out");
    assert_non_null(strstr(text, "\n# ucopy-tune " UC_VERSION "\n"));
    for (const char *p = text; *p != '#'; p += strcspn(p, "\n") + 1) { /* each has every column */
        size_t commas = 0;
        for (const char *q = p; *q && *q != '\n'; q++)
            commas += *q == ',';
        assert_int_equal(commas, 12);
    }
    free(text);
    refused(sh(VERIFY "--format xml %s.json", stem), 2, "'xml' (known: text, json, csv)");
}

/* Both are named, and nothing is timed: the lock that every timed run takes is held here, and no
 * one waits for it. */
static void a_foreign_profile_is_named_and_not_timed(void **state)
{
    assert_int_equal(
        sh("sed 's/\"key\": \"%s\"/\"key\": \"made-0f-01\"/' %s.json >foreign.json", stem, stem),
        0);
    int code = sh("flock /tmp/ucopy-tune.lock \"$UCOPY_TUNE\" verify -q foreign.json");
    refused(code, 3, "is of made-0f-01");
    assert_holds("err", stem);
    assert_holds("err", "nothing was timed");
    assert_int_equal(sh("capitals=$(echo %s | tr a-z- A-Z_) && sed "
                        "\"s/%s/made-0f-01/g;s/$capitals/MADE_0F_01/g\" %s.h >foreign.h",
                        stem, stem, stem),
                     0);
    refused(sh("\"$UCOPY_TUNE\" verify -q foreign.h"), 3, "is of made-0f-01");
    assert_holds("err", stem);
}

static void what_this_cpu_may_not_do_is_named(void **state)
{
    assert_int_equal(sh(SWAP_FIRST("avx2_loop_x4") " %s.json >needs.json", stem), 0);
    refused(sh("\"$UCOPY_TUNE\" verify -q --disable-isa avx2 needs.json"), 3, "avx2");
    assert_holds("err", "missing or disabled");
}

static void an_edited_profile_is_used_with_a_warning(void **state)
{
    assert_int_equal(sh("sed 's/\"seed\": 1/\"seed\": 2/' %s.json >edited.json && ! cmp -s %s.json "
                        "edited.json",
                        stem, stem),
                     0);
    int code = sh(VERIFY "edited.json");
    assert_in_range(code, 0, 1);
    assert_holds("err", "edited.json: edited by hand");
    assert_holds("out", "\nlimits: ");
}

static void bad_input_is_one_line(void **state)
{
    assert_int_equal(sh("head -c 5000 %s.json >cut.json; head -c 5000 %s.h >cut.h; echo >empty.h; "
                        "sed 's/\"format\": 1/\"format\": 2/' %s.json >newer.json; sed "
                        "'s/\"entries\"/\"entires\"/' %s.json >damaged.json",
                        stem, stem, stem, stem),
                     0);
    assert_int_equal(sh(SWAP_FIRST("warp_drive") " %s.json >unknown.json", stem), 0);
    refused(sh(VERIFY "-q cut.json"), 2, "cut.json: line ");
    refused(sh(VERIFY "-q cut.h"), 2, "cut.h: cut off");
    refused(sh(VERIFY "-q empty.h"), 2, "empty.h: no header of ucopy-tune");
    refused(sh(VERIFY "-q newer.json"), 2, "newer.json: format: 2 is newer");
    refused(sh(VERIFY "-q damaged.json"), 2, "damaged.json: entries: missing");
    refused(sh(VERIFY "-q unknown.json"), 2, "no strategy 'warp_drive'");
    refused(sh(VERIFY "-q %s.json %s.h", stem, stem), 2, "one PROFILE at a time");
    refused(sh(VERIFY "-q --core 1023 %s.json", stem), 2, "--core 1023");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_lists_the_profile),
        cmocka_unit_test(header_and_profile_are_judged),
        cmocka_unit_test(a_header_needs_no_profile_beside_it),
        cmocka_unit_test(text_and_csv_name_every_limit),
        cmocka_unit_test(a_foreign_profile_is_named_and_not_timed),
        cmocka_unit_test(what_this_cpu_may_not_do_is_named),
        cmocka_unit_test(an_edited_profile_is_used_with_a_warning),
        cmocka_unit_test(bad_input_is_one_line),
    };
    return cmocka_run_group_tests(tests, make_profile, remove_dir);
}
