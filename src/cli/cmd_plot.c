/* `ucopy-tune plot PROFILE... -o FILE.svg|FILE.png`: the curves that decided, drawn by gnuplot.
 * Nothing is measured. */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/msg.h"
#include "cli/command.h"
#include "cli/compare.h"
#include "cli/given.h"
#include "cli/options.h"
#include "report/plot_script.h"

extern char **environ;

#define COLUMNS 2 /* panels in a row where one profile has both entries */
#define PICTURE_MOST ((size_t)256 << 20)

struct request {
    struct uc_compare *given;
    const char *output;
};

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
    struct request *r = state->input;

    switch (key) {
    case 'o':
        if (!*arg)
            return uc_usage("--output: the value is empty");
        r->output = arg;
        return 0;
    case ARGP_KEY_ARG:
        return uc_compare_add(r->given, arg);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- gnuplot ---- */

/* Its exit status, or a negative errno. -d: no settings of the user's. */
static int run_gnuplot(FILE *script, FILE *picture, FILE *log)
{
    static char *const argv[] = {"gnuplot", "-d", "-", NULL};
    posix_spawn_file_actions_t fa;
    pid_t pid;
    int status;

    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_adddup2(&fa, fileno(script), 0);
    posix_spawn_file_actions_adddup2(&fa, fileno(picture), 1);
    posix_spawn_file_actions_adddup2(&fa, fileno(log), 2);
    int rc = posix_spawnp(&pid, argv[0], &fa, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&fa);
    if (rc)
        return -rc;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* All of a file from its beginning. */
static int take(FILE *f, char **text, size_t *len)
{
    if (fseek(f, 0, SEEK_END))
        return -errno;
    long n = ftell(f);
    if (n < 0 || (size_t)n > PICTURE_MOST)
        return n < 0 ? -errno : -EFBIG;
    rewind(f);
    *text = malloc((size_t)n + 1);
    if (!*text)
        return -ENOMEM;
    *len = fread(*text, 1, (size_t)n, f);
    (*text)[*len] = 0;
    return *len == (size_t)n ? 0 : -EIO;
}

/* What gnuplot said of an error: the last line of its log that has letters. */
static void say_failed(int rc, FILE *log)
{
    char *text = NULL, *line = "no reason given";
    size_t len = 0;

    if (rc == -ENOENT || rc == 127) {
        uc_error("gnuplot is not here, which draws the picture: install Debian's gnuplot-nox");
        return;
    }
    if (rc < 0 || take(log, &text, &len))
        line = strerror(rc < 0 ? -rc : EIO);
    for (char *at = text, *one; at && (one = strsep(&at, "\n"));)
        if (strspn(one, " \t^") < strlen(one))
            line = one;
    uc_error("gnuplot cannot draw this: %s", line + strspn(line, " \t"));
    free(text);
}

static int draw(const char *script, char **picture, size_t *len)
{
    FILE *in = tmpfile(), *out = tmpfile(), *log = tmpfile();
    int rc = in && out && log ? 0 : -errno;

    if (!rc && (fputs(script, in) < 0 || fflush(in)))
        rc = -errno;
    if (rc) {
        uc_error("no temporary file for gnuplot: %s", strerror(-rc));
    } else {
        rewind(in);
        rc = run_gnuplot(in, out, log);
        if (!rc)
            rc = take(out, picture, len);
        if (!rc && !*len)
            rc = 1;
        if (rc)
            say_failed(rc, log);
    }
    for (int i = 0; i < 3; i++) {
        FILE *f = (FILE *[]){in, out, log}[i];
        if (f)
            fclose(f);
    }
    return rc ? UC_EXIT_MACHINE : UC_EXIT_OK;
}

/* ---- the panels ---- */

struct panels {
    struct uc_plot_panel v[UC_PLOT_PANELS];
    struct uc_curves curves[UC_PLOT_PANELS];
    char title[UC_PLOT_PANELS][UC_STEM + 32];
    size_t n;
};

static const char *weights_of(const struct uc_profile *p)
{
    struct uc_weights ignored;
    const char *name = json_string_value(json_object_get(p->weights, "name"));

    return uc_given_weights(p, &ignored) && name ? name : "default";
}

static int add_panel(struct panels *all, const struct uc_compare *c, size_t i, enum uc_entry entry)
{
    const struct uc_profile *p = &c->p[i];
    struct uc_weights w;
    struct uc_fit_options o;
    struct uc_fit_strategy *list;
    char stem[UC_STEM];

    if (!p->entry[entry].present)
        return 0;
    int rc = uc_given_fit(p, entry, &w, &list, &o);
    if (!rc)
        rc = uc_curves_make(p, &o, &all->curves[all->n]);
    free(list);
    snprintf(all->title[all->n], sizeof(all->title[0]), "%s%.2s%s, %s",
             c->n > 1 ? (char[]){(char)('A' + i), 0} : "", c->n > 1 ? ": " : "",
             uc_profile_stem(p, stem, sizeof(stem)), uc_entry_name[entry]);
    all->v[all->n] = (struct uc_plot_panel){all->title[all->n], weights_of(p),
                                            &p->entry[entry].ladder, &all->curves[all->n]};
    all->n++;
    return rc == -E2BIG ? 0 : rc;
}

/* Entries in rows, boxes side by side; of one box its entries side by side. */
static int make_panels(const struct uc_compare *c, struct panels *all)
{
    int rc = 0;

    for (int e = 0; e < UC_ENTRY_COUNT; e++)
        for (size_t i = 0; i < c->n && !rc; i++)
            rc = add_panel(all, c, i, (enum uc_entry)e);
    return rc;
}

static char *script_of(const struct panels *all, size_t boxes, bool svg)
{
    char *text = NULL;
    size_t len, columns = boxes > 1 ? boxes : COLUMNS;
    FILE *out = open_memstream(&text, &len);

    if (!out)
        return NULL;
    uc_plot_script(all->v, all->n, all->n < columns ? all->n : columns, svg, out);
    if (!fclose(out))
        return text;
    free(text);
    return NULL;
}

static int draw_panels(const struct request *r, const struct panels *all, bool svg)
{
    char *picture = NULL, *script = script_of(all, r->given->n, svg);
    size_t len = 0;
    int rc = script ? draw(script, &picture, &len) : UC_EXIT_MACHINE;

    if (!script)
        uc_error("no memory for the picture");
    if (!rc && (rc = uc_write_file(r->output, picture, len))) {
        uc_error("%s: cannot write: %s", r->output, strerror(-rc));
        rc = UC_EXIT_MACHINE;
    }
    free(script);
    free(picture);
    return rc;
}

static int make(const struct request *r, bool svg)
{
    struct panels *all = calloc(1, sizeof(*all));
    int rc = uc_path_writable(r->output);

    if (rc)
        uc_error("%s: cannot write: %s", r->output, strerror(-rc));
    rc = rc || !all ? UC_EXIT_MACHINE : uc_compare_read(r->given);
    if (!rc && make_panels(r->given, all)) {
        uc_error("no memory for the curves");
        rc = UC_EXIT_MACHINE;
    }
    if (!rc && !all->n) {
        uc_error("%s: no entry to draw", r->given->file[0]);
        rc = UC_EXIT_USAGE;
    }
    if (!rc)
        rc = draw_panels(r, all, svg);
    for (size_t i = 0; all && i < all->n; i++)
        uc_curves_free(&all->curves[i]);
    free(all);
    return rc;
}

static bool ends(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);
    return n >= k && !strcmp(text + n - k, end);
}

static int checked(const struct request *r)
{
    if (!r->given->n)
        return uc_usage("plot needs a PROFILE");
    if (!r->output)
        return uc_usage("plot needs -o FILE.svg or FILE.png");
    if (!ends(r->output, ".svg") && !ends(r->output, ".png"))
        return uc_usage("--output %s: the name must end in .svg or .png", r->output);
    return 0;
}

static int plot(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"output", 'o', "FILE", 0, "write this file (needed): FILE.svg or FILE.png", 0},
        {0},
    };
    static const struct argp own = {
        .options = options,
        .parser = parse_own,
        .args_doc = "PROFILE...",
        .doc =
            "A picture of one profile or of several side by side (JSON, or the headers beside "
            "it): by size what the chosen strategies, the next best and the C library cost under "
            "the profile's weights, with their intervals, and the chosen ranges under them. "
            "gnuplot (Debian: gnuplot-nox) must be installed. Nothing is measured."
            "\v"
            "Example: ucopy-tune plot profiles/amd-1a-02.json profiles/intel-06-cf.json -o "
            "boxes.svg",
    };
    struct request r = {calloc(1, sizeof(*r.given)), NULL};
    struct uc_options o;

    if (!r.given)
        return UC_EXIT_MACHINE;
    int rc = uc_options_parse(&o, 0, &own, &r, argc, argv);
    if (rc) {
        free(r.given);
        return rc - 1;
    }
    rc = checked(&r) ? UC_EXIT_USAGE : make(&r, ends(r.output, ".svg"));
    uc_compare_free(r.given);
    return rc;
}

const struct uc_command uc_command_plot = {
    .name = "plot",
    .summary = "a picture of the curves that decided, SVG or PNG (needs gnuplot)",
    .run = plot,
};
