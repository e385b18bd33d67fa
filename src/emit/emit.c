#include "emit/emit.h"

#include <string.h>

#include "emit/formats.h"

const struct uc_emitter uc_emitters[] = {
    {"c", "C header: limits and functions, with the strategies' code", uc_emit_c},
    {"asm", "limits alone, as #defines for a .S file", uc_emit_asm},
    {"json", "the profile itself", uc_emit_json},
    {"glibc-tunables", "limits of glibc's memcpy, as a GLIBC_TUNABLES line", uc_emit_glibc},
    {"libmem", "limits of AOCL-LibMem's memcpy, as a LIBMEM_THRESHOLD line", uc_emit_libmem},
    {"gcc", "gcc's inline copies, as -mmemcpy-strategy= options", uc_emit_gcc},
    {"kernel-note", "what a kernel profile says about the kernel's own copies, as text",
     uc_emit_kernel_note},
    {NULL, NULL, NULL},
};

const struct uc_emitter *uc_emitter_find(const char *name)
{
    for (const struct uc_emitter *e = uc_emitters; e->name; e++)
        if (!strcmp(e->name, name))
            return e;
    return NULL;
}

const char *uc_emit_prefix(const struct uc_profile *p, char *buf, size_t cap)
{
    char stem[UC_STEM];

    snprintf(buf, cap, "ucopy_%s", uc_profile_stem(p, stem, sizeof stem));
    for (char *c = buf; *c; c++)
        if (*c == '-')
            *c = '_';
    return buf;
}
