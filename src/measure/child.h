/* Waiting for a program that was started, without being deaf to Ctrl-C meanwhile. */
#ifndef UC_MEASURE_CHILD_H
#define UC_MEASURE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/* Waits for the end of pid. Where this run is interrupted before that, the child (group: all of its
 * process group, which it leads) is ended, and -EINTR returned once it is. 0, or a negative errno;
 * *status as of waitpid. */
int uc_child_wait(pid_t pid, bool group, int *status);

#endif
