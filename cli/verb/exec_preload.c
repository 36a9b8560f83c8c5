/* See exec_preload.h. */
#include "cli/verb/exec_preload.h"

#include "cli/table/libraries.h"

void exec_prepend(const char *name, const char *value, const char *between)
{
    const char *old = g_getenv(name);
    g_autofree char *both =
        old != NULL && *old != '\0' ? g_strconcat(value, between, old, NULL) : g_strdup(value);
    g_setenv(name, both, TRUE);
}

static void exec_preload(const char *libraries, const char *name)
{
    g_autofree char *path = g_build_filename(libraries, name, NULL);
    exec_prepend("LD_PRELOAD", path, ":");
}

/* What compilers at run time use: our linker, which must be loaded before they look for another, and our stand-in for
 * the assembler, unless the user has set one. */
void exec_compilers(const char *libraries)
{
    static const char *const linkers[] = {"libnvJitLink.so.12", "libnvJitLink.so.13"};
    static const char *const assemblers[] = {"TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"};
    g_autofree char *assembler = libraries_beside(libraries, "fanout-ptxas");

    for (guint i = 0; i < G_N_ELEMENTS(linkers); i++) {
        g_autofree char *linker = libraries_beside(libraries, linkers[i]);
        g_autofree char *folder = linker != NULL ? g_path_get_dirname(linker) : NULL;
        if (linker == NULL)
            continue;
        exec_prepend("LD_PRELOAD", linker, ":");
        if (i == 0)
            exec_prepend("LD_LIBRARY_PATH", folder, ":");
    }
    for (guint i = 0; i < G_N_ELEMENTS(assemblers) && assembler != NULL; i++)
        g_setenv(assemblers[i], assembler, FALSE);
}

void exec_preloads(const char *libraries, gboolean clock, gboolean trays)
{
    exec_preload(libraries, "libfanout_exit.so");
    exec_preload(libraries, "libfanout_wait.so");
    if (trays)
        exec_preload(libraries, "libfanout_tray.so");
    if (clock)
        exec_preload(libraries, "libfanout_clock.so");
}
