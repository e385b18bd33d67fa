/* Plan, batches, sweep, journal and grade: what is measured, where it lies, and that nothing but
 * the clock is left to chance. No test here looks at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "measure/weights.h"
#include "measure/batch.h"
#include "measure/company.h"
#include "measure/grade.h"
#include "measure/journal.h"
#include "measure/plan.h"
#include "measure/sweep.h"
#include "measure/sweep_state.h"

static const struct uc_caches caches = {
    .l1d = {.bytes = 48 * 1024}, .l2 = {.bytes = 512 * 1024}, .l3 = {.bytes = 8 << 20}, .line = 64};

static struct uc_plan make_plan(size_t top, bool nocache)
{
    struct uc_plan_options o = {&caches, &uc_weights_default, top, false, nocache};
    struct uc_plan p;

    assert_int_equal(uc_plan_make(&p, &o), 0);
    return p;
}

static void grid_is_what_the_readme_says(void **state)
{
    struct uc_plan p = make_plan(64 << 20, true);
    size_t at = 0;

    for (size_t n = 0; n <= 64; n++)
        assert_int_equal(p.size[at++], n);
    for (size_t n = 72; n <= 256; n += 8)
        assert_int_equal(p.size[at++], n);
    for (; at < p.sizes; at++) {
        assert_true(p.size[at] > p.size[at - 1]);
        assert_true((double)p.size[at] / (double)p.size[at - 1] <=
                    (p.size[at] > 16 << 20 ? 2 : 1.51));
    }
    assert_int_equal(p.size[p.sizes - 1], 64 << 20);
    uc_plan_free(&p);
}

/* read, wait and bands only in l1; evict only for nocache with dst in memory; no place twice. */
static void places_follow_the_weights(void **state)
{
    struct uc_plan p = make_plan(1 << 20, true);
    size_t bands = 0, evict = 0;

    for (size_t i = 0; i < p.n; i++) {
        const struct uc_cell *c = &p.place[i];
        if (c->consumer == UC_READ || c->consumer == UC_WAIT || c->mix == UC_BAND)
            assert_true(c->src_state == UC_L1 || c->size > caches.l1d.bytes / 4);
        if (c->consumer == UC_READ || c->consumer == UC_WAIT)
            assert_true(c->size <= UC_SMALL_MAX);
        assert_int_equal(c->consumer == UC_EVICT, c->entry == UC_NOCACHE);
        if (c->entry == UC_NOCACHE)
            assert_int_equal(c->dst_state, UC_MEMORY);
        bands += c->mix == UC_BAND;
        evict += c->consumer == UC_EVICT;
        for (size_t k = i + 1; k < p.n; k++)
            assert_false(uc_cells_same_place(c, &p.place[k]));
    }
    assert_int_equal(bands, uc_band_count * 3);
    assert_true(evict > 20);
    for (size_t i = 0; i < p.n; i++) /* no src is said to lie where it cannot */
        assert_false(p.place[i].entry == UC_NOCACHE && p.place[i].src_state == UC_L2 &&
                     p.place[i].size > caches.l2.bytes / 2);
    uc_plan_free(&p);
    p = make_plan(1 << 20, false);
    for (size_t i = 0; i < p.n; i++)
        assert_int_equal(p.place[i].entry, UC_COPY);
    uc_plan_free(&p);
}

struct drawn {
    struct uc_pools pools;
    struct uc_batch batch;
    struct uc_rng rng;
};

static void draw(struct drawn *d, const struct uc_cell *place, const struct uc_sizes *mix)
{
    memset(&d->batch, 0, sizeof(d->batch));
    assert_int_equal(uc_pools_map(&d->pools, uc_batch_bytes(place, &caches), 1 << 20, false, 7), 0);
    assert_int_equal(
        uc_batch_draw(&d->batch, place, &d->pools, &caches, &uc_weights_default, mix, &d->rng), 0);
}

static void drop(struct drawn *d)
{
    uc_batch_free(&d->batch);
    uc_pools_unmap(&d->pools);
}

static bool inside(const struct uc_buffer *b, const char *p, size_t n)
{
    return (unsigned char *)p >= b->start && (unsigned char *)p + n <= b->end;
}

/* In every place of a plan, every call lies in its buffers, and what is looked at lies in dst. */
static void calls_lie_in_their_buffers(void **state)
{
    struct uc_plan p = make_plan(1 << 20, true);
    struct uc_sizes fleet;

    assert_int_equal(uc_sizes_fleet(&fleet, 4096), 0);
    for (size_t i = 0; i < p.n; i++) {
        const struct uc_cell *c = &p.place[i];
        struct drawn d = {.rng = {i}};
        if (c->mix == UC_BAND && c->size_hi != 4096)
            continue;
        draw(&d, c, c->mix == UC_BAND ? &fleet : NULL);
        assert_true(d.batch.n > 0);
        for (size_t k = 0; k < d.batch.n; k++) {
            const struct uc_call *x = &d.batch.calls[k];
            if (!x->dst) {
                assert_int_equal(x->size, 0);
                assert_null(x->src);
                continue;
            }
            assert_true(inside(&d.pools.src, x->src, x->size));
            assert_true(inside(&d.pools.dst, x->dst, x->size));
            size_t look = x->look8 | x->look4 | x->look1, width = x->look8 ? 8 : x->look4 ? 4 : 1;
            assert_int_equal(look != 0, x->size != 0);
            if (look) {
                assert_true(d.batch.base + look >= x->dst);
                assert_true(d.batch.base + look + width <= x->dst + x->size);
            }
            /* the line that is looked at in place of dst is nobody's dst */
            assert_true((unsigned char *)x->dst >= d.pools.dst.start + 64);
        }
        drop(&d);
    }
    uc_sizes_free(&fleet);
    uc_plan_free(&p);
}

static double within(double share, double wanted, size_t n)
{
    return fabs(share - wanted) <= 5 * sqrt(wanted * (1 - wanted) / (double)n);
}

/* Shares of alignment, equal distance and page ends, over many draws, within five standard
 * deviations. */
static void placements_follow_the_weights(void **state)
{
    struct uc_cell c = uc_cell_default("", 40);
    size_t n = 0, both = 0, dst_off = 0, equal = 0, ends = 0;

    c.src_state = c.dst_state = UC_L1;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct drawn d = {.rng = {seed}};
        draw(&d, &c, NULL);
        for (size_t k = 0; k < d.batch.n; k++) {
            const struct uc_call *x = &d.batch.calls[k];
            uintptr_t s = (uintptr_t)x->src, t = (uintptr_t)x->dst;
            bool end = (unsigned char *)x->src + 40 == d.pools.src.end ||
                       (unsigned char *)x->dst + 40 == d.pools.dst.end;
            n++;
            ends += end;
            both += !(s % 16) && !(t % 16) && !end;
            dst_off += (t & 1) && !(s % 16) && !end;
            equal += s % 4096 == t % 4096 && !end;
        }
        drop(&d);
    }
    assert_true(within((double)ends / (double)n, 1.0 / 64, n));
    /* an equal offset makes both aligned or both off as src is: .9 of the stated shares, and .1 by
     * src alone */
    assert_true(within((double)both / (double)n, (.9 * .4 + .1 * .6 + .9 * 0) * 63 / 64, n));
    assert_true(within((double)dst_off / (double)n, .9 * .2 * 63 / 64, n));
    assert_true((double)equal / (double)n > 0.09 && (double)equal / (double)n < 0.12);
}

static void empty_copies_are_null_half_of_the_time(void **state)
{
    struct uc_cell c = uc_cell_default("", 0);
    size_t n = 0, null = 0;

    c.src_state = c.dst_state = UC_L1;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct drawn d = {.rng = {seed}};
        draw(&d, &c, NULL);
        for (size_t k = 0; k < d.batch.n; k++, n++)
            null += d.batch.calls[k].dst == NULL;
        drop(&d);
    }
    assert_true(within((double)null / (double)n, 0.5, n));
}

static void probes_lie_where_they_say(void **state)
{
    static const int distance[] = {0, 1, 63, 64, 4065, 4095};

    for (size_t i = 0; i < sizeof(distance) / sizeof(distance[0]); i++) {
        struct uc_cell c = uc_cell_default("", 256);
        struct drawn d = {.rng = {i}};
        c.src_state = c.dst_state = UC_L1;
        c.page_distance = distance[i];
        draw(&d, &c, NULL);
        for (size_t k = 0; k < d.batch.n; k++)
            assert_int_equal(((uintptr_t)d.batch.calls[k].dst - (uintptr_t)d.batch.calls[k].src) %
                                 4096,
                             distance[i]);
        drop(&d);
    }
    struct uc_cell c = uc_cell_default("", 24);
    struct drawn d = {.rng = {1}};
    c.src_state = c.dst_state = UC_L1;
    c.src_end = (struct uc_end){UC_END_UNMAPPED, 0};
    c.dst_end = (struct uc_end){UC_END_NONE, -1};
    draw(&d, &c, NULL);
    assert_int_equal(d.pools.src.next, UC_NEXT_UNMAPPED);
    for (size_t k = 0; k < d.batch.n; k++) {
        assert_ptr_equal(d.batch.calls[k].src + 24, d.pools.src.end);
        assert_ptr_not_equal(d.batch.calls[k].dst + 24, d.pools.dst.end);
    }
    drop(&d);
}

/* A mix is 64 Ki calls or more, in another order each time, with the shares of the distribution. */
static void mixes_never_repeat(void **state)
{
    struct uc_cell c = uc_cell_default("", 0);
    struct uc_sizes fleet;
    struct drawn a = {.rng = {1}}, b = {.rng = {2}};
    size_t same = 0, zero = 0;

    assert_int_equal(uc_sizes_fleet(&fleet, 64), 0);
    c.size_hi = 64;
    c.mix = UC_BAND;
    c.src_state = c.dst_state = UC_L1;
    draw(&a, &c, &fleet);
    draw(&b, &c, &fleet);
    assert_true(a.batch.n >= 65536);
    for (size_t i = 0; i < a.batch.n; i++) {
        assert_true(a.batch.calls[i].size <= 64);
        same += a.batch.calls[i].size == b.batch.calls[i].size;
        zero += a.batch.calls[i].size == 0;
    }
    assert_true(same < a.batch.n / 4);
    assert_true(within((double)zero / (double)a.batch.n, fleet.share[0], a.batch.n));
    drop(&a);
    drop(&b);
    uc_sizes_free(&fleet);
}

/* ---- the sweep, with subjects of the test's own */

static size_t least_size, largest_size;
static unsigned long calls;

static void *watch(void *dst, const void *src, size_t n)
{
    calls++;
    least_size = n < least_size ? n : least_size;
    largest_size = n > largest_size ? n : largest_size;
    if (n)
        memmove(dst, src, n);
    return dst;
}

static void *sleeper(void *dst, const void *src, size_t n)
{
    usleep(1);
    return dst;
}

static struct uc_clock clock_ = {.tsc_hz = 1e9};

static struct uc_sweep_options sweep_options(uint64_t seed)
{
    struct uc_sweep_options o = {.weights = &uc_weights_default,
                                 .caches = &caches,
                                 .clock = &clock_,
                                 .seconds = 0.01,
                                 .seed = seed,
                                 .what = "test",
                                 .done_after = 1};
    for (int g = 0; g < UC_GROUPS; g++)
        o.group_share[g] = 1;
    return o;
}

static struct uc_plan small_plan(void)
{
    struct uc_plan p = {0};

    for (size_t n = 1; n <= 1024; n *= 4) {
        struct uc_cell c = uc_cell_default("", n);
        c.src_state = c.dst_state = UC_L1;
        assert_int_equal(uc_plan_add(&p, &c, UC_SMALL), 0);
    }
    return p;
}

/* A subject is called at the sizes that it serves and at no other, and has a cell for each of them.
 */
/* A mix in the order "fixed" has the same sizes, equal ones behind each other. */
static void fixed_order_repeats_each_size(void **state)
{
    struct uc_cell c = uc_cell_default("", 0);
    struct uc_sizes fleet;
    struct drawn a = {.rng = {1}};
    size_t zero = 0;

    (void)state;
    assert_int_equal(uc_sizes_fleet(&fleet, 64), 0);
    c.size_hi = 64;
    c.mix = UC_NAMED;
    c.order = UC_SAME;
    c.src_state = c.dst_state = UC_L1;
    draw(&a, &c, &fleet);
    assert_true(a.batch.n >= 65536);
    for (size_t i = 0; i < a.batch.n; i++) {
        assert_true(!i || a.batch.calls[i - 1].size <= a.batch.calls[i].size);
        zero += a.batch.calls[i].size == 0;
    }
    assert_true(within((double)zero / (double)a.batch.n, fleet.share[0], a.batch.n));
    drop(&a);
    uc_sizes_free(&fleet);
}

static void subjects_are_called_in_their_range(void **state)
{
    struct uc_plan p = small_plan();
    struct uc_subject u[2] = {uc_subject_function("a", memcpy), uc_subject_function("b", watch)};
    struct uc_sweep_options o = sweep_options(1);
    struct uc_sweep *s;
    struct uc_cells cells = {0};
    size_t a = 0, b = 0;

    u[1].min = 4;
    u[1].max = 256;
    least_size = SIZE_MAX;
    largest_size = 0;
    assert_int_equal(uc_sweep_new(&s, &p, u, 2, &o), 0);
    assert_int_equal(uc_sweep_run(s), 0);
    assert_int_equal(uc_sweep_cells(s, &cells), 0);
    assert_int_equal(least_size, 4);
    assert_int_equal(largest_size, 256);
    for (size_t i = 0; i < cells.n; i++) {
        a += !strcmp(cells.v[i].strategy, "a");
        b += !strcmp(cells.v[i].strategy, "b");
        assert_true(cells.v[i].cost > 0 && cells.v[i].lo <= cells.v[i].cost &&
                    cells.v[i].cost <= cells.v[i].hi);
        assert_true(cells.v[i].n >= 2);
    }
    assert_int_equal(a, 6);
    assert_int_equal(b, 4);
    uc_cells_free(&cells);
    uc_sweep_free(s);
    uc_plan_free(&p);
}

/* The forms that were called, those behind each other once. */
static char form_of[8];
static size_t forms;

static void *note_form(void *dst, char form)
{
    if (forms < sizeof(form_of) && (!forms || form_of[forms - 1] != form))
        form_of[forms++] = form;
    return dst;
}

static void *at_line(void *dst, const void *src, size_t n)
{
    return note_form(dst, 'a');
}

static void *off_line(void *dst, const void *src, size_t n)
{
    return note_form(dst, 'b');
}

/* Both places of the code in turn, by rounds: 0, 1, 1, 0; the cell tells what the second costs over
 * the first. */
static void rounds_alternate_the_place_of_the_code(void **state)
{
    static const float ticks[2][4] = {{10, 13, 13, 10}, {7, 7, 7, 7}};
    struct uc_plan p = small_plan();
    struct uc_subject u[2] = {uc_subject_function("a", at_line), uc_subject_function("b", memcpy)};
    struct uc_sweep_options o = sweep_options(1);
    struct uc_cells cells = {0};
    struct uc_sweep *s;

    u[0].shifted = off_line;
    p.n = 1;
    forms = 0;
    assert_int_equal(uc_sweep_new(&s, &p, u, 2, &o), 0);
    assert_int_equal(uc_sweep_run(s), 0);
    assert_true(forms >= 2 && form_of[0] == 'a' && form_of[1] == 'b');
    s->rounds[UC_SMALL] = 4; /* readings of known cost in place of those taken */
    assert_int_equal(uc_sweep_room(s, &s->series[0], 4), 0);
    for (size_t k = 0; k < 2; k++)
        for (unsigned r = 0; r < 4; r++)
            *uc_sweep_value(s, &s->series[0], k, r) = ticks[k][r];
    assert_int_equal(uc_sweep_cells(s, &cells), 0);
    assert_int_equal(cells.n, 2);
    assert_true(fabs(cells.v[0].code_ratio - 1.3) < 1e-6);
    assert_true(cells.v[1].code_ratio == 0);
    uc_cells_free(&cells);
    uc_sweep_free(s);
    uc_plan_free(&p);
}

/* A reading in which the thread was switched away is dropped and counted; with nothing but such
 * readings there is no cell, and never one of 0 ns. */
static void disturbed_readings_make_no_cell(void **state)
{
    struct uc_plan p = small_plan();
    struct uc_subject u[2] = {uc_subject_function("a", memcpy),
                              uc_subject_function("sleeps", sleeper)};
    struct uc_sweep_options o = sweep_options(1);
    struct uc_sweep *s;
    struct uc_cells cells = {0};
    struct uc_sweep_facts f;

    p.n = 1;
    assert_int_equal(uc_sweep_new(&s, &p, u, 2, &o), 0);
    assert_int_equal(uc_sweep_run(s), 0);
    assert_int_equal(uc_sweep_cells(s, &cells), 0);
    uc_sweep_facts(s, &f);
    assert_true(f.dropped >= 2 * 2 * 3);
    for (size_t i = 0; i < cells.n; i++)
        assert_string_equal(cells.v[i].strategy, "a");
    uc_cells_free(&cells);
    uc_sweep_free(s);
    uc_plan_free(&p);
}

static void a_signal_stops_the_sweep(void **state)
{
    struct uc_plan p = small_plan();
    struct uc_subject u[1] = {uc_subject_function("b", watch)};
    struct uc_sweep_options o = sweep_options(1);
    struct uc_sweep *s;

    assert_int_equal(uc_sweep_new(&s, &p, u, 1, &o), 0);
    calls = 0;
    uc_interrupted = 1;
    assert_int_equal(uc_sweep_run(s), -EINTR);
    uc_interrupted = 0;
    assert_int_equal(calls, 0);
    uc_sweep_free(s);
    uc_plan_free(&p);
}

/* Bound to one CPU and found on another: no reading of the round counts. */
static void a_thread_moved_away_stops_the_sweep(void **state)
{
    struct uc_plan p = small_plan();
    struct uc_subject u[1] = {uc_subject_function("b", watch)};
    struct uc_sweep_options o = sweep_options(1);
    struct uc_cells cells = {0};
    struct uc_sweep *s;
    int absent = CPU_SETSIZE;

    o.pu = &absent;
    assert_int_equal(uc_sweep_new(&s, &p, u, 1, &o), 0);
    assert_int_equal(uc_sweep_run(s), -EXDEV);
    assert_int_equal(uc_sweep_cells(s, &cells), 0);
    assert_int_equal(cells.n, 0);
    uc_sweep_free(s);
    uc_plan_free(&p);
}

/* ---- the race */

/* Three sizes above 1 MiB, one place each, and two candidates with these readings of one round. */
static struct uc_sweep *raced(const float (*reading)[2], struct uc_plan *plan)
{
    static struct uc_subject u[2];
    struct uc_sweep_options o = sweep_options(1);
    struct uc_sweep *s;

    memset(plan, 0, sizeof(*plan));
    for (size_t i = 0; i < 3; i++) {
        struct uc_cell c = uc_cell_default("", (2u << 20) << i);
        c.src_state = c.dst_state = UC_NATURAL;
        assert_int_equal(uc_plan_add(plan, &c, UC_LARGE), 0);
    }
    u[0] = uc_subject_called(ucopy_find("rep_movsb"));
    u[1] = uc_subject_called(ucopy_find("unrolled"));
    assert_int_equal(uc_sweep_new(&s, plan, u, 2, &o), 0);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(uc_sweep_room(s, &s->series[i], 1), 0);
        for (size_t k = 0; k < 2; k++)
            *uc_sweep_value(s, &s->series[i], k, 0) = reading[i][k];
    }
    s->rounds[UC_LARGE] = 1;
    uc_sweep_race(s, UC_LARGE);
    return s;
}

/* One reading that is far too high puts nobody out: the next size must say so too. */
static void one_bad_reading_puts_nobody_out(void **state)
{
    static const float spike[3][2] = {{10, 10}, {20, 90}, {40, 40}},
                       low_end[3][2] = {{10, 30}, {20, 21}, {40, 41}},
                       slow[3][2] = {{10, 11}, {20, 60}, {40, 120}};
    struct uc_plan plan;
    struct uc_sweep *s;
    (void)state;

    s = raced(spike, &plan);
    for (size_t i = 0; i < 3; i++)
        assert_false(s->series[i].out[0] || s->series[i].out[1]);
    uc_sweep_free(s);
    uc_plan_free(&plan);
    s = raced(low_end, &plan);
    assert_false(s->series[0].out[1]);
    uc_sweep_free(s);
    uc_plan_free(&plan);
    s = raced(slow, &plan);
    assert_false(s->series[0].out[1]);
    assert_true(s->series[1].out[1] && s->series[2].out[1]);
    assert_false(s->series[1].out[0] || s->series[2].out[0]);
    uc_sweep_free(s);
    uc_plan_free(&plan);
}

/* With fill the sweep takes its seconds, and more rounds than are enough. */
static void a_sweep_fills_its_time_where_asked(void **state)
{
    struct uc_subject u = uc_subject_function("watch", watch);
    struct uc_sweep_options o = sweep_options(3);
    struct uc_sweep_facts few, many;
    (void)state;

    for (int fill = 0; fill < 2; fill++) {
        struct uc_plan plan = {0};
        struct uc_cell c = uc_cell_default("", 64);
        struct uc_sweep *s;
        c.src_state = c.dst_state = UC_L1;
        assert_int_equal(uc_plan_add(&plan, &c, UC_PROBES), 0);
        o.fill = fill;
        o.seconds = 0.3;
        least_size = largest_size = 64;
        assert_int_equal(uc_sweep_new(&s, &plan, &u, 1, &o), 0);
        assert_int_equal(uc_sweep_run(s), 0);
        uc_sweep_facts(s, fill ? &many : &few);
        uc_sweep_free(s);
        uc_plan_free(&plan);
    }
    assert_true(few.rounds[UC_PROBES] <= 24);
    assert_true(many.rounds[UC_PROBES] > 24);
}

/* ---- other cores */

static struct uc_topology *topology;
static int own_pu;
static unsigned other_cores;
static cpu_set_t mask; /* that the next test finds again */

static int open_topology(void **state)
{
    int pus[CPU_SETSIZE];
    const char *why;

    assert_int_equal(sched_getaffinity(0, sizeof(mask), &mask), 0);
    assert_int_equal(uc_topology_open(&topology), 0);
    assert_int_equal(uc_topology_choose(topology, -1, &own_pu, &why), 0);
    assert_int_equal(uc_topology_pin(topology, own_pu), 0);
    other_cores = uc_topology_other_cores(topology, own_pu, pus);
    for (unsigned i = 0; i < other_cores; i++)
        assert_int_not_equal(pus[i], own_pu);
    return 0;
}

static int close_topology(void **state)
{
    uc_topology_close(topology);
    return sched_setaffinity(0, sizeof(mask), &mask);
}

static atomic_ulong elsewhere, here;

static void *where(void *dst, const void *src, size_t n)
{
    atomic_fetch_add(sched_getcpu() == own_pu ? &here : &elsewhere, 1);
    return memcpy(dst, src, n);
}

static void more_cores_than_there_are_is_refused(void **state)
{
    struct uc_company *c = NULL;

    assert_int_equal(uc_company_open(&c, topology, own_pu, other_cores + 1, 0, 1), -ENODEV);
    assert_null(c);
}

/* The cells of two cores copying at once: the other one calls the same copy, on its own core. */
static void others_copy_while_one_is_timed(void **state)
{
    struct uc_plan p = small_plan();
    struct uc_subject u[1] = {uc_subject_function("a", where)};
    struct uc_sweep_options o = sweep_options(1);
    struct uc_cells cells = {0};
    struct uc_sweep *s;

    if (!other_cores) {
        uc_plan_free(&p);
        skip(); /* one core alone may be used */
    }
    for (size_t i = 0; i < p.n; i++)
        p.place[i].threads = 2;
    assert_int_equal(uc_company_open(&o.company, topology, own_pu, 1, 1 << 20, 1), 0);
    here = elsewhere = 0;
    assert_int_equal(uc_sweep_new(&s, &p, u, 1, &o), 0);
    assert_int_equal(uc_sweep_run(s), 0);
    assert_true(here > 0 && elsewhere > 0);
    unsigned long after = elsewhere;
    assert_int_equal(uc_sweep_cells(s, &cells), 0);
    assert_int_equal(cells.n, p.n);
    for (size_t i = 0; i < cells.n; i++)
        assert_true(cells.v[i].threads == 2 && cells.v[i].cost > 0 && cells.v[i].n >= 2);
    assert_true(elsewhere == after); /* none goes on when nothing is timed */
    uc_cells_free(&cells);
    uc_sweep_free(s);
    uc_plan_free(&p);
    uc_company_close(o.company);
}

static int ends_apart(const void *a, const void *b)
{
    const struct uc_call *x = a, *y = b;
    return (x->dst > y->dst) - (x->dst < y->dst);
}

/* dst of no two calls share a byte, or the second would find what the first has fetched; and the
 * other core's stores change nothing. */
static void another_core_writes_dst_and_changes_nothing(void **state)
{
    static const size_t size[] = {0, 1, 64, 1000, 4096, 65536, 2 << 20};
    struct uc_company *company = NULL;

    if (other_cores)
        assert_int_equal(uc_company_open(&company, topology, own_pu, 1, 0, 1), 0);
    for (size_t i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
        struct uc_cell c = uc_cell_default("", size[i]);
        struct drawn d = {.rng = {i}};
        c.dst_state = UC_OTHER_CORE;
        draw(&d, &c, NULL);
        for (size_t k = 0; k < d.batch.n; k++)
            assert_true(!d.batch.calls[k].dst ||
                        inside(&d.pools.dst, d.batch.calls[k].dst, d.batch.calls[k].size));
        if (company) {
            unsigned char *before = malloc(d.pools.dst.bytes);
            assert_non_null(before);
            memcpy(before, d.pools.dst.start, d.pools.dst.bytes);
            uc_company_write(company, d.batch.calls, d.batch.n);
            assert_memory_equal(before, d.pools.dst.start, d.pools.dst.bytes);
            free(before);
        }
        qsort(d.batch.calls, d.batch.n, sizeof(*d.batch.calls), ends_apart);
        for (size_t k = 1; k < d.batch.n; k++)
            assert_true(!d.batch.calls[k - 1].dst ||
                        d.batch.calls[k - 1].dst + size[i] <= d.batch.calls[k].dst);
        drop(&d);
    }
    uc_company_close(company);
}

/* ---- the journal */

static char path[] = "/tmp/ucopy-journal-XXXXXX";

static void same_cells(const struct uc_sweep *a, const struct uc_sweep *b)
{
    struct uc_cells x = {0}, y = {0};

    assert_int_equal(uc_sweep_cells(a, &x), 0);
    assert_int_equal(uc_sweep_cells(b, &y), 0);
    assert_int_equal(x.n, y.n);
    for (size_t i = 0; i < x.n; i++) {
        assert_string_equal(x.v[i].strategy, y.v[i].strategy);
        assert_true(x.v[i].cost == y.v[i].cost && x.v[i].lo == y.v[i].lo && x.v[i].hi == y.v[i].hi);
    }
    uc_cells_free(&x);
    uc_cells_free(&y);
}

/* What was measured is taken up bit by bit, and nothing is measured twice; another plan's journal
 * is refused. */
static void a_journal_is_taken_up_whole(void **state)
{
    struct uc_plan p = small_plan();
    struct uc_subject u[2] = {uc_subject_function("a", memcpy), uc_subject_function("b", watch)};
    struct uc_sweep_options o = sweep_options(3);
    struct uc_sweep *first, *second;
    struct uc_sweep_facts f, g;

    assert_int_equal(uc_sweep_new(&first, &p, u, 2, &o), 0);
    assert_int_equal(uc_sweep_run(first), 0);
    assert_int_equal(uc_journal_save(first, path), 0);
    assert_int_equal(uc_sweep_new(&second, &p, u, 2, &o), 0);
    assert_int_equal(uc_journal_load(second, path), 0);
    struct uc_journal_facts of;
    assert_int_equal(uc_journal_facts(path, &of), 0);
    assert_memory_equal(&of.caches, &caches, sizeof(caches));
    assert_true(of.tsc_hz == clock_.tsc_hz && of.branch_ns == o.branch_ns);
    assert_int_equal(uc_journal_facts("/nowhere/journal", &of), -ENOENT);
    same_cells(first, second);
    calls = 0;
    assert_int_equal(uc_sweep_run(second), 0);
    assert_int_equal(calls, 0);
    uc_sweep_facts(first, &f);
    uc_sweep_facts(second, &g);
    assert_memory_equal(&f, &g, sizeof(f));
    uc_sweep_free(second);

    o.seed = 4;
    assert_int_equal(uc_sweep_new(&second, &p, u, 2, &o), 0);
    assert_int_equal(uc_journal_load(second, path), -ESTALE);
    uc_sweep_free(second);
    o.seed = 3;
    p.n--;
    assert_int_equal(uc_sweep_new(&second, &p, u, 2, &o), 0);
    assert_int_equal(uc_journal_load(second, path), -ESTALE);
    uc_sweep_free(second);
    p.n++;
    uc_sweep_free(first);
    uc_plan_free(&p);
}

/* The caches that a run goes on with are those of its beginning, or none. */
static void check_caches(const char *text, size_t n)
{
    struct uc_journal_facts c, before;
    char *at = memmem(text, n, &caches, sizeof(caches)), *copy = malloc(n);

    assert_non_null(at);
    assert_non_null(copy);
    assert_int_equal(uc_journal_facts(path, &c), 0);
    assert_memory_equal(&c.caches, &caches, sizeof(caches));
    memset(&c, 0x5A, sizeof(c));
    before = c;
    for (size_t i = 0; i < sizeof(caches); i += 7) {
        memcpy(copy, text, n);
        copy[(size_t)(at - text) + i] ^= 1;
        assert_int_equal(uc_write_file(path, copy, n), 0);
        assert_int_equal(uc_journal_facts(path, &c), -EINVAL);
        assert_int_equal(uc_write_file(path, text, i), 0);
        assert_int_equal(uc_journal_facts(path, &c), -EINVAL);
    }
    assert_int_equal(uc_journal_facts("/nowhere/journal", &c), -ENOENT);
    assert_memory_equal(&c, &before, sizeof(c));
    free(copy);
}

static void a_damaged_journal_is_refused(void **state)
{
    struct uc_plan p = small_plan();
    struct uc_subject u[1] = {uc_subject_function("a", memcpy)};
    struct uc_sweep_options o = sweep_options(3);
    struct uc_sweep *s;
    char *text;
    size_t n;

    assert_int_equal(uc_sweep_new(&s, &p, u, 1, &o), 0);
    assert_int_equal(uc_journal_load(s, "/nowhere/journal"), -ENOENT);
    assert_int_equal(uc_sweep_run(s), 0);
    assert_int_equal(uc_journal_save(s, path), 0);
    assert_int_equal(uc_read_file(path, 1 << 26, &text, &n), 0);
    check_caches(text, n);
    for (size_t cut = 0; cut < n; cut += cut < 256 ? 1 : 97) {
        assert_int_equal(uc_write_file(path, text, cut), 0);
        int rc = uc_journal_load(s, path);
        assert_true(rc == -EINVAL || rc == -ESTALE);
    }
    free(text);
    uc_sweep_free(s);
    uc_plan_free(&p);
}

static int make_path(void **state)
{
    int fd = mkstemp(path);
    return fd < 0 || close(fd);
}

static int drop_path(void **state)
{
    return unlink(path);
}

/* ---- the grade */

static void the_grade_follows_from_evidence(void **state)
{
    static const struct {
        struct uc_noise noise;
        char letter;
        const char *reason;
    } row[] = {
        {{0, 0, 0, 0, 0, 0, false}, 'A', NULL},
        {{.02, .01, .05, 0, .03, .03, false}, 'A', NULL},
        {{0, -1, -1, 0, 0, 0, false}, 'A', NULL},
        {{.021, 0, 0, 0, 0, 0, false}, 'B', "disturbed"},
        {{.2, 0, 0, 0, 0, 0, false}, 'C', "disturbed"},
        {{0, .02, 0, 0, 0, 0, false}, 'B', "hypervisor"},
        {{0, .2, 0, 0, 0, 0, false}, 'C', "hypervisor"},
        {{0, 0, .2, 0, 0, 0, false}, 'B', "sibling"},
        {{0, 0, .9, 0, 0, 0, false}, 'C', "sibling"},
        {{0, 0, 0, 0, .05, 0, false}, 'B', "itself"},
        {{0, 0, 0, 0, .1, 0, false}, 'C', "itself"},
        {{0, 0, 0, 0, 0, .05, false}, 'B', "half-width"},
        {{0, 0, 0, 0, 0, .5, false}, 'C', "half-width"},
        {{0, 0, 0, .05, 0, 0, false}, 'B', "before the run"},
        {{0, 0, 0, .1, 0, 0, false}, 'C', "before the run"},
        {{0, 0, 0, 0, 0, 0, true}, 'C', "emulated"},
    };

    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct uc_grade g;
        uc_grade_of(&row[i].noise, &g);
        assert_int_equal(g.letter, row[i].letter);
        assert_int_equal(g.reasons, row[i].reason != NULL);
        if (row[i].reason)
            assert_non_null(strstr(g.reason[0], row[i].reason));
    }
    struct uc_grade g;
    uc_grade_of(&(struct uc_noise){.05, .2, .1, .05, .05, .05, true}, &g);
    assert_int_equal(g.letter, 'C');
    assert_int_equal(g.reasons, UC_GRADE_REASONS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grid_is_what_the_readme_says),
        cmocka_unit_test(places_follow_the_weights),
        cmocka_unit_test(calls_lie_in_their_buffers),
        cmocka_unit_test(placements_follow_the_weights),
        cmocka_unit_test(empty_copies_are_null_half_of_the_time),
        cmocka_unit_test(probes_lie_where_they_say),
        cmocka_unit_test(mixes_never_repeat),
        cmocka_unit_test(fixed_order_repeats_each_size),
        cmocka_unit_test(subjects_are_called_in_their_range),
        cmocka_unit_test(rounds_alternate_the_place_of_the_code),
        cmocka_unit_test_setup_teardown(more_cores_than_there_are_is_refused, open_topology,
                                        close_topology),
        cmocka_unit_test_setup_teardown(others_copy_while_one_is_timed, open_topology,
                                        close_topology),
        cmocka_unit_test_setup_teardown(another_core_writes_dst_and_changes_nothing, open_topology,
                                        close_topology),
        cmocka_unit_test(disturbed_readings_make_no_cell),
        cmocka_unit_test(a_signal_stops_the_sweep),
        cmocka_unit_test(a_thread_moved_away_stops_the_sweep),
        cmocka_unit_test(one_bad_reading_puts_nobody_out),
        cmocka_unit_test(a_sweep_fills_its_time_where_asked),
        cmocka_unit_test_setup_teardown(a_journal_is_taken_up_whole, make_path, drop_path),
        cmocka_unit_test_setup_teardown(a_damaged_journal_is_refused, NULL, NULL),
        cmocka_unit_test(the_grade_follows_from_evidence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
