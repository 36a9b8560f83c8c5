/* See libraries.h. */
#include "cli/table/libraries.h"

#include <gio/gio.h>

#include "cli/verb/verb.h"

/* FO_LIBDIR as it lies from `bin`, the folder of the program: the installed tree may have another prefix than was
 * configured, or be a copy somewhere else. */
static char *libraries_moved(const char *bin)
{
    g_auto(GStrv) from = g_strsplit(FO_BINDIR, "/", 0), to = g_strsplit(FO_LIBDIR, "/", 0);
    guint same = 0;
    while (from[same] && to[same] && g_str_equal(from[same], to[same]))
        same++;
    GString *path = g_string_new(bin);
    for (guint i = same; from[i]; i++)
        g_string_append(path, "/..");
    for (guint i = same; to[i]; i++)
        g_string_append_printf(path, "/%s", to[i]);
    g_autofree char *whole = g_string_free(path, FALSE);
    return g_canonicalize_filename(whole, NULL);
}

char *libraries_dir(GError **error)
{
    g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
    g_autofree char *top = self ? g_path_get_dirname(self) : g_strdup(".");
    char *places[] = {g_strdup(g_getenv("FANOUT_LIBDIR")), g_build_filename(top, ".libs", NULL),
                      g_build_filename(top, "..", ".libs", NULL), libraries_moved(top), g_strdup(FO_LIBDIR)};
    char *found = NULL;

    for (guint i = 0; i < G_N_ELEMENTS(places); i++) {
        g_autofree char *library = places[i] ? g_build_filename(places[i], "libcuda.so.1", NULL) : NULL;
        if (!found && library && g_file_test(library, G_FILE_TEST_EXISTS))
            found = g_strdup(places[i]);
        g_free(places[i]);
    }
    if (!found)
        g_set_error(error, CLI_ERROR, CLI_ERROR_FILE,
                    "libcuda.so.1 is neither beside the program nor in %s: install it, or set "
                    "FANOUT_LIBDIR",
                    FO_LIBDIR);
    return found;
}

char *libraries_beside(const char *libraries, const char *name)
{
    g_autofree char *same = g_build_filename(libraries, name, NULL);
    g_autofree char *built = g_build_filename(libraries, "..", "api", "cudart", name, NULL);

    if (g_file_test(same, G_FILE_TEST_EXISTS))
        return g_steal_pointer(&same);
    return g_file_test(built, G_FILE_TEST_EXISTS) ? g_canonicalize_filename(built, NULL) : NULL;
}
