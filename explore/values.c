/* See values.h. */
#include "explore/values.h"

#include <string.h>

#include "sim/param/nearest.h"
#include "sim/param/size.h"

gboolean value_is_number(const ValueType *type)
{
    return type->kind == VALUE_SIZE || type->kind == VALUE_NUMBER ||
           (type->kind == VALUE_PARAM && type->row->type == PARAM_U64_T);
}

static gboolean value_parse_name(const ValueType *type, const char *text, char **wrong)
{
    if (g_strv_contains(type->names, text))
        return TRUE;
    g_autofree char *hint = nearest_hint(text, type->names);
    *wrong = g_strdup_printf("'%s' is unknown%s", text, hint);
    return FALSE;
}

gboolean value_parse(const ValueType *type, const char *text, guint64 *number, char **normal, char **wrong)
{
    guint64 value = 0;
    g_autoptr(GError) why = NULL;
    *normal = *wrong = NULL;
    if (number)
        *number = 0;
    if (!*text && type->kind != VALUE_PARAM) {
        *wrong = g_strdup("a value is missing");
        return FALSE;
    }
    switch (type->kind) {
    case VALUE_NAME:
        if (!value_parse_name(type, text, wrong))
            return FALSE;
        break;
    case VALUE_FLAG:
        if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0) {
            *wrong = g_strdup_printf("'%s' is neither true nor false", text);
            return FALSE;
        }
        break;
    case VALUE_SIZE:
        if (!size_parse("size", text, &value, &why)) {
            *wrong = g_strdup(g_str_has_prefix(why->message, "size: ") ? why->message + 6 : why->message);
            return FALSE;
        }
        break;
    case VALUE_NUMBER:
        if (!g_ascii_string_to_unsigned(text, 10, 0, type->max, &value, NULL)) {
            *wrong = g_strdup_printf("'%s' is not a whole number from 0 to %" G_GUINT64_FORMAT, text, type->max);
            return FALSE;
        }
        break;
    case VALUE_PARAM:
        if (!param_row_parse(type->row, text, &value, normal, wrong))
            return FALSE;
        break;
    case VALUE_TEXT:
    case VALUE_PATH:
        if (type->check && !type->check(text, wrong))
            return FALSE;
        break;
    }
    if (number)
        *number = value;
    if (!*normal)
        *normal = value_is_number(type) ? g_strdup_printf("%" G_GUINT64_FORMAT, value) : g_strdup(text);
    return TRUE;
}

/* ---- ranges */

/* Of "LOW..HIGH STEP" the three words; high and step are "" where they are missing. FALSE: no range. */
static gboolean values_split(const char *text, char **low, char **high, char **step)
{
    const char *dots = strstr(text, "..");
    if (!dots)
        return FALSE;
    *low = g_strstrip(g_strndup(text, (gsize)(dots - text)));
    const char *rest = dots + 2;
    while (g_ascii_isspace(*rest))
        rest++;
    const char *end = rest;
    while (*end && !strchr("+x*", *end)) /* none of them is part of a unit */
        end++;
    *high = g_strstrip(g_strndup(rest, (gsize)(end - rest)));
    *step = g_strstrip(g_strdup(end));
    return TRUE;
}

/* A step in the type's units: its own bounds are not those of a value. */
static gboolean values_parse_step(const ValueType *type, const char *text, guint64 *step, char **wrong)
{
    g_autofree char *normal = NULL;
    if (type->kind != VALUE_PARAM)
        return value_parse(type, text, step, &normal, wrong);
    ParamRow row = *type->row;
    row.min = 0;
    row.max = G_MAXUINT64;
    return param_row_parse(&row, text, step, &normal, wrong);
}

static gboolean values_ends(const ValueType *type, const char *text, const char *low, const char *high, guint64 *from,
                            guint64 *to, char **wrong)
{
    g_autofree char *normal_from = NULL, *normal_to = NULL;
    if (!*low || !*high) {
        *wrong = g_strdup_printf("the range '%s' has no %s; write it like 1..16 x2 or 256..4096 +256", text,
                                 *low ? "end" : "beginning");
        return FALSE;
    }
    if (!value_parse(type, low, from, &normal_from, wrong) || !value_parse(type, high, to, &normal_to, wrong))
        return FALSE;
    if (*from > *to)
        *wrong = g_strdup_printf("the range '%s' runs backwards; write the smaller end first", text);
    return !*wrong;
}

static void values_add(GPtrArray *values, guint64 value)
{
    g_ptr_array_add(values, g_strdup_printf("%" G_GUINT64_FORMAT, value));
}

static gboolean values_expand(const ValueType *type, const char *text, GPtrArray *values, guint64 most, char **wrong)
{
    g_autofree char *low = NULL, *high = NULL, *step = NULL;
    guint64 from, to, by = 0;
    values_split(text, &low, &high, &step);
    if (!values_ends(type, text, low, high, &from, &to, wrong))
        return FALSE;
    const char *amount = *step ? g_strchug(step + 1) : "";
    gboolean times = *step == 'x' || *step == '*';
    if ((*step != '+' && !times) || !*amount) {
        *wrong = g_strdup_printf("the range '%s' has no step; write '%s..%s +N' or '%s..%s x2'", text, low, high, low,
                                 high);
        return FALSE;
    }
    if (times && (!g_ascii_string_to_unsigned(amount, 10, 2, 1u << 30, &by, NULL) || from == 0)) {
        *wrong = from == 0 ? g_strdup_printf("the range '%s' begins with 0, and 0 times anything stays 0", text)
                           : g_strdup_printf("the factor of '%s' is not a whole number of 2 or more", text);
        return FALSE;
    }
    if (!times && !values_parse_step(type, amount, &by, wrong))
        return FALSE;
    if (!times && by == 0) {
        *wrong = g_strdup_printf("the range '%s' never ends: its step is 0", text);
        return FALSE;
    }
    if (!times && (to - from) / by >= most - MIN(values->len, most)) {
        *wrong = g_strdup_printf("the range '%s' has %" G_GUINT64_FORMAT " values, more than the %" G_GUINT64_FORMAT
                                 " points that --max-points allows",
                                 text, (to - from) / by + 1, most);
        return FALSE;
    }
    for (guint64 value = from;;) {
        values_add(values, value);
        guint64 left = times ? to / by : to - value;
        if (times ? value > left : by > left)
            return TRUE;
        value = times ? value * by : value + by;
    }
}

gboolean values_parse_span(const ValueType *type, const char *text, guint64 *low, guint64 *high, char **wrong)
{
    g_autofree char *from = NULL, *to = NULL, *step = NULL;
    *wrong = NULL;
    if (!value_is_number(type) || strchr(text, ',') || !values_split(text, &from, &to, &step) || *step)
        return FALSE;
    return values_ends(type, text, from, to, low, high, wrong);
}

/* ---- lists */

/* Cuts the next item off *rest, without the quotes; *quoted: it had some. NULL: no more, or a quote without its end. */
static char *values_next(const char **rest, gboolean *quoted)
{
    GString *item = g_string_new(NULL);
    const char *c = *rest;
    gboolean inside = FALSE;
    *quoted = FALSE;
    for (; *c && (inside || *c != ','); c++) {
        if (*c == '"') {
            inside = !inside;
            *quoted = TRUE;
        } else {
            g_string_append_c(item, *c);
        }
    }
    *rest = *c ? c + 1 : NULL;
    if (inside) {
        g_string_free(item, TRUE);
        return NULL;
    }
    char *text = g_string_free(item, FALSE);
    return *quoted ? text : g_strstrip(text);
}

static gboolean values_check_twice(const GPtrArray *values, char **wrong)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < values->len; i++)
        if (!g_hash_table_add(seen, values->pdata[i])) {
            *wrong = g_strdup_printf("%s stands there twice", (char *)values->pdata[i]);
            return FALSE;
        }
    return TRUE;
}

GPtrArray *values_parse(const ValueType *type, const char *text, guint64 most, char **wrong)
{
    g_autoptr(GPtrArray) values = g_ptr_array_new_with_free_func(g_free);
    const char *rest = text;
    *wrong = NULL;
    while (rest) {
        gboolean quoted;
        g_autofree char *item = values_next(&rest, &quoted);
        char *normal = NULL;
        if (!item) {
            *wrong = g_strdup("a double quote has no end");
            return NULL;
        }
        if (!quoted && value_is_number(type) && strstr(item, "..")) {
            if (!values_expand(type, item, values, most, wrong))
                return NULL;
            continue;
        }
        if (!value_parse(type, item, NULL, &normal, wrong))
            return NULL;
        g_ptr_array_add(values, normal);
    }
    if (!values_check_twice(values, wrong))
        return NULL;
    return g_steal_pointer(&values);
}
