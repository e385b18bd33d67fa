/* Decide: fit, then compose the best ladders whole, compile them, and time them before one is
 * chosen. */
#include "cli/tune.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "cli/command.h"
#include "emit/emit.h"

#define MAX_TRIES 8

struct uc_fit_options uc_tune_fit_options(const struct uc_tune *t, enum uc_entry entry)
{
    struct uc_fit_options fo = {.weights = &t->weights,
                                .entry = entry,
                                .environment = t->o->environment,
                                .max_segments = t->o->max_segments,
                                .l1d = t->session.caches.l1d.bytes,
                                .l2 = t->session.caches.l2.bytes,
                                .branch_cost = t->branch_ns,
                                .strategies = t->known,
                                .strategy_count = t->strategies};
    return fo;
}

int uc_tune_choose(struct uc_tune *t)
{
    for (int e = 0; e < UC_ENTRY_COUNT; e++) {
        struct uc_fit_options fo = uc_tune_fit_options(t, (enum uc_entry)e);
        struct uc_fit_result *r = &t->fit[e];
        struct uc_profile_entry *out = &t->profile.entry[e];
        int rc = uc_fit(&t->cells, &fo, r);
        if (rc) {
            uc_error("no decision for %s: %s", uc_entry_name[e],
                     rc == -ENOMEM ? "no memory" : r->why);
            return UC_EXIT_MACHINE;
        }
        out->present = true;
        out->ladder = r->ladder[0];
        memcpy(out->barred, r->barred, sizeof(out->barred));
        out->barred_n = r->barred_n;
        memcpy(out->anomaly, r->anomaly, sizeof(out->anomaly));
        out->anomaly_n = r->anomaly_n;
    }
    return 0;
}

/* Emits the profile as it stands and compiles it. */
int uc_tune_build(const struct uc_tune *t, const char *name, enum uc_entry entry, bool native,
                  struct uc_built *b)
{
    char why[256] = "", prefix[UC_PREFIX + 16], *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    int rc = f ? uc_emitter_find("c")->emit(&t->profile, f, why, sizeof(why)) : -ENOMEM;

    if (f)
        fclose(f);
    uc_emit_prefix(&t->profile, prefix, sizeof(prefix) - 16);
    if (entry == UC_NOCACHE)
        strcat(prefix, "_nocache");
    if (!rc)
        rc = uc_build_header(text, prefix, name, native, b, why, sizeof(why));
    static bool said; /* the same compiler fails the same way on each */
    if (rc && rc != -ENOENT && !said)
        uc_warn("%s cannot be tried whole, nor perhaps others: %s", name,
                why[0] ? why : strerror(-rc));
    said |= rc && rc != -ENOENT;
    free(text);
    return rc;
}

/* The fixed sizes at which whole ladders are timed: each stands for those from its predecessor on.
 */
static const size_t whole_size[] = {0,  1,  3,   6,   8,   12,  16,  24,   32,   40,
                                    64, 96, 128, 200, 256, 400, 512, 1024, 2048, 4096};
enum { WHOLE_SIZES = sizeof(whole_size) / sizeof(whole_size[0]) };

/* The whole fleet mix, and the fixed sizes, under each consumer with weight. */
static int compose_plan(const struct uc_tune *t, struct uc_plan *p)
{
    int rc = 0;

    memset(p, 0, sizeof(*p));
    for (int k = 0; k < UC_CONSUMER_COUNT; k++) {
        struct uc_cell c = uc_cell_default("", 0);
        if (t->weights.consumer_small[k] <= 0)
            continue;
        c.src_state = c.dst_state = UC_L1;
        c.consumer = (enum uc_consumer)k;
        for (size_t i = 0; i < WHOLE_SIZES && !rc; i++) {
            c.size = whole_size[i];
            rc = uc_plan_add(p, &c, UC_SMALL);
        }
        c.size = 0;
        c.size_hi = UC_SMALL_MAX;
        c.mix = UC_BAND;
        if (!rc)
            rc = uc_plan_add(p, &c, UC_BANDS);
    }
    return rc;
}

/* Weight of the sizes that a fixed size stands for, among all to UC_SMALL_MAX. */
static double whole_weight(const struct uc_weights *w, size_t size)
{
    size_t lo = 0;

    for (size_t i = 0; i < WHOLE_SIZES && whole_size[i] < size; i++)
        lo = whole_size[i] + 1;
    return uc_size_weight(w, lo, size) / uc_size_weight(w, 0, UC_SMALL_MAX);
}

struct whole {
    double cost;  /* weighted, relative to the least in each cell */
    double worst; /* the largest relative cost in one cell */
};

static double least_cost(const struct uc_cells *cells, const struct uc_cell *c)
{
    double least = INFINITY;

    for (size_t k = 0; k < cells->n; k++)
        if (uc_cells_same_place(&cells->v[k], c))
            least = fmin(least, cells->v[k].cost);
    return least;
}

static struct whole score(const struct uc_tune *t, const struct uc_cells *cells,
                          const struct uc_subject *u)
{
    double sum = 0, weight = 0, worst = 0;

    for (size_t i = 0; i < cells->n; i++) {
        const struct uc_cell *c = &cells->v[i];
        if (strcmp(c->strategy, u->name) != 0 || c->form != u->form)
            continue;
        double ratio = c->cost / least_cost(cells, c);
        double w = t->weights.consumer_small[c->consumer] * t->weights.mix[c->mix] *
                   (c->mix == UC_FIXED ? whole_weight(&t->weights, c->size) : 1);
        sum += w * ratio;
        weight += w;
        worst = fmax(worst, ratio);
    }
    return (struct whole){weight > 0 ? sum / weight : INFINITY, worst};
}

/* The least cost; within half a per cent the first. */
#define WHOLE_TIE 1.005

static size_t best_whole(const struct whole *w, size_t n)
{
    size_t best = 0;

    for (size_t i = 1; i < n; i++)
        if (w[best].cost > WHOLE_TIE * w[i].cost)
            best = i;
    return best;
}

/* Times the tries side by side; *best is the index of the one to take. */
static int time_tries(struct uc_tune *t, const struct uc_subject *u, size_t n, double seconds,
                      double done, struct whole *w, size_t *best)
{
    struct uc_plan plan;
    struct uc_cells cells = {0};
    struct uc_sweep_options so =
        uc_tune_sweep_options(t, "whole ladders", seconds, done, done + 0.04);
    int rc = compose_plan(t, &plan) ? UC_EXIT_MACHINE : 0;

    so.race = false;
    so.group_share[UC_SMALL] = 0.4;
    so.group_share[UC_BANDS] = 0.6;
    if (!rc)
        rc = uc_tune_sweep(t, &plan, u, n, &so, &cells, NULL);
    for (size_t i = 0; i < n && !rc; i++) {
        w[i] = score(t, &cells, &u[i]);
        uc_detail("whole: %s costs %.4f, %.2f at worst", u[i].name, w[i].cost, w[i].worst);
    }
    *best = rc ? 0 : best_whole(w, n);
    uc_plan_free(&plan);
    uc_cells_free(&cells);
    return rc;
}

static int by_cost(const void *a, const void *b)
{
    const struct uc_ranked *x = a, *y = b;
    return (x->cost > y->cost) - (x->cost < y->cost);
}

void uc_tune_rank(struct uc_ranked *v, size_t n)
{
    qsort(v, n, sizeof(*v), by_cost);
}

/* Weighted cost of a dispatch over the sizes from 0 to 256 (or as far as it serves), by the
 * readings that chose. */
static double dispatch_cost(const struct uc_tune *t, const struct uc_fit_model *m,
                            const struct uc_fit_strategy *f)
{
    double sum = 0, weight = 0;

    for (size_t i = 0; i < t->plan.sizes && t->plan.size[i] <= 256 && t->plan.size[i] <= f->max;
         i++) {
        double c =
            uc_fit_model_cost(m, f->name, t->plan.size[i], f->max < 256 ? f->max : 256, NULL, NULL);
        double w = uc_size_weight(&t->weights, t->plan.size[i], t->plan.size[i]);
        sum += isnan(c) ? 0 : w * c;
        weight += isnan(c) ? 0 : w;
    }
    return weight > 0 ? sum / weight : INFINITY;
}

/* short_fold_sse2_64 and short_fold_avx2_256 are of one family: the word behind "short_". */
static bool same_family(const char *a, const char *b)
{
    size_t n = strcspn(a + strlen("short_"), "_") + strlen("short_") + 1;
    return !strncmp(a, b, n);
}

/* The best dispatches that reach 64 at least, best first. */
static size_t best_dispatches(const struct uc_tune *t, struct uc_ranked *d)
{
    struct uc_fit_options fo = uc_tune_fit_options(t, UC_COPY);
    struct uc_fit_model *m = uc_fit_model_new(&t->cells, &fo);
    size_t n = 0;

    for (size_t k = 0; k < t->strategies && m; k++)
        if (t->known[k].dispatch && t->known[k].max >= 64)
            d[n++] = (struct uc_ranked){k, dispatch_cost(t, m, &t->known[k])};
    uc_fit_model_free(m);
    uc_tune_rank(d, n);
    return n;
}

static bool is_barred(const struct uc_fit_result *r, const char *strategy)
{
    for (size_t i = 0; i < r->barred_n; i++)
        if (!strcmp(r->barred[i].strategy, strategy))
            return true;
    return false;
}

/* The ladder with another dispatch in front; false where that is barred, where that leaves a gap or
 * changes nothing. */
static bool with_dispatch(const struct uc_tune *t, const struct uc_ladder *l,
                          const struct uc_fit_strategy *f, struct uc_ladder *out)
{
    *out = *l;
    if (is_barred(&t->fit[UC_COPY], f->name) || l->n < 2 ||
        !strcmp(l->segment[0].strategy, f->name))
        return false;
    for (size_t k = 0; k < t->strategies; k++)
        if (!strcmp(t->known[k].name, l->segment[1].strategy) && t->known[k].min > f->max + 1)
            return false;
    struct uc_segment *s = &out->segment[0];
    snprintf(s->runner_up, sizeof(s->runner_up), "%s", s->strategy);
    snprintf(s->strategy, sizeof(s->strategy), "%s", f->name);
    if (f->max < s->max)
        s->max = s->measured_to = s->lo = s->hi = s->free_lo = s->free_hi = f->max;
    return true;
}

/* The fit's two best ladders are tried; those behind them have other dispatches. */
static size_t fitted_tries(const struct uc_tune *t)
{
    return t->fit[UC_COPY].ladders < 2 ? t->fit[UC_COPY].ladders : 2;
}

/* The fit's best ladders, and the best of them behind the best dispatch of each other family: what
 * the band of a size cannot tell, the whole mix does. */
static size_t ladder_tries(const struct uc_tune *t, struct uc_ladder *out)
{
    const struct uc_fit_result *r = &t->fit[UC_COPY];
    struct uc_ranked d[UC_MAX_SUBJECTS];
    size_t n = 0, dispatches = best_dispatches(t, d);

    for (size_t i = 0; i < fitted_tries(t); i++)
        out[n++] = r->ladder[i];
    for (size_t i = 0; i < dispatches && n < (t->o->quick ? 5 : MAX_TRIES); i++) {
        bool known = false;
        for (size_t k = 0; k < n; k++)
            known |= same_family(t->known[d[i].who].name, out[k].segment[0].strategy);
        if (!known)
            n += with_dispatch(t, &r->ladder[0], &t->known[d[i].who], &out[n]);
    }
    return n;
}

/* Called, side by side; where another dispatch wins whole, its margin is that of the whole. */
static int choose_ladder(struct uc_tune *t)
{
    struct uc_profile_entry *entry = &t->profile.entry[UC_COPY];
    struct uc_ladder try[MAX_TRIES];
    struct uc_built b[MAX_TRIES] = {0};
    struct uc_subject u[MAX_TRIES];
    size_t n = 0, best = 0, which[MAX_TRIES], tries = ladder_tries(t, try);
    struct whole w[MAX_TRIES];
    int rc = 0;

    for (size_t i = 0; i < tries; i++) {
        char name[UC_NAME];
        snprintf(name, sizeof(name), "%zu %.40s", i + 1, try[i].segment[0].strategy);
        entry->ladder = try[i];
        if (uc_tune_build(t, name, UC_COPY, false, &b[n]))
            continue;
        u[n] = b[n].called;
        which[n++] = i;
    }
    if (n > 1)
        rc = time_tries(t, u, n, 0.05 * t->budget, 0.66, w, &best);
    entry->ladder = try[n ? which[best] : 0];
    if (n > 1 && which[best] >= fitted_tries(t)) {
        struct uc_segment *s = &entry->ladder.segment[0];
        s->margin = s->margin_lo = s->margin_hi = w[0].cost / w[best].cost;
        s->tie = false;
    }
    for (size_t i = 0; i < n; i++)
        uc_built_unload(&b[i]);
    return rc;
}

/* Mean relative cost of a dispatch inlined, from the sweep's inline cells: bands to 64 and fixed
 * sizes to 64. */
static double inline_cost(const struct uc_tune *t, const char *name)
{
    double sum = 0, weight = 0;

    for (size_t i = 0; i < t->cells.n; i++) {
        const struct uc_cell *c = &t->cells.v[i];
        bool band = c->mix == UC_BAND && c->size_hi == 64;
        if (c->form != UC_INLINE || strcmp(c->strategy, name) != 0 || c->page_distance >= 0 ||
            c->dst_end.kind != UC_END_DRAWN || c->src_state != UC_L1 ||
            !(band || (c->mix == UC_FIXED && c->size <= 64)))
            continue;
        double w =
            t->weights.consumer_small[c->consumer] *
            (band ? t->weights.mix[UC_BAND]
                  : t->weights.mix[UC_FIXED] * uc_size_weight(&t->weights, c->size, c->size));
        sum += w * c->cost / least_cost(&t->cells, c);
        weight += w;
    }
    return weight > 0 ? sum / weight : INFINITY;
}

/* The dispatches that may be inlined: baseline code has general registers and SSE2 alone. Best
 * first. */
static size_t inline_tries(const struct uc_tune *t, bool wide, struct uc_ranked *out)
{
    size_t n = 0;

    for (size_t i = 0; i < t->strategies; i++) {
        const struct ucopy_strategy *s = t->strategy[i];
        bool vector = s->isa & ~(uint32_t)UCOPY_ISA_SSE2;
        if (!(s->flags & UCOPY_DISPATCH) || s->max < 64 || (!wide && vector))
            continue; /* those that end below 64 have no cells to compare on */
        out[n++] = (struct uc_ranked){i, inline_cost(t, s->name)};
    }
    uc_tune_rank(out, n);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) { /* the best of each family */
        bool known = false;
        for (size_t k = 0; k < kept; k++)
            known |= same_family(t->strategy[out[i].who]->name, t->strategy[out[k].who]->name);
        if (!known)
            out[kept++] = out[i];
    }
    return kept;
}

/* The best few, inlined in the whole header, against the header without an inlined part. */
static int choose_inline(struct uc_tune *t, bool wide, double done)
{
    struct uc_profile_entry *entry = &t->profile.entry[UC_COPY];
    struct uc_inline_part *part = wide ? &entry->inline_wide : &entry->inline_baseline;
    struct uc_ranked try[UC_MAX_SUBJECTS];
    size_t tries = inline_tries(t, wide, try), n = 0, best = 0,
           most = t->o->quick ? 3
                  : wide      ? 8
                              : 5;
    struct uc_built b[MAX_TRIES] = {0};
    struct uc_subject u[MAX_TRIES];
    struct uc_inline_part parts[MAX_TRIES] = {0};
    struct whole w[MAX_TRIES];
    int rc = 0;

    for (size_t i = 0; i < tries + 1 && n < most; i++) {
        memset(part, 0, sizeof(*part));
        if (i) { /* the first has no inlined part */
            snprintf(part->strategy, sizeof(part->strategy), "%s",
                     t->strategy[try[i - 1].who]->name);
            part->max = t->strategy[try[i - 1].who]->max;
        }
        parts[n] = *part;
        if (uc_tune_build(t, i ? part->strategy : "called", UC_COPY, wide, &b[n]))
            continue;
        u[n] = b[n].inlined;
        n++;
    }
    if (n > 1)
        rc = time_tries(t, u, n, 0.04 * t->budget, done, w, &best);
    *part = parts[best];
    for (size_t i = 0; i < n; i++)
        uc_built_unload(&b[i]);
    return rc;
}

int uc_tune_compose(struct uc_tune *t)
{
    int rc;

    uc_build_compiler_version(t->compiler, sizeof(t->compiler));
    t->has_compiler = t->compiler[0];
    if (!t->has_compiler) {
        uc_warn("no compiler ('%s' cannot be run): the header is not compiled here, and nothing is "
                "inlined or validated",
                uc_build_compiler());
        return 0;
    }
    rc = t->stood[UC_COPY] ? 0 : choose_ladder(t);
    if (!rc && !t->stood[UC_COPY])
        rc = choose_inline(t, false, 0.70);
    if (!rc && !t->stood[UC_COPY] && (t->session.isa & UCOPY_ISA_AVX512BW) &&
        t->o->environment == UCOPY_USER)
        rc = choose_inline(t, true, 0.74);
    return rc;
}
