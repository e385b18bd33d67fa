#include <errno.h>
#include <stdlib.h>

#include "emit/emit.h"
#include "emit/formats.h"

int uc_emit_json(const struct uc_profile *p, FILE *out, char *why, size_t why_cap)
{
    char *text = uc_profile_to_json(p);

    if (!text)
        return -ENOMEM;
    fputs(text, out);
    free(text);
    return 0;
}
