#include "emit/emit.h"
#include "emit/formats.h"
#include "emit/header.h"

#include <errno.h>
#include <stdlib.h>

/* How to use it, after what it is: the ranges must stand in the first 40 lines. */
static void put_usage(const struct uc_profile *p, FILE *out)
{
    fputs(" *\n * Use: include it, and call\n", out);
    if (p->entry[UC_COPY].present)
        fputs(" *   ucopy_(dst, src, n): copies where dst is used soon\n", out);
    if (p->entry[UC_NOCACHE].present)
        fputs(" *   ucopy_nocache(dst, src, n): copies where it is not\n", out);
    fputs(
        " *   ucopy_is_this_cpu(): is this a CPU of the measured family and model?\n"
        " *   ucopy_usable(): has this CPU what the code needs, and has the OS enabled it?\n"
        " * Where it is not usable, under sanitizers and with UCOPY_NO_ASM defined, the copies "
        "are\n"
        " * UCOPY_FALLBACK(dst, src, n): __builtin_memcpy, unless you define it before (a library\n"
        " * that provides memcpy must). For the assembler, and on other architectures, only the\n"
        " * numbers are defined. */\n",
        out);
}

static int put_all(const struct uc_profile *p, FILE *out)
{
    int rc;

    uc_header_comment(p, out);
    put_usage(p, out);
    fputs("#ifndef UCOPY_H\n#define UCOPY_H\n\n", out);
    uc_header_numbers(p, "", out);
    fputs("\n#ifndef __ASSEMBLER__\n", out);
    uc_header_names(p, "", out);
    fputs("\n#if defined(__x86_64__) && !defined(__ILP32__)\n\n", out);
    rc = uc_header_code(p, out);
    fputs("\n#endif /* x86-64 */\n#endif /* not the assembler */\n#endif\n", out);
    return rc;
}

int uc_emit_c(const struct uc_profile *p, FILE *out, char *why, size_t why_cap)
{
    char *text = NULL, prefix[UC_PREFIX];
    size_t n;
    int rc = uc_header_check(p, why, why_cap);
    FILE *plain = rc ? NULL : open_memstream(&text, &n);

    if (!plain)
        return rc ? rc : -ENOMEM;
    rc = put_all(p, plain);
    if (fclose(plain) && !rc)
        rc = -ENOMEM;
    if (!rc)
        uc_rename(text, uc_emit_prefix(p, prefix, sizeof prefix), out);
    free(text);
    return rc;
}
