/* What disturbs measuring on this machine, and the command that mends it. Says; changes nothing. */
#ifndef UC_CLI_DISTURB_H
#define UC_CLI_DISTURB_H

#include <stdbool.h>
#include <stddef.h>

/* What was seen; shares are of wall time, 0 to 1, negative: unknown. */
struct uc_seen {
    int pu;
    const char *governor; /* "" unknown */
    const char *thp;      /* "always", "madvise", "never", "" unknown */
    const char *siblings; /* PUs that share the core, as text; "" none */
    double sibling_share; /* they were busy */
    double others_busy;   /* CPUs, of all but pu, that were busy on average */
    double steal_share;
    bool turbo_pstate;  /* intel_pstate's no_turbo is 0 */
    bool turbo_boost;   /* cpufreq's boost is 1 */
    double core_spread; /* largest over smallest estimate of the core clock, less 1 */
    bool refused;       /* hardware counters: EACCES or EPERM */
    long paranoid;      /* perf_event_paranoid; LONG_MIN: unknown */
    bool emulated;      /* the CPU is a program */
};

struct uc_disturbance {
    char what[192];
    char mend[192]; /* a command, or what to do where no command helps */
};

#define UC_MAX_DISTURBANCES 12

/* Pure. Returns how many. */
size_t uc_disturbances(const struct uc_seen *s, struct uc_disturbance out[UC_MAX_DISTURBANCES]);

#endif
