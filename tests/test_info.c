/* `ucopy-tune info` as people run it: dumps, this machine, and what it refuses. Skipped where
 * UCOPY_TUNE does not name the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

/* Another user of the machine may be at it: that is said, and no part of the answer. */
static void drop_waiting(char *err)
{
    char *line = strstr(err, "ucopy-tune: waiting for another timed run");

    if (line)
        memmove(line, strchr(line, '\n') + 1, strlen(strchr(line, '\n')));
}

/* Runs `[before] ucopy-tune info arguments`; returns the exit code. *out: stdout, *err: stderr. */
static int run(const char *before, const char *arguments, char **out, char **err)
{
    const char *program = getenv("UCOPY_TUNE");
    char command[8192], err_path[] = "/tmp/ucopy-info-XXXXXX";
    size_t len;
    int fd, status;
    FILE *f;

    if (!program || !*program) {
        print_message("skipped: UCOPY_TUNE is not set\n");
        skip();
    }
    fd = mkstemp(err_path);
    assert_true(fd >= 0);
    snprintf(command, sizeof(command), "%s \"%s\" info %s 2>%s", before, program, arguments,
             err_path);
    f = popen(command, "r");
    assert_non_null(f);
    *out = calloc(1, 1 << 20);
    len = fread(*out, 1, (1 << 20) - 1, f);
    (*out)[len] = 0;
    status = pclose(f);
    *err = calloc(1, 1 << 16);
    assert_true(pread(fd, *err, (1 << 16) - 1, 0) >= 0);
    drop_waiting(*err);
    close(fd);
    unlink(err_path);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* The JSON of one run that must succeed and say nothing on stderr. */
static json_t *run_json(const char *before, const char *arguments)
{
    char *out, *err;
    json_error_t error;
    json_t *root;
    int rc = run(before, arguments, &out, &err);

    if (rc || *err)
        fail_msg("%s: exit code %d, \"%s\"", arguments, rc, err);
    root = json_loads(out, 0, &error);
    if (!root)
        fail_msg("%s: %s in %s", arguments, error.text, out);
    free(out);
    free(err);
    return root;
}

/* One line, and no data. */
static void refused(const char *arguments, int code, const char *says)
{
    char *out, *err;
    int rc = run("", arguments, &out, &err);

    if (rc != code || *out || !strstr(err, says) || strchr(err, '\n') != err + strlen(err) - 1)
        fail_msg("%s: exit code %d, \"%s\"", arguments, rc, err);
    free(out);
    free(err);
}

/* ---- dumps ---- */

#define ZEN "sse2 avx2 bmi2 "
#define ZEN3 "erms fsrm sse2 avx2 bmi2 "
#define ALL "erms fsrm sse2 avx2 bmi2 avx512bw avx512vbmi2 "

static const struct {
    const char *file, *keys; /* of its core kinds */
    const char *isa;         /* of each; both joined by blanks */
    const char *codename;    /* what a library that knows the part may call it; NULL: none fits */
} dumps[] = {
    {"alder-lake-12900k.txt", "intel-06-97-p intel-06-97-e ", ZEN3, "Alder Lake"},
    {"haswell-4770.txt", "intel-06-3c ", "erms sse2 avx2 bmi2 ", "Haswell"},
    {"ice-lake-1065g7.txt", "intel-06-7e ", ALL, "Ice Lake"},
    {"qemu-virtual.txt", "intel-06-0d ", "sse2 ", NULL},
    {"skylake-x-7900x.txt", "intel-06-55 ", "erms sse2 avx2 bmi2 avx512bw ", "Skylake"},
    {"zen-1800x.txt", "amd-17-01 ", ZEN, "Summit Ridge"},
    {"zen2-3950x.txt", "amd-17-71 ", ZEN, "Matisse"},
    {"zen3-5950x.txt", "amd-19-21 ", ZEN3, "Vermeer"},
    {"zen4-7700x.txt", "amd-19-61 ", ALL, "Raphael"},
    {"zen5-9950x.txt", "amd-1a-44 ", ALL, "Granite Ridge"},
    {"zen5-guest-zeroed-cache-leaf.txt", "amd-1a-02 ", ALL, "Turin"},
};

static void dump_path(const char *file, char *buf, size_t cap)
{
    const char *data = getenv("UCOPY_TEST_DATA");

    snprintf(buf, cap, "%s/cpuid/%s", data ? data : "", file);
    if (!data || !*data || access(buf, R_OK)) {
        print_message("skipped: UCOPY_TEST_DATA is not set or has no cpuid/%s\n", file);
        skip();
    }
}

/* Absent is null, never -1. */
static void check_no_negative(json_t *v)
{
    const char *key;
    json_t *member;
    size_t i;

    if (json_is_number(v))
        assert_true(json_number_value(v) >= 0);
    json_object_foreach(v, key, member) check_no_negative(member);
    json_array_foreach(v, i, member) check_no_negative(member);
}

static void check_codename(const char *right, json_t *cpu)
{
    const char *name = json_string_value(json_object_get(cpu, "codename"));

    if (name && (!right || !strstr(name, right)))
        fail_msg("codename %s", name);
}

static void check_isa(const char *right, json_t *cpu)
{
    char got[128] = "";
    json_t *name;
    size_t i;

    json_array_foreach(json_object_get(cpu, "isa"), i, name)
    {
        size_t used = strlen(got);
        snprintf(got + used, sizeof(got) - used, "%s ", json_string_value(name));
    }
    assert_string_equal(got, right);
}

static void check_dump(const char *path, size_t row)
{
    char arguments[4200], got[256] = "";
    json_t *root, *cpu;
    size_t i;

    snprintf(arguments, sizeof(arguments), "--format json --cpuid '%s'", path);
    root = run_json("", arguments);
    json_array_foreach(json_object_get(root, "cpus"), i, cpu)
    {
        size_t used = strlen(got);
        snprintf(got + used, sizeof(got) - used, "%s ",
                 json_string_value(json_object_get(cpu, "key")));
        assert_true(json_is_null(json_object_get(cpu, "xcr0")));
        assert_true(json_is_null(json_object_get(cpu, "microcode")));
        check_isa(dumps[row].isa, cpu);
        check_codename(dumps[row].codename, cpu);
    }
    assert_string_equal(got, dumps[row].keys);
    check_no_negative(root);
    /* Nothing of this machine. */
    assert_int_equal(json_object_size(root), 3); /* with the version */
    assert_true(json_is_integer(
        json_object_get(json_object_get(json_object_get(root, "caches"), "l1d"), "bytes")));
    json_decref(root);
}

static void test_dumps(void **state)
{
    char path[4096];

    (void)state;
    for (size_t i = 0; i < sizeof(dumps) / sizeof(dumps[0]); i++) {
        dump_path(dumps[i].file, path, sizeof(path));
        check_dump(path, i);
    }
}

/* A CPU in JSON, or one line and no data. */
static void check_damaged(const char *path, size_t row)
{
    char arguments[4200], *out, *err;
    snprintf(arguments, sizeof(arguments), "--format json --cpuid '%s'", path);
    int rc = run("", arguments, &out, &err);
    json_t *root = json_loads(out, 0, NULL), *cpu;
    size_t i;

    if (rc ? rc != 2 || *out || strchr(err, '\n') != err + strlen(err) - 1 : !root || *err)
        fail_msg("%s: exit code %d, \"%s\"", dumps[row].file, rc, err);
    check_no_negative(root);
    json_array_foreach(json_object_get(root, "cpus"), i, cpu)
    {
        assert_true(json_string_length(json_object_get(cpu, "key")) > 0);
        check_codename(dumps[row].codename, cpu);
    }
    json_decref(root);
    free(out);
    free(err);
}

/* What test_cpu does by the thousand to the reader, by the program: cut off, leaves zeroed. */
static void test_damaged_dumps(void **state)
{
    static const char *const damage[] = {
        "head -c 1000",
        "head -n 7",
        "sed '/^CPUID 0000000[24B]/s/[1-9A-F]/0/6g'",
        "sed '/^CPUID 8/s/: .*/: 00000000-00000000-00000000-00000000/'",
        "sed '/^CPUID 00000001/d'",
        "sed y/012345678/123456789/",
    };
    char path[4000], made[] = "/tmp/ucopy-dump-XXXXXX", command[8192];

    (void)state;
    close(mkstemp(made));
    for (size_t i = 0; i < sizeof(dumps) / sizeof(dumps[0]); i++) {
        dump_path(dumps[i].file, path, sizeof(path));
        for (size_t k = 0; k < sizeof(damage) / sizeof(damage[0]); k++) {
            snprintf(command, sizeof(command), "%s '%s' >%s", damage[k], path, made);
            assert_int_equal(system(command), 0);
            check_damaged(made, i);
        }
    }
    unlink(made);
}

static void test_dump_key(void **state)
{
    char path[4000], arguments[4200];
    char *out, *err;

    (void)state;
    dump_path("alder-lake-12900k.txt", path, sizeof(path));
    snprintf(arguments, sizeof(arguments), "--cpuid '%s' --key intel-06-97-e", path);
    assert_int_equal(run("", arguments, &out, &err), 0);
    assert_non_null(strstr(out, "intel-06-97-e"));
    assert_null(strstr(out, "intel-06-97-p"));
    assert_null(strstr(out, "machine"));
    free(out);
    free(err);
    snprintf(arguments, sizeof(arguments), "--cpuid '%s' --key amd-1a-02", path);
    refused(arguments, 1, "intel-06-97-p, intel-06-97-e");
}

/* ---- this machine ---- */

static void check_facts(json_t *facts)
{
    const char *key;
    json_t *fact;

    assert_true(json_object_size(facts) >= 10);
    json_object_foreach(facts, key, fact)
    {
        assert_true(json_string_length(json_object_get(fact, "source")) > 0);
        assert_non_null(json_object_get(fact, "value"));
    }
}

static void check_machine(const char *before, const char *arguments)
{
    static const char *const cpu_keys[] = {"key",        "vendor", "family",    "model",
                                           "stepping",   "name",   "codename",  "core_kind",
                                           "hypervisor", "isa",    "isa_cpuid", "xcr0"};
    json_t *root = run_json(before, arguments), *cpus = json_object_get(root, "cpus");
    json_t *said;

    assert_int_equal(json_array_size(cpus), 1);
    for (size_t i = 0; i < sizeof(cpu_keys) / sizeof(cpu_keys[0]); i++)
        assert_non_null(json_object_get(json_array_get(cpus, 0), cpu_keys[i]));
    said = json_object_get(json_object_get(json_object_get(root, "caches"), "l1d"), "said");
    assert_int_equal(json_object_size(said), 4);
    check_facts(json_object_get(root, "machine"));
    assert_true(json_is_array(json_object_get(root, "disturbing")));
    check_no_negative(root);
    json_decref(root);
}

static void test_machine(void **state)
{
    (void)state;
    check_machine("", "--format json");
}

/* An empty /sys, a topology of another machine, few descriptors: info still answers. */
static void test_hostile(void **state)
{
    char empty[] = "/tmp/ucopy-empty-XXXXXX", before[256];
    const char *data = getenv("UCOPY_TEST_DATA");

    (void)state;
    assert_non_null(mkdtemp(empty));
    snprintf(before, sizeof(before), "HWLOC_FSROOT=%s", empty);
    check_machine(before, "--format json");
    rmdir(empty);
    check_machine("ulimit -n 16;", "--format json");
#ifndef __SANITIZE_ADDRESS__ /* its shadow needs more */
    check_machine("ulimit -v 400000;", "--format json");
#endif
    if (data && *data) {
        snprintf(before, sizeof(before), "HWLOC_XMLFILE=%s/topology/16amd64-8n2c-cpusets.xml",
                 data);
        check_machine(before, "--format json");
    }
}

static void test_disabled(void **state)
{
    json_t *root = run_json("UCOPY_DISABLE_ISA=erms,fsrm", "--format json --disable-isa avx512");
    json_t *isa = json_object_get(json_array_get(json_object_get(root, "cpus"), 0), "isa"), *name;
    size_t i;

    (void)state;
    assert_true(json_array_size(isa) > 0);
    json_array_foreach(isa, i, name)
    {
        assert_string_not_equal(json_string_value(name), "erms");
        assert_string_not_equal(json_string_value(name), "fsrm");
        assert_string_not_equal(json_string_value(name), "avx512bw");
    }
    json_decref(root);
}

static void test_text(void **state)
{
    static const char *const lines[] = {"\n  key ",
                                        "\n  l1d ",
                                        "\n  usable cpus ",
                                        "\n  tsc hz ",
                                        "\n  counters ",
                                        "\n  steal ",
                                        "\nwhat disturbs measuring here\n"};
    char *out, *err;

    (void)state;
    assert_int_equal(run("", "", &out, &err), 0);
    for (const char *p = out; *p; p += strcspn(p, "\n") + 1)
        if (strcspn(p, "\n") > 100)
            fail_msg("%zu columns: %.*s", strcspn(p, "\n"), (int)strcspn(p, "\n"), p);
    assert_memory_equal(out, "# ucopy-tune " UC_VERSION "\n", strlen(UC_VERSION) + 14);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        if (!strstr(out, lines[i]))
            fail_msg("no line \"%s\" in:\n%s", lines[i] + 1, out);
    free(out);
    free(err);
}

static void test_refused(void **state)
{
    (void)state;
    refused("--core 1023", 2, "1023");
    refused("--core -1", 2, "-1");
    refused("--core 1x", 2, "'1x'");
    refused("--format xml", 2, "text, json");
    refused("--frob", 2, "--frob");
    refused("surplus", 2, "surplus");
    refused("--cpuid /nonexistent", 2, "/nonexistent: No such file");
    refused("--cpuid /", 2, "directory");
    refused("--cpuid /dev/null", 2, "/dev/null:0: ");
    refused("--cpuid /proc/self/status", 2, "/proc/self/status:");
    refused("--key amd-ff-ff", 1, "amd-ff-ff");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),  cmocka_unit_test(test_machine),
        cmocka_unit_test(test_hostile),  cmocka_unit_test(test_disabled),
        cmocka_unit_test(test_text),     cmocka_unit_test(test_dumps),
        cmocka_unit_test(test_dump_key), cmocka_unit_test(test_damaged_dumps),
    };

    return cmocka_run_group_tests_name("info", tests, NULL, NULL);
}
