/* Numbers as people write them: the whole string, in range, with its unit, or an error. */
#ifndef UC_BASE_UNITS_H
#define UC_BASE_UNITS_H

#include <stddef.h>

/* Bytes: digits, then nothing or one of k, K, M, G (binary: 1k is 1024). 0 or -EINVAL, -ERANGE. */
int uc_parse_size(const char *text, size_t *bytes);

/* Seconds: a decimal number, then nothing or "s", "ms", "m" (minutes). Above 0, at most 24 hours.
 * 0 or -EINVAL, -ERANGE. */
int uc_parse_duration(const char *text, double *seconds);

/* A decimal integer in [min, max]. 0 or -EINVAL, -ERANGE. */
int uc_parse_long(const char *text, long min, long max, long *value);

/* Bytes as a short text, always exact: "64", "2 KiB", "1.5 MiB"; in plain bytes where a unit would
 * need more than quarters. Returns buf. */
#define UC_SIZE_TEXT 24
const char *uc_size_text(size_t bytes, char buf[UC_SIZE_TEXT]);

#endif
