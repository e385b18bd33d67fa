/* `ucopy-tune fit CELLS`: the decision alone, from a table. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "base/units.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/slopes.h"
#include "emit/emit.h"
#include "profile/profile.h"

struct request {
    const char *cells;  /* path; NULL: not given */
    size_t l1d, l2, l3; /* bytes; 0: what a profile says, or unknown */
    double branch;      /* in the table's unit; 0: what a profile says, or unknown */
    int entry;          /* -1: all that the table has */
    int threads;        /* cores that copied at once; 0: one */
};

struct job {
    struct uc_options o;
    struct uc_weights weights;
    struct uc_sizes sizes;
    struct uc_fit_strategy *strategies;
    size_t strategy_count;
    struct uc_fit_options fit;
    struct uc_slope_options slope;
    struct uc_fit_result result[UC_ENTRY_COUNT];
    struct uc_profile profile; /* holds the cells */
};

/* Options. */

enum { KEY_L1D = 0x2000, KEY_L2, KEY_L3, KEY_BRANCH, KEY_ENTRY, KEY_THREADS };

static int cache_size(const char *option, const char *text, size_t *bytes)
{
    int rc = uc_parse_size(text, bytes);

    if (rc || !*bytes)
        return uc_usage("%s: '%s' is not a size in bytes (digits, then k, M or G)", option, text);
    return 0;
}

static int branch_cost(const char *text, double *cost)
{
    char *end;

    *cost = strtod(text, &end);
    if (!isdigit((unsigned char)text[0]) || *end || !(*cost > 0) || *cost > 1e6)
        return uc_usage("--branch-cost: '%s' is not a number above 0", text);
    return 0;
}

static int threads(const char *text, int *threads)
{
    long n;

    if (uc_parse_long(text, 1, 65536, &n))
        return uc_usage("--threads: '%s' is not a whole number from 1 to 65536", text);
    *threads = (int)n;
    return 0;
}

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
    struct request *r = state->input;

    switch (key) {
    case KEY_L1D:
        return cache_size("--l1d", arg, &r->l1d);
    case KEY_L2:
        return cache_size("--l2", arg, &r->l2);
    case KEY_L3:
        return cache_size("--l3", arg, &r->l3);
    case KEY_BRANCH:
        return branch_cost(arg, &r->branch);
    case KEY_ENTRY:
        r->entry = uc_option_word("--entry", arg, uc_entry_name, UC_ENTRY_COUNT);
        return r->entry < 0 ? EINVAL : 0;
    case KEY_THREADS:
        return threads(arg, &r->threads);
    case ARGP_KEY_ARG:
        if (r->cells)
            return uc_usage("one table at a time, given '%s' and '%s'", r->cells, arg);
        r->cells = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Reading. */

static bool ends_with(const char *s, const char *tail)
{
    size_t n = strlen(s), m = strlen(tail);
    return n >= m && !strcmp(s + n - m, tail);
}

static int read_profile(struct job *j, const char *path)
{
    char why[512] = "";
    int rc = uc_profile_read(path, &j->profile, why, sizeof(why));

    if (!rc)
        return 0;
    uc_error("%s: %s", path, *why ? why : strerror(-rc));
    return rc == -ENOMEM ? UC_EXIT_MACHINE : UC_EXIT_USAGE;
}

static int read_csv(struct job *j, const char *path)
{
    char why[256];
    unsigned line;
    int rc = uc_cells_read_csv(path, &j->profile.cells, &line, why, sizeof(why));

    if (!rc)
        return 0;
    if (rc == -EINVAL && line)
        uc_error("%s:%u: %s", path, line, why);
    else
        uc_error("%s: %s", path, rc == -EINVAL ? why : strerror(-rc));
    return rc == -ENOMEM ? UC_EXIT_MACHINE : UC_EXIT_USAGE;
}

/* The misprediction that a profile measured, in ns like its cells. */
static double branch_of(const struct uc_profile *p)
{
    double v = p->method ? json_number_value(json_object_get(p->method, "branch_ns")) : 0;
    return p->cells.unit == UC_NS && isfinite(v) && v > 0 ? v : 0;
}

/* A profile gives its cells and what a table cannot hold; the rest of it is decided anew. */
static int read_cells(struct job *j, struct request *r)
{
    bool profile = ends_with(r->cells, ".json") || ends_with(r->cells, ".h");
    int rc = profile ? read_profile(j, r->cells) : read_csv(j, r->cells);

    if (rc || !profile)
        return rc;
    if (!j->profile.cells.n) {
        uc_error("%s: a profile without cells", r->cells);
        return UC_EXIT_USAGE;
    }
    struct uc_cells cells = j->profile.cells;
    r->l1d = r->l1d ? r->l1d : j->profile.caches.l1d.bytes;
    r->l2 = r->l2 ? r->l2 : j->profile.caches.l2.bytes;
    r->l3 = r->l3 ? r->l3 : j->profile.caches.l3.bytes;
    r->branch = r->branch > 0 ? r->branch : branch_of(&j->profile);
    memset(&j->profile.cells, 0, sizeof(cells));
    uc_profile_free(&j->profile);
    memset(&j->profile, 0, sizeof(j->profile));
    j->profile.cells = cells;
    return 0;
}

/* Who the CPU is. */

static const struct {
    const char *key, *vendor;
} vendors[] = {
    {"intel", "GenuineIntel"},   {"amd", "AuthenticAMD"},     {"hygon", "HygonGenuine"},
    {"centaur", "CentaurHauls"}, {"zhaoxin", "  Shanghai  "},
};

static int cpu_of_key(struct uc_cpu *c, const char *key)
{
    char vendor[16], kind[4] = "";
    int end = 0, tail = 0;

    if (sscanf(key, "%15[a-z]-%x-%x%n-%3[a-z]%n", vendor, &c->family, &c->model, &end, kind,
               &tail) < 3 ||
        key[tail ? tail : end])
        return -EINVAL;
    for (size_t i = 0; i < sizeof(vendors) / sizeof(vendors[0]); i++)
        if (!strcmp(vendors[i].key, vendor))
            snprintf(c->vendor, sizeof(c->vendor), "%s", vendors[i].vendor);
    snprintf(c->key, sizeof(c->key), "%s", key);
    snprintf(c->core_kind, sizeof(c->core_kind), "%s", kind);
    return c->vendor[0] ? 0 : -EINVAL;
}

static int name_by_key(struct job *j)
{
    if (cpu_of_key(&j->profile.cpu, j->o.key)) {
        uc_error("--key %s: not <vendor>-<family>-<model> of a known vendor, as in amd-1a-02",
                 j->o.key);
        return UC_EXIT_USAGE;
    }
    j->profile.has_cpu = true;
    return 0;
}

/* Of a dump with several core kinds --key says which. */
static int name_by_dump(struct job *j)
{
    struct uc_cpus cpus;
    unsigned line = 0;
    const char *why = NULL;
    int rc = uc_cpus_from_dump(j->o.cpuid_file, &cpus, &line, &why);

    if (rc) {
        uc_error("%s:%u: %s", j->o.cpuid_file, line, rc == -EINVAL && why ? why : strerror(-rc));
        return UC_EXIT_USAGE;
    }
    for (size_t i = 0; i < cpus.n; i++)
        if (!j->o.key || !strcmp(j->o.key, cpus.kind[i].key)) {
            j->profile.cpu = cpus.kind[i];
            j->profile.has_cpu = true;
            return 0;
        }
    uc_error("%s: holds no CPU %s", j->o.cpuid_file, j->o.key ? j->o.key : "");
    return UC_EXIT_USAGE;
}

static int name_cpu(struct job *j)
{
    if (j->o.cpuid_file)
        return name_by_dump(j);
    return j->o.key ? name_by_key(j) : 0;
}

/* Deciding. */

static bool has_entry(const struct uc_cells *cells, int entry)
{
    for (size_t i = 0; i < cells->n; i++) {
        const struct uc_cell *c = &cells->v[i];
        if ((c->entry == UC_NOCACHE || c->consumer == UC_EVICT) == (entry == UC_NOCACHE))
            return true;
    }
    return false;
}

static void keep_result(struct uc_profile_entry *e, const struct uc_fit_result *r)
{
    e->present = true;
    e->ladder = r->ladder[0];
    memcpy(e->barred, r->barred, sizeof(e->barred));
    e->barred_n = r->barred_n;
    memcpy(e->anomaly, r->anomaly, sizeof(e->anomaly));
    e->anomaly_n = r->anomaly_n;
}

static int decide_entry(struct job *j, enum uc_entry entry, const char *path)
{
    struct uc_fit_result *r = &j->result[entry];

    j->fit.entry = entry;
    int rc = uc_fit(&j->profile.cells, &j->fit, r);
    if (rc) {
        uc_error("%s: no decision for %s: %s", path, uc_entry_name[entry], r->why);
        return rc == -ENODATA ? UC_EXIT_NO : rc == -E2BIG ? UC_EXIT_USAGE : UC_EXIT_MACHINE;
    }
    keep_result(&j->profile.entry[entry], r);
    return 0;
}

static int decide(struct job *j, const struct request *r)
{
    int rc = 0;
    bool any = false;

    j->fit = (struct uc_fit_options){
        .weights = &j->weights,
        .environment = j->o.environment,
        .max_segments = j->o.max_segments,
        .l1d = r->l1d,
        .l2 = r->l2,
        .branch_cost = r->branch,
        .strategies = j->strategies,
        .strategy_count = j->strategy_count,
        .threads = r->threads,
    };
    j->slope = (struct uc_slope_options){r->l1d, r->l2, r->l3, j->o.environment};
    for (int e = 0; e < UC_ENTRY_COUNT && !rc; e++) {
        if (r->entry >= 0 ? e != r->entry : !has_entry(&j->profile.cells, e))
            continue;
        any = true;
        rc = decide_entry(j, (enum uc_entry)e, r->cells);
    }
    return any || rc ? rc : UC_EXIT_NO;
}

/* The text. */

static const char *range_text(size_t first, size_t last, bool open, char *buf, size_t cap)
{
    if (open)
        snprintf(buf, cap, "from %zu", first);
    else
        snprintf(buf, cap, "%zu to %zu", first, last);
    return buf;
}

static const char *sure_text(const struct uc_segment *s, bool no_spread, char *buf, size_t cap)
{
    if (!s->runner_up[0])
        return "no other serves it";
    if (no_spread)
        return s->tie ? "tie (no spread given)" : "no spread given";
    snprintf(buf, cap, "%s%+.1f to %+.1f %%", s->tie ? "tie: " : "", 100 * (s->margin_lo - 1),
             100 * (s->margin_hi - 1));
    return buf;
}

static const char *end_text(const struct uc_segment *s, char *buf, size_t cap)
{
    if (!s->bracketed)
        snprintf(buf, cap, "not bracketed: measured to %zu", s->measured_to);
    else if (s->lo || s->hi)
        snprintf(buf, cap, "crossing %zu to %zu, free %zu to %zu", s->lo, s->hi, s->free_lo,
                 s->free_hi);
    else
        snprintf(buf, cap, "free %zu to %zu", s->free_lo, s->free_hi);
    return buf;
}

static void print_segment(const struct uc_segment *s, size_t first, bool no_spread)
{
    char range[64], sure[64], end[128], loses[32] = "";

    if (s->runner_up[0])
        snprintf(loses, sizeof(loses), "%+.1f %%", 100 * (s->margin - 1));
    printf("%-20s %-24s %-24s %10s  %-24s %s\n",
           range_text(first, s->max, s->max == SIZE_MAX, range, sizeof(range)), s->strategy,
           s->runner_up[0] ? s->runner_up : "-", loses, sure_text(s, no_spread, sure, sizeof(sure)),
           end_text(s, end, sizeof(end)));
    if (s->guard.test[0])
        printf("%-20s but %s at page distance %ld to %ld\n", "", s->guard.otherwise, s->guard.lo,
               s->guard.hi);
}

static void print_notes(const struct uc_fit_result *r)
{
    for (size_t i = 0; i < r->barred_n; i++)
        printf("barred: %s from %zu to %zu: %s\n", r->barred[i].strategy, r->barred[i].from,
               r->barred[i].to, r->barred[i].why);
    for (size_t i = 0; i < r->anomaly_n; i++)
        printf("anomaly: %s at %zu costs %.2f times what it costs beside; it moves nothing\n",
               r->anomaly[i].strategy, r->anomaly[i].size, r->anomaly[i].ratio);
}

static void print_gain(const struct uc_fit_model *m, const struct uc_segment *s, size_t size)
{
    double ours = uc_fit_model_raw(m, s->strategy, size);
    double theirs = uc_fit_model_raw(m, s->runner_up, size);

    if (isnan(ours))
        return;
    printf("%12zu %-24s %12.5g", size, s->strategy, ours);
    if (!isnan(theirs))
        printf(" %12.5g %12.5g %+8.1f %%", theirs, theirs - ours, 100 * (theirs / ours - 1));
    putchar('\n');
}

/* The gain over the runner-up at each size of the table. */
static int print_gains(const struct job *j, const struct uc_ladder *l)
{
    const size_t *size;
    struct uc_fit_model *m = uc_fit_model_new(&j->profile.cells, &j->fit);
    size_t seg = 0;

    if (!m)
        return -ENOMEM;
    size_t n = uc_fit_model_sizes(m, &size);
    printf("\n%12s %-24s %12s %12s %12s %10s\n", "size", "strategy",
           uc_unit_name[j->profile.cells.unit], "runner-up", "gain", "gain");
    for (size_t i = 0; i < n; i++) {
        while (seg + 1 < l->n && size[i] > l->segment[seg].max)
            seg++;
        print_gain(m, &l->segment[seg], size[i]);
    }
    uc_fit_model_free(m);
    return 0;
}

static int print_entry(struct job *j, enum uc_entry entry)
{
    const struct uc_fit_result *r = &j->result[entry];
    const struct uc_ladder *l = &j->profile.entry[entry].ladder;

    j->fit.entry = entry;
    printf("%s, %s: weights \"%s\", sizes by %s%s%s\n\n", uc_entry_name[entry],
           j->o.environment == UCOPY_KERNEL ? "kernel" : "user", j->weights.name,
           j->weights.sizes ? j->weights.sizes->name : "octaves to 64 MiB",
           j->fit.branch_cost > 0 ? "" : ", mispredictions not priced",
           r->no_spread ? ", no spread given" : "");
    printf("%-20s %-24s %-24s %10s  %-24s %s\n", "sizes", "strategy", "runner-up", "loses by",
           "95 % interval", "end");
    for (size_t i = 0; i < l->n; i++)
        print_segment(&l->segment[i], i ? l->segment[i - 1].max + 1 : 0, r->no_spread);
    printf("mean loss against the best strategy of each size: %.2f %%\n", 100 * l->loss);
    print_notes(r);
    return print_gains(j, l);
}

static int print_slopes(const struct job *j)
{
    struct uc_slopes s;
    int rc = uc_slopes_fit(&j->profile.cells, &j->slope, &s);

    if (rc)
        return rc;
    putchar('\n');
    uc_slopes_print(&s);
    uc_slopes_free(&s);
    return 0;
}

static int print_text(struct job *j)
{
    bool after = false;
    int rc = 0;

    uc_print_version();
    for (int e = 0; e < UC_ENTRY_COUNT && !rc; e++) {
        if (!j->profile.entry[e].present)
            continue;
        if (after)
            putchar('\n');
        rc = print_entry(j, (enum uc_entry)e);
        after = true;
    }
    if (!rc)
        rc = print_slopes(j);
    return rc ? UC_EXIT_MACHINE : UC_EXIT_OK;
}

/* The other formats are those of a profile. */

static json_t *method_json(const struct job *j)
{
    const double branch = j->fit.branch_cost;

    return json_pack("{s:i, s:s, s:s, s:o, s:o, s:o}", "version", 1, "source", "table", "unit",
                     uc_unit_name[j->profile.cells.unit], "spread_given",
                     json_boolean(j->profile.cells.has_interval), "branch_cost",
                     branch > 0 ? json_real(branch) : json_null(), "l1d",
                     j->fit.l1d ? json_integer((json_int_t)j->fit.l1d) : json_null());
}

static int fill_profile(struct job *j)
{
    struct uc_profile *p = &j->profile;

    p->complete = true;
    p->environment = j->o.environment;
    p->method = method_json(j);
    p->weights = json_pack("{s:s, s:s}", "name", j->weights.name, "sizes",
                           j->weights.sizes ? j->weights.sizes->name : "octaves to 64 MiB");
    uc_cells_sort(&p->cells);
    int rc = p->method && p->weights ? uc_profile_set_slopes(p, &j->slope) : -ENOMEM;
    return rc ? rc : uc_profile_hash_strategies(p);
}

static int print_profile(struct job *j, const struct uc_emitter *e, const char *path)
{
    char why[256] = "", *text = NULL;
    size_t n = 0;
    int rc = fill_profile(j);
    FILE *out = rc ? NULL : open_memstream(&text, &n);

    if (!rc)
        rc = out ? e->emit(&j->profile, out, why, sizeof(why)) : -ENOMEM;
    if (out && fclose(out) && !rc)
        rc = -ENOMEM;
    if (rc)
        uc_error("%s: not as %s: %s", path, e->name, *why ? why : strerror(-rc));
    int code = rc == -ENOTSUP ? UC_EXIT_NO : rc ? UC_EXIT_MACHINE : uc_print(text, n);
    free(text);
    return code;
}

/* "text", or a format of `emit`. */
static int find_format(const char *name, const struct uc_emitter **e)
{
    const char *known[17] = {"text"};
    int n = 1;

    for (; uc_emitters[n - 1].name && n < 17; n++)
        known[n] = uc_emitters[n - 1].name;
    int i = uc_option_word("--format", name ? name : "text", known, n);
    *e = i > 0 ? &uc_emitters[i - 1] : NULL;
    return i < 0 ? UC_EXIT_USAGE : 0;
}

static int run_job(struct job *j, struct request *r)
{
    const struct uc_emitter *e;
    int rc = find_format(j->o.format, &e);

    if (!rc)
        rc = uc_choice_weights(&j->o, &j->weights, &j->sizes);
    if (!rc)
        rc = read_cells(j, r);
    if (!rc)
        rc = name_cpu(j);
    if (!rc)
        rc = decide(j, r);
    if (!rc)
        rc = e ? print_profile(j, e, r->cells) : print_text(j);
    return rc;
}

static int run(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"l1d", KEY_L1D, "SIZE", 0, "the L1 data cache; default: a profile's, else 32k", 0},
        {"l2", KEY_L2, "SIZE", 0, "the L2 cache; default: a profile's, else 256k", 0},
        {"l3", KEY_L3, "SIZE", 0,
         "the L3 cache, for the slopes; default: a profile's, else unknown", 0},
        {"branch-cost", KEY_BRANCH, "N", 0,
         "price of a mispredicted branch in the table's unit; default: a profile's, else nothing",
         0},
        {"threads", KEY_THREADS, "N", 0,
         "decide by the cells of N cores copying at once, in text alone; default: by those of one",
         0},
        {"entry", KEY_ENTRY, "WORD", 0, "copy or nocache; default: all that the table has", 0},
        {0},
    };
    static const struct argp own = {
        .options = options,
        .parser = parse_own,
        .args_doc = "CELLS",
        .doc = "Decides from a table alone: a CSV of cells (strategy, size and ns, tsc_ticks or "
               "ticks; see the "
               "manual for the other columns), or the cells of a profile. --format text (default), "
               "or any format "
               "of emit. Exit code 1 where the table allows no decision."
               "\v"
               "Example: ucopy-tune fit cells.csv --l1d 48k --branch-cost 4.5",
    };
    struct request r = {.entry = -1};
    struct job *j = calloc(1, sizeof(*j));

    if (!j) {
        uc_error("no memory");
        return UC_EXIT_MACHINE;
    }
    int rc =
        uc_options_parse(&j->o, UC_OPT_CHOICE | UC_OPT_FORMAT | UC_OPT_CPUID, &own, &r, argc, argv);
    if (rc) {
        free(j);
        return rc - 1;
    }
    if (!r.cells) {
        uc_usage("fit needs a table of cells");
        rc = UC_EXIT_USAGE;
    }
    if (!rc && r.threads > 1 && j->o.format && strcmp(j->o.format, "text") != 0) {
        uc_usage("--threads: not with --format %s: what several cores choose is for reading",
                 j->o.format);
        rc = UC_EXIT_USAGE;
    }
    j->strategies = uc_choice_strategies(j->o.environment, &j->strategy_count);
    if (!rc && !j->strategies) {
        uc_error("no memory");
        rc = UC_EXIT_MACHINE;
    }
    if (!rc)
        rc = run_job(j, &r);
    uc_profile_free(&j->profile);
    uc_sizes_free(&j->sizes);
    free(j->strategies);
    free(j);
    return rc;
}

const struct uc_command uc_command_fit = {
    .name = "fit",
    .summary = "the decision alone, from a table of cells",
    .run = run,
};
