/* See environment.h. */
#include "cli/exec/environment.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/table/libraries.h"
#include "sim/report/report.h"

static void exec_prepend(const char *name, const char *value, const char *between)
{
    const char *old = g_getenv(name);
    g_autofree char *both =
        old != NULL && *old != '\0' ? g_strconcat(value, between, old, NULL) : g_strdup(value);
    g_setenv(name, both, TRUE);
}

void exec_preload(const char *libraries, const char *name)
{
    g_autofree char *path = g_build_filename(libraries, name, NULL);
    exec_prepend("LD_PRELOAD", path, ":");
}

void exec_setenv(const char *name, const char *value)
{
    if (value != NULL)
        g_setenv(name, value, TRUE);
    else
        g_unsetenv(name);
}

/* --format, or what the file's name ends in. */
static const char *exec_format(const Options *options, const char *report)
{
    if (options->format == REPORT_TEXT && report != NULL)
        for (guint i = 0; report_formats[i] != NULL; i++) {
            g_autofree char *ending = g_strconcat(".", report_formats[i], NULL);
            if (g_str_has_suffix(report, ending))
                return report_formats[i];
        }
    return report_formats[options->format];
}

/* A path that stays right when the program changes its directory. */
static char *exec_absolute(const char *path)
{
    if (path == NULL || g_path_is_absolute(path))
        return g_strdup(path);
    g_autofree char *here = g_get_current_dir();
    return g_build_filename(here, path, NULL);
}

/* What compilers at run time use: our linker, which must be loaded before they look for another, and our stand-in for
 * the assembler, unless the user has set one. */
static void exec_compilers(const char *libraries)
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

void exec_environment(const Options *options, const char *system, const char *report,
                             const char *libraries, int status_fd)
{
    static const char *const data_names[] = {"auto", "full", "off"};
    g_autofree char *sets = options->sets != NULL ? g_strjoinv("\n", options->sets) : NULL;
    g_autofree char *config = exec_absolute(options->config);
    g_autofree char *file = report == NULL             ? g_strdup("/dev/stderr")
                            : g_str_equal(report, "-") ? g_strdup("/dev/stdout")
                                                       : exec_absolute(report);
    g_autofree char *html = exec_absolute(options->html), *vcd = exec_absolute(options->vcd),
                    *perfetto = exec_absolute(options->perfetto), *stats = exec_absolute(options->stats);
    g_autofree char *interval = options->stats_interval_ps
                                    ? g_strdup_printf("%" G_GUINT64_FORMAT, options->stats_interval_ps) : NULL;
    g_autofree char *seed = g_strdup_printf("%" G_GUINT64_FORMAT, options->seed);
    struct stat st = {0};
    g_autofree char *fd = fstat(status_fd, &st) == 0
                              ? g_strdup_printf("%d,%d,%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT, status_fd,
                                                (int)getpid(), (guint64)st.st_dev, (guint64)st.st_ino)
                              : NULL;

    exec_compilers(libraries);
    exec_prepend("LD_LIBRARY_PATH", libraries, ":");
    exec_preload(libraries, "libfanout_exit.so");
    exec_setenv("FANOUT_SYSTEM", system);
    exec_setenv("FANOUT_SET", sets);
    exec_setenv("FANOUT_CONFIG", config);
    exec_setenv("FANOUT_REPORT", file);
    exec_setenv("FANOUT_FORMAT", exec_format(options, report));
    exec_setenv("FANOUT_COMMAND", options->command);
    exec_setenv("FANOUT_HTML", html);
    exec_setenv("FANOUT_VCD", vcd);
    exec_setenv("FANOUT_PERFETTO", perfetto);
    exec_setenv("FANOUT_STATS", stats);
    exec_setenv("FANOUT_STATS_INTERVAL_PS", interval);
    exec_setenv("FANOUT_SEED", seed);
    exec_setenv("FANOUT_DATA", data_names[options->data]);
    exec_setenv("FANOUT_FIDELITY", coll_fidelity_name(options->fidelity));
    /* a waveform shows every packet at its own time */
    exec_setenv("FANOUT_ENGINE", options->engine == SIM_ENGINE_REFERENCE || vcd ? "reference" : "fast");
    exec_setenv("FANOUT_CALENDAR", options->calendar == SIM_CALENDAR_SYSTEMC ? "systemc" : "wheel");
    exec_setenv("FANOUT_STATUS_FD", fd);
    exec_setenv("FANOUT_MONITOR", options->monitor ? "1" : NULL);
    if (options->log != NULL)
        exec_setenv("FANOUT_LOG", options->log);
}
