/* Size distributions: the committed fleet mix against what was published, files, cuts and draws. */
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
#include <unistd.h>

#include "measure/weights.h"
#include "measure/sizes.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static void near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("got %.10g, want %.10g", got, want);
}

static int read_text(const char *text, struct uc_sizes *s, unsigned *line, const char **why)
{
    char path[] = "/tmp/ucopy-sizes-XXXXXX.txt";
    int fd = mkstemps(path, 4);
    FILE *f = fdopen(fd, "w");

    fputs(text, f);
    fclose(f);
    int rc = uc_sizes_read(path, s, line, why);
    unlink(path);
    return rc;
}

static void check_sane(const struct uc_sizes *s)
{
    double sum = 0;

    for (size_t i = 0; i < s->n; i++) {
        sum += s->share[i];
        assert_true(s->share[i] > 0);
        near(s->cum[i], sum, 1e-9);
        assert_true(!i || s->size[i - 1] < s->size[i]);
    }
    near(sum, 1, 1e-9);
    assert_true(s->cum[s->n - 1] == 1);
}

static void published(const char *file, char *path, size_t cap)
{
    const char *data = getenv("UCOPY_TEST_DATA");

    snprintf(path, cap, "%s/distributions/%s", data ? data : "", file);
    if (!data || access(path, R_OK)) {
        print_message("skipped: UCOPY_TEST_DATA has no distributions/%s\n", file);
        skip();
    }
}

/* The figures in the source are those of the published file: to 4 KiB size by size, above by
 * octaves. */
static void fleet_is_as_published(void **state)
{
    char path[4096];
    struct uc_sizes all, cut, fleet;
    unsigned line;
    const char *why;

    published("Memcpy_Fleet.csv", path, sizeof(path));
    assert_int_equal(uc_sizes_read(path, &all, &line, &why), 0);
    assert_string_equal(all.name, "Memcpy_Fleet");
    check_sane(&all);
    assert_int_equal(uc_sizes_cut(&all, 0, 4096, &cut), 0);
    assert_int_equal(uc_sizes_fleet(&fleet, 4096), 0);
    assert_int_equal(fleet.n, cut.n);
    for (size_t i = 0; i < cut.n; i++) {
        assert_int_equal(fleet.size[i], cut.size[i]);
        near(fleet.share[i] / cut.share[i], 1, 1e-4);
    }
    for (size_t top = 8192; top <= 262144; top *= 2) {
        double share = 0;
        for (size_t i = 0; i < all.n; i++)
            share += all.size[i] > top / 2 && all.size[i] <= top ? all.share[i] : 0;
        near(uc_fleet_share(top / 2 + 1, top), share, 1e-8);
    }
    uc_sizes_free(&all);
    uc_sizes_free(&cut);
    uc_sizes_free(&fleet);
}

static void every_published_distribution_is_read(void **state)
{
    static const char *const name[] = {"Memcpy_0", "Memcpy_1", "Memcpy_3", "Memcpy_5", "Memcpy_7"};

    for (size_t i = 0; i < COUNT(name); i++) {
        char path[4096], file[32];
        struct uc_sizes s;
        unsigned line;
        const char *why;
        snprintf(file, sizeof(file), "%s.csv", name[i]);
        published(file, path, sizeof(path));
        assert_int_equal(uc_sizes_read(path, &s, &line, &why), 0);
        assert_string_equal(s.name, name[i]);
        assert_true(s.n > 100);
        check_sane(&s);
        uc_sizes_free(&s);
    }
}

static void fleet_cuts(void **state)
{
    for (size_t max = 0; max <= 65536; max = max ? 4 * max : 1) {
        struct uc_sizes s;
        assert_int_equal(uc_sizes_fleet(&s, max), 0);
        check_sane(&s);
        assert_true(s.size[s.n - 1] <= max);
        assert_string_equal(s.name, "fleet");
        uc_sizes_free(&s);
    }
    near(uc_fleet_share(0, SIZE_MAX), 1, 1e-12);
    near(uc_fleet_share(0, 63) + uc_fleet_share(64, SIZE_MAX), 1, 1e-12);
    near(uc_fleet_share(5, 4), 0, 0);
    /* Half of all copies are of 16 bytes or fewer, nearly all of 1 KiB or fewer. */
    assert_true(uc_fleet_share(0, 16) > .5 && uc_fleet_share(0, 1024) > .95);
}

static void both_spellings(void **state)
{
    struct uc_sizes s;
    unsigned line;
    const char *why;

    assert_int_equal(read_text("8:0.5,0:0.25,1k:0.25\n0:1,64:nonsense\n", &s, &line, &why), 0);
    assert_int_equal(s.n, 3);
    assert_int_equal(s.size[2], 1024);
    near(s.share[1], .5, 1e-12);
    check_sane(&s);
    uc_sizes_free(&s);
    assert_int_equal(read_text("# mine\n\n64\n8,3\r\n 64 \n16,0\n", &s, &line, &why), 0);
    assert_int_equal(s.n, 2);
    near(s.share[0], .6, 1e-12);
    check_sane(&s);
    uc_sizes_free(&s);
}

static void files_refused(void **state)
{
    static const struct {
        const char *text;
        unsigned line;
        const char *says;
    } bad[] = {
        {"", 1, "no size with a share"},
        {"8:0,9:0\n", 1, "no size with a share"},
        {"8:0.5,9\n", 1, "not size:probability"},
        {"8:0.5,x:1\n", 1, "not a size"},
        {"8:-0.5\n", 1, "not a probability"},
        {"8:nan\n", 1, "not a probability"},
        {"8:inf\n", 1, "not a probability"},
        {"8:1e999\n", 1, "not a probability"},
        {"8:\n", 1, "not a probability"},
        {"8\n9,many\n", 2, "not a count"},
        {"8\n-9\n", 2, "not a size"},
        {"8\n1.5\n", 2, "not a size"},
        {"2G\n", 1, "above 1 GiB"},
        {"8\n9:1\n", 2, "after plain sizes"},
        {"1:1e308,2:1e308\n", 1, "too large to be added up"},
    };

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct uc_sizes s;
        unsigned line = 99;
        const char *why = NULL;
        int rc = read_text(bad[i].text, &s, &line, &why);
        if (rc != -EINVAL || line != bad[i].line || !why || !strstr(why, bad[i].says))
            fail_msg("%s\nrc %d, line %u, \"%s\"", bad[i].text, rc, line, why ? why : "");
    }
    struct uc_sizes s;
    unsigned line;
    const char *why;
    assert_int_equal(uc_sizes_read("/nonexistent", &s, &line, &why), -ENOENT);
}

static void cut_and_draw(void **state)
{
    struct uc_sizes s, cut;
    struct uc_rng r = {1};
    unsigned line, count[4] = {0};
    const char *why;

    assert_int_equal(read_text("1:0.1,2:0.2,3:0.3,64:0.4", &s, &line, &why), 0);
    assert_int_equal(uc_sizes_cut(&s, 2, 63, &cut), 0);
    assert_int_equal(cut.n, 2);
    near(cut.share[0], .4, 1e-12);
    assert_int_equal(uc_sizes_cut(&s, 4, 63, &(struct uc_sizes){0}), -EINVAL);
    for (int i = 0; i < 100000; i++) {
        size_t x = uc_sizes_draw(&s, &r);
        for (size_t k = 0; k < 4; k++)
            count[k] += x == s.size[k];
    }
    for (size_t k = 0; k < 4; k++)
        near(count[k] / 1e5, s.share[k], 5 * sqrt(.25 / 1e5));
    uc_sizes_free(&s);
    uc_sizes_free(&cut);
}

/* The weights of sizes: every octave the same, size 0 as one more, all together 1. */
static void octaves_weigh_the_same(void **state)
{
    const struct uc_weights *w = &uc_weights_default;

    near(uc_size_weight(w, 0, 0), 1 / 27., 1e-12);
    for (unsigned k = 0; k < 26; k++)
        near(uc_size_weight(w, (size_t)1 << k, ((size_t)2 << k) - 1), 1 / 27., 1e-12);
    near(uc_size_weight(w, 0, (size_t)64 << 20), 1, 1e-12);
    near(uc_size_weight(w, ((size_t)64 << 20) + 1, SIZE_MAX), 0, 1e-12);
    near(uc_size_weight(w, 9, 8), 0, 0);
    /* Within an octave the fleet's share decides: 8 bytes are drawn 8 times as often as 11. */
    near(uc_size_weight(w, 8, 8) / uc_size_weight(w, 11, 11),
         uc_fleet_share(8, 8) / uc_fleet_share(11, 11), 1e-6);
    near(uc_size_weight(w, 8192, 11584), 1 / 54., 1e-4); /* half an octave, on the logarithm */
}

static void weights_of_a_distribution(void **state)
{
    struct uc_weights w = uc_weights_default;
    struct uc_sizes s;
    unsigned line;
    const char *why;

    assert_int_equal(read_text("1:0.1,2:0.2,3:0.3,64:0.4", &s, &line, &why), 0);
    w.sizes = &s;
    near(uc_size_weight(&w, 0, 0), 0, 0);
    near(uc_size_weight(&w, 2, 3), .5, 1e-12);
    near(uc_size_weight(&w, 64, SIZE_MAX), .4, 1e-12);
    uc_sizes_free(&s);
}

static void weights_of_one_consumer(void **state)
{
    struct uc_weights w = uc_weights_default;

    assert_int_equal(uc_weights_consumer(&w, UC_READ), 0);
    assert_string_equal(w.name, "consumer:read");
    assert_true(w.consumer_small[UC_READ] == 1 && w.consumer_small[UC_NONE] == 0);
    assert_true(w.consumer_large[UC_SCAN] == 1 && w.consumer_large[UC_NONE] == 0);
    assert_int_equal(uc_weights_consumer(&w, UC_EVICT), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fleet_is_as_published),
        cmocka_unit_test(every_published_distribution_is_read),
        cmocka_unit_test(fleet_cuts),
        cmocka_unit_test(both_spellings),
        cmocka_unit_test(files_refused),
        cmocka_unit_test(cut_and_draw),
        cmocka_unit_test(octaves_weigh_the_same),
        cmocka_unit_test(weights_of_a_distribution),
        cmocka_unit_test(weights_of_one_consumer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
