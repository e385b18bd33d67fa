/* Profiles that a command is given as files. */
#ifndef UC_CLI_GIVEN_H
#define UC_CLI_GIVEN_H

#include "fit/share.h"
#include "profile/profile.h"

/* Reads a profile, or a header. A header counts by its own text; the profile beside it (the same
 * stem with .json) adds its cells and intervals where it tells the same limits, and where it does
 * not a warning says so. Warns of an edited and of an incomplete profile. 0, or the exit code after
 * one line with file, place and reason. */
int uc_given_read(const char *path, struct uc_profile *p);

/* Reads a profile, or of a header the profile beside it: what a header's code is made of stands
 * there alone. Warns of an edited one. 0, or the exit code after one line with file, place and
 * reason. */
int uc_given_profile(const char *path, struct uc_profile *p);

/* Is there such a header, and does it tell the CPU and the limits of the profile? */
bool uc_given_is_header_of(const char *path, const struct uc_profile *p);

/* "user" or "kernel". */
const char *uc_given_environment(const struct uc_profile *p);

/* A text of the profile's method ("kernel", "libc", "microcode", "grade", ...); "" where absent. */
const char *uc_given_method(const struct uc_profile *p, const char *key);

/* The weights that the profile was chosen by, from their name. Sizes of a distribution are not in a
 * profile: they weigh as by default then. False where the name says nothing to this program. */
bool uc_given_weights(const struct uc_profile *p, struct uc_weights *w);

/* What the fit must know to price a profile's own cells by its own weights and caches. Points to w
 * and to a list that it allocates: free(*list). 0 or -ENOMEM. */
int uc_given_fit(const struct uc_profile *p, enum uc_entry entry, struct uc_weights *w,
                 struct uc_fit_strategy **list, struct uc_fit_options *o);

/* What a ladder costs on the profile's cells over another, by the profile's own weights and caches.
 * Returns as uc_fit_share. */
int uc_given_share(const struct uc_profile *on, enum uc_entry entry, const struct uc_ladder *ladder,
                   const struct uc_ladder *own, struct uc_share *out);

/* The instruction sets that its code needs. */
uint32_t uc_given_isa(const struct uc_profile *p);

#endif
