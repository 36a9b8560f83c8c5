/* Values of parameters as text: numbers with units, lists, names. */
#include "sim/param/internal.h"

#include <string.h>

/* Units of one kind that convert into each other. Bytes count in powers of two and rates in powers
 * of ten, as this field writes them. */
typedef struct {
    const char *name;
    int kind;
    guint64 scale;
} Unit;

enum { KIND_TIME, KIND_BYTES, KIND_RATE, KIND_FREQUENCY };

static const Unit units[] = {
    {"ps", KIND_TIME, 1},
    {"ns", KIND_TIME, 1000},
    {"us", KIND_TIME, 1000000},
    {"ms", KIND_TIME, 1000000000},
    {"s", KIND_TIME, 1000000000000},
    {"B", KIND_BYTES, 1},
    {"K", KIND_BYTES, 1024},
    {"KiB", KIND_BYTES, 1024},
    {"M", KIND_BYTES, 1 << 20},
    {"MiB", KIND_BYTES, 1 << 20},
    {"G", KIND_BYTES, 1 << 30},
    {"GiB", KIND_BYTES, 1 << 30},
    {"T", KIND_BYTES, (guint64)1 << 40},
    {"TiB", KIND_BYTES, (guint64)1 << 40},
    {"MB/s", KIND_RATE, 1},
    {"GB/s", KIND_RATE, 1000},
    {"TB/s", KIND_RATE, 1000000},
    {"Hz", KIND_FREQUENCY, 1},
    {"kHz", KIND_FREQUENCY, 1000},
    {"MHz", KIND_FREQUENCY, 1000000},
    {"GHz", KIND_FREQUENCY, 1000000000},
};

static const Unit *find_unit(const char *name)
{
    for (gsize i = 0; i < G_N_ELEMENTS(units); i++)
        if (strcmp(units[i].name, name) == 0)
            return &units[i];
    return NULL;
}

/* "ps, ns, us, ms, s" for a row in ps; the row's own unit where it has no kin. */
static char *fitting_units(const char *own)
{
    const Unit *mine = find_unit(own);
    GString *list = g_string_new(!mine ? own : NULL);

    for (gsize i = 0; mine && i < G_N_ELEMENTS(units); i++)
        if (units[i].kind == mine->kind)
            g_string_append_printf(list, "%s%s", list->len > 0 ? ", " : "", units[i].name);
    return g_string_free(list, FALSE);
}

/* How many of the row's unit one written unit is, as scale / over. */
static gboolean unit_factor(const char *own, const char *written, guint64 *scale, guint64 *over)
{
    *scale = *over = 1;
    if (*written == '\0' || strcmp(written, own) == 0)
        return TRUE;
    const Unit *from = find_unit(written);
    const Unit *to = find_unit(own);
    if (!from || !to || from->kind != to->kind)
        return FALSE;
    *scale = from->scale;
    *over = to->scale;
    return TRUE;
}

/* Digits with an optional fraction, as mantissa / divisor; *rest is what follows. */
static gboolean split_number(const char *text, guint64 *mantissa, guint64 *divisor, const char **rest)
{
    const char *c = text;
    gboolean point = FALSE;

    *mantissa = 0;
    *divisor = 1;
    for (; g_ascii_isdigit(*c) || (*c == '.' && !point && c != text); c++) {
        if (*c == '.') {
            point = TRUE;
            continue;
        }
        if (!g_uint64_checked_mul(mantissa, *mantissa, 10) ||
            !g_uint64_checked_add(mantissa, *mantissa, (guint64)(*c - '0')) ||
            (point && !g_uint64_checked_mul(divisor, *divisor, 10)))
            return FALSE;
    }
    *rest = c;
    return c != text && c[-1] != '.';
}

static gboolean parse_number(const ParamRow *row, const char *text, guint64 *value, char **wrong)
{
    guint64 mantissa, divisor, scale, over;
    const char *rest;

    if (!split_number(text, &mantissa, &divisor, &rest)) {
        *wrong = g_strdup_printf("'%s' is not a number from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT, text,
                                 row->min, row->max);
        return FALSE;
    }
    while (g_ascii_isspace(*rest))
        rest++;
    if (!unit_factor(row->unit, rest, &scale, &over)) {
        char *fitting = fitting_units(row->unit);
        *wrong = *row->unit == '\0' ? g_strdup_printf("'%s' has a unit, but this is a plain number", text)
                                    : g_strdup_printf("the unit of '%s' does not fit; write %s", text, fitting);
        g_free(fitting);
        return FALSE;
    }
    unsigned __int128 scaled = (unsigned __int128)mantissa * scale;
    unsigned __int128 whole = (unsigned __int128)divisor * over;
    if (scaled % whole != 0) {
        *wrong = g_strdup_printf("'%s' is not a whole number of %s", text, *row->unit != '\0' ? row->unit : "units");
        return FALSE;
    }
    scaled /= whole;
    if (scaled < row->min || scaled > row->max) {
        *wrong = g_strdup_printf("'%s' is out of bounds: %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT "%s%s", text,
                                 row->min, row->max, *row->unit != '\0' ? " " : "", row->unit);
        return FALSE;
    }
    *value = (guint64)scaled;
    return TRUE;
}

static gboolean parse_bool(const char *text, gboolean *value, char **wrong)
{
    static const char *const names[] = {"false", "true", "no", "yes", "off", "on", "0", "1", NULL};

    for (int i = 0; names[i] != NULL; i++) {
        if (g_ascii_strcasecmp(text, names[i]) == 0) {
            *value = i % 2;
            return TRUE;
        }
    }
    *wrong = g_strdup_printf("'%s' is neither true nor false", text);
    return FALSE;
}

static gboolean parse_enum(const ParamRow *row, const char *text, int *value, char **wrong)
{
    for (int i = 0; row->enums[i] != NULL; i++) {
        if (strcmp(text, row->enums[i]) == 0) {
            *value = i;
            return TRUE;
        }
    }
    char *known = g_strjoinv(", ", (char **)row->enums);
    *wrong = g_strdup_printf("'%s' is none of %s", text, known);
    g_free(known);
    return FALSE;
}

static gboolean parse_list(const ParamRow *row, const char *text, ParamList *list, char **wrong)
{
    char **items = g_strsplit(text, ",", -1);
    ParamList parsed = {0};

    g_assert(row->max <= G_MAXUINT32);
    for (char **item = items; *item != NULL && !*wrong; item++) {
        guint64 value = 0;
        if (parsed.n == PARAM_LIST_MAX)
            *wrong = g_strdup_printf("more than %d elements", PARAM_LIST_MAX);
        else if (parse_number(row, g_strstrip(*item), &value, wrong))
            parsed.value[parsed.n++] = (guint32)value;
    }
    g_strfreev(items);
    if (!*wrong)
        *list = parsed;
    return !*wrong;
}

gboolean param_value_parse(const ParamRow *row, void *spec, const char *text, char **wrong)
{
    void *field = G_STRUCT_MEMBER_P(spec, row->offset);

    *wrong = NULL;
    if (*text == '\0' && row->type != PARAM_STRING_T) {
        *wrong = g_strdup("the value is missing");
        return FALSE;
    }
    switch (row->type) {
    case PARAM_U64_T: return parse_number(row, text, field, wrong);
    case PARAM_BOOL_T: return parse_bool(text, field, wrong);
    case PARAM_ENUM_T: return parse_enum(row, text, field, wrong);
    case PARAM_LIST_T: return parse_list(row, text, field, wrong);
    case PARAM_STRING_T:
        g_free(*(char **)field);
        *(char **)field = g_strdup(text);
        return TRUE;
    }
    g_assert_not_reached();
}

static char *format_list(const ParamList *list)
{
    GString *text = g_string_new(NULL);

    for (guint32 i = 0; i < list->n; i++)
        g_string_append_printf(text, "%s%u", i > 0 ? "," : "", list->value[i]);
    return g_string_free(text, FALSE);
}

char *param_value_format(const ParamRow *row, const void *spec)
{
    const void *field = (const char *)spec + row->offset;

    switch (row->type) {
    case PARAM_U64_T: return g_strdup_printf("%" G_GUINT64_FORMAT, *(const guint64 *)field);
    case PARAM_BOOL_T: return g_strdup(*(const gboolean *)field ? "true" : "false");
    case PARAM_ENUM_T: return g_strdup(row->enums[*(const int *)field]);
    case PARAM_LIST_T: return format_list(field);
    case PARAM_STRING_T: return g_strdup(*(char *const *)field != NULL ? *(char *const *)field : "");
    }
    g_assert_not_reached();
}

gboolean param_row_parse(const ParamRow *row, const char *text, guint64 *number, char **normal, char **wrong)
{
    union {
        guint64 u64;
        gboolean boolean;
        int number;
        char *string;
        ParamList list;
    } field = {.u64 = 0};
    ParamRow own = *row;

    own.offset = 0;
    *number = 0;
    if (!param_value_parse(&own, &field, text, wrong))
        return FALSE;
    *number = row->type == PARAM_U64_T ? field.u64 : 0;
    *normal = param_value_format(&own, &field);
    if (row->type == PARAM_STRING_T)
        g_free(field.string);
    return TRUE;
}

char *param_row_bounds(const ParamRow *row)
{
    if (row->type == PARAM_ENUM_T) {
        char *list = g_strjoinv(", ", (char **)row->enums);
        char *text = g_strdup_printf("one of %s", list);
        g_free(list);
        return text;
    }
    if (row->type == PARAM_BOOL_T)
        return g_strdup("true or false");
    if (row->type == PARAM_STRING_T)
        return g_strdup("text");
    return g_strdup_printf("%s%" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT "%s%s",
                           row->type == PARAM_LIST_T ? "list of numbers from " : "", row->min, row->max,
                           *row->unit ? " " : "", row->unit);
}
