/* Counters: every event's encoding on every PMU that this libpfm4 can be told to be, every way in
 * which the system refuses, counts that must not be believed, and the software events that work
 * without a PMU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <perfmon/pfmlib_perf_event.h>

#include "machine/counter_events.h"
#include "machine/counters.h"
#include "tests/perf_filter.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* What only a fresh process can do (one library state, one filter, one limit a process): runs the
 * function there with its stdout as the text that comes back. */
static int in_child(int (*work)(const void *), const void *arg, char *text, size_t cap)
{
    int ends[2], status;
    size_t used = 0;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(ends[0]);
        dup2(ends[1], 1);
        int rc = work(arg);
        fflush(stdout);
        _exit(rc);
    }
    close(ends[1]);
    for (ssize_t got; used + 1 < cap && (got = read(ends[0], text + used, cap - 1 - used)) > 0;)
        used += (size_t)got;
    text[used] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFEXITED(status))
        fail_msg("killed by signal %d; it said: %s", WTERMSIG(status), text);
    return WEXITSTATUS(status);
}

static int open_one(struct uc_counters **c, const char *event, char *why, size_t cap)
{
    return uc_counters_open(c, &event, 1, why, cap);
}

/* ---- encodings ---- */

/* Event number and unit mask as the vendors' manuals give them (Intel SDM vol. 3 ch. 19 and
 * perfmon events; AMD BKDG and PPR): umask << 8 | event. 0: the library has no such event. */
struct pmu {
    const char *name;
    unsigned cycles, instructions, l1d, branches, l2;
};

static const struct pmu table[] = {
    {"ix86arch", 0x3c, 0xc0, 0, 0xc5, 0},
    {"core", 0x3c, 0xc0, 0x0f45, 0xc5, 0x7024},
    {"atom", 0x3c, 0xc0, 0, 0xc5, 0x7024},
    {"nhm", 0x3c, 0xc0, 0x0151, 0x7f89, 0x07f1},
    {"nhm_ex", 0x3c, 0xc0, 0x0151, 0x7f89, 0x07f1},
    {"wsm", 0x3c, 0x01c0, 0x0151, 0xc5, 0x07f1},
    {"wsm_dp", 0x3c, 0x01c0, 0x0151, 0xc5, 0x07f1},
    {"snb", 0x3c, 0xc0, 0x0151, 0x04c5, 0x07f1},
    {"snb_ep", 0x3c, 0xc0, 0x0151, 0x04c5, 0x07f1},
    {"ivb", 0x3c, 0xc0, 0x0151, 0xc5, 0x07f1},
    {"ivb_ep", 0x3c, 0xc0, 0x0151, 0xc5, 0x07f1},
    {"hsw", 0x3c, 0xc0, 0x0151, 0xc5, 0x07f1},
    {"hsw_ep", 0x3c, 0xc0, 0x0151, 0xc5, 0x07f1},
    {"bdw", 0x3c, 0xc0, 0x0151, 0xc5, 0x07f1},
    {"bdw_ep", 0x3c, 0xc0, 0x0151, 0xc5, 0x07f1},
    {"skl", 0x3c, 0xc0, 0x0151, 0xc5, 0x1ff1},
    {"skx", 0x3c, 0xc0, 0x0151, 0xc5, 0x1ff1},
    {"clx", 0x3c, 0xc0, 0x0151, 0xc5, 0x1ff1},
    {"icl", 0x3c, 0xc0, 0x0151, 0xc5, 0x1ff1},
    {"icx", 0x3c, 0xc0, 0x0151, 0xc5, 0x1ff1},
    {"spr", 0x3c, 0xc0, 0x0151, 0xc5, 0x1f25},
    {"slm", 0x3c, 0xc0, 0x0104, 0xc5, 0},
    {"glm", 0x3c, 0xc0, 0x08d1, 0xc5, 0x10d1},
    {"tmt", 0x3c, 0xc0, 0x08d1, 0xc5, 0x10d1},
    {"knl", 0x3c, 0xc0, 0x0104, 0xc5, 0},
    {"knm", 0x3c, 0xc0, 0x0104, 0xc5, 0},
    {"amd64_k7", 0x76, 0xc0, 0x41, 0xc3, 0},
    {"amd64_k8_revb", 0x76, 0xc0, 0x41, 0xc3, 0x027e},
    {"amd64_k8_revc", 0x76, 0xc0, 0x41, 0xc3, 0x027e},
    {"amd64_k8_revd", 0x76, 0xc0, 0x41, 0xc3, 0x027e},
    {"amd64_k8_reve", 0x76, 0xc0, 0x41, 0xc3, 0x027e},
    {"amd64_k8_revf", 0x76, 0xc0, 0x41, 0xc3, 0x027e},
    {"amd64_k8_revg", 0x76, 0xc0, 0x41, 0xc3, 0x027e},
    {"amd64_fam10h_barcelona", 0x76, 0xc0, 0x41, 0xc3, 0x0a7e},
    {"amd64_fam10h_shanghai", 0x76, 0xc0, 0x41, 0xc3, 0x0a7e},
    {"amd64_fam10h_istanbul", 0x76, 0xc0, 0x41, 0xc3, 0x0a7e},
    {"amd64_fam11h_turion", 0x76, 0xc0, 0x41, 0xc3, 0x027e},
    {"amd64_fam12h_llano", 0x76, 0xc0, 0x41, 0xc3, 0x0a7e},
    {"amd64_fam14h_bobcat", 0x76, 0xc0, 0x41, 0xc3, 0x027e},
    {"amd64_fam15h_interlagos", 0x76, 0xc0, 0x0341, 0xc3, 0x027e},
    {"amd64_fam16h", 0x76, 0xc0, 0x41, 0xc3, 0},
    {"amd64_fam17h", 0x76, 0xc0, 0xe060, 0xc3, 0x0864},
    {"amd64_fam17h_zen1", 0x76, 0xc0, 0xe060, 0xc3, 0x0864},
    {"amd64_fam17h_zen2", 0x76, 0xc0, 0x5b43, 0xc3, 0x5a43},
    {"amd64_fam19h_zen3", 0x76, 0xc0, 0x5f44, 0xc3, 0x5e44},
    {"amd64_fam19h_zen4", 0x76, 0xc0, 0xdf44, 0xc3, 0xde44},
};

#define NAMES_CAP 128
static char pmu_name[NAMES_CAP][48];
static size_t pmu_count;

static int list_pmus(const void *arg)
{
    pfm_pmu_t pmu;
    (void)arg;
    if (pfm_initialize() != PFM_SUCCESS)
        return 1;
    pfm_for_all_pmus(pmu)
    {
        pfm_pmu_info_t info = {.size = sizeof(info)};
        if (pfm_get_pmu_info(pmu, &info) == PFM_SUCCESS && info.type == PFM_PMU_TYPE_CORE)
            printf("%s\n", info.name);
    }
    return 0;
}

/* Says what the library makes of the events when it takes this CPU for another. */
static int encode_as(const void *name)
{
    const char *events[UC_MAX_EVENTS];
    size_t had = 0;
    setenv("LIBPFM_FORCE_PMU", name, 1);
    const char *pmu = uc_counters_pmu();
    if (!pmu || strcmp(pmu, name)) {
        printf("the library is %s", pmu ? pmu : "of no PMU");
        return 1;
    }
    for (int e = 0; e < UC_EVENTS; e++) {
        uint32_t type;
        uint64_t config;
        if (uc_counters_encode(uc_event_names[e], &type, &config))
            continue;
        had += e == UC_CYCLES || e == UC_INSTRUCTIONS || e == UC_L1D_MISSES;
        printf("%d %u %llx\n", e, type, (unsigned long long)config);
    }
    return uc_counters_default(events) == had ? 0 : 2;
}

static const struct pmu *known_pmu(const char *name)
{
    for (size_t i = 0; i < COUNT(table); i++)
        if (!strcmp(table[i].name, name))
            return &table[i];
    return NULL;
}

/* The low 16 bits are event and unit mask, bits 32 to 35 AMD's upper event bits; Intel's pseudo
 * modifiers and AMD's guest bits stand elsewhere. */
static unsigned config_of(const char *text, enum uc_event what, bool raw)
{
    unsigned type = PERF_TYPE_RAW;
    unsigned long long config = 0;
    char start[8];
    snprintf(start, sizeof(start), "%d ", (int)what);
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (!strncmp(line, start, strlen(start)))
            assert_int_equal(sscanf(line + strlen(start), "%u %llx", &type, &config), 2);
    if (raw)
        assert_int_equal(type, PERF_TYPE_RAW);
    return (unsigned)(config & 0xffff) | (unsigned)(config >> 32 & 0xf) << 16;
}

static void encoded_for_a_pmu(void **state)
{
    static const char *const word[UC_EVENTS] = {"cycles", "instructions", "branch misses",
                                                "L1D misses", "L2 misses"};
    char text[1024];
    const char *name = *state;
    const struct pmu *known = known_pmu(name);
    unsigned wanted[UC_EVENTS] = {0}, missing = 0;
    if (in_child(encode_as, name, text, sizeof(text)))
        fail_msg("%s: %s", name, text);
    if (known)
        memcpy(wanted,
               (unsigned[UC_EVENTS]){known->cycles, known->instructions, known->branches,
                                     known->l1d, known->l2},
               sizeof(wanted));
    for (int e = 0; e < UC_EVENTS; e++) {
        unsigned config = config_of(text, (enum uc_event)e, known);
        if (known && config != wanted[e])
            fail_msg("%s: %s %x in place of %x", name, word[e], config, wanted[e]);
        if (!config)
            print_message("# skipped: libpfm4 has no %s for %s\n", word[e], name);
        missing += !config;
    }
    if (!known && missing)
        skip();
}

/* ---- names ---- */

static int try_names(const void *arg)
{
    uint32_t type;
    uint64_t config = 0;
    setenv("LIBPFM_FORCE_PMU", "skl", 1);
    if (uc_counters_encode("NO_SUCH|L1D:NOPE|L1D:REPLACEMENT|CPU_CLK_UNHALTED", &type, &config))
        return 1;
    if ((config & 0xffff) != 0x0151)
        return 2;
    if (uc_counters_encode("skl::CPU_CLK_UNHALTED:THREAD_P|L1D:REPLACEMENT", &type, &config))
        return 3;
    if ((config & 0xffff) != 0x3c)
        return 4;
    static const char *const bad[] = {"",   "|",     "||",  "NO_SUCH", "NO_SUCH|NO_SUCH_EITHER",
                                      "::", "skl::", "a::b"};
    for (size_t i = 0; i < COUNT(bad); i++)
        if (uc_counters_encode(bad[i], &type, &config) != -ENOENT)
            return 10 + (int)i;
    char longer[4096];
    memset(longer, 'x', sizeof(longer));
    longer[sizeof(longer) - 1] = '\0';
    if (uc_counters_encode(longer, &type, &config) != -ENOENT)
        return 5;
    strcpy(longer + 4000, "|L1D:REPLACEMENT");
    return uc_counters_encode(longer, &type, &config) == 0 && (config & 0xffff) == 0x0151 ? 0 : 6;
}

static void alternatives_in_order(void **state)
{
    char text[64];
    assert_int_equal(in_child(try_names, NULL, text, sizeof(text)), 0);
}

static int force_unknown(const void *arg)
{
    const char *events[UC_MAX_EVENTS];
    struct uc_counters *c = (void *)&c;
    char why[256] = "";
    setenv("LIBPFM_FORCE_PMU", "no_such_pmu", 1);
    if (uc_counters_pmu() || uc_counters_default(events) != 0)
        return 1;
    int rc = open_one(&c, "CPU_CLK_UNHALTED", why, sizeof(why));
    printf("%s", why);
    return rc == -ENOENT && !c ? 0 : 2;
}

static void a_cpu_that_the_library_does_not_know(void **state)
{
    char text[256];
    assert_int_equal(in_child(force_unknown, NULL, text, sizeof(text)), 0);
    assert_non_null(strstr(text, "CPU_CLK_UNHALTED: libpfm4 knows no such event"));
}

static void unknown_event_is_named(void **state)
{
    struct uc_counters *c = (void *)&c;
    char why[256] = "";
    assert_int_equal(open_one(&c, "NO_SUCH_EVENT", why, sizeof(why)), -ENOENT);
    assert_null(c);
    assert_non_null(strstr(why, "NO_SUCH_EVENT: libpfm4 knows no such event"));
}

static void too_few_or_too_many_events(void **state)
{
    const char *events[UC_MAX_EVENTS + 1];
    struct uc_counters *c;
    char why[256] = "";
    for (size_t i = 0; i < COUNT(events); i++)
        events[i] = "perf::TASK-CLOCK";
    assert_int_equal(uc_counters_open(&c, events, 0, why, sizeof(why)), -EINVAL);
    assert_int_equal(uc_counters_open(&c, events, COUNT(events), why, sizeof(why)), -EINVAL);
    assert_non_null(strstr(why, "9 events"));
    char small[8];
    memset(small, '?', sizeof(small));
    assert_int_equal(uc_counters_open(&c, events, 0, small, 4), -EINVAL);
    assert_int_equal(strlen(small), 3);
    assert_int_equal(small[4], '?');
}

static int encode_core_p(const void *pmu)
{
    uint32_t type;
    uint64_t config = 0;
    setenv("LIBPFM_FORCE_PMU", pmu, 1);
    int rc = uc_counters_encode("CPU_CLK_UNHALTED:CORE_P", &type, &config);
    return rc == -ENOENT || (rc == 0 && (config & 0xffff) == 0x3c) ? 0 : 1;
}

/* libpfm4 4.13 encodes this one as event 0 on Goldmont: refused, or right, but never 0. */
static void event_0_is_no_event(void **state)
{
    static const char *const pmu[] = {"core", "atom", "slm", "glm", "tmt"};
    char text[64];
    for (size_t i = 0; i < COUNT(pmu); i++)
        if (in_child(encode_core_p, pmu[i], text, sizeof(text)))
            fail_msg("%s", pmu[i]);
}

/* ---- hybrid CPUs ---- */

static char devices[64];

static void write_file(const char *dir, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void write_device(const char *name, const char *type, const char *cpus)
{
    char dir[128];
    snprintf(dir, sizeof(dir), "%s/%s", devices, name);
    mkdir(dir, 0700);
    write_file(dir, "type", type);
    write_file(dir, "cpus", cpus);
}

static int make_devices(void **state)
{
    strcpy(devices, "/tmp/ucopy-devices-XXXXXX");
    if (!mkdtemp(devices))
        return -1;
    uc_perf_system.devices = devices;
    return 0;
}

static int drop_devices(void **state)
{
    static const char *const name[] = {"cpu_core/type", "cpu_core/cpus", "cpu_atom/type",
                                       "cpu_atom/cpus", "cpu_core",      "cpu_atom"};
    char path[128];
    uc_perf_system.devices = "/sys/bus/event_source/devices";
    for (size_t i = 0; i < COUNT(name); i++) {
        snprintf(path, sizeof(path), "%s/%s", devices, name[i]);
        remove(path);
    }
    return rmdir(devices);
}

static int encode_generic(const void *arg)
{
    uint32_t type;
    uint64_t config;
    if (uc_counters_encode(arg, &type, &config))
        return 77;
    printf("%u %llx", type, (unsigned long long)config);
    return 0;
}

static void assert_generic(const char *event, const char *wanted)
{
    char text[64];
    int rc = in_child(encode_generic, event, text, sizeof(text));
    if (rc == 77) {
        print_message("# skipped: this kernel has no perf events\n");
        skip();
    }
    assert_string_equal(text, wanted);
}

/* This thread's CPU is among the second device's, wherever it runs. */
static void generic_events_go_to_the_pinned_cores_pmu(void **state)
{
    write_device("cpu_core", "4\n", "5000-5003,6000\n");
    write_device("cpu_atom", "10\n", "7000,0-4095\n");
    assert_generic("perf::CYCLES", "0 a00000000");
    assert_generic("perf::INSTRUCTIONS", "0 a00000001");
    assert_generic("perf::L1-DCACHE-LOAD-MISSES", "3 a00010000");
    assert_generic("perf::TASK-CLOCK", "1 1"); /* software: no PMU's number */
    write_device("cpu_core", "4\n", "0-4095\n");
    write_device("cpu_atom", "10\n", "\n");
    assert_generic("perf::CYCLES", "0 400000000");
}

static void without_hybrid_devices_events_are_plain(void **state)
{
    assert_generic("perf::CYCLES", "0 0");
    write_device("cpu_core", "4\n", "5000\n"); /* neither serves this CPU */
    write_device("cpu_atom", "10\n", "garbage\n");
    assert_generic("perf::CYCLES", "0 0");
}

static int pmu_as_skl(const void *arg)
{
    setenv("LIBPFM_FORCE_PMU", "skl", 1);
    printf("%s", uc_counters_pmu() ? uc_counters_pmu() : "none");
    return 0;
}

/* The library's PMU encodes for type 4, the P cores': it must not serve for an E core. */
static void the_other_core_kinds_pmu_is_not_ours(void **state)
{
    char text[64];
    write_device("cpu_core", "4\n", "0-4095\n");
    write_device("cpu_atom", "10\n", "5000\n");
    in_child(pmu_as_skl, NULL, text, sizeof(text));
    assert_string_equal(text, "skl");
    write_device("cpu_core", "4\n", "5000\n");
    write_device("cpu_atom", "10\n", "0-4095\n");
    in_child(pmu_as_skl, NULL, text, sizeof(text));
    assert_string_equal(text, "none");
}

/* ---- what the system answers ---- */

static int injected_errno;
static char paranoid_file[64];

static int refuse(struct perf_event_attr *attr, int cpu)
{
    errno = injected_errno;
    return -1;
}

static int restore_system(void **state)
{
    uc_perf_system.read = read;
    uc_perf_system.paranoid = "/proc/sys/kernel/perf_event_paranoid";
    return 0;
}

static const struct refusal {
    int err;
    const char *need;
} refusals[] = {
    {EACCES, "CAP_PERFMON"},
    {EPERM, "CAP_PERFMON"},
    {ENOENT, "no PMU is exposed to this guest"},
    {EINVAL, "does not accept the event's encoding"},
    {EMFILE, "ulimit -n"},
    {EOPNOTSUPP, "it cannot count this way"},
    {ENOSYS, "built without perf events"},
    {EBUSY, "holds the PMU for itself"},
    {ENODEV, "for this CPU"},
};

static int open_under_filter(const void *arg)
{
    const struct refusal *r = arg;
    struct uc_counters *c = (void *)&c;
    char why[512] = "";
    if (filter_perf_event_open(r->err))
        return 77;
    int rc = open_one(&c, "perf::PAGE-FAULTS", why, sizeof(why));
    printf("%s", why);
    return rc == -r->err && !c ? 0 : 1;
}

static void each_errno_of_the_system_call_has_its_line(void **state)
{
    char line[COUNT(refusals)][512];
    for (size_t i = 0; i < COUNT(refusals); i++) {
        int rc = in_child(open_under_filter, &refusals[i], line[i], sizeof(line[i]));
        if (rc == 77) {
            print_message("# skipped: no seccomp filter may be set here\n");
            skip();
        }
        if (rc || !strstr(line[i], strerror(refusals[i].err)) || strchr(line[i], '\n') ||
            !strstr(line[i], refusals[i].need) || strncmp(line[i], "perf::PAGE-FAULTS: ", 19))
            fail_msg("%s: %s", strerror(refusals[i].err), line[i]);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(line[i], line[j]);
    }
}

/* An errno that nothing is known of still gives its own text. */
static void any_other_errno_has_its_own_text(void **state)
{
    static const struct refusal other = {EXFULL, ""};
    char text[512];
    int rc = in_child(open_under_filter, &other, text, sizeof(text));
    if (rc == 77)
        skip();
    assert_int_equal(rc, 0);
    assert_non_null(strstr(text, strerror(EXFULL)));
}

static void check_paranoid(const char *value, const char *event, const char *wanted)
{
    int (*open)(struct perf_event_attr *, int) = uc_perf_system.open;
    struct uc_counters *c;
    char why[512] = "";
    write_file("/", paranoid_file + 1, value);
    uc_perf_system.open = refuse;
    uc_perf_system.paranoid = *value ? paranoid_file : "/nonexistent/paranoid";
    injected_errno = EACCES;
    int rc = open_one(&c, event, why, sizeof(why));
    uc_perf_system.open = open;
    assert_int_equal(rc, -EACCES);
    if (!strstr(why, wanted) || !strstr(why, "CAP_PERFMON"))
        fail_msg("paranoid %s, %s: %s", value, event, why);
}

static void paranoid_values_are_told(void **state)
{
    uint32_t type;
    uint64_t config;
    if (uc_counters_encode("perf::TASK-CLOCK", &type, &config)) {
        print_message("# skipped: this kernel has no perf events\n");
        skip();
    }
    strcpy(paranoid_file, "/tmp/ucopy-paranoid-XXXXXX");
    int fd = mkstemp(paranoid_file);
    assert_true(fd >= 0);
    close(fd);
    check_paranoid("3\n", "perf::TASK-CLOCK", "perf_event_paranoid is 3; 2 or less");
    check_paranoid("4\n", "perf::TASK-CLOCK", "perf_event_paranoid is 4; 2 or less");
    check_paranoid("2\n", "perf::TASK-CLOCK", "perf_event_paranoid is 2, which allows it");
    check_paranoid("-1\n", "perf::TASK-CLOCK", "perf_event_paranoid is -1, which allows it");
    check_paranoid("2\n", "perf::CONTEXT-SWITCHES", "perf_event_paranoid is 2; 1 or less");
    check_paranoid("1\n", "perf::CONTEXT-SWITCHES", "perf_event_paranoid is 1, which allows it");
    check_paranoid("", "perf::TASK-CLOCK", "perf_event_paranoid of 2 or less");
    unlink(paranoid_file);
}

/* The real limit: all descriptors in use. */
static int open_without_descriptors(const void *arg)
{
    struct uc_counters *c = (void *)&c;
    const char *events[UC_MAX_EVENTS];
    char why[512] = "";
    struct rlimit limit = {16, 16};
    uc_counters_default(events); /* the library reads its files now */
    events[0] = "perf::TASK-CLOCK";
    if (setrlimit(RLIMIT_NOFILE, &limit))
        return 77;
    while (dup(1) >= 0)
        ;
    int rc = uc_counters_open(&c, events, 1, why, sizeof(why));
    printf("%s", why);
    return rc == -EMFILE && !c ? 0 : 1;
}

static void no_descriptor_left_is_not_a_permission(void **state)
{
    char text[512];
    int rc = in_child(open_without_descriptors, NULL, text, sizeof(text));
    if (rc == 77 || strstr(text, strerror(ENOSYS)) || strstr(text, strerror(EACCES)) ||
        strstr(text, strerror(EPERM)) || strstr(text, "libpfm4 knows no")) {
        print_message("# skipped: perf_event_open is not to be had here: %s\n", text);
        skip();
    }
    if (rc || !strstr(text, strerror(EMFILE)) || !strstr(text, "ulimit -n"))
        fail_msg("%s", text);
}

/* All or none: the second event is refused after the first was opened. */
static int opened, limit_of_opened;

static int open_some(struct perf_event_attr *attr, int cpu)
{
    if (opened == limit_of_opened) {
        errno = ENODEV;
        return -1;
    }
    opened++;
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static int lowest_descriptor(void)
{
    int fd = dup(2);
    close(fd);
    return fd;
}

static void all_events_or_none_are_open(void **state)
{
    static const char *const events[] = {"perf::TASK-CLOCK", "perf::PAGE-FAULTS",
                                         "perf::CPU-CLOCK"};
    uint32_t type;
    uint64_t config;
    if (uc_counters_encode(events[0], &type, &config))
        skip();
    int (*saved)(struct perf_event_attr *, int) = uc_perf_system.open;
    uc_perf_system.open = open_some;
    for (limit_of_opened = 0; limit_of_opened <= 3; limit_of_opened++) {
        struct uc_counters *c = (void *)&c;
        char why[512] = "";
        int before = lowest_descriptor();
        opened = 0;
        int rc = uc_counters_open(&c, events, 3, why, sizeof(why));
        assert_int_equal(rc, limit_of_opened < 3 ? -ENODEV : 0);
        if (rc)
            assert_null(c);
        if (rc)
            assert_int_equal(strncmp(why, events[limit_of_opened], strlen(events[0]) - 2), 0);
        uc_counters_close(c);
        assert_int_equal(lowest_descriptor(), before);
    }
    uc_perf_system.open = saved;
}

/* ---- counts that must not be believed ---- */

struct script {
    uint64_t value, enabled, running;
};

static struct script before[2], after[2];
static int first_fd, reads, cpu_asked;
static size_t read_size;

static int open_scripted(struct perf_event_attr *attr, int cpu)
{
    /* user space alone, stopped, with the times that tell multiplexing */
    assert_true(attr->disabled && attr->exclude_kernel && attr->exclude_hv && !attr->exclude_user);
    assert_true(!attr->inherit && !attr->pinned);
    assert_int_equal(attr->read_format,
                     PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
    cpu_asked = cpu;
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (first_fd < 0)
        first_fd = fd;
    return fd;
}

static ssize_t read_scripted(int fd, void *buf, size_t size)
{
    const struct script *from = reads++ < 2 ? before : after;
    assert_int_equal(size, sizeof(struct script));
    memcpy(buf, &from[fd == first_fd ? 0 : 1], sizeof(struct script));
    return (ssize_t)read_size;
}

/* Two events, of which the first is cycles and the second instructions. */
static void read_counts(struct uc_count counts[UC_MAX_EVENTS])
{
    static const char *const events[] = {"perf::CYCLES", "perf::INSTRUCTIONS"};
    struct uc_counters *c;
    char why[256];
    int (*saved)(struct perf_event_attr *, int) = uc_perf_system.open;
    first_fd = -1;
    reads = 0;
    uc_perf_system.open = open_scripted;
    int rc = uc_counters_open(&c, events, 2, why, sizeof(why));
    uc_perf_system.open = saved;
    if (rc == -ENOENT) {
        print_message("# skipped: this kernel has no perf events\n");
        skip();
    }
    assert_int_equal(rc, 0);
    read_size = sizeof(struct script);
    uc_perf_system.read = read_scripted;
    assert_int_equal(uc_counters_start(c), 0);
    assert_int_equal(uc_counters_stop(c), 0);
    assert_int_equal(uc_counters_read(c, counts), 2);
    uc_counters_close(c);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(counts[i].event, events[i]);
        assert_true(counts[i].valid == (counts[i].why == NULL));
    }
}

static void injected_counts_are_judged(void **state)
{
    static const struct {
        const char *what;
        struct script cycles, instructions;
        const char *why[2]; /* NULL: valid */
    } row[] = {
        {"whole time", {100, 50, 50}, {300, 50, 50}, {NULL, NULL}},
        {"multiplexed", {100, 50, 49}, {300, 50, 50}, {"multiplexed", NULL}},
        {"both multiplexed", {100, 50, 1}, {300, 50, 25}, {"multiplexed", "multiplexed"}},
        {"never scheduled", {0, 50, 0}, {300, 50, 50}, {"never scheduled", NULL}},
        {"nothing at all", {0, 0, 0}, {0, 0, 0}, {"never scheduled", "never scheduled"}},
        {"no cycles",
         {0, 50, 50},
         {300, 50, 50},
         {"implausible: 0 cycles", "implausible: 0 cycles"}},
        {"no instructions",
         {100, 50, 50},
         {0, 50, 50},
         {"implausible: 0 instructions", "implausible: 0 instructions"}},
        {"neither", {0, 50, 50}, {0, 50, 50}, {NULL, NULL}},
        {"no cycles, instructions multiplexed", {0, 50, 50}, {300, 50, 20}, {NULL, "multiplexed"}},
        {"large", {UINT64_MAX >> 8, 50, 50}, {1, 50, 50}, {NULL, NULL}},
    };
    for (size_t i = 0; i < COUNT(row); i++)
        for (int earlier = 0; earlier < 2;
             earlier++) { /* counts from earlier starts are taken off */
            struct uc_count counts[UC_MAX_EVENTS];
            struct script base = {7000, 900, earlier ? 900 : 450};
            memset(before, 0, sizeof(before));
            after[0] = row[i].cycles;
            after[1] = row[i].instructions;
            for (int j = 0; j < 2 && earlier; j++) {
                before[j] = base;
                after[j].value += base.value;
                after[j].enabled += base.enabled;
                after[j].running += base.running;
            }
            read_counts(counts);
            for (int j = 0; j < 2; j++) {
                const char *why = row[i].why[j], *got = counts[j].why;
                uint64_t value = j == 0 ? row[i].cycles.value : row[i].instructions.value;
                if ((why == NULL) != (got == NULL) || (why && strncmp(got, why, strlen(why))))
                    fail_msg("%s, event %d: %s", row[i].what, j, got ? got : "valid");
                assert_int_equal(counts[j].value, value);
            }
        }
}

static void a_read_that_fails_gives_no_count(void **state)
{
    static const char *const events[] = {"perf::TASK-CLOCK"};
    struct uc_counters *c;
    struct uc_count counts[UC_MAX_EVENTS];
    char why[256];
    int (*saved)(struct perf_event_attr *, int) = uc_perf_system.open;
    first_fd = -1;
    uc_perf_system.open = open_scripted;
    int rc = uc_counters_open(&c, events, 1, why, sizeof(why));
    uc_perf_system.open = saved;
    if (rc == -ENOENT)
        skip();
    uc_perf_system.read = read_scripted;
    static const size_t size[] = {0, 8, sizeof(struct script) - 1, (size_t)-1};
    for (size_t i = 0; i < COUNT(size); i++) {
        read_size = size[i];
        assert_int_equal(uc_counters_read(c, counts), 1);
        assert_false(counts[0].valid);
        assert_string_equal(counts[0].why, "the kernel gave no count");
        assert_int_equal(uc_counters_start(c), -EIO);
    }
    uc_counters_close(c);
}

/* ---- software events, for real ---- */

static struct uc_counters *open_real(const char *event)
{
    struct uc_counters *c;
    char why[512] = "";
    if (open_one(&c, event, why, sizeof(why))) {
        print_message("# skipped: %s\n", why);
        skip();
    }
    return c;
}

static uint64_t valid_count(struct uc_counters *c)
{
    struct uc_count counts[UC_MAX_EVENTS];
    assert_int_equal(uc_counters_read(c, counts), 1);
    if (!counts[0].valid)
        fail_msg("%s: %s", counts[0].event, counts[0].why);
    return counts[0].value;
}

static void touch_fresh_pages(size_t pages)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *p = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(p, MAP_FAILED);
    madvise(p, pages * page, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < pages; i++)
        *(volatile char *)(p + i * page) = 1;
    munmap(p, pages * page);
}

static void page_faults_between_start_and_stop(void **state)
{
    struct uc_counters *c = open_real("perf::PAGE-FAULTS");
    touch_fresh_pages(4000); /* before: not counted */
    assert_int_equal(uc_counters_start(c), 0);
    touch_fresh_pages(100);
    assert_int_equal(uc_counters_stop(c), 0);
    touch_fresh_pages(4000); /* behind: not counted */
    uint64_t first = valid_count(c);
    assert_true(first >= 100 && first < 4000);
    assert_int_equal(uc_counters_start(c), 0);
    touch_fresh_pages(2000);
    assert_int_equal(uc_counters_stop(c), 0);
    uint64_t second = valid_count(c);
    assert_true(second >= 2000 && second < 4000);
    assert_true(second > first + 1000); /* anew, not on top of the first */
    uc_counters_close(c);
}

static void the_task_clock_runs_while_we_work(void **state)
{
    struct uc_counters *c = open_real("TASK-CLOCK");
    assert_int_equal(uc_counters_start(c), 0);
    for (volatile int i = 0; i < 100000; i++)
        ;
    assert_int_equal(uc_counters_stop(c), 0);
    assert_true(valid_count(c) > 0);
    uc_counters_close(c);
}

static void work_on_one_cpu(struct uc_counters *c)
{
    struct rusage from, to;
    assert_int_equal(uc_counters_start(c), 0);
    getrusage(RUSAGE_THREAD, &from);
    uint64_t inner = 0;
    for (int i = 0; i < 10000 && inner < 20;
         i++) { /* where a sleep is over before it began: none */
        usleep(100);
        getrusage(RUSAGE_THREAD, &to);
        inner = (uint64_t)(to.ru_nvcsw + to.ru_nivcsw - from.ru_nvcsw - from.ru_nivcsw);
    }
    assert_int_equal(uc_counters_stop(c), 0);
    assert_true(inner >= 20);
    assert_true(valid_count(c) >= inner);
}

/* The cross-check of getrusage: context switches, for which the kernel must be counted. */
static void context_switches_as_getrusage_tells(void **state)
{
    struct uc_counters *c = open_real("perf::CONTEXT-SWITCHES");
    work_on_one_cpu(c);
    uc_counters_close(c);
}

/* A thread that is bound is counted on its CPU; moved away, it is not counted for the whole time,
 * and that must show. */
static void counted_on_the_pinned_cpu(void **state)
{
    cpu_set_t mask, one;
    int a = 0, b;
    assert_int_equal(sched_getaffinity(0, sizeof(mask), &mask), 0);
    while (!CPU_ISSET(a, &mask))
        a++;
    for (b = a + 1; b < CPU_SETSIZE && !CPU_ISSET(b, &mask);)
        b++;
    CPU_ZERO(&one);
    CPU_SET(a, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    struct uc_counters *c = open_real("perf::PAGE-FAULTS");
    assert_int_equal(uc_counters_start(c), 0);
    touch_fresh_pages(100);
    assert_int_equal(uc_counters_stop(c), 0);
    assert_true(valid_count(c) >= 100);
    if (b < CPU_SETSIZE) {
        struct uc_count counts[UC_MAX_EVENTS];
        CPU_ZERO(&one);
        CPU_SET(b, &one);
        assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
        assert_int_equal(uc_counters_start(c), 0);
        touch_fresh_pages(100);
        assert_int_equal(uc_counters_stop(c), 0);
        assert_int_equal(uc_counters_read(c, counts), 1);
        assert_false(counts[0].valid);
    }
    uc_counters_close(c);
}

static int cpu_of_open(void)
{
    struct uc_counters *c;
    char why[256];
    int (*saved)(struct perf_event_attr *, int) = uc_perf_system.open;
    uc_perf_system.open = open_scripted;
    int rc = open_one(&c, "perf::TASK-CLOCK", why, sizeof(why));
    uc_perf_system.open = saved;
    if (rc) {
        print_message("# skipped: %s\n", why);
        skip();
    }
    uc_counters_close(c);
    return cpu_asked;
}

/* A thread that may move is counted wherever it runs, a bound one where it is bound. */
static void the_cpu_is_the_pinned_one(void **state)
{
    cpu_set_t mask, one;
    assert_int_equal(sched_getaffinity(0, sizeof(mask), &mask), 0);
    if (CPU_COUNT(&mask) > 1)
        assert_int_equal(cpu_of_open(), -1);
    for (int pu = 0; pu < CPU_SETSIZE; pu++) {
        if (!CPU_ISSET(pu, &mask))
            continue;
        CPU_ZERO(&one);
        CPU_SET(pu, &one);
        assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
        assert_int_equal(cpu_of_open(), pu);
    }
}

static cpu_set_t first_mask;

static int restore_mask(void **state)
{
    return sched_setaffinity(0, sizeof(first_mask), &first_mask);
}

/* With a PMU: real counts. Without: the one line. Either is right, a third is not. */
static void the_default_events_here(void **state)
{
    const char *events[UC_MAX_EVENTS];
    struct uc_counters *c;
    struct uc_count counts[UC_MAX_EVENTS];
    char why[512] = "";
    size_t n = uc_counters_default(events);
    if (n == 0) {
        print_message("# skipped: libpfm4 knows no event here\n");
        skip();
    }
    if (uc_counters_open(&c, events, n, why, sizeof(why))) {
        assert_true(strlen(why) > 0 && !strchr(why, '\n'));
        print_message("# skipped: %s\n", why);
        skip();
    }
    assert_int_equal(uc_counters_start(c), 0);
    for (volatile int i = 0; i < 100000; i++)
        ;
    assert_int_equal(uc_counters_stop(c), 0);
    assert_int_equal(uc_counters_read(c, counts), n);
    for (size_t i = 0; i < n; i++)
        assert_true(counts[i].valid == (counts[i].why == NULL));
    if (counts[1].valid)
        assert_true(counts[1].value >= 200000); /* at least an add and a branch each */
    uc_counters_close(c);
}

/* ---- */

static void find_pmus(void)
{
    char text[8192];
    if (in_child(list_pmus, NULL, text, sizeof(text)))
        return;
    for (char *line = strtok(text, "\n"); line && pmu_count < NAMES_CAP; line = strtok(NULL, "\n"))
        snprintf(pmu_name[pmu_count++], sizeof(pmu_name[0]), "%s", line);
}

#define TEST(name) cmocka_unit_test_teardown(name, restore_system)
#define HYBRID(name) cmocka_unit_test_setup_teardown(name, make_devices, drop_devices)

/* LIBPFM_FORCE_PMU is read once a process, when the library is first used: the tests that force a
 * PMU in a child come first, while this process has not used it. */
static const struct CMUnitTest forced[] = {
    cmocka_unit_test(alternatives_in_order),
    cmocka_unit_test(a_cpu_that_the_library_does_not_know),
    cmocka_unit_test(event_0_is_no_event),
    HYBRID(the_other_core_kinds_pmu_is_not_ours),
};

static const struct CMUnitTest others[] = {
    TEST(unknown_event_is_named),
    TEST(too_few_or_too_many_events),
    HYBRID(generic_events_go_to_the_pinned_cores_pmu),
    HYBRID(without_hybrid_devices_events_are_plain),
    TEST(each_errno_of_the_system_call_has_its_line),
    TEST(any_other_errno_has_its_own_text),
    TEST(paranoid_values_are_told),
    TEST(no_descriptor_left_is_not_a_permission),
    TEST(all_events_or_none_are_open),
    TEST(injected_counts_are_judged),
    TEST(a_read_that_fails_gives_no_count),
    TEST(page_faults_between_start_and_stop),
    TEST(the_task_clock_runs_while_we_work),
    TEST(context_switches_as_getrusage_tells),
    cmocka_unit_test_teardown(the_cpu_is_the_pinned_one, restore_mask),
    cmocka_unit_test_teardown(counted_on_the_pinned_cpu, restore_mask),
    TEST(the_default_events_here),
};

static struct CMUnitTest tests[COUNT(forced) + NAMES_CAP + COUNT(others)];
static char test_name[NAMES_CAP][64];

static struct CMUnitTest encoding_test(size_t i)
{
    snprintf(test_name[i], sizeof(test_name[i]), "encoded_for_%s", pmu_name[i]);
    struct CMUnitTest t = {test_name[i], encoded_for_a_pmu, NULL, NULL, pmu_name[i]};
    return t;
}

int main(void)
{
    size_t n = 0;
    if (sched_getaffinity(0, sizeof(first_mask), &first_mask))
        return 1;
    find_pmus();
    for (size_t i = 0; i < COUNT(forced); i++)
        tests[n++] = forced[i];
    for (size_t i = 0; i < pmu_count; i++)
        tests[n++] = encoding_test(i);
    for (size_t i = 0; i < COUNT(others); i++)
        tests[n++] = others[i];
    return _cmocka_run_group_tests("counters", tests, n, NULL, NULL);
}
