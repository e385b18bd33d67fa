/* What several CPUs must share is priced on the cells of each: the ladder of a hybrid CPU's two
 * kinds of cores, and what stands inlined at each call. Nothing is measured. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "cli/given.h"
#include "cli/merge.h"

/* ---- ladders made of two ---- */

static bool is_plain(const struct uc_segment *s, const char *strategy)
{
    return !*s->guard.test && !strcmp(s->strategy, strategy);
}

/* a to the size cut, b above it. False where that has too many ranges. */
static bool splice(const struct uc_ladder *a, const struct uc_ladder *b, size_t cut,
                   struct uc_ladder *out)
{
    struct uc_segment *last = NULL;

    out->n = 0;
    out->loss = 0;
    for (size_t i = 0; i < a->n && (!last || last->max < cut); i++) {
        last = out->segment + out->n++;
        *last = a->segment[i];
        last->max = last->max < cut ? last->max : cut;
    }
    for (size_t i = 0; i < b->n; i++) {
        if (b->segment[i].max <= cut)
            continue;
        if (last && is_plain(last, b->segment[i].strategy) &&
            is_plain(b->segment + i, last->strategy))
            out->n--; /* goes on across the cut */
        if (out->n == UC_MAX_SEGMENTS)
            return false;
        out->segment[out->n++] = b->segment[i];
        last = NULL;
    }
    return true;
}

static uint32_t isa_of(const char *strategy)
{
    const struct ucopy_strategy *s = ucopy_find(strategy);
    return s ? s->isa : 0;
}

static uint32_t ladder_isa(const struct uc_ladder *l)
{
    uint32_t isa = 0;

    for (size_t i = 0; i < l->n; i++)
        isa |= isa_of(l->segment[i].strategy) |
               (*l->segment[i].guard.test ? isa_of(l->segment[i].guard.otherwise) : 0);
    return isa;
}

/* ---- both kinds of cores ---- */

struct hybrid {
    const struct uc_profile *kind[2];
    enum uc_entry entry;
    double least; /* the larger of the two prices of the best ladder so far */
    struct uc_ladder *best;
    struct uc_merged_price *price;
};

static const struct uc_ladder *own(const struct hybrid *h, int k)
{
    return &h->kind[k]->entry[h->entry].ladder;
}

static bool both_may_execute(const struct hybrid *h, const struct uc_ladder *l)
{
    return !(ladder_isa(l) & ~(h->kind[0]->cpu.isa & h->kind[1]->cpu.isa));
}

/* Takes l where it is the best so far. */
static int try_ladder(struct hybrid *h, const struct uc_ladder *l)
{
    struct uc_merged_price price[2] = {{0}};
    double most = -HUGE_VAL;

    if (!both_may_execute(h, l))
        return 0;
    for (int k = 0; k < 2; k++) {
        int rc = uc_given_share(h->kind[k], h->entry, l, own(h, k), &price[k].share);
        if (rc == -ENODATA)
            return 0;
        if (rc)
            return rc;
        price[k].known = true;
        most = fmax(most, price[k].share.mean);
    }
    if (most >= h->least - .005)
        return 0;
    h->least = most;
    *h->best = *l;
    memcpy(h->price, price, sizeof(price));
    return 0;
}

/* Kind k's ladder to each limit of one of the two, and the other's above it. */
static int try_splices(struct hybrid *h, int k, const struct uc_ladder *limits)
{
    struct uc_ladder l;
    int rc = 0;

    for (size_t i = 0; i + 1 < limits->n && !rc; i++)
        if (splice(own(h, k), own(h, !k), limits->segment[i].max, &l))
            rc = try_ladder(h, &l);
    return rc;
}

static int take_unpriced(struct hybrid *h)
{
    for (int k = 1; k >= 0; k--)
        if (both_may_execute(h, own(h, k))) {
            *h->best = *own(h, k);
            return 0;
        }
    return -ENOTSUP;
}

int uc_merge_hybrid(const struct uc_profile *p, const struct uc_profile *e, enum uc_entry entry,
                    struct uc_ladder *out, struct uc_merged_price price[2])
{
    struct hybrid h = {{p, e}, entry, HUGE_VAL, out, price};
    int rc = 0;

    for (int k = 0; k < 2 && !rc; k++)
        rc = try_ladder(&h, own(&h, k));
    for (int k = 0; k < 2 && !rc; k++)
        for (int of = 0; of < 2 && !rc; of++)
            rc = try_splices(&h, k, own(&h, of));
    return rc || h.least < HUGE_VAL ? rc : take_unpriced(&h);
}

/* ---- what is inlined ---- */

static const struct uc_inline_part *part_of(const struct uc_profile *p, enum uc_entry entry)
{
    return &p->entry[entry].inline_baseline;
}

/* A box's ladder behind a part; the ladder alone where there is none. */
static bool behind(const struct uc_inline_part *part, const struct uc_ladder *l,
                   struct uc_ladder *out)
{
    struct uc_ladder first = {.n = 1, .segment = {{.max = SIZE_MAX}}};

    if (!*part->strategy) {
        *out = *l;
        return true;
    }
    snprintf(first.segment[0].strategy, UC_NAME, "%s", part->strategy);
    return splice(&first, l, part->max, out);
}

static int price_part(const struct uc_profile *on, enum uc_entry entry,
                      const struct uc_inline_part *part, struct uc_share *out)
{
    const struct uc_ladder *l = &on->entry[entry].ladder;
    struct uc_ladder with, own;

    if (!behind(part, l, &with) || !behind(part_of(on, entry), l, &own))
        return -ENODATA;
    return uc_given_share(on, entry, &with, &own, out);
}

/* The part of one profile on the cells of all others. */
static int try_part(const struct uc_merge *x, size_t of, enum uc_entry entry,
                    struct uc_merged_inline *found)
{
    struct uc_share share;

    *found = (struct uc_merged_inline){.part = *part_of(&x->in[of].p, entry), .of = &x->in[of].p};
    for (size_t i = 0; i < x->n; i++) {
        if (i == of)
            continue;
        int rc = price_part(&x->in[i].p, entry, &found->part, &share);
        if (rc == -ENODATA) {
            found->worst_on = NULL;
            return rc;
        }
        if (rc)
            return rc;
        if (!found->worst_on || share.mean > found->worst.mean) {
            found->worst_on = &x->in[i].p;
            found->worst = share;
        }
    }
    return 0;
}

int uc_merge_inline(const struct uc_merge *x, enum uc_entry entry, struct uc_merged_inline *out)
{
    double least = HUGE_VAL;
    struct uc_merged_inline found;

    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < x->n; i++) {
        if (!*part_of(&x->in[i].p, entry)->strategy)
            continue;
        int rc = try_part(x, i, entry, &found);
        if (rc && rc != -ENODATA)
            return rc;
        if (!*out->part.strategy || (!rc && found.worst.mean < least))
            *out = found;
        if (!rc)
            least = fmin(least, found.worst.mean);
    }
    return 0;
}
