/* Profile in, text out. Pure. One file and one table row a format. */
#ifndef UC_EMIT_EMIT_H
#define UC_EMIT_EMIT_H

#include <stdio.h>

#include "profile/profile.h"

struct uc_emitter {
    const char *name;        /* --format */
    const char *description; /* one line */
    /* 0; -ENOTSUP with why where the profile cannot be expressed (then nothing was written);
     * -ENOMEM. Errors of writing show in ferror(out). */
    int (*emit)(const struct uc_profile *p, FILE *out, char *why, size_t why_cap);
};

extern const struct uc_emitter uc_emitters[]; /* ends with name NULL */
const struct uc_emitter *uc_emitter_find(const char *name);

#define UC_PREFIX (UC_STEM + 8) /* enough for any prefix */
/* ucopy_amd_1a_02[_kernel][_variant]: the prefix of every name in a header. Returns buf. */
const char *uc_emit_prefix(const struct uc_profile *p, char *buf, size_t cap);

#endif
