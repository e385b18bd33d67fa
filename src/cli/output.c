#include "cli/output.h"

#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "cli/command.h"
#include "profile/profile.h"

void uc_print_version(void)
{
    puts("# " UC_TOOL);
}

void uc_print_wrapped(const char *text, int indent, FILE *out)
{
    size_t at = 0;

    for (const char *p = text; *p;) {
        size_t blanks = strspn(p, " "), word = strcspn(p + blanks, " ");
        if (at && at + blanks + word > 100) {
            at = (size_t)fprintf(out, "\n%*s", indent, "") - 1;
            p += blanks;
            blanks = 0;
        }
        fprintf(out, "%.*s", (int)(blanks + word), p);
        at += blanks + word;
        p += blanks + word;
    }
    putc('\n', out);
}

int uc_print_json(json_t *root)
{
    char *text = root ? uc_json_text(root) : NULL;
    int rc = UC_EXIT_MACHINE;

    if (text)
        rc = uc_print(text, strlen(text));
    else
        uc_error("no memory for the answer");
    free(text);
    json_decref(root);
    return rc;
}
