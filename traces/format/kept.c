/* What comes from a pipe, kept so that it can be read again. */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "traces/format/input.h"
#include "traces/record/record.h"

#define KEPT_BEGINNING ((guint64)1 << 20)
#define KEPT_CHUNK ((gsize)256 << 10)

struct InputKept {
    char *path;
    int pipe, file;
    guint64 bytes;
};

static int kept_file(GError **error)
{
    char *name = NULL;
    int fd = g_file_open_tmp("fanout-XXXXXX", &name, error);
    if (fd >= 0)
        g_unlink(name);
    g_free(name);
    return fd;
}

static gboolean kept_fail(const InputKept *kept, const char *what, GError **error)
{
    g_set_error(error, TRACE_ERROR, TRACE_ERROR_OPEN, "%s: %s", kept->path, what);
    return FALSE;
}

static gboolean write_all(int fd, const char *bytes, gsize n)
{
    while (n > 0) {
        gssize done = write(fd, bytes, n);
        if (done < 0 && errno != EINTR)
            return FALSE;
        bytes += MAX(done, 0);
        n -= (gsize)MAX(done, 0);
    }
    return TRUE;
}

/* From the pipe until there are so many bytes, or its end. */
static gboolean kept_take(InputKept *kept, guint64 until, GError **error)
{
    char *chunk = g_malloc(KEPT_CHUNK);
    gboolean ok = TRUE;
    for (gssize got = 1; got > 0 && ok && kept->bytes < until;) {
        do {
            got = read(kept->pipe, chunk, KEPT_CHUNK);
        } while (got < 0 && errno == EINTR);
        ok = got >= 0 && write_all(kept->file, chunk, (gsize)got);
        kept->bytes += (guint64)MAX(got, 0);
        if (!ok)
            kept_fail(kept, g_strerror(errno), error);
    }
    g_free(chunk);
    return ok;
}

InputKept *input_kept_new(const char *path, GError **error)
{
    struct stat st;
    if (stat(path, &st) != 0 || (!S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode)))
        return NULL;
    InputKept *kept = g_new0(InputKept, 1);
    GError *why = NULL;
    kept->path = g_strdup(path);
    kept->pipe = open(path, O_RDONLY | O_CLOEXEC);
    kept->file = kept->pipe >= 0 ? kept_file(&why) : -1;
    if (kept->file < 0) {
        kept_fail(kept, why ? why->message : g_strerror(errno), error);
        g_clear_error(&why);
    }
    if (kept->file < 0 || !kept_take(kept, KEPT_BEGINNING, error)) {
        input_kept_free(kept);
        return NULL;
    }
    return kept;
}

gboolean input_kept_rest(InputKept *kept, GError **error)
{
    if (lseek(kept->file, 0, SEEK_END) < 0)
        return kept_fail(kept, g_strerror(errno), error);
    if (!kept_take(kept, INPUT_KEPT_MAX, error))
        return FALSE;
    return kept->bytes < INPUT_KEPT_MAX ||
           kept_fail(kept, "over 16 GiB come from the pipe; a file is right for so much", error);
}

Input *input_open_kept(const InputKept *kept, InputProgress progress, void *user, GError **error)
{
    int fd = fcntl(kept->file, F_DUPFD_CLOEXEC, 0);
    if (fd < 0 || lseek(fd, 0, SEEK_SET) < 0) {
        kept_fail(kept, g_strerror(errno), error);
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    return input_open_file(kept->path, fd, progress, user);
}

void input_kept_free(InputKept *kept)
{
    if (!kept)
        return;
    if (kept->pipe >= 0)
        close(kept->pipe);
    if (kept->file >= 0)
        close(kept->file);
    g_free(kept->path);
    g_free(kept);
}
