/* Where the C library's own memcpy changes its way, as its dynamic linker tells it. */
#ifndef UC_MACHINE_LIBC_LIMITS_H
#define UC_MACHINE_LIBC_LIMITS_H

#include <stdbool.h>
#include <stddef.h>

struct uc_libc_limits {
    size_t
        rep_movsb; /* from this size on `rep movsb`, where the CPU is good at it; SIZE_MAX: never */
    size_t non_temporal; /* from this size on stores past the caches; SIZE_MAX: never */
    /* What it takes of GLIBC_TUNABLES, inclusive; anything else it ignores. 0 to SIZE_MAX where it
     * does not tell. */
    size_t rep_movsb_min, rep_movsb_max, non_temporal_min, non_temporal_max;
};

/* Reads what `ld.so --list-tunables` prints (glibc 2.33 and later). False where the two are not in
 * it. */
bool uc_libc_limits_parse(const char *text, struct uc_libc_limits *out);

/* Asks this machine's dynamic linker. False where it cannot be run or tells none. */
bool uc_libc_limits_read(struct uc_libc_limits *out);

/* Minor version of the C library that this program runs with (36 for glibc 2.36); 0: not told. */
int uc_libc_minor(void);

#endif
