#include "measure/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const uc_group_name[UC_GROUPS] = {"short and cached sizes", "mixed sizes",
                                              "64 KiB to 1 MiB",        "above 1 MiB",
                                              "copies not read again",  "worst placements"};
const size_t uc_band_end[] = {16, 64, 256, 1024, 4096};
const size_t uc_band_count = sizeof(uc_band_end) / sizeof(uc_band_end[0]);

static int add_size(struct uc_plan *p, size_t n)
{
    size_t *v = realloc(p->size, (p->sizes + 1) * sizeof(*v));
    if (!v)
        return -ENOMEM;
    p->size = v;
    p->size[p->sizes++] = n;
    return 0;
}

/* Steps an octave of the geometric grid above 256: fewer where a reading takes milliseconds. */
static size_t steps(size_t octave, bool quick)
{
    size_t n = octave < 4096 ? 8 : octave < 64 * 1024 ? 4 : octave < 16 * 1024 * 1024 ? 2 : 1;
    return quick && n > 2 ? n / 2 : n;
}

static int make_grid(struct uc_plan *p, size_t top, bool quick)
{
    int rc = 0;

    for (size_t n = 0; n <= 64 && !rc; n++)
        rc = add_size(p, n);
    for (size_t n = 72; n <= 256 && !rc; n += quick ? 16 : 8)
        rc = add_size(p, n);
    for (size_t octave = 256; octave < top && !rc; octave *= 2)
        for (size_t i = 1; i <= steps(octave, quick) && !rc; i++) {
            size_t n = octave + octave / steps(octave, quick) * i;
            if (n <= top)
                rc = add_size(p, n);
        }
    return rc;
}

int uc_plan_add(struct uc_plan *p, const struct uc_cell *place, enum uc_group group)
{
    if (p->n == p->cap) {
        size_t cap = p->cap ? 2 * p->cap : 256;
        struct uc_cell *v = realloc(p->place, cap * sizeof(*v));
        if (v)
            p->place = v;
        enum uc_group *g = v ? realloc(p->group, cap * sizeof(*g)) : NULL;
        if (!g)
            return -ENOMEM;
        p->group = g;
        p->cap = cap;
    }
    p->place[p->n] = *place;
    p->group[p->n++] = group;
    return 0;
}

static int add(struct uc_plan *p, size_t n, enum uc_state src, enum uc_state dst,
               enum uc_consumer consumer, enum uc_group group)
{
    struct uc_cell c = uc_cell_default("", n);

    c.src_state = src;
    c.dst_state = dst;
    c.consumer = consumer;
    if (consumer == UC_EVICT)
        c.entry = UC_NOCACHE;
    return uc_plan_add(p, &c, group);
}

static enum uc_group group_of(size_t n)
{
    return n <= 64 * 1024 ? UC_SMALL : n <= 1024 * 1024 ? UC_MIDDLE : UC_LARGE;
}

/* Every consumer with weight in l1 (or the state that the size leads to), none alone in the other
 * states. */
static int add_copy_places(struct uc_plan *p, const struct uc_plan_options *o, size_t n)
{
    size_t quarter = (o->caches->l1d.bytes ? o->caches->l1d.bytes : 32 * 1024) / 4;
    const double *consumer =
        n <= UC_SMALL_MAX ? o->weights->consumer_small : o->weights->consumer_large;
    int rc = 0;

    for (int k = 0; k < UC_CONSUMER_COUNT && !rc; k++) {
        if (consumer[k] <= 0)
            continue;
        if (n > quarter)
            rc = add(p, n, UC_NATURAL, UC_NATURAL, (enum uc_consumer)k, group_of(n));
        for (int s = UC_L1; s <= UC_MEMORY && n <= quarter && !rc; s++) {
            bool one = s == UC_L1 || n > UC_SMALL_MAX || k == UC_NONE;
            if (one && o->weights->state_small[s] > 0)
                rc =
                    add(p, n, (enum uc_state)s, (enum uc_state)s, (enum uc_consumer)k, group_of(n));
        }
    }
    return rc;
}

/* Can a src of n bytes lie in that cache at all? */
static bool holds(const struct uc_caches *c, int state, size_t n)
{
    size_t l2 = c->l2.bytes ? c->l2.bytes : 256 * 1024;

    return state == UC_L2   ? n <= l2 / 2
           : state == UC_L3 ? !c->l3.bytes || n <= c->l3.bytes / 2
                            : true;
}

static int add_evicts(struct uc_plan *p, const struct uc_plan_options *o, size_t n)
{
    int rc = 0;

    for (int s = UC_L1; s <= UC_MEMORY && !rc; s++)
        if (o->weights->nocache_src[s] > 0 && (!o->quick || s == UC_L2 || n > 1024 * 1024) &&
            holds(o->caches, s, n))
            rc = add(p, n, (enum uc_state)s, UC_MEMORY, UC_EVICT,
                     n > 1024 * 1024 ? UC_LARGE : UC_EVICTS);
    return rc;
}

/* nocache differs from copy where the caches are at stake: every second octave to 1 KiB, from there
 * two sizes an octave. */
static int add_nocache_places(struct uc_plan *p, const struct uc_plan_options *o, size_t n)
{
    size_t octave = 64;

    while (2 * octave <= n)
        octave *= 2;
    bool wanted = n == octave || (n == octave + octave / 2 && n > 1024 && !o->quick);
    if (n < 1024)
        wanted = !n || ((n & (n - 1)) == 0 && __builtin_ctzll(n) % 2 == 0);
    return wanted ? add_evicts(p, o, n) : 0;
}

int uc_plan_add_size(struct uc_plan *p, const struct uc_plan_options *o, enum uc_entry entry,
                     size_t n)
{
    return entry == UC_NOCACHE ? add_evicts(p, o, n) : add_copy_places(p, o, n);
}

int uc_plan_add_band(struct uc_plan *p, const struct uc_plan_options *o, size_t band)
{
    int rc = 0;

    for (int k = 0; k < UC_CONSUMER_COUNT && !rc; k++) {
        if (o->weights->consumer_small[k] <= 0)
            continue;
        struct uc_cell c = uc_cell_default("", 0);
        c.size_hi = uc_band_end[band];
        c.mix = UC_BAND;
        c.src_state = c.dst_state = UC_L1;
        c.consumer = (enum uc_consumer)k;
        rc = uc_plan_add(p, &c, UC_BANDS);
    }
    return rc;
}

static int add_bands(struct uc_plan *p, const struct uc_plan_options *o)
{
    int rc = 0;

    for (size_t b = 0; b < uc_band_count && !rc; b++)
        rc = uc_plan_add_band(p, o, b);
    return rc;
}

/* Worst page distances: dst just behind src (loads wait for stores, rep falls back to bytes), just
 * before it, and equal; and page ends before an untouched or unmapped page. */
static int add_probes(struct uc_plan *p)
{
    static const size_t distance_size[] = {64, 256, 1024, 4096, 16384};
    static const int distance[] = {0, 1, 16, 63, 64, 4032, 4065, 4095};
    static const size_t end_size[] = {8, 24, 40, 100, 200};
    int rc = 0;

    for (size_t i = 0; i < sizeof(distance_size) / sizeof(distance_size[0]); i++)
        for (size_t k = 0; k < sizeof(distance) / sizeof(distance[0]) && !rc; k++) {
            struct uc_cell c = uc_cell_default("", distance_size[i]);
            c.src_state = c.dst_state = distance_size[i] <= 4096 ? UC_L1 : UC_NATURAL;
            c.page_distance = distance[k];
            rc = uc_plan_add(p, &c, UC_PROBES);
        }
    for (size_t i = 0; i < sizeof(end_size) / sizeof(end_size[0]); i++)
        for (int k = 0; k < 4 && !rc; k++) {
            struct uc_cell c = uc_cell_default("", end_size[i]);
            struct uc_end end = {k & 1 ? UC_END_UNTOUCHED : UC_END_UNMAPPED, 0},
                          none = {UC_END_NONE, -1};
            c.src_state = c.dst_state = UC_L1;
            c.src_end = k & 2 ? end : none;
            c.dst_end = k & 2 ? none : end;
            rc = uc_plan_add(p, &c, UC_PROBES);
        }
    return rc;
}

/* Both ends on a line, against the store-only and load-only limits. */
static int add_limits(struct uc_plan *p)
{
    int rc = 0;

    for (size_t n = 8192; n <= 16384 && !rc; n += 4096) {
        struct uc_cell c = uc_cell_default("", n);
        c.src_state = c.dst_state = UC_NATURAL;
        c.src_align = c.dst_align = 0;
        rc = uc_plan_add(p, &c, UC_PROBES);
    }
    return rc;
}

int uc_plan_make(struct uc_plan *p, const struct uc_plan_options *o)
{
    int rc;

    memset(p, 0, sizeof(*p));
    rc = make_grid(p, o->top, o->quick);
    for (size_t i = 0; i < p->sizes && !rc; i++) {
        rc = add_copy_places(p, o, p->size[i]);
        if (!rc && o->nocache)
            rc = add_nocache_places(p, o, p->size[i]);
    }
    if (!rc)
        rc = add_bands(p, o);
    if (!rc && !o->quick)
        rc = add_probes(p);
    if (!rc)
        rc = add_limits(p);
    if (rc)
        uc_plan_free(p);
    return rc;
}

void uc_plan_free(struct uc_plan *p)
{
    free(p->place);
    free(p->group);
    free(p->size);
    memset(p, 0, sizeof(*p));
}
