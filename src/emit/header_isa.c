/* Instruction sets as compilers spell them. */
#include <ctype.h>
#include <string.h>

#include "emit/header.h"

#define ISA_ATTRIBUTE(id, bit, name, attribute) attribute,
static const char *const isa_attribute[UCOPY_ISA_COUNT] = {UCOPY_ISA_LIST(ISA_ATTRIBUTE)};

static bool has_word(const char *list, const char *word, size_t n)
{
    for (; *list; list += strcspn(list, ","), list += *list == ',')
        if (strcspn(list, ",") == n && !strncmp(list, word, n))
            return true;
    return false;
}

const char *uc_target_text(uint32_t isa, char buf[UC_TARGET])
{
    size_t used = 0, n;

    buf[0] = 0;
    for (unsigned i = 0; i < UCOPY_ISA_COUNT; i++)
        for (const char *word = isa >> i & 1 ? isa_attribute[i] : ""; *word; word += n) {
            word += *word == ',';
            n = strcspn(word, ",");
            if (!has_word(buf, word, n))
                used += (size_t)snprintf(buf + used, UC_TARGET - used, "%s%.*s", used ? "," : "",
                                         (int)n, word);
        }
    return buf;
}

void uc_put_promised(uint32_t isa, FILE *out)
{
    char target[UC_TARGET], *rest = target, *name;
    const char *separator = "";

    uc_target_text(isa, target);
    if (isa & (UCOPY_ISA_ERMS | UCOPY_ISA_FSRM)) {
        fputs("0", out);
        return;
    }
    while ((name = strsep(&rest, ","))) {
        fprintf(out, "%sdefined(__", separator);
        for (; *name; name++)
            fputc(toupper((unsigned char)*name), out);
        fputs("__)", out);
        separator = " && \\\n    ";
    }
}
