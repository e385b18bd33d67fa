/* Made-up profiles for the tests of what reads and emits them. The CPU exists nowhere. */
#ifndef TESTS_MADE_UP_H
#define TESTS_MADE_UP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

static inline void made_up_cpu(struct uc_cpu *c)
{
    snprintf(c->key, sizeof c->key, "made-0f-01");
    snprintf(c->vendor, sizeof c->vendor, "MadeUpVendor");
    c->family = 0xf;
    c->model = 1;
    c->stepping = 2;
    snprintf(c->name, sizeof c->name, "Made Up 9000 */ \\ ?\?/ (tm)");
    c->hypervisor = true;
    c->isa = UCOPY_ISA_ERMS | UCOPY_ISA_SSE2 | UCOPY_ISA_AVX2;
}

/* A segment behind the others; max SIZE_MAX: the last. */
static inline struct uc_segment *made_up_segment(struct uc_profile *p, enum uc_entry entry,
                                                 size_t max, const char *strategy)
{
    struct uc_ladder *l = &p->entry[entry].ladder;
    struct uc_segment *s = l->segment + l->n++;

    p->entry[entry].present = true;
    s->max = max;
    snprintf(s->strategy, sizeof s->strategy, "%s", strategy);
    snprintf(s->runner_up, sizeof s->runner_up, "rep_movsb");
    s->margin = s->margin_lo = s->margin_hi = 1.37;
    s->bracketed = max != SIZE_MAX;
    s->measured_to = max == SIZE_MAX ? (size_t)64 << 20 : max;
    return s;
}

static inline struct uc_profile *made_up_profile(unsigned environment, const char *variant)
{
    struct uc_profile *p = calloc(1, sizeof *p);

    p->complete = true;
    p->environment = environment;
    snprintf(p->variant, sizeof p->variant, "%s", variant);
    p->has_cpu = true;
    made_up_cpu(&p->cpu);
    return p;
}

static inline void made_up_free(struct uc_profile *p)
{
    uc_profile_free(p);
    free(p);
}

#endif
