#include "measure/branch.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/rng.h"
#include "machine/clock.h"

#define BITS (64 * 1024)
#define RUNS 24

static double run(const unsigned char *bit)
{
    const unsigned char *p = bit, *end = bit + BITS;
    uint64_t count = 0, t = uc_ticks();

    __asm__ volatile("1:\n\t"
                     "cmpb $0, (%[p])\n\t"
                     "je 2f\n\t"
                     "inc %[count]\n"
                     "2:\n\t"
                     "inc %[p]\n\t"
                     "cmp %[end], %[p]\n\t"
                     "jb 1b"
                     : [p] "+&r"(p), [count] "+&r"(count)
                     : [end] "r"(end)
                     : "cc", "memory");
    return (double)(uc_ticks() - t);
}

static double least(unsigned char *bit, struct uc_rng *rng)
{
    double best = INFINITY;

    for (int r = 0; r < RUNS; r++) {
        if (rng) /* new bits every run, or the predictor learns the old ones */
            for (int i = 0; i < BITS; i++)
                bit[i] = uc_rng_next(rng) >> 63;
        best = fmin(best, run(bit));
    }
    return best;
}

double uc_branch_cost_ticks(void)
{
    struct uc_rng rng = {20260101};
    unsigned char *bit = calloc(BITS, 1);

    if (!bit)
        return 0;
    double plain = least(bit, NULL), random = least(bit, &rng);
    free(bit);
    return fmax((random - plain) / (BITS / 2), 0);
}
