#include "machine/libc_limits.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The path that the x86-64 ABI fixes for the dynamic linker. */
#define LINKER "/lib64/ld-linux-x86-64.so.2"

/* "glibc.cpu.x86_rep_movsb_threshold: 0x840 (min: 0x100, max: 0xffffffffffffffff)". A threshold at
 * the top of its range, or of half of it, is how the library says "never". */
static bool value_of(const char *text, const char *name, size_t *value)
{
    const char *at = strstr(text, name);
    char *end;

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
    return true;
}

bool uc_libc_limits_parse(const char *text, struct uc_libc_limits *out)
{
    return value_of(text, "glibc.cpu.x86_rep_movsb_threshold", &out->rep_movsb) &&
           value_of(text, "glibc.cpu.x86_non_temporal_threshold", &out->non_temporal);
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
