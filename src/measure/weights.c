#include "measure/weights.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Octaves are [2^k, 2^(k+1) - 1]: 26 of them from 1 B to 64 MiB, and size 0 as one more. */
#define OCTAVES 26

const struct uc_weights uc_weights_default = {
    .name = "default",
    .mix = {[UC_FIXED] = .5, [UC_BAND] = .5},
    .consumer_small = {[UC_NONE] = .25, [UC_READ] = .5, [UC_WAIT] = .25},
    .consumer_large = {[UC_NONE] = .25, [UC_SCAN] = .75},
    .state_small = {[UC_L1] = .8, [UC_L2] = .15, [UC_MEMORY] = .05},
    .nocache_src = {[UC_L2] = .5, [UC_L3] = .25, [UC_MEMORY] = .25},
    .page_end = 1. / 64,
    .equal_distance = .1,
    .both_aligned = .4,
    .dst_off = .2,
    .src_off = .2,
    .both_off = .2,
    .limit_ratio = 2,
    .margin = .03,
};

int uc_weights_consumer(struct uc_weights *w, enum uc_consumer consumer)
{
    static const struct {
        const char *name;
        enum uc_consumer small, large;
    } of[UC_CONSUMER_COUNT] = {
        [UC_NONE] = {"consumer:none", UC_NONE, UC_NONE},
        [UC_READ] = {"consumer:read", UC_READ, UC_SCAN},
        [UC_WAIT] = {"consumer:wait", UC_WAIT, UC_NONE},
        [UC_SCAN] = {"consumer:scan", UC_READ, UC_SCAN},
    };

    if (!of[consumer].name)
        return -EINVAL;
    memset(w->consumer_small, 0, sizeof(w->consumer_small));
    memset(w->consumer_large, 0, sizeof(w->consumer_large));
    w->consumer_small[of[consumer].small] = 1;
    w->consumer_large[of[consumer].large] = 1;
    w->name = of[consumer].name;
    return 0;
}

/* Share of the octave of x, k, that lies at or below x. */
static double in_octave(unsigned k, size_t x)
{
    size_t first = (size_t)1 << k, last = 2 * first - 1;

    if (last < UC_SMALL_MAX)
        return uc_fleet_share(first, x) / uc_fleet_share(first, last);
    return log2((double)(x + 1) / (double)first);
}

static double octaves_up_to(size_t x)
{
    if (x == 0)
        return 1. / (OCTAVES + 1);
    unsigned k = 63 - (unsigned)__builtin_clzl(x);
    if (k >= OCTAVES)
        return 1;
    return (1 + k + in_octave(k, x)) / (OCTAVES + 1);
}

static double sizes_up_to(const struct uc_sizes *s, size_t x)
{
    size_t lo = 0, hi = s->n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (s->size[mid] <= x)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo ? s->cum[lo - 1] : 0;
}

static double up_to(const struct uc_weights *w, size_t x)
{
    return w->sizes ? sizes_up_to(w->sizes, x) : octaves_up_to(x);
}

double uc_size_weight(const struct uc_weights *w, size_t lo, size_t hi)
{
    if (hi < lo)
        return 0;
    return up_to(w, hi) - (lo ? up_to(w, lo - 1) : 0);
}
