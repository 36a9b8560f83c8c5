/* Files that results go into: looked at before the work is done, written whole. */
#ifndef SIM_REPORT_FILE_H
#define SIM_REPORT_FILE_H

#include <glib.h>

/* Whether `path` could be written, without touching it: a folder, a folder that is not there, one without rights, a
 * read-only file. GError: G_FILE_ERROR; `what` (an option, "--html") and the path begin the message. */
gboolean file_check(const char *what, const char *path, GError **error);
/* Replaces a plain file at once, or makes it; a device or a pipe is written to, never replaced. GError: G_FILE_ERROR
 * naming the path, with what stood there before left as it was where it was a plain file. */
gboolean file_write(const char *path, const char *bytes, gsize n, GError **error);
/* Behind what is there: a terminal, a pipe, another file that is open ("/dev/stdout"). */
gboolean file_append(const char *path, const char *bytes, gsize n, GError **error);

#endif
