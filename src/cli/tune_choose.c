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

struct uc_slope_options uc_tune_slope_options(const struct uc_tune *t)
{
    const struct uc_caches *c = &t->session.caches;
    return (struct uc_slope_options){c->l1d.bytes, c->l2.bytes, c->l3.bytes, t->o->environment};
}

static int decide(struct uc_tune *t)
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

int uc_tune_choose(struct uc_tune *t)
{
    bool found = false;
    int rc = decide(t);

    if (!rc && !uc_tune_short(t))
        rc = uc_tune_refine(t, &found);
    return rc || !found ? rc : decide(t);
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
    bool refused = rc && rc != -ENOENT && rc != -EINTR;
    if (refused && !said)
        uc_warn("%s cannot be tried whole, nor perhaps others: %s", name,
                why[0] ? why : strerror(-rc));
    said |= refused;
    free(text);
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

/* short_fold_sse2_64 and short_fold_gpr_64 are of one family: the word behind "short_", and the
 * size they end at. */
static bool same_family(const char *a, const char *b)
{
    size_t n = strcspn(a + strlen("short_"), "_") + strlen("short_") + 1;
    return !strncmp(a, b, n) && !strcmp(strrchr(a, '_'), strrchr(b, '_'));
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

bool uc_tune_with_dispatch(const struct uc_tune *t, const struct uc_ladder *l,
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

/* The fit's best ladders, and the best of them behind the best dispatches, two of a family at most:
 * what the band of a size cannot tell, the whole mix does. */
static size_t ladder_tries(const struct uc_tune *t, struct uc_ladder *out)
{
    const struct uc_fit_result *r = &t->fit[UC_COPY];
    struct uc_ranked d[UC_MAX_SUBJECTS];
    size_t n = 0, dispatches = best_dispatches(t, d);

    for (size_t i = 0; i < fitted_tries(t); i++)
        out[n++] = r->ladder[i];
    for (size_t i = 0; i < dispatches && n < (uc_tune_short(t) ? 5 : UC_MAX_WHOLE); i++) {
        size_t kin = 0;
        for (size_t k = 0; k < n; k++)
            kin += same_family(t->known[d[i].who].name, out[k].segment[0].strategy);
        if (kin < 2)
            n += uc_tune_with_dispatch(t, &r->ladder[0], &t->known[d[i].who], &out[n]);
    }
    return n;
}

static const struct uc_fit_strategy *known_as(const struct uc_tune *t, const char *name)
{
    for (size_t k = 0; k < t->strategies; k++)
        if (!strcmp(t->known[k].name, name))
            return &t->known[k];
    return NULL;
}

/* A copy that was timed whole, for the profile. */
static json_t *evidence(const char *strategy, size_t max, const struct uc_whole *w)
{
    json_t *o =
        json_pack("{s:s, s:o, s:o, s:o}", "strategy", strategy, "max",
                  max == SIZE_MAX ? json_null() : json_integer((json_int_t)max), "cost",
                  uc_tune_real(w->cost, 4), "libc_over_it_in_mixes", uc_tune_real(w->libc, 3));

    for (int k = 0; k < UC_CONSUMER_COUNT && o; k++)
        if (!isnan(w->under[k]))
            json_object_set_new(o, uc_consumer_name[k], uc_tune_real(w->under[k], 4));
    return o;
}

/* Keeps the rows under their form; the profile's reader wants an object. */
static void keep_evidence(struct uc_tune *t, const char *form, json_t *rows)
{
    struct uc_profile_entry *entry = &t->profile.entry[UC_COPY];

    if (!entry->whole)
        entry->whole = json_object();
    json_object_set_new(entry->whole, form, rows);
}

/* Called, side by side; where another dispatch wins whole, its margin is that of the whole. */
static int choose_ladder(struct uc_tune *t)
{
    struct uc_profile_entry *entry = &t->profile.entry[UC_COPY];
    struct uc_ladder try[UC_MAX_WHOLE];
    struct uc_built b[UC_MAX_WHOLE] = {0};
    struct uc_subject u[UC_MAX_WHOLE];
    size_t n = 0, best = 0, which[UC_MAX_WHOLE], tries = ladder_tries(t, try);
    struct uc_whole w[UC_MAX_WHOLE];
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
        rc = uc_tune_time_whole(t, u, n, 0.05 * t->budget, 0.66, w);
    best = n > 1 && !rc ? uc_tune_best_whole(w, n) : 0;
    json_t *rows = json_array();
    for (size_t i = 0; i < n && n > 1 && !rc; i++) {
        const struct uc_segment *s = &try[which[i]].segment[0];
        json_array_append_new(rows, evidence(s->strategy, s->max, &w[i]));
        t->whole[i] = w[i];
        t->whole_of[i] = known_as(t, s->strategy);
        t->wholes = i + 1;
    }
    t->whole_chosen = best;
    keep_evidence(t, "called", rows);
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

/* Mean relative cost of a dispatch inlined, from the sweep's inline cells: the band to top and the
 * fixed sizes to top. */
static double inline_cost(const struct uc_tune *t, const char *name, size_t top)
{
    double sum = 0, weight = 0;

    for (size_t i = 0; i < t->cells.n; i++) {
        const struct uc_cell *c = &t->cells.v[i];
        bool band = c->mix == UC_BAND && c->size_hi == top;
        if (c->form != UC_INLINE || strcmp(c->strategy, name) != 0 || c->page_distance >= 0 ||
            c->dst_end.kind != UC_END_DRAWN || c->src_state != UC_L1 ||
            !(band || (c->mix == UC_FIXED && c->size <= top)))
            continue;
        double w =
            t->weights.consumer_small[c->consumer] *
            (band ? t->weights.mix[UC_BAND]
                  : t->weights.mix[UC_FIXED] * uc_size_weight(&t->weights, c->size, c->size));
        sum += w * c->cost / uc_tune_least_cost(&t->cells, c);
        weight += w;
    }
    return weight > 0 ? sum / weight : INFINITY;
}

/* Does a strategy need instruction sets that not every x86-64 has? */
static bool needs_more(const char *strategy)
{
    return ucopy_find(strategy)->isa & ~(uint32_t)UCOPY_ISA_SSE2;
}

/* The dispatches that may be inlined, best first: the baseline code's have general registers and
 * SSE2 alone, the wide code's are those that need more. */
static size_t inline_tries(const struct uc_tune *t, bool wide, struct uc_ranked *out)
{
    size_t n = 0;

    for (size_t i = 0; i < t->strategies; i++) {
        const struct ucopy_strategy *s = t->strategy[i];
        bool vector = needs_more(s->name);
        if (!(s->flags & UCOPY_DISPATCH) || s->max < 64 || wide != vector)
            continue; /* those that end below 64 have no cells to compare on */
        out[n++] = (struct uc_ranked){i, inline_cost(t, s->name, s->max < 256 ? s->max : 256)};
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

/* Inlined in the whole header, side by side. The first part is the one to beat: none, all is
 * called; of the wide parts the baseline's, which serves where there is no wide one. */
static int time_inline(struct uc_tune *t, bool wide, struct uc_inline_part *parts, size_t tries,
                       double seconds, double done, json_t *rows)
{
    struct uc_profile_entry *entry = &t->profile.entry[UC_COPY];
    struct uc_inline_part *part = wide ? &entry->inline_wide : &entry->inline_baseline;
    struct uc_built b[UC_MAX_WHOLE] = {0};
    struct uc_subject u[UC_MAX_WHOLE];
    struct uc_inline_part *of[UC_MAX_WHOLE];
    struct uc_whole w[UC_MAX_WHOLE];
    size_t n = 0, best = 0;
    int rc = 0;

    for (size_t i = 0; i < tries; i++) {
        char name[UC_NAME];
        *part = parts[i];
        snprintf(name, sizeof(name), "%zu %.40s", parts[i].max,
                 parts[i].strategy[0] ? parts[i].strategy : "called");
        if (uc_tune_build(t, name, UC_COPY, wide, &b[n]))
            continue;
        of[n] = &parts[i];
        u[n] = b[n].inlined;
        n++;
    }
    if (n > 1)
        rc = uc_tune_time_whole(t, u, n, seconds, done, w);
    double first = n && of[0]->strategy[0] ? of[0]->ratio_to_called : 1;
    for (size_t i = 0; i < n && n > 1 && !rc; i++) {
        of[i]->ratio_to_called = of[i]->strategy[0] ? first * w[i].cost / w[0].cost : 0;
        json_array_append_new(
            rows, evidence(of[i]->strategy[0] ? of[i]->strategy : "called", of[i]->max, &w[i]));
    }
    best = n > 1 && !rc ? uc_tune_best_whole(w, n) : 0;
    if (n)
        *part = *of[best];
    for (size_t i = 0; i < n; i++)
        uc_built_unload(&b[i]);
    return rc;
}

/* First the dispatch, each inlined as far as it serves; then how far that one is to be inlined. */
static int choose_inline(struct uc_tune *t, bool wide, double done)
{
    static const size_t end[] = {16, 32, 64, 128};
    struct uc_profile_entry *entry = &t->profile.entry[UC_COPY];
    struct uc_inline_part *part = wide ? &entry->inline_wide : &entry->inline_baseline;
    struct uc_inline_part parts[UC_MAX_WHOLE] = {0};
    struct uc_ranked try[UC_MAX_SUBJECTS];
    size_t tries = inline_tries(t, wide, try), n = 1, most = uc_tune_short(t) ? 3 : 8;
    json_t *rows = json_array();

    if (wide)
        parts[0] = entry->inline_baseline;
    for (size_t i = 0; i < tries && n < most; i++, n++) {
        const struct ucopy_strategy *s = t->strategy[try[i].who];
        snprintf(parts[n].strategy, sizeof(parts[n].strategy), "%s", s->name);
        parts[n].max = s->max;
    }
    int rc = time_inline(t, wide, parts, n, 0.03 * t->budget, done, rows);
    if (!rc && part->strategy[0] && !uc_tune_short(t)) {
        struct uc_inline_part whole = *part;
        memset(&parts[1], 0, sizeof(parts) - sizeof(parts[0]));
        parts[1] = whole;
        n = 2;
        for (size_t i = 0; i < sizeof(end) / sizeof(end[0]); i++)
            if (end[i] < whole.max) {
                parts[n] = whole;
                parts[n++].max = end[i];
            }
        rc = time_inline(t, wide, parts, n, 0.02 * t->budget, done + 0.02, rows);
    }
    keep_evidence(t, wide ? "inline_wide" : "inline", rows);
    if (wide && part->strategy[0] && !needs_more(part->strategy))
        memset(part, 0, sizeof(*part)); /* the baseline's serves */
    return rc;
}

int uc_tune_compose(struct uc_tune *t)
{
    int rc;

    uc_build_compiler_version(t->compiler, sizeof(t->compiler));
    t->has_compiler = t->compiler[0];
    if (uc_interrupted)
        return uc_tune_failed(t, -EINTR);
    if (!t->has_compiler) {
        uc_warn("no compiler ('%s' cannot be run): the header is not compiled here, and nothing is "
                "inlined or validated",
                uc_build_compiler());
        return 0;
    }
    rc = t->stood[UC_COPY] ? 0 : choose_ladder(t);
    if (!rc && !t->stood[UC_COPY])
        rc = choose_inline(t, false, 0.70);
    if (!rc && !t->stood[UC_COPY] && (t->session.isa & UCOPY_ISA_AVX2) &&
        t->o->environment == UCOPY_USER)
        rc = choose_inline(t, true, 0.74);
    return rc ? rc : uc_tune_consumers(t);
}
