#include "syscalls/syscalls.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "syscalls/sys.h"

/* Room for one more of n things of this many bytes, zeroed; NULL: no memory. */
static void *grow(void *list, size_t *n, size_t bytes)
{
    char *more = realloc(*(void **)list, (*n + 1) * bytes);

    if (!more)
        return NULL;
    *(void **)list = more;
    return memset(more + (*n)++ * bytes, 0, bytes);
}

int uc_sys_row(struct uc_sys_result *r, const char *series, const char *unit, size_t size,
               const char *name)
{
    struct uc_sys_row *row = grow(&r->row, &r->rows, sizeof(*row));

    if (!row)
        return -ENOMEM;
    snprintf(row->series, sizeof(row->series), "%s", series);
    snprintf(row->name, sizeof(row->name), "%s", name);
    row->unit = unit;
    row->size = size;
    return (int)r->rows - 1;
}

int uc_sys_sample(struct uc_sys_result *r, size_t row, double v)
{
    if (!isfinite(v) || v <= 0)
        return -ERANGE;
    if (r->row[row].n == UC_SYS_SAMPLES)
        return -ENOSPC;
    r->row[row].v[r->row[row].n++] = v;
    return 0;
}

int uc_sys_compare(struct uc_sys_result *r, size_t first, size_t second)
{
    const struct uc_sys_row *a = &r->row[first], *b = &r->row[second];
    struct uc_sys_pair *p;

    if (!a->n || !b->n)
        return 0;
    p = grow(&r->pair, &r->pairs, sizeof(*p));
    if (!p)
        return -ENOMEM;
    p->first = first;
    p->second = second;
    return uc_compare_rows(a->v, a->n, b->v, b->n, UC_SYS_LEVEL, &p->c);
}

const struct uc_sys_pair *uc_sys_compared(const struct uc_sys_result *r, size_t first,
                                          size_t second)
{
    for (size_t i = r->pairs; i--;)
        if (r->pair[i].first == first && r->pair[i].second == second)
            return &r->pair[i];
    return NULL;
}

struct uc_interval uc_sys_middle(const struct uc_sys_result *r, size_t row)
{
    return uc_median_interval(r->row[row].v, r->row[row].n, UC_SYS_LEVEL);
}

int uc_sys_figure_at(struct uc_sys_result *r, const char *name, const char *unit, size_t size,
                     const struct uc_interval *value, const char *remark)
{
    struct uc_sys_figure *f = grow(&r->figure, &r->figures, sizeof(*f));

    if (!f)
        return -ENOMEM;
    snprintf(f->name, sizeof(f->name), "%s", name);
    snprintf(f->remark, sizeof(f->remark), "%s", remark);
    f->unit = unit;
    f->size = size;
    f->value = value->mid;
    f->lo = value->lo;
    f->hi = value->hi;
    return 0;
}

int uc_sys_figure(struct uc_sys_result *r, const char *name, const char *unit, double value,
                  double lo, double hi)
{
    struct uc_interval v = {.mid = value, .lo = lo, .hi = hi};

    return uc_sys_figure_at(r, name, unit, UC_SYS_NO_SIZE, &v, "");
}

int uc_sys_note(struct uc_sys_result *r, const char *fmt, ...)
{
    char **note = grow(&r->note, &r->notes, sizeof(*note));
    va_list ap;

    if (!note)
        return -ENOMEM;
    va_start(ap, fmt);
    int rc = vasprintf(note, fmt, ap);
    va_end(ap);
    if (rc >= 0)
        return 0;
    r->notes--;
    return -ENOMEM;
}

/* Rows of one name and many sizes are refused for one reason: once is enough. */
static void drop_repeated(struct uc_sys_result *r)
{
    const struct uc_sys_skip *last = &r->skip[r->skips - 1];

    for (size_t i = 0; i + 1 < r->skips; i++)
        if (!strcmp(r->skip[i].what, last->what) && !strcmp(r->skip[i].why, last->why)) {
            r->skips--;
            return;
        }
}

int uc_sys_skip(struct uc_sys_result *r, int rc, const char *why, const char *what, ...)
{
    struct uc_sys_skip *s = grow(&r->skip, &r->skips, sizeof(*s));
    va_list ap;

    if (!s)
        return -ENOMEM;
    va_start(ap, what);
    vsnprintf(s->what, sizeof(s->what), what, ap);
    va_end(ap);
    if (rc)
        snprintf(s->why, sizeof(s->why), "%s: %s", uc_sys_failed_call(), strerror(-rc));
    else
        snprintf(s->why, sizeof(s->why), "%s", why);
    drop_repeated(r);
    return 0;
}

void uc_sys_result_free(struct uc_sys_result *r)
{
    for (size_t i = 0; i < r->notes; i++)
        free(r->note[i]);
    free(r->note);
    free(r->row);
    free(r->pair);
    free(r->figure);
    free(r->skip);
    memset(r, 0, sizeof(*r));
}

/* Seccomp filters and LSMs say EPERM and EACCES, containers ENOSYS, file systems EOPNOTSUPP and, to
 * O_DIRECT, EINVAL; quotas and limits are the rest. */
bool uc_sys_refused(int rc)
{
    static const int refusal[] = {EPERM,           EACCES,      ENOSYS, EOPNOTSUPP, EINVAL,
                                  ENOSPC,          EDQUOT,      EFBIG,  EROFS,      EAFNOSUPPORT,
                                  EPROTONOSUPPORT, EMFILE,      ENFILE, ENODEV,     ENOBUFS,
                                  EADDRNOTAVAIL,   ENETUNREACH, EAGAIN, ETIMEDOUT,  ECONNREFUSED};

    for (size_t i = 0; i < sizeof(refusal) / sizeof(refusal[0]); i++)
        if (rc == -refusal[i])
            return true;
    return false;
}
