#include "machine/crew.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

struct member {
    struct uc_crew *crew;
    pthread_t thread;
    unsigned index;
    int pu, rc;
    sem_t go;
    atomic_uint done; /* jobs since it was last sent off */
    atomic_bool idle;
};

struct uc_crew {
    struct uc_topology *topology;
    struct member *member;
    unsigned members; /* that run */
    uc_crew_job *job;
    void *arg;
    atomic_bool again, end;
};

static void await(atomic_bool *idle)
{
    while (!atomic_load(idle))
        __builtin_ia32_pause();
}

static void *work(void *arg)
{
    struct member *m = arg;
    struct uc_crew *c = m->crew;

    m->rc = uc_topology_pin(c->topology, m->pu);
    atomic_store(&m->idle, true);
    for (;;) {
        while (sem_wait(&m->go))
            ;
        if (atomic_load(&c->end))
            return NULL;
        do {
            c->job(c->arg, m->index);
            atomic_fetch_add(&m->done, 1);
        } while (atomic_load(&c->again));
        atomic_store(&m->idle, true);
    }
}

static int start_member(struct uc_crew *c, int pu)
{
    struct member *m = &c->member[c->members];
    sigset_t all, before;

    m->crew = c;
    m->index = c->members;
    m->pu = pu;
    if (sem_init(&m->go, 0, 0))
        return -errno;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = -pthread_create(&m->thread, NULL, work, m);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc) {
        sem_destroy(&m->go);
        return rc;
    }
    c->members++;
    await(&m->idle);
    return m->rc;
}

int uc_crew_open(struct uc_crew **out, struct uc_topology *t, int pu, unsigned members)
{
    int pus[CPU_SETSIZE], rc = 0;

    if (uc_topology_other_cores(t, pu, pus) < members)
        return -ENODEV;
    struct uc_crew *c = calloc(1, sizeof(*c));
    if (c)
        c->member = calloc(members ? members : 1, sizeof(*c->member));
    if (!c || !c->member) {
        free(c);
        return -ENOMEM;
    }
    c->topology = t;
    for (unsigned i = 0; i < members && !rc; i++)
        rc = start_member(c, pus[i]);
    if (rc) {
        uc_crew_close(c);
        return rc;
    }
    *out = c;
    return 0;
}

static void send_off(struct uc_crew *c)
{
    for (unsigned i = 0; i < c->members; i++) {
        atomic_store(&c->member[i].done, 0);
        atomic_store(&c->member[i].idle, false);
        sem_post(&c->member[i].go);
    }
}

static void await_all(struct uc_crew *c)
{
    for (unsigned i = 0; i < c->members; i++)
        await(&c->member[i].idle);
}

void uc_crew_close(struct uc_crew *c)
{
    if (!c)
        return;
    atomic_store(&c->end, true);
    send_off(c);
    for (unsigned i = 0; i < c->members; i++) {
        pthread_join(c->member[i].thread, NULL);
        sem_destroy(&c->member[i].go);
    }
    free(c->member);
    free(c);
}

void uc_crew_each(struct uc_crew *c, uc_crew_job *job, void *arg)
{
    c->job = job;
    c->arg = arg;
    atomic_store(&c->again, false);
    send_off(c);
    await_all(c);
}

void uc_crew_start(struct uc_crew *c, uc_crew_job *job, void *arg)
{
    c->job = job;
    c->arg = arg;
    atomic_store(&c->again, true);
    send_off(c);
    for (unsigned i = 0; i < c->members; i++)
        while (!atomic_load(&c->member[i].done))
            __builtin_ia32_pause();
}

void uc_crew_stop(struct uc_crew *c)
{
    atomic_store(&c->again, false);
    await_all(c);
}
