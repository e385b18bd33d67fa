/* `ucopy-tune merge PROFILE...`: one header for several CPUs, picked at run time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "cli/command.h"
#include "cli/given.h"
#include "cli/merge.h"
#include "cli/options.h"

enum { NAME = 0x100 }; /* of options without a letter */

static error_t set_name(struct uc_merge *x, const char *name)
{
    if (!uc_merged_name_valid(name))
        return uc_usage(
            "--name: '%s' is no prefix of names (small letters, digits and at least one "
            "_ inside, a letter first, no word of C or C++, at most %d characters)",
            name, UC_MERGED_NAME);
    x->m.name = name;
    return 0;
}

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
    struct uc_merge *x = state->input;

    switch (key) {
    case 'o':
        if (!*arg)
            return uc_usage("--output: the value is empty");
        x->output = arg;
        return 0;
    case NAME:
        return set_name(x, arg);
    case ARGP_KEY_ARG:
        if (x->n == UC_MERGE_MOST)
            return uc_usage("more than %d profiles", UC_MERGE_MOST);
        x->in[x->n++].file = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- what comes in ---- */

static int refuse_input(const struct uc_merge_input *in)
{
    char why[256] = "";

    if (!in->p.has_cpu || strlen(in->p.cpu.vendor) != 12) {
        uc_error("%s: names no CPU that could be told by its vendor, family and model", in->file);
        return UC_EXIT_USAGE;
    }
    if (uc_merged_check(&in->p, why, sizeof(why))) {
        uc_error("%s: not in a header: %s", in->file, why);
        return UC_EXIT_NO;
    }
    if (!in->p.complete)
        uc_warn("%s: the run that made it was interrupted", in->file);
    return 0;
}

static int read_all(struct uc_merge *x)
{
    int rc = 0;

    for (size_t i = 0; i < x->n && !rc; i++) {
        rc = uc_given_profile(x->in[i].file, &x->in[i].p);
        if (!rc)
            rc = refuse_input(&x->in[i]);
    }
    return rc;
}

static int check_environments(const struct uc_merge *x)
{
    for (size_t i = 1; i < x->n; i++)
        if (x->in[i].p.environment != x->in[0].p.environment) {
            uc_error("%s is of environment %s and %s of environment %s: a header holds one of them",
                     x->in[0].file, uc_given_environment(&x->in[0].p), x->in[i].file,
                     uc_given_environment(&x->in[i].p));
            return UC_EXIT_USAGE;
        }
    return 0;
}

/* Vendor, then smaller families and models first; p cores behind e cores. */
static int by_cpu(const void *a, const void *b)
{
    const struct uc_cpu *x = &((const struct uc_merge_input *)a)->p.cpu,
                        *y = &((const struct uc_merge_input *)b)->p.cpu;
    int vendors = strcmp(x->vendor, y->vendor);

    if (vendors)
        return vendors;
    if (x->family != y->family)
        return x->family < y->family ? -1 : 1;
    if (x->model != y->model)
        return x->model < y->model ? -1 : 1;
    return strcmp(x->core_kind, y->core_kind);
}

static bool same_cpu(const struct uc_cpu *x, const struct uc_cpu *y)
{
    return !strcmp(x->vendor, y->vendor) && x->family == y->family && x->model == y->model;
}

/* The second of the two kinds of cores behind the first: e comes before p. */
static bool are_kinds(const struct uc_merge_input *in)
{
    return same_cpu(&in[0].p.cpu, &in[1].p.cpu) && !strcmp(in[0].p.cpu.core_kind, "e") &&
           !strcmp(in[1].p.cpu.core_kind, "p");
}

static int refuse_twice(const struct uc_merge_input *a, const struct uc_merge_input *b)
{
    uc_error("%s and %s are two profiles of one CPU, %s: give one of them (`ucopy-tune compare` "
             "tells what each would cost the other)",
             a->file, b->file, b->p.cpu.key);
    return UC_EXIT_USAGE;
}

/* ---- what goes out ---- */

/* "intel-06-b7-p" to "intel-06-b7". */
static void drop_kind(struct uc_cpu *cpu)
{
    size_t n = strlen(cpu->key), kind = strlen(cpu->core_kind) + 1;

    if (n > kind && cpu->key[n - kind] == '-' && !strcmp(cpu->key + n - kind + 1, cpu->core_kind))
        cpu->key[n - kind] = 0;
    cpu->core_kind[0] = 0;
}

static int add_single(struct uc_merge *x, const struct uc_merge_input *in)
{
    struct uc_profile *made = &x->made[x->m.n];

    *made = in->p;
    if (*in->p.cpu.core_kind)
        uc_warn("%s: of the %s cores of a hybrid CPU alone; its other cores get the same copies",
                in->file, in->p.cpu.core_kind);
    x->cpu[x->m.n++].p = made;
    return 0;
}

static int add_hybrid(struct uc_merge *x, const struct uc_merge_input *e,
                      const struct uc_merge_input *p)
{
    struct uc_profile *made = &x->made[x->m.n];
    struct uc_merged_cpu *c = &x->cpu[x->m.n];
    int rc = 0;

    *made = p->p;
    drop_kind(&made->cpu);
    made->hashes = NULL; /* looked at with the profiles themselves */
    for (int i = 0; i < UC_ENTRY_COUNT && !rc; i++) {
        struct uc_profile_entry *entry = &made->entry[i];
        entry->present = entry->present && e->p.entry[i].present;
        if (entry->present)
            rc = uc_merge_hybrid(&p->p, &e->p, (enum uc_entry)i, &entry->ladder, c->price[i]);
    }
    if (rc == -ENOTSUP)
        uc_error("%s and %s: neither's copies may be executed by both kinds of cores", p->file,
                 e->file);
    else if (rc)
        uc_error("no memory to price the profiles: %s", strerror(-rc));
    c->p = made;
    c->kind[0] = &p->p;
    c->kind[1] = &e->p;
    x->m.n++;
    return rc == -ENOTSUP ? UC_EXIT_NO : rc ? UC_EXIT_MACHINE : 0;
}

static int make_cpus(struct uc_merge *x)
{
    int rc = 0;

    qsort(x->in, x->n, sizeof(x->in[0]), by_cpu);
    for (size_t i = 0; i < x->n && !rc; i++) {
        const struct uc_merge_input *in = &x->in[i];
        if (i + 1 < x->n && are_kinds(in))
            rc = add_hybrid(x, in, in + 1), i++;
        else
            rc = add_single(x, in);
        if (!rc && i + 1 < x->n && same_cpu(&x->in[i].p.cpu, &x->in[i + 1].p.cpu))
            rc = refuse_twice(&x->in[i], &x->in[i + 1]);
    }
    return rc;
}

/* Names come from keys: where one was edited, two CPUs may have the same. */
static int check_keys(const struct uc_merge *x)
{
    for (size_t i = 0; i < x->m.n; i++)
        for (size_t k = 0; k < i; k++)
            if (!strcmp(x->made[i].cpu.key, x->made[k].cpu.key)) {
                uc_error("two CPUs are called %s, of family %u and model %u and of family %u and "
                         "model %u: one of the profiles is wrong",
                         x->made[i].cpu.key, x->made[k].cpu.family, x->made[k].cpu.model,
                         x->made[i].cpu.family, x->made[i].cpu.model);
                return UC_EXIT_USAGE;
            }
    return 0;
}

/* An entry is offered where all have it, and what is inlined is not a CPU's own. */
static int set_entries(struct uc_merge *x)
{
    int offered = 0;

    for (int e = 0; e < UC_ENTRY_COUNT; e++) {
        const struct uc_profile *without = NULL;
        for (size_t i = 0; i < x->m.n; i++)
            if (!x->made[i].entry[e].present)
                without = &x->made[i];
        x->m.entry[e] = !without;
        offered += !without;
        if (without)
            uc_warn("%s is left out: %s has none", uc_entry_name[e], without->cpu.key);
        for (size_t i = 0; i < x->m.n; i++) {
            struct uc_profile_entry *entry = &x->made[i].entry[e];
            entry->present = x->m.entry[e];
            entry->inline_baseline.strategy[0] = entry->inline_wide.strategy[0] = 0;
        }
    }
    if (!offered)
        uc_error("the profiles have no entry that all of them have");
    return offered ? 0 : UC_EXIT_NO;
}

static int set_inlined(struct uc_merge *x)
{
    int rc = 0;

    for (int e = 0; e < UC_ENTRY_COUNT && !rc; e++)
        if (x->m.entry[e])
            rc = uc_merge_inline(x, (enum uc_entry)e, &x->m.inlined[e]);
    if (rc)
        uc_error("no memory to price the profiles: %s", strerror(-rc));
    return rc ? UC_EXIT_MACHINE : 0;
}

static int write_header(const struct uc_merge *x)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    int rc = out ? uc_emit_merged(&x->m, out) : -ENOMEM;

    if (out && fclose(out) && !rc)
        rc = -ENOMEM;
    if (rc)
        uc_error("no memory for the header: %s", strerror(-rc));
    rc = rc ? UC_EXIT_MACHINE : uc_write_output(x->output, text, len);
    free(text);
    return rc;
}

static const char *default_name(const struct uc_merge *x)
{
    return x->in[0].p.environment == UCOPY_KERNEL ? "ucopy_merged_kernel" : "ucopy_merged";
}

static int run(struct uc_merge *x)
{
    int rc = read_all(x);

    x->m.cpu = x->cpu;
    x->m.name = x->m.name ? x->m.name : default_name(x);
    rc = rc ? rc : check_environments(x);
    rc = rc ? rc : make_cpus(x);
    rc = rc ? rc : check_keys(x);
    rc = rc ? rc : set_entries(x);
    rc = rc ? rc : set_inlined(x);
    return rc ? rc : write_header(x);
}

static int merge(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"output", 'o', "FILE", 0, "write this file; default, and -: standard output", 0},
        {"name", NAME, "PREFIX", 0,
         "what all names begin with; default: ucopy_merged, of kernel profiles ucopy_merged_kernel",
         0},
        {0},
    };
    static const struct argp own = {
        .options = options,
        .parser = parse_own,
        .args_doc = "PROFILE...",
        .doc =
            "One header for the CPUs of several profiles (their JSON, or the headers beside it): a "
            "function that copies as the profile of the CPU at hand does, picked at run time, "
            "once. A CPU of another model gets the copies of the nearest one of its vendor that "
            "it may execute, of another vendor the C library's. The profiles of the two kinds of "
            "cores of a hybrid CPU become one answer that both may execute."
            "\v"
            "Example: ucopy-tune merge profiles/amd-19-01.json profiles/intel-06-cf.json -o copy.h",
    };
    struct uc_options o;
    struct uc_merge *x = calloc(1, sizeof(*x));

    if (!x) {
        uc_error("no memory for the profiles: %s", strerror(ENOMEM));
        return UC_EXIT_MACHINE;
    }
    int rc = uc_options_parse(&o, 0, &own, x, argc, argv);
    if (!rc && !x->n)
        uc_usage("merge needs a PROFILE");
    rc = rc ? rc - 1 : x->n ? run(x) : UC_EXIT_USAGE;
    for (size_t i = 0; i < x->n; i++)
        uc_profile_free(&x->in[i].p);
    free(x);
    return rc;
}

const struct uc_command uc_command_merge = {
    .name = "merge",
    .summary = "one header for several CPUs, picked at run time",
    .run = merge,
};
