/* `ucopy-tune emit PROFILE --format F`: a profile in another form. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "cli/command.h"
#include "cli/emit_prove.h"
#include "cli/given.h"
#include "cli/options.h"
#include "emit/emit.h"

struct request {
    const char *profile; /* path; NULL: not given */
    const char *output;  /* -o; NULL: stdout */
    bool prove;          /* --prove */
};

#define GLIBC_FORMAT "glibc-tunables"
enum { PROVE = 0x100 }; /* of options without a letter */

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
    struct request *r = state->input;

    switch (key) {
    case 'o':
        if (!*arg)
            return uc_usage("--output: the value is empty");
        r->output = arg;
        return 0;
    case PROVE:
        r->prove = true;
        return 0;
    case ARGP_KEY_ARG:
        if (r->profile)
            return uc_usage("one PROFILE at a time, given '%s' and '%s'", r->profile, arg);
        r->profile = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct uc_emitter *find_format(const char *name)
{
    const char *known[16];
    int n = 0;

    for (; uc_emitters[n].name; n++)
        known[n] = uc_emitters[n].name;
    int i = uc_option_word("--format", name, known, n);
    return i < 0 ? NULL : uc_emitters + i;
}

/* On the profile's own CPU the line for glibc is that for the library at hand. */
static int emit_format(const struct uc_profile *p, const struct uc_emitter *e, FILE *out, char *why,
                       size_t why_cap)
{
    struct uc_glibc here;
    char ignored[128];

    if (!strcmp(e->name, GLIBC_FORMAT) && uc_prove_here(p, &here, ignored, sizeof(ignored)))
        return uc_emit_glibc_for(p, &here, out, NULL, why, why_cap);
    return e->emit(p, out, why, why_cap);
}

static int emit_text(const struct uc_profile *p, const struct uc_emitter *e, const char *path,
                     char **text, size_t *len)
{
    char why[256] = "";
    FILE *out = open_memstream(text, len);
    int rc = out ? emit_format(p, e, out, why, sizeof(why)) : -ENOMEM;

    if (out && fclose(out) && !rc)
        rc = -ENOMEM;
    if (rc)
        uc_error("%s: not as %s: %s", path, e->name, *why ? why : strerror(-rc));
    return rc == -ENOTSUP ? UC_EXIT_NO : rc ? UC_EXIT_MACHINE : UC_EXIT_OK;
}

static int can_prove(const struct request *r, const struct uc_profile *p)
{
    struct uc_glibc here;
    char why[128];

    if (uc_prove_here(p, &here, why, sizeof(why)))
        return UC_EXIT_OK;
    uc_error("%s: cannot be proved here: %s", r->profile, why);
    return UC_EXIT_MACHINE;
}

/* The text with the proof of its last line behind it; without such a line there is nothing to
 * prove, and the text says so. */
static int prove(char **text, size_t *len)
{
    char *line = strstr(*text, "\nGLIBC_TUNABLES="), *proof = NULL;
    size_t n;
    FILE *out = line ? open_memstream(&proof, &n) : NULL;

    if (!line)
        return UC_EXIT_OK;
    if (!out)
        return UC_EXIT_MACHINE;
    fputs(*text, out);
    line[strlen(line) - 1] = 0; /* its newline */
    int rc = uc_prove_line(line + 1, out);
    if (fclose(out)) {
        uc_error("--prove: %s", strerror(ENOMEM));
        rc = UC_EXIT_MACHINE;
    }
    free(*text);
    *text = proof;
    *len = n;
    return rc;
}

static int emit_profile(const struct request *r, const struct uc_emitter *e)
{
    struct uc_profile p;
    char *text = NULL;
    size_t len = 0;
    int rc = uc_given_profile(r->profile, &p);

    if (rc)
        return rc;
    rc = r->prove ? can_prove(r, &p) : UC_EXIT_OK;
    if (!rc)
        rc = emit_text(&p, e, r->profile, &text, &len);
    int proved = !rc && r->prove ? prove(&text, &len) : UC_EXIT_OK;
    if (!rc && proved <= UC_EXIT_NO) /* what was not proved is shown too */
        rc = uc_write_output(r->output, text, len);
    rc = rc ? rc : proved;
    free(text);
    uc_profile_free(&p);
    return rc;
}

static int emit(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"output", 'o', "FILE", 0, "write this file; default, and -: standard output", 0},
        {"prove", PROVE, NULL, 0,
         "with --format glibc-tunables: run bench with and without the line, by turns, and show the "
         "ratios (15 seconds); exit code 1 where it gains nothing, or loses",
         0},
        {0},
    };
    static const struct argp own = {
        .options = options,
        .parser = parse_own,
        .args_doc = "PROFILE",
        .doc =
            "A profile (its JSON, or the header beside it) in another form: c, the header "
            "(default); asm, "
            "its limits for a .S file; json, the profile itself; glibc-tunables, limits of glibc's memcpy; libmem, those of "
            "AOCL-LibMem's; gcc, its inline copies; kernel-note, what a "
            "kernel profile says about the kernel's copies. Exit code 1 where the form "
            "cannot express the profile, or a strategy has changed since it was measured."
            "\v"
            "Example: ucopy-tune emit profiles/amd-1a-02.json --format c -o amd-1a-02.h",
    };
    struct request r = {NULL, NULL, false};
    const struct uc_emitter *e;
    struct uc_options o;
    int rc = uc_options_parse(&o, UC_OPT_FORMAT, &own, &r, argc, argv);

    if (rc)
        return rc - 1;
    if (!r.profile) {
        uc_usage("emit needs a PROFILE");
        return UC_EXIT_USAGE;
    }
    e = find_format(o.format ? o.format : "c");
    if (e && r.prove && strcmp(e->name, GLIBC_FORMAT) != 0) {
        uc_usage("--prove is of --format " GLIBC_FORMAT);
        return UC_EXIT_USAGE;
    }
    return e ? emit_profile(&r, e) : UC_EXIT_USAGE;
}

const struct uc_command uc_command_emit = {
    .name = "emit",
    .summary = "a profile as C header, assembler defines, JSON, or limits for others' copies",
    .run = emit,
};
