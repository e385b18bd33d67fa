/* The functions behind the rows of uc_emitters, each in a file of its own. */
#ifndef UC_EMIT_FORMATS_H
#define UC_EMIT_FORMATS_H

#include "profile/profile.h"

int uc_emit_c(const struct uc_profile *p, FILE *out, char *why, size_t why_cap);
int uc_emit_asm(const struct uc_profile *p, FILE *out, char *why, size_t why_cap);
int uc_emit_json(const struct uc_profile *p, FILE *out, char *why, size_t why_cap);
int uc_emit_glibc(const struct uc_profile *p, FILE *out, char *why, size_t why_cap);
int uc_emit_libmem(const struct uc_profile *p, FILE *out, char *why, size_t why_cap);
int uc_emit_gcc(const struct uc_profile *p, FILE *out, char *why, size_t why_cap);
int uc_emit_kernel_note(const struct uc_profile *p, FILE *out, char *why, size_t why_cap);

#endif
