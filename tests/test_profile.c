/* Profiles as JSON: written, read, refused. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/rng.h"
#include "made_up.h"

static char folder[] = "/tmp/test_profile.XXXXXX";
static char path[sizeof folder + 16];

static int make_folder(void **state)
{
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/p.json", folder);
    return 0;
}

static int remove_folder(void **state)
{
    unlink(path);
    return rmdir(folder);
}

static void add_cells(struct uc_profile *p, size_t n, struct uc_rng *rng)
{
    static const char *const names[] = {"rep_movsb", "unrolled", "sse2_loop_x4", "nobodys"};

    p->cells.has_interval = true;
    for (size_t i = 0; i < n; i++) {
        struct uc_cell c = uc_cell_default(names[i / 64 % 4], i % 64 * 8);
        c.consumer = (enum uc_consumer)(i / 256 % UC_CONSUMER_COUNT);
        c.src_state = (enum uc_state)(i / 1536 % UC_STATE_COUNT);
        c.dst_align = (int)(i / 9216) - 1;
        c.cost = exp(8 * uc_rng_unit(rng));
        c.lo = c.cost * (1 - 0.1 * uc_rng_unit(rng));
        c.hi = c.cost * (1 + 2 * uc_rng_unit(rng));
        c.n = 7;
        c.mapping_spread = 1 + uc_rng_unit(rng);
        c.code_ratio = i % 5 ? 0 : 1 + uc_rng_unit(rng);
        assert_int_equal(uc_cells_add(&p->cells, &c), 0);
    }
}

/* Everything that a profile can hold. */
static struct uc_profile *full_profile(size_t cells)
{
    struct uc_profile *p = made_up_profile(UCOPY_USER, "fleet");
    struct uc_profile_entry *e = &p->entry[UC_COPY];
    struct uc_rng rng = {1};
    struct uc_segment *s;

    p->has_caches = true;
    p->caches.l1d = (struct uc_cache){{49152, 0, 49152, 32768}, 49152, UC_BY_SYSFS, false};
    p->caches.l2 = (struct uc_cache){{0}, 262144, UC_BY_FALLBACK, true};
    p->caches.line = 64;
    snprintf(p->cpu.core_kind, sizeof p->cpu.core_kind, "p");
    p->method = json_pack("{si si sf sn}", "version", 1, "seed", 7, "tsc_hz", 2.69e9, "microcode");
    p->weights = json_pack("{ss s[fff]}", "name", "default", "mix", 1.0 / 3, 0.1, 0.5);
    p->validation = json_pack("{ss s{sf}}", "libc", "glibc 2.36", "libc_gain", "geomean", 1.304);
    p->syscalls = json_pack("{sf}", "read", 12.5);
    e->counters = json_pack("{sss[{ss}]}", "pmu", "skl", "segments", "text", "20.0 cycles a call");
    s = made_up_segment(p, UC_COPY, 64, "unrolled");
    s->lo = 60;
    s->hi = 70;
    s->free_lo = 56;
    s->free_hi = 72;
    s->margin = 1.0 / 3 + 1;
    s = made_up_segment(p, UC_COPY, 2048, "sse2_loop_x4");
    s->guard = (struct uc_guard){"page_distance", 1, 63, "unrolled"};
    s->tie = true;
    s = made_up_segment(p, UC_COPY, SIZE_MAX, "rep_movsb");
    snprintf(s->runner_up, sizeof s->runner_up, "%s", "");
    s->margin = s->margin_lo = s->margin_hi = NAN;
    e->ladder.loss = 0.0123456;
    e->inline_baseline = (struct uc_inline_part){"unrolled", 64, 0.8};
    e->inline_wide = (struct uc_inline_part){"short_fold_avx512_512", 64, 0.7};
    e->barred[0] = (struct uc_barred){"rep_movsb", 64, SIZE_MAX, 3.4567891, "worst distance"};
    e->barred_n = 1;
    e->anomaly[0] = (struct uc_anomaly){"unrolled", 4032, 3.1};
    e->anomaly_n = 1;
    e->load = json_pack("{si s[]}", "threads", 2, "segments");
    made_up_segment(p, UC_NOCACHE, SIZE_MAX, "movnti");
    add_cells(p, cells, &rng);
    assert_int_equal(uc_profile_hash_strategies(p), 0);
    return p;
}

static char *json_of(const struct uc_profile *p)
{
    char *text = uc_profile_to_json(p);
    assert_non_null(text);
    return text;
}

static int read_text(const char *text, size_t len, struct uc_profile *p, char why[256])
{
    assert_int_equal(uc_write_file(path, text, len), 0);
    return uc_profile_read(path, p, why, 256);
}

static void read_good(const char *text, struct uc_profile *p)
{
    char why[256];
    int rc = read_text(text, strlen(text), p, why);
    if (rc)
        fail_msg("%d: %s", rc, why);
}

/* Text of a small full profile, with the first `from` made `to`. */
static char *edited(const char *from, const char *to)
{
    struct uc_profile *p = full_profile(64);
    char *text = json_of(p), *at = strstr(text, from), *out = NULL;

    if (!at)
        fail_msg("no %s in the text", from);
    assert_true(asprintf(&out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) > 0);
    free(text);
    made_up_free(p);
    return out;
}

static void a_second_writing_gives_the_same_text(void **state)
{
    struct uc_profile *p = full_profile(3000), again;
    char *first = json_of(p), *second;

    read_good(first, &again);
    assert_false(again.digest_differs);
    second = json_of(&again);
    assert_string_equal(first, second);
    free(first);
    free(second);
    uc_profile_free(&again);
    made_up_free(p);
}

static void row_order_of_cells_means_nothing(void **state)
{
    struct uc_profile *p = full_profile(700);
    char *first = json_of(p), *second;

    for (size_t i = 0; i < p->cells.n / 2; i++) {
        struct uc_cell swap = p->cells.v[i];
        p->cells.v[i] = p->cells.v[p->cells.n - 1 - i];
        p->cells.v[p->cells.n - 1 - i] = swap;
    }
    second = json_of(p);
    assert_string_equal(first, second);
    free(first);
    free(second);
    made_up_free(p);
}

static void what_was_written_is_read(void **state)
{
    struct uc_profile *p = full_profile(64), q;
    char *text = json_of(p);

    read_good(text, &q);
    assert_string_equal(q.tool, "ucopy-tune " UC_VERSION);
    assert_string_equal(q.variant, "fleet");
    assert_memory_equal(q.cpu.key, p->cpu.key, sizeof q.cpu.key);
    assert_int_equal(q.cpu.isa, p->cpu.isa);
    assert_true(q.cpu.hypervisor);
    assert_int_equal(q.caches.l1d.bytes, 49152);
    assert_int_equal(q.caches.l1d.by[UC_BY_CHASE], 32768);
    assert_int_equal(q.caches.l2.source, UC_BY_FALLBACK);
    assert_true(q.caches.l2.disagree);
    assert_int_equal(q.caches.l3.bytes, 0);
    const struct uc_profile_entry *e = &q.entry[UC_COPY];
    assert_int_equal(e->ladder.n, 3);
    assert_int_equal(e->ladder.segment[0].max, 64);
    assert_int_equal(e->ladder.segment[0].lo, 60);
    assert_int_equal(e->ladder.segment[0].free_hi, 72);
    assert_true(e->ladder.segment[1].tie);
    assert_string_equal(e->ladder.segment[1].guard.otherwise, "unrolled");
    assert_int_equal(e->ladder.segment[1].guard.hi, 63);
    assert_true(e->ladder.segment[2].max == SIZE_MAX);
    assert_false(e->ladder.segment[2].bracketed);
    assert_string_equal(e->ladder.segment[2].runner_up, "");
    assert_int_equal(e->ladder.segment[2].measured_to, 64 << 20);
    assert_string_equal(e->inline_wide.strategy, "short_fold_avx512_512");
    assert_int_equal(e->inline_baseline.max, 64);
    assert_true(e->barred[0].to == SIZE_MAX);
    assert_int_equal(e->anomaly[0].size, 4032);
    assert_non_null(e->load);
    assert_true(q.entry[UC_NOCACHE].present);
    assert_int_equal(q.cells.n, 64);
    free(text);
    uc_profile_free(&q);
    made_up_free(p);
}

static void costs_keep_four_digits_and_intervals_a_tenth_per_cent(void **state)
{
    struct uc_profile *p = full_profile(64), q;
    char *text = json_of(p);

    read_good(text, &q);
    for (size_t i = 0; i < 64; i++) {
        const struct uc_cell *a = p->cells.v + i, *b = q.cells.v + i;
        assert_int_equal(a->size, b->size);
        assert_true(fabs(b->cost / a->cost - 1) < 5.1e-4);
        assert_true(fabs(b->lo / a->lo - 1) < 2e-3);
        assert_true(fabs(b->hi / a->hi - 1) < 2e-3);
        assert_int_equal(b->n, 7);
    }
    free(text);
    uc_profile_free(&q);
    made_up_free(p);
}

static void every_dimension_of_a_cell_is_kept(void **state)
{
    struct uc_profile *p = made_up_profile(UCOPY_KERNEL, ""), q;
    struct uc_cell c = uc_cell_default("x", 0);

    made_up_segment(p, UC_COPY, SIZE_MAX, "rep_movsb");
    c.cost = c.lo = c.hi = 5;
    c.role = UCOPY_LIMIT;
    c.size_hi = 256;
    c.src_state = UC_L2;
    c.dst_state = UC_OTHER_CORE;
    c.consumer = UC_EVICT;
    c.mix = UC_BAND;
    c.order = UC_LEARNED;
    c.form = UC_CHECKED;
    c.code = UC_COLD;
    c.entry = UC_NOCACHE;
    c.environment = UCOPY_KERNEL;
    c.dst_align = 3;
    c.src_align = 0;
    c.page_distance = 4095;
    c.dst_end = (struct uc_end){UC_END_UNTOUCHED, 0};
    c.src_end = (struct uc_end){UC_END_UNMAPPED, 40};
    c.threads = 2;
    c.code_placement = 1;
    c.n = 3;
    c.code_bytes = 77;
    c.code_ratio = 1.25;
    p->cells.unit = UC_TSC_TICKS;
    assert_int_equal(uc_cells_add(&p->cells, &c), 0);
    char *text = json_of(p);
    read_good(text, &q);
    assert_int_equal(q.cells.unit, UC_TSC_TICKS);
    assert_false(q.cells.has_interval);
    assert_memory_equal(&q.cells.v[0], &p->cells.v[0], sizeof c);
    free(text);
    uc_profile_free(&q);
    made_up_free(p);
}

static void keys_stand_in_the_fixed_order(void **state)
{
    static const char *const keys[] = {"format",  "tool",     "complete",   "environment",
                                       "variant", "cpu",      "caches",     "method",
                                       "weights", "entries",  "validation", "strategies",
                                       "cells",   "syscalls", "digest"};
    struct uc_profile *p = full_profile(0);
    char *text = json_of(p);
    json_t *root = json_loads(text, 0, NULL), *value;
    const char *key;
    size_t i = 0;

    json_object_foreach(root, key, value) assert_string_equal(key, keys[i++]);
    assert_int_equal(i, sizeof keys / sizeof *keys);
    json_decref(root);
    free(text);
    made_up_free(p);
}

static void absent_is_null(void **state)
{
    static const char *const keys[] = {"variant",    "cpu",        "caches", "method",  "weights",
                                       "validation", "strategies", "cells",  "syscalls"};
    struct uc_profile *p = made_up_profile(UCOPY_USER, "");

    p->has_cpu = false;
    made_up_segment(p, UC_COPY, SIZE_MAX, "rep_movsb");
    char *text = json_of(p);
    json_t *root = json_loads(text, 0, NULL);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_true(json_is_null(json_object_get(root, keys[i])));
    assert_true(json_is_null(json_object_get(json_object_get(root, "entries"), "nocache")));
    json_decref(root);
    free(text);
    made_up_free(p);
}

static void thirty_thousand_cells_stay_under_a_megabyte(void **state)
{
    struct uc_profile *p = full_profile(30000);
    char *text = json_of(p);

    assert_true(strlen(text) < 1000000);
    free(text);
    made_up_free(p);
}

static bool differs_after(const char *from, const char *to)
{
    struct uc_profile p;
    char *text = edited(from, to);

    read_good(text, &p);
    bool differs = p.digest_differs;
    free(text);
    uc_profile_free(&p);
    return differs;
}

static void the_digest_tells_edits(void **state)
{
    assert_true(differs_after("\"max\": 64", "\"max\": 65"));
    assert_true(differs_after("\"tie\": false", "\"tie\": true"));
    assert_true(differs_after("\"grids\"", "\"note\": 1, \"grids\""));
    assert_true(differs_after("\"digest\": \"", "\"digest\": \"none\", \"was\": \""));
    assert_false(differs_after("\"max\": 64", "\"max\"  :\n64"));
    assert_false(differs_after("\"syscalls\": {\"read\": 12.5}", "\"syscalls\": null"));
}

/* Made of the profile's own cells, kept as they are, and not there where no region is measured. */
static void slopes_are_kept(void **state)
{
    const struct uc_slope_options o = {32768, 262144, 0, UCOPY_USER};
    struct uc_profile *p = made_up_profile(UCOPY_USER, ""), again;
    double start, kib;

    made_up_segment(p, UC_COPY, SIZE_MAX, "rep_movsb");
    for (size_t n = 64; n <= 128; n *= 2) {
        struct uc_cell c = uc_cell_default("rep_movsb", n);
        c.cost = c.lo = c.hi = 4 + (double)n / 16;
        assert_int_equal(uc_cells_add(&p->cells, &c), 0);
    }
    assert_int_equal(uc_profile_set_slopes(p, &o), 0);
    assert_null(p->slopes);
    char *text = json_of(p);
    assert_null(strstr(text, "slopes"));
    free(text);

    struct uc_cell c = uc_cell_default("rep_movsb", 256);
    c.cost = c.lo = c.hi = 20;
    assert_int_equal(uc_cells_add(&p->cells, &c), 0);
    assert_int_equal(uc_profile_set_slopes(p, &o), 0);
    text = json_of(p);
    read_good(text, &again);
    assert_false(again.digest_differs);
    assert_int_equal(json_unpack(again.slopes, "{s:{s:{s:{s:F, s:F}, s:n}}}", "strategies",
                                 "rep_movsb", "l1", "start", &start, "per_kib", &kib, "l2"),
                     0);
    assert_true(start > 3.99 && start < 4.01 && kib > 63.9 && kib < 64.1);
    char *second = json_of(&again);
    assert_string_equal(text, second);
    free(second);
    free(text);
    uc_profile_free(&again);
    made_up_free(p);
}

static void unknown_keys_are_ignored(void **state)
{
    struct uc_profile p;
    char *text = edited("\"tie\": false", "\"later\": [1, {}], \"tie\": false");

    read_good(text, &p);
    assert_int_equal(p.entry[UC_COPY].ladder.n, 3);
    free(text);
    uc_profile_free(&p);
}

static void refused(const char *from, const char *to, int rc, const char *reason)
{
    struct uc_profile p;
    char why[256], *text = edited(from, to);

    assert_int_equal(read_text(text, strlen(text), &p, why), rc);
    assert_string_equal(why, reason);
    free(text);
}

static void a_newer_format_is_refused(void **state)
{
    refused("\"format\": 1", "\"format\": 2", -ENOTSUP,
            "format: 2 is newer than this program reads (1)");
}

#define SEGMENT "{\"max\": 1, \"strategy\": \"x\", \"tie\": false, \"bracketed\": true},"
#define SIX_SEGMENTS SEGMENT SEGMENT SEGMENT SEGMENT SEGMENT SEGMENT

static void reasons_name_their_place(void **state)
{
    static const struct {
        const char *from, *to, *why;
    } rows[] = {
        {"\"max\": 64", "\"max\": \"64\"", "entries.copy.segments[0].max: not a number"},
        {"\"max\": 64", "\"max\": 64.5", "entries.copy.segments[0].max: not a whole number"},
        {"\"max\": 64", "\"max\": -64", "entries.copy.segments[0].max: out of range"},
        {"\"max\": 64", "\"max\": null", "entries.copy.segments[0].max: missing"},
        {"\"max\": 2048", "\"max\": 64", "entries.copy.segments[1].max: not above the one before"},
        {"\"max\": null", "\"max\": 4096",
         "entries.copy.segments[2].max: the last one must be null"},
        {"\"tie\": false", "\"tie\": 0", "entries.copy.segments[0].tie: not true or false"},
        {"\"page_distance\"", "\"moon\"", "entries.copy.segments[1].guard.test: not a known test"},
        {"\"lo\": 1, \"hi\": 63", "\"lo\": 9, \"hi\": 8",
         "entries.copy.segments[1].guard.hi: out of range"},
        {"[56, 72]", "[56]", "entries.copy.segments[0].free: not two numbers"},
        {"\"segments\": [", "\"segments\": [], \"old\": [", "entries.copy.segments: missing"},
        {"\"environment\": \"user\"", "\"environment\": \"moon\"",
         "environment: neither \"user\" nor \"kernel\""},
        {"\"variant\": \"fleet\"", "\"variant\": \"kernel\"",
         "variant: not a variant's name (small letters and digits)"},
        {"\"made-0f-01\"", "\"Made/Up\"", "cpu.key: not a CPU key such as amd-1a-02"},
        {"\"family\": 15", "\"family\": null", "cpu.family: missing"},
        {"\"source\": \"sysfs\"", "\"source\": \"moon\"",
         "caches.l1d.source: not a source of cache sizes"},
        {"\"method\": {", "\"method\": 1, \"old\": {", "method: not an object"},
        {"\"unit\": \"ns\"", "\"unit\": \"miles\"", "cells.unit: not a known word"},
        {"\"cost\": [", "\"cost\": [1,", "cells.groups[0].cost: not as long as its grid"},
        {"\"grid\": 0", "\"grid\": 1", "cells.groups[0].grid: out of range"},
        {"\"above\": [", "\"above\": \"\", \"old\": [", "cells.groups[0].above: not a number"},
        {"\"entries\"", "\"exits\"", "entries: missing"},
        {"\"segments\": [", "\"segments\": [" SIX_SEGMENTS SIX_SEGMENTS,
         "entries.copy.segments: more than 12"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        refused(rows[i].from, rows[i].to, -EINVAL, rows[i].why);
}

static void a_key_given_twice_is_refused(void **state)
{
    struct uc_profile p;
    char why[256], *text = edited("\"tie\": false", "\"tie\": false, \"tie\": true");

    assert_int_equal(read_text(text, strlen(text), &p, why), -EINVAL);
    assert_non_null(strstr(why, "duplicate"));
    free(text);
}

static void columns_of_one_value_are_that_value(void **state)
{
    char *text = edited("\"n\": 7", "\"n\": 8"); /* fails where it is not there */
    free(text);
}

static void what_is_no_profile_is_refused(void **state)
{
    static const char *const texts[] = {
        "", "[]", "1", "null", "{}", "{\"format\": 1}", "\xff", "{\"format\": 1, \"format\": 1}"};
    struct uc_profile p;
    char why[256];

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(read_text(texts[i], strlen(texts[i]), &p, why), -EINVAL);
        assert_true(strlen(why) > 0);
    }
    assert_int_equal(uc_profile_read("/nowhere/p.json", &p, why, sizeof why), -ENOENT);
    assert_string_equal(why, "");
}

static void deep_nesting_is_refused(void **state)
{
    char deep[2101], *text;
    struct uc_profile p;
    char why[256];

    memset(deep, '[', 1000);
    memset(deep + 1000, ']', 1000);
    deep[2000] = 0;
    assert_true(asprintf(&text, "{\"method\": {\"x\": %s}}", deep) > 0);
    assert_int_equal(read_text(text, strlen(text), &p, why), -EINVAL);
    assert_string_equal(why, "nested too deep");
    free(text);
}

static void a_huge_file_is_refused(void **state)
{
    struct uc_profile p;
    char why[256];
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

    assert_int_equal(ftruncate(fd, (off_t)17 << 20), 0);
    close(fd);
    assert_int_equal(uc_profile_read(path, &p, why, sizeof why), -EFBIG);
    assert_int_equal(truncate(path, 0), 0);
}

/* Whatever is read must be told from a profile or be one: no crash, and a reason. */
static void read_anything(const char *text, size_t len)
{
    struct uc_profile p;
    char why[256];
    int rc = read_text(text, len, &p, why);

    if (rc)
        assert_true(strlen(why) > 0);
    else
        free(json_of(&p));
    uc_profile_free(&p);
}

static void truncated_text_is_refused(void **state)
{
    char *text = edited("{", "{"), why[256];
    size_t len = strlen(text);
    struct uc_profile p;

    for (size_t n = 0; n < len - 2; n += 11)
        assert_int_equal(read_text(text, n, &p, why), -EINVAL);
    free(text);
}

static void mangled_bytes_do_no_harm(void **state)
{
    char *text = edited("{", "{");
    size_t len = strlen(text);
    static const char marks[] = "0123456789-.,:{}[]\"";
    struct uc_rng rng = {3};

    for (int i = 0; i < 1500; i++) {
        char saved[4];
        size_t at = uc_rng_below(&rng, len - 4);
        memcpy(saved, text + at, 4);
        for (size_t k = 0; k < 1 + uc_rng_below(&rng, 4); k++)
            text[at + k] = i % 2 ? (char)uc_rng_below(&rng, 256) : marks[uc_rng_below(&rng, 19)];
        read_anything(text, len);
        memcpy(text + at, saved, 4);
    }
    free(text);
}

/* Puts each wrong value into each place of the tree in turn. */
static void try_all(json_t *root, json_t *node)
{
    static const char *const wrong[] = {"null",  "true", "-1", "1e300", "9223372036854775807",
                                        "\"x\"", "[]",   "{}", "[[]]",  "{\"max\": 1}"};
    json_t *item;
    void *next;

    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
        size_t count = json_is_array(node) ? json_array_size(node) : json_object_size(node);
        void *iter = json_object_iter(node);
        for (size_t i = 0; i < count && i < 40; i++, iter = next) {
            json_t *value = json_loads(wrong[w], JSON_DECODE_ANY, NULL);
            next = iter ? json_object_iter_next(node, iter) : NULL;
            item = json_incref(iter ? json_object_iter_value(iter) : json_array_get(node, i));
            iter ? json_object_iter_set_new(node, iter, value) : json_array_set_new(node, i, value);
            char *text = json_dumps(root, 0);
            read_anything(text, strlen(text));
            free(text);
            iter ? json_object_iter_set_new(node, iter, item) : json_array_set_new(node, i, item);
        }
    }
}

static void walk(json_t *root, json_t *node)
{
    const char *key;
    json_t *item;
    size_t i;

    try_all(root, node);
    json_array_foreach(node, i, item) if (i < 3) walk(root, item);
    json_object_foreach(node, key, item) walk(root, item);
}

static void wrong_types_do_no_harm(void **state)
{
    struct uc_profile *p = full_profile(8);
    char *text = json_of(p);
    json_t *root = json_loads(text, 0, NULL);

    walk(root, root);
    json_decref(root);
    free(text);
    made_up_free(p);
}

static void a_header_stands_for_the_json_beside_it(void **state)
{
    struct uc_profile p;
    char header[sizeof path], why[256], *text = edited("{", "{");

    assert_int_equal(uc_write_file(path, text, strlen(text)), 0);
    snprintf(header, sizeof header, "%s/p.h", folder);
    assert_int_equal(uc_profile_read(header, &p, why, sizeof why), 0);
    free(text);
    uc_profile_free(&p);
    assert_int_equal(uc_profile_read("/nowhere/q.h", &p, why, sizeof why), -ENOENT);
    assert_string_equal(why, "its profile, /nowhere/q.json: No such file or directory");
}

static void text_that_is_no_utf8_is_still_written(void **state)
{
    struct uc_profile *p = made_up_profile(UCOPY_USER, ""), q;

    made_up_segment(p, UC_COPY, SIZE_MAX, "rep_movsb");
    snprintf(p->cpu.name, sizeof p->cpu.name, "CPU \xff\xfe \"x\"\n");
    char *text = json_of(p);
    read_good(text, &q);
    assert_string_equal(q.cpu.name, "CPU ?? \"x\"\n");
    free(text);
    uc_profile_free(&q);
    made_up_free(p);
}

static void stems_name_cpu_environment_and_variant(void **state)
{
    struct uc_profile *p = made_up_profile(UCOPY_USER, "");
    char stem[UC_STEM];

    assert_string_equal(uc_profile_stem(p, stem, sizeof stem), "made-0f-01");
    p->environment = UCOPY_KERNEL;
    assert_string_equal(uc_profile_stem(p, stem, sizeof stem), "made-0f-01-kernel");
    snprintf(p->variant, sizeof p->variant, "fleet");
    assert_string_equal(uc_profile_stem(p, stem, sizeof stem), "made-0f-01-kernel-fleet");
    made_up_free(p);
}

static void variants_have_plain_names(void **state)
{
    static const char *const bad[] = {"",       "kernel", "copy", "nocache", "p",   "e",
                                      "9lives", "a-b",    "a_b",  "A",       "a b", "../x"};

    assert_true(uc_variant_valid("fleet2"));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(uc_variant_valid(bad[i]));
}

static bool same_hash(const char *a, const char *b)
{
    char x[65], y[65];

    uc_strategy_hash(a, x);
    uc_strategy_hash(b, y);
    return !strcmp(x, y);
}

static void hashes_see_code_and_not_its_dress(void **state)
{
    char hex[65];

    uc_strategy_hash("", hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_true(same_hash("a + b;", "/* sum */ a+b; // so\n"));
    assert_true(same_hash("x(\"mov %0, %1\\n\")", "x( \"mov %0,\t%1\\n\" )"));
    assert_true(same_hash("a /", "a/"));
    assert_true(same_hash("a /* open", "a"));
    assert_false(same_hash("a + b;", "a - b;"));
    assert_false(same_hash("f(\"/* kept */\")", "f(\"\")"));
    assert_false(same_hash("f(\"\\\"// kept\")", "f(\"\\\"\")"));
    assert_false(same_hash("'\"' /* */ a", "'\"' /* */ b"));
}

static void hashes_cover_the_parts_that_a_text_includes(void **state)
{
    char whole[65], alone[65];
    const struct ucopy_strategy *s = ucopy_find("short_fold_gpr_64");

    assert_true(strlen(s->includes) > 0);
    assert_int_equal(uc_strategy_source_hash(s->name, whole), 0);
    uc_strategy_hash(s->text, alone);
    assert_string_not_equal(whole, alone);
    assert_int_equal(uc_strategy_source_hash("libc", whole), -ENOENT);
    assert_int_equal(uc_strategy_source_hash("nobodys", whole), -ENOENT);
}

static void a_changed_strategy_makes_a_profile_stale(void **state)
{
    struct uc_profile *p = full_profile(0), q;
    char *text = json_of(p);

    assert_null(uc_profile_stale(p));
    read_good(text, &q);
    assert_null(uc_profile_stale(&q));
    json_object_set_new(q.hashes, "movnti", json_pack("{ss}", "source_sha256", "00"));
    assert_string_equal(uc_profile_stale(&q), "movnti");
    json_object_del(q.hashes, "unrolled");
    assert_string_equal(uc_profile_stale(&q), "unrolled");
    free(text);
    uc_profile_free(&q);
    made_up_free(p);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_writing_gives_the_same_text),
        cmocka_unit_test(row_order_of_cells_means_nothing),
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(costs_keep_four_digits_and_intervals_a_tenth_per_cent),
        cmocka_unit_test(every_dimension_of_a_cell_is_kept),
        cmocka_unit_test(keys_stand_in_the_fixed_order),
        cmocka_unit_test(absent_is_null),
        cmocka_unit_test(thirty_thousand_cells_stay_under_a_megabyte),
        cmocka_unit_test(the_digest_tells_edits),
        cmocka_unit_test(slopes_are_kept),
        cmocka_unit_test(unknown_keys_are_ignored),
        cmocka_unit_test(a_newer_format_is_refused),
        cmocka_unit_test(reasons_name_their_place),
        cmocka_unit_test(a_key_given_twice_is_refused),
        cmocka_unit_test(columns_of_one_value_are_that_value),
        cmocka_unit_test(what_is_no_profile_is_refused),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(a_huge_file_is_refused),
        cmocka_unit_test(truncated_text_is_refused),
        cmocka_unit_test(mangled_bytes_do_no_harm),
        cmocka_unit_test(wrong_types_do_no_harm),
        cmocka_unit_test(a_header_stands_for_the_json_beside_it),
        cmocka_unit_test(text_that_is_no_utf8_is_still_written),
        cmocka_unit_test(stems_name_cpu_environment_and_variant),
        cmocka_unit_test(variants_have_plain_names),
        cmocka_unit_test(hashes_see_code_and_not_its_dress),
        cmocka_unit_test(hashes_cover_the_parts_that_a_text_includes),
        cmocka_unit_test(a_changed_strategy_makes_a_profile_stale),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
