/* See cut.h. */
#include "machine/wire/cut.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct {
    guintptr from, to;
    guint32 region;
    gboolean lost;
} Watched;

/* What the handler needs of the process. */
static struct {
    GArray *watched; /* Watched; NULL: no handler yet */
    guintptr page;
    gint lost; /* how many regions are to be told */
    struct sigaction before;
} cut;

static void on_bus(int number, siginfo_t *info, void *context)
{
    guintptr at = (guintptr)info->si_addr;

    (void)context;
    for (guint i = 0; info->si_code == BUS_ADRERR && i < cut.watched->len; i++) {
        Watched *watched = &g_array_index(cut.watched, Watched, i);
        if (at < watched->from || at >= watched->to)
            continue;
        if (mmap((void *)(at / cut.page * cut.page), cut.page, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
            break;
        cut.lost += !watched->lost;
        watched->lost = TRUE;
        return;
    }
    sigaction(number, &cut.before, NULL); /* it comes again, to whom it concerns */
}

void cut_watch(const void *bytes, guint64 n, guint32 region)
{
    const Watched watched = {(guintptr)bytes, (guintptr)bytes + n, region, FALSE};
    struct sigaction ours = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO};

    if (!bytes)
        return;
    if (!cut.watched) {
        cut.watched = g_array_new(FALSE, FALSE, sizeof(Watched));
        cut.page = (guintptr)sysconf(_SC_PAGESIZE);
        sigemptyset(&ours.sa_mask);
        sigaction(SIGBUS, &ours, &cut.before);
    }
    g_array_append_val(cut.watched, watched);
}

void cut_sweep(gboolean (*is_gone)(void *user, guint32 region), void *user)
{
    for (guint i = 0; cut.watched && i < cut.watched->len;) {
        const Watched *watched = &g_array_index(cut.watched, Watched, i);
        if (!is_gone(user, watched->region)) {
            i++;
            continue;
        }
        cut.lost -= watched->lost;
        g_array_remove_index_fast(cut.watched, i);
    }
}

guint32 cut_take(void)
{
    for (guint i = 0; cut.lost > 0 && i < cut.watched->len; i++) {
        Watched *watched = &g_array_index(cut.watched, Watched, i);
        if (!watched->lost)
            continue;
        watched->lost = FALSE;
        cut.lost--;
        return watched->region;
    }
    cut.lost = 0;
    return 0;
}
