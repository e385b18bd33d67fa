#include "measure/count.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "machine/counters.h"
#include "measure/sweep.h"

#define REPEATS 7

/* Counted together: cycles and instructions, which each other prove; then two at most. A PMU has
 * four counters at least, of which a watchdog may hold one. */
static const struct {
    enum uc_event event[2];
    size_t n;
} group[] = {{{UC_CYCLES, UC_INSTRUCTIONS}, 2},
             {{UC_BRANCH_MISSES}, 1},
             {{UC_L1D_MISSES}, 1},
             {{UC_L2_MISSES}, 1}};
#define GROUPS (sizeof(group) / sizeof(group[0]))

static int open_group(size_t g, struct uc_counters **c, char *why, size_t cap)
{
    const char *name[2];
    uint32_t type;
    uint64_t config;

    for (size_t i = 0; i < group[g].n; i++) {
        name[i] = uc_event_names[group[g].event[i]];
        if (!uc_counters_encode(name[i], &type, &config))
            continue;
        snprintf(why, cap, "libpfm4 knows no event for %s of %s", uc_event_word[group[g].event[i]],
                 uc_counters_pmu() ? uc_counters_pmu() : "this CPU, whose PMU it does not know");
        return -ENOENT;
    }
    return uc_counters_open(c, name, group[g].n, why, cap);
}

int uc_count_possible(char *why, size_t why_cap)
{
    struct uc_counters *c = NULL;
    int rc = open_group(0, &c, why, why_cap);

    uc_counters_close(c);
    return rc;
}

static void edge(void *state, bool begin)
{
    (void)(begin ? uc_counters_start(state) : uc_counters_stop(state));
}

/* values of one event of one subject */
struct repeats {
    double v[REPEATS];
    const char *why;
};

static void keep(struct repeats *r, int repeat, const struct uc_count *count, size_t calls)
{
    r->v[repeat] = (double)count->value / (double)calls;
    if (!count->valid)
        r->why = count->why;
}

static void tell(struct repeats *r, struct uc_tally *t)
{
    uc_sort(r->v, REPEATS);
    *t = (struct uc_tally){r->v[0], r->v[REPEATS / 2], r->v[REPEATS - 1], ""};
    if (r->why)
        snprintf(t->why, sizeof(t->why), "%s", r->why);
}

static int count_group(struct uc_counters *c, size_t g, struct uc_batch *b,
                       const struct uc_subject *u, size_t n, struct uc_tally (*tally)[UC_EVENTS])
{
    struct repeats(*r)[2] = calloc(n, sizeof(*r));

    if (!r)
        return -ENOMEM;
    for (int repeat = 0; repeat < REPEATS && !uc_interrupted; repeat++)
        for (size_t k = 0; k < n; k++) {
            struct uc_count count[UC_MAX_EVENTS];
            uc_batch_between(b, &u[k], edge, c);
            uc_counters_read(c, count);
            for (size_t i = 0; i < group[g].n; i++)
                keep(&r[k][i], repeat, &count[i], b->n);
        }
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < group[g].n; i++)
            tell(&r[k][i], &tally[k][group[g].event[i]]);
    free(r);
    return uc_interrupted ? -EINTR : 0;
}

static void refuse(size_t g, size_t n, const char *why, struct uc_tally (*tally)[UC_EVENTS])
{
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < group[g].n; i++)
            snprintf(tally[k][group[g].event[i]].why, sizeof(tally[k][0].why), "%s", why);
}

int uc_count_batch(struct uc_batch *b, const struct uc_subject *u, size_t n,
                   struct uc_tally (*tally)[UC_EVENTS])
{
    int rc = 0;

    memset(tally, 0, n * sizeof(*tally));
    for (size_t g = 0; g < GROUPS && !rc; g++) {
        struct uc_counters *c = NULL;
        char why[256];
        if (open_group(g, &c, why, sizeof(why)))
            refuse(g, n, why, tally);
        else
            rc = count_group(c, g, b, u, n, tally);
        uc_counters_close(c);
    }
    return rc;
}
