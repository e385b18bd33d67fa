/* The committed profiles: whole, under 1 MB, and each header what emit makes of its profile. A
 * profile whose strategies have changed since is named as stale, and its header stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "emit/emit.h"

#define MOST_BYTES 1000000

static char *emit(const struct uc_profile *p)
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

static void check(const char *json)
{
    static struct uc_profile p;
    char header[512], stem[UC_STEM], why[256] = "", *text, *committed;
    size_t bytes;

    if (uc_profile_read(json, &p, why, sizeof(why)))
        fail_msg("%s: %s", json, why);
    assert_true(p.complete);
    assert_false(p.digest_differs);
    assert_int_equal(uc_read_file(json, 1 << 24, &text, &bytes), 0);
    free(text);
    assert_true(bytes < MOST_BYTES);
    uc_profile_stem(&p, stem, sizeof(stem));
    assert_non_null(strstr(json, stem));
    snprintf(header, sizeof(header), "%.*s.h", (int)(strlen(json) - strlen(".json")), json);
    assert_int_equal(uc_read_file(header, 1 << 20, &committed, NULL), 0);
    const char *stale = uc_profile_stale(&p);
    if (stale) {
        printf("# %s is stale: %s has changed\n", json, stale);
    } else {
        text = emit(&p);
        if (strcmp(text, committed) != 0)
            fail_msg("%s is not what emit makes of its profile", header);
        free(text);
    }
    free(committed);
    uc_profile_free(&p);
}

static void committed_headers_are_what_emit_makes(void **state)
{
    char pattern[512];
    glob_t g;

    assert_non_null(getenv("UCOPY_SOURCE"));
    snprintf(pattern, sizeof(pattern), "%s/profiles/*.json", getenv("UCOPY_SOURCE"));
    assert_int_equal(glob(pattern, 0, NULL, &g), 0);
    for (size_t i = 0; i < g.gl_pathc; i++)
        check(g.gl_pathv[i]);
    globfree(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(committed_headers_are_what_emit_makes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
