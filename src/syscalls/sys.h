/* Every system call of the experiments, so that tests can make each fail, be interrupted, or move
 * fewer bytes than asked. Each returns what the call does, or a negative errno. */
#ifndef UC_SYSCALLS_SYS_H
#define UC_SYSCALLS_SYS_H

#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/vfs.h>

/* Asked before every call, by its name; NULL: not asked. It returns an errno to fail with, or 0; it
 * may lower *bytes, of calls that move some, and the kernel then really moves no more. Calls that
 * move none come with 0, and those of many segments with the segments'
 * number. */
extern int (*uc_sys_hook)(const char *call, size_t *bytes);

/* The call that failed last in this thread, "" none. */
const char *uc_sys_failed_call(void);
/* Says that this one did; returns -error. */
int uc_sys_failed(const char *call, int error);

int uc_sys_open(const char *path, int flags, int mode);
int uc_sys_close(int fd);
int uc_sys_unlink(const char *path);
int uc_sys_rmdir(const char *path);
int uc_sys_mkdtemp(char *path);
int uc_sys_memfd_create(const char *name);
int uc_sys_ftruncate(int fd, off_t size);
int uc_sys_fdatasync(int fd);
int uc_sys_fstatfs(int fd, struct statfs *out);
off_t uc_sys_lseek(int fd, off_t offset, int whence);
ssize_t uc_sys_read(int fd, void *p, size_t n);
ssize_t uc_sys_write(int fd, const void *p, size_t n);
ssize_t uc_sys_pread(int fd, void *p, size_t n, off_t at);
ssize_t uc_sys_pwrite(int fd, const void *p, size_t n, off_t at);
ssize_t uc_sys_preadv(int fd, const struct iovec *v, size_t n, off_t at);
ssize_t uc_sys_pwritev(int fd, const struct iovec *v, size_t n, off_t at);
int uc_sys_mmap(size_t bytes, int fd, off_t at, void **out); /* shared, read and write */
int uc_sys_munmap(void *p, size_t bytes);
int uc_sys_io_setup(unsigned n, aio_context_t *c);
int uc_sys_io_destroy(aio_context_t c);
int uc_sys_io_submit(aio_context_t c, size_t n, struct iocb **list);
int uc_sys_io_getevents(aio_context_t c, long least, size_t most, struct io_event *out);
int uc_sys_io_uring_setup(unsigned entries, struct io_uring_params *p);
int uc_sys_io_uring_enter(int fd, size_t submit, unsigned least);

/* All n bytes: short ones go on, EINTR begins again unless a signal asked to end. 0 or a negative
 * errno; -EIO where a write moves nothing; -ENODATA where the file ends. */
int uc_sys_write_all(int fd, const void *p, size_t n);
int uc_sys_read_all(int fd, void *p, size_t n);

/* ---- past the page cache and past user memory ---- */

int uc_sys_fadvise(int fd, off_t at, off_t n, int advice);
/* How many pages of the file's first n bytes the page cache holds. */
ssize_t uc_sys_resident(int fd, size_t n);
int uc_sys_madvise(void *p, size_t n, int advice);
int uc_sys_pipe(int end[2]);
int uc_sys_pipe_bytes(int fd, size_t n); /* what the pipe holds from here on */
/* at NULL: in is a pipe, or reads on where it stands. */
ssize_t uc_sys_splice(int in, off_t *at, int out, size_t n);
ssize_t uc_sys_sendfile(int to, int from, off_t *at, size_t n);
ssize_t uc_sys_readv(int fd, const struct iovec *v, size_t n);

/* ---- sockets: none of them ever waits but poll ---- */

struct sockaddr_in;
int uc_sys_socket(int type);
int uc_sys_bind(int fd, const struct sockaddr_in *at);
int uc_sys_getsockname(int fd, struct sockaddr_in *at);
int uc_sys_listen(int fd);
int uc_sys_nodelay(int fd); /* TCP: what is little is sent at once too */
int uc_sys_connect(int fd, const struct sockaddr_in *to);
int uc_sys_accept(int fd, struct sockaddr_in *peer);
/* Until there is something to read: 1, or 0 after so many ms. */
int uc_sys_poll(int fd, int ms);
ssize_t uc_sys_send(int fd, const void *p, size_t n);
ssize_t uc_sys_recv(int fd, void *p, size_t n, int flags);
struct mmsghdr;
int uc_sys_recvmmsg(int fd, struct mmsghdr *v, size_t n);

#endif
