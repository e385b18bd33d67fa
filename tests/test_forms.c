/* A copy inline, called and called behind a check: each copies, the check refuses, and the bytes of
 * code are those that nm and objdump see. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/rng.h"
#include "measure/form_build.h"
#include "measure/forms.h"
#include "measure/symbols.h"

#define MOST 80

static char dir[32];
static char kept[64], keeper[64];

/* The compiler, leaving what it made where the test can look at it. */
static int make_keeper(void **state)
{
    char text[300];

    strcpy(dir, "/tmp/ucopy-forms-XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    snprintf(kept, sizeof(kept), "%s/kept.so", dir);
    snprintf(keeper, sizeof(keeper), "%s/cc", dir);
    snprintf(text, sizeof(text),
             "#!/bin/sh\ncc \"$@\" || exit\nfor a; do case $a in *.so) cp \"$a\" %s;; esac; done\n",
             kept);
    return uc_write_file(keeper, text, strlen(text)) || chmod(keeper, 0755);
}

static int remove_keeper(void **state)
{
    unlink(kept);
    unlink(keeper);
    return rmdir(dir);
}

static void need(const char *program)
{
    char command[100];

    snprintf(command, sizeof(command), "%s --version >/dev/null 2>&1", program);
    if (system(command) != 0) {
        printf("# no %s\n", program);
        skip();
    }
}

/* The number that a shell command prints. */
static long number(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static long number(const char *fmt, ...)
{
    char command[1000];
    long n = -1;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(command, sizeof(command), fmt, ap);
    va_end(ap);
    FILE *p = popen(command, "r");
    assert_non_null(p);
    assert_int_equal(fscanf(p, "%ld", &n), 1);
    assert_int_equal(pclose(p), 0);
    return n;
}

/* Its own folder of temporary files: other tests may be compiling at the same time. */
static char temporary[] = "/tmp/ucopy-forms-tmp-XXXXXX";

static int make_temporary(void **state)
{
    return mkdtemp(temporary) && !setenv("TMPDIR", temporary, 1) ? 0 : -1;
}

static int remove_temporary(void **state)
{
    return rmdir(temporary);
}

static size_t left_over(void)
{
    char pattern[64];
    glob_t g;

    snprintf(pattern, sizeof(pattern), "%s/ucopy-tune.??????", temporary);
    size_t n = glob(pattern, 0, NULL, &g) ? 0 : g.gl_pathc;

    globfree(&g);
    return n;
}

static bool runs_here(const struct ucopy_strategy *s)
{
    return (!(s->isa & UCOPY_ISA_AVX2) || __builtin_cpu_supports("avx2")) &&
           (!(s->isa & UCOPY_ISA_AVX512BW) ||
            (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("bmi2")));
}

/* Every step-th with a text; of those alone that run here, where they are to be run. */
static size_t some_strategies(const struct ucopy_strategy **s, size_t step, bool to_run)
{
    size_t n = 0;

    for (size_t i = 1; i < ucopy_strategy_count && n < MOST; i += step)
        if (ucopy_strategies[i].text && ucopy_strategies[i].role != UCOPY_LIMIT &&
            (!to_run || runs_here(&ucopy_strategies[i])))
            s[n++] = &ucopy_strategies[i];
    return n;
}

static const char *const form_word[] = {"called", "inlined", "checked"};

/* ---- bytes ---- */

/* A copy of exactly 40 bytes: the site holds them and nothing else, a call is 5 bytes, and the
 * check in front of it an addition of 4, a comparison of 7 and a branch of 2 or 6. */
static void bytes_of_a_known_copy(void **state)
{
    static const char header[] =
        "static inline void *f(void *d, const void *s, __SIZE_TYPE__ n)\n"
        "{ __asm__ volatile(\".skip 40, 0x90\" : : \"r\"(d), \"r\"(s), \"r\"(n) : \"memory\"); "
        "return d; }\n";
    struct uc_subject u[UC_FORM_COUNT];
    struct uc_object object;
    char why[256] = "";
    size_t before = left_over();

    need("cc");
    assert_int_equal(
        uc_build_header_forms(header, "f", "forty", false, u, &object, why, sizeof(why)), 0);
    assert_int_equal(left_over(), before);
    for (int i = 0; i < UC_FORM_COUNT; i++) {
        assert_string_equal(u[i].name, "forty");
        assert_int_equal(u[i].form, i);
        assert_int_equal(u[i].code.strategy, 0);
    }
    assert_int_equal(u[UC_INLINE].code.site, 40);
    assert_int_equal(u[UC_CALLED].code.site, 5);
    long check = u[UC_CHECKED].code.site - 5;
    assert_true(check == 4 + 7 + 2 || check == 4 + 7 + 6);
    /* the function: what is inlined, the value returned, ret; endbr64 where cc puts it */
    long once = u[UC_CALLED].code.dispatch;
    assert_true(once == 40 + 3 + 1 || once == 4 + 40 + 3 + 1);
    assert_int_equal(u[UC_CHECKED].code.dispatch, once);
    assert_int_equal(u[UC_INLINE].code.dispatch, 0);
    uc_object_unload(&object);
}

/* A header's ladder and its strategies are functions of its own, told by name. */
static void bytes_of_a_ladder(void **state)
{
#define BODY(n)                     \
    "{ __asm__ volatile(\".skip " n \
    ", 0x90\" : : \"r\"(d), \"r\"(s), \"r\"(n) : \"memory\"); return d; }\n"
#define FUNCTION(name)                                   \
    "__attribute__((noinline, used)) static void *" name \
    "(void *d, const void *s, __SIZE_TYPE__ n)\n"
    static const char header[] = FUNCTION("f_one_called") BODY("100") FUNCTION("f_two_called")
        BODY("1000") FUNCTION("f_copy_called") BODY("10000") FUNCTION("f_copy_called_not")
            BODY("100000") FUNCTION("f_usable") BODY("100000") FUNCTION("fcalled")
                BODY("100000") "static inline void *f(void *d, const void *s, __SIZE_TYPE__ n)\n"
                               "{ return f_copy_called(d, s, n); }\n";
    struct uc_subject u[UC_FORM_COUNT];
    struct uc_object object;
    char why[256] = "";

    need("cc");
    assert_int_equal(uc_build_header_forms(header, "f", "x", false, u, &object, why, sizeof(why)),
                     0);
    for (int i = 0; i < UC_FORM_COUNT; i++) {
        /* two functions and the ladder, each with its 4 or 8 bytes around; the called forms have a
         * jump or call of the ladder in a function of their own besides */
        assert_true(u[i].code.strategy >= 1108 && u[i].code.strategy <= 1116);
        long ladder = u[i].code.dispatch - 10000;
        assert_true(ladder >= 4 && ladder <= (i == UC_INLINE ? 8 : 8 + 32));
        assert_true(i == UC_INLINE || ladder > 8);
    }
    assert_int_equal(u[UC_INLINE].code.site, 5);
    uc_object_unload(&object);
}

/* What nm prints of the object: a line a function, with its size. */
static struct {
    char name[100];
    long bytes;
} listed[8192];
static size_t listed_n;

static void read_nm(void)
{
    char command[100], kind;

    listed_n = 0;
    snprintf(command, sizeof(command), "nm -S --defined-only %s", kept);
    FILE *p = popen(command, "r");
    char line[300];
    while (p && fgets(line, sizeof(line), p) && listed_n < 8192)
        listed_n += sscanf(line, "%*x %lx %c %99s", (unsigned long *)&listed[listed_n].bytes, &kind,
                           listed[listed_n].name) == 3;
    assert_int_equal(pclose(p), 0);
    assert_true(listed_n > 10 && listed_n < 8192);
}

/* A function with its parts, which are called <function>.<something>. */
static long nm_bytes(const char *function)
{
    size_t n = strlen(function);
    long sum = 0;

    for (size_t i = 0; i < listed_n; i++)
        if (!strncmp(listed[i].name, function, n) &&
            (!listed[i].name[n] || listed[i].name[n] == '.'))
            sum += listed[i].bytes;
    return sum;
}

/* The bytes of the instructions that objdump prints of a function. */
static long objdump_bytes(const char *function)
{
    return number(
        "objdump -d -w --disassemble=%s %s | grep -P '^ +[0-9a-f]+:\\t' | cut -f2 | wc -w",
        function, kept);
}

/* What the compiler moves out of a function, since it is seldom run, belongs to it. */
static void cold_parts_are_counted(void **state)
{
    static const char header[] =
        "__attribute__((noinline, cold)) static void f_seldom(void) { __asm__ volatile(\"nop\"); }\n"
        "static inline void *f(void *d, const void *s, __SIZE_TYPE__ n)\n"
        "{ if (n == 12345) { f_seldom(); f_seldom(); f_seldom(); }\n"
        "  __asm__ volatile(\"nop\" : : \"r\"(s), \"r\"(n) : \"memory\"); return d; }\n";
    struct uc_subject u[UC_FORM_COUNT];
    struct uc_object object;
    char why[256] = "", version[200];

    need("cc");
    need("nm");
    setenv("CC", keeper, 1);
    int rc = uc_build_header_forms(header, "f", "x", false, u, &object, why, sizeof(why));
    uc_build_compiler_version(version, sizeof(version));
    unsetenv("CC");
    assert_int_equal(rc, 0);
    read_nm();
    assert_int_equal(u[UC_CALLED].code.dispatch, nm_bytes("uc_called_header"));
    assert_int_equal(u[UC_INLINE].code.site,
                     nm_bytes("uc_site_inlined_header") - nm_bytes("uc_site_none"));
    if (nm_bytes("uc_site_inlined_header.cold")) /* gcc's name */
        assert_true(u[UC_INLINE].code.site > nm_bytes("uc_site_inlined_header.cold"));
    else
        printf("# %s splits no function\n", version);
    uc_object_unload(&object);
}

static void bytes_are_those_of_nm_and_objdump(void **state)
{
    const struct ucopy_strategy *s[MOST];
    static struct uc_subject u[UC_FORM_COUNT * MOST];
    struct uc_object object;
    char why[256] = "";
    size_t n = some_strategies(s, 3, false);

    need("cc");
    need("nm");
    need("objdump");
    setenv("CC", keeper, 1);
    int rc = uc_build_strategy_forms(s, n, u, &object, why, sizeof(why));
    unsetenv("CC");
    if (rc)
        fail_msg("%d: %s", rc, why);
    read_nm();
    long none = nm_bytes("uc_site_none");
    assert_true(none > 0);
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < UC_FORM_COUNT; k++) {
            const struct uc_subject *x = &u[UC_FORM_COUNT * i + (size_t)k];
            char function[100];
            snprintf(function, sizeof(function), "uc_site_%s_%s", form_word[k], s[i]->name);
            long site = nm_bytes(function);
            assert_int_equal(x->code.site, site - none);
            if (i % 4 == 0) /* these take a while */
                assert_int_equal(objdump_bytes(function), site);
            snprintf(function, sizeof(function), "uc_called_%s", s[i]->name);
            long once = k == UC_INLINE ? 0 : nm_bytes(function);
            bool dispatch = s[i]->flags & UCOPY_DISPATCH;
            assert_int_equal(x->code.dispatch, dispatch ? once : 0);
            assert_int_equal(x->code.strategy, dispatch ? 0 : once);
            assert_int_equal(x->min, s[i]->min);
            assert_int_equal(x->max, s[i]->max);
        }
    uc_object_unload(&object);
}

/* ---- what they do ---- */

static void copies(const struct uc_subject *u, uc_loop *loop, size_t n)
{
    static char src[600], dst[600];
    struct uc_call call = {(unsigned)n, 0, 0, 0, dst + 11, src + 5};

    for (size_t i = 0; i < sizeof(src); i++) {
        src[i] = (char)(i * 7 + n);
        dst[i] = 'x';
    }
    loop(u->fn, &call, 1, dst);
    for (size_t i = 0; i < sizeof(dst); i++)
        if (dst[i] != (i >= 11 && i < 11 + n ? src[i - 6] : 'x'))
            fail_msg("%s, form %s, %zu bytes: dst[%zu] is wrong", u->name, uc_form_name[u->form], n,
                     i);
}

static void every_form_copies(void **state)
{
    static const size_t size[] = {0, 1, 3, 8, 17, 64, 65, 256, 511};
    const struct ucopy_strategy *s[MOST];
    static struct uc_subject u[UC_FORM_COUNT * MOST];
    struct uc_object object;
    char why[256] = "";
    size_t n = some_strategies(s, 1, true);

    need("cc");
    assert_int_equal(uc_build_strategy_forms(s, n, u, &object, why, sizeof(why)), 0);
    for (size_t i = 0; i < UC_FORM_COUNT * n; i++)
        for (size_t k = 0; k < sizeof(size) / sizeof(size[0]); k++) {
            uc_loop *const loop[] = {u[i].loops->none, u[i].loops->read, u[i].loops->wait,
                                     u[i].cold->none,  u[i].cold->read,  u[i].cold->wait};
            for (size_t l = 0; l < 6; l++)
                if (size[k] >= u[i].min && size[k] <= u[i].max)
                    copies(&u[i], loop[l], size[k]);
        }
    uc_object_unload(&object);
}

/* Up to the limit and not one byte beyond; the called form knows no limit. */
static void the_check_refuses(void **state)
{
    const struct ucopy_strategy *s = ucopy_find("rep_movsb");
    struct uc_subject u[UC_FORM_COUNT];
    struct uc_object object;
    char why[256] = "", from[40] = "what is copied", to[40] = "";
    struct uc_call call = {15, 0, 0, 0, to, from};

    need("cc");
    assert_int_equal(uc_build_strategy_forms(&s, 1, u, &object, why, sizeof(why)), 0);
    const struct uc_forms *f = dlsym(object.handle, "uc_forms_rep_movsb");
    assert_non_null(f);
    for (unsigned long over = 0; over < 2; over++)
        for (int cold = 0; cold < 2; cold++)
            for (int k = 0; k < UC_FORM_COUNT; k++) {
                *f->limit = (unsigned long)from + 15 - over;
                memset(to, 0, sizeof(to));
                (cold ? u[k].cold : u[k].loops)->none(u[k].fn, &call, 1, to);
                assert_string_equal(to, over && k == UC_CHECKED ? "" : from);
            }
    uc_object_unload(&object);
}

/* ---- what is refused ---- */

static void refused_text_is_told(void **state)
{
    struct uc_subject u[UC_FORM_COUNT];
    struct uc_object object;
    char why[256] = "";
    size_t before = left_over();

    need("cc");
    assert_int_equal(
        uc_build_header_forms("this is no C", "f", "x", false, u, &object, why, sizeof(why)),
        -EINVAL);
    assert_non_null(strstr(why, "cc fails: "));
    assert_null(object.handle);
    assert_null(object.image);
    setenv("CC", "/nowhere/cc", 1);
    assert_int_equal(uc_build_header_forms("", "f", "x", false, u, &object, why, sizeof(why)),
                     -ENOENT);
    unsetenv("CC");
    assert_string_equal(why, "no compiler: '/nowhere/cc' cannot be run");
    assert_int_equal(left_over(), before);
}

static void count_names(void *ctx, const char *name, size_t bytes)
{
    *(size_t *)ctx += strlen(name) > 0;
}

/* Files cut off and files with wrong bytes: an answer, and nothing read outside. */
static void broken_objects_are_survived(void **state)
{
    const struct ucopy_strategy *s = ucopy_find("rep_movsb");
    struct uc_subject u[UC_FORM_COUNT];
    struct uc_object object;
    struct uc_rng r = {1};
    char why[256] = "";
    size_t whole = 0, n = 0;

    need("cc");
    assert_int_equal(uc_build_strategy_forms(&s, 1, u, &object, why, sizeof(why)), 0);
    assert_int_equal(uc_symbols_functions(object.image, object.bytes, count_names, &whole), 0);
    assert_true(whole > 10);
    assert_int_equal(uc_symbols_functions("", 0, count_names, &n), -ENOEXEC);
    assert_int_equal(uc_symbols_functions(object.image, object.bytes / 2, count_names, &n),
                     -ENOEXEC);
    for (int i = 0; i < 2000; i++) {
        size_t bytes = i % 2 ? object.bytes : uc_rng_below(&r, object.bytes);
        char *copy = malloc(bytes ? bytes : 1); /* of its own size, for the sanitizer */
        memcpy(copy, object.image, bytes);
        /* the file's head, or the table of sections at its end */
        size_t from = i % 4 == 1 ? 0 : bytes > 4096 ? bytes - 4096 : 0;
        for (int k = 0; k < 8 && bytes; k++)
            copy[from + uc_rng_below(&r, bytes - from < 64 || i % 4 == 1 ? (bytes < 64 ? bytes : 64)
                                                                         : bytes - from)] =
                (char)uc_rng_next(&r);
        int rc = uc_symbols_functions(copy, bytes, count_names, &n);
        assert_true(rc == 0 || rc == -ENOEXEC);
        free(copy);
    }
    uc_object_unload(&object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_of_a_known_copy),
        cmocka_unit_test(bytes_of_a_ladder),
        cmocka_unit_test_setup_teardown(cold_parts_are_counted, make_keeper, remove_keeper),
        cmocka_unit_test_setup_teardown(bytes_are_those_of_nm_and_objdump, make_keeper,
                                        remove_keeper),
        cmocka_unit_test(every_form_copies),
        cmocka_unit_test(the_check_refuses),
        cmocka_unit_test(refused_text_is_told),
        cmocka_unit_test(broken_objects_are_survived),
    };
    return cmocka_run_group_tests(tests, make_temporary, remove_temporary);
}
