/* See shared_file.h. */
#include "api/cuda/memory/shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* A descriptor of our own, closed on exec, in place of a new one; -1 stays -1. Never 0 to 2: of a program
 * that runs with these closed, what it prints would land in it. */
static int own_fd(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int own = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(fd);
    return own;
}

int shared_file_new(const char *name, guint64 bytes)
{
    int fd = own_fd(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));

    if (fd < 0)
        return -1;
    if (bytes <= G_MAXINT64 && ftruncate(fd, (off_t)bytes) == 0 && fcntl(fd, F_ADD_SEALS, SEALS) == 0)
        return fd;
    close(fd);
    return -1;
}

gboolean shared_file_is_sealed(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS);
    int mode = fcntl(fd, F_GETFL);
    return seals >= 0 && (seals & SEALS) == SEALS && (seals & F_SEAL_WRITE) == 0 && mode >= 0 &&
           (mode & O_ACCMODE) == O_RDWR;
}

gboolean identity_of_fd(int fd, guint64 identity[2], guint64 *bytes)
{
    struct stat st;

    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return FALSE;
    identity[0] = st.st_dev;
    identity[1] = st.st_ino;
    *bytes = (guint64)st.st_size;
    return TRUE;
}

/* It is looked at before it is opened: opening what is no file may wait, or do something. */
int shared_file_open(gint32 pid, gint32 fd, const guint64 identity[2])
{
    g_autofree char *path = g_strdup_printf("/proc/%d/fd/%d", pid, fd);
    guint64 found[2], bytes;
    int opened = -1, look = open(path, O_PATH | O_CLOEXEC);

    if (look < 0)
        return -1;
    if (identity_of_fd(look, found, &bytes) && found[0] == identity[0] && found[1] == identity[1]) {
        g_autofree char *own = g_strdup_printf("/proc/self/fd/%d", look);
        opened = own_fd(open(own, O_RDWR | O_CLOEXEC));
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
    g_autofree char *path = g_strdup_printf("/proc/%d/stat", pid), *text = NULL;
    int threads = 0;
    char state = 'R';

    if (!g_file_get_contents(path, &text, NULL, NULL))
        return FALSE;
    const char *behind = strrchr(text, ')'); /* of its name, which may have any character */
    if (!behind || sscanf(behind, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d", &state,
                          &threads) != 2)
        return FALSE;
    return (state == 'Z' || state == 'X') && threads <= 1;
}

gboolean shared_file_holder_lives(gint32 pid)
{
    return pid > 0 && (kill(pid, 0) == 0 || errno == EPERM) && !is_zombie(pid);
}
