/* Other cores: from which size streaming pays where all of them copy at once, and what a copy costs
 * into lines that another core wrote last. Neither has a weight: what was chosen for one core
 * stands, and the profile and the summary tell both. */
#include "cli/tune.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "cli/command.h"
#include "measure/company.h"

#define LOAD_BYTES ((size_t)1 << 30) /* of all cores' buffers together, at most */
#define RIVALS 2                     /* of each kind, beside those of the ladder */

static bool streams(const struct uc_tune *t, const char *name)
{
    for (size_t k = 0; k < t->strategies; k++)
        if (!strcmp(t->known[k].name, name))
            return t->known[k].streaming;
    return false;
}

size_t uc_tune_streams_above(const struct uc_tune *t, const struct uc_ladder *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (streams(t, l->segment[i].strategy))
            return i ? l->segment[i - 1].max : 0;
    return SIZE_MAX;
}

/* The cheapest of a kind at a size of the quiet cells. */
static void mark_rivals(const struct uc_tune *t, const struct uc_fit_model *m, size_t size,
                        bool streaming, bool *wanted)
{
    struct uc_ranked c[UC_MAX_SUBJECTS];
    size_t n = 0;

    for (size_t k = 0; k < t->strategies; k++) {
        double cost = uc_fit_model_cost(m, t->known[k].name, size, size, NULL, NULL);
        if (t->known[k].role == UCOPY_CANDIDATE && t->known[k].streaming == streaming &&
            !isnan(cost))
            c[n++] = (struct uc_ranked){k, cost};
    }
    uc_tune_rank(c, n);
    for (size_t i = 0; i < n && i < RIVALS; i++)
        wanted[c[i].who] = true;
}

static bool in_ladder(const struct uc_tune *t, const char *name)
{
    const struct uc_ladder *l = &t->profile.entry[UC_COPY].ladder;

    for (size_t i = 0; i < l->n; i++)
        if (!strcmp(l->segment[i].strategy, name))
            return true;
    return false;
}

/* Those of the ladder, the best of each kind where they must show it, libc. */
static size_t subjects(const struct uc_tune *t, const size_t *size, size_t sizes,
                       struct uc_subject *u)
{
    struct uc_fit_options fo = uc_tune_fit_options(t, UC_COPY);
    struct uc_fit_model *m = uc_fit_model_new(&t->cells, &fo);
    bool wanted[UC_MAX_SUBJECTS] = {false};
    size_t n = 0;

    for (size_t i = 0; i < sizes && m; i++)
        for (int streaming = 0; streaming < 2; streaming++)
            mark_rivals(t, m, size[i], streaming, wanted);
    uc_fit_model_free(m);
    for (size_t k = 0; k < t->strategies; k++)
        if (wanted[k] || in_ladder(t, t->known[k].name) || t->strategy[k]->role == UCOPY_BASELINE)
            u[n++] = uc_subject_called(t->strategy[k]);
    return n;
}

static enum uc_group group_of(size_t n)
{
    return n <= 64 * 1024 ? UC_SMALL : n <= 1024 * 1024 ? UC_MIDDLE : UC_LARGE;
}

/* Times a plan beside other cores and keeps the cells. */
static int time_beside(struct uc_tune *t, const struct uc_plan *plan, unsigned others, size_t bytes,
                       struct uc_sweep_options *so, const struct uc_subject *u, size_t n)
{
    int rc = uc_company_open(&so->company, t->session.topology, t->session.pu, others, bytes,
                             ~t->o->seed);

    if (rc) {
        uc_warn("other cores cannot be used (%s): what copies cost beside them is not told",
                strerror(-rc));
        return 0;
    }
    so->race = false;
    for (int g = 0; g < UC_GROUPS; g++)
        so->group_share[g] = g == UC_LARGE ? 3 : 1;
    rc = uc_tune_sweep(t, plan, u, n, so, &t->cells, NULL);
    uc_company_close(so->company);
    return rc;
}

/* ---- all cores at once ---- */

static size_t load_top(const struct uc_tune *t, unsigned threads)
{
    size_t top = t->top;

    while (top > (1u << 20) && 2 * top * threads > LOAD_BYTES)
        top /= 2;
    return top;
}

static int load_plan(const struct uc_tune *t, unsigned threads, struct uc_plan *p)
{
    size_t l2 = t->session.caches.l2.bytes ? t->session.caches.l2.bytes : 256 * 1024;
    int rc = 0;

    memset(p, 0, sizeof(*p));
    for (size_t n = l2 / 2; n <= load_top(t, threads) && !rc; n *= 2)
        for (int k = 0; k < UC_CONSUMER_COUNT && !rc; k++) {
            struct uc_cell c = uc_cell_default("", n);
            c.src_state = c.dst_state = UC_NATURAL;
            c.consumer = (enum uc_consumer)k;
            c.threads = (int)threads;
            if (t->weights.consumer_large[k] > 0)
                rc = uc_plan_add(p, &c, group_of(n));
        }
    return rc;
}

static size_t largest(const struct uc_tune *t, const struct uc_plan *p)
{
    size_t most = 0;

    for (size_t i = 0; i < p->n; i++) {
        size_t n = uc_batch_bytes(&p->place[i], &t->session.caches);
        most = n > most ? n : most;
    }
    return most;
}

static json_t *segments_json(const struct uc_ladder *l)
{
    json_t *a = json_array();

    for (size_t i = 0; i < l->n; i++) {
        const struct uc_segment *s = &l->segment[i];
        json_array_append_new(
            a, json_pack("{s:o, s:s}", "max",
                         s->max == SIZE_MAX ? json_null() : json_integer((json_int_t)s->max),
                         "strategy", s->strategy));
    }
    return a;
}

/* What these cells alone would choose. */
static int decide_load(struct uc_tune *t, unsigned threads)
{
    struct uc_profile_entry *entry = &t->profile.entry[UC_COPY];
    struct uc_fit_options fo = uc_tune_fit_options(t, UC_COPY);
    struct uc_fit_result r;

    fo.threads = (int)threads;
    if (uc_fit(&t->cells, &fo, &r)) {
        uc_detail("no decision for %u cores at once: %s", threads, r.why);
        return 0;
    }
    t->load = r.ladder[0];
    json_decref(entry->load);
    entry->load =
        json_pack("{s:i, s:o}", "threads", (int)threads, "segments", segments_json(&r.ladder[0]));
    return entry->load ? 0 : UC_EXIT_MACHINE;
}

static int all_at_once(struct uc_tune *t, unsigned others)
{
    struct uc_subject u[UC_MAX_SUBJECTS];
    struct uc_sweep_options so =
        uc_tune_sweep_options(t, "all cores at once", 0.05 * t->budget, 0.77, 0.78);
    size_t size[] = {4u << 20, t->top};
    struct uc_plan plan;
    int rc = load_plan(t, others + 1, &plan) ? UC_EXIT_MACHINE : 0;

    if (rc)
        uc_error("no memory to time all cores");
    else
        rc = time_beside(t, &plan, others, largest(t, &plan), &so, u,
                         subjects(t, size, sizeof(size) / sizeof(size[0]), u));
    uc_plan_free(&plan);
    return rc ? rc : decide_load(t, others + 1);
}

/* ---- what another core wrote last ---- */

static const size_t shared_size[] = {64, 256, 1024, 4096, 65536, 1u << 20};
enum { SHARED_SIZES = sizeof(shared_size) / sizeof(shared_size[0]) };

static int written_elsewhere(struct uc_tune *t)
{
    struct uc_subject u[UC_MAX_SUBJECTS];
    struct uc_sweep_options so =
        uc_tune_sweep_options(t, "dst of another core", 0.015 * t->budget, 0.78, 0.78);
    struct uc_plan plan = {0};
    int rc = 0;

    for (size_t i = 0; i < SHARED_SIZES && !rc; i++) {
        struct uc_cell c = uc_cell_default("", shared_size[i]);
        c.src_state = UC_NATURAL;
        c.dst_state = UC_OTHER_CORE;
        rc = uc_plan_add(&plan, &c, group_of(c.size)) ? UC_EXIT_MACHINE : 0;
    }
    if (rc)
        uc_error("no memory to time what another core wrote");
    else
        rc = time_beside(t, &plan, 1, 0, &so, u, subjects(t, shared_size, SHARED_SIZES, u));
    uc_plan_free(&plan);
    return rc;
}

static const struct uc_cell *shared_cell(const struct uc_cells *c, size_t size, const char *name)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->v[i].dst_state == UC_OTHER_CORE && c->v[i].size == size &&
            !strcmp(c->v[i].strategy, name))
            return &c->v[i];
    return NULL;
}

size_t uc_tune_shared(const struct uc_tune *t, size_t i, struct uc_shared *out)
{
    size_t size = i < SHARED_SIZES ? shared_size[i] : 0;
    const struct uc_ladder *l = &t->profile.entry[UC_COPY].ladder;
    const struct uc_cell *chosen =
        size ? shared_cell(&t->cells, size, uc_ladder_segment(l, size)->strategy) : NULL;

    if (!chosen)
        return 0;
    *out = (struct uc_shared){size, chosen, chosen};
    for (size_t k = 0; k < t->cells.n; k++) {
        const struct uc_cell *c = &t->cells.v[k];
        if (c->dst_state == UC_OTHER_CORE && c->size == size && c->role == UCOPY_CANDIDATE &&
            c->cost < out->best->cost)
            out->best = c;
    }
    return size;
}

int uc_tune_company(struct uc_tune *t)
{
    int pus[CPU_SETSIZE];
    unsigned others = uc_topology_other_cores(t->session.topology, t->session.pu, pus);

    t->other_cores = others;
    if (!others || t->o->quick || t->stood[UC_COPY])
        return 0;
    int rc = all_at_once(t, others);
    return rc ? rc : written_elsewhere(t);
}
