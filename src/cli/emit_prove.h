/* `emit --format glibc-tunables`: what belongs to the machine at hand. */
#ifndef UC_CLI_EMIT_PROVE_H
#define UC_CLI_EMIT_PROVE_H

#include <stdio.h>

#include "emit/glibc.h"

/* This machine's C library, where its CPU is the profile's and its dynamic linker tells limits.
 * False: why is set. */
bool uc_prove_here(const struct uc_profile *p, struct uc_glibc *here, char *why, size_t why_cap);

/* Runs this program's `bench libc` with and without the line (GLIBC_TUNABLES=...), by turns, and
 * writes the times and their ratios by size as comment lines. UC_EXIT_OK; UC_EXIT_NO where the
 * library does not take the line, or gains nothing by it, or loses somewhere beyond noise; an exit
 * code after one line on stderr. */
int uc_prove_line(const char *line, FILE *out);

#endif
