/* Profiles side by side, as `compare` finds them and prints them. */
#ifndef UC_CLI_COMPARE_H
#define UC_CLI_COMPARE_H

#include "base/units.h"
#include "fit/share.h"
#include "machine/libc_limits.h"
#include "profile/profile.h"

#define UC_COMPARE_MOST 12 /* profiles at a time: labels A to L */
#define UC_COMPARE_STEPS (UC_COMPARE_MOST * UC_MAX_SEGMENTS)
#define UC_COMPARE_LIMITS 64

/* One profile's ladder on another's cells. */
struct uc_compare_loss {
    bool known;       /* false: the cells are missing, or hold nothing of it */
    uint32_t lacking; /* instruction sets that it needs and the other box lacks: there its header is
                         the C library's memcpy, and that was counted */
    struct uc_share share;
};

/* Where something ends (or begins) in each profile. */
enum uc_compare_kind { UC_AT_SIZE, UC_NEVER, UC_TO_THE_END, UC_ABSENT };
struct uc_compare_limit {
    char what[UC_NAME + 16];
    enum uc_compare_kind kind[UC_COMPARE_MOST];
    size_t size[UC_COMPARE_MOST]; /* UC_AT_SIZE: inclusive, the last size below */
    double factor;                /* largest over smallest; 0: fewer than two of them */
};

/* An entry in one environment: the profiles that have it, on one ladder of sizes. */
struct uc_compare_table {
    unsigned environment;
    enum uc_entry entry;
    size_t who[UC_COMPARE_MOST]; /* index of each profile */
    size_t n;
    size_t end[UC_COMPARE_STEPS]; /* of each step, inclusive; the last is SIZE_MAX */
    size_t steps;
    struct uc_compare_limit limit[UC_COMPARE_LIMITS];
    size_t limits;
    struct uc_compare_loss loss[UC_COMPARE_MOST][UC_COMPARE_MOST]; /* [row][column], in who */
    int one_header; /* the row whose largest mean loss is least; -1: not known for any */
};

struct uc_compare {
    const char *file[UC_COMPARE_MOST];
    struct uc_profile p[UC_COMPARE_MOST];
    size_t n;
    bool has_libc;
    struct uc_libc_limits libc;
    struct uc_compare_table table[2 * UC_ENTRY_COUNT];
    size_t tables;
};

/* One more file. 0, or EINVAL after a line where there are too many. */
int uc_compare_add(struct uc_compare *c, const char *file);
/* Reads all files, then makes all tables; has_libc and libc are the caller's. Each 0, or the exit
 * code after a line. */
int uc_compare_read(struct uc_compare *c);
int uc_compare_make(struct uc_compare *c);
void uc_compare_free(struct uc_compare *c); /* and c itself, of calloc() */

/* The strategy of a table's column at a step. */
const char *uc_compare_strategy(const struct uc_compare *c, const struct uc_compare_table *t,
                                size_t column, size_t step);
/* Do the columns differ at a step? */
bool uc_compare_differs(const struct uc_compare *c, const struct uc_compare_table *t, size_t step);
/* What the C library does at a step, by its limits: "rep movsb", ... */
const char *uc_compare_libc(const struct uc_compare *c, const struct uc_compare_table *t,
                            size_t step);

/* Are there cells of a strategy in a profile? */
bool uc_compare_has(const struct uc_profile *p, const char *strategy);

/* The letter of a profile: A, B, ... */
char uc_compare_label(size_t profile);
const char *uc_compare_environment(const struct uc_compare_table *t);
/* "glibc 2.36 here" */
const char *uc_compare_libc_title(char buf[48]);
/* Is there a column of the C library's? */
bool uc_compare_beside_libc(const struct uc_compare *c, const struct uc_compare_table *t);
const char *uc_compare_weights(const struct uc_profile *p); /* their name, or "" */
json_int_t uc_compare_method(const struct uc_profile *p);   /* its version */
/* "16 KiB", "never", ... of a limit in a column. */
const char *uc_compare_limit_text(const struct uc_compare_limit *x, size_t column,
                                  char buf[UC_SIZE_TEXT]);

/* Calls f for each profile with cells that has none of a strategy that another has, and says why.
 */
typedef void uc_compare_absent_fn(size_t profile, const char *name, const char *why, void *state);
void uc_compare_each_absent(const struct uc_compare *c, unsigned environment,
                            uc_compare_absent_fn *f, void *state);

void uc_compare_print_text(const struct uc_compare *c);
void uc_compare_print_csv(const struct uc_compare *c);
int uc_compare_print_json(const struct uc_compare *c); /* 0 or the exit code */
json_t *uc_compare_json(const struct uc_compare *c);   /* what that prints; NULL: no memory */

#endif
