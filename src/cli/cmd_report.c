/* `ucopy-tune report PROFILE... -o FILE.html`: one page of curves and tables that needs nothing
 * else. Nothing is measured. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/msg.h"
#include "cli/command.h"
#include "cli/compare.h"
#include "cli/given.h"
#include "cli/options.h"
#include "cli/output.h"
#include "report/curves.h"
#include "report/page.h"

#define CHART_VARIABLE "UCOPY_CHART_JS"
#define CHART_MOST ((size_t)8 << 20)

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

/* ---- the library that draws ---- */

/* Where Debian's libjs-chart.js and node-chart.js put it. */
static const char *const chart_paths[] = {
    UC_CHART_JS,
    "/usr/share/javascript/chart.js/chart.min.js",
    "/usr/share/nodejs/chart.js/dist/chart.min.js",
};

static const char *find_chart(void)
{
    const char *given = getenv(CHART_VARIABLE);

    if (given && *given)
        return given;
    for (size_t i = 0; i < sizeof(chart_paths) / sizeof(chart_paths[0]); i++)
        if (*chart_paths[i] && !access(chart_paths[i], R_OK))
            return chart_paths[i];
    return NULL;
}

static int read_chart(char **text)
{
    const char *path = find_chart();

    if (!path) {
        uc_error(UC_CHART_NAME
                 " is not here, which draws the page: install Debian's libjs-chart.js, "
                 "or name its file chart.min.js in the variable " CHART_VARIABLE);
        return UC_EXIT_MACHINE;
    }
    int rc = uc_read_file(path, CHART_MOST, text, NULL);
    if (rc) {
        uc_error("%s: %s (" UC_CHART_NAME " draws the page: install Debian's libjs-chart.js)", path,
                 strerror(-rc));
        return UC_EXIT_MACHINE;
    }
    if (uc_page_chart_valid(*text))
        return 0;
    uc_error("%s: not " UC_CHART_NAME "; install Debian's libjs-chart.js, or name its file "
             "chart.min.js in the variable " CHART_VARIABLE,
             path);
    return UC_EXIT_MACHINE;
}

/* ---- the data ---- */

static json_t *curves_json(const struct uc_profile *p, enum uc_entry entry)
{
    struct uc_weights w;
    struct uc_fit_options o;
    struct uc_fit_strategy *list;
    struct uc_curves c = {0};
    int rc = uc_given_fit(p, entry, &w, &list, &o);

    if (!rc)
        rc = uc_curves_make(p, &o, &c);
    json_t *out = rc && rc != -E2BIG ? NULL : uc_curves_json(&c);
    uc_curves_free(&c);
    free(list);
    return out;
}

static json_t *profile_json(const struct uc_profile *p)
{
    char *text = uc_profile_to_json(p);
    json_t *out = text ? json_loads(text, 0, NULL) : NULL;

    free(text);
    return out;
}

/* The folder of a file is the user's own affair, and no part of the page. */
static json_t *box_json(const struct uc_compare *c, size_t i)
{
    const struct uc_profile *p = &c->p[i];
    const char *slash = strrchr(c->file[i], '/');
    char label[] = {(char)('A' + i), 0};
    struct uc_weights w;
    json_t *curves = json_object();
    int rc = !curves;

    for (int e = 0; e < UC_ENTRY_COUNT; e++)
        rc |= json_object_set_new(curves, uc_entry_name[e], curves_json(p, (enum uc_entry)e));
    if (rc) {
        json_decref(curves);
        return NULL;
    }
    json_t *file = json_string(slash ? slash + 1 : c->file[i]); /* NULL: its name is no UTF-8 */
    return json_pack("{s:s, s:o, s:b, s:b, s:o, s:o}", "label", label, "file",
                     file ? file : json_string("a profile"), "edited", (int)p->digest_differs,
                     "weights_known", (int)uc_given_weights(p, &w), "profile", profile_json(p),
                     "curves", curves);
}

/* Who differs from whom is what `compare` says, without the profiles, which are there in full. */
static json_t *compared_json(const struct uc_compare *c)
{
    json_t *all = uc_compare_json(c);
    json_t *out = all ? json_pack("{s:O, s:O}", "tables", json_object_get(all, "tables"), "absent",
                                  json_object_get(all, "absent"))
                      : NULL;
    json_decref(all);
    return out;
}

static json_t *data_json(const struct uc_compare *c)
{
    json_t *boxes = json_array();
    int rc = !boxes;

    for (size_t i = 0; i < c->n && !rc; i++)
        rc = json_array_append_new(boxes, box_json(c, i));
    if (rc) {
        json_decref(boxes);
        return NULL;
    }
    return json_pack("{s:s, s:o, s:o}", "tool", UC_TOOL, "boxes", boxes, "compare",
                     compared_json(c));
}

/* ---- the page ---- */

static void title_of(const struct uc_compare *c, char *title, size_t cap)
{
    char stem[UC_STEM];
    size_t used = 0;

    for (size_t i = 0; i < c->n && used < cap; i++)
        used += (size_t)snprintf(title + used, cap - used, "%s%s", i ? ", " : "",
                                 uc_profile_stem(&c->p[i], stem, sizeof(stem)));
    if (used < cap)
        snprintf(title + used, cap - used, ": how to copy n bytes");
}

static int page_text(const struct uc_compare *c, const char *chart, char **text, size_t *len)
{
    char title[UC_COMPARE_MOST * (UC_STEM + 2) + 32];
    json_t *data = data_json(c);
    FILE *out = data ? open_memstream(text, len) : NULL;
    int rc = out ? 0 : -ENOMEM;

    title_of(c, title, sizeof(title));
    if (!rc)
        rc = uc_page_write(title, data, chart, out);
    if (out && fclose(out))
        rc = -ENOMEM;
    json_decref(data);
    return rc;
}

static int write_page(const struct request *r, const char *chart)
{
    char *text = NULL;
    size_t len = 0;
    int rc = page_text(r->given, chart, &text, &len);

    if (rc)
        uc_error("no memory for the page");
    else if ((rc = uc_write_file(r->output, text, len)))
        uc_error("%s: cannot write: %s", r->output, strerror(-rc));
    free(text);
    return rc ? UC_EXIT_MACHINE : UC_EXIT_OK;
}

static int make(const struct request *r)
{
    char *chart = NULL;
    int rc = uc_path_writable(r->output);

    if (rc) {
        uc_error("%s: cannot write: %s", r->output, strerror(-rc));
        return UC_EXIT_MACHINE;
    }
    rc = uc_compare_read(r->given);
    if (!rc)
        rc = read_chart(&chart);
    if (!rc)
        rc = uc_compare_make(r->given);
    if (!rc)
        rc = write_page(r, chart);
    free(chart);
    return rc;
}

static int report(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"output", 'o', "FILE", 0, "write this file (needed)", 0},
        {0},
    };
    static const struct argp own = {
        .options = options,
        .parser = parse_own,
        .args_doc = "PROFILE...",
        .doc =
            "One page, FILE, of one profile or of several boxes side by side (JSON, or the "
            "headers beside it): which strategy where, by how much and how sure; curves of every "
            "strategy; what changes with consumer, mix, placement and load; how the boxes "
            "differ; identity and method. It holds all it needs and loads nothing. Chart.js 3 "
            "(Debian: libjs-chart.js) must be installed; its text goes into the page. Nothing is "
            "measured."
            "\v"
            "Example: ucopy-tune report profiles/amd-1a-02.json profiles/intel-06-cf.json -o "
            "boxes.html",
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
    rc = UC_EXIT_USAGE;
    if (!r.given->n)
        uc_usage("report needs a PROFILE");
    else if (!r.output)
        uc_usage("report needs -o FILE");
    else
        rc = make(&r);
    uc_compare_free(r.given);
    return rc;
}

const struct uc_command uc_command_report = {
    .name = "report",
    .summary = "a page of curves and tables, of one profile or several side by side",
    .run = report,
};
