#include "measure/verify.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/rng.h"
#include "machine/call.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

#define PAGE 4096u
#define GUARD ((size_t)16 * PAGE)
/* Bytes that are looked at on both sides of a buffer: four times the widest register. */
#define MARGIN 256u
/* What dst and its margins hold before a copy; src never holds it, so that a byte left out shows.
 */
#define POISON 0xA5
/* Sizes to this one are copied at many placements, larger ones at one. */
#define MANY_PLACEMENTS ((size_t)1 << 20)
/* src is one period of pages, mapped again and again: large sizes take no second buffer and the
 * bytes to compare with stay in L2. Longer than MANY_PLACEMENTS, and a prime number of pages, so
 * that bytes from a wrong place that is any power of two off are wrong bytes. */
#define PERIOD ((size_t)257 * PAGE)

enum kind { COPIES, STORES, LOADS };

/* Readable and writable pages between two guards. */
struct area {
    uint8_t *map, *body;
    size_t length; /* of body */
};

struct job {
    ucopy_fn *fn;
    enum kind kind;
    struct area dst, src;
    uint8_t *expected; /* src's period, twice, so that a period from any place on is one range */
    unsigned pair;     /* of alignments, the next to be drawn */
    struct uc_verify_failure *f;
};

/* One placement of a copy. */
struct place {
    uint8_t *dst, *src;
    size_t n;
};

static int area_reserve(struct area *a, size_t length)
{
    void *map = mmap(NULL, length + 2 * GUARD, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (map == MAP_FAILED)
        return -errno;
    a->map = map;
    a->body = a->map + GUARD;
    a->length = length;
    return 0;
}

static void area_free(struct area *a)
{
    if (a->map)
        munmap(a->map, a->length + 2 * GUARD);
}

static bool area_holds(const struct area *a, const uint8_t *p)
{
    return p >= a->map && p < a->map + a->length + 2 * GUARD;
}

/* Private memory; huge pages where there are some, since a fault a page is half the time of a large
 * copy. */
static int dst_open(struct job *j, size_t length)
{
    int rc = area_reserve(&j->dst, length);

    if (rc)
        return rc;
    if (mprotect(j->dst.body, length, PROT_READ | PROT_WRITE))
        return -errno;
    madvise(j->dst.body, length, MADV_HUGEPAGE);
    return 0;
}

static int map_periods(struct area *a, int fd)
{
    for (size_t at = 0; at < a->length; at += PERIOD) {
        size_t length = a->length - at < PERIOD ? a->length - at : PERIOD;
        if (mmap(a->body + at, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
            MAP_FAILED)
            return -errno;
    }
    return 0;
}

static int write_period(int fd, const uint8_t *bytes)
{
    for (size_t at = 0; at < PERIOD;) {
        ssize_t written = pwrite(fd, bytes + at, PERIOD - at, (off_t)at);
        if (written < 0 && errno != EINTR)
            return -errno;
        at += written > 0 ? (size_t)written : 0;
    }
    return 0;
}

static void fill_expected(uint8_t *bytes)
{
    struct uc_rng rng = {PERIOD};

    for (size_t i = 0; i < PERIOD; i++) {
        uint8_t byte = (uint8_t)uc_rng_next(&rng);
        bytes[i] = byte == POISON ? POISON ^ 1 : byte;
    }
    memcpy(bytes + PERIOD, bytes, PERIOD);
}

static int src_open(struct job *j, size_t length)
{
    int rc, fd;

    j->expected = malloc(2 * PERIOD);
    if (!j->expected)
        return -ENOMEM;
    fill_expected(j->expected);
    fd = memfd_create("ucopy-verify", MFD_CLOEXEC);
    if (fd < 0)
        return -errno;
    rc = write_period(fd, j->expected);
    if (!rc)
        rc = area_reserve(&j->src, length);
    if (!rc)
        rc = map_periods(&j->src, fd);
    close(fd);
    return rc;
}

static void job_close(struct job *j)
{
    area_free(&j->dst);
    area_free(&j->src);
    free(j->expected);
}

static __attribute__((format(printf, 3, 4))) bool wrong(struct job *j, const struct place *p,
                                                        const char *format, ...)
{
    struct uc_verify_failure *f = j->f;
    int used = p->dst ? 0 : snprintf(f->what, sizeof(f->what), "with null pointers: ");
    va_list args;

    va_start(args, format);
    vsnprintf(f->what + used, sizeof(f->what) - (size_t)used, format, args);
    va_end(args);
    f->size = p->n;
    f->dst_align = (unsigned)((uintptr_t)p->dst % 64);
    f->src_align = (unsigned)((uintptr_t)p->src % 64);
    return false;
}

static const char *signal_name(int number)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {{SIGSEGV, "SIGSEGV"},
                 {SIGBUS, "SIGBUS"},
                 {SIGILL, "SIGILL"},
                 {SIGFPE, "SIGFPE"},
                 {SIGTRAP, "SIGTRAP"}};

    for (size_t i = 0; i < COUNT(names); i++)
        if (names[i].number == number)
            return names[i].name;
    return "a signal";
}

static bool faulted(struct job *j, const struct place *p, const struct uc_call *call)
{
    const uint8_t *at = call->address;
    const char *name = signal_name(call->signal);

    if (p->dst && area_holds(&j->dst, at))
        return wrong(j, p, "%s at dst%+td", name, at - p->dst);
    if (p->src && area_holds(&j->src, at))
        return wrong(j, p, "%s at src%+td", name, at - p->src);
    if (call->signal == SIGSEGV || call->signal == SIGBUS)
        return wrong(j, p, "%s at %p", name, call->address);
    return wrong(j, p, "%s", name);
}

/* The call itself, without a look at the bytes. */
static bool called_well(struct job *j, const struct place *p)
{
    struct uc_call call;

    uc_call(j->fn, p->dst, p->src, p->n, &call);
    if (call.signal)
        return faulted(j, p, &call);
    if (call.direction)
        return wrong(j, p, "left the direction flag set");
    if (call.changed)
        return wrong(j, p, "changed register %s", call.changed);
    if (call.returned != p->dst)
        return wrong(j, p, "returned %p, not dst (%p)", call.returned, (void *)p->dst);
    return true;
}

static size_t first_difference(const uint8_t *a, const uint8_t *b, size_t n)
{
    size_t i = 0;

    if (!memcmp(a, b, n))
        return n;
    while (a[i] == b[i])
        i++;
    return i;
}

/* The first of n bytes that is not as in src from offset on; n where all are. */
static size_t first_wrong(const struct job *j, const uint8_t *bytes, size_t offset, size_t n)
{
    const uint8_t *expected = j->expected + offset % PERIOD;

    for (size_t at = 0; at < n; at += PERIOD) {
        size_t length = n - at < PERIOD ? n - at : PERIOD;
        size_t i = first_difference(bytes + at, expected, length);
        if (i < length)
            return at + i;
    }
    return n;
}

static size_t first_unpoisoned(const uint8_t *bytes, size_t n)
{
    size_t i = 0;

    while (i < n && bytes[i] == POISON)
        i++;
    return i;
}

/* Bytes of margin that there are before and behind a buffer, up to its area's end. */
static size_t room_before(const struct area *a, const uint8_t *p)
{
    size_t room = (size_t)(p - a->body);

    return room < MARGIN ? room : MARGIN;
}

static size_t room_behind(const struct area *a, const uint8_t *end)
{
    size_t room = (size_t)(a->body + a->length - end);

    return room < MARGIN ? room : MARGIN;
}

static bool around_is_left(struct job *j, const struct place *p)
{
    size_t before = room_before(&j->dst, p->dst), behind = room_behind(&j->dst, p->dst + p->n);
    size_t i = first_unpoisoned(p->dst - before, before);

    if (i < before)
        return wrong(j, p, "wrote before dst, at byte %td", (ptrdiff_t)i - (ptrdiff_t)before);
    i = first_unpoisoned(p->dst + p->n, behind);
    return i == behind || wrong(j, p, "wrote behind dst, at byte %zu", p->n + i);
}

/* Of a size over a period every byte of src is looked at when a period is. */
static bool src_is_left(struct job *j, const struct place *p)
{
    size_t before = room_before(&j->src, p->src), behind = room_behind(&j->src, p->src + p->n);
    const uint8_t *start = p->src - before;
    size_t n = before + p->n + behind, i;

    n = n < PERIOD ? n : PERIOD;
    i = first_wrong(j, start, (size_t)(start - j->src.body), n);
    return i == n || wrong(j, p, "changed src, at byte %td", (ptrdiff_t)i - (ptrdiff_t)before);
}

static bool dst_is_right(struct job *j, const struct place *p)
{
    size_t i;

    if (j->kind == STORES)
        return true;
    if (j->kind == LOADS) {
        i = first_unpoisoned(p->dst, p->n);
        return i == p->n || wrong(j, p, "wrote to dst, at byte %zu", i);
    }
    i = first_wrong(j, p->dst, (size_t)(p->src - j->src.body), p->n);
    if (i == p->n)
        return true;
    return wrong(j, p, p->dst[i] == POISON ? "byte %zu was not written" : "byte %zu is wrong", i);
}

static bool copied_well(struct job *j, size_t n, size_t dst_offset, size_t src_offset)
{
    struct place p = {j->dst.body + dst_offset, j->src.body + src_offset, n};
    size_t before = room_before(&j->dst, p.dst);

    memset(p.dst - before, POISON, before + n + room_behind(&j->dst, p.dst + n));
    return called_well(j, &p) && around_is_left(j, &p) && src_is_left(j, &p) && dst_is_right(j, &p);
}

static bool right_at_guards(struct job *j, size_t n)
{
    size_t dst_last = j->dst.length - n, src_last = j->src.length - n;

    return copied_well(j, n, 0, 0) && copied_well(j, n, dst_last, src_last) &&
           copied_well(j, n, 0, src_last) && copied_well(j, n, dst_last, 0);
}

/* Every pair of alignments comes once in 4096 draws. The step is odd, so that any 64 draws have
 * every alignment of dst, and near 4096 times the golden ratio's fraction, which spreads those of
 * src evenly. */
static bool right_at_alignments(struct job *j, size_t n, unsigned draws)
{
    for (; draws; draws--) {
        j->pair = (j->pair + 1597) % 4096;
        if (!copied_well(j, n, MARGIN + j->pair % 64, MARGIN + j->pair / 64))
            return false;
    }
    return true;
}

/* All alignments of dst where a copy is all head and tail, fewer where its time would tell. */
static unsigned draws_of(size_t n)
{
    if (n <= 512)
        return 64;
    return n <= 65536 ? 8 : 1;
}

static bool right_at_size(struct job *j, size_t n)
{
    struct place null = {NULL, NULL, 0};

    if (n > MANY_PLACEMENTS)
        return copied_well(j, n, j->dst.length - n, j->src.length - n);
    return right_at_guards(j, n) && right_at_alignments(j, n, draws_of(n)) &&
           (n || called_well(j, &null));
}

static size_t largest_served(const size_t *sizes, size_t n, size_t min, size_t max)
{
    size_t largest = 0;

    for (size_t i = 0; i < n; i++)
        if (sizes[i] >= min && sizes[i] <= max && sizes[i] > largest)
            largest = sizes[i];
    return largest;
}

static unsigned first_pair(const char *name)
{
    unsigned hash = 0;

    while (*name)
        hash = hash * 31 + (unsigned char)*name++;
    return hash % 4096;
}

static bool right_at_sizes(struct job *j, size_t min, size_t max, const size_t *sizes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (sizes[i] >= min && sizes[i] <= max && !right_at_size(j, sizes[i]))
            return false;
    return true;
}

static int verify(struct job *j, size_t min, size_t max, const size_t *sizes, size_t n)
{
    size_t largest = largest_served(sizes, n, min, max), length;
    int rc;

    if (largest > SIZE_MAX / 4)
        return -ENOMEM;
    length = (largest + 2 * MARGIN + 64 + PAGE - 1) / PAGE * PAGE;
    rc = dst_open(j, length);
    if (!rc)
        rc = src_open(j, length);
    if (!rc)
        rc = uc_call_begin();
    if (rc)
        goto out;
    rc = right_at_sizes(j, min, max, sizes, n) ? 0 : 1;
    uc_call_end();
out:
    job_close(j);
    return rc;
}

int uc_verify(const char *name, ucopy_fn *fn, size_t min, size_t max, const size_t *sizes, size_t n,
              struct uc_verify_failure *f)
{
    struct job j = {.fn = fn, .kind = COPIES, .pair = first_pair(name), .f = f};

    return verify(&j, min, max, sizes, n);
}

int uc_verify_limit(const char *name, ucopy_fn *fn, bool stores, size_t min, size_t max,
                    const size_t *sizes, size_t n, struct uc_verify_failure *f)
{
    struct job j = {.fn = fn, .kind = stores ? STORES : LOADS, .pair = first_pair(name), .f = f};

    return verify(&j, min, max, sizes, n);
}

static int verify_form(const struct ucopy_strategy *s, ucopy_fn *fn, const size_t *sizes, size_t n,
                       struct uc_verify_failure *f)
{
    if (s->role == UCOPY_LIMIT)
        return uc_verify_limit(s->name, fn, s->flags & UCOPY_STORES, s->min, s->max, sizes, n, f);
    return uc_verify(s->name, fn, s->min, s->max, sizes, n, f);
}

/* The second called form is the same text at another address: by 1 KiB every path of it was taken.
 */
#define SHIFTED_MAX 1024

int uc_verify_strategy(const struct ucopy_strategy *s, const size_t *sizes, size_t n,
                       struct uc_verify_failure *f)
{
    int rc = verify_form(s, s->fn, sizes, n, f);

    while (n && sizes[n - 1] > SHIFTED_MAX)
        n--;
    return rc || !s->shifted ? rc : verify_form(s, s->shifted, sizes, n, f);
}
