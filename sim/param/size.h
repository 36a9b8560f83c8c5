/* Sizes as people write them: 4096, 8K, 64M, 1G, 1.5M, 64MiB. Powers of two throughout, as the
 * tools of this field do (nccl-tests' -b 1M is 1048576 bytes). */
#ifndef SIM_PARAM_SIZE_H
#define SIM_PARAM_SIZE_H

#include <glib.h>

#define SIZE_ERROR (size_error_quark())
GQuark size_error_quark(void);
typedef enum { SIZE_ERROR_SYNTAX, SIZE_ERROR_RANGE } SizeError;

/* Parses all of `text` into bytes. `what` names the value in the message ("-b", "bench.bytes").
 * Errors: not a size, a fraction of a byte, a minus sign, more than 2^63 - 1. */
gboolean size_parse(const char *what, const char *text, guint64 *bytes, GError **error);

/* The shortest exact form: 1536 -> "1536", 2048 -> "2K", 67108864 -> "64M". Caller frees. */
char *size_format(guint64 bytes);

#endif
