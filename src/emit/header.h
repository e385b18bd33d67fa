/* The parts of the generated header, inside src/emit only. They are written with the names that
 * strategies/ uses (ucopy_x, UCOPY_X) and renamed as a whole by uc_rename. The token `ucopy_` alone
 * becomes the prefix itself: the name of the copy function. */
#ifndef UC_EMIT_HEADER_H
#define UC_EMIT_HEADER_H

#include <stdio.h>

#include "profile/profile.h"

/* SPDX line and what the limits are, by range. */
void uc_header_comment(const struct uc_profile *p, FILE *out);

/* The ladder as numbers, for the compiler and the assembler. */
void uc_header_numbers(const struct uc_profile *p, FILE *out);
/* Names of the strategies, as strings: not for the assembler. */
void uc_header_names(const struct uc_profile *p, FILE *out);

/* Everything behind the #defines. Needs a profile that uc_header_check accepts. 0 or -ENOMEM. */
int uc_header_code(const struct uc_profile *p, FILE *out);

/* Can the C header express this profile? 0, or -ENOTSUP with why. */
int uc_header_check(const struct uc_profile *p, char *why, size_t why_cap);

/* Copies text to out with every identifier ucopy_x made prefix_x and UCOPY_X made PREFIX_X, in code
 * and in comments; string literals and UCOPY_FALLBACK and UCOPY_NO_ASM, which all headers share,
 * stay. */
void uc_rename(const char *text, const char *prefix, FILE *out);

/* Does text hold an identifier ucopy_<word> or one that begins with ucopy_<word>_ (or in capitals)?
 */
bool uc_text_has_name(const char *text, const char *word);

#define UC_TARGET 128 /* the attributes of all sets have 66 bytes */
/* "sse2,avx2": the attributes of all bits, each once; "" for none. Returns buf. */
const char *uc_target_text(uint32_t isa, char buf[UC_TARGET]);
/* defined(__SSE2__) && defined(__AVX2__): the compiler was told all of these sets. Sets without an
 * attribute (ERMS, FSRM) are nothing that a compiler is told. */
void uc_put_promised(uint32_t isa, FILE *out);

/* The word of an entry's macros: "COPY", "NOCACHE". */
const char *uc_entry_macro(int entry);

#endif
