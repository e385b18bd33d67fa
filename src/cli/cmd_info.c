/* `ucopy-tune info`: the machine as seen, each fact with its source; what disturbs measuring here
 * and how to mend it. Reads, times for about two seconds, changes nothing. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/msg.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/info.h"
#include "cli/options.h"
#include "cli/session.h"
#include "machine/counters.h"

enum {
    CHASE_BYTES = 256 << 20, /* twice the largest slice of an L3 seen in a guest */
    CORE_SAMPLES = 12,
};

/* ---- looking ---- */

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

/* CPUs busy on average between the two looks; negative: unknown. */
static double others_busy(const struct uc_info_machine *m)
{
    double seconds = m->end.seconds - m->begin.seconds;

    if (!m->begin.known || !m->end.known || seconds <= 0)
        return -1;
    return (double)(m->end.busy_others - m->begin.busy_others) / (double)sysconf(_SC_CLK_TCK) /
           seconds;
}

size_t uc_info_disturbances(const struct uc_info_machine *m, struct uc_disturbance *out)
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
    return rc ? rc : uc_info_print_dump(&cpus, json, o->disabled_isa);
}

static int choose_core(struct uc_info_machine *m, int wanted)
{
    int rc = uc_session_check_core(m->topology, wanted);

    if (rc)
        return rc;
    rc = uc_topology_choose(m->topology, wanted, &m->pu, &m->pu_why);
    if (rc)
        uc_error("info: no CPU to choose: %s", strerror(-rc));
    return rc ? UC_EXIT_MACHINE : UC_EXIT_OK;
}

static void measure(struct uc_info_machine *m)
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

static int look(struct uc_info_machine *m, const struct uc_options *o, int core)
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
    m->huge_page = huge_page_bytes();
    measure(m);
    m->counters_rc = try_counters(m->counters_why, sizeof(m->counters_why));
    uc_machine_load_now(&m->end, m->pu, &m->siblings);
    return UC_EXIT_OK;
}

static int info_of_machine(const struct uc_options *o, int core, bool json)
{
    struct uc_info_machine m = {0};
    int rc = uc_topology_open(&m.topology);

    if (rc) {
        uc_error("info: cannot read the topology: %s", strerror(-rc));
        return UC_EXIT_MACHINE;
    }
    m.ours = uc_topology_is_this_machine(m.topology);
    rc = look(&m, o, core);
    if (!rc)
        rc = uc_info_print_machine(&m, json, o->disabled_isa);
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
