#include "tests/model/model_test.h"

#include "model/fastpath/link_log.h"
#include "sim/rng.h"

/* Three ports of one switch and an ingress whose buffer replicas hold. What is random is the same for the same seed,
 * whether each replica is pushed at each port or they follow logs: of ports 0 and 1, of 1 and 2, and of all. With odd
 * seeds most replicas are answered at once, by a link back: where there are logs it is told of them as they go on the
 * wire (link_set_answers), else when they arrive. */
#define PORTS 3u
#define STEPS 600u
#define LOGS 3u
static const guint8 log_ports[LOGS] = {3, 6, 7}; /* a bit for each port */
typedef struct {
    Packet packet;
    SimTime at_ps;
} Arrival;
typedef struct {
    Event event;
    Sim *sim;
    LinkSpec spec;
    Link port[PORTS], back[PORTS], in;
    LinkFreed ingress[1];
    GArray *got[PORTS], *answered[PORTS]; /* at the far end, and back again */
    LinkLog *log[LOGS];
    gboolean logs, answers;
    Rng rng;
    guint32 step;
    guint32 followed; /* packets that waited as a log's when another one joined */
} LogRun;

static void log_take(LogRun *run, guint32 p, Packet packet, SimTime at_ps)
{
    packet.hold = HOLD_NONE & 0xfffu;
    Arrival arrival = {packet, at_ps};
    g_array_append_val(run->got[p], arrival);
    link_credit(&run->port[p], packet_vc(&packet), packet.flits, at_ps);
}

static Packet log_answer(Packet packet)
{
    return (Packet){.txn = packet.txn, .kind = PACKET_MC_OPERAND, .hold = HOLD_NONE,
                    .flits = replica_answer_flits(packet) & 0x1fu};
}

static void log_accept(void *node, Link *link, Packet packet, SimTime now_ps)
{
    LogRun *run = node;
    guint32 p = link->sink_port;
    log_take(run, p, packet, now_ps);
    if (run->answers && packet.kind == PACKET_MC_READ)
        link_push(&run->back[p], log_answer(packet), 0);
}

/* A replica that the link back was told of. */
static gboolean log_serve(void *node, Link *back, const LinkReady *request, SimTime at_ps, Packet *answer)
{
    log_take(node, back->source_port, request->packet, at_ps);
    *answer = log_answer(request->packet);
    return TRUE;
}

static void log_accept_answer(void *node, Link *back, Packet packet, SimTime now_ps)
{
    LogRun *run = node;
    Arrival arrival = {packet, now_ps};
    g_array_append_val(run->answered[back->sink_port], arrival);
    link_credit(back, packet_vc(&packet), packet.flits, now_ps);
}

/* A replica for the ports of a log: the one with the longest queue frees the ingress buffer, as in a switch. */
static void log_replicate(LogRun *run, guint32 l, Packet replica, SimTime now_ps)
{
    Link *last = NULL;
    if (run->logs) {
        for (guint32 p = 0; p < PORTS; p++)
            if (log_ports[l] >> p & 1)
                link_log_follow(run->log[l], &run->port[p], p, p, p);
        link_log_add(run->log[l], replica, now_ps, 500);
        last = link_log_push(run->log[l], now_ps);
        for (guint32 p = 0; p < PORTS; p++)
            run->followed += run->port[p].logged;
        if (last)
            link_log_hold(run->log[l], last, 0);
        return;
    }
    for (guint32 p = 0; p < PORTS; p++) {
        Link *port = &run->port[p];
        if (!(log_ports[l] >> p & 1))
            continue;
        replica.dst = p & 0x3ffu;
        link_push(port, replica, now_ps + 500 * p);
        if (port->ring[VC_CREQ].waiting >= (last ? last->ring[VC_CREQ].waiting : 1))
            last = port;
    }
    if (last)
        link_hold_last(last, VC_CREQ, 0);
}

/* Mostly replicas, of mostly the same log; now and then something else, or a pause in which the queues run empty. */
static void log_on_step(Event *event, SimTime now_ps)
{
    LogRun *run = EVENT_OWNER(event, LogRun, event);
    guint64 what = rng_below(&run->rng, 100);
    Packet packet = {.txn = run->step, .hold = HOLD_NONE, .flits = (guint8)(1 + rng_below(&run->rng, 9)) & 0x1fu};
    guint32 p = (guint32)rng_below(&run->rng, PORTS), l = what < 80 ? (run->step / 128) % LOGS : p;
    packet.kind = what < 90 ? PACKET_MC_READ : what < 93 ? PACKET_WRITE : PACKET_MC_RSP;
    if (what < 90) {
        packet.src = replica_pack(1 + packet.txn % 9, packet.txn % 16 ? REPLICA_FROM_L2 : REPLICA_BY_RECORD) & 0x1ffu;
        log_replicate(run, l, packet, now_ps);
    } else {
        packet.dst = p & 0x3ffu;
        link_push(&run->port[p], packet, now_ps);
    }
    if (++run->step < STEPS)
        sim_after(run->sim, event, rng_below(&run->rng, 200) ? rng_below(&run->rng, 9000) : 1000000,
                  EVENT_PRIORITY_FABRIC);
}

static gint log_compare(gconstpointer a, gconstpointer b)
{
    const Arrival *x = a, *y = b;
    if (x->at_ps != y->at_ps)
        return x->at_ps < y->at_ps ? -1 : 1;
    return (packet_vc(&x->packet) > packet_vc(&y->packet)) - (packet_vc(&x->packet) < packet_vc(&y->packet));
}

static void log_run(LogRun *run, guint64 seed, gboolean logs)
{
    memset(run, 0, sizeof *run);
    run->logs = logs;
    run->answers = seed % 2;
    run->sim = sim_new(&(SimSpec){.seed = 1}, NULL);
    run->spec = (LinkSpec){.rate_MBps = 16000, .flight_ps = 20000, .credit_batch_ps = 1}; /* a flit takes 1 ns */
    rng_init(&run->rng, seed, "log");
    guint32 credits = 36 + (guint32)rng_below(&run->rng, 100);
    link_init(&run->in, run->sim, &run->spec, 100000, PORTS, "test.in");
    memcpy(run->ingress[0], run->in.freed, sizeof run->ingress[0]);
    for (guint32 l = 0; l < LOGS; l++)
        run->log[l] = link_log_new();
    for (guint32 p = 0; p < PORTS; p++) {
        link_init(&run->port[p], run->sim, &run->spec, credits, p, "test.port");
        link_set_sink(&run->port[p], log_accept, run, p);
        run->port[p].ingress = run->ingress;
        run->got[p] = g_array_new(FALSE, FALSE, sizeof(Arrival));
        run->answered[p] = g_array_new(FALSE, FALSE, sizeof(Arrival));
        link_init(&run->back[p], run->sim, &run->spec, 1000, PORTS + 1 + p, "test.back");
        link_set_sink(&run->back[p], log_accept_answer, run, p);
        run->back[p].source_node = run;
        run->back[p].source_port = p;
        link_set_lanes(&run->back[p], log_serve, 1u << 20, &run->port[p]);
        if (logs && run->answers)
            link_set_answers(&run->port[p], &run->back[p]);
    }
    event_init(&run->event, log_on_step);
    sim_after(run->sim, &run->event, 1000, EVENT_PRIORITY_FABRIC);
    assert_int_equal(sim_run(run->sim, SIMTIME_NEVER), SIM_IDLE);
    for (guint32 p = 0; p < PORTS; p++)
        assert_true(link_is_quiet(&run->port[p], credits) && link_is_quiet(&run->back[p], 1000));
    for (guint32 p = 0; p < PORTS; p++) /* those that the link back is told of may be looked at late */
        g_array_sort(run->got[p], log_compare);
}

static void log_clear(LogRun *run)
{
    for (guint32 p = 0; p < PORTS; p++) {
        link_clear(&run->port[p]);
        link_clear(&run->back[p]);
        g_array_free(run->got[p], TRUE);
        g_array_free(run->answered[p], TRUE);
    }
    for (guint32 l = 0; l < LOGS; l++)
        link_log_free(run->log[l]);
    link_clear(&run->in);
    sim_free(run->sim);
}

static void log_assert_same(guint64 seed, guint32 p, const GArray *pushed, const GArray *logged)
{
    assert_int_equal(pushed->len, logged->len);
    for (guint i = 0; i < pushed->len; i++) {
        const Arrival *a = &g_array_index(pushed, Arrival, i), *b = &g_array_index(logged, Arrival, i);
        if (a->packet.bits != b->packet.bits || a->at_ps != b->at_ps)
            fail_msg("seed %" G_GUINT64_FORMAT ", port %u, arrival %u: packet %u at %" G_GUINT64_FORMAT
                     " ps pushed, %u at %" G_GUINT64_FORMAT " ps logged", seed, p, i, (guint)a->packet.txn, a->at_ps,
                     (guint)b->packet.txn, b->at_ps);
    }
}

/* What was freed of the ingress buffer, whether it has been taken in or not. */
static gint64 log_freed(const LogRun *run, unsigned v)
{
    return run->in.ring[v].credits + (gint64)link_credits_flying(&run->in, (Vc)v);
}

/* Proves that it makes no difference whether replicas wait at each port or once in a log: same packets at the same
 * times, and their answers, same longest queues, as many flits freed at the ingress; with other packets between them,
 * ports that change from one log to another, and buffers from four packets up. */
static void test_log(void **state)
{
    (void)state;
    guint64 followed = 0, answered = 0;
    LogRun *pushed = g_aligned_alloc0(2, sizeof *pushed, _Alignof(LogRun)), *logged = pushed + 1;
    for (guint64 seed = 1; seed <= 100; seed++) {
        log_run(pushed, seed, FALSE);
        log_run(logged, seed, TRUE);
        for (guint32 p = 0; p < PORTS; p++) {
            log_assert_same(seed, p, pushed->got[p], logged->got[p]);
            log_assert_same(seed, p, pushed->answered[p], logged->answered[p]);
            assert_int_equal(pushed->port[p].queue_peak, logged->port[p].queue_peak);
            answered += logged->answered[p]->len;
        }
        for (unsigned v = 0; v < VCS; v++)
            assert_int_equal(log_freed(pushed, v), log_freed(logged, v));
        assert_int_equal(pushed->followed, 0);
        followed += logged->followed;
        log_clear(pushed);
        log_clear(logged);
    }
    assert_true(followed > 100 * STEPS); /* the log was what most of them waited in */
    assert_true(answered > 50 * STEPS);
    g_aligned_free(pushed);
}

/* Proves that a log whose readers keep up stays as short as it was, however many packets go through. */
static void test_log_short(void **state)
{
    (void)state;
    LinkLog *log = link_log_new();
    Link *link = link_array_new(1);
    link_log_follow(log, link, 0, 0, 5);
    for (guint32 i = 0; i < 100000; i++) {
        link_log_add(log, (Packet){.txn = i & 0x7fffffu}, i, 0);
        link->log_next += i >= 20; /* 20 wait */
    }
    assert_true(log->mask + 1 <= 128);
    assert_int_equal(log->at[link->log_next & log->mask].txn, 100000 - 20);
    g_aligned_free(link);
    link_log_free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_log), cmocka_unit_test(test_log_short)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
