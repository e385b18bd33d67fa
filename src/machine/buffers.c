#include "machine/buffers.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/rng.h"
#include "strategies/detect.h"

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

int uc_buffer_map(struct uc_buffer *b, size_t bytes, enum uc_next_page next, uint64_t seed)
{
    size_t page = page_size();
    struct uc_rng rng = {seed};

    memset(b, 0, sizeof(*b));
    bytes = (bytes + page - 1) & ~(page - 1);
    b->mapped = bytes + 2 * page;
    b->mapping = mmap(NULL, b->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (b->mapping == MAP_FAILED) {
        b->mapping = NULL;
        return -ENOMEM;
    }
    b->start = b->mapping;
    b->end = b->start + bytes;
    b->bytes = bytes;
    b->next = next;
    /* A huge page would cover the untouched page too: none across the end. */
    madvise(b->end - page, 3 * page, MADV_NOHUGEPAGE);
    if (next == UC_NEXT_UNMAPPED && mprotect(b->end, 2 * page, PROT_NONE)) {
        uc_buffer_unmap(b);
        return -ENOMEM;
    }
    for (unsigned char *p = b->start; p < b->end; p += 8) {
        uint64_t v = uc_rng_next(&rng);
        memcpy(p, &v, 8);
    }
    return 0;
}

void uc_buffer_unmap(struct uc_buffer *b)
{
    if (b->mapping)
        munmap(b->mapping, b->mapped);
    memset(b, 0, sizeof(*b));
}

static bool has_clflushopt(void)
{
    static int known = -1;

    if (known < 0) {
        struct ucopy_cpuid c;
        ucopy_cpuid_read(&c);
        known = c.leaf7_ebx >> 23 & 1;
    }
    return known;
}

void uc_flush(const void *p, size_t n)
{
    const char *line = (const char *)((uintptr_t)p & ~(uintptr_t)63), *end = (const char *)p + n;

    if (has_clflushopt())
        for (; line < end; line += 64)
            __asm__ volatile("clflushopt (%0)" : : "r"(line) : "memory");
    else
        for (; line < end; line += 64)
            __asm__ volatile("clflush (%0)" : : "r"(line) : "memory");
}

void uc_flush_fence(void)
{
    __asm__ volatile("mfence" : : : "memory");
}

void uc_touch(const void *p, size_t n)
{
    const char *line = (const char *)((uintptr_t)p & ~(uintptr_t)63), *end = (const char *)p + n;

    for (; line < end; line += 64)
        __asm__ volatile("mov (%0), %%rax" : : "r"(line) : "rax", "memory");
}
