/* Cores, masks and pinning. The one user of hwloc. Works in PUs, by OS index. */
#ifndef UC_MACHINE_TOPOLOGY_H
#define UC_MACHINE_TOPOLOGY_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

struct uc_topology;

/* Loads the topology. Where hwloc cannot (no /sys, empty HWLOC_FSROOT) the affinity mask serves,
 * with what CPUID told hwloc, and uc_topology_source says so. Numbers from CPU_SETSIZE (1024) up
 * are left out. The mask of this thread is as before. 0 or a negative errno. */
int uc_topology_open(struct uc_topology **out);
void uc_topology_close(struct uc_topology *t);

/* "hwloc 2.9.0"; "affinity mask and CPUID" or "affinity mask" where hwloc read nothing of the
 * operating system, or nothing at all; "hwloc 2.9.0, imported" for a foreign topology. */
const char *uc_topology_source(const struct uc_topology *t);

/* False for an imported topology (HWLOC_XMLFILE, HWLOC_FSROOT with another machine's files) that is
 * not this machine's: tuning is refused. */
bool uc_topology_is_this_machine(const struct uc_topology *t);

/* PUs that may be used: allowed by the topology AND in the mask that this thread had when
 * uc_topology_open was called; that mask alone where the two have none in common. Never empty. */
void uc_topology_usable(const struct uc_topology *t, cpu_set_t *set);
/* A cpu set as text, "0-3,8"; "none" for the empty one; a text that does not fit, with 3 bytes to
 * spare, ends in "...".
 * Returns buf. cap >= 8. */
const char *uc_cpu_set_text(const cpu_set_t *set, char *buf, size_t cap);

/* The PU to measure on: wanted, or for wanted < 0 the best by these rules, in order: on hybrid CPUs
 * a core of the faster kind; one that has been idle, and its siblings too, for the 100 ms that this
 * takes to look where there is a choice; not the PU 0 (interrupts), nor its sibling, if another
 * will do; the lowest number. *why gets a short reason. -EINVAL where wanted is not usable. */
int uc_topology_choose(const struct uc_topology *t, int wanted, int *pu, const char **why);

/* The choice among these PUs, with the share of time that each was busy (NULL: unknown), by number.
 * Candidates not empty. What uc_topology_choose calls once it has looked. */
int uc_topology_best(const struct uc_topology *t, const cpu_set_t *candidates,
                     const double busy[CPU_SETSIZE], const char **why);

/* Binds this thread to one PU by hwloc (by sched_setaffinity where hwloc cannot), then asks the
 * kernel for mask and current CPU. 0, -EXDEV where the kernel says otherwise, -EINVAL for a PU that
 * is not usable, or the errno. */
int uc_topology_pin(struct uc_topology *t, int pu);

/* Is this thread, by the kernel's word, bound to this PU alone and running there? 0, -EXDEV, or the
 * errno of asking. Also finds a mask that was changed from outside since. */
int uc_topology_pinned(int pu);

/* PUs that share the core with this one, itself excluded, whether usable or not. */
void uc_topology_siblings(const struct uc_topology *t, int pu, cpu_set_t *set);

/* A usable PU on another physical core, or -1: none, or nothing is known of cores. */
int uc_topology_other_core(const struct uc_topology *t, int pu);

/* A usable PU of each other physical core, in the order of their numbers, into pus (room for
 * CPU_SETSIZE); how many. 0 also where nothing is known of cores. */
unsigned uc_topology_other_cores(const struct uc_topology *t, int pu, int *pus);

/* How fast this PU's kind is among the CPU's kinds: 0 the slowest, higher is faster (hwloc's
 * efficiency); 0 where the CPU has one kind or nothing is known. */
int uc_topology_kind(const struct uc_topology *t, int pu);

/* Cache of the level (1 data, 2, 3) above the PU, bytes; 0: unknown. */
size_t uc_topology_cache(const struct uc_topology *t, int pu, unsigned level);

#endif
