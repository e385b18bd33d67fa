/* Each experiment's own file defines one of these. */
#ifndef UC_SYSCALLS_EXPERIMENTS_H
#define UC_SYSCALLS_EXPERIMENTS_H

#include "syscalls/syscalls.h"

extern const struct uc_sys_experiment uc_sys_short_copies, uc_sys_small_records,
    uc_sys_small_writes, uc_sys_nocopy_reads, uc_sys_cached_reads, uc_sys_datagrams;

#endif
