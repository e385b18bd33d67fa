/* What `bench` was asked for, shared by its tables. */
#ifndef UC_CLI_BENCH_H
#define UC_CLI_BENCH_H

#include "cli/options.h"
#include "cli/session.h"
#include "fit/slope.h"
#include "machine/counters.h"
#include "measure/form_build.h"
#include "measure/sweep.h"

#define UC_BENCH_NAMES 64
#define UC_BENCH_SIZES 512
#define UC_BENCH_EXTRAS 8
#define UC_BENCH_SUBJECTS 256

struct uc_bench {
    const struct ucopy_strategy *named[UC_BENCH_NAMES];
    size_t names;
    size_t size[UC_BENCH_SIZES];
    size_t sizes;
    int state;       /* enum uc_state; UC_NATURAL by default */
    int order;       /* enum uc_order of a replayed mix */
    int threads;     /* cores that copy at once; 0: all */
    bool inlined;    /* --inline: of single sizes all forms, of a mix the inlined one */
    bool slopes;     /* --slopes */
    bool placements; /* --placements */
    const char *event[UC_MAX_EVENTS];
    size_t events;
    const char *peer[UC_BENCH_EXTRAS]; /* LIB.so[:SYMBOL] */
    size_t peers;
    const char *header[UC_BENCH_EXTRAS]; /* generated headers */
    size_t headers;
    struct uc_built built[2 * UC_BENCH_EXTRAS];
    size_t builts;
    struct uc_object object[1 + 2 * UC_BENCH_EXTRAS]; /* copies in all forms */
    size_t objects;
    void *library[UC_BENCH_EXTRAS];
    size_t libraries;
};

/* The subjects in the order in which they are printed: strategies (those named, or all usable
 * ones), peers, headers called and inlined (their nocache entry where asked for). u has room for
 * UC_BENCH_SUBJECTS. 0, or the exit code after one line on stderr. */
int uc_bench_subjects(struct uc_bench *b, const struct uc_session *s, bool nocache,
                      struct uc_subject *u, size_t *n);
void uc_bench_release(struct uc_bench *b);

/* Is a strategy usable here? Where not, says so. */
bool uc_bench_usable(const struct ucopy_strategy *x, const struct uc_session *s);
/* A generated header's text and the name of its function, of which cap bytes are kept. 0; a
 * negative errno of reading; -EINVAL where it is none, with *text read. */
int uc_bench_read_header(const char *path, char **text, char *name, size_t cap);
/* Says why a header failed; the exit code. */
int uc_bench_header_failed(const char *path, int rc, const char *why);

/* Times all subjects at the places of plan; weights may be NULL for the default. 0 or a negative
 * errno. */
int uc_bench_measure(const struct uc_options *o, struct uc_session *s,
                     const struct uc_weights *weights, const struct uc_plan *plan,
                     const struct uc_subject *u, size_t n, struct uc_cells *cells);

/* A subject's cell at a size (0 for a replayed mix) with warm or cold code, or NULL. */
const struct uc_cell *uc_bench_cell(const struct uc_cells *cells, const struct uc_subject *u,
                                    size_t size, enum uc_code code);

/* --inline: may it stand with the other options? Else one line and UC_EXIT_USAGE. */
int uc_bench_inline_check(const struct uc_bench *b, const struct uc_options *o);
/* UC_FORM_COUNT subjects a copy (called, inline, checked): the strategies named, or else the
 * headers, or else the short dispatches that are usable here. 0, or the exit code after one line on
 * stderr. */
int uc_bench_inline_subjects(struct uc_bench *b, const struct uc_session *s, struct uc_subject *u,
                             size_t *n);
void uc_bench_inline_print(const struct uc_bench *b, const struct uc_options *o,
                           const struct uc_session *s, const struct uc_cells *cells,
                           const struct uc_subject *u, size_t n);

/* Is this the --format asked for? */
bool uc_bench_wants(const struct uc_options *o, const char *format);

/* What a counter said of one copy at one size. */
struct uc_bench_count {
    size_t size;
    const char *copy;
    struct uc_count count;
    double a_call;
};
struct uc_bench_counts {
    struct uc_bench_count *v; /* to be freed */
    size_t n;
};
/* The counter pass; where there are no counters that is said, and nothing counted. 0 or a negative
 * errno. */
int uc_bench_count(const struct uc_bench *b, const struct uc_session *s, const struct uc_plan *plan,
                   const struct uc_subject *u, size_t n, uint64_t seed,
                   struct uc_bench_counts *all);
void uc_bench_print_counts(const struct uc_bench_counts *all);

/* What was replayed of a size distribution, as shares of its calls. */
struct uc_bench_mix_facts {
    const char *name;
    enum uc_order order;
    size_t to;                     /* the sizes that are timed beside each other end here */
    double larger;                 /* those above, timed by themselves, ... */
    size_t larger_from, larger_to; /* ... of these sizes */
    double not_replayed;           /* larger still */
};

/* All that a table has to tell. */
struct uc_bench_answer {
    const struct uc_session *s;
    const struct uc_cells *cells;
    const struct uc_subject *u;
    size_t n;
    enum uc_state state;
    enum uc_consumer consumer;
    bool forms;                           /* of each copy all forms */
    const struct uc_bench_mix_facts *mix; /* NULL: single sizes */
    const struct uc_bench_counts *counts; /* may be NULL, as may be */
    const struct uc_slopes *slopes;
};
/* --format json. 0 or the exit code. */
int uc_bench_print_json(const struct uc_bench_answer *a);

/* --state other_core and --threads: may they stand with the other options? Else one line and
 * UC_EXIT_USAGE. */
int uc_bench_company_check(const struct uc_bench *b, const struct uc_options *o);
/* Opens the other cores that they need, and makes threads a number. 0, or the exit code after one
 * line on stderr. */
int uc_bench_company(struct uc_bench *b, struct uc_session *s, const struct uc_plan *plan);

/* --sizes-from: replays the distribution and prints its table. 0 or the exit code. */
int uc_bench_mix(struct uc_bench *b, const struct uc_options *o, struct uc_session *s,
                 const struct uc_subject *u, size_t n);

#endif
