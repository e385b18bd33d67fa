/* gcc's -mmemcpy-strategy=: which of its inline copies serves which sizes. The option is a list of
 * alg:max_size:dest_align, in ascending order, the last to -1; dest_align is `align` where the copy
 * aligns dst first and `noalign` where it does not (gcc manual, "x86 Options"). gcc takes four
 * ranges. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "emit/emit.h"
#include "emit/formats.h"
#include "emit/ways.h"

enum { LIBCALL, REP_BYTE, REP_8BYTE, UNROLLED };

static const char *const algorithm[UC_WAYS] = {"libcall", "rep_byte", "rep_8byte", "unrolled_loop"};

/* The libc of the profile is what a call would reach. vector_loop and loop are none of our
 * strategies, and byte_loop is never best. */
static int way_noalign(const struct uc_profile *p, const char *strategy)
{
    return !strcmp(strategy, "libc")        ? LIBCALL
           : !strcmp(strategy, "rep_movsb") ? REP_BYTE
           : !strcmp(strategy, "rep_movsq") ? REP_8BYTE
           : !strcmp(strategy, "unrolled")  ? UNROLLED
                                            : -1;
}

/* The same with dst aligned first: of the ways in general registers only `rep movsb` was measured
 * so. */
static int way_align(const struct uc_profile *p, const char *strategy)
{
    return !strcmp(strategy, "rep_movsb_aligned") ? REP_BYTE
           : !strcmp(strategy, "rep_movsb")       ? -1
                                                  : way_noalign(p, strategy);
}

/* Up to here gcc moves copies of known size by pieces, whatever the option says. */
#define BY_PIECES 64

/* Costs of its ranges must pay for one more of them: 1 % of the whole. */
#define PRICE .01

static void put_option(const struct uc_ways *w, const int *way, const char *align, FILE *out)
{
    fputs("-mmemcpy-strategy=", out);
    for (size_t i = 0; i < w->n; i++) {
        if (i + 1 < w->n && way[i] == way[i + 1])
            continue;
        fprintf(out, "%s:", algorithm[way[i]]);
        if (i + 1 < w->n)
            fprintf(out, "%zu:%s,", w->size[i], align);
        else
            fprintf(out, "-1:%s\n", align);
    }
}

static void put_title(const struct uc_profile *p, FILE *out)
{
    const char *libc = json_string_value(json_object_get(p->validation, "libc"));

    uc_put_origin(p, "gcc's inline copies", out);
    fputs("# For copies whose size gcc knows or expects; with any other it calls memcpy, and what "
          "fits a few\n# moves it moves as it likes. The call was measured with ",
          out);
    uc_put_plain(libc ? libc : "the C library", out);
    fputs(".\n# Not to be told: vector_loop, loop and byte_loop, which were not measured.\n", out);
}

static int put_way(const struct uc_profile *p, uc_way_of *way_of, const char *align, FILE *out,
                   char *why, size_t why_cap)
{
    struct uc_ways w;
    int rc = uc_ways_read(p, way_of, BY_PIECES + 1, false, &w, why, why_cap);
    int *way = rc ? NULL : calloc(w.n + 1, sizeof(*way));

    if (way) {
        uc_ways_choose(&w, false, PRICE, way);
        fprintf(out, "# dst %s first\n",
                !strcmp(align, "align") ? "aligned" : "taken as it lies, not aligned");
        put_option(&w, way, align, out);
    } else if (!rc)
        rc = -ENOMEM;
    free(way);
    uc_ways_free(&w);
    return rc;
}

int uc_emit_gcc(const struct uc_profile *p, FILE *out, char *why, size_t why_cap)
{
    char *text = NULL;
    size_t n;

    if (p->environment != UCOPY_USER) {
        snprintf(why, why_cap,
                 "a call from the kernel is to the kernel's own memcpy, which was not measured: "
                 "give the user profile");
        return -ENOTSUP;
    }
    /* both or none */
    FILE *all = open_memstream(&text, &n);
    if (!all)
        return -ENOMEM;
    put_title(p, all);
    int rc = put_way(p, way_noalign, "noalign", all, why, why_cap);
    if (!rc)
        rc = put_way(p, way_align, "align", all, why, why_cap);
    if (fclose(all) && !rc)
        rc = -ENOMEM;
    if (!rc)
        fputs(text, out);
    free(text);
    return rc;
}
