#include "traces/format/flight/pickle.h"

#include <math.h>
#include <string.h>

#include "traces/format/flight/pickle_value.h"

typedef struct {
    const guint8 *data;
    gsize bytes, at;
    GPtrArray *all;   /* every PickleValue */
    GPtrArray *stack; /* PickleValue */
    GHashTable *memo; /* number + 1 -> PickleValue */
    char *wrong;
} Pickle;

static void value_free(gpointer data)
{
    PickleValue *value = data;
    g_free(value->text);
    if (value->items)
        g_ptr_array_free(value->items, TRUE);
    g_free(value);
}

static G_GNUC_PRINTF(2, 3) gboolean fail(Pickle *p, const char *format, ...)
{
    if (!p->wrong) {
        va_list args;
        va_start(args, format);
        char *text = g_strdup_vprintf(format, args), *valid = g_utf8_make_valid(text, -1);
        va_end(args);
        p->wrong = g_strdup_printf("byte %" G_GSIZE_FORMAT ": %s", p->at, valid);
        g_free(text);
        g_free(valid);
    }
    return FALSE;
}

static PickleValue *value_new(Pickle *p, ValueKind kind, char *text)
{
    PickleValue *value = g_new0(PickleValue, 1);
    value->kind = kind;
    value->text = text;
    if (kind == VALUE_LIST || kind == VALUE_DICT)
        value->items = g_ptr_array_new();
    g_ptr_array_add(p->all, value);
    return value;
}

static gboolean push(Pickle *p, PickleValue *value)
{
    g_ptr_array_add(p->stack, value);
    return TRUE;
}

/* The last one above a mark; NULL: there is none, which is said. */
static PickleValue *pop(Pickle *p)
{
    PickleValue *value = p->stack->len > 0 ? p->stack->pdata[p->stack->len - 1] : NULL;
    if (!value || value->kind == VALUE_MARK) {
        fail(p, "takes a value that is not there");
        return NULL;
    }
    g_ptr_array_set_size(p->stack, (gint)p->stack->len - 1);
    return value;
}

static gboolean take(Pickle *p, gsize n, const guint8 **bytes)
{
    if (n > p->bytes - p->at)
        return fail(p, "ends inside a value");
    *bytes = p->data + p->at;
    p->at += n;
    return TRUE;
}

static gboolean take_number(Pickle *p, guint n, guint64 *number)
{
    const guint8 *bytes = NULL;
    *number = 0;
    if (!take(p, n, &bytes))
        return FALSE;
    for (guint i = 0; i < n; i++)
        *number |= (guint64)bytes[i] << (8 * i);
    return TRUE;
}

static gboolean push_text(Pickle *p, guint length_bytes)
{
    guint64 n;
    const guint8 *bytes = NULL;
    if (!take_number(p, length_bytes, &n) || !take(p, n, &bytes))
        return FALSE;
    char *raw = g_strndup((const char *)bytes, n), *valid = g_utf8_make_valid(raw, -1);
    g_free(raw);
    return push(p, value_new(p, VALUE_TEXT, valid));
}

static gboolean push_atom(Pickle *p, const char *text) { return push(p, value_new(p, VALUE_ATOM, g_strdup(text))); }

static gboolean push_integer(Pickle *p, gint64 number)
{
    return push(p, value_new(p, VALUE_ATOM, g_strdup_printf("%" G_GINT64_FORMAT, number)));
}

/* A whole number of any length, least byte first; over 8 bytes: null. */
static gboolean push_long(Pickle *p, guint length_bytes)
{
    guint64 n, number = 0;
    const guint8 *bytes = NULL;
    if (!take_number(p, length_bytes, &n) || !take(p, n, &bytes))
        return FALSE;
    if (n > 8)
        return push_atom(p, "null");
    for (guint i = 0; i < n; i++)
        number |= (guint64)bytes[i] << (8 * i);
    if (n > 0 && n < 8 && bytes[n - 1] >= 0x80)
        number |= G_MAXUINT64 << (8 * n);
    return push_integer(p, (gint64)number);
}

static gboolean push_float(Pickle *p)
{
    const guint8 *bytes = NULL;
    guint64 bits = 0;
    double number;
    if (!take(p, 8, &bytes))
        return FALSE;
    for (guint i = 0; i < 8; i++)
        bits = bits << 8 | bytes[i];
    memcpy(&number, &bits, sizeof number);
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    return push_atom(p, isfinite(number) ? g_ascii_dtostr(text, sizeof text, number) : "null");
}

/* Everything above the last mark, which goes too, into a new list. NULL: there is no mark. */
static PickleValue *since_mark(Pickle *p)
{
    guint at = p->stack->len;
    while (at > 0 && ((PickleValue *)p->stack->pdata[at - 1])->kind != VALUE_MARK)
        at--;
    if (at == 0) {
        fail(p, "closes what was not opened");
        return NULL;
    }
    PickleValue *list = value_new(p, VALUE_LIST, NULL);
    for (guint i = at; i < p->stack->len; i++)
        g_ptr_array_add(list->items, p->stack->pdata[i]);
    g_ptr_array_set_size(p->stack, (gint)at - 1);
    return list;
}

static gboolean push_tuple(Pickle *p, guint n)
{
    PickleValue *list = value_new(p, VALUE_LIST, NULL);
    for (guint i = 0; i < n; i++) {
        PickleValue *value = pop(p);
        if (!value)
            return FALSE;
        g_ptr_array_insert(list->items, 0, value);
    }
    return push(p, list);
}

/* Puts values into the list or dictionary on top. */
static gboolean extend(Pickle *p, const PickleValue *values, ValueKind kind)
{
    PickleValue *to = values && p->stack->len > 0 ? p->stack->pdata[p->stack->len - 1] : NULL;
    if (!to || to->kind != kind || (kind == VALUE_DICT && values->items->len % 2 != 0))
        return fail(p, "adds values to what is no %s", kind == VALUE_DICT ? "dictionary" : "list");
    for (guint i = 0; i < values->items->len; i++)
        g_ptr_array_add(to->items, values->items->pdata[i]);
    return TRUE;
}

static gboolean extend_by(Pickle *p, guint n, ValueKind kind) { return push_tuple(p, n) && extend(p, pop(p), kind); }

/* A line: "module\nname\n" of GLOBAL. */
static char *take_line(Pickle *p)
{
    const guint8 *end = memchr(p->data + p->at, '\n', p->bytes - p->at);
    if (!end) {
        fail(p, "ends inside a name");
        return NULL;
    }
    char *line = g_strndup((const char *)p->data + p->at, (gsize)(end - p->data) - p->at);
    p->at = (gsize)(end - p->data) + 1;
    return line;
}

static gboolean push_global(Pickle *p)
{
    char *module = take_line(p), *name = module ? take_line(p) : NULL;
    gboolean ok = name && push(p, value_new(p, VALUE_NAME, g_strdup_printf("%s %s", module, name)));
    g_free(module);
    g_free(name);
    return ok;
}

static gboolean push_stack_global(Pickle *p)
{
    PickleValue *name = pop(p), *module = name ? pop(p) : NULL;
    if (!module || module->kind != VALUE_TEXT || name->kind != VALUE_TEXT)
        return fail(p, "names a class by what is no text");
    return push(p, value_new(p, VALUE_NAME, g_strdup_printf("%s %s", module->text, name->text)));
}

/* What a known function gives for its arguments: the first of them, or something empty. */
static gboolean reduce(Pickle *p)
{
    PickleValue *args = pop(p), *name = args ? pop(p) : NULL;
    if (!name || name->kind != VALUE_NAME || args->kind != VALUE_LIST)
        return fail(p, "calls what is no function");
    gboolean list = g_str_has_prefix(name->text, "torch.jit._pickle ");
    gboolean dict = strcmp(name->text, "collections OrderedDict") == 0 ||
                    strcmp(name->text, "collections defaultdict") == 0;
    if (list && args->items->len > 0)
        return push(p, args->items->pdata[0]);
    if (dict)
        return push(p, value_new(p, VALUE_DICT, NULL));
    return fail(p, "holds a '%.80s'; plain data are right: dictionaries, lists, numbers and texts", name->text);
}

static gboolean remember(Pickle *p, guint64 number)
{
    if (p->stack->len == 0)
        return fail(p, "remembers a value that is not there");
    g_hash_table_insert(p->memo, GSIZE_TO_POINTER(number + 1), p->stack->pdata[p->stack->len - 1]);
    return TRUE;
}

static gboolean recall(Pickle *p, guint64 number)
{
    PickleValue *value = g_hash_table_lookup(p->memo, GSIZE_TO_POINTER(number + 1));
    return value ? push(p, value) : fail(p, "recalls a value that was not remembered");
}

/* Numbers and texts. FALSE without p->wrong: it is none of them. */
static gboolean run_atom(Pickle *p, guint8 op)
{
    guint64 n = 0;
    switch (op) {
    case 'N':
    case 0x88:
    case 0x89: return push_atom(p, op == 'N' ? "null" : op == 0x88 ? "true" : "false");
    case 'J': return take_number(p, 4, &n) && push_integer(p, (gint32)(guint32)n);
    case 'K': return take_number(p, 1, &n) && push_integer(p, (gint64)n);
    case 'M': return take_number(p, 2, &n) && push_integer(p, (gint64)n);
    case 0x8a: return push_long(p, 1);
    case 0x8b: return push_long(p, 4);
    case 'G': return push_float(p);
    case 'X':
    case 'B':
    case 'T': return push_text(p, 4);
    case 0x8c:
    case 'C':
    case 'U': return push_text(p, 1);
    case 0x8d:
    case 0x8e: return push_text(p, 8);
    default: return FALSE;
    }
}

static gboolean run_memo(Pickle *p, guint8 op)
{
    guint64 n = 0;
    switch (op) {
    case 'q': return take_number(p, 1, &n) && remember(p, n);
    case 'r': return take_number(p, 4, &n) && remember(p, n);
    case 0x94: return remember(p, g_hash_table_size(p->memo));
    case 'h': return take_number(p, 1, &n) && recall(p, n);
    case 'j': return take_number(p, 4, &n) && recall(p, n);
    case 0x95: /* FRAME */ return take_number(p, 8, &n);
    case 0x80: return take_number(p, 1, &n) && (n <= 5 || fail(p, "protocol %u; 2 to 5 are read", (guint)n));
    default: return FALSE;
    }
}

static gboolean run_container(Pickle *p, guint8 op)
{
    PickleValue *list;
    switch (op) {
    case '(': return push(p, value_new(p, VALUE_MARK, NULL));
    case ']':
    case ')':
    case 0x8f: return push(p, value_new(p, VALUE_LIST, NULL));
    case '}': return push(p, value_new(p, VALUE_DICT, NULL));
    case 't':
    case 'l':
    case 0x91: list = since_mark(p); return list && push(p, list);
    case 'd':
        list = since_mark(p);
        return list && push(p, value_new(p, VALUE_DICT, NULL)) && extend(p, list, VALUE_DICT);
    case 0x85:
    case 0x86:
    case 0x87: return push_tuple(p, op - 0x84u);
    case 'a': return extend_by(p, 1, VALUE_LIST);
    case 's': return extend_by(p, 2, VALUE_DICT);
    case 'e':
    case 0x90: return extend(p, since_mark(p), VALUE_LIST);
    case 'u': return extend(p, since_mark(p), VALUE_DICT);
    case 'c': return push_global(p);
    case 0x93: return push_stack_global(p);
    case 'R': return reduce(p);
    case '0': return pop(p) != NULL;
    default: return FALSE;
    }
}

char *pickle_to_json(const guint8 *data, gsize bytes, gsize *length, char **wrong)
{
    Pickle p = {.data = data,
                .bytes = bytes,
                .all = g_ptr_array_new_with_free_func(value_free),
                .stack = g_ptr_array_new(),
                .memo = g_hash_table_new(g_direct_hash, g_direct_equal)};
    gboolean stop = FALSE;
    while (!p.wrong && !stop) {
        if (p.at >= p.bytes) {
            fail(&p, "ends too early");
            break;
        }
        guint8 op = p.data[p.at++];
        stop = op == '.';
        if (!stop && !run_atom(&p, op) && !p.wrong && !run_memo(&p, op) && !p.wrong && !run_container(&p, op))
            fail(&p, "operation 0x%02x, which plain data do not need", op);
    }
    const PickleValue *root = !p.wrong ? pop(&p) : NULL;
    GString *text = g_string_new(NULL);
    const char *wide = root ? pickle_write(text, root, 0) : NULL;
    if (wide)
        fail(&p, "%s", wide);
    *wrong = p.wrong;
    *length = text->len;
    g_ptr_array_free(p.stack, TRUE);
    g_hash_table_destroy(p.memo);
    g_ptr_array_free(p.all, TRUE);
    return g_string_free(text, p.wrong != NULL);
}
