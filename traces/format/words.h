/* Words and numbers of line-based trace formats. */
#ifndef TRACES_FORMAT_WORDS_H
#define TRACES_FORMAT_WORDS_H

#include <glib.h>

/* Words of a line up to a '#'; a word may hold a quoted part with \" \\ \n \t. NULL: a quote does
 * not end. Free with g_ptr_array_free. */
GPtrArray *words_split(const char *line);
/* A decimal number without sign, at most max. */
gboolean words_u64(const char *text, guint64 max, guint64 *value);
/* "12ps", "3.5us": whole picoseconds with a unit of ps, ns, us, ms or s. */
gboolean words_time(const char *text, guint64 *ps);

#endif
