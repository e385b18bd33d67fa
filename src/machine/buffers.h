/* Buffers to copy between: pages of stated kind, touched before any timing, with real data in them,
 * and ending where the next page is unmapped or untouched. */
#ifndef UC_MACHINE_BUFFERS_H
#define UC_MACHINE_BUFFERS_H

#include <stddef.h>
#include <stdint.h>

enum uc_next_page {
    UC_NEXT_UNMAPPED,  /* PROT_NONE: an access faults */
    UC_NEXT_UNTOUCHED, /* readable and writable, but no page stands behind it yet */
};

struct uc_buffer {
    unsigned char *start; /* page-aligned */
    unsigned char *end;   /* start + bytes: page-aligned, the first byte of the next page */
    size_t bytes;         /* a multiple of the page size */
    enum uc_next_page next;
    void *mapping; /* what munmap takes */
    size_t mapped;
};

/* Maps bytes (rounded up to pages) and writes pseudo-random data into every page, so that no page
 * is the shared zero page and no first touch is timed. 0 or -ENOMEM. */
int uc_buffer_map(struct uc_buffer *b, size_t bytes, enum uc_next_page next, uint64_t seed);
void uc_buffer_unmap(struct uc_buffer *b);

/* Flushes the lines of [p, p + n) from all caches (clflushopt where the CPU has it, else clflush),
 * without a fence: uc_flush_fence() after the last. */
void uc_flush(const void *p, size_t n);
void uc_flush_fence(void);

/* Reads one word of every line of [p, p + n), so that the lines come as near as they fit. */
void uc_touch(const void *p, size_t n);

#endif
