/* Cached reads: 2 MiB of a file in the page cache at a time (the size of the test published in
 * 2017, which compared builds of a kernel whose user copies were inlined and called). Here the
 * kernel stays what it is, and the reader differs: where in its page the destination begins, the
 * size of the destination's pages, and whether the same buffer is read into again. */
#include "syscalls/cached_reads.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/units.h"
#include "machine/evidence.h"
#include "measure/sweep.h"
#include "syscalls/experiments.h"
#include "syscalls/sys.h"
#include "syscalls/words.h"

#define PAGE 4096u
#define READS 8u
#define RING 16u
#define SHORT_SECONDS 1.
#define HUGE_PAGE ((size_t)2 << 20)

enum buffer { REUSED, HUGE, RINGED, FRESH, BUFFERS };

/* The first is what the others are compared with. */
static const struct kind {
    const char *name;
    enum buffer buffer;
    size_t offset; /* in its page */
} kinds[] = {
    {"page-aligned", REUSED, 0}, {"at 1", REUSED, 1},     {"at 15", REUSED, 15},
    {"at 16", REUSED, 16},       {"at 64", REUSED, 64},   {"at 2048", REUSED, 2048},
    {"at 4081", REUSED, 4081},   {"huge pages", HUGE, 0}, {"a ring of 16", RINGED, 0},
    {"never touched", FRESH, 0},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct reads {
    struct uc_sys_run *run;
    int fd;
    size_t first;
    struct {
        void *map;
        size_t mapped;
        char *start;
    } buffer[BUFFERS];
    bool huge; /* this round's are */
};

/* ---- buffers ---- */

static int map_pages(struct reads *p, enum buffer b, size_t bytes, int advice)
{
    size_t mapped = bytes + HUGE_PAGE;
    void *map = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (map == MAP_FAILED)
        return -ENOMEM;
    p->buffer[b].map = map;
    p->buffer[b].mapped = mapped;
    p->buffer[b].start = (char *)(((uintptr_t)map + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));
    return uc_sys_madvise(map, mapped, advice);
}

static void unmap_pages(struct reads *p, enum buffer b)
{
    if (p->buffer[b].map)
        munmap(p->buffer[b].map, p->buffer[b].mapped);
    p->buffer[b].map = NULL;
}

/* Page faults that touching takes. */
static long touch(struct reads *p, enum buffer b, size_t bytes)
{
    struct uc_evidence before, after;

    uc_evidence_now(&before);
    for (size_t i = 0; i < bytes; i += PAGE)
        *(volatile char *)(p->buffer[b].start + i) = 1;
    uc_evidence_now(&after);
    return after.faults - before.faults;
}

/* Huge where one fault brought the whole of it; a kernel without them refuses the advice. */
static int map_huge(struct reads *p)
{
    int rc = map_pages(p, HUGE, HUGE_PAGE, MADV_HUGEPAGE);

    p->huge = !rc && touch(p, HUGE, HUGE_PAGE) == 1;
    return uc_sys_refused(rc) ? 0 : rc;
}

/* Kernels without huge pages refuse the advice against them too. */
static int map_small(struct reads *p, enum buffer b, size_t bytes)
{
    int rc = map_pages(p, b, bytes, MADV_NOHUGEPAGE);

    return rc == -EINVAL ? 0 : rc;
}

static void unmap_buffers(void *ctx)
{
    for (int b = 0; b < BUFFERS; b++)
        unmap_pages(ctx, (enum buffer)b);
}

static int map_buffers(void *ctx)
{
    struct reads *p = ctx;
    int rc = map_small(p, REUSED, UC_CACHED_READ + PAGE);

    if (!rc)
        rc = map_small(p, RINGED, RING * UC_CACHED_READ);
    if (!rc)
        rc = map_huge(p);
    if (rc) {
        unmap_buffers(p);
        return rc;
    }
    touch(p, REUSED, UC_CACHED_READ + PAGE);
    touch(p, RINGED, RING * UC_CACHED_READ);
    return 0;
}

/* ---- readings ---- */

static int read_whole(int fd, char *to, size_t at)
{
    for (size_t done = 0; done < UC_CACHED_READ;) {
        ssize_t got = uc_sys_pread(fd, to + done, UC_CACHED_READ - done, (off_t)(at + done));
        if (got == -EINTR && !uc_interrupted)
            continue;
        if (got <= 0)
            return got ? (int)got : uc_sys_failed("pread", ENODATA);
        done += (size_t)got;
    }
    return 0;
}

/* One read of the file's i-th part; what mapping takes is no part of the time. */
static int read_part(struct reads *p, const struct kind *k, size_t i, double *ns)
{
    int rc = k->buffer == FRESH ? map_small(p, FRESH, UC_CACHED_READ) : 0;
    char *to = p->buffer[k->buffer].start;

    if (rc)
        return rc;
    to += k->offset + (k->buffer == RINGED ? i % RING * UC_CACHED_READ : 0);
    uint64_t t = uc_ticks();
    rc = read_whole(p->fd, to, i % READS * UC_CACHED_READ);
    *ns += uc_sys_ns(p->run, uc_ticks() - t);
    if (!rc && !uc_words_are(to, i % READS * UC_CACHED_READ, UC_CACHED_READ))
        rc = uc_sys_failed("pread", EBADMSG);
    if (k->buffer == FRESH)
        unmap_pages(p, FRESH);
    return rc;
}

/* Every read lands where other bytes were, or nothing. */
static int read_kind(void *ctx, size_t row, double *ns)
{
    struct reads *p = ctx;
    const struct kind *k = &kinds[row];
    size_t reads = k->buffer == RINGED ? RING : READS;
    double sum = 0;
    int rc = 0;

    if (k->buffer == HUGE && !p->huge)
        return uc_sys_failed("madvise: no huge page came", EOPNOTSUPP);
    for (size_t i = 0; i < reads && !rc; i++)
        rc = uc_interrupted ? -EINTR : read_part(p, k, i, &sum);
    *ns = sum / (double)reads;
    return rc;
}

static double rate(void *ctx, size_t i, double ns)
{
    return (double)UC_CACHED_READ / ns * 1e3; /* 1,000,000 bytes are a MB */
}

static int write_file(int fd)
{
    char *part = malloc(UC_CACHED_READ);
    int rc = part ? 0 : -ENOMEM;

    for (size_t i = 0; i < READS && !rc; i++) {
        uc_words_put(part, i * UC_CACHED_READ, UC_CACHED_READ);
        rc = uc_sys_write_all(fd, part, UC_CACHED_READ);
    }
    free(part);
    return rc;
}

static int add_rows(struct reads *p, struct uc_sys_result *r)
{
    for (size_t i = 0; i < KINDS; i++) {
        int row = uc_sys_row(r, "2 MiB cached reads", "MB/s", UC_SYS_NO_SIZE, kinds[i].name);
        if (row < 0)
            return row;
        if (!i)
            p->first = (size_t)row;
    }
    return 0;
}

static int time_reads(struct reads *p, struct uc_sys_result *r)
{
    struct uc_sys_rounds w = {.rows = KINDS,
                              .readings = p->run->seconds < SHORT_SECONDS ? 1 : 2,
                              .seconds = .6 * p->run->seconds,
                              .begin = map_buffers,
                              .end = unmap_buffers,
                              .read = read_kind,
                              .value = rate,
                              .ctx = p};
    int rc = write_file(p->fd);

    if (!rc)
        rc = add_rows(p, r);
    w.first = p->first;
    if (!rc)
        rc = uc_sys_rounds(p->run, r, &w);
    for (size_t i = 1; i < KINDS && !rc; i++)
        rc = uc_sys_compare(r, p->first, p->first + i);
    return rc;
}

/* ---- the run ---- */

static int tell_setting(const struct reads *p, struct uc_sys_result *r)
{
    char fs[24];

    return uc_sys_note(r,
                       "a file of 16 MiB on %s; \"at 15\": the destination begins 15 bytes into a "
                       "page; but for the last two the same buffer is read into again; never "
                       "touched: each read into fresh pages, whose faults it takes",
                       uc_sys_file_system(p->fd, fs));
}

static int cached_reads(struct uc_sys_run *run, struct uc_sys_result *r)
{
    struct reads p = {.run = run, .fd = uc_sys_create(run, "cached", 0)};

    if (p.fd < 0)
        return p.fd;
    int rc = time_reads(&p, r);
    if (!rc)
        rc = tell_setting(&p, r);
    uc_sys_close(p.fd);
    return rc ? rc : uc_cached_forms(run, r, .4 * run->seconds);
}

const struct uc_sys_experiment uc_sys_cached_reads = {
    .name = "cached_reads",
    .summary = "2 MiB reads of a cached file into several kinds of buffers",
    .seconds = 7,
    .run = cached_reads,
};
