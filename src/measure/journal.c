#include "measure/journal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "measure/sweep_state.h"

#define MAGIC "ucopy-tune journal 4\n"

/* FNV-1a (Fowler, Noll and Vo) over all that the readings depend on: program, seed, places,
 * subjects. */
static uint64_t mix(uint64_t h, const void *p, size_t n)
{
    for (const unsigned char *b = p; n--; b++)
        h = (h ^ *b) * 0x100000001B3u;
    return h;
}

static uint64_t signature(const struct uc_sweep *s)
{
    uint64_t h = mix(0xCBF29CE484222325u, UC_VERSION, sizeof(UC_VERSION));

    h = mix(h, &s->o.seed, sizeof(s->o.seed));
    h = mix(h, &s->o.caches->l1d.bytes,
            sizeof(s->o.caches->l1d.bytes)); /* windows are made to fit them */
    h = mix(h, &s->o.caches->l2.bytes, sizeof(s->o.caches->l2.bytes));
    h = mix(h, s->o.weights->name, strlen(s->o.weights->name));
    for (size_t i = 0; i < s->n; i++) {
        const struct uc_cell *c = s->series[i].place;
        size_t v[] = {c->size,
                      c->size_hi,
                      c->src_state,
                      c->dst_state,
                      c->consumer,
                      c->mix,
                      c->order,
                      c->entry,
                      (size_t)c->dst_align,
                      (size_t)c->src_align,
                      (size_t)c->page_distance,
                      c->dst_end.kind,
                      c->src_end.kind,
                      (size_t)c->threads,
                      s->series[i].group};
        h = mix(h, v, sizeof(v));
    }
    for (size_t k = 0; k < s->subjects; k++) {
        h = mix(h, s->subject[k].name, strlen(s->subject[k].name));
        h = mix(h, &s->subject[k].form, sizeof(s->subject[k].form));
    }
    return h;
}

struct head {
    char magic[24];
    uint64_t signature;
    uint64_t rng;
    unsigned rounds[UC_GROUPS];
    double spent[UC_GROUPS];
    uint64_t readings, dropped;
    uint64_t done; /* 1: the sweep had ended */
    struct uc_journal_facts facts;
    uint64_t facts_sum; /* of the bytes of facts */
};

static uint64_t sum_of(const struct uc_journal_facts *f)
{
    return mix(0xCBF29CE484222325u, f, sizeof(*f));
}

static size_t values_bytes(const struct uc_sweep *s, const unsigned *rounds, enum uc_group g)
{
    return s->subjects * rounds[g] * sizeof(float);
}

static size_t journal_bytes(const struct uc_sweep *s, const unsigned *rounds)
{
    size_t n = sizeof(struct head);

    for (size_t i = 0; i < s->n; i++)
        n += values_bytes(s, rounds, s->series[i].group) + s->subjects * sizeof(bool);
    return n;
}

static char *put(char *at, const void *from, size_t n)
{
    return n ? (char *)memcpy(at, from, n) + n : at;
}

int uc_journal_save(const struct uc_sweep *s, const char *path)
{
    size_t bytes = journal_bytes(s, s->rounds);
    struct head h = {.magic = MAGIC,
                     .signature = signature(s),
                     .rng = s->rng.state,
                     .readings = s->readings,
                     .dropped = s->dropped,
                     .done = s->done};
    char *text = malloc(bytes), *p = text;

    if (!text)
        return -ENOMEM;
    memcpy(h.rounds, s->rounds, sizeof(h.rounds));
    memcpy(h.spent, s->spent, sizeof(h.spent));
    memcpy(&h.facts.caches, s->o.caches, sizeof(h.facts.caches)); /* padding too: the sum has it */
    h.facts.tsc_hz = s->o.clock->tsc_hz;
    h.facts.branch_ns = s->o.branch_ns;
    h.facts_sum = sum_of(&h.facts);
    p = put(p, &h, sizeof(h));
    for (size_t i = 0; i < s->n; i++) {
        const struct uc_series *e = &s->series[i];
        p = put(p, e->value, values_bytes(s, s->rounds, e->group));
        p = put(p, e->out, s->subjects * sizeof(bool));
    }
    int rc = uc_write_file(path, text, bytes);
    free(text);
    return rc;
}

int uc_journal_facts(const char *path, struct uc_journal_facts *f)
{
    struct head h = {0};
    FILE *in = fopen(path, "re");

    if (!in)
        return -errno;
    size_t got = fread(&h, 1, sizeof(h), in);
    fclose(in);
    if (got < sizeof(h) || memcmp(h.magic, MAGIC, sizeof(MAGIC)) != 0 ||
        h.facts_sum != sum_of(&h.facts) || !(h.facts.tsc_hz > 0))
        return -EINVAL;
    *f = h.facts;
    return 0;
}

static int check(const struct uc_sweep *s, const struct head *h, size_t bytes)
{
    if (bytes < sizeof(*h) || memcmp(h->magic, MAGIC, sizeof(MAGIC)) != 0)
        return -EINVAL;
    if (h->signature != signature(s))
        return -ESTALE;
    for (int g = 0; g < UC_GROUPS; g++)
        if (h->rounds[g] > UC_MAX_ROUNDS || !(h->spent[g] >= 0))
            return -EINVAL;
    return bytes == journal_bytes(s, h->rounds) ? 0 : -EINVAL;
}

/* A bool from disk is only ever 0 or 1 after this. */
static void take_series(const struct uc_sweep *s, const struct head *h, struct uc_series *e,
                        const char **p)
{
    size_t n = values_bytes(s, h->rounds, e->group);

    if (n)
        memcpy(e->value, *p, n);
    *p += n;
    for (size_t k = 0; k < s->subjects; k++)
        e->out[k] = *(*p)++ != 0 || e->out[k];
}

int uc_journal_load(struct uc_sweep *s, const char *path)
{
    struct head h = {0};
    char *text;
    size_t bytes;
    int rc = uc_read_file(path, (size_t)1 << 30, &text, &bytes);

    if (rc)
        return rc;
    memcpy(&h, text, bytes < sizeof(h) ? bytes : sizeof(h));
    rc = check(s, &h, bytes);
    for (size_t i = 0; i < s->n && !rc; i++)
        rc = uc_sweep_room(s, &s->series[i], h.rounds[s->series[i].group]);
    if (!rc) {
        const char *p = text + sizeof(h);
        for (size_t i = 0; i < s->n; i++)
            take_series(s, &h, &s->series[i], &p);
        memcpy(s->rounds, h.rounds, sizeof(h.rounds));
        memcpy(s->spent, h.spent, sizeof(h.spent));
        s->rng.state = h.rng;
        s->readings = h.readings;
        s->dropped = h.dropped;
        s->done = h.done == 1;
    }
    free(text);
    return rc;
}
