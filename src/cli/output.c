#include "cli/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "cli/command.h"
#include "profile/profile.h"

void uc_print_version(void)
{
    puts("# " UC_TOOL);
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
