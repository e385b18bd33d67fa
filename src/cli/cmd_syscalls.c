/* `ucopy-tune syscalls`: what the kernel's own copies cost here. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/syscalls.h"
#include "measure/sweep.h"
#include "syscalls/sys.h"

#define QUICK_SECONDS 10.

enum { KEY_ONLY = 0x1000, KEY_DIR, KEY_PROFILE, KEY_SAVE };

static const struct argp_option own_options[] = {
    {"only", KEY_ONLY, "NAME", 0, "run this experiment alone", 0},
    {"dir", KEY_DIR, "DIR", 0,
     "make the files in a fresh folder in DIR, removed at the end (default: $TMPDIR, else the "
     "current folder)",
     0},
    {"profile", KEY_PROFILE, "FILE", 0,
     "a profile of this CPU: the threshold measured for its nocache stands beside the kernel's", 0},
    {"save", KEY_SAVE, NULL, 0, "put the results into that profile, in place of those in it", 0},
    {0},
};

struct request {
    const struct uc_sys_experiment *only; /* NULL: all */
    const char *dir;
    const char *profile; /* NULL: none */
    bool save;
    int format;
    struct uc_sys_threshold nocache;
};

static int choose(struct request *q, const char *name)
{
    const char *known[16];
    int n = 0;

    for (; n < (int)uc_sys_experiment_count; n++)
        known[n] = uc_sys_experiments[n]->name;
    int i = uc_option_word("--only", name, known, n);
    if (i < 0)
        return EINVAL;
    q->only = uc_sys_experiments[i];
    return 0;
}

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
    struct request *q = state->input;

    switch (key) {
    case KEY_ONLY:
        return choose(q, arg);
    case KEY_DIR:
        if (!*arg)
            return uc_usage("--dir: the value is empty");
        q->dir = arg;
        return 0;
    case KEY_PROFILE:
        if (!*arg)
            return uc_usage("--profile: the value is empty");
        q->profile = arg;
        return 0;
    case KEY_SAVE:
        q->save = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static bool chosen(const struct request *q, const struct uc_sys_experiment *e)
{
    return !q->only || q->only == e;
}

/* What the seconds of each experiment are multiplied by. */
static double scale(const struct request *q, const struct uc_options *o)
{
    double sum = 0;

    for (size_t i = 0; i < uc_sys_experiment_count; i++)
        sum += chosen(q, uc_sys_experiments[i]) ? uc_sys_experiments[i]->seconds : 0;
    if (o->budget > 0)
        return o->budget / sum;
    return o->quick && sum > QUICK_SECONDS ? QUICK_SECONDS / sum : 1;
}

/* Another usable CPU, of another core where there is one. */
static int other_pu(const struct uc_session *s)
{
    cpu_set_t usable;
    int sibling = -1;

    uc_topology_usable(s->topology, &usable);
    for (int pu = 0; pu < CPU_SETSIZE; pu++) {
        if (pu == s->pu || !CPU_ISSET(pu, &usable))
            continue;
        if (!CPU_ISSET(pu, &s->siblings))
            return pu;
        sibling = pu;
    }
    return sibling;
}

static int folder_failed(const char *doing, const char *path, int rc)
{
    uc_error("cannot %s %s: %s", doing, path, strerror(-rc));
    return UC_EXIT_MACHINE;
}

/* In a folder of its own. 0, a negative errno of the experiment, or the exit code. */
static int run_in_folder(struct uc_sys_run *run, const char *parent, struct uc_syscalls_done *d)
{
    char *folder;
    int rc = uc_sys_folder_make(parent, &folder);

    if (rc)
        return folder_failed("make a folder in", parent, rc);
    run->dir = folder;
    rc = d->experiment->run(run, &d->result);
    int left = uc_sys_folder_remove(folder);
    if (left)
        left = folder_failed("remove", folder, left);
    free(folder);
    return rc ? rc : left;
}

static int failed(const struct uc_session *s, const struct uc_sys_experiment *e, int rc)
{
    if (rc == -EINTR && uc_interrupted)
        return uc_session_failed(s, rc);
    if (rc == -EXDEV || rc == -ENOMEM)
        return uc_session_failed(s, rc);
    uc_error("%s: %s: %s", e->name, uc_sys_failed_call(), strerror(-rc));
    return UC_EXIT_MACHINE;
}

static int run_one(const struct request *q, const struct uc_options *o, struct uc_session *s,
                   struct uc_syscalls_done *d)
{
    const char *tmpdir = getenv("TMPDIR");
    struct uc_sys_run run = {.seconds = d->experiment->seconds * scale(q, o),
                             .clock = &s->clock,
                             .caches = &s->caches,
                             .isa = s->isa,
                             .pu = s->pu,
                             .other_pu = other_pu(s),
                             .guest = s->cpu.hypervisor,
                             .rng = {o->seed},
                             .nocache = q->nocache,
                             .name = d->experiment->name};
    int rc = run_in_folder(&run, q->dir ? q->dir : tmpdir && *tmpdir ? tmpdir : ".", d);

    uc_progress_end();
    if (uc_sys_refused(rc)) {
        uc_sys_result_free(&d->result);
        rc = uc_sys_skip(&d->result, rc, NULL, "%s", d->experiment->name);
    }
    return rc < 0 ? failed(s, d->experiment, rc) : rc;
}

static bool nothing_measured(const struct uc_syscalls_done *done, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < done[i].result.rows; k++)
            if (done[i].result.row[k].n)
                return false;
    return true;
}

enum { TEXT, CSV, JSON };

static int print(const struct request *q, const struct uc_session *s,
                 const struct uc_syscalls_done *done, size_t n)
{
    if (q->format == JSON)
        return uc_print_json(uc_syscalls_json(s, done, n, true));
    if (q->format == CSV)
        uc_syscalls_print_csv(s, done, n);
    else
        uc_syscalls_print(s, done, n);
    return UC_EXIT_OK;
}

static int run_all(const struct request *q, const struct uc_options *o, struct uc_session *s)
{
    struct uc_syscalls_done *done = calloc(uc_sys_experiment_count, sizeof(*done));
    size_t n = 0;
    int rc = done ? 0 : uc_session_failed(s, -ENOMEM);

    for (size_t i = 0; i < uc_sys_experiment_count && !rc; i++) {
        if (!chosen(q, uc_sys_experiments[i]))
            continue;
        done[n].experiment = uc_sys_experiments[i];
        rc = run_one(q, o, s, &done[n++]);
    }
    if (!rc)
        rc = print(q, s, done, n);
    if (!rc && nothing_measured(done, n))
        rc = UC_EXIT_MACHINE;
    if (!rc && q->save)
        rc = uc_syscalls_save(q->profile, s, done, n);
    for (size_t i = 0; i < n; i++)
        uc_sys_result_free(&done[i].result);
    free(done);
    return rc;
}

static int check(struct request *q, const struct uc_options *o)
{
    static const char *const formats[] = {"text", "csv", "json"};

    q->format = o->format ? uc_option_word("--format", o->format, formats, 3) : TEXT;
    if (q->format < 0)
        return UC_EXIT_USAGE;
    if (q->save && !q->profile) {
        uc_usage("--save: needs --profile FILE, where the results go");
        return UC_EXIT_USAGE;
    }
    return q->profile ? uc_syscalls_profile(q->profile, q->save, &q->nocache) : UC_EXIT_OK;
}

static int syscalls(int argc, char **argv)
{
    static const struct argp own = {
        .options = own_options,
        .parser = parse_own,
        .doc =
            "Measure what system calls' own copies cost here, with real calls on real files, and "
            "beside them the same traffic replayed in user mode. It moves no threshold. --format "
            "text (default), csv (rows of samples, as stats reads them) or json."
            "\v"
            "Example: ucopy-tune syscalls --only small_writes --dir /var/tmp"};
    struct request q = {.only = NULL};
    struct uc_options o;
    struct uc_session s;
    int rc = uc_options_parse(&o, UC_OPT_RUN | UC_OPT_FORMAT, &own, &q, argc, argv);

    if (rc)
        return rc - 1;
    rc = check(&q, &o);
    if (rc)
        return rc;
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an errno and no end */
    rc = uc_session_open(&s, &o, 0);
    if (rc)
        return rc;
    rc = run_all(&q, &o, &s);
    uc_session_close(&s);
    return rc;
}

const struct uc_command uc_command_syscalls = {"syscalls", "what the kernel's own copies cost here",
                                               syscalls};
