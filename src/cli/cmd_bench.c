/* `ucopy-tune bench`: a table by size for chosen strategies, the way copy patches are argued. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "base/units.h"
#include "cli/bench.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/slopes.h"
#include "measure/plan.h"
#include "measure/sweep.h"

#define TOP_SIZE ((size_t)256 << 20)
#define MEMORY_TOP                                                                \
    ((size_t)96 << 20) /* src and dst of this size and the rest stay under 600 MB \
                        */

enum {
    KEY_SIZE = 0x1000,
    KEY_STATE,
    KEY_INLINE,
    KEY_EVENTS,
    KEY_PEER,
    KEY_HEADER,
    KEY_ORDER,
    KEY_SLOPES,
    KEY_PLACEMENTS,
    KEY_THREADS
};

static const struct argp_option bench_options[] = {
    {"size", KEY_SIZE, "LIST", 0,
     "sizes in bytes, by commas; A-B is every size from A to B (default: 0, 1 and powers of two to "
     "64 KiB)",
     0},
    {"state", KEY_STATE, "STATE", 0,
     "where the bytes are before the copy: natural, l1, l2, l3 or memory (default: natural, what "
     "repeating the size leads to); other_core: dst was last written by another core",
     0},
    {"inline", KEY_INLINE, NULL, 0,
     "each copy inline, called, and called behind one check, with warm and with cold code, and the "
     "bytes of its code (of the strategies named, else of --header, else of the short dispatches); "
     "with --sizes-from the inlined form in place of the called one",
     0},
    {"slopes", KEY_SLOPES, NULL, 0,
     "then the start-up cost and the slope of each copy in each cache (sizes by default: two an "
     "octave up to four times the last cache, 96 MiB at most)",
     0},
    {"placements", KEY_PLACEMENTS, NULL, 0,
     "then what each copy costs with its code 48 bytes behind a line of 64, over what it costs with it at one "
     "(the times told are the middle over both)",
     0},
    {"threads", KEY_THREADS, "N|all", 0,
     "cores that copy at once, each between its own buffers; the times are those of one of them (default: 1)",
     0},
    {"events", KEY_EVENTS, "LIST", 0,
     "count these events, by the names that libpfm4 knows, by commas (default: cycles, "
     "instructions and L1D misses "
     "where they can be counted)",
     0},
    {"peer", KEY_PEER, "LIB[:SYMBOL]", 0,
     "another library's copy beside the others (default symbol: memcpy)", 0},
    {"header", KEY_HEADER, "FILE", 0,
     "a generated header beside the others, called and inlined; under --consumer evict its nocache",
     0},
    {"order", KEY_ORDER, "WORD", 0,
     "with --sizes-from: random (64 Ki calls, never in the same order), fixed (as many, each size "
     "repeated as often as it comes) or learned (4 Ki calls "
     "repeated)",
     0},
    {0},
};

static void unknown_strategy(const char *name)
{
    char known[4096] = "";
    size_t used = 0;

    for (size_t i = 0; i < ucopy_strategy_count && used < sizeof(known); i++)
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "",
                                 ucopy_strategies[i].name);
    uc_usage("unknown strategy '%s' (known: %s)", name, known);
}

static int add_size(struct uc_bench *b, size_t n)
{
    if (n > TOP_SIZE)
        return uc_usage("--size: %zu is above the largest size, 256M", n);
    if (b->sizes == UC_BENCH_SIZES)
        return uc_usage("--size: more than %d sizes", UC_BENCH_SIZES);
    b->size[b->sizes++] = n;
    return 0;
}

static int parse_range(struct uc_bench *b, char *item)
{
    char *dash = strchr(item, '-');
    size_t lo, hi;

    if (dash)
        *dash = 0;
    if (uc_parse_size(item, &lo) || uc_parse_size(dash ? dash + 1 : item, &hi) || hi < lo)
        return uc_usage("--size: '%s%s%s' is no size or range", item, dash ? "-" : "",
                        dash ? dash + 1 : "");
    for (size_t n = lo; n <= hi; n++) {
        int rc = add_size(b, n);
        if (rc)
            return rc;
    }
    return 0;
}

static int parse_list(struct uc_bench *b, char *list, int (*item)(struct uc_bench *, char *))
{
    char *save, *p = strtok_r(list, ",", &save);
    int rc = p ? 0 : uc_usage("an empty list");

    for (; p && !rc; p = strtok_r(NULL, ",", &save))
        rc = item(b, p);
    return rc;
}

static int add_event(struct uc_bench *b, char *name)
{
    if (b->events == UC_MAX_EVENTS)
        return uc_usage("--events: more than %d events", UC_MAX_EVENTS);
    b->event[b->events++] = name;
    return 0;
}

static int add_extra(const char *option, const char **list, size_t *n, const char *value)
{
    if (*n == UC_BENCH_EXTRAS)
        return uc_usage("%s: more than %d", option, UC_BENCH_EXTRAS);
    list[(*n)++] = value;
    return 0;
}

static int add_name(struct uc_bench *b, const char *name)
{
    const struct ucopy_strategy *s = ucopy_find(name);

    if (!s) {
        unknown_strategy(name);
        return EINVAL;
    }
    if (b->names == UC_BENCH_NAMES)
        return uc_usage("more than %d strategies", UC_BENCH_NAMES);
    b->named[b->names++] = s;
    return 0;
}

static int parse_threads(struct uc_bench *b, const char *text)
{
    long n;

    b->threads = 0;
    if (!strcmp(text, "all"))
        return 0;
    if (uc_parse_long(text, 1, CPU_SETSIZE, &n))
        return uc_usage("--threads: '%s' is neither all nor a whole number from 1 to %d", text,
                        CPU_SETSIZE);
    b->threads = (int)n;
    return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct uc_bench *b = state->input;

    switch (key) {
    case KEY_SIZE:
        return parse_list(b, arg, parse_range);
    case KEY_EVENTS:
        return parse_list(b, arg, add_event);
    case KEY_STATE:
        b->state = uc_option_word("--state", arg, uc_state_name, UC_STATE_COUNT);
        return b->state < 0 ? EINVAL : 0;
    case KEY_INLINE:
        b->inlined = true;
        return 0;
    case KEY_SLOPES:
        b->slopes = true;
        return 0;
    case KEY_THREADS:
        return parse_threads(b, arg);
    case KEY_PLACEMENTS:
        b->placements = true;
        return 0;
    case KEY_PEER:
        return add_extra("--peer", b->peer, &b->peers, arg);
    case KEY_HEADER:
        return add_extra("--header", b->header, &b->headers, arg);
    case KEY_ORDER:
        b->order = uc_option_word("--order", arg, uc_order_name, UC_ORDER_COUNT);
        return b->order < 0 ? EINVAL : 0;
    case ARGP_KEY_ARG:
        return add_name(b, arg);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void default_sizes(struct uc_bench *b)
{
    if (b->sizes)
        return;
    b->size[b->sizes++] = 0;
    for (size_t n = 1; n <= 64 * 1024; n *= 2)
        b->size[b->sizes++] = n;
}

/* What lines can be drawn through: from 16 KiB on, where regions begin and end, two an octave. */
static void slope_sizes(struct uc_bench *b, const struct uc_caches *c)
{
    size_t top = 4 * (c->l3.bytes ? c->l3.bytes : c->l2.bytes);

    if (b->sizes)
        return;
    for (size_t n = 1; n <= MEMORY_TOP && n <= top; n *= 2) {
        b->size[b->sizes++] = n;
        if (n >= 16 * 1024 && n + n / 2 <= MEMORY_TOP && n < top)
            b->size[b->sizes++] = n + n / 2;
    }
}

static int fit_slopes(const struct uc_session *s, const struct uc_cells *cells,
                      struct uc_slopes *slopes)
{
    const struct uc_caches *c = &s->caches;
    struct uc_slope_options o = {c->l1d.bytes, c->l2.bytes, c->l3.bytes, UCOPY_USER | UCOPY_KERNEL};

    return uc_slopes_fit(cells, &o, slopes);
}

/* The slopes are those of single sizes, called, dst not read, and no cells. */
static int check_slopes(const struct uc_bench *b, const struct uc_options *o)
{
    const char *other = !b->slopes                               ? NULL
                        : o->sizes_from                          ? "--sizes-from"
                        : b->inlined                             ? "--inline"
                        : o->consumer > UC_NONE                  ? "--consumer"
                        : o->format && !strcmp(o->format, "csv") ? "--format csv"
                                                                 : NULL;

    return other ? uc_usage("--slopes: not with %s", other) : 0;
}

bool uc_bench_wants(const struct uc_options *o, const char *format)
{
    return o->format && !strcmp(o->format, format);
}

static bool all_forms(const struct uc_bench *b, const struct uc_options *o)
{
    return b->inlined && !o->sizes_from;
}

static int make_plan(const struct uc_bench *b, const struct uc_options *o, struct uc_plan *p)
{
    for (size_t i = 0; i < b->sizes; i++) {
        struct uc_cell c = uc_cell_default("", b->size[i]);
        c.src_state = c.dst_state = (enum uc_state)b->state;
        if (b->state == UC_OTHER_CORE)
            c.src_state = UC_NATURAL;
        if (o->consumer >= 0)
            c.consumer = (enum uc_consumer)o->consumer;
        if (c.consumer == UC_EVICT) {
            c.entry = UC_NOCACHE;
            c.dst_state = UC_MEMORY;
            c.src_state = UC_L2;
        }
        if (c.consumer == UC_SCAN && c.size < 64)
            return uc_usage("--consumer scan: sizes from 64 on, not %zu", c.size);
        enum uc_group g = c.size > 1024 * 1024     ? UC_LARGE
                          : c.consumer == UC_EVICT ? UC_EVICTS
                          : c.size <= 64 * 1024    ? UC_SMALL
                                                   : UC_MIDDLE;
        for (int code = UC_WARM; code <= (all_forms(b, o) ? UC_COLD : UC_WARM); code++) {
            c.code = (enum uc_code)code;
            if (uc_plan_add(p, &c, g))
                return ENOMEM;
        }
    }
    return 0;
}

static void put_cost(const struct uc_cell *c)
{
    if (c)
        printf("  %12.*f", c->cost < 100 ? 2 : 0, c->cost);
    else
        printf("  %12s", "-");
}

static void print_row(const struct uc_cells *cells, const struct uc_subject *u, size_t n,
                      size_t size)
{
    const struct uc_cell *x = uc_bench_cell(cells, &u[0], size, UC_WARM),
                         *y = n == 2 ? uc_bench_cell(cells, &u[1], size, UC_WARM) : NULL;

    printf("%10zu", size);
    for (size_t i = 0; i < n; i++)
        put_cost(uc_bench_cell(cells, &u[i], size, UC_WARM));
    if (n == 2 && x && y) {
        bool apart = x->hi < y->lo || y->hi < x->lo;
        printf("  %12.2f  %9.1f %%%s", y->cost - x->cost, 100 * (y->cost / x->cost - 1),
               apart ? "" : "  no difference");
    }
    putchar('\n');
}

/* A strategy a column where they are few, else a line each by size. */
static void print_text(const struct uc_bench *b, const struct uc_session *s,
                       const struct uc_cells *cells, const struct uc_subject *u, size_t n)
{
    uc_print_version();
    printf("# ns a call on %s, CPU %d; TSC %.4f GHz; called form; %sstate %s\n", s->cpu.key, s->pu,
           s->clock.tsc_hz / 1e9, b->state == UC_OTHER_CORE ? "dst in " : "",
           uc_state_name[b->state]);
    if (b->threads > 1)
        printf("# %d cores copying at once\n", b->threads);
    if (n > 6) {
        printf("%10s  %-28s %10s %10s %10s\n", "size", "strategy", "ns", "lo", "hi");
        for (size_t i = 0; i < b->sizes; i++)
            for (size_t k = 0; k < n; k++) {
                const struct uc_cell *c = uc_bench_cell(cells, &u[k], b->size[i], UC_WARM);
                if (c)
                    printf("%10zu  %-28s %10.2f %10.2f %10.2f\n", c->size, c->strategy, c->cost,
                           c->lo, c->hi);
            }
        return;
    }
    printf("%10s", "size");
    for (size_t i = 0; i < n; i++)
        printf("  %12.12s", u[i].name);
    if (n == 2)
        printf("  %12s  %11s", "difference", "per cent");
    putchar('\n');
    for (size_t i = 0; i < b->sizes; i++)
        print_row(cells, u, n, b->size[i]);
}

/* Of the copies that are there twice: not libc, peers and headers. */
static void print_placements(const struct uc_bench *b, const struct uc_cells *cells,
                             const struct uc_subject *u, size_t n)
{
    printf("\n# cost with the code %d bytes behind a line of 64, over that with it at one\n"
           "%10s  %-28s %10s\n",
           UCOPY_SHIFT, "size", "strategy", "ratio");
    for (size_t i = 0; i < b->sizes; i++)
        for (size_t k = 0; k < n; k++) {
            const struct uc_cell *c = uc_bench_cell(cells, &u[k], b->size[i], UC_WARM);
            if (c && c->code_ratio > 0)
                printf("%10zu  %-28s %10.3f\n", c->size, c->strategy, c->code_ratio);
        }
}

/* --slopes and --placements are tables behind the table, in text, of what is called. */
static int check_placements(const struct uc_bench *b, const struct uc_options *o)
{
    const char *other = !b->placements  ? NULL
                        : o->sizes_from ? "--sizes-from"
                        : b->inlined    ? "--inline"
                        : o->format && strcmp(o->format, "text")
                            ? "--format csv or json, which have them"
                            : NULL;

    return other ? uc_usage("--placements: not with %s", other) : 0;
}

static int print_answer(const struct uc_bench *b, const struct uc_options *o,
                        const struct uc_bench_answer *a)
{
    if (uc_bench_wants(o, "json"))
        return uc_bench_print_json(a);
    if (uc_bench_wants(o, "csv")) {
        uc_cells_write_csv(a->cells, a->s->clock.tsc_hz, stdout);
        uc_print_version();
    } else if (a->forms)
        uc_bench_inline_print(b, o, a->s, a->cells, a->u, a->n);
    else
        print_text(b, a->s, a->cells, a->u, a->n);
    if (b->placements && !a->forms && !uc_bench_wants(o, "csv"))
        print_placements(b, a->cells, a->u, a->n);
    if (a->slopes) {
        putchar('\n');
        uc_slopes_print(a->slopes);
    }
    uc_bench_print_counts(a->counts);
    return 0;
}

/* Times, counts and prints; 0, a negative errno or the exit code. */
static int answer(const struct uc_bench *b, const struct uc_options *o, struct uc_session *s,
                  const struct uc_plan *plan, const struct uc_subject *u, size_t n)
{
    struct uc_cells cells = {0};
    struct uc_bench_counts counts = {0};
    struct uc_slopes slopes = {0};
    struct uc_bench_answer a = {
        .s = s,
        .cells = &cells,
        .u = u,
        .n = n,
        .state = (enum uc_state)b->state,
        .consumer = o->consumer < 0 ? UC_NONE : (enum uc_consumer)o->consumer,
        .forms = all_forms(b, o),
        .counts = &counts,
        .slopes = b->slopes ? &slopes : NULL,
    };
    int rc = uc_bench_measure(o, s, NULL, plan, u, n, &cells);

    if (!rc && b->slopes)
        rc = fit_slopes(s, &cells, &slopes);
    if (!rc && !s->company && (b->events || !(uc_bench_wants(o, "csv") || a.forms)))
        rc = uc_bench_count(b, s, plan, u, n, o->seed, &counts);
    if (!rc)
        rc = print_answer(b, o, &a);
    uc_slopes_free(&slopes);
    free(counts.v);
    uc_cells_free(&cells);
    return rc;
}

static int run(struct uc_bench *b, const struct uc_options *o, struct uc_session *s)
{
    struct uc_subject *u = calloc(UC_BENCH_SUBJECTS, sizeof(*u));
    struct uc_plan plan = {0};
    size_t n = 0;
    int code = !u                ? UC_EXIT_MACHINE
               : all_forms(b, o) ? uc_bench_inline_subjects(b, s, u, &n)
                                 : uc_bench_subjects(b, s, o->consumer == UC_EVICT, u, &n);

    if (!code && o->sizes_from)
        code = uc_bench_mix(b, o, s, u, n);
    else if (!code && make_plan(b, o, &plan))
        code = UC_EXIT_USAGE;
    else if (!code)
        code = uc_bench_company(b, s, &plan);
    if (!code && !o->sizes_from) {
        int rc = answer(b, o, s, &plan, u, n);
        code = rc < 0 ? uc_session_failed(s, rc) : rc;
    }
    uc_bench_release(b);
    uc_plan_free(&plan);
    free(u);
    return code;
}

static int bench(int argc, char **argv)
{
    static const char *const formats[] = {"text", "csv", "json"};
    struct uc_bench b = {.state = UC_NATURAL, .threads = 1};
    struct uc_options o;
    struct uc_session s;
    struct argp own = {
        .options = bench_options,
        .parser = parse,
        .args_doc = "[STRATEGY...]",
        .doc =
            "Time strategies by size; with two names the difference and its per cent too. --format "
            "text (default), csv (cells, for fit) or json.\v"
            "Example: ucopy-tune bench unrolled rep_movsb --size 0-64,128,256"};
    int rc = uc_options_parse(&o, UC_OPT_RUN | UC_OPT_MIX | UC_OPT_FORMAT, &own, &b, argc, argv);

    if (rc)
        return rc - 1;
    if (o.format && uc_option_word("--format", o.format, formats, 3) < 0)
        return UC_EXIT_USAGE;
    if (uc_bench_company_check(&b, &o))
        return UC_EXIT_USAGE;
    if (all_forms(&b, &o) && uc_bench_inline_check(&b, &o))
        return UC_EXIT_USAGE;
    if (check_slopes(&b, &o) || check_placements(&b, &o))
        return UC_EXIT_USAGE;
    if (!b.slopes)
        default_sizes(&b);
    rc = uc_session_open(&s, &o, 0);
    if (rc)
        return rc;
    if (b.slopes)
        slope_sizes(&b, &s.caches);
    rc = run(&b, &o, &s);
    uc_session_close(&s);
    return rc;
}

const struct uc_command uc_command_bench = {"bench", "time strategies by size", bench};
