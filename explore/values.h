/* The values that a key of a SPEC.ini goes through: lists and ranges of what the key takes.
 *
 *     1000, 2000            a list
 *     256..4096 +256        from 256 in steps of 256 up to 4096
 *     1..16 x2              1, 2, 4, 8, 16
 *     8, 16..64 x2, 100     both
 *     "4,5,5,4", "6,6,6"    double quotes keep commas and blanks in a value
 *
 * A range belongs to numbers and sizes; its ends and its step take the key's units (100ns..1us +100ns). */
#ifndef EXPLORE_VALUES_H
#define EXPLORE_VALUES_H

#include "sim/param/param.h"

typedef enum { VALUE_TEXT, VALUE_NAME, VALUE_SIZE, VALUE_NUMBER, VALUE_PATH, VALUE_FLAG, VALUE_PARAM } ValueKind;

typedef struct {
    ValueKind kind;
    const char *const *names;                          /* of VALUE_NAME, NULL-terminated */
    const ParamRow *row;                               /* of VALUE_PARAM */
    guint64 max;                                       /* of VALUE_NUMBER */
    gboolean (*check)(const char *text, char **wrong); /* of VALUE_TEXT: what else must be true; NULL: nothing */
} ValueType;

/* Whether values are whole numbers, in bytes or in the parameter's unit: only these have ranges. */
gboolean value_is_number(const ValueType *type);

/* One value in its shortest form ("4K" is "4096"). FALSE: *wrong says what is wrong and what would be right. Both to be
 * freed. number may be NULL. */
gboolean value_parse(const ValueType *type, const char *text, guint64 *number, char **normal, char **wrong);

/* All values (char *) of a list, in order. NULL: *wrong says why: a value that is none, a range without an end or a
 * step or with its ends the wrong way round, more than `most` values, a value twice. Free with g_ptr_array_unref. */
GPtrArray *values_parse(const ValueType *type, const char *text, guint64 most, char **wrong);

/* "LOW..HIGH" without a step: every number in between. FALSE: it is no such text, and *wrong is NULL, or says what is
 * wrong with one. */
gboolean values_parse_span(const ValueType *type, const char *text, guint64 *low, guint64 *high, char **wrong);

#endif
