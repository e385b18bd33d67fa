/* `ucopy-tune compare PROFILE...`: thresholds side by side, and what each profile costs on the
 * other boxes' cells. Nothing is measured. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "cli/command.h"
#include "cli/compare.h"
#include "cli/given.h"
#include "cli/options.h"

int uc_compare_add(struct uc_compare *c, const char *file)
{
    if (c->n == UC_COMPARE_MOST)
        return uc_usage("more than %d profiles", UC_COMPARE_MOST);
    c->file[c->n++] = file;
    return 0;
}

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
    return key == ARGP_KEY_ARG ? uc_compare_add(state->input, arg) : ARGP_ERR_UNKNOWN;
}

int uc_compare_read(struct uc_compare *c)
{
    int rc = 0;

    for (size_t i = 0; i < c->n && !rc; i++)
        rc = uc_given_read(c->file[i], &c->p[i]);
    return rc;
}

/* ---- one ladder of sizes ---- */

static const struct uc_ladder *ladder_of(const struct uc_compare *c,
                                         const struct uc_compare_table *t, size_t column)
{
    return &c->p[t->who[column]].entry[t->entry].ladder;
}

static int by_size(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* Does the C library's column belong here? Its memcpy is one, and of user mode. */
static bool beside_libc(const struct uc_compare *c, const struct uc_compare_table *t)
{
    return c->has_libc && t->environment == UCOPY_USER && t->entry == UC_COPY;
}

static void make_steps(const struct uc_compare *c, struct uc_compare_table *t)
{
    size_t n = 0;
    size_t *end = t->end;

    for (size_t k = 0; k < t->n; k++)
        for (size_t i = 0; i < ladder_of(c, t, k)->n && n + 2 < UC_COMPARE_STEPS; i++)
            end[n++] = ladder_of(c, t, k)->segment[i].max;
    if (beside_libc(c, t) && c->libc.rep_movsb != SIZE_MAX && c->libc.rep_movsb)
        end[n++] = c->libc.rep_movsb - 1;
    if (beside_libc(c, t) && c->libc.non_temporal != SIZE_MAX && c->libc.non_temporal)
        end[n++] = c->libc.non_temporal - 1;
    qsort(end, n, sizeof(*end), by_size);
    for (size_t i = 0; i < n; i++)
        if (!t->steps || end[t->steps - 1] != end[i])
            end[t->steps++] = end[i];
}

const char *uc_compare_strategy(const struct uc_compare *c, const struct uc_compare_table *t,
                                size_t column, size_t step)
{
    return uc_ladder_segment(ladder_of(c, t, column), t->end[step])->strategy;
}

bool uc_compare_differs(const struct uc_compare *c, const struct uc_compare_table *t, size_t step)
{
    for (size_t k = 1; k < t->n; k++)
        if (strcmp(uc_compare_strategy(c, t, k, step), uc_compare_strategy(c, t, 0, step)) != 0)
            return true;
    return false;
}

const char *uc_compare_libc(const struct uc_compare *c, const struct uc_compare_table *t,
                            size_t step)
{
    if (!beside_libc(c, t))
        return NULL;
    size_t n = t->end[step];
    if (c->libc.non_temporal != SIZE_MAX && n >= c->libc.non_temporal)
        return "stores past the caches";
    return c->libc.rep_movsb != SIZE_MAX && n >= c->libc.rep_movsb ? "rep movsb" : "vector moves";
}

/* ---- limits and factors ---- */

typedef bool matches_fn(const char *strategy, const char *word);

static bool is_named(const char *strategy, const char *word)
{
    return !strcmp(strategy, word);
}

static bool is_rep(const char *strategy, const char *word)
{
    return !strncmp(strategy, "rep_", 4);
}

static bool has_flag(const char *strategy, uint32_t flag)
{
    const struct ucopy_strategy *s = ucopy_find(strategy);
    return s && (s->flags & flag);
}

static bool is_dispatch(const char *strategy, const char *word)
{
    return has_flag(strategy, UCOPY_DISPATCH);
}

static bool is_streaming(const char *strategy, const char *word)
{
    return has_flag(strategy, UCOPY_STREAMING);
}

/* Last size that such a strategy serves; where begins: the last size before it begins. */
static void find_limit(const struct uc_ladder *l, matches_fn *matches, const char *word,
                       bool begins, enum uc_compare_kind *kind, size_t *size)
{
    *kind = UC_NEVER;
    for (size_t i = 0; i < l->n; i++) {
        if (!matches(l->segment[i].strategy, word))
            continue;
        if (begins) {
            *kind = UC_AT_SIZE;
            *size = i ? l->segment[i - 1].max : 0;
            return;
        }
        *size = l->segment[i].max;
        *kind = *size == SIZE_MAX ? UC_TO_THE_END : UC_AT_SIZE;
    }
}

static void set_factor(struct uc_compare_limit *x, size_t n)
{
    size_t least = SIZE_MAX, most = 0, counted = 0;

    for (size_t k = 0; k < n; k++)
        if (x->kind[k] == UC_AT_SIZE && x->size[k]) {
            least = x->size[k] < least ? x->size[k] : least;
            most = x->size[k] > most ? x->size[k] : most;
            counted++;
        }
    x->factor = counted > 1 ? (double)most / (double)least : 0;
}

static void add_limit(const struct uc_compare *c, struct uc_compare_table *t, const char *what,
                      matches_fn *matches, const char *word, bool begins)
{
    struct uc_compare_limit *x = &t->limit[t->limits];
    bool any = false;

    if (t->limits == UC_COMPARE_LIMITS)
        return;
    snprintf(x->what, sizeof(x->what), "%s%s", word, what);
    for (size_t k = 0; k < t->n; k++) {
        const struct uc_profile *p = &c->p[t->who[k]];
        find_limit(ladder_of(c, t, k), matches, word, begins, &x->kind[k], &x->size[k]);
        any |= x->kind[k] != UC_NEVER;
        if (x->kind[k] == UC_NEVER && matches == is_named && !uc_compare_has(p, word))
            x->kind[k] = UC_ABSENT;
    }
    set_factor(x, t->n);
    t->limits += any;
}

static bool is_listed(const struct uc_compare_table *t, const char *strategy)
{
    char what[UC_NAME + 16];

    snprintf(what, sizeof(what), "%s ends", strategy);
    for (size_t i = 0; i < t->limits; i++)
        if (!strcmp(t->limit[i].what, what))
            return true;
    return false;
}

/* The kinds first, since boxes seldom choose the very same strategy; then each by its name. */
static void find_limits(const struct uc_compare *c, struct uc_compare_table *t)
{
    add_limit(c, t, "short dispatch ends", is_dispatch, "", false);
    add_limit(c, t, "rep movs begins above", is_rep, "", true);
    add_limit(c, t, "streaming begins above", is_streaming, "", true);
    for (size_t k = 0; k < t->n; k++)
        for (size_t i = 0; i < ladder_of(c, t, k)->n; i++) {
            const char *name = ladder_of(c, t, k)->segment[i].strategy;
            if (!is_listed(t, name))
                add_limit(c, t, " ends", is_named, name, false);
        }
}

/* ---- the loss matrix ---- */

bool uc_compare_has(const struct uc_profile *p, const char *strategy)
{
    for (size_t i = 0; i < p->cells.n; i++)
        if (!strcmp(p->cells.v[i].strategy, strategy))
            return true;
    return false;
}

/* A header on a CPU that lacks what it needs sends every copy to the C library. */
static struct uc_ladder fallback(void)
{
    struct uc_ladder l = {.n = 1, .segment = {{.max = SIZE_MAX, .strategy = "libc"}}};
    return l;
}

static int find_loss(const struct uc_compare *c, const struct uc_compare_table *t, size_t row,
                     size_t column, struct uc_compare_loss *x)
{
    const struct uc_profile *on = &c->p[t->who[column]];
    const struct uc_ladder libc = fallback();

    x->lacking = on->has_cpu ? uc_given_isa(&c->p[t->who[row]]) & ~on->cpu.isa : 0;
    int rc = uc_given_share(on, t->entry, x->lacking ? &libc : ladder_of(c, t, row),
                            ladder_of(c, t, column), &x->share);
    x->known = !rc;
    return rc == -ENODATA ? 0 : rc;
}

static int find_column(const struct uc_compare *c, struct uc_compare_table *t, size_t column)
{
    bool cells = c->p[t->who[column]].cells.n;
    int rc = 0;

    for (size_t row = 0; row < t->n && !rc && cells; row++)
        rc = find_loss(c, t, row, column, &t->loss[row][column]);
    return rc;
}

/* The profile that costs the others least, by its worst box. */
static int best_for_all(const struct uc_compare_table *t)
{
    int best = -1;
    double least = HUGE_VAL;

    for (size_t row = 0; row < t->n; row++) {
        double most = 0;
        for (size_t k = 0; k < t->n; k++)
            most = t->loss[row][k].known ? fmax(most, t->loss[row][k].share.mean) : HUGE_VAL;
        if (most < least) {
            least = most;
            best = (int)row;
        }
    }
    return best;
}

/* ---- the tables ---- */

static int make_table(struct uc_compare *c, unsigned environment, enum uc_entry entry)
{
    struct uc_compare_table *t = &c->table[c->tables];
    int rc = 0;

    *t = (struct uc_compare_table){.environment = environment, .entry = entry};
    for (size_t i = 0; i < c->n; i++)
        if (c->p[i].environment == environment && c->p[i].entry[entry].present)
            t->who[t->n++] = i;
    if (!t->n)
        return 0;
    make_steps(c, t);
    find_limits(c, t);
    for (size_t k = 0; k < t->n && !rc; k++)
        rc = find_column(c, t, k);
    t->one_header = best_for_all(t);
    c->tables++;
    return rc;
}

int uc_compare_make(struct uc_compare *c)
{
    static const unsigned environment[] = {UCOPY_USER, UCOPY_KERNEL};
    int rc = 0;

    for (int k = 0; k < 2; k++)
        for (int e = 0; e < UC_ENTRY_COUNT && !rc; e++)
            rc = make_table(c, environment[k], (enum uc_entry)e);
    if (rc)
        uc_error("no memory to compare the profiles: %s", strerror(-rc));
    return rc ? UC_EXIT_MACHINE : 0;
}

static int run(struct uc_compare *c, int format)
{
    int rc = uc_compare_read(c);

    if (rc)
        return rc;
    c->has_libc = uc_libc_limits_read(&c->libc);
    if (!c->has_libc)
        uc_note("the C library's dynamic linker tells no thresholds of its own: no column of them");
    rc = uc_compare_make(c);
    if (rc)
        return rc;
    if (format == 1)
        return uc_compare_print_json(c);
    if (format == 2)
        uc_compare_print_csv(c);
    else
        uc_compare_print_text(c);
    return UC_EXIT_OK;
}

void uc_compare_free(struct uc_compare *c)
{
    for (size_t i = 0; c && i < c->n; i++)
        uc_profile_free(&c->p[i]);
    free(c);
}

static int compare(int argc, char **argv)
{
    static const char *const formats[] = {"text", "json", "csv"};
    static const struct argp own = {
        .parser = parse_own,
        .args_doc = "PROFILE...",
        .doc = "Profiles (JSON, or the headers beside it) side by side: their strategies on one "
               "ladder of sizes, entries and environments apart, beside this box's C library "
               "where its dynamic linker tells its thresholds; where the limits lie and by what "
               "factor they differ; what each profile would cost on the cells of each other, so "
               "that \"can these share one header?\" has a number; the strategies that one box "
               "lacks. Nothing is measured. --format text (default), json or csv."
               "\v"
               "Example: ucopy-tune compare profiles/amd-1a-02.json profiles/intel-06-cf.json",
    };
    struct uc_options o;
    struct uc_compare *c = calloc(1, sizeof(*c));

    if (!c)
        return UC_EXIT_MACHINE;
    int rc = uc_options_parse(&o, UC_OPT_FORMAT, &own, c, argc, argv);
    int format = rc || !o.format ? 0 : uc_option_word("--format", o.format, formats, 3);

    if (rc) {
        free(c);
        return rc - 1;
    }
    if (!c->n)
        uc_usage("compare needs a PROFILE");
    rc = c->n && format >= 0 ? run(c, format) : UC_EXIT_USAGE;
    uc_compare_free(c);
    return rc;
}

const struct uc_command uc_command_compare = {
    .name = "compare",
    .summary = "profiles side by side, and what each costs on the others' boxes",
    .run = compare,
};
