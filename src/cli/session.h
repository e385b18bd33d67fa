/* What every timed command begins with: this machine's topology, one core, the CPU on it, caches,
 * clock, and the machine-wide lock that keeps two timed runs apart. */
#ifndef UC_CLI_SESSION_H
#define UC_CLI_SESSION_H

#include <stdbool.h>

#include "cli/options.h"
#include "machine/caches.h"
#include "machine/clock.h"
#include "machine/cpu.h"
#include "machine/evidence.h"
#include "machine/topology.h"

struct uc_session {
    struct uc_topology *topology;
    struct uc_cpu cpu;
    struct uc_caches caches;
    struct uc_clock clock;
    int pu;
    const char *pu_why;
    uint32_t isa;                /* usable and not disabled */
    cpu_set_t siblings;          /* PUs that share the core */
    double begun;                /* uc_seconds once no other timed run was in the way */
    struct uc_machine_load load; /* when the session began */
    int lock;
    struct uc_company *company; /* other cores, where a command wants them; NULL: none */
};

/* Opens topology, checks that it is this machine's, takes the lock (saying when it waits), pins,
 * identifies, reads the caches (and measures them to chase_bytes where that is above 0) and
 * calibrates. Prints its own one line on failure or after a signal and returns the exit code; 0 to
 * go on. */
int uc_session_open(struct uc_session *s, const struct uc_options *o, size_t chase_bytes);
void uc_session_close(struct uc_session *s);

/* Takes the machine-wide lock, saying when it waits; -1 where it cannot be had (a warning says
 * why). Closing it gives it back. */
int uc_session_lock(void);

/* Is a core asked for by --core (below 0: none was) among those that may be used? 0, or the exit
 * code after one line on stderr. */
int uc_session_check_core(const struct uc_topology *t, int wanted);

/* From here on SIGINT and SIGTERM set uc_interrupted. uc_session_open does it too; a command calls
 * it earlier where it makes files before. */
void uc_session_signals(void);

/* The signal that interrupted, as an exit code: 130 or 143. */
int uc_session_interrupted_code(void);
/* The same, saying in one line that there is nothing to take up again. */
int uc_session_interrupted(void);
/* The exit code for what uc_sweep_run returned, the reason said in one line. */
int uc_session_failed(const struct uc_session *s, int rc);

#endif
