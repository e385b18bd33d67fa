/* `bench --inline`: is a copy better inlined or called? By size, with warm and with cold code, and
 * what each costs in bytes of code. */
#include "cli/bench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "cli/command.h"
#include "cli/output.h"

int uc_bench_inline_check(const struct uc_bench *b, const struct uc_options *o)
{
    int rc = 0;

    for (size_t i = 0; i < b->names && !rc; i++)
        if (b->named[i]->flags & UCOPY_LIBC)
            rc = uc_usage("--inline: %s has no inlined form", b->named[i]->name);
    if (!rc && b->peers)
        rc = uc_usage("--inline: --peer %s has no inlined form", b->peer[0]);
    if (!rc && b->state != UC_NATURAL && b->state != UC_L1)
        rc = uc_usage("--inline: --state %s: only natural and l1 can be had",
                      uc_state_name[b->state]);
    if (!rc && (o->consumer == UC_SCAN || o->consumer == UC_EVICT))
        rc = uc_usage("--inline: --consumer %s: only none, read and wait can be had",
                      uc_consumer_name[o->consumer]);
    return rc ? UC_EXIT_USAGE : 0;
}

static int add_strategies(struct uc_bench *b, const struct ucopy_strategy *const *strategy,
                          size_t count, struct uc_subject *u, size_t *n)
{
    char why[256] = "";
    int rc = uc_build_strategy_forms(strategy, count, u, &b->object[b->objects], why, sizeof(why));

    if (rc == -EINTR)
        return uc_session_interrupted();
    if (rc) {
        uc_error("--inline: %s", why[0] ? why : strerror(-rc));
        return UC_EXIT_MACHINE;
    }
    b->objects++;
    *n += UC_FORM_COUNT * count;
    return 0;
}

static int add_named(struct uc_bench *b, const struct uc_session *s, struct uc_subject *u,
                     size_t *n)
{
    for (size_t i = 0; i < b->names; i++)
        if (!uc_bench_usable(b->named[i], s))
            return UC_EXIT_MACHINE;
    return add_strategies(b, b->named, b->names, u, n);
}

static int add_dispatches(struct uc_bench *b, const struct uc_session *s, struct uc_subject *u,
                          size_t *n)
{
    const struct ucopy_strategy *found[UC_BENCH_NAMES];
    size_t count = 0;

    for (size_t i = 0; i < ucopy_strategy_count && count < UC_BENCH_NAMES; i++) {
        const struct ucopy_strategy *x = &ucopy_strategies[i];
        if (x->flags & UCOPY_DISPATCH && !(x->isa & ~s->isa))
            found[count++] = x;
    }
    return add_strategies(b, found, count, u, n);
}

/* As a baseline build has it, and one with -march=native. */
static int add_header(struct uc_bench *b, const char *path, struct uc_subject *u, size_t *n)
{
    char function[96], name[UC_NAME], why[256] = "", *text;
    int rc = uc_bench_read_header(path, &text, function, sizeof(function));

    for (int native = 0; native < 2 && !rc; native++) {
        snprintf(name, sizeof(name), "%.36s %s", function, native ? "native" : "baseline");
        rc = uc_build_header_forms(text, function, name, native, &u[*n], &b->object[b->objects],
                                   why, sizeof(why));
        if (rc)
            break;
        b->objects++;
        *n += UC_FORM_COUNT;
    }
    free(text);
    return rc ? uc_bench_header_failed(path, rc, why) : 0;
}

static bool any_served(const struct uc_bench *b, const struct uc_subject *u, size_t n)
{
    for (size_t i = 0; i < b->sizes; i++)
        for (size_t k = 0; k < n; k++)
            if (b->size[i] >= u[k].min && b->size[i] <= u[k].max)
                return true;
    return false;
}

/* The same copy twice would be one in the table. */
static void drop_repeated(struct uc_bench *b)
{
    size_t kept = 0;

    for (size_t i = 0; i < b->names; i++) {
        size_t k = 0;
        while (k < kept && b->named[k] != b->named[i])
            k++;
        if (k == kept)
            b->named[kept++] = b->named[i];
    }
    b->names = kept;
}

int uc_bench_inline_subjects(struct uc_bench *b, const struct uc_session *s, struct uc_subject *u,
                             size_t *n)
{
    int rc = 0;

    drop_repeated(b);
    if (b->names)
        rc = add_named(b, s, u, n);
    else if (!b->headers)
        rc = add_dispatches(b, s, u, n);
    for (size_t i = 0; i < b->headers && !rc; i++)
        rc = add_header(b, b->header[i], u, n);
    if (!rc && !any_served(b, u, *n)) {
        uc_usage("--inline: none of the sizes is served by %s",
                 *n > UC_FORM_COUNT ? "these copies" : u->name);
        rc = UC_EXIT_USAGE;
    }
    return rc;
}

static void print_row(const struct uc_cell *c, const struct uc_cell *called,
                      const struct uc_subject *u)
{
    char interval[32];

    snprintf(interval, sizeof(interval), "%.2f to %.2f", c->lo / called->hi, c->hi / called->lo);
    printf("%10zu  %-30s %-5s %-8s %8.2f %7.2f  %-14s %5ld %9ld %9ld\n", c->size, c->strategy,
           uc_code_name[c->code], uc_form_name[c->form], c->cost, c->cost / called->cost, interval,
           u->code.site, u->code.dispatch, u->code.strategy);
}

void uc_bench_inline_print(const struct uc_bench *b, const struct uc_options *o,
                           const struct uc_session *s, const struct uc_cells *cells,
                           const struct uc_subject *u, size_t n)
{
    uc_print_version();
    printf("# ns a call on %s, CPU %d; TSC %.4f GHz; state %s, consumer %s; ratio: to the called "
           "form's\n"
           "# bytes of code: at each call site, and once for all of them, of the dispatch and of "
           "the strategies behind it\n",
           s->cpu.key, s->pu, s->clock.tsc_hz / 1e9, uc_state_name[b->state],
           uc_consumer_name[o->consumer < 0 ? 0 : o->consumer]);
    printf("%10s  %-30s %-5s %-8s %8s %7s  %-14s %5s %9s %9s\n", "size", "strategy", "code", "form",
           "ns", "ratio", "interval", "site", "dispatch", "strategy");
    for (size_t i = 0; i < b->sizes; i++)
        for (size_t k = 0; k + UC_FORM_COUNT <= n; k += UC_FORM_COUNT)
            for (int code = UC_WARM; code <= UC_COLD; code++) {
                const struct uc_cell *called =
                    uc_bench_cell(cells, &u[k], b->size[i], (enum uc_code)code);
                for (size_t f = k; f < k + UC_FORM_COUNT && called; f++) {
                    const struct uc_cell *c =
                        uc_bench_cell(cells, &u[f], b->size[i], (enum uc_code)code);
                    if (c)
                        print_row(c, called, &u[f]);
                }
            }
}
