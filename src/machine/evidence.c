/* Promises: never fails and never prints; what this machine does not tell is unknown, not 0. */
#include "machine/evidence.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "machine/clock.h"

void uc_evidence_now(struct uc_evidence *e)
{
    struct rusage u;
    getrusage(RUSAGE_THREAD, &u);
    e->switches = u.ru_nvcsw + u.ru_nivcsw;
    e->faults = u.ru_minflt + u.ru_majflt;
    e->cpu = sched_getcpu();
}

/* One "cpuN user nice system idle iowait irq softirq steal ..." line of /proc/stat (proc(5)). */
struct stat_line {
    int pu;
    uint64_t busy;
    uint64_t steal;
};

enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, FIELDS };

/* False for every line that is not of one CPU: "cpu  ..." is the sum of all. Fields that an old
 * kernel lacks (steal came in 2.6.11) count 0. */
static bool parse_line(const char *text, struct stat_line *line)
{
    uint64_t v[FIELDS] = {0};
    int used = 0;
    if (sscanf(text, "cpu%d%n", &line->pu, &used) != 1 || text[3] == ' ')
        return false;
    const char *at = text + used;
    for (int i = 0; i < FIELDS; i++) {
        char *end;
        v[i] = strtoull(at, &end, 10);
        if (end == at)
            break;
        at = end;
    }
    line->busy = v[USER] + v[NICE] + v[SYSTEM] + v[IRQ] + v[SOFTIRQ];
    line->steal = v[STEAL];
    return line->pu >= 0;
}

/* The CPU lines stand first; what follows ("intr") can be hundreds of KiB and is not read. */
static bool next_line(FILE *f, struct stat_line *line)
{
    char text[512];
    while (fgets(text, sizeof(text), f) && !strncmp(text, "cpu", 3))
        if (parse_line(text, line))
            return true;
    return false;
}

static void add_line(struct uc_machine_load *l, const struct stat_line *line, int pu,
                     const cpu_set_t *siblings)
{
    if (line->pu == pu) {
        l->steal = line->steal;
        l->known = true;
        return;
    }
    l->busy_others += line->busy;
    if (siblings && CPU_ISSET(line->pu, siblings)) /* false from CPU_SETSIZE up */
        l->busy_siblings += line->busy;
}

void uc_machine_load_from(struct uc_machine_load *l, const char *path, int pu,
                          const cpu_set_t *siblings)
{
    struct stat_line line;
    memset(l, 0, sizeof(*l));
    l->seconds = uc_seconds();
    FILE *f = fopen(path, "re");
    if (!f)
        return;
    while (next_line(f, &line))
        add_line(l, &line, pu, siblings);
    fclose(f);
}

void uc_machine_load_now(struct uc_machine_load *l, int pu, const cpu_set_t *siblings)
{
    uc_machine_load_from(l, UC_PROC_STAT, pu, siblings);
}

int uc_busy_ticks(const char *path, uint64_t busy[CPU_SETSIZE])
{
    struct stat_line line;
    memset(busy, 0, CPU_SETSIZE * sizeof(*busy));
    FILE *f = fopen(path, "re");
    if (!f)
        return -errno;
    while (next_line(f, &line))
        if (line.pu < CPU_SETSIZE)
            busy[line.pu] = line.busy;
    fclose(f);
    return 0;
}

/* Steal can go back by a tick when a guest is migrated: that reads as none. */
static double share(const struct uc_machine_load *a, const struct uc_machine_load *b, uint64_t from,
                    uint64_t to)
{
    double wall = b->seconds - a->seconds;
    if (!a->known || !b->known || !(wall > 0))
        return -1;
    if (to <= from)
        return 0;
    double part = (double)(to - from) / (double)sysconf(_SC_CLK_TCK) / wall;
    return part < 1 ? part : 1;
}

double uc_steal_share(const struct uc_machine_load *a, const struct uc_machine_load *b)
{
    return share(a, b, a->steal, b->steal);
}

double uc_sibling_share(const struct uc_machine_load *a, const struct uc_machine_load *b)
{
    return share(a, b, a->busy_siblings, b->busy_siblings);
}

/* First line of a file without its newline, "" where there is none. */
static void first_line(const char *path, char *buf, unsigned cap)
{
    buf[0] = '\0';
    FILE *f = fopen(path, "re");
    if (!f)
        return;
    if (!fgets(buf, (int)cap, f))
        buf[0] = '\0';
    buf[strcspn(buf, "\n")] = '\0';
    fclose(f);
}

const char *uc_governor(int pu, char *buf, unsigned cap)
{
    char path[96];
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", pu);
    first_line(path, buf, cap);
    return buf;
}

const char *uc_bracketed(const char *line, char *buf, unsigned cap)
{
    const char *open = strchr(line, '[');
    const char *close = open ? strchr(open, ']') : NULL;
    buf[0] = '\0';
    if (close)
        snprintf(buf, cap, "%.*s", (int)(close - open - 1), open + 1);
    return buf;
}

const char *uc_thp_mode(char *buf, unsigned cap)
{
    char line[128];
    first_line("/sys/kernel/mm/transparent_hugepage/enabled", line, sizeof(line));
    return uc_bracketed(line, buf, cap);
}
