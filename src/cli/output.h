/* What the answers of all commands have in common: the version of the tool that gave them, and the
 * way JSON goes out. */
#ifndef UC_CLI_OUTPUT_H
#define UC_CLI_OUTPUT_H

#include <jansson.h>
#include <stdio.h>

#include "profile/json_io.h"

#define UC_TOOL "ucopy-tune " UC_VERSION /* the member "tool" of every JSON answer */

/* "# ucopy-tune 0.1.0": the first line of a text, and behind the rows of a CSV, whose first line
 * names the columns. */
void uc_print_version(void);

/* A text of words, broken at blanks before the 101st column; what does not fit goes on behind so
 * many blanks. */
void uc_print_wrapped(const char *text, int indent, FILE *out);

/* Prints and frees root, which may be NULL: then there was no memory, and that is said. 0 or the
 * exit code. */
int uc_print_json(json_t *root);

#endif
