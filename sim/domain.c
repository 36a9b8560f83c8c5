/* See domain.h. The worker sleeps on `go` between windows, the caller's thread on `done` at their end;
 * both look for a while before they ask the kernel to wake them. */
#include "sim/domain.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sim/sim_internal.h"

#define LOOKAHEAD_MIN_PS 1000
#define GATE_LOOKS 4000 /* about 50 us */

/* A number that grows, and who waits for it to. */
typedef struct {
    _Atomic guint32 value, sleepers;
} Gate;

G_DEFINE_QUARK(fanout-sim-error, sim_error)

struct SimPair {
    Sim *sim, *far;
    const SimExchange *exchange;
    void *user;
    SimTime lookahead_ps;
    SimTime end_ps;     /* of the window: events before it fire */
    SimTime next_ps[2]; /* by domain: what close() said */
    gboolean open;      /* the window is not closed on either side */
    gboolean quit;
    guint32 window;
    GThread *thread; /* NULL: both on the caller's, by turns */
    Gate go __attribute__((aligned(64)));
    Gate done __attribute__((aligned(64)));
};

static inline void gate_pause(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

static void gate_set(Gate *gate, guint32 value)
{
    atomic_store(&gate->value, value);
    if (atomic_load(&gate->sleepers) != 0)
        syscall(SYS_futex, &gate->value, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void gate_wait(Gate *gate, guint32 value)
{
    for (guint i = 0; i < GATE_LOOKS; i++) {
        if (atomic_load_explicit(&gate->value, memory_order_acquire) == value)
            return;
        gate_pause();
    }
    atomic_fetch_add(&gate->sleepers, 1);
    for (guint32 now; (now = atomic_load(&gate->value)) != value;)
        syscall(SYS_futex, &gate->value, FUTEX_WAIT_PRIVATE, now, NULL, NULL, 0);
    atomic_fetch_sub(&gate->sleepers, 1);
}

/* One window of the far domain. */
static void pair_work_once(SimPair *pair)
{
    pair->exchange->deliver(pair->user, 1);
    sim_drain(pair->far, pair->end_ps - 1);
    pair->next_ps[1] = pair->exchange->close(pair->user, 1, pair->end_ps - 1);
}

static gpointer pair_work(gpointer user)
{
    SimPair *pair = user;

    for (guint32 window = 1;; window++) {
        gate_wait(&pair->go, window);
        if (pair->quit)
            return NULL;
        pair_work_once(pair);
        gate_set(&pair->done, window);
    }
}

guint sim_domains(const Sim *sim)
{
    return MAX(sim->domains, 1);
}

static gboolean pair_check(const Sim *sim, SimTime lookahead_ps, GError **error)
{
    if (sim->vcd != NULL) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_DOMAINS,
                    "two domains: a waveform wants every instant in order; leave --vcd away, or --domains");
    } else if (sim->wheel == NULL) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_DOMAINS,
                    "two domains: SystemC's calendar is one thread's; leave --calendar away, or --domains");
    } else if (lookahead_ps < LOOKAHEAD_MIN_PS) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_DOMAINS,
                    "two domains: they can be %" G_GUINT64_FORMAT " ps apart; at least %u are wanted",
                    lookahead_ps, LOOKAHEAD_MIN_PS);
    } else {
        return TRUE;
    }
    return FALSE;
}

Sim *sim_split(Sim *sim, SimTime lookahead_ps, const SimExchange *exchange, void *user,
               GError **error)
{
    g_assert(sim->pair == NULL && sim->thread == NULL);
    if (!pair_check(sim, lookahead_ps, error))
        return NULL;
    Sim *far = g_new0(Sim, 1);
    far->seed = sim->seed;
    far->wheel = calendar_new();
    far->order = UINT64_MAX;
    SimPair *pair = g_aligned_alloc0(1, sizeof *pair, G_ALIGNOF(SimPair));
    *pair = (SimPair){.sim = sim, .far = far, .exchange = exchange, .user = user,
                      .lookahead_ps = lookahead_ps,
                      .next_ps = {SIMTIME_NEVER, SIMTIME_NEVER}};
    if (!sim->one_thread)
        pair->thread = g_thread_new("fanout-domain", pair_work, pair);
    sim->pair = pair;
    return far;
}

/* ---- for sim.c, on the thread of sim_run() */

void pair_free(SimPair *pair)
{
    if (pair == NULL)
        return;
    pair_settle(pair);
    pair->quit = TRUE;
    if (pair->thread != NULL) {
        gate_set(&pair->go, pair->window + 1);
        g_thread_join(pair->thread);
    }
    calendar_free(pair->far->wheel);
    g_free(pair->far);
    g_aligned_free(pair);
}

SimTime pair_due_ps(const SimPair *pair)
{
    SimTime own_ps = calendar_next_ps(pair->sim->wheel);

    if (pair->open)
        return MIN(own_ps, pair->end_ps - 1); /* to close it */
    if (pair->exchange->is_busy(pair->user))
        return pair->sim->now_ps;
    SimTime far_ps = calendar_next_ps(pair->far->wheel);
    return MIN(MIN(own_ps, far_ps), MIN(pair->next_ps[0], pair->next_ps[1]));
}

static void pair_open(SimPair *pair, SimTime from_ps)
{
    SimTime end_ps = from_ps + pair->lookahead_ps;

    pair->end_ps = MIN(end_ps, pair->sim->until_ps + 1);
    pair->open = TRUE;
    pair->window++;
    if (pair->thread != NULL)
        gate_set(&pair->go, pair->window);
    else
        pair_work_once(pair);
    pair->exchange->deliver(pair->user, 0);
}

static void pair_close(SimPair *pair)
{
    pair->next_ps[0] = pair->exchange->close(pair->user, 0, pair->end_ps - 1);
    if (pair->thread != NULL)
        gate_wait(&pair->done, pair->window);
    pair->open = FALSE;
}

void pair_drain(SimPair *pair, SimTime limit_ps)
{
    Sim *sim = pair->sim;

    for (;;) {
        if (!pair->open) {
            SimTime next_ps = pair_due_ps(pair);
            if (next_ps > limit_ps || next_ps == SIMTIME_NEVER)
                return;
            pair_open(pair, next_ps);
        }
        sim_drain(sim, MIN(limit_ps, pair->end_ps - 1));
        if (sim->stop || sim->ready_first != NULL || sim->limit_ps < pair->end_ps - 1)
            return;
        pair_close(pair);
    }
}

void pair_settle(SimPair *pair)
{
    if (pair != NULL && pair->open && pair->thread != NULL)
        gate_wait(&pair->done, pair->window);
}

SimTime pair_now_ps(const SimPair *pair)
{
    return pair->far->now_ps;
}

guint64 pair_events_fired(const SimPair *pair)
{
    return pair->far->fired;
}
