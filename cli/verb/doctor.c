/* fanout doctor: what of this machine is usable, and what to install for the rest.
 *
 * The core is what every simulation needs, and it is tried, not only looked for: one collective, whose sums are
 * verified. All else serves some verbs or some tests; what it lacks is no failure. */
#include "config.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "cli/table/libraries.h"
#include "cli/live/monitor/monitor.h"
#include "cli/options.h"
#include "cli/run.h"
#include "cli/system.h"
#include "coll/coll.h"
#include "model/presets/preset.h"

#define DOCTOR_SYSTEM "teach-4gpu"
#define DOCTOR_BYTES 65536

static const Column columns[] = {
    COLUMN_TEXT(what, "what", "a part of the machine"),
    COLUMN_FLAG(usable, "usable", "whether it can be used"),
    COLUMN_TEXT(found, "found", "where, which, or what is wrong"),
    COLUMN_TEXT(serves, "serves", "what it is for"),
    COLUMN_TEXT(install, "to have it", "what to do where it is not usable"),
    COLUMN_END,
};

typedef struct {
    Table *table;
    GString *missing; /* "gnuplot, mpirun": what is not usable */
} Doctor;

static void doctor_row(Doctor *doctor, const char *what, gboolean usable, const char *found, const char *serves,
                       const char *install)
{
    Table *table = doctor->table;
    if (!usable)
        g_string_append_printf(doctor->missing, "%s%s", doctor->missing->len ? ", " : "", what);
    table_text(table, what);
    table_bool(table, usable);
    table_text(table, found);
    table_text(table, serves);
    table_text(table, usable ? NULL : install);
}

/* ---- the core */

static gboolean doctor_collective(const Options *options, const System *system, char **found)
{
    Run run;
    g_autoptr(GError) why = NULL;
    gboolean good = FALSE;
    const guint32 gpus = (guint32)system->spec.system.gpus;
    CollSpec spec = coll_spec_default(COLL_ALL_REDUCE);
    CollResult result;
    spec.bytes = DOCTOR_BYTES * gpus;
    if (run_open(&run, system, options, 0, &why)) {
        CollGroup *group = coll_group_new(run.fabric, NULL, gpus, &why);
        if (group && coll_run(group, &spec, &result, &why)) {
            good = result.check == COLL_VERIFIED;
            *found = g_strdup_printf("%s: all_reduce of %u KiB, %s", system->name, (guint)(spec.bytes >> 10),
                                     good ? "verified" : "not verified");
        }
        if (group && !g_error_matches(why, COLL_ERROR, COLL_ERROR_STUCK))
            coll_group_free(group);
        run_close(&run);
    }
    if (*found)
        return good;
    g_auto(GStrv) lines = g_strsplit(why ? why->message : "nothing was simulated", "\n", 3); /* two fit into a row */
    *found = g_strconcat(lines[0], lines[1], NULL);
    return good;
}

static gboolean doctor_core(const Options *options, const System *system, Doctor *doctor)
{
    g_autofree char *found = NULL;
    const gboolean good = doctor_collective(options, system, &found);
    g_auto(GStrv) presets = preset_names();
    g_autofree char *systems = g_strdup_printf("%u", g_strv_length(presets));
    doctor_row(doctor, "core", good, found, "every verb that simulates", "build again: make clean && make");
    doctor_row(doctor, "SystemC", *SYSTEMC_VERSION != '\0', *SYSTEMC_VERSION ? SYSTEMC_VERSION : NULL,
               "simulated time, processes, waveforms", "apt-get install libsystemc-dev");
    doctor_row(doctor, "systems", presets[0] != NULL, systems, "-s NAME", "build again");
    return good;
}

/* ---- the host */

/* "MemTotal:   24 kB" of /proc/meminfo, in KiB; 0: it does not say. */
static guint64 doctor_meminfo(const char *key)
{
    g_autofree char *text = NULL;
    if (!g_file_get_contents("/proc/meminfo", &text, NULL, NULL))
        return 0;
    const char *at = strstr(text, key);
    return at ? g_ascii_strtoull(at + strlen(key) + 1, NULL, 10) : 0;
}

static void doctor_memory(Doctor *doctor)
{
    const guint64 total = doctor_meminfo("MemTotal"), free_now = doctor_meminfo("MemAvailable");
    struct rlimit limit;
    g_autofree char *found = g_strdup_printf("%.1f GiB, %.1f GiB of it free now", (double)total / (1 << 20),
                                             (double)free_now / (1 << 20));
    doctor_row(doctor, "memory", free_now > 512 * 1024, found, "bytes that move (--max-memory), 72 GPUs and more",
               "end other programs; or give --data off, fewer GPUs, smaller sizes");
    const gboolean open_end = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
    g_autofree char *most = open_end ? NULL : g_strdup_printf("%.1f GiB", (double)limit.rlim_cur / (1 << 30));
    doctor_row(doctor, "address space", open_end || limit.rlim_cur > (8ull << 30), open_end ? "no limit" : most,
               "exec: addresses of simulated GPU memory", "raise the limit: ulimit -v unlimited");
}

static void doctor_host(Doctor *doctor)
{
    const guint cores = g_get_num_processors();
    g_autofree char *found = g_strdup_printf("%u", cores), *pages = NULL;
    doctor_row(doctor, "cores", TRUE, found, "sweep -j, validate -j, coll --cores", NULL);
    doctor_memory(doctor);
    gboolean read = g_file_get_contents("/sys/kernel/mm/transparent_hugepage/enabled", &pages, NULL, NULL);
    if (read)
        g_strchomp(pages);
    doctor_row(doctor, "huge pages", read && !strstr(pages, "[never]"), read ? pages : NULL,
               "a tenth of the time of large systems",
               "as root: echo madvise >/sys/kernel/mm/transparent_hugepage/enabled");
}

/* ---- programs and libraries */

typedef struct {
    const char *what;
    const char *programs[6]; /* any of them */
    const char *serves, *install;
} DoctorProgram;

static const DoctorProgram programs[] = {
    {"gnuplot", {"gnuplot"}, "fanout plot", "apt-get install gnuplot-nox"},
    {"browser",
     {"chromium", "chromium-browser", "google-chrome", "firefox"},
     "pages of --html; tests use Chromium",
     "apt-get install chromium"},
    {"GTKWave", {"gtkwave"}, "waveforms of --vcd", "apt-get install gtkwave"},
    {"CUDA compiler",
     {"nvcc"},
     "building programs for exec; not for running them",
     "install NVIDIA's toolkit, or: make client-packages"},
    {"C compiler", {"cc", "gcc", "clang"}, "building programs for exec", "apt-get install gcc"},
    {"mpirun", {"mpirun", "srun"}, "sweeps on several machines", "apt-get install openmpi-bin"},
    {"SQLite", {"sqlite3"}, "asking a sweep's database; the verbs have their own", "apt-get install sqlite3"},
    {"man", {"man"}, "manual pages", "apt-get install man-db"},
};

static void doctor_programs(Doctor *doctor)
{
    for (guint i = 0; i < G_N_ELEMENTS(programs); i++) {
        g_autofree char *found = NULL;
        for (guint p = 0; programs[i].programs[p] && !found; p++)
            found = g_find_program_in_path(programs[i].programs[p]);
        if (!found && strcmp(programs[i].what, "CUDA compiler") == 0 &&
            g_file_test("/usr/local/cuda/bin/nvcc", G_FILE_TEST_IS_EXECUTABLE))
            found = g_strdup("/usr/local/cuda/bin/nvcc");
        doctor_row(doctor, programs[i].what, found != NULL, found, programs[i].serves, programs[i].install);
    }
}

static void doctor_libraries(Doctor *doctor)
{
    g_autofree char *libraries = libraries_dir(NULL);
    g_autofree char *runtime = libraries ? libraries_beside(libraries, "libcudart.so.13") : NULL;
    doctor_row(doctor, "libcuda", libraries != NULL, libraries, "fanout exec", "make, or make install");
    doctor_row(doctor, "libcudart", runtime != NULL, runtime, "exec: programs of the CUDA runtime", "make");
#ifdef HAVE_MPI
    doctor_row(doctor, "MPI", TRUE, "built in", "sweeps on several machines", NULL);
#else
    doctor_row(doctor, "MPI", FALSE, NULL, "sweeps on several machines",
               "apt-get install libopenmpi-dev openmpi-bin; ./configure --with-mpi");
#endif
    void *http = dlopen(MONITOR_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (http)
        dlclose(http);
#ifdef HAVE_MICROHTTPD
    doctor_row(doctor, "libmicrohttpd", http != NULL, http ? MONITOR_LIBRARY : NULL, "--monitor",
               "apt-get install libmicrohttpd12");
#else
    doctor_row(doctor, "libmicrohttpd", FALSE, http ? "there, but not when Fanout was built" : NULL, "--monitor",
               "apt-get install libmicrohttpd-dev; ./configure; make");
#endif
}

/* ---- clients in Python */

typedef struct {
    const char *package, *serves;
} DoctorPackage;

static const DoctorPackage packages[] = {
    {"cuda-bindings", "exec: the driver API in Python"},
    {"cuda-core", "exec: cuda.core"},
    {"numba-cuda", "exec: kernels of numba"},
    {"triton", "exec: kernels of Triton"},
    {"torch", "traces to replay"},
    {"pandas", "reading sweeps and tables"},
};

/* A line "NAME VERSION" for each package that python has; "" where it cannot say. */
static char *doctor_ask_python(const char *python)
{
    GString *code = g_string_new("import importlib.metadata as m\n");
    for (guint i = 0; i < G_N_ELEMENTS(packages); i++)
        g_string_append_printf(code, "try: print('%s', m.version('%s'))\nexcept Exception: pass\n", packages[i].package,
                               packages[i].package);
    char *argv[] = {(char *)python, (char *)"-c", code->str, NULL}, *out = NULL;
    if (!g_spawn_sync(NULL, argv, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &out, NULL, NULL, NULL))
        out = NULL;
    g_string_free(code, TRUE);
    return out ? out : g_strdup("");
}

static void doctor_python(Doctor *doctor)
{
    g_autofree char *python = g_find_program_in_path("python3");
    g_autofree char *answer = python ? doctor_ask_python(python) : g_strdup("");
    g_auto(GStrv) lines = g_strsplit(answer, "\n", -1);
    doctor_row(doctor, "python3", python != NULL, python, "clients, tests", "apt-get install python3");
    for (guint i = 0; i < G_N_ELEMENTS(packages); i++) {
        g_autofree char *begin = g_strconcat(packages[i].package, " ", NULL);
        const char *version = NULL;
        for (char **line = lines; *line; line++)
            version = g_str_has_prefix(*line, begin) ? *line + strlen(begin) : version;
        g_autofree char *install = g_strdup_printf("pip install %s, in a virtual environment", packages[i].package);
        doctor_row(doctor, packages[i].package, version != NULL, version, packages[i].serves, install);
    }
}

/* ---- the answer */

static void doctor_add_answer(Report *report, const Doctor *doctor, gboolean good)
{
    if (!good)
        report_add_answer(report, "simulations do not work here: see the first row");
    else if (doctor->missing->len)
        report_add_answer(report, "simulations work; not usable here, and needed only for what stands in its row: %s",
                          doctor->missing->str);
    else
        report_add_answer(report, "simulations work, and everything else is usable, too");
}

/* ---- the verb */

static ExitCode doctor_report(const Options *options, GError **error)
{
    System system;
    if (!system_load(&system, options->system ? NULL : DOCTOR_SYSTEM, options, error))
        return EXIT_USER;
    Report *report = report_new("doctor", "what of this machine is usable");
    g_autoptr(GString) missing = g_string_new(NULL);
    Doctor doctor = {report_add_table(report, "rows", "", columns, 0), missing};
    const gboolean good = doctor_core(options, &system, &doctor);
    doctor_libraries(&doctor);
    doctor_host(&doctor);
    doctor_programs(&doctor);
    doctor_python(&doctor);
    report_add_bool(report, "core", good);
    doctor_add_answer(report, &doctor, good);
    ExitCode code = options_write(options, report, error);
    report_free(report);
    system_clear(&system);
    if (code != EXIT_DONE || good)
        return code;
    g_set_error(error, CLI_ERROR, CLI_ERROR_STUCK, "a simulation of one collective failed");
    return EXIT_WRONG;
}

static ExitCode doctor_run_verb(int argc, char **argv, GError **error)
{
    const GOptionEntry own[] = {{NULL, 0, 0, 0, NULL, NULL, NULL}};
    Options options;
    ExitCode code;
    if (!options_parse(&options, &verb_doctor, own, &argc, &argv, &code, error))
        return code;
    code = EXIT_USER;
    if (options_check_args(&verb_doctor, argc, argv, 0, 0, error))
        code = doctor_report(&options, error);
    options_clear(&options);
    return code;
}

const Verb verb_doctor = {
    .name = "doctor",
    .usage = "",
    .text = "what of this machine is usable, and what to install for the rest",
    .no_views = "it simulates one collective, to see that it can",
    .run = doctor_run_verb,
};
