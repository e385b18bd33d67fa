/* The parts of the generated header, inside src/emit only. They are written with the names that
 * strategies/ uses (ucopy_x, UCOPY_X) and renamed as a whole by uc_rename. The token `ucopy_` alone
 * becomes the prefix itself: the name of the copy function. */
#ifndef UC_EMIT_HEADER_H
#define UC_EMIT_HEADER_H

#include <stdio.h>

#include "profile/profile.h"

/* SPDX line and what the limits are, by range. */
void uc_header_comment(const struct uc_profile *p, FILE *out);

/* ---- its parts: lines that begin with " * " ---- */

/* Text from a file or a CPU inside a comment: nothing that ends or nests one, continues a line or
 * begins a trigraph. */
void uc_put_safe(const char *text, FILE *out);
/* Of a ratio, rounded to 5, so that noise does not change a header; from the 4 digits that the JSON
 * keeps, so that a profile gives one header before it was written and after it was read. */
int uc_per_cent(double ratio);
/* "amd-1a-02, AMD EPYC, under KVM" */
void uc_header_cpu(const struct uc_profile *p, FILE *out);
/* What the limits are and are not. */
void uc_header_promise(unsigned environment, FILE *out);
/* That the run was interrupted, or the CPU emulated. */
void uc_header_cautions(const struct uc_profile *p, FILE *out);
/* "copy: dst is used soon" */
const char *uc_header_title(int entry);
/* A line for each range of an entry, behind one with its title; nothing where it is absent. */
void uc_header_ranges(const struct uc_profile *p, int entry, FILE *out);
void uc_header_range(size_t from, size_t to, FILE *out);
/* The weights and the grade. */
void uc_header_evidence(const struct uc_profile *p, FILE *out);

/* ---- */

/* Where a header holds several CPUs, the key of one in front of its names: "amd_1a_02_"; else "".
 */
#define UC_KEY_CAP 40
/* "amd-1a-02" to "amd_1a_02_". Returns buf. */
const char *uc_header_key(const char *key, char buf[UC_KEY_CAP]);

/* What an entry of a CPU is called: "copy" and "COPY", "amd_1a_02_copy" and "AMD_1A_02_COPY". */
struct uc_entry_names {
    char name[UC_KEY_CAP + 8], macro[UC_KEY_CAP + 8];
};
struct uc_entry_names uc_entry_names(const char *key, int entry);

/* The ladder as numbers, for the compiler and the assembler. */
void uc_header_numbers(const struct uc_profile *p, const char *key, FILE *out);
/* Names of the strategies, as strings: not for the assembler. */
void uc_header_names(const struct uc_profile *p, const char *key, FILE *out);

/* Everything behind the #defines. Needs a profile that uc_header_check accepts. 0 or -ENOMEM. */
int uc_header_code(const struct uc_profile *p, FILE *out);

/* ---- its parts, of which a header of several CPUs is made too ---- */

/* UCOPY_FALLBACK, and where UCOPY_ONLY_FALLBACK is 1. */
void uc_header_switches(unsigned environment, FILE *out);

struct uc_embedding {
    json_t *done; /* names of the parts, strategies and functions that are out already */
    FILE *out;
};
/* The text of a strategy, or of all of a profile, each once. 0 or -ENOMEM. */
int uc_header_strategy(struct uc_embedding *e, const char *name);
int uc_header_strategies(struct uc_embedding *e, const struct uc_profile *p);
/* The ladder of an entry, ucopy_<name>_called, behind the functions that it calls, each once. */
void uc_header_ladder(struct uc_embedding *e, const struct uc_profile *p, const char *key,
                      int entry);
/* What a call site holds of an entry: UCOPY_<macro>_INLINE and the size to which. */
void uc_header_inline_part(const struct uc_inline_part *part, int entry, FILE *out);
/* The function of an entry up to the copies that are not inlined, and behind them. */
void uc_header_function_head(int entry, FILE *out);
void uc_header_function_tail(FILE *out);
/* The instruction sets that the code of a profile needs. */
uint32_t uc_header_isa(const struct uc_profile *p);
/* The vendor's i-th register, as CPUID gives it. */
unsigned uc_vendor_word(const char *vendor, int i);

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

#endif
