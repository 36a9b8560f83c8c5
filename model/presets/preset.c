#include "model/presets/preset.h"

#include <gio/gio.h>
#include <stdlib.h>
#include <string.h>

#include "model/presets/presets.h"
#include "sim/param/nearest.h"
#include "sim/param/whole.h"

#define PRESET_PREFIX "/fanout/presets/"

static int preset_compare(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

char **preset_names(void)
{
    char **files = g_resource_enumerate_children(presets_get_resource(), PRESET_PREFIX, 0, NULL);
    guint n = g_strv_length(files);
    qsort(files, n, sizeof *files, preset_compare);
    for (guint i = 0; i < n; i++)
        *strstr(files[i], ".ini") = '\0';
    return files;
}

char *preset_text(const char *name, GError **error)
{
    g_autofree char *path = g_strconcat(PRESET_PREFIX, name, ".ini", NULL);
    GBytes *bytes = g_resource_lookup_data(presets_get_resource(), path, 0, NULL);
    if (bytes) {
        gsize size;
        const char *text = g_bytes_get_data(bytes, &size);
        char *copy = g_strndup(text, size);
        g_bytes_unref(bytes);
        return copy;
    }
    g_auto(GStrv) names = preset_names();
    g_autofree char *list = g_strjoinv(", ", names);
    const char *near = nearest_name(name, (const char *const *)names);
    g_set_error(error, PARAM_ERROR, PARAM_ERROR_UNKNOWN,
                "no system '%s'%s%s%s: give one of %s, or the path of an .ini file", name,
                near ? " (did you mean " : "", near ? near : "", near ? "?)" : "", list);
    return NULL;
}

/* ---- systems that say only what differs */

/* One file or preset of a chain of parents, each inside the next one. */
typedef struct Layer {
    const char *name;  /* as it is told */
    const char *place; /* a file's real path, or a preset's name */
    const struct Layer *child;
} Layer;

static gboolean preset_is_file(const char *name) { return strchr(name, '/') || g_str_has_suffix(name, ".ini"); }

static gboolean preset_load_layer(ParamSet *set, const char *name, const Layer *child, GError **error);

/* FALSE when the chain of children has been at this place already. */
static gboolean preset_check_circle(const Layer *layer, GError **error)
{
    g_autofree char *chain = g_strdup(layer->name);
    for (const Layer *child = layer->child; child; child = child->child) {
        char *longer = g_strconcat(child->name, " -> ", chain, NULL);
        g_free(chain);
        chain = longer;
        if (strcmp(child->place, layer->place) == 0) {
            g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                        "%s: [system] inherits: this goes round in a circle: %s; one of them is to name a system that "
                        "comes with Fanout",
                        child->name, chain);
            return FALSE;
        }
    }
    return TRUE;
}

/* A parent's path is meant from the folder of the file that names it. */
static char *preset_parent(const char *name, const char *parent)
{
    if (!preset_is_file(parent) || g_path_is_absolute(parent))
        return g_strdup(parent);
    g_autofree char *folder = g_path_get_dirname(name);
    if (strcmp(folder, ".") == 0 && !g_str_has_prefix(name, "./"))
        return g_strdup(parent);
    return g_build_filename(folder, parent, NULL);
}

static gboolean preset_load_over(ParamSet *set, const Layer *layer, const char *text, gboolean file, GError **error)
{
    int line = 0;
    g_autofree char *named = param_peek(text, "system", "inherits", &line);
    g_autofree char *parent = named ? preset_parent(layer->name, named) : NULL;
    if (named && !*named) {
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                    "%s:%d: [system] inherits: names no system; write a name from 'fanout systems', or a path",
                    layer->name, line);
        return FALSE;
    }
    if (parent && !preset_load_layer(set, parent, layer, error)) {
        /* An error of the parent's own text tells its place itself. */
        if (error && *error && !g_str_has_prefix((*error)->message, parent) &&
            !strstr((*error)->message, "[system] inherits"))
            g_prefix_error(error, "%s:%d: [system] inherits: ", layer->name, line);
        return FALSE;
    }
    return file ? param_load_layer(set, layer->name, text, parent, error)
                : param_load_text(set, layer->name, text, TRUE, error);
}

static gboolean preset_load_layer(ParamSet *set, const char *name, const Layer *child, GError **error)
{
    gboolean file = preset_is_file(name);
    g_autofree char *text = NULL, *place = NULL;
    gsize length = 0;
    if (file && !whole_read(name, &text, &length, error))
        return FALSE;
    if (file && strlen(text) != length) {
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_SYNTAX, "%s: not text: it holds a zero byte", name);
        return FALSE;
    }
    if (!file && !(text = preset_text(name, error)))
        return FALSE;
    place = file ? realpath(name, NULL) : NULL;
    Layer layer = {.name = name, .place = place ? place : name, .child = child};
    return preset_check_circle(&layer, error) && preset_load_over(set, &layer, text, file, error);
}

gboolean preset_load(ParamSet *set, const char *name, GError **error)
{
    GError *missing = NULL;
    param_allow(set, "system", "inherits");
    if (!preset_load_layer(set, name, NULL, error))
        return FALSE;
    if (param_check_complete(set, name, &missing))
        return TRUE;
    g_set_error(error, missing->domain, missing->code,
                "%s; 'inherits = NAME' under [system] takes what the file leaves out from another system",
                missing->message);
    g_error_free(missing);
    return FALSE;
}
