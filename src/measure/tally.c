#include "measure/tally.h"

#include <stdarg.h>
#include <stdio.h>

/* Above what any x86-64 retires: Zen 5 and Lion Cove take 8 operations a cycle, of at most two
 * fused instructions each. */
#define MOST_PER_CYCLE 16.

const char *const uc_event_word[UC_EVENTS] = {[UC_CYCLES] = "cycles",
                                              [UC_INSTRUCTIONS] = "instructions",
                                              [UC_BRANCH_MISSES] = "branch misses",
                                              [UC_L1D_MISSES] = "L1D misses",
                                              [UC_L2_MISSES] = "L2 misses"};

static void __attribute__((format(printf, 2, 3))) reject(struct uc_tally *t, const char *fmt, ...)
{
    va_list ap;

    if (t->why[0])
        return;
    va_start(ap, fmt);
    vsnprintf(t->why, sizeof(t->why), fmt, ap);
    va_end(ap);
}

static bool usable(const struct uc_tally *t)
{
    return !t->why[0];
}

void uc_tally_check(struct uc_tally tally[UC_EVENTS], bool larger_than_l1d)
{
    struct uc_tally *cycles = &tally[UC_CYCLES], *instructions = &tally[UC_INSTRUCTIONS],
                    *branches = &tally[UC_BRANCH_MISSES], *l1d = &tally[UC_L1D_MISSES];

    if (usable(cycles) && !(cycles->lo > 0))
        reject(cycles, "implausible: 0");
    if (usable(instructions) && !(instructions->lo > 0))
        reject(instructions, "implausible: 0");
    if (usable(cycles) && usable(instructions) &&
        instructions->mid > MOST_PER_CYCLE * cycles->mid) {
        reject(cycles, "implausible: %.0f instructions a cycle", instructions->mid / cycles->mid);
        reject(instructions, "%s", cycles->why);
    }
    if (usable(branches) && usable(instructions) && branches->mid > instructions->mid)
        reject(branches, "implausible: more than instructions");
    if (usable(l1d) && larger_than_l1d && !(l1d->hi > 0))
        reject(l1d, "implausible: 0 in copies larger than L1D");
}
