/* Time: the TSC, calibrated against CLOCK_MONOTONIC_RAW (the rate that a guest is told is wrong),
 * and an estimate of the core clock against chains of dependent instructions. */
#ifndef UC_MACHINE_CLOCK_H
#define UC_MACHINE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

/* TSC with fences: earlier work has finished before it is read, and later work has not begun
 * (Intel SDM vol. 2B, RDTSC: LFENCE before and after). */
static inline uint64_t uc_ticks(void)
{
    uint32_t lo, hi;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(lo), "=d"(hi) : : "memory");
    return ((uint64_t)hi << 32) | lo;
}

/* Estimates of the core clock that are kept; of more, a random sample of this many. */
#define UC_CORE_KEPT 512

struct uc_clock {
    double tsc_hz;                  /* measured */
    double tsc_spread;              /* largest over smallest of its estimates, less 1 */
    double core_hz;                 /* median of the estimates so far; 0: none succeeded */
    double core_lo, core_hi;        /* their extremes */
    unsigned core_n;                /* how many */
    double overhead_ticks;          /* two uc_ticks() with nothing between: the least seen */
    double core_kept[UC_CORE_KEPT]; /* what the median is taken over */
};

/* Measures the TSC's rate (about 100 ms), the timer's own overhead and the core clock once.
 * -ENOTSUP where the TSC does not run (stands still or goes back) or RDTSC is disabled for this
 * process (prctl PR_SET_TSC); *c is then all zero. */
int uc_clock_calibrate(struct uc_clock *c);

/* One more estimate of the core clock (about 50 us): TSC ticks a core cycle, turned into Hz.
 * Updates the median and extremes over all estimates and returns this estimate; 0, and nothing is
 * updated, where no repetition gave a usable time. */
double uc_clock_sample_core(struct uc_clock *c);

/* Monotonic seconds, for budgets and progress, not for readings. */
double uc_seconds(void);

/* The parts that decide, free of any clock, so that they can be tested. */

/* One moment on both clocks. */
struct uc_clock_mark {
    uint64_t ticks;
    uint64_t ns; /* CLOCK_MONOTONIC_RAW */
};

#define UC_CLOCK_MARKS 6

/* Rate and spread from 2 to UC_CLOCK_MARKS marks in order: the median over the intervals between
 * neighbours, so that one mark taken late by a preemption moves nothing but the spread. -ENOTSUP
 * where either clock stands still or goes back; -EINVAL for another number of marks. */
int uc_clock_rate(const struct uc_clock_mark *marks, size_t n, double *hz, double *spread);

/* TSC ticks a core cycle, from the ticks of one dependent `add r,r` and one dependent `imul r,r`
 * (32 bits); 0 where add is not above 0. */
double uc_clock_cycle(double add, double imul);

/* Adds one estimate (Hz) to median and extremes. */
void uc_clock_add_core(struct uc_clock *c, double hz);

#endif
