/* The main job from end to end, by the built program, with the smallest budget: files, exit codes,
 * interruption. What it decides is not looked at here: that is test_fit's, on tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <stdbool.h>

#include "strategies/registry.h"
#include "tests/program.h"

#define TUNE "\"$UCOPY_TUNE\" tune --quick --budget 1s "
/* With the general registers' strategies alone, where it is not looked at which there are. */
#define FEW "--disable-isa sse2 "

static void files_are_whole(bool kernel)
{
    char *header = only(".h"), *json = only(".json"), path[300];

    assert_non_null(header);
    assert_non_null(json);
    snprintf(path, sizeof(path), "%s/%s", dir, json);
    json_error_t e;
    json_t *p = json_load_file(path, 0, &e);
    assert_non_null(p);
    assert_true(json_is_true(json_object_get(p, "complete")));
    assert_string_equal(json_string_value(json_object_get(p, "environment")),
                        kernel ? "kernel" : "user");
    assert_true(json_object_size(json_object_get(p, "strategies")) > 0);
    json_decref(p);
    assert_holds(header, "SPDX-License-Identifier: 0BSD");
    /* a header that is committed is what emit makes of its profile */
    assert_int_equal(
        sh("\"$UCOPY_TUNE\" emit %s --format c >emitted && cmp emitted %s", json, header), 0);
    if (system("cc --version >/dev/null 2>&1") == 0)
        assert_int_equal(
            sh("cc -Wall -Wextra -Wpedantic -Wconversion -Wundef -Werror %s -c -x c %s -o made.o",
               kernel ? "-nostdinc -ffreestanding -mgeneral-regs-only" : "", header),
            0);
    assert_null(only(".XXXXXX"));
    free(header);
    free(json);
}

static void tune_writes_header_and_profile(void **state)
{
    assert_int_equal(sh(TUNE "--core 0"), 0);
    assert_holds("out", "\ncopy (dst used soon)\n");
    assert_holds("out", "\nnocache (dst not used)\n");
    assert_holds("out", "\nRegret on fresh readings");
    assert_holds("out", "\nGain over glibc");
    assert_holds("out", "\nWrote ./");
    /* a line a chosen strategy; the profile has all strategies */
    assert_holds("out", "\nStart-up cost and GB/s, dst not read, one size repeated; L1 ");
    assert_int_equal(sh("sed -n '/\"slopes\"/,$p' *.json | grep -q '\"rep_movsq\"'"), 0);
    files_are_whole(false);
    assert_null(only(".journal"));
    /* again, in the same folder: what stands is left alone byte by byte, what changes is said */
    assert_int_equal(sh("mkdir before && cp *.h *.json before && " TUNE "&& cp out said"), 0);
    assert_int_equal(lines("err"), 0);
    assert_int_equal(sh("LC_ALL=C grep -E '.{101,}' said"), 1); /* no line is longer than that */
    char *said = slurp("said");
    bool stands = strstr(said, "stands; the files are left as they are") != NULL;
    bool same = sh("for f in *.h *.json; do cmp -s $f before/$f || exit 1; done") == 0;
    assert_int_equal(stands, same);
    assert_true(stands || strstr(said, "changed: "));
    free(said);
    /* what `syscalls --save` put into it stays where all else is made anew */
    assert_int_equal(sh("rm -r before; sed -i 's/\"syscalls\": null/\"syscalls\": {\"kept\": 7}/' "
                        "*.json; " TUNE FEW
                        "--renew && cp out said && grep -q '\"kept\": 7' *.json"),
                     0);
    assert_holds("said", "What system calls cost here");
    assert_holds("said", "\nWrote ./");
}

/* The profile of a longer run is not replaced by a quick one, but by --renew. Its strategies are
 * made up, so that it cannot stand by what is measured. */
static void a_quick_run_replaces_no_longer_one(void **state)
{
    assert_int_equal(
        sh(TUNE
           "--environment kernel && sed -i 's/\"quick\": true/\"quick\": false/; s/^\\( *\"strategy\": \\)\"[a-z0-9_]*\"/\\1\"made_up\"/' *.json && "
           "mkdir before && cp *.h *.json before && " TUNE "--environment kernel && cp out said"),
        0);
    assert_holds("said", "which a quick one does not replace");
    assert_int_equal(sh("for f in *.h *.json; do cmp -s $f before/$f || exit 1; done"), 0);
    assert_int_equal(sh(TUNE "--environment kernel --renew && cp out said"), 0);
    assert_holds("said", "\nWrote ./");
    assert_int_equal(sh("cmp -s *.json before/*.json"), 1);
}

/* Killed between the two renames: that is said, and the files are one decision's again. */
static void a_header_of_another_decision_is_noticed(void **state)
{
    assert_int_equal(sh("export CC=/nowhere/cc; " TUNE "--environment kernel --consumer none && "
                        "sed -i 's/_1_MAX [0-9]*/_1_MAX 7/' *.h && " TUNE
                        "--environment kernel --consumer none"),
                     0);
    assert_holds("err", "warning: ./");
    assert_holds("err", ".h is missing or tells other limits than ./");
    files_are_whole(true);
}

/* Nor a PMU that the library knows, which is said in the summary. */
static void kernel_without_a_compiler(void **state)
{
    assert_int_equal(sh("CC=/nowhere/cc LIBPFM_FORCE_PMU=no_such_pmu " TUNE "--environment kernel"),
                     0);
    assert_holds("out",
                 "\nNo hardware counters explain the choices: libpfm4 knows no event for cycles "
                 "of this CPU, whose");
    assert_holds("err", "warning: no compiler ('/nowhere/cc' cannot be run)");
    assert_int_equal(lines("err"), 1);
    assert_int_equal(sh("grep '\"counters\"' *.json"), 1);
    files_are_whole(true);
    char *name = only(".json"), path[300];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    json_t *p = json_load_file(path, 0, NULL);
    const char *strategy;
    json_t *hash;
    json_object_foreach(json_object_get(p, "strategies"), strategy, hash)
        assert_true(ucopy_find(strategy)->environments & UCOPY_KERNEL);
    json_decref(p);
    free(name);
}

/* Interrupted once it measures, which -v tells: exit code of the signal, one line, no header and no
 * profile; then taken up again. */
static void interruption_loses_nothing(void **state)
{
    for (int i = 0; i < 2; i++) {
        const char *sig = i ? "TERM" : "INT";
        assert_int_equal(
            sh("rm -f .*.journal; \"$UCOPY_TUNE\" --quick -v --budget 600s " FEW
               "2>told & p=$!; for i in $(seq 600); do sleep 0.1; grep -q ': check:' told && "
               "break; done; sleep 0.5; [ ! -e .*.journal ] && kill -%s $p; wait $p; code=$?; "
               "sed '/^ucopy-tune: error/,$!d; / s$/d' told >&2; exit $code",
               sig),
            i ? 143 : 130);
        assert_int_equal(lines("err"), 1);
        assert_holds("err", "interrupted: the readings so far are kept in ./.");
        assert_null(only(".h"));
        assert_null(only(".json"));
    }
    assert_int_equal(sh(TUNE FEW "--resume"), 0);
    assert_int_equal(lines("err"), 0);
    files_are_whole(false);
}

/* A compiler that takes for ever: says that it is at it, and when it is done. */
#define SLOW_COMPILER                                                             \
    "printf '#!/bin/sh\\n[ \"$1\" = --version ] && echo slow && exit\\n"          \
    "echo $$ >at_it; sleep 60\\ntouch done\\n' >slow; chmod +x slow; mkdir tmp; " \
    "export CC=$PWD/slow TMPDIR=$PWD/tmp; "
#define WHEN_AT_IT "p=$!; for i in $(seq 600); do [ -s at_it ] && break; sleep 0.1; done; "

static void the_compiler_was_ended(void)
{
    assert_int_equal(lines("err"), 1);
    assert_holds("err", "ucopy-tune: error: interrupted: ");
    assert_int_equal(sh("[ -s at_it ] && ! [ -e done ] && ! [ -e /proc/$(cat at_it) ] && "
                        "[ -z \"$(ls -A tmp)\" ]"),
                     0);
}

/* The answer to a signal does not wait for the compiler; nothing of it is left. */
static void a_compiler_at_work_is_ended(void **state)
{
    assert_int_equal(sh(SLOW_COMPILER "\"$UCOPY_TUNE\" tune --quick --budget 100ms --consumer none "
                                      "--environment kernel & " WHEN_AT_IT "kill -INT $p; wait $p"),
                     130);
    assert_holds("err", "interrupted: the readings so far are kept in ./.");
    the_compiler_was_ended();
    assert_int_equal(sh("ls .*.journal && rm -r at_it tmp"), 0);
    assert_int_equal(sh(SLOW_COMPILER
                        "\"$UCOPY_TUNE\" bench unrolled --inline --size 8 & " WHEN_AT_IT
                        "kill -TERM $p; wait $p"),
                     143);
    the_compiler_was_ended();
}

/* What `emit --prove` runs is ended with it, and its file removed. A profile of this CPU is needed,
 * and a C library that takes its line. */
static void a_proof_is_ended(void **state)
{
    if (sh("key=$(\"$UCOPY_TUNE\" info --format json | grep -o -m 1 '\"key\": \"[^\"]*' | cut -d'\"' -f4);"
           " p=\"$UCOPY_SOURCE/profiles/$key.json\"; [ -e \"$p\" ] && cp \"$p\" p.json && "
           "\"$UCOPY_TUNE\" emit p.json --format glibc-tunables | grep -q '^GLIBC_TUNABLES='"))
        skip();
    assert_int_equal(
        sh("mkdir tmp; export TMPDIR=$PWD/tmp; \"$UCOPY_TUNE\" emit p.json --format glibc-tunables "
           "--prove & p=$!; for i in $(seq 100); do [ -n \"$(ls tmp)\" ] && break; "
           "sleep 0.1; done; sleep 0.5; [ -n \"$(ls tmp)\" ] || exit 9; kill -INT $p; wait $p"),
        130);
    assert_int_equal(lines("err"), 1);
    assert_holds("err", "ucopy-tune: error: interrupted: ");
    assert_int_equal(sh("[ -z \"$(ls -A tmp)\" ]"), 0);
}

static void refusals_are_one_line(void **state)
{
    static const struct {
        const char *command, *words;
        int code;
    } row[] = {
        {TUNE "--core 1023", "--core 1023: not among the CPUs that this process may use (", 2},
        {TUNE "--core x", "--core", 2},
        {TUNE "-o nowhere", "cannot write into nowhere: ", 3},
        {TUNE "--prior nowhere.json", "--prior nowhere.json: ", 2},
        {"echo no >p.json; " TUNE "--prior p.json", "--prior p.json: ", 2},
        {"\"$UCOPY_TUNE\" bench no_such_strategy",
         "unknown strategy 'no_such_strategy' (known: ", 2},
        {"\"$UCOPY_TUNE\" bench libc --size 3x", "--size: '3x'", 2},
        {"\"$UCOPY_TUNE\" bench libc --size 1T", "--size: '1T'", 2},
        {"\"$UCOPY_TUNE\" bench libc --state hot", "unknown", 2},
        {"\"$UCOPY_TUNE\" bench --peer nowhere.so", "--peer nowhere.so: ", 2},
        {"\"$UCOPY_TUNE\" bench --peer libc.so.6:no_such_copy", "the library has no 'no_such_copy'",
         2},
        {"\"$UCOPY_TUNE\" bench --header nowhere.h", "--header nowhere.h: No such file", 2},
        {"echo 'int x;' >x.h; \"$UCOPY_TUNE\" bench --header x.h",
         "--header x.h: this is no generated header", 2},
        {"\"$UCOPY_TUNE\" bench --sizes-from nowhere.csv", "nowhere.csv: No such file", 2},
        {"echo 8:1 >d.csv; \"$UCOPY_TUNE\" bench libc --sizes-from d.csv --consumer scan",
         "--consumer scan: ", 2},
        {"echo 9999999:1 >d.csv; \"$UCOPY_TUNE\" bench libc --sizes-from d.csv",
         "d.csv: no size up to ", 2},
        {"echo 9999999:1 >d.csv; \"$UCOPY_TUNE\" bench libc --sizes-from d.csv",
         "nothing is left to replay as a mix; time such sizes one by one, with --size", 2},
        {"\"$UCOPY_TUNE\" bench unrolled --placements --inline", "--placements: not with --inline",
         2},
        {"\"$UCOPY_TUNE\" bench libc --threads 0", "--threads: '0' is neither all nor", 2},
        {"\"$UCOPY_TUNE\" bench libc --threads 2 --slopes", "--threads: not with --slopes", 2},
        {"\"$UCOPY_TUNE\" bench libc --state other_core --consumer evict",
         "--state other_core: not with --consumer evict", 2},
        {"\"$UCOPY_TUNE\" fit c.csv --threads x", "--threads: 'x' is not a whole number", 2},
        {"\"$UCOPY_TUNE\" fit c.csv --threads 2 --format c", "--threads: not with --format c", 2},
        {"\"$UCOPY_TUNE\" bench libc --inline", "--inline: libc has no inlined form", 2},
        {"\"$UCOPY_TUNE\" bench --inline --peer libc.so.6",
         "--inline: --peer libc.so.6 has no inlined form", 2},
        {"\"$UCOPY_TUNE\" bench --inline --state l2", "--inline: --state l2: only ", 2},
        {"\"$UCOPY_TUNE\" bench --inline --consumer scan", "--inline: --consumer scan: only ", 2},
        {"\"$UCOPY_TUNE\" bench --inline --consumer evict", "--inline: --consumer evict: only ", 2},
        {"\"$UCOPY_TUNE\" bench short_tree_gpr_64 --inline --size 65,1M",
         "--inline: none of the sizes is served by short_tree_gpr_64", 2},
        {"\"$UCOPY_TUNE\" bench --inline --header nowhere.h", "--header nowhere.h: No such file",
         2},
        {"echo '#ifndef UCOPY_X_H' >y.h; \"$UCOPY_TUNE\" bench --inline --header y.h",
         "--header y.h: cc fails: ", 2},
        {"CC=/nowhere/cc \"$UCOPY_TUNE\" bench rep_movsb --inline",
         "--inline: no compiler: '/nowhere/cc' cannot be run", 3},
        {"\"$UCOPY_TUNE\" bench short_masked_avx512_64 --inline --disable-isa avx512bw",
         "is not usable here: ", 3},
        {"\"$UCOPY_TUNE\" bench avx512_loop_x4 --disable-isa avx512bw", "is not usable here: ", 3},
    };

    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        int code = sh("%s", row[i].command);
        char *err = slurp("err");
        if (code != row[i].code || lines("err") != 1 || !strstr(err, row[i].words))
            fail_msg("%s: exit code %d (expected %d), stderr:\n%s", row[i].command, code,
                     row[i].code, err);
        free(err);
        assert_int_equal(lines("out"), 0);
    }
}

static void a_foreign_topology_is_not_tuned(void **state)
{
    const char *data = getenv("UCOPY_TEST_DATA");
    char path[400];

    snprintf(path, sizeof(path), "%s/topology/16amd64-8n2c-cpusets.xml", data ? data : "/nowhere");
    if (access(path, R_OK))
        skip();
    assert_int_equal(sh("HWLOC_XMLFILE=%s " TUNE, path), 3);
    assert_int_equal(lines("err"), 1);
    assert_holds("err", "is not this machine's");
}

static void bench_prints_the_difference(void **state)
{
    assert_int_equal(sh("\"$UCOPY_TUNE\" bench libc byte_loop --size 64,1k --budget 50ms"), 0);
    assert_holds("out", "difference     per cent");
    assert_int_equal(
        sh("\"$UCOPY_TUNE\" bench libc unrolled rep_movsb --size 1-3 --budget 50ms --format csv && "
           "cp out cells.csv && \"$UCOPY_TUNE\" fit cells.csv"),
        0);
    char *csv = slurp("cells.csv");
    assert_int_equal(strncmp(csv, "strategy,", 9), 0);
    free(csv);
    assert_int_equal(lines("cells.csv"), 11);
    assert_int_equal(sh("grep -c ^libc.*,baseline, cells.csv && "
                        "grep -c ^rep_movsb.*,candidate, cells.csv"),
                     0);
}

/* A mix replayed for libc, the same function as a peer, and a committed header called and inlined.
 */
static void bench_replays_a_mix(void **state)
{
    assert_int_equal(sh("echo 0:0.1,1:0.2,8:0.4,40:0.2,300:0.05,100000:0.05 >mix.csv; "
                        "\"$UCOPY_TUNE\" bench --sizes-from mix.csv --peer libc.so.6 --budget 50ms "
                        "--header \"$(ls \"$UCOPY_SOURCE\"/profiles/*.h | head -n 1)\""),
                     0);
    assert_holds("out", "mix on ");
    assert_holds("out", "order random; sizes to 300\n");
    assert_holds(
        "out",
        "\n# the other 5.00 % of the calls, 100000 to 100000 bytes, state natural, not counted above\n");
    assert_holds("out", "\nlibc ");
    assert_holds("out", "\nlibc.so.6 ");
    assert_holds("out", " called ");
    assert_holds("out", " inline ");
    assert_int_equal(lines("out"), 13);
    assert_int_equal(sh("echo 8:0.5,1M:0.2,64M:0.3 >mix.csv; \"$UCOPY_TUNE\" bench libc "
                        "--sizes-from mix.csv --budget 50ms"),
                     0);
    assert_holds("out", "\n# the other 20.00 % of the calls, 1048576 to 1048576 bytes");
    assert_holds("err", "mix: 30.00 % of the calls, above 16 MiB, are not replayed\n");
    assert_int_equal(sh("echo 8:1 >mix.csv; \"$UCOPY_TUNE\" bench libc unrolled --sizes-from "
                        "mix.csv --order learned "
                        "--consumer wait --state l2 --budget 50ms"),
                     0);
    assert_holds("out", "state l2, consumer wait, order learned");
    assert_int_equal(
        sh("\"$UCOPY_TUNE\" bench libc short_tree_gpr_64 --sizes-from mix.csv --order fixed "
           "--budget 50ms && echo 100:1 >mix.csv && \"$UCOPY_TUNE\" bench libc "
           "short_tree_gpr_64 --sizes-from mix.csv --budget 50ms"),
        0);
    assert_holds("err", "short_tree_gpr_64 is left out: it serves 0 to 64 bytes");
}

/* A row a size, code and form; its called form first, with ratio 1 to itself. */
static void inline_rows_are_whole(const char *name, size_t rows, const char *const *copy,
                                  size_t copies)
{
    static const char *const form[] = {"called", "inline", "checked"};
    char *text = slurp(name), *save, *line = strtok_r(text, "\n", &save);
    size_t n = 0;

    for (int i = 0; i < 3; i++, line = strtok_r(NULL, "\n", &save))
        assert_int_equal(*line, '#');
    assert_non_null(strstr(line, "site  dispatch  strategy"));
    while ((line = strtok_r(NULL, "\n", &save))) {
        char strategy[60], code[10], word[10];
        size_t size;
        double ns, ratio, lo, hi;
        long site, dispatch, once;
        int end = 0;
        if (sscanf(line, "%zu %59[^ ] %9s %9s %lf %lf %lf to %lf %ld %ld %ld%n", &size, strategy,
                   code, word, &ns, &ratio, &lo, &hi, &site, &dispatch, &once, &end) != 11 ||
            line[end])
            fail_msg("no row: %s", line);
        assert_string_equal(strategy, copy[n / 6 % copies]);
        assert_string_equal(code, n / 3 % 2 ? "cold" : "warm");
        assert_string_equal(word, form[n % 3]);
        assert_true(n % 3 || ratio == 1);
        assert_true(ns >= 0 && lo <= ratio && ratio <= hi);
        assert_true(site > 0 && dispatch >= 0 && once >= 0);
        bool inlined = n % 3 == 1;
        assert_int_equal(dispatch > 0, !inlined && strstr(strategy, "short_"));
        assert_int_equal(once > 0, !inlined && !strstr(strategy, "short_"));
        n++;
    }
    assert_int_equal(n, rows);
    free(text);
}

static void bench_tells_inline_from_called(void **state)
{
    static const char *const two[] = {"short_tree_gpr_64", "unrolled"};

    if (system("cc --version >/dev/null 2>&1") != 0)
        skip();
    /* the same copy named twice is one */
    assert_int_equal(sh("\"$UCOPY_TUNE\" bench short_tree_gpr_64 unrolled unrolled --inline "
                        "--size 0,9,64 --budget 50ms"),
                     0);
    inline_rows_are_whole("out", 3 * 2 * 2 * 3, two, 2);
    assert_int_equal(sh("\"$UCOPY_TUNE\" bench short_tree_gpr_64 unrolled --inline --consumer wait "
                        "--size 8 --budget 50ms --format csv && cp out cells.csv && "
                        "\"$UCOPY_TUNE\" fit cells.csv"),
                     0);
    assert_int_equal(lines("cells.csv"), 2 + 2 * 2 * 3);
    assert_holds("cells.csv", "consumer,form,code,mapping_spread,code_bytes,n\n");
    assert_holds("cells.csv", ",wait,checked,cold,");
    /* a header, built twice */
    assert_int_equal(sh("\"$UCOPY_TUNE\" bench --inline --size 64,100k --budget 50ms "
                        "--header \"$(ls \"$UCOPY_SOURCE\"/profiles/*.h | head -n 1)\""),
                     0);
    assert_holds("out", " native ");
    assert_holds("out", " baseline ");
    assert_int_equal(lines("out"), 4 + 2 * 2 * 2 * 3);
    /* of a mix, as before, one form */
    assert_int_equal(sh("echo 8:1 >mix.csv; \"$UCOPY_TUNE\" bench unrolled --inline --sizes-from "
                        "mix.csv --budget 50ms"),
                     0);
    assert_holds("out", "unrolled                             inline ");
}

/* Peers and headers of one name are told apart; under evict a header's nocache is timed. */
static void bench_tells_its_subjects_apart(void **state)
{
    assert_int_equal(sh("\"$UCOPY_TUNE\" bench libc --size 64 --budget 50ms --format csv "
                        "--peer libc.so.6 --peer libc.so.6:memmove --peer libc.so.6:memcpy "
                        "--header \"$(ls \"$UCOPY_SOURCE\"/profiles/*.h | head -n 1)\" "
                        "--header \"$(ls \"$UCOPY_SOURCE\"/profiles/*.h | head -n 1)\""),
                     0);
    assert_holds("out", "\nlibc.so.6,64,");
    assert_holds("out", "\nlibc.so.6#2,64,");
    assert_holds("out", "\nlibc.so.6:memmove,64,");
    assert_holds("out", " called,64,");
    assert_holds("out", " called#2,64,");
    assert_holds("out", " inlined#2,64,");
    assert_int_equal(lines("out"), 10);
    assert_int_equal(sh("\"$UCOPY_TUNE\" bench libc --size 4k,2M --budget 50ms --format csv "
                        "--consumer evict "
                        "--header \"$(ls \"$UCOPY_SOURCE\"/profiles/*.h | head -n 1)\""),
                     0);
    assert_holds("out", "_nocache called,4096,");
    assert_holds("out", "_nocache inlined,2097152,");
    assert_int_equal(lines("out"), 8);
}

/* On one CPU, without a topology to read, and with few files. */
static void hostile_boxes_are_served(void **state)
{
    assert_int_equal(sh("taskset -c 0 \"$UCOPY_TUNE\" bench libc --size 64 --budget 50ms"), 0);
    assert_int_equal(sh("mkdir -p empty; HWLOC_FSROOT=$PWD/empty \"$UCOPY_TUNE\" bench libc --size "
                        "64 --budget 50ms"),
                     0);
    assert_int_equal(sh("ulimit -n 16; \"$UCOPY_TUNE\" bench libc --size 64 --budget 50ms --events "
                        "perf::CYCLES"),
                     0);
}

/* ---- JSON ---- */

static json_t *bench_json(const char *arguments)
{
    json_error_t e;

    assert_int_equal(
        sh("\"$UCOPY_TUNE\" bench --format json --budget 50ms %s >json 2>told", arguments), 0);
    char *text = slurp("json");
    json_t *root = json_loads(text, 0, &e);
    if (!root)
        fail_msg("%s: %s in %s", arguments, e.text, text);
    free(text);
    assert_string_equal(json_string_value(json_object_get(root, "tool")), "ucopy-tune " UC_VERSION);
    assert_string_equal(json_string_value(json_object_get(root, "unit")), "ns");
    return root;
}

/* Each row has all members, its figures in order; mid is the interval's inside. */
static size_t whole_rows(const json_t *root, const char *ratio)
{
    const json_t *rows = json_object_get(root, "rows"), *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        double ns = json_number_value(json_object_get(row, "ns"));
        const json_t *r = json_object_get(row, ratio);
        assert_int_equal(json_object_size(row), 14);
        assert_true(ns > 0 && json_number_value(json_object_get(row, "lo")) <= ns &&
                    ns <= json_number_value(json_object_get(row, "hi")));
        assert_int_equal(json_array_size(r), 3);
        assert_true(
            json_number_value(json_array_get(r, 1)) <= json_number_value(json_array_get(r, 0)) &&
            json_number_value(json_array_get(r, 0)) <= json_number_value(json_array_get(r, 2)));
    }
    return json_array_size(rows);
}

static void bench_answers_in_json(void **state)
{
    json_t *root = bench_json("libc unrolled --size 64,4k --state l2");
    assert_int_equal(whole_rows(root, "times_as_fast"), 4);
    assert_string_equal(json_string_value(json_object_get(root, "state")), "l2");
    assert_int_equal(json_integer_value(json_object_get(root, "threads")), 1);
    assert_true(json_is_null(json_object_get(root, "mix")));
    assert_true(json_is_null(json_object_get(root, "slopes")));
    json_decref(root);

    root = bench_json("unrolled rep_movsb --slopes --size 64,128,256");
    assert_int_equal(whole_rows(root, "times_as_fast"), 6);
    json_t *slopes = json_object_get(json_object_get(root, "slopes"), "strategies");
    assert_true(json_is_object(json_object_get(json_object_get(slopes, "unrolled"), "l1")));
    json_decref(root);

    assert_int_equal(sh("echo 8:0.5,1M:0.2,64M:0.3 >mix.csv"), 0);
    root = bench_json("libc unrolled --sizes-from mix.csv --consumer read --order learned");
    assert_in_range(whole_rows(root, "times_as_fast"), 1, 4); /* a disturbed reading is dropped */
    json_t *mix = json_object_get(root, "mix"), *larger = json_object_get(mix, "larger");
    assert_string_equal(json_string_value(json_object_get(mix, "order")), "learned");
    assert_true(json_number_value(json_object_get(larger, "share")) == .2);
    assert_int_equal(json_integer_value(json_object_get(larger, "from")), 1 << 20);
    assert_true(json_number_value(json_object_get(mix, "not_replayed")) == .3);
    json_decref(root);

    if (system("cc --version >/dev/null 2>&1") != 0)
        return;
    root = bench_json("short_tree_gpr_64 --inline --size 8");
    assert_int_equal(whole_rows(root, "over_called"), 2 * 3);
    json_t *code = json_object_get(json_array_get(json_object_get(root, "rows"), 0), "code_bytes");
    assert_true(json_integer_value(json_object_get(code, "site")) > 0);
    json_decref(root);
}

/* CSV behind its rows, since its first line names the columns. */
static void a_table_names_its_version(void **state)
{
    assert_int_equal(sh("\"$UCOPY_TUNE\" bench libc --size 64 --budget 50ms | head -n 1 >first; "
                        "\"$UCOPY_TUNE\" bench libc --size 64 --budget 50ms --format csv | "
                        "tail -n 1 >last"),
                     0);
    assert_holds("first", "# ucopy-tune " UC_VERSION "\n");
    assert_holds("last", "# ucopy-tune " UC_VERSION "\n");
}

/* libc is there once. */
static void bench_tells_the_place_of_the_code(void **state)
{
    assert_int_equal(sh("\"$UCOPY_TUNE\" bench rep_movsb libc --placements --size 64,128 "
                        "--budget 50ms"),
                     0);
    assert_holds("out",
                 "\n# cost with the code 48 bytes behind a line of 64, over that with it at one\n"
                 "      size  strategy                          ratio\n"
                 "        64  rep_movsb ");
    assert_holds("out", "\n       128  rep_movsb ");
    assert_int_equal(lines("out"), 10); /* the first names the version */
}

/* Skipped where the test itself may use one core alone; on one core each says why it cannot. */
static void bench_uses_other_cores(void **state)
{
    assert_int_equal(sh("taskset -c 0 \"$UCOPY_TUNE\" bench libc --size 64 --state other_core"), 3);
    assert_holds("err", "--state other_core: this process may use one core alone");
    assert_int_equal(sh("taskset -c 0 \"$UCOPY_TUNE\" bench libc --size 64 --threads all"), 3);
    assert_holds("err", "--threads all: this process may use one core alone");
    assert_int_equal(sh("taskset -c 0 \"$UCOPY_TUNE\" bench libc --size 64 --threads 2"), 3);
    assert_holds("err", "--threads 2: this process may use 1 core\n");
    if (sh("\"$UCOPY_TUNE\" bench libc rep_movsb --size 64,2M --threads all --budget 50ms "
           "--format csv && cp out c.csv") == 3)
        skip();
    assert_int_equal(sh("\"$UCOPY_TUNE\" fit c.csv"), 1);
    assert_int_equal(
        sh("\"$UCOPY_TUNE\" fit c.csv --threads $(awk -F, 'NR==1 {for (i = 1; i <= NF; "
           "i++) if ($i == \"threads\") t = i} NR==2 {print $t}' c.csv)"),
        0);
    assert_holds("out", "rep_movsb");
    assert_int_equal(sh("\"$UCOPY_TUNE\" bench libc --size 64,4k --state other_core --budget 50ms "
                        "--format csv"),
                     0);
    assert_holds("out", ",other_core,");
    assert_int_equal(lines("out"), 4); /* the last names the version */
}

static void bench_tells_slopes(void **state)
{
    assert_int_equal(sh("\"$UCOPY_TUNE\" bench rep_movsb libc --slopes --size 64,128,256,24k "
                        "--budget 50ms >out 2>err && grep -q '^start-up and slope in ns' out && "
                        "test $(grep -c ' l1 .* 3 from 64 to 256$' out) = 2 && "
                        "test $(grep -c 'l2, l3, memory: not measured' out) = 2"),
                     0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tune_writes_header_and_profile, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(a_quick_run_replaces_no_longer_one, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(a_header_of_another_decision_is_noticed, make_dir,
                                        remove_dir),
        cmocka_unit_test_setup_teardown(kernel_without_a_compiler, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(interruption_loses_nothing, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(a_compiler_at_work_is_ended, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(a_proof_is_ended, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(refusals_are_one_line, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(a_foreign_topology_is_not_tuned, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(bench_prints_the_difference, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(bench_tells_the_place_of_the_code, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(bench_uses_other_cores, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(bench_tells_slopes, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(bench_answers_in_json, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(a_table_names_its_version, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(bench_replays_a_mix, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(bench_tells_inline_from_called, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(bench_tells_its_subjects_apart, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(hostile_boxes_are_served, make_dir, remove_dir),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
