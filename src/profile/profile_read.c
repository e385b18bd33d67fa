#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "profile/json_io.h"
#include "profile/profile.h"

#define MAX_FILE ((size_t)16 << 20)
#define MAX_DEPTH 24 /* the format itself needs 6 */

void uc_profile_free(struct uc_profile *p)
{
    json_decref(p->method);
    json_decref(p->weights);
    json_decref(p->validation);
    json_decref(p->syscalls);
    json_decref(p->slopes);
    json_decref(p->hashes);
    for (int i = 0; i < UC_ENTRY_COUNT; i++) {
        json_decref(p->entry[i].load);
        json_decref(p->entry[i].whole);
        json_decref(p->entry[i].limits);
        json_decref(p->entry[i].consumers);
        json_decref(p->entry[i].counters);
    }
    uc_cells_free(&p->cells);
    memset(p, 0, sizeof *p);
}

int uc_profile_each_strategy(const struct uc_profile *p, int (*f)(const char *name, void *state),
                             void *state)
{
    int rc = 0;

    for (const struct uc_profile_entry *e = p->entry; e < p->entry + UC_ENTRY_COUNT; e++) {
        if (!e->present)
            continue;
        for (size_t i = 0; i < e->ladder.n && !rc; i++) {
            const struct uc_segment *s = e->ladder.segment + i;
            rc = f(s->strategy, state);
            if (!rc && *s->guard.test)
                rc = f(s->guard.otherwise, state);
        }
        if (!rc && *e->inline_baseline.strategy)
            rc = f(e->inline_baseline.strategy, state);
        if (!rc && *e->inline_wide.strategy)
            rc = f(e->inline_wide.strategy, state);
    }
    return rc;
}

bool uc_variant_valid(const char *variant)
{
    static const char *const taken[] = {"kernel", "copy", "nocache", "p", "e"};
    size_t n = strspn(variant, "abcdefghijklmnopqrstuvwxyz0123456789");

    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (!strcmp(variant, taken[i]))
            return false;
    return n && n < 32 && !variant[n] && variant[0] >= 'a';
}

static void read_variant(const struct uc_node *root, struct uc_profile *p)
{
    struct uc_node n = uc_node_member(root, "variant");

    uc_get_string_or(root, "variant", p->variant, sizeof p->variant, "");
    if (n.v && !uc_variant_valid(p->variant))
        uc_node_fail(&n, -EINVAL, "not a variant's name (small letters and digits)");
}

static void read_environment(const struct uc_node *root, struct uc_profile *p)
{
    char word[8];
    struct uc_node n = uc_node_member(root, "environment");

    uc_node_string(&n, word, sizeof word);
    p->environment = strcmp(word, "kernel") ? UCOPY_USER : UCOPY_KERNEL;
    if (strcmp(word, "kernel") && strcmp(word, "user"))
        uc_node_fail(&n, -EINVAL, "neither \"user\" nor \"kernel\"");
}

static uint32_t read_isa(const struct uc_node *cpu)
{
    struct uc_node list = uc_node_member(cpu, "isa");
    uint32_t isa = 0;
    char name[32];

    if (!uc_node_array(&list))
        return 0;
    for (size_t i = 0; i < json_array_size(list.v); i++) {
        struct uc_node n = uc_node_element(&list, i);
        uc_node_string(&n, name, sizeof name);
        isa |= ucopy_isa_bit(name, strlen(name)); /* names of newer sets are no error */
    }
    return isa;
}

static unsigned get_unsigned(const struct uc_node *object, const char *key, unsigned max)
{
    struct uc_node n = uc_node_member(object, key);
    return (unsigned)uc_node_integer(&n, 0, max);
}

static void read_cpu(const struct uc_node *n, struct uc_profile *p)
{
    struct uc_cpu *c = &p->cpu;

    p->has_cpu = uc_node_object(n);
    if (!p->has_cpu)
        return;
    uc_get_string(n, "key", c->key, sizeof c->key);
    struct uc_node key = uc_node_member(n, "key");
    if (!*c->key || c->key[strspn(c->key, "abcdefghijklmnopqrstuvwxyz0123456789-")])
        uc_node_fail(&key, -EINVAL, "not a CPU key such as amd-1a-02");
    uc_get_string_or(n, "vendor", c->vendor, sizeof c->vendor, "");
    c->family = get_unsigned(n, "family", 0xFFF);
    c->model = get_unsigned(n, "model", 0xFFF);
    c->stepping = get_unsigned(n, "stepping", 0xFFF);
    uc_get_string_or(n, "name", c->name, sizeof c->name, "");
    uc_get_string_or(n, "codename", c->codename, sizeof c->codename, "");
    uc_get_string_or(n, "core_kind", c->core_kind, sizeof c->core_kind, "");
    uc_get_string_or(n, "hypervisor", c->hypervisor_name, sizeof c->hypervisor_name, "");
    c->hypervisor = *c->hypervisor_name;
    c->isa = read_isa(n);
}

static int cache_source(const char *name)
{
    return uc_word(uc_cache_source_name, UC_CACHE_SOURCES + 1, name);
}

static void read_cache(const struct uc_node *caches, const char *key, struct uc_cache *c)
{
    struct uc_node n = uc_node_member(caches, key), said = uc_node_member(&n, "said"),
                   source = uc_node_member(&n, "source");
    char word[32];

    if (!uc_node_object(&n))
        return;
    c->bytes = uc_get_size(&n, "bytes");
    uc_node_string(&source, word, sizeof word);
    if (cache_source(word) < 0)
        uc_node_fail(&source, -EINVAL, "not a source of cache sizes");
    else
        c->source = (enum uc_cache_source)cache_source(word);
    if (uc_node_object(&said))
        for (int i = 0; i < UC_CACHE_SOURCES; i++)
            c->by[i] = uc_get_size_or(&said, uc_cache_source_name[i], 0);
    c->disagree = uc_node_member(&n, "disagree").v && uc_get_bool(&n, "disagree");
}

static void read_caches(const struct uc_node *n, struct uc_profile *p)
{
    p->has_caches = uc_node_object(n);
    if (!p->has_caches)
        return;
    read_cache(n, "l1d", &p->caches.l1d);
    read_cache(n, "l2", &p->caches.l2);
    read_cache(n, "l3", &p->caches.l3);
    p->caches.line = uc_get_size_or(n, "line", 0);
}

static void read_hashes(const struct uc_node *root, struct uc_profile *p)
{
    struct uc_node n = uc_node_member(root, "strategies");
    const char *name;
    json_t *value;
    char hex[65];

    p->hashes = uc_get_object(root, "strategies");
    json_object_foreach(p->hashes, name, value)
    {
        struct uc_node one = uc_node_member(&n, name);
        uc_node_object(&one);
        uc_get_string(&one, "source_sha256", hex, sizeof hex);
    }
}

static void read_format(const struct uc_node *root)
{
    struct uc_node n = uc_node_member(root, "format");
    char what[96];
    long long format = uc_node_integer(&n, 1, INT32_MAX);

    if (!n.error->rc && format > UC_PROFILE_FORMAT) {
        snprintf(what, sizeof what, "%lld is newer than this program reads (%d)", format,
                 UC_PROFILE_FORMAT);
        uc_node_fail(&n, -ENOTSUP, what);
    }
}

static void read_digest(const struct uc_node *root, struct uc_profile *p)
{
    char told[65], found[65];

    uc_get_string_or(root, "digest", told, sizeof told, "");
    if (root->error->rc)
        return;
    if (uc_profile_digest(root->v, found))
        uc_node_fail(root, -ENOMEM, "no memory");
    else
        p->digest_differs = strcmp(told, found);
}

static void read_root(const struct uc_node *root, struct uc_profile *p)
{
    struct uc_node cpu = uc_node_member(root, "cpu"), caches = uc_node_member(root, "caches"),
                   cells = uc_node_member(root, "cells");

    if (!uc_node_object(root)) {
        uc_node_fail(root, -EINVAL, "no profile: not an object");
        return;
    }
    read_format(root);
    uc_get_string_or(root, "tool", p->tool, sizeof p->tool, "");
    p->complete = uc_get_bool(root, "complete");
    read_environment(root, p);
    read_variant(root, p);
    read_cpu(&cpu, p);
    read_caches(&caches, p);
    p->method = uc_get_object(root, "method");
    p->weights = uc_get_object(root, "weights");
    uc_entries_from_json(root, p);
    p->validation = uc_get_object(root, "validation");
    read_hashes(root, p);
    p->slopes = uc_get_object(root, "slopes");
    uc_cells_from_json(&cells, &p->cells);
    p->syscalls = uc_get_object(root, "syscalls");
    read_digest(root, p);
}

/* Deepest nesting, counted no further than max. */
static int depth(json_t *v, int max)
{
    int deepest = 0, d;
    const char *key;
    json_t *item;
    size_t i;

    if (!max)
        return 0;
    json_array_foreach(v, i, item) deepest = (d = depth(item, max - 1)) > deepest ? d : deepest;
    json_object_foreach(v, key, item) deepest = (d = depth(item, max - 1)) > deepest ? d : deepest;
    return deepest + 1;
}

/* Where memory ends jansson speaks of tokens it cannot read, or of nothing. */
static bool out_of_memory;

static void *noting_malloc(size_t n)
{
    void *p = malloc(n);

    out_of_memory = out_of_memory || !p;
    return p;
}

static int parse(const char *text, size_t len, json_t **root, char *why, size_t why_cap)
{
    json_error_t e;

    out_of_memory = false;
    json_set_alloc_funcs(noting_malloc, free);
    *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
    if (!*root && out_of_memory)
        return -ENOMEM;
    if (!*root) {
        snprintf(why, why_cap, "line %d: %s", e.line, e.text);
        for (char *c = why; *c; c++) /* the text quotes the file, which may hold anything */
            if ((unsigned char)*c < ' ' || *c == 0x7F)
                *c = '?';
        return -EINVAL;
    }
    if (depth(*root, MAX_DEPTH + 1) > MAX_DEPTH) {
        snprintf(why, why_cap, "nested too deep");
        return -EINVAL;
    }
    return 0;
}

/* The profile beside a header: the same stem. NULL: no memory. */
static char *json_path(const char *path)
{
    size_t n = strlen(path);
    bool header = n > 2 && !strcmp(path + n - 2, ".h");
    char *out;

    return asprintf(&out, "%.*s%s", (int)(header ? n - 2 : n), path, header ? ".json" : "") < 0
               ? NULL
               : out;
}

int uc_profile_read(const char *path, struct uc_profile *p, char *why, size_t why_cap)
{
    struct uc_json_error error = {0, why, why_cap};
    char *file = json_path(path), *text = NULL;
    json_t *root = NULL;
    size_t len;
    int rc = file ? uc_read_file(file, MAX_FILE, &text, &len) : -ENOMEM;

    memset(p, 0, sizeof *p);
    snprintf(why, why_cap, "%s", "");
    if (rc && file && strcmp(file, path))
        snprintf(why, why_cap, "its profile, %s: %s", file, strerror(-rc));
    if (!rc)
        rc = parse(text, len, &root, why, why_cap);
    if (!rc) {
        struct uc_node node = {&error, NULL, NULL, 0, root};
        read_root(&node, p);
        rc = error.rc;
    }
    if (rc)
        uc_profile_free(p);
    json_decref(root);
    free(text);
    free(file);
    return rc;
}
