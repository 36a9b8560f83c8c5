/* See environment.h. */
#include "cli/exec/environment.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/table/libraries.h"
#include "sim/report/report.h"

void exec_prepend(const char *name, const char *value, const char *between)
{
    const char *old = g_getenv(name);
    g_autofree char *both = old && *old != '\0' ? g_strconcat(value, between, old, NULL) : g_strdup(value);
    g_setenv(name, both, TRUE);
}

void exec_preload(const char *libraries, const char *name)
{
    g_autofree char *path = g_build_filename(libraries, name, NULL);
    exec_prepend("LD_PRELOAD", path, ":");
}

void exec_setenv(const char *name, const char *value)
{
    if (value)
        g_setenv(name, value, TRUE);
    else
        g_unsetenv(name);
}

/* --format, or what the file's name ends in. */
static const char *exec_format(const Options *options, const char *report)
{
    if (options->format == REPORT_TEXT && report)
        for (guint i = 0; report_formats[i] != NULL; i++) {
            g_autofree char *ending = g_strconcat(".", report_formats[i], NULL);
            if (g_str_has_suffix(report, ending))
                return report_formats[i];
        }
    return report_formats[options->format];
}

char *exec_absolute(const char *path)
{
    if (!path || g_path_is_absolute(path))
        return g_strdup(path);
    g_autofree char *here = g_get_current_dir();
    return g_build_filename(here, path, NULL);
}

/* Programs and tools that look through LD_LIBRARY_PATH themselves find the runtime there, too; what makes machine code
 * at run time is given our stand-in for the assembler, unless the user has set one. */
static void exec_compilers(const char *libraries)
{
    static const char *const assemblers[] = {"TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"};
    g_autofree char *assembler = libraries_beside(libraries, "fanout-ptxas");
    g_autofree char *runtime = libraries_beside(libraries, "libcudart.so.13");
    g_autofree char *folder = runtime ? g_path_get_dirname(runtime) : NULL;

    if (folder)
        exec_prepend("LD_LIBRARY_PATH", folder, ":");
    for (guint i = 0; i < G_N_ELEMENTS(assemblers) && assembler; i++)
        g_setenv(assemblers[i], assembler, FALSE);
}

/* Open MPI's ranks look again and again for messages in shared memory. With as many processors as ranks they call
 * nothing meanwhile, and time would stand still (docs/time.md); so they are to yield, as with fewer processors. */
static void exec_launchers(void) { g_setenv("OMPI_MCA_mpi_yield_when_idle", "1", FALSE); }

void exec_environment(const Options *options, const char *system, const char *report, const char *report_ranks,
                      const char *libraries, int status_fd)
{
    static const char *const data_names[] = {"auto", "full", "off"};
    g_autofree char *sets = options->sets ? g_strjoinv("\n", options->sets) : NULL;
    g_autofree char *config = exec_absolute(options->config), *ranks = exec_absolute(report_ranks);
    g_autofree char *file = !report                    ? g_strdup("/dev/stderr")
                            : g_str_equal(report, "-") ? g_strdup("/dev/stdout")
                                                       : exec_absolute(report);
    g_autofree char *html = exec_absolute(options->html), *vcd = exec_absolute(options->vcd),
                    *perfetto = exec_absolute(options->perfetto), *stats = exec_absolute(options->stats);
    g_autofree char *interval = options->stats_interval_ps
                                    ? g_strdup_printf("%" G_GUINT64_FORMAT, options->stats_interval_ps)
                                    : NULL;
    g_autofree char *seed = g_strdup_printf("%" G_GUINT64_FORMAT, options->seed);
    struct stat st = {0};
    g_autofree char *fd = fstat(status_fd, &st) == 0
                              ? g_strdup_printf("%d,%d,%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT, status_fd,
                                                (int)getpid(), (guint64)st.st_dev, (guint64)st.st_ino)
                              : NULL;

    exec_compilers(libraries);
    exec_launchers();
    exec_prepend("LD_LIBRARY_PATH", libraries, ":");
    exec_preload(libraries, "libfanout_exit.so");
    exec_setenv("FANOUT_SYSTEM", system);
    exec_setenv("FANOUT_SET", sets);
    exec_setenv("FANOUT_CONFIG", config);
    exec_setenv("FANOUT_REPORT", file);
    exec_setenv("FANOUT_REPORT_RANKS", ranks);
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
    if (options->log)
        exec_setenv("FANOUT_LOG", options->log);
}
