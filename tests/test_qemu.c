/* Other CPUs than this one, by qemu-x86_64: the strategies, the program and generated headers as
 * Nehalem, Haswell and the newest that it has. None executes an instruction that the model lacks,
 * and what is measured on an emulated CPU is marked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <stdbool.h>

#include "emit/emit.h"
#include "measure/verify.h"
#include "strategies/detect.h"
#include "tests/made_up.h"
#include "tests/program.h"

static const struct model {
    const char *name;
    const char *key; /* NULL: qemu's own */
    const char *isa; /* all that it may have */
    int header;      /* whose CPU it is, by its place in the list below; -1: none's */
} models[] = {
    {"Nehalem", "intel-06-1a", " sse2 ", 0},
    {"Haswell", "intel-06-3c", " erms sse2 avx2 bmi2 ", 1},
    {"max", NULL, " erms fsrm sse2 avx2 bmi2 avx512bw avx512vbmi2 ", -1},
};

#define MODELS (sizeof(models) / sizeof(models[0]))

/* This program, which also runs under the emulator: then it checks strategies. */
static char self[4096];

static void need_qemu(void)
{
    if (system("command -v qemu-x86_64 >/dev/null 2>&1") == 0)
        return;
    print_message("qemu-x86_64: not installed\n");
    skip();
}

/* Its own warnings of features that a model has and it has not are no part of "left", nor is
 * another user of the machine. */
static void must_work(const struct model *m, const char *words)
{
    int code =
        sh("qemu-x86_64 -cpu %s %s >kept 2>told; code=$?; sed '/^qemu-x86_64: warning/d; "
           "/waiting for another timed run/d; /: warning: self-test: /d' told >left; (exit $code)",
           m->name, words);

    if (!code)
        return;
    char *out = slurp("kept"), *err = slurp("left");
    fail_msg("as %s, exit code %d:\n%.2000s%.1000s", m->name, code, out, err);
}

/* ---- strategies ---- */

static int check_strategies(void)
{
    static const size_t more[] = {72,  100, 128, 129,  200,  255,  256,
                                  300, 511, 512, 1000, 4096, 20000};
    size_t size[128], n = 0, checked = 0;
    struct uc_verify_failure f;
    struct ucopy_cpuid c;

    while (n <= 64)
        size[n] = n, n++;
    for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
        size[n++] = more[i];
    ucopy_cpuid_read(&c);
    for (size_t i = 0; i < ucopy_strategy_count; i++) {
        const struct ucopy_strategy *s = &ucopy_strategies[i];
        if (s->isa & ~ucopy_isa_usable(&c))
            continue;
        if (uc_verify_strategy(s, size, n, &f)) {
            printf("%s: %s, size %zu\n", s->name, f.what, f.size);
            return 1;
        }
        checked++;
    }
    printf("%zu\n", checked);
    return checked < 10;
}

/* More on the model that has more. */
static void strategies_copy_on_each_model(void **state)
{
    char words[4200];
    long last = 0;

    need_qemu();
    snprintf(words, sizeof(words), "'%s' strategies", self);
    for (size_t i = 0; i < MODELS; i++) {
        must_work(&models[i], words);
        char *text = slurp("kept");
        assert_true(strtol(text, NULL, 10) >= last);
        last = strtol(text, NULL, 10);
        free(text);
    }
}

/* ---- headers ---- */

static const struct {
    const char *key, *vendor;
    unsigned family, model;
    const char *dispatch, *loop, *stream;
    const char *supported; /* by the compiler's own detection */
} headers[] = {
    {"intel-06-1a", "GenuineIntel", 6, 0x1a, "short_half_sse2_256", "sse2_loop_x4",
     "sse2_stream_x4", "1"},
    {"intel-06-3c", "GenuineIntel", 6, 0x3c, "short_half_avx2_256", "avx2_loop_x4",
     "avx2_stream_x4", "__builtin_cpu_supports(\"avx2\")"},
    {"made-0f-01", "MadeUpVendor", 0xf, 1, "short_half_avx512_512", "avx512_loop_x4",
     "avx512_stream_x4",
     "__builtin_cpu_supports(\"avx512bw\") && __builtin_cpu_supports(\"avx512vl\") && "
     "__builtin_cpu_supports(\"avx512dq\")"},
};

#define HEADERS (sizeof(headers) / sizeof(headers[0]))

static void write_text(const char *name, const char *text)
{
    char path[400];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    assert_int_equal(uc_write_file(path, text, strlen(text)), 0);
}

static void write_header(size_t i, char prefix[UC_PREFIX])
{
    struct uc_profile *p = made_up_profile(UCOPY_USER, "");
    char why[256] = "", name[UC_PREFIX + 8], *text;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    snprintf(p->cpu.key, sizeof(p->cpu.key), "%s", headers[i].key);
    snprintf(p->cpu.vendor, sizeof(p->cpu.vendor), "%s", headers[i].vendor);
    p->cpu.family = headers[i].family;
    p->cpu.model = headers[i].model;
    made_up_segment(p, UC_COPY, 256, headers[i].dispatch);
    made_up_segment(p, UC_COPY, SIZE_MAX, headers[i].loop);
    made_up_segment(p, UC_NOCACHE, 256, "rep_movsb");
    made_up_segment(p, UC_NOCACHE, SIZE_MAX, headers[i].stream);
    if (uc_emitter_find("c")->emit(p, out, why, sizeof(why)))
        fail_msg("%s", why);
    fclose(out);
    uc_emit_prefix(p, prefix, UC_PREFIX);
    snprintf(name, sizeof(name), "%.*s.h", UC_PREFIX, prefix);
    write_text(name, text);
    free(text);
    made_up_free(p);
}

/* The program prints "place of the header whose CPU this is" for each, and fails where a copy is
 * wrong, or where usable and the fallback are not what the compiler's detection says. */
static const char checker[] =
    "static int right(void *(*copy)(void *, const void *, size_t))\n"
    "{\n"
    "    static unsigned char from[40000], to[40000];\n"
    "    for (size_t i = 0; i < sizeof from; i++)\n"
    "        from[i] = (unsigned char)(i * 2654435761u >> 13);\n"
    "    for (size_t n = 0; n < sizeof to; n += n / 7 + 1) {\n"
    "        memset(to, 0xEE, n + 1);\n"
    "        if (copy(to, from, n) != to || memcmp(to, from, n) || to[n] != 0xEE)\n"
    "            return 0;\n"
    "    }\n"
    "    return 1;\n"
    "}\n"
    "#define CHECK(place, prefix, usable, nocache, is_this, supported) \\\n"
    "    fallen = 0; \\\n"
    "    if (!right(prefix) || !right(nocache)) \\\n"
    "        return printf(#prefix \": a wrong copy\\n\"), 1; \\\n"
    "    if (usable() != !!(supported) || (fallen == 0) != usable()) \\\n"
    "        return printf(#prefix \": usable %d, fallback %u\\n\", usable(), fallen), 1; \\\n"
    "    if (is_this()) \\\n"
    "        printf(\"%d\\n\", place);\n";

static void write_program(void)
{
    char *text, prefix[HEADERS][UC_PREFIX];
    size_t n;
    FILE *out = open_memstream(&text, &n);

    fputs("#include <stdio.h>\n#include <string.h>\nstatic unsigned fallen;\n"
          "static void *fall(void *d, const void *s, size_t n)\n"
          "{ fallen++; return n ? memcpy(d, s, n) : d; }\n"
          "#define UCOPY_FALLBACK(d, s, n) fall(d, s, n)\n",
          out);
    for (size_t i = 0; i < HEADERS; i++) {
        const char *p = prefix[i];
        write_header(i, prefix[i]);
        fprintf(
            out,
            "#include \"%s.h\"\n"
            "static void *copy_%zu(void *d, const void *s, size_t n) { return %s(d, s, n); }\n"
            "static void *none_%zu(void *d, const void *s, size_t n) { return %s_nocache(d, s, n); "
            "}\n",
            p, i, p, i, p);
    }
    fprintf(out, "%sint main(void)\n{\n", checker);
    for (size_t i = 0; i < HEADERS; i++)
        fprintf(out, "    CHECK(%zu, copy_%zu, %s_usable, none_%zu, %s_is_this_cpu, (%s))\n", i, i,
                prefix[i], i, prefix[i], headers[i].supported);
    fputs("    return 0;\n}\n", out);
    fclose(out);
    write_text("check.c", text);
    free(text);
}

static void headers_copy_on_each_model(void **state)
{
    char wanted[16];

    need_qemu();
    write_program();
    if (sh("cc -O2 -Wall -Werror check.c -o check"))
        fail_msg("the headers do not compile");
    for (size_t i = 0; i < MODELS; i++) {
        must_work(&models[i], "./check");
        char *text = slurp("kept");
        snprintf(wanted, sizeof(wanted), models[i].header < 0 ? "" : "%d\n", models[i].header);
        assert_string_equal(text, wanted);
        free(text);
    }
}

/* ---- the program ---- */

static json_t *load(const char *name)
{
    char *text = slurp(name);
    json_t *root = json_loads(text, 0, NULL);

    assert_non_null(root);
    free(text);
    return root;
}

static const char *string_at(json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static void check_isa(const struct model *m, json_t *isa)
{
    json_t *name;
    size_t i;

    assert_true(json_array_size(isa) > 0);
    json_array_foreach(isa, i, name)
    {
        char word[40];
        snprintf(word, sizeof(word), " %s ", json_string_value(name));
        if (!strstr(m->isa, word))
            fail_msg("as %s:%s", m->name, word);
    }
}

static void info_names_the_emulator(void **state)
{
    need_qemu();
    for (size_t i = 1; i < MODELS; i++) { /* the first is tuned below */
        must_work(&models[i], "\"$UCOPY_TUNE\" info --format json");
        assert_int_equal(lines("left"), 0);
        json_t *root = load("kept"), *cpu = json_array_get(json_object_get(root, "cpus"), 0);
        if (models[i].key)
            assert_string_equal(string_at(cpu, "key"), models[i].key);
        assert_string_equal(string_at(cpu, "hypervisor"), "QEMU TCG");
        assert_true(json_is_null(json_object_get(cpu, "codename")));
        check_isa(&models[i], json_object_get(cpu, "isa"));
        json_t *first = json_array_get(json_object_get(root, "disturbing"), 0);
        assert_non_null(strstr(string_at(first, "what"), "the CPU is emulated"));
        json_decref(root);
    }
}

static void a_tuned_emulator_is_marked(void **state)
{
    need_qemu();
    must_work(&models[0],
              "-E CC=/nowhere/cc \"$UCOPY_TUNE\" tune --quick --budget 100ms --environment "
              "kernel --consumer none");
    assert_int_equal(sh("sed -i '/no compiler/d' left"), 0);
    assert_int_equal(lines("left"), 1);
    assert_holds("left", "warning: the CPU is emulated: times say nothing about any CPU");
    assert_holds("kept", "\ngrade C: the CPU is emulated: ");
    assert_holds("intel-06-1a-kernel-none.h", "\n * EMULATED: ");
    assert_holds("intel-06-1a-kernel-none.h", "Grade of the measurement: C.");
    json_t *p = load("intel-06-1a-kernel-none.json"), *cpu = json_object_get(p, "cpu");
    json_t *reasons =
        json_object_get(json_object_get(json_object_get(p, "method"), "noise"), "reasons");
    assert_string_equal(string_at(cpu, "hypervisor"), "QEMU TCG");
    check_isa(&models[0], json_object_get(cpu, "isa"));
    assert_non_null(strstr(json_string_value(json_array_get(reasons, 0)), "the CPU is emulated"));
    json_decref(p);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strategies_copy_on_each_model),
        cmocka_unit_test(headers_copy_on_each_model),
        cmocka_unit_test(info_names_the_emulator),
        cmocka_unit_test(a_tuned_emulator_is_marked),
    };

    if (argc == 2 && !strcmp(argv[1], "strategies"))
        return check_strategies();
    if (!realpath(argv[0], self))
        return 1;
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
