/* Guesses what was meant by a mistyped name, for the last half of an error message. */
#ifndef SIM_PARAM_NEAREST_H
#define SIM_PARAM_NEAREST_H

#include <glib.h>

/* The name of the NULL-terminated list `names` that is closest to `text` in edits (insert, delete,
 * replace, swap of neighbours; case does not count), the first of several; NULL when none is close
 * enough to be a likely typing mistake. The result is an element of names. */
const char *nearest_name(const char *text, const char *const *names);

/* "; did you mean 'x'?" or, where nothing is near, "; known are a, b, c". Caller frees. */
char *nearest_hint(const char *text, const char *const *names);

#endif
