#include "cli/options.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "base/units.h"
#include "cli/command.h"
#include "fit/fit.h"

/* Keys of options without a letter: above every character. */
enum {
    KEY_CORE = 256,
    KEY_SEED,
    KEY_BUDGET,
    KEY_QUICK,
    KEY_STRICT,
    KEY_DISABLE_ISA,
    KEY_RESUME,
    KEY_PRIOR,
    KEY_PROFILE_DIR,
    KEY_RENEW,
    KEY_ENVIRONMENT,
    KEY_CONSUMER,
    KEY_SIZES_FROM,
    KEY_MAX_SEGMENTS,
    KEY_FORMAT,
    KEY_CPUID,
    KEY_KEY,
    KEY_HELP,
};

#define EVERY 0u /* shown by every command */

struct row {
    unsigned groups;
    struct argp_option option;
};

#define ROW(groups, name, key, value, text) \
    {                                       \
        groups,                             \
        {                                   \
            name, key, value, 0, text, 0    \
        }                                   \
    }

static const struct row rows[] = {
    ROW(UC_OPT_RUN, "core", KEY_CORE, "N",
        "measure on this CPU (OS index); default: the quietest usable"),
    ROW(UC_OPT_CHOICE, "environment", KEY_ENVIRONMENT, "WORD",
        "user (default), or kernel: general registers and string instructions only"),
    ROW(UC_OPT_CHOICE | UC_OPT_MIX, "consumer", KEY_CONSUMER, "WORD",
        "what happens after the copy: none, read, wait or scan (bench also evict); default: by the weights"),
    ROW(UC_OPT_CHOICE | UC_OPT_MIX, "sizes-from", KEY_SIZES_FROM, "FILE",
        "weigh sizes by this distribution: size:probability,..., or size[,count] a line"),
    ROW(UC_OPT_CHOICE, "max-segments", KEY_MAX_SEGMENTS, "N",
        "at most so many ranges of sizes an entry, 1 to 12; default 6"),
    ROW(UC_OPT_RUN, "seed", KEY_SEED, "N", "seed of all random orders and placements; default 1"),
    ROW(UC_OPT_RUN, "budget", KEY_BUDGET, "TIME", "stop measuring after this time: 20s, 10m"),
    ROW(UC_OPT_RUN, "quick", KEY_QUICK, NULL, "a rough answer in about 10 seconds"),
    ROW(UC_OPT_OUTPUT | UC_OPT_STRICT, "strict", KEY_STRICT, NULL,
        "exit with 1 where the result is noisy or unsure"),
    ROW(UC_OPT_RUN | UC_OPT_ISA, "disable-isa", KEY_DISABLE_ISA, "LIST",
        "do as if the CPU lacked these instruction sets, and those built on them (avx2,erms; "
        "avx512 for all of AVX-512); adds to the variable UCOPY_DISABLE_ISA"),
    ROW(UC_OPT_OUTPUT, "output", 'o', "DIR",
        "folder of the files written; default: the current one"),
    ROW(UC_OPT_OUTPUT, "profile-dir", KEY_PROFILE_DIR, "DIR",
        "a folder of profiles: add or renew this machine's, and the table in its README.md"),
    ROW(UC_OPT_OUTPUT, "resume", KEY_RESUME, NULL, "go on with an interrupted run of this folder"),
    ROW(UC_OPT_OUTPUT, "prior", KEY_PRIOR, "FILE",
        "profile whose values stay unless new ones win by more than the margin"),
    ROW(UC_OPT_OUTPUT, "renew", KEY_RENEW, NULL, "write anew even where the decision stands"),
    ROW(UC_OPT_FORMAT, "format", KEY_FORMAT, "WORD", "form of the output"),
    ROW(UC_OPT_CPUID, "cpuid", KEY_CPUID, "FILE", "take the CPU from this CPUID dump"),
    ROW(UC_OPT_CPUID, "key", KEY_KEY, "KEY", "name the CPU, as in amd-1a-02 or intel-06-b7-p"),
    ROW(EVERY, "quiet", 'q', NULL, "errors only"),
    ROW(EVERY, "verbose", 'v', NULL, "more detail on stderr"),
    ROW(EVERY, "help", KEY_HELP, NULL, "print this text and stop"),
    ROW(EVERY, "version", 'V', NULL, "print the version and stop"),
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

enum outcome { GO_ON, SHOW_HELP, SHOW_VERSION, TOLD };

struct context {
    struct uc_options *o;
    const struct argp *own;
    void *own_state;
    struct argp_option shared[ROWS + 1];
    enum outcome outcome;
    int seen; /* argv index after the last option that was understood */
};

int uc_usage(const char *fmt, ...)
{
    char text[1024];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    uc_error("%s", text);
    return EINVAL;
}

/* "a, b, c". Returns buf, cut short where it is full. */
static const char *join(const char *const *names, int count, char *buf, size_t cap)
{
    size_t used = 0;

    buf[0] = 0;
    for (int i = 0; i < count && used < cap; i++)
        used += (size_t)snprintf(buf + used, cap - used, "%s%s", i ? ", " : "", names[i]);
    return buf;
}

int uc_option_word(const char *option, const char *value, const char *const *names, int count)
{
    char known[512];

    for (int i = 0; i < count; i++)
        if (!strcmp(names[i], value))
            return i;
    uc_usage("%s: unknown word '%s' (known: %s)", option, value,
             join(names, count, known, sizeof(known)));
    return -1;
}

/* ---- instruction sets ---- */

#define ISA_NAME(id, bit, name, attribute) name,
static const char *const isa_names[] = {UCOPY_ISA_LIST(ISA_NAME) "avx512"};
enum { ISA_NAMES = sizeof(isa_names) / sizeof(isa_names[0]) };

#define AVX512 (UCOPY_ISA_AVX512BW | UCOPY_ISA_AVX512VBMI2)

/* No CPU has AVX-512 without AVX2, nor AVX2 without SSE2, and the bit avx512bw stands for BMI2 too
 * (strategies/isa.h): without the one, a CPU lacks the other. */
static uint32_t with_dependents(uint32_t isa)
{
    if (isa & UCOPY_ISA_SSE2)
        isa |= UCOPY_ISA_AVX2;
    if (isa & (UCOPY_ISA_AVX2 | UCOPY_ISA_BMI2 | UCOPY_ISA_AVX512BW))
        isa |= AVX512;
    return isa;
}

static int disable_isa(const char *from, const char *list, uint32_t *disabled)
{
    for (const char *p = list;; p++) {
        char word[32], known[128];
        size_t len = strcspn(p, ",");
        snprintf(word, sizeof(word), "%.*s", (int)len, p);
        uint32_t bit = !strcmp(word, "avx512") ? AVX512 : ucopy_isa_bit(word, strlen(word));
        if (!bit)
            return uc_usage("%s: unknown instruction set '%.*s' (known: %s)", from, (int)len, p,
                            join(isa_names, ISA_NAMES, known, sizeof(known)));
        *disabled |= with_dependents(bit);
        p += len;
        if (!*p)
            return 0;
    }
}

/* ---- values ---- */

static int number(const char *option, const char *text, long min, long max, long *value)
{
    if (!uc_parse_long(text, min, max, value))
        return 0;
    return uc_usage("%s: '%s' is not a whole number from %ld to %ld", option, text, min, max);
}

static int filled(const char *option, const char *text, const char **value)
{
    if (!*text)
        return uc_usage("%s: the value is empty", option);
    *value = text;
    return 0;
}

static int core(const char *text, struct uc_options *o)
{
    long v;
    int rc = number("--core", text, 0, CPU_SETSIZE - 1, &v);

    if (!rc)
        o->core = (int)v;
    return rc;
}

static int seed(const char *text, struct uc_options *o)
{
    long v;
    int rc = number("--seed", text, 0, LONG_MAX, &v);

    if (!rc)
        o->seed = (uint64_t)v;
    return rc;
}

static int max_segments(const char *text, struct uc_options *o)
{
    long v;
    int rc = number("--max-segments", text, 1, UC_MAX_SEGMENTS, &v);

    if (!rc)
        o->max_segments = (unsigned)v;
    return rc;
}

static int budget(const char *text, struct uc_options *o)
{
    if (!uc_parse_duration(text, &o->budget))
        return 0;
    return uc_usage("--budget: '%s' is not a time above 0 and at most 24 hours (20s, 500ms, 10m)",
                    text);
}

static int environment(const char *text, struct uc_options *o)
{
    static const char *const names[] = {"user", "kernel"};
    static const unsigned bits[] = {UCOPY_USER, UCOPY_KERNEL};
    int i = uc_option_word("--environment", text, names, 2);

    if (i < 0)
        return EINVAL;
    o->environment = bits[i];
    return 0;
}

static int consumer(const char *text, struct uc_options *o)
{
    int i = uc_option_word("--consumer", text, uc_consumer_name, UC_CONSUMER_COUNT);

    if (i < 0)
        return EINVAL;
    o->consumer = i;
    return 0;
}

/* A key becomes part of C names and of file names: words of lower-case letters and digits joined by
 * '-'. */
static int key(const char *text, struct uc_options *o)
{
    size_t n = strlen(text);
    bool fits = n > 0 && n < 32 && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == n &&
                text[0] != '-' && text[n - 1] != '-' && !strstr(text, "--");

    if (!fits)
        return uc_usage(
            "--key: '%s' is not <vendor>-<family>-<model>[-<core kind>], as in amd-1a-02", text);
    o->key = text;
    return 0;
}

static int stop(struct context *c, enum outcome outcome)
{
    c->outcome = outcome;
    return ECANCELED;
}

static int take(struct context *c, int k, const char *arg)
{
    struct uc_options *o = c->o;

    switch (k) {
    case KEY_CORE:
        return core(arg, o);
    case KEY_SEED:
        return seed(arg, o);
    case KEY_BUDGET:
        return budget(arg, o);
    case KEY_DISABLE_ISA:
        return disable_isa("--disable-isa", arg, &o->disabled_isa);
    case KEY_ENVIRONMENT:
        return environment(arg, o);
    case KEY_CONSUMER:
        return consumer(arg, o);
    case KEY_MAX_SEGMENTS:
        return max_segments(arg, o);
    case KEY_KEY:
        return key(arg, o);
    case 'o':
        return filled("--output", arg, &o->output_dir);
    case KEY_PROFILE_DIR:
        return filled("--profile-dir", arg, &o->profile_dir);
    case KEY_PRIOR:
        return filled("--prior", arg, &o->prior);
    case KEY_SIZES_FROM:
        return filled("--sizes-from", arg, &o->sizes_from);
    case KEY_CPUID:
        return filled("--cpuid", arg, &o->cpuid_file);
    case KEY_FORMAT:
        return filled("--format", arg, &o->format);
    case KEY_QUICK:
        o->quick = true;
        return 0;
    case KEY_STRICT:
        o->strict = true;
        return 0;
    case KEY_RESUME:
        o->resume = true;
        return 0;
    case KEY_RENEW:
        o->renew = true;
        return 0;
    case 'q':
        uc_msg_level(-1);
        return 0;
    case 'v':
        uc_msg_level(1);
        return 0;
    case KEY_HELP:
        return stop(c, SHOW_HELP);
    case 'V':
        return stop(c, SHOW_VERSION);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- argp ---- */

/* What a parser refuses it has told; what argp itself refuses nobody has told yet. */
static error_t note_outcome(struct context *c, const struct argp_state *state, error_t rc)
{
    c->seen = state->next;
    if (rc && rc != ARGP_ERR_UNKNOWN && c->outcome == GO_ON)
        c->outcome = TOLD;
    return rc;
}

static error_t parse_shared(int k, char *arg, struct argp_state *state)
{
    struct context *c = state->input;
    error_t rc = take(c, k, arg);

    return rc == ARGP_ERR_UNKNOWN ? rc : note_outcome(c, state, rc);
}

static void choose_rows(struct context *c, unsigned groups)
{
    size_t n = 0;

    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].groups == EVERY || (rows[i].groups & groups))
            c->shared[n++] = rows[i].option;
    c->shared[n] = (struct argp_option){0};
}

/* ---- what argp refused ---- */

static bool is_end(const struct argp_option *p)
{
    return !p->name && !p->key && !p->doc && !p->group;
}

/* Options of one list whose long name begins with these letters; an exact match counts alone. */
static unsigned count_matches(const struct argp_option *list, const char *name, size_t len,
                              const struct argp_option **match, bool *exact)
{
    unsigned n = 0;

    for (const struct argp_option *p = list; p && !is_end(p); p++) {
        if (!p->name || strncmp(p->name, name, len))
            continue;
        if (!p->name[len])
            *exact = true;
        if (!*match || !p->name[len])
            *match = p;
        n++;
    }
    return n;
}

static const struct argp_option *find_letter(const struct argp_option *list, int letter)
{
    for (const struct argp_option *p = list; p && !is_end(p); p++)
        if (p->key == letter)
            return p;
    return NULL;
}

static void list_names(const struct argp_option *list, char *buf, size_t cap)
{
    for (const struct argp_option *p = list; p && !is_end(p); p++) {
        size_t used = strlen(buf);
        if (p->name && !(p->flags & OPTION_HIDDEN))
            snprintf(buf + used, cap - used, " --%s", p->name);
    }
}

static void tell_unknown(const struct context *c, const struct argp_option *own, const char *word)
{
    char known[768] = "";

    list_names(own, known, sizeof(known));
    list_names(c->shared, known, sizeof(known));
    uc_usage("unknown option '%s' (known:%s)", word, known);
}

static void tell_long(const struct context *c, const struct argp_option *own, const char *word)
{
    const struct argp_option *match = NULL;
    size_t len = strcspn(word + 2, "=");
    bool exact = false;
    unsigned n = count_matches(own, word + 2, len, &match, &exact) +
                 count_matches(c->shared, word + 2, len, &match, &exact);

    if (!n)
        tell_unknown(c, own, word);
    else if (n > 1 && !exact)
        uc_usage("option '%s' is short for more than one option", word);
    else if (word[2 + len] == '=')
        uc_usage("option '--%s' takes no value, given '%s'", match->name, word + 3 + len);
    else
        uc_usage("option '--%s' needs a value: %s", match->name, match->arg);
}

static void tell_letters(const struct context *c, const struct argp_option *own, const char *word)
{
    for (const char *p = word + 1; *p; p++) {
        const struct argp_option *o = find_letter(own, *p);
        if (!o)
            o = find_letter(c->shared, *p);
        if (o && !o->arg)
            continue;
        if (o)
            uc_usage("option '-%c' needs a value: %s", *p, o->arg);
        else
            tell_unknown(c, own, (char[]){'-', *p, 0});
        return;
    }
}

/* argp gives the place and not the word: it stands before `next`, or at it where an option failed
 * inside a cluster of letters that is not yet done. */
static const char *refused_word(const struct context *c, int next, int argc, char **argv)
{
    const char *before = argv[next - 1];

    if (next > 1 && next != c->seen && before[0] == '-' && before[1])
        return before;
    return next < argc ? argv[next] : before;
}

static void note_refusal(struct context *c, const struct argp_state *state)
{
    const struct argp_option *own = c->own ? c->own->options : NULL;
    const char *word;

    if (c->outcome != GO_ON)
        return;
    c->outcome = TOLD;
    word = refused_word(c, state->next, state->argc, state->argv);
    if (!strncmp(word, "--", 2))
        tell_long(c, own, word);
    else
        tell_letters(c, own, word);
}

/* The outermost parser: the command's own, given its own state in the place of ours. */
static error_t parse_own(int k, char *arg, struct argp_state *state)
{
    struct context *c = state->input;
    error_t rc;

    if (k == ARGP_KEY_INIT) {
        state->child_inputs[0] = c;
        c->seen = state->next;
    }
    if (k == ARGP_KEY_ERROR)
        note_refusal(c, state);
    if (!c->own || !c->own->parser)
        return ARGP_ERR_UNKNOWN;
    state->input = c->own_state;
    rc = c->own->parser(k, arg, state);
    state->input = c;
    return rc == ARGP_ERR_UNKNOWN ? rc : note_outcome(c, state, rc);
}

static int disable_by_variable(struct uc_options *o, unsigned groups)
{
    const char *list = getenv("UCOPY_DISABLE_ISA");

    if (!list || !*list || !(groups & (UC_OPT_RUN | UC_OPT_ISA)))
        return 0;
    return disable_isa("UCOPY_DISABLE_ISA", list, &o->disabled_isa);
}

static void set_defaults(struct uc_options *o)
{
    *o = (struct uc_options){
        .output_dir = ".",
        .core = -1,
        .environment = UCOPY_USER,
        .consumer = -1,
        .seed = 1,
        .max_segments = 6,
    };
}

static int parse(struct context *c, const struct argp *top, int argc, char **argv)
{
    int end = argc;
    error_t rc = argp_parse(top, argc, argv, ARGP_NO_ERRS | ARGP_NO_EXIT | ARGP_NO_HELP, &end, c);

    if (c->outcome == SHOW_HELP) {
        argp_help(top, stdout, ARGP_HELP_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC, argv[0]);
        return UC_EXIT_OK + 1;
    }
    if (c->outcome == SHOW_VERSION) {
        printf("ucopy-tune %s\n", UC_VERSION);
        return UC_EXIT_OK + 1;
    }
    if (!rc && end < argc)
        rc = uc_usage("unexpected argument '%s' (%s --help)", argv[end], argv[0]);
    if (rc == ENOMEM && c->outcome == GO_ON) {
        uc_error("no memory for the options");
        return UC_EXIT_MACHINE + 1;
    }
    return rc ? UC_EXIT_USAGE + 1 : 0;
}

int uc_options_parse(struct uc_options *o, unsigned groups, const struct argp *own, void *own_state,
                     int argc, char **argv)
{
    struct context c = {.o = o, .own = own, .own_state = own_state};
    const struct argp shared = {.options = c.shared, .parser = parse_shared};
    const struct argp_child children[] = {{&shared, 0, own && own->options ? "" : NULL, 0}, {0}};
    struct argp top = {.parser = parse_own, .children = children};

    if (own) {
        top.options = own->options;
        top.args_doc = own->args_doc;
        top.doc = own->doc;
    }
    set_defaults(o);
    choose_rows(&c, groups);
    if (disable_by_variable(o, groups))
        return UC_EXIT_USAGE + 1;
    return parse(&c, &top, argc, argv);
}
