/* Two sockets on 127.0.0.1 that are connected to each other and to nobody else, on ports that the
 * kernel picks. Neither ever waits. */
#ifndef UC_SYSCALLS_LOOPBACK_H
#define UC_SYSCALLS_LOOPBACK_H

struct uc_loopback {
    int from, to; /* the sender's, the receiver's */
};

/* 0 or a negative errno; nothing is open then. */
int uc_loopback_tcp(struct uc_loopback *l);
int uc_loopback_udp(struct uc_loopback *l);
void uc_loopback_close(struct uc_loopback *l);

#endif
