#include "measure/grade.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *what;
    size_t offset;
    double a, b;
} rules[UC_GRADE_REASONS - 1] = {
    {"of the readings were disturbed and dropped", offsetof(struct uc_noise, dropped), 0.02, 0.10},
    {"of the time went to the hypervisor (steal)", offsetof(struct uc_noise, steal), 0.01, 0.05},
    {"of the time a sibling of the core was busy", offsetof(struct uc_noise, sibling), 0.05, 0.25},
    {"or more is what libc differed from itself by at a tenth of the places, before the run",
     offsetof(struct uc_noise, opening), 0.03, UC_SELF_POOR},
    {"or more is what libc differs from itself by, timed twice, at a tenth of the places",
     offsetof(struct uc_noise, self), 0.03, UC_SELF_POOR},
    {"is the median half-width of the intervals", offsetof(struct uc_noise, half_width), 0.03,
     0.08},
};

void uc_grade_of(const struct uc_noise *n, struct uc_grade *g)
{
    memset(g, 0, sizeof(*g));
    g->letter = n->emulated ? 'C' : 'A';
    if (n->emulated)
        snprintf(g->reason[g->reasons++], sizeof(g->reason[0]), "%s",
                 "the CPU is emulated: the times say nothing about any CPU");
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        double v = *(const double *)((const char *)n + rules[i].offset);
        if (v <= rules[i].a)
            continue;
        char letter = v <= rules[i].b ? 'B' : 'C';
        if (letter > g->letter)
            g->letter = letter;
        snprintf(g->reason[g->reasons++], sizeof(g->reason[0]), "%.1f %% %s", 100 * v,
                 rules[i].what);
    }
}
