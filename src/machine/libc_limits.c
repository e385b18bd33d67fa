#include "machine/libc_limits.h"

#include <ctype.h>
#include <gnu/libc-version.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The path that the x86-64 ABI fixes for the dynamic linker. */
#define LINKER "/lib64/ld-linux-x86-64.so.2"

/* "glibc.cpu.x86_rep_movsb_threshold: 0x840 (min: 0x100, max: 0xffffffffffffffff)". A threshold at
 * the top of its range, or of half of it, is how the library says "never". */
static bool value_of(const char *text, const char *name, size_t *value, size_t *min, size_t *max)
{
    const char *at = strstr(text, name);
    char *end;
    uint64_t low, high;

    *min = 0;
    *max = SIZE_MAX;
    if (!at || (at != text && at[-1] != '\n'))
        return false;
    at += strlen(name);
    if (at[0] != ':' || at[1] != ' ' || !isdigit((unsigned char)at[2]))
        return false;
    *value = strtoull(at + 2, &end, 0);
    if (*end != ' ' && *end != '\n')
        return false;
    if (*value > SIZE_MAX >> 5)
        *value = SIZE_MAX;
    if (sscanf(end, " (min: %" SCNx64 ", max: %" SCNx64 ")", &low, &high) == 2 && low <= high) {
        *min = low;
        *max = high;
    }
    return true;
}

bool uc_libc_limits_parse(const char *text, struct uc_libc_limits *out)
{
    return value_of(text, "glibc.cpu.x86_rep_movsb_threshold", &out->rep_movsb, &out->rep_movsb_min,
                    &out->rep_movsb_max) &&
           value_of(text, "glibc.cpu.x86_non_temporal_threshold", &out->non_temporal,
                    &out->non_temporal_min, &out->non_temporal_max);
}

bool uc_libc_limits_read(struct uc_libc_limits *out)
{
    char text[16384];
    FILE *f = popen(LINKER " --list-tunables 2>/dev/null", "re");

    if (!f)
        return false;
    size_t n = fread(text, 1, sizeof(text) - 1, f);
    text[n] = 0;
    while (fgetc(f) != EOF) /* or it would die of a pipe that nobody reads */
        ;
    return pclose(f) == 0 && uc_libc_limits_parse(text, out);
}

int uc_libc_minor(void)
{
    int minor;

    return sscanf(gnu_get_libc_version(), "2.%d", &minor) == 1 ? minor : 0;
}
