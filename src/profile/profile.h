/* The profile: segments of one CPU kind in one environment, with identity, method and the cells
 * they came from. Read and written as JSON with a stable key order (DESIGN.md, "Profile"). */
#ifndef UC_PROFILE_PROFILE_H
#define UC_PROFILE_PROFILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "fit/fit.h"
#include "fit/slope.h"
#include "machine/caches.h"
#include "machine/cpu.h"

#define UC_PROFILE_FORMAT 1 /* raised where a key changes its meaning */

struct uc_inline_part {
    char strategy[UC_NAME]; /* "" none */
    size_t max;
    double ratio_to_called;
};

struct uc_profile_entry {
    bool present;
    struct uc_ladder ladder;
    struct uc_inline_part inline_baseline, inline_wide;
    struct uc_barred barred[UC_MAX_NOTES];
    size_t barred_n;
    struct uc_anomaly anomaly[UC_MAX_NOTES];
    size_t anomaly_n;
    json_t *load;  /* copies on all cores at once; NULL: not measured */
    json_t *whole; /* whole copies timed beside each other: the evidence behind the dispatch and the
                      inlined parts; NULL: not timed */
    json_t *limits; /* what the next strategy costs at each limit, less one and more one; NULL: not
                       timed */
    json_t *consumers; /* what each consumer alone would choose; NULL: not asked */
    json_t
        *counters; /* why each range's copy was chosen, by hardware counters; NULL: not counted */
};

struct uc_profile {
    char tool[32]; /* what wrote it, "ucopy-tune 0.1.0"; "": this program */
    bool complete;
    unsigned environment; /* UCOPY_USER or UCOPY_KERNEL */
    char variant[32];     /* "" none */
    bool has_cpu;         /* false: from a table of no named CPU */
    struct uc_cpu cpu;
    bool has_caches;
    struct uc_caches caches;
    json_t *method, *weights, *validation, *syscalls; /* owned; NULL: absent */
    struct uc_profile_entry entry[UC_ENTRY_COUNT];
    json_t *slopes;        /* start-up cost and slope of every strategy by region; NULL: not told;
                              made by uc_profile_set_slopes */
    json_t *hashes;        /* {"<name>": {"source_sha256": "..."}}, owned; made by
                              uc_profile_hash_strategies */
    struct uc_cells cells; /* owned */
    bool digest_differs;   /* on reading: hand-edited */
};

void uc_profile_free(struct uc_profile *p);

/* Hash of a strategy's embedded text: comments and all blanks stripped, SHA-256, hex. */
void uc_strategy_hash(const char *text, char hex[65]);

/* Hash of all that a strategy's code is made of: the shared parts that it includes, then its own
 * text. 0; -ENOENT where the name is unknown or has no text (libc); -ENOMEM. */
int uc_strategy_source_hash(const char *name, char hex[65]);

/* Calls f for each strategy that the entries name to be executed (segments, guards, inline parts; a
 * name may come twice). Stops at the first call that returns other than 0 and returns that. */
int uc_profile_each_strategy(const struct uc_profile *p, int (*f)(const char *name, void *state),
                             void *state);

/* Fills p->hashes for every strategy that the entries use and this program knows. 0 or -ENOMEM. */
int uc_profile_hash_strategies(struct uc_profile *p);

/* Start-up cost and slope of the profile's own cells, into p->slopes; NULL where no region of any
 * strategy has sizes enough. 0 or -ENOMEM. */
int uc_profile_set_slopes(struct uc_profile *p, const struct uc_slope_options *o);

/* The `slopes` object of a profile. NULL: no memory. */
json_t *uc_slopes_to_json(const struct uc_slopes *s);

/* The `cpu` object of a profile and of `info --format json`, without its xcr0. NULL: no memory. */
json_t *uc_cpu_to_json(const struct uc_cpu *cpu);

/* The text of any JSON value in the layout of profiles: short objects on one line, columns on one
 * line, ends in a newline. malloc'ed; NULL without memory. */
char *uc_json_text(const json_t *value);

/* JSON text (malloc'ed, ends in a newline), or NULL without memory. */
char *uc_profile_to_json(const struct uc_profile *p);

/* Reads JSON, or a generated header (then the JSON beside it is read: the same stem with .json).
 * 0; -EINVAL with why ("entries.copy.segments[2].max: not a number"); -ENOTSUP with why for a newer
 * format; or the errno of reading (-EFBIG above 16 MiB). why is "" where errno says it all of path.
 * *p is zeroed on failure. Unknown keys are ignored. */
int uc_profile_read(const char *path, struct uc_profile *p, char *why, size_t why_cap);

/* Reads a generated header by its own text alone: key, environment and variant, limits, strategies,
 * runners-up, the weights' name and the grade. No cells, no intervals, no hashes. Returns as
 * uc_profile_read does. */
int uc_profile_read_header(const char *path, struct uc_profile *p, char *why, size_t why_cap);

/* Puts value in the place of "syscalls" in a profile's JSON; all else stays as it is, the digest
 * too, which does not cover it. Written by temporary and rename. 0 or a negative errno. */
int uc_profile_put_syscalls(const char *path, json_t *value);

#define UC_STEM 96 /* enough for any stem */
/* File stem: <key>[-kernel][-<variant>]; the key of a profile without a CPU is "unnamed". Returns
 * buf. */
const char *uc_profile_stem(const struct uc_profile *p, char *buf, size_t cap);

/* Is this a name that a variant may have? Small letters and digits, a letter first, under 32
 * bytes, and none of the words that headers use themselves (kernel, copy, nocache, core kinds). */
bool uc_variant_valid(const char *variant);

/* Do all strategies of the profile still have the text that was measured? NULL, or the name of the
 * first that differs or has no hash. A profile without any hashes (just made) is never stale. */
const char *uc_profile_stale(const struct uc_profile *p);

#endif
