/* One file of known bytes, and the ways in which a piece of it can be read: copied to a reader, or
 * thrown away by the kernel without a copy. */
#ifndef UC_SYSCALLS_NOCOPY_WAYS_H
#define UC_SYSCALLS_NOCOPY_WAYS_H

#include <sys/uio.h>

#include "machine/buffers.h"
#include "syscalls/loopback.h"
#include "syscalls/syscalls.h"

#define UC_PIECE ((size_t)256 * 1024)
#define UC_PIECES \
    128 /* of the file; of as many readings the 99th percentile is the second largest */
#define UC_PIECE_SEGMENTS 64

enum uc_way {
    UC_WAY_READ,    /* preadv */
    UC_WAY_DIRECT,  /* the same, O_DIRECT */
    UC_WAY_SPLICE,  /* into a pipe and on to /dev/null */
    UC_WAY_SOCKET,  /* sendfile to a TCP socket on loopback, readv from its other end */
    UC_WAY_DROPPED, /* the same, the other end drained by recv with MSG_TRUNC */
    UC_WAYS
};

/* Where a read's bytes go: the same few again and again, or others each time. */
enum uc_place { UC_IN_L1, UC_IN_L2, UC_IN_MEMORY, UC_PLACES };

struct uc_file_reader {
    int fd, direct, null, pipe[2]; /* -1: not open */
    int way_rc[UC_WAYS];           /* why a way cannot be had; 0: it can */
    const char *way_call[UC_WAYS]; /* and the call that failed */
    size_t pipe_bytes, segment;
    size_t ring_bytes[UC_PLACES];
    struct uc_loopback tcp; /* from -1: not open */
    struct uc_buffer ring[UC_PLACES];
    size_t pieces;
};

/* Makes the file, flushed to its device, and all that the ways need; what the box refuses is left
 * out, and way_rc says why. Close it whatever comes back. */
int uc_file_reader_open(struct uc_file_reader *f, struct uc_sys_run *run, size_t pieces);
void uc_file_reader_close(struct uc_file_reader *f);

/* Is the destination one that this way writes to? */
bool uc_way_copies(enum uc_way way);

/* Readies the destination of a piece (memory: its lines are flushed). */
void uc_file_reader_ready(struct uc_file_reader *f, enum uc_place place, size_t piece);
/* All of a piece, short calls gone on with. 0 or a negative errno. */
int uc_file_reader_read(struct uc_file_reader *f, enum uc_way way, enum uc_place place,
                        size_t piece);
/* Are the bytes that a read of it left the file's own? Those that later ones overwrote are not
 * looked at. */
bool uc_file_reader_holds(const struct uc_file_reader *f, enum uc_place place, size_t piece);

/* Takes the file out of the page cache; 0, or -EBUSY where pages stay. */
int uc_file_reader_drop(struct uc_file_reader *f);

#endif
