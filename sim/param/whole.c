#include "sim/param/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define WHOLE_CHUNK ((gsize)64 << 10)

static gboolean whole_fail(const char *path, int code, GError **error)
{
    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(code), "Failed to open file “%s”: %s", path,
                g_strerror(code));
    return FALSE;
}

/* FALSE: errno says why. */
static gboolean whole_fill(int fd, GByteArray *bytes)
{
    gssize got = 1;
    while (got > 0 && bytes->len <= WHOLE_BYTES_MAX) {
        const guint at = bytes->len;
        g_byte_array_set_size(bytes, at + (guint)WHOLE_CHUNK);
        do
            got = read(fd, bytes->data + at, WHOLE_CHUNK);
        while (got < 0 && errno == EINTR);
        g_byte_array_set_size(bytes, at + (guint)MAX(got, 0));
    }
    return got >= 0;
}

gboolean whole_read(const char *path, char **text, gsize *length, GError **error)
{
    static const guint8 mark[] = {0xef, 0xbb, 0xbf};
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return whole_fail(path, errno, error);
    GByteArray *bytes = g_byte_array_new();
    const gboolean read = whole_fill(fd, bytes);
    const int code = errno;
    close(fd);
    if (!read || bytes->len > WHOLE_BYTES_MAX) {
        if (read)
            g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "%s: over 256 MiB: a text file is right", path);
        else
            whole_fail(path, code, error);
        g_byte_array_unref(bytes);
        return FALSE;
    }
    if (bytes->len >= sizeof mark && memcmp(bytes->data, mark, sizeof mark) == 0)
        g_byte_array_remove_range(bytes, 0, sizeof mark);
    if (length)
        *length = bytes->len;
    g_byte_array_append(bytes, (const guint8 *)"", 1);
    *text = (char *)g_byte_array_free(bytes, FALSE);
    return TRUE;
}
