/* JSON traces, read as a stream: each element of one big array becomes a small tree, is handed
 * over, and is gone before the next one is read, so that memory does not grow with the file.
 *
 * Parsing is yajl's. Numbers stay text, so that times keep every digit. */
#ifndef TRACES_FORMAT_JSON_H
#define TRACES_FORMAT_JSON_H

#include <glib.h>

#include "traces/format/input.h"

typedef enum { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT } JsonType;

typedef struct Json Json;
struct Json {
    JsonType type;
    gboolean truth;
    const char *key;  /* NULL in an array */
    const char *text; /* of a string, or a number as written */
    Json *first, *next;
    guint32 n;    /* elements or members */
    guint32 line; /* where it starts, of items and wanted members; else 0 */
    guint64 byte;
};

typedef gboolean (*JsonItem)(void *user, const Json *item, GError **error);

typedef struct {
    const char *array; /* member of the outermost object whose elements are items; a file that is
                          one array has its elements as items */
    JsonItem item;     /* NULL: elements are passed over */
    gboolean (*wanted)(void *user, const char *key); /* other outermost members to hand over; NULL: none */
    JsonItem member;                                 /* item->key names it */
    void *user;
} JsonHandler;

/* GError: TRACE_ERROR_CUT_OFF (the text ends inside), _FORMAT (no JSON; an item over 64 MiB or
 * nested over 64 deep), or what item or member set. Messages name file, line and byte. */
gboolean json_stream(Input *input, const JsonHandler *handler, GError **error);
/* The whole of a small text as one tree; free with json_free. NULL and error when it is no JSON. */
typedef struct JsonDocument JsonDocument;
JsonDocument *json_parse(const char *name, const char *text, gsize bytes, GError **error);
const Json *json_root(const JsonDocument *document);
void json_free(JsonDocument *document);
/* The whole of an input, at most 1 GiB of it as a tree. */
JsonDocument *json_read(Input *input, GError **error);

const Json *json_get(const Json *object, const char *key); /* NULL: absent, or not an object */
/* A whole number that is not negative; "12.0" and "1e3" count as whole. FALSE: it is something
 * else. */
gboolean json_u64(const Json *value, guint64 *number);
gboolean json_i64(const Json *value, gint64 *number);
/* value * 10^scale, rounded towards 0, every digit kept: microseconds with scale 6 are picoseconds.
 */
gboolean json_decimal(const Json *value, int scale, gint64 *number);
const char *json_string(const Json *value); /* NULL: absent, or not a string */
/* What a value is, for messages: "the string \"12\"", "an array", "nothing". Caller frees. */
char *json_describe(const Json *value);
/* Text as a number; whole: FALSE also when digits behind the point are lost. */
gboolean json_decimal_text(const char *text, int scale, gboolean whole, gint64 *number);
/* Appends a JSON string with its quotes. */
void json_append_quoted(GString *to, const char *text);

#endif
