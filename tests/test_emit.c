/* What the emitters say. That the header compiles and copies is test_header_matrix.c. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/rng.h"
#include "emit/emit.h"
#include "emit/header.h"
#include "made_up.h"

static struct uc_profile *plain_profile(void)
{
    struct uc_profile *p = made_up_profile(UCOPY_USER, "");
    struct uc_segment *s;

    made_up_segment(p, UC_COPY, 64, "unrolled");
    s = made_up_segment(p, UC_COPY, 2048, "sse2_loop_x4");
    s->margin = 1.01;
    s = made_up_segment(p, UC_COPY, 4096, "rep_movsb");
    s->tie = true;
    s = made_up_segment(p, UC_COPY, SIZE_MAX, "unrolled");
    s->margin = 1.6;
    made_up_segment(p, UC_NOCACHE, 256, "rep_movsb");
    made_up_segment(p, UC_NOCACHE, SIZE_MAX, "movnti");
    p->weights = json_pack("{ss}", "name", "default");
    p->method = json_pack("{ss}", "grade", "A");
    p->validation =
        json_pack("{ss s{s{s{sf}} s{s{sf} s{sf}}} s{s{s{sf}}}}", "libc", "glibc 2.36", "libc_gain",
                  "none", "fixed", "geomean", 1.304, "wait", "fixed", "geomean", 0.98, "band",
                  "geomean", 1.83, "libc_gain_inlined", "none", "fixed", "geomean", 1.52);
    assert_int_equal(uc_profile_hash_strategies(p), 0);
    return p;
}

/* The text, or NULL with why. */
static char *emitted(const struct uc_profile *p, const char *format, char why[256])
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    int rc = uc_emitter_find(format)->emit(p, out, why, 256);

    fclose(out);
    if (rc) {
        assert_int_equal(rc, -ENOTSUP);
        assert_string_equal(text, "");
        free(text);
        return NULL;
    }
    return text;
}

static char *good(const struct uc_profile *p, const char *format)
{
    char why[256] = "";
    char *text = emitted(p, format, why);
    if (!text)
        fail_msg("%s", why);
    return text;
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no '%s' in:\n%.3000s", part, text);
}

static void assert_lacks(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("'%s' in the text", part);
}

static void formats_are_found_by_name(void **state)
{
    assert_string_equal(uc_emitter_find("c")->name, "c");
    assert_null(uc_emitter_find("moon"));
    for (const struct uc_emitter *e = uc_emitters; e->name; e++)
        assert_true(strlen(e->description) > 0);
}

static void the_prefix_names_key_environment_and_variant(void **state)
{
    struct uc_profile *p = made_up_profile(UCOPY_KERNEL, "fleet");
    char prefix[UC_PREFIX];

    assert_string_equal(uc_emit_prefix(p, prefix, sizeof prefix), "ucopy_made_0f_01_kernel_fleet");
    made_up_free(p);
}

/* Among the first lines, which is what a reviewer reads. */
static void an_emulated_cpu_is_marked(void **state)
{
    static const char mark[] = "\n * EMULATED: ";
    struct uc_profile *p = plain_profile();
    char *text = good(p, "c");

    assert_lacks(text, mark);
    free(text);
    snprintf(p->cpu.hypervisor_name, sizeof p->cpu.hypervisor_name, "QEMU TCG");
    text = good(p, "c");
    assert_has(text, mark);
    assert_true(strstr(text, mark) < strstr(text, "\n *\n"));
    free(text);
    made_up_free(p);
}

static void the_ladder_is_defined(void **state)
{
    static const char *const lines[] = {
        "#define UCOPY_MADE_0F_01_COPY_1_MAX 64\n",
        "#define UCOPY_MADE_0F_01_COPY_3_MAX 4096\n",
        "#define UCOPY_MADE_0F_01_COPY_SSE2_LOOP_X4_MAX 2048\n",
        "#define UCOPY_MADE_0F_01_COPY_STREAMS 0\n",
        "#define UCOPY_MADE_0F_01_NOCACHE_REP_MOVSB_MAX 256\n",
        "#define UCOPY_MADE_0F_01_NOCACHE_STREAMS 1\n",
    };
    struct uc_profile *p = plain_profile();
    char *c = good(p, "c"), *s = good(p, "asm");

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_has(c, lines[i]);
        assert_has(s, lines[i]);
    }
    assert_has(c, "#define UCOPY_MADE_0F_01_COPY_1_STRATEGY \"unrolled\"\n");
    assert_has(c, "#define UCOPY_MADE_0F_01_COPY_4_STRATEGY \"unrolled\"\n");
    assert_lacks(s, "_STRATEGY");
    assert_lacks(c, "COPY_4_MAX");        /* the last range has no end */
    assert_lacks(c, "COPY_UNROLLED_MAX"); /* it serves two ranges */
    free(c);
    free(s);
    made_up_free(p);
}

static void the_first_lines_say_what_it_is(void **state)
{
    static const char *const said[] = {
        "made-0f-01",
        "not correctness limits",
        "performance limits",
        "user mode",
        "memcpy's",
        "        0 to 64         unrolled; next rep_movsb, 35 % slower",
        "       65 to 2048       sse2_loop_x4; next rep_movsb, under 5 % slower",
        "     2049 to 4096       rep_movsb; tie with rep_movsb",
        /* one literal, although it is long: two in a list look like a forgotten comma */
        "     4097 and above     unrolled; next rep_movsb, 60 % slower; not bracketed, measured to 64 MiB",
        "weights named default",
        "Grade of the measurement: A",
        "Time of glibc 2.36 memcpy over that of copy, called / inlined with -march=native",
        "one size repeated: dst not read 1.30 / 1.50, read at once - / -, waited for 1.00 / -",
        "mixed, to 4 KiB:   dst not read - / -, read at once - / -, waited for 1.85 / -",
    };
    struct uc_profile *p = plain_profile();
    char *text = good(p, "c"), *end = text;

    assert_int_equal(strncmp(text, "/* SPDX-License-Identifier: 0BSD */\n", 36), 0);
    for (int line = 0; line < 40; line++)
        end = strchr(end, '\n') + 1;
    *end = 0;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        assert_has(text, said[i]);
    free(text);
    made_up_free(p);
}

/* What a review of a kernel patch asks for: the CPU, what was measured and how, why that number,
 * and that it is speed alone. */
static void a_kernel_header_argues(void **state)
{
    static const char *const said[] = {
        "made-0f-01",
        "general registers and string instructions only",
        "user mode",
        "memcpy's\n * contract (buffers equal or apart",
        "No fault handling was measured and none is here",
        "speed and not correctness",
        "\n * How it was measured: nanoseconds a call",
        "Not in it: faults, SMAP",
        "\n * Linux 6.1 ./ x, microcode 0x17, timer: rdtsc between lfences.\n",
        "\n * Why these limits of copy, by 95 % intervals:\n"
        " *   64: its strategy serves no larger size\n"
        " *   512: both sides cost the same at 300 to 700; 400 to 600 would do as well\n"
        " *   4096: no interval is known\n",
        "\n * Over twice the best at their worst placements, in copy: rep_movsb 8 to 9.\n",
    };
    struct uc_profile *p = made_up_profile(UCOPY_KERNEL, "");

    made_up_segment(p, UC_COPY, 64, "short_fold_gpr_64");
    struct uc_segment *s = made_up_segment(p, UC_COPY, 512, "unrolled");
    s->lo = 300, s->hi = 700, s->free_lo = 400, s->free_hi = 600;
    made_up_segment(p, UC_COPY, 4096, "rep_movsb");
    made_up_segment(p, UC_COPY, SIZE_MAX, "movnti");
    p->entry[UC_COPY].barred_n = 1;
    p->entry[UC_COPY].barred[0] = (struct uc_barred){.strategy = "rep_movsb", .from = 8, .to = 9};
    p->method = json_pack("{s:s, s:s, s:s}", "kernel", "6.1 */ x", "microcode", "0x17", "timer",
                          "rdtsc between lfences");
    char *text = good(p, "c"), *end = strstr(text, "#ifndef");
    *end = 0;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        assert_has(text, said[i]);
    for (const char *c = text; *c; c += strcspn(c, "\n") + 1)
        if (strcspn(c, "\n") > 100)
            fail_msg("%.*s", (int)strcspn(c, "\n"), c);
    free(text);
    made_up_free(p);
    p = plain_profile();
    text = good(p, "c");
    assert_lacks(text, "How it was measured");
    free(text);
    made_up_free(p);
}

static void full_ladders_stand_in_the_first_lines(void **state)
{
    struct uc_profile *p = made_up_profile(UCOPY_KERNEL, "");
    int line = 1;

    p->complete = false;
    for (size_t i = 1; i <= UC_MAX_SEGMENTS; i++) {
        size_t max = i == UC_MAX_SEGMENTS ? SIZE_MAX : 64 * i;
        made_up_segment(p, UC_COPY, max, "unrolled");
        made_up_segment(p, UC_NOCACHE, max, i == UC_MAX_SEGMENTS ? "movnti" : "unrolled");
    }
    char *text = good(p, "c"), *at = strstr(text, "movnti; next");
    assert_non_null(at);
    for (const char *c = text; c < at; c++)
        line += *c == '\n';
    assert_true(line <= 40);
    assert_has(text, "INCOMPLETE");
    free(text);
    made_up_free(p);
}

static void text_of_others_cannot_break_the_comment(void **state)
{
    struct uc_profile *p = plain_profile();

    snprintf(p->cpu.hypervisor_name, sizeof p->cpu.hypervisor_name, "*/ #error \n \\");
    json_object_set_new(p->weights, "name", json_string("/* ?\?/ */\n*/"));
    json_object_set_new(p->method, "grade", json_string("\x1b[31m*/"));
    json_object_set_new(p->validation, "libc", json_string("*/ int x;"));
    char *text = good(p, "c"), *guard = strstr(text, "#ifndef UCOPY_MADE_0F_01_H");
    assert_non_null(guard);
    *guard = 0;
    assert_null(strchr(text, '\\'));
    assert_null(strchr(text, '?') && strstr(text, "?\?/") ? text : NULL);
    assert_null(strchr(text, '\x1b'));
    /* One comment for the licence, one for all the rest. */
    char *open = strstr(text, "/*"), *second = strstr(open + 2, "/*");
    assert_non_null(second);
    assert_null(strstr(second + 2, "/*"));
    assert_int_equal(strlen(strstr(second, "*/")), 3);
    free(text);
    made_up_free(p);
}

static void nothing_of_this_place_is_in_it(void **state)
{
    static const char *const words[] = {"/home", "/tmp", "/usr", "/var", __DATE__};
    struct uc_profile *p = plain_profile();
    char *text = good(p, "c"), host[256];

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_lacks(text, words[i]);
    if (!gethostname(host, sizeof host) && strlen(host) > 5)
        assert_lacks(text, host);
    assert_lacks(text, "#include");
    free(text);
    made_up_free(p);
}

static void the_header_of_a_read_profile_is_the_same(void **state)
{
    char file[] = "/tmp/test_emit.XXXXXX", why[256];
    struct uc_rng rng = {5};
    int fd = mkstemp(file);

    assert_true(fd >= 0);
    close(fd);
    for (int i = 0; i < 200; i++) {
        struct uc_profile *p = plain_profile(), q;
        p->entry[UC_COPY].ladder.segment[0].margin =
            1.025 + 0.05 * i + 2e-4 * (uc_rng_unit(&rng) - .5);
        char *before = good(p, "c"), *json = good(p, "json"), *after;
        assert_int_equal(uc_write_file(file, json, strlen(json)), 0);
        assert_int_equal(uc_profile_read(file, &q, why, sizeof why), 0);
        after = good(&q, "c");
        assert_string_equal(before, after);
        free(before);
        free(json);
        free(after);
        uc_profile_free(&q);
        made_up_free(p);
    }
    unlink(file);
}

/* c refuses with this reason; the others take it. */
static void assert_refused(const struct uc_profile *p, const char *reason)
{
    char why[256] = "", *text = emitted(p, "c", why);

    assert_null(text);
    assert_string_equal(why, reason);
    free(good(p, "json"));
    free(good(p, "asm"));
}

static void a_stale_profile_is_refused(void **state)
{
    struct uc_profile *p = plain_profile();

    json_object_set_new(p->hashes, "movnti", json_pack("{ss}", "source_sha256", "00"));
    assert_refused(p, "strategy 'movnti' has changed since it was measured: tune again");
    made_up_free(p);
}

static void name_segment(struct uc_profile *p, size_t i, const char *strategy)
{
    json_decref(p->hashes);
    p->hashes = NULL;
    snprintf(p->entry[UC_COPY].ladder.segment[i].strategy, UC_NAME, "%s", strategy);
}

static void unknown_strategies_are_refused_by_c_alone(void **state)
{
    struct uc_profile *p = plain_profile();

    name_segment(p, 1, "nobodys */ \" way");
    assert_refused(p, "strategy 'nobodys */ \" way' is not known to this program");
    char *text = good(p, "asm");
    assert_has(text, "#define UCOPY_MADE_0F_01_COPY_NOBODYS______WAY_MAX 2048\n");
    assert_lacks(text, "UCOPY_MADE_0F_01_COPY_STREAMS");
    free(text);
    made_up_free(p);
}

static void what_cannot_be_embedded_is_refused(void **state)
{
    struct uc_profile *p = plain_profile();

    name_segment(p, 0, "libc");
    assert_refused(p, "strategy 'libc' has no code to embed");
    name_segment(p, 0, "store_sse2_x4");
    assert_refused(p, "strategy 'store_sse2_x4' has no code to embed");
    name_segment(p, 0, "sse2_loop_x4");
    assert_refused(p, "strategy 'sse2_loop_x4' does not serve all of its range, which begins at 0");
    name_segment(p, 0, "short_fold_gpr_32");
    assert_refused(
        p, "strategy 'short_fold_gpr_32' does not serve all of its range, which begins at 0");
    name_segment(p, 0, "unrolled");
    p->environment = UCOPY_KERNEL;
    assert_refused(p, "strategy 'sse2_loop_x4' does not serve the profile's environment");
    p->environment = UCOPY_USER;
    snprintf(p->entry[UC_COPY].inline_baseline.strategy, UC_NAME, "short_fold_avx2_256");
    assert_refused(p,
                   "strategy 'short_fold_avx2_256' needs more than SSE2, too much for the inline "
                   "baseline");
    made_up_free(p);
    p = made_up_profile(UCOPY_USER, "");
    assert_refused(p, "the profile has no entry");
    made_up_free(p);
}

static void variants_that_headers_use_are_refused(void **state)
{
    static const char *const taken[] = {"rep", "usable", "state", "size", "short", "leaf", "fold"};
    struct uc_profile *p = plain_profile();
    char reason[128];

    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        snprintf(p->variant, sizeof p->variant, "%s", taken[i]);
        snprintf(reason, sizeof reason, "variant '%s' is a name that headers use themselves",
                 taken[i]);
        assert_refused(p, reason);
    }
    snprintf(p->variant, sizeof p->variant, "fleet");
    free(good(p, "c"));
    made_up_free(p);
}

static void assert_renamed(const char *from, const char *to)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    uc_rename(from, "ucopy_k", out);
    fclose(out);
    assert_string_equal(text, to);
    free(text);
}

static void renaming_goes_by_tokens(void **state)
{
    assert_renamed("ucopy_x(UCOPY_Y)", "ucopy_k_x(UCOPY_K_Y)");
    assert_renamed("ucopy_(a)", "ucopy_k(a)");
    assert_renamed("my_ucopy_x xucopy_ 1ucopy_x", "my_ucopy_x xucopy_ 1ucopy_x");
    assert_renamed("\"ucopy_x \\\" ucopy_y\" ucopy_z 'u' '\\''",
                   "\"ucopy_x \\\" ucopy_y\" ucopy_k_z 'u' '\\''");
    assert_renamed("/* it's ucopy_x */ ucopy_y", "/* it's ucopy_k_x */ ucopy_k_y");
    assert_renamed("// don't ucopy_x\n'a' ucopy_y", "// don't ucopy_k_x\n'a' ucopy_k_y");
    assert_renamed("UCOPY_FALLBACK UCOPY_NO_ASM UCOPY_NO_ASM_X",
                   "UCOPY_FALLBACK UCOPY_NO_ASM UCOPY_K_NO_ASM_X");
    assert_renamed("ucopy-tune ucopy", "ucopy-tune ucopy");
    assert_renamed("/* open ucopy_x", "/* open ucopy_k_x");
    assert_renamed("\"open ucopy_x", "\"open ucopy_x");
}

static void every_name_has_the_prefix(void **state)
{
    struct uc_profile *p = plain_profile();
    char *text = good(p, "c");

    for (const char *c = text; (c = strcasestr(c, "ucopy_")); c += 6)
        if (strncasecmp(c, "ucopy_made_0f_01", 16) && strncmp(c, "UCOPY_FALLBACK", 14) &&
            strncmp(c, "UCOPY_NO_ASM", 12))
            fail_msg("not renamed: %.40s", c);
    free(text);
    made_up_free(p);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_are_found_by_name),
        cmocka_unit_test(the_prefix_names_key_environment_and_variant),
        cmocka_unit_test(the_ladder_is_defined),
        cmocka_unit_test(an_emulated_cpu_is_marked),
        cmocka_unit_test(the_first_lines_say_what_it_is),
        cmocka_unit_test(a_kernel_header_argues),
        cmocka_unit_test(full_ladders_stand_in_the_first_lines),
        cmocka_unit_test(text_of_others_cannot_break_the_comment),
        cmocka_unit_test(nothing_of_this_place_is_in_it),
        cmocka_unit_test(the_header_of_a_read_profile_is_the_same),
        cmocka_unit_test(a_stale_profile_is_refused),
        cmocka_unit_test(unknown_strategies_are_refused_by_c_alone),
        cmocka_unit_test(what_cannot_be_embedded_is_refused),
        cmocka_unit_test(variants_that_headers_use_are_refused),
        cmocka_unit_test(renaming_goes_by_tokens),
        cmocka_unit_test(every_name_has_the_prefix),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
