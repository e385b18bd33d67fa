/* A generated header read back by its own text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "emit/emit.h"
#include "made_up.h"

static char dir[] = "/tmp/ucopy-header-XXXXXX";
static char path[64];

static int make_dir(void **state)
{
    if (!mkdtemp(dir))
        return -1;
    snprintf(path, sizeof(path), "%s/x.h", dir);
    return 0;
}

static int remove_dir(void **state)
{
    unlink(path);
    return rmdir(dir);
}

static void bar(struct uc_profile *p, enum uc_entry entry, const char *strategy, size_t from,
                size_t to)
{
    struct uc_barred *b = &p->entry[entry].barred[p->entry[entry].barred_n++];

    snprintf(b->strategy, sizeof(b->strategy), "%s", strategy);
    b->from = from;
    b->to = to;
}

/* Two entries, of which the second has one range; every kind of line that the comment knows. */
static struct uc_profile *example(unsigned environment, const char *variant)
{
    struct uc_profile *p = made_up_profile(environment, variant);
    bool kernel = environment == UCOPY_KERNEL;
    struct uc_segment *s =
        made_up_segment(p, UC_COPY, 64, kernel ? "short_fold_gpr_64" : "short_fold_sse2_64");

    s->margin = .83;
    s = made_up_segment(p, UC_COPY, 5000, "unrolled");
    s->tie = true;
    s = made_up_segment(p, UC_COPY, 1 << 20, "rep_movsb");
    snprintf(s->runner_up, sizeof(s->runner_up), "rep_movsq");
    s->margin = 1.01;
    s = made_up_segment(p, UC_COPY, SIZE_MAX, "movnti");
    s->runner_up[0] = 0;
    /* more than a line has room for, and one that no range names */
    bar(p, UC_COPY, "rep_movsq", 112, 120);
    bar(p, UC_COPY, "rep_movsb_aligned", 1, 2);
    for (size_t i = 0; i < 9; i++)
        bar(p, UC_COPY, "rep_movsb", 1000 * i, 1000 * i + 7);
    made_up_segment(p, UC_NOCACHE, SIZE_MAX, "rep_movsb");
    snprintf(p->entry[UC_NOCACHE].ladder.segment[0].runner_up, UC_NAME, "movnti");
    p->weights = json_pack("{s:s}", "name", "consumer:read");
    p->method = json_pack("{s:s}", "grade", "B");
    return p;
}

static char *emitted(const struct uc_profile *p)
{
    char *text = NULL, why[256] = "";
    size_t n;
    FILE *f = open_memstream(&text, &n);

    assert_non_null(f);
    int rc = uc_emitter_find("c")->emit(p, f, why, sizeof(why));
    fclose(f);
    if (rc)
        fail_msg("emit: %s", why);
    return text;
}

static int read_text(const char *text, struct uc_profile *p, char *why, size_t cap)
{
    assert_int_equal(uc_write_file(path, text, strlen(text)), 0);
    return uc_profile_read_header(path, p, why, cap);
}

static void same_ladder(const struct uc_ladder *a, const struct uc_ladder *b)
{
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        const struct uc_segment *x = &a->segment[i], *y = &b->segment[i];
        assert_true(x->max == y->max);
        assert_string_equal(x->strategy, y->strategy);
        assert_string_equal(x->runner_up, y->runner_up);
        assert_int_equal(x->bracketed, y->bracketed);
        assert_int_equal(x->tie && *x->runner_up, y->tie);
    }
}

/* Of the 11 that are barred, the one that no range names is left out. */
static void same_bars(const struct uc_profile_entry *a, const struct uc_profile_entry *b)
{
    size_t k = 0;

    for (size_t i = 0; i < a->barred_n; i++) {
        if (!strcmp(a->barred[i].strategy, "rep_movsb_aligned"))
            continue;
        assert_true(k < b->barred_n);
        assert_string_equal(b->barred[k].strategy, a->barred[i].strategy);
        assert_int_equal(b->barred[k].from, a->barred[i].from);
        assert_int_equal(b->barred[k].to, a->barred[i].to);
        k++;
    }
    assert_int_equal(b->barred_n, k);
}

static void comes_back(unsigned environment, const char *variant)
{
    struct uc_profile *p = example(environment, variant), q;
    char *text = emitted(p), why[256];

    if (read_text(text, &q, why, sizeof(why)))
        fail_msg("%s", why);
    assert_string_equal(q.cpu.key, p->cpu.key);
    assert_string_equal(q.variant, p->variant);
    assert_int_equal(q.environment, p->environment);
    assert_true(q.complete && q.has_cpu);
    assert_memory_equal(q.cpu.name, "Made Up 9000", 12);
    assert_null(strstr(q.cpu.name, "under"));
    for (int e = 0; e < UC_ENTRY_COUNT; e++) {
        assert_true(q.entry[e].present);
        same_ladder(&p->entry[e].ladder, &q.entry[e].ladder);
        same_bars(&p->entry[e], &q.entry[e]);
    }
    /* as the comment rounds it: "15 % faster where both were measured", "35 % slower" */
    assert_true(q.entry[UC_COPY].ladder.segment[0].margin > .849 &&
                q.entry[UC_COPY].ladder.segment[0].margin < .851);
    assert_true(q.entry[UC_NOCACHE].ladder.segment[0].margin > 1.349);
    assert_true(q.entry[UC_COPY].ladder.segment[2].margin == 1);
    assert_int_equal(q.entry[UC_COPY].ladder.segment[3].measured_to, 64 << 20);
    assert_string_equal(json_string_value(json_object_get(q.weights, "name")), "consumer:read");
    assert_string_equal(json_string_value(json_object_get(q.method, "grade")), "B");
    uc_profile_free(&q);
    made_up_free(p);
    free(text);
}

static void what_is_emitted_comes_back(void **state)
{
    comes_back(UCOPY_USER, "");
    comes_back(UCOPY_USER, "read");
    comes_back(UCOPY_KERNEL, "");
    comes_back(UCOPY_KERNEL, "read");
}

/* text with the first occurrence of one string replaced by another of any length */
static char *with(const char *text, const char *old, const char *new)
{
    const char *at = strstr(text, old);
    char *out;

    assert_non_null(at);
    assert_true(asprintf(&out, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old)) > 0);
    return out;
}

static void refuses(const char *text, const char *needle)
{
    struct uc_profile p;
    char why[256];
    int rc = read_text(text, &p, why, sizeof(why));

    if (rc != -EINVAL || !strstr(why, needle))
        fail_msg("%d, \"%s\" in place of \"%s\"", rc, why, needle);
    assert_false(p.has_cpu);
    for (const char *c = why; *c; c++)
        assert_true((unsigned char)*c >= ' ');
}

static void what_was_damaged_is_refused(void **state)
{
    static const struct {
        const char *old, *new, *needle;
    } row[] = {
        {"#ifndef UCOPY_MADE", "#ifndef OTHER_MADE", "no guard"},
        {"How to copy n bytes on", "How to", "does not name the CPU"},
        {" from made-0f-01.json", " from somewhere", "does not name its profile"},
        {" from made-0f-01.json", " from made-0f-02.json", "disagree"},
        {" from made-0f-01.json", " from made-0f-01-kernel.json", "disagree"},
        {"on made-0f-01,", "on amd-1a-02,", "disagree"},
        {"COPY_2_MAX 5000", "COPY_2_MAX 64", "COPY_2_MAX is not above"},
        {"COPY_2_MAX 5000", "COPY_2_MAX 50x", "COPY_2_MAX is no size"},
        {"COPY_2_MAX 5000", "COPY_2_MAX 5k", "COPY_2_MAX is no size"},
        {"COPY_2_MAX 5000", "COPY_2_MAX 99999999999999999999", "COPY_2_MAX is no size"},
        {"#define UCOPY_MADE_0F_01_COPY_2_MAX", "#define OTHER", "COPY_2_MAX is missing"},
        {"#define UCOPY_MADE_0F_01_COPY_2_STRATEGY", "#define OTHER", "COPY_2_STRATEGY is missing"},
        {"COPY_2_STRATEGY \"unrolled\"", "COPY_2_STRATEGY unrolled", "is no string"},
        {"#define UCOPY_MADE_0F_01_COPY_4_STRATEGY", "#define OTHER", "COPY_3_MAX is there"},
    };
    struct uc_profile *p = example(UCOPY_USER, "");
    char *text = emitted(p), *tail;

    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char *damaged = with(text, row[i].old, row[i].new);
        refuses(damaged, row[i].needle);
        free(damaged);
    }
    refuses("", "no guard");
    refuses("\n#ifndef UCOPY_\x01_H\n#endif", "does not name");
    tail = strstr(text, "#endif /* x86-64 */");
    assert_non_null(tail);
    *tail = 0;
    refuses(text, "cut off");
    made_up_free(p);
    free(text);
}

/* Cut off anywhere it is refused, or whole but for blanks; never half read. */
static void every_cut_is_noticed(void **state)
{
    struct uc_profile *p = example(UCOPY_KERNEL, ""), q;
    char *text = emitted(p), why[256];
    size_t n = strlen(text), read = 0;

    for (size_t cut = 0; cut < n; cut += 97) {
        char *part = strndup(text, cut);
        if (!read_text(part, &q, why, sizeof(why))) {
            same_ladder(&p->entry[UC_COPY].ladder, &q.entry[UC_COPY].ladder);
            same_ladder(&p->entry[UC_NOCACHE].ladder, &q.entry[UC_NOCACHE].ladder);
            uc_profile_free(&q);
            read++;
        }
        free(part);
    }
    assert_true(read < 3);
    made_up_free(p);
    free(text);
}

static void a_file_that_is_not_there(void **state)
{
    struct uc_profile p;
    char why[256];

    assert_int_equal(uc_profile_read_header("/nowhere/x.h", &p, why, sizeof(why)), -ENOENT);
    assert_string_equal(why, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_emitted_comes_back),
        cmocka_unit_test(what_was_damaged_is_refused),
        cmocka_unit_test(every_cut_is_noticed),
        cmocka_unit_test(a_file_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
