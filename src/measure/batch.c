#include "measure/batch.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine/clock.h"
#include "machine/evidence.h"
#include "measure/company.h"

#define PAGE 4096u
#define MIX_CALLS (64u * 1024) /* sizes of a mix: more than any predictor remembers */
#define LEARNED_CALLS (4u * 1024)
#define LARGE_MIX_BYTES (64u << 20) /* a reading of some milliseconds */
#define COLD_CALLS 32u              /* with some 100 us of other work before each */

static size_t up(size_t n, size_t to)
{
    return (n + to - 1) & ~(to - 1);
}

static size_t largest_size(const struct uc_cell *place)
{
    return place->size_hi ? place->size_hi : place->size;
}

static size_t level_bytes(const struct uc_caches *c, enum uc_state state)
{
    size_t l2 = c->l2.bytes ? c->l2.bytes : 256 * 1024;

    return state == UC_L3 ? 4 * l2 : l2;
}

/* In l1 and natural state a window of size + page serves, so that the page distance is free; l2 and
 * memory take a quarter of L2 each for src and dst, so that both fit and none stays in L1; l3 as
 * much of four L2. */
static size_t window_bytes(const struct uc_cell *place, const struct uc_caches *c,
                           enum uc_state state)
{
    size_t need = up(largest_size(place), PAGE) + PAGE;

    if (state == UC_L1 || state == UC_NATURAL)
        return need;
    size_t level = level_bytes(c, state) / 4;
    return level > need ? level : need;
}

/* Must every call of a batch find its dst as the place says? Then none may lie where another does.
 */
static bool laid_out(const struct uc_cell *place)
{
    return place->consumer == UC_EVICT || place->dst_state == UC_OTHER_CORE;
}

size_t uc_batch_bytes(const struct uc_cell *place, const struct uc_caches *c)
{
    size_t s = window_bytes(place, c, place->src_state),
           d = window_bytes(place, c, place->dst_state);
    size_t most = s > d ? s : d;

    if (laid_out(place) && most < level_bytes(c, UC_L2) + PAGE)
        most = level_bytes(c, UC_L2) + PAGE + up(largest_size(place), PAGE);
    return most + PAGE; /* the first page holds the line that is looked at in place of dst */
}

int uc_pools_map(struct uc_pools *p, size_t bytes, size_t warm, bool swap, uint64_t seed)
{
    int rc;

    memset(p, 0, sizeof(*p));
    rc = uc_buffer_map(&p->src, bytes, swap ? UC_NEXT_UNTOUCHED : UC_NEXT_UNMAPPED, seed);
    if (!rc)
        rc = uc_buffer_map(&p->dst, bytes, swap ? UC_NEXT_UNMAPPED : UC_NEXT_UNTOUCHED, ~seed);
    if (!rc && warm)
        rc = uc_buffer_map(&p->warm, warm, UC_NEXT_UNMAPPED, seed ^ 0x5555);
    if (rc)
        uc_pools_unmap(p);
    return rc;
}

void uc_pools_unmap(struct uc_pools *p)
{
    uc_buffer_unmap(&p->src);
    uc_buffer_unmap(&p->dst);
    uc_buffer_unmap(&p->warm);
}

void uc_batch_free(struct uc_batch *b)
{
    free(b->calls);
    memset(b, 0, sizeof(*b));
}

/* How many calls make a reading: some 10 us, and enough placements for the middle to mean
 * something. */
static size_t call_count(const struct uc_cell *place, const struct uc_caches *c)
{
    size_t n = place->size;

    if (place->code == UC_COLD)
        return COLD_CALLS;
    if (place->mix != UC_FIXED && n) { /* the large sizes of a mix, by themselves */
        size_t calls = LARGE_MIX_BYTES / place->size_hi;
        return calls < 64 ? 64 : calls > MIX_CALLS ? MIX_CALLS : calls;
    }
    if (place->mix != UC_FIXED)
        return place->order == UC_LEARNED ? LEARNED_CALLS : MIX_CALLS;
    if (place->consumer == UC_EVICT) {
        size_t calls = level_bytes(c, UC_L2) / (n ? n : 1);
        return calls < 1 ? 1 : calls > 8192 ? 8192 : calls;
    }
    size_t most = place->src_state == UC_MEMORY || place->dst_state == UC_MEMORY ? 64 : 512;
    size_t calls = 131072 / (n + 64);
    return calls < 1 ? 1 : calls > most ? most : calls;
}

/* Page offsets of src and dst by the weights: aligned to 16 or odd, apart or equal. */
static void draw_offsets(const struct uc_cell *place, const struct uc_weights *w,
                         struct uc_rng *rng, size_t *src, size_t *dst)
{
    double u = uc_rng_unit(rng);
    bool dst_off =
        u >= w->both_aligned && (u < w->both_aligned + w->dst_off || u >= 1 - w->both_off);
    bool src_off = u >= w->both_aligned + w->dst_off;
    size_t s = uc_rng_below(rng, PAGE), d = uc_rng_below(rng, PAGE);

    s = src_off ? s | 1 : s & ~(size_t)15;
    d = dst_off ? d | 1 : d & ~(size_t)15;
    if (uc_rng_unit(rng) < w->equal_distance)
        d = s;
    if (place->src_align >= 0)
        s = (s & ~(size_t)63) | (size_t)place->src_align;
    if (place->dst_align >= 0)
        d = (d & ~(size_t)63) | (size_t)place->dst_align;
    if (place->src_align >= 0 &&
        place->dst_align >= 0) /* half a page apart: no cliff of distance */
        d = ((s + PAGE / 2) % PAGE & ~(size_t)63) | (size_t)place->dst_align;
    if (place->page_distance >= 0)
        d = (s + (size_t)place->page_distance) % PAGE;
    *src = s;
    *dst = d;
}

/* A buffer's address: offset in a page drawn in the window that ends with the pool. */
static unsigned char *place_in(const struct uc_buffer *b, size_t window, size_t n, size_t offset,
                               struct uc_rng *rng)
{
    size_t room = window - up(n, PAGE) - PAGE;
    size_t page = room ? uc_rng_below(rng, room / PAGE + 1) * PAGE : 0;

    return b->end - window + page + offset;
}

static enum uc_next_page wanted_next(enum uc_end_kind kind)
{
    return kind == UC_END_UNTOUCHED ? UC_NEXT_UNTOUCHED : UC_NEXT_UNMAPPED;
}

static bool ends_at(const struct uc_end *e, const struct uc_buffer *b)
{
    return e->kind >= UC_END_UNTOUCHED && b->next == wanted_next(e->kind);
}

/* What the consumer looks at: the largest of 8, 4 and 1 bytes that fits, anywhere in dst. */
static void draw_look(struct uc_call *c, const char *base, struct uc_rng *rng)
{
    unsigned width = c->size >= 8 ? 8 : c->size >= 4 ? 4 : 1;

    c->look8 = c->look4 = c->look1 = 0;
    if (!c->size)
        return;
    unsigned at = (unsigned)(c->dst - base) + (unsigned)uc_rng_below(rng, c->size - width + 1);
    *(width == 8 ? &c->look8 : width == 4 ? &c->look4 : &c->look1) = at;
}

static void draw_call(struct uc_batch *b, const struct uc_weights *w, struct uc_rng *rng, size_t n,
                      struct uc_call *c)
{
    const struct uc_cell *p = b->place;
    size_t so, dof;
    bool null = !n && (uc_rng_next(rng) & 1) && p->dst_align < 0 && p->src_align < 0;

    draw_offsets(p, w, rng, &so, &dof);
    unsigned char *s =
        place_in(&b->pools->src, window_bytes(p, b->caches, p->src_state), n, so, rng);
    unsigned char *d =
        place_in(&b->pools->dst, window_bytes(p, b->caches, p->dst_state), n, dof, rng);
    bool drawn = p->dst_align < 0 && p->src_align < 0 && p->page_distance < 0 &&
                 p->src_end.kind == UC_END_DRAWN && p->dst_end.kind == UC_END_DRAWN;
    if (drawn && uc_rng_unit(rng) < w->page_end) {
        if (uc_rng_next(rng) & 1)
            s = b->pools->src.end - n;
        else
            d = b->pools->dst.end - n;
    }
    if (ends_at(&p->src_end, &b->pools->src))
        s = b->pools->src.end - n - (p->src_end.distance > 0 ? p->src_end.distance : 0);
    if (ends_at(&p->dst_end, &b->pools->dst))
        d = b->pools->dst.end - n - (p->dst_end.distance > 0 ? p->dst_end.distance : 0);
    c->size = (unsigned)n;
    c->src = null ? NULL : (const char *)s;
    c->dst = null ? NULL : (char *)d;
}

/* Slots one behind the other through an L2 of dst. */
static void lay_out(struct uc_batch *b)
{
    const struct uc_buffer *dst = &b->pools->dst;
    size_t level = level_bytes(b->caches, UC_L2), at = 0;

    for (size_t i = 0; i < b->n; i++) {
        struct uc_call *c = &b->calls[i];
        if (!c->dst)
            continue;
        size_t offset = (size_t)(c->dst - (char *)dst->start) % 64;
        if (at + c->size + 64 > level)
            at = 0;
        if (c->size < level)
            c->dst = (char *)dst->start + PAGE + at + offset % 64;
        /* no line of another core is fetched by the call before */
        at += up(c->size + (b->place->dst_state == UC_OTHER_CORE ? offset % 64 : 0), 64);
    }
}

static int by_size(const void *a, const void *b)
{
    const struct uc_call *x = a, *y = b;
    return (x->size > y->size) - (x->size < y->size);
}

int uc_batch_draw(struct uc_batch *b, const struct uc_cell *place, const struct uc_pools *pools,
                  const struct uc_caches *caches, const struct uc_weights *w,
                  const struct uc_sizes *mix, struct uc_rng *rng)
{
    size_t n = call_count(place, caches);

    if (n > b->cap) {
        void *p = realloc(b->calls, n * sizeof(*b->calls));
        if (!p)
            return -ENOMEM;
        b->calls = p;
        b->cap = n;
    }
    b->place = place;
    b->pools = pools;
    b->caches = caches;
    b->base = (const char *)pools->dst.start;
    b->n = n;
    for (size_t i = 0; i < n; i++)
        draw_call(b, w, rng, mix ? uc_sizes_draw(mix, rng) : place->size, &b->calls[i]);
    if (place->order ==
        UC_SAME) /* a mix as fixed sizes: each one repeated as often as it was drawn */
        qsort(b->calls, n, sizeof(*b->calls), by_size);
    if (laid_out(place))
        lay_out(b);
    for (size_t i = 0; i < n; i++)
        draw_look(&b->calls[i], b->base, rng);
    return 0;
}

static void flush_calls(const struct uc_batch *b, bool src, bool dst)
{
    for (size_t i = 0; i < b->n; i++) {
        const struct uc_call *c = &b->calls[i];
        if (src && c->src)
            uc_flush(c->src, c->size);
        if (dst && c->dst)
            uc_flush(c->dst, c->size);
    }
    uc_flush_fence();
}

static void touch_window(const struct uc_batch *b, const struct uc_buffer *buf, enum uc_state state)
{
    size_t window = window_bytes(b->place, b->caches, state);
    uc_touch(buf->end - window, window);
}

/* Brings src and dst where the place says. l1 and natural are made by the copies themselves: a
 * warm-up run of the loop, which also trains the predictor on a fixed size. */
static void prepare(const struct uc_batch *b, const struct uc_subject *u, uc_loop *loop)
{
    const struct uc_cell *p = b->place;
    bool src_memory = p->src_state == UC_MEMORY, dst_memory = p->dst_state == UC_MEMORY;

    if (p->src_state == UC_L2 || p->src_state == UC_L3)
        touch_window(b, &b->pools->src, p->src_state);
    if (p->dst_state == UC_L2 || p->dst_state == UC_L3)
        touch_window(b, &b->pools->dst, p->dst_state);
    if (src_memory || dst_memory)
        flush_calls(b, src_memory, dst_memory);
    else if (p->order == UC_LEARNED)
        for (int i = 0; i < 8; i++)
            loop(u->fn, b->calls, b->n, b->base);
    else if (p->mix == UC_FIXED && p->size <= 1024 * 1024 &&
             (p->src_state == UC_L1 || p->src_state == UC_NATURAL))
        loop(u->fn, b->calls, b->n, b->base);
    if (p->dst_state == UC_OTHER_CORE)
        uc_company_write(b->company, b->calls, b->n);
}

static double read_warm(const struct uc_batch *b)
{
    uint64_t t = uc_ticks();
    uc_touch(b->pools->warm.start, level_bytes(b->caches, UC_L2) / 2);
    return (double)(uc_ticks() - t);
}

/* src as the place says, dst flushed, then the warm set read twice: what a program had in L2. */
static void prepare_evict(struct uc_batch *b)
{
    enum uc_state src = b->place->src_state;

    flush_calls(b, src == UC_MEMORY, true);
    if (src != UC_MEMORY)
        for (size_t i = 0; i < b->n; i++)
            if (b->calls[i].src)
                uc_touch(b->calls[i].src, b->calls[i].size);
    if (src == UC_L3) /* pushed out of L2 by as much again */
        uc_touch(b->pools->warm.start, b->pools->warm.bytes);
    read_warm(b);
    read_warm(b);
    double t = read_warm(b);
    if (!b->undisturbed || t < b->undisturbed)
        b->undisturbed = t;
}

static uc_loop *loop_of(const struct uc_loops *l, enum uc_consumer consumer)
{
    switch (consumer) {
    case UC_READ:
        return l->read;
    case UC_WAIT:
        return l->wait;
    case UC_SCAN:
        return l->scan;
    default:
        return l->none;
    }
}

static double time_once(struct uc_batch *b, const struct uc_subject *u, double overhead)
{
    uc_loop *loop = loop_of(u->loops, b->place->consumer);

    if (b->place->code == UC_COLD) { /* takes the timer's overhead off itself, so may be below 0 */
        prepare(b, u, loop);
        loop = loop_of(u->cold, b->place->consumer);
        return (double)(long)loop(u->fn, b->calls, b->n, b->base);
    }
    if (b->place->threads > 1) {
        uc_company_start(b->company, loop, u->fn);
        prepare(b, u, loop);
        double t = (double)loop(u->fn, b->calls, b->n, b->base) - overhead;
        uc_company_stop(b->company);
        return t;
    }
    if (b->place->consumer != UC_EVICT) {
        prepare(b, u, loop);
        return (double)loop(u->fn, b->calls, b->n, b->base) - overhead;
    }
    prepare_evict(b);
    double t = (double)loop(u->fn, b->calls, b->n, b->base) - overhead;
    return t + read_warm(b) - b->undisturbed;
}

double uc_batch_time(struct uc_batch *b, const struct uc_subject *u, double overhead,
                     unsigned long *disturbed)
{
    struct uc_evidence before, after;

    for (int tries = 0; tries < 3; tries++) {
        uc_evidence_now(&before);
        double t = time_once(b, u, overhead);
        uc_evidence_now(&after);
        if (!uc_disturbed(&before, &after))
            return (t > 0 ? t : 1e-3) / (double)b->n;
        ++*disturbed;
    }
    return NAN;
}

void uc_batch_between(struct uc_batch *b, const struct uc_subject *u,
                      void (*edge)(void *state, bool begin), void *state)
{
    bool evicts = b->place->consumer == UC_EVICT;
    uc_loop *loop = loop_of(u->loops, b->place->consumer);

    if (evicts)
        prepare_evict(b);
    else
        prepare(b, u, loop);
    edge(state, true);
    loop(u->fn, b->calls, b->n, b->base);
    if (evicts)
        read_warm(b);
    edge(state, false);
}
