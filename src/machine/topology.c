/* Promises: candidates are what the topology allows AND the mask of the thread allows, and a thread
 * is called pinned only on the kernel's word: with an imported topology hwloc's binding "succeeds"
 * without binding. */
#include "machine/topology.h"

#include <errno.h>
#include <hwloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "machine/evidence.h"

struct uc_topology {
    hwloc_topology_t hwloc; /* NULL where hwloc gave nothing */
    bool this_machine;
    cpu_set_t usable;
    char source[48];
};

/* ---- masks ---- */

/* A kernel for more than CPU_SETSIZE CPUs refuses a smaller mask with EINVAL; 8192 is the most that
 * x86-64 can be built for (NR_CPUS). */
static int current_mask(cpu_set_t *set)
{
    cpu_set_t all[8];
    if (sched_getaffinity(0, sizeof(all), all))
        return -errno;
    *set = all[0];
    return 0;
}

static void to_cpu_set(hwloc_const_bitmap_t bits, cpu_set_t *set)
{
    CPU_ZERO(set);
    for (int pu = 0; pu < CPU_SETSIZE; pu++)
        if (hwloc_bitmap_isset(bits, (unsigned)pu))
            CPU_SET(pu, set);
}

static int range_end(const cpu_set_t *set, int pu)
{
    while (pu + 1 < CPU_SETSIZE && CPU_ISSET(pu + 1, set))
        pu++;
    return pu;
}

const char *uc_cpu_set_text(const cpu_set_t *set, char *buf, size_t cap)
{
    size_t used = 0;
    snprintf(buf, cap, "none");
    for (int pu = 0; pu < CPU_SETSIZE; pu++) {
        char range[24];
        if (!CPU_ISSET(pu, set))
            continue;
        int last = range_end(set, pu);
        int len = last == pu ? snprintf(range, sizeof(range), "%s%d", used ? "," : "", pu)
                             : snprintf(range, sizeof(range), "%s%d-%d", used ? "," : "", pu, last);
        if (used + (size_t)len + sizeof("...") > cap) {
            snprintf(buf + used, cap - used, "...");
            return buf;
        }
        memcpy(buf + used, range, (size_t)len + 1);
        used += (size_t)len;
        pu = last;
    }
    return buf;
}

/* ---- loading ---- */

/* Disallowed PUs are kept: a sibling outside this container's cpuset disturbs as much as one
 * inside. */
static hwloc_topology_t load(void)
{
    hwloc_topology_t h;
    if (hwloc_topology_init(&h))
        return NULL;
    hwloc_topology_set_flags(h, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    if (hwloc_topology_load(h) == 0 && hwloc_get_nbobjs_by_type(h, HWLOC_OBJ_PU) > 0)
        return h;
    hwloc_topology_destroy(h);
    return NULL;
}

static bool has_backend(hwloc_topology_t h, const char *name)
{
    hwloc_obj_t root = hwloc_get_root_obj(h);
    for (unsigned i = 0; i < root->infos_count; i++)
        if (!strcmp(root->infos[i].name, "Backend") && !strcmp(root->infos[i].value, name))
            return true;
    return false;
}

/* HWLOC_FSROOT with nothing in it: hwloc says "not this system", yet all that it tells was read by
 * its x86 backend, by CPUID, on the CPUs of this machine. */
static bool by_cpuid_alone(hwloc_topology_t h)
{
    return !getenv("HWLOC_XMLFILE") && !getenv("HWLOC_SYNTHETIC") && !has_backend(h, "Linux") &&
           has_backend(h, "x86");
}

static void name_source(struct uc_topology *t)
{
    const char *form = "affinity mask";
    if (t->hwloc && !t->this_machine)
        form = "hwloc " HWLOC_VERSION ", imported";
    else if (t->hwloc && has_backend(t->hwloc, "Linux"))
        form = "hwloc " HWLOC_VERSION;
    else if (t->hwloc && has_backend(t->hwloc, "x86"))
        form = "affinity mask and CPUID";
    snprintf(t->source, sizeof(t->source), "%s", form);
}

static void restrict_usable(struct uc_topology *t)
{
    cpu_set_t allowed, both;
    to_cpu_set(hwloc_topology_get_allowed_cpuset(t->hwloc), &allowed);
    CPU_AND(&both, &allowed, &t->usable);
    if (CPU_COUNT(&both) > 0)
        t->usable = both;
}

int uc_topology_open(struct uc_topology **out)
{
    struct uc_topology *t = calloc(1, sizeof(*t));
    if (!t)
        return -ENOMEM;
    int rc = current_mask(&t->usable);
    if (rc) {
        free(t);
        return rc;
    }
    /* Without /sys hwloc writes its own line to stderr; what is missing is told by the source. */
    setenv("HWLOC_HIDE_ERRORS", "2", 0);
    t->hwloc = load();
    t->this_machine =
        !t->hwloc || hwloc_topology_is_thissystem(t->hwloc) || by_cpuid_alone(t->hwloc);
    if (t->hwloc)
        restrict_usable(t);
    name_source(t);
    *out = t;
    return 0;
}

void uc_topology_close(struct uc_topology *t)
{
    if (!t)
        return;
    if (t->hwloc)
        hwloc_topology_destroy(t->hwloc);
    free(t);
}

const char *uc_topology_source(const struct uc_topology *t)
{
    return t->source;
}

bool uc_topology_is_this_machine(const struct uc_topology *t)
{
    return t->this_machine;
}

void uc_topology_usable(const struct uc_topology *t, cpu_set_t *set)
{
    *set = t->usable;
}

static bool in_set(int pu, const cpu_set_t *set)
{
    return pu >= 0 && pu < CPU_SETSIZE && CPU_ISSET(pu, set);
}

/* ---- what is where ---- */

static hwloc_obj_t pu_object(const struct uc_topology *t, int pu)
{
    return t->hwloc && pu >= 0 ? hwloc_get_pu_obj_by_os_index(t->hwloc, (unsigned)pu) : NULL;
}

static hwloc_obj_t core_of(const struct uc_topology *t, int pu)
{
    hwloc_obj_t obj = pu_object(t, pu);
    return obj ? hwloc_get_ancestor_obj_by_type(t->hwloc, HWLOC_OBJ_CORE, obj) : NULL;
}

void uc_topology_siblings(const struct uc_topology *t, int pu, cpu_set_t *set)
{
    hwloc_obj_t core = core_of(t, pu);
    CPU_ZERO(set);
    if (!core)
        return;
    to_cpu_set(core->cpuset, set);
    CPU_CLR(pu, set);
}

int uc_topology_other_core(const struct uc_topology *t, int pu)
{
    hwloc_obj_t core = core_of(t, pu);
    for (int other = 0; core && other < CPU_SETSIZE; other++) {
        hwloc_obj_t its = CPU_ISSET(other, &t->usable) ? core_of(t, other) : NULL;
        if (its && its != core)
            return other;
    }
    return -1;
}

unsigned uc_topology_other_cores(const struct uc_topology *t, int pu, int *pus)
{
    hwloc_obj_t core = core_of(t, pu);
    unsigned n = 0;

    for (int other = 0; core && other < CPU_SETSIZE; other++) {
        hwloc_obj_t its = CPU_ISSET(other, &t->usable) ? core_of(t, other) : NULL;
        bool known = !its || its == core;
        for (unsigned i = 0; i < n && !known; i++)
            known = core_of(t, pus[i]) == its;
        if (!known)
            pus[n++] = other;
    }
    return n;
}

size_t uc_topology_cache(const struct uc_topology *t, int pu, unsigned level)
{
    static const hwloc_obj_type_t type[] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE,
                                            HWLOC_OBJ_L3CACHE};
    hwloc_obj_t obj = pu_object(t, pu);
    if (!obj || level < 1 || level > 3)
        return 0;
    hwloc_obj_t cache = hwloc_get_ancestor_obj_by_type(t->hwloc, type[level - 1], obj);
    return cache ? (size_t)cache->attr->cache.size : 0;
}

int uc_topology_kind(const struct uc_topology *t, int pu)
{
    hwloc_obj_t obj = pu_object(t, pu);
    int kind = obj ? hwloc_cpukinds_get_by_cpuset(t->hwloc, obj->cpuset, 0) : -1;
    int efficiency = -1; /* also what hwloc says where it cannot rank the kinds */
    if (kind >= 0)
        hwloc_cpukinds_get_info(t->hwloc, (unsigned)kind, NULL, &efficiency, NULL, NULL, 0);
    return efficiency > 0 ? efficiency : 0;
}

/* ---- the choice ---- */

/* Above one USER_HZ tick in ten, so that one tick of chance in a look of 100 ms is no load. */
#define BUSY 0.15

/* The rules of the choice for one PU, most important first; the better one has the larger kind,
 * then the smaller of each other. */
struct merit {
    int kind;
    bool disturbed;
    int near_zero; /* 2: PU 0, 1: on its core, 0: elsewhere */
};

static bool is_disturbed(const cpu_set_t *siblings, int pu, const double *busy)
{
    if (!busy)
        return false;
    if (busy[pu] > BUSY)
        return true;
    for (int other = 0; other < CPU_SETSIZE; other++)
        if (CPU_ISSET(other, siblings) && busy[other] > BUSY)
            return true;
    return false;
}

static struct merit merit_of(const struct uc_topology *t, int pu, const double *busy)
{
    cpu_set_t siblings;
    uc_topology_siblings(t, pu, &siblings);
    struct merit m = {
        .kind = uc_topology_kind(t, pu),
        .disturbed = is_disturbed(&siblings, pu, busy),
        .near_zero = pu == 0 ? 2 : (CPU_ISSET(0, &siblings) != 0),
    };
    return m;
}

/* The rule by which a beats b, NULL where it does not. */
static const char *beats(const struct merit *a, const struct merit *b)
{
    if (a->kind != b->kind)
        return a->kind > b->kind ? "a core of the fastest kind" : NULL;
    if (a->disturbed != b->disturbed)
        return b->disturbed ? "idle, and its siblings too" : NULL;
    if (a->near_zero != b->near_zero)
        return a->near_zero < b->near_zero ? "not PU 0, which serves most interrupts" : NULL;
    return NULL;
}

/* The reason told is the weightiest rule by which the choice beats any other candidate. */
static const char *reason(const struct uc_topology *t, const cpu_set_t *candidates,
                          const double *busy, const struct merit *best)
{
    struct merit worst = *best;
    for (int pu = 0; pu < CPU_SETSIZE; pu++) {
        struct merit m;
        if (!CPU_ISSET(pu, candidates))
            continue;
        m = merit_of(t, pu, busy);
        if (beats(&worst, &m))
            worst = m;
    }
    const char *why = beats(best, &worst);
    return why ? why : "the first of equals";
}

int uc_topology_best(const struct uc_topology *t, const cpu_set_t *candidates,
                     const double busy[CPU_SETSIZE], const char **why)
{
    int best_pu = -1;
    struct merit best = {0};
    for (int pu = 0; pu < CPU_SETSIZE; pu++) {
        if (!CPU_ISSET(pu, candidates))
            continue;
        struct merit m = merit_of(t, pu, busy);
        if (best_pu < 0 || beats(&m, &best)) {
            best_pu = pu;
            best = m;
        }
    }
    *why = reason(t, candidates, busy, &best);
    return best_pu;
}

/* Share of the time of each PU that was busy while this thread slept. False: /proc does not tell.
 */
static bool look(double busy[CPU_SETSIZE])
{
    static const struct timespec while_ = {0, 100 * 1000000};
    uint64_t before[CPU_SETSIZE], after[CPU_SETSIZE];
    double ticks = 0.1 * (double)sysconf(_SC_CLK_TCK);
    if (uc_busy_ticks(UC_PROC_STAT, before))
        return false;
    nanosleep(&while_, NULL);
    if (uc_busy_ticks(UC_PROC_STAT, after))
        return false;
    for (int pu = 0; pu < CPU_SETSIZE; pu++)
        busy[pu] = after[pu] > before[pu] ? (double)(after[pu] - before[pu]) / ticks : 0;
    return true;
}

int uc_topology_choose(const struct uc_topology *t, int wanted, int *pu, const char **why)
{
    double busy[CPU_SETSIZE];
    if (wanted >= 0) {
        if (!in_set(wanted, &t->usable))
            return -EINVAL;
        *pu = wanted;
        *why = "asked for";
        return 0;
    }
    if (CPU_COUNT(&t->usable) == 1) {
        *pu = uc_topology_best(t, &t->usable, NULL, why);
        *why = "the only one allowed";
        return 0;
    }
    *pu = uc_topology_best(t, &t->usable, look(busy) ? busy : NULL, why);
    return 0;
}

/* ---- pinning ---- */

int uc_topology_pinned(int pu)
{
    cpu_set_t mask;
    int rc = current_mask(&mask);
    if (rc)
        return rc;
    return CPU_COUNT(&mask) == 1 && in_set(pu, &mask) && sched_getcpu() == pu ? 0 : -EXDEV;
}

/* False also where hwloc would only pretend. */
static bool bind_by_hwloc(struct uc_topology *t, int pu)
{
    if (!t->hwloc || !hwloc_topology_is_thissystem(t->hwloc))
        return false;
    hwloc_bitmap_t bits = hwloc_bitmap_alloc();
    if (!bits)
        return false;
    hwloc_bitmap_only(bits, (unsigned)pu);
    int rc = hwloc_set_cpubind(t->hwloc, bits, HWLOC_CPUBIND_THREAD | HWLOC_CPUBIND_STRICT);
    hwloc_bitmap_free(bits);
    return rc == 0;
}

static int bind_by_kernel(int pu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(pu, &one);
    return sched_setaffinity(0, sizeof(one), &one) ? -errno : 0;
}

int uc_topology_pin(struct uc_topology *t, int pu)
{
    if (!in_set(pu, &t->usable))
        return -EINVAL;
    if (!bind_by_hwloc(t, pu)) {
        int rc = bind_by_kernel(pu);
        if (rc)
            return rc;
    }
    return uc_topology_pinned(pu);
}
