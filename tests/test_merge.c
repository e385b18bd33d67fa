/* `ucopy-tune merge`: what both kinds of cores of a hybrid CPU get, what is inlined, and what the
 * command refuses. The header itself is of test_merged_header.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdbool.h>

#include "cli/merge.h"
#include "tests/merge_boxes.h"

/* ---- hybrid CPUs ---- */

/* A strategy's cost to 1 KiB, to 64 KiB and above. */
static void add_curve(struct uc_profile *p, const char *name, double small, double middle,
                      double large)
{
    p->cells.has_interval = true;
    for (size_t n = 16; n <= (size_t)1 << 22; n *= 2) {
        struct uc_cell x = uc_cell_default(name, n);
        x.cost = x.lo = x.hi = n <= 1024 ? small : n <= 65536 ? middle : large;
        assert_int_equal(uc_cells_add(&p->cells, &x), 0);
    }
}

static struct uc_profile *core(const char *kind, unsigned isa)
{
    struct uc_profile *p = made_up_profile(UCOPY_USER, "");

    snprintf(p->cpu.core_kind, sizeof(p->cpu.core_kind), "%s", kind);
    p->cpu.isa = isa;
    return p;
}

/* p wants rep_movsb to 1 KiB, and above 64 KiB loses hardly by it; e wants it above 64 KiB, and
 * loses a little by it to 1 KiB: neither ladder is good for both, p's to 1 KiB and e's above it is.
 */
static void both_kinds_get_the_ladder_that_loses_least(void **state)
{
    struct uc_profile *p = core("p", AVX512), *e = core("e", AVX2);
    struct uc_merged_price price[2];
    struct uc_ladder l;

    made_up_segment(p, UC_COPY, 1024, "rep_movsb");
    made_up_segment(p, UC_COPY, SIZE_MAX, "unrolled");
    add_curve(p, "rep_movsb", 1, 2, 1.01);
    add_curve(p, "unrolled", 3, 1, 1);
    made_up_segment(e, UC_COPY, 65536, "unrolled");
    made_up_segment(e, UC_COPY, SIZE_MAX, "rep_movsb");
    add_curve(e, "rep_movsb", 1.04, 2, 1);
    add_curve(e, "unrolled", 1, 1, 3);
    assert_int_equal(uc_merge_hybrid(p, e, UC_COPY, &l, price), 0);
    assert_int_equal(l.n, 3);
    assert_string_equal(l.segment[0].strategy, "rep_movsb");
    assert_int_equal(l.segment[0].max, 1024);
    assert_string_equal(l.segment[1].strategy, "unrolled");
    assert_int_equal(l.segment[1].max, 65536);
    assert_string_equal(l.segment[2].strategy, "rep_movsb");
    assert_true(l.segment[2].max == SIZE_MAX);
    assert_true(price[0].known && price[1].known);
    assert_true(fabs(price[0].share.worst - .01) < 1e-9);
    assert_true(fabs(price[1].share.worst - .04) < 1e-9);
    made_up_free(p);
    made_up_free(e);
}

/* However much p gains by what e lacks. Without cells e's ladder counts, unpriced. */
static void both_kinds_may_execute_it(void **state)
{
    struct uc_profile *p = core("p", AVX512), *e = core("e", AVX2);
    struct uc_merged_price price[2] = {{0}};
    struct uc_ladder l;

    made_up_segment(p, UC_COPY, 1024, "rep_movsb");
    made_up_segment(p, UC_COPY, SIZE_MAX, "avx512_loop_x4");
    made_up_segment(e, UC_COPY, SIZE_MAX, "rep_movsb");
    assert_int_equal(uc_merge_hybrid(p, e, UC_COPY, &l, price), 0);
    assert_false(price[0].known || price[1].known);
    assert_int_equal(l.n, 1);
    assert_string_equal(l.segment[0].strategy, "rep_movsb");
    add_curve(p, "rep_movsb", 1, 9, 9);
    add_curve(p, "avx512_loop_x4", 1, 1, 1);
    add_curve(e, "rep_movsb", 1, 1, 1);
    add_curve(e, "avx512_loop_x4", 1, .1, .1); /* cells of a box that it is not */
    assert_int_equal(uc_merge_hybrid(p, e, UC_COPY, &l, price), 0);
    assert_int_equal(l.n, 1);
    assert_string_equal(l.segment[0].strategy, "rep_movsb");
    assert_true(price[0].known && fabs(price[0].share.worst - 8) < 1e-9);
    snprintf(e->entry[UC_COPY].ladder.segment[0].strategy, UC_NAME, "avx2_loop_x4");
    p->cpu.isa &= ~(unsigned)UCOPY_ISA_AVX2;
    assert_int_equal(uc_merge_hybrid(p, e, UC_COPY, &l, price), -ENOTSUP);
    made_up_free(p);
    made_up_free(e);
}

static void one_answer_for_both_kinds(void **state)
{
    assert_holds("all.h", "\n * intel-06-97, Made Up 9000 ");
    assert_holds("all.h", "; needs sse2 avx2\n * Threads move between its p and its e cores: ");
    assert_holds("all.h", "\n *   (not priced: the cells do not hold it)\n");
    assert_holds("all.h", "intel-06-97-p:\n");
    assert_holds("all.h", "0x6u, 0x97u, 0xcu, 1u}, /* intel-06-97 */");
    assert_int_equal(sh("! grep -q INTEL_06_97_P all.h"), 0);
    assert_int_equal(sh(MERGE "user/intel-06-97-p.json -o p.h"), 0);
    assert_holds("err", "intel-06-97-p.json: of the p cores of a hybrid CPU alone");
    assert_holds("p.h", "0x6u, 0x97u, 0x3cu, 0u}, /* intel-06-97-p */");
}

/* ---- what is inlined ---- */

/* Boxes a and b, each with a part of its own: that of place good costs the other box half more, the
 * other part twice as much as the box's own. */
static void check_inlined(struct uc_profile *const p[2], struct uc_merge *x, size_t good)
{
    struct uc_merged_inline found;

    x->n = 0;
    for (size_t i = 0; i < 2; i++) {
        p[i]->cells.n = 0;
        add_curve(p[i], p[i]->entry[UC_COPY].inline_baseline.strategy, 1, 1, 1);
        add_curve(p[i], p[!i]->entry[UC_COPY].inline_baseline.strategy, i == good ? 2 : 1.5, 1, 1);
        add_curve(p[i], p[i]->entry[UC_COPY].ladder.segment[0].strategy, 3, 1, 1);
        add_curve(p[i], p[i]->entry[UC_COPY].ladder.segment[1].strategy, 3, 1, 1);
        x->in[x->n++].p = *p[i];
    }
    assert_int_equal(uc_merge_inline(x, UC_COPY, &found), 0);
    assert_ptr_equal(found.of, &x->in[good].p);
    assert_ptr_equal(found.worst_on, &x->in[!good].p);
    assert_string_equal(found.part.strategy, p[good]->entry[UC_COPY].inline_baseline.strategy);
    assert_true(fabs(found.worst.worst - .5) < 1e-9);
    assert_int_equal(uc_merge_inline(x, UC_NOCACHE, &found), 0);
    assert_string_equal(found.part.strategy, "");
}

static void the_inlined_part_costs_the_others_least(void **state)
{
    struct uc_merge *x = calloc(1, sizeof(*x));
    struct uc_profile *const p[2] = {box(&boxes[0], UCOPY_USER), box(&boxes[3], UCOPY_USER)};

    assert_non_null(x);
    snprintf(p[1]->entry[UC_COPY].inline_baseline.strategy, UC_NAME, "short_half_sse2_64");
    check_inlined(p, x, 0);
    check_inlined(p, x, 1);
    made_up_free(p[0]);
    made_up_free(p[1]);
    free(x);
}

/* ---- what is refused ---- */

static void refused(const char *words, int code, const char *needle)
{
    int got = sh(MERGE "%s >refused.out", words);

    if (got != code || lines("err") != 1 || lines("refused.out") != 0)
        fail_msg("%s: exit code %d, %zu lines of error", words, got, lines("err"));
    assert_holds("err", needle);
}

static void bad_input_is_one_line(void **state)
{
    assert_int_equal(sh("mkdir bad; cd bad; f=../user/amd-17-01.json; head -c 700 $f >cut.json;"
                        "sed 's/\"format\": 1/\"format\": 2/' $f >newer.json;"
                        "sed 's/\"vendor\": \"AuthenticAMD\"/\"vendor\": \"\"/' $f >nobody.json;"
                        "sed 's/avx2_loop_x4/avx9_loop_x4/' $f >unknown.json;"
                        "sed 's/\"key\": \"amd-17-01\"/\"key\": \"amd-1a-02\"/' $f >renamed.json;"
                        "cp $f other.json; echo '/* */' >alone.h"),
                     0);
    refused("", 2, "merge needs a PROFILE");
    refused("absent.json", 2, "absent.json: No such file or directory");
    refused("bad/cut.json", 2, "bad/cut.json: line ");
    refused("bad/newer.json", 2, "bad/newer.json: format: 2 is newer than this program reads");
    refused("-q bad/nobody.json", 2, "bad/nobody.json: names no CPU");
    refused("-q bad/unknown.json", 1, "strategy 'avx9_loop_x4' is not known to this program");
    refused("bad/alone.h", 2, "bad/alone.h: its profile, bad/alone.json: No such file");
    refused("user/amd-17-01.json bad/other.json", 2, "are two profiles of one CPU, amd-17-01");
    refused("-q user/amd-1a-02.json bad/renamed.json", 2, "two CPUs are called amd-1a-02");
    refused("user/amd-17-01.json kernel/amd-1a-02-kernel.json", 2, "is of environment user and ");
    refused("user/*.json user/intel-06-97-p.json", 2, "are two profiles of one CPU, intel-06-97-p");
    refused("user/amd-17-01.json -o absent/x.h", 3, "absent/x.h: cannot write: No such file");
    refused("user/amd-17-01.json -o /dev/full", 3, "No space left on device");
    refused("user/amd-17-01.json --name Copy_it", 2, "--name: 'Copy_it' is no prefix");
    refused("user/amd-17-01.json --name static_cast", 2, "is no prefix");
    refused("user/amd-17-01.json --name int", 2, "is no prefix");
    assert_int_equal(sh("test ! -e x.h"), 0);
    assert_int_equal(sh("\"$UCOPY_TUNE\" verify all.h"), 2);
    assert_int_equal(lines("err"), 1);
    assert_holds("err", "all.h: a header of several CPUs: give one of the profiles");
}

/* A variant is the same CPU too; alone it is welcome. An edited profile is used, with a warning,
 * and an entry that one lacks is left out. */
static void what_is_used_with_a_word(void **state)
{
    struct uc_profile *p = box(&boxes[0], UCOPY_USER);

    snprintf(p->variant, sizeof(p->variant), "none");
    p->entry[UC_NOCACHE].present = false;
    write_profile(p, "variant.json");
    refused("user/amd-17-01.json variant.json", 2, "are two profiles of one CPU");
    assert_int_equal(sh(MERGE "user/amd-1a-02.json variant.json -o - >variant.h"), 0);
    assert_int_equal(lines("err"), 1);
    assert_holds("err", "warning: nocache is left out: amd-17-01 has none");
    assert_holds("variant.h", "amd-17-01-none.json");
    assert_int_equal(
        sh("! grep -q -i nocache variant.h && cc -Wall -Werror -x c -c variant.h -o v.o"), 0);
    assert_int_equal(
        sh("sed 's/\"max\": 256/\"max\": 250/' user/amd-17-01.json >edited.json; " MERGE
           "edited.json -o edited.h --name my_copy"),
        0);
    assert_int_equal(lines("err"), 1);
    assert_holds("err", "edited.json: edited by hand (its digest differs); used as it is");
    assert_holds("edited.h", "#define MY_COPY_AMD_17_01_COPY_1_MAX 250\n");
}

/* The order of the arguments means nothing, and the profiles' headers name them too. */
static void the_same_text_in_any_order(void **state)
{
    assert_int_equal(sh("touch user/amd-17-01.h; " MERGE
                        "$(ls -r user/*.json | sed 's/amd-17-01.json/amd-17-01.h/') >again.h; "
                        "rm user/amd-17-01.h; cmp all.h again.h"),
                     0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_kinds_get_the_ladder_that_loses_least),
        cmocka_unit_test(both_kinds_may_execute_it),
        cmocka_unit_test(one_answer_for_both_kinds),
        cmocka_unit_test(the_inlined_part_costs_the_others_least),
        cmocka_unit_test(bad_input_is_one_line),
        cmocka_unit_test(what_is_used_with_a_word),
        cmocka_unit_test(the_same_text_in_any_order),
    };
    return cmocka_run_group_tests(tests, make_boxes, remove_dir);
}
