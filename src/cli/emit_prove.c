#include "cli/emit_prove.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/msg.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/session.h"
#include "measure/cells.h"
#include "measure/child.h"
#include "measure/sweep.h"

extern char **environ;

#define VARIABLE "GLIBC_TUNABLES"

bool uc_prove_here(const struct uc_profile *p, struct uc_glibc *here, char *why, size_t why_cap)
{
    struct uc_cpu cpu;

    if (!p->has_cpu || uc_cpu_identify(&cpu) || strcmp(cpu.key, p->cpu.key) != 0) {
        snprintf(why, why_cap, "this CPU is not the profile's, %s",
                 p->has_cpu ? p->cpu.key : "which names none");
        return false;
    }
    here->minor = uc_libc_minor();
    if (!here->minor || !uc_libc_limits_read(&here->limits)) {
        snprintf(why, why_cap, "this machine's dynamic linker tells no limits of memcpy");
        return false;
    }
    return true;
}

/* Sizes to 1 MiB with dst not read, the larger ones with all of it read, which is what they are for
 * (stores past the caches make the reader pay). */
static const struct {
    const char *sizes, *consumer;
} part[] = {
    {"1k,1536,2k,2304,3k,4k,6k,8k,12k,16k,24k,32k,48k,64k,128k,256k,512k,1M", "none"},
    {"2M,4M,8M,16M,32M,64M", "scan"},
};
enum { PARTS = 2, TURNS = 5, SIZES = 24 };

struct proof {
    const char *value; /* what VARIABLE is set to */
    size_t size[SIZES];
    size_t n;
    double cost[SIZES][2][TURNS]; /* ns: without and with */
};

/* stdout of this program run again into a file. Its exit code, or a negative errno. */
static int run_again(char *const argv[], const char *output)
{
    posix_spawn_file_actions_t fa;
    pid_t pid;
    int status, rc;

    if (uc_interrupted)
        return -EINTR;
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_addopen(&fa, 1, output, O_WRONLY | O_TRUNC, 0600);
    rc = posix_spawn(&pid, "/proc/self/exe", &fa, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&fa);
    if (rc)
        return -rc;
    rc = uc_child_wait(pid, false, &status);
    bool said = rc == -EINTR && WIFEXITED(status) && WEXITSTATUS(status) > 128;
    if (rc)
        return said ? uc_session_interrupted_code() : rc;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void take(struct proof *f, const struct uc_cells *cells, int with, int turn)
{
    for (size_t i = 0; i < cells->n; i++) {
        size_t at = 0;
        while (at < f->n && f->size[at] != cells->v[i].size)
            at++;
        if (at == SIZES)
            continue;
        f->size[at] = cells->v[i].size;
        f->n += at == f->n;
        f->cost[at][with][turn] = cells->v[i].cost;
    }
}

static int set_line(const struct proof *f, bool with)
{
    return with ? setenv(VARIABLE, f->value, 1) : unsetenv(VARIABLE);
}

static int time_part(struct proof *f, int i, int with, int turn, const char *file)
{
    char seed[24];
    char *argv[] = {"ucopy-tune",
                    "bench",
                    "libc",
                    "--size",
                    (char *)part[i].sizes,
                    "--consumer",
                    (char *)part[i].consumer,
                    "--format",
                    "csv",
                    "--budget",
                    "3s",
                    "--seed",
                    seed,
                    "-q",
                    NULL};
    struct uc_cells cells = {0};
    unsigned line;
    char why[128];

    snprintf(seed, sizeof(seed), "%d", turn + 1); /* the same placements with and without */
    set_line(f, with);
    int rc = run_again(argv, file);
    unsetenv(VARIABLE);
    if (rc > 0)
        return rc; /* it has said why */
    if (rc == -EINTR)
        return uc_session_interrupted();
    if (!rc)
        rc = uc_cells_read_csv(file, &cells, &line, why, sizeof(why));
    if (rc) {
        uc_error("--prove: cannot run bench again: %s", strerror(-rc));
        return UC_EXIT_MACHINE;
    }
    take(f, &cells, with, turn);
    uc_cells_free(&cells);
    return 0;
}

/* Without and with by turns, each first as often as last. */
static int time_all(struct proof *f, const char *file)
{
    int rc = 0;

    for (int turn = 0; turn < TURNS; turn++)
        for (int i = 0; i < PARTS; i++)
            for (int k = 0; k < 2 && !rc; k++) {
                uc_progress("proving", (turn * PARTS + i) / (double)(TURNS * PARTS), -1);
                rc = time_part(f, i, (turn + k) % 2, turn, file);
            }
    uc_progress_end();
    return rc;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The middle ratio of the turns, and the next ones to both sides as its interval. */
static void ratio_of(const struct proof *f, size_t i, double out[3])
{
    double r[TURNS];

    for (int t = 0; t < TURNS; t++)
        r[t] = f->cost[i][0][t] / f->cost[i][1][t];
    qsort(r, TURNS, sizeof(*r), by_value);
    out[0] = r[0];
    out[1] = r[TURNS / 2];
    out[2] = r[TURNS - 1];
}

static double middle(const double *v)
{
    double s[TURNS];

    memcpy(s, v, sizeof(s));
    qsort(s, TURNS, sizeof(*s), by_value);
    return s[TURNS / 2];
}

/* Beyond noise: all turns on one side, by 5 % in the middle. */
static int put_table(const struct proof *f, FILE *out)
{
    char text[UC_SIZE_TEXT], first[UC_SIZE_TEXT] = "", last[UC_SIZE_TEXT];
    double sum = 0;
    int faster = 0, slower = 0;

    fprintf(out,
            "# Proof: bench libc with and without the line, %d times by turns; dst not read to 1 "
            "MiB, all of it read above.\n"
            "# %-10s %12s %12s  %s\n",
            TURNS, "size", "ns without", "ns with", "faster, times (lowest, highest)");
    for (size_t i = 0; i < f->n; i++) {
        double r[3];
        ratio_of(f, i, r);
        bool gains = r[0] > 1 && r[1] > 1.05, loses = r[2] < 1 && r[1] < 1 / 1.05;
        fprintf(out, "# %-10s %12.5g %12.5g  %.2f (%.2f, %.2f)%s\n", uc_size_text(f->size[i], text),
                middle(f->cost[i][0]), middle(f->cost[i][1]), r[1], r[0], r[2],
                gains   ? " faster"
                : loses ? " SLOWER"
                        : "");
        if (gains) {
            sum += log(r[1]);
            snprintf(faster++ ? last : first, UC_SIZE_TEXT, "%s", text);
        }
        slower += loses;
    }
    if (faster > 1)
        fprintf(out,
                "# faster at %d sizes from %s to %s, geometric mean %.2f times; slower at %d\n",
                faster, first, last, exp(sum / faster), slower);
    else
        fprintf(out, "# faster at %d %s; slower at %d\n", faster, faster == 1 ? "size" : "sizes",
                slower);
    return faster && !slower ? UC_EXIT_OK : UC_EXIT_NO;
}

/* Does the library take each value of the line? It ignores what is out of its bounds. */
static bool taken(const struct proof *f)
{
    struct uc_libc_limits now;
    bool ok = true;

    set_line(f, true);
    bool told = uc_libc_limits_read(&now);
    unsetenv(VARIABLE);
    for (const char *at = f->value; told && ok && (at = strstr(at, "_threshold=")); at++) {
        const char *name = at;
        while (name > f->value && name[-1] != ':')
            name--;
        size_t value = strtoull(at + strlen("_threshold="), NULL, 0);
        size_t is = strstr(name, "x86_rep_movsb") == name + strlen("glibc.cpu.") ? now.rep_movsb
                                                                                 : now.non_temporal;
        ok = is == (value > SIZE_MAX >> 5 ? SIZE_MAX : value);
    }
    return told && ok;
}

int uc_prove_line(const char *line, FILE *out)
{
    struct proof *f = calloc(1, sizeof(*f));
    const char *tmp = getenv("TMPDIR");
    char file[256];
    int fd, rc;

    snprintf(file, sizeof(file), "%s/ucopy-tune.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    uc_session_signals(); /* from here on the file is removed whatever ends this */
    fd = f ? mkstemp(file) : -1;
    if (fd < 0) {
        uc_error("--prove: %s", strerror(f ? errno : ENOMEM));
        free(f);
        return UC_EXIT_MACHINE;
    }
    close(fd);
    f->value = strchr(line, '=') + 1;
    if (!taken(f)) {
        uc_error("--prove: this machine's C library does not take %s", line);
        rc = UC_EXIT_NO;
    } else {
        rc = time_all(f, file);
        if (!rc)
            rc = put_table(f, out);
    }
    unlink(file);
    free(f);
    return rc;
}
