/* The built program as its users meet it: exit codes, one line an error, data on stdout and nothing
 * else there. The program is named by the variable UCOPY_TUNE. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "strategies/registry.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define MAX_WORDS 16

static const char *const commands[] = {"tune",     "list",   "info",    "bench", "fit",
                                       "stats",    "verify", "compare", "merge", "emit",
                                       "syscalls", "report", "plot"};

struct result {
    int code; /* exit code, or 128 and the signal */
    char *out, *err;
};

/* How the program is started, beside its arguments. */
struct setting {
    const char *stdout_to; /* NULL: a file that is read back; "-": closed */
    const char *variable, *value;
};

static char dir[] = "/tmp/ucopy-cli-XXXXXX";
static char out_path[64], err_path[64];

static int make_dir(void **state)
{
    if (!getenv("UCOPY_TUNE")) {
        fputs("# UCOPY_TUNE does not name the program\n", stderr);
        return -1;
    }
    if (!mkdtemp(dir))
        return -1;
    snprintf(out_path, sizeof(out_path), "%s/out", dir);
    snprintf(err_path, sizeof(err_path), "%s/err", dir);
    return 0;
}

static int remove_dir(void **state)
{
    unlink(out_path);
    unlink(err_path);
    return rmdir(dir);
}

static void redirect(int to, const char *path)
{
    int fd;

    if (!strcmp(path, "-")) {
        close(to);
        return;
    }
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || dup2(fd, to) != to)
        _exit(126);
    close(fd);
}

static void start(const struct setting *s, const char *words)
{
    char *argv[MAX_WORDS + 2], *copy = strdup(words), *rest = copy;
    int n = 0;

    argv[n++] = getenv("UCOPY_TUNE");
    while (copy && n <= MAX_WORDS && (argv[n] = strsep(&rest, " ")))
        n += *argv[n] != 0;
    argv[n] = NULL;
    unsetenv("UCOPY_DISABLE_ISA");
    if (s->variable)
        setenv(s->variable, s->value, 1);
    redirect(STDERR_FILENO, err_path);
    redirect(STDOUT_FILENO, s->stdout_to ? s->stdout_to : out_path);
    if (!chdir(dir))
        execv(argv[0], argv);
    _exit(127);
}

/* Another user of the machine may be at it: that is said, and no part of the answer. */
static void drop_waiting(char *err)
{
    char *line = strstr(err, "ucopy-tune: waiting for another timed run");

    if (line)
        memmove(line, strchr(line, '\n') + 1, strlen(strchr(line, '\n')));
}

/* Words are separated by blanks; '' stands for none. */
static struct result run_with(const struct setting *s, const char *words)
{
    struct result r = {0};
    int status;
    pid_t child;

    unlink(out_path);
    child = fork();
    if (!child)
        start(s, words);
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    r.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    assert_int_equal(uc_read_file(err_path, 1 << 20, &r.err, NULL), 0);
    drop_waiting(r.err);
    if (uc_read_file(out_path, 1 << 24, &r.out, NULL))
        r.out = strdup("");
    assert_non_null(r.out);
    return r;
}

static struct result run(const char *words)
{
    return run_with(&(struct setting){0}, words);
}

static void release(struct result *r)
{
    free(r->out);
    free(r->err);
}

static void check(bool right, const char *words, const struct result *r, const char *what)
{
    if (!right)
        fail_msg("`ucopy-tune %s`: %s\ncode: %d\nstdout: %.400s\nstderr: %.800s", words, what,
                 r->code, r->out, r->err);
}

/* One line that begins with the program's name and holds the needle; nothing on stdout. */
static void check_refusal(const struct result *r, const char *words, int code, const char *needle)
{
    static const char start_of_line[] = "ucopy-tune: error: ";
    const char *end = strchr(r->err, '\n');

    check(r->code == code, words, r, "wrong exit code");
    check(!*r->out, words, r, "something on stdout");
    check(!strncmp(r->err, start_of_line, strlen(start_of_line)), words, r, "no error line");
    check(end && !end[1], words, r, "not one line");
    check(strstr(r->err, needle) != NULL, words, r, needle);
}

static void refused(const char *words, int code, const char *needle)
{
    struct result r = run(words);

    check_refusal(&r, words, code, needle);
    release(&r);
}

static void help_lists_every_command(void **state)
{
    struct result r = run("--help");

    check(!r.code && !*r.err, "--help", &r, "failed");
    for (size_t i = 0; i < COUNT(commands); i++) {
        char line[32];
        snprintf(line, sizeof(line), "\n  %s ", commands[i]);
        check(strstr(r.out, line) != NULL, "--help", &r, commands[i]);
    }
    release(&r);
}

static void each_help_is_data_with_an_example(void **state)
{
    for (size_t i = 0; i < COUNT(commands); i++) {
        char words[64], example[64];
        snprintf(words, sizeof(words), "%s --help", commands[i]);
        /* tune's own name may be left out. */
        snprintf(example, sizeof(example), "ucopy-tune %s", i ? commands[i] : "");
        struct result r = run(words);
        const char *at = strstr(r.out, "Example");
        check(!r.code && !*r.err, words, &r, "failed");
        check(!strncmp(r.out, "Usage: ", 7), words, &r, "no usage");
        check(strstr(r.out, "--version") != NULL, words, &r, "no options");
        check(at && strstr(at, example), words, &r, "no example");
        release(&r);
    }
}

static void help_stops_the_parsing(void **state)
{
    struct result r = run("list --help --nonsense word");

    check(!r.code && !*r.err && *r.out, "list --help --nonsense word", &r, "went on");
    release(&r);
}

static char *manual(void)
{
    char path[512], *text = NULL, *to;

    assert_non_null(getenv("UCOPY_SOURCE"));
    snprintf(path, sizeof(path), "%s/src/ucopy-tune.1", getenv("UCOPY_SOURCE"));
    assert_int_equal(uc_read_file(path, 1 << 20, &text, NULL), 0);
    to = text;
    for (const char *p = text; *p; p++) /* roff writes \\- for - */
        if (*p != '\\')
            *to++ = *p;
    *to = 0;
    return text;
}

/* Every long option that a help shows is in the manual. */
static void the_manual_knows_every_option(void **state)
{
    char *text = manual();

    for (size_t i = 0; i < COUNT(commands); i++) {
        char words[64];
        snprintf(words, sizeof(words), "%s --help", commands[i]);
        struct result r = run(words);
        for (char *p = strstr(r.out, " --"); p; p = strstr(p, " --")) {
            size_t n = strspn(p + 3, "abcdefghijklmnopqrstuvwxyz0123456789-");
            p[3 + n] = 0;
            check(strstr(text, p + 1) != NULL, words, &r, p + 1);
            p += 3 + n + 1;
        }
        release(&r);
    }
    free(text);
}

/* Help and version stop the parsing where they stand, and nothing is measured. */
static void version_of_program_and_commands(void **state)
{
    static const char *const words[] = {"--version", "-V", "list --version", "tune -qV --nonsense"};

    for (size_t i = 0; i < COUNT(words); i++) {
        struct result r = run(words[i]);
        check(!r.code && !*r.err, words[i], &r, "failed");
        check(!strcmp(r.out, "ucopy-tune " UC_VERSION "\n"), words[i], &r, "wrong version");
        release(&r);
    }
}

static void an_unknown_command_lists_the_known(void **state)
{
    refused(
        "lists", 2,
        "unknown command 'lists' (known: tune, list, info, bench, fit, stats, verify, compare, merge, emit, syscalls, report, plot)");
    refused("tune2 --quick", 2, "unknown command 'tune2'");
}

static void every_command_refuses_an_unknown_option(void **state)
{
    for (size_t i = 0; i < COUNT(commands); i++) {
        char words[64];
        snprintf(words, sizeof(words), "%s --no-such-thing=1", commands[i]);
        refused(words, 2, "unknown option '--no-such-thing=1' (known: --");
        snprintf(words, sizeof(words), "%s -qZ", commands[i]);
        refused(words, 2, "unknown option '-Z' (known: --");
    }
    refused("--no-such-thing", 2, "unknown option '--no-such-thing'");
}

/* Where in argv an option is refused must not matter: behind arguments, in a cluster, as the last.
 */
static void the_refused_option_is_the_one_named(void **state)
{
    static const struct {
        const char *words, *needle;
    } row[] = {
        {"list -q -Zv", "option '-Z'"},
        {"list -Z", "option '-Z'"},
        {"list -v -Z", "option '-Z'"},
        {"list word -Zq", "option '-Z'"},
        {"list word -Z --format json", "option '-Z'"},
        {"list --format text -Z", "option '-Z'"},
        {"list --quiet=3", "option '--quiet' takes no value, given '3'"},
        {"list --format", "option '--format' needs a value"},
        {"list --form", "option '--format' needs a value"},
        {"list --ver", "'--ver' is short for more than one"},
        {"tune --core", "option '--core' needs a value"},
        {"tune -o", "option '-o' needs a value"},
        {"tune -qo", "option '-o' needs a value"},
    };

    for (size_t i = 0; i < COUNT(row); i++)
        refused(row[i].words, 2, row[i].needle);
}

static void values_are_read_strictly(void **state)
{
    static const struct {
        const char *words, *needle;
    } row[] = {
        {"tune --core x", "--core: 'x'"},
        {"tune --core -1", "--core: '-1'"},
        {"tune --core 1x", "--core: '1x'"},
        {"tune --core 99999", "--core: '99999'"},
        {"tune --core=", "--core: ''"},
        {"tune --seed 1.5", "--seed: '1.5'"},
        {"tune --seed 99999999999999999999", "--seed: '99999999999999999999'"},
        {"tune --budget 0", "--budget: '0'"},
        {"tune --budget 10h", "--budget: '10h'"},
        {"tune --budget nan", "--budget: 'nan'"},
        {"tune --max-segments 0", "--max-segments: '0'"},
        {"tune --max-segments 13", "--max-segments: '13' is not a whole number from 1 to 12"},
        {"tune --output=", "--output: the value is empty"},
        {"info --key Amd-1a", "--key: 'Amd-1a'"},
        {"info --key amd--1a", "--key: 'amd--1a'"},
        {"info --key ../x", "--key: '../x'"},
    };

    for (size_t i = 0; i < COUNT(row); i++)
        refused(row[i].words, 2, row[i].needle);
}

static void unknown_words_list_the_known(void **state)
{
    static const struct {
        const char *words, *needle;
    } row[] = {
        {"tune --environment users", "'users' (known: user, kernel)"},
        {"tune --environment USER", "'USER' (known: user, kernel)"},
        {"tune --consumer red", "'red' (known: none, read, wait, scan, evict)"},
        {"list --format xml", "'xml' (known: text, json)"},
        {"list --disable-isa avx", "'avx' (known: erms, fsrm, sse2, avx2"},
        {"list --disable-isa avx2,", "instruction set ''"},
        {"list --disable-isa avx2,,bmi2", "instruction set ''"},
        {"list --disable-isa avx2,mmx", "'mmx'"},
    };

    for (size_t i = 0; i < COUNT(row); i++)
        refused(row[i].words, 2, row[i].needle);
}

static void an_argument_nobody_wants(void **state)
{
    refused("list rep_movsb", 2, "unexpected argument 'rep_movsb'");
    refused("info word", 2, "unexpected argument 'word'");
    refused("tune word", 2, "unexpected argument 'word'");
}

/* A line needs single sizes, called, dst not read. */
static void slopes_go_with_text_alone(void **state)
{
    refused("bench rep_movsb --slopes --inline", 2, "--slopes: not with --inline");
    refused("bench libc --slopes --consumer read", 2, "--slopes: not with --consumer");
    refused("bench libc --slopes --format csv", 2, "--slopes: not with --format csv");
    refused("bench libc --slopes --sizes-from absent", 2, "--slopes: not with --sizes-from");
}

static void input_files_that_are_missing(void **state)
{
    refused("fit", 2, "fit needs");
    refused("stats", 2, "stats needs");
    refused("emit", 2, "emit needs");
    refused("verify", 2, "verify needs");
    refused("compare", 2, "compare needs");
    refused("report -o x.html", 2, "report needs a PROFILE");
    refused("report x.json", 2, "report needs -o FILE");
    refused("plot -o x.svg", 2, "plot needs a PROFILE");
    refused("plot x.json", 2, "plot needs -o FILE.svg or FILE.png");
    refused("plot x.json -o x.pdf", 2, "x.pdf: the name must end in .svg or .png");
    refused("fit absent.csv", 2, "absent.csv: No such file or directory");
    refused("stats absent.csv", 2, "absent.csv: No such file or directory");
    refused("merge", 2, "merge needs");
    refused("merge absent.json", 2, "absent.json: No such file or directory");
    refused("emit absent.json", 2, "absent.json: No such file or directory");
    refused("verify absent.json", 2, "absent.json: No such file or directory");
    refused("verify absent.h", 2, "absent.h: No such file or directory");
    refused("compare absent.json", 2, "absent.json: No such file or directory");
    refused("info --cpuid absent.txt", 2, "absent.txt: No such file or directory");
}

static void output_that_cannot_be_written(void **state)
{
    static const char *const words[] = {"--help", "--version", "list", "list --format json",
                                        "tune --help"};

    for (size_t i = 0; i < COUNT(words); i++) {
        struct result r = run_with(&(struct setting){.stdout_to = "/dev/full"}, words[i]);
        check_refusal(&r, words[i], 3, "cannot write to stdout");
        release(&r);
        r = run_with(&(struct setting){.stdout_to = "-"}, words[i]);
        check_refusal(&r, words[i], 3, "cannot write to stdout");
        release(&r);
    }
}

/* Tested before anything is measured. Root may write where permissions forbid it, so the folder is
 * one in which the kernel makes no files. */
static void a_folder_that_cannot_be_written(void **state)
{
    refused("tune -o absent/folder", 3, "absent/folder");
    if (!access("/proc/self", F_OK))
        refused("tune -o /proc/self", 3, "/proc/self");
}

static void a_core_outside_the_mask(void **state)
{
    refused("info --core 1023", 2, "--core 1023");
}

/* ---- list ---- */

static json_t *list_json(const struct setting *s, const char *words)
{
    struct result r = run_with(s, words);
    json_error_t error;
    json_t *root = json_loads(r.out, 0, &error);

    check(!r.code && !*r.err, words, &r, "failed");
    check(root != NULL, words, &r, error.text);
    release(&r);
    return root;
}

/* words: " a b ", with a blank around each. */
static bool names_one_of(json_t *list, const char *words)
{
    size_t i;
    json_t *v;

    json_array_foreach(list, i, v)
    {
        char word[48];
        snprintf(word, sizeof(word), " %s ", json_string_value(v));
        if (strstr(words, word))
            return true;
    }
    return false;
}

static void list_has_every_strategy(void **state)
{
    json_t *root = list_json(&(struct setting){0}, "list --format json");
    json_t *rows = json_object_get(root, "strategies");

    assert_int_equal(json_array_size(rows), ucopy_strategy_count);
    for (size_t i = 0; i < ucopy_strategy_count; i++) {
        const struct ucopy_strategy *s = &ucopy_strategies[i];
        json_t *row = json_array_get(rows, i);
        json_t *max = json_object_get(row, "max");
        assert_string_equal(json_string_value(json_object_get(row, "name")), s->name);
        assert_string_equal(json_string_value(json_object_get(row, "role")),
                            ucopy_role_name[s->role]);
        assert_int_equal(json_integer_value(json_object_get(row, "min")), s->min);
        assert_true(json_is_null(max) == (s->max == UCOPY_NO_LIMIT));
        assert_int_equal(json_array_size(json_object_get(row, "needs")),
                         __builtin_popcount(s->isa));
        assert_true(json_is_true(json_object_get(row, "usable")) ==
                    json_is_null(json_object_get(row, "why_not")));
    }
    json_decref(root);
}

/* A set that is disabled, and what is built on it, is in no usable row and in isa neither. */
static void check_disabled(const struct setting *s, const char *words, const char *gone)
{
    json_t *root = list_json(s, words), *row;
    size_t i;

    assert_false(names_one_of(json_object_get(root, "isa"), gone));
    json_array_foreach(json_object_get(root, "strategies"), i, row)
    {
        bool usable = json_is_true(json_object_get(row, "usable"));
        bool needs = names_one_of(json_object_get(row, "needs"), gone);
        const char *why = json_string_value(json_object_get(row, "why_not"));
        if (needs && usable)
            fail_msg("`%s`: %s is usable", words, json_string_value(json_object_get(row, "name")));
        if (why && !strstr(why, "disabled") && !strstr(why, "CPUID") && !strstr(why, "OS"))
            fail_msg("`%s`: no reason in '%s'", words, why);
    }
    json_decref(root);
}

static void disabled_sets_are_gone(void **state)
{
    struct setting plain = {0}, bmi2 = {.variable = "UCOPY_DISABLE_ISA", .value = "bmi2"};
    struct setting empty = {.variable = "UCOPY_DISABLE_ISA", .value = ""};
    struct setting wrong = {.variable = "UCOPY_DISABLE_ISA", .value = "bmi3"};
    struct result r;

    check_disabled(&plain, "list --format json --disable-isa avx512", " avx512bw avx512vbmi2 ");
    check_disabled(&plain, "list --format json --disable-isa avx2", " avx2 avx512bw avx512vbmi2 ");
    check_disabled(&plain, "list --format json --disable-isa erms,sse2",
                   " erms sse2 avx2 avx512bw ");
    check_disabled(&bmi2, "list --format json --disable-isa erms", " erms bmi2 avx512bw ");
    json_decref(list_json(&empty, "list --format json"));
    r = run_with(&wrong, "list");
    check_refusal(&r, "list", 2, "UCOPY_DISABLE_ISA: unknown instruction set 'bmi3'");
    release(&r);
}

/* Baseline x86-64 always has SSE2, so with it disabled the reason is ours and must say so. */
static void list_says_why(void **state)
{
    struct result r = run("list --disable-isa sse2");

    check(!r.code && strstr(r.out, "disabled by --disable-isa"), "list", &r, "no reason");
    release(&r);
}

/* The first line of a text, a comment behind the rows of a CSV, a member of an object. */
static void each_answer_names_the_version(void **state)
{
    static const char line[] = "# ucopy-tune " UC_VERSION "\n",
                      member[] = "\"tool\": \"ucopy-tune " UC_VERSION "\"";
    static const char samples[] = "name,a,b\nx,1,2\n", /* the least that each takes */
        cells[] = "strategy,size,ns\nunrolled,1,2\nunrolled,2,3\n";
    static const char *const words[] = {"list", "stats samples.csv", "fit cells.csv",
                                        "compare profile.json"};
    char path[64];

    snprintf(path, sizeof(path), "%s/samples.csv", dir);
    assert_int_equal(uc_write_file(path, samples, strlen(samples)), 0);
    snprintf(path, sizeof(path), "%s/cells.csv", dir);
    assert_int_equal(uc_write_file(path, cells, strlen(cells)), 0);
    struct result r = run("fit cells.csv --format json --key amd-1a-02");
    snprintf(path, sizeof(path), "%s/profile.json", dir);
    assert_int_equal(uc_write_file(path, r.out, strlen(r.out)), 0);
    release(&r);
    for (size_t i = 0; i < COUNT(words); i++) {
        char json[64];
        snprintf(json, sizeof(json), "%s --format json", words[i]);
        r = run(words[i]);
        check(!r.code && !strncmp(r.out, line, strlen(line)), words[i], &r, "no version");
        release(&r);
        r = run(json);
        check(!r.code && strstr(r.out, member), json, &r, "no version");
        release(&r);
    }
    r = run("compare profile.json --format csv");
    size_t n = strlen(r.out), k = strlen(line);
    check(n > k && !strcmp(r.out + n - k, line), "compare --format csv", &r, "no version");
    release(&r);
    static const char *const made[] = {"samples.csv", "cells.csv", "profile.json"};
    for (size_t i = 0; i < COUNT(made); i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, made[i]);
        unlink(path);
    }
}

static void text_is_a_hundred_columns_and_plain(void **state)
{
    struct result r = run("list");

    check(!r.code && *r.out, "list", &r, "failed");
    for (const char *p = r.out; *p; p += strcspn(p, "\n") + 1)
        if (strcspn(p, "\n") > 100)
            fail_msg("%zu columns: %.*s", strcspn(p, "\n"), (int)strcspn(p, "\n"), p);
    check(!strchr(r.out, '\033'), "list", &r, "colour in a file");
    release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_lists_every_command),
        cmocka_unit_test(each_help_is_data_with_an_example),
        cmocka_unit_test(help_stops_the_parsing),
        cmocka_unit_test(the_manual_knows_every_option),
        cmocka_unit_test(version_of_program_and_commands),
        cmocka_unit_test(an_unknown_command_lists_the_known),
        cmocka_unit_test(every_command_refuses_an_unknown_option),
        cmocka_unit_test(the_refused_option_is_the_one_named),
        cmocka_unit_test(values_are_read_strictly),
        cmocka_unit_test(unknown_words_list_the_known),
        cmocka_unit_test(an_argument_nobody_wants),
        cmocka_unit_test(slopes_go_with_text_alone),
        cmocka_unit_test(input_files_that_are_missing),
        cmocka_unit_test(output_that_cannot_be_written),
        cmocka_unit_test(a_folder_that_cannot_be_written),
        cmocka_unit_test(a_core_outside_the_mask),
        cmocka_unit_test(list_has_every_strategy),
        cmocka_unit_test(disabled_sets_are_gone),
        cmocka_unit_test(list_says_why),
        cmocka_unit_test(each_answer_names_the_version),
        cmocka_unit_test(text_is_a_hundred_columns_and_plain),
    };

    return cmocka_run_group_tests_name("cli", tests, make_dir, remove_dir);
}
