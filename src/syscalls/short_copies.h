/* The two halves of short_copies: the kernel's copies, and the same in user mode. */
#ifndef UC_SYSCALLS_SHORT_COPIES_H
#define UC_SYSCALLS_SHORT_COPIES_H

#include "syscalls/syscalls.h"

#define UC_SHORT_SEGMENTS 1024 /* UIO_MAXIOV: as many as one call takes */
#define UC_SHORT_BYTES ((size_t)1 << 20)
#define UC_SHORT_LENGTHS 75 /* 1 to 64, then to 64 KiB */

/* The lengths, ascending. */
size_t uc_short_length(size_t i);
/* Segments of this length in one call, and how far apart they lie in user memory: each in lines of
 * its own, in the file one behind the other. */
size_t uc_short_segments(size_t length);
size_t uc_short_stride(size_t length);

/* What a call told of one length, against segments of one byte. */
struct uc_short_told {
    bool known;                    /* false: it was not measured */
    bool drowns;                   /* what the page corrections differ by is more */
    struct uc_interval difference; /* ns a segment */
};

/* preadv and pwritev, into rows, figures and notes; told[direction][length]. */
int uc_short_calls(struct uc_sys_run *run, struct uc_sys_result *r,
                   struct uc_short_told told[2][UC_SHORT_LENGTHS]);
extern const char *const uc_short_call[2];

#endif
