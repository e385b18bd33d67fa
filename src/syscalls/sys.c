#include "syscalls/sys_call.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measure/sweep.h"

int (*uc_sys_hook)(const char *call, size_t *bytes);

/* Each thread's own: two may be making calls. */
static _Thread_local const char *failed_call = "";

const char *uc_sys_failed_call(void)
{
    return failed_call;
}

int uc_sys_failed(const char *call, int error)
{
    failed_call = call;
    return -error;
}

int uc_sys_open(const char *path, int flags, int mode)
{
    return CALL("open", NO_BYTES, open(path, flags | O_CLOEXEC, mode));
}

int uc_sys_close(int fd)
{
    return CALL("close", NO_BYTES, close(fd));
}

int uc_sys_unlink(const char *path)
{
    return CALL("unlink", NO_BYTES, unlink(path));
}

int uc_sys_rmdir(const char *path)
{
    return CALL("rmdir", NO_BYTES, rmdir(path));
}

int uc_sys_mkdtemp(char *path)
{
    return CALL("mkdtemp", NO_BYTES, mkdtemp(path) ? 0 : -1);
}

int uc_sys_memfd_create(const char *name)
{
    return CALL("memfd_create", NO_BYTES, memfd_create(name, MFD_CLOEXEC));
}

int uc_sys_ftruncate(int fd, off_t size)
{
    return CALL("ftruncate", NO_BYTES, ftruncate(fd, size));
}

int uc_sys_fdatasync(int fd)
{
    return CALL("fdatasync", NO_BYTES, fdatasync(fd));
}

int uc_sys_fstatfs(int fd, struct statfs *out)
{
    return CALL("fstatfs", NO_BYTES, fstatfs(fd, out));
}

off_t uc_sys_lseek(int fd, off_t offset, int whence)
{
    return CALL("lseek", NO_BYTES, lseek(fd, offset, whence));
}

ssize_t uc_sys_read(int fd, void *p, size_t n)
{
    return CALL("read", &n, read(fd, p, n));
}

ssize_t uc_sys_write(int fd, const void *p, size_t n)
{
    return CALL("write", &n, write(fd, p, n));
}

ssize_t uc_sys_pread(int fd, void *p, size_t n, off_t at)
{
    return CALL("pread", &n, pread(fd, p, n, at));
}

ssize_t uc_sys_pwrite(int fd, const void *p, size_t n, off_t at)
{
    return CALL("pwrite", &n, pwrite(fd, p, n, at));
}

ssize_t uc_sys_preadv(int fd, const struct iovec *v, size_t n, off_t at)
{
    return CALL("preadv", &n, preadv(fd, v, (int)n, at));
}

ssize_t uc_sys_pwritev(int fd, const struct iovec *v, size_t n, off_t at)
{
    return CALL("pwritev", &n, pwritev(fd, v, (int)n, at));
}

static int map_shared(size_t bytes, int fd, off_t at, void **out)
{
    *out = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, at);
    if (*out != MAP_FAILED)
        return 0;
    *out = NULL;
    return -1;
}

int uc_sys_mmap(size_t bytes, int fd, off_t at, void **out)
{
    return CALL("mmap", NO_BYTES, map_shared(bytes, fd, at, out));
}

int uc_sys_munmap(void *p, size_t bytes)
{
    return CALL("munmap", NO_BYTES, munmap(p, bytes));
}

int uc_sys_io_setup(unsigned n, aio_context_t *c)
{
    return CALL("io_setup", NO_BYTES, (int)syscall(SYS_io_setup, n, c));
}

int uc_sys_io_destroy(aio_context_t c)
{
    return CALL("io_destroy", NO_BYTES, (int)syscall(SYS_io_destroy, c));
}

int uc_sys_io_submit(aio_context_t c, size_t n, struct iocb **list)
{
    return CALL("io_submit", &n, (int)syscall(SYS_io_submit, c, n, list));
}

int uc_sys_io_getevents(aio_context_t c, long least, size_t most, struct io_event *out)
{
    return CALL("io_getevents", &most, (int)syscall(SYS_io_getevents, c, least, most, out, NULL));
}

int uc_sys_io_uring_setup(unsigned entries, struct io_uring_params *p)
{
    return CALL("io_uring_setup", NO_BYTES, (int)syscall(SYS_io_uring_setup, entries, p));
}

int uc_sys_io_uring_enter(int fd, size_t submit, unsigned least)
{
    return CALL("io_uring_enter", &submit,
                (int)syscall(SYS_io_uring_enter, fd, submit,
                             submit && least > submit ? submit : least, IORING_ENTER_GETEVENTS,
                             NULL, 0));
}

/* After a signal that asks to end, EINTR is the answer. */
static int again(ssize_t rc)
{
    return rc == -EINTR && !uc_interrupted;
}

int uc_sys_write_all(int fd, const void *p, size_t n)
{
    for (size_t at = 0; at < n;) {
        ssize_t put = uc_sys_write(fd, (const char *)p + at, n - at);
        if (again(put))
            continue;
        if (put <= 0)
            return put ? (int)put : uc_sys_failed("write", EIO);
        at += (size_t)put;
    }
    return 0;
}

int uc_sys_read_all(int fd, void *p, size_t n)
{
    for (size_t at = 0; at < n;) {
        ssize_t got = uc_sys_read(fd, (char *)p + at, n - at);
        if (again(got))
            continue;
        if (got <= 0)
            return got ? (int)got : uc_sys_failed("read", ENODATA);
        at += (size_t)got;
    }
    return 0;
}
