#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/msg.h"
#include "cli/command.h"

/* A standard stream that the caller closed would be the number of the next file opened, and the
 * table meant for stdout would land in a profile. Held open the wrong way round, it fails as a
 * closed one does. */
static void hold_standard_streams(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* stdout is data: what did not get there was not done. */
static int flush_output(int code)
{
    int failed = ferror(stdout);

    errno = 0;
    if (!fflush(stdout) && !failed)
        return code;
    if (errno)
        uc_error("cannot write to stdout: %s", strerror(errno));
    else
        uc_error("cannot write to stdout");
    return UC_EXIT_MACHINE;
}

int main(int argc, char **argv)
{
    hold_standard_streams();
    return flush_output(uc_main(argc, argv));
}
