/* Cells: defaults, the canonical order, and the CSV in both directions. */
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

#include "base/rng.h"
#include "measure/cells.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static int read_text(const char *text, size_t len, struct uc_cells *c, unsigned *line, char *why)
{
    char path[] = "/tmp/ucopy-cells-XXXXXX";
    int fd = mkstemp(path);
    FILE *f = fdopen(fd, "w");

    fwrite(text, 1, len, f);
    fclose(f);
    int rc = uc_cells_read_csv(path, c, line, why, 256);
    unlink(path);
    return rc;
}

static void read_well(const char *text, struct uc_cells *c)
{
    unsigned line;
    char why[256];

    if (read_text(text, strlen(text), c, &line, why))
        fail_msg("line %u: %s\n%s", line, why, text);
}

static char *write_text(const struct uc_cells *c, double hz)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    uc_cells_write_csv(c, hz, f);
    fclose(f);
    return text;
}

static void words_of_the_lists(void **state)
{
    assert_int_equal(uc_word(uc_state_name, UC_STATE_COUNT, "natural"), UC_NATURAL);
    assert_int_equal(uc_word(uc_state_name, UC_STATE_COUNT, "other_core"), UC_OTHER_CORE);
    assert_int_equal(uc_word(uc_consumer_name, UC_CONSUMER_COUNT, "evict"), UC_EVICT);
    assert_int_equal(uc_word(uc_consumer_name, UC_CONSUMER_COUNT, "Evict"), -1);
    assert_int_equal(uc_word(uc_consumer_name, UC_CONSUMER_COUNT, ""), -1);
}

static void least_table(void **state)
{
    struct uc_cells c;

    read_well("strategy,size,ns\na,0,1.5\n", &c);
    struct uc_cell want = uc_cell_default("a", 0);
    want.cost = want.lo = want.hi = 1.5;
    assert_int_equal(c.n, 1);
    assert_memory_equal(&c.v[0], &want, sizeof(want));
    assert_int_equal(c.unit, UC_NS);
    assert_false(c.has_interval);
    uc_cells_free(&c);
}

/* ns before tsc_ticks before ticks, wherever they stand; unknown columns, comments, blanks and
 * other line ends are no matter. */
static void what_a_table_may_look_like(void **state)
{
    struct uc_cells c;

    read_well("\xEF\xBB\xBF# first\r\nticks, size ,strategy,weather,ns,tsc_ticks\r\n"
              "\n  # more\n9,1k, a b ,fine,2.5e1,7\r\n",
              &c);
    assert_int_equal(c.unit, UC_NS);
    assert_true(c.v[0].cost == 25);
    assert_int_equal(c.v[0].size, 1024);
    assert_string_equal(c.v[0].strategy, "a b");
    uc_cells_free(&c);
    read_well("ticks,tsc_ticks,size,strategy\n9,7,1,a", &c);
    assert_int_equal(c.unit, UC_TSC_TICKS);
    assert_true(c.v[0].cost == 7);
    uc_cells_free(&c);
}

static void every_column(void **state)
{
    struct uc_cells c;
    const char *text =
        "strategy,size,ns,lo,hi,size_hi,mix,order,consumer,src_state,dst_state,entry,environment,"
        "form,code,dst_align,src_align,page_distance,dst_end,src_end,threads,code_placement,"
        "code_ratio,mapping_spread,code_bytes,role,n\n"
        "s,16,5,4,6,64,band,learned,wait,l2,memory,nocache,kernel,inline,cold,3,63,4095,untouched:7,"
        "unmapped,2,1,.97,1.25,120,limit,9\n";

    read_well(text, &c);
    const struct uc_cell *v = c.v;
    assert_true(v->size == 16 && v->size_hi == 64 && v->lo == 4 && v->hi == 6);
    assert_true(v->mix == UC_BAND && v->order == UC_LEARNED && v->consumer == UC_WAIT);
    assert_true(v->src_state == UC_L2 && v->dst_state == UC_MEMORY && v->entry == UC_NOCACHE);
    assert_true(v->environment == UCOPY_KERNEL && v->form == UC_INLINE && v->code == UC_COLD);
    assert_true(v->dst_align == 3 && v->src_align == 63 && v->page_distance == 4095);
    assert_true(v->dst_end.kind == UC_END_UNTOUCHED && v->dst_end.distance == 7);
    assert_true(v->src_end.kind == UC_END_UNMAPPED && v->src_end.distance == -1);
    assert_true(v->threads == 2 && v->code_placement == 1 && v->mapping_spread == 1.25);
    assert_true(v->code_ratio == .97);
    assert_true(v->code_bytes == 120 && v->role == UCOPY_LIMIT && v->n == 9);
    assert_true(c.has_interval);
    uc_cells_free(&c);
}

/* A band is named by size_hi alone, and an empty field is an absent column. */
static void bands_and_empty_fields(void **state)
{
    struct uc_cells c;

    read_well("strategy,size,ns,size_hi,consumer,lo,hi\na,0,3,64,,2,4\na,0,3,,read,,\n", &c);
    assert_int_equal(c.v[0].mix, UC_BAND);
    assert_int_equal(c.v[0].consumer, UC_NONE);
    assert_int_equal(c.v[1].mix, UC_FIXED);
    assert_true(c.v[1].lo == 3 && c.v[1].hi == 3);
    assert_true(c.has_interval);
    uc_cells_free(&c);
}

static void tables_refused(void **state)
{
    static const struct {
        const char *text;
        unsigned line;
        const char *says;
    } bad[] = {
        {"", 1, "no line that names the columns"},
        {"# x\n", 2, "no line that names the columns"},
        {"strategy,size,ns\n", 2, "no rows"},
        {"size,ns\n1,1\n", 1, "no column strategy"},
        {"strategy,ns\na,1\n", 1, "no column size"},
        {"strategy,size\na,1\n", 1, "no column for the cost"},
        {"strategy,size,ns,ns\na,1,1,1\n", 1, "column ns: named twice"},
        {"strategy,size,ns,lo\na,1,1,1\n", 1, "lo and hi go together"},
        {"strategy,size,ns\na,1\n", 2, "fewer fields"},
        {"strategy,size,ns\na,1,1,1\n", 2, "more fields"},
        {"strategy,size,ns\n,1,1\n", 2, "column strategy: empty"},
        {"strategy,size,ns\na,,1\n", 2, "column size: empty"},
        {"strategy,size,ns\na,1,\n", 2, "column ns: empty"},
        {"strategy,size,ns\na,-1,1\n", 2, "column size: not a size"},
        {"strategy,size,ns\na,1.5,1\n", 2, "column size: not a size"},
        {"strategy,size,ns\na,2048G,1\n", 2, "size above 1 TiB"},
        {"strategy,size,ns\na,1,0\n", 2, "column ns: number out of range"},
        {"strategy,size,ns\na,1,-3\n", 2, "column ns: number out of range"},
        {"strategy,size,ns\na,1,nan\n", 2, "column ns: not a number"},
        {"strategy,size,ns\na,1,inf\n", 2, "column ns: not a number"},
        {"strategy,size,ns\na,1,1e400\n", 2, "column ns: number out of range"},
        {"strategy,size,ns\na,1,0x10\n", 2, "column ns: not a number"},
        {"strategy,size,ns\na,1,1 2\n", 2, "column ns: not a number"},
        {"strategy,size,ns,lo,hi\na,1,5,6,7\n", 2, "column lo: the cost lies outside"},
        {"strategy,size,ns,lo,hi\na,1,5,1,2\n", 2, "column hi: the cost lies outside"},
        {"strategy,size,ns,lo,hi\na,1,5,1,\n", 2, "column hi: empty"},
        {"strategy,size,ns,size_hi\na,8,5,4\n", 2, "column size_hi: below size"},
        {"strategy,size,ns,mix\na,8,5,band\n", 2, "column size_hi: a band needs it"},
        {"strategy,size,ns,consumer\na,8,5,eat\n", 2, "column consumer: unknown word: \"eat\""},
        {"strategy,size,ns,dst_align\na,8,5,64\n", 2, "column dst_align"},
        {"strategy,size,ns,page_distance\na,8,5,4096\n", 2, "column page_distance"},
        {"strategy,size,ns,dst_end\na,8,5,mapped:\n", 2, "column dst_end"},
        {"strategy,size,ns,dst_end\na,8,5,:4\n", 2, "column dst_end"},
        {"strategy,size,ns,threads\na,8,5,0\n", 2, "column threads"},
        {"strategy,size,ns,role\na,8,5,chief\n", 2, "column role"},
        {"strategy,size,ns,environment\na,8,5,boot\n", 2, "column environment"},
        {"strategy,size,ns\na\x01,8,5\n", 2, "column strategy: name of other"},
        {"strategy,size,ns\n0123456789012345678901234567890123456789012345678,8,5\n", 2, "longer"},
        {"strategy,size,ns\na,1,2\nb,1,2\n\na,1,3\n", 5, "the same row as line 2: a at 1 bytes"},
    };

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct uc_cells c;
        unsigned line = 99;
        char why[256] = "";
        int rc = read_text(bad[i].text, strlen(bad[i].text), &c, &line, why);
        if (rc != -EINVAL || line != bad[i].line || !strstr(why, bad[i].says) || c.n)
            fail_msg("%s\nrc %d, line %u, \"%s\"", bad[i].text, rc, line, why);
    }
}

static void files_refused(void **state)
{
    struct uc_cells c;
    unsigned line;
    char why[256];

    assert_int_equal(read_text("strategy,size,ns\na\0,1,1\n", 24, &c, &line, why), -EINVAL);
    assert_int_equal(uc_cells_read_csv("/nonexistent", &c, &line, why, sizeof(why)), -ENOENT);
    assert_int_equal(uc_cells_read_csv("/", &c, &line, why, sizeof(why)), -EISDIR);
}

/* Random cells of every kind. */

static struct uc_cell random_cell(struct uc_rng *r, unsigned i)
{
    char name[16];

    snprintf(name, sizeof(name), "s%u", i);
    struct uc_cell c = uc_cell_default(name, uc_rng_below(r, 1 << 20));
    c.cost = exp(20 * uc_rng_unit(r) - 3);
    c.lo = c.cost * (1 - uc_rng_unit(r));
    c.hi = c.cost * (1 + uc_rng_unit(r));
    c.mix = (enum uc_mix)uc_rng_below(r, UC_MIX_COUNT);
    c.size_hi = c.mix == UC_BAND ? c.size + uc_rng_below(r, 100) + 1 : 0;
    c.order = (enum uc_order)uc_rng_below(r, UC_ORDER_COUNT);
    c.consumer = (enum uc_consumer)uc_rng_below(r, UC_CONSUMER_COUNT);
    c.src_state = (enum uc_state)uc_rng_below(r, UC_STATE_COUNT);
    c.dst_state = (enum uc_state)uc_rng_below(r, UC_STATE_COUNT);
    c.entry = (enum uc_entry)uc_rng_below(r, UC_ENTRY_COUNT);
    c.form = (enum uc_form)uc_rng_below(r, UC_FORM_COUNT);
    c.code = (enum uc_code)uc_rng_below(r, UC_CODE_COUNT);
    c.environment = (unsigned)uc_rng_below(r, 3);
    c.role = (enum ucopy_role)uc_rng_below(r, 4);
    c.dst_align = (int)uc_rng_below(r, 65) - 1;
    c.src_align = (int)uc_rng_below(r, 65) - 1;
    c.page_distance = (int)uc_rng_below(r, 4097) - 1;
    c.dst_end = (struct uc_end){(enum uc_end_kind)uc_rng_below(r, UC_END_KIND_COUNT),
                                (int)uc_rng_below(r, 100) - 1};
    c.src_end = (struct uc_end){(enum uc_end_kind)uc_rng_below(r, UC_END_KIND_COUNT),
                                (int)uc_rng_below(r, 100) - 1};
    c.threads = 1 + (int)uc_rng_below(r, 8);
    c.code_placement = (int)uc_rng_below(r, 3) - 1;
    c.n = (unsigned)uc_rng_below(r, 1000);
    c.code_bytes = (long)uc_rng_below(r, 300) - 1;
    return c;
}

static void random_table(struct uc_cells *c, uint64_t seed)
{
    struct uc_rng r = {seed};

    memset(c, 0, sizeof(*c));
    c->has_interval = true;
    c->unit = seed % 2 ? UC_NS : UC_TICKS;
    for (unsigned i = 0; i < 300; i++) {
        struct uc_cell cell = random_cell(&r, i);
        assert_int_equal(uc_cells_add(c, &cell), 0);
    }
}

static void shuffle(struct uc_cells *c, uint64_t seed)
{
    struct uc_rng r = {seed};

    for (size_t i = c->n; i > 1; i--) {
        size_t k = uc_rng_below(&r, i);
        struct uc_cell t = c->v[i - 1];
        c->v[i - 1] = c->v[k];
        c->v[k] = t;
    }
}

/* Written, read and written again is the same text, and all but the digits of costs survives. */
static void written_and_read_back(void **state)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct uc_cells c, back;
        random_table(&c, seed);
        char *text = write_text(&c, 0);
        read_well(text, &back);
        assert_int_equal(back.n, c.n);
        assert_int_equal(back.unit, c.unit);
        for (size_t i = 0; i < c.n; i++) {
            assert_true(uc_cells_same_place(&c.v[i], &back.v[i]));
            assert_true(fabs(back.v[i].cost / c.v[i].cost - 1) < 6e-5);
            assert_true(fabs(back.v[i].hi / c.v[i].hi - 1) < 6e-5);
            assert_int_equal(back.v[i].role, c.v[i].role);
            assert_int_equal(back.v[i].n, c.v[i].n);
            assert_int_equal(back.v[i].code_bytes, c.v[i].code_bytes);
        }
        char *again = write_text(&back, 0);
        assert_string_equal(text, again);
        free(text);
        free(again);
        uc_cells_free(&c);
        uc_cells_free(&back);
    }
}

static void writes_what_differs_only(void **state)
{
    struct uc_cells c = {0};
    struct uc_cell a = uc_cell_default("a", 64);

    a.cost = a.lo = a.hi = 1234567;
    assert_int_equal(uc_cells_add(&c, &a), 0);
    char *text = write_text(&c, 2e9);
    assert_string_equal(text, "strategy,size,ns,tsc_ticks\na,64,1234600,2469100\n");
    free(text);
    a.size = 65;
    a.cost = .0123456;
    a.consumer = UC_READ;
    assert_int_equal(uc_cells_add(&c, &a), 0);
    text = write_text(&c, 0);
    assert_string_equal(text, "strategy,size,ns,consumer\na,64,1234600,none\na,65,0.012346,read\n");
    free(text);
    uc_cells_free(&c);
}

static void order_does_not_depend_on_the_rows(void **state)
{
    struct uc_cells a, b;

    random_table(&a, 5);
    random_table(&b, 5);
    uc_cells_sort(&a);
    for (uint64_t seed = 1; seed < 20; seed++) {
        shuffle(&b, seed);
        uc_cells_sort(&b);
        assert_memory_equal(a.v, b.v, a.n * sizeof(*a.v));
    }
    for (size_t i = 1; i < a.n; i++)
        assert_true(uc_cells_compare(&a.v[i - 1], &a.v[i]) < 0);
    uc_cells_free(&a);
    uc_cells_free(&b);
}

static void place_is_all_but_strategy_and_figures(void **state)
{
    struct uc_cell a = uc_cell_default("a", 8), b = uc_cell_default("b", 8);

    b.cost = 7;
    b.n = 3;
    b.role = UCOPY_LIMIT;
    b.mapping_spread = 2;
    b.code_ratio = 2;
    assert_true(uc_cells_same_place(&a, &b));
    b.size = 9;
    assert_false(uc_cells_same_place(&a, &b));
    assert_int_equal(uc_cells_compare_dims(&a, &b), 0);
    b.consumer = UC_WAIT;
    assert_int_not_equal(uc_cells_compare_dims(&a, &b), 0);
}

#define OTHER(field, value)                                                              \
    do {                                                                                 \
        struct uc_cell b = a;                                                            \
        b.field = value;                                                                 \
        assert_false(uc_cells_same_place(&a, &b));                                       \
        assert_true(uc_cells_compare_dims(&a, &b) + uc_cells_compare_dims(&b, &a) == 0); \
        assert_int_not_equal(uc_cells_compare_dims(&a, &b), 0);                          \
    } while (0)

static void every_dimension_makes_a_place(void **state)
{
    struct uc_cell a = uc_cell_default("a", 8);

    OTHER(entry, UC_NOCACHE);
    OTHER(environment, UCOPY_KERNEL);
    OTHER(mix, UC_NAMED);
    OTHER(order, UC_LEARNED);
    OTHER(consumer, UC_SCAN);
    OTHER(src_state, UC_L2);
    OTHER(dst_state, UC_L2);
    OTHER(form, UC_INLINE);
    OTHER(code, UC_COLD);
    OTHER(threads, 2);
    OTHER(code_placement, 0);
    OTHER(dst_align, 0);
    OTHER(src_align, 0);
    OTHER(page_distance, 0);
    OTHER(dst_end.kind, UC_END_NONE);
    OTHER(dst_end.distance, 0);
    OTHER(src_end.kind, UC_END_NONE);
    OTHER(src_end.distance, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_the_lists),
        cmocka_unit_test(least_table),
        cmocka_unit_test(what_a_table_may_look_like),
        cmocka_unit_test(every_column),
        cmocka_unit_test(bands_and_empty_fields),
        cmocka_unit_test(tables_refused),
        cmocka_unit_test(files_refused),
        cmocka_unit_test(written_and_read_back),
        cmocka_unit_test(writes_what_differs_only),
        cmocka_unit_test(order_does_not_depend_on_the_rows),
        cmocka_unit_test(every_dimension_makes_a_place),
        cmocka_unit_test(place_is_all_but_strategy_and_figures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
