/* The entries of a profile: segments, inline parts, and what was barred or odd. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "profile/json_io.h"
#include "profile/profile.h"

/* A pair of numbers; 0 and 0 where it is absent. */
static void read_pair(const struct uc_node *object, const char *key, struct uc_node pair[3])
{
    pair[0] = uc_node_member(object, key);
    if (uc_node_array(&pair[0]) && json_array_size(pair[0].v) != 2)
        uc_node_fail(&pair[0], -EINVAL, "not two numbers");
    pair[1] = uc_node_element(&pair[0], 0);
    pair[2] = uc_node_element(&pair[0], 1);
}

static void read_free(const struct uc_node *segment, struct uc_segment *s)
{
    struct uc_node pair[3];

    read_pair(segment, "free", pair);
    if (!pair[0].v)
        return;
    s->free_lo = (size_t)uc_node_integer(&pair[1], 0, INT64_MAX);
    s->free_hi = (size_t)uc_node_integer(&pair[2], 0, INT64_MAX);
}

static void read_margin(const struct uc_node *segment, struct uc_segment *s)
{
    struct uc_node pair[3];

    s->margin = uc_get_number_or(segment, "margin", 0);
    read_pair(segment, "margin_interval", pair);
    if (!pair[0].v)
        return;
    s->margin_lo = uc_node_number(&pair[1]);
    s->margin_hi = uc_node_number(&pair[2]);
}

static void read_guard(const struct uc_node *segment, struct uc_guard *g)
{
    static const char *const tests[] = {"page_distance", "page_end", "dst_align"};
    struct uc_node n = uc_node_member(segment, "guard"), test = uc_node_member(&n, "test"),
                   lo = uc_node_member(&n, "lo"), hi = uc_node_member(&n, "hi");

    if (!uc_node_object(&n))
        return;
    uc_node_string(&test, g->test, sizeof g->test);
    if (uc_word(tests, 3, g->test) < 0)
        uc_node_fail(&test, -EINVAL, "not a known test");
    long most = strcmp(g->test, "dst_align") ? 4095 : 63;
    g->lo = (long)uc_node_integer(&lo, 0, most);
    g->hi = (long)uc_node_integer(&hi, g->lo, most);
    uc_get_string(&n, "else", g->otherwise, sizeof g->otherwise);
}

static void read_segment(const struct uc_node *n, struct uc_segment *s)
{
    if (!uc_node_object(n)) {
        uc_node_fail(n, -EINVAL, "missing");
        return;
    }
    s->max = uc_get_size_or(n, "max", SIZE_MAX);
    uc_get_string(n, "strategy", s->strategy, sizeof s->strategy);
    s->lo = uc_get_size_or(n, "lo", 0);
    s->hi = uc_get_size_or(n, "hi", 0);
    read_free(n, s);
    uc_get_string_or(n, "runner_up", s->runner_up, sizeof s->runner_up, "");
    read_margin(n, s);
    s->tie = uc_get_bool(n, "tie");
    s->bracketed = uc_get_bool(n, "bracketed");
    s->measured_to = uc_get_size_or(n, "measured_to", 0);
    read_guard(n, &s->guard);
}

/* Ranges follow each other, and the last one goes on for ever. */
static void check_order(const struct uc_node *segments, const struct uc_ladder *l)
{
    for (size_t i = 0; i < l->n && !segments->error->rc; i++) {
        struct uc_node n = uc_node_element(segments, i), max = uc_node_member(&n, "max");
        bool last = i + 1 == l->n;
        if (last != (l->segment[i].max == SIZE_MAX))
            uc_node_fail(&max, -EINVAL, last ? "the last one must be null" : "missing");
        else if (i && l->segment[i].max <= l->segment[i - 1].max)
            uc_node_fail(&max, -EINVAL, "not above the one before");
    }
}

static void read_segments(const struct uc_node *entry, struct uc_ladder *l)
{
    struct uc_node segments = uc_node_member(entry, "segments");

    l->n = uc_node_array(&segments) ? json_array_size(segments.v) : 0;
    if (!l->n || l->n > UC_MAX_SEGMENTS) {
        uc_node_fail(&segments, -EINVAL, l->n ? "more than 12" : "missing");
        l->n = 0;
    }
    for (size_t i = 0; i < l->n; i++) {
        struct uc_node n = uc_node_element(&segments, i);
        read_segment(&n, l->segment + i);
    }
    check_order(&segments, l);
}

static void read_inline_part(const struct uc_node *parts, const char *key,
                             struct uc_inline_part *part)
{
    struct uc_node n = uc_node_member(parts, key);

    if (!uc_node_object(&n))
        return;
    uc_get_string(&n, "strategy", part->strategy, sizeof part->strategy);
    part->max = uc_get_size(&n, "max");
    part->ratio_to_called = uc_get_number_or(&n, "ratio_to_called", 0);
}

static size_t list_length(const struct uc_node *list)
{
    size_t n = uc_node_array(list) ? json_array_size(list->v) : 0;
    if (n > UC_MAX_NOTES)
        uc_node_fail(list, -EINVAL, "too many");
    return n > UC_MAX_NOTES ? 0 : n;
}

static void read_barred(const struct uc_node *entry, struct uc_profile_entry *e)
{
    struct uc_node list = uc_node_member(entry, "barred");

    e->barred_n = list_length(&list);
    for (size_t i = 0; i < e->barred_n; i++) {
        struct uc_node n = uc_node_element(&list, i);
        struct uc_barred *b = e->barred + i;
        uc_node_object(&n);
        uc_get_string(&n, "strategy", b->strategy, sizeof b->strategy);
        b->from = uc_get_size(&n, "from");
        b->to = uc_get_size_or(&n, "to", SIZE_MAX);
        b->ratio = uc_get_number_or(&n, "ratio", 0);
        uc_get_string_or(&n, "why", b->why, sizeof b->why, "");
    }
}

static void read_anomalies(const struct uc_node *entry, struct uc_profile_entry *e)
{
    struct uc_node list = uc_node_member(entry, "anomalies");

    e->anomaly_n = list_length(&list);
    for (size_t i = 0; i < e->anomaly_n; i++) {
        struct uc_node n = uc_node_element(&list, i);
        uc_node_object(&n);
        uc_get_string(&n, "strategy", e->anomaly[i].strategy, sizeof e->anomaly[i].strategy);
        e->anomaly[i].size = uc_get_size(&n, "size");
        e->anomaly[i].ratio = uc_get_number_or(&n, "ratio", 0);
    }
}

static void read_entry(const struct uc_node *n, struct uc_profile_entry *e)
{
    e->present = uc_node_object(n);
    if (!e->present)
        return;
    read_segments(n, &e->ladder);
    e->ladder.loss = uc_get_number_or(n, "loss", NAN);
    struct uc_node parts = uc_node_member(n, "inline");
    if (uc_node_object(&parts)) {
        read_inline_part(&parts, "baseline", &e->inline_baseline);
        read_inline_part(&parts, "wide", &e->inline_wide);
    }
    read_barred(n, e);
    read_anomalies(n, e);
    e->load = uc_get_object(n, "load");
    e->whole = uc_get_object(n, "whole");
    e->limits = uc_get_object(n, "limits");
    e->consumers = uc_get_object(n, "consumers");
    e->counters = uc_get_object(n, "counters");
}

void uc_entries_from_json(const struct uc_node *root, struct uc_profile *p)
{
    struct uc_node entries = uc_node_member(root, "entries");

    if (!uc_node_object(&entries))
        uc_node_fail(&entries, -EINVAL, "missing");
    for (int i = 0; i < UC_ENTRY_COUNT; i++) {
        struct uc_node n = uc_node_member(&entries, uc_entry_name[i]);
        read_entry(&n, p->entry + i);
    }
}
