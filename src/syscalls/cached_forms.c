/* The bytes of a 2 MiB read copied in user mode by the same loop, with the copy inline, called, and
 * called behind a check, and what each takes in bytes of code. */
#include "syscalls/cached_reads.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/buffers.h"
#include "measure/form_build.h"

#define COPIES 2
#define SMALLEST 64u

static const size_t sizes[] = {SMALLEST, 4096};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

struct forms {
    struct uc_sys_run *run;
    struct uc_subject u[COPIES * UC_FORM_COUNT];
    struct uc_buffer src, dst;
    struct uc_call *calls;
};

static int map_buffers(void *ctx)
{
    struct forms *p = ctx;
    int rc = uc_buffer_map(&p->src, UC_CACHED_READ, UC_NEXT_UNMAPPED, uc_ticks());

    if (!rc)
        rc = uc_buffer_map(&p->dst, UC_CACHED_READ, UC_NEXT_UNMAPPED, uc_ticks());
    if (rc)
        uc_buffer_unmap(&p->src);
    return rc;
}

static void unmap_buffers(void *ctx)
{
    struct forms *p = ctx;

    uc_buffer_unmap(&p->src);
    uc_buffer_unmap(&p->dst);
}

/* Rows are by size, then by copy and form. */
static int read_form(void *ctx, size_t i, double *ns)
{
    struct forms *p = ctx;
    size_t size = sizes[i / (COPIES * UC_FORM_COUNT)], n = UC_CACHED_READ / size;

    for (size_t k = 0; k < n; k++)
        p->calls[k] = (struct uc_call){.size = (unsigned)size,
                                       .dst = (char *)p->dst.start + k * size,
                                       .src = (const char *)p->src.start + k * size};
    *ns = uc_sys_replay(p->run, &p->u[i % (COPIES * UC_FORM_COUNT)], p->calls, n,
                        (const char *)p->dst.start);
    return 0;
}

static double rate(void *ctx, size_t i, double ns)
{
    return (double)UC_CACHED_READ / ns * 1e3;
}

static int add_rows(const struct forms *p, struct uc_sys_result *r, size_t *first)
{
    for (size_t s = 0; s < SIZES; s++)
        for (size_t i = 0; i < COPIES * UC_FORM_COUNT; i++) {
            char name[48];
            snprintf(name, sizeof(name), "%.30s %s", p->u[i].name, uc_form_name[p->u[i].form]);
            int row = uc_sys_row(r, "replay of a 2 MiB read", "MB/s", sizes[s], name);
            if (row < 0)
                return row;
            if (!s && !i)
                *first = (size_t)row;
        }
    return 0;
}

/* Each form against the called one. */
static int compare(struct uc_sys_result *r, size_t first)
{
    int rc = 0;

    for (size_t i = 0; i < SIZES * COPIES * UC_FORM_COUNT && !rc; i++) {
        size_t called = first + i - i % UC_FORM_COUNT + UC_CALLED;
        if (first + i != called)
            rc = uc_sys_compare(r, called, first + i);
    }
    return rc;
}

static int tell_code(const struct forms *p, struct uc_sys_result *r)
{
    int rc = 0;

    for (size_t i = 0; i < COPIES * UC_FORM_COUNT && !rc; i++) {
        const struct uc_subject *u = &p->u[i];
        double site = (double)u->code.site, once = (double)(u->code.strategy + u->code.dispatch);
        char name[80];
        snprintf(name, sizeof(name), "code of %.30s %s, at each call site", u->name,
                 uc_form_name[u->form]);
        rc = uc_sys_figure(r, name, "bytes", site, site, site);
        if (rc || !once)
            continue;
        snprintf(name, sizeof(name), "code of %.30s %s, once", u->name, uc_form_name[u->form]);
        rc = uc_sys_figure(r, name, "bytes", once, once, once);
    }
    return rc;
}

static int time_forms(struct forms *p, struct uc_sys_result *r, double seconds)
{
    struct uc_sys_rounds w = {.rows = SIZES * COPIES * UC_FORM_COUNT,
                              .readings = 2,
                              .seconds = seconds,
                              .begin = map_buffers,
                              .end = unmap_buffers,
                              .read = read_form,
                              .value = rate,
                              .ctx = p};
    int rc = add_rows(p, r, &w.first);

    p->calls = malloc(UC_CACHED_READ / SMALLEST * sizeof(*p->calls));
    if (!rc && !p->calls)
        rc = -ENOMEM;
    if (!rc)
        rc = uc_sys_rounds(p->run, r, &w);
    free(p->calls);
    if (!rc)
        rc = compare(r, w.first);
    return rc ? rc : tell_code(p, r);
}

int uc_cached_forms(struct uc_sys_run *run, struct uc_sys_result *r, double seconds)
{
    const struct ucopy_strategy *const copy[COPIES] = {ucopy_find("unrolled"),
                                                       ucopy_find("rep_movsb")};
    struct forms p = {.run = run};
    struct uc_object object;
    char why[256] = "";
    int rc = uc_build_strategy_forms(copy, COPIES, p.u, &object, why, sizeof(why));

    if (rc == -ENOMEM)
        return rc;
    if (rc)
        return uc_sys_skip(r, 0, rc == -ENOENT ? "there is no compiler" : why,
                           "inline, called and checked copies");
    rc = time_forms(&p, r, seconds);
    uc_object_unload(&object);
    return rc;
}
