/* `ucopy-tune verify PROFILE`: does it still hold on this box? Its thresholds are timed again, and
 * an exit code tells. */
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "cli/given.h"
#include "cli/verify.h"

/* The chase that tells the caches, as the tuning run does it. */
#define CHASE_BYTES ((size_t)256 << 20)

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
    struct uc_verify_run *v = state->input;

    if (key != ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    if (v->path)
        return uc_usage("one PROFILE at a time, given '%s' and '%s'", v->path, arg);
    v->path = arg;
    return 0;
}

/* ---- is it this box's at all? ---- */

/* Vendor, family and model, without the kind of core. */
static size_t model_length(const char *key)
{
    size_t n = strlen(key);

    return n > 2 && key[n - 2] == '-' && (key[n - 1] == 'p' || key[n - 1] == 'e') ? n - 2 : n;
}

static bool same_model(const char *a, const char *b)
{
    return model_length(a) == model_length(b) && !strncmp(a, b, model_length(a));
}

static int foreign(const struct uc_verify_run *v, const struct uc_cpu *here)
{
    uc_error("%s is of %s%s%s, and this CPU is %s%s%s: nothing was timed", v->path, v->p.cpu.key,
             *v->p.cpu.name ? ", " : "", v->p.cpu.name, here->key, *here->name ? ", " : "",
             here->name);
    return UC_EXIT_MACHINE;
}

/* Before anything is waited for or pinned; which kind of core it is shows when pinned. */
static int check_model(const struct uc_verify_run *v)
{
    struct uc_cpu here;
    int rc = uc_cpu_identify(&here);

    if (!v->p.has_cpu) {
        uc_error("%s names no CPU: there is nothing to hold this one against", v->path);
        return UC_EXIT_USAGE;
    }
    if (rc) {
        uc_error("cannot identify this CPU: %s", strerror(-rc));
        return UC_EXIT_MACHINE;
    }
    return same_model(v->p.cpu.key, here.key) ? 0 : foreign(v, &here);
}

static int known_here(const char *name, void *unknown)
{
    if (ucopy_find(name))
        return 0;
    *(const char **)unknown = name;
    return 1;
}

static int check_strategies(const struct uc_verify_run *v)
{
    const char *unknown = NULL, *stale = uc_profile_stale(&v->p);

    if (uc_profile_each_strategy(&v->p, known_here, &unknown)) {
        uc_error("%s: this program knows no strategy '%s' and cannot time it", v->path, unknown);
        return UC_EXIT_USAGE;
    }
    if (stale)
        uc_warn("%s: %s has changed since it was measured; what is timed is this program's",
                v->path, stale);
    return 0;
}

static int check_here(const struct uc_verify_run *v)
{
    const struct uc_session *s = &v->session;
    uint32_t lacking = uc_given_isa(&v->p) & ~s->isa;
    char names[128];

    if (strcmp(v->p.cpu.key, s->cpu.key) != 0)
        return foreign(v, &s->cpu);
    if (!lacking)
        return 0;
    uc_error("%s needs what is missing or disabled on this CPU (%s): %s; nothing was timed",
             v->path, s->cpu.key, ucopy_isa_text(lacking, names, sizeof(names)));
    return UC_EXIT_MACHINE;
}

/* ---- the answer ---- */

static int answer(const struct uc_verify_run *v)
{
    bool drifted =
        uc_verify_run_count(v, true, UC_DRIFTED) + uc_verify_run_count(v, false, UC_DRIFTED);
    bool unsure =
        uc_verify_run_count(v, true, UC_UNSURE) + uc_verify_run_count(v, false, UC_UNSURE);

    return drifted || v->failed || (unsure && v->o->strict) ? UC_EXIT_NO : UC_EXIT_OK;
}

/* ---- the command ---- */

static int run(struct uc_verify_run *v, int format)
{
    int rc = check_model(v);

    if (!rc)
        rc = check_strategies(v);
    if (!rc && !v->p.hashes)
        uc_note("%s alone tells no intervals; its profile beside it would", v->path);
    if (!rc && !uc_given_weights(&v->p, &v->weights))
        uc_warn("%s: chosen by weights that this program does not know; the default ones judge",
                v->path);
    if (!rc)
        rc = uc_session_open(&v->session, v->o, CHASE_BYTES);
    if (rc)
        return rc;
    v->known = uc_choice_strategies(v->p.environment, &v->known_count);
    rc = v->known ? check_here(v) : UC_EXIT_MACHINE;
    if (!rc)
        rc = uc_verify_run_time(v);
    if (!rc)
        rc = uc_verify_run_print(v, format);
    if (!rc)
        rc = answer(v);
    uc_session_close(&v->session);
    free(v->known);
    return rc;
}

static int verify(int argc, char **argv)
{
    static const char *const formats[] = {"text", "json", "csv"};
    static const struct argp own = {
        .parser = parse_own,
        .args_doc = "PROFILE",
        .doc = "Does a profile still hold on this box? PROFILE is a generated header or its JSON. "
               "Around each limit T the strategies of both sides are timed again at T - 1, T and "
               "T + 1, and in each range the chosen one against its runner-up; each limit and "
               "range holds, has drifted (then what would be right now is told) or stays unsure. "
               "--format text (default), json or csv. Exit codes: 0 all of it holds or is unsure; "
               "1 something drifted, or is unsure under --strict; 3 this CPU is another, and "
               "nothing was timed."
               "\v"
               "Example: ucopy-tune verify profiles/amd-1a-02.h",
    };
    struct uc_options o;
    struct uc_verify_run *v = calloc(1, sizeof(*v));

    if (!v)
        return UC_EXIT_MACHINE;
    v->o = &o;
    int rc = uc_options_parse(&o, UC_OPT_RUN | UC_OPT_FORMAT | UC_OPT_STRICT, &own, v, argc, argv);
    int format = rc || !o.format ? 0 : uc_option_word("--format", o.format, formats, 3);

    if (rc) {
        free(v);
        return rc - 1;
    }
    if (!v->path)
        uc_usage("verify needs a PROFILE");
    rc = v->path && format >= 0 ? uc_given_read(v->path, &v->p) : UC_EXIT_USAGE;
    if (!rc)
        rc = run(v, format);
    uc_profile_free(&v->p);
    free(v);
    return rc;
}

const struct uc_command uc_command_verify = {
    .name = "verify",
    .summary = "does a profile still hold on this box?",
    .run = verify,
};
