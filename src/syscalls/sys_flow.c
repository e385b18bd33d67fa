/* Calls that move bytes past user memory, and sockets. */
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include "syscalls/sys_call.h"

/* posix_fadvise returns the error and leaves errno alone. */
static int fadvise(int fd, off_t at, off_t n, int advice)
{
    errno = posix_fadvise(fd, at, n, advice);
    return errno ? -1 : 0;
}

int uc_sys_fadvise(int fd, off_t at, off_t n, int advice)
{
    return CALL("posix_fadvise", NO_BYTES, fadvise(fd, at, n, advice));
}

static ssize_t count_resident(int fd, size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (n + page - 1) / page;
    unsigned char *in = malloc(pages);
    void *map = in ? mmap(NULL, n, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    ssize_t resident = map == MAP_FAILED || mincore(map, n, in) ? -1 : 0;

    for (size_t i = 0; i < pages && resident >= 0; i++)
        resident += in[i] & 1;
    if (map != MAP_FAILED)
        munmap(map, n);
    free(in);
    return resident;
}

ssize_t uc_sys_resident(int fd, size_t n)
{
    return CALL("mincore", NO_BYTES, count_resident(fd, n));
}

int uc_sys_madvise(void *p, size_t n, int advice)
{
    return CALL("madvise", NO_BYTES, madvise(p, n, advice));
}

int uc_sys_pipe(int end[2])
{
    return CALL("pipe2", NO_BYTES, pipe2(end, O_CLOEXEC));
}

int uc_sys_pipe_bytes(int fd, size_t n)
{
    return CALL("fcntl", NO_BYTES, fcntl(fd, F_SETPIPE_SZ, (int)n));
}

ssize_t uc_sys_splice(int in, off_t *at, int out, size_t n)
{
    return CALL("splice", &n, splice(in, at, out, NULL, n, SPLICE_F_MOVE));
}

ssize_t uc_sys_sendfile(int to, int from, off_t *at, size_t n)
{
    return CALL("sendfile", &n, sendfile(to, from, at, n));
}

ssize_t uc_sys_readv(int fd, const struct iovec *v, size_t n)
{
    return CALL("readv", &n, readv(fd, v, (int)n));
}

int uc_sys_socket(int type)
{
    return CALL("socket", NO_BYTES, socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

int uc_sys_bind(int fd, const struct sockaddr_in *at)
{
    return CALL("bind", NO_BYTES, bind(fd, (const struct sockaddr *)at, sizeof(*at)));
}

int uc_sys_getsockname(int fd, struct sockaddr_in *at)
{
    socklen_t n = sizeof(*at);

    return CALL("getsockname", NO_BYTES, getsockname(fd, (struct sockaddr *)at, &n));
}

int uc_sys_listen(int fd)
{
    return CALL("listen", NO_BYTES, listen(fd, 1));
}

int uc_sys_nodelay(int fd)
{
    return CALL("setsockopt", NO_BYTES,
                setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)));
}

int uc_sys_connect(int fd, const struct sockaddr_in *to)
{
    return CALL("connect", NO_BYTES, connect(fd, (const struct sockaddr *)to, sizeof(*to)));
}

int uc_sys_accept(int fd, struct sockaddr_in *peer)
{
    socklen_t n = sizeof(*peer);

    return CALL("accept4", NO_BYTES,
                accept4(fd, (struct sockaddr *)peer, &n, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

int uc_sys_poll(int fd, int ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return CALL("poll", NO_BYTES, poll(&p, 1, ms));
}

ssize_t uc_sys_send(int fd, const void *p, size_t n)
{
    return CALL("send", NO_BYTES, send(fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL));
}

ssize_t uc_sys_recv(int fd, void *p, size_t n, int flags)
{
    return CALL("recvfrom", &n, recvfrom(fd, p, n, flags | MSG_DONTWAIT, NULL, NULL));
}

int uc_sys_recvmmsg(int fd, struct mmsghdr *v, size_t n)
{
    return CALL("recvmmsg", &n, recvmmsg(fd, v, (unsigned)n, MSG_DONTWAIT, NULL));
}
