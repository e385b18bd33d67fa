/* What `compare` found, as text in 100 columns, CSV or JSON. */
#include <gnu/libc-version.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/compare.h"
#include "cli/given.h"
#include "cli/output.h"

/* Columns of a block; what is more follows in another block. */
enum { STRATEGIES_A_BLOCK = 3, LIMITS_A_BLOCK = 5, LOSSES_A_BLOCK = 3, WIDTH = 100 };

static char label(size_t profile)
{
    return (char)('A' + profile);
}

static const char *environment_of(const struct uc_compare_table *t)
{
    return t->environment == UCOPY_KERNEL ? "kernel" : "user";
}

static const char *libc_title(char buf[48])
{
    snprintf(buf, 48, "glibc %s here", gnu_get_libc_version());
    return buf;
}

static bool beside_libc(const struct uc_compare *c, const struct uc_compare_table *t)
{
    return uc_compare_libc(c, t, 0) != NULL;
}

static const char *or_dash(const char *text)
{
    return *text ? text : "-";
}

/* A line without the blanks that columns leave at its end. */
static void put_trimmed(char *line)
{
    size_t n = strlen(line);

    while (n && line[n - 1] == ' ')
        n--;
    line[n] = 0;
    puts(line);
}

static void add(char line[512], const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add(char line[512], const char *fmt, ...)
{
    size_t n = strlen(line);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(line + n, 512 - n, fmt, ap);
    va_end(ap);
}

/* ---- who they are ---- */

static const char *weights_of(const struct uc_profile *p)
{
    const char *name = json_string_value(json_object_get(p->weights, "name"));
    return name ? name : "";
}

static json_int_t method_version(const struct uc_profile *p)
{
    return json_integer_value(json_object_get(p->method, "version"));
}

/* Is there another one of its key, environment and variant? */
static bool has_namesake(const struct uc_compare *c, size_t i)
{
    const struct uc_profile *p = &c->p[i];

    for (size_t k = 0; k < c->n; k++)
        if (k != i && !strcmp(c->p[k].cpu.key, p->cpu.key) &&
            c->p[k].environment == p->environment && !strcmp(c->p[k].variant, p->variant))
            return true;
    return false;
}

static void print_profile(const struct uc_compare *c, size_t i)
{
    const struct uc_profile *p = &c->p[i];

    printf("%c  %s, %s%s%s, grade %s: %.46s%s%s\n", label(i),
           p->has_cpu ? p->cpu.key : "no CPU named", uc_given_environment(p),
           *p->variant ? ", " : "", p->variant, or_dash(uc_given_method(p, "grade")), p->cpu.name,
           *p->cpu.hypervisor_name ? ", under " : "", p->cpu.hypervisor_name);
    printf("   kernel %.30s, %.16s, microcode %.12s, weights %.16s\n",
           or_dash(uc_given_method(p, "kernel")), or_dash(uc_given_method(p, "libc")),
           or_dash(uc_given_method(p, "microcode")), or_dash(weights_of(p)));
    printf("   method %lld, %.24s%s%s; %.38s\n", (long long)method_version(p),
           or_dash(uc_given_method(p, "timer")),
           json_is_true(json_object_get(p->method, "quick")) ? ", a quick run" : "",
           p->complete ? "" : ", interrupted", *p->tool ? p->tool : "?");
    if (has_namesake(c, i))
        printf("   file %.91s\n", c->file[i]);
}

/* ---- one ladder ---- */

/* "to 16 KiB"; where the C library begins something else at a round size, "under 2112". */
static void step_text(size_t end, char *buf, size_t cap)
{
    char to[UC_SIZE_TEXT], under[UC_SIZE_TEXT];

    if (end == SIZE_MAX) {
        snprintf(buf, cap, "above");
        return;
    }
    uc_size_text(end, to);
    uc_size_text(end + 1, under);
    bool odd = end % 2 && end > 1024;
    snprintf(buf, cap, "%s %s", odd ? "under" : "to", odd ? under : to);
}

static void print_steps_block(const struct uc_compare *c, const struct uc_compare_table *t,
                              size_t from, size_t columns)
{
    char text[48], line[512] = "";
    size_t last = from + STRATEGIES_A_BLOCK < columns ? from + STRATEGIES_A_BLOCK : columns;

    add(line, "  %-15s", "sizes");
    for (size_t k = from; k < last; k++)
        if (k < t->n)
            add(line, " %-26c", label(t->who[k]));
        else
            add(line, " %-26s", libc_title(text));
    put_trimmed(line);
    for (size_t s = 0; s < t->steps; s++) {
        step_text(t->end[s], text, sizeof(text));
        line[0] = 0;
        add(line, "%c %-15s", uc_compare_differs(c, t, s) ? '*' : ' ', text);
        for (size_t k = from; k < last; k++)
            add(line, " %-26s",
                k < t->n ? uc_compare_strategy(c, t, k, s) : uc_compare_libc(c, t, s));
        put_trimmed(line);
    }
}

static void print_steps(const struct uc_compare *c, const struct uc_compare_table *t)
{
    size_t columns = t->n + beside_libc(c, t);

    for (size_t from = 0; from < columns; from += STRATEGIES_A_BLOCK)
        print_steps_block(c, t, from, columns);
    if (t->n > 1)
        puts("  (*: they differ)");
}

/* ---- limits ---- */

static const char *limit_text(const struct uc_compare_limit *x, size_t column,
                              char buf[UC_SIZE_TEXT])
{
    static const char *const word[] = {
        [UC_NEVER] = "not chosen", [UC_TO_THE_END] = "no end", [UC_ABSENT] = "absent"};

    return x->kind[column] == UC_AT_SIZE ? uc_size_text(x->size[column], buf)
                                         : word[x->kind[column]];
}

static void factor_text(double factor, char *buf, size_t cap)
{
    if (factor > 1)
        snprintf(buf, cap, factor < 10 ? "%.2g times" : "%.0f times", factor);
    else
        snprintf(buf, cap, "%s", factor > 0 ? "the same" : "-");
}

static void print_limits_block(const struct uc_compare_table *t, size_t from)
{
    size_t last = from + LIMITS_A_BLOCK < t->n ? from + LIMITS_A_BLOCK : t->n;
    char text[32];

    printf("  %-31s", "limits");
    for (size_t k = from; k < last; k++)
        printf(" %-10c", label(t->who[k]));
    printf(" apart\n");
    for (size_t i = 0; i < t->limits; i++) {
        printf("  %-31s", t->limit[i].what);
        for (size_t k = from; k < last; k++)
            printf(" %-10s", limit_text(&t->limit[i], k, text));
        factor_text(t->limit[i].factor, text, sizeof(text));
        printf(" %s\n", text);
    }
}

/* ---- losses ---- */

static void loss_text(const struct uc_compare_loss *x, char *buf, size_t cap)
{
    char at[UC_SIZE_TEXT];

    if (!x->known)
        snprintf(buf, cap, "no cells");
    else
        snprintf(buf, cap, "%+.1f %%, %+.0f %% at %s", 100 * x->share.mean, 100 * x->share.worst,
                 uc_size_text(x->share.worst_at, at));
}

static void print_losses_block(const struct uc_compare_table *t, size_t from)
{
    size_t last = from + LOSSES_A_BLOCK < t->n ? from + LOSSES_A_BLOCK : t->n;
    char line[512] = "";

    add(line, "  %-6s", "");
    for (size_t k = from; k < last; k++)
        add(line, " on %-26c", label(t->who[k]));
    put_trimmed(line);
    for (size_t row = 0; row < t->n; row++) {
        line[0] = 0;
        add(line, "  %-6c", label(t->who[row]));
        for (size_t k = from; k < last; k++) {
            char text[64];
            loss_text(&t->loss[row][k], text, sizeof(text));
            add(line, " %-29s", row == k && t->loss[row][k].known ? "its own" : text);
        }
        put_trimmed(line);
    }
}

static void print_loss_notes(const struct uc_compare_table *t)
{
    char names[128];

    for (size_t row = 0; row < t->n; row++)
        for (size_t k = 0; k < t->n; k++) {
            const struct uc_compare_loss *x = &t->loss[row][k];
            if (row == k || !x->known)
                continue;
            if (x->lacking)
                printf("  %c on %c is the C library's memcpy: %c lacks %s\n", label(t->who[row]),
                       label(t->who[k]), label(t->who[k]),
                       ucopy_isa_text(x->lacking, names, sizeof(names)));
            if (x->share.unmeasured)
                printf("  %c on %c: not measured at %zu of %zu sizes (raced out, or absent)\n",
                       label(t->who[row]), label(t->who[k]), x->share.unmeasured,
                       x->share.unmeasured + x->share.sizes);
        }
}

static void print_one_header(const struct uc_compare_table *t)
{
    double mean = 0, worst = 0;

    if (t->one_header < 0)
        return;
    for (size_t k = 0; k < t->n; k++) {
        mean = fmax(mean, t->loss[t->one_header][k].share.mean);
        worst = fmax(worst, t->loss[t->one_header][k].share.worst);
    }
    printf("  one header for all: %c, at most %.1f %% more on a box, %.0f %% at one size\n",
           label(t->who[t->one_header]), 100 * mean, 100 * worst);
}

static void print_losses(const struct uc_compare_table *t)
{
    puts("  a profile (row) on the cells of a box: what it costs over that box's own, mean and "
         "worst");
    for (size_t from = 0; from < t->n; from += LOSSES_A_BLOCK)
        print_losses_block(t, from);
    print_loss_notes(t);
    print_one_header(t);
}

/* ---- strategies that are not everywhere ---- */

/* Why there are no cells of a strategy in a profile. */
static void why_absent(const struct uc_profile *p, const char *strategy, char *buf, size_t cap)
{
    const struct ucopy_strategy *s = ucopy_find(strategy);
    uint32_t lacking = s && p->has_cpu ? s->isa & ~p->cpu.isa : 0;
    char names[128];

    if (lacking)
        snprintf(buf, cap, "lacks %s", ucopy_isa_text(lacking, names, sizeof(names)));
    else
        snprintf(buf, cap, "has no cells of it");
}

struct names {
    char (*v)[UC_NAME];
    size_t n;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* All strategies that any profile of the environment has cells of, each once. */
static struct names all_names(const struct uc_compare *c, unsigned environment)
{
    struct names out = {malloc(1024 * sizeof(*out.v)), 0};

    for (size_t i = 0; i < c->n && out.v; i++)
        for (size_t k = 0; k < c->p[i].cells.n && c->p[i].environment == environment; k++) {
            const char *name = c->p[i].cells.v[k].strategy;
            if (out.n < 1024 && !bsearch(name, out.v, out.n, sizeof(*out.v), by_name)) {
                memcpy(out.v[out.n++], name, UC_NAME);
                qsort(out.v, out.n, sizeof(*out.v), by_name);
            }
        }
    return out;
}

typedef void absent_fn(size_t profile, const char *name, const char *why, void *state);

/* Those that one profile has no cells of; reasons lie together. */
static void absent_from(const struct uc_compare *c, size_t profile, const struct names *names,
                        absent_fn *f, void *state)
{
    bool *said = calloc(names->n + 1, sizeof(*said));
    char why[160], other[160];

    for (size_t i = 0; i < names->n && said; i++) {
        if (said[i] || uc_compare_has(&c->p[profile], names->v[i]))
            continue;
        why_absent(&c->p[profile], names->v[i], why, sizeof(why));
        for (size_t k = i; k < names->n; k++) {
            if (said[k] || uc_compare_has(&c->p[profile], names->v[k]))
                continue;
            why_absent(&c->p[profile], names->v[k], other, sizeof(other));
            if (strcmp(why, other) != 0)
                continue;
            f(profile, names->v[k], why, state);
            said[k] = true;
        }
    }
    free(said);
}

/* Calls f for each profile with cells that has none of a strategy that another has. */
static void each_absent(const struct uc_compare *c, unsigned environment, absent_fn *f, void *state)
{
    struct names names = all_names(c, environment);

    for (size_t i = 0; i < c->n; i++)
        if (c->p[i].environment == environment && c->p[i].cells.n)
            absent_from(c, i, &names, f, state);
    free(names.v);
}

/* One paragraph a profile and reason. */
struct paragraph {
    size_t profile;
    char why[160];
    size_t column;
};

static void print_absent(size_t profile, const char *name, const char *why, void *state)
{
    struct paragraph *at = state;

    if (at->column && (at->profile != profile || strcmp(at->why, why) != 0)) {
        putchar('\n');
        at->column = 0;
    }
    if (!at->column) {
        at->profile = profile;
        snprintf(at->why, sizeof(at->why), "%s", why);
        at->column = (size_t)printf("absent from %c (%s):", label(profile), why);
    }
    if (at->column + strlen(name) + 1 > WIDTH)
        at->column = (size_t)printf("\n   ") - 1;
    at->column += (size_t)printf(" %s", name);
}

/* ---- text ---- */

void uc_compare_print_text(const struct uc_compare *c)
{
    static const unsigned environment[] = {UCOPY_USER, UCOPY_KERNEL};

    uc_print_version();
    for (size_t i = 0; i < c->n; i++)
        print_profile(c, i);
    for (size_t i = 0; i < c->tables; i++) {
        const struct uc_compare_table *t = &c->table[i];
        printf("\n%s, %s\n", uc_entry_name[t->entry], environment_of(t));
        print_steps(c, t);
        if (t->n < 2)
            continue;
        for (size_t from = 0; from < t->n; from += LIMITS_A_BLOCK)
            print_limits_block(t, from);
        print_losses(t);
    }
    for (int k = 0; k < 2; k++) {
        struct paragraph at = {0};
        each_absent(c, environment[k], print_absent, &at);
        if (at.column)
            putchar('\n');
    }
}

/* ---- CSV: one kind of row a table, in one list of columns ---- */

static void csv_size(size_t n)
{
    if (n == SIZE_MAX)
        putchar(',');
    else
        printf(",%zu", n);
}

static void csv_absent(size_t profile, const char *name, const char *why, void *state)
{
    printf("absent,%s,,%c,,,,%s,,,,,,%s\n", (const char *)state, label(profile), name, why);
}

static void csv_steps(const struct uc_compare *c, const struct uc_compare_table *t)
{
    for (size_t s = 0; s < t->steps; s++)
        for (size_t k = 0; k < t->n + beside_libc(c, t); k++) {
            printf("step,%s,%s,", environment_of(t), uc_entry_name[t->entry]);
            if (k < t->n)
                putchar(label(t->who[k]));
            else
                printf("libc");
            printf(",");
            csv_size(s ? t->end[s - 1] + 1 : 0);
            csv_size(t->end[s]);
            printf(",%s,,,,,,%s\n",
                   k < t->n ? uc_compare_strategy(c, t, k, s) : uc_compare_libc(c, t, s),
                   uc_compare_differs(c, t, s) ? "differs" : "");
        }
}

static void csv_limits(const struct uc_compare_table *t)
{
    char text[UC_SIZE_TEXT];

    for (size_t i = 0; i < t->limits; i++)
        for (size_t k = 0; k < t->n; k++) {
            const struct uc_compare_limit *x = &t->limit[i];
            printf("limit,%s,%s,%c,,", environment_of(t), uc_entry_name[t->entry],
                   label(t->who[k]));
            csv_size(x->kind[k] == UC_AT_SIZE ? x->size[k] : SIZE_MAX);
            printf(",%s,", x->what);
            if (x->factor > 0)
                printf("%.4g", x->factor);
            printf(",,,,,%s\n", x->kind[k] == UC_AT_SIZE ? "" : limit_text(x, k, text));
        }
}

static void csv_losses(const struct uc_compare_table *t)
{
    char names[128];

    for (size_t row = 0; row < t->n; row++)
        for (size_t k = 0; k < t->n; k++) {
            const struct uc_compare_loss *x = &t->loss[row][k];
            if (!x->known)
                continue;
            printf("loss,%s,%s,%c,%c,,,,,%.4f,%.4f,%zu,%zu,%s%s\n", environment_of(t),
                   uc_entry_name[t->entry], label(t->who[row]), label(t->who[k]), x->share.mean,
                   x->share.worst, x->share.worst_at, x->share.unmeasured,
                   x->lacking ? "memcpy: lacks " : "",
                   ucopy_isa_text(x->lacking, names, sizeof(names)));
        }
}

void uc_compare_print_csv(const struct uc_compare *c)
{
    puts("kind,environment,entry,profile,on,first,last,what,factor,mean,worst,worst_at,unmeasured,"
         "note");
    for (size_t i = 0; i < c->n; i++)
        printf("profile,%s,,%c,,,,%s,,,,,,%s\n", uc_given_environment(&c->p[i]), label(i),
               c->p[i].has_cpu ? c->p[i].cpu.key : "", uc_given_method(&c->p[i], "grade"));
    for (size_t i = 0; i < c->tables; i++) {
        csv_steps(c, &c->table[i]);
        csv_limits(&c->table[i]);
        csv_losses(&c->table[i]);
    }
    each_absent(c, UCOPY_USER, csv_absent, "user");
    each_absent(c, UCOPY_KERNEL, csv_absent, "kernel");
    uc_print_version();
}

/* ---- JSON ---- */

static json_t *number(double x)
{
    return json_real(round(x * 1e4) / 1e4);
}

static json_t *label_json(size_t profile)
{
    return json_stringn((char[]){label(profile)}, 1);
}

static json_t *profile_json(const struct uc_compare *c, size_t i)
{
    const struct uc_profile *p = &c->p[i];

    return json_pack(
        "{s:o, s:s, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b}", "label",
        label_json(i), "file", c->file[i], "key", uc_json_string(p->cpu.key), "name",
        uc_json_string(p->cpu.name), "hypervisor", uc_json_string(p->cpu.hypervisor_name),
        "environment", uc_given_environment(p), "variant", uc_json_string(p->variant), "grade",
        uc_json_string(uc_given_method(p, "grade")), "kernel",
        uc_json_string(uc_given_method(p, "kernel")), "libc",
        uc_json_string(uc_given_method(p, "libc")), "microcode",
        uc_json_string(uc_given_method(p, "microcode")), "compiler",
        uc_json_string(uc_given_method(p, "compiler")), "weights", uc_json_string(weights_of(p)),
        "method", json_integer(method_version(p)), "complete", (int)p->complete, "edited",
        (int)p->digest_differs);
}

static json_t *steps_json(const struct uc_compare *c, const struct uc_compare_table *t)
{
    json_t *steps = json_array();

    for (size_t s = 0; s < t->steps; s++) {
        json_t *names = json_array();
        for (size_t k = 0; k < t->n; k++)
            json_array_append_new(names, json_string(uc_compare_strategy(c, t, k, s)));
        json_array_append_new(
            steps,
            json_pack("{s:I, s:o, s:o, s:o, s:b}", "first", (json_int_t)(s ? t->end[s - 1] + 1 : 0),
                      "last", uc_json_size(t->end[s], SIZE_MAX), "strategies", names, "libc",
                      beside_libc(c, t) ? json_string(uc_compare_libc(c, t, s)) : json_null(),
                      "differ", (int)uc_compare_differs(c, t, s)));
    }
    return steps;
}

static json_t *limits_json(const struct uc_compare_table *t)
{
    json_t *limits = json_array();
    char text[UC_SIZE_TEXT];

    for (size_t i = 0; i < t->limits; i++) {
        const struct uc_compare_limit *x = &t->limit[i];
        json_t *sizes = json_array();
        for (size_t k = 0; k < t->n; k++)
            json_array_append_new(sizes, x->kind[k] == UC_AT_SIZE
                                             ? json_integer((json_int_t)x->size[k])
                                             : json_string(limit_text(x, k, text)));
        json_array_append_new(limits,
                              json_pack("{s:s, s:o, s:o}", "what", x->what, "at", sizes, "factor",
                                        x->factor > 0 ? number(x->factor) : json_null()));
    }
    return limits;
}

static json_t *loss_json(const struct uc_compare_table *t, size_t row, size_t k)
{
    const struct uc_compare_loss *x = &t->loss[row][k];
    char names[128];

    if (!x->known)
        return json_pack("{s:o, s:o, s:n, s:n}", "profile", label_json(t->who[row]), "on",
                         label_json(t->who[k]), "mean", "worst");
    return json_pack("{s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:o}", "profile", label_json(t->who[row]),
                     "on", label_json(t->who[k]), "mean", number(x->share.mean), "worst",
                     number(x->share.worst), "worst_at", (json_int_t)x->share.worst_at, "sizes",
                     (json_int_t)x->share.sizes, "unmeasured", (json_int_t)x->share.unmeasured,
                     "lacks", uc_json_string(ucopy_isa_text(x->lacking, names, sizeof(names))));
}

static json_t *table_json(const struct uc_compare *c, const struct uc_compare_table *t)
{
    json_t *who = json_array(), *loss = json_array();

    for (size_t k = 0; k < t->n; k++)
        json_array_append_new(who, label_json(t->who[k]));
    for (size_t row = 0; row < t->n; row++)
        for (size_t k = 0; k < t->n; k++)
            json_array_append_new(loss, loss_json(t, row, k));
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "environment", environment_of(t),
                     "entry", uc_entry_name[t->entry], "profiles", who, "steps", steps_json(c, t),
                     "limits", limits_json(t), "loss", loss, "one_header",
                     t->one_header < 0 ? json_null() : label_json(t->who[t->one_header]));
}

static json_t *libc_json(const struct uc_compare *c)
{
    char title[48];

    if (!c->has_libc)
        return json_null();
    return json_pack("{s:s, s:o, s:o}", "name", libc_title(title), "rep_movsb_from",
                     uc_json_size(c->libc.rep_movsb, SIZE_MAX), "non_temporal_from",
                     uc_json_size(c->libc.non_temporal, SIZE_MAX));
}

static void absent_json(size_t profile, const char *name, const char *why, void *list)
{
    json_array_append_new(list, json_pack("{s:s, s:o, s:s}", "strategy", name, "profile",
                                          label_json(profile), "why", why));
}

int uc_compare_print_json(const struct uc_compare *c)
{
    json_t *profiles = json_array(), *tables = json_array(), *absent = json_array();

    for (size_t i = 0; i < c->n; i++)
        json_array_append_new(profiles, profile_json(c, i));
    for (size_t i = 0; i < c->tables; i++)
        json_array_append_new(tables, table_json(c, &c->table[i]));
    each_absent(c, UCOPY_USER, absent_json, absent);
    each_absent(c, UCOPY_KERNEL, absent_json, absent);
    json_t *root = json_pack("{s:s, s:o, s:o, s:o, s:o}", "tool", UC_TOOL, "profiles", profiles,
                             "libc", libc_json(c), "tables", tables, "absent", absent);
    return uc_print_json(root);
}
