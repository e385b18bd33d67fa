/* `bench`'s counter pass, apart from timing: each event for one batch a copy and place. */
#include "cli/bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/msg.h"
#include "measure/batch.h"

static int keep(struct uc_bench_counts *all, size_t size, const char *copy,
                const struct uc_count *count, size_t calls)
{
    struct uc_bench_count *v = realloc(all->v, (all->n + 1) * sizeof(*v));

    if (!v)
        return -ENOMEM;
    all->v = v;
    v[all->n++] = (struct uc_bench_count){size, copy, *count, (double)count->value / (double)calls};
    return 0;
}

static bool serves(const struct uc_subject *u, const struct uc_cell *place)
{
    return place->size >= u->min && place->size <= u->max && place->code != UC_COLD;
}

static int count_copy(struct uc_counters *c, struct uc_batch *batch, const struct uc_subject *u,
                      size_t size, struct uc_bench_counts *all)
{
    struct uc_count count[UC_MAX_EVENTS];
    unsigned long dropped = 0;
    int rc = 0;

    uc_batch_time(batch, u, 0, &dropped); /* once unseen, to be warm */
    uc_counters_start(c);
    u->loops->none(u->fn, batch->calls, batch->n, batch->base);
    uc_counters_stop(c);
    size_t counted = uc_counters_read(c, count);
    for (size_t e = 0; e < counted && !rc; e++)
        rc = keep(all, size, u->name, &count[e], batch->n);
    return rc;
}

static int count_place(struct uc_counters *c, const struct uc_session *s,
                       const struct uc_cell *place, const struct uc_subject *u, size_t n,
                       uint64_t seed, struct uc_bench_counts *all)
{
    struct uc_pools pools;
    struct uc_batch batch = {0};
    struct uc_rng rng = {seed};
    int rc = uc_pools_map(&pools, uc_batch_bytes(place, &s->caches), 0, false, seed);

    if (!rc)
        rc = uc_batch_draw(&batch, place, &pools, &s->caches, &uc_weights_default, NULL, &rng);
    for (size_t k = 0; k < n && !rc; k++)
        if (serves(&u[k], place))
            rc = count_copy(c, &batch, &u[k], place->size, all);
    uc_batch_free(&batch);
    uc_pools_unmap(&pools);
    return rc;
}

int uc_bench_count(const struct uc_bench *b, const struct uc_session *s, const struct uc_plan *plan,
                   const struct uc_subject *u, size_t n, uint64_t seed, struct uc_bench_counts *all)
{
    struct uc_counters *c = NULL;
    char why[256];
    const char *usual[UC_MAX_EVENTS];
    size_t events = b->events ? b->events : uc_counters_default(usual);
    int rc = uc_counters_open(&c, b->events ? b->event : usual, events, why, sizeof(why));

    if (rc) {
        uc_note("no counters: %s", why);
        return 0;
    }
    for (size_t i = 0; i < plan->n && !rc; i++)
        rc = count_place(c, s, &plan->place[i], u, n, seed, all);
    uc_counters_close(c);
    return rc;
}

void uc_bench_print_counts(const struct uc_bench_counts *all)
{
    if (!all->n)
        return;
    printf(
        "\n# counts a call, in user mode, in a pass apart from timing\n%10s  %-28s  %-24s %12s\n",
        "size", "strategy", "event", "count");
    for (size_t i = 0; i < all->n; i++) {
        const struct uc_bench_count *x = &all->v[i];
        printf("%10zu  %-28s  %-24s ", x->size, x->copy, x->count.event);
        if (x->count.valid)
            printf("%12.2f\n", x->a_call);
        else
            printf("not counted: %s\n", x->count.why);
    }
}
