#include "measure/company.h"

#include <errno.h>
#include <stdlib.h>

struct copier {
    struct uc_pools pools;
    struct uc_batch batch;
    int rc;
};

struct uc_company {
    struct uc_crew *crew;
    struct copier *copier;
    unsigned others;
    size_t bytes;
    uint64_t seed;
    uc_loop *loop;
    uc_copy_fn *fn;
    const struct uc_call *calls; /* whose dst is to be written */
    size_t n;
};

/* By the one that copies, so that the pages lie at its own memory. */
static void map(void *arg, unsigned i)
{
    struct uc_company *c = arg;
    c->copier[i].rc = uc_pools_map(&c->copier[i].pools, c->bytes, 0, i & 1, c->seed + i);
}

int uc_company_open(struct uc_company **out, struct uc_topology *t, int pu, unsigned others,
                    size_t bytes, uint64_t seed)
{
    struct uc_company *c = calloc(1, sizeof(*c));
    int rc = c ? 0 : -ENOMEM;

    if (!rc) {
        c->bytes = bytes;
        c->seed = seed;
        c->copier = calloc(others ? others : 1, sizeof(*c->copier));
        rc = c->copier ? uc_crew_open(&c->crew, t, pu, others) : -ENOMEM;
    }
    if (!rc) {
        c->others = others;
        if (bytes)
            uc_crew_each(c->crew, map, c);
    }
    for (unsigned i = 0; !rc && i < others; i++)
        rc = c->copier[i].rc;
    if (rc)
        uc_company_close(c);
    else
        *out = c;
    return rc;
}

void uc_company_close(struct uc_company *c)
{
    if (!c)
        return;
    uc_crew_close(c->crew);
    for (unsigned i = 0; i < c->others; i++) {
        uc_batch_free(&c->copier[i].batch);
        uc_pools_unmap(&c->copier[i].pools);
    }
    free(c->copier);
    free(c);
}

int uc_company_draw(struct uc_company *c, const struct uc_batch *like, const struct uc_weights *w,
                    const struct uc_sizes *mix, struct uc_rng *rng)
{
    int rc = 0;

    for (unsigned i = 0; i < c->others && !rc; i++)
        rc = uc_batch_draw(&c->copier[i].batch, like->place, &c->copier[i].pools, like->caches, w,
                           mix, rng);
    return rc;
}

static void copy(void *arg, unsigned i)
{
    struct uc_company *c = arg;
    const struct uc_batch *b = &c->copier[i].batch;
    c->loop(c->fn, b->calls, b->n, b->base);
}

void uc_company_start(struct uc_company *c, uc_loop *loop, uc_copy_fn *fn)
{
    c->loop = loop;
    c->fn = fn;
    uc_crew_start(c->crew, copy, c);
}

void uc_company_stop(struct uc_company *c)
{
    uc_crew_stop(c->crew);
}

static void store_again(volatile char *p)
{
    *p = *p;
}

static void write_dst(void *arg, unsigned i)
{
    const struct uc_company *c = arg;

    for (size_t k = 0; k < c->n && !i; k++) {
        for (size_t at = 0; at < c->calls[k].size; at += 64)
            store_again(c->calls[k].dst + at);
        if (c->calls[k].size)
            store_again(c->calls[k].dst + c->calls[k].size - 1);
    }
}

void uc_company_write(struct uc_company *c, const struct uc_call *calls, size_t n)
{
    c->calls = calls;
    c->n = n;
    uc_crew_each(c->crew, write_dst, c);
}
