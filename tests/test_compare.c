/* `ucopy-tune compare`: the loss of one ladder on another box's cells by hand, the C library's own
 * thresholds, and the command from end to end on the committed profile and on two made-up boxes
 * that exist nowhere. */
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
#include <sys/wait.h>

#include "base/file.h"
#include "fit/share.h"
#include "machine/libc_limits.h"
#include "made_up.h"

#define MI ((size_t)1 << 20)

static char dir[64];

/* ---- made-up boxes ---- */

/* Fixed sizes, nothing after the copy: from 128 B to 1 MiB. */
static void add_curve(struct uc_cells *c, const char *name, double to_64k, double above)
{
    c->has_interval = true;
    for (size_t n = 128; n <= MI; n *= 2) {
        struct uc_cell x = uc_cell_default(name, n);
        x.cost = x.lo = x.hi = n <= 65536 ? to_64k : above;
        if (!strcmp(name, "libc"))
            x.role = UCOPY_BASELINE;
        assert_int_equal(uc_cells_add(c, &x), 0);
    }
}

/* Has AVX2, which costs 1; rep_movsb costs half as much again, unrolled was not measured. */
static struct uc_profile *first_box(void)
{
    struct uc_profile *p = made_up_profile(UCOPY_USER, "");

    made_up_segment(p, UC_COPY, SIZE_MAX, "avx2_loop_x4");
    made_up_segment(p, UC_NOCACHE, 8 * MI, "rep_movsb");
    made_up_segment(p, UC_NOCACHE, SIZE_MAX, "movnti");
    add_curve(&p->cells, "avx2_loop_x4", 1, 1);
    add_curve(&p->cells, "rep_movsb", 1.5, 1.5);
    add_curve(&p->cells, "libc", 2, 2);
    p->method = json_pack("{s:i, s:s, s:s, s:s}", "version", 1, "grade", "B", "microcode", "0x77",
                          "kernel", "6.0-made-up");
    return p;
}

/* Has no AVX2; above 64 KiB unrolled wins. */
static struct uc_profile *second_box(void)
{
    struct uc_profile *p = made_up_profile(UCOPY_USER, "");

    snprintf(p->cpu.key, sizeof(p->cpu.key), "made-0f-02");
    snprintf(p->cpu.name, sizeof(p->cpu.name), "Made Up 9002 without AVX2");
    p->cpu.isa = UCOPY_ISA_ERMS | UCOPY_ISA_SSE2;
    made_up_segment(p, UC_COPY, 65536, "rep_movsb");
    made_up_segment(p, UC_COPY, SIZE_MAX, "unrolled");
    made_up_segment(p, UC_NOCACHE, 1 * MI, "rep_movsb");
    made_up_segment(p, UC_NOCACHE, SIZE_MAX, "movnti");
    add_curve(&p->cells, "rep_movsb", 1, 3);
    add_curve(&p->cells, "unrolled", 2, 2);
    add_curve(&p->cells, "libc", 1.2, 1.2);
    return p;
}

static void write_profile(struct uc_profile *p, const char *name)
{
    char path[128], *text = uc_profile_to_json(p);

    assert_non_null(text);
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    assert_int_equal(uc_write_file(path, text, strlen(text)), 0);
    free(text);
    made_up_free(p);
}

static int make_boxes(void **state)
{
    strcpy(dir, "/tmp/ucopy-compare-test-XXXXXX");
    if (!getenv("UCOPY_TUNE") || !getenv("UCOPY_SOURCE") || !mkdtemp(dir))
        return -1;
    write_profile(first_box(), "first.json");
    write_profile(second_box(), "second.json");
    return 0;
}

static int remove_dir(void **state)
{
    char command[100];

    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command);
}

/* ---- one ladder on other cells ---- */

static struct uc_ladder ladder(size_t max, const char *below, const char *above)
{
    struct uc_ladder l = {.n = 2, .segment = {{.max = max}, {.max = SIZE_MAX}}};

    snprintf(l.segment[0].strategy, UC_NAME, "%s", below);
    snprintf(l.segment[1].strategy, UC_NAME, "%s", above);
    return l;
}

static void losses_by_hand(void **state)
{
    struct uc_cells c = {0};
    struct uc_fit_options o = {.weights = &uc_weights_default, .environment = UCOPY_USER};
    struct uc_ladder own = ladder(65536, "a", "b"), other = ladder(65536, "b", "c");
    struct uc_share s;

    add_curve(&c, "a", 1, 2);
    add_curve(&c, "b", 1.25, 1);
    add_curve(&c, "c", 3, .5);
    assert_int_equal(uc_fit_share(&c, &o, &own, &own, &s), 0);
    assert_true(s.mean == 0 && s.worst == 0);
    assert_int_equal(s.sizes, 14);
    assert_int_equal(uc_fit_share(&c, &o, &other, &own, &s), 0);
    assert_true(fabs(s.worst - .25) < 1e-9);
    assert_int_equal(s.worst_at, 128);
    /* ten sizes lose a quarter and four win half; of 13 octaves they stand for 9.6 and 3.4, the
     * ends for a part of one: .053 */
    assert_true(s.mean > .03 && s.mean < .08);
    other = ladder(1024, "a", "unknown");
    assert_int_equal(uc_fit_share(&c, &o, &other, &own, &s), 0);
    assert_int_equal(s.sizes, 4);
    assert_int_equal(s.unmeasured, 10);
    assert_true(s.mean == 0);
    other = ladder(1024, "unknown", "nobody");
    assert_int_equal(uc_fit_share(&c, &o, &other, &own, &s), -ENODATA);
    uc_cells_free(&c);
}

/* ---- the C library ---- */

static void thresholds_are_read_off_the_linker(void **state)
{
    static const char some[] =
        "glibc.rtld.nns: 0x4 (min: 0x1, max: 0x10)\n"
        "glibc.cpu.x86_rep_movsb_threshold: 0x840 (min: 0x100, max: 0xffffffffffffffff)\n"
        "glibc.cpu.x86_rep_stosb_threshold: 0x800 (min: 0x1, max: 0xffffffffffffffff)\n"
        "glibc.cpu.x86_non_temporal_threshold: 0xc0000 (min: 0x4040, max: 0xfffffffffffffff)\n";
    static const char never[] =
        "glibc.cpu.x86_rep_movsb_threshold: 0x7fffffffffffffff (min: 0x100, max: 0x0)\n"
        "glibc.cpu.x86_non_temporal_threshold: 0xfffffffffffffff (min: 0x0, max: 0x0)\n";
    static const char *const none[] = {
        "",
        "glibc.cpu.x86_rep_movsb_threshold: 0x840 (min: 0x100, max: 0x1)\n",
        "glibc.cpu.x86_rep_movsb_threshold:\nglibc.cpu.x86_non_temporal_threshold: 0x1 (\n",
        "glibc.cpu.x86_rep_movsb_threshold: 0x8g0 (\nglibc.cpu.x86_non_temporal_threshold: 0x1 (\n",
    };
    struct uc_libc_limits l;

    assert_true(uc_libc_limits_parse(some, &l));
    assert_int_equal(l.rep_movsb, 2112);
    assert_int_equal(l.non_temporal, 0xc0000);
    assert_true(l.rep_movsb_min == 0x100 && l.rep_movsb_max == SIZE_MAX);
    assert_true(l.non_temporal_min == 0x4040 && l.non_temporal_max == SIZE_MAX >> 4);
    assert_true(uc_libc_limits_parse(never, &l));
    assert_true(l.rep_movsb == SIZE_MAX && l.non_temporal == SIZE_MAX);
    assert_true(!l.rep_movsb_min && l.rep_movsb_max == SIZE_MAX); /* those told are none */
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        assert_false(uc_libc_limits_parse(none[i], &l));
}

/* ---- the command ---- */

#define COMPARE "\"$UCOPY_TUNE\" compare "
#define COMMITTED \
    "\"$UCOPY_SOURCE\"/profiles/intel-06-cf.json \"$UCOPY_SOURCE\"/profiles/intel-06-cf-kernel.json"

static int sh(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static int sh(const char *fmt, ...)
{
    char command[1024], whole[1200];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(command, sizeof(command), fmt, ap);
    va_end(ap);
    snprintf(whole, sizeof(whole), "cd %s && { %s ; } >out 2>err", dir, command);
    int status = system(whole);
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

static json_t *json_of(const char *files)
{
    json_error_t e;

    assert_int_equal(sh(COMPARE "--format json %s", files), 0);
    char *text = slurp("out");
    json_t *root = json_loads(text, 0, &e);
    if (!root)
        fail_msg("no JSON: %s\n%s", e.text, text);
    free(text);
    return root;
}

static json_t *table(json_t *root, const char *environment, const char *entry)
{
    json_t *t;
    size_t i;

    json_array_foreach(
        json_object_get(root, "tables"), i,
        t) if (!strcmp(json_string_value(json_object_get(t, "environment")), environment) &&
               !strcmp(json_string_value(json_object_get(t, "entry")), entry)) return t;
    fail_msg("no table of %s, %s", environment, entry);
    return NULL;
}

static json_t *of(json_t *list, const char *key, const char *value, const char *also,
                  const char *also_value)
{
    json_t *x;
    size_t i;

    json_array_foreach(list, i,
                       x) if (!strcmp(json_string_value(json_object_get(x, key)), value) &&
                              (!also || !strcmp(json_string_value(json_object_get(x, also)),
                                                also_value))) return x;
    fail_msg("no %s %s", key, value);
    return NULL;
}

static double number_of(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);

    assert_true(json_is_number(v));
    return json_number_value(v);
}

static void made_up_boxes_side_by_side(void **state)
{
    json_t *root = json_of("first.json second.json"), *t = table(root, "user", "copy");
    json_t *profiles = json_object_get(root, "profiles");
    json_t *loss = json_object_get(t, "loss"), *steps = json_object_get(t, "steps");
    json_t *first = json_array_get(profiles, 0);

    assert_string_equal(json_string_value(json_object_get(first, "label")), "A");
    assert_string_equal(json_string_value(json_object_get(first, "key")), "made-0f-01");
    assert_string_equal(json_string_value(json_object_get(first, "grade")), "B");
    assert_string_equal(json_string_value(json_object_get(first, "microcode")), "0x77");
    /* B needs no AVX2; a third of A's sizes above 64 KiB were not measured for unrolled */
    json_t *b_on_a = of(loss, "profile", "B", "on", "A");
    assert_true(fabs(number_of(b_on_a, "mean") - .5) < 1e-3);
    assert_true(fabs(number_of(b_on_a, "worst") - .5) < 1e-3);
    assert_int_equal(number_of(b_on_a, "sizes"), 10);
    assert_int_equal(number_of(b_on_a, "unmeasured"), 4);
    assert_true(json_is_null(json_object_get(b_on_a, "lacks")));
    /* A's header is the C library on B, which has no AVX2: 1.2 over 1, then 1.2 over 2 */
    json_t *a_on_b = of(loss, "profile", "A", "on", "B");
    assert_string_equal(json_string_value(json_object_get(a_on_b, "lacks")), "avx2");
    assert_true(fabs(number_of(a_on_b, "worst") - .2) < 1e-3);
    assert_true(number_of(a_on_b, "mean") < .2 && number_of(a_on_b, "mean") > -.4);
    assert_true(number_of(of(loss, "profile", "A", "on", "A"), "mean") == 0);
    assert_string_equal(json_string_value(json_object_get(t, "one_header")), "A");
    assert_true(json_array_size(steps) >= 2);
    size_t i;
    json_t *step;
    json_array_foreach(steps, i, step) assert_true(json_is_true(json_object_get(step, "differ")));
    json_t *absent = json_object_get(root, "absent");
    assert_string_equal(json_string_value(json_object_get(
                            of(absent, "strategy", "avx2_loop_x4", "profile", "B"), "why")),
                        "lacks avx2");
    assert_string_equal(json_string_value(json_object_get(
                            of(absent, "strategy", "unrolled", "profile", "A"), "why")),
                        "has no cells of it");
    assert_int_equal(json_array_size(absent), 2);
    json_decref(root);
}

static void limits_and_factors(void **state)
{
    json_t *root = json_of("first.json second.json"), *t = table(root, "user", "nocache");
    json_t *limits = json_object_get(t, "limits"), *steps = json_object_get(t, "steps");
    json_t *rep = of(limits, "what", "rep_movsb ends", NULL, NULL);
    json_t *stream = of(limits, "what", "streaming begins above", NULL, NULL);

    assert_true(number_of(rep, "factor") == 8 && number_of(stream, "factor") == 8);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(rep, "at"), 0)), 8 * MI);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(rep, "at"), 1)), 1 * MI);
    assert_string_equal(
        json_string_value(json_array_get(
            json_object_get(of(limits, "what", "movnti ends", NULL, NULL), "at"), 0)),
        "no end");
    /* no limit where none has such a strategy */
    json_t *x;
    size_t i;
    json_array_foreach(limits, i, x) assert_string_not_equal(
        json_string_value(json_object_get(x, "what")), "short dispatch ends");
    assert_int_equal(json_array_size(steps), 3);
    for (i = 0; i < 3; i++) {
        x = json_array_get(steps, i);
        assert_int_equal(json_is_true(json_object_get(x, "differ")), i == 1);
        assert_true(json_is_null(json_object_get(x, "libc"))); /* its memcpy is no nocache */
    }
    assert_int_equal(json_integer_value(json_object_get(json_array_get(steps, 1), "first")),
                     MI + 1);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(steps, 1), "last")), 8 * MI);
    /* no cells of nocache: nothing is said of its losses */
    assert_true(json_is_null(
        json_object_get(of(json_object_get(t, "loss"), "profile", "A", "on", "B"), "mean")));
    assert_true(json_is_null(json_object_get(t, "one_header")));
    json_t *copy = json_object_get(table(root, "user", "copy"), "limits");
    assert_string_equal(
        json_string_value(json_array_get(
            json_object_get(of(copy, "what", "avx2_loop_x4 ends", NULL, NULL), "at"), 1)),
        "absent");
    assert_string_equal(
        json_string_value(json_array_get(
            json_object_get(of(copy, "what", "rep_movsb ends", NULL, NULL), "at"), 0)),
        "not chosen");
    json_decref(root);
}

static void entries_and_environments_stay_apart(void **state)
{
    json_t *root = json_of(COMMITTED " first.json"), *t;

    assert_int_equal(json_array_size(json_object_get(root, "tables")), 4);
    assert_int_equal(json_array_size(json_object_get(table(root, "user", "copy"), "profiles")), 2);
    t = table(root, "kernel", "copy");
    assert_int_equal(json_array_size(json_object_get(t, "profiles")), 1);
    assert_string_equal(json_string_value(json_array_get(json_object_get(t, "profiles"), 0)), "B");
    json_t *step = json_array_get(json_object_get(t, "steps"), 0);
    assert_true(json_is_null(json_object_get(step, "libc")));
    /* the same profile twice costs nothing, and differs nowhere */
    json_decref(root);
    root = json_of("\"$UCOPY_SOURCE\"/profiles/intel-06-cf.json "
                   "\"$UCOPY_SOURCE\"/profiles/intel-06-cf.h");
    t = table(root, "user", "copy");
    json_t *loss = of(json_object_get(t, "loss"), "profile", "A", "on", "B");
    assert_true(number_of(loss, "mean") == 0 && number_of(loss, "worst") == 0);
    assert_true(number_of(loss, "sizes") > 100 && number_of(loss, "unmeasured") == 0);
    assert_int_equal(json_array_size(json_object_get(root, "absent")), 0);
    size_t i;
    json_array_foreach(json_object_get(t, "steps"), i, step)
        assert_true(json_is_false(json_object_get(step, "differ")));
    json_decref(root);
}

/* The C library's column is what this machine's linker says, where it says it. */
static void the_c_library_has_a_column(void **state)
{
    json_t *root = json_of("second.json"), *libc = json_object_get(root, "libc");
    json_t *steps = json_object_get(table(root, "user", "copy"), "steps"), *step;
    struct uc_libc_limits here;
    size_t i, changes = 0;
    const char *last = NULL;

    assert_int_equal(json_is_object(libc), uc_libc_limits_read(&here));
    json_array_foreach(steps, i, step)
    {
        const char *now = json_string_value(json_object_get(step, "libc"));
        assert_int_equal(now != NULL, json_is_object(libc));
        changes += now && last && strcmp(now, last) != 0;
        last = now;
    }
    if (last)
        assert_int_equal(changes, (here.rep_movsb != SIZE_MAX) + (here.non_temporal != SIZE_MAX));
    else
        puts("# the C library's dynamic linker tells no thresholds here");
    json_decref(root);
}

static void text_keeps_to_a_hundred_columns(void **state)
{
    assert_int_equal(sh(COMPARE COMMITTED " first.json second.json first.json second.json "
                                          "first.json second.json first.json"),
                     0);
    char *text = slurp("out");
    for (const char *p = text; *p; p += strcspn(p, "\n") + 1) {
        size_t n = strcspn(p, "\n");
        if (n > 100 || (n && p[n - 1] == ' '))
            fail_msg("%zu columns: %.*s|", n, (int)n, p);
    }
    free(text);
    assert_holds("out", "\nI  made-0f-01, user, grade B: Made Up 9000");
    assert_holds("out", "\n   file first.json\n"); /* there is another one of its key */
    assert_holds("out", "microcode 0x77");
    assert_holds("out", "one header for all: ");
    assert_holds("out", "C on D is the C library's memcpy: D lacks avx2");
    assert_holds("out", "not measured at 4 of 14 sizes");
    assert_holds("out", "absent from C (lacks bmi2 avx512bw): avx512_loop_x2 ");
}

static void csv_has_every_column_in_every_row(void **state)
{
    assert_int_equal(sh(COMPARE "--format csv " COMMITTED " first.json second.json"), 0);
    char *text = slurp("out");
    size_t kinds[5] = {0};
    static const char *const kind[] = {"profile,", "step,", "limit,", "loss,", "absent,"};
    for (const char *p = text; *p != '#'; p += strcspn(p, "\n") + 1) { /* the version ends it */
        size_t commas = 0;
        for (const char *q = p; *q && *q != '\n'; q++)
            commas += *q == ',';
        if (commas != 13)
            fail_msg("%zu commas: %.*s", commas, (int)strcspn(p, "\n"), p);
        for (size_t k = 0; k < 5; k++)
            kinds[k] += !strncmp(p, kind[k], strlen(kind[k]));
    }
    for (size_t k = 0; k < 5; k++)
        assert_true(kinds[k] > 3);
    free(text);
    assert_holds("out", "\nloss,user,copy,D,C,,,,,0.5000,0.5000,128,4,\n");
    assert_holds("out", "\nlimit,user,nocache,C,,,8388608,rep_movsb ends,8");
}

static void bad_input_is_one_line_and_no_half_answer(void **state)
{
    assert_int_equal(sh("head -c 700 first.json >cut.json; sed 's/\"format\": 1/\"format\": 9/' "
                        "first.json >newer.json; echo '[]' >foreign.json; sed "
                        "'s/\"max\": 65536/\"max\": 65537/' second.json >edited.json"),
                     0);
    refused(sh(COMPARE "first.json cut.json"), 2, "cut.json: line ");
    refused(sh(COMPARE "first.json newer.json"), 2, "newer.json: format: 9 is newer");
    refused(sh(COMPARE "foreign.json first.json"), 2, "foreign.json: not an object");
    refused(sh(COMPARE "first.json absent.json"), 2, "absent.json: No such file");
    refused(sh(COMPARE "--format xml first.json"), 2, "'xml' (known: text, json, csv)");
    refused(sh(COMPARE "$(yes first.json | head -13)"), 2, "more than 12 profiles");
    assert_int_equal(sh(COMPARE "first.json edited.json"), 0);
    assert_holds("err", "edited.json: edited by hand (its digest differs)");
    assert_holds("out", "rep_movsb ends                  not chosen 65537");
}

/* A header alone has limits and no cells. */
static void a_header_alone_is_shown(void **state)
{
    assert_int_equal(sh("cp \"$UCOPY_SOURCE\"/profiles/intel-06-cf.h alone.h"), 0);
    assert_int_equal(sh(COMPARE "alone.h first.json"), 0);
    assert_holds("out", "A  intel-06-cf, user, grade A: Intel(R) Xeon(R) Processor");
    assert_holds("out", "no cells");
    assert_holds("out", "on A");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_by_hand),
        cmocka_unit_test(thresholds_are_read_off_the_linker),
        cmocka_unit_test(made_up_boxes_side_by_side),
        cmocka_unit_test(limits_and_factors),
        cmocka_unit_test(entries_and_environments_stay_apart),
        cmocka_unit_test(the_c_library_has_a_column),
        cmocka_unit_test(text_keeps_to_a_hundred_columns),
        cmocka_unit_test(csv_has_every_column_in_every_row),
        cmocka_unit_test(bad_input_is_one_line_and_no_half_answer),
        cmocka_unit_test(a_header_alone_is_shown),
    };
    return cmocka_run_group_tests(tests, make_boxes, remove_dir);
}
