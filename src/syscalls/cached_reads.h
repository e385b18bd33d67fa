/* The two halves of cached_reads: reads, and the forms of a copy on the same loop. */
#ifndef UC_SYSCALLS_CACHED_READS_H
#define UC_SYSCALLS_CACHED_READS_H

#include "syscalls/syscalls.h"

#define UC_CACHED_READ ((size_t)2 << 20)

/* Copies of the bytes of one read, page by page and by 64, inline, called and called behind a
 * check. */
int uc_cached_forms(struct uc_sys_run *run, struct uc_sys_result *r, double seconds);

#endif
