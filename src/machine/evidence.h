/* What disturbed a reading: context switches and faults of this thread (getrusage), the CPU before
 * and after (getcpu), steal time and load of the machine (/proc/stat), frequency governor. */
#ifndef UC_MACHINE_EVIDENCE_H
#define UC_MACHINE_EVIDENCE_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

struct uc_evidence {
    long switches; /* voluntary and involuntary */
    long faults;   /* minor and major */
    int cpu;       /* the CPU number now; -1 unknown */
};

/* Takes the present counts; cheap (two system calls at most). */
void uc_evidence_now(struct uc_evidence *e);

/* Was the work between two readings disturbed: switched, faulted or moved? */
static inline bool uc_disturbed(const struct uc_evidence *before, const struct uc_evidence *after)
{
    return after->switches != before->switches || after->faults != before->faults ||
           after->cpu != before->cpu;
}

struct uc_machine_load {
    double seconds;         /* when, monotonic */
    uint64_t steal;         /* ticks of USER_HZ stolen from the given PU since boot */
    uint64_t busy_others;   /* busy ticks of all other PUs, siblings included */
    uint64_t busy_siblings; /* of its siblings */
    bool known;             /* false without /proc/stat, or without a line for the PU */
};

/* pu: the one measured on; siblings: the PUs that share its core (uc_topology_siblings), NULL:
 * none. Takes 20 us to 1 ms (the kernel sums every interrupt): between rounds, not around readings.
 */
void uc_machine_load_now(struct uc_machine_load *l, int pu, const cpu_set_t *siblings);

/* The same from another file of the form of /proc/stat. */
void uc_machine_load_from(struct uc_machine_load *l, const char *path, int pu,
                          const cpu_set_t *siblings);

/* Shares of wall time between two looks: 0 to 1; negative: unknown (either look unknown, or no time
 * between them). Siblings: their sum, at most 1. */
double uc_steal_share(const struct uc_machine_load *a, const struct uc_machine_load *b);
double uc_sibling_share(const struct uc_machine_load *a, const struct uc_machine_load *b);

/* Busy ticks (USER_HZ: user, nice, system, interrupts; not idle, iowait or steal) of each PU since
 * boot. busy: CPU_SETSIZE values, 0 where the file has no line. 0 or the negative errno of opening.
 */
int uc_busy_ticks(const char *path, uint64_t busy[CPU_SETSIZE]);

#define UC_PROC_STAT "/proc/stat"

/* Facts from /sys and /proc as text, "" where absent. Return buf. */
const char *uc_governor(int pu, char *buf, unsigned cap); /* "performance", ... */
const char *uc_thp_mode(char *buf, unsigned cap);         /* "always", "madvise", "never" */

/* The choice in a line of the form "always [madvise] never"; "" where no word is in brackets. */
const char *uc_bracketed(const char *line, char *buf, unsigned cap);

#endif
