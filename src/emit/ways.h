/* What a library or a compiler can be told is the limits between a few ways of copying of its own.
 * Here a profile's cells say which of them is best where, inside src/emit only. */
#ifndef UC_EMIT_WAYS_H
#define UC_EMIT_WAYS_H

#include <stdio.h>

#include "profile/profile.h"

#define UC_WAYS 4

/* Costs of single sizes (one size repeated) of the entry copy under the default weights. */
struct uc_ways {
    size_t n;
    size_t *size;          /* ascending */
    double *weight;        /* of each size */
    double *cost[UC_WAYS]; /* over the lowest at that size; NaN: not measured, barred or not to be
                              had */
};

/* The way that a strategy stands for; -1: none. */
typedef int uc_way_of(const struct uc_profile *p, const char *strategy);

/* The costs from size `from` on, those that are barred for their worst placements only where
 * barred_too is set; several strategies of one way count by the best of them, since a
 * library's own code was written to be good. 0; -ENOTSUP with why where the profile has no cells of
 * way 0; -ENOMEM. */
int uc_ways_read(const struct uc_profile *p, uc_way_of *way_of, size_t from, bool barred_too,
                 struct uc_ways *w, char *why, size_t why_cap);
void uc_ways_free(struct uc_ways *w);

/* A way is chosen where its gain over a lower one is above this: a win under 3 % is none. */
#define UC_WAY_MARGIN 1.03
/* And a further range of a library where it gains half a per cent of all sizes. */
#define UC_WAY_PRICE .005

/* The cheapest sequence of at most UC_WAYS ranges into way[n]; ordered: ways only ascend with the
 * size. price is what each further range must win, as a share of the whole. */
void uc_ways_choose(const struct uc_ways *w, bool ordered, double price, int *way);

/* vector moves, `rep movsb`, vector moves again, stores past the caches: what C libraries have. */
enum { UC_WAY_VECTOR, UC_WAY_REP, UC_WAY_VECTOR_AGAIN, UC_WAY_STREAM };
/* The costs of these from the largest size of the library's unrolled moves on (8 vectors). Vector
 * moves are those of the widest registers that the CPU has. Needs a user profile of a named CPU:
 * else -ENOTSUP with why. */
int uc_ways_of_libc(const struct uc_profile *p, struct uc_ways *w, char *why, size_t why_cap);
/* Text of a file or a CPU in a line of others: what is not printable becomes a dot, so that it
 * cannot begin a line of its own. */
void uc_put_plain(const char *text, FILE *out);
/* "# <what> for <key>, from the profile <stem> (ucopy-tune <version>).": the first line of a form.
 */
void uc_put_origin(const struct uc_profile *p, const char *what, FILE *out);

/* Bytes of its widest vector registers. */
size_t uc_ways_vector(const struct uc_profile *p);
bool uc_ways_is_amd(const struct uc_profile *p);
/* The first size of a way, or SIZE_MAX where it serves none. */
size_t uc_ways_first(const struct uc_ways *w, const int *way, int which);

#endif
