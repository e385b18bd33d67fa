/* Cache sizes from four sources, of which none is believed alone: libcpuid, hwloc, sysfs and a
 * measured pointer chase. 0 is "unknown" everywhere (0 and -1 from a source are unknown). */
#ifndef UC_MACHINE_CACHES_H
#define UC_MACHINE_CACHES_H

#include <stdbool.h>
#include <stddef.h>

#include "machine/cpu.h"
#include "machine/topology.h"

enum uc_cache_source {
    UC_BY_CPUID,
    UC_BY_HWLOC,
    UC_BY_SYSFS,
    UC_BY_CHASE,
    UC_CACHE_SOURCES,
    UC_BY_FALLBACK = UC_CACHE_SOURCES, /* nobody knows: the size is assumed */
};
/* "libcpuid", "hwloc", "sysfs", "measured", "assumed" */
extern const char *const uc_cache_source_name[UC_CACHE_SOURCES + 1];

struct uc_cache {
    size_t by[UC_CACHE_SOURCES]; /* bytes, 0: unknown */
    size_t bytes;                /* the one used */
    enum uc_cache_source source; /* and whose it is */
    bool disagree;               /* two known sources differ twofold or more */
};

struct uc_caches {
    struct uc_cache l1d, l2, l3;
    size_t line; /* bytes; 64 where nothing is told */
};

/* Reads what libcpuid (in cpu), hwloc (t; NULL: not asked) and sysfs say of a PU. No timing. */
void uc_caches_read(struct uc_caches *c, const struct uc_cpu *cpu, const struct uc_topology *t,
                    int pu);

/* Sizes of levels 1 (data) to 3 and the line by the files under root ("/sys/devices/system/cpu"
 * here) of one PU, in bytes; 0: not told. */
void uc_caches_sysfs(const char *root, int pu, size_t level[3], size_t *line);

/* The pointer chase on the pinned core: latency of a random cycle by footprint, up to max_bytes (at
 * least 4 MiB are mapped) and to half of the free memory; fills by[UC_BY_CHASE] where a step is
 * clear, else leaves 0. About 0.9 s at most: what is not reached by then stays unknown. Without
 * huge pages (THP "never") only l1d is told. -ENOMEM where nothing could be mapped. */
int uc_caches_measure(struct uc_caches *c, size_t max_bytes);

/* Pure: the steps of a latency curve. bytes: ascending footprints, a quarter of an octave or so
 * apart; cost: latency at each, above 0, in any unit; n: 128 at most, else nothing is found.
 * step[i]: the largest footprint that level i + 1 still serves, 0 where no clear step ends it. */
void uc_caches_steps(const size_t *bytes, const double *cost, size_t n, size_t step[3]);

/* Picks bytes and source, sets disagree: what CPUID or the OS say (libcpuid, then hwloc, then
 * sysfs) where no other source contradicts it twofold; else the measured one; else what is assumed
 * where nobody knows: l1d 32 KiB, l2 256 KiB, l3 0 (none). */
void uc_caches_choose(struct uc_caches *c);

#endif
