/* See signals.h. */
#include "api/cuda/context/signals.h"

#include <signal.h>
#include <unistd.h>

#include "api/cuda/context/report.h"
#include "machine/wire/client.h"
#include "sim/host_clock.h"

/* `timeout` and shells signal a process group, and `fanout exec` hands on what it gets: one signal comes twice. */
#define SAME_SIGNAL_US 300000

static struct {
    gint number;  /* atomic: of a signal that is to end the process, once the report is written; 0: none came */
    gint64 at_us; /* when it came */
    pid_t pid;    /* of the process whose engine looks at it: not of one that it forked */
} signals;

/* Ctrl-C or SIGTERM: the engine's thread writes the report and ends the process as the signal would have. The second
 * one, and one that comes before there is an engine, ends it at once. */
static void on_signal(int number)
{
    if (signals.pid == getpid() && cuda_get()->engine) {
        gint64 now_us = host_clock_us();
        if (g_atomic_int_compare_and_exchange(&signals.number, 0, number)) {
            signals.at_us = now_us;
            if (engine_remote_self(cuda_get()->engine))
                wire_wake(cuda_get()->engine);
            return;
        }
        if (now_us - signals.at_us < SAME_SIGNAL_US)
            return;
    }
    signal(number, SIG_DFL);
    raise(number);
}

/* A process that writes its report already is at its end, and is left to it. */
static void end_by_signal(int number)
{
    if (!cuda_report_write(cuda_get(), number == SIGINT ? "SIGINT" : "SIGTERM"))
        return;
    signal(number, SIG_DFL);
    kill(getpid(), number);
    for (;;)
        pause();
}

static gboolean own_handler(void)
{
    struct sigaction now;
    return sigaction(SIGINT, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == on_signal;
}

/* A program that has handlers of its own keeps them: then the status page of `fanout exec` tells of Ctrl-C, kernels
 * that run are ended, and the program goes on to what its handler wants. */
void cuda_signals_watch(EngineSpec *spec)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    struct sigaction old, own = {.sa_handler = on_signal};

    spec->interrupts = cuda_report_interrupts();
    if (!spec->interrupts) /* not under `fanout exec`: signals are the program's affair alone */
        return;
    signals.pid = getpid();
    spec->signalled = &signals.number;
    spec->on_signal = end_by_signal;
    spec->signal_comes = own_handler;
    for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
        if (sigaction(numbers[i], NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) && old.sa_handler == SIG_DFL)
            sigaction(numbers[i], &own, NULL);
}
