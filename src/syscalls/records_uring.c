/* io_uring: requests and completions lie in memory that is shared, so neither is copied by a user
 * copy. Rings as io_uring_setup(2) lays them out. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "measure/sweep.h"
#include "syscalls/small_records.h"
#include "syscalls/sys.h"

static int map(struct uc_uring *u, const struct io_uring_params *p)
{
    size_t requests = p->sq_off.array + p->sq_entries * sizeof(unsigned),
           done = p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe);

    if (!(p->features & IORING_FEAT_SINGLE_MMAP))
        return -EOPNOTSUPP;
    u->rings_bytes = requests > done ? requests : done;
    u->entries_bytes = p->sq_entries * sizeof(struct io_uring_sqe);
    int rc = uc_sys_mmap(u->rings_bytes, u->fd, IORING_OFF_SQ_RING, &u->rings);
    return rc ? rc : uc_sys_mmap(u->entries_bytes, u->fd, IORING_OFF_SQES, &u->entries);
}

int uc_uring_open(struct uc_uring *u)
{
    struct io_uring_params p = {0};

    memset(u, 0, sizeof(*u));
    u->fd = uc_sys_io_uring_setup(UC_FLIGHT, &p);
    int rc = u->fd < 0 ? u->fd : map(u, &p);
    if (rc) {
        uc_uring_close(u);
        return rc;
    }
    char *rings = u->rings;
    u->tail = (unsigned *)(rings + p.sq_off.tail);
    u->mask = *(unsigned *)(rings + p.sq_off.ring_mask);
    u->array = (unsigned *)(rings + p.sq_off.array);
    u->done_head = (unsigned *)(rings + p.cq_off.head);
    u->done_tail = (unsigned *)(rings + p.cq_off.tail);
    u->done_mask = *(unsigned *)(rings + p.cq_off.ring_mask);
    u->done = (struct io_uring_cqe *)(rings + p.cq_off.cqes);
    u->request = u->entries;
    return 0;
}

static void prepare(struct uc_uring *u, int fd, uint64_t out[UC_FLIGHT])
{
    unsigned tail = *u->tail;

    for (unsigned i = 0; i < UC_FLIGHT; i++, tail++) {
        unsigned at = tail & u->mask;
        u->request[at] = (struct io_uring_sqe){.opcode = IORING_OP_READ,
                                               .fd = fd,
                                               .off = i * sizeof(out[i]),
                                               .addr = (uint64_t)(uintptr_t)&out[i],
                                               .len = sizeof(out[i])};
        u->array[at] = at;
    }
    __atomic_store_n(u->tail, tail, __ATOMIC_RELEASE);
}

/* How many completions lie there; *rc: of the first that failed. */
static unsigned reap(struct uc_uring *u, int *rc)
{
    unsigned head = *u->done_head, tail = __atomic_load_n(u->done_tail, __ATOMIC_ACQUIRE), n = 0;

    for (; head != tail; head++, n++) {
        int res = u->done[head & u->done_mask].res;
        if (res != (int)sizeof(uint64_t) && !*rc)
            *rc = res < 0 ? res : -EIO;
    }
    __atomic_store_n(u->done_head, head, __ATOMIC_RELEASE);
    return n;
}

int uc_uring_flight(struct uc_uring *u, int fd, uint64_t out[UC_FLIGHT])
{
    unsigned submitted = 0, done = 0;
    int rc = 0;

    prepare(u, fd, out);
    while (done < UC_FLIGHT && !rc) {
        int n = uc_sys_io_uring_enter(u->fd, UC_FLIGHT - submitted, UC_FLIGHT - done);
        if (n < 0 && (n != -EINTR || uc_interrupted))
            return n;
        submitted += n > 0 ? (unsigned)n : 0;
        done += reap(u, &rc);
    }
    return rc;
}

void uc_uring_close(struct uc_uring *u)
{
    if (u->entries)
        uc_sys_munmap(u->entries, u->entries_bytes);
    if (u->rings)
        uc_sys_munmap(u->rings, u->rings_bytes);
    if (u->fd > 0)
        uc_sys_close(u->fd);
    memset(u, 0, sizeof(*u));
}
