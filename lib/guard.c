/* Who may use the simulators of this process: the thread that opened the first of those that are open. SystemC's kernel
 * is one in a process and belongs to one thread at a time; what would be a crash there is an error here. */
#include "lib/internal.h"

static struct {
    GMutex mutex; /* of the rest */
    GThread *owner;
    guint open;
    gboolean running; /* read and written by the owner alone */
} guard;

FoSimError guard_open(void)
{
    g_mutex_lock(&guard.mutex);
    gboolean own = guard.open == 0 || guard.owner == g_thread_self();
    if (own) {
        g_atomic_pointer_set(&guard.owner, g_thread_self());
        guard.open++;
    }
    g_mutex_unlock(&guard.mutex);
    return own ? FO_SIM_OK : FO_SIM_ERROR_THREAD;
}

void guard_close(void)
{
    g_mutex_lock(&guard.mutex);
    if (--guard.open == 0)
        g_atomic_pointer_set(&guard.owner, NULL);
    g_mutex_unlock(&guard.mutex);
}

gboolean guard_is_own(void) { return g_atomic_pointer_get(&guard.owner) == g_thread_self(); }

gboolean guard_run(void)
{
    gboolean good = !guard.running;
    guard.running = TRUE;
    return good;
}

void guard_end_run(void) { guard.running = FALSE; }
