/* What is timed: a strategy in its called or inlined form, a generated header, another library's
 * memcpy. */
#ifndef UC_MEASURE_SUBJECT_H
#define UC_MEASURE_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>

#include "measure/cells.h"
#include "measure/loops.h"
#include "strategies/registry.h"

/* Bytes of code: at each call site, and once in the program, of the dispatch (with what is inlined
 * into it) and of the strategies behind it. site 0: not known. */
struct uc_code_bytes {
    long site, dispatch, strategy;
};

struct uc_subject {
    char name[UC_NAME];
    enum ucopy_role role;
    enum uc_form form;
    uc_copy_fn *fn;               /* the called form */
    uc_copy_fn *shifted;          /* the same with its code elsewhere; NULL: none */
    const struct uc_loops *loops; /* around fn, or with the copy inlined */
    const struct uc_loops *cold;  /* with other work between the calls; NULL: none */
    struct uc_code_bytes code;
    size_t min, max; /* sizes that it serves, inclusive */
    bool dispatch;
};

/* The loops that call through a pointer. */
extern const struct uc_loops uc_called_loops;

/* A strategy's called form, and its inlined form (loops around the leaf itself). */
struct uc_subject uc_subject_called(const struct ucopy_strategy *s);
struct uc_subject uc_subject_inline(const struct ucopy_strategy *s);

/* Any function with memcpy's contract. */
struct uc_subject uc_subject_function(const char *name, uc_copy_fn *fn);

/* The text of loops.h, to compile around a generated header. */
extern const char uc_loops_text[];

#endif
