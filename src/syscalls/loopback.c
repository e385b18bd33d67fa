#include "syscalls/loopback.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "measure/sweep.h"
#include "syscalls/sys.h"

#define WAIT_MS 1000 /* a firewall may let nothing through */
#define TRIES 64     /* strangers that may come first */

/* A socket on a port of its own; *at: where. */
static int make(int type, struct sockaddr_in *at)
{
    int fd = uc_sys_socket(type);

    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0)
        return fd;
    int rc = uc_sys_bind(fd, at);
    if (!rc)
        rc = uc_sys_getsockname(fd, at);
    if (rc)
        uc_sys_close(fd);
    return rc ? rc : fd;
}

static int make_both(int type, struct uc_loopback *l, struct sockaddr_in *from,
                     struct sockaddr_in *to)
{
    l->from = make(type, from);
    if (l->from < 0)
        return l->from;
    l->to = make(type, to);
    if (l->to >= 0)
        return 0;
    uc_sys_close(l->from);
    return l->to;
}

void uc_loopback_close(struct uc_loopback *l)
{
    uc_sys_close(l->from);
    uc_sys_close(l->to);
}

int uc_loopback_udp(struct uc_loopback *l)
{
    struct sockaddr_in from, to;
    int rc = make_both(SOCK_DGRAM, l, &from, &to);

    if (rc)
        return rc;
    rc = uc_sys_connect(l->from, &to);
    if (!rc)
        rc = uc_sys_connect(l->to, &from); /* what others send is dropped */
    if (rc)
        uc_loopback_close(l);
    return rc;
}

/* Others may connect to any port: theirs are closed again. */
static int accept_own(int listener, const struct sockaddr_in *own)
{
    for (int tries = 0; tries < TRIES; tries++) {
        struct sockaddr_in peer;
        int rc = uc_sys_poll(listener, WAIT_MS);
        if (rc == 0)
            break;
        if (rc == -EINTR && !uc_interrupted)
            continue;
        if (rc < 0)
            return rc;
        int fd = uc_sys_accept(listener, &peer);
        if (fd == -EAGAIN || fd == -ECONNABORTED || fd == -EINTR)
            continue;
        if (fd < 0 ||
            (peer.sin_port == own->sin_port && peer.sin_addr.s_addr == own->sin_addr.s_addr))
            return fd;
        uc_sys_close(fd);
    }
    return uc_sys_failed("connect", ETIMEDOUT);
}

int uc_loopback_tcp(struct uc_loopback *l)
{
    struct sockaddr_in from, to;
    int rc = make_both(SOCK_STREAM, l, &from, &to);

    if (rc)
        return rc;
    int listener = l->to;
    rc = uc_sys_listen(listener);
    if (!rc)
        rc = uc_sys_nodelay(l->from);
    if (!rc)
        rc = uc_sys_connect(l->from, &to);
    if (!rc || rc == -EINPROGRESS)
        rc = accept_own(listener, &from);
    uc_sys_close(listener);
    if (rc < 0) {
        uc_sys_close(l->from);
        return rc;
    }
    l->to = rc;
    return 0;
}
