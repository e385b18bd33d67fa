/* Linux aio: every request is copied in, 64 bytes, and every completion out, 32 bytes: the records
 * of the measurement published in 2018. */
#include <errno.h>
#include <string.h>

#include "measure/sweep.h"
#include "syscalls/small_records.h"
#include "syscalls/sys.h"

int uc_aio_open(struct uc_aio *a, int fd, uint64_t out[UC_FLIGHT])
{
    memset(a, 0, sizeof(*a));
    for (unsigned i = 0; i < UC_FLIGHT; i++) {
        a->request[i] = (struct iocb){.aio_data = i,
                                      .aio_lio_opcode = IOCB_CMD_PREAD,
                                      .aio_fildes = (uint32_t)fd,
                                      .aio_buf = (uint64_t)(uintptr_t)&out[i],
                                      .aio_nbytes = sizeof(out[i]),
                                      .aio_offset = (int64_t)(i * sizeof(out[i]))};
        a->list[i] = &a->request[i];
    }
    return uc_sys_io_setup(UC_FLIGHT, &a->context);
}

/* Each event by itself: done[0, n) of this call. */
static int check(const struct uc_aio *a, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++)
        if (a->done[i].res != (long)sizeof(uint64_t))
            return a->done[i].res < 0 ? (int)a->done[i].res : -EIO;
    return 0;
}

static int submit(struct uc_aio *a)
{
    for (unsigned n = 0; n < UC_FLIGHT;) {
        int rc = uc_sys_io_submit(a->context, UC_FLIGHT - n, a->list + n);
        if (rc == -EINTR && !uc_interrupted)
            continue;
        if (rc <= 0)
            return rc ? rc : -EIO;
        n += (unsigned)rc;
    }
    return 0;
}

int uc_aio_flight(struct uc_aio *a)
{
    int rc = submit(a);

    for (unsigned n = 0; n < UC_FLIGHT && !rc;) {
        int got = uc_sys_io_getevents(a->context, 1, UC_FLIGHT - n, a->done + n);
        if (got == -EINTR && !uc_interrupted)
            continue;
        if (got <= 0)
            return got ? got : -EIO;
        rc = check(a, n, n + (unsigned)got);
        n += (unsigned)got;
    }
    return rc;
}

void uc_aio_close(struct uc_aio *a)
{
    if (a->context)
        uc_sys_io_destroy(a->context);
    a->context = 0;
}
