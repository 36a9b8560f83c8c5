/* See lines.h. */
#include "explore/lines.h"

#include <string.h>

G_DEFINE_QUARK(fanout - spec - error, spec_error)

static void lines_clear(gpointer data)
{
    SpecLine *line = data;
    g_free(line->group);
    g_free(line->key);
    g_free(line->value);
}

static void lines_cut_comment(char *text)
{
    gboolean quoted = FALSE;
    for (char *c = text; *c; c++) {
        if (*c == '"')
            quoted = !quoted;
        if (!quoted && (*c == '#' || *c == ';') && (c == text || g_ascii_isspace(c[-1]))) {
            *c = 0;
            return;
        }
    }
}

static gboolean lines_bad(GError **error, const char *name, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(error, SPEC_ERROR, SPEC_ERROR_SYNTAX, "%s:%d: %s", name, line, what);
    return FALSE;
}

static gboolean lines_add(GArray *lines, const char *name, const char *group, char *text, int line, GError **error)
{
    char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return lines_bad(error, name, line, "'%s' is no 'key = value'", text);
    if (!group)
        return lines_bad(error, name, line, "'%s' stands before the first [group]", text);
    *equals = 0;
    SpecLine one = {g_strdup(group), g_strdup(g_strstrip(text)), g_strdup(g_strstrip(equals + 1)), line};
    for (guint i = 0; i < lines->len; i++) {
        const SpecLine *other = &g_array_index(lines, SpecLine, i);
        if (strcmp(other->group, group) == 0 && strcmp(other->key, one.key) == 0) {
            lines_bad(error, name, line, "[%s] %s stands twice, first in line %d", group, one.key, other->line);
            lines_clear(&one);
            return FALSE;
        }
    }
    g_array_append_val(lines, one);
    return TRUE;
}

static gboolean lines_read_one(GArray *lines, const char *name, char **group, char *text, int line, GError **error)
{
    lines_cut_comment(text);
    g_strstrip(text);
    if (!*text)
        return TRUE;
    if (*text != '[')
        return lines_add(lines, name, *group, text, line, error);
    char *end = strchr(text, ']');
    if (!end || end[1] || end == text + 1)
        return lines_bad(error, name, line, "'%s' is no group; write [name]", text);
    *end = 0;
    g_free(*group);
    *group = g_strdup(text + 1);
    return TRUE;
}

GArray *lines_read(const char *name, const char *text, GError **error)
{
    GArray *lines = g_array_new(FALSE, FALSE, sizeof(SpecLine));
    g_array_set_clear_func(lines, lines_clear);
    g_auto(GStrv) all = g_strsplit(text, "\n", -1);
    g_autofree char *group = NULL;
    gboolean good = g_utf8_validate(text, -1, NULL);
    if (!good)
        g_set_error(error, SPEC_ERROR, SPEC_ERROR_SYNTAX, "%s: not UTF-8 text", name);
    for (int i = 0; good && all[i]; i++)
        good = lines_read_one(lines, name, &group, all[i], i + 1, error);
    if (good)
        return lines;
    g_array_unref(lines);
    return NULL;
}
