/* Profiles as limits for the copies of others: glibc, AOCL-LibMem, gcc, and as a note on the
 * kernel's. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emit/emit.h"
#include "emit/glibc.h"
#include "made_up.h"
#include "program.h"

/* ---- made-up cells ---- */

/* ns of a strategy at a size, or 0: not measured. */
typedef double cost_fn(size_t size);

static void add_cells(struct uc_profile *p, const char *strategy, cost_fn *cost)
{
    p->cells.has_interval = true;
    for (size_t size = 64; size <= (size_t)64 << 20; size *= 2)
        for (size_t x = size; x <= size + size / 2; x += size / 2) {
            struct uc_cell c = uc_cell_default(strategy, x);
            c.cost = cost(x);
            c.lo = .99 * c.cost;
            c.hi = 1.01 * c.cost;
            c.n = 24;
            if (c.cost > 0)
                assert_int_equal(uc_cells_add(&p->cells, &c), 0);
        }
}

static double even(size_t n)
{
    return 10 + (double)n / 32;
}

/* Dearer than `even`, and better from some size on; no step that the fit would take for a spike. */
static double better_from(size_t n, size_t from)
{
    return even(n) * (n >= from ? .88 : 1.05);
}

static double from_128(size_t n)
{
    return better_from(n, 128);
}

static double from_24k(size_t n)
{
    return better_from(n, 24576);
}

static double from_2m(size_t n)
{
    return better_from(n, (size_t)2 << 20);
}

/* As good as `from_24k` and better from 8 MiB on. */
static double from_8m(size_t n)
{
    return even(n) * (n >= (size_t)8 << 20 ? .8 : 1.05);
}

static double dear(size_t n)
{
    return 1.5 * even(n);
}

static struct uc_profile *box(const char *vendor, cost_fn *rep, cost_fn *stream)
{
    struct uc_profile *p = made_up_profile(UCOPY_USER, "");

    snprintf(p->cpu.vendor, sizeof p->cpu.vendor, "%s", vendor);
    p->caches.l2.bytes = p->caches.l2.by[UC_BY_CPUID] = (size_t)1 << 20;
    add_cells(p, "avx2_loop_x4", even);
    add_cells(p, "rep_movsb", rep);
    add_cells(p, "avx2_stream_x4", stream);
    return p;
}

/* ---- texts ---- */

static char *text_of(const struct uc_profile *p, const char *format, char why[256])
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    int rc = uc_emitter_find(format)->emit(p, out, why, 256);

    fclose(out);
    if (!rc)
        return text;
    assert_int_equal(rc, -ENOTSUP);
    assert_string_equal(text, "");
    free(text);
    return NULL;
}

static void assert_text(const struct uc_profile *p, const char *format, const char *wanted)
{
    char why[256] = "", *text = text_of(p, format, why);

    if (!text)
        fail_msg("%s", why);
    assert_string_equal(text, wanted);
    free(text);
}

/* The last line, which is what is used. Free it. */
static char *last_line(char *text)
{
    size_t n = strlen(text);
    assert_true(n > 1 && text[n - 1] == '\n');
    text[n - 1] = 0;
    char *at = strrchr(text, '\n'), *line = strdup(at ? at + 1 : text);
    free(text);
    return line;
}

static void assert_last(const struct uc_profile *p, const char *format, const char *wanted)
{
    char why[256] = "", *text = text_of(p, format, why);

    if (!text)
        fail_msg("%s", why);
    char *line = last_line(text);
    assert_string_equal(line, wanted);
    free(line);
}

static struct uc_profile *committed(const char *stem)
{
    struct uc_profile *p = calloc(1, sizeof *p);
    char path[512], why[256] = "";

    if (!getenv("UCOPY_SOURCE"))
        skip();
    snprintf(path, sizeof path, "%s/profiles/%s.json", getenv("UCOPY_SOURCE"), stem);
    if (uc_profile_read(path, p, why, sizeof why))
        fail_msg("%s: %s", path, why);
    return p;
}

/* ---- glibc ---- */

#define REP "glibc.cpu.x86_rep_movsb_threshold="
#define STREAM "glibc.cpu.x86_non_temporal_threshold="

static struct uc_glibc glibc(int minor, size_t rep, size_t stream)
{
    return (struct uc_glibc){minor,
                             {.rep_movsb = rep,
                              .non_temporal = stream,
                              .rep_movsb_min = 0x100,
                              .rep_movsb_max = SIZE_MAX,
                              .non_temporal_min = 0x4040,
                              .non_temporal_max = SIZE_MAX >> 4}};
}

/* The text for one library. Free it. */
static char *text_for(const struct uc_profile *p, const struct uc_glibc *here, bool has_line)
{
    char *text = NULL, why[256] = "";
    bool has;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    assert_int_equal(uc_emit_glibc_for(p, here, out, &has, why, sizeof why), 0);
    fclose(out);
    assert_int_equal(has, has_line);
    assert_int_equal(strstr(text, "\nGLIBC_TUNABLES=") != NULL, has_line);
    return text;
}

static void assert_line_for(const struct uc_profile *p, struct uc_glibc here, const char *wanted)
{
    char *line = last_line(text_for(p, &here, true));

    assert_string_equal(line, wanted);
    free(line);
}

static void assert_holds_text(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no '%s' in:\n%s", part, text);
}

static void glibc_of_committed_profiles(void **state)
{
    struct uc_profile *p = committed("amd-19-01");

    assert_text(
        p, "glibc-tunables",
        "# Limits of glibc's memcpy for amd-19-01, from the profile amd-19-01 (ucopy-tune " UC_VERSION
        ").\n"
        "# best of these: vector moves; from 16 MiB stores past the caches\n"
        "# From 2.41 on glibc never uses rep movsb on AMD: there the first limit does nothing.\n"
        "# Not to be told: where rep movsb ends; on AMD at the size of L2, 512 KiB.\n"
        "# Not to be told: the moves of short sizes, the loop, and a copy whose dst is not used "
        "soon.\n"
        "GLIBC_TUNABLES=" REP "0xfffffffffffffff:" STREAM "0x1000000\n");
    made_up_free(p);
    p = committed("intel-06-cf");
    assert_last(p, "glibc-tunables", "GLIBC_TUNABLES=" REP "0xfffffffffffffff:" STREAM "0x1000000");
    made_up_free(p);
}

static void glibc_gets_both_limits(void **state)
{
    struct uc_profile *p = box("GenuineIntel", from_24k, from_8m);

    assert_last(p, "glibc-tunables", "GLIBC_TUNABLES=" REP "0x6000:" STREAM "0x800000");
    assert_line_for(p, glibc(36, 2112, (size_t)64 << 20),
                    "GLIBC_TUNABLES=" REP "0x6000:" STREAM "0x800000");
    made_up_free(p);
    p = box("GenuineIntel", dear, dear);
    assert_last(p, "glibc-tunables",
                "GLIBC_TUNABLES=" REP "0xfffffffffffffff:" STREAM "0xfffffffffffffff");
    made_up_free(p);
}

/* What it takes no less of is glibc's, and never below its own 0x4040. */
static void glibc_keeps_its_bounds(void **state)
{
    struct uc_profile *p = box("GenuineIntel", from_128, from_128);
    struct uc_glibc here = glibc(36, 2112, (size_t)64 << 20);

    /* 8 vectors of 32 bytes are what its unrolled moves serve */
    assert_last(p, "glibc-tunables", "GLIBC_TUNABLES=" REP "0x100:" STREAM "0xfffffffffffffff");
    here.limits.rep_movsb = SIZE_MAX;
    here.limits.rep_movsb_min = 0x1000;
    assert_line_for(p, here, "GLIBC_TUNABLES=" REP "0x1000");
    made_up_free(p);
    p = box("GenuineIntel", dear, from_128);
    assert_last(p, "glibc-tunables", "GLIBC_TUNABLES=" REP "0xfffffffffffffff:" STREAM "0x6000");
    here.limits.rep_movsb = 2112;
    here.limits.non_temporal_min = 0; /* a library that tells no bound still has it */
    here.limits.non_temporal_max = (size_t)1 << 40;
    here.limits.rep_movsb_max = (size_t)1 << 41;
    assert_line_for(p, here, "GLIBC_TUNABLES=" REP "0x20000000000:" STREAM "0x6000");
    made_up_free(p);
}

static void glibc_on_amd_has_no_rep_above_l2(void **state)
{
    struct uc_profile *p = box("AuthenticAMD", from_2m, dear),
                      *q = box("GenuineIntel", from_2m, dear);

    assert_last(p, "glibc-tunables",
                "GLIBC_TUNABLES=" REP "0xfffffffffffffff:" STREAM "0xfffffffffffffff");
    assert_last(q, "glibc-tunables", "GLIBC_TUNABLES=" REP "0x200000:" STREAM "0xfffffffffffffff");
    made_up_free(p);
    made_up_free(q);
}

static void glibc_from_2_41_has_no_rep_on_amd(void **state)
{
    struct uc_profile *p = box("AuthenticAMD", from_24k, from_8m);
    struct uc_glibc here = glibc(41, 2112, (size_t)64 << 20);
    char *text = text_for(p, &here, true);

    assert_holds_text(text, "# From 2.41 on glibc never uses rep movsb on AMD");
    assert_null(strstr(text, REP));
    assert_holds_text(text, "\nGLIBC_TUNABLES=" STREAM "0x800000\n");
    free(text);
    here = glibc(40, 2112, (size_t)64 << 20);
    assert_line_for(p, here, "GLIBC_TUNABLES=" REP "0x6000:" STREAM "0x800000");
    snprintf(p->cpu.vendor, sizeof p->cpu.vendor, "GenuineIntel");
    here = glibc(41, 2112, (size_t)64 << 20);
    assert_line_for(p, here, "GLIBC_TUNABLES=" REP "0x6000:" STREAM "0x800000");
    made_up_free(p);
}

static void glibc_that_is_best_is_left_alone(void **state)
{
    struct uc_profile *p = box("GenuineIntel", from_24k, from_8m);
    struct uc_glibc here = glibc(36, 24000, (size_t)8 << 20);
    char *text = text_for(p, &here, false);

    assert_holds_text(text,
                      "\n# glibc's own limits are already best here: there is nothing to set.\n");
    free(text);
    here.limits.non_temporal = SIZE_MAX; /* one of them */
    assert_line_for(p, here, "GLIBC_TUNABLES=" STREAM "0x800000");
    here = glibc(36, 2112, (size_t)8 << 20);
    text = text_for(p, &here, true);
    assert_holds_text(text, "\n# glibc 2.36 here: vector moves; from 2112 rep movsb; from 8 MiB "
                            "stores past the caches\n");
    assert_holds_text(text, "\n#   3 KiB to 16 KiB: vector moves in place of rep movsb, 1.05 times "
                            "as fast in the profile's cells\n");
    free(text);
    made_up_free(p);
}

static void what_is_barred_is_not_told(void **state)
{
    struct uc_profile *p = box("GenuineIntel", from_24k, dear);
    struct uc_profile_entry *e = &p->entry[UC_COPY];

    e->barred[0] = (struct uc_barred){"rep_movsb", 24576, (size_t)1 << 20, 25, "made up"};
    e->barred_n = 1;
    assert_last(p, "glibc-tunables", "GLIBC_TUNABLES=" REP "0x180000:" STREAM "0xfffffffffffffff");
    made_up_free(p);
}

/* ---- AOCL-LibMem ---- */

static void assert_refused(const struct uc_profile *p, const char *format, const char *reason)
{
    char why[256] = "";

    assert_null(text_of(p, format, why));
    assert_string_equal(why, reason);
}

static void libmem_of_the_committed_profile(void **state)
{
    struct uc_profile *p = committed("amd-19-01");

    assert_text(
        p, "libmem",
        "# Limits of AOCL-LibMem's memcpy for amd-19-01, from the profile amd-19-01 "
        "(ucopy-tune " UC_VERSION ").\n"
        "# vector moves; from 16 MiB stores past the caches\n"
        "# Heard by its build with tunables alone; the other ones take no limits.\n"
        "# Not to be told: the moves of short sizes, the vector loop, and a copy whose dst is "
        "not used soon.\n"
        "LIBMEM_THRESHOLD=0,0,16777215,-1\n");
    made_up_free(p);
    p = committed("intel-06-cf");
    assert_refused(p, "libmem",
                   "AOCL-LibMem copies by the system's memcpy on intel-06-cf, which is not of AMD");
    made_up_free(p);
}

/* From 24 KiB to 1 MiB. */
static double in_the_middle(size_t n)
{
    return n > (size_t)1 << 20 ? 1.1 * even(n) : from_24k(n);
}

static void libmem_has_two_ranges(void **state)
{
    struct uc_profile *p = box("AuthenticAMD", in_the_middle, from_8m);

    assert_last(p, "libmem", "LIBMEM_THRESHOLD=24575,1572864,8388607,-1");
    made_up_free(p);
    p = box("AuthenticAMD", from_24k, dear);
    assert_last(p, "libmem", "LIBMEM_THRESHOLD=24575,-1,0,0");
    made_up_free(p);
    p = box("AuthenticAMD", from_24k, from_8m);
    assert_last(p, "libmem", "LIBMEM_THRESHOLD=24575,8388608,8388607,-1");
    made_up_free(p);
    p = box("AuthenticAMD", dear, dear);
    assert_last(p, "libmem", "LIBMEM_THRESHOLD=0,0,0,0");
    made_up_free(p);
}

/* ---- gcc ---- */

static void gcc_of_the_committed_profile(void **state)
{
    struct uc_profile *p = committed("intel-06-cf");

    assert_text(
        p, "gcc",
        "# gcc's inline copies for intel-06-cf, from the profile intel-06-cf (ucopy-tune " UC_VERSION
        ").\n"
        "# For copies whose size gcc knows or expects; with any other it calls memcpy, and "
        "what fits a few\n"
        "# moves it moves as it likes. The call was measured with glibc 2.36.\n"
        "# Not to be told: vector_loop, loop and byte_loop, which were not measured.\n"
        "# dst taken as it lies, not aligned first\n"
        "-mmemcpy-strategy=libcall:-1:noalign\n"
        "# dst aligned first\n"
        "-mmemcpy-strategy=libcall:-1:align\n");
    made_up_free(p);
}

/* The best to 512, then not. */
static double to_512(size_t n)
{
    return even(n) * (n <= 512 ? .8 : 1.2);
}

/* 768 bytes to 12 KiB, and otherwise no good. */
static double kib_1_to_12(size_t n)
{
    return even(n) * (n > 512 && n <= 12288 ? .8 : 1.2);
}

static struct uc_profile *three_ways(void)
{
    struct uc_profile *p = made_up_profile(UCOPY_USER, "");

    add_cells(p, "libc", even);
    add_cells(p, "unrolled", to_512);
    add_cells(p, "rep_movsb", kib_1_to_12);
    add_cells(p, "rep_movsb_aligned", dear);
    add_cells(p, "rep_movsq", dear);
    return p;
}

#define NOALIGN \
    "-mmemcpy-strategy=unrolled_loop:512:noalign,rep_byte:12288:noalign,libcall:-1:noalign"
#define ALIGN "-mmemcpy-strategy=unrolled_loop:512:align,libcall:-1:align"

static void gcc_gets_each_alignment(void **state)
{
    struct uc_profile *p = three_ways();
    char why[256] = "", *text = text_of(p, "gcc", why);

    assert_holds_text(text, "\n" NOALIGN "\n");
    assert_holds_text(text, "\n" ALIGN "\n");
    free(text);
    made_up_free(p);
}

/* Does gcc do as it is told with a copy of so many bytes? */
static void assert_compiled(const char *option, size_t size, const char *instruction)
{
    assert_int_equal(sh("echo 'void f(char *d, const char *s) { __builtin_memcpy(d, s, %zu); }' |"
                        " gcc -O2 %s -S -x c -o copy.s -",
                        size, option),
                     0);
    assert_holds("copy.s", instruction);
}

static void gcc_takes_it(void **state)
{
    if (sh("gcc --version") || sh("! gcc --version | grep -qi clang")) {
        print_message("no gcc\n");
        skip();
    }
    assert_compiled(NOALIGN, 1001, "rep movsb"); /* even ones by larger units */
    assert_compiled(NOALIGN, 12287, "rep movsb");
    assert_compiled(NOALIGN, 12289, "memcpy");
    assert_compiled(ALIGN, 12288, "memcpy");
    assert_int_equal(sh("grep -q 'rep movs' copy.s"), 1);
    assert_compiled(ALIGN, 512, "f:");
    assert_int_equal(sh("grep -q memcpy copy.s"), 1);
    if (!getenv("UCOPY_SOURCE"))
        return;
    assert_int_equal(sh("for p in \"$UCOPY_SOURCE\"/profiles/*[!l].json; do"
                        " for o in $(\"$UCOPY_TUNE\" emit --format gcc $p | grep -v '^#'); do"
                        " gcc -O2 $o -S -x c -o copy.s /dev/null && echo $o || exit 9; done; done"),
                     0);
    assert_true(lines("out") >= 4);
}

/* ---- the kernel ---- */

static void the_note_of_the_committed_profile(void **state)
{
    static const char *const said[] = {
        "What the profile amd-19-01-kernel says about the kernel's own copies (ucopy-tune " UC_VERSION
        ")\n",
        "\nCPU: amd-19-01, AMD EPYC, under KVM; ERMS yes, FSRM yes.\n",
        "\nMicrocode 0x1000065, kernel 6.18.44-fc-v595, grade A.\n",
        "\nMeasured in user mode with memcpy's contract: no fault handling, no SMAP,",
        "\n  size        rep movsb  rep movsq   unrolled      short\n",
        "\n1. `rep movsb` at every size where the CPU has FSRM",
        " on it is within 5 % of the best in the mean, ",
        "To 64 bytes it costs up to ",
        "\n2. Without FSRM: moves of 8 bytes to 64, string instructions above",
        "\n3. Whole pages by `rep movsq`",
        "At 4096 it costs 1.0",
        "\n4. Stores past the caches (movnti)",
        "They pay above ",
    };
    struct uc_profile *p = committed("amd-19-01-kernel");
    char why[256] = "", *text = text_of(p, "kernel-note", why);

    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        assert_holds_text(text, said[i]);
    free(text);
    made_up_free(p);
}

static void the_note_says_where_movsb_does_not_pay(void **state)
{
    struct uc_profile *p = made_up_profile(UCOPY_KERNEL, "");
    char why[256] = "", *text;

    add_cells(p, "rep_movsb", dear);
    add_cells(p, "rep_movsq", even);
    add_cells(p, "unrolled", dear);
    text = text_of(p, "kernel-note", why);
    assert_holds_text(text, "; ERMS yes, FSRM no.\n");
    assert_holds_text(text, "   This CPU does not claim FSRM: the choice is not made here.\n");
    assert_holds_text(text,
                      "   It is nowhere within 5 % of the best in the mean of all larger sizes.\n");
    assert_holds_text(text,
                      "   At 4096 it costs 1.00 times the best of the four: the choice stands.\n");
    assert_holds_text(text, "   The profile says nothing about it.\n");
    free(text);
    made_up_free(p);
}

/* ---- refusals ---- */

/* A form is read by a shell or a compiler: a name must not begin a line. */
static void names_of_others_stay_in_their_line(void **state)
{
    static const char *const format[] = {"glibc-tunables", "libmem", "gcc"};
    struct uc_profile *p = box("AuthenticAMD", from_24k, dear);
    char why[256] = "";

    add_cells(p, "libc", even);
    snprintf(p->cpu.key, sizeof p->cpu.key, "a\nrm");
    p->validation = json_pack("{ss}", "libc", "g\nrm 2");
    for (int i = 0; i < 3; i++) {
        char *text = text_of(p, format[i], why);
        assert_non_null(text);
        assert_null(strstr(text, "\nrm"));
        free(text);
    }
    made_up_free(p);
}

static void the_other_environment_is_refused(void **state)
{
    static const char vectors[] = "a kernel profile has no vector moves: give the user profile";
    struct uc_profile *p = box("AuthenticAMD", from_24k, dear);

    assert_refused(p, "kernel-note",
                   "a user profile chose with vector registers, which the kernel's copies may not "
                   "touch: give the kernel profile");
    p->environment = UCOPY_KERNEL;
    assert_refused(p, "glibc-tunables", vectors);
    assert_refused(p, "libmem", vectors);
    assert_refused(p, "gcc",
                   "a call from the kernel is to the kernel's own memcpy, which was not measured: "
                   "give the user profile");
    made_up_free(p);
}

static void a_profile_without_cells_is_refused(void **state)
{
    static const char none[] = "the profile has no cells of what it would be made from";
    struct uc_profile *p = made_up_profile(UCOPY_USER, "");

    snprintf(p->cpu.vendor, sizeof p->cpu.vendor, "AuthenticAMD");
    assert_refused(p, "glibc-tunables", none);
    assert_refused(p, "libmem", none);
    assert_refused(p, "gcc", none);
    p->environment = UCOPY_KERNEL;
    assert_refused(p, "kernel-note", none);
    p->environment = UCOPY_USER;
    p->has_cpu = false;
    assert_refused(p, "glibc-tunables", "the profile names no CPU");
    made_up_free(p);
}

/* ---- the command ---- */

#define EMIT "\"$UCOPY_TUNE\" emit \"$UCOPY_SOURCE\"/profiles/"

static void prove_is_of_glibc_and_of_this_cpu(void **state)
{
    if (!getenv("UCOPY_SOURCE"))
        skip();
    assert_int_equal(sh(EMIT "amd-19-01.json --format asm --prove"), 2);
    assert_holds("err", "--prove is of --format glibc-tunables");
    assert_int_equal(lines("err"), 1);
    /* a CPU that is nowhere */
    assert_int_equal(sh("sed 's/\"key\": \"amd-19-01\"/\"key\": \"made-0f-01\"/'"
                        " \"$UCOPY_SOURCE\"/profiles/amd-19-01.json >other.json"),
                     0);
    assert_int_equal(sh("\"$UCOPY_TUNE\" emit -q other.json --format glibc-tunables --prove"), 3);
    assert_holds("err",
                 "other.json: cannot be proved here: this CPU is not the profile's, made-0f-01");
    assert_int_equal(lines("err"), 1);
    assert_int_equal(lines("out"), 0);
    assert_int_equal(sh(EMIT "amd-19-01-kernel.json --format glibc-tunables"), 1);
    assert_int_equal(lines("err"), 1);
    assert_int_equal(lines("out"), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(glibc_of_committed_profiles),
        cmocka_unit_test(glibc_gets_both_limits),
        cmocka_unit_test(glibc_keeps_its_bounds),
        cmocka_unit_test(glibc_on_amd_has_no_rep_above_l2),
        cmocka_unit_test(glibc_from_2_41_has_no_rep_on_amd),
        cmocka_unit_test(glibc_that_is_best_is_left_alone),
        cmocka_unit_test(what_is_barred_is_not_told),
        cmocka_unit_test(libmem_of_the_committed_profile),
        cmocka_unit_test(libmem_has_two_ranges),
        cmocka_unit_test(gcc_of_the_committed_profile),
        cmocka_unit_test(gcc_gets_each_alignment),
        cmocka_unit_test(gcc_takes_it),
        cmocka_unit_test(the_note_of_the_committed_profile),
        cmocka_unit_test(the_note_says_where_movsb_does_not_pay),
        cmocka_unit_test(names_of_others_stay_in_their_line),
        cmocka_unit_test(the_other_environment_is_refused),
        cmocka_unit_test(a_profile_without_cells_is_refused),
        cmocka_unit_test(prove_is_of_glibc_and_of_this_cpu),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
