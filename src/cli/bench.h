/* What `bench` was asked for, shared by its tables. */
#ifndef UC_CLI_BENCH_H
#define UC_CLI_BENCH_H

#include "cli/options.h"
#include "cli/session.h"
#include "machine/counters.h"
#include "measure/build.h"
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
    int state; /* enum uc_state; UC_NATURAL by default */
    int order; /* enum uc_order of a replayed mix */
    bool inlined;
    const char *event[UC_MAX_EVENTS];
    size_t events;
    const char *peer[UC_BENCH_EXTRAS]; /* LIB.so[:SYMBOL] */
    size_t peers;
    const char *header[UC_BENCH_EXTRAS]; /* generated headers */
    size_t headers;
    struct uc_built built[2 * UC_BENCH_EXTRAS];
    size_t builts;
    void *library[UC_BENCH_EXTRAS];
    size_t libraries;
};

/* The subjects in the order in which they are printed: strategies (those named, or all usable
 * ones), peers, headers called and inlined. u has room for UC_BENCH_SUBJECTS. 0, or the exit code
 * after one line on stderr. */
int uc_bench_subjects(struct uc_bench *b, const struct uc_session *s, struct uc_subject *u,
                      size_t *n);
void uc_bench_release(struct uc_bench *b);

/* Times all subjects at the places of plan; weights may be NULL for the default. 0 or a negative
 * errno. */
int uc_bench_measure(const struct uc_options *o, struct uc_session *s,
                     const struct uc_weights *weights, const struct uc_plan *plan,
                     const struct uc_subject *u, size_t n, struct uc_cells *cells);

/* A subject's cell at a size (0 for a replayed mix), or NULL. */
const struct uc_cell *uc_bench_cell(const struct uc_cells *cells, const struct uc_subject *u,
                                    size_t size);

/* --sizes-from: replays the distribution and prints its table. 0 or the exit code. */
int uc_bench_mix(struct uc_bench *b, const struct uc_options *o, struct uc_session *s,
                 const struct uc_subject *u, size_t n);

#endif
