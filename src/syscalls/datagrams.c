/* Datagrams: small packets over loopback, received one a call by recvfrom and up to 32 a call by
 * recvmmsg: from a queue that was filled before, and under a flood that another CPU sends. Sockets
 * are connected to each other alone, on 127.0.0.1, and never wait; a batch and a flood are bounded
 * in packets and in time, and end when packets are lost too. */
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "measure/sweep.h"
#include "syscalls/experiments.h"
#include "syscalls/loopback.h"
#include "syscalls/sys.h"
#include "syscalls/words.h"

#define LARGEST 1408u
#define BATCH 64u    /* of the largest fits the default receive buffer, 208 KiB */
#define BATCHES 16u  /* a reading */
#define MESSAGES 32u /* a recvmmsg */
#define WAIT_MS 100
#define FLOOD_PACKETS 4000u /* a reading */
#define FLOOD_SECONDS .02   /* and at the longest */
#define FLOOD_SENT 1000000u /* by the sender, at the most */
#define OFTEN .1            /* of the calls found nothing */

static const size_t lengths[] = {16, 64, 128, 256, 512, 1024, LARGEST};
#define LENGTHS (sizeof(lengths) / sizeof(lengths[0]))

enum way { SINGLE, MANY, NOTHING, WAYS };
enum traffic { QUEUED, FLOODED, TRAFFICS };

static const char *const way_name[WAYS] = {"recvfrom", "recvmmsg", "recvfrom 0 B"};
static const char *const series[TRAFFICS] = {"from a full queue", "under a flood"};
static const int ways_of[TRAFFICS] = {WAYS, NOTHING};

struct receiver {
    struct uc_sys_run *run;
    struct uc_loopback udp;
    enum traffic traffic;
    size_t first;
    unsigned char sent[LARGEST], got[MESSAGES][LARGEST];
    struct iovec part[MESSAGES];
    struct mmsghdr message[MESSAGES];
    size_t lost;
    double calls[WAYS][LENGTHS], empty[WAYS][LENGTHS]; /* of the flood */
};

/* ---- receiving ---- */

/* Packets taken from the queue by one call, 0 where one was no whole one; *last: the last. */
static ssize_t receive_one(struct receiver *p, size_t length, const unsigned char **last)
{
    ssize_t got = uc_sys_recv(p->udp.to, p->got[0], length, 0);

    *last = p->got[0];
    return got < 0 ? got : got == (ssize_t)length;
}

static ssize_t receive_many(struct receiver *p, size_t length, const unsigned char **last)
{
    for (size_t i = 0; i < MESSAGES; i++) {
        p->part[i] = (struct iovec){p->got[i], length};
        p->message[i].msg_hdr = (struct msghdr){.msg_iov = &p->part[i], .msg_iovlen = 1};
    }
    int n = uc_sys_recvmmsg(p->udp.to, p->message, MESSAGES);
    for (int i = 0; i < n; i++)
        if (p->message[i].msg_len != length)
            return 0;
    *last = n > 0 ? p->got[n - 1] : NULL;
    return n;
}

static ssize_t receive(struct receiver *p, enum way way, size_t length, const unsigned char **last)
{
    if (way == SINGLE)
        return receive_one(p, length, last);
    if (way == MANY)
        return receive_many(p, length, last);
    ssize_t got = uc_sys_recv(p->udp.to, NULL, 0, 0); /* takes the packet, copies nothing */
    return got < 0 ? got : 1;
}

static bool is_nothing(ssize_t rc)
{
    return rc == -EAGAIN || (rc == -EINTR && !uc_interrupted);
}

/* What an earlier reading left. */
static int empty_queue(struct receiver *p)
{
    for (unsigned i = 0; i < FLOOD_SENT; i++) {
        ssize_t got = uc_sys_recv(p->udp.to, NULL, 0, 0);
        if (got == -EAGAIN)
            return 0;
        if (got < 0 && !is_nothing(got))
            return (int)got;
    }
    return 0;
}

/* ---- from a full queue ---- */

/* Packets that went out; a full buffer loses the rest. */
static ssize_t send_batch(struct receiver *p, size_t length, unsigned batch)
{
    ssize_t sent = 0;

    for (unsigned i = 0; i < BATCH; i++) {
        uc_words_put(p->sent, (batch * BATCH + i) * LARGEST, length);
        ssize_t rc = uc_sys_send(p->udp.from, p->sent, length);
        if (rc < 0 && !is_nothing(rc) && rc != -ENOBUFS)
            return rc;
        sent += rc == (ssize_t)length;
    }
    return sent;
}

/* The last packet that came is one of the batch, whole. */
static bool is_sent(const unsigned char *last, size_t length, unsigned batch)
{
    for (unsigned i = BATCH; i--;)
        if (uc_words_are(last, (batch * BATCH + i) * LARGEST, length))
            return true;
    return false;
}

struct drained {
    double ns;
    size_t packets;
    bool odd; /* a packet was not whole: the reading does not count */
};

/* Waiting for what is still on its way is no part of the time. */
static int drain(struct receiver *p, enum way way, size_t length, unsigned batch, size_t sent,
                 struct drained *d)
{
    const unsigned char *last = NULL;
    size_t got = 0;

    while (got < sent) {
        uint64_t t = uc_ticks();
        ssize_t n = 0;
        while (got < sent && (n = receive(p, way, length, &last)) > 0)
            got += (size_t)n;
        d->ns += uc_sys_ns(p->run, uc_ticks() - t);
        if (n < 0 && !is_nothing(n))
            return (int)n;
        d->odd = d->odd || n == 0;
        if (d->odd)
            break;
        if (n == -EAGAIN && uc_sys_poll(p->udp.to, WAIT_MS) <= 0)
            break; /* lost */
    }
    d->packets += got;
    if (!d->odd)
        p->lost += sent - got;
    if (last && !d->odd && !is_sent(last, length, batch))
        return uc_sys_failed(way_name[way], EBADMSG);
    return got < sent ? empty_queue(p) : 0; /* none is taken for one of the next batch */
}

static int read_queued(struct receiver *p, enum way way, size_t length, double *ns)
{
    struct drained d = {0};
    int rc = 0;

    for (unsigned batch = 0; batch < BATCHES && !rc; batch++) {
        ssize_t sent = send_batch(p, length, batch);
        rc = sent < 0 ? (int)sent : drain(p, way, length, batch, (size_t)sent, &d);
    }
    *ns = d.packets && !d.odd ? d.ns / (double)d.packets : NAN;
    return rc;
}

/* ---- under a flood ---- */

struct flood {
    pthread_t thread;
    int fd, pu, rc;
    size_t length;
    atomic_bool stop;
};

/* Ends when told to, after so many packets or seconds, or at the first failure. */
static void *send_flood(void *ctx)
{
    struct flood *f = ctx;
    unsigned char packet[LARGEST];
    double end = uc_seconds() + 1;
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(f->pu, &one);
    f->rc = -pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
    uc_words_put(packet, 0, f->length);
    for (unsigned i = 0; i < FLOOD_SENT && !f->stop && !f->rc && !uc_interrupted; i++) {
        ssize_t rc = uc_sys_send(f->fd, packet, f->length);
        if (rc < 0 && !is_nothing(rc) && rc != -ENOBUFS)
            f->rc = (int)rc;
        if (i % 1024 == 0 && uc_seconds() > end)
            break;
    }
    return NULL;
}

/* From the first packet on; *ns of a packet, NAN where too few came. */
static int receive_flood(struct receiver *p, enum way way, size_t i, double *ns)
{
    size_t packets = 0, calls = 0, empty = 0;
    const unsigned char *last = NULL;
    double end = uc_seconds() + FLOOD_SECONDS;
    bool odd = false;

    if (uc_sys_poll(p->udp.to, WAIT_MS) <= 0)
        return 0;
    uint64_t t = uc_ticks();
    while (packets < FLOOD_PACKETS && !odd && !uc_interrupted) {
        ssize_t n = receive(p, way, lengths[i], &last);
        if (n < 0 && !is_nothing(n))
            return (int)n;
        calls++;
        empty += n < 0;
        odd = n == 0;
        packets += n > 0 ? (size_t)n : 0;
        if (calls % 256 == 0 && uc_seconds() > end)
            break;
    }
    *ns = packets && !odd ? uc_sys_ns(p->run, uc_ticks() - t) / (double)packets : NAN;
    if (last && !odd && !uc_words_are(last, 0, lengths[i]))
        return uc_sys_failed(way_name[way], EBADMSG);
    p->calls[way][i] += (double)calls;
    p->empty[way][i] += (double)empty;
    return 0;
}

static int read_flooded(struct receiver *p, enum way way, size_t i, double *ns)
{
    struct flood f = {.fd = p->udp.from, .pu = p->run->other_pu, .length = lengths[i]};
    int rc = empty_queue(p);

    if (rc)
        return rc;
    rc = pthread_create(&f.thread, NULL, send_flood, &f);
    if (rc)
        return uc_sys_failed("pthread_create", rc);
    rc = receive_flood(p, way, i, ns);
    f.stop = true;
    pthread_join(f.thread, NULL);
    if (f.rc)
        return uc_sys_failed("send", -f.rc);
    return rc ? rc : empty_queue(p);
}

/* ---- rows ---- */

static int read_row(void *ctx, size_t i, double *ns)
{
    struct receiver *p = ctx;
    enum way way = (enum way)(i / LENGTHS);

    if (p->traffic == FLOODED)
        return read_flooded(p, way, i % LENGTHS, ns);
    return read_queued(p, way, lengths[i % LENGTHS], ns);
}

static double rate(void *ctx, size_t i, double ns)
{
    return 1e9 / ns;
}

static int add_rows(struct receiver *p, struct uc_sys_result *r)
{
    for (int way = 0; way < ways_of[p->traffic]; way++)
        for (size_t i = 0; i < LENGTHS; i++) {
            int row = uc_sys_row(r, series[p->traffic], "packets/s", lengths[i], way_name[way]);
            if (row < 0)
                return row;
            if (!way && !i)
                p->first = (size_t)row;
        }
    return 0;
}

static int compare(const struct receiver *p, struct uc_sys_result *r, enum way second)
{
    int rc = 0;

    for (size_t i = 0; i < LENGTHS && !rc; i++)
        rc = uc_sys_compare(r, p->first + i, p->first + (size_t)second * LENGTHS + i);
    return rc;
}

static int time_traffic(struct receiver *p, struct uc_sys_result *r, enum traffic traffic)
{
    struct uc_sys_rounds w = {.readings = 1,
                              .rows = (size_t)ways_of[traffic] * LENGTHS,
                              .seconds = .5 * p->run->seconds,
                              .read = read_row,
                              .value = rate,
                              .ctx = p};
    p->traffic = traffic;
    int rc = add_rows(p, r);
    w.first = p->first;
    if (!rc)
        rc = uc_sys_rounds(p->run, r, &w);
    if (!rc)
        rc = compare(p, r, MANY);
    return rc;
}

/* ---- what to take from it ---- */

/* The ratio is that of the rates, the other way round than the times'. */
static int tell_copy(const struct receiver *p, struct uc_sys_result *r)
{
    int rc = compare(p, r, NOTHING);

    for (size_t i = 0; i < LENGTHS && !rc; i++) {
        const struct uc_sys_pair *c =
            uc_sys_compared(r, p->first + i, p->first + NOTHING * LENGTHS + i);
        if (!c)
            continue;
        const struct uc_interval *q = &c->c.ratio;
        struct uc_interval saved = {.mid = 100 * (1 - 1 / q->mid),
                                    .lo = 100 * (1 - 1 / q->lo),
                                    .hi = 100 * (1 - 1 / q->hi)};
        rc = uc_sys_figure_at(r, "of recvfrom's time saved by taking 0 bytes", "%", lengths[i],
                              &saved,
                              c->c.verdict == UC_SECOND_LARGER  ? ""
                              : c->c.verdict == UC_FIRST_LARGER ? "it costs more"
                                                                : "no difference");
    }
    return rc;
}

/* Where the queue ran dry, the rate is how fast packets came. */
static int tell_dry(const struct receiver *p, struct uc_sys_result *r, enum way way)
{
    size_t dry = 0, all = 0;

    for (size_t i = 0; i < LENGTHS; i++) {
        all += p->calls[way][i] > 0;
        dry += p->empty[way][i] > OFTEN * p->calls[way][i];
    }
    if (!all)
        return 0;
    return uc_sys_note(r,
                       "under a flood %s found no packet in more than %.0f %% of its calls at %zu "
                       "of %zu lengths%s",
                       way_name[way], 100 * OFTEN, dry, all,
                       dry ? ": there the sender sets the rate" : "");
}

static int time_flood(struct receiver *p, struct uc_sys_result *r)
{
    if (p->run->other_pu < 0)
        return uc_sys_skip(r, 0, "there is no second CPU to send from", "under a flood");
    int rc = time_traffic(p, r, FLOODED);
    if (!rc)
        rc = tell_dry(p, r, SINGLE);
    return rc ? rc : tell_dry(p, r, MANY);
}

static int datagrams(struct uc_sys_run *run, struct uc_sys_result *r)
{
    struct receiver *p = calloc(1, sizeof(*p));
    int rc = p ? uc_loopback_udp(&p->udp) : -ENOMEM;

    if (rc) {
        free(p);
        return rc;
    }
    p->run = run;
    rc = time_traffic(p, r, QUEUED);
    if (!rc)
        rc = tell_copy(p, r);
    if (!rc)
        rc = uc_sys_note(r, "%zu packets were lost on their way into the queue", p->lost);
    if (!rc)
        rc = time_flood(p, r);
    uc_loopback_close(&p->udp);
    free(p);
    return rc;
}

const struct uc_sys_experiment uc_sys_datagrams = {
    .name = "datagrams",
    .summary = "small packets over loopback, received one and up to 32 a call",
    .seconds = 6,
    .run = datagrams,
};
