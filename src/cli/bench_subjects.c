/* What is timed by `bench`: strategies, other libraries' copies, generated headers. */
#include "cli/bench.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/msg.h"
#include "cli/command.h"

bool uc_bench_usable(const struct ucopy_strategy *x, const struct uc_session *s)
{
    char lacking[128];

    if (x->isa & ~s->isa)
        uc_error("%s is not usable here: %s is missing or disabled", x->name,
                 ucopy_isa_text(x->isa & ~s->isa, lacking, sizeof(lacking)));
    return !(x->isa & ~s->isa);
}

/* The usable ones of those named; where none is named and nothing else is given, all usable ones;
 * else libc alone. */
static int add_strategies(const struct uc_bench *b, const struct uc_session *s,
                          struct uc_subject *u, size_t *n)
{
    bool libc_alone = !b->names && (b->peers || b->headers);
    size_t most = b->names ? b->names : ucopy_strategy_count;

    for (size_t i = 0; i < most; i++) {
        const struct ucopy_strategy *x = b->names ? b->named[i] : &ucopy_strategies[i];
        if (b->names && !uc_bench_usable(x, s))
            return UC_EXIT_MACHINE;
        if (x->isa & ~s->isa)
            continue;
        if (!b->names && (x->role == UCOPY_REFERENCE || x->role == UCOPY_LIMIT))
            continue;
        if (libc_alone && !(x->flags & UCOPY_LIBC))
            continue;
        u[*n] = b->inlined ? uc_subject_inline(x) : uc_subject_called(x);
        u[(*n)++].role = UCOPY_BASELINE; /* asked for by name: all are timed to the end */
    }
    return 0;
}

/* A peer's name in the table: the library without its folder, and the symbol where it is not
 * memcpy. A comma would end the field of a CSV. */
static void peer_name(const char *path, const char *symbol, char name[UC_NAME])
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    bool usual = !strcmp(symbol, "memcpy");

    snprintf(name, UC_NAME, "%.*s%s%.20s", usual ? UC_NAME - 4 : 23, file, usual ? "" : ":",
             usual ? "" : symbol);
    for (char *p = name; *p; p++)
        if (*p == ',' || !isgraph((unsigned char)*p))
            *p = '_';
}

/* Cells are told apart by name and form: the second subject of a name (another build of a library,
 * another header of this CPU) is called name#2. */
static void add_distinct(const struct uc_subject *added, struct uc_subject *u, size_t *n)
{
    unsigned like = 1;

    for (size_t i = 0; i < *n; i++)
        like += u[i].form == added->form && !strncmp(u[i].name, added->name, strlen(added->name)) &&
                strchr("#", u[i].name[strlen(added->name)]);
    u[*n] = *added;
    if (like > 1)
        snprintf(u[*n].name, UC_NAME, "%.*s#%u", UC_NAME - 5, added->name, like % 1000);
    ++*n;
}

/* LIB.so or LIB.so:SYMBOL; a path with a colon in it needs the symbol too. */
static int add_peer(struct uc_bench *b, const char *spec, struct uc_subject *u, size_t *n)
{
    char path[1024], name[UC_NAME];
    const char *colon = strrchr(spec, ':'), *symbol = colon ? colon + 1 : "memcpy";

    snprintf(path, sizeof(path), "%.*s", (int)(colon ? colon - spec : (long)strlen(spec)), spec);
    void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!lib) {
        uc_error("--peer %s: %s", spec, dlerror());
        return UC_EXIT_USAGE;
    }
    b->library[b->libraries++] = lib;
    void *found = dlsym(lib, symbol);
    if (!found) {
        uc_error("--peer %s: the library has no '%s'", spec, symbol);
        return UC_EXIT_USAGE;
    }
    uc_copy_fn *fn;
    memcpy(&fn, &found, sizeof(fn));
    peer_name(path, symbol, name);
    struct uc_subject peer = uc_subject_function(name, fn);
    add_distinct(&peer, u, n);
    return 0;
}

/* The function of a generated header, from its include guard: UCOPY_AMD_1A_02_H guards
 * ucopy_amd_1a_02. A header of several CPUs may have any prefix. */
static int function_name(const char *text, char *name, size_t cap)
{
    const char *made = strstr(text, "\n * Made by ucopy-tune ");
    const char *guard = strstr(text, made ? "#ifndef " : "#ifndef UCOPY_");
    size_t n = 0;

    if (!guard)
        return -EINVAL;
    guard += strlen("#ifndef ");
    while ((isalnum((unsigned char)guard[n]) || guard[n] == '_') && n + 1 < cap) {
        name[n] = (char)tolower((unsigned char)guard[n]);
        n++;
    }
    name[n] = 0;
    if (n < 3 || strcmp(name + n - 2, "_h") != 0)
        return -EINVAL;
    name[n - 2] = 0;
    return 0;
}

int uc_bench_read_header(const char *path, char **text, char *name, size_t cap)
{
    int rc = uc_read_file(path, 1 << 20, text, NULL);

    if (rc)
        *text = NULL;
    return rc ? rc : function_name(*text, name, cap);
}

int uc_bench_header_failed(const char *path, int rc, const char *why)
{
    if (rc == -EINTR)
        return uc_session_interrupted();
    uc_error("--header %s: %s", path,
             why[0]          ? why
             : rc == -EINVAL ? "this is no generated header"
                             : strerror(-rc));
    return rc == -ENOENT && why[0] ? UC_EXIT_MACHINE : UC_EXIT_USAGE;
}

/* Called as a baseline build calls it, inlined as one with -march=native does. nocache is the entry
 * for what consumer evict does. */
static int add_header(struct uc_bench *b, const char *path, bool nocache, struct uc_subject *u,
                      size_t *n)
{
    char name[96 + sizeof("_nocache")], why[256] = "", *text;
    int rc = uc_bench_read_header(path, &text, name, 96);

    if (!rc && nocache)
        strcat(name, "_nocache");
    for (int native = 0; native < 2 && !rc; native++) {
        struct uc_built *built = &b->built[b->builts];
        rc = uc_build_header(text, name, "header", native, built, why, sizeof(why));
        if (rc)
            break;
        b->builts++;
        struct uc_subject *form = native ? &built->inlined : &built->called;
        snprintf(form->name, UC_NAME, "%.36s %s", name, native ? "inlined" : "called");
        add_distinct(form, u, n);
    }
    free(text);
    return rc ? uc_bench_header_failed(path, rc, why) : 0;
}

int uc_bench_subjects(struct uc_bench *b, const struct uc_session *s, bool nocache,
                      struct uc_subject *u, size_t *n)
{
    int rc = add_strategies(b, s, u, n);

    for (size_t i = 0; i < b->peers && !rc; i++)
        rc = add_peer(b, b->peer[i], u, n);
    for (size_t i = 0; i < b->headers && !rc; i++)
        rc = add_header(b, b->header[i], nocache, u, n);
    return rc;
}

void uc_bench_release(struct uc_bench *b)
{
    for (size_t i = 0; i < b->builts; i++)
        uc_built_unload(&b->built[i]);
    for (size_t i = 0; i < b->libraries; i++)
        dlclose(b->library[i]);
    for (size_t i = 0; i < b->objects; i++)
        uc_object_unload(&b->object[i]);
    b->builts = b->libraries = b->objects = 0;
}

/* The subjects were baselines while they were timed; in the table each has its strategy's role. */
static void tell_own_roles(struct uc_cells *cells)
{
    for (size_t i = 0; i < cells->n; i++) {
        const struct ucopy_strategy *s = ucopy_find(cells->v[i].strategy);
        if (s)
            cells->v[i].role = s->role;
    }
}

int uc_bench_measure(const struct uc_options *o, struct uc_session *s,
                     const struct uc_weights *weights, const struct uc_plan *plan,
                     const struct uc_subject *u, size_t n, struct uc_cells *cells)
{
    struct uc_sweep *sweep = NULL;
    struct uc_sweep_options so = {.weights = weights ? weights : &uc_weights_default,
                                  .caches = &s->caches,
                                  .clock = &s->clock,
                                  .pu = &s->pu,
                                  .company = s->company,
                                  .seconds = o->budget > 0 ? o->budget
                                             : o->quick    ? 1
                                                           : 4,
                                  .seed = o->seed,
                                  .what = "timing",
                                  .done_after = 1};
    int rc;

    for (int g = 0; g < UC_GROUPS; g++)
        so.group_share[g] = 1;
    rc = uc_sweep_new(&sweep, plan, u, n, &so);
    if (!rc)
        rc = uc_sweep_run(sweep);
    if (!rc)
        rc = uc_sweep_cells(sweep, cells);
    uc_sweep_free(sweep);
    uc_progress_end();
    tell_own_roles(cells);
    return rc;
}

const struct uc_cell *uc_bench_cell(const struct uc_cells *cells, const struct uc_subject *u,
                                    size_t size, enum uc_code code)
{
    for (size_t i = 0; i < cells->n; i++)
        if (cells->v[i].size == size && cells->v[i].form == u->form && cells->v[i].code == code &&
            !strcmp(cells->v[i].strategy, u->name))
            return &cells->v[i];
    return NULL;
}
