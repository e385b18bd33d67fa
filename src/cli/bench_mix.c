/* `bench --sizes-from`: a size distribution replayed, call by call, and what each copy costs on it.
 */
#include "cli/bench.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/msg.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "cli/output.h"

/* Sizes over a quarter of L1 do not fit beside each other in l1: they are replayed by themselves,
 * where they lie, and told apart. Those above LARGEST are not, and are counted. */
#define LARGEST (16u << 20)

static size_t largest(const struct uc_session *s, int state)
{
    size_t l1 = s->caches.l1d.bytes ? s->caches.l1d.bytes : 32 * 1024;
    size_t l2 = s->caches.l2.bytes ? s->caches.l2.bytes : 256 * 1024;

    return state == UC_L1 ? l1 / 4 : l2 / 4;
}

static double share_above(const struct uc_sizes *d, size_t top)
{
    double share = 0;

    for (size_t i = 0; i < d->n; i++)
        share += d->size[i] > top ? d->share[i] : 0;
    return share;
}

/* What is in neither part of the replay. */
static void tell_left_out(const struct uc_sizes *d)
{
    double share = share_above(d, LARGEST);

    if (share > 0)
        uc_note("%s: %.2f %% of the calls, above 16 MiB, are not replayed", d->name, 100 * share);
}

/* Ratio to the first subject: its time over this one's, with the interval that both intervals
 * leave. */
static void print_row(const struct uc_session *s, const struct uc_cell *c,
                      const struct uc_cell *base)
{
    printf("%-36s %-7s %9.2f %9.2f", c->strategy, uc_form_name[c->form], c->cost,
           c->cost * s->clock.tsc_hz / 1e9);
    if (base)
        printf(" %7.2f %7.2f to %.2f", base->cost / c->cost, base->lo / c->hi, base->hi / c->lo);
    putchar('\n');
}

static void print_rows(const struct uc_session *s, const struct uc_cells *cells,
                       const struct uc_subject *u, size_t n, size_t size)
{
    const struct uc_cell *base = uc_bench_cell(cells, &u[0], size, UC_WARM);

    for (size_t i = 0; i < n; i++) {
        const struct uc_cell *c = uc_bench_cell(cells, &u[i], size, UC_WARM);
        if (c)
            print_row(s, c, base);
        else
            uc_note("%s is left out: it serves %zu to %zu bytes", u[i].name, u[i].min, u[i].max);
    }
}

static void print_table(const struct uc_bench_answer *a)
{
    const struct uc_bench_mix_facts *m = a->mix;

    uc_print_version();
    printf("# %s on %s, CPU %d; state %s, consumer %s, order %s; sizes to %zu\n", m->name,
           a->s->cpu.key, a->s->pu, uc_state_name[a->state], uc_consumer_name[a->consumer],
           uc_order_name[m->order], m->to);
    printf("# ratio: the time of %s over that of the copy\n", a->u[0].name);
    printf("%-36s %-7s %9s %9s %7s  %s\n", "copy", "form", "ns", "tsc_ticks", "ratio", "interval");
    print_rows(a->s, a->cells, a->u, a->n, 0);
    if (!m->larger_to)
        return;
    printf("# the other %.2f %% of the calls, %zu to %zu bytes, state natural, not counted above\n",
           100 * m->larger, m->larger_from, m->larger_to);
    print_rows(a->s, a->cells, a->u, a->n, m->larger_from);
}

static int print_answer(const struct uc_options *o, const struct uc_bench_answer *a)
{
    if (uc_bench_wants(o, "json"))
        return uc_bench_print_json(a);
    if (!uc_bench_wants(o, "csv")) {
        print_table(a);
        return 0;
    }
    uc_cells_write_csv(a->cells, a->s->clock.tsc_hz, stdout);
    uc_print_version();
    return 0;
}

/* Replays the sizes of one part; cells of both parts are told apart by their smallest size. */
static int measure_part(const struct uc_bench *b, const struct uc_options *o, struct uc_session *s,
                        const struct uc_weights *weights, const struct uc_sizes *part, bool larger,
                        const struct uc_subject *u, size_t n, struct uc_cells *cells)
{
    struct uc_cell c = uc_cell_default("", larger ? part->size[0] : 0);
    struct uc_weights w = *weights;
    struct uc_plan plan = {0};

    c.size_hi = part->size[part->n - 1];
    c.mix = UC_NAMED;
    c.order = (enum uc_order)b->order;
    c.src_state = c.dst_state = larger ? UC_NATURAL : (enum uc_state)b->state;
    c.consumer = o->consumer < 0 ? UC_NONE : (enum uc_consumer)o->consumer;
    w.sizes = part;
    int rc = uc_plan_add(&plan, &c, larger ? UC_MIDDLE : UC_BANDS);
    if (!rc)
        rc = uc_bench_measure(o, s, &w, &plan, u, n, cells);
    uc_plan_free(&plan);
    return rc;
}

/* What is timed of a distribution. */
struct parts {
    struct uc_sizes all, cut, rest;
};

static int cut_parts(const struct uc_options *o, size_t top, struct parts *p)
{
    int rc = uc_sizes_cut(&p->all, 0, top, &p->cut);

    if (rc == -EINVAL) {
        uc_error("%s: no size up to %zu, a quarter of the cache: nothing is left to replay as a "
                 "mix; time such sizes one by one, with --size",
                 o->sizes_from, top);
        return UC_EXIT_USAGE;
    }
    if (!rc)
        tell_left_out(&p->all);
    if (!rc && share_above(&p->all, top) > 0)
        rc = uc_sizes_cut(&p->all, top + 1, LARGEST, &p->rest);
    return rc == -EINVAL ? 0 : rc; /* none of them is up to LARGEST */
}

/* 0, a negative errno or the exit code. */
static int replay(struct uc_bench *b, const struct uc_options *o, struct uc_session *s,
                  const struct uc_weights *w, const struct parts *p, const struct uc_subject *u,
                  size_t n)
{
    struct uc_cells cells = {0};
    const struct uc_sizes *rest = &p->rest;
    struct uc_bench_mix_facts m = {
        .name = p->cut.name,
        .order = (enum uc_order)b->order,
        .to = p->cut.size[p->cut.n - 1],
        .larger = rest->n ? share_above(&p->all, p->cut.size[p->cut.n - 1]) -
                                share_above(&p->all, LARGEST)
                          : 0,
        .larger_from = rest->n ? rest->size[0] : 0,
        .larger_to = rest->n ? rest->size[rest->n - 1] : 0,
        .not_replayed = share_above(&p->all, LARGEST),
    };
    struct uc_bench_answer a = {
        .s = s,
        .cells = &cells,
        .u = u,
        .n = n,
        .state = (enum uc_state)b->state,
        .consumer = o->consumer < 0 ? UC_NONE : (enum uc_consumer)o->consumer,
        .mix = &m,
    };
    int rc = measure_part(b, o, s, w, &p->cut, false, u, n, &cells);

    if (!rc && rest->n)
        rc = measure_part(b, o, s, w, rest, true, u, n, &cells);
    if (!rc)
        rc = print_answer(o, &a);
    uc_cells_free(&cells);
    return rc;
}

int uc_bench_mix(struct uc_bench *b, const struct uc_options *o, struct uc_session *s,
                 const struct uc_subject *u, size_t n)
{
    struct uc_weights w;
    struct uc_options plain = *o;
    struct parts p = {0};

    if (o->consumer == UC_SCAN || o->consumer == UC_EVICT) {
        uc_usage("--consumer %s: a replayed mix has none, read or wait",
                 uc_consumer_name[o->consumer]);
        return UC_EXIT_USAGE;
    }
    plain.consumer = -1;
    int rc = uc_choice_weights(&plain, &w, &p.all);
    if (rc)
        return rc;
    if (b->state == UC_NATURAL)
        b->state = UC_L1;
    rc = cut_parts(o, largest(s, b->state), &p);
    if (!rc)
        rc = replay(b, o, s, &w, &p, u, n);
    uc_sizes_free(&p.rest);
    uc_sizes_free(&p.cut);
    uc_sizes_free(&p.all);
    return rc < 0 ? uc_session_failed(s, rc) : rc;
}
