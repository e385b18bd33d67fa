/* Many small operations in flight: reads of 8 bytes out of a file in memory, by aio and by
 * io_uring. */
#ifndef UC_SYSCALLS_SMALL_RECORDS_H
#define UC_SYSCALLS_SMALL_RECORDS_H

#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <stdint.h>

#define UC_FLIGHT 256u

struct uc_aio {
    aio_context_t context;
    struct iocb request[UC_FLIGHT]; /* 64 bytes each: what the kernel copies in */
    struct iocb *list[UC_FLIGHT];
    struct io_event done[UC_FLIGHT]; /* 32 bytes each: what it copies out */
};

struct uc_uring {
    int fd;
    void *rings, *entries;
    size_t rings_bytes, entries_bytes;
    unsigned *tail, *array, *done_head, *done_tail;
    unsigned mask, done_mask;
    struct io_uring_sqe *request;
    struct io_uring_cqe *done;
};

/* Operation i reads 8 bytes of fd at 8 i into out[i]. All return 0 or a negative errno; -EIO where
 * an operation moved another number of bytes. A context that was not opened is closed without harm.
 */
int uc_aio_open(struct uc_aio *a, int fd, uint64_t out[UC_FLIGHT]);
int uc_aio_flight(struct uc_aio *a);
void uc_aio_close(struct uc_aio *a);

int uc_uring_open(struct uc_uring *u);
int uc_uring_flight(struct uc_uring *u, int fd, uint64_t out[UC_FLIGHT]);
void uc_uring_close(struct uc_uring *u);

#endif
