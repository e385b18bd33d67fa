/* The table of a folder of profiles, in that folder's README.md. */
#ifndef UC_CLI_PROFILE_TABLE_H
#define UC_CLI_PROFILE_TABLE_H

#include <stddef.h>

#include "profile/profile.h"

/* The lines between which the table stands; all else in the file is left alone. */
#define UC_TABLE_BEGIN "<!-- profiles: this table is written by ucopy-tune tune --profile-dir -->"
#define UC_TABLE_END "<!-- end of the profiles -->"

/* The table as Markdown (malloc'ed): key, environment, name, limits, grade, gain over libc. NULL:
 * no memory. */
char *uc_profile_table(const struct uc_profile *const *p, size_t n);

/* Text with the table in the place of what stands between the two lines, or behind it all where
 * they are not there. malloc'ed; NULL: no memory. */
char *uc_profile_table_splice(const char *text, const char *table);

/* Reads every profile of the folder and renews the table in its README.md, which is made where
 * there is none. 0, or the exit code after one line on stderr; README.md is then as it was. */
int uc_profile_table_write(const char *dir);

#endif
