/* The output of `syscalls`: what was measured, as text, rows of samples, or JSON. */
#ifndef UC_CLI_SYSCALLS_H
#define UC_CLI_SYSCALLS_H

#include <jansson.h>

#include "cli/session.h"
#include "syscalls/syscalls.h"

struct uc_syscalls_done {
    const struct uc_sys_experiment *experiment;
    struct uc_sys_result result;
};

void uc_syscalls_print(const struct uc_session *s, const struct uc_syscalls_done *done, size_t n);
/* Reads the profile at path, which must be this CPU's; save: it must be one that results can be put
 * into. 0, or the exit code after one line on stderr. */
int uc_syscalls_profile(const char *path, bool save, struct uc_sys_threshold *nocache);
int uc_syscalls_save(const char *path, const struct uc_session *s,
                     const struct uc_syscalls_done *done, size_t n);
/* Rows of samples as `stats` reads them. */
void uc_syscalls_print_csv(const struct uc_session *s, const struct uc_syscalls_done *done,
                           size_t n);
/* NULL: no memory. Without the samples it is what a profile keeps. */
json_t *uc_syscalls_json(const struct uc_session *s, const struct uc_syscalls_done *done, size_t n,
                         bool samples);

#endif
