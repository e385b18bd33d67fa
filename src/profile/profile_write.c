#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/json_io.h"
#include "profile/profile.h"

/* json_object_set_new fails on a NULL value, so a failure anywhere below ends up in rc. */
static int set(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value);
}

static json_t *done(json_t *object, int rc)
{
    if (!rc)
        return object;
    json_decref(object);
    return NULL;
}

/* A kept object as it is, or null. */
static json_t *kept(json_t *value)
{
    return value ? json_incref(value) : json_null();
}

json_t *uc_json_isa(uint32_t isa)
{
    char text[128], *rest = text, *name;
    json_t *array = json_array();
    int rc = !array;

    ucopy_isa_text(isa, text, sizeof text);
    while ((name = strsep(&rest, " ")))
        if (*name)
            rc |= json_array_append_new(array, json_string(name));
    return done(array, rc);
}

static json_t *hypervisor_json(const struct uc_cpu *c)
{
    if (!c->hypervisor)
        return json_null();
    return uc_json_string(*c->hypervisor_name ? c->hypervisor_name : "unknown");
}

json_t *uc_cpu_to_json(const struct uc_cpu *c)
{
    json_t *o = json_object();
    int rc = !o;

    rc |= set(o, "key", uc_json_string(c->key));
    rc |= set(o, "vendor", uc_json_string(c->vendor));
    rc |= set(o, "family", json_integer(c->family));
    rc |= set(o, "model", json_integer(c->model));
    rc |= set(o, "stepping", json_integer(c->stepping));
    rc |= set(o, "name", uc_json_string(c->name));
    rc |= set(o, "codename", uc_json_string(c->codename));
    rc |= set(o, "core_kind", uc_json_string(c->core_kind));
    rc |= set(o, "hypervisor", hypervisor_json(c));
    rc |= set(o, "isa", uc_json_isa(c->isa));
    return done(o, rc);
}

static json_t *cache_json(const struct uc_cache *c)
{
    json_t *o, *said;
    int rc;

    if (!c->bytes)
        return json_null();
    o = json_pack("{sI ss}", "bytes", (json_int_t)c->bytes, "source",
                  uc_cache_source_name[c->source]);
    said = json_object();
    rc = !o || !said;
    for (int i = 0; i < UC_CACHE_SOURCES; i++)
        rc |= set(said, uc_cache_source_name[i], uc_json_size(c->by[i], 0));
    rc |= set(o, "said", said);
    rc |= set(o, "disagree", json_boolean(c->disagree));
    return done(o, rc);
}

static json_t *caches_json(const struct uc_caches *c)
{
    json_t *o = json_object();
    int rc = !o;

    rc |= set(o, "l1d", cache_json(&c->l1d));
    rc |= set(o, "l2", cache_json(&c->l2));
    rc |= set(o, "l3", cache_json(&c->l3));
    rc |= set(o, "line", uc_json_size(c->line, 0));
    return done(o, rc);
}

static json_t *guard_json(const struct uc_guard *g)
{
    if (!*g->test)
        return json_null();
    return json_pack("{ss sI sI so}", "test", g->test, "lo", (json_int_t)g->lo, "hi",
                     (json_int_t)g->hi, "else", uc_json_string(g->otherwise));
}

static json_t *size_pair(size_t lo, size_t hi)
{
    if (!lo && !hi)
        return json_null();
    return json_pack("[II]", (json_int_t)lo, (json_int_t)hi);
}

static json_t *margin_interval(const struct uc_segment *s)
{
    if (!(s->margin_lo > 0 && s->margin_hi > 0))
        return json_null();
    return json_pack("[oo]", uc_json_number(s->margin_lo, 4), uc_json_number(s->margin_hi, 4));
}

static json_t *segment_json(const struct uc_segment *s)
{
    json_t *o = json_object();
    bool crossing = s->lo || s->hi;
    int rc = !o;

    rc |= set(o, "max", uc_json_size(s->max, SIZE_MAX));
    rc |= set(o, "strategy", uc_json_string(s->strategy));
    rc |= set(o, "lo", uc_json_size(s->lo, crossing ? SIZE_MAX : 0));
    rc |= set(o, "hi", uc_json_size(s->hi, crossing ? SIZE_MAX : 0));
    rc |= set(o, "free", size_pair(s->free_lo, s->free_hi));
    rc |= set(o, "runner_up", uc_json_string(s->runner_up));
    rc |= set(o, "margin", uc_json_positive(s->margin, 4));
    rc |= set(o, "margin_interval", margin_interval(s));
    rc |= set(o, "tie", json_boolean(s->tie));
    rc |= set(o, "bracketed", json_boolean(s->bracketed));
    rc |= set(o, "measured_to", json_integer((json_int_t)s->measured_to));
    rc |= set(o, "guard", guard_json(&s->guard));
    return done(o, rc);
}

static json_t *segments_json(const struct uc_ladder *l)
{
    json_t *a = json_array();
    int rc = !a;

    for (size_t i = 0; i < l->n; i++)
        rc |= json_array_append_new(a, segment_json(l->segment + i));
    return done(a, rc);
}

static json_t *inline_part_json(const struct uc_inline_part *i, bool with_isa)
{
    json_t *o;
    int rc;

    if (!*i->strategy)
        return json_null();
    o = json_pack("{so sI so}", "strategy", uc_json_string(i->strategy), "max", (json_int_t)i->max,
                  "ratio_to_called", uc_json_positive(i->ratio_to_called, 4));
    const struct ucopy_strategy *s = ucopy_find(i->strategy);
    rc = !o || (with_isa && set(o, "isa", uc_json_isa(s ? s->isa : 0)));
    return done(o, rc);
}

static json_t *inline_json(const struct uc_profile_entry *e)
{
    json_t *o = json_object();
    int rc = !o;

    rc |= set(o, "baseline", inline_part_json(&e->inline_baseline, false));
    rc |= set(o, "wide", inline_part_json(&e->inline_wide, true));
    return done(o, rc);
}

static json_t *barred_json(const struct uc_barred *b, size_t n)
{
    json_t *a = json_array();
    int rc = !a;

    for (; n--; b++)
        rc |= json_array_append_new(
            a, json_pack("{so so so so so}", "strategy", uc_json_string(b->strategy), "from",
                         json_integer((json_int_t)b->from), "to", uc_json_size(b->to, SIZE_MAX),
                         "ratio", uc_json_positive(b->ratio, 4), "why", uc_json_string(b->why)));
    return done(a, rc);
}

static json_t *anomalies_json(const struct uc_anomaly *x, size_t n)
{
    json_t *a = json_array();
    int rc = !a;

    for (; n--; x++)
        rc |= json_array_append_new(
            a, json_pack("{so sI so}", "strategy", uc_json_string(x->strategy), "size",
                         (json_int_t)x->size, "ratio", uc_json_positive(x->ratio, 4)));
    return done(a, rc);
}

static json_t *entry_json(const struct uc_profile_entry *e)
{
    json_t *o;
    int rc;

    if (!e->present)
        return json_null();
    o = json_object();
    rc = !o;
    rc |= set(o, "segments", segments_json(&e->ladder));
    rc |= set(o, "loss", uc_json_number(e->ladder.loss, 4));
    rc |= set(o, "inline", inline_json(e));
    rc |= set(o, "barred", barred_json(e->barred, e->barred_n));
    rc |= set(o, "anomalies", anomalies_json(e->anomaly, e->anomaly_n));
    rc |= set(o, "load", kept(e->load));
    if (e->whole)
        rc |= set(o, "whole", kept(e->whole));
    if (e->limits)
        rc |= set(o, "limits", kept(e->limits));
    if (e->consumers)
        rc |= set(o, "consumers", kept(e->consumers));
    if (e->counters)
        rc |= set(o, "counters", kept(e->counters));
    return done(o, rc);
}

static json_t *entries_json(const struct uc_profile *p)
{
    json_t *o = json_object();
    int rc = !o;

    for (int i = 0; i < UC_ENTRY_COUNT; i++)
        rc |= set(o, uc_entry_name[i], entry_json(p->entry + i));
    return done(o, rc);
}

static json_t *profile_json(const struct uc_profile *p)
{
    json_t *o = json_object();
    int rc = !o;
    char digest[65];

    rc |= set(o, "format", json_integer(UC_PROFILE_FORMAT));
    rc |= set(o, "tool", uc_json_string(*p->tool ? p->tool : "ucopy-tune " UC_VERSION));
    rc |= set(o, "complete", json_boolean(p->complete));
    rc |= set(o, "environment", json_string(p->environment == UCOPY_KERNEL ? "kernel" : "user"));
    rc |= set(o, "variant", uc_json_string(p->variant));
    rc |= set(o, "cpu", p->has_cpu ? uc_cpu_to_json(&p->cpu) : json_null());
    rc |= set(o, "caches", p->has_caches ? caches_json(&p->caches) : json_null());
    rc |= set(o, "method", kept(p->method));
    rc |= set(o, "weights", kept(p->weights));
    rc |= set(o, "entries", entries_json(p));
    rc |= set(o, "validation", kept(p->validation));
    rc |= set(o, "strategies", kept(p->hashes));
    if (p->slopes)
        rc |= set(o, "slopes", kept(p->slopes));
    rc |= set(o, "cells", uc_cells_to_json(&p->cells));
    rc |= set(o, "syscalls", kept(p->syscalls));
    rc |= rc || uc_profile_digest(o, digest);
    rc |= rc || set(o, "digest", json_string(digest));
    return done(o, rc);
}

char *uc_profile_to_json(const struct uc_profile *p)
{
    json_t *o = profile_json(p);
    char *text = o ? uc_json_text(o) : NULL;
    json_decref(o);
    return text;
}

const char *uc_profile_stem(const struct uc_profile *p, char *buf, size_t cap)
{
    snprintf(buf, cap, "%s%s%s%s", p->has_cpu ? p->cpu.key : "unnamed",
             p->environment == UCOPY_KERNEL ? "-kernel" : "", *p->variant ? "-" : "", p->variant);
    return buf;
}
