/* What `compare` found, as text in 100 columns. */
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

    printf("%c  %s, %s%s%s, grade %s: %.46s%s%s\n", uc_compare_label(i),
           p->has_cpu ? p->cpu.key : "no CPU named", uc_given_environment(p),
           *p->variant ? ", " : "", p->variant, or_dash(uc_given_method(p, "grade")), p->cpu.name,
           *p->cpu.hypervisor_name ? ", under " : "", p->cpu.hypervisor_name);
    printf("   kernel %.30s, %.16s, microcode %.12s, weights %.16s\n",
           or_dash(uc_given_method(p, "kernel")), or_dash(uc_given_method(p, "libc")),
           or_dash(uc_given_method(p, "microcode")), or_dash(uc_compare_weights(p)));
    printf("   method %lld, %.24s%s%s; %.38s\n", (long long)uc_compare_method(p),
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
            add(line, " %-26c", uc_compare_label(t->who[k]));
        else
            add(line, " %-26s", uc_compare_libc_title(text));
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
    size_t columns = t->n + uc_compare_beside_libc(c, t);

    for (size_t from = 0; from < columns; from += STRATEGIES_A_BLOCK)
        print_steps_block(c, t, from, columns);
    if (t->n > 1)
        puts("  (*: they differ)");
}

/* ---- limits ---- */

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
        printf(" %-10c", uc_compare_label(t->who[k]));
    printf(" apart\n");
    for (size_t i = 0; i < t->limits; i++) {
        printf("  %-31s", t->limit[i].what);
        for (size_t k = from; k < last; k++)
            printf(" %-10s", uc_compare_limit_text(&t->limit[i], k, text));
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
        add(line, " on %-26c", uc_compare_label(t->who[k]));
    put_trimmed(line);
    for (size_t row = 0; row < t->n; row++) {
        line[0] = 0;
        add(line, "  %-6c", uc_compare_label(t->who[row]));
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
                printf("  %c on %c is the C library's memcpy: %c lacks %s\n",
                       uc_compare_label(t->who[row]), uc_compare_label(t->who[k]),
                       uc_compare_label(t->who[k]),
                       ucopy_isa_text(x->lacking, names, sizeof(names)));
            if (x->share.unmeasured)
                printf("  %c on %c: not measured at %zu of %zu sizes (raced out, or absent)\n",
                       uc_compare_label(t->who[row]), uc_compare_label(t->who[k]),
                       x->share.unmeasured, x->share.unmeasured + x->share.sizes);
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
           uc_compare_label(t->who[t->one_header]), 100 * mean, 100 * worst);
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
        at->column = (size_t)printf("absent from %c (%s):", uc_compare_label(profile), why);
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
        printf("\n%s, %s\n", uc_entry_name[t->entry], uc_compare_environment(t));
        print_steps(c, t);
        if (t->n < 2)
            continue;
        for (size_t from = 0; from < t->n; from += LIMITS_A_BLOCK)
            print_limits_block(t, from);
        print_losses(t);
    }
    for (int k = 0; k < 2; k++) {
        struct paragraph at = {0};
        uc_compare_each_absent(c, environment[k], print_absent, &at);
        if (at.column)
            putchar('\n');
    }
}
