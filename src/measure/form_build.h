/* A copy as called, inline and called behind a check, compiled by this box's compiler, with the
 * bytes of code of each. */
#ifndef UC_MEASURE_FORM_BUILD_H
#define UC_MEASURE_FORM_BUILD_H

#include "measure/build.h"
#include "measure/subject.h"

/* Compiles n strategies in one unit. out has room for UC_FORM_COUNT * n, a copy's forms in the
 * order of enum uc_form; the subjects live as long as the object. 0; -ENOENT where there is no
 * compiler; -EINVAL where it refuses the text, with why; -ENOMEM. */
int uc_build_strategy_forms(const struct ucopy_strategy *const *strategy, size_t n,
                            struct uc_subject *out, struct uc_object *object, char *why,
                            size_t why_cap);

/* The same for the function of a generated header (its text); name is what the subjects are called.
 */
int uc_build_header_forms(const char *header, const char *function, const char *name, bool native,
                          struct uc_subject out[UC_FORM_COUNT], struct uc_object *object, char *why,
                          size_t why_cap);

#endif
