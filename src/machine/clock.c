/* Promises: rates that a preemption, a wrong rate told by the hypervisor, or a core that renames
 * instructions away does not falsify. Every figure here is measured on the thread's present CPU. */
#include "machine/clock.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/rng.h"
#include "base/stats.h"

enum {
    MARKS = UC_CLOCK_MARKS,     /* five intervals: a median with two to spare on each side */
    INTERVAL_NS = 20 * 1000000, /* 100 ms in all; a bracket of 50 ns is then 5 ppm of two marks */
    BRACKETS = 32,              /* tries to read both clocks at one moment */
    OVERHEAD_TRIES = 1000,
    CHAIN_TRIES = 8,
};

static uint64_t raw_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

double uc_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A preemption or a steal between the two clocks widens the bracket; the tightest has none. */
static struct uc_clock_mark take_mark(void)
{
    struct uc_clock_mark best = {0, 0};
    uint64_t width = UINT64_MAX;
    for (int i = 0; i < BRACKETS; i++) {
        uint64_t before = uc_ticks();
        uint64_t ns = raw_ns();
        uint64_t after = uc_ticks();
        if (after - before < width) {
            width = after - before;
            best.ticks = before + width / 2;
            best.ns = ns;
        }
    }
    return best;
}

int uc_clock_rate(const struct uc_clock_mark *marks, size_t n, double *hz, double *spread)
{
    double rate[MARKS];
    size_t intervals = 0;
    if (n < 2 || n > MARKS)
        return -EINVAL;
    for (size_t i = 1; i < n; i++) {
        if (marks[i].ticks <= marks[i - 1].ticks || marks[i].ns <= marks[i - 1].ns)
            return -ENOTSUP;
        double ticks = (double)(marks[i].ticks - marks[i - 1].ticks);
        rate[intervals++] = ticks * 1e9 / (double)(marks[i].ns - marks[i - 1].ns);
    }
    uc_sort(rate, intervals);
    *hz = uc_quantile(rate, intervals, 0.5);
    *spread = rate[intervals - 1] / rate[0] - 1;
    return 0;
}

/* The wait spins: a TSC that stops in a deep idle state (CPUs without "nonstop_tsc") must be
 * calibrated as it will be used, awake. */
static int measure_tsc(struct uc_clock *c)
{
    struct uc_clock_mark marks[MARKS];
    for (int i = 0; i < MARKS; i++) {
        marks[i] = take_mark();
        while (i + 1 < MARKS && raw_ns() - marks[i].ns < INTERVAL_NS)
            ;
    }
    return uc_clock_rate(marks, MARKS, &c->tsc_hz, &c->tsc_spread);
}

static double least_overhead(void)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < OVERHEAD_TRIES; i++) {
        uint64_t before = uc_ticks();
        uint64_t ticks = uc_ticks() - before;
        if (ticks < least)
            least = ticks;
    }
    return (double)least;
}

/* RDTSC under PR_TSC_SIGSEGV kills the process: ask first. */
static bool rdtsc_allowed(void)
{
    int mode = PR_TSC_ENABLE;
    return prctl(PR_GET_TSC, &mode, 0, 0, 0) != 0 || mode == PR_TSC_ENABLE;
}

int uc_clock_calibrate(struct uc_clock *c)
{
    memset(c, 0, sizeof(*c));
    if (!rdtsc_allowed())
        return -ENOTSUP;
    int rc = measure_tsc(c);
    if (rc) {
        memset(c, 0, sizeof(*c));
        return rc;
    }
    c->overhead_ticks = least_overhead();
    uc_clock_sample_core(c);
    return 0;
}

/* Chains of CHAIN dependent instructions, loops times. The register is its own only operand:
 * an immediate (`add $1,r`) is folded away at rename by Golden Cove and newer, an `add r,r` is
 * executed in one cycle by every x86-64, a 32-bit `imul r,r` in 3 by most (4 on AMD family 15h). */
#define CHAIN 512
#define CHAIN_TEXT(instruction) \
    "1:\n\t.rept 512\n\t" instruction "\n\t.endr\n\tdec %[loops]\n\tjnz 1b"

static uint64_t add_chain(uint64_t loops)
{
    uint64_t r = 1, before = uc_ticks();
    __asm__ volatile(CHAIN_TEXT("add %[r],%[r]") : [r] "+r"(r), [loops] "+r"(loops) : : "cc");
    return uc_ticks() - before;
}

static uint64_t imul_chain(uint64_t loops)
{
    uint64_t r = 3, before = uc_ticks();
    __asm__ volatile(CHAIN_TEXT("imul %k[r],%k[r]") : [r] "+r"(r), [loops] "+r"(loops) : : "cc");
    return uc_ticks() - before;
}

/* Ticks an instruction: the least time of a long chain less that of a short one, so that the
 * timer's overhead and the loop's one misprediction fall out. */
static double chain_ticks(uint64_t (*chain)(uint64_t), uint64_t loops)
{
    uint64_t one = UINT64_MAX, all = UINT64_MAX;
    for (int i = 0; i < CHAIN_TRIES; i++) {
        uint64_t ticks = chain(1);
        one = ticks < one ? ticks : one;
        ticks = chain(1 + loops);
        all = ticks < all ? ticks : all;
    }
    return ((double)all - (double)one) / ((double)loops * CHAIN);
}

/* Interrupts and throttling lengthen either chain, so the shorter of two that agree is nearer.
 * They disagree where imul takes another number of cycles (2 on VIA Nano, 4 on AMD family 15h, 5 on
 * the first Atoms: add is right), or where a core renames add away too (imul is at least twice the
 * 3 adds it should be: imul is right). */
double uc_clock_cycle(double add, double imul)
{
    if (!(add > 0) || !(imul > 0))
        return add > 0 ? add : 0;
    double ratio = imul / add;
    if (ratio > 5.5)
        return imul / 3;
    if (ratio > 2.7 && ratio < 3.3)
        return imul / 3 < add ? imul / 3 : add;
    return add;
}

/* Beyond what is kept, each estimate of the run has the same chance to be among them (reservoir
 * sampling): the median stays that of the whole run, not of its last seconds. */
static void keep(struct uc_clock *c, double hz)
{
    if (c->core_n < UC_CORE_KEPT) {
        c->core_kept[c->core_n] = hz;
        return;
    }
    struct uc_rng r = {c->core_n};
    uint64_t at = uc_rng_below(&r, (uint64_t)c->core_n + 1);
    if (at < UC_CORE_KEPT)
        c->core_kept[at] = hz;
}

void uc_clock_add_core(struct uc_clock *c, double hz)
{
    keep(c, hz);
    c->core_lo = c->core_n == 0 || hz < c->core_lo ? hz : c->core_lo;
    c->core_hi = c->core_n == 0 || hz > c->core_hi ? hz : c->core_hi;
    c->core_n++;
    c->core_hz = uc_median(c->core_kept, c->core_n < UC_CORE_KEPT ? c->core_n : UC_CORE_KEPT);
}

/* 8 tries of (1 + 9) x 512 adds are 41,000 cycles, 8 of (1 + 3) x 512 imuls 49,000: 30 us at 3 GHz.
 * The longest chain takes 1.5 us, a scheduler tick comes every 1,000 us or more. */
double uc_clock_sample_core(struct uc_clock *c)
{
    double cycle = uc_clock_cycle(chain_ticks(add_chain, 8), chain_ticks(imul_chain, 2));
    if (!(cycle > 0))
        return 0;
    double hz = c->tsc_hz / cycle;
    uc_clock_add_core(c, hz);
    return hz;
}
