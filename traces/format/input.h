/* Bytes of a trace file, gzip or plain, front to back, and how far they have been read. */
#ifndef TRACES_FORMAT_INPUT_H
#define TRACES_FORMAT_INPUT_H

#include <glib.h>

typedef struct Input Input;

/* Told now and then: bytes of the file (compressed, if it is) read so far, and all of them. */
typedef void (*InputProgress)(void *user, guint64 done_bytes, guint64 all_bytes);

/* GError: TRACE_ERROR_OPEN. A byte-order mark at the beginning is no part of the text. */
Input *input_open(const char *path, InputProgress progress, void *user, GError **error);
/* A pipe gives its bytes once, but a trace is looked at before it is read: what comes from one is kept in a temporary
 * file without a name. NULL: the path is no pipe, or `error` is set. The beginning alone is there until
 * input_kept_rest, which is for when it is known to be a trace. GError: TRACE_ERROR_OPEN; over INPUT_KEPT_MAX. */
#define INPUT_KEPT_MAX ((guint64)16 << 30)
typedef struct InputKept InputKept;
InputKept *input_kept_new(const char *path, GError **error);
gboolean input_kept_rest(InputKept *kept, GError **error);
Input *input_open_kept(const InputKept *kept, InputProgress progress, void *user, GError **error);
void input_kept_free(InputKept *kept); /* NULL: nothing */
/* Of an open file, which the input takes: for these. */
Input *input_open_file(const char *path, int fd, InputProgress progress, void *user);
/* The same over memory, which must stay: for tests and fuzzing. Plain bytes only. */
Input *input_open_memory(const char *name, const void *data, gsize bytes);
void input_close(Input *input);
const char *input_path(const Input *input);

/* Up to `want` bytes; 0 at the end, -1 and TRACE_ERROR_CUT_OFF or _FORMAT when a gzip file is
 * broken. */
gssize input_read(Input *input, void *to, gsize want, GError **error);
/* The first bytes, without consuming them (at most INPUT_PEEK); less only in a shorter file. */
#define INPUT_PEEK (1u << 20) /* profilers write metadata of tens of KiB before their events */
gssize input_peek(Input *input, const char **bytes, GError **error);
guint64 input_offset(const Input *input); /* uncompressed bytes consumed so far */

/* The next line without its end (\n or \r\n), valid until the next call; NULL at the end or on
 * error. A line over 1 MiB is an error, and so is a 0 byte: text files have neither. */
const char *input_line(Input *input, GError **error);
guint32 input_line_number(const Input *input); /* of the line last given, from 1 */
gboolean input_line_ended(const Input *input); /* it ended in a newline; FALSE: the input ends in it */

#endif
