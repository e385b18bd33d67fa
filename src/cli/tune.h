/* The main job's stages, in the order in which cmd_tune.c calls them. */
#ifndef UC_CLI_TUNE_H
#define UC_CLI_TUNE_H

#include "cli/options.h"
#include "cli/session.h"
#include "fit/fit.h"
#include "measure/build.h"
#include "measure/grade.h"
#include "measure/plan.h"
#include "measure/sweep.h"
#include "profile/profile.h"

#define UC_MAX_SUBJECTS 200

/* What a whole copy costs to UC_SMALL_MAX, in l1: relative to the least of those timed beside it,
 * by the run's weights. */
struct uc_whole {
    double cost;                     /* the weighted mean */
    double worst;                    /* the largest in one cell */
    double under[UC_CONSUMER_COUNT]; /* the mean under one consumer alone; NaN: not timed */
    double libc;                     /* libc's time over this one's in the worst of the mixes */
};
#define UC_MAX_WHOLE 10 /* tries that are timed beside each other */

struct uc_tune {
    const struct uc_options *o;
    struct uc_session session;
    struct uc_weights weights;
    struct uc_sizes named; /* --sizes-from */
    char weights_name[48];
    double whole_budget; /* seconds from the session's beginning to the end */
    double budget;       /* of these, what all timing but the self-test shares */
    size_t top;          /* largest size */

    const struct ucopy_strategy *strategy[UC_MAX_SUBJECTS]; /* usable here and right */
    size_t strategies;
    unsigned failed; /* strategies that failed their check */
    struct uc_fit_strategy known[UC_MAX_SUBJECTS];

    struct uc_plan plan;
    struct uc_cells cells; /* that chose */
    struct uc_sweep_facts facts;
    struct uc_noise noise;
    struct uc_grade grade;
    double branch_ns;

    struct uc_fit_result fit[UC_ENTRY_COUNT];
    struct uc_whole whole[UC_MAX_WHOLE]; /* ladders timed whole, by their dispatch */
    const struct uc_fit_strategy *whole_of[UC_MAX_WHOLE];
    size_t wholes, whole_chosen;
    struct uc_profile profile;
    bool has_compiler;
    char compiler[128]; /* its version line */

    unsigned other_cores;  /* that could be used beside the one that is timed */
    struct uc_ladder load; /* what all of them copying at once would choose; n 0: not timed */
    struct uc_cells proof; /* that judge */
    struct uc_regret regret[UC_ENTRY_COUNT];

    bool counted;          /* with hardware counters: the profile's entries tell why */
    char no_counters[256]; /* else the reason */

    struct uc_profile prior; /* --prior, or what lies in the output folder */
    bool has_prior;
    bool stood[UC_ENTRY_COUNT]; /* the prior's ladder stands */
    double prior_loss[UC_ENTRY_COUNT],
        new_loss[UC_ENTRY_COUNT]; /* where it does not, both on the new readings */
    bool kept;                    /* all of it stands: the files are left alone */
    bool kept_from_quick; /* it does not, but a quick run does not replace a longer one's profile */
    bool unwritten;       /* the files could not be written: the summary is all there is */
    char header_path[4096], json_path[4096], journal_path[4096];
    bool keeps;        /* sweeps leave journals: journal_path, then journal_path.1 and so on */
    unsigned journals; /* how many so far */
};

/* What a strategy costs with its code at the second placement, over the first: over the cells of
 * the sizes lo to hi. */
struct uc_code_ratio {
    size_t n;                 /* cells; 0: none */
    double middle, low, high; /* the median, and between which half of them lie */
};
struct uc_code_ratio uc_tune_code_ratio(const struct uc_cells *cells, enum uc_entry entry,
                                        const char *strategy, size_t lo, size_t hi);
/* A sentence a chosen strategy, on stdout, where the middle is further from 1 than the margin, and
 * three in four of 8 cells or more lie on that side of 1. */
void uc_tune_print_code(const struct uc_tune *t);

/* The gain of one form of the generated copy over libc, from the proof. */
struct uc_gain {
    size_t n;          /* cells compared; 0: none */
    double geomean;    /* ratio of costs, libc over generated */
    double worst;      /* smallest ratio */
    size_t worst_size; /* and where */
    size_t slower;     /* cells whose whole interval lies below 1 */
};
/* Sizes lo to hi (of a band: its upper end), one form, consumer, mix and order, in l1 or natural
 * state. The order of fixed sizes is UC_RANDOM. */
struct uc_gain uc_tune_gain(const struct uc_cells *proof, enum uc_entry entry, enum uc_form form,
                            enum uc_consumer consumer, enum uc_mix mix, enum uc_order order,
                            size_t lo, size_t hi);

/* A strategy of this run, by its index, and what it costs. */
struct uc_ranked {
    size_t who;
    double cost;
};
/* Sorts, least cost first. */
void uc_tune_rank(struct uc_ranked *v, size_t n);

/* Times the tries beside each other and libc. 0 or the exit code, having said why. */
int uc_tune_time_whole(struct uc_tune *t, const struct uc_subject *tries, size_t n, double seconds,
                       double done, struct uc_whole *w);
/* What cells of whole copies, libc's among them, say of one of these. */
struct uc_whole uc_tune_score_whole(const struct uc_weights *weights, const struct uc_cells *cells,
                                    const struct uc_subject *u);
/* The least cost at a cell's place among all but libc. */
double uc_tune_least_cost(const struct uc_cells *cells, const struct uc_cell *c);
/* The index of the one to take: the least cost, to which what it loses to libc in the worst mix is
 * added; within half a per cent the first. */
size_t uc_tune_best_whole(const struct uc_whole *w, size_t n);

/* All return 0 or the exit code, having said why. */
int uc_tune_self(struct uc_tune *t);
int uc_tune_read_prior(struct uc_tune *t);
int uc_tune_check(struct uc_tune *t);
int uc_tune_measure(struct uc_tune *t);
int uc_tune_choose(struct uc_tune *t);
int uc_tune_apply_prior(struct uc_tune *t);
int uc_tune_compose(struct uc_tune *t);
int uc_tune_limits(struct uc_tune *t);
int uc_tune_company(struct uc_tune *t);
int uc_tune_prove(struct uc_tune *t);
int uc_tune_explain(struct uc_tune *t);
int uc_tune_write(struct uc_tune *t);
void uc_tune_summary(const struct uc_tune *t);

/* libc under a second name, to be timed among others; and what the two differ by in nine of ten
 * cells in l1, the second name's being taken out. */
struct uc_subject uc_tune_again(void);
double uc_tune_take_again(struct uc_cells *c);

/* One size more in each wide gap of the grid in which a limit lies, into the cells that choose;
 * found: there was such a gap. 0 or the exit code. */
int uc_tune_refine(struct uc_tune *t, bool *found);

/* Judges each limit T of an entry on cells of T - 1, T and T + 1: keeps what they say for the
 * profile, and lowers a limit by one where the next strategy is surely faster at T by more than the
 * margin and at T - 1 is not. 0. */
int uc_tune_judge_limits(struct uc_tune *t, enum uc_entry e, const struct uc_cells *cells);

/* The limit above which a ladder streams; SIZE_MAX: never. */
size_t uc_tune_streams_above(const struct uc_tune *t, const struct uc_ladder *l);

/* A copy into lines that another core wrote last: the chosen strategy's cell and the best one's. */
struct uc_shared {
    size_t size;
    const struct uc_cell *chosen, *best;
};
/* The i-th size; 0: there is none, or it was not timed. */
size_t uc_tune_shared(const struct uc_tune *t, size_t i, struct uc_shared *out);

/* A number of n significant digits for the profile; null where it is not finite. */
json_t *uc_tune_real(double v, int n);
/* What each consumer alone would have chosen, into the profile. 0 or the exit code. */
int uc_tune_consumers(struct uc_tune *t);

/* The ladder with another dispatch in front; false where that is barred, where that leaves a gap or
 * changes nothing. */
bool uc_tune_with_dispatch(const struct uc_tune *t, const struct uc_ladder *l,
                           const struct uc_fit_strategy *f, struct uc_ladder *out);

/* Emits the profile as it stands and compiles it with this box's compiler; warns where it cannot. 0
 * or a negative errno. */
int uc_tune_build(const struct uc_tune *t, const char *name, enum uc_entry entry, bool native,
                  struct uc_built *b);
/* Seconds of the whole budget that are left; never below a tenth of what is shared. */
double uc_tune_left(const struct uc_tune *t);
/* Is there time for a few tries alone? */
bool uc_tune_short(const struct uc_tune *t);
/* Options of uc_fit for an entry of this run. */
struct uc_fit_options uc_tune_fit_options(const struct uc_tune *t, enum uc_entry entry);
/* Removes what an earlier run, or this one, left to resume from. */
void uc_tune_drop_journals(const struct uc_tune *t);
/* Options of uc_slopes_fit for this run. */
struct uc_slope_options uc_tune_slope_options(const struct uc_tune *t);
/* Runs a sweep and appends its cells; facts may be NULL. 0 or the exit code, having said why. */
int uc_tune_sweep(struct uc_tune *t, const struct uc_plan *plan, const struct uc_subject *subjects,
                  size_t n, struct uc_sweep_options *so, struct uc_cells *cells,
                  struct uc_sweep_facts *facts);
/* The exit code for a measurement that failed with rc, what was kept of the run said. */
int uc_tune_failed(const struct uc_tune *t, int rc);
/* Sweep options with this run's weights, caches and clock, and seconds. */
struct uc_sweep_options uc_tune_sweep_options(struct uc_tune *t, const char *what, double seconds,
                                              double done_before, double done_after);

#endif
