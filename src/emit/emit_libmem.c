/* LIBMEM_THRESHOLD of AOCL-LibMem's build with tunables: four sizes, the range of `rep mov` and
 * that of the non-temporal stores, -1 for "no end"; 0,0 is no range. All else is vector moves. Its
 * user guide counts the first size in, the library (5.3) does not: one less is right either way. */
#include <errno.h>
#include <stdlib.h>

#include "base/units.h"
#include "emit/emit.h"
#include "emit/formats.h"
#include "emit/ways.h"

struct ranges {
    size_t rep_from, rep_to; /* the first, and the first behind it; 0, 0: none */
    size_t stream_from;      /* 0: never */
};

/* It has a begin and an end for `rep movsb`, and past the end vector moves again. */
static struct ranges find(const struct uc_ways *w, const int *way)
{
    struct ranges r = {0, 0, 0};

    for (size_t i = 0; i < w->n; i++) {
        if (way[i] == UC_WAY_REP) {
            r.rep_from = r.rep_from ? r.rep_from : w->size[i];
            /* to the next size of the ladder, whose way is another */
            r.rep_to = i + 1 < w->n ? w->size[i + 1] : SIZE_MAX;
        }
        if (way[i] == UC_WAY_STREAM && !r.stream_from)
            r.stream_from = w->size[i];
    }
    return r;
}

static void put_text(const struct uc_profile *p, const struct ranges *r, FILE *out)
{
    char a[UC_SIZE_TEXT];

    uc_put_origin(p, "Limits of AOCL-LibMem's memcpy", out);
    fputs("# vector moves", out);
    if (r->rep_from) {
        fprintf(out, "; from %s rep movsb", uc_size_text(r->rep_from, a));
        if (r->rep_to != SIZE_MAX)
            fprintf(out, ", to %s", uc_size_text(r->rep_to, a));
    }
    if (r->stream_from)
        fprintf(out, "; from %s stores past the caches", uc_size_text(r->stream_from, a));
    fputs(
        "\n# Heard by its build with tunables alone; the other ones take no limits.\n"
        "# Not to be told: the moves of short sizes, the vector loop, and a copy whose dst is not "
        "used soon.\n"
        "LIBMEM_THRESHOLD=",
        out);
}

static void put_end(size_t value, const char *after, FILE *out)
{
    if (value == SIZE_MAX)
        fprintf(out, "-1%s", after);
    else
        fprintf(out, "%zu%s", value, after);
}

static void put_line(const struct ranges *r, FILE *out)
{
    fprintf(out, "%zu,", r->rep_from ? r->rep_from - 1 : 0);
    put_end(r->rep_to, ",", out);
    fprintf(out, "%zu,", r->stream_from ? r->stream_from - 1 : 0);
    put_end(r->stream_from ? SIZE_MAX : 0, "\n", out);
}

int uc_emit_libmem(const struct uc_profile *p, FILE *out, char *why, size_t why_cap)
{
    struct uc_ways w;
    int rc;

    if (p->environment == UCOPY_USER && p->has_cpu && !uc_ways_is_amd(p)) {
        snprintf(why, why_cap,
                 "AOCL-LibMem copies by the system's memcpy on %s, which is not of AMD",
                 p->cpu.key);
        return -ENOTSUP;
    }
    rc = uc_ways_of_libc(p, &w, why, why_cap);
    int *way = rc ? NULL : calloc(w.n + 1, sizeof(*way));
    if (way) {
        uc_ways_choose(&w, true, UC_WAY_PRICE, way);
        struct ranges r = find(&w, way);
        put_text(p, &r, out);
        put_line(&r, out);
    } else if (!rc)
        rc = -ENOMEM;
    free(way);
    uc_ways_free(&w);
    return rc;
}
