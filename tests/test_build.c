/* Compiling and loading a header: the compiler that is there, the one that is not, and text that it
 * refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/build.h"

static const char header[] = "static unsigned long seen;\n"
                             "static inline void *f(void *d, const void *s, __SIZE_TYPE__ n)\n"
                             "{ seen += n; return n ? __builtin_memcpy(d, s, n) : d; }\n";

/* Its own folder of temporary files: other tests may be compiling at the same time. */
static char temporary[] = "/tmp/ucopy-build-tmp-XXXXXX";

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

static void compiles_and_runs(void **state)
{
    struct uc_built b;
    char why[256] = "", from[40] = "what is copied", to[40] = "";
    size_t before = left_over();
    struct uc_call call = {15, 0, 0, 0, to, from};

    if (system("cc --version >/dev/null 2>&1") != 0)
        skip();
    assert_int_equal(uc_build_header(header, "f", "made up", false, &b, why, sizeof(why)), 0);
    assert_string_equal(b.called.name, "made up");
    assert_ptr_equal(b.called.fn(to, from, 15), to);
    assert_string_equal(to, from);
    memset(to, 0, sizeof(to));
    assert_int_equal(b.inlined.form, UC_INLINE);
    assert_true(b.inlined.loops->none(NULL, &call, 1, to) > 0);
    assert_string_equal(to, from);
    uc_built_unload(&b);
    assert_int_equal(left_over(), before);
}

static void refused_text_is_told(void **state)
{
    struct uc_built b;
    char why[256] = "";
    size_t before = left_over();

    if (system("cc --version >/dev/null 2>&1") != 0)
        skip();
    assert_int_equal(uc_build_header("this is no C", "f", "x", false, &b, why, sizeof(why)),
                     -EINVAL);
    assert_non_null(strstr(why, "cc fails: "));
    assert_null(b.handle);
    assert_int_equal(left_over(), before);
}

static void no_compiler_is_told(void **state)
{
    struct uc_built b;
    char why[256] = "", version[64] = "x";

    setenv("CC", "/nowhere/cc -O1", 1);
    assert_int_equal(uc_build_header(header, "f", "x", false, &b, why, sizeof(why)), -ENOENT);
    assert_string_equal(why, "no compiler: '/nowhere/cc' cannot be run");
    assert_string_equal(uc_build_compiler_version(version, sizeof(version)), "");
    unsetenv("CC");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiles_and_runs),
        cmocka_unit_test(refused_text_is_told),
        cmocka_unit_test(no_compiler_is_told),
    };
    return cmocka_run_group_tests(tests, make_temporary, remove_temporary);
}
