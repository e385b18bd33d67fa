/* `bench --state other_core` and `bench --threads`: what needs other cores. */
#include "cli/bench.h"

#include <errno.h>
#include <string.h>

#include "base/msg.h"
#include "cli/command.h"
#include "measure/company.h"

int uc_bench_company_check(const struct uc_bench *b, const struct uc_options *o)
{
    bool other = b->state == UC_OTHER_CORE;
    const char *what = b->threads != 1 ? "--threads" : other ? "--state other_core" : NULL;
    const char *with = !what                      ? NULL
                       : other && b->threads != 1 ? "--state other_core"
                       : o->sizes_from            ? "--sizes-from"
                       : b->inlined               ? "--inline"
                       : b->slopes                ? "--slopes"
                       : b->events                ? "--events"
                       : o->consumer == UC_EVICT  ? "--consumer evict"
                                                  : NULL;

    if (with)
        uc_usage("%s: not with %s", what, with);
    return with ? UC_EXIT_USAGE : 0;
}

static int too_few(const struct uc_bench *b, unsigned others)
{
    if (!others && b->threads == 0)
        uc_error("--threads all: this process may use one core alone");
    else if (!others && b->threads == 1)
        uc_error("--state other_core: this process may use one core alone");
    else
        uc_error("--threads %d: this process may use %u core%s", b->threads, others + 1,
                 others ? "s" : "");
    return UC_EXIT_MACHINE;
}

/* Each of the others copies between buffers of its own. */
static size_t largest(const struct uc_session *s, const struct uc_plan *plan)
{
    size_t most = 0;

    for (size_t i = 0; i < plan->n; i++) {
        size_t n = uc_batch_bytes(&plan->place[i], &s->caches);
        most = n > most ? n : most;
    }
    return most;
}

int uc_bench_company(struct uc_bench *b, struct uc_session *s, const struct uc_plan *plan)
{
    int pus[CPU_SETSIZE];
    unsigned others = uc_topology_other_cores(s->topology, s->pu, pus);
    bool write = b->state == UC_OTHER_CORE;
    unsigned wanted = write ? 1 : b->threads ? (unsigned)b->threads - 1 : others;

    if (!wanted && b->threads == 1)
        return 0;
    if (!others || wanted > others)
        return too_few(b, others);
    int rc = uc_company_open(&s->company, s->topology, s->pu, wanted, write ? 0 : largest(s, plan),
                             ~UINT64_C(0));
    if (rc) {
        uc_error("cannot use %u other cores: %s", wanted, strerror(-rc));
        return UC_EXIT_MACHINE;
    }
    b->threads = write ? 1 : (int)wanted + 1;
    for (size_t i = 0; i < plan->n; i++)
        plan->place[i].threads = b->threads;
    return 0;
}
