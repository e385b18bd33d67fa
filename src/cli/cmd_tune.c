/* `ucopy-tune [tune]`: detect, check, measure, fit, compose, prove, write, summarise. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "base/msg.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "cli/profile_table.h"
#include "cli/tune.h"
#include "measure/journal.h"

#define DEFAULT_BUDGET 60.0
#define QUICK_BUDGET 10.0
/* Below this there is no time to compile and try many whole copies. */
#define SHORT_BUDGET 30.0
#define MEMORY_TOP (96u << 20) /* src and dst of this size and the rest stay under 600 MB */

/* The larger of 64 MiB and twice the measured L3, as memory allows; 8 MiB where it must be quick.
 */
static size_t choose_top(const struct uc_tune *t)
{
    size_t l3 = t->session.caches.l3.by[UC_BY_CHASE], top = 64u << 20;
    struct rlimit lim;

    if (t->o->quick)
        return 8u << 20;
    if (2 * l3 > top)
        top = 2 * l3 < MEMORY_TOP ? 2 * l3 : MEMORY_TOP;
    if (!getrlimit(RLIMIT_AS, &lim) && lim.rlim_cur != RLIM_INFINITY)
        while (top > (1u << 20) && top > lim.rlim_cur / 6)
            top /= 2;
    return top;
}

double uc_tune_left(const struct uc_tune *t)
{
    double left = t->session.begun + t->whole_budget - uc_seconds();

    return fmax(left, 0.1 * t->budget);
}

bool uc_tune_short(const struct uc_tune *t)
{
    return t->o->quick || t->whole_budget < SHORT_BUDGET;
}

/* A variant's name: the consumer, or the distribution's file stem in small letters and digits. */
static int name_variant(struct uc_tune *t)
{
    char *v = t->profile.variant;
    size_t n = 0;

    if (t->o->consumer >= 0)
        snprintf(v, sizeof(t->profile.variant), "%s", uc_consumer_name[t->o->consumer]);
    if (!t->o->sizes_from)
        return 0;
    n = strlen(v);
    for (const char *p = t->named.name; *p && n + 1 < sizeof(t->profile.variant); p++)
        if (isalnum((unsigned char)*p))
            v[n++] = (char)tolower((unsigned char)*p);
    v[n] = 0;
    if (uc_variant_valid(v))
        return 0;
    uc_error("--sizes-from %s: the file's name makes no name for a variant ('%s'): begin it with a "
             "letter, and let it "
             "not be a word that headers use themselves",
             t->o->sizes_from, v);
    return UC_EXIT_USAGE;
}

static int set_weights(struct uc_tune *t)
{
    int rc = uc_choice_weights(t->o, &t->weights, &t->named);

    t->whole_budget = t->o->budget > 0 ? t->o->budget : t->o->quick ? QUICK_BUDGET : DEFAULT_BUDGET;
    if (rc)
        return rc;
    t->budget = 0.8 * t->whole_budget; /* until it is known what is left */
    rc = name_variant(t);
    if (t->o->sizes_from) {
        snprintf(t->weights_name, sizeof(t->weights_name), "sizes:%s", t->profile.variant);
        t->weights.name = t->weights_name;
    }
    return rc;
}

/* What is gone on with was planned for the caches, and is told by the clock, as they were measured
 * then; in a guest they measure differently from minute to minute. A journal that cannot be used is
 * told of later. */
static void take_facts(struct uc_tune *t)
{
    struct uc_journal_facts f;

    if (!t->o->resume) {
        uc_tune_drop_journals(t); /* readings of a run that is not gone on with */
        return;
    }
    if (uc_journal_facts(t->journal_path, &f))
        return;
    t->session.caches = f.caches;
    t->session.clock.tsc_hz = f.tsc_hz;
    t->branch_ns = f.branch_ns;
}

static void set_paths(struct uc_tune *t)
{
    char stem[UC_STEM];
    t->profile.environment = t->o->environment;
    t->profile.has_cpu = true;
    t->profile.cpu = t->session.cpu;
    uc_profile_stem(&t->profile, stem, sizeof(stem));
    snprintf(t->header_path, sizeof(t->header_path), "%s/%s.h", t->o->output_dir, stem);
    snprintf(t->json_path, sizeof(t->json_path), "%s/%s.json", t->o->output_dir, stem);
    snprintf(t->journal_path, sizeof(t->journal_path), "%s/.%s.journal", t->o->output_dir, stem);
}

static int run(struct uc_tune *t)
{
    static const struct {
        const char *name;
        int (*run)(struct uc_tune *);
    } stage[] = {{"prior", uc_tune_read_prior},    {"self-test", uc_tune_self},
                 {"check", uc_tune_check},         {"measure", uc_tune_measure},
                 {"choose", uc_tune_choose},       {"apply prior", uc_tune_apply_prior},
                 {"compose", uc_tune_compose},     {"limits", uc_tune_limits},
                 {"other cores", uc_tune_company}, {"prove", uc_tune_prove},
                 {"explain", uc_tune_explain},     {"write", uc_tune_write}};
    int rc = 0;

    for (size_t i = 0; i < sizeof(stage) / sizeof(stage[0]) && !rc; i++) {
        double begun = uc_seconds();
        rc = stage[i].run(t);
        uc_detail("%s: %.1f s", stage[i].name, uc_seconds() - begun);
    }
    uc_progress_end();
    if (rc && !t->unwritten)
        return rc;
    uc_tune_summary(t);
    if (!rc && t->o->profile_dir)
        rc = uc_profile_table_write(t->o->profile_dir);
    if (rc)
        return rc;
    if (t->failed || (t->o->strict && t->grade.letter > 'A'))
        return UC_EXIT_NO;
    return UC_EXIT_OK;
}

static int tune(int argc, char **argv)
{
    struct uc_options o;
    struct argp own = {
        .doc = "Tune this machine: measure every copy strategy and write the thresholds as a C "
               "header with its evidence.\vExample: ucopy-tune -o profiles"};
    int rc =
        uc_options_parse(&o, UC_OPT_RUN | UC_OPT_OUTPUT | UC_OPT_CHOICE, &own, NULL, argc, argv);
    struct uc_tune *t = rc ? NULL : calloc(1, sizeof(*t));

    if (rc)
        return rc - 1;
    if (!t) {
        uc_error("no memory");
        return UC_EXIT_MACHINE;
    }
    t->o = &o;
    uc_session_signals(); /* the folder is tried by making a file in it */
    if (o.profile_dir)
        o.output_dir = o.profile_dir;
    rc = uc_dir_writable(o.output_dir);
    if (rc) {
        uc_error("cannot write into %s: %s", o.output_dir, strerror(-rc));
        free(t);
        return UC_EXIT_MACHINE;
    }
    rc = set_weights(t);
    if (!rc)
        rc = uc_session_open(&t->session, &o, 256u << 20);
    if (!rc) {
        set_paths(t);
        take_facts(t);
        t->profile.has_caches = true;
        t->profile.caches = t->session.caches;
        t->top = choose_top(t);
        rc = run(t);
    }
    uc_session_close(&t->session);
    uc_plan_free(&t->plan);
    uc_cells_free(&t->cells);
    uc_cells_free(&t->proof);
    uc_sizes_free(&t->named);
    uc_profile_free(&t->profile);
    uc_profile_free(&t->prior);
    free(t);
    return rc;
}

const struct uc_command uc_command_tune = {
    "tune", "tune this machine and write its header and profile (the default command)", tune};
