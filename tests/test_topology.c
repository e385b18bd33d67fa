/* Topology: the box at hand, foreign and hybrid ones imported into hwloc, and boxes where hwloc
 * finds nothing. Every test starts with the thread's first mask and no HWLOC_ variable. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine/topology.h"

static cpu_set_t first_mask;
static char folder[64]; /* empty */
static char file[64];   /* for an XML of ours */

static int set_up_all(void **state)
{
    strcpy(folder, "/tmp/ucopy-fsroot-XXXXXX");
    strcpy(file, "/tmp/ucopy-xml-XXXXXX");
    int fd = mkstemp(file);
    return sched_getaffinity(0, sizeof(first_mask), &first_mask) || !mkdtemp(folder) || fd < 0 ||
           close(fd);
}

static int tear_down_all(void **state)
{
    return rmdir(folder) || unlink(file);
}

static int restore(void **state)
{
    unsetenv("HWLOC_XMLFILE");
    unsetenv("HWLOC_FSROOT");
    unsetenv("HWLOC_COMPONENTS");
    return sched_setaffinity(0, sizeof(first_mask), &first_mask);
}

static struct uc_topology *open_topology(void)
{
    struct uc_topology *t = NULL;
    assert_int_equal(uc_topology_open(&t), 0);
    assert_non_null(t);
    return t;
}

static struct uc_topology *import_file(const char *path)
{
    setenv("HWLOC_XMLFILE", path, 1);
    return open_topology();
}

/* A dump of the shared data; skips where there is none. */
static struct uc_topology *import_shared(const char *name)
{
    char path[4096];
    const char *data = getenv("UCOPY_TEST_DATA");
    snprintf(path, sizeof(path), "%s/topology/%s", data ? data : "", name);
    if (!data || access(path, R_OK)) {
        print_message("# skipped: UCOPY_TEST_DATA has no topology/%s\n", name);
        skip();
    }
    return import_file(path);
}

/* One core with these PUs, in a machine of nothing else, or with a second core. */
static void write_core(FILE *f, const char *set, int core, int first, int second)
{
    fprintf(f,
            "<object type=\"Core\" os_index=\"%d\" cpuset=\"%s\" complete_cpuset=\"%s\" "
            "nodeset=\"0x1\" complete_nodeset=\"0x1\" gp_index=\"%d\">\n",
            core, set, set, 10 + core);
    int pu[] = {first, second};
    for (int i = 0; i < 2 && pu[i] >= 0; i++) {
        char one[400] = "";
        /* hwloc's masks are words of 32 bits, the highest first */
        snprintf(one, sizeof(one), "0x%08x", 1u << (pu[i] % 32));
        for (int word = 0; word < pu[i] / 32; word++)
            strcat(one, ",0x0");
        fprintf(f,
                "<object type=\"PU\" os_index=\"%d\" cpuset=\"%s\" complete_cpuset=\"%s\" "
                "nodeset=\"0x1\" complete_nodeset=\"0x1\" gp_index=\"%d\"/>\n",
                pu[i], one, one, 1000 + pu[i]);
    }
    fprintf(f, "</object>\n");
}

static FILE *begin_xml_allowing(const char *set, const char *allowed)
{
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    fprintf(f,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">\n"
            "<object type=\"Machine\" os_index=\"0\" cpuset=\"%s\" complete_cpuset=\"%s\" "
            "allowed_cpuset=\"%s\" nodeset=\"0x1\" complete_nodeset=\"0x1\" "
            "allowed_nodeset=\"0x1\" gp_index=\"1\">\n"
            "<object type=\"NUMANode\" os_index=\"0\" cpuset=\"%s\" complete_cpuset=\"%s\" "
            "nodeset=\"0x1\" complete_nodeset=\"0x1\" gp_index=\"2\"/>\n",
            set, set, allowed, set, set);
    return f;
}

static FILE *begin_xml(const char *set)
{
    return begin_xml_allowing(set, set);
}

static void assert_set(const cpu_set_t *set, const char *wanted)
{
    char text[256];
    assert_string_equal(uc_cpu_set_text(set, text, sizeof(text)), wanted);
}

static cpu_set_t set_of(int a, int b, int c, int d)
{
    int pu[] = {a, b, c, d};
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int i = 0; i < 4; i++)
        if (pu[i] >= 0)
            CPU_SET(pu[i], &set);
    return set;
}

static int nth(const cpu_set_t *set, int n)
{
    for (int pu = 0; pu < CPU_SETSIZE; pu++)
        if (CPU_ISSET(pu, set) && n-- == 0)
            return pu;
    return -1;
}

static int absent_pu(const cpu_set_t *set)
{
    for (int pu = 0; pu < CPU_SETSIZE; pu++)
        if (!CPU_ISSET(pu, set))
            return pu;
    return -1;
}

static void skip_with_one_cpu(void)
{
    if (CPU_COUNT(&first_mask) < 2) {
        print_message("# skipped: one CPU allowed\n");
        skip();
    }
}

static void bind_to(int pu)
{
    cpu_set_t one = set_of(pu, -1, -1, -1);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
}

/* ---- text ---- */

static void sets_as_text(void **state)
{
    static const struct {
        int pu[6];
        const char *text;
    } row[] = {
        {{-1, -1, -1, -1, -1, -1}, "none"},
        {{0, -1, -1, -1, -1, -1}, "0"},
        {{0, 1, 2, 3, 8, -1}, "0-3,8"},
        {{0, 1, -1, -1, -1, -1}, "0-1"},
        {{1, 3, 5, -1, -1, -1}, "1,3,5"},
        {{1023, -1, -1, -1, -1, -1}, "1023"},
        {{1022, 1023, 0, 64, 65, 63}, "0,63-65,1022-1023"},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        cpu_set_t set = set_of(-1, -1, -1, -1);
        for (int j = 0; j < 6; j++)
            if (row[i].pu[j] >= 0)
                CPU_SET(row[i].pu[j], &set);
        assert_set(&set, row[i].text);
    }
}

static void text_that_does_not_fit(void **state)
{
    cpu_set_t set = set_of(1, 3, 5, 900);
    for (size_t cap = 8; cap < 20; cap++) {
        char buf[24];
        memset(buf, '?', sizeof(buf));
        uc_cpu_set_text(&set, buf, cap);
        assert_non_null(memchr(buf, '\0', cap));
        for (size_t i = cap; i < sizeof(buf); i++)
            assert_int_equal(buf[i], '?');
        assert_int_equal(memcmp(buf, "1,3", 3), 0);
    }
    char small[8];
    assert_string_equal(uc_cpu_set_text(&set, small, sizeof(small)), "1,3...");
}

/* ---- this machine ---- */

static void opening_leaves_the_mask(void **state)
{
    cpu_set_t after, usable, both;
    struct uc_topology *t = open_topology();
    assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
    assert_true(CPU_EQUAL(&first_mask, &after));
    uc_topology_usable(t, &usable);
    CPU_AND(&both, &usable, &first_mask);
    assert_true(CPU_EQUAL(&both, &usable));
    assert_true(CPU_COUNT(&usable) > 0);
    assert_true(uc_topology_is_this_machine(t));
    assert_true(strlen(uc_topology_source(t)) > 0);
    uc_topology_close(t);
    uc_topology_close(NULL);
}

static void each_pu_can_be_pinned(void **state)
{
    cpu_set_t usable;
    struct uc_topology *t = open_topology();
    uc_topology_usable(t, &usable);
    for (int pu = 0; pu < CPU_SETSIZE; pu++) {
        cpu_set_t mask, only = set_of(pu, -1, -1, -1);
        if (!CPU_ISSET(pu, &usable))
            continue;
        assert_int_equal(uc_topology_pin(t, pu), 0);
        assert_int_equal(sched_getaffinity(0, sizeof(mask), &mask), 0);
        assert_true(CPU_EQUAL(&mask, &only));
        assert_int_equal(sched_getcpu(), pu);
    }
    uc_topology_close(t);
}

static void a_pu_that_is_not_usable_is_refused(void **state)
{
    cpu_set_t usable;
    struct uc_topology *t = open_topology();
    uc_topology_usable(t, &usable);
    int bad[] = {absent_pu(&usable), CPU_SETSIZE, CPU_SETSIZE + 70, 1 << 30};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int pu = -7;
        const char *why = NULL;
        if (bad[i] < 0)
            continue;
        assert_int_equal(uc_topology_choose(t, bad[i], &pu, &why), -EINVAL);
        assert_int_equal(pu, -7);
        assert_int_equal(uc_topology_pin(t, bad[i]), -EINVAL);
    }
    assert_int_equal(uc_topology_pin(t, -1), -EINVAL);
    assert_int_equal(uc_topology_cache(t, -1, 1), 0);
    assert_int_equal(uc_topology_cache(t, 1 << 30, 1), 0);
    uc_topology_close(t);
}

static void the_choice_is_usable(void **state)
{
    int pu = -1, again = -1;
    const char *why = NULL;
    cpu_set_t usable, siblings;
    struct uc_topology *t = open_topology();
    uc_topology_usable(t, &usable);
    assert_int_equal(uc_topology_choose(t, -1, &pu, &why), 0);
    assert_true(CPU_ISSET(pu, &usable));
    assert_true(strlen(why) > 0);
    assert_int_equal(uc_topology_choose(t, nth(&usable, 0), &again, &why), 0);
    assert_int_equal(again, nth(&usable, 0));
    assert_string_equal(why, "asked for");
    uc_topology_siblings(t, pu, &siblings);
    assert_false(CPU_ISSET(pu, &siblings));
    int other = uc_topology_other_core(t, pu);
    assert_true(other < 0 ||
                (CPU_ISSET(other, &usable) && !CPU_ISSET(other, &siblings) && other != pu));
    assert_int_equal(uc_topology_cache(t, pu, 0), 0);
    assert_int_equal(uc_topology_cache(t, pu, 4), 0);
    uc_topology_close(t);
}

/* As taskset and a container's cpuset of one CPU do. */
static void a_mask_of_one_cpu(void **state)
{
    for (int i = 0; i < CPU_COUNT(&first_mask) && i < 8; i++) {
        int only = nth(&first_mask, i), other = absent_pu(&first_mask), pu = -1;
        const char *why = NULL;
        cpu_set_t usable;
        restore(state);
        bind_to(only);
        struct uc_topology *t = open_topology();
        uc_topology_usable(t, &usable);
        assert_int_equal(CPU_COUNT(&usable), 1);
        assert_true(CPU_ISSET(only, &usable));
        assert_int_equal(uc_topology_choose(t, -1, &pu, &why), 0);
        assert_int_equal(pu, only);
        assert_string_equal(why, "the only one allowed");
        assert_int_equal(uc_topology_other_core(t, only), -1);
        if (CPU_COUNT(&first_mask) > 1)
            other = nth(&first_mask, i == 0 ? 1 : 0);
        assert_int_equal(uc_topology_choose(t, other, &pu, &why), -EINVAL);
        assert_int_equal(uc_topology_pin(t, other), -EINVAL);
        assert_int_equal(uc_topology_pin(t, only), 0);
        uc_topology_close(t);
    }
}

static void pinned_is_the_kernels_word(void **state)
{
    skip_with_one_cpu();
    int a = nth(&first_mask, 0), b = nth(&first_mask, 1);
    assert_int_equal(uc_topology_pinned(sched_getcpu()), -EXDEV); /* not bound at all */
    bind_to(a);
    assert_int_equal(uc_topology_pinned(a), 0);
    assert_int_equal(uc_topology_pinned(b), -EXDEV);
    assert_int_equal(uc_topology_pinned(-1), -EXDEV);
    assert_int_equal(uc_topology_pinned(CPU_SETSIZE + 1), -EXDEV);
}

/* `taskset -p` on a running measurement. */
static void a_mask_changed_from_outside_is_found(void **state)
{
    skip_with_one_cpu();
    struct uc_topology *t = open_topology();
    int a = nth(&first_mask, 0), b = nth(&first_mask, 1), status;
    pid_t me = (pid_t)syscall(SYS_gettid);
    assert_int_equal(uc_topology_pin(t, a), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        cpu_set_t one = set_of(b, -1, -1, -1);
        _exit(sched_setaffinity(me, sizeof(one), &one) ? 1 : 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(uc_topology_pinned(a), -EXDEV);
    uc_topology_close(t);
}

/* ---- hwloc finds nothing ---- */

static void check_fallback(const char *source)
{
    int pu = -1;
    const char *why = NULL;
    cpu_set_t usable;
    struct uc_topology *t = open_topology();
    assert_string_equal(uc_topology_source(t), source);
    assert_true(uc_topology_is_this_machine(t));
    uc_topology_usable(t, &usable);
    assert_true(CPU_EQUAL(&usable, &first_mask));
    assert_int_equal(uc_topology_choose(t, -1, &pu, &why), 0);
    assert_int_equal(uc_topology_kind(t, pu), 0);
    assert_int_equal(uc_topology_pin(t, pu), 0);
    assert_int_equal(uc_topology_pinned(pu), 0);
    uc_topology_close(t);
}

static void an_empty_fsroot(void **state)
{
    setenv("HWLOC_FSROOT", folder, 1);
    check_fallback("affinity mask and CPUID");
}

static void no_hwloc_component_at_all(void **state)
{
    setenv("HWLOC_COMPONENTS", "stop", 1);
    check_fallback("affinity mask");
    struct uc_topology *t = open_topology();
    cpu_set_t siblings;
    int pu = nth(&first_mask, 0);
    uc_topology_siblings(t, pu, &siblings);
    assert_set(&siblings, "none");
    assert_int_equal(uc_topology_other_core(t, pu), -1);
    assert_int_equal(uc_topology_cache(t, pu, 1), 0);
    uc_topology_close(t);
}

static void an_xml_that_is_none(void **state)
{
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    fputs("<topology version=\"2.0\"><object type=", f);
    fclose(f);
    struct uc_topology *t = import_file(file);
    cpu_set_t usable;
    uc_topology_usable(t, &usable);
    assert_true(CPU_EQUAL(&usable, &first_mask));
    uc_topology_close(t);
}

/* ---- imported ---- */

static int best_of(struct uc_topology *t, cpu_set_t set, const double *busy, const char *reason)
{
    const char *why = NULL;
    int pu = uc_topology_best(t, &set, busy, &why);
    assert_string_equal(why, reason);
    return pu;
}

#define FASTEST "a core of the fastest kind"
#define IDLE "idle, and its siblings too"
#define NOT_ZERO "not PU 0, which serves most interrupts"

/* Cores {0,2} and {1,3}; kinds: 0 and 1 slow, 2 faster, 3 the fastest. */
static void hybrid_kinds_rule_the_choice(void **state)
{
    static double busy[CPU_SETSIZE];
    struct uc_topology *t = import_shared("fakecpukinds.xml");
    assert_false(uc_topology_is_this_machine(t));
    assert_non_null(strstr(uc_topology_source(t), "imported"));
    static const int kind[] = {0, 0, 1, 2};
    for (int pu = 0; pu < 4; pu++)
        assert_int_equal(uc_topology_kind(t, pu), kind[pu]);
    assert_int_equal(uc_topology_kind(t, 4), 0);
    assert_int_equal(best_of(t, set_of(0, 1, 2, 3), NULL, FASTEST), 3);
    assert_int_equal(best_of(t, set_of(0, 1, 2, -1), NULL, FASTEST), 2);
    assert_int_equal(best_of(t, set_of(0, 2, -1, -1), NULL, FASTEST), 2);
    assert_int_equal(best_of(t, set_of(0, 1, -1, -1), NULL, NOT_ZERO), 1);
    busy[3] = 1;
    assert_int_equal(best_of(t, set_of(0, 1, 2, 3), busy, FASTEST), 3);
    uc_topology_close(t);
}

static void a_busy_pu_or_sibling_is_avoided(void **state)
{
    static double busy[CPU_SETSIZE];
    struct uc_topology *t = import_shared("fakecpukinds.xml");
    busy[1] = 0.5;
    assert_int_equal(best_of(t, set_of(0, 1, -1, -1), busy, IDLE), 0);
    busy[1] = 0;
    busy[3] = 0.5; /* the sibling of 1, not itself a candidate */
    assert_int_equal(best_of(t, set_of(0, 1, -1, -1), busy, IDLE), 0);
    busy[2] = 0.5; /* that of 0 too: back to the next rule */
    assert_int_equal(best_of(t, set_of(0, 1, -1, -1), busy, NOT_ZERO), 1);
    busy[2] = 0;
    busy[3] = 0.1; /* one clock tick of ten is no load */
    assert_int_equal(best_of(t, set_of(0, 1, -1, -1), busy, NOT_ZERO), 1);
    assert_int_equal(best_of(t, set_of(1, -1, -1, -1), busy, "the first of equals"), 1);
    uc_topology_close(t);
}

/* Cores {0,2} and {1,3} without kinds: the sibling of 0 comes after a core without it. */
static void the_core_of_pu_0_comes_last(void **state)
{
    FILE *f = begin_xml("0xf");
    write_core(f, "0x5", 0, 0, 2);
    write_core(f, "0xa", 1, 1, 3);
    fprintf(f, "</object>\n</topology>\n");
    fclose(f);
    struct uc_topology *t = import_file(file);
    assert_non_null(strstr(uc_topology_source(t), "imported"));
    assert_int_equal(best_of(t, set_of(0, 2, 3, -1), NULL, NOT_ZERO), 3);
    assert_int_equal(best_of(t, set_of(0, 2, -1, -1), NULL, NOT_ZERO), 2);
    assert_int_equal(best_of(t, set_of(1, 3, -1, -1), NULL, "the first of equals"), 1);
    uc_topology_close(t);
}

/* hwloc's binding would "succeed" here without binding. */
static void pinning_under_an_imported_topology_is_real(void **state)
{
    struct uc_topology *t = import_shared("fakecpukinds.xml");
    cpu_set_t usable;
    uc_topology_usable(t, &usable);
    for (int i = 0; i < CPU_COUNT(&usable); i++) {
        assert_int_equal(uc_topology_pin(t, nth(&usable, i)), 0);
        assert_int_equal(uc_topology_pinned(nth(&usable, i)), 0);
    }
    uc_topology_close(t);
}

/* 16 PUs of which a cpuset allows 0-3, 5, 6 and 12-15. */
static void disallowed_pus_are_not_candidates(void **state)
{
    cpu_set_t usable, allowed, wanted;
    struct uc_topology *t = import_shared("16amd64-8n2c-cpusets.xml");
    assert_false(uc_topology_is_this_machine(t));
    CPU_ZERO(&allowed);
    for (int pu = 0; pu < 16; pu++)
        if (0xf06f >> pu & 1)
            CPU_SET(pu, &allowed);
    CPU_AND(&wanted, &allowed, &first_mask);
    uc_topology_usable(t, &usable);
    assert_true(CPU_COUNT(&wanted) == 0 || CPU_EQUAL(&usable, &wanted));
    assert_int_equal(uc_topology_cache(t, 12, 1), 64 << 10);
    assert_int_equal(uc_topology_cache(t, 12, 2), 1 << 20);
    assert_int_equal(uc_topology_cache(t, 12, 3), 0);
    uc_topology_close(t);
}

static void offline_pus_are_not_siblings(void **state)
{
    cpu_set_t siblings;
    struct uc_topology *t = import_shared("16em64t-4s2c2t-offlines.xml");
    assert_int_equal(uc_topology_cache(t, 0, 1), 16 << 10);
    assert_int_equal(uc_topology_cache(t, 0, 3), 4 << 20);
    uc_topology_siblings(t, 2, &siblings); /* offline */
    assert_set(&siblings, "none");
    int with_sibling = 0;
    for (int pu = 0; pu < 16; pu++) {
        uc_topology_siblings(t, pu, &siblings);
        with_sibling += CPU_COUNT(&siblings);
    }
    assert_int_equal(with_sibling, 2); /* 7 PUs on 6 cores: one pair */
    uc_topology_close(t);
}

/* A sibling that the cpuset leaves out disturbs all the same; it is no candidate. */
static void a_disallowed_sibling_is_told(void **state)
{
    cpu_set_t usable, siblings;
    if (!CPU_ISSET(0, &first_mask) || CPU_ISSET(20, &first_mask)) {
        print_message("# skipped: made for a machine with PU 0 and without PU 20\n");
        skip();
    }
    FILE *f = begin_xml_allowing("0x00100001", "0x1");
    write_core(f, "0x00100001", 0, 0, 20);
    fprintf(f, "</object>\n</topology>\n");
    fclose(f);
    struct uc_topology *t = import_file(file);
    uc_topology_siblings(t, 0, &siblings);
    assert_set(&siblings, "20");
    uc_topology_usable(t, &usable);
    assert_set(&usable, "0");
    uc_topology_close(t);
}

/* The two PUs that this thread may use on one core, then on two. */
static void a_sibling_is_no_other_core(void **state)
{
    skip_with_one_cpu();
    char both[16], first[16], second[16];
    int a = nth(&first_mask, 0), b = nth(&first_mask, 1);
    if (b > 31) {
        print_message("# skipped: made for PUs below 32\n");
        skip();
    }
    snprintf(first, sizeof(first), "0x%08x", 1u << a);
    snprintf(second, sizeof(second), "0x%08x", 1u << b);
    snprintf(both, sizeof(both), "0x%08x", 1u << a | 1u << b);
    for (int cores = 1; cores <= 2; cores++) {
        FILE *f = begin_xml(both);
        write_core(f, cores == 1 ? both : first, 0, a, cores == 1 ? b : -1);
        if (cores == 2)
            write_core(f, second, 1, b, -1);
        fprintf(f, "</object>\n</topology>\n");
        fclose(f);
        struct uc_topology *t = import_file(file);
        assert_int_equal(uc_topology_other_core(t, a), cores == 1 ? -1 : b);
        assert_int_equal(uc_topology_other_core(t, b), cores == 1 ? -1 : a);
        uc_topology_close(t);
    }
}

#define ZEROS_28                                               \
    "0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0," \
    "0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0"

/* PUs 900, 901, 1023 (words 28 and 31): far above 64, and none of them in this thread's mask. */
static void numbers_to_1023_and_no_pu_in_common(void **state)
{
    if (CPU_ISSET(900, &first_mask) || CPU_ISSET(901, &first_mask) ||
        CPU_ISSET(1023, &first_mask)) {
        print_message("# skipped: this machine has these PUs\n");
        skip();
    }
    cpu_set_t usable, siblings;
    FILE *f = begin_xml("0x80000000,0x0,0x0,0x00000030," ZEROS_28);
    write_core(f, "0x00000030," ZEROS_28, 0, 900, 901);
    write_core(f, "0x80000000,0x0,0x0,0x0," ZEROS_28, 1, 1023, -1);
    fprintf(f, "</object>\n</topology>\n");
    fclose(f);
    struct uc_topology *t = import_file(file);
    assert_false(uc_topology_is_this_machine(t));
    uc_topology_siblings(t, 900, &siblings);
    assert_set(&siblings, "901");
    uc_topology_siblings(t, 1023, &siblings);
    assert_set(&siblings, "none");
    uc_topology_usable(t, &usable);
    assert_true(CPU_EQUAL(&usable, &first_mask));
    assert_int_equal(uc_topology_pin(t, 900), -EINVAL);
    assert_int_equal(uc_topology_pin(t, nth(&usable, 0)), 0);
    static double busy[CPU_SETSIZE];
    busy[901] = 1;
    assert_int_equal(best_of(t, set_of(900, 901, 1023, -1), busy, IDLE), 1023);
    uc_topology_close(t);
}

#define TEST(name) cmocka_unit_test_teardown(name, restore)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(sets_as_text),
        TEST(text_that_does_not_fit),
        TEST(opening_leaves_the_mask),
        TEST(each_pu_can_be_pinned),
        TEST(a_pu_that_is_not_usable_is_refused),
        TEST(the_choice_is_usable),
        TEST(a_mask_of_one_cpu),
        TEST(pinned_is_the_kernels_word),
        TEST(a_mask_changed_from_outside_is_found),
        TEST(an_empty_fsroot),
        TEST(no_hwloc_component_at_all),
        TEST(an_xml_that_is_none),
        TEST(hybrid_kinds_rule_the_choice),
        TEST(a_busy_pu_or_sibling_is_avoided),
        TEST(the_core_of_pu_0_comes_last),
        TEST(pinning_under_an_imported_topology_is_real),
        TEST(disallowed_pus_are_not_candidates),
        TEST(offline_pus_are_not_siblings),
        TEST(a_disallowed_sibling_is_told),
        TEST(a_sibling_is_no_other_core),
        TEST(numbers_to_1023_and_no_pu_in_common),
    };
    return cmocka_run_group_tests_name("topology", tests, set_up_all, tear_down_all);
}
