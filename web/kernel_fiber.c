/* The kernel of sim/engine/kernel.h without SystemC, for WebAssembly, where its C++ library is not at hand: one loop,
 * and a stack of its own for each thread by emscripten's fibres. The order is SystemC's, which the tests of `make web`
 * compare byte by byte: what is notified in this instant runs in the order of notification, then comes the next delta
 * cycle, then the earliest time that anybody waits for.
 *
 * Left out: waveforms (they are refused), components of SystemC's own, and looking at how much of a stack was used. */
#include "sim/engine/kernel.h"

#include <emscripten/fiber.h>

enum { FIBER_ASYNCIFY_BYTES = 64 * 1024, FIBER_STACK_LEAST_BYTES = 64 * 1024 };

struct KernelThread {
    emscripten_fiber_t fiber;
    void *stack, *asyncify;
    gsize stack_bytes, fiber_bytes;
    KernelMain main;
    void *arg;
    gboolean begun; /* its fibre stands somewhere inside main() */
    gboolean over;  /* main() has returned or was left: the next start begins anew */
    gboolean queued;
};

typedef struct {
    Event *event;
    SimTime at_ps;
    guint64 order;
    gboolean armed;
} Slot;

typedef struct {
    SimTime now_ps;
    gboolean running, paused, ready;
    gboolean pump_queued; /* in this evaluation phase */
    gboolean pump_delta;  /* in the next delta cycle */
    SimTime pump_at_ps;   /* SIMTIME_NEVER: not asked for */
    KernelPump pump;
    void *user;
    GQueue runnable; /* KernelThread *; NULL stands for the pump */
    GPtrArray *parked;
    KernelThread *current;
    emscripten_fiber_t home;
    char home_asyncify[FIBER_ASYNCIFY_BYTES];
    KernelNotified notified;
    void *notified_user;
    GArray *slots; /* Slot; those of this instant are told in the order of arming */
    guint64 order;
} Kernel;

static Kernel only; /* a program has one kernel, as with SystemC */

static Kernel *kernel(void)
{
    if (!only.ready) {
        only.ready = TRUE;
        only.pump_at_ps = SIMTIME_NEVER;
        g_queue_init(&only.runnable);
        only.parked = g_ptr_array_new();
        only.slots = g_array_new(FALSE, TRUE, sizeof(Slot));
        emscripten_fiber_init_from_current_context(&only.home, only.home_asyncify, sizeof only.home_asyncify);
    }
    return &only;
}

void kernel_init(void) { kernel(); }

/* ---- threads */

static void thread_home(Kernel *k, KernelThread *thread)
{
    k->current = NULL;
    emscripten_fiber_swap(&thread->fiber, &k->home);
}

static void thread_body(void *user)
{
    KernelThread *thread = user;
    thread->main(thread->arg);
    kernel_thread_leave(thread);
}

static void thread_run(Kernel *k, KernelThread *thread)
{
    thread->queued = FALSE;
    if (!thread->begun) {
        emscripten_fiber_init(&thread->fiber, thread_body, thread, thread->stack, thread->fiber_bytes, thread->asyncify,
                              FIBER_ASYNCIFY_BYTES);
        thread->begun = TRUE;
    }
    k->current = thread;
    emscripten_fiber_swap(&k->home, &thread->fiber);
    if (thread->over) {
        thread->over = thread->begun = FALSE;
        g_ptr_array_add(k->parked, thread);
    }
}

KernelThread *kernel_thread_take(gsize stack_bytes)
{
    Kernel *k = kernel();
    for (guint i = k->parked->len; i-- > 0;) {
        KernelThread *thread = g_ptr_array_index(k->parked, i);
        if (thread->stack_bytes == stack_bytes)
            return g_ptr_array_remove_index(k->parked, i);
    }
    return NULL;
}

KernelThread *kernel_thread_new(gsize stack_bytes)
{
    KernelThread *thread = g_new0(KernelThread, 1);
    thread->stack_bytes = stack_bytes;
    thread->fiber_bytes = MAX(stack_bytes, (gsize)FIBER_STACK_LEAST_BYTES);
    thread->stack = g_aligned_alloc(1, thread->fiber_bytes, 16);
    thread->asyncify = g_aligned_alloc(1, FIBER_ASYNCIFY_BYTES, 16);
    return thread;
}

static void thread_queue(KernelThread *thread)
{
    if (thread->queued) /* a notification that is not heard yet is one */
        return;
    thread->queued = TRUE;
    g_queue_push_tail(&kernel()->runnable, thread);
}

void kernel_thread_start(KernelThread *thread, KernelMain main, void *arg, const char *name)
{
    (void)name;
    thread->main = main;
    thread->arg = arg;
    thread_queue(thread);
}

void kernel_thread_resume(KernelThread *thread) { thread_queue(thread); }

void kernel_thread_yield(KernelThread *thread) { thread_home(kernel(), thread); }

void kernel_thread_leave(KernelThread *thread)
{
    thread->over = TRUE;
    thread_home(kernel(), thread); /* and never comes back: the next start makes its fibre anew */
    g_assert_not_reached();
}

void kernel_threads_trim(guint keep)
{
    Kernel *k = kernel();
    while (k->parked->len > keep) {
        KernelThread *thread = g_ptr_array_steal_index(k->parked, k->parked->len - 1);
        g_aligned_free(thread->stack);
        g_aligned_free(thread->asyncify);
        g_free(thread);
    }
}

gsize kernel_thread_stack_used(const KernelThread *thread) { return (void)thread, 0; }

guint kernel_threads_parked(void) { return kernel()->parked->len; }

/* ---- the pump */

SimTime kernel_now_ps(void) { return kernel()->now_ps; }

void kernel_wake_after(SimTime delay_ps)
{
    Kernel *k = kernel();
    if (k->pump_delta || k->pump_queued)
        return;
    if (delay_ps == 0)
        k->pump_delta = TRUE, k->pump_at_ps = SIMTIME_NEVER;
    else
        k->pump_at_ps = MIN(k->pump_at_ps, k->now_ps + delay_ps);
}

void kernel_wake_cancel(void)
{
    Kernel *k = kernel();
    k->pump_delta = FALSE;
    k->pump_at_ps = SIMTIME_NEVER;
}

void kernel_wake_now(void)
{
    Kernel *k = kernel();
    kernel_wake_cancel(); /* a notification takes the place of one that is still to come */
    if (!k->pump_queued) {
        k->pump_queued = TRUE;
        g_queue_push_tail(&k->runnable, NULL);
    }
}

void kernel_pause(void) { kernel()->paused = TRUE; }

static Slot *slot_first(Kernel *k)
{
    Slot *first = NULL;
    for (guint i = 0; i < k->slots->len; i++) {
        Slot *slot = &g_array_index(k->slots, Slot, i);
        if (slot->armed &&
            (!first || slot->at_ps < first->at_ps || (slot->at_ps == first->at_ps && slot->order < first->order)))
            first = slot;
    }
    return first;
}

SimTime kernel_foreign_delay_ps(void)
{
    Kernel *k = kernel();
    const Slot *slot = slot_first(k);
    const SimTime at_ps = k->pump_delta ? k->now_ps : MIN(k->pump_at_ps, slot ? slot->at_ps : SIMTIME_NEVER);
    return at_ps == SIMTIME_NEVER ? SIMTIME_NEVER : at_ps - k->now_ps;
}

/* All that may run in this instant, delta cycle by delta cycle. */
static void kernel_run_instant(Kernel *k)
{
    do {
        if (k->pump_delta) {
            k->pump_delta = FALSE;
            kernel_wake_now();
        }
        while (!g_queue_is_empty(&k->runnable)) {
            KernelThread *thread = g_queue_pop_head(&k->runnable);
            if (thread) {
                thread_run(k, thread);
            } else {
                k->pump_queued = FALSE;
                k->pump(k->user);
            }
        }
    } while (k->pump_delta && !k->paused);
}

/* FALSE: nobody waits for any time. */
static gboolean kernel_advance(Kernel *k)
{
    Slot *slot = slot_first(k);
    const SimTime at_ps = MIN(k->pump_at_ps, slot ? slot->at_ps : SIMTIME_NEVER);
    if (at_ps == SIMTIME_NEVER)
        return FALSE;
    k->now_ps = at_ps;
    if (k->pump_at_ps == at_ps)
        kernel_wake_now();
    for (; slot && slot->at_ps == at_ps; slot = slot_first(k)) {
        slot->armed = FALSE;
        k->notified(k->notified_user, slot->event);
    }
    return TRUE;
}

gboolean kernel_run(KernelPump pump, void *user, char **message)
{
    Kernel *k = kernel();
    (void)message;
    g_assert(!k->running);
    k->running = TRUE;
    k->paused = FALSE;
    k->pump = pump;
    k->user = user;
    k->pump_delta = TRUE;
    do
        kernel_run_instant(k);
    while (!k->paused && kernel_advance(k));
    kernel_wake_cancel();
    k->running = FALSE;
    return TRUE;
}

/* ---- the reference calendar */

void kernel_notify_set_handler(KernelNotified handler, void *user)
{
    kernel()->notified = handler;
    kernel()->notified_user = user;
}

guint32 kernel_notify_arm(Event *event, SimTime delay_ps)
{
    Kernel *k = kernel();
    guint32 at = 0;
    while (at < k->slots->len && g_array_index(k->slots, Slot, at).armed)
        at++;
    if (at == k->slots->len)
        g_array_set_size(k->slots, at + 1);
    g_array_index(k->slots, Slot, at) = (Slot){event, k->now_ps + delay_ps, k->order++, TRUE};
    return at;
}

void kernel_notify_disarm(guint32 slot) { g_array_index(kernel()->slots, Slot, slot).armed = FALSE; }

/* ---- waveforms: refused before they are asked for, see cli/live/samples_check.c */

KernelVcd *kernel_vcd_open(const char *path_without_suffix) { return (void)path_without_suffix, NULL; }
void kernel_vcd_trace(KernelVcd *vcd, const char *name, const void *value, int bytes, int bits)
{
    (void)vcd, (void)name, (void)value, (void)bytes, (void)bits;
}
void kernel_vcd_close(KernelVcd *vcd) { (void)vcd; }
