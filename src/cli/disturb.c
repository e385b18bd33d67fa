#include "cli/disturb.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Below these nothing shows in a reading. A busy sibling takes half of the core, so 2 % of it moves
 * a mean by 1 %; stolen time is missing whole; a fifth of a CPU elsewhere is a build beginning. The
 * core clock's estimates repeat within 3 % where the clock stands still. */
#define SIBLING_SHARE 0.02
#define STEAL_SHARE 0.005
#define OTHERS_BUSY 0.2
#define CORE_SPREAD 0.05

/* At 2 a thread may count itself in user mode, which is all that is counted here. */
#define PARANOID 2

struct list {
    struct uc_disturbance *v;
    size_t n;
};

static void add(struct list *l, const char *mend, const char *what, ...)
    __attribute__((format(printf, 3, 4)));

static void add(struct list *l, const char *mend, const char *what, ...)
{
    struct uc_disturbance *d = &l->v[l->n++];
    va_list ap;

    va_start(ap, what);
    vsnprintf(d->what, sizeof(d->what), what, ap);
    va_end(ap);
    snprintf(d->mend, sizeof(d->mend), "%s", mend);
}

static void clock_disturbances(struct list *l, const struct uc_seen *s)
{
    char mend[192];

    if (*s->governor && strcmp(s->governor, "performance")) {
        snprintf(mend, sizeof(mend),
                 "echo performance | sudo tee "
                 "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor",
                 s->pu);
        add(l, mend, "the frequency governor of CPU %d is \"%s\": the clock follows the load",
            s->pu, s->governor);
    }
    if (s->turbo_pstate)
        add(l, "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo",
            "turbo is on: the clock depends on heat and on what other cores do");
    if (s->turbo_boost)
        add(l, "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost",
            "boost is on: the clock depends on heat and on what other cores do");
    if (s->core_spread > CORE_SPREAD)
        add(l, "no command from in here: let the machine (in a guest, its host) come to rest",
            "the core clock wandered by %.0f %% within a second", 100 * s->core_spread);
}

static void load_disturbances(struct list *l, const struct uc_seen *s)
{
    if (s->sibling_share > SIBLING_SHARE)
        add(l, "stop what runs there (top -1), or choose another core by --core N",
            "CPU %s, which shares the core, was busy for %.0f %% of the time", s->siblings,
            100 * s->sibling_share);
    if (s->others_busy > OTHERS_BUSY)
        add(l, "stop what runs there (top -1)",
            "other CPUs were busy, %.1f on average: they share the last cache and memory",
            s->others_busy);
    if (s->steal_share > STEAL_SHARE)
        add(l, "on the host: give this guest's CPUs cores of their own (virsh vcpupin)",
            "%.1f %% of the time was stolen by the hypervisor", 100 * s->steal_share);
}

static void system_disturbances(struct list *l, const struct uc_seen *s)
{
    static const char madvise[] =
        "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled";

    if (!strcmp(s->thp, "always"))
        add(l, madvise,
            "transparent huge pages are \"always\": the kernel decides which buffers have them");
    if (!strcmp(s->thp, "never"))
        add(l, madvise,
            "transparent huge pages are \"never\": cache sizes above L1 cannot be measured");
    if (s->refused && s->paranoid > PARANOID)
        add(l, "sudo sysctl kernel.perf_event_paranoid=2, or give the program CAP_PERFMON",
            "kernel.perf_event_paranoid is %ld: no hardware counters", s->paranoid);
    else if (s->refused)
        add(l, "give the program CAP_PERFMON (in a container, allow perf_event_open as well)",
            "hardware counters are refused");
}

size_t uc_disturbances(const struct uc_seen *s, struct uc_disturbance out[UC_MAX_DISTURBANCES])
{
    struct list l = {out, 0};

    if (s->emulated)
        add(&l, "run on hardware", "the CPU is emulated: times say nothing about any CPU");
    clock_disturbances(&l, s);
    load_disturbances(&l, s);
    system_disturbances(&l, s);
    return l.n;
}
