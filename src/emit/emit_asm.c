#include "emit/emit.h"
#include "emit/formats.h"
#include "emit/header.h"

#include <errno.h>
#include <stdlib.h>

static void put_all(const struct uc_profile *p, FILE *out)
{
    uc_header_comment(p, out);
    fputs(" */\n#ifndef UCOPY_LIMITS_H\n#define UCOPY_LIMITS_H\n\n", out);
    uc_header_numbers(p, "", out);
    fputs("\n#endif\n", out);
}

int uc_emit_asm(const struct uc_profile *p, FILE *out, char *why, size_t why_cap)
{
    char *text = NULL, prefix[UC_PREFIX];
    size_t n;
    FILE *plain = open_memstream(&text, &n);

    if (!plain)
        return -ENOMEM;
    put_all(p, plain);
    if (fclose(plain)) {
        free(text);
        return -ENOMEM;
    }
    uc_rename(text, uc_emit_prefix(p, prefix, sizeof prefix), out);
    free(text);
    return 0;
}
