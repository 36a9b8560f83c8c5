/* The lines of a SPEC.ini: groups, keys and values with the line each stands in, which an error names. What they mean
 * is spec.h's. */
#ifndef EXPLORE_LINES_H
#define EXPLORE_LINES_H

#include <glib.h>

typedef struct {
    char *group, *key, *value; /* value without comment and blanks around it */
    int line;
} SpecLine;

/* The array (of SpecLine) of `text`; `name` is the file's for messages. A comment begins with # or ; at the start of a
 * line or behind a blank, and not between double quotes. GError: SPEC_ERROR, "NAME:LINE: ...": what is neither
 * [group] nor key = value, a key before the first group, a key that stands twice in a group, text that is not UTF-8.
 * Free with g_array_unref. */
GArray *lines_read(const char *name, const char *text, GError **error);

#define SPEC_ERROR (spec_error_quark())
GQuark spec_error_quark(void);
typedef enum { SPEC_ERROR_SYNTAX, SPEC_ERROR_VALUE, SPEC_ERROR_LIMIT } SpecError;

#endif
