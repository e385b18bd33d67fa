/* The line for glibc, told to the library at hand. */
#ifndef UC_EMIT_GLIBC_H
#define UC_EMIT_GLIBC_H

#include <stdio.h>

#include "machine/libc_limits.h"
#include "profile/profile.h"

/* The C library that the line is for, on the CPU of the profile. */
struct uc_glibc {
    int minor; /* 36 for glibc 2.36 */
    struct uc_libc_limits limits;
};

/* As uc_emit_glibc: with the library known (NULL: any), its own bounds hold, what its limits
 * already do well is left out, and what the line gains over them is told from the cells. Sets
 * *has_line (may be NULL): false where there is nothing to set. */
int uc_emit_glibc_for(const struct uc_profile *p, const struct uc_glibc *here, FILE *out,
                      bool *has_line, char *why, size_t why_cap);

#endif
