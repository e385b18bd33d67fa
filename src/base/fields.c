#include "base/fields.h"

#include <string.h>

char *uc_next_field(char **at)
{
    char *field = *at, *comma, *end;

    if (!field)
        return NULL;
    comma = strchr(field, ',');
    if (comma)
        *comma = 0;
    *at = comma ? comma + 1 : NULL;
    field += strspn(field, " \t");
    end = field + strlen(field);
    while (end > field && strchr(" \t\r", end[-1]))
        *--end = 0;
    return field;
}
