/* Hardware counters through libpfm4 and perf_event_open: user space only, this thread, in a pass
 * apart from timing. The one user of libpfm4. */
#ifndef UC_MACHINE_COUNTERS_H
#define UC_MACHINE_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct uc_counters;

#define UC_MAX_EVENTS 8

struct uc_count {
    char event[160]; /* the alternative that was taken */
    uint64_t value;
    bool valid;      /* false: multiplexed, never scheduled or implausible; why says which */
    const char *why; /* NULL where valid */
};

/* Opens the named events (libpfm4 names; a name with alternatives "a|b" takes the first that the
 * PMU of the present CPU has), 1 <= n <= UC_MAX_EVENTS, stopped, each with a counter of its own. A
 * thread bound to one CPU is counted on that CPU, another one wherever it runs. The kernel is left
 * out, except for software events that only the kernel can cause (context switches, migrations),
 * which read 0 otherwise. On failure returns a negative errno (-ENOENT also: libpfm4 knows no such
 * event) and why (one line: the event, the errno's own text and what is needed: perf_event_paranoid
 * and CAP_PERFMON, a PMU, ulimit -n). All or none are open. */
int uc_counters_open(struct uc_counters **out, const char *const *events, size_t n, char *why,
                     size_t why_cap);
void uc_counters_close(struct uc_counters *c);

/* The default events of the PMU at hand: cycles, instructions, L1D misses (lines brought into L1D)
 * by the models' own names, the kernel's generic name last, as arguments for uc_counters_open.
 * Returns how many of the three can be encoded here. */
size_t uc_counters_default(const char *events[UC_MAX_EVENTS]);

/* Both act on all events of the calling thread at once (prctl), which must be the one that opened
 * them. 0 or a negative errno. */
int uc_counters_start(struct uc_counters *c);
int uc_counters_stop(struct uc_counters *c);

/* Counts since the last start. Never extrapolated: where running time is below enabled time the
 * count is not valid. Of cycles and instructions, 0 of one with more than 0 of the other is
 * implausible, and neither is valid. Returns how many events. */
size_t uc_counters_read(struct uc_counters *c, struct uc_count counts[UC_MAX_EVENTS]);

/* The name of the PMU that libpfm4 detected for the present CPU ("amd64_fam19h_zen4"), or NULL. */
const char *uc_counters_pmu(void);

/* Encodes one event without opening it (works under LIBPFM_FORCE_PMU). 0 or -ENOENT. */
int uc_counters_encode(const char *event, uint32_t *type, uint64_t *config);

/* What is asked of the system: replaced by tests, which have no PMU to ask. */
struct perf_event_attr;
struct uc_perf_system {
    int (*open)(struct perf_event_attr *attr, int cpu); /* a descriptor, or -1 and errno */
    ssize_t (*read)(int fd, void *buf, size_t size);
    const char *devices;  /* folder of the PMUs that the kernel knows */
    const char *paranoid; /* file with the value of perf_event_paranoid */
};
extern struct uc_perf_system uc_perf_system;

#endif
