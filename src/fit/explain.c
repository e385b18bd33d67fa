#include "fit/explain.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Middles nearer than this explain nothing. */
#define VISIBLE .01
/* Differences below this are told of 1000 calls. */
#define RARE .5

static bool counted(const struct uc_tally *t)
{
    return !t->why[0];
}

struct text {
    char *at;
    size_t left;
};

static void __attribute__((format(printf, 2, 3))) put(struct text *t, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    int n = vsnprintf(t->at, t->left, fmt, ap);
    va_end(ap);
    size_t used = n < 0 ? 0 : (size_t)n < t->left ? (size_t)n : t->left - 1;
    t->at += used;
    t->left -= used;
}

/* Below 0: the chosen copy has fewer; 0: no difference to be seen. */
static double difference(const struct uc_tally *chosen, const struct uc_tally *other)
{
    double d = chosen->mid - other->mid;
    bool apart = chosen->hi < other->lo || chosen->lo > other->hi;

    return apart && fabs(d) >= VISIBLE * fmax(chosen->mid, other->mid) ? d : 0;
}

/* Three digits, without an exponent: "0.25", "31.5", "12345". */
static void put_number(struct text *t, double v)
{
    int digits = v >= 100 ? 0 : v >= 10 ? 1 : 2;
    put(t, "%.*f", digits, v);
}

enum way { FEWER, MORE, SAME, UNCOUNTED, WAYS };

static enum way way_of(const struct uc_tally *chosen, const struct uc_tally *other)
{
    double d = difference(chosen, other);

    if (!counted(chosen) || !counted(other))
        return UNCOUNTED;
    return d < 0 ? FEWER : d > 0 ? MORE : SAME;
}

static void put_event(struct text *t, enum uc_event e, const struct uc_tally *chosen,
                      const struct uc_tally *other, enum way way)
{
    double d = fabs(chosen->mid - other->mid);

    if (way == UNCOUNTED) {
        put(t, "%s (%s)", uc_event_word[e], counted(chosen) ? other->why : chosen->why);
        return;
    }
    if (way != SAME) {
        put_number(t, d < RARE ? 1000 * d : d);
        put(t, " ");
    }
    put(t, "%s%s", uc_event_word[e], way != SAME && d < RARE ? " a 1000 calls" : "");
}

/* "; fewer: 28 branch misses a 1000 calls, 3.2 instructions" */
static void put_list(struct text *t, const struct uc_tally *chosen, const struct uc_tally *other,
                     enum way way)
{
    static const char *const head[] = {[FEWER] = "fewer",
                                       [MORE] = "more",
                                       [SAME] = "no difference in",
                                       [UNCOUNTED] = "not counted"};
    int n = 0;

    for (int e = 0; e < UC_EVENTS; e++) {
        if (way_of(&chosen[e], &other[e]) != way || (e == UC_CYCLES && way != UNCOUNTED))
            continue;
        put(t, "%s", n++ ? ", " : "; ");
        if (n == 1)
            put(t, "%s%s", head[way], way == SAME ? " " : ": ");
        put_event(t, (enum uc_event)e, &chosen[e], &other[e], way);
    }
}

/* The cycles themselves, which the rest is to explain. */
static void put_cycles(struct text *t, const struct uc_tally *chosen, const struct uc_tally *other,
                       const char *other_name)
{
    enum way way = way_of(chosen, other);

    if (way == UNCOUNTED) {
        put(t, "against %s", other_name);
        return;
    }
    put_number(t, chosen->mid);
    put(t, " cycles a call, %s ", other_name);
    if (way == SAME)
        put(t, "no visibly other number");
    else
        put_number(t, other->mid);
}

const char *uc_explain(const struct uc_tally chosen[UC_EVENTS],
                       const struct uc_tally other[UC_EVENTS], const char *other_name, char *buf,
                       size_t cap)
{
    struct text t = {buf, cap};

    buf[0] = 0;
    put_cycles(&t, &chosen[UC_CYCLES], &other[UC_CYCLES], other_name);
    for (enum way way = 0; way < WAYS; way++)
        put_list(&t, chosen, other, way);
    return buf;
}
