/* `ucopy-tune info`: the machine as seen, each fact with its source; what disturbs measuring here
 * and how to mend it. Reads, times for about two seconds, changes nothing. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/msg.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/disturb.h"
#include "cli/facts.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/session.h"
#include "machine/caches.h"
#include "machine/clock.h"
#include "machine/counters.h"
#include "machine/cpu.h"
#include "machine/evidence.h"
#include "machine/topology.h"
#include "profile/profile.h"
#include "strategies/registry.h"

enum {
    CHASE_BYTES = 256 << 20, /* twice the largest slice of an L3 seen in a guest */
    CORE_SAMPLES = 12,
};

/* ---- the CPU ---- */

static const char *isa_or_none(uint32_t isa, char *buf, size_t cap)
{
    return isa ? ucopy_isa_text(isa, buf, cap) : "none";
}

static void add_identity(struct uc_facts *f, const struct uc_cpu *c)
{
    uc_fact_set(uc_fact_add(f, "key", "vendor, family, model, core kind"), NULL, "%s", c->key);
    uc_fact_set(uc_fact_add(f, "vendor", "CPUID leaf 0"), NULL, "%s", c->vendor);
    uc_fact_set(uc_fact_add(f, "family", "CPUID leaf 1"), NULL, "%u (%#x)", c->family, c->family);
    uc_fact_set(uc_fact_add(f, "model", "CPUID leaf 1"), NULL, "%u (%#x)", c->model, c->model);
    uc_fact_set(uc_fact_add(f, "stepping", "CPUID leaf 1"), NULL, "%u", c->stepping);
    uc_fact_set(uc_fact_add(f, "name", "CPUID leaves 0x80000002 to 4"), NULL, "%s", c->name);
    uc_fact_set(
        uc_fact_add(f, "codename",
                    *c->codename ? "libcpuid" : "libcpuid's does not fit the model, or is none"),
        NULL, "%s", c->codename);
    uc_fact_set(uc_fact_add(f, "core_kind", "CPUID leaves 7 and 0x1A"), NULL, "%s",
                !strcmp(c->core_kind, "p")   ? "performance"
                : !strcmp(c->core_kind, "e") ? "efficiency"
                                             : "one kind");
    uc_fact_set(uc_fact_add(f, "hypervisor", "CPUID leaves 1 and 0x40000000"), NULL, "%s",
                !c->hypervisor        ? "none"
                : *c->hypervisor_name ? c->hypervisor_name
                                      : "one that does not name itself");
}

static void add_isa(struct uc_facts *f, const struct uc_cpu *c, uint32_t disabled)
{
    const char *source = c->xcr0_known ? "CPUID, OSXSAVE and XCR0" : "CPUID alone";
    char text[256];

    uc_fact_set(uc_fact_add(f, "instruction_sets", "%s", source), NULL, "%s",
                isa_or_none(c->isa & ~disabled, text, sizeof(text)));
    if (c->isa & disabled)
        uc_fact_set(uc_fact_add(f, "disabled", "--disable-isa or UCOPY_DISABLE_ISA"), NULL, "%s",
                    ucopy_isa_text(c->isa & disabled, text, sizeof(text)));
    if (c->isa_cpuid & ~c->isa)
        uc_fact_set(uc_fact_add(f, "not_enabled", "CPUID has them, the OS has not enabled them"),
                    NULL, "%s", ucopy_isa_text(c->isa_cpuid & ~c->isa, text, sizeof(text)));
    uc_fact_set(uc_fact_add(f, "erms", "CPUID leaf 7 EBX bit 9"), NULL, "%s",
                c->isa_cpuid & UCOPY_ISA_ERMS ? "yes" : "no");
    uc_fact_set(uc_fact_add(f, "fsrm", "CPUID leaf 7 EDX bit 4"), NULL, "%s",
                c->isa_cpuid & UCOPY_ISA_FSRM ? "yes" : "no");
    if (c->xcr0_known)
        uc_fact_set(uc_fact_add(f, "xcr0", "XGETBV"), NULL, "%#llx", (unsigned long long)c->xcr0);
}

/* A core kind has caches of its own; the root's "caches" are those of the core looked from. */
static json_t *libcpuid_caches_json(const struct uc_cpu *c)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "l1d", uc_json_size(c->l1d, 0), "l2",
                     uc_json_size(c->l2, 0), "l3", uc_json_size(c->l3, 0), "line",
                     uc_json_size(c->line, 0));
}

static json_t *cpu_json(const struct uc_cpu *c, uint32_t disabled)
{
    struct uc_cpu shown = *c;
    json_t *o;
    char xcr0[24];

    shown.isa &= ~disabled;
    o = uc_cpu_to_json(&shown);
    snprintf(xcr0, sizeof(xcr0), "%#llx", (unsigned long long)c->xcr0);
    if (!json_object_set_new(o, "isa_cpuid", uc_json_isa(c->isa_cpuid)) &&
        !json_object_set_new(o, "xcr0", c->xcr0_known ? json_string(xcr0) : json_null()) &&
        !json_object_set_new(o, "microcode", uc_json_string(c->microcode)) &&
        !json_object_set_new(o, "libcpuid_caches", libcpuid_caches_json(c)))
        return o;
    json_decref(o);
    return NULL;
}

static json_t *cpus_json(const struct uc_cpus *cpus, uint32_t disabled)
{
    json_t *list = json_array();
    int rc = !list;

    for (size_t i = 0; i < cpus->n; i++)
        rc |= json_array_append_new(list, cpu_json(&cpus->kind[i], disabled));
    if (!rc)
        return list;
    json_decref(list);
    return NULL;
}

/* ---- caches ---- */

static const char *const cache_name[] = {"l1d", "l2", "l3"};

static void cache_list(const struct uc_caches *c, const struct uc_cache *list[3])
{
    list[0] = &c->l1d;
    list[1] = &c->l2;
    list[2] = &c->l3;
}

/* "libcpuid 48 KiB, hwloc unknown, ...", those with a value that was asked for. */
static void said_text(const struct uc_cache *c, char *buf, size_t cap)
{
    char size[UC_SIZE_TEXT];
    size_t used = 0;

    for (int i = 0; i < UC_CACHE_SOURCES && used < cap; i++)
        used += (size_t)snprintf(buf + used, cap - used, "%s%s %s", i ? ", " : "",
                                 uc_cache_source_name[i],
                                 c->by[i] ? uc_size_text(c->by[i], size) : "unknown");
}

static void add_cache(struct uc_facts *f, const char *name, const struct uc_cache *c)
{
    char said[128], size[UC_SIZE_TEXT];
    struct uc_fact *fact;

    said_text(c, said, sizeof(said));
    fact = uc_fact_add(f, name, "%s is used; %s%s", uc_cache_source_name[c->source], said,
                       c->disagree ? ": they differ twofold" : "");
    if (c->bytes)
        uc_fact_set(fact, NULL, "%s", uc_size_text(c->bytes, size));
}

static json_t *cache_json(const struct uc_cache *c)
{
    json_t *said = json_object();

    for (int i = 0; i < UC_CACHE_SOURCES; i++)
        json_object_set_new(said, uc_cache_source_name[i], uc_json_size(c->by[i], 0));
    return json_pack("{s:o, s:s?, s:o, s:b}", "bytes", uc_json_size(c->bytes, 0), "source",
                     c->bytes ? uc_cache_source_name[c->source] : NULL, "said", said, "disagree",
                     c->disagree);
}

static json_t *caches_json(const struct uc_caches *c)
{
    const struct uc_cache *list[3];
    json_t *o = json_object();

    cache_list(c, list);
    for (int i = 0; i < 3; i++)
        json_object_set_new(o, cache_name[i], cache_json(list[i]));
    json_object_set_new(o, "line", uc_json_size(c->line, 0));
    return o;
}

static void add_caches(struct uc_facts *f, const struct uc_caches *c)
{
    const struct uc_cache *list[3];

    cache_list(c, list);
    for (int i = 0; i < 3; i++)
        add_cache(f, cache_name[i], list[i]);
    uc_fact_set(uc_fact_add(f, "line", "libcpuid, else sysfs, else assumed"), NULL, "%zu B",
                c->line);
}

/* Of a dump's CPU nobody but libcpuid can be asked. */
static void add_dump_caches(struct uc_facts *f, const struct uc_cpu *c)
{
    const size_t bytes[] = {c->l1d, c->l2, c->l3};
    char size[UC_SIZE_TEXT];

    for (int i = 0; i < 3; i++) {
        struct uc_fact *fact = uc_fact_add(f, cache_name[i], "libcpuid");
        if (bytes[i])
            uc_fact_set(fact, NULL, "%s", uc_size_text(bytes[i], size));
    }
    if (c->line)
        uc_fact_set(uc_fact_add(f, "line", "libcpuid"), NULL, "%zu B", c->line);
}

/* ---- the machine ---- */

struct machine {
    struct uc_topology *topology;
    bool ours; /* the topology is this machine's */
    int pu;
    const char *pu_why;
    int pinned; /* 0 or a negative errno */
    struct uc_cpus cpus;
    struct uc_caches caches;
    struct uc_clock clock;
    int clock_rc;
    int counters_rc;
    char counters_why[256];
    struct uc_machine_load begin, end;
    cpu_set_t siblings;
    char governor[32], thp[16];
};

static bool read_long(const char *path, long *value)
{
    FILE *f = fopen(path, "re");
    bool ok = f && fscanf(f, "%ld", value) == 1;

    if (f)
        fclose(f);
    return ok;
}

static size_t huge_page_bytes(void)
{
    long bytes;

    return read_long("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", &bytes) && bytes > 0
               ? (size_t)bytes
               : 0;
}

static void add_cores(struct uc_facts *f, const struct machine *m)
{
    const char *source = uc_topology_source(m->topology);
    char text[256];
    cpu_set_t set;

    uc_topology_usable(m->topology, &set);
    uc_fact_set(uc_fact_add(f, "usable_cpus", "%s%s, and the affinity mask", source,
                            m->ours ? "" : " (not of this machine)"),
                NULL, "%s", uc_cpu_set_text(&set, text, sizeof(text)));
    uc_fact_set(uc_fact_add(f, "core", "%s; %s", m->pu_why,
                            m->pinned ? strerror(-m->pinned) : "the kernel confirms the binding"),
                json_integer(m->pu), "CPU %d%s", m->pu, m->pinned ? ", not bound" : "");
    if (CPU_COUNT(&m->siblings))
        uc_fact_set(uc_fact_add(f, "siblings", "%s", source), NULL, "%s",
                    uc_cpu_set_text(&m->siblings, text, sizeof(text)));
    else
        uc_fact_set(uc_fact_add(f, "siblings", "%s", source), json_null(), "none");
}

static void add_clock(struct uc_facts *f, const struct machine *m)
{
    const struct uc_clock *c = &m->clock;
    struct uc_fact *tsc, *core;

    tsc = uc_fact_add(f, "tsc_hz",
                      m->clock_rc ? "the TSC does not run here"
                                  : "measured against CLOCK_MONOTONIC_RAW");
    if (!m->clock_rc)
        uc_fact_set(tsc, json_real(c->tsc_hz), "%.6f GHz, within %.2g ppm", c->tsc_hz / 1e9,
                    1e6 * c->tsc_spread);
    core = uc_fact_add(f, "core_hz", "estimated by dependent additions, %u times", c->core_n);
    if (!m->clock_rc && c->core_hz > 0)
        uc_fact_set(core,
                    json_pack("{s:f, s:f, s:f, s:i}", "median", c->core_hz, "lo", c->core_lo, "hi",
                              c->core_hi, "n", (int)c->core_n),
                    "%.3f GHz, from %.3f to %.3f", c->core_hz / 1e9, c->core_lo / 1e9,
                    c->core_hi / 1e9);
}

/* Can the default events be opened? why: the PMU, or the one reason why not. */
static int try_counters(char *why, size_t cap)
{
    const char *events[UC_MAX_EVENTS], *pmu;
    size_t n = uc_counters_default(events);
    struct uc_counters *c;
    int rc;

    if (!n) {
        snprintf(why, cap, "libpfm4 knows no event that this CPU counts");
        return -ENOENT;
    }
    rc = uc_counters_open(&c, events, n, why, cap);
    if (rc)
        return rc;
    uc_counters_close(c);
    pmu = uc_counters_pmu();
    snprintf(why, cap, "perf_event_open, events of libpfm4's %s", pmu ? pmu : "generic list");
    return 0;
}

static void add_counters(struct uc_facts *f, const struct machine *m)
{
    uc_fact_set(uc_fact_add(f, "counters", "%s", m->counters_why), json_boolean(!m->counters_rc),
                "%s", m->counters_rc ? "not available" : "available");
}

static void add_share(struct uc_facts *f, const char *key, const char *source, double share)
{
    struct uc_fact *fact = uc_fact_add(f, key, "%s", source);

    if (share >= 0)
        uc_fact_set(fact, json_real(share), "%.1f %%", 100 * share);
}

static void add_memory(struct uc_facts *f, const struct machine *m)
{
    char size[UC_SIZE_TEXT];
    size_t base = (size_t)sysconf(_SC_PAGESIZE), huge = huge_page_bytes();
    struct uc_fact *fact;

    uc_fact_set(uc_fact_add(f, "page", "sysconf"), uc_json_size(base, 0), "%s",
                uc_size_text(base, size));
    fact = uc_fact_add(f, "huge_page", "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
    if (huge)
        uc_fact_set(fact, uc_json_size(huge, 0), "%s", uc_size_text(huge, size));
    uc_fact_set(
        uc_fact_add(f, "transparent_huge_pages", "/sys/kernel/mm/transparent_hugepage/enabled"),
        NULL, "%s", m->thp);
}

static void add_machine(struct uc_facts *f, const struct machine *m)
{
    add_cores(f, m);
    add_clock(f, m);
    add_counters(f, m);
    add_memory(f, m);
    uc_fact_set(uc_fact_add(f, "governor", "cpufreq/scaling_governor of CPU %d", m->pu), NULL, "%s",
                m->governor);
    uc_fact_set(uc_fact_add(f, "microcode",
                            *m->cpus.kind[0].microcode ? "/proc/cpuinfo"
                                                       : "/proc/cpuinfo, where it is a revision"),
                NULL, "%s", m->cpus.kind[0].microcode);
    add_share(f, "steal", "/proc/stat, while this command ran", uc_steal_share(&m->begin, &m->end));
}

/* CPUs busy on average between the two looks; negative: unknown. */
static double others_busy(const struct machine *m)
{
    double seconds = m->end.seconds - m->begin.seconds;

    if (!m->begin.known || !m->end.known || seconds <= 0)
        return -1;
    return (double)(m->end.busy_others - m->begin.busy_others) / (double)sysconf(_SC_CLK_TCK) /
           seconds;
}

static size_t see_disturbances(const struct machine *m, struct uc_disturbance *out)
{
    char siblings[256];
    long value;
    struct uc_seen s = {
        .pu = m->pu,
        .governor = m->governor,
        .thp = m->thp,
        .siblings = uc_cpu_set_text(&m->siblings, siblings, sizeof(siblings)),
        .sibling_share = CPU_COUNT(&m->siblings) ? uc_sibling_share(&m->begin, &m->end) : -1,
        .others_busy = others_busy(m),
        .steal_share = uc_steal_share(&m->begin, &m->end),
        .core_spread = m->clock.core_lo > 0 ? m->clock.core_hi / m->clock.core_lo - 1 : 0,
        .paranoid = LONG_MIN,
        .refused = m->counters_rc == -EACCES || m->counters_rc == -EPERM,
        .emulated = uc_cpu_emulated(&m->cpus.kind[0]),
    };

    if (read_long("/sys/devices/system/cpu/intel_pstate/no_turbo", &value))
        s.turbo_pstate = value == 0;
    if (read_long("/sys/devices/system/cpu/cpufreq/boost", &value))
        s.turbo_boost = value == 1;
    if (read_long("/proc/sys/kernel/perf_event_paranoid", &value))
        s.paranoid = value;
    return uc_disturbances(&s, out);
}

static json_t *disturbances_json(const struct uc_disturbance *d, size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_pack("{s:s, s:s}", "what", d[i].what, "mend", d[i].mend));
    return list;
}

static void print_disturbances(const struct uc_disturbance *d, size_t n)
{
    puts("\nwhat disturbs measuring here");
    for (size_t i = 0; i < n; i++) {
        char text[256];
        snprintf(text, sizeof(text), "  %.191s", d[i].what);
        uc_print_wrapped(text, 4, stdout);
        snprintf(text, sizeof(text), "      mend: %.191s", d[i].mend);
        uc_print_wrapped(text, 8, stdout);
    }
    if (!n)
        puts("  nothing that is visible from here");
}

/* ---- output ---- */

static void print_cpu(const struct uc_cpu *c, uint32_t disabled)
{
    struct uc_facts f = {0};

    puts("cpu");
    add_identity(&f, c);
    add_isa(&f, c, disabled);
    if (!c->xcr0_known)
        add_dump_caches(&f, c);
    uc_facts_print(&f, stdout);
    uc_facts_free(&f);
}

static int show_machine_text(const struct machine *m, const struct uc_facts *facts,
                             const struct uc_disturbance *d, size_t n, uint32_t disabled)
{
    struct uc_facts caches = {0};

    uc_print_version();
    print_cpu(&m->cpus.kind[0], disabled);
    puts("\ncaches");
    add_caches(&caches, &m->caches);
    uc_facts_print(&caches, stdout);
    puts("\nmachine");
    uc_facts_print(facts, stdout);
    print_disturbances(d, n);
    uc_facts_free(&caches);
    return UC_EXIT_OK;
}

static int show_machine(const struct machine *m, bool json, uint32_t disabled)
{
    struct uc_disturbance d[UC_MAX_DISTURBANCES];
    struct uc_facts facts = {0};
    size_t n = see_disturbances(m, d);
    int rc;

    add_machine(&facts, m);
    if (json)
        rc = uc_print_json(json_pack("{s:s, s:o, s:o, s:o, s:o}", "tool", UC_TOOL, "cpus",
                                     cpus_json(&m->cpus, disabled), "caches",
                                     caches_json(&m->caches), "machine", uc_facts_json(&facts),
                                     "disturbing", disturbances_json(d, n)));
    else
        rc = show_machine_text(m, &facts, d, n, disabled);
    uc_facts_free(&facts);
    return rc;
}

static void dump_caches(const struct uc_cpu *cpu, struct uc_caches *c)
{
    memset(c, 0, sizeof(*c));
    c->l1d.by[UC_BY_CPUID] = c->l1d.bytes = cpu->l1d;
    c->l2.by[UC_BY_CPUID] = c->l2.bytes = cpu->l2;
    c->l3.by[UC_BY_CPUID] = c->l3.bytes = cpu->l3;
    c->line = cpu->line;
}

static int show_dump(const struct uc_cpus *cpus, bool json, uint32_t disabled)
{
    struct uc_caches caches;

    dump_caches(&cpus->kind[0], &caches);
    if (json)
        return uc_print_json(json_pack("{s:s, s:o, s:o}", "tool", UC_TOOL, "cpus",
                                       cpus_json(cpus, disabled), "caches", caches_json(&caches)));
    uc_print_version();
    for (size_t i = 0; i < cpus->n; i++) {
        if (i)
            putchar('\n');
        print_cpu(&cpus->kind[i], disabled);
    }
    return UC_EXIT_OK;
}

/* ---- the command ---- */

/* --key: that CPU alone, or the answer is no. */
static int keep_key(struct uc_cpus *cpus, const char *key)
{
    char has[160] = "";

    for (size_t i = 0; key && i < cpus->n; i++) {
        size_t used = strlen(has);
        if (!strcmp(cpus->kind[i].key, key)) {
            cpus->kind[0] = cpus->kind[i];
            cpus->n = 1;
            return UC_EXIT_OK;
        }
        snprintf(has + used, sizeof(has) - used, "%s%s", i ? ", " : "", cpus->kind[i].key);
    }
    if (!key)
        return UC_EXIT_OK;
    uc_error("--key %s: not the CPU here (%s)", key, has);
    return UC_EXIT_NO;
}

static int info_of_dump(const struct uc_options *o, bool json)
{
    struct uc_cpus cpus;
    unsigned line;
    const char *why;
    int rc = uc_cpus_from_dump(o->cpuid_file, &cpus, &line, &why);

    if (rc == -EINVAL)
        uc_error("%s:%u: %s", o->cpuid_file, line, why);
    else if (rc)
        uc_error("cannot read %s: %s", o->cpuid_file, strerror(-rc));
    if (rc)
        return UC_EXIT_USAGE;
    rc = keep_key(&cpus, o->key);
    return rc ? rc : show_dump(&cpus, json, o->disabled_isa);
}

static int choose_core(struct machine *m, int wanted)
{
    int rc = uc_session_check_core(m->topology, wanted);

    if (rc)
        return rc;
    rc = uc_topology_choose(m->topology, wanted, &m->pu, &m->pu_why);
    if (rc)
        uc_error("info: no CPU to choose: %s", strerror(-rc));
    return rc ? UC_EXIT_MACHINE : UC_EXIT_OK;
}

static void measure(struct machine *m)
{
    uc_caches_read(&m->caches, &m->cpus.kind[0], m->ours ? m->topology : NULL, m->pu);
    int lock = uc_session_lock(); /* the chase and a timed run would ruin each other */
    if (uc_caches_measure(&m->caches, CHASE_BYTES))
        uc_warn("no memory to measure the caches with");
    uc_caches_choose(&m->caches);
    m->clock_rc = uc_clock_calibrate(&m->clock);
    for (int i = 0; i < CORE_SAMPLES && !m->clock_rc; i++)
        uc_clock_sample_core(&m->clock);
    if (lock >= 0)
        close(lock);
}

static int look(struct machine *m, const struct uc_options *o, int core)
{
    int rc = choose_core(m, core);

    if (rc)
        return rc;
    m->pinned = uc_topology_pin(m->topology, m->pu);
    uc_topology_siblings(m->topology, m->pu, &m->siblings);
    uc_machine_load_now(&m->begin, m->pu, &m->siblings);
    m->cpus.n = 1;
    rc = uc_cpu_identify(&m->cpus.kind[0]);
    if (rc) {
        uc_error("info: cannot identify the CPU: %s", strerror(-rc));
        return UC_EXIT_MACHINE;
    }
    rc = keep_key(&m->cpus, o->key);
    if (rc)
        return rc;
    uc_governor(m->pu, m->governor, sizeof(m->governor));
    uc_thp_mode(m->thp, sizeof(m->thp));
    measure(m);
    m->counters_rc = try_counters(m->counters_why, sizeof(m->counters_why));
    uc_machine_load_now(&m->end, m->pu, &m->siblings);
    return UC_EXIT_OK;
}

static int info_of_machine(const struct uc_options *o, int core, bool json)
{
    struct machine m = {0};
    int rc = uc_topology_open(&m.topology);

    if (rc) {
        uc_error("info: cannot read the topology: %s", strerror(-rc));
        return UC_EXIT_MACHINE;
    }
    m.ours = uc_topology_is_this_machine(m.topology);
    rc = look(&m, o, core);
    if (!rc)
        rc = show_machine(&m, json, o->disabled_isa);
    uc_topology_close(m.topology);
    return rc;
}

enum { KEY_CORE = 1000 };

static error_t parse(int key, char *arg, struct argp_state *state)
{
    long v;

    if (key != KEY_CORE)
        return ARGP_ERR_UNKNOWN;
    if (uc_parse_long(arg, 0, CPU_SETSIZE - 1, &v))
        return uc_usage("--core: '%s' is not a whole number from 0 to %d", arg, CPU_SETSIZE - 1);
    *(int *)state->input = (int)v;
    return 0;
}

static int info(int argc, char **argv)
{
    static const char *const formats[] = {"text", "json"};
    static const struct argp_option options[] = {
        {"core", KEY_CORE, "N", 0, "look from this CPU (OS index); default: the quietest usable",
         0},
        {0},
    };
    static const struct argp own = {
        .options = options,
        .parser = parse,
        .doc =
            "The machine as seen, each fact with its source, and what disturbs measuring here with "
            "the command that mends it. Changes nothing. With --cpuid FILE: the CPU of a CPUID "
            "dump, and nothing of this machine; with --key KEY: that CPU alone, or exit code 1."
            "\v"
            "Example: ucopy-tune info --format json",
    };
    struct uc_options o;
    int core = -1, format = 0;
    int rc =
        uc_options_parse(&o, UC_OPT_FORMAT | UC_OPT_CPUID | UC_OPT_ISA, &own, &core, argc, argv);

    if (rc)
        return rc - 1;
    if (o.format)
        format = uc_option_word("--format", o.format, formats, 2);
    if (format < 0)
        return UC_EXIT_USAGE;
    return o.cpuid_file ? info_of_dump(&o, format == 1) : info_of_machine(&o, core, format == 1);
}

const struct uc_command uc_command_info = {
    .name = "info",
    .summary = "the machine as seen, each source named; what disturbs measuring here",
    .run = info,
};
