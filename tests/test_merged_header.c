/* The header that `ucopy-tune merge` makes: told every CPUID dump at hand; on other CPUs by
 * qemu-x86_64; in threads that use it first all at once; and through the compilers at hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/merge_boxes.h"

/* ---- on other CPUs ---- */

/* Not inlined: gcc 12 then takes what is in the file for a local array. */
__attribute__((noinline)) static char *read_text(const char *name)
{
    return slurp(name);
}

/* The header's own look at the CPU, told that it is the_cpu. */
static void write_told_header(void)
{
    static const char look[] = "_cpuid_read(&c);";
    char *text = read_text("all.h"), *at = strstr(text, look), *told;

    assert_non_null(at);
    assert_null(strstr(at + 1, look));
    at += strlen(look);
    assert_true(asprintf(&told, "%.*s\n    the_cpu(&c);%s", (int)(at - text), text, at) > 0);
    write_text("told.h", told);
    free(told);
    free(text);
}

static void put_cpu(FILE *out, const struct ucopy_cpuid *c)
{
    unsigned v[sizeof(*c) / sizeof(unsigned)];

    memcpy(v, c, sizeof(v));
    fputs("    {", out);
    for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
        fprintf(out, "%#xu, ", v[i]);
    fputs("},\n", out);
}

static void write_told_program(void)
{
    static const unsigned xcr0[] = {0, 0x7, 0xE7};
    char *text;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    fputs("#include <stdio.h>\n#include <string.h>\n"
          "static const unsigned words[][11] = {\n",
          out);
    for (size_t i = 0; i < COUNT(dumps); i++)
        for (int k = 0; k < 3; k++) {
            struct ucopy_cpuid c = read_dump(dumps[i].file);
            if (k)
                c = enabled(c, xcr0[k]);
            put_cpu(out, &c);
        }
    fputs("};\nstatic unsigned at;\n"
          "static void the_cpu(void *c) { memcpy(c, words[at], sizeof words[at]); }\n"
          "#include \"told.h\"\n"
          "int main(void)\n"
          "{\n"
          "    for (; at < sizeof words / sizeof *words; at++) {\n"
          "        ucopy_merged_state = 0;\n"
          "        printf(\"%s %u %d %d\\n\", ucopy_merged_chosen(), ucopy_merged_state & 7,\n"
          "               ucopy_merged_is_this_cpu(), ucopy_merged_why()[0] != 0);\n"
          "    }\n"
          "    return 0;\n"
          "}\n",
          out);
    fclose(out);
    write_text("told.c", text);
    free(text);
}

/* The texts in the header are those that were tried above, and its table is that of the boxes. */
static void the_header_picks_the_same(void **state)
{
    char *wanted;
    size_t n;
    FILE *out = open_memstream(&wanted, &n);

    assert_int_equal(sizeof(struct ucopy_cpuid), 11 * sizeof(unsigned));
    write_told_header();
    write_told_program();
    if (sh("cc -O1 -Wall -Werror told.c -o told && ./told >told.out"))
        fail_msg("the header does not compile");
    for (const struct dump *d = dumps; d < dumps + COUNT(dumps); d++) {
        fprintf(out, "%s %u %d 1\n", d->none.key, d->none.why, d->none.why == SAME);
        fprintf(out, "%s %u %d 1\n", d->avx.key, d->avx.why, d->avx.why == SAME);
        fprintf(out, "%s %u %d 1\n", d->all.key, d->all.why, d->all.why == SAME);
    }
    fclose(out);
    char *told = slurp("told.out");
    assert_string_equal(told, wanted);
    free(told);
    free(wanted);
}

/* Copies by both entries, and says what was chosen and how often the fallback was called. */
static const char copier[] =
    "#include <stdio.h>\n#include <string.h>\n"
    "static unsigned fallen;\n"
    "static void *fall(void *d, const void *s, size_t n) { fallen++; return n ? memcpy(d, s, n) : d; }\n"
    "#define UCOPY_FALLBACK(d, s, n) fall(d, s, n)\n"
    "#include \"all.h\"\n"
    "static int right(int nocache)\n"
    "{\n"
    "    static unsigned char from[70000], to[70000];\n"
    "    for (size_t i = 0; i < sizeof from; i++)\n"
    "        from[i] = (unsigned char)(i * 2654435761u >> 13);\n"
    "    for (size_t n = 0; n < sizeof to; n += n / 7 + 1) {\n"
    "        memset(to, 0xEE, n + 1);\n"
    "        void *got = nocache ? ucopy_merged_nocache(to, from, n) : ucopy_merged(to, from, n);\n"
    "        if (got != to || memcmp(to, from, n) || to[n] != 0xEE)\n"
    "            return 0;\n"
    "    }\n"
    "    return 1;\n"
    "}\n"
    "int main(void)\n"
    "{\n"
    "    int wrong = !right(0) || !right(1);\n"
    "    printf(\"%s%s%s: %s\\n\", wrong ? \"wrong, \" : \"\", ucopy_merged_chosen(),\n"
    "           fallen ? \", fallen\" : \"\", ucopy_merged_why());\n"
    "    return wrong;\n"
    "}\n";

/* CPU models of the emulator (a shared C library would refuse some of them): none executes what it
 * lacks, and each gets what the rules say. */
static void each_model_gets_what_it_may_execute(void **state)
{
    static const struct {
        const char *model, *told;
    } t[] = {
        {"Nehalem", "intel-06-1a: vendor, family and model are the same\n"},
        {"Haswell", "intel-06-3c: vendor, family and model are the same\n"},
        {"Haswell,-avx2,-avx",
         "intel-06-1a: its own copies need what this CPU lacks: the nearest\n"},
        {"EPYC", "amd-17-01: vendor, family and model are the same\n"},
        {"phenom", "fallback, fallen: no copies of its vendor that this CPU may execute\n"},
        {"max,vendor=MadeUpVendor",
         "fallback, fallen: no copies of its vendor that this CPU may execute\n"},
    };

    if (sh("command -v qemu-x86_64")) {
        print_message("qemu-x86_64: not installed\n");
        skip();
    }
    write_text("nothing.c", "int main(void) { return 0; }\n");
    if (sh("cc -static nothing.c -o nothing")) {
        print_message("a static C library: not installed\n");
        skip();
    }
    write_text("copier.c", copier);
    assert_int_equal(sh("cc -O2 -Wall -Werror -static copier.c -o copier"), 0);
    for (size_t i = 0; i < COUNT(t); i++) {
        if (sh("qemu-x86_64 -cpu %s ./copier >told.out 2>/dev/null", t[i].model))
            fail_msg("as %s the program fails", t[i].model);
        char *told = slurp("told.out");
        if (strcmp(told, t[i].told) != 0)
            fail_msg("as %s: %s", t[i].model, told);
        free(told);
    }
}

/* ---- threads ---- */

/* Rounds of threads that use the header first all at once, each round from the start: the pointer
 * and the state are what a new process has. */
static const char racer[] =
    "#include <pthread.h>\n#include <stdio.h>\n#include <string.h>\n#include \"all.h\"\n"
    "enum { THREADS = 8, ROUNDS = 200 };\n"
    "static pthread_barrier_t start;\n"
    "static const char *chosen[THREADS];\n"
    "static void *use(void *arg)\n"
    "{\n"
    "    size_t me = (size_t)arg, n = 65 + 700 * me;\n"
    "    char from[8192], to[8192];\n"
    "    memset(from, (int)me + 1, sizeof from);\n"
    "    memset(to, 0, sizeof to);\n"
    "    pthread_barrier_wait(&start);\n"
    "    if (me & 1)\n"
    "        chosen[me] = ucopy_merged_chosen();\n"
    "    void *got = me & 2 ? ucopy_merged_nocache(to, from, n) : ucopy_merged(to, from, n);\n"
    "    chosen[me] = ucopy_merged_chosen();\n"
    "    return got == to && !memcmp(to, from, n) && !to[n] ? NULL : arg ? arg : (void *)-1;\n"
    "}\n"
    "int main(void)\n"
    "{\n"
    "    pthread_barrier_init(&start, NULL, THREADS);\n"
    "    for (int round = 0; round < ROUNDS; round++) {\n"
    "        pthread_t t[THREADS];\n"
    "        void *wrong;\n"
    "#if !UCOPY_MERGED_ONLY_FALLBACK\n"
    "        __atomic_store_n(&ucopy_merged_state, 0, __ATOMIC_RELAXED);\n"
    "        __atomic_store_n(&ucopy_merged_copy_way, ucopy_merged_copy_first, __ATOMIC_RELAXED);\n"
    "        __atomic_store_n(&ucopy_merged_nocache_way, ucopy_merged_nocache_first, __ATOMIC_RELAXED);\n"
    "#endif\n"
    "        for (size_t i = 0; i < THREADS; i++)\n"
    "            if (pthread_create(&t[i], NULL, use, (void *)i))\n"
    "                return 2;\n"
    "        for (size_t i = 0; i < THREADS; i++)\n"
    "            if (pthread_join(t[i], &wrong) || wrong || strcmp(chosen[i], chosen[0]))\n"
    "                return printf(\"round %d, thread %zu\\n\", round, i), 1;\n"
    "    }\n"
    "    return printf(\"%s\\n\", chosen[0]) < 0;\n"
    "}\n";

static void threads_may_race_at_first_use(void **state)
{
    write_text("racer.c", racer);
    if (sh("cc -O2 -Wall -Werror -pthread racer.c -o racer && ./racer"))
        fail_msg("a copy is wrong, or threads chose differently");
}

/* Under the sanitizer's macro the header would only fall back: it is taken away, so that what the
 * compiler sees of the choice is watched. */
static void the_race_is_none_to_the_sanitizer(void **state)
{
    write_text("nothing.c", "int main(void) { return 0; }\n");
    if (sh("gcc -fsanitize=thread nothing.c -o nothing && setarch -R ./nothing")) {
        print_message("ThreadSanitizer: not at hand\n");
        skip();
    }
    write_text("racer.c", racer);
    assert_int_equal(sh("sed -i 's/ROUNDS = 200/ROUNDS = 20/' racer.c"), 0);
    assert_int_equal(
        sh("gcc -O1 -fsanitize=thread -U__SANITIZE_THREAD__ -pthread racer.c -o racer"), 0);
    if (sh("TSAN_OPTIONS=halt_on_error=1 setarch -R ./racer >told.out"))
        fail_msg("a race, or a wrong copy");
}

/* ---- compilers ---- */

#define WARNINGS "-Wall -Wextra -Wpedantic -Wconversion -Wundef -Werror -nostdinc -ffreestanding"

/* Twice, beside single headers of the same CPUs and another merged one. */
static const char unit[] =
    "#include \"one.h\"\n#include \"all.h\"\n#include \"all.h\"\n#include \"kernel.h\"\n"
    "#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
    "void *use(void *d, const void *s, __SIZE_TYPE__ n, int entry);\n"
    "const char *ask(int which);\n"
    "#ifdef __cplusplus\n}\n#endif\n"
    "#ifdef USED\n"
    "void *use(void *d, const void *s, __SIZE_TYPE__ n, int entry)\n"
    "{\n"
    "    return entry == 0   ? ucopy_merged(d, s, n)\n"
    "           : entry == 1 ? ucopy_merged_nocache(d, s, n)\n"
    "           : entry == 2 ? ucopy_merged_kernel(d, s, n)\n"
    "           : entry == 3 ? ucopy_amd_17_01(d, s, n)\n"
    "                        : ucopy_merged(d, s, 17);\n"
    "}\n"
    "const char *ask(int which)\n"
    "{\n"
    "    return which == 0 ? ucopy_merged_chosen() : which == 1 ? ucopy_merged_kernel_why()\n"
    "           : ucopy_merged_is_this_cpu() ? \"this\" : ucopy_merged_why();\n"
    "}\n"
    "#endif\n";

static bool compiles(const char *compiler, const char *file, const char *options)
{
    if (sh("command -v %s >/dev/null", compiler)) {
        print_message("%s: not installed\n", compiler);
        return true;
    }
    return !sh("%s " WARNINGS " %s -c %s -o unit.o", compiler, options, file);
}

static void the_header_compiles(void **state)
{
    static const struct {
        const char *compiler, *file, *options;
    } t[] = {
        {"gcc", "unit.c", "-DUSED -std=c99 -O2"},
        {"gcc", "unit.c", "-DUSED -std=c2x -O0 -fPIC -march=native"},
        {"gcc", "unit.c", "-DUSED -std=c11 -O1 -fsanitize=address"},
        {"gcc", "unit.c", "-DUSED -std=c11 -O1 -DUCOPY_NO_ASM"},
        {"gcc", "unit.c", "-std=c99 -O2"},
        {"gcc", "unit.c", "-std=c99 -m32"},
        {"gcc", "unit.c", "-std=c99 -mx32"},
        {"g++", "unit.cc", "-DUSED -std=c++11 -O2"},
        {"clang", "unit.c", "-DUSED -std=c99 -O1"},
        {"clang", "unit.c", "-std=c2x -O1"},
        {"clang", "unit.c", "-std=c99 --target=aarch64-linux-gnu"},
        {"clang++", "unit.cc", "-DUSED -std=c++20 -O1 -march=native"},
        {"gcc", "limits.S", ""},
        {"clang", "limits.S", ""},
    };

    write_text("unit.c", unit);
    write_text("unit.cc", unit);
    write_text("limits.S",
               "#include \"all.h\"\n"
               ".quad UCOPY_MERGED_AMD_17_01_COPY_1_MAX, UCOPY_MERGED_INTEL_06_97_COPY_STREAMS\n"
               "#ifdef UCOPY_MERGED_AMD_17_01_COPY_1_STRATEGY\n#error a string\n#endif\n");
    assert_int_equal(sh("\"$UCOPY_TUNE\" emit user/amd-17-01.json -o one.h"), 0);
    for (size_t i = 0; i < COUNT(t); i++)
        if (!compiles(t[i].compiler, t[i].file, t[i].options))
            fail_msg("%s %s %s", t[i].compiler, t[i].options, t[i].file);
}

/* No vector register in a kernel's header, and nothing but the fallback where there may be none. */
static void without_vector_registers(void **state)
{
    write_text(
        "k.c",
        "#include \"kernel.h\"\n"
        "void *use(void *d, const void *s, __SIZE_TYPE__ n);\n"
        "void *use(void *d, const void *s, __SIZE_TYPE__ n) { return ucopy_merged_kernel(d, s, n); }\n");
    assert_true(compiles("cc", "k.c", "-O2 -mgeneral-regs-only -S"));
    assert_int_equal(sh("! grep -q '%%[xyz]mm' unit.o && grep -q 'rep movsb' unit.o"), 0);
    write_text("unit.c", unit);
    assert_true(compiles("cc", "unit.c", "-DUSED -O2 -mgeneral-regs-only -S"));
    assert_int_equal(sh("! grep -q '%%[xyz]mm' unit.o && grep -q memcpy unit.o"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_header_picks_the_same),
        cmocka_unit_test(each_model_gets_what_it_may_execute),
        cmocka_unit_test(threads_may_race_at_first_use),
        cmocka_unit_test(the_race_is_none_to_the_sanitizer),
        cmocka_unit_test(the_header_compiles),
        cmocka_unit_test(without_vector_registers),
    };
    return cmocka_run_group_tests(tests, make_boxes, remove_dir);
}
