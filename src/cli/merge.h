/* Profiles on their way into one header, as `merge` gathers and prices them. */
#ifndef UC_CLI_MERGE_H
#define UC_CLI_MERGE_H

#include "emit/merged.h"

#define UC_MERGE_MOST 32 /* profiles at a time */

struct uc_merge_input {
    const char *file;
    struct uc_profile p;
};

struct uc_merge {
    const char *output; /* -o; NULL: stdout */
    struct uc_merge_input in[UC_MERGE_MOST];
    size_t n;
    struct uc_profile made[UC_MERGE_MOST]; /* of cpu: what they hold belongs to in */
    struct uc_merged_cpu cpu[UC_MERGE_MOST];
    struct uc_merged m;
};

/* One answer for both kinds of cores of a hybrid CPU, for one entry: of the ladders of p and of e,
 * and of those that follow one to a limit and the other above it, the one that both kinds may
 * execute and that costs least over a kind's own choice on the kind where it costs more, on their
 * own cells; half a per cent is no gain. Without such cells the ladder of the e cores, which have
 * the fewer instruction sets. 0, -ENOTSUP where none may be executed by both, or -ENOMEM. */
int uc_merge_hybrid(const struct uc_profile *p, const struct uc_profile *e, enum uc_entry entry,
                    struct uc_ladder *out, struct uc_merged_price price[2]);

/* What all call sites of an entry hold: of the profiles' own parts the one that costs least, on the
 * cells of the box where it costs most. 0 or -ENOMEM. */
int uc_merge_inline(const struct uc_merge *x, enum uc_entry entry, struct uc_merged_inline *out);

#endif
