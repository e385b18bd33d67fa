#include "syscalls/nocopy_ways.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "measure/sweep.h"
#include "syscalls/sys.h"
#include "syscalls/words.h"

#define PAGE 4096u
#define NAME "reads"
#define MEMORY_RING (32 * UC_PIECE)
#define WAIT_MS 1000

/* ---- opening ---- */

static int write_file(struct uc_file_reader *f)
{
    char *piece = malloc(UC_PIECE);
    int rc = piece ? 0 : -ENOMEM;

    for (size_t i = 0; i < f->pieces && !rc; i++) {
        uc_words_put(piece, i * UC_PIECE, UC_PIECE);
        rc = uc_interrupted ? -EINTR : uc_sys_write_all(f->fd, piece, UC_PIECE);
    }
    free(piece);
    return rc ? rc : uc_sys_fdatasync(f->fd);
}

static size_t power_of_two_to(size_t n)
{
    size_t p = PAGE;

    while (2 * p <= n)
        p *= 2;
    return p;
}

/* Half of L1 for the smallest, but no more segments than a piece may have; half of L2. */
static int map_rings(struct uc_file_reader *f, const struct uc_caches *caches)
{
    size_t l1 = caches->l1d.bytes ? caches->l1d.bytes : 32 * 1024;
    size_t l2 = caches->l2.bytes ? caches->l2.bytes : 256 * 1024;
    int rc = 0;

    f->segment = power_of_two_to(l1 / 2);
    if (f->segment > UC_PIECE)
        f->segment = UC_PIECE;
    f->ring_bytes[UC_IN_L1] = f->segment;
    f->ring_bytes[UC_IN_L2] = power_of_two_to(l2 / 2);
    if (f->ring_bytes[UC_IN_L2] > MEMORY_RING / 2)
        f->ring_bytes[UC_IN_L2] = MEMORY_RING / 2;
    if (f->ring_bytes[UC_IN_L2] < f->segment)
        f->ring_bytes[UC_IN_L2] = f->segment;
    f->ring_bytes[UC_IN_MEMORY] = MEMORY_RING;
    for (int i = 0; i < UC_PLACES && !rc; i++)
        rc = uc_buffer_map(&f->ring[i], f->ring_bytes[i], UC_NEXT_UNMAPPED, uc_ticks());
    return rc;
}

/* Pages of tmpfs have no device behind them: newer kernels take the flag and copy all the same. */
static int open_direct(struct uc_file_reader *f, const char *dir)
{
    char *path, name[24];

    if (!strcmp(uc_sys_file_system(f->fd, name), "tmpfs"))
        return uc_sys_failed("tmpfs", EOPNOTSUPP);
    if (asprintf(&path, "%s/" NAME, dir) < 0)
        return -ENOMEM;
    f->direct = uc_sys_open(path, O_RDONLY | O_DIRECT, 0);
    free(path);
    return f->direct < 0 ? f->direct : 0;
}

/* A pipe as large as a piece where that is allowed. */
static int open_pipe(struct uc_file_reader *f)
{
    int rc = f->null = uc_sys_open("/dev/null", O_WRONLY, 0);

    if (rc >= 0)
        rc = uc_sys_pipe(f->pipe);
    if (rc < 0)
        return rc;
    rc = uc_sys_pipe_bytes(f->pipe[0], UC_PIECE);
    f->pipe_bytes = rc > 0 ? (size_t)rc : 16 * PAGE;
    return 0;
}

static int open_tcp(struct uc_file_reader *f)
{
    int rc = uc_loopback_tcp(&f->tcp);

    if (rc)
        f->tcp.from = -1;
    return rc;
}

/* Remembers a refusal; all else is handed on. */
static int note_way(struct uc_file_reader *f, enum uc_way way, int rc)
{
    f->way_rc[way] = rc;
    f->way_call[way] = uc_sys_failed_call();
    return uc_sys_refused(rc) ? 0 : rc;
}

int uc_file_reader_open(struct uc_file_reader *f, struct uc_sys_run *run, size_t pieces)
{
    memset(f, 0, sizeof(*f));
    f->fd = f->direct = f->null = f->pipe[0] = f->pipe[1] = f->tcp.from = -1;
    f->pieces = pieces;
    f->fd = uc_sys_create(run, NAME, 0);
    int rc = f->fd < 0 ? f->fd : map_rings(f, run->caches);
    if (!rc)
        rc = write_file(f);
    if (!rc)
        rc = note_way(f, UC_WAY_DIRECT, open_direct(f, run->dir));
    if (!rc)
        rc = note_way(f, UC_WAY_SPLICE, open_pipe(f));
    if (!rc)
        rc = note_way(f, UC_WAY_SOCKET, open_tcp(f));
    f->way_rc[UC_WAY_DROPPED] = f->way_rc[UC_WAY_SOCKET];
    f->way_call[UC_WAY_DROPPED] = f->way_call[UC_WAY_SOCKET];
    return rc;
}

void uc_file_reader_close(struct uc_file_reader *f)
{
    const int fd[] = {f->fd, f->direct, f->null, f->pipe[0], f->pipe[1]};

    for (size_t i = 0; i < sizeof(fd) / sizeof(fd[0]); i++)
        if (fd[i] >= 0)
            uc_sys_close(fd[i]);
    if (f->tcp.from >= 0)
        uc_loopback_close(&f->tcp);
    for (int i = 0; i < UC_PLACES; i++)
        uc_buffer_unmap(&f->ring[i]);
}

bool uc_way_copies(enum uc_way way)
{
    return way != UC_WAY_SPLICE && way != UC_WAY_DROPPED;
}

/* ---- reading ---- */

/* Where byte at of the file goes. */
static unsigned char *slot(const struct uc_file_reader *f, enum uc_place place, size_t at)
{
    return f->ring[place].start + at % f->ring_bytes[place];
}

void uc_file_reader_ready(struct uc_file_reader *f, enum uc_place place, size_t piece)
{
    if (place != UC_IN_MEMORY)
        return;
    uc_flush(slot(f, place, piece * UC_PIECE), UC_PIECE);
    uc_flush_fence();
}

/* The segments of what is left of a piece, from its byte done on. */
static size_t lay_out(const struct uc_file_reader *f, enum uc_place place, size_t piece,
                      size_t done, struct iovec v[UC_PIECE_SEGMENTS])
{
    size_t n = 0;

    while (done < UC_PIECE) {
        size_t bytes = f->segment - done % f->segment;
        v[n].iov_base = slot(f, place, piece * UC_PIECE + done);
        v[n++].iov_len = bytes;
        done += bytes;
    }
    return n;
}

static int again(ssize_t rc)
{
    return rc == -EINTR && !uc_interrupted;
}

static int read_copied(struct uc_file_reader *f, int fd, enum uc_place place, size_t piece)
{
    struct iovec v[UC_PIECE_SEGMENTS];

    for (size_t done = 0; done < UC_PIECE;) {
        size_t n = lay_out(f, place, piece, done, v);
        ssize_t got = uc_sys_preadv(fd, v, n, (off_t)(piece * UC_PIECE + done));
        if (again(got))
            continue;
        if (got <= 0)
            return got ? (int)got : uc_sys_failed("preadv", ENODATA);
        done += (size_t)got;
    }
    return 0;
}

/* What splice put into the pipe goes on to /dev/null. */
static int empty_pipe(struct uc_file_reader *f, size_t n)
{
    while (n) {
        ssize_t put = uc_sys_splice(f->pipe[0], NULL, f->null, n);
        if (again(put))
            continue;
        if (put <= 0)
            return put ? (int)put : uc_sys_failed("splice", EIO);
        n -= (size_t)put;
    }
    return 0;
}

static int read_spliced(struct uc_file_reader *f, size_t piece)
{
    off_t at = (off_t)(piece * UC_PIECE), end = at + (off_t)UC_PIECE;

    while (at < end) {
        size_t left = (size_t)(end - at);
        ssize_t got =
            uc_sys_splice(f->fd, &at, f->pipe[1], left < f->pipe_bytes ? left : f->pipe_bytes);
        if (again(got))
            continue;
        if (got <= 0)
            return got ? (int)got : uc_sys_failed("splice", ENODATA);
        int rc = empty_pipe(f, (size_t)got);
        if (rc)
            return rc;
    }
    return 0;
}

static ssize_t receive(struct uc_file_reader *f, enum uc_way way, enum uc_place place, size_t piece,
                       size_t done)
{
    struct iovec v[UC_PIECE_SEGMENTS];

    if (way == UC_WAY_DROPPED)
        return uc_sys_recv(f->tcp.to, NULL, UC_PIECE - done, MSG_TRUNC);
    return uc_sys_readv(f->tcp.to, v, lay_out(f, place, piece, done, v));
}

/* Nothing went in and nothing came out. */
static int await_bytes(const struct uc_file_reader *f)
{
    int rc = uc_sys_poll(f->tcp.to, WAIT_MS);

    if (rc > 0 || again(rc))
        return 0;
    return rc ? rc : uc_sys_failed("poll", ETIMEDOUT);
}

static bool would_wait(ssize_t rc)
{
    return rc == -EAGAIN || again(rc);
}

/* By turns, since a socket holds less than a piece at first. */
static int pass_on(struct uc_file_reader *f, enum uc_way way, enum uc_place place, size_t piece)
{
    off_t at = (off_t)(piece * UC_PIECE), end = at + (off_t)UC_PIECE;

    for (size_t done = 0; done < UC_PIECE;) {
        ssize_t put = 0;
        if (at < end)
            put = uc_sys_sendfile(f->tcp.from, f->fd, &at, (size_t)(end - at));
        if (put < 0 && !would_wait(put))
            return (int)put;
        ssize_t got = receive(f, way, place, piece, done);
        if (got < 0 && !would_wait(got))
            return (int)got;
        if (got == 0)
            return uc_sys_failed("recvfrom", ENODATA);
        bool full = at == end || put == -EAGAIN; /* and not interrupted */
        int rc = got == -EAGAIN && full ? await_bytes(f) : 0;
        if (rc)
            return rc;
        done += got > 0 ? (size_t)got : 0;
    }
    return 0;
}

/* After a failure there may be bytes on the way that the next read must not take for its own. */
static int read_socket(struct uc_file_reader *f, enum uc_way way, enum uc_place place, size_t piece)
{
    int rc = f->tcp.from < 0 ? open_tcp(f) : 0;

    if (!rc)
        rc = pass_on(f, way, place, piece);
    if (!rc || f->tcp.from < 0)
        return rc;
    const char *call = uc_sys_failed_call();
    uc_loopback_close(&f->tcp);
    f->tcp.from = -1;
    return uc_sys_failed(call, -rc);
}

int uc_file_reader_read(struct uc_file_reader *f, enum uc_way way, enum uc_place place,
                        size_t piece)
{
    switch (way) {
    case UC_WAY_READ:
        return read_copied(f, f->fd, place, piece);
    case UC_WAY_DIRECT:
        return read_copied(f, f->direct, place, piece);
    case UC_WAY_SPLICE:
        return read_spliced(f, piece);
    default:
        return read_socket(f, way, place, piece);
    }
}

bool uc_file_reader_holds(const struct uc_file_reader *f, enum uc_place place, size_t piece)
{
    size_t ring = f->ring_bytes[place], n = ring < UC_PIECE ? ring : UC_PIECE;
    size_t end = (piece + 1) * UC_PIECE;

    for (size_t at = end - n; at < end; at += 8)
        if (!uc_words_are(slot(f, place, at), at, 8))
            return false;
    return true;
}

int uc_file_reader_drop(struct uc_file_reader *f)
{
    size_t bytes = f->pieces * UC_PIECE;
    int rc = uc_sys_fdatasync(f->fd);

    if (!rc)
        rc = uc_sys_fadvise(f->fd, 0, 0, POSIX_FADV_DONTNEED);
    if (rc)
        return rc;
    ssize_t left = uc_sys_resident(f->fd, bytes);
    return left < 0 ? (int)left : left ? uc_sys_failed("posix_fadvise", EBUSY) : 0;
}
