/* See sealed.h. */
#include "machine/wire/sealed.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/wire/wire.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

int sealed_new(const char *name, guint64 bytes)
{
    int fd = wire_own_fd(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));

    if (fd < 0)
        return -1;
    if (bytes <= G_MAXINT64 && ftruncate(fd, (off_t)bytes) == 0 && fcntl(fd, F_ADD_SEALS, SEALS) == 0)
        return fd;
    close(fd);
    return -1;
}

gboolean sealed_is_sound(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS), mode = fcntl(fd, F_GETFL);

    return seals >= 0 && (seals & SEALS) == SEALS && (seals & F_SEAL_WRITE) == 0 && mode >= 0 &&
           (mode & O_ACCMODE) == O_RDWR;
}

gboolean sealed_identity(int fd, guint64 identity[2], guint64 *bytes)
{
    struct stat st;

    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return FALSE;
    identity[0] = st.st_dev;
    identity[1] = st.st_ino;
    *bytes = (guint64)st.st_size;
    return TRUE;
}
