/* GLIBC_TUNABLES of two limits of glibc's memcpy. What they mean and their bounds are those of the
 * glibc manual, "Hardware Capability Tunables"; that on AMD `rep movsb` ends at the size of L2 is
 * in the notes of its changes to 2.33. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "emit/emit.h"
#include "emit/formats.h"
#include "emit/glibc.h"
#include "emit/ways.h"

#define NEVER (SIZE_MAX >> 4)               /* the largest limit that it takes */
#define LEAST_NON_TEMPORAL ((size_t)0x4040) /* its minimum, whatever the caches are said to be */
#define NO_REP_ON_AMD 41                    /* from 2.41 on it never uses `rep movsb` on AMD */

struct limits {
    size_t rep, stream; /* from this size on; SIZE_MAX: never */
};

struct job {
    const struct uc_profile *p;
    const struct uc_glibc *here; /* NULL: any glibc */
    struct uc_ways w;
    size_t rep_end;          /* largest size of `rep movsb`; SIZE_MAX: where the streaming begins */
    bool rep_gone;           /* this glibc never uses it on this CPU */
    struct limits tuned, is; /* is: the defaults of `here` */
    bool set_rep, set_stream;
};

static bool never(size_t limit)
{
    return limit >= NEVER;
}

/* AMD's bound on `rep movsb` is L2 as CPUID tells it, which is what glibc reads. */
static size_t rep_end(const struct uc_profile *p)
{
    size_t told = p->caches.l2.by[UC_BY_CPUID];

    if (!uc_ways_is_amd(p))
        return SIZE_MAX;
    return told ? told : p->caches.l2.bytes ? p->caches.l2.bytes : (size_t)512 << 10;
}

static size_t least_rep(const struct job *j)
{
    size_t least = 8 * uc_ways_vector(j->p);

    return j->here && j->here->limits.rep_movsb_min > least ? j->here->limits.rep_movsb_min : least;
}

static size_t least_stream(const struct job *j)
{
    return j->here && j->here->limits.non_temporal_min > LEAST_NON_TEMPORAL
               ? j->here->limits.non_temporal_min
               : LEAST_NON_TEMPORAL;
}

/* What glibc cannot be told costs more than anything. */
static void forbid(struct job *j)
{
    for (size_t i = 0; i < j->w.n; i++) {
        size_t size = j->w.size[i];
        if (j->rep_gone || size < least_rep(j) || size > j->rep_end)
            j->w.cost[UC_WAY_REP][i] = HUGE_VAL;
        if (size <= j->rep_end)
            j->w.cost[UC_WAY_VECTOR_AGAIN][i] = HUGE_VAL;
        if (size < least_stream(j))
            j->w.cost[UC_WAY_STREAM][i] = HUGE_VAL;
    }
}

static int way_at(const struct job *j, struct limits l, size_t size)
{
    if (size >= l.stream)
        return UC_WAY_STREAM;
    return size >= l.rep && size <= j->rep_end && !j->rep_gone ? UC_WAY_REP : UC_WAY_VECTOR;
}

/* Weighted cost of all sizes by these limits, a win within the margin counted as none. */
static double cost_of(const struct job *j, struct limits l)
{
    double sum = 0, weight = 0;

    for (size_t i = 0; i < j->w.n; i++) {
        int way = way_at(j, l, j->w.size[i]);
        double cost = j->w.cost[way][i];
        sum += j->w.weight[i] * (isfinite(cost) ? cost : 2) * (way ? UC_WAY_MARGIN : 1);
        weight += j->w.weight[i];
    }
    return sum / weight;
}

static int choose(struct job *j)
{
    int *way = calloc(j->w.n + 1, sizeof(*way));

    if (!way)
        return -ENOMEM;
    forbid(j);
    uc_ways_choose(&j->w, true, UC_WAY_PRICE, way);
    j->tuned.rep = uc_ways_first(&j->w, way, UC_WAY_REP);
    j->tuned.stream = uc_ways_first(&j->w, way, UC_WAY_STREAM);
    free(way);
    return 0;
}

/* Each limit is set where it gains: half a per cent of all sizes. */
static void weigh_defaults(struct job *j)
{
    j->set_rep = !j->rep_gone;
    j->set_stream = true;
    if (!j->here)
        return;
    j->is = (struct limits){j->here->limits.rep_movsb, j->here->limits.non_temporal};
    struct limits both = j->tuned, old_rep = {j->is.rep, both.stream},
                  old_stream = {both.rep, j->is.stream};
    j->set_rep = !j->rep_gone && cost_of(j, old_rep) > (1 + UC_WAY_PRICE) * cost_of(j, both);
    j->set_stream = cost_of(j, old_stream) > (1 + UC_WAY_PRICE) * cost_of(j, both);
    if (!j->set_rep)
        j->tuned.rep = j->is.rep;
    if (!j->set_stream)
        j->tuned.stream = j->is.stream;
}

/* ---- text ---- */

static const char *way_name[UC_WAYS] = {"vector moves", "rep movsb", "vector moves",
                                        "stores past the caches"};

static void put_ranges(const struct job *j, struct limits l, FILE *out)
{
    char text[UC_SIZE_TEXT];
    int now = UC_WAY_VECTOR;

    fputs(way_name[now], out);
    for (size_t i = 0; i < j->w.n; i++) {
        int next = way_at(j, l, j->w.size[i]);
        if (next == now)
            continue;
        /* the limit itself, where the ladder's size is the first behind it */
        size_t at = next == UC_WAY_REP ? l.rep : next == UC_WAY_STREAM ? l.stream : j->rep_end + 1;
        fprintf(out, next == UC_WAY_VECTOR ? "; above %s %s" : "; from %s %s",
                uc_size_text(next == UC_WAY_VECTOR ? at - 1 : at, text), way_name[next]);
        now = next;
    }
    fputc('\n', out);
}

/* Where the two differ, by what factor the line's way is faster on one size repeated. */
static void put_gain(const struct job *j, FILE *out)
{
    char from[UC_SIZE_TEXT], to[UC_SIZE_TEXT];

    for (size_t i = 0, k; i < j->w.n; i = k) {
        int old = way_at(j, j->is, j->w.size[i]), new = way_at(j, j->tuned, j->w.size[i]);
        double sum = 0;
        int n = 0;
        for (k = i; k < j->w.n && way_at(j, j->is, j->w.size[k]) == old &&
                    way_at(j, j->tuned, j->w.size[k]) == new;
             k++)
            if (isfinite(j->w.cost[old][k]) && isfinite(j->w.cost[new][k])) {
                sum += log(j->w.cost[old][k] / j->w.cost[new][k]);
                n++;
            }
        if (old == new)
            continue;
        fprintf(out, "#   %s to %s: %s in place of %s, ", uc_size_text(j->w.size[i], from),
                uc_size_text(j->w.size[k - 1], to), way_name[new], way_name[old]);
        if (n)
            fprintf(out, "%.2f times as fast in the profile's cells\n", exp(sum / n));
        else
            fputs("which is barred there for its worst placements, or lost early\n", out);
    }
}

static void put_title(const struct job *j, FILE *out)
{
    uc_put_origin(j->p, "Limits of glibc's memcpy", out);
    if (j->here) {
        fprintf(out, "# glibc 2.%d here: ", j->here->minor);
        put_ranges(j, j->is, out);
    }
    fputs("# best of these: ", out);
    put_ranges(j, j->tuned, out);
}

static void put_notes(const struct job *j, FILE *out)
{
    char text[UC_SIZE_TEXT];

    if (j->rep_gone)
        fputs("# From 2.41 on glibc never uses rep movsb on AMD: its limit is left alone.\n", out);
    else if (uc_ways_is_amd(j->p) && !j->here)
        fputs("# From 2.41 on glibc never uses rep movsb on AMD: there the first limit does "
              "nothing.\n",
              out);
    if (uc_ways_is_amd(j->p) && !j->rep_gone)
        fprintf(out, "# Not to be told: where rep movsb ends; on AMD at the size of L2, %s.\n",
                uc_size_text(j->rep_end, text));
    else if (!uc_ways_is_amd(j->p))
        fputs("# Not to be told: where rep movsb ends apart from where the stores past the caches "
              "begin.\n",
              out);
    fputs("# Not to be told: the moves of short sizes, the loop, and a copy whose dst is not used "
          "soon.\n",
          out);
}

static void put_value(const char *name, size_t value, size_t max, const char *before, FILE *out)
{
    if (value > max)
        value = max;
    fprintf(out, "%sglibc.cpu.x86_%s=%s%zx", before, name, "0x", value);
}

static size_t within(size_t value)
{
    return never(value) ? NEVER : value;
}

static void put_line(const struct job *j, FILE *out)
{
    size_t rep_max = j->here ? j->here->limits.rep_movsb_max : SIZE_MAX;
    size_t stream_max = j->here ? j->here->limits.non_temporal_max : NEVER;

    fputs("GLIBC_TUNABLES=", out);
    if (j->set_rep)
        put_value("rep_movsb_threshold", within(j->tuned.rep), rep_max, "", out);
    if (j->set_stream)
        put_value("non_temporal_threshold", within(j->tuned.stream), stream_max,
                  j->set_rep ? ":" : "", out);
    fputc('\n', out);
}

int uc_emit_glibc_for(const struct uc_profile *p, const struct uc_glibc *here, FILE *out,
                      bool *has_line, char *why, size_t why_cap)
{
    struct job j = {.p = p, .here = here, .rep_end = rep_end(p)};
    int rc = uc_ways_of_libc(p, &j.w, why, why_cap);

    j.rep_gone = here && here->minor >= NO_REP_ON_AMD && uc_ways_is_amd(p);
    if (!rc)
        rc = choose(&j);
    if (!rc) {
        weigh_defaults(&j);
        put_title(&j, out);
        if (here)
            put_gain(&j, out);
        put_notes(&j, out);
        if (j.set_rep || j.set_stream)
            put_line(&j, out);
        else
            fprintf(out, "# glibc's own limits are already best here: there is nothing to set.\n");
    }
    if (has_line)
        *has_line = j.set_rep || j.set_stream;
    uc_ways_free(&j.w);
    return rc;
}

int uc_emit_glibc(const struct uc_profile *p, FILE *out, char *why, size_t why_cap)
{
    return uc_emit_glibc_for(p, NULL, out, NULL, why, why_cap);
}
