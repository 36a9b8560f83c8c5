/* See file.h. */
#include "sim/report/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static gboolean file_refuse(const char *what, const char *path, int code, GError **error)
{
    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(code), "%s: '%s' cannot be written: %s", what, path,
                g_strerror(code));
    return FALSE;
}

gboolean file_check(const char *what, const char *path, GError **error)
{
    struct stat status;
    if (*path == '\0')
        return file_refuse(what, path, ENOENT, error);
    if (stat(path, &status) == 0) {
        if (S_ISDIR(status.st_mode))
            return file_refuse(what, path, EISDIR, error);
        return access(path, W_OK) == 0 || file_refuse(what, path, errno, error);
    }
    if (errno != ENOENT)
        return file_refuse(what, path, errno, error);
    g_autofree char *folder = g_path_get_dirname(path);
    if (g_str_has_suffix(path, "/"))
        return file_refuse(what, path, EISDIR, error);
    if (stat(folder, &status) != 0)
        return file_refuse(what, path, errno, error);
    if (!S_ISDIR(status.st_mode))
        return file_refuse(what, path, ENOTDIR, error);
    return access(folder, W_OK | X_OK) == 0 || file_refuse(what, path, errno, error);
}

static gboolean file_put(int fd, const char *bytes, gsize n)
{
    while (n > 0) {
        gssize done = write(fd, bytes, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return FALSE;
        bytes += done;
        n -= (gsize)done;
    }
    return TRUE;
}

/* Of a name in /dev. What else writes there shares where it stands: a file that is opened anew by that name would be
 * written over, and a socket cannot be. -1: it is another file, or one that was closed, in whose place something stands
 * that can only be read; by its name that takes everything. */
static int file_standard(const char *path)
{
    const int fd = g_str_equal(path, "/dev/stdout")   ? STDOUT_FILENO
                   : g_str_equal(path, "/dev/stderr") ? STDERR_FILENO
                                                      : -1;
    const int flags = fd >= 0 ? fcntl(fd, F_GETFL) : -1;
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY ? fd : -1;
}

/* In place: what cannot be replaced, since it is no plain file, or its folder allows no other file in it. */
static gboolean file_write_open(const char *path, int how, const char *bytes, gsize n, GError **error)
{
    const int standard = file_standard(path);
    int fd = standard >= 0 ? dup(standard) : open(path, O_WRONLY | how | O_CLOEXEC);
    gboolean good = fd >= 0 && file_put(fd, bytes, n);
    int code = errno;
    if (fd >= 0 && close(fd) != 0 && good) {
        good = FALSE;
        code = errno;
    }
    return good || file_refuse("output", path, code, error);
}

gboolean file_append(const char *path, const char *bytes, gsize n, GError **error)
{
    return file_write_open(path, O_APPEND, bytes, n, error);
}

gboolean file_write(const char *path, const char *bytes, gsize n, GError **error)
{
    struct stat status;
    g_autofree char *folder = g_path_get_dirname(path);
    gboolean there = stat(path, &status) == 0;
    if (file_standard(path) >= 0)
        return file_write_open(path, 0, bytes, n, error);
    if (there && (!S_ISREG(status.st_mode) || access(folder, W_OK) != 0))
        return file_write_open(path, O_TRUNC, bytes, n, error);
    return g_file_set_contents(path, bytes, (gssize)n, error);
}
