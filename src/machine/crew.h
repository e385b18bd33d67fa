/* Threads on other cores, one each, that work on call: none runs while nothing is asked of it. */
#ifndef UC_MACHINE_CREW_H
#define UC_MACHINE_CREW_H

#include "machine/topology.h"

struct uc_crew;
typedef void uc_crew_job(void *arg, unsigned member);

/* As many threads, each bound to a PU of a usable core that is not pu's; signals go to the caller.
 * 0; -ENODEV where there are fewer such cores; -EXDEV where the kernel binds one elsewhere; or the
 * errno of starting a thread. */
int uc_crew_open(struct uc_crew **out, struct uc_topology *t, int pu, unsigned members);
void uc_crew_close(struct uc_crew *c); /* NULL is allowed */

/* Every member does the job once; returns when all have. The caller waits without sleeping: its
 * own evidence of switches stays clean. */
void uc_crew_each(struct uc_crew *c, uc_crew_job *job, void *arg);
/* Every member does the job again and again from here to uc_crew_stop; returns when each has done
 * it once. */
void uc_crew_start(struct uc_crew *c, uc_crew_job *job, void *arg);
void uc_crew_stop(struct uc_crew *c); /* returns when none is at work */

#endif
