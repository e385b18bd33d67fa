/* What `info` sees of a machine, and how it is told. */
#ifndef UC_CLI_INFO_H
#define UC_CLI_INFO_H

#include <jansson.h>
#include <sched.h>
#include <stdbool.h>

#include "cli/disturb.h"
#include "cli/facts.h"
#include "machine/caches.h"
#include "machine/clock.h"
#include "machine/cpu.h"
#include "machine/evidence.h"
#include "machine/topology.h"

struct uc_info_machine {
    struct uc_topology *topology;
    bool ours; /* the topology is this machine's */
    int pu;
    const char *pu_why;
    int pinned; /* 0 or a negative errno */
    struct uc_cpus cpus;
    struct uc_caches caches;
    struct uc_clock clock;
    int clock_rc;
    int counters_rc;
    char counters_why[256];
    struct uc_machine_load begin, end;
    cpu_set_t siblings;
    char governor[32], thp[16];
    size_t huge_page; /* 0: unknown */
};

/* What disturbs measuring on it. */
size_t uc_info_disturbances(const struct uc_info_machine *m, struct uc_disturbance *out);

/* The whole answer, of this machine or of a dump; the instruction sets disabled are left out. 0 or
 * the exit code. */
int uc_info_print_machine(const struct uc_info_machine *m, bool json, uint32_t disabled);
int uc_info_print_dump(const struct uc_cpus *cpus, bool json, uint32_t disabled);

/* Parts of it: the CPU (with the caches of a dump's), all core kinds, and the caches. NULL: no
 * memory. */
void uc_info_print_cpu(const struct uc_cpu *c, uint32_t disabled);
json_t *uc_info_cpus_json(const struct uc_cpus *cpus, uint32_t disabled);
json_t *uc_info_caches_json(const struct uc_caches *c);
void uc_info_add_caches(struct uc_facts *f, const struct uc_caches *c);

#endif
