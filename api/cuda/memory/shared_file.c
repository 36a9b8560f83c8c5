/* See shared_file.h. */
#include "api/cuda/memory/shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "machine/engine/proc_stat.h"
#include "machine/wire/wire.h"

/* It is looked at before it is opened: opening what is no file may wait, or do something. */
int shared_file_open(gint32 pid, gint32 fd, const guint64 identity[2])
{
    g_autofree char *path = g_strdup_printf("/proc/%d/fd/%d", pid, fd);
    guint64 found[2], bytes;
    int opened = -1, look = open(path, O_PATH | O_CLOEXEC);

    if (look < 0)
        return -1;
    if (sealed_identity(look, found, &bytes) && found[0] == identity[0] && found[1] == identity[1]) {
        g_autofree char *own = g_strdup_printf("/proc/self/fd/%d", look);
        opened = wire_own_fd(open(own, O_RDWR | O_CLOEXEC));
    } else {
        errno = ENOENT;
    }
    int error = errno;
    close(look);
    errno = error;
    return opened;
}

/* Dead, but its parent has not asked for its end yet: it answers signals, and holds nothing. Not so a process whose
 * first thread alone has ended. */
static gboolean is_zombie(gint32 pid)
{
    ProcStat stat;

    return proc_stat_read(pid, &stat) && (stat.state == 'Z' || stat.state == 'X') && stat.threads <= 1;
}

gboolean shared_file_holder_lives(gint32 pid)
{
    return pid > 0 && (kill(pid, 0) == 0 || errno == EPERM) && !is_zombie(pid);
}
