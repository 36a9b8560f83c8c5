/* See signals.h. */
#include "api/cuda/context/signals.h"

#include <signal.h>
#include <unistd.h>

#include "api/cuda/context/report.h"

static gint signalled; /* atomic: a signal that is to end the process, once the report is written */

/* Ctrl-C while a kernel is busy: the engine's thread writes the report and ends the process as the signal would have.
 * The second one, and one that finds nothing running, ends it at once. */
static void on_signal(int number)
{
    if (g_atomic_int_get(&signalled) == 0 && cuda_get()->engine != NULL && engine_is_busy(cuda_get()->engine)) {
        g_atomic_int_set(&signalled, number);
        return;
    }
    signal(number, SIG_DFL);
    raise(number);
}

static void end_by_signal(int number)
{
    cuda_report_write(cuda_get(), number == SIGINT ? "SIGINT" : "SIGTERM");
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
    if (spec->interrupts == NULL) /* not under `fanout exec`: signals are the program's affair alone */
        return;
    spec->signalled = &signalled;
    spec->on_signal = end_by_signal;
    spec->signal_comes = own_handler;
    for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
        if (sigaction(numbers[i], NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) && old.sa_handler == SIG_DFL)
            sigaction(numbers[i], &own, NULL);
}
