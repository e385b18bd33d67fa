#include "emit/ways.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a way costs where it was not measured: it was raced out there, so it lost. */
#define LOST 2.0

struct names {
    char v[64][UC_NAME];
    int way[64];
    size_t n;
};

static void add_name(struct names *names, const char *name, int way)
{
    for (size_t i = 0; i < names->n; i++)
        if (!strcmp(names->v[i], name))
            return;
    if (names->n == sizeof(names->v) / sizeof(*names->v))
        return;
    snprintf(names->v[names->n], UC_NAME, "%s", name);
    names->way[names->n++] = way;
}

/* One size repeated, for the entry copy: what a limit by size can be told from. */
static int filter(const struct uc_profile *p, uc_way_of *way_of, struct uc_cells *out,
                  struct names *names)
{
    int rc = 0;

    out->unit = p->cells.unit;
    out->has_interval = p->cells.has_interval;
    for (size_t i = 0; i < p->cells.n && !rc; i++) {
        const struct uc_cell *c = &p->cells.v[i];
        int way = c->entry == UC_COPY && c->mix == UC_FIXED ? way_of(p, c->strategy) : -1;
        if (way < 0)
            continue;
        struct uc_cell kept = *c;
        kept.role = UCOPY_CANDIDATE; /* the library's own copy is one way among others here */
        rc = uc_cells_add(out, &kept);
        add_name(names, c->strategy, way);
    }
    return rc;
}

static bool barred_at(const struct uc_profile *p, const char *strategy, size_t size)
{
    const struct uc_profile_entry *e = &p->entry[UC_COPY];

    for (size_t i = 0; i < e->barred_n; i++)
        if (!strcmp(e->barred[i].strategy, strategy) && e->barred[i].from <= size &&
            size <= e->barred[i].to)
            return true;
    return false;
}

static void take_costs(const struct uc_profile *p, const struct uc_fit_model *m,
                       const struct names *names, bool barred_too, struct uc_ways *w)
{
    for (size_t i = 0; i < w->n; i++) {
        for (int k = 0; k < UC_WAYS; k++)
            w->cost[k][i] = NAN;
        for (size_t s = 0; s < names->n; s++) {
            double cost = uc_fit_model_cost(m, names->v[s], w->size[i], SIZE_MAX, NULL, NULL);
            double *best = &w->cost[names->way[s]][i];
            if (!isnan(cost) && (barred_too || !barred_at(p, names->v[s], w->size[i])) &&
                !(*best <= cost))
                *best = cost;
        }
        size_t below = i ? w->size[i - 1] + 1 : w->size[i];
        w->weight[i] = uc_size_weight(&uc_weights_default, below, w->size[i]);
    }
}

static int take_sizes(const struct uc_profile *p, const struct uc_fit_model *m, size_t from,
                      const struct names *names, bool barred_too, struct uc_ways *w)
{
    const size_t *size;
    size_t n = uc_fit_model_sizes(m, &size), first = 0;

    while (first < n && size[first] < from)
        first++;
    w->n = n - first;
    w->size = calloc(w->n + 1, sizeof(*w->size));
    w->weight = calloc(w->n + 1, sizeof(*w->weight));
    bool ok = w->size && w->weight;
    for (int k = 0; k < UC_WAYS; k++)
        ok = (w->cost[k] = calloc(w->n + 1, sizeof(double))) && ok;
    if (!ok)
        return -ENOMEM;
    memcpy(w->size, size + first, w->n * sizeof(*size));
    take_costs(p, m, names, barred_too, w);
    return 0;
}

int uc_ways_read(const struct uc_profile *p, uc_way_of *way_of, size_t from, bool barred_too,
                 struct uc_ways *w, char *why, size_t why_cap)
{
    struct uc_fit_options o = {.weights = &uc_weights_default,
                               .entry = UC_COPY,
                               .environment = p->environment,
                               .max_segments = UC_WAYS,
                               .l1d = p->caches.l1d.bytes,
                               .l2 = p->caches.l2.bytes};
    struct uc_cells cells = {0};
    struct names names = {.n = 0};
    bool has_first = false;

    memset(w, 0, sizeof(*w));
    int rc = filter(p, way_of, &cells, &names);
    for (size_t i = 0; i < names.n; i++)
        has_first |= !names.way[i];
    struct uc_fit_model *m = rc || !has_first ? NULL : uc_fit_model_new(&cells, &o);
    if (m)
        rc = take_sizes(p, m, from, &names, barred_too, w);
    if (!rc && !w->n) {
        snprintf(why, why_cap, "the profile has no cells of what it would be made from");
        rc = -ENOTSUP;
    }
    uc_fit_model_free(m);
    uc_cells_free(&cells);
    if (rc)
        uc_ways_free(w);
    return rc;
}

void uc_ways_free(struct uc_ways *w)
{
    free(w->size);
    free(w->weight);
    for (int k = 0; k < UC_WAYS; k++)
        free(w->cost[k]);
    memset(w, 0, sizeof(*w));
}

/* ---- the cheapest sequence ---- */

static double price_of(const struct uc_ways *w, size_t i, int way)
{
    double cost = w->cost[way][i];

    return w->weight[i] * (isnan(cost) ? LOST : cost) * (way ? UC_WAY_MARGIN : 1);
}

/* The best sum of the sizes so far that ends in a way as the r-th range, and where it came from. */
struct step {
    double sum;
    signed char from; /* way of the size before; its range is r or r - 1 */
    bool begins;
};

static void extend(const struct uc_ways *w, size_t i, bool ordered, double price,
                   const struct step before[UC_WAYS][UC_WAYS], struct step now[UC_WAYS][UC_WAYS])
{
    for (int r = 0; r < UC_WAYS; r++)
        for (int k = 0; k < UC_WAYS; k++) {
            struct step best = {before[r][k].sum, (signed char)k, false};
            for (int from = 0; from < UC_WAYS && r; from++)
                if (from != k && (!ordered || from < k) &&
                    before[r - 1][from].sum + price < best.sum)
                    best = (struct step){before[r - 1][from].sum + price, (signed char)from, true};
            best.sum += price_of(w, i, k);
            now[r][k] = best;
        }
}

void uc_ways_choose(const struct uc_ways *w, bool ordered, double price, int *way)
{
    struct step(*at)[UC_WAYS][UC_WAYS] = calloc(w->n + 1, sizeof(*at));
    double whole = 0;
    int r = 0, k = 0;

    for (size_t i = 0; i < w->n; i++) {
        way[i] = 0;
        whole += w->weight[i];
    }
    if (!at)
        return;
    for (int a = 0; a < UC_WAYS; a++)
        for (int b = 0; b < UC_WAYS; b++)
            at[0][a][b].sum = a ? HUGE_VAL : 0;
    for (size_t i = 0; i < w->n; i++)
        extend(w, i, ordered, price * whole, (const struct step(*)[UC_WAYS])at[i], at[i + 1]);
    for (int a = 0; a < UC_WAYS; a++)
        for (int b = 0; b < UC_WAYS; b++)
            if (at[w->n][a][b].sum < at[w->n][r][k].sum) {
                r = a;
                k = b;
            }
    for (size_t i = w->n; i-- > 0;) {
        const struct step *s = &at[i + 1][r][k];
        way[i] = k;
        k = s->from;
        r -= s->begins;
    }
    free(at);
}

/* ---- the ways of C libraries ---- */

bool uc_ways_is_amd(const struct uc_profile *p)
{
    return !strcmp(p->cpu.vendor, "AuthenticAMD") || !strcmp(p->cpu.vendor, "HygonGenuine");
}

size_t uc_ways_vector(const struct uc_profile *p)
{
    return p->cpu.isa & UCOPY_ISA_AVX512BW ? 64 : p->cpu.isa & UCOPY_ISA_AVX2 ? 32 : 16;
}

static int way_of_libc(const struct uc_profile *p, const char *strategy)
{
    const char *width = uc_ways_vector(p) == 64   ? "avx512_"
                        : uc_ways_vector(p) == 32 ? "avx2_"
                                                  : "sse2_";

    if (!strcmp(strategy, "rep_movsb") || !strcmp(strategy, "rep_movsb_aligned"))
        return UC_WAY_REP;
    if (strncmp(strategy, width, strlen(width)) != 0)
        return -1;
    return strstr(strategy, "stream") ? UC_WAY_STREAM
           : strstr(strategy, "loop") ? UC_WAY_VECTOR
                                      : -1;
}

int uc_ways_of_libc(const struct uc_profile *p, struct uc_ways *w, char *why, size_t why_cap)
{
    memset(w, 0, sizeof(*w));
    if (p->environment != UCOPY_USER) {
        snprintf(why, why_cap, "a kernel profile has no vector moves: give the user profile");
        return -ENOTSUP;
    }
    if (!p->has_cpu) {
        snprintf(why, why_cap, "the profile names no CPU");
        return -ENOTSUP;
    }
    int rc = uc_ways_read(p, way_of_libc, 8 * uc_ways_vector(p), false, w, why, why_cap);
    for (size_t i = 0; i < w->n && !rc; i++)
        w->cost[UC_WAY_VECTOR_AGAIN][i] = w->cost[UC_WAY_VECTOR][i];
    return rc;
}

size_t uc_ways_first(const struct uc_ways *w, const int *way, int which)
{
    for (size_t i = 0; i < w->n; i++)
        if (way[i] == which)
            return w->size[i];
    return SIZE_MAX;
}

void uc_put_plain(const char *text, FILE *out)
{
    for (; *text; text++)
        fputc(isprint((unsigned char)*text) ? *text : '.', out);
}

void uc_put_origin(const struct uc_profile *p, const char *what, FILE *out)
{
    char stem[UC_STEM];

    fprintf(out, "# %s for ", what);
    uc_put_plain(p->has_cpu ? p->cpu.key : "a CPU that was not named", out);
    fputs(", from the profile ", out);
    uc_put_plain(uc_profile_stem(p, stem, sizeof stem), out);
    fprintf(out, " (ucopy-tune %s).\n", UC_VERSION);
}
