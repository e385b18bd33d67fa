#include "fit/model.h"

static size_t trailing(size_t x)
{
    return x ? (size_t)__builtin_ctzl(x) : 64;
}

/* Width of what is left without trailing zeros: 1 for powers of two, 2 for 3 * 2^k. */
static unsigned significant(size_t x)
{
    return x ? 64 - (unsigned)__builtin_clzl(x) - (unsigned)trailing(x) : 0;
}

static size_t apart(size_t a, size_t b)
{
    return a > b ? a - b : b - a;
}

/* Of the multiples of step in [lo, hi], the one nearest to at; false where there is none. */
static bool nearest_multiple(size_t step, size_t lo, size_t hi, size_t at, size_t *x)
{
    size_t first = lo / step + (lo % step != 0), last = hi / step, near = at / step;

    if (first > last)
        return false;
    if (near + 1 <= last && apart((near + 1) * step, at) < apart(near * step, at))
        near++;
    *x = (near < first ? first : near > last ? last : near) * step;
    return true;
}

/* All numbers of at most `bits` significant bits between two powers of two are the multiples of one
 * step, so each octave is asked for its nearest one. */
static bool round_to(unsigned bits, size_t lo, size_t hi, size_t at, size_t *best)
{
    bool found = false;

    for (unsigned k = 0; k < 63; k++) {
        size_t first = (size_t)1 << k, last = 2 * first - 1, x;
        size_t step = k + 1 > bits ? (size_t)1 << (k + 1 - bits) : 1;
        if (last < lo || first > hi)
            continue;
        if (!nearest_multiple(step, lo > first ? lo : first, hi < last ? hi : last, at, &x))
            continue;
        if (!found || apart(x, at) < apart(*best, at) ||
            (apart(x, at) == apart(*best, at) && significant(x) <= significant(*best)))
            *best = x;
        found = true;
    }
    return found;
}

size_t uc_roundest(size_t lo, size_t hi, size_t at)
{
    size_t best = at;

    if (hi > SIZE_MAX / 4)
        hi = SIZE_MAX / 4;
    for (unsigned bits = 1; bits < 64; bits++)
        if (round_to(bits, lo, hi, at, &best))
            return best;
    return at;
}
