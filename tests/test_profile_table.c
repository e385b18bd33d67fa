/* The table in a folder of profiles: rows by hand, and all else in the file left alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/msg.h"
#include "cli/profile_table.h"
#include "made_up.h"

static char dir[64];

static int make_dir(void **state)
{
    strcpy(dir, "/tmp/ucopy-table-test-XXXXXX");
    return !mkdtemp(dir);
}

static int remove_dir(void **state)
{
    char command[100];

    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command);
}

static struct uc_profile *example(const char *key, unsigned environment)
{
    struct uc_profile *p = made_up_profile(environment, "");

    snprintf(p->cpu.key, sizeof(p->cpu.key), "%s", key);
    snprintf(p->cpu.name, sizeof(p->cpu.name), "Made | Up <9000>");
    made_up_segment(p, UC_COPY, 64, "unrolled");
    made_up_segment(p, UC_COPY, 16384, "rep_movsq");
    made_up_segment(p, UC_COPY, SIZE_MAX, "rep_movsb");
    p->method = json_pack("{s:s}", "grade", "A");
    p->validation = json_pack("{s:s, s:{s:{s:{s:f}, s:{s:f}}, s:{s:{s:f}, s:n}}}", "libc",
                              "glibc 9.9", "libc_gain", "none", "fixed", "geomean", 0.5, "band",
                              "geomean", 1.5, "read", "fixed", "geomean", 2.0, "band");
    return p;
}

static void rows_by_hand(void **state)
{
    struct uc_profile *a = example("made-0f-01", UCOPY_USER),
                      *b = made_up_profile(UCOPY_KERNEL, "read");
    const struct uc_profile *both[] = {a, b};

    made_up_segment(b, UC_NOCACHE, SIZE_MAX, "movnti");
    b->cpu.name[0] = 0;
    char *text = uc_profile_table(both, 2);
    assert_non_null(text);
    assert_string_equal(
        text, "| key | environment | name | copy: limits and strategies | nocache | grade | gain "
              "over libc |\n| --- | --- | --- | --- | --- | --- | --- |\n"
              "| made-0f-01 | user | Made . Up .9000. | 64 unrolled, 16 KiB rep_movsq, above "
              "rep_movsb | - | A | 1.50 mixed, 1.00 repeated, glibc 9.9 |\n"
              "| made-0f-01 | kernel, read | - | - | above movnti | - | - |\n");
    free(text);
    made_up_free(a);
    made_up_free(b);
}

static void spliced(const char *text, const char *wanted)
{
    char *once = uc_profile_table_splice(text, "T\n"), *twice;

    assert_string_equal(once, wanted);
    twice = uc_profile_table_splice(once, "T\n");
    assert_string_equal(twice, wanted);
    free(once);
    free(twice);
}

static void what_stands_around_it_stays(void **state)
{
    spliced("a\n" UC_TABLE_BEGIN "\nold\n" UC_TABLE_END "\nb\n",
            "a\n" UC_TABLE_BEGIN "\nT\n" UC_TABLE_END "\nb\n");
    spliced("a\n", "a\n\n" UC_TABLE_BEGIN "\nT\n" UC_TABLE_END "\n");
    spliced("a", "a\n\n" UC_TABLE_BEGIN "\nT\n" UC_TABLE_END "\n");
    spliced("", UC_TABLE_BEGIN "\nT\n" UC_TABLE_END "\n");
}

static void put(const char *name, const char *text)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    assert_int_equal(uc_write_file(path, text, strlen(text)), 0);
}

static __attribute__((noinline)) char *readme(void)
{
    char path[128], *text;

    snprintf(path, sizeof(path), "%s/README.md", dir);
    assert_int_equal(uc_read_file(path, 1 << 20, &text, NULL), 0);
    return text;
}

static void put_profile(struct uc_profile *p, const char *name)
{
    char *text = uc_profile_to_json(p);

    assert_non_null(text);
    put(name, text);
    free(text);
    made_up_free(p);
}

static size_t place_of(const char *text, const char *words)
{
    const char *at = strstr(text, words);

    if (!at)
        fail_msg("no %s in:\n%s", words, text);
    return (size_t)(at - text);
}

/* By key, and of one key user first, whatever the files are called. */
static void the_folder_is_listed_by_key(void **state)
{
    put_profile(example("made-0f-02", UCOPY_USER), "b.json");
    put_profile(example("made-0f-01", UCOPY_KERNEL), "a.json");
    put_profile(example("made-0f-01", UCOPY_USER), "z.json");
    put("other.txt", "{");
    put(".hidden.json", "{");
    assert_int_equal(uc_profile_table_write(dir), 0);
    char *text = readme();
    size_t one = place_of(text, "| made-0f-01 | user |");
    size_t two = place_of(text, "| made-0f-01 | kernel");
    size_t three = place_of(text, "| made-0f-02 | user |");
    assert_true(one < two && two < three);
    assert_memory_equal(text, "# Profiles\n\n", 12);
    free(text);
}

/* One that cannot be read is said, and the table stays as it was. */
static void a_damaged_profile_leaves_the_table(void **state)
{
    char *before = readme();

    put("damaged.json", "{");
    uc_msg_level(-1);
    assert_int_equal(uc_profile_table_write(dir), 2);
    char *after = readme();
    assert_string_equal(before, after);
    free(before);
    free(after);
    assert_int_equal(uc_profile_table_write("/nowhere"), 3);
}

/* The committed table is the tool's: whoever adds a profile by other ways is told here. */
static void the_committed_table_is_up_to_date(void **state)
{
    char command[600];

    assert_non_null(getenv("UCOPY_SOURCE"));
    snprintf(command, sizeof(command),
             "mkdir %s/c && cp %s/profiles/*.json %s/profiles/README.md %s/c", dir,
             getenv("UCOPY_SOURCE"), getenv("UCOPY_SOURCE"), dir);
    assert_int_equal(system(command), 0);
    strcat(dir, "/c");
    char *before = readme();
    int rc = uc_profile_table_write(dir);
    char *after = readme();
    dir[strlen(dir) - 2] = 0;
    assert_int_equal(rc, 0);
    if (strcmp(before, after) != 0)
        fail_msg("profiles/README.md is not what `ucopy-tune tune --profile-dir profiles` makes of "
                 "it:\n%s",
                 after);
    free(before);
    free(after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_by_hand),
        cmocka_unit_test(what_stands_around_it_stays),
        cmocka_unit_test(the_folder_is_listed_by_key),
        cmocka_unit_test(a_damaged_profile_leaves_the_table),
        cmocka_unit_test(the_committed_table_is_up_to_date),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
