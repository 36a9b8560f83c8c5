/* The INI text that fills tables of parameters.
 *
 * GKeyFile would lose line numbers and comments, and both matter here: an error names its line,
 * and a preset's number carries its source in a comment. */
#include "sim/param/param.h"

#include <string.h>

#include "sim/param/internal.h"
#include "sim/param/whole.h"

/* Where in which text the reader is. */
typedef struct {
    ParamSet *set;
    const char *name;
    gboolean need_origin;
    gboolean layer;    /* an own system's file: see param_load_layer() */
    const char *under; /* the layer below, NULL */
    int line;
    char *section; /* NULL before the first */
    char *origin;  /* from the comment above, NULL */
} Reader;

/* "source: ...", "calibrated: ..." or "assumed..." behind a comment sign, else NULL. */
static const char *origin_in(const char *comment)
{
    static const char *const openings[] = {"source:", "calibrated:", "assumed", "changed in"};

    while (*comment == '#' || *comment == ';' || g_ascii_isspace(*comment))
        comment++;
    for (gsize i = 0; i < G_N_ELEMENTS(openings); i++)
        if (g_str_has_prefix(comment, openings[i]))
            return comment;
    return NULL;
}

/* Cuts a comment behind a value off and returns it, or NULL. A comment needs a blank before it. */
static char *cut_comment(char *value)
{
    for (char *c = value; *c != '\0'; c++) {
        if ((*c == '#' || *c == ';') && (c == value || g_ascii_isspace(c[-1]))) {
            char *comment = g_strdup(c);
            *c = '\0';
            return comment;
        }
    }
    return NULL;
}

static char *where(const Reader *reader) { return g_strdup_printf("%s:%d", reader->name, reader->line); }

/* What an own system's file says of a value, whose field has the new one already. `before` is the value of the layer
 * below, NULL where there is none. Caller frees. */
static char *layer_origin(const Reader *reader, const ParamSlot *slot, const char *before, const char *comment)
{
    if (!before)
        return comment ? g_strdup(comment) : g_strdup_printf("%s:%d", reader->name, reader->line);
    char *now = param_value_format(slot->row, slot->spec);
    char *origin;
    if (strcmp(now, before) == 0) {
        origin = g_strdup(comment ? comment : slot->origin);
    } else {
        origin = g_strdup_printf("changed in %s:%d, %s has %s%s%s", reader->name, reader->line, reader->under,
                                 *before != '\0' ? before : "nothing", comment ? "; " : "", comment ? comment : "");
    }
    g_free(now);
    return origin;
}

static gboolean store(Reader *reader, ParamSlot *slot, const char *value, const char *origin, GError **error)
{
    char *wrong = NULL;
    char *before = NULL;

    if (slot->line != 0) {
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_SYNTAX, "%s:%d: [%s] %s stands twice, first in line %d",
                    reader->name, reader->line, slot->section, slot->row->name, slot->line);
        return FALSE;
    }
    if (slot->origin && reader->under)
        before = param_value_format(slot->row, slot->spec);
    if (!param_value_parse(slot->row, slot->spec, value, &wrong)) {
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE, "%s:%d: [%s] %s: %s", reader->name, reader->line,
                    slot->section, slot->row->name, wrong);
        g_free(wrong);
        g_free(before);
        return FALSE;
    }
    slot->line = reader->line;
    char *told = reader->layer ? layer_origin(reader, slot, before, origin) : g_strdup(origin);
    g_free(slot->origin);
    slot->origin = told;
    g_free(before);
    return TRUE;
}

/* One "key = value" line, cut at the '='. */
static gboolean read_key(Reader *reader, char *key, char *value, GError **error)
{
    char *comment = cut_comment(value);
    const char *origin = comment ? origin_in(comment) : NULL;
    char *loaded = NULL;
    gboolean fine = FALSE;

    g_strstrip(key);
    g_strstrip(value);
    origin = origin ? origin : reader->origin;
    ParamSlot *slot = param_find(reader->set, reader->section, key);
    if (!slot) {
        fine = param_is_allowed(reader->set, reader->section, key);
        if (!fine) {
            char *at = where(reader);
            param_set_unknown(reader->set, at, reader->section, key, error);
            g_free(at);
        }
    } else if (!origin && reader->need_origin) {
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_MISSING,
                    "%s:%d: [%s] %s does not say where its value comes from; add a comment "
                    "'# source: ...', '# calibrated: ...' or '# assumed ...'",
                    reader->name, reader->line, reader->section, key);
    } else {
        loaded = reader->need_origin || reader->layer ? g_strdup(origin) : g_strdup_printf("--config %s", reader->name);
        fine = store(reader, slot, value, loaded ? g_strchomp(loaded) : NULL, error);
    }
    g_free(loaded);
    g_free(comment);
    return fine;
}

static gboolean read_section(Reader *reader, char *line, GError **error)
{
    char *comment = cut_comment(line);
    g_free(comment);
    g_strchomp(line);

    char *end = strchr(line, ']');
    if (!end || end[1] != '\0') {
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_SYNTAX, "%s:%d: '%s' is no group; write [name]", reader->name,
                    reader->line, line);
        return FALSE;
    }
    *end = '\0';
    if (!param_is_section(reader->set, line + 1)) {
        char *at = where(reader);
        param_set_unknown(reader->set, at, NULL, line + 1, error);
        g_free(at);
        return FALSE;
    }
    g_free(reader->section);
    reader->section = g_strdup(line + 1);
    return TRUE;
}

static gboolean read_line(Reader *reader, char *line, GError **error)
{
    g_strstrip(line);
    if (*line == '#' || *line == ';') {
        if (origin_in(line)) {
            g_free(reader->origin);
            reader->origin = g_strdup(origin_in(line));
        }
        return TRUE;
    }
    gboolean fine = TRUE;
    char *equals = strchr(line, '=');
    if (*line == '[') {
        fine = read_section(reader, line, error);
    } else if (*line != '\0' && (!equals || equals == line)) {
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_SYNTAX, "%s:%d: '%s' is no 'key = value'", reader->name,
                    reader->line, line);
        fine = FALSE;
    } else if (*line != '\0' && !reader->section) {
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_SYNTAX,
                    "%s:%d: '%s' stands before the first [group]; write the group that it is of above it, as [system]",
                    reader->name, reader->line, line);
        fine = FALSE;
    } else if (*line != '\0') {
        *equals = '\0';
        fine = read_key(reader, line, equals + 1, error);
    }
    g_clear_pointer(&reader->origin, g_free);
    return fine;
}

static gboolean read_text(Reader *reader, const char *text, GError **error)
{
    char **lines = g_strsplit(text, "\n", -1);
    gboolean fine = g_utf8_validate(text, -1, NULL);

    if (!fine)
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_SYNTAX, "%s: not UTF-8 text", reader->name);
    for (guint i = 0; i < reader->set->slots->len; i++)
        param_slot(reader->set, i)->line = 0;
    for (char **line = lines; *line != NULL && fine; line++) {
        reader->line++;
        fine = read_line(reader, *line, error);
    }
    g_free(reader->section);
    g_free(reader->origin);
    g_strfreev(lines);
    return fine;
}

gboolean param_load_text(ParamSet *set, const char *name, const char *text, gboolean need_origin, GError **error)
{
    Reader reader = {.set = set, .name = name, .need_origin = need_origin};
    return read_text(&reader, text, error);
}

gboolean param_load_layer(ParamSet *set, const char *name, const char *text, const char *under, GError **error)
{
    Reader reader = {.set = set, .name = name, .layer = TRUE, .under = under};
    return read_text(&reader, text, error);
}

gboolean param_load_file(ParamSet *set, const char *path, GError **error)
{
    char *text;
    gsize length;

    if (!whole_read(path, &text, &length, error))
        return FALSE; /* the message names the file */
    gboolean fine = strlen(text) == length;
    if (!fine)
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_SYNTAX, "%s: not text: it holds a zero byte", path);
    fine = fine && param_load_text(set, path, text, FALSE, error);
    g_free(text);
    return fine;
}

char *param_peek(const char *text, const char *group, const char *key, int *at)
{
    char **lines = g_strsplit(text, "\n", -1);
    char *heading = g_strdup_printf("[%s]", group);
    char *found = NULL;
    gboolean inside = FALSE;

    for (char **line = lines; *line != NULL && !found; line++) {
        g_free(cut_comment(*line));
        g_strstrip(*line);
        char *equals = strchr(*line, '=');
        if (**line == '[') {
            inside = strcmp(*line, heading) == 0;
        } else if (inside && equals) {
            *equals = '\0';
            if (strcmp(g_strchomp(*line), key) == 0) {
                found = g_strdup(g_strchug(equals + 1));
                if (at)
                    *at = (int)(line - lines) + 1;
            }
        }
    }
    g_free(heading);
    g_strfreev(lines);
    return found;
}
