/* Closing the loop: a generated header compiled by this box's compiler, loaded and ready to be
 * timed. */
#ifndef UC_MEASURE_BUILD_H
#define UC_MEASURE_BUILD_H

#include <stdbool.h>
#include <stddef.h>

#include "measure/subject.h"

/* A unit, compiled and loaded. */
struct uc_object {
    void *handle;
    char *image; /* the file itself, for what its symbols tell */
    size_t bytes;
};

/* Compiles source with -O2, and -march=native where native, and loads it. Everything on disk is
 * removed before it returns. 0; -ENOENT where there is no compiler; -EINVAL where it refuses the
 * text, with why; -EINTR after a signal, the compiler ended. */
int uc_build_object(const char *source, bool native, struct uc_object *out, char *why,
                    size_t why_cap);
void uc_object_unload(struct uc_object *o);

struct uc_built {
    void *handle;
    struct uc_subject called;  /* through a pointer */
    struct uc_subject inlined; /* inlined into the loops */
};

/* The compiler: $CC, else cc. */
const char *uc_build_compiler(void);

/* The first line of `compiler --version`, or "" where it cannot run. Returns buf. */
const char *uc_build_compiler_version(char *buf, size_t cap);

/* The same for a header (its text) with a caller for function and the timed loops around it. name
 * is what the subjects are called. */
int uc_build_header(const char *header, const char *function, const char *name, bool native,
                    struct uc_built *out, char *why, size_t why_cap);
void uc_built_unload(struct uc_built *b);

#endif
