/* The machine as `info` tells it, as text and JSON. */
#include "cli/info.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/command.h"
#include "cli/output.h"

static void add_cores(struct uc_facts *f, const struct uc_info_machine *m)
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

static void add_clock(struct uc_facts *f, const struct uc_info_machine *m)
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

static void add_counters(struct uc_facts *f, const struct uc_info_machine *m)
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

static void add_memory(struct uc_facts *f, const struct uc_info_machine *m)
{
    char size[UC_SIZE_TEXT];
    size_t base = (size_t)sysconf(_SC_PAGESIZE), huge = m->huge_page;
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

static void add_machine(struct uc_facts *f, const struct uc_info_machine *m)
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

static void dump_caches(const struct uc_cpu *cpu, struct uc_caches *c)
{
    memset(c, 0, sizeof(*c));
    c->l1d.by[UC_BY_CPUID] = c->l1d.bytes = cpu->l1d;
    c->l2.by[UC_BY_CPUID] = c->l2.bytes = cpu->l2;
    c->l3.by[UC_BY_CPUID] = c->l3.bytes = cpu->l3;
    c->line = cpu->line;
}

static int show_machine_text(const struct uc_info_machine *m, const struct uc_facts *facts,
                             const struct uc_disturbance *d, size_t n, uint32_t disabled)
{
    struct uc_facts caches = {0};

    uc_print_version();
    uc_info_print_cpu(&m->cpus.kind[0], disabled);
    puts("\ncaches");
    uc_info_add_caches(&caches, &m->caches);
    uc_facts_print(&caches, stdout);
    puts("\nmachine");
    uc_facts_print(facts, stdout);
    print_disturbances(d, n);
    uc_facts_free(&caches);
    return UC_EXIT_OK;
}

int uc_info_print_machine(const struct uc_info_machine *m, bool json, uint32_t disabled)
{
    struct uc_disturbance d[UC_MAX_DISTURBANCES];
    struct uc_facts facts = {0};
    size_t n = uc_info_disturbances(m, d);
    int rc;

    add_machine(&facts, m);
    if (json)
        rc = uc_print_json(json_pack("{s:s, s:o, s:o, s:o, s:o}", "tool", UC_TOOL, "cpus",
                                     uc_info_cpus_json(&m->cpus, disabled), "caches",
                                     uc_info_caches_json(&m->caches), "machine",
                                     uc_facts_json(&facts), "disturbing", disturbances_json(d, n)));
    else
        rc = show_machine_text(m, &facts, d, n, disabled);
    uc_facts_free(&facts);
    return rc;
}

int uc_info_print_dump(const struct uc_cpus *cpus, bool json, uint32_t disabled)
{
    struct uc_caches caches;

    dump_caches(&cpus->kind[0], &caches);
    if (json)
        return uc_print_json(json_pack("{s:s, s:o, s:o}", "tool", UC_TOOL, "cpus",
                                       uc_info_cpus_json(cpus, disabled), "caches",
                                       uc_info_caches_json(&caches)));
    uc_print_version();
    for (size_t i = 0; i < cpus->n; i++) {
        if (i)
            putchar('\n');
        uc_info_print_cpu(&cpus->kind[i], disabled);
    }
    return UC_EXIT_OK;
}
