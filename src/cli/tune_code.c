/* Where the code lies: what the two placements of each called form tell of the chosen strategies.
 */
#include "cli/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "cli/output.h"

/* The called form where it was measured at sizes of its own, not by bands or at worst placements.
 */
static bool counts(const struct uc_cell *c, enum uc_entry entry, const char *strategy, size_t lo,
                   size_t hi)
{
    return c->code_ratio > 0 && c->entry == entry && c->mix == UC_FIXED && c->page_distance < 0 &&
           c->dst_end.kind == UC_END_DRAWN && c->src_end.kind == UC_END_DRAWN && c->size >= lo &&
           c->size <= hi && !strcmp(c->strategy, strategy);
}

struct uc_code_ratio uc_tune_code_ratio(const struct uc_cells *cells, enum uc_entry entry,
                                        const char *strategy, size_t lo, size_t hi)
{
    struct uc_code_ratio r = {0};
    double *v = malloc((cells->n ? cells->n : 1) * sizeof(*v));

    for (size_t i = 0; i < cells->n && v; i++)
        if (counts(&cells->v[i], entry, strategy, lo, hi))
            v[r.n++] = cells->v[i].code_ratio;
    if (r.n) {
        uc_sort(v, r.n);
        r.middle = uc_quantile(v, r.n, 0.5);
        r.low = uc_quantile(v, r.n, 0.25);
        r.high = uc_quantile(v, r.n, 0.75);
    }
    free(v);
    return r;
}

static bool worth_telling(const struct uc_code_ratio *r, double margin)
{
    return r->n >= 8 && fabs(r->middle - 1) > margin && (r->low > 1 || r->high < 1);
}

static void print_segment(const struct uc_tune *t, enum uc_entry entry, size_t lo,
                          const struct uc_segment *s)
{
    struct uc_code_ratio r = uc_tune_code_ratio(&t->cells, entry, s->strategy, lo, s->max);
    char text[320];

    if (!worth_telling(&r, t->weights.margin))
        return;
    snprintf(
        text, sizeof(text),
        "  code placement (%s): %s costs %.2f times as much with its code %d bytes behind a line of "
        "64 as with it at one (middle of %zu cells; half of them lie within %.2f to %.2f)",
        uc_entry_name[entry], s->strategy, r.middle, UCOPY_SHIFT, r.n, r.low, r.high);
    uc_print_wrapped(text, 6, stdout);
}

void uc_tune_print_code(const struct uc_tune *t)
{
    for (int e = 0; e < UC_ENTRY_COUNT; e++) {
        const struct uc_ladder *l = &t->profile.entry[e].ladder;
        for (size_t i = 0, lo = 0; i < l->n; lo = l->segment[i++].max + 1)
            print_segment(t, (enum uc_entry)e, lo, &l->segment[i]);
    }
}
