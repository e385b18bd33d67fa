/* What system calls' own copies cost here, from user space, and the same traffic replayed in user
 * mode with this tool's strategies. It moves no threshold.
 *
 * An experiment is one file that ends in one const struct, and a row in experiments.c. Its run
 * function
 *
 *   1. makes files by uc_sys_create() (in run->dir, which is fresh, empty and removed whatever
 * happens) or uc_sys_memfd(), and does every system call through sys.h, where tests make each of
 * them fail;
 *   2. adds rows by uc_sys_row(): a row is one line of a table, told by a series (rows of one
 * series share a unit and stand in one table), a name, and the size in bytes that it is about;
 *   3. fills them by uc_sys_rounds(): rounds in random order over all rows, one sample a row and
 * round;
 *   4. compares rows by uc_sys_compare() (base/stats' rows estimator), tells derived figures by
 *      uc_sys_figure() and what a reader should take from them by uc_sys_note().
 *
 * It stops after run->seconds, but for the rounds that comparing needs, and returns 0 or a negative
 * errno. What the box forbids (uc_sys_refused()) is no failure: a row that is refused in a round is
 * skipped by name and the others go on; what is refused before, the experiment skips by
 * uc_sys_skip(); what it returns skips the whole experiment. -EINTR ends the run, all else too.
 *
 * Text, CSV and JSON are printed from the result alone (cli/syscalls_print.c); nothing here prints.
 */
#ifndef UC_SYSCALLS_SYSCALLS_H
#define UC_SYSCALLS_SYSCALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/stats.h"
#include "machine/caches.h"
#include "machine/clock.h"
#include "measure/subject.h"

#define UC_SYS_LEVEL .95
/* A row: two of 20 are compared exactly in a millisecond (base/stats: the fourth power of both). */
#define UC_SYS_SAMPLES 20
/* The fewest two rows between which the exact test can tell a difference at this level (4 and 4).
 */
#define UC_SYS_ROUNDS 5
#define UC_SYS_NO_SIZE SIZE_MAX

/* ---- results ---- */

struct uc_sys_row {
    char series[40], name[48];
    const char *unit; /* "kB/s", "ns"; a literal */
    size_t size;      /* UC_SYS_NO_SIZE: the row is about no size */
    bool raw;         /* in CSV and JSON alone: the text tells what was made of it */
    size_t n;         /* samples, each finite and above 0; 0: not measured */
    double v[UC_SYS_SAMPLES];
};

/* Two rows compared; indices. ratio is second over first. */
struct uc_sys_pair {
    size_t first, second;
    struct uc_comparison c;
};

/* A number made from rows: a difference, a slope, a share. May be below 0. With a size it is a line
 * of the table of its name, else a line by itself. */
struct uc_sys_figure {
    char name[80];
    const char *unit;     /* "" none */
    size_t size;          /* UC_SYS_NO_SIZE: none */
    double value, lo, hi; /* lo = hi = value where there is no interval */
    char remark[32];      /* "" none */
};

struct uc_sys_skip {
    char what[96], why[160]; /* "ext4", "write: No space left on device" */
};

struct uc_sys_result {
    struct uc_sys_row *row;
    struct uc_sys_pair *pair;
    struct uc_sys_figure *figure;
    struct uc_sys_skip *skip;
    char **note;
    size_t rows, pairs, figures, skips, notes;
};

/* One more row, without samples; its index, or -ENOMEM. */
int uc_sys_row(struct uc_sys_result *r, const char *series, const char *unit, size_t size,
               const char *name);
/* 0; -ERANGE for what is no sample (not finite, not above 0); -ENOSPC for one too many. */
int uc_sys_sample(struct uc_sys_result *r, size_t row, double v);
/* Compares two rows; nothing where either has no samples. 0 or -ENOMEM. */
int uc_sys_compare(struct uc_sys_result *r, size_t first, size_t second);
/* The last comparison of two rows, or NULL. */
const struct uc_sys_pair *uc_sys_compared(const struct uc_sys_result *r, size_t first,
                                          size_t second);
/* The middle of a row and its interval; n >= 1. */
struct uc_interval uc_sys_middle(const struct uc_sys_result *r, size_t row);
int uc_sys_figure(struct uc_sys_result *r, const char *name, const char *unit, double value,
                  double lo, double hi);
/* The same for a size, with a remark ("" none). */
int uc_sys_figure_at(struct uc_sys_result *r, const char *name, const char *unit, size_t size,
                     const struct uc_interval *value, const char *remark);
/* A sentence, true of what was measured, without a newline. */
int uc_sys_note(struct uc_sys_result *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* What was not measured, with the call that failed last and the text of rc; where that was none, rc
 * is 0 and why says it. */
int uc_sys_skip(struct uc_sys_result *r, int rc, const char *why, const char *what, ...)
    __attribute__((format(printf, 4, 5)));
void uc_sys_result_free(struct uc_sys_result *r);

/* Is it the box that says no (forbidden, not built in, no room), so that one goes on without? */
bool uc_sys_refused(int rc);

/* ---- running ---- */

/* From which size a profile's nocache streams. */
struct uc_sys_threshold {
    bool known;
    size_t from; /* SIZE_MAX: at no size */
};

struct uc_sys_run {
    const char *dir; /* fresh and empty, on a file system of the user's choice */
    double seconds;  /* that this experiment may take */
    const struct uc_clock *clock;
    const struct uc_caches *caches;
    uint32_t isa; /* that strategies may use */
    int pu;       /* the CPU that this thread is bound to */
    int other_pu; /* another one for a second thread; -1: none */
    bool guest;   /* under a hypervisor */
    struct uc_rng rng;
    struct uc_sys_threshold nocache;
    const char *name; /* of the experiment, for the progress line */
};

struct uc_sys_experiment {
    const char *name;    /* as --only takes it */
    const char *summary; /* one line */
    double seconds;      /* of the default run; the whole set stays under 60 */
    int (*run)(struct uc_sys_run *run, struct uc_sys_result *r);
};

extern const struct uc_sys_experiment *const uc_sys_experiments[];
extern const size_t uc_sys_experiment_count;

/* How rows [first, first + rows) are filled: in a round every row is read `readings` times, all in
 * random order; the least time is its sample. Rounds go on for `seconds`, UC_SYS_ROUNDS to
 * UC_SYS_SAMPLES of them. */
struct uc_sys_rounds {
    size_t first, rows;
    unsigned readings;
    double seconds;
    int (*begin)(void *ctx); /* fresh buffers for a round; NULL: none are needed */
    void (*end)(void *ctx);  /* not called where begin failed; may be NULL */
    /* One reading of row first + i, in ns; NAN: it was disturbed and does not count. */
    int (*read)(void *ctx, size_t i, double *ns);
    /* What the row's sample is, in its unit; NULL: the ns themselves. */
    double (*value)(void *ctx, size_t i, double ns);
    void *ctx;
};

/* 0; -EINTR after a signal; -EXDEV where the thread was moved off its CPU; or what read failed with
 * where that was no refusal. A row that is refused keeps no samples and is skipped by name. */
int uc_sys_rounds(struct uc_sys_run *run, struct uc_sys_result *r, const struct uc_sys_rounds *w);

/* A replay in user mode: the calls of a traffic by a strategy, through a pointer. ns of the whole
 * batch, less the timer's overhead; NAN where it was disturbed (switch, fault) three times. */
double uc_sys_replay(const struct uc_sys_run *run, const struct uc_subject *u,
                     const struct uc_call *calls, size_t n, const char *base);
/* A strategy's called form, or NULL's: false where this CPU has not got what it needs. */
bool uc_sys_subject(const struct uc_sys_run *run, const char *name, struct uc_subject *u);

static inline double uc_sys_ns(const struct uc_sys_run *run, uint64_t ticks)
{
    return (double)ticks / run->clock->tsc_hz * 1e9;
}

/* A fresh folder in parent; *path is malloc'ed. 0 or a negative errno. */
int uc_sys_folder_make(const char *parent, char **path);
/* Removes it with the files in it. */
int uc_sys_folder_remove(const char *path);

/* A file of this name in run->dir, read and write, with more flags of open(2); a descriptor or a
 * negative errno. */
int uc_sys_create(const struct uc_sys_run *run, const char *name, int flags);
/* A file in memory, of the tmpfs that every kernel has: it needs no folder. */
int uc_sys_memfd(void);
/* The file system that a descriptor's file lies on: "tmpfs", "ext4", "0x..."; buf holds 24. */
const char *uc_sys_file_system(int fd, char *buf);

#endif
