/* Where the C library's own memcpy changes its way, as its dynamic linker tells it. */
#ifndef UC_MACHINE_LIBC_LIMITS_H
#define UC_MACHINE_LIBC_LIMITS_H

#include <stdbool.h>
#include <stddef.h>

struct uc_libc_limits {
    size_t
        rep_movsb; /* from this size on `rep movsb`, where the CPU is good at it; SIZE_MAX: never */
    size_t non_temporal; /* from this size on stores past the caches; SIZE_MAX: never */
};

/* Reads what `ld.so --list-tunables` prints (glibc 2.33 and later). False where the two are not in
 * it. */
bool uc_libc_limits_parse(const char *text, struct uc_libc_limits *out);

/* Asks this machine's dynamic linker. False where it cannot be run or tells none. */
bool uc_libc_limits_read(struct uc_libc_limits *out);

#endif
