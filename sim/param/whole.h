/* A whole text file in memory, whatever it is. */
#ifndef SIM_PARAM_WHOLE_H
#define SIM_PARAM_WHOLE_H

#include <glib.h>

#define WHOLE_BYTES_MAX ((gsize)256 << 20)

/* As g_file_get_contents, but of a pipe or a device that has no end only WHOLE_BYTES_MAX are read before it is refused,
 * and a byte-order mark of UTF-8, which some editors write, is left away. length: NULL, or the bytes of the text.
 * GError: G_FILE_ERROR naming the path. */
gboolean whole_read(const char *path, char **text, gsize *length, GError **error);

#endif
