/* See interrupt.h. */
#include "cli/interrupt.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/verb/verb.h"

static gint interrupt_number; /* these are for the signal handler alone */
static gint interrupt_looks;

const char *interrupt_name(gint number) { return number == SIGTERM ? "ended (SIGTERM)" : "interrupted (SIGINT)"; }

/* Of functions that a handler may call; standard error may be closed. */
static void interrupt_say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return;
}

static void interrupt_on_signal(int number)
{
    if (g_atomic_int_compare_and_exchange(&interrupt_number, 0, number)) {
        if (g_atomic_int_get(&interrupt_looks))
            return;
        interrupt_say("fanout: ");
        interrupt_say(interrupt_name(number));
        interrupt_say("\n");
    }
    _exit(EXIT_INTERRUPTED);
}

static void interrupt_set(int number, gboolean always)
{
    struct sigaction before, action = {.sa_handler = interrupt_on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(number, NULL, &before);
    if (always || before.sa_handler == SIG_DFL)
        sigaction(number, &action, NULL);
}

void interrupt_catch(void)
{
    interrupt_set(SIGINT, FALSE);
    interrupt_set(SIGTERM, FALSE);
}

const gint *interrupt_look(void)
{
    g_atomic_int_set(&interrupt_looks, TRUE);
    interrupt_set(SIGINT, TRUE);
    interrupt_set(SIGTERM, TRUE);
    return &interrupt_number;
}
