/* JSON trees on yajl's callbacks, from an arena that is emptied after each item. */
#include "traces/format/json.h"

#include <string.h>
#include <yajl/yajl_parse.h>

#include "traces/format/arena.h"
#include "traces/record/record.h"

#define ITEM_BYTES_MAX (64u << 20)
#define DOCUMENT_BYTES_MAX (1u << 30)
#define DEPTH_MAX 64

typedef struct {
    const JsonHandler *handler;
    const char *name;
    yajl_handle yajl;
    Arena arena;
    Json *stack[DEPTH_MAX]; /* open arrays and objects of the tree being built */
    Json *last[DEPTH_MAX];  /* their last child */
    guint built;            /* how many are open; 0: no tree */
    Json *root;
    guint level;          /* nesting of the file outside trees */
    gboolean in_array;    /* inside handler->array */
    guint passing;        /* nesting of a member nobody wants */
    char *key;            /* of the outermost object's next member */
    const char *next_key; /* of the tree's next member, in the arena */
    gboolean whole;       /* json_parse: one tree */
    const guint8 *chunk;
    guint64 chunk_byte; /* offset of the chunk */
    gsize counted;      /* newlines counted up to here in the chunk */
    guint32 line;
    GError *error;
} Parser;

static void parser_place(Parser *p, guint32 *line, guint64 *byte)
{
    gsize at = yajl_get_bytes_consumed(p->yajl);
    while (p->counted < at) {
        const guint8 *end = memchr(p->chunk + p->counted, '\n', at - p->counted);
        if (!end) {
            p->counted = at;
            break;
        }
        p->line++;
        p->counted = end - p->chunk + 1;
    }
    *line = p->line;
    *byte = p->chunk_byte + at;
}

static int parser_fail(Parser *p, const char *what)
{
    guint32 line;
    guint64 byte;
    parser_place(p, &line, &byte);
    if (!p->error) {
        g_set_error(&p->error, TRACE_ERROR, TRACE_ERROR_FORMAT, "%s:%u: byte %" G_GUINT64_FORMAT ": %s", p->name, line,
                    byte, what);
    }
    return 0;
}

/* A finished tree goes to whom it concerns. */
static int parser_hand_over(Parser *p)
{
    if (p->whole)
        return 1;
    JsonItem to = p->in_array ? p->handler->item : p->handler->member;
    gboolean ok = to(p->handler->user, p->root, &p->error);
    arena_reset(&p->arena);
    p->root = NULL;
    return ok;
}

/* Does a value that starts now begin or continue a tree? If not, it is passed over. */
static gboolean parser_builds(Parser *p)
{
    if (p->built > 0)
        return TRUE;
    if (p->passing > 0)
        return FALSE;
    if (p->whole)
        return TRUE;
    if (p->in_array)
        return p->handler->item != NULL;
    return p->level == 1 && p->key && p->handler->wanted && p->handler->wanted(p->handler->user, p->key);
}

static Json *parser_value(Parser *p, JsonType type)
{
    Json *json = arena_alloc(&p->arena, sizeof(Json));
    *json = (Json){.type = type};
    if (p->built == 0) {
        parser_place(p, &json->line, &json->byte);
        if (!p->whole && !p->in_array)
            json->key = arena_text(&p->arena, p->key, strlen(p->key));
        p->root = json;
        return json;
    }
    Json *parent = p->stack[p->built - 1];
    if (parent->type == JSON_OBJECT)
        json->key = p->next_key;
    if (!p->last[p->built - 1])
        parent->first = json;
    else
        p->last[p->built - 1]->next = json;
    p->last[p->built - 1] = json;
    parent->n++;
    return json;
}

static int parser_scalar(Parser *p, JsonType type, gboolean truth, const guint8 *text, gsize n)
{
    if (!parser_builds(p))
        return p->level > 0 || p->passing > 0 || parser_fail(p, "should start with { or [");
    Json *json = parser_value(p, type);
    json->truth = truth;
    if (text) {
        if (p->arena.total + n > p->arena.limit)
            return parser_fail(p, "one element is larger than 64 MiB");
        json->text = arena_text(&p->arena, text, n);
    }
    return p->built > 0 || parser_hand_over(p);
}

static int on_null(void *ctx) { return parser_scalar(ctx, JSON_NULL, FALSE, NULL, 0); }
static int on_bool(void *ctx, int value) { return parser_scalar(ctx, JSON_BOOL, value, NULL, 0); }

static int on_number(void *ctx, const char *text, size_t n)
{
    return parser_scalar(ctx, JSON_NUMBER, FALSE, (const guint8 *)text, n);
}

static int on_string(void *ctx, const unsigned char *text, size_t n)
{
    return parser_scalar(ctx, JSON_STRING, FALSE, text, n);
}

static int on_start(Parser *p, JsonType type)
{
    if (p->built == 0 && p->passing == 0 && !p->whole) {
        if (p->level == 0) {
            p->level = 1;
            p->in_array = type == JSON_ARRAY;
            return 1;
        }
        gboolean named = p->level == 1 && !p->in_array && p->handler->array && p->key &&
                         strcmp(p->key, p->handler->array) == 0;
        if (named) {
            p->level = 2;
            p->in_array = TRUE;
            return type == JSON_ARRAY || parser_fail(p, "the list of events should be an array [...]");
        }
    }
    if (!parser_builds(p)) {
        p->passing++;
        return 1;
    }
    if (p->built == DEPTH_MAX)
        return parser_fail(p, "nested deeper than 64 levels");
    if (p->arena.total > p->arena.limit)
        return parser_fail(p, "one element is larger than 64 MiB");
    Json *json = parser_value(p, type);
    p->stack[p->built] = json;
    p->last[p->built] = NULL;
    p->built++;
    return 1;
}

static int on_end(Parser *p)
{
    if (p->passing > 0) {
        p->passing--;
        return 1;
    }
    if (p->built > 0) {
        p->built--;
        return p->built > 0 || parser_hand_over(p);
    }
    p->level--;
    p->in_array = FALSE;
    return 1;
}

static int on_start_map(void *ctx) { return on_start(ctx, JSON_OBJECT); }
static int on_start_array(void *ctx) { return on_start(ctx, JSON_ARRAY); }
static int on_end_any(void *ctx) { return on_end(ctx); }

static int on_key(void *ctx, const unsigned char *text, size_t n)
{
    Parser *p = ctx;
    if (p->built > 0) {
        p->next_key = arena_text(&p->arena, text, n);
    } else if (p->passing == 0 && p->level == 1) {
        g_free(p->key);
        p->key = g_strndup((const char *)text, n);
    }
    return 1;
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_bool,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_start_map,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end_any,
    .yajl_start_array = on_start_array,
    .yajl_end_array = on_end_any,
};

static void parser_init(Parser *p, const char *name, const JsonHandler *handler, gsize limit)
{
    *p = (Parser){.handler = handler, .name = name, .line = 1, .arena.limit = limit};
    p->yajl = yajl_alloc(&callbacks, NULL, p);
    yajl_config(p->yajl, yajl_dont_validate_strings, 1);
}

static void parser_clear(Parser *p)
{
    yajl_free(p->yajl);
    g_free(p->key);
    arena_clear(&p->arena);
}

/* yajl's own complaint, in one line. */
static void parser_complain(Parser *p, const guint8 *chunk, gsize n, GError **error)
{
    if (p->error) {
        g_propagate_error(error, p->error);
        p->error = NULL;
        return;
    }
    guint32 line;
    guint64 byte;
    parser_place(p, &line, &byte);
    unsigned char *text = yajl_get_error(p->yajl, 0, chunk, n);
    g_strchomp((char *)text);
    gboolean cut = !chunk || strstr((char *)text, "premature EOF");
    if (cut) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_CUT_OFF,
                    "%s:%u: byte %" G_GUINT64_FORMAT ": the JSON text ends too early; it should end "
                    "with the bracket that closes the first one",
                    p->name, line, byte);
    } else {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT, "%s:%u: byte %" G_GUINT64_FORMAT ": %s", p->name, line,
                    byte, text);
    }
    yajl_free_error(p->yajl, text);
}

static gboolean parser_feed(Parser *p, const guint8 *chunk, gsize n, GError **error)
{
    p->chunk = chunk;
    p->counted = 0;
    gboolean ok = yajl_parse(p->yajl, chunk, n) == yajl_status_ok;
    if (!ok) {
        parser_complain(p, chunk, n, error);
        return FALSE;
    }
    for (const guint8 *at = chunk + p->counted; (at = memchr(at, '\n', chunk + n - at)) != NULL; at++)
        p->line++;
    p->chunk_byte += n;
    return TRUE;
}

static gboolean parser_finish(Parser *p, GError **error)
{
    static const guint8 nothing[1] = {' '};
    p->chunk = nothing;
    p->counted = 1;
    if (yajl_complete_parse(p->yajl) == yajl_status_ok && p->level == 0 && p->built == 0)
        return TRUE;
    parser_complain(p, NULL, 0, error);
    return FALSE;
}

static gboolean parser_run(Parser *p, Input *input, GError **error)
{
    gsize size = 128 << 10;
    guint8 *chunk = g_malloc(size);
    gboolean ok = TRUE;
    for (;;) {
        gssize got = input_read(input, chunk, size, error);
        if (got <= 0) {
            ok = got == 0 && parser_finish(p, error);
            break;
        }
        if (!parser_feed(p, chunk, got, error)) {
            ok = FALSE;
            break;
        }
    }
    g_free(chunk);
    return ok;
}

gboolean json_stream(Input *input, const JsonHandler *handler, GError **error)
{
    Parser p;
    parser_init(&p, input_path(input), handler, ITEM_BYTES_MAX);
    gboolean ok = parser_run(&p, input, error);
    parser_clear(&p);
    return ok;
}

struct JsonDocument {
    Arena arena;
    Json *root;
};

static JsonDocument *document_take(Parser *p, gboolean ok, const char *name, GError **error)
{
    JsonDocument *document = NULL;
    if (ok && !p->root) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_FORMAT, "%s: no JSON in it", name);
    } else if (ok) {
        document = g_new0(JsonDocument, 1);
        document->root = p->root;
        document->arena = p->arena;
        p->arena = (Arena){0};
    }
    parser_clear(p);
    return document;
}

JsonDocument *json_parse(const char *name, const char *text, gsize bytes, GError **error)
{
    Parser p;
    parser_init(&p, name, NULL, DOCUMENT_BYTES_MAX);
    p.whole = TRUE;
    gboolean ok = parser_feed(&p, (const guint8 *)text, bytes, error) && parser_finish(&p, error);
    return document_take(&p, ok, name, error);
}

JsonDocument *json_read(Input *input, GError **error)
{
    Parser p;
    parser_init(&p, input_path(input), NULL, DOCUMENT_BYTES_MAX);
    p.whole = TRUE;
    gboolean ok = parser_run(&p, input, error);
    return document_take(&p, ok, input_path(input), error);
}

const Json *json_root(const JsonDocument *document) { return document->root; }

void json_free(JsonDocument *document)
{
    if (document) {
        arena_clear(&document->arena);
        g_free(document);
    }
}
