/* A small seeded generator (splitmix64, Steele, Lea and Flood 2014), so that a run's order of
 * rounds and its placements can be repeated from the seed in the profile. */
#ifndef UC_BASE_RNG_H
#define UC_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

struct uc_rng {
    uint64_t state;
};

static inline uint64_t uc_rng_next(struct uc_rng *r)
{
    uint64_t z = (r->state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Uniform in [0, n), n > 0. */
static inline uint64_t uc_rng_below(struct uc_rng *r, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)uc_rng_next(r) * n) >> 64);
}

/* Uniform in [0, 1). */
static inline double uc_rng_unit(struct uc_rng *r)
{
    return (double)(uc_rng_next(r) >> 11) * 0x1p-53;
}

#endif
