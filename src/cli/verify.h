/* One run of `verify`: the profile, this box, and what was found of each limit and range. */
#ifndef UC_CLI_VERIFY_H
#define UC_CLI_VERIFY_H

#include "cli/options.h"
#include "cli/session.h"
#include "fit/drift.h"
#include "profile/profile.h"

struct uc_verify_run {
    const struct uc_options *o;
    const char *path;
    struct uc_profile p;
    struct uc_weights weights;
    struct uc_session session;
    struct uc_fit_strategy *known;
    size_t known_count;
    struct uc_drift_item item[UC_ENTRY_COUNT][UC_DRIFT_ITEMS];
    size_t items[UC_ENTRY_COUNT];
    unsigned failed; /* strategies that failed their check */
};

/* Times all entries of the profile again and judges them. 0 or the exit code after one line on
 * stderr.
 */
int uc_verify_run_time(struct uc_verify_run *v);

/* How many limits (or ranges) have a verdict. */
unsigned uc_verify_run_count(const struct uc_verify_run *v, bool limit, enum uc_drift verdict);

/* As text (0), JSON (1) or CSV (2). 0 or the exit code. */
int uc_verify_run_print(const struct uc_verify_run *v, int format);

#endif
