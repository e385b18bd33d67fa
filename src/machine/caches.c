/* Promises: four sources side by side, and none believed alone. A hypervisor zeroes one leaf and
 * reports the whole host's L3 in another (508 MB where a guest gets a slice), so what was told is
 * held against what a pointer chase sees. */
#include "machine/caches.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

#include "base/rng.h"
#include "base/stats.h"
#include "base/units.h"
#include "machine/clock.h"

const char *const uc_cache_source_name[UC_CACHE_SOURCES + 1] = {"libcpuid", "hwloc", "sysfs",
                                                                "measured", "assumed"};

/* ---- told ---- */

/* One short file under /sys, without its newline; "" where it is absent. */
static const char *read_word(const char *dir, const char *name, char buf[64])
{
    char path[512];
    FILE *f;

    buf[0] = 0;
    if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, name) >= sizeof(path))
        return buf;
    f = fopen(path, "re");
    if (!f)
        return buf;
    if (!fgets(buf, 64, f))
        buf[0] = 0;
    fclose(f);
    buf[strcspn(buf, "\n")] = 0;
    return buf;
}

/* "48K" or "266240K"; anything else ("-1K", "0K", "") is unknown. */
static size_t parse_bytes(const char *text)
{
    size_t bytes;

    return uc_parse_size(text, &bytes) ? 0 : bytes;
}

static void read_sysfs_index(const char *dir, size_t level[3], size_t *line)
{
    char word[64];
    long number = strtol(read_word(dir, "level", word), NULL, 10);

    read_word(dir, "type", word);
    if (number < 1 || number > 3 || (strcmp(word, "Data") && strcmp(word, "Unified")))
        return;
    level[number - 1] = parse_bytes(read_word(dir, "size", word));
    if (number == 1)
        *line = parse_bytes(read_word(dir, "coherency_line_size", word));
}

void uc_caches_sysfs(const char *root, int pu, size_t level[3], size_t *line)
{
    char dir[256];

    memset(level, 0, 3 * sizeof(*level));
    *line = 0;
    for (int i = 0; i < 8; i++) {
        snprintf(dir, sizeof(dir), "%s/cpu%d/cache/index%d", root, pu, i);
        read_sysfs_index(dir, level, line);
    }
}

void uc_caches_read(struct uc_caches *c, const struct uc_cpu *cpu, const struct uc_topology *t,
                    int pu)
{
    struct uc_cache *cache[3] = {&c->l1d, &c->l2, &c->l3};
    const size_t told[3] = {cpu->l1d, cpu->l2, cpu->l3};
    size_t level[3], line;

    memset(c, 0, sizeof(*c));
    uc_caches_sysfs("/sys/devices/system/cpu", pu, level, &line);
    for (unsigned i = 0; i < 3; i++) {
        cache[i]->by[UC_BY_CPUID] = told[i];
        cache[i]->by[UC_BY_HWLOC] = t ? uc_topology_cache(t, pu, i + 1) : 0;
        cache[i]->by[UC_BY_SYSFS] = level[i];
    }
    c->line = cpu->line ? cpu->line : line ? line : 64;
}

/* ---- chosen ---- */

static bool twofold(size_t a, size_t b)
{
    return a && b && (a / 2 >= b || b / 2 >= a);
}

static bool any_twofold(const struct uc_cache *c)
{
    for (int i = 0; i < UC_CACHE_SOURCES; i++)
        for (int j = 0; j < i; j++)
            if (twofold(c->by[i], c->by[j]))
                return true;
    return false;
}

static void take(struct uc_cache *c, enum uc_cache_source source, size_t bytes)
{
    c->source = source;
    c->bytes = bytes;
}

static void choose(struct uc_cache *c, size_t assumed)
{
    c->disagree = any_twofold(c);
    take(c, UC_BY_FALLBACK, assumed);
    if (c->by[UC_BY_CHASE])
        take(c, UC_BY_CHASE, c->by[UC_BY_CHASE]);
    for (int i = UC_BY_SYSFS; i >= UC_BY_CPUID && !c->disagree; i--)
        if (c->by[i])
            take(c, (enum uc_cache_source)i, c->by[i]);
}

void uc_caches_choose(struct uc_caches *c)
{
    choose(&c->l1d, (size_t)32 << 10);
    choose(&c->l2, (size_t)256 << 10);
    choose(&c->l3, 0);
}

/* ---- steps of a curve ---- */

enum {
    MAX_POINTS = 128,
    MAX_LEVELS = 4, /* L1, L2, L3, memory */
    MIN_RUN = 3,    /* points that make a level: a single slow or fast reading is none */
};

/* Neighbouring levels differ by 1.5 times at least: L1 to L2 is 2.5 to 4 on x86-64, and within L2
 * the reach of a guest's TLB (which sees 4 KiB pages where the host has no large ones) costs 1.3.
 */
#define LEAST_RATIO 1.5

/* A footprint belongs to its level up to a quarter of the way to the next: just above a cache's
 * size some sets still hold all their lines, and the latency rises over half an octave. */
#define STILL_INSIDE 0.25

/* The last level is seen where its last octave rises by no more: a busy neighbour moves memory
 * latency by 1.2, and on the way up to it an octave is 1.5. */
#define FLAT 1.25

/* What follows L3 is memory, or it is no level: 60 to 130 ns, where a load from L1 takes 4 or 5
 * cycles, 0.9 to 2 ns. L3 takes 10 to 35 times as long as L1, on a busy host. */
#define MEMORY_RATIO 40

struct levels {
    size_t n;
    size_t end[MAX_LEVELS]; /* index after the last point */
    double mid[MAX_LEVELS]; /* median latency */
};

static double median3(double a, double b, double c)
{
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* A spike of one point is gone, and a rising curve stays as it is, but for its two ends. */
static void despike(const double *cost, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = i == 0 ? 1 : i + 1 == n ? n - 2 : i;
        out[i] = n < 3 ? cost[i] : median3(cost[at - 1], cost[at], cost[at + 1]);
    }
}

/* Squared distance of log latencies from their mean over points [a, b), from running sums. */
static double scatter(const double *sum, const double *square, size_t a, size_t b)
{
    double s = sum[b] - sum[a];

    return square[b] - square[a] - s * s / (double)(b - a);
}

/* The division of the curve into k runs, each as even as can be: least squares on logarithms, by
 * dynamic programming (Bellman 1961). */
static void divide(const double *cost, size_t n, size_t k, struct levels *out)
{
    double sum[MAX_POINTS + 1] = {0}, square[MAX_POINTS + 1] = {0};
    double best[MAX_LEVELS + 1][MAX_POINTS + 1];
    size_t from[MAX_LEVELS + 1][MAX_POINTS + 1];

    for (size_t i = 0; i < n; i++) {
        double x = log(cost[i]);
        sum[i + 1] = sum[i] + x;
        square[i + 1] = square[i] + x * x;
    }
    for (size_t b = 0; b <= n; b++)
        best[0][b] = b ? INFINITY : 0;
    for (size_t j = 1; j <= k; j++)
        for (size_t b = 0; b <= n; b++) {
            best[j][b] = INFINITY;
            from[j][b] = 0;
            for (size_t a = 0; a + MIN_RUN <= b; a++) {
                double d = best[j - 1][a] + scatter(sum, square, a, b);
                if (d < best[j][b]) {
                    best[j][b] = d;
                    from[j][b] = a;
                }
            }
        }
    out->n = k;
    for (size_t j = k, b = n; j; b = from[j--][b])
        out->end[j - 1] = b;
}

static void set_medians(const double *cost, struct levels *l)
{
    for (size_t i = 0; i < l->n; i++) {
        size_t begin = i ? l->end[i - 1] : 0;
        l->mid[i] = uc_median(cost + begin, l->end[i] - begin);
    }
}

static bool distinct(const struct levels *l)
{
    for (size_t i = 1; i < l->n; i++)
        if (l->mid[i] < l->mid[i - 1] * LEAST_RATIO)
            return false;
    return true;
}

/* As many levels as are distinct. */
static void find_levels(const double *cost, size_t n, struct levels *l)
{
    for (size_t k = MAX_LEVELS; k; k--) {
        if (n < k * MIN_RUN)
            continue;
        divide(cost, n, k, l);
        set_medians(cost, l);
        if (distinct(l))
            return;
    }
    l->n = 0;
}

/* The cut between level i and the next with the fewest points on the wrong side of the limit. */
static size_t last_inside(const size_t *bytes, const double *cost, const struct levels *l, size_t i)
{
    size_t begin = i ? l->end[i - 1] : 0, wrong = 0, fewest, cut = begin;
    double limit = l->mid[i] + STILL_INSIDE * (l->mid[i + 1] - l->mid[i]);

    for (size_t k = begin; k < l->end[i + 1]; k++)
        wrong += cost[k] <= limit;
    fewest = wrong;
    for (size_t k = begin; k < l->end[i + 1]; k++) {
        wrong += cost[k] <= limit ? -1 : 1;
        if (wrong < fewest) {
            fewest = wrong;
            cut = k + 1;
        }
    }
    return cut > begin ? bytes[cut - 1] : 0;
}

static bool ends_flat(const double *cost, size_t n)
{
    return uc_median(cost + n - 2, 2) <= uc_median(cost + n - 4, 2) * FLAT;
}

/* The step into the last level counts once that level is seen: while the latency still rises,
 * nobody knows to what. */
static bool is_step(const struct levels *l, size_t i, const double *cost, size_t n)
{
    if (i == 2 && l->mid[3] < MEMORY_RATIO * l->mid[0])
        return false;
    return i + 2 < l->n || ends_flat(cost, n);
}

void uc_caches_steps(const size_t *bytes, const double *cost, size_t n, size_t step[3])
{
    double smooth[MAX_POINTS];
    struct levels l;

    memset(step, 0, 3 * sizeof(*step));
    if (n > MAX_POINTS)
        return;
    despike(cost, n, smooth);
    find_levels(smooth, n, &l);
    for (size_t i = 0; i + 1 < l.n; i++)
        if (is_step(&l, i, smooth, n))
            step[i] = last_inside(bytes, smooth, &l, i);
}

/* ---- the chase ---- */

enum {
    HUGE_PAGE = 2 << 20,
    LINE = 64,
    LEAST = 4 << 20, /* bytes; covers L1 and L2 of all x86-64 cores */
    FIRST = 4 << 10, /* footprint */
    LOADS = 4096,    /* a reading */
    READINGS = 7,    /* a footprint */
    NEAR_PASSES = 3,
};

#define TIME_LIMIT 0.8 /* seconds; the footprint under way is finished */

/* One pointer a line, in one random cycle: no prefetcher guesses the next line, and no load can
 * begin before the one before it has ended. */
struct chase {
    char *map;
    size_t map_bytes;
    char *base;   /* aligned to a huge page */
    size_t lines; /* in the cycle so far */
    void *at;
    struct uc_rng rng;
};

/* Huge pages, because a TLB's reach would look like a cache step: 64 entries of 4 KiB end at 256
 * KiB, the second level's 1,536 at 6 MiB; of 2 MiB they end at 128 MiB and 3 GiB. */
static int map_chase(struct chase *c, size_t bytes)
{
    memset(c, 0, sizeof(*c));
    for (; bytes >= LEAST; bytes /= 2) {
        c->map_bytes = bytes + HUGE_PAGE;
        c->map = mmap(NULL, c->map_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (c->map != MAP_FAILED)
            break;
    }
    if (bytes < LEAST)
        return -ENOMEM;
    c->base = c->map + (HUGE_PAGE - (uintptr_t)c->map % HUGE_PAGE) % HUGE_PAGE;
    madvise(c->base, bytes, MADV_HUGEPAGE);
    return 0;
}

static void begin_cycle(struct chase *c)
{
    *(void **)c->base = c->base;
    c->lines = 1;
    c->at = c->base;
}

/* Each new line is put behind a random one of the cycle, which keeps the cycle uniformly random
 * (Sattolo 1986, from the inside out): the footprints share one cycle that grows. */
static void grow(struct chase *c, size_t bytes)
{
    for (; c->lines < bytes / LINE; c->lines++) {
        void **fresh = (void **)(c->base + c->lines * LINE);
        void **behind = (void **)(c->base + uc_rng_below(&c->rng, c->lines) * LINE);
        *fresh = *behind;
        *behind = fresh;
    }
}

/* Brings the footprint as near as it can stay. Twice, since what growing left behind is random. */
static void warm(const struct chase *c)
{
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < c->lines; i++)
            (void)*(void *volatile *)(c->base + i * LINE);
}

static double read_latency(struct chase *c)
{
    void *p = c->at;
    uint64_t t = uc_ticks();

    for (int i = 0; i < LOADS; i++)
        p = *(void *volatile *)p;
    t = uc_ticks() - t;
    c->at = p;
    return (double)t / LOADS;
}

/* A low quartile: a disturbed reading is too slow, and the first of a large footprint is too fast
 * (the warming ends with some lines nearer than the cycle can keep them). */
static double latency(struct chase *c, size_t bytes)
{
    double v[READINGS];

    grow(c, bytes);
    warm(c);
    for (int i = 0; i < READINGS; i++)
        v[i] = read_latency(c);
    uc_sort(v, READINGS);
    return uc_quantile(v, READINGS, 0.25);
}

/* Does the kernel back the memory with huge pages? 4 KiB pages are told apart by smaps alone. */
static bool is_huge(const struct chase *c, size_t bytes)
{
    char line[256];
    unsigned long begin, end, kib, huge = 0;
    bool ours = false;
    FILE *f = fopen("/proc/self/smaps", "re");

    if (!f)
        return false;
    while (fgets(line, sizeof(line), f)) {
        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
            ours = begin < (uintptr_t)c->base + bytes && end > (uintptr_t)c->base;
        else if (ours && sscanf(line, "AnonHugePages: %lu kB", &kib) == 1)
            huge += kib * 1024;
    }
    fclose(f);
    return huge >= bytes / 4 * 3;
}

static size_t affordable(size_t max_bytes)
{
    struct sysinfo s;

    if (!sysinfo(&s) && max_bytes > s.freeram * s.mem_unit / 2)
        max_bytes = s.freeram * s.mem_unit / 2;
    return max_bytes < LEAST ? LEAST : max_bytes;
}

/* Footprints are 4, 5, 6 and 7 quarters of a power of two: steps of 1.14 to 1.25, and the sizes
 * that caches have (32, 48 KiB, 1.25 MiB) are among them. */
static size_t next_footprint(size_t bytes)
{
    size_t octave = (size_t)1 << (63 - __builtin_clzll(bytes));

    return bytes + octave / 4;
}

/* Measures from footprint first to last, both inclusive, until the deadline; keeps the lower of two
 * costs where a footprint was measured before. Returns how many points are known. */
static size_t follow(struct chase *c, size_t first, size_t last, double deadline, size_t n,
                     size_t *bytes, double *cost)
{
    for (size_t f = first; f <= last && n < MAX_POINTS && uc_seconds() < deadline;
         f = next_footprint(f), n++) {
        double t = latency(c, f);
        cost[n] = bytes[n] == f ? fmin(cost[n], t) : t;
        bytes[n] = f;
    }
    return n;
}

/* The part that decides L1 and L2 takes 20 ms: it is done more than once, since whoever shares the
 * core for some milliseconds takes half of both. Then on, until memory or time end; no earlier: a
 * flat stretch may be the last level or the third. */
static size_t measure_curve(struct chase *c, size_t *bytes, double *cost)
{
    double deadline = uc_seconds() + TIME_LIMIT;
    size_t n = 0, max = c->map_bytes - HUGE_PAGE;

    memset(bytes, 0, MAX_POINTS * sizeof(*bytes));
    for (int pass = 0; pass < NEAR_PASSES; pass++) {
        begin_cycle(c);
        n = follow(c, FIRST, LEAST, deadline, 0, bytes, cost);
    }
    return follow(c, next_footprint(LEAST), max, deadline, n, bytes, cost);
}

int uc_caches_measure(struct uc_caches *c, size_t max_bytes)
{
    size_t bytes[MAX_POINTS], step[3], n;
    double cost[MAX_POINTS];
    struct chase chase;
    int rc = map_chase(&chase, affordable(max_bytes));

    if (rc)
        return rc;
    n = measure_curve(&chase, bytes, cost);
    uc_caches_steps(bytes, cost, n, step);
    if (!is_huge(&chase, bytes[n - 1]))
        step[1] = step[2] = 0;
    c->l1d.by[UC_BY_CHASE] = step[0];
    c->l2.by[UC_BY_CHASE] = step[1];
    c->l3.by[UC_BY_CHASE] = step[2];
    munmap(chase.map, chase.map_bytes);
    return 0;
}
