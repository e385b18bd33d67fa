/* Rounds over rows, and replays. */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>

#include "base/msg.h"
#include "machine/evidence.h"
#include "measure/sweep.h"
#include "syscalls/syscalls.h"

struct state {
    struct uc_sys_run *run;
    struct uc_sys_result *r;
    const struct uc_sys_rounds *w;
    double *least; /* of the round; NAN: none yet */
    bool *refused;
    size_t *order;
    double began;
};

static void shuffle(struct state *s)
{
    for (size_t i = s->w->rows; i > 1; i--) {
        size_t k = uc_rng_below(&s->run->rng, i), t = s->order[i - 1];
        s->order[i - 1] = s->order[k];
        s->order[k] = t;
    }
}

/* The row has no samples from here on, and its name and the errno are told. */
static int refuse(struct state *s, size_t i, int rc)
{
    struct uc_sys_row *row = &s->r->row[s->w->first + i];

    s->refused[i] = true;
    row->n = 0;
    return uc_sys_skip(s->r, rc, NULL, "%s %s", row->series, row->name);
}

static int read_row(struct state *s, size_t i)
{
    double ns = NAN;

    if (s->refused[i])
        return 0;
    if (uc_interrupted)
        return -EINTR;
    if (sched_getcpu() != s->run->pu)
        return -EXDEV;
    int rc = s->w->read(s->w->ctx, i, &ns);
    if (rc)
        return uc_sys_refused(rc) ? refuse(s, i, rc) : rc;
    if (!isnan(ns) && !(s->least[i] <= ns))
        s->least[i] = ns;
    return 0;
}

static int take_samples(struct state *s)
{
    int rc = 0;

    for (size_t i = 0; i < s->w->rows && !rc; i++) {
        double ns = s->least[i];
        if (isnan(ns) || s->refused[i])
            continue;
        rc = uc_sys_sample(s->r, s->w->first + i, s->w->value ? s->w->value(s->w->ctx, i, ns) : ns);
    }
    return rc;
}

static int one_round(struct state *s)
{
    int rc = s->w->begin ? s->w->begin(s->w->ctx) : 0;

    if (rc)
        return rc;
    for (size_t i = 0; i < s->w->rows; i++)
        s->least[i] = NAN;
    for (unsigned k = 0; k < s->w->readings && !rc; k++) {
        shuffle(s);
        for (size_t i = 0; i < s->w->rows && !rc; i++)
            rc = read_row(s, s->order[i]);
    }
    if (s->w->end)
        s->w->end(s->w->ctx);
    return rc ? rc : take_samples(s);
}

/* Is there time for another like the ones before? */
static bool go_on(const struct state *s, unsigned done)
{
    double spent = uc_seconds() - s->began;

    if (done < UC_SYS_ROUNDS)
        return true;
    return done < UC_SYS_SAMPLES && spent + spent / done <= s->w->seconds;
}

/* Nothing is left out in silence. */
static int tell_unread(const struct state *s)
{
    int rc = 0;

    for (size_t i = 0; i < s->w->rows && !rc; i++) {
        const struct uc_sys_row *row = &s->r->row[s->w->first + i];
        if (!row->n && !s->refused[i])
            rc = uc_sys_skip(s->r, 0, "no whole reading without a disturbance", "%s %s",
                             row->series, row->name);
    }
    return rc;
}

static int run_rounds(struct state *s)
{
    int rc = 0;

    s->began = uc_seconds();
    for (size_t i = 0; i < s->w->rows; i++)
        s->order[i] = i;
    for (unsigned done = 0; go_on(s, done) && !rc; done++) {
        uc_progress(s->run->name, (uc_seconds() - s->began) / s->w->seconds, -1);
        rc = one_round(s);
    }
    return rc ? rc : tell_unread(s);
}

int uc_sys_rounds(struct uc_sys_run *run, struct uc_sys_result *r, const struct uc_sys_rounds *w)
{
    struct state s = {.run = run, .r = r, .w = w};
    int rc = -ENOMEM;

    s.least = malloc((w->rows + 1) * sizeof(*s.least));
    s.refused = calloc(w->rows + 1, sizeof(*s.refused));
    s.order = malloc((w->rows + 1) * sizeof(*s.order));
    if (s.least && s.refused && s.order)
        rc = run_rounds(&s);
    free(s.least);
    free(s.refused);
    free(s.order);
    return rc;
}

double uc_sys_replay(const struct uc_sys_run *run, const struct uc_subject *u,
                     const struct uc_call *calls, size_t n, const char *base)
{
    for (int tries = 0; tries < 3; tries++) {
        struct uc_evidence before, after;
        uc_evidence_now(&before);
        double t = (double)u->loops->none(u->fn, calls, n, base) - run->clock->overhead_ticks;
        uc_evidence_now(&after);
        if (!uc_disturbed(&before, &after) && t > 0)
            return t / run->clock->tsc_hz * 1e9;
    }
    return NAN;
}

bool uc_sys_subject(const struct uc_sys_run *run, const char *name, struct uc_subject *u)
{
    const struct ucopy_strategy *s = ucopy_find(name);

    if (!s || (s->isa & ~run->isa))
        return false;
    *u = uc_subject_called(s);
    return true;
}
