/* The built program on hostile boxes: counters refused, memory short, its CPU taken away, a
 * strategy that the CPU cannot execute; and stopped, killed or robbed of its folder at any moment,
 * after which the old files are whole, or the new ones are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "base/rng.h"
#include "tests/perf_filter.h"
#include "tests/program.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

/* The shortest run that there is. Without a compiler it says so, in the one line that is allowed.
 */
#define ARGUMENTS "tune --quick --budget 100ms --environment kernel --consumer none --renew "
#define TUNE "CC=/nowhere/cc exec \"$UCOPY_TUNE\" " ARGUMENTS

/* With little memory the caches are measured up to 4 MiB only, which saves half a second a run. */
static void limit_memory(void)
{
#ifndef __SANITIZE_ADDRESS__ /* its shadow needs more */
    struct rlimit limit = {80 << 20, 80 << 20};
    setrlimit(RLIMIT_AS, &limit);
#endif
}

/* A command of the shell in the test's folder, in a process group of its own, under a limit of
 * errno where that is not 0. It ends with the test. */
static pid_t begin(int perf_errno, const char *command)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid)
        return pid;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    limit_memory();
    if (perf_errno && filter_perf_event_open(perf_errno))
        _exit(77);
    if (!chdir(dir))
        execl("/bin/sh", "sh", "-c", command, NULL);
    _exit(127);
}

static int end(pid_t pid)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* What a run told, less what another user of the machine and the missing compiler make it tell,
 * into the file "left". */
static void filter_told(void)
{
    assert_int_equal(sh("sed '/waiting for another timed run/d; /: warning: no compiler/d; "
                        "/: warning: self-test: /d' told >left"),
                     0);
}

static void must_run(pid_t pid)
{
    if (waitpid(pid, NULL, WNOHANG) == pid)
        fail_msg("it ended before it was disturbed");
    usleep(2000);
}

static void fail_with(const char *file, const char *what, int code)
{
    char *err = slurp(file);
    fail_msg("%s: exit code %d, stderr:\n%s", what, code, err);
}

/* ---- counters ---- */

static void refused_counters_are_one_line(void **state)
{
    static const int refusal[] = {EACCES,     EPERM,  ENOENT, EINVAL, EMFILE,
                                  EOPNOTSUPP, ENOSYS, EBUSY,  ENODEV};

    for (size_t i = 0; i < sizeof(refusal) / sizeof(refusal[0]); i++) {
        int code = end(begin(refusal[i],
                             "exec \"$UCOPY_TUNE\" bench libc --size 64 --budget 10ms --events "
                             "perf::TASK-CLOCK >table 2>told"));
        if (code == 77)
            skip(); /* no filter may be set here */
        filter_told();
        char *err = slurp("left");
        bool unknown = strstr(err, "libpfm4 knows no such event");
        if (code || lines("left") != 1 || !strstr(err, "no counters: ") ||
            !(unknown || strstr(err, strerror(refusal[i]))))
            fail_with("left", strerror(refusal[i]), code);
        assert_holds("table", "\n        64 ");
        free(err);
        if (unknown)
            skip(); /* this kernel has no perf events at all */
    }
}

/* ---- memory ---- */

/* Done, or one line that says why not; 127 is the loader's own. */
static void check_short_of_memory(const char *words, unsigned kib)
{
    char command[400];

    snprintf(command, sizeof(command),
             "ulimit -v %u; CC=/nowhere/cc exec \"$UCOPY_TUNE\" %s >table 2>told", kib, words);
    int code = end(begin(0, command));
    int errors = sh("exit $(grep -c 'ucopy-tune: error: ' told)");
    if ((code != 0 && code != 3 && code != 127) || errors != (code == 3))
        fail_with("told", command, code);
}

static void little_memory(void **state)
{
#ifdef __SANITIZE_ADDRESS__ /* its shadow needs more than any of these */
    skip();
#endif
    static const char *const words[] = {"list --format json", "fit c.csv",
                                        "fit c.csv --format json", "stats s.csv", "emit in/p.json"};

    for (unsigned kib = 7000; kib <= 9000; kib += 500)
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
            check_short_of_memory(words[i], kib);
    check_short_of_memory(ARGUMENTS, 16000);
}

/* ---- the CPU taken away ---- */

static bool has_lock(pid_t pid)
{
    char path[300], to[64];
    bool found = false;

    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    DIR *d = opendir(path);
    for (struct dirent *e; d && !found && (e = readdir(d));) {
        snprintf(path, sizeof(path), "/proc/%d/fd/%s", (int)pid, e->d_name);
        ssize_t n = readlink(path, to, sizeof(to) - 1);
        to[n > 0 ? n : 0] = 0;
        found = !strcmp(to, "/tmp/ucopy-tune.lock");
    }
    if (d)
        closedir(d);
    return found;
}

/* Until it holds the machine's lock and is bound: from there on it measures. The CPU. */
static int wait_until_bound(pid_t pid)
{
    cpu_set_t mask;
    int pu = 0;

    do {
        must_run(pid);
        CPU_ZERO(&mask);
    } while (!has_lock(pid) || sched_getaffinity(pid, sizeof(mask), &mask) ||
             CPU_COUNT(&mask) != 1);
    while (!CPU_ISSET(pu, &mask))
        pu++;
    return pu;
}

/* Until a run that tells its stages (-v) is past the one so named. */
static void wait_until_past(pid_t pid, const char *stage)
{
    bool past = false;

    while (!past) {
        must_run(pid);
        char *told = slurp("told");
        past = strstr(told, stage) != NULL;
        free(told);
    }
}

static void a_cpu_taken_away_ends_the_run(void **state)
{
    cpu_set_t mine, other;
    int to = 0;
    char words[120];

    assert_int_equal(sched_getaffinity(0, sizeof(mine), &mine), 0);
    if (CPU_COUNT(&mine) < 2)
        skip();
    pid_t pid = begin(0, TUNE "-v -o . >table 2>told");
    int from = wait_until_bound(pid);
    wait_until_past(pid, "ucopy-tune: check: ");
    while (!CPU_ISSET(to, &mine) || to == from)
        to++;
    CPU_ZERO(&other);
    CPU_SET(to, &other);
    assert_int_equal(sched_setaffinity(pid, sizeof(other), &other), 0);
    int code = end(pid);
    snprintf(words, sizeof(words),
             "error: CPU %d was taken from this process while it measured (it may now use %d)\n",
             from, to);
    char *err = slurp("told");
    if (code != 3 || !strstr(err, words) || !strstr(err, "--resume goes on with them"))
        fail_with("told", "CPU taken away", code);
    free(err);
    assert_int_equal(lines("table"), 0);
    assert_null(only(".h"));
    assert_null(only(".json"));
}

/* ---- an instruction that the CPU does not have ---- */

/* The place in the program's file of a function, by its symbol table; 0: not there. */
static size_t offset_of(const char *image, size_t n, const char *symbol)
{
    const Elf64_Ehdr *e = (const void *)image;
    const Elf64_Shdr *s = (const void *)(image + e->e_shoff);

    if (n < sizeof(*e) || e->e_shoff + e->e_shnum * sizeof(*s) > n)
        return 0;
    for (size_t i = 0; i < e->e_shnum; i++) {
        const Elf64_Sym *sym = (const void *)(image + s[i].sh_offset);
        for (size_t k = 0; s[i].sh_type == SHT_SYMTAB && k < s[i].sh_size / sizeof(*sym); k++) {
            const Elf64_Shdr *in = &s[sym[k].st_shndx < e->e_shnum ? sym[k].st_shndx : 0];
            if (!strcmp(image + s[s[i].sh_link].sh_offset + sym[k].st_name, symbol))
                return sym[k].st_value - in->sh_addr + in->sh_offset;
        }
    }
    return 0;
}

/* A copy of the program whose called_rep_movsb begins with ud2. */
static bool write_broken_program(void)
{
    char path[100], *image;
    size_t n;

    assert_int_equal(uc_read_file(getenv("UCOPY_TUNE"), 256 << 20, &image, &n), 0);
    size_t at = offset_of(image, n, "called_rep_movsb");
    snprintf(path, sizeof(path), "%s/broken", dir);
    if (at) {
        memcpy(image + at, "\x0f\x0b", 2);
        assert_int_equal(uc_write_file(path, image, n), 0);
        assert_int_equal(chmod(path, 0700), 0);
    }
    free(image);
    return at;
}

/* Header and profile are of one run, and that run was whole. */
static void files_are_whole(void)
{
    char *header = only(".h"), *json = only(".json"), path[300];

    assert_non_null(header);
    assert_non_null(json);
    snprintf(path, sizeof(path), "%s/%s", dir, json);
    json_t *p = json_load_file(path, 0, NULL);
    assert_true(json_is_true(json_object_get(p, "complete")));
    json_decref(p);
    assert_int_equal(sh("\"$UCOPY_TUNE\" emit %s >emitted && cmp emitted %s", json, header), 0);
    free(header);
    free(json);
}

/* Two runs at once in one folder: the second waits for the first. The first has a strategy that the
 * CPU does not execute: it survives, says so, and does not choose it. */
static void two_runs_at_once_and_one_of_them_broken(void **state)
{
    if (!write_broken_program())
        skip(); /* the program was stripped */
    pid_t first = begin(0, "CC=/nowhere/cc exec ./broken " ARGUMENTS ">table 2>told");
    wait_until_bound(first);
    pid_t second = begin(0, TUNE ">table2 2>told2");
    while (!has_lock(second))
        must_run(second);
    assert_int_equal(kill(second, SIGSTOP), 0);
    int code = end(first);
    if (code != 1)
        fail_with("told", "a strategy that raises SIGILL", code);
    filter_told();
    assert_holds("left", "error: rep_movsb fails its check and is left out: SIGILL (size ");
    assert_int_equal(lines("left"), 1);
    files_are_whole();
    assert_int_equal(sh("! grep -q '\"rep_movsb\"' *.json"), 0);
    assert_int_equal(kill(second, SIGCONT), 0);
    assert_int_equal(end(second), 0);
    assert_holds("told2", "waiting for another timed run");
    assert_int_equal(sh("grep -q '\"rep_movsb\"' *.json"), 0);
    files_are_whole();
}

/* ---- stopped at any moment ---- */

static bool catches(pid_t pid, int sig)
{
    char path[64], *text, *at;
    bool yes = false;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    if (uc_read_file(path, 1 << 16, &text, NULL))
        return false;
    at = strstr(text, "SigCgt:");
    if (at)
        yes = strtoull(at + 7, NULL, 16) >> (sig - 1) & 1;
    free(text);
    return yes;
}

static void sleep_from_to(struct uc_rng *rng, double from, double to)
{
    double s = from + (to - from) * uc_rng_unit(rng);
    struct timespec t = {(time_t)s, (long)(1e9 * (s - (double)(time_t)s))};
    nanosleep(&t, NULL);
}

static bool old_file(const char *end_of_name)
{
    return sh("cmp -s *%s old/*%s", end_of_name, end_of_name) == 0;
}

static void check_stopped(int sig, int code)
{
    bool old = old_file(".h") && old_file(".json");

    if (!code || (code == 128 + SIGKILL && !old)) {
        files_are_whole(); /* it was done before */
        assert_int_equal(sh("cp *.h *.json old"), 0);
        return;
    }
    assert_int_equal(code, 128 + sig);
    assert_true(old);
    if (sig == SIGKILL)
        return;
    filter_told();
    assert_int_equal(lines("left"), 1);
    assert_holds("left", "ucopy-tune: error: interrupted: ");
}

/* From the moment at which it has its handlers, some milliseconds after its start, to its end. */
static void stopped_at_any_moment(void **state)
{
    static const struct {
        int sig;
        double from, to; /* seconds; a run takes 1.4 or more */
    } row[] = {{SIGINT, 0, 0.002}, {SIGTERM, 0, 0.4}, {SIGINT, 0.2, 1.5}, {SIGKILL, 0.4, 1.6}};
    struct uc_rng rng = {(uint64_t)time(NULL)};

    if (!only(".json"))
        skip(); /* the test before has made none */
    assert_int_equal(sh("mkdir old && cp *.h *.json old"), 0);
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        pid_t pid = begin(0, TUNE ">table 2>told");
        while (!catches(pid, SIGINT) || !catches(pid, SIGTERM))
            must_run(pid);
        sleep_from_to(&rng, row[i].from, row[i].to);
        kill(-pid, row[i].sig); /* as the terminal does, to all of its processes */
        check_stopped(row[i].sig, end(pid));
    }
}

/* ---- where files cannot be written ---- */

static void a_folder_removed_leaves_the_summary(void **state)
{
    assert_int_equal(sh("mkdir gone"), 0);
    pid_t pid = begin(0, TUNE "-o gone >table 2>told");
    wait_until_bound(pid);
    assert_int_equal(sh("rm -r gone"), 0);
    assert_int_equal(end(pid), 3);
    filter_told();
    assert_int_equal(lines("left"), 1);
    assert_holds("left", "error: cannot write gone/");
    assert_holds("left", ": No such file or directory");
    assert_holds("table", "\ncopy (dst used soon)");
    assert_holds("table", "\nRegret on fresh readings");
    assert_int_equal(sh("! grep -q Wrote table"), 0);
}

static void full_devices_are_told_with_the_reason(void **state)
{
    static const char *const command[] = {"emit in/p.json >/dev/full",
                                          "emit in/p.json --format json >/dev/full",
                                          "emit in/p.json -o /dev/full",
                                          "fit c.csv --format c >/dev/full",
                                          "stats s.csv --format json >/dev/full",
                                          "list --format json >/dev/full"};

    for (size_t i = 0; i < sizeof(command) / sizeof(command[0]); i++) {
        int code = sh("\"$UCOPY_TUNE\" %s", command[i]);
        if (code != 3 || lines("err") != 1)
            fail_with("err", command[i], code);
        assert_holds("err", "No space left on device");
    }
}

/* For root there is no such folder, so that somebody else is asked. */
static void a_read_only_folder_is_told_at_once(void **state)
{
    static const char nobody[] = "setpriv --reuid 65534 --regid 65534 --clear-groups";
    const char *as = geteuid() ? "" : nobody;

    assert_int_equal(sh("mkdir locked && chmod 555 locked && chmod 755 ."), 0);
    if (sh("%s \"$UCOPY_TUNE\" --version", as))
        skip(); /* no setpriv, or a program that nobody else may execute */
    assert_int_equal(sh("%s \"$UCOPY_TUNE\" " ARGUMENTS "-o locked", as), 3);
    assert_int_equal(lines("err"), 1);
    assert_holds("err", "error: cannot write into locked: Permission denied");
}

/* A table, samples and a profile, for the commands that read them. */
static int make_files(void **state)
{
    return make_dir(state) ||
           sh("printf 'strategy,size,ns\\nunrolled,1,2\\nrep_movsb,1,3\\nunrolled,2,3\\n"
              "rep_movsb,2,2\\n' >c.csv; for r in row $(seq 60); do echo $r,$(seq -s, 200); done >s.csv;"
              "mkdir in; \"$UCOPY_TUNE\" fit c.csv --format json --key amd-1a-02 >in/p.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_counters_are_one_line),
        cmocka_unit_test(a_cpu_taken_away_ends_the_run),
        cmocka_unit_test(two_runs_at_once_and_one_of_them_broken),
        cmocka_unit_test(stopped_at_any_moment),
        cmocka_unit_test(a_folder_removed_leaves_the_summary),
        cmocka_unit_test(full_devices_are_told_with_the_reason),
        cmocka_unit_test(a_read_only_folder_is_told_at_once),
        cmocka_unit_test(little_memory),
    };
    return cmocka_run_group_tests(tests, make_files, remove_dir);
}
