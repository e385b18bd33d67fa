/* Promises: a count is told only where the event was counted for the whole time; everything else
 * says why. Nothing here is needed for tuning: guests and containers usually have no PMU. */
#include "machine/counters.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <perfmon/pfmlib_perf_event.h>

#include "machine/counter_events.h"
#include "machine/topology.h"

/* ---- the system ---- */

static int system_open(struct perf_event_attr *attr, int cpu)
{
    return (int)syscall(SYS_perf_event_open, attr, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

struct uc_perf_system uc_perf_system = {
    .open = system_open,
    .read = read,
    .devices = "/sys/bus/event_source/devices",
    .paranoid = "/proc/sys/kernel/perf_event_paranoid",
};

static bool read_text(const char *path, char *buf, size_t cap)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    bool got = fgets(buf, (int)cap, f) != NULL;
    fclose(f);
    return got;
}

/* Is cpu in a list of the form "0-15,20"? */
static bool in_cpu_list(const char *list, int cpu)
{
    while (*list) {
        char *end;
        long first = strtol(list, &end, 10), last = first;
        if (end == list)
            return false;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        if (cpu >= first && cpu <= last)
            return true;
        list = *end == ',' ? end + 1 : "";
    }
    return false;
}

/* The PMUs of a hybrid CPU, as Linux names them. Elsewhere the one core PMU is "cpu". */
static const char *const hybrid_device[] = {"cpu_core", "cpu_atom", "cpu_lowpower"};

/* Type number of a hybrid device, and whether it serves this CPU. False: no such device. */
static bool hybrid_pmu(const char *device, int cpu, uint32_t *type, bool *serves)
{
    char path[256], text[1024];
    snprintf(path, sizeof(path), "%s/%s/type", uc_perf_system.devices, device);
    if (!read_text(path, text, sizeof(text)))
        return false;
    *type = (uint32_t)strtoul(text, NULL, 10);
    snprintf(path, sizeof(path), "%s/%s/cpus", uc_perf_system.devices, device);
    *serves = read_text(path, text, sizeof(text)) && in_cpu_list(text, cpu);
    return true;
}

/* Type number of the hybrid device that serves this CPU; 0: the CPU is not hybrid. */
static uint32_t hybrid_type_of(int cpu)
{
    for (size_t i = 0; i < sizeof(hybrid_device) / sizeof(hybrid_device[0]); i++) {
        uint32_t type;
        bool serves;
        if (hybrid_pmu(hybrid_device[i], cpu, &type, &serves) && serves)
            return type;
    }
    return 0;
}

/* ---- names to encodings ---- */

static bool pfm_ready(void)
{
    return pfm_initialize() == PFM_SUCCESS; /* the library makes a second call cheap */
}

/* Event 0 with unit mask 0 is no event of any model; libpfm4 4.13 encodes Goldmont's
 * CPU_CLK_UNHALTED:CORE_P so, which would count nothing. Event and mask are the low 16 bits, AMD's
 * upper event bits 32 to 35. */
static bool is_no_event(const struct perf_event_attr *attr)
{
    return attr->type == PERF_TYPE_RAW && (attr->config & UINT64_C(0xf0000ffff)) == 0;
}

static bool encode_name(const char *name, struct perf_event_attr *attr)
{
    pfm_perf_encode_arg_t arg = {.attr = attr, .size = sizeof(arg)};
    memset(attr, 0, sizeof(*attr));
    attr->size = sizeof(*attr);
    int rc = pfm_get_os_event_encoding(name, PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg);
    return rc == PFM_SUCCESS && !is_no_event(attr);
}

static bool core_pmu(pfm_pmu_t pmu, pfm_pmu_info_t *info)
{
    memset(info, 0, sizeof(*info));
    info->size = sizeof(*info);
    return pfm_get_pmu_info(pmu, info) == PFM_SUCCESS && info->is_present &&
           info->type == PFM_PMU_TYPE_CORE;
}

/* On a hybrid CPU libpfm4 reports a core PMU for each kind of core: is this the one of our CPU? The
 * type number that it encodes for is the kernel's number of the device. */
static bool serves_cpu(const pfm_pmu_info_t *info, uint32_t wanted)
{
    char name[160];
    struct perf_event_attr attr;
    pfm_event_info_t event = {.size = sizeof(event)};
    if (wanted == 0 || info->first_event < 0 ||
        pfm_get_event_info(info->first_event, PFM_OS_PERF_EVENT_EXT, &event) != PFM_SUCCESS)
        return true;
    snprintf(name, sizeof(name), "%s::%s", info->name, event.name);
    return !encode_name(name, &attr) || attr.type == wanted;
}

const char *uc_counters_pmu(void)
{
    pfm_pmu_t pmu;
    pfm_pmu_info_t info;
    const char *found = NULL;
    uint32_t wanted = hybrid_type_of(sched_getcpu());
    if (!pfm_ready())
        return NULL;
    pfm_for_all_pmus(pmu)
    {
        if (!core_pmu(pmu, &info) || !serves_cpu(&info, wanted))
            continue;
        if (pmu != PFM_PMU_INTEL_X86_ARCH)
            return info.name;
        found = info.name; /* the architected events alone: where no model is known */
    }
    return found;
}

/* A name without PMU means the present core's PMU before any other. */
static bool encode_on(const char *pmu, const char *name, struct perf_event_attr *attr)
{
    char qualified[256];
    if (pmu && !strstr(name, "::")) {
        snprintf(qualified, sizeof(qualified), "%s::%s", pmu, name);
        if (encode_name(qualified, attr))
            return true;
    }
    return encode_name(name, attr);
}

/* The kernel sends a generic event (cycles, instructions, L1D misses by number) to the PMU of the P
 * cores, where it counts 0 on an E core, unless the upper half of config names the device
 * (PERF_PMU_TYPE_SHIFT in linux/perf_event.h). */
static void address_hybrid(struct perf_event_attr *attr)
{
    if (attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE)
        attr->config |= (uint64_t)hybrid_type_of(sched_getcpu()) << 32;
}

/* Takes the first of "a|b|c" that can be encoded; its text goes to taken. */
static int encode(const char *event, struct perf_event_attr *attr, char *taken, size_t cap)
{
    const char *pmu = uc_counters_pmu();
    while (pfm_ready()) {
        size_t len = strcspn(event, "|");
        snprintf(taken, cap, "%.*s", (int)len, event);
        if (len > 0 && len < cap && encode_on(pmu, taken, attr)) {
            address_hybrid(attr);
            return 0;
        }
        if (event[len] == '\0')
            break;
        event += len + 1;
    }
    return -ENOENT;
}

int uc_counters_encode(const char *event, uint32_t *type, uint64_t *config)
{
    struct perf_event_attr attr;
    char taken[sizeof(((struct uc_count *)0)->event)];
    int rc = encode(event, &attr, taken, sizeof(taken));
    if (rc)
        return rc;
    *type = attr.type;
    *config = attr.config;
    return 0;
}

size_t uc_counters_default(const char *events[UC_MAX_EVENTS])
{
    static const enum uc_event usual[] = {UC_CYCLES, UC_INSTRUCTIONS, UC_L1D_MISSES};
    size_t n = 0;
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
        uint32_t type;
        uint64_t config;
        if (uc_counters_encode(uc_event_names[usual[i]], &type, &config) == 0)
            events[n++] = uc_event_names[usual[i]];
    }
    return n;
}

/* ---- opening ---- */

/* What the kernel tells of one event (read_format below): the count, and for how long it was
 * enabled and on a counter, in ns. */
struct sample {
    uint64_t value, enabled, running;
};

enum role { OTHER, IS_CYCLES, IS_INSTRUCTIONS };

struct event {
    char name[sizeof(((struct uc_count *)0)->event)];
    int fd;
    enum role role;
    struct sample start;
};

struct uc_counters {
    size_t n;
    struct event event[UC_MAX_EVENTS];
};

/* The limits of perf_event_paranoid: 2 for user space alone, 1 with the kernel. Where it would let
 * us count, the refusal has another cause. */
static void say_refused(bool in_kernel, char *need, size_t cap)
{
    char text[32];
    long limit = in_kernel ? 1 : 2;
    if (!read_text(uc_perf_system.paranoid, text, sizeof(text))) {
        snprintf(need, cap, "perf_event_paranoid of %ld or less, or CAP_PERFMON, is needed", limit);
        return;
    }
    long paranoid = strtol(text, NULL, 10);
    if (paranoid > limit)
        snprintf(need, cap, "perf_event_paranoid is %ld; %ld or less, or CAP_PERFMON, is needed",
                 paranoid, limit);
    else
        snprintf(need, cap,
                 "perf_event_paranoid is %ld, which allows it: a container's filter or a security "
                 "module forbids it; CAP_PERFMON may help",
                 paranoid);
}

static void say_need(int err, bool in_kernel, char *need, size_t cap)
{
    static const struct {
        int err;
        const char *text;
    } fixed[] = {
        {ENOENT, "no PMU is exposed to this guest, or it has no such event"},
        {EINVAL, "this kernel or PMU does not accept the event's encoding"},
        {EMFILE, "raise the limit of open files (ulimit -n)"},
        {EOPNOTSUPP, "no PMU is exposed to this guest, or it cannot count this way"},
        {ENOSYS, "this kernel is built without perf events, or a filter hides them"},
        {EBUSY, "another user, such as a profiler, holds the PMU for itself"},
        {ENODEV, "no PMU is exposed to this guest for this CPU"},
    };
    snprintf(need, cap, "perf_event_open failed");
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
        if (fixed[i].err == err)
            snprintf(need, cap, "%s", fixed[i].text);
    if (err == EACCES || err == EPERM)
        say_refused(in_kernel, need, cap);
}

static int fail(int err, bool in_kernel, const char *event, char *why, size_t cap)
{
    char need[256];
    say_need(err, in_kernel, need, sizeof(need));
    snprintf(why, cap, "%s: %s: %s", event, strerror(err), need);
    return -err;
}

/* Events that happen inside the kernel alone read 0 when it is excluded; page faults and clocks
 * are credited to the user code that they interrupt. */
static bool kernel_made(const struct perf_event_attr *attr)
{
    return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
                                                attr->config == PERF_COUNT_SW_CPU_MIGRATIONS);
}

static void prepare(struct perf_event_attr *attr)
{
    attr->disabled = 1;
    attr->exclude_user = 0;
    attr->exclude_kernel = !kernel_made(attr);
    attr->exclude_hv = 1;
    attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
}

/* Is one of the alternatives "a|b|c" this event? Each by itself: on a PMU that the library knows
 * the first of them is its own, and a generic spelling of the same count is another encoding. */
static bool is_one_of(const char *alternatives, const struct perf_event_attr *attr)
{
    char list[512], *rest = list, *one;

    snprintf(list, sizeof(list), "%s", alternatives);
    while ((one = strsep(&rest, "|"))) {
        uint32_t type;
        uint64_t config;
        if (!uc_counters_encode(one, &type, &config) && type == attr->type &&
            config == attr->config)
            return true;
    }
    return false;
}

/* By encoding, so that a user's own spelling of the same event is known too. */
static enum role role_of(const struct perf_event_attr *attr)
{
    if (is_one_of(uc_event_names[UC_CYCLES], attr))
        return IS_CYCLES;
    return is_one_of(uc_event_names[UC_INSTRUCTIONS], attr) ? IS_INSTRUCTIONS : OTHER;
}

static int say_unknown(const char *event, char *why, size_t cap)
{
    const char *pmu = uc_counters_pmu();
    snprintf(why, cap, "%s: libpfm4 knows no such event for %s", event,
             pmu ? pmu : "this CPU, whose PMU it does not know");
    return -ENOENT;
}

static int open_event(struct event *e, const char *name, int cpu, char *why, size_t cap)
{
    struct perf_event_attr attr;
    e->fd = -1;
    if (encode(name, &attr, e->name, sizeof(e->name)))
        return say_unknown(name, why, cap);
    e->role = role_of(&attr);
    prepare(&attr);
    e->fd = uc_perf_system.open(&attr, cpu);
    return e->fd < 0 ? fail(errno, !attr.exclude_kernel, e->name, why, cap) : 0;
}

static int open_all(struct uc_counters *c, const char *const *events, size_t n, char *why,
                    size_t cap)
{
    int cpu = sched_getcpu();
    if (uc_topology_pinned(cpu))
        cpu = -1;
    for (size_t i = 0; i < n; i++) {
        int rc = open_event(&c->event[i], events[i], cpu, why, cap);
        if (rc)
            return rc;
        c->n = i + 1;
    }
    return 0;
}

int uc_counters_open(struct uc_counters **out, const char *const *events, size_t n, char *why,
                     size_t why_cap)
{
    *out = NULL;
    if (n == 0 || n > UC_MAX_EVENTS) {
        snprintf(why, why_cap, "%zu events asked for: 1 to %d can be counted", n, UC_MAX_EVENTS);
        return -EINVAL;
    }
    struct uc_counters *c = calloc(1, sizeof(*c));
    snprintf(why, why_cap, "%s", strerror(ENOMEM));
    if (!c)
        return -ENOMEM;
    int rc = open_all(c, events, n, why, why_cap);
    if (rc) {
        uc_counters_close(c);
        return rc;
    }
    *out = c;
    return 0;
}

void uc_counters_close(struct uc_counters *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n; i++)
        close(c->event[i].fd);
    free(c);
}

/* ---- counting ---- */

static bool take_sample(const struct event *e, struct sample *s)
{
    return uc_perf_system.read(e->fd, s, sizeof(*s)) == (ssize_t)sizeof(*s);
}

/* Count and times go on from start to start (a reset clears the count but not the times): what was
 * before is kept and taken off. */
int uc_counters_start(struct uc_counters *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (!take_sample(&c->event[i], &c->event[i].start))
            return -EIO;
    return prctl(PR_TASK_PERF_EVENTS_ENABLE, 0, 0, 0, 0) ? -errno : 0;
}

int uc_counters_stop(struct uc_counters *c)
{
    (void)c;
    return prctl(PR_TASK_PERF_EVENTS_DISABLE, 0, 0, 0, 0) ? -errno : 0;
}

/* NULL where the count is of the whole time. */
static const char *flaw(const struct sample *s)
{
    if (s->running == 0)
        return "never scheduled: no counter was free, or it was not started";
    if (s->running < s->enabled)
        return "multiplexed: counted for a part of the time only";
    return NULL;
}

static void count_one(const struct event *e, struct uc_count *count)
{
    struct sample s;
    snprintf(count->event, sizeof(count->event), "%s", e->name);
    count->value = 0;
    count->why = "the kernel gave no count";
    if (take_sample(e, &s)) {
        s.value -= e->start.value;
        s.enabled -= e->start.enabled;
        s.running -= e->start.running;
        count->value = s.value;
        count->why = flaw(&s);
    }
    count->valid = !count->why;
}

static int with_role(const struct uc_counters *c, enum role role)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->event[i].role == role)
            return (int)i;
    return -1;
}

/* Some hypervisors give a PMU whose cycle counter stands still, and a PMU of the other core kind
 * counts 0 of everything. */
static void reject_implausible(const struct uc_counters *c, struct uc_count *counts)
{
    int cycles = with_role(c, IS_CYCLES), instructions = with_role(c, IS_INSTRUCTIONS);
    if (cycles < 0 || instructions < 0 || !counts[cycles].valid || !counts[instructions].valid)
        return;
    if ((counts[cycles].value == 0) == (counts[instructions].value == 0))
        return;
    const char *why = counts[cycles].value == 0 ? "implausible: 0 cycles with instructions above 0"
                                                : "implausible: 0 instructions with cycles above 0";
    counts[cycles].valid = counts[instructions].valid = false;
    counts[cycles].why = counts[instructions].why = why;
}

size_t uc_counters_read(struct uc_counters *c, struct uc_count counts[UC_MAX_EVENTS])
{
    for (size_t i = 0; i < c->n; i++)
        count_one(&c->event[i], &counts[i]);
    reject_implausible(c, counts);
    return c->n;
}
