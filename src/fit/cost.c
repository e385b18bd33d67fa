/* Cells indexed once and made relative: each cell's cost over the lowest cost of any candidate in
 * that cell, weighted. Without the division one memory cell (150 ticks) would outweigh every l1
 * cell (5). */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fit/model.h"

#define Z95 1.959964 /* half width of a 95 % interval in standard deviations */
#define FALLBACK_L1D ((size_t)32 << 10)
#define FALLBACK_L2 ((size_t)256 << 10)
/* Classes of placement: dst state x order x alignment x distance; with consumer and src state they
 * number the groups that share a weight. */
#define ALIGN_CLASSES 5
#define DISTANCE_CLASSES 3
#define CLASSES (UC_STATE_COUNT * UC_ORDER_COUNT * ALIGN_CLASSES * DISTANCE_CLASSES)
#define GROUPS (UC_CONSUMER_COUNT * UC_STATE_COUNT)

struct place {
    const struct uc_cell *key;
    unsigned group, class;
    double share; /* of its class within its group, before the spreading */
};

/* What one table becomes on its way into the model. */
struct table {
    const struct uc_fit_options *o;
    const struct uc_weights *w;
    size_t l1d, l2;
    const struct uc_cell **choice, **probe;
    size_t choices, probes;
    struct place *place;
    size_t places;
    struct uc_raw *raw; /* [strategy][column][place] */
};

static const struct uc_fit_strategy *listed(const struct uc_fit_options *o, const char *name)
{
    for (size_t i = 0; i < o->strategy_count; i++)
        if (!strcmp(o->strategies[i].name, name))
            return &o->strategies[i];
    return NULL;
}

static bool of_entry(const struct uc_cell *c, enum uc_entry entry)
{
    bool nocache = c->entry == UC_NOCACHE || c->consumer == UC_EVICT;
    return nocache == (entry == UC_NOCACHE);
}

static bool of_run(const struct uc_cell *c, const struct uc_fit_options *o)
{
    return of_entry(c, o->entry) && c->threads == (o->threads ? o->threads : 1) &&
           c->code == UC_WARM &&
           (!c->environment || !o->environment || (c->environment & o->environment));
}

static bool is_probe(const struct uc_cell *c)
{
    return c->page_distance >= 0 || c->dst_end.kind != UC_END_DRAWN ||
           c->src_end.kind != UC_END_DRAWN;
}

static bool is_drawn(const struct uc_cell *c)
{
    return !is_probe(c) && c->dst_align < 0 && c->src_align < 0;
}

/* No weight is for what another core wrote last: it counts where a table holds nothing else. */
static bool shared(const struct uc_cell *c)
{
    return c->src_state == UC_OTHER_CORE || c->dst_state == UC_OTHER_CORE;
}

/* The called form if the table has it, else the first that it has; the same with drawn placements:
 * a table that holds single placements only is judged on those. */
static void survey(const struct uc_cells *cells, const struct uc_fit_options *o, enum uc_form *form,
                   bool *drawn, bool *own)
{
    *form = UC_FORM_COUNT;
    *drawn = *own = false;
    for (size_t i = 0; i < cells->n; i++)
        if (of_run(&cells->v[i], o) && cells->v[i].form < *form)
            *form = cells->v[i].form;
    for (size_t i = 0; i < cells->n; i++)
        if (of_run(&cells->v[i], o) && cells->v[i].form == *form) {
            *own |= !shared(&cells->v[i]);
            *drawn |= is_drawn(&cells->v[i]) && !shared(&cells->v[i]);
        }
}

static int by_order(const void *x, const void *y)
{
    const struct uc_cell *a = *(const struct uc_cell *const *)x;
    const struct uc_cell *b = *(const struct uc_cell *const *)y;
    return uc_cells_compare(a, b);
}

static int pick(const struct uc_cells *cells, struct table *t)
{
    enum uc_form form;
    bool drawn, own;

    t->choice = malloc((cells->n + 1) * sizeof(*t->choice));
    t->probe = malloc((cells->n + 1) * sizeof(*t->probe));
    if (!t->choice || !t->probe)
        return -ENOMEM;
    survey(cells, t->o, &form, &drawn, &own);
    for (size_t i = 0; i < cells->n; i++) {
        const struct uc_cell *c = &cells->v[i];
        if (!of_run(c, t->o) || c->form != form || c->mix == UC_NAMED || (own && shared(c)))
            continue;
        if (drawn ? is_drawn(c) : true)
            t->choice[t->choices++] = c;
        if (is_probe(c))
            t->probe[t->probes++] = c;
    }
    qsort(t->choice, t->choices, sizeof(*t->choice), by_order);
    qsort(t->probe, t->probes, sizeof(*t->probe), by_order);
    return 0;
}

/* Strategies. */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct uc_model_strategy *)a)->name,
                  ((const struct uc_model_strategy *)b)->name);
}

size_t uc_model_find(const struct uc_fit_model *m, const char *name)
{
    struct uc_model_strategy key;

    strncpy(key.name, name, sizeof(key.name) - 1);
    key.name[sizeof(key.name) - 1] = 0;
    const struct uc_model_strategy *s =
        bsearch(&key, m->strategy, m->strategies, sizeof(key), by_name);
    return s ? (size_t)(s - m->strategy) : m->strategies;
}

static struct uc_model_strategy describe(const struct uc_fit_options *o, const struct uc_cell *c)
{
    const struct uc_fit_strategy *f = listed(o, c->strategy);
    struct uc_model_strategy s = {
        .min = f ? f->min : 0,
        .max = f ? f->max : UCOPY_NO_LIMIT,
        .rank = f ? f->rank : UINT_MAX,
        .dispatch = f && f->dispatch,
        .streaming = f && f->streaming,
        .candidate = (f ? f->role : c->role) == UCOPY_CANDIDATE,
    };

    memcpy(s.name, c->strategy, sizeof(s.name));
    return s;
}

/* The strategies of the table, each once, sorted as they come: 60,000 cells hold some 60. */
static int list_strategies(struct table *t, struct uc_fit_model *m, char *why, size_t why_cap)
{
    m->strategy = malloc(UC_MODEL_STRATEGIES * sizeof(*m->strategy));
    if (!m->strategy)
        return -ENOMEM;
    for (size_t i = 0; i < t->choices; i++) {
        if (uc_model_find(m, t->choice[i]->strategy) < m->strategies)
            continue;
        if (m->strategies == UC_MODEL_STRATEGIES) {
            snprintf(why, why_cap, "more than %d strategies", UC_MODEL_STRATEGIES);
            return -E2BIG;
        }
        m->strategy[m->strategies++] = describe(t->o, t->choice[i]);
        qsort(m->strategy, m->strategies, sizeof(*m->strategy), by_name);
    }
    return 0;
}

/* Sizes and bands. */

static int by_size(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static size_t find_size(const size_t *v, size_t n, size_t x)
{
    const size_t *p = n ? bsearch(&x, v, n, sizeof(x), by_size) : NULL;
    return p ? (size_t)(p - v) : n;
}

/* The distinct sizes of fixed cells (band false) or largest sizes of band cells, of candidates that
 * may serve them. */
static int list_sizes(const struct table *t, const struct uc_fit_model *m, bool band, size_t **list,
                      size_t *n)
{
    size_t kept = 0;
    size_t *v = malloc((t->choices + 1) * sizeof(*v));

    *n = 0;
    if (!v)
        return -ENOMEM;
    for (size_t i = 0; i < t->choices; i++) {
        const struct uc_cell *c = t->choice[i];
        const struct uc_model_strategy *s = &m->strategy[uc_model_find(m, c->strategy)];
        if (s->candidate && (c->mix == UC_BAND) == band &&
            (band || (c->size >= s->min && c->size <= s->max)))
            v[kept++] = band ? c->size_hi : c->size;
    }
    qsort(v, kept, sizeof(*v), by_size);
    for (size_t i = 0; i < kept; i++)
        if (!*n || v[*n - 1] != v[i])
            v[(*n)++] = v[i];
    *list = v;
    return 0;
}

/* A size of the grid stands for those half-way to its neighbours. Beyond the weighted sizes, and in
 * holes of a distribution, a thousandth of the mean keeps the choice defined. */
static int weigh_sizes(struct uc_fit_model *m)
{
    double total = 0;

    m->weight = malloc((m->sizes + 1) * sizeof(*m->weight));
    if (!m->weight)
        return -ENOMEM;
    for (size_t i = 0; i < m->sizes; i++) {
        size_t at = m->size[i];
        size_t lo = i ? m->size[i - 1] + (at - m->size[i - 1]) / 2 + 1 : at;
        size_t hi = i + 1 < m->sizes ? at + (m->size[i + 1] - at) / 2 : at;
        m->weight[i] = uc_size_weight(m->weights, lo, hi);
        total += m->weight[i];
    }
    double floor = (total > 0 ? total : 1) / (double)m->sizes / 1000;
    total = 0;
    for (size_t i = 0; i < m->sizes; i++)
        total += m->weight[i] = fmax(m->weight[i], floor);
    for (size_t i = 0; i < m->sizes; i++)
        m->weight[i] /= total;
    return 0;
}

/* Places: the cells' dimensions without size. */

static unsigned align_class(const struct uc_cell *c)
{
    if (c->dst_align < 0 && c->src_align < 0)
        return 0;
    return 1 + 2 * (c->dst_align > 0 && c->dst_align % 16) +
           (c->src_align > 0 && c->src_align % 16);
}

static unsigned distance_class(const struct uc_cell *c)
{
    return c->page_distance < 0 ? 0 : c->page_distance ? 2 : 1;
}

static double class_share(const struct table *t, const struct uc_cell *c)
{
    const struct uc_weights *w = t->w;
    const double align[ALIGN_CLASSES] = {1, w->both_aligned, w->src_off, w->dst_off, w->both_off};
    const double distance[DISTANCE_CLASSES] = {1, w->equal_distance, 1 - w->equal_distance};
    double share = align[align_class(c)] * distance[distance_class(c)];

    /* A learned order flatters branches: it is for reading, not for choosing. */
    if (c->order == UC_LEARNED)
        share = 0;
    if (t->o->entry == UC_NOCACHE && c->dst_state != UC_MEMORY && c->dst_state != UC_NATURAL)
        share = 0;
    return share;
}

static struct place make_place(const struct table *t, const struct uc_cell *c)
{
    return (struct place){
        .key = c,
        .group = c->consumer * UC_STATE_COUNT + c->src_state,
        .class = ((c->dst_state * UC_ORDER_COUNT + c->order) * ALIGN_CLASSES + align_class(c)) *
                     DISTANCE_CLASSES +
                 distance_class(c),
        .share = class_share(t, c),
    };
}

/* Lays the fixed cells, or the band cells, out densely. Choices are sorted by their dimensions, so
 * a new place begins where these change. */
static int lay_out(struct table *t, const struct uc_fit_model *m, bool band, size_t columns,
                   char *why, size_t why_cap)
{
    const struct uc_cell *last = NULL;

    free(t->place);
    free(t->raw);
    t->raw = NULL;
    t->places = 0;
    t->place = malloc((t->choices + 1) * sizeof(*t->place));
    if (!t->place)
        return -ENOMEM;
    for (size_t i = 0; i < t->choices; i++) {
        const struct uc_cell *c = t->choice[i];
        if ((c->mix == UC_BAND) != band || (last && !uc_cells_compare_dims(last, c)))
            continue;
        t->place[t->places++] = make_place(t, c);
        last = c;
    }
    if (t->places * m->strategies * columns > UC_MODEL_DENSE) {
        snprintf(why, why_cap, "too many combinations of strategy, size and place");
        return -E2BIG;
    }
    t->raw = calloc(t->places * m->strategies * columns + 1, sizeof(*t->raw));
    return t->raw ? 0 : -ENOMEM;
}

static void fill(struct table *t, const struct uc_fit_model *m, bool band, const size_t *column,
                 size_t columns)
{
    size_t place = 0;

    for (size_t i = 0; i < t->choices; i++) {
        const struct uc_cell *c = t->choice[i];
        if ((c->mix == UC_BAND) != band)
            continue;
        while (uc_cells_compare_dims(t->place[place].key, c))
            place++;
        size_t s = uc_model_find(m, c->strategy);
        size_t at = find_size(column, columns, band ? c->size_hi : c->size);
        if (at == columns ||
            (!band && (c->size < m->strategy[s].min || c->size > m->strategy[s].max)))
            continue;
        t->raw[(s * columns + at) * t->places + place] =
            (struct uc_raw){c->cost, (c->hi - c->lo) / (2 * Z95)};
    }
}

/* Weights of the places at one size. */

static void spread_states(const struct table *t, size_t size, const bool *present, double *w)
{
    const double *wanted = t->o->entry == UC_NOCACHE ? t->w->nocache_src : t->w->state_small;

    memset(w, 0, UC_STATE_COUNT * sizeof(*w));
    if (t->o->entry == UC_COPY && size > t->l1d / 4) {
        enum uc_state led = 2 * size <= t->l1d ? UC_L1 : 2 * size <= t->l2 ? UC_L2 : UC_L3;
        w[present[UC_NATURAL] ? UC_NATURAL : led] = 1;
        return;
    }
    for (int s = 0; s < UC_STATE_COUNT; s++)
        w[present[s] ? s : UC_NATURAL] += wanted[s];
}

/* Scales the weights of what is present to sum to 1; the same for each where they are all 0. */
static void normalise(double *w, const bool *present, int n)
{
    double total = 0;
    int count = 0;

    for (int i = 0; i < n; i++) {
        w[i] = present[i] ? w[i] : 0;
        total += w[i];
        count += present[i];
    }
    for (int i = 0; i < n; i++)
        w[i] = total > 0 ? w[i] / total : present[i] ? 1. / count : 0;
}

static void spread_groups(const struct table *t, size_t size, const bool *present, double *w)
{
    double consumer[UC_CONSUMER_COUNT] = {0};
    bool any[UC_CONSUMER_COUNT] = {0};

    memcpy(consumer, size <= UC_SMALL_MAX ? t->w->consumer_small : t->w->consumer_large,
           sizeof(consumer));
    if (t->o->entry == UC_NOCACHE)
        memset(consumer, 0, sizeof(consumer)), consumer[UC_EVICT] = 1;
    for (int g = 0; g < GROUPS; g++)
        any[g / UC_STATE_COUNT] |= present[g];
    normalise(consumer, any, UC_CONSUMER_COUNT);
    for (int c = 0; c < UC_CONSUMER_COUNT; c++) {
        double *state = w + c * UC_STATE_COUNT;
        spread_states(t, size, present + c * UC_STATE_COUNT, state);
        normalise(state, present + c * UC_STATE_COUNT, UC_STATE_COUNT);
        for (int s = 0; s < UC_STATE_COUNT; s++)
            state[s] *= consumer[c];
    }
}

/* w[p] for the places present at this size, together 1: consumer first, then state, then what is
 * left; what is absent is spread over what is present, level by level. */
static void spread(const struct table *t, size_t size, const bool *present, double *w)
{
    unsigned in_class[GROUPS][CLASSES] = {{0}}, in_group[GROUPS] = {0};
    double group[GROUPS], share[GROUPS] = {0};
    bool any[GROUPS] = {0};

    for (size_t p = 0; p < t->places; p++)
        if (present[p])
            in_class[t->place[p].group][t->place[p].class]++;
    for (size_t p = 0; p < t->places; p++) {
        const struct place *at = &t->place[p];
        w[p] = present[p] ? at->share / in_class[at->group][at->class] : 0;
        share[at->group] += w[p];
        in_group[at->group] += present[p];
        any[at->group] |= present[p];
    }
    spread_groups(t, size, any, group);
    for (size_t p = 0; p < t->places; p++) {
        unsigned g = t->place[p].group;
        if (present[p])
            w[p] = group[g] * (share[g] > 0 ? w[p] / share[g] : 1. / in_group[g]);
    }
}

/* Relative costs of one column (a size, or a band). */

struct column {
    const struct uc_raw *raw; /* [strategy * stride + place] */
    size_t stride;
    double *low, *weight;
    bool *present;
};

static void find_lowest(const struct table *t, const struct uc_fit_model *m, struct column *c)
{
    for (size_t p = 0; p < t->places; p++) {
        c->low[p] = HUGE_VAL;
        for (size_t s = 0; s < m->strategies; s++) {
            double cost = c->raw[s * c->stride + p].cost;
            if (m->strategy[s].candidate && cost > 0)
                c->low[p] = fmin(c->low[p], cost);
        }
        c->present[p] = isfinite(c->low[p]);
    }
}

/* Weighted mean of the relative costs of s over places that other has too (NULL: all of its own);
 * *cover is their weight. */
static struct uc_est average(const struct table *t, const struct column *c, size_t s, size_t other,
                             double *cover)
{
    struct uc_est e = {0, 0};

    *cover = 0;
    for (size_t p = 0; p < t->places; p++) {
        const struct uc_raw *r = &c->raw[s * c->stride + p];
        if (!c->present[p] || r->cost <= 0 || c->raw[other * c->stride + p].cost <= 0)
            continue;
        *cover += c->weight[p];
        e.mid += c->weight[p] * r->cost / c->low[p];
        e.var += pow(c->weight[p] * r->se / c->low[p], 2);
    }
    e.mid = *cover > 0 ? e.mid / *cover : NAN;
    e.var = *cover > 0 ? e.var / (*cover * *cover) : 0;
    return e;
}

/* The candidate that has most of the places here, and of those the cheapest. */
static size_t reference(const struct table *t, const struct uc_fit_model *m, const struct column *c)
{
    size_t best = m->strategies;
    double most = 0, least = 0;

    for (size_t s = 0; s < m->strategies; s++) {
        double cover;
        struct uc_est e = average(t, c, s, s, &cover);
        if (!m->strategy[s].candidate || isnan(e.mid))
            continue;
        if (cover > most + 1e-9 || (cover > most - 1e-9 && e.mid < least)) {
            best = s;
            most = cover;
            least = e.mid;
        }
    }
    return best;
}

/* Strategies are compared on shared cells only: one that lacks places (it was raced out) stands to
 * the reference as it does on the places that both have. */
static struct uc_est estimate(const struct table *t, const struct column *c, size_t s, size_t ref)
{
    double own, shared, full;
    struct uc_est e = average(t, c, s, s, &own), on_shared, r, r_shared;

    if (isnan(e.mid) || ref == s)
        return e;
    r = average(t, c, ref, ref, &full);
    on_shared = average(t, c, s, ref, &shared);
    if (own > full - 1e-9 || !(shared > 0))
        return e;
    r_shared = average(t, c, ref, s, &shared);
    double scale = r.mid / r_shared.mid;
    return (struct uc_est){on_shared.mid * scale, on_shared.var * scale * scale};
}

static int column_new(const struct table *t, struct column *c)
{
    c->low = malloc((t->places + 1) * sizeof(*c->low));
    c->weight = calloc(t->places + 1, sizeof(*c->weight));
    c->present = calloc(t->places + 1, sizeof(*c->present));
    return c->low && c->weight && c->present ? 0 : -ENOMEM;
}

static void column_free(struct column *c)
{
    free(c->low);
    free(c->weight);
    free(c->present);
}

/* The same mean of the costs as they are. */
static double raw_average(const struct table *t, const struct column *c, size_t s)
{
    double cover = 0, sum = 0;

    for (size_t p = 0; p < t->places; p++) {
        const struct uc_raw *r = &c->raw[s * c->stride + p];
        if (c->present[p] && r->cost > 0) {
            cover += c->weight[p];
            sum += c->weight[p] * r->cost;
        }
    }
    return cover > 0 ? sum / cover : NAN;
}

/* out[strategy * columns + column]; of sizes (not of bands) the costs as they are and the weighted
 * lowest one too. */
static int average_all(const struct table *t, struct uc_fit_model *m, const size_t *column,
                       size_t columns, struct uc_est *out, bool sizes)
{
    struct column c = {.stride = columns * t->places};
    int rc = column_new(t, &c);

    for (size_t i = 0; i < columns && !rc; i++) {
        c.raw = t->raw + i * t->places;
        find_lowest(t, m, &c);
        spread(t, column[i], c.present, c.weight);
        size_t ref = reference(t, m, &c);
        for (size_t s = 0; s < m->strategies; s++) {
            out[s * columns + i] = estimate(t, &c, s, ref);
            if (sizes)
                m->raw[s * columns + i] = raw_average(t, &c, s);
        }
        for (size_t p = 0; p < t->places && sizes; p++)
            m->lowest[i] += c.present[p] ? c.weight[p] * c.low[p] : 0;
    }
    column_free(&c);
    return rc;
}

/* Sizes that were refined for a few strategies only: the others keep their line between the
 * neighbours that they have. */
static void fill_gaps(struct uc_fit_model *m, struct uc_est *e)
{
    size_t last = m->sizes;

    for (size_t i = 0; i < m->sizes; i++) {
        if (isnan(e[i].mid))
            continue;
        for (size_t j = last + 1; last < m->sizes && j < i; j++) {
            double x0 = log1p((double)m->size[last]), x1 = log1p((double)m->size[i]);
            double u = (log1p((double)m->size[j]) - x0) / (x1 - x0);
            e[j].mid = e[last].mid + u * (e[i].mid - e[last].mid);
            e[j].var = fmax(e[last].var, e[i].var);
        }
        last = i;
    }
}

static int by_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Without intervals the scatter of a curve about its own line says how far its points can be
 * trusted; only the structure of the ladder uses it, no interval is told from it. */
static int guess_spread(struct uc_fit_model *m, struct uc_est *e)
{
    size_t n = 0;
    double *off = malloc((m->sizes + 1) * sizeof(*off));

    if (!off)
        return -ENOMEM;
    for (size_t i = 1; i + 1 < m->sizes; i++) {
        double d = log(e[i].mid) - (log(e[i - 1].mid) + log(e[i + 1].mid)) / 2;
        if (isfinite(d))
            off[n++] = fabs(d);
    }
    qsort(off, n, sizeof(*off), by_double);
    /* 1.4826 scales the median deviation to a standard one; a second difference has 1.5 times the
     * variance. */
    double sd = n < 5 ? 0 : 1.4826 * off[n / 2] / sqrt(1.5);
    for (size_t i = 0; i < m->sizes; i++)
        e[i].var = isnan(e[i].mid) ? 0 : pow(sd * e[i].mid, 2);
    free(off);
    return 0;
}

static int build_fixed(struct table *t, struct uc_fit_model *m, char *why, size_t why_cap)
{
    int rc = lay_out(t, m, false, m->sizes, why, why_cap);

    if (rc)
        return rc;
    fill(t, m, false, m->size, m->sizes);
    rc = uc_model_spikes(m, t->raw, t->places);
    if (rc)
        return rc;
    m->fixed = malloc(m->strategies * m->sizes * sizeof(*m->fixed));
    m->lowest = calloc(m->sizes, sizeof(*m->lowest));
    m->barred = calloc(m->strategies * m->sizes, sizeof(*m->barred));
    m->raw = malloc(m->strategies * m->sizes * sizeof(*m->raw));
    if (!m->fixed || !m->lowest || !m->barred || !m->raw)
        return -ENOMEM;
    rc = average_all(t, m, m->size, m->sizes, m->fixed, true);
    for (size_t s = 0; s < m->strategies && !rc; s++) {
        fill_gaps(m, m->fixed + s * m->sizes);
        if (m->no_spread)
            rc = guess_spread(m, m->fixed + s * m->sizes);
    }
    return rc;
}

static int build_bands(struct table *t, struct uc_fit_model *m, char *why, size_t why_cap)
{
    int rc = lay_out(t, m, true, m->bands, why, why_cap);

    if (rc || !m->bands)
        return rc;
    fill(t, m, true, m->band_hi, m->bands);
    m->band = malloc(m->strategies * m->bands * sizeof(*m->band));
    if (!m->band)
        return -ENOMEM;
    return average_all(t, m, m->band_hi, m->bands, m->band, false);
}

static double band_share(const struct uc_fit_model *m)
{
    double fixed = m->weights->mix[UC_FIXED], band = m->weights->mix[UC_BAND];
    return m->bands && fixed + band > 0 ? band / (fixed + band) : 0;
}

static int build(struct table *t, const struct uc_cells *cells, struct uc_fit_model *m, char *why,
                 size_t why_cap)
{
    int rc = pick(cells, t);

    if (!rc)
        rc = list_strategies(t, m, why, why_cap);
    if (!rc)
        rc = list_sizes(t, m, false, &m->size, &m->sizes);
    if (!rc)
        rc = list_sizes(t, m, true, &m->band_hi, &m->bands);
    if (!rc && !m->sizes) {
        snprintf(why, why_cap, "no cell of a candidate for %s", uc_entry_name[t->o->entry]);
        rc = -ENODATA;
    }
    if (!rc)
        rc = weigh_sizes(m);
    if (!rc)
        rc = build_fixed(t, m, why, why_cap);
    if (!rc)
        rc = build_bands(t, m, why, why_cap);
    m->mix_band = band_share(m);
    if (!rc)
        rc = uc_model_guards(m, t->o, t->probe, t->probes);
    if (!rc)
        rc = uc_model_bar(m, t->probe, t->probes);
    return rc;
}

int uc_model_build(const struct uc_cells *cells, const struct uc_fit_options *o,
                   struct uc_fit_model *m, char *why, size_t why_cap)
{
    struct table t = {
        .o = o,
        .w = o->weights ? o->weights : &uc_weights_default,
        .l1d = o->l1d ? o->l1d : FALLBACK_L1D,
        .l2 = o->l2 ? o->l2 : FALLBACK_L2,
    };

    memset(m, 0, sizeof(*m));
    m->weights = t.w;
    m->no_spread = !cells->has_interval;
    snprintf(why, why_cap, "out of memory");
    int rc = build(&t, cells, m, why, why_cap);
    free(t.choice);
    free(t.probe);
    free(t.place);
    free(t.raw);
    if (rc)
        uc_model_clear(m);
    else
        *why = 0;
    return rc;
}

void uc_model_clear(struct uc_fit_model *m)
{
    free(m->strategy);
    free(m->size);
    free(m->weight);
    free(m->lowest);
    free(m->raw);
    free(m->fixed);
    free(m->band_hi);
    free(m->band);
    free(m->barred);
    free(m->guard);
    free(m->guarded);
    memset(m, 0, sizeof(*m));
}

size_t uc_model_band(const struct uc_fit_model *m, size_t max)
{
    for (size_t b = 0; b < m->bands; b++)
        if (m->band_hi[b] >= max)
            return b;
    return m->bands ? m->bands - 1 : 0;
}

/* The band cell itself, else that of the largest band below, else of the smallest above. */
struct uc_est uc_model_band_cost(const struct uc_fit_model *m, size_t s, size_t band)
{
    const struct uc_est *e = m->bands ? m->band + s * m->bands : NULL;

    for (size_t b = band + 1; e && b-- > 0;)
        if (!isnan(e[b].mid))
            return e[b];
    for (size_t b = band; b < m->bands; b++)
        if (!isnan(e[b].mid))
            return e[b];
    return (struct uc_est){NAN, 0};
}

struct uc_est uc_model_cost(const struct uc_fit_model *m, size_t s, size_t n, size_t band,
                            double *common)
{
    struct uc_est e = m->fixed[s * m->sizes + n];
    struct uc_est b = uc_model_band_cost(m, s, band);
    double share = m->size[n] <= UC_SMALL_MAX && !isnan(b.mid) ? m->mix_band : 0;

    *common = share * share * b.var;
    e.mid = (1 - share) * e.mid + (share > 0 ? share * b.mid : 0);
    e.var *= (1 - share) * (1 - share);
    return e;
}

bool uc_model_simpler(const struct uc_model_strategy *a, const struct uc_model_strategy *b)
{
    return a->rank != b->rank ? a->rank < b->rank : strcmp(a->name, b->name) < 0;
}

/* The public handle, for those who ask for many costs of one table. */

struct uc_fit_model *uc_fit_model_new(const struct uc_cells *cells, const struct uc_fit_options *o)
{
    char why[128];
    struct uc_fit_model *m = malloc(sizeof(*m));

    if (m && uc_model_build(cells, o, m, why, sizeof(why))) {
        free(m);
        return NULL;
    }
    return m;
}

void uc_fit_model_free(struct uc_fit_model *m)
{
    if (m)
        uc_model_clear(m);
    free(m);
}

double uc_fit_model_cost(const struct uc_fit_model *m, const char *strategy, size_t size,
                         size_t dispatch_max, double *lo, double *hi)
{
    size_t s = uc_model_find(m, strategy), n = find_size(m->size, m->sizes, size);
    struct uc_est e = {NAN, 0};
    double common = 0;

    if (s < m->strategies && n < m->sizes)
        e = uc_model_cost(m, s, n, uc_model_band(m, dispatch_max), &common);
    double half = m->no_spread ? 0 : Z95 * sqrt(e.var + common);
    if (lo)
        *lo = e.mid - half;
    if (hi)
        *hi = e.mid + half;
    return e.mid;
}

double uc_fit_model_raw(const struct uc_fit_model *m, const char *strategy, size_t size)
{
    size_t s = uc_model_find(m, strategy), n = find_size(m->size, m->sizes, size);
    return s < m->strategies && n < m->sizes ? m->raw[s * m->sizes + n] : NAN;
}

size_t uc_fit_model_sizes(const struct uc_fit_model *m, const size_t **sizes)
{
    *sizes = m->size;
    return m->sizes;
}

double uc_fit_cost(const struct uc_cells *cells, const struct uc_fit_options *o,
                   const char *strategy, size_t size, size_t dispatch_max, double *lo, double *hi)
{
    struct uc_fit_model *m = uc_fit_model_new(cells, o);

    if (!m) {
        if (lo)
            *lo = NAN;
        if (hi)
            *hi = NAN;
        return NAN;
    }
    double cost = uc_fit_model_cost(m, strategy, size, dispatch_max, lo, hi);
    uc_fit_model_free(m);
    return cost;
}
