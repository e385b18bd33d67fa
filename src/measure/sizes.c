#include "measure/sizes.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/units.h"

#define FILE_MAX ((size_t)64 << 20)
#define SIZE_LIMIT ((size_t)1 << 30)

struct share {
    size_t size;
    double share;
};

static const struct share fleet[] = {
#include "measure/fleet_mix.inc"
};
#define FLEET_COUNT (sizeof(fleet) / sizeof(fleet[0]))

/* A list that grows while it is read. */
struct list {
    struct share *v;
    size_t n, cap;
};

static int list_add(struct list *l, size_t size, double share)
{
    if (l->n == l->cap) {
        size_t cap = l->cap ? 2 * l->cap : 1024;
        struct share *v = realloc(l->v, cap * sizeof(*v));
        if (!v)
            return -ENOMEM;
        l->v = v;
        l->cap = cap;
    }
    l->v[l->n++] = (struct share){size, share};
    return 0;
}

static int by_size(const void *a, const void *b)
{
    size_t x = ((const struct share *)a)->size, y = ((const struct share *)b)->size;
    return (x > y) - (x < y);
}

/* Sorted and with equal sizes added up; sizes without a share are dropped. */
static void list_tidy(struct list *l)
{
    size_t kept = 0;

    if (!l->n)
        return;
    qsort(l->v, l->n, sizeof(*l->v), by_size);
    for (size_t i = 0; i < l->n; i++) {
        if (kept && l->v[kept - 1].size == l->v[i].size)
            l->v[kept - 1].share += l->v[i].share;
        else if (l->v[i].share > 0)
            l->v[kept++] = l->v[i];
    }
    l->n = kept;
}

static int alloc_sizes(struct uc_sizes *s, size_t n)
{
    s->n = n;
    s->size = malloc(n * sizeof(*s->size));
    s->share = malloc(n * sizeof(*s->share));
    s->cum = malloc(n * sizeof(*s->cum));
    if (s->size && s->share && s->cum)
        return 0;
    uc_sizes_free(s);
    return -ENOMEM;
}

/* Shares are scaled to sum to 1. */
static int make_sizes(struct uc_sizes *s, const char *name, const struct share *v, size_t n)
{
    double total = 0, cum = 0;

    memset(s, 0, sizeof(*s));
    for (size_t i = 0; i < n; i++)
        total += v[i].share;
    if (!n || !(total > 0) || !isfinite(total))
        return -EINVAL;
    int rc = alloc_sizes(s, n);
    if (rc)
        return rc;
    snprintf(s->name, sizeof(s->name), "%s", name);
    for (size_t i = 0; i < n; i++) {
        s->size[i] = v[i].size;
        s->share[i] = v[i].share / total;
        s->cum[i] = cum += s->share[i];
    }
    s->cum[n - 1] = 1;
    return 0;
}

/* Reading. */

static int parse_share(const char *text, double *share)
{
    char *end;

    if (strspn(text, "0123456789.eE+-") != strlen(text) || !*text)
        return -EINVAL;
    *share = strtod(text, &end);
    return *end || !isfinite(*share) || *share < 0 ? -EINVAL : 0;
}

/* One size and, after the separator, its share; 1 where there is no separator. */
static int parse_pair(char *text, char separator, struct list *l, const char **why)
{
    char *tail = strchr(text, separator);
    size_t size;
    double share = 1;

    if (tail)
        *tail++ = 0;
    if (uc_parse_size(text, &size)) {
        *why = "not a size in bytes";
        return -EINVAL;
    }
    if (size > SIZE_LIMIT) {
        *why = "size above 1 GiB";
        return -EINVAL;
    }
    if (tail && parse_share(tail, &share)) {
        *why = separator == ':' ? "not a probability" : "not a count";
        return -EINVAL;
    }
    return list_add(l, size, share);
}

static int parse_pairs(char *line, struct list *l, const char **why)
{
    char *next;
    int rc = 0;

    for (char *item = line; item && !rc; item = next) {
        next = strchr(item, ',');
        if (next)
            *next++ = 0;
        if (!strchr(item, ':')) {
            *why = "not size:probability";
            return -EINVAL;
        }
        rc = parse_pair(item, ':', l, why);
    }
    return rc;
}

static char *trim(char *line)
{
    size_t n;

    line += strspn(line, " \t");
    n = strlen(line);
    while (n && strchr(" \t\r,", line[n - 1]))
        line[--n] = 0;
    return line;
}

static int parse_lines(char *text, struct list *l, unsigned *line, const char **why)
{
    char *next;
    int rc = 0;

    *line = 0;
    for (char *at = text; at && !rc; at = next) {
        next = strchr(at, '\n');
        if (next)
            *next++ = 0;
        ++*line;
        at = trim(at);
        if (!*at || *at == '#')
            continue;
        /* Only the first line of the published form holds sizes: the others hold alignments. */
        if (strchr(at, ':'))
            return l->n ? (*why = "size:probability after plain sizes", -EINVAL)
                        : parse_pairs(at, l, why);
        rc = parse_pair(at, ',', l, why);
    }
    return rc;
}

static void file_stem(const char *path, char *buf, size_t cap)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    size_t n = dot && dot != name ? (size_t)(dot - name) : strlen(name);

    snprintf(buf, cap, "%.*s", (int)(n < cap ? n : cap - 1), name);
}

int uc_sizes_read(const char *path, struct uc_sizes *s, unsigned *line, const char **why)
{
    struct list l = {0};
    char *text = NULL, stem[sizeof(s->name)];
    size_t len;
    int rc = uc_read_file(path, FILE_MAX, &text, &len);

    memset(s, 0, sizeof(*s));
    *line = 0;
    *why = NULL;
    if (rc)
        goto out;
    if (memchr(text, 0, len)) {
        *why = "holds a NUL byte";
        rc = -EINVAL;
        goto out;
    }
    rc = parse_lines(text, &l, line, why);
    if (rc)
        goto out;
    list_tidy(&l);
    file_stem(path, stem, sizeof(stem));
    rc = make_sizes(s, stem, l.v, l.n);
    if (rc == -EINVAL)
        *why = l.n ? "the shares are too large to be added up" : "no size with a share above 0";
out:
    free(l.v);
    free(text);
    return rc;
}

/* Cutting and drawing. */

int uc_sizes_fleet(struct uc_sizes *s, size_t max)
{
    size_t n = 0;

    while (n < FLEET_COUNT && fleet[n].size <= max)
        n++;
    return make_sizes(s, "fleet", fleet, n);
}

int uc_sizes_cut(const struct uc_sizes *from, size_t lo, size_t hi, struct uc_sizes *out)
{
    struct list l = {0};
    int rc = 0;

    for (size_t i = 0; i < from->n && !rc; i++)
        if (from->size[i] >= lo && from->size[i] <= hi)
            rc = list_add(&l, from->size[i], from->share[i]);
    if (!rc)
        rc = make_sizes(out, from->name, l.v, l.n);
    free(l.v);
    return rc;
}

double uc_fleet_share(size_t lo, size_t hi)
{
    double in = 0, all = 0;

    for (size_t i = 0; i < FLEET_COUNT; i++) {
        all += fleet[i].share;
        if (fleet[i].size >= lo && fleet[i].size <= hi)
            in += fleet[i].share;
    }
    return in / all;
}

size_t uc_sizes_draw(const struct uc_sizes *s, struct uc_rng *rng)
{
    double u = uc_rng_unit(rng);
    size_t lo = 0, hi = s->n - 1;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (s->cum[mid] > u)
            hi = mid;
        else
            lo = mid + 1;
    }
    return s->size[lo];
}

void uc_sizes_free(struct uc_sizes *s)
{
    free(s->size);
    free(s->share);
    free(s->cum);
    memset(s, 0, sizeof(*s));
}
