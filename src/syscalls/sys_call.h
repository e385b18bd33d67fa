/* How a system call is made so that a test can make it fail: for the files that define those of
 * sys.h alone. */
#ifndef UC_SYSCALLS_SYS_CALL_H
#define UC_SYSCALLS_SYS_CALL_H

#include <errno.h>

#include "syscalls/sys.h"

/* The hook is asked, then the kernel. */
#define CALL(name, most, call)                                     \
    ({                                                             \
        int error = uc_sys_hook ? uc_sys_hook(name, most) : 0;     \
        typeof(call) result = error ? 0 : (call);                  \
        error = error ? error : result < 0 ? errno : 0;            \
        error ? (typeof(call))uc_sys_failed(name, error) : result; \
    })
#define NO_BYTES (&(size_t){0})

#endif
