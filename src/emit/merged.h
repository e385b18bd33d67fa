/* One header for several CPUs, of which the right one is picked at run time. Pure: profiles in,
 * text out. */
#ifndef UC_EMIT_MERGED_H
#define UC_EMIT_MERGED_H

#include <stdio.h>

#include "fit/share.h"
#include "profile/profile.h"

/* What a ladder costs on the cells of a box over the ladder that this box chose. */
struct uc_merged_price {
    bool known; /* false: its cells do not hold it */
    struct uc_share share;
};

struct uc_merged_cpu {
    const struct uc_profile
        *p; /* without inlined parts, and with the merged header's entries alone */
    const struct uc_profile *kind[2]; /* of a hybrid CPU: the profiles of its p and its e cores, of
                                         which p was made; else NULL */
    struct uc_merged_price price[UC_ENTRY_COUNT][2]; /* of p on the cells of each kind */
};

/* What a call site holds, on whatever CPU it runs. */
struct uc_merged_inline {
    struct uc_inline_part part;        /* strategy "": nothing */
    const struct uc_profile *of;       /* whose own part it is */
    const struct uc_profile *worst_on; /* the box on which it costs most over its own part; NULL:
                                          no other box, or cells that do not tell */
    struct uc_share worst;             /* how much */
};

struct uc_merged {
    const char *name;                /* prefix of all names, in small letters */
    const struct uc_merged_cpu *cpu; /* of one environment, by vendor, family and model */
    size_t n;
    bool entry[UC_ENTRY_COUNT]; /* offered: those that all have */
    struct uc_merged_inline inlined[UC_ENTRY_COUNT];
};

/* Needs profiles that uc_header_check accepts. 0 or -ENOMEM; errors of writing show in ferror(out).
 */
int uc_emit_merged(const struct uc_merged *m, FILE *out);

/* Can a merged header hold this profile? 0, or -ENOTSUP with why. */
int uc_merged_check(const struct uc_profile *p, char *why, size_t why_cap);

#define UC_MERGED_NAME 40 /* characters of a name at most */
/* Is it a prefix for the names of a header? Small letters and digits, with a _ inside (so that it
 * is no header's macro of another kind and hardly anybody's word), and no keyword. */
bool uc_merged_name_valid(const char *name);

/* The comment at its head. */
void uc_merged_comment(const struct uc_merged *m, FILE *out);

#endif
