/* Input over zlib's gz layer, which reads plain files as they are. */
#include "traces/format/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "traces/record/record.h"

#define LINE_MAX_BYTES (1 << 20)
#define PROGRESS_BYTES (4 << 20)

struct Input {
    char *path;
    gzFile file; /* NULL: memory */
    const char *memory;
    gsize memory_bytes, memory_at;
    guint64 offset, file_bytes, progress_next;
    InputProgress progress;
    void *user;
    char *peeked;                          /* not yet consumed */
    gsize peek_bytes, peek_at, mark_bytes; /* mark: a byte-order mark before the text */
    char *buffer;                          /* of input_line */
    gsize buffer_bytes, buffer_at;
    GString *line;
    guint32 line_number;
    gboolean line_ended;
};

Input *input_open(const char *path, InputProgress progress, void *user, GError **error)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_OPEN, "%s: %s", path, g_strerror(errno));
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    if (S_ISDIR(st.st_mode)) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_OPEN, "%s: is a folder, not a trace file", path);
        close(fd);
        return NULL;
    }
    if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_OPEN, "%s: is a device; a file or a pipe is right", path);
        close(fd);
        return NULL;
    }
    return input_open_file(path, fd, progress, user);
}

Input *input_open_file(const char *path, int fd, InputProgress progress, void *user)
{
    struct stat st;
    Input *input = g_new0(Input, 1);
    input->path = g_strdup(path);
    input->file = gzdopen(fd, "rb");
    gzbuffer(input->file, 256 << 10);
    input->file_bytes = fstat(fd, &st) == 0 ? st.st_size : 0;
    input->progress = progress;
    input->user = user;
    return input;
}

Input *input_open_memory(const char *name, const void *data, gsize bytes)
{
    Input *input = g_new0(Input, 1);
    input->path = g_strdup(name);
    input->memory = data;
    input->memory_bytes = bytes;
    return input;
}

void input_close(Input *input)
{
    if (!input)
        return;
    if (input->file)
        gzclose(input->file);
    g_free(input->path);
    g_free(input->peeked);
    g_free(input->buffer);
    if (input->line)
        g_string_free(input->line, TRUE);
    g_free(input);
}

const char *input_path(const Input *input) { return input->path; }
guint64 input_offset(const Input *input) { return input->offset; }
guint32 input_line_number(const Input *input) { return input->line_number; }
gboolean input_line_ended(const Input *input) { return input->line_ended; }

static gssize read_gz(Input *input, void *to, gsize want, GError **error)
{
    int got = gzread(input->file, to, want);
    int code;
    const char *text = gzerror(input->file, &code);
    if (got < 0 || (got == 0 && code == Z_BUF_ERROR)) {
        gboolean cut = code == Z_BUF_ERROR;
        g_set_error(error, TRACE_ERROR, cut ? TRACE_ERROR_CUT_OFF : TRACE_ERROR_FORMAT,
                    cut ? "%s: the gzip file ends too early, after %" G_GUINT64_FORMAT
                          " uncompressed bytes; copy it again%.0s"
                        : "%s: broken gzip data after %" G_GUINT64_FORMAT " uncompressed bytes (%s)",
                    input->path, input->offset, text);
        return -1;
    }
    if (input->progress && input->offset + got >= input->progress_next) {
        input->progress_next = input->offset + got + PROGRESS_BYTES;
        z_off_t at = gzoffset(input->file);
        input->progress(input->user, at < 0 ? 0 : at, input->file_bytes);
    }
    return got;
}

static gssize read_raw(Input *input, void *to, gsize want, GError **error)
{
    if (input->file)
        return read_gz(input, to, want, error);
    gsize n = MIN(want, input->memory_bytes - input->memory_at);
    memcpy(to, input->memory + input->memory_at, n);
    input->memory_at += n;
    return n;
}

gssize input_peek(Input *input, const char **bytes, GError **error)
{
    if (!input->peeked) {
        input->peeked = g_malloc(INPUT_PEEK);
        while (input->peek_bytes < INPUT_PEEK) {
            GError *broken = NULL;
            gssize got = read_raw(input, input->peeked + input->peek_bytes, INPUT_PEEK - input->peek_bytes, &broken);
            if (got < 0 && input->peek_bytes == 0) {
                g_propagate_error(error, broken);
                return -1;
            }
            g_clear_error(&broken); /* the reader will meet it again where it belongs */
            if (got <= 0)
                break;
            input->peek_bytes += got;
        }
        gboolean mark = input->peek_bytes >= 3 && memcmp(input->peeked, "\xef\xbb\xbf", 3) == 0;
        input->mark_bytes = mark ? 3 : 0;
        input->peek_at = input->mark_bytes;
    }
    *bytes = input->peeked + input->mark_bytes;
    return input->peek_bytes - input->mark_bytes;
}

gssize input_read(Input *input, void *to, gsize want, GError **error)
{
    const char *head;
    if (!input->peeked && input->offset == 0 && input_peek(input, &head, error) < 0)
        return -1;
    if (input->peek_at < input->peek_bytes) {
        gsize n = MIN(want, input->peek_bytes - input->peek_at);
        memcpy(to, input->peeked + input->peek_at, n);
        input->peek_at += n;
        input->offset += n;
        return n;
    }
    gssize got = read_raw(input, to, want, error);
    if (got > 0)
        input->offset += got;
    return got;
}

const char *input_line(Input *input, GError **error)
{
    if (!input->buffer) {
        input->buffer = g_malloc(64 << 10);
        input->line = g_string_new(NULL);
    }
    g_string_truncate(input->line, 0);
    input->line_ended = FALSE;
    for (gboolean any = FALSE;; any = TRUE) {
        if (input->buffer_at == input->buffer_bytes) {
            gssize got = input_read(input, input->buffer, 64 << 10, error);
            if (got < 0 || (got == 0 && !any && input->line->len == 0))
                return NULL;
            input->buffer_at = 0;
            input->buffer_bytes = got;
            if (got == 0)
                break;
        }
        const char *from = input->buffer + input->buffer_at;
        gsize left = input->buffer_bytes - input->buffer_at;
        const char *end = memchr(from, '\n', left);
        gsize n = end ? (gsize)(end - from) : left;
        if (memchr(from, 0, n) || input->line->len + n > LINE_MAX_BYTES) {
            g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT, "%s:%u: %s", input->path, input->line_number + 1,
                        input->line->len + n > LINE_MAX_BYTES ? "a line over 1 MiB: not a text trace"
                                                              : "a 0 byte: not a text trace");
            return NULL;
        }
        g_string_append_len(input->line, from, n);
        input->buffer_at += n;
        if (end) {
            input->buffer_at++;
            input->line_ended = TRUE;
            break;
        }
    }
    if (input->line->len > 0 && input->line->str[input->line->len - 1] == '\r')
        g_string_truncate(input->line, input->line->len - 1);
    input->line_number++;
    return input->line->str;
}
