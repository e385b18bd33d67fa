#include "cli/session.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/msg.h"
#include "cli/command.h"
#include "measure/company.h"
#include "measure/sweep.h"

static volatile sig_atomic_t caught;

static void on_signal(int sig)
{
    caught = sig;
    uc_interrupted = 1;
}

int uc_session_interrupted_code(void)
{
    return 128 + (caught ? (int)caught : SIGINT);
}

int uc_session_interrupted(void)
{
    uc_error("interrupted: nothing was written");
    return uc_session_interrupted_code();
}

int uc_session_failed(const struct uc_session *s, int rc)
{
    char text[256];
    cpu_set_t now;

    if (rc == -EINTR)
        return uc_session_interrupted();
    if (rc != -EXDEV) {
        uc_error("no memory: %s", strerror(-rc));
        return UC_EXIT_MACHINE;
    }
    if (sched_getaffinity(0, sizeof(now), &now))
        CPU_ZERO(&now);
    uc_error("CPU %d was taken from this process while it measured (it may now use %s)", s->pu,
             uc_cpu_set_text(&now, text, sizeof(text)));
    return UC_EXIT_MACHINE;
}

void uc_session_signals(void)
{
    struct sigaction sa = {.sa_handler = on_signal};

    sigemptyset(&sa.sa_mask);
    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
}

/* Two timed runs on one machine ruin both. The file is shared by all users; where it cannot be
 * opened the run goes on and says so. */
int uc_session_lock(void)
{
    static const char path[] = "/tmp/ucopy-tune.lock";
    mode_t mask = umask(0);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);

    umask(mask);
    if (fd < 0) {
        uc_warn("cannot open the lock file %s (%s): another timed run would go unnoticed", path,
                strerror(errno));
        return -1;
    }
    if (!flock(fd, LOCK_EX | LOCK_NB))
        return fd;
    uc_note("waiting for another timed run on this machine to end");
    while (flock(fd, LOCK_EX) && errno == EINTR && !uc_interrupted)
        ;
    return fd;
}

int uc_session_check_core(const struct uc_topology *t, int wanted)
{
    cpu_set_t usable;
    char text[256];

    uc_topology_usable(t, &usable);
    if (wanted < 0 || (wanted < CPU_SETSIZE && CPU_ISSET(wanted, &usable)))
        return 0;
    uc_error("--core %d: not among the CPUs that this process may use (%s)", wanted,
             uc_cpu_set_text(&usable, text, sizeof(text)));
    return UC_EXIT_USAGE;
}

static int choose_core(struct uc_session *s, const struct uc_options *o)
{
    int rc = uc_topology_choose(s->topology, o->core, &s->pu, &s->pu_why);

    if (!rc)
        rc = uc_topology_pin(s->topology, s->pu);
    if (rc) {
        uc_error("cannot pin to CPU %d: %s", s->pu, strerror(-rc));
        return UC_EXIT_MACHINE;
    }
    return 0;
}

static void warn_caches(const struct uc_caches *c)
{
    static const char *const name[] = {"L1d", "L2", "L3"};
    const struct uc_cache *level[] = {&c->l1d, &c->l2, &c->l3};

    for (int i = 0; i < 3; i++)
        if (level[i]->disagree)
            uc_detail("the sources disagree on %s; %zu bytes by %s are used", name[i],
                      level[i]->bytes, uc_cache_source_name[level[i]->source]);
}

static int read_machine(struct uc_session *s, size_t chase_bytes)
{
    int rc = uc_cpu_identify(&s->cpu);

    if (rc) {
        uc_error("cannot identify this CPU: %s", strerror(-rc));
        return UC_EXIT_MACHINE;
    }
    if (uc_cpu_emulated(&s->cpu))
        uc_warn("the CPU is emulated: times say nothing about any CPU");
    uc_caches_read(&s->caches, &s->cpu, s->topology, s->pu);
    if (chase_bytes && uc_caches_measure(&s->caches, chase_bytes))
        uc_warn("no memory to measure the caches: what CPUID and the OS say is used unmeasured");
    uc_caches_choose(&s->caches);
    warn_caches(&s->caches);
    rc = uc_clock_calibrate(&s->clock);
    if (rc) {
        uc_error("the TSC does not run here: nothing can be timed");
        return UC_EXIT_MACHINE;
    }
    return 0;
}

int uc_session_open(struct uc_session *s, const struct uc_options *o, size_t chase_bytes)
{
    int rc;

    memset(s, 0, sizeof(*s));
    s->lock = -1;
    uc_session_signals();
    rc = uc_topology_open(&s->topology);
    if (rc) {
        uc_error("cannot read the machine's topology: %s", strerror(-rc));
        return UC_EXIT_MACHINE;
    }
    if (!uc_topology_is_this_machine(s->topology)) {
        uc_error("the topology comes from %s and is not this machine's: nothing can be timed on it",
                 getenv("HWLOC_XMLFILE") ? "HWLOC_XMLFILE" : "elsewhere");
        rc = UC_EXIT_MACHINE;
        goto out;
    }
    rc = uc_session_check_core(s->topology, o->core); /* before anything is waited for */
    if (rc)
        goto out;
    s->lock = uc_session_lock();
    s->begun = uc_seconds();
    if (!uc_interrupted)
        rc = choose_core(s, o);
    if (!rc && !uc_interrupted)
        rc = read_machine(s, chase_bytes);
    if (!rc && uc_interrupted)
        rc = uc_session_interrupted();
    if (rc)
        goto out;
    uc_topology_siblings(s->topology, s->pu, &s->siblings);
    s->isa = s->cpu.isa & ~o->disabled_isa;
    uc_machine_load_now(&s->load, s->pu, &s->siblings);
out:
    if (rc)
        uc_session_close(s);
    return rc;
}

void uc_session_close(struct uc_session *s)
{
    uc_company_close(s->company);
    s->company = NULL;
    if (s->topology)
        uc_topology_close(s->topology);
    s->topology = NULL;
    if (s->lock >= 0)
        close(s->lock);
    s->lock = -1;
}
