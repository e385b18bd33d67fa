/* The profile that `syscalls` is given: its threshold of nocache, and results put into it. */
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/msg.h"
#include "cli/command.h"
#include "cli/given.h"
#include "cli/syscalls.h"

static bool same_model(const struct uc_cpu *a, const struct uc_cpu *b)
{
    return !strcmp(a->vendor, b->vendor) && a->family == b->family && a->model == b->model;
}

static int check_cpu(const char *path, const struct uc_profile *p)
{
    struct uc_cpu here;
    int rc = uc_cpu_identify(&here);

    if (!rc && p->has_cpu && same_model(&p->cpu, &here))
        return 0;
    uc_error("%s is of %s, and this CPU is %s: nothing was measured", path,
             p->has_cpu ? p->cpu.key : "no named CPU", rc ? "unknown" : here.key);
    return UC_EXIT_MACHINE;
}

/* Where the first segment that streams begins. */
static struct uc_sys_threshold streams_from(const struct uc_profile *p)
{
    const struct uc_profile_entry *e = &p->entry[UC_NOCACHE];
    struct uc_sys_threshold t = {.known = e->present, .from = SIZE_MAX};

    for (size_t i = e->ladder.n; e->present && i--;) {
        const struct ucopy_strategy *s = ucopy_find(e->ladder.segment[i].strategy);
        if (s && s->flags & UCOPY_STREAMING)
            t.from = i ? e->ladder.segment[i - 1].max + 1 : 0;
    }
    return t;
}

/* A new file is put in the old one's place, so the folder must take one. */
static int check_writable(const char *path)
{
    size_t n = strlen(path);
    char *copy = n > 2 && !strcmp(path + n - 2, ".h") ? NULL : strdup(path);
    int rc = copy ? uc_dir_writable(dirname(copy)) : -EINVAL;

    free(copy);
    if (rc)
        uc_error("--save: %s: %s", path,
                 rc == -EINVAL ? "results go into a profile's JSON" : strerror(-rc));
    return !rc ? 0 : rc == -EINVAL ? UC_EXIT_USAGE : UC_EXIT_MACHINE;
}

int uc_syscalls_profile(const char *path, bool save, struct uc_sys_threshold *nocache)
{
    struct uc_profile p;
    int rc = uc_given_read(path, &p);

    if (rc)
        return rc;
    rc = check_cpu(path, &p);
    if (!rc && save)
        rc = check_writable(path);
    *nocache = streams_from(&p);
    uc_profile_free(&p);
    return rc;
}

int uc_syscalls_save(const char *path, const struct uc_session *s,
                     const struct uc_syscalls_done *done, size_t n)
{
    json_t *value = uc_syscalls_json(s, done, n, false);
    int rc = value ? uc_profile_put_syscalls(path, value) : -ENOMEM;

    json_decref(value);
    if (rc)
        uc_error("%s: cannot write: %s", path, strerror(-rc));
    return rc ? UC_EXIT_MACHINE : UC_EXIT_OK;
}
