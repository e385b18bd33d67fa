#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int uc_parse_size(const char *text, size_t *bytes)
{
    char *end;
    unsigned shift = 0;

    if (!isdigit((unsigned char)text[0]))
        return -EINVAL;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (errno)
        return -ERANGE;
    if (*end == 'k' || *end == 'K')
        shift = 10;
    else if (*end == 'M')
        shift = 20;
    else if (*end == 'G')
        shift = 30;
    if (shift)
        end++;
    if (*end)
        return -EINVAL;
    if (v > (SIZE_MAX >> shift))
        return -ERANGE;
    *bytes = (size_t)v << shift;
    return 0;
}

int uc_parse_duration(const char *text, double *seconds)
{
    char *end;

    if (!isdigit((unsigned char)text[0]) && text[0] != '.')
        return -EINVAL;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        return -EINVAL;
    double v = strtod(text, &end);
    if (!strcmp(end, "ms"))
        v /= 1000;
    else if (!strcmp(end, "m"))
        v *= 60;
    else if (*end && strcmp(end, "s") != 0)
        return -EINVAL;
    if (!isfinite(v) || v <= 0 || v > 86400)
        return -ERANGE;
    *seconds = v;
    return 0;
}

int uc_parse_long(const char *text, long min, long max, long *value)
{
    char *end;

    if (!isdigit((unsigned char)text[0]) && text[0] != '-')
        return -EINVAL;
    errno = 0;
    long v = strtol(text, &end, 10);
    if (end == text || *end)
        return -EINVAL;
    if (errno || v < min || v > max)
        return -ERANGE;
    *value = v;
    return 0;
}

const char *uc_size_text(size_t bytes, char buf[UC_SIZE_TEXT])
{
    static const char *const unit[] = {"", " KiB", " MiB", " GiB"};
    double v = (double)bytes;
    unsigned u = 0;

    while (u < 3 && v >= 1024) {
        v /= 1024;
        u++;
    }
    if (v == floor(v))
        snprintf(buf, UC_SIZE_TEXT, "%.0f%s", v, unit[u]);
    else if (4 * v == floor(4 * v))
        snprintf(buf, UC_SIZE_TEXT, "%g%s", v, unit[u]);
    else
        snprintf(buf, UC_SIZE_TEXT, "%zu", bytes);
    return buf;
}
