#include "measure/child.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "measure/sweep.h"

/* A signal that comes between looking and sleeping is seen after one of these. */
static const struct timespec nap = {0, 2000000};
/* Naps until who does not end by himself is killed: a second. A compiler's driver removes its
 * temporary files on SIGTERM. */
enum { PATIENCE = 500 };

/* One look. 1: ended; 0: runs; a negative errno. */
static int look(pid_t pid, int *status)
{
    pid_t got = waitpid(pid, status, WNOHANG);

    if (got < 0 && errno == EINTR)
        return 0;
    return got < 0 ? -errno : got == pid;
}

static int end(pid_t pid, bool group, int *status)
{
    pid_t who = group ? -pid : pid;
    int rc = 0;

    kill(who, SIGTERM);
    for (int i = 0; i < PATIENCE && !rc; i++) {
        nanosleep(&nap, NULL);
        rc = look(pid, status);
    }
    if (rc && !group)
        return rc < 0 ? rc : -EINTR;
    kill(who, SIGKILL); /* of a group also those that the leader left behind */
    while (!rc && waitpid(pid, status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return -EINTR;
}

int uc_child_wait(pid_t pid, bool group, int *status)
{
    for (;;) {
        int rc = look(pid, status);
        if (rc)
            return rc < 0 ? rc : 0;
        if (uc_interrupted)
            return end(pid, group, status);
        nanosleep(&nap, NULL);
    }
}
