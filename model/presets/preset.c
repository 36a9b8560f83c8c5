#include "model/presets/preset.h"

#include <gio/gio.h>
#include <string.h>

#include "model/presets/presets.h"
#include "sim/param/nearest.h"

#define PRESET_PREFIX "/fanout/presets/"

static int preset_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

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

gboolean preset_load(ParamSet *set, const char *name, GError **error)
{
    g_autofree char *text = NULL;
    gboolean file = strchr(name, '/') || g_str_has_suffix(name, ".ini");
    if (file) {
        if (!g_file_get_contents(name, &text, NULL, error))
            return FALSE;
    } else if (!(text = preset_text(name, error))) {
        return FALSE;
    }
    return param_load_text(set, name, text, !file, error) && param_check_complete(set, name, error);
}
