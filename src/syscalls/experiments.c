/* The one table of experiments, in the order in which they run. */
#include "syscalls/experiments.h"

const struct uc_sys_experiment *const uc_sys_experiments[] = {
    &uc_sys_short_copies, &uc_sys_small_records, &uc_sys_small_writes,
    &uc_sys_nocopy_reads, &uc_sys_cached_reads,  &uc_sys_datagrams,
};

const size_t uc_sys_experiment_count = sizeof(uc_sys_experiments) / sizeof(uc_sys_experiments[0]);
