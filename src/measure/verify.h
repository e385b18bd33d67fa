/* Checked before timed: every strategy, at the sizes to be timed, between guard pages. */
#ifndef UC_MEASURE_VERIFY_H
#define UC_MEASURE_VERIFY_H

#include <stdbool.h>
#include <stddef.h>

#include "strategies/registry.h"

struct uc_verify_failure {
    size_t size;
    unsigned dst_align, src_align; /* mod 64 */
    char what[96]; /* "byte 17 is wrong", "wrote before dst", "SIGSEGV", "SIGILL", "returned 0x..",
                      ... */
};

/* Copies each of the sizes that the strategy serves (n == 0 with null pointers too) with buffers
 * that start at and that end at a guard page and at drawn alignments, compares all bytes, the
 * bytes around dst, src left alone, the return value, the direction flag and the callee-saved
 * registers; above 1 MiB at one placement. The alignments are drawn from the name: a failure
 * repeats. Signals (SEGV, BUS, ILL, FPE, TRAP) raised by the strategy are caught and told as
 * failures. Takes memory of the largest size and 2 MiB. One thread at a time. 0: right; 1: wrong,
 * *f says where; a negative errno where no memory could be had. */
int uc_verify(const char *name, ucopy_fn *fn, size_t min, size_t max, const size_t *sizes, size_t n,
              struct uc_verify_failure *f);

/* The same for half a copy, stores only or loads only: all of that but dst's bytes (stores), or
 * with dst left alone (loads). */
int uc_verify_limit(const char *name, ucopy_fn *fn, bool stores, size_t min, size_t max,
                    const size_t *sizes, size_t n, struct uc_verify_failure *f);

/* A row of the table, by its role: its called form, and at the sizes to 1 KiB its second one too;
 * sizes ascend. */
int uc_verify_strategy(const struct ucopy_strategy *s, const size_t *sizes, size_t n,
                       struct uc_verify_failure *f);

#endif
