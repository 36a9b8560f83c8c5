/* Values of a pickle: what its two files share. */
#ifndef TRACES_FORMAT_FLIGHT_PICKLE_VALUE_H
#define TRACES_FORMAT_FLIGHT_PICKLE_VALUE_H

#include <glib.h>

typedef enum { VALUE_ATOM, VALUE_TEXT, VALUE_LIST, VALUE_DICT, VALUE_NAME, VALUE_MARK } ValueKind;

typedef struct {
    ValueKind kind;
    char *text;       /* ATOM: as JSON writes it; TEXT; NAME: "module name" */
    GPtrArray *items; /* LIST; DICT: key, value, key, value */
} PickleValue;

/* Appends it as JSON, without the stacks of calls ("frames").
 * What is wrong with it, or NULL: values may hold themselves, or each other very often. */
const char *pickle_write(GString *to, const PickleValue *value, guint depth);

#endif
