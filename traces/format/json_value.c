/* Values of JSON trees: numbers without rounding, strings, words for messages. */
#include <string.h>

#include "traces/format/json.h"

const Json *json_get(const Json *object, const char *key)
{
    if (!object || object->type != JSON_OBJECT)
        return NULL;
    for (const Json *at = object->first; at != NULL; at = at->next)
        if (strcmp(at->key, key) == 0)
            return at;
    return NULL;
}

typedef struct {
    gboolean negative;
    char digits[64]; /* significant, without leading zeros */
    guint n;
    gint64 exponent; /* the value is digits * 10^exponent */
    gboolean lost;   /* digits beyond the buffer that were not 0 */
} Decimal;

static gboolean decimal_scan(const char *text, Decimal *d)
{
    *d = (Decimal){0};
    d->negative = *text == '-';
    text += d->negative;
    gboolean point = FALSE, any = FALSE;
    for (; g_ascii_isdigit(*text) || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = TRUE;
            continue;
        }
        any = TRUE;
        d->exponent -= point;
        if (d->n == 0 && *text == '0')
            continue;
        if (d->n < sizeof d->digits) {
            d->digits[d->n++] = *text;
        } else {
            d->exponent++;
            d->lost |= *text != '0';
        }
    }
    if (any && (*text == 'e' || *text == 'E')) {
        text++;
        gboolean minus = *text == '-';
        text += *text == '-' || *text == '+';
        gint64 e = 0;
        any = g_ascii_isdigit(*text);
        for (; g_ascii_isdigit(*text); text++)
            e = MIN(e * 10 + (*text - '0'), 100000);
        d->exponent += minus ? -e : e;
    }
    return any && *text == 0;
}

static gboolean decimal_value(const Decimal *d, int scale, gboolean whole, guint64 *number)
{
    gint64 exponent = d->exponent + scale;
    guint64 value = 0;
    gboolean lost = d->lost;
    for (guint i = 0; i < d->n; i++) {
        if ((gint64)(d->n - i) + exponent <= 0) {
            lost |= d->digits[i] != '0';
            continue;
        }
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (guint64)(d->digits[i] - '0'), &value))
            return FALSE;
    }
    for (gint64 e = 0; e < exponent && value != 0; e++)
        if (__builtin_mul_overflow(value, 10, &value))
            return FALSE;
    *number = value;
    return !(whole && lost);
}

gboolean json_decimal_text(const char *text, int scale, gboolean whole, gint64 *number)
{
    Decimal d;
    guint64 value;
    if (!decimal_scan(text, &d) || !decimal_value(&d, scale, whole, &value) || value > G_MAXINT64)
        return FALSE;
    *number = d.negative ? -(gint64)value : (gint64)value;
    return TRUE;
}

gboolean json_u64(const Json *value, guint64 *number)
{
    Decimal d;
    return value && value->type == JSON_NUMBER && decimal_scan(value->text, &d) && decimal_value(&d, 0, TRUE, number) &&
           (!d.negative || *number == 0);
}

gboolean json_i64(const Json *value, gint64 *number)
{
    return value && value->type == JSON_NUMBER && json_decimal_text(value->text, 0, TRUE, number);
}

gboolean json_decimal(const Json *value, int scale, gint64 *number)
{
    return value && value->type == JSON_NUMBER && json_decimal_text(value->text, scale, FALSE, number);
}

const char *json_string(const Json *value) { return value && value->type == JSON_STRING ? value->text : NULL; }

char *json_describe(const Json *value)
{
    if (!value)
        return g_strdup("nothing");
    switch (value->type) {
    case JSON_STRING: {
        char *valid = g_utf8_make_valid(value->text, MIN(strlen(value->text), 60));
        char *text = g_strdup_printf("the string \"%s\"", valid);
        g_free(valid);
        return text;
    }
    case JSON_NUMBER: return g_strdup_printf("the number %.60s", value->text);
    case JSON_BOOL: return g_strdup(value->truth ? "true" : "false");
    case JSON_NULL: return g_strdup("null");
    case JSON_ARRAY: return g_strdup("an array");
    default: return g_strdup("an object");
    }
}

void json_append_quoted(GString *to, const char *text)
{
    g_string_append_c(to, '"');
    for (const guchar *at = (const guchar *)text; *at != 0; at++) {
        if (*at == '"' || *at == '\\') {
            g_string_append_c(to, '\\');
            g_string_append_c(to, *at);
        } else if (*at < 0x20) {
            g_string_append_printf(to, "\\u%04x", *at);
        } else {
            g_string_append_c(to, *at);
        }
    }
    g_string_append_c(to, '"');
}
