/* SystemC behind kernel.h.
 *
 * Facts this file rests on (libsystemc 2.3.3, 2.3.4): processes may be spawned at any time,
 * modules only before the first sc_start(); sc_stop() is final, so runs end with sc_pause(); the
 * order of timed notifications at one time is not promised, so order never depends on it: threads
 * are resumed by immediate notification, one after another; the library leaves sc_main()
 * undefined, and a shared library of ours could not be loaded without one. */
#define SC_INCLUDE_DYNAMIC_PROCESSES
#include "sim/engine/kernel.h"

#include <atomic>
#include <map>
#include <setjmp.h>
#include <systemc>
#include <vector>

#include "sim/engine/stack.h"

#ifdef __SANITIZE_ADDRESS__
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>
#endif

using namespace sc_core;

extern "C" __attribute__((visibility("default"))) int sc_main(int argc, char **argv);
extern "C" int sc_main(int, char **) { return 0; }

static sc_time time_of(SimTime ps) { return sc_time::from_value(ps); }

/* ---- threads ---- */

struct KernelThread {
    sc_event go;
    jmp_buf home; /* where kernel_thread_leave() goes */
    KernelMain main = nullptr;
    void *arg = nullptr;
    bool ending = false;
    gsize stack_bytes = 0;
    Stack stack = {};
};

/* A notification for one event of the reference calendar. */
struct Slot {
    sc_event due;
    Event *event = nullptr;
};

struct Kernel {
    std::atomic<bool> running{false};
    sc_event wake;
    KernelPump pump = nullptr;
    void *user = nullptr;
    KernelNotified notified = nullptr;
    void *notified_user = nullptr;
    std::map<gsize, std::vector<KernelThread *>> parked; /* by stack size */
    std::vector<Slot *> slots;
    std::vector<guint32> slots_free;
    guint threads_parked = 0;
};

static void report(const sc_report &what, const sc_actions &actions)
{
    if (what.get_severity() == SC_WARNING && actions & SC_DISPLAY)
        g_printerr("fanout: SystemC: %s: %s\n", what.get_msg_type(), what.get_msg());
    if (what.get_severity() == SC_FATAL) {
        g_printerr("fanout: SystemC: %s: %s\n", what.get_msg_type(), what.get_msg());
        abort();
    }
    if (actions & SC_THROW)
        throw what;
}

static Kernel *kernel()
{
    static Kernel *only = nullptr;

    if (only == nullptr) {
        sc_report_handler::set_handler(report);
        sc_report_handler::set_actions(SC_ID_NO_SC_START_ACTIVITY_, SC_DO_NOTHING);
        only = new Kernel;
        sc_spawn_options options;
        options.spawn_method();
        options.dont_initialize();
        options.set_sensitivity(&only->wake);
        sc_spawn([] { only->pump(only->user); }, "fanout_pump", &options);
    }
    return only;
}

void kernel_init(void) { kernel(); }

/* SystemC 2.3.4 tells the address sanitizer of each switch between stacks, but does not know where the first one lies:
 * the sanitizer then takes it for empty, and whatever only that stack points to for lost. */
static void thread_tell_stack(void)
{
#ifdef __SANITIZE_ADDRESS__
    pthread_attr_t attributes;
    void *base, *fake = nullptr;
    size_t bytes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    pthread_attr_getstack(&attributes, &base, &bytes);
    pthread_attr_destroy(&attributes);
    __sanitizer_start_switch_fiber(&fake, base, bytes);
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
}

gboolean kernel_run(KernelPump pump, void *user, char **message)
{
    Kernel *k = kernel();
    bool already = k->running.exchange(true);
    bool fine = true;

    g_assert(!already); /* SystemC knows one simulation at a time */
    k->pump = pump;
    k->user = user;
    stack_guard_this_thread();
    try {
        k->wake.notify(SC_ZERO_TIME);
        sc_start(sc_max_time() - sc_time_stamp(), SC_EXIT_ON_STARVATION);
        k->wake.cancel();
    } catch (const std::exception &error) {
        *message = g_strdup(error.what());
        fine = false;
    } catch (...) {
        *message = g_strdup("an exception of unknown type");
        fine = false;
    }
    thread_tell_stack();
    k->running = false;
    return fine;
}

SimTime kernel_now_ps(void) { return sc_time_stamp().value(); }

void kernel_wake_after(SimTime delay_ps) { kernel()->wake.notify(time_of(delay_ps)); }

void kernel_wake_cancel(void) { kernel()->wake.cancel(); }

void kernel_wake_now(void) { kernel()->wake.notify(); }

void kernel_pause(void) { sc_pause(); }

SimTime kernel_foreign_delay_ps(void)
{
    if (!sc_pending_activity())
        return SIMTIME_NEVER;
    return MIN(sc_time_to_pending_activity().value(), SIMTIME_NEVER);
}

static void thread_park(KernelThread *thread)
{
    Kernel *k = kernel();
    k->parked[thread->stack_bytes].push_back(thread);
    k->threads_parked++;
}

/* One job after another, until told to end. */
static void thread_body(KernelThread *thread)
{
    stack_find(&thread->stack, thread->stack_bytes);
    while (!thread->ending) {
        if (setjmp(thread->home) == 0)
            thread->main(thread->arg);
        stack_enter(nullptr);
        thread_park(thread);
        wait();
        if (!thread->ending) {
            stack_enter(&thread->stack);
            stack_clear(&thread->stack);
        }
    }
    delete thread;
}

KernelThread *kernel_thread_take(gsize stack_bytes)
{
    Kernel *k = kernel();
    auto found = k->parked.find(stack_bytes);

    if (found == k->parked.end() || found->second.empty())
        return nullptr;
    KernelThread *thread = found->second.back();
    found->second.pop_back();
    k->threads_parked--;
    return thread;
}

KernelThread *kernel_thread_new(gsize stack_bytes)
{
    KernelThread *thread = new KernelThread;
    sc_spawn_options options;

    thread->stack_bytes = stack_bytes;
    options.set_stack_size((int)stack_bytes);
    options.dont_initialize();
    options.set_sensitivity(&thread->go);
    sc_spawn([thread] { thread_body(thread); }, sc_gen_unique_name("fanout_process"), &options);
    return thread;
}

void kernel_thread_start(KernelThread *thread, KernelMain main, void *arg, const char *name)
{
    thread->main = main;
    thread->arg = arg;
    thread->stack.name = name;
    thread->go.notify();
}

void kernel_thread_resume(KernelThread *thread) { thread->go.notify(); }

void kernel_thread_yield(KernelThread *thread)
{
    stack_check(&thread->stack);
    wait();
    stack_enter(&thread->stack);
}

void kernel_thread_leave(KernelThread *thread) { longjmp(thread->home, 1); }

void kernel_threads_trim(guint keep)
{
    Kernel *k = kernel();

    for (auto &entry : k->parked) {
        while (k->threads_parked > keep && !entry.second.empty()) {
            KernelThread *thread = kernel_thread_take(entry.first);
            thread->ending = true;
            thread->go.notify();
        }
    }
}

gsize kernel_thread_stack_used(const KernelThread *thread) { return stack_used(&thread->stack); }

guint kernel_threads_parked(void) { return kernel()->threads_parked; }

/* ---- one notification for one event ---- */

void kernel_notify_set_handler(KernelNotified handler, void *user)
{
    kernel()->notified = handler;
    kernel()->notified_user = user;
}

static guint32 slot_new()
{
    Kernel *k = kernel();
    guint32 index = (guint32)k->slots.size();
    Slot *slot = new Slot;
    sc_spawn_options options;

    k->slots.push_back(slot);
    options.spawn_method();
    options.dont_initialize();
    options.set_sensitivity(&slot->due);
    auto body = [k, slot, index] {
        Event *event = slot->event;
        slot->event = nullptr;
        k->slots_free.push_back(index);
        k->notified(k->notified_user, event);
    };
    sc_spawn(body, sc_gen_unique_name("fanout_event"), &options);
    return index;
}

guint32 kernel_notify_arm(Event *event, SimTime delay_ps)
{
    Kernel *k = kernel();
    guint32 index;

    if (k->slots_free.empty()) {
        index = slot_new();
    } else {
        index = k->slots_free.back();
        k->slots_free.pop_back();
    }
    k->slots[index]->event = event;
    k->slots[index]->due.notify(time_of(delay_ps));
    return index;
}

void kernel_notify_disarm(guint32 index)
{
    Kernel *k = kernel();

    k->slots[index]->due.cancel();
    k->slots[index]->event = nullptr;
    k->slots_free.push_back(index);
}

/* ---- other people's C++ ---- */

gboolean kernel_call(KernelMain call, void *arg, char **message)
{
    try {
        call(arg);
    } catch (const std::exception &error) {
        *message = g_strdup(error.what());
        return FALSE;
    } catch (...) {
        *message = g_strdup("an exception of unknown type");
        return FALSE;
    }
    return TRUE;
}

/* ---- waveforms ---- */

struct KernelVcd {
    sc_trace_file *file;
};

KernelVcd *kernel_vcd_open(const char *path_without_suffix)
{
    kernel();
    sc_trace_file *file = sc_create_vcd_trace_file(path_without_suffix);
    file->set_time_unit(1, SC_PS);
    return new KernelVcd{file};
}

void kernel_vcd_trace(KernelVcd *vcd, const char *name, const void *value, int bytes, int bits)
{
    switch (bytes) {
    case 1: sc_trace(vcd->file, *static_cast<const unsigned char *>(value), name, bits); break;
    case 4: sc_trace(vcd->file, *static_cast<const unsigned int *>(value), name, bits); break;
    default: sc_trace(vcd->file, *static_cast<const sc_dt::uint64 *>(value), name, bits); break;
    }
}

void kernel_vcd_close(KernelVcd *vcd)
{
    /* An instant is written when time leaves it. */
    try {
        sc_start(time_of(1), SC_RUN_TO_TIME);
    } catch (const std::exception &error) {
        g_printerr("fanout: SystemC: %s\n", error.what());
    }
    sc_close_vcd_trace_file(vcd->file);
    delete vcd;
}
