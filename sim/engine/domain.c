/* See domain.h. Workers sleep on `go` between windows, the caller's thread on `done` at a window's end; both look
 * for a while before they ask the kernel to wake them. Workers take the other domains from the first on, the caller's
 * thread from the last on, so that each domain mostly stays with the processor that has it in its cache. */
#include "sim/engine/domain.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sim/engine/internal.h"

#define LOOKAHEAD_MIN_PS 1000
#define GATE_LOOKS 4000 /* about 50 us */

/* A number that grows, and who waits for it to. */
typedef struct {
    _Atomic guint32 value, sleepers;
} Gate;

G_DEFINE_QUARK(fanout - sim - error, sim_error)

struct SimSplit {
    Sim *sim;
    guint n;   /* other domains, */
    Sim **far; /* and their clocks */
    const SimExchange *exchange;
    void *user;
    SimTime lookahead_ps;
    SimTime end_ps;   /* of the window: events before it fire */
    SimTime *next_ps; /* by domain: what close() said */
    gboolean open;    /* the window is not closed on all sides */
    gboolean quit;
    guint32 window;
    _Atomic guint32 *domain; /* by number: the last window in which a thread has taken it */
    guint workers;
    GThread **worker;
    Gate go __attribute__((aligned(64)));
    Gate done __attribute__((aligned(64))); /* windows that workers are through with, all together */
};

static inline void gate_pause(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

static void gate_wake(Gate *gate)
{
    if (atomic_load(&gate->sleepers) != 0)
        syscall(SYS_futex, &gate->value, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
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

/* No other thread has it in this window. */
static gboolean split_claim(const SimSplit *split, _Atomic guint32 *of)
{
    return atomic_load_explicit(of, memory_order_relaxed) != split->window &&
           atomic_exchange(of, split->window) != split->window;
}

/* One window of one of the other domains. */
static void split_work_once(SimSplit *split, guint32 d)
{
    if (!split_claim(split, &split->domain[d]))
        return;
    split->exchange->deliver(split->user, d);
    sim_drain(split->far[d - 1], split->end_ps - 1);
    split->next_ps[d] = split->exchange->close(split->user, d, split->end_ps - 1);
}

/* The window of each of the other domains that no other thread has taken. */
static void split_take_all(SimSplit *split, gboolean from_last)
{
    for (guint32 i = 0; i < split->n; i++)
        split_work_once(split, from_last ? split->n - i : i + 1);
}

static gpointer split_work(gpointer user)
{
    SimSplit *split = user;

    for (guint32 window = 1;; window++) {
        gate_wait(&split->go, window);
        if (split->quit)
            return NULL;
        split_take_all(split, FALSE);
        atomic_fetch_add(&split->done.value, 1);
        gate_wake(&split->done);
    }
}

static void split_wait(SimSplit *split) { gate_wait(&split->done, split->window * split->workers); }

gboolean sim_wants_domains(const Sim *sim) { return sim->threads > 1; }

static gboolean split_check(const Sim *sim, SimTime lookahead_ps, GError **error)
{
    if (sim->vcd) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_DOMAINS,
                    "several domains: a waveform wants every instant in order; leave --vcd away, or --cores");
    } else if (!sim->wheel) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_DOMAINS,
                    "several domains: SystemC's calendar is one thread's; leave --calendar away, or --cores");
    } else if (lookahead_ps < LOOKAHEAD_MIN_PS) {
        g_set_error(error, SIM_ERROR, SIM_ERROR_DOMAINS,
                    "several domains: they can be %" G_GUINT64_FORMAT " ps apart; at least %u are wanted", lookahead_ps,
                    LOOKAHEAD_MIN_PS);
    } else {
        return TRUE;
    }
    return FALSE;
}

static Sim *split_far_new(const Sim *sim)
{
    Sim *far = g_new0(Sim, 1);
    far->sequence = SIM_ORDER_FIRST;
    far->seed = sim->seed;
    far->wheel = calendar_new();
    far->order = UINT64_MAX;
    return far;
}

gboolean sim_split(Sim *sim, guint n, Sim *far[], SimTime lookahead_ps, const SimExchange *exchange, void *user,
                   GError **error)
{
    g_assert(!sim->split && !sim->thread && n != 0);
    if (!split_check(sim, lookahead_ps, error))
        return FALSE;
    SimSplit *split = g_aligned_alloc0(1, sizeof *split, G_ALIGNOF(SimSplit));
    *split = (SimSplit){.sim = sim,
                        .n = n,
                        .exchange = exchange,
                        .user = user,
                        .lookahead_ps = lookahead_ps,
                        .workers = MIN(sim->threads - 1, n)};
    split->far = g_new(Sim *, n);
    split->next_ps = g_new(SimTime, n + 1);
    split->next_ps[0] = SIMTIME_NEVER;
    for (guint d = 1; d <= n; d++) {
        split->far[d - 1] = far[d - 1] = split_far_new(sim);
        split->next_ps[d] = SIMTIME_NEVER;
    }
    split->domain = g_new0(_Atomic guint32, n + 1);
    split->worker = g_new(GThread *, split->workers);
    for (guint w = 0; w < split->workers; w++)
        split->worker[w] = g_thread_new("fanout-domain", split_work, split);
    sim->split = split;
    return TRUE;
}

/* ---- for sim.c, on the thread of sim_run() */

void split_free(SimSplit *split)
{
    if (!split)
        return;
    split_settle(split);
    split->quit = TRUE;
    atomic_store(&split->go.value, split->window + 1);
    gate_wake(&split->go);
    for (guint w = 0; w < split->workers; w++)
        g_thread_join(split->worker[w]);
    for (guint i = 0; i < split->n; i++) {
        calendar_free(split->far[i]->wheel);
        g_free(split->far[i]);
    }
    g_free(split->worker);
    g_free(split->far);
    g_free(split->next_ps);
    g_free(split->domain);
    g_aligned_free(split);
}

SimTime split_due_ps(const SimSplit *split)
{
    SimTime due_ps = calendar_next_ps(split->sim->wheel);

    if (split->open)
        return MIN(due_ps, split->end_ps - 1); /* to close it */
    if (split->exchange->is_busy(split->user))
        return split->sim->now_ps;
    due_ps = MIN(due_ps, split->next_ps[0]);
    for (guint i = 0; i < split->n; i++)
        due_ps = MIN(due_ps, MIN(calendar_next_ps(split->far[i]->wheel), split->next_ps[i + 1]));
    return due_ps;
}

static void split_open(SimSplit *split, SimTime from_ps)
{
    SimTime end_ps = from_ps + split->lookahead_ps;

    split->end_ps = MIN(MIN(end_ps, split->sim->until_ps + 1), background_next_ps(split->sim));
    split->open = TRUE;
    atomic_store(&split->go.value, ++split->window);
    gate_wake(&split->go);
    split->exchange->deliver(split->user, 0);
}

static void split_close(SimSplit *split)
{
    split->next_ps[0] = split->exchange->close(split->user, 0, split->end_ps - 1); /* while workers have the others */
    split_take_all(split, TRUE);
    split_wait(split);
    split->open = FALSE;
}

void split_drain(SimSplit *split, SimTime limit_ps)
{
    Sim *sim = split->sim;

    for (;;) {
        if (!split->open) {
            SimTime next_ps = split_due_ps(split);
            if (next_ps > limit_ps || next_ps == SIMTIME_NEVER)
                return;
            split_open(split, next_ps);
        }
        sim_drain(sim, MIN(limit_ps, split->end_ps - 1));
        if (sim->stop || sim->ready_first || sim->limit_ps < split->end_ps - 1)
            return;
        split_close(split);
    }
}

void split_settle(SimSplit *split)
{
    if (!split || !split->open)
        return;
    split_take_all(split, TRUE);
    split_wait(split);
}

SimTime split_now_ps(const SimSplit *split)
{
    SimTime now_ps = 0;

    for (guint i = 0; i < split->n; i++)
        now_ps = MAX(now_ps, split->far[i]->now_ps);
    return now_ps;
}

guint64 split_events_fired(const SimSplit *split)
{
    guint64 fired = 0;

    for (guint i = 0; i < split->n; i++)
        fired += split->far[i]->fired;
    return fired;
}
