/* See found.h. */
#include "cli/exec/found.h"

#include <string.h>

#include "cli/exec/environment.h"
#include "cli/table/libraries.h"
#include "cli/verb/verb.h"

#define LINES_MAX 60000 /* libfanout_find.so has room for 64 KiB */

/* A name stands for all that have further numbers behind it: libcuda.so for libcuda.so.1, too. */
static const struct {
    const char *name, *file;
} own[] = {
    {"libcuda.so", "libcuda.so.1"},
    {"libnvidia-ml.so", "libnvidia-ml.so.1"},
    {"libcudart.so.12", "libcudart.so.12"},
    {"libcudart.so.13", "libcudart.so.13"},
    {"libnvJitLink.so.12", "libnvJitLink.so.12"},
    {"libnvJitLink.so.13", "libnvJitLink.so.13"},
};

static gboolean found_user(GString *lines, const char *word, GError **error)
{
    const char *equals = strchr(word, '=');
    g_autofree char *name = equals ? g_strndup(word, (gsize)(equals - word)) : NULL;
    g_autofree char *path = equals ? exec_absolute(equals + 1) : NULL;

    if (!name || *name == '\0' || equals[1] == '\0' || strpbrk(name, "/\n") || strchr(path, '\n'))
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--library %s: write NAME=PATH, as libnccl.so.2=nccl/build/lib/libnccl.so.2", word);
    else if (g_str_has_prefix(name, "libcuda.so"))
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--library %s: %s is what Fanout stands in place of; FANOUT_LIBDIR names another Fanout", word,
                    name);
    else if (!g_file_test(path, G_FILE_TEST_IS_REGULAR))
        g_set_error(error, CLI_ERROR, CLI_ERROR_FILE, "--library %s: '%s' is not a file", word, path);
    else {
        g_string_append_printf(lines, "%s=%s\n", name, path);
        return TRUE;
    }
    return FALSE;
}

gboolean exec_found(const char *libraries, char **users, GError **error)
{
    g_autoptr(GString) lines = g_string_new(NULL);

    for (char **word = users; word && *word; word++)
        if (!found_user(lines, *word, error))
            return FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(own); i++) {
        g_autofree char *file = libraries_beside(libraries, own[i].file), *path = exec_absolute(file);
        if (path)
            g_string_append_printf(lines, "%s=%s\n", own[i].name, path);
    }
    if (lines->len > LINES_MAX) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--library: %" G_GSIZE_FORMAT " bytes of names and paths; there "
                    "is room for %d",
                    lines->len, LINES_MAX);
        return FALSE;
    }
    g_autofree char *finder = g_build_filename(libraries, "libfanout_find.so", NULL);
    exec_setenv("FANOUT_LIBRARIES", lines->str);
    exec_prepend("LD_AUDIT", finder, ":");
    return TRUE;
}
