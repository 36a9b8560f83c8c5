/* fanout exec: runs an unmodified driver-API program on the simulated fabric.
 *
 * The program finds Fanout's libraries first (LD_AUDIT: found.c) and its options in the environment; small preloaded
 * libraries see to the report of programs that leave by _exit, and to waits. What became of the simulation comes back
 * through a shared page. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/cuda/context/report_status.h"
#include "machine/wire/owner.h"
#include "machine/wire/wire.h"
#include "device/kernel/trace.h"
#include "cli/command.h"
#include "cli/exec/environment.h"
#include "cli/exec/found.h"
#include "cli/exec/program.h"
#include "cli/table/libraries.h"
#include "cli/machine.h"
#include "cli/live/monitor/monitor.h"
#include "cli/options.h"
#include "cli/live/samples.h"
#include "cli/system.h"
#include "sim/report/file.h"

static pid_t exec_child; /* these are for the signal handler alone */
static ReportStatus *exec_page;
static gint exec_heard;  /* SIGINT or SIGTERM, of which this process heard */
static gint exec_ending; /* and whether it heard of any */

/* What the terminal sends goes to the program too. One that has its own handler for Ctrl-C hears of it when its call
 * returns: the page says that kernels are to be ended for that. */
static void exec_forward(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code == SI_QUEUE && info->si_value.sival_int == MONITOR_STOPS)
        number = SIGTERM; /* the page's button: what runs in the background of a shell ignores SIGINT */
    if (number != SIGHUP)
        g_atomic_int_set(&exec_heard, number);
    g_atomic_int_set(&exec_ending, 1);
    if (number == SIGINT && exec_page)
        g_atomic_int_inc(&exec_page->interrupts);
    if (exec_child > 0 && info->si_code != SI_KERNEL)
        kill(exec_child, number);
}

static void exec_catch(ReportStatus *status)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    struct sigaction forward = {.sa_sigaction = exec_forward, .sa_flags = SA_SIGINFO | SA_RESTART};

    exec_page = status;
    for (guint i = 0; i < G_N_ELEMENTS(numbers); i++)
        sigaction(numbers[i], &forward, NULL);
}

static gboolean exec_check_trace(const char *trace, GError **error)
{
    GError *inner = NULL;
    KernelTrace *wanted = kernel_trace_new(trace, &inner);

    if (inner) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--ptx-trace: %s", inner->message);
        g_clear_error(&inner);
    }
    kernel_trace_free(wanted);
    return wanted != NULL;
}

/* Programs look at their bytes, which flows do not move. */
static gboolean exec_check_fidelity(const Options *options, GError **error)
{
    if (options->fidelity == COLL_FIDELITY_AUTO)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--fidelity auto: programs run in packets, or with --data off as flows; write "
                    "--fidelity packet or flow");
    else if (options->fidelity == COLL_FLOW && options->data != DATA_OFF)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--fidelity flow: flows move no bytes; add --data off, or write --fidelity packet");
    else
        return TRUE;
    return FALSE;
}

/* Lists of libraries and folders have no way to write what parts them. */
static gboolean exec_check_libraries(const char *libraries, GError **error)
{
    if (!libraries || !strpbrk(libraries, " \t\n:;"))
        return libraries != NULL;
    g_set_error(error, CLI_ERROR, CLI_ERROR_FILE,
                "'%s' has a space, a colon or a semicolon, at which the loader parts LD_PRELOAD and LD_LIBRARY_PATH: "
                "move Fanout, or name a link to that folder by FANOUT_LIBDIR",
                libraries);
    return FALSE;
}

static ReportStatus *exec_status(int *fd)
{
    *fd = memfd_create("fanout-status", MFD_ALLOW_SEALING); /* inherited; never 0 to 2, which main() keeps taken */
    if (*fd < 0 || ftruncate(*fd, sizeof(ReportStatus)) != 0 ||
        fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) /* the program may do what it likes */
        return NULL;
    void *at = mmap(NULL, sizeof(ReportStatus), PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* Its clients find it by the environment. NULL: each process is to have its own machine, or *error says why not. */
static Owner *exec_owner(gboolean separate, GError **error)
{
    exec_setenv(WIRE_ENV, NULL);
    Owner *owner = separate ? NULL : owner_new(error);
    g_autofree char *page = owner ? owner_page_path(owner) : NULL;

    exec_setenv(WIRE_PAGE_ENV, page);
    exec_setenv(WIRE_ENV, owner ? owner_name(owner) : NULL);
    return owner;
}

/* The machine ends with its job: what became of it goes where a program alone would have told it. */
static void exec_end(Owner *owner, int how, ReportStatus *status)
{
    g_autofree char *signal = WIFSIGNALED(how) ? g_strdup_printf("SIG%s", sigabbrev_np(WTERMSIG(how))) : NULL;
    OwnerEnd end = owner_end(owner, signal);

    g_atomic_int_add(&status->reports, (gint)end.processes);
    if (end.stuck)
        g_atomic_int_set(&status->stuck, 1);
    if (end.unwritten)
        g_atomic_int_set(&status->unwritten, 1);
    while (waitpid(-1, NULL, WNOHANG) > 0) /* those that outlived their parents */
        continue;
}

/* The program's own exit code, unless the simulation has worse to say. named: files were asked for. */
static ExitCode exec_wait(ReportStatus *status, Owner *owner, const char *program, gboolean named, GError **error)
{
    int how;

    while (waitpid(exec_child, &how, 0) < 0 && errno == EINTR)
        continue;
    if (owner)
        exec_end(owner, how, status);
    gboolean called = g_atomic_int_get(&status->reports) > 0 || g_atomic_int_get(&status->wrong) > 0;
    g_autofree char *none = called ? NULL : program_why_no_call(program);
    if (none && g_atomic_int_get(&exec_heard) == 0 && (!named || !WIFEXITED(how) || WEXITSTATUS(how) != 0))
        g_printerr("fanout exec: %s\n", none);
    if (g_atomic_int_get(&status->stuck) != 0) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_STUCK,
                    "the simulated fabric got stuck while '%s' ran; the report says who waited for what", program);
        return EXIT_WRONG;
    }
    if (WIFSIGNALED(how)) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_FILE, "'%s' was ended by signal %d (%s)", program, WTERMSIG(how),
                    strsignal(WTERMSIG(how)));
        return WTERMSIG(how) == g_atomic_int_get(&exec_heard) ? EXIT_INTERRUPTED : (ExitCode)(128 + WTERMSIG(how));
    }
    ExitCode code = (ExitCode)WEXITSTATUS(how);
    if (code == EXIT_DONE && g_atomic_int_get(&status->unwritten) != 0) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_FILE, "'%s' ended well, but what was to be written could not be",
                    program);
        return EXIT_USER;
    }
    if (none && named && code == EXIT_DONE) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "%s; there is nothing to write", none);
        return EXIT_USER;
    }
    return code;
}

static ExitCode exec_start(char **program, ReportStatus *status, Owner *owner, gboolean named, GError **error)
{
    int pipe_fds[2], failure = 0;

    if (pipe2(pipe_fds, O_CLOEXEC) != 0)
        g_error("pipe: %s", g_strerror(errno));
    fflush(stdout);
    if (owner)
        prctl(PR_SET_CHILD_SUBREAPER, 1); /* processes of the job stay below, whoever made them ends */
    exec_child = fork();
    if (exec_child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM); /* this verb may be killed: the program then ends with a report */
        execvp(program[0], program);
        failure = errno;
        if (write(pipe_fds[1], &failure, sizeof failure) < 0)
            _exit(126);
        _exit(127);
    }
    close(pipe_fds[1]);
    exec_catch(status);
    if (owner)
        owner_begin(owner, exec_child, &status->interrupts, &exec_ending,
                    &status->page[g_atomic_int_add(&status->pages, 1)]);
    gboolean failed = read(pipe_fds[0], &failure, sizeof failure) == sizeof failure;
    close(pipe_fds[0]);
    if (failed) {
        waitpid(exec_child, NULL, 0);
        g_set_error(error, CLI_ERROR, CLI_ERROR_FILE, "'%s' cannot be started: %s", program[0], g_strerror(failure));
        return EXIT_USER;
    }
    return exec_wait(status, owner, program[0], named, error);
}

/* The options of this verb end at "--", or before the first word that is no option: the program's
 * own options are not ours to read. */
static int exec_split(int argc, char **argv)
{
    /* clang-format off */
    static const char *const takes_value[] = {
        "-s", "--system", "--set", "--fault", "--config", "--seed", "--fidelity", "--calendar", "--engine", "--cores",
        "--data", "--max-memory", "--format", "--html", "--perfetto", "--vcd", "--log", "--report", "--report-ranks",
        "--ptx-trace", "--clock", "--stats", "--stats-interval", "--monitor", "--library", NULL};
    /* clang-format on */

    for (int i = 1; i < argc; i++) {
        if (g_str_equal(argv[i], "--"))
            return i;
        if (argv[i][0] != '-')
            return i;
        if (g_strv_contains(takes_value, argv[i]))
            i++;
    }
    return argc;
}

static gboolean exec_check_report(const char *report, GError **error)
{
    if (!report)
        return TRUE;
    if (!g_str_equal(report, "-"))
        return file_check("--report", report, error);
    if ((fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) != O_RDONLY)
        return TRUE;
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--report -: standard output is closed");
    return FALSE;
}

/* A folder for a file of each rank, made if it is not there. */
static gboolean exec_check_ranks(const char *folder, gboolean separate, GError **error)
{
    if (!folder)
        return TRUE;
    if (separate)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--report-ranks: with --separate each process writes a report of its own; name it by --report");
    else if (g_mkdir_with_parents(folder, 0777) != 0 || access(folder, W_OK | X_OK) != 0)
        g_set_error(error, CLI_ERROR, CLI_ERROR_FILE, "--report-ranks: no files can be made in '%s': %s", folder,
                    g_strerror(errno));
    else
        return TRUE;
    return FALSE;
}

/* Where the program is to run. */
static gboolean exec_check_place(gboolean apart_and_joined, const char *libraries, GError **error)
{
    if (apart_and_joined)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--trays: one machine joins the hosts; leave out --separate");
    else if (g_getenv(WIRE_ENV))
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "this process is part of the job of another `fanout exec` (%s is set), whose simulated time its "
                    "sleeps and waits would be in: run the program itself here, not `fanout exec`",
                    WIRE_ENV);
    else
        return exec_check_libraries(libraries, error);
    return FALSE;
}

static ExitCode exec_run(int argc, char **argv, GError **error)
{
    static const char *const clocks[] = {"host", "simulated", NULL};
    g_autofree char *report = NULL, *ranks = NULL, *trace = NULL, *clock = NULL;
    g_auto(GStrv) users = NULL;
    gboolean where = FALSE, separate = FALSE, trays = FALSE;
    const GOptionEntry own[] = {
        {"report", 0, 0, G_OPTION_ARG_FILENAME, &report,
         "where the report goes, by its ending text, JSON, CSV or HTML; -: standard output", "FILE"},
        {"report-ranks", 0, 0, G_OPTION_ARG_FILENAME, &ranks,
         "a folder for a report of each process, too: rank0.json and so on, in the format of the report", "FOLDER"},
        {"ptx-trace", 0, 0, G_OPTION_ARG_STRING, &trace,
         "tell what a warp of a kernel executes, with times and values, on standard error", "KERNEL:CTA:WARP"},
        {"where", 0, 0, G_OPTION_ARG_NONE, &where, SAMPLES_WHERE_TEXT, NULL},
        {"separate", 0, 0, G_OPTION_ARG_NONE, &separate,
         "each process simulates on a machine of its own, in itself, instead of one machine for all", NULL},
        {"trays", 0, 0, G_OPTION_ARG_NONE, &trays,
         "each rank is on the host of its tray, with its GPUs alone (of a system of several, as gb200-nvl72)", NULL},
        {"library", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &users,
         "what the program finds under this name (libnccl.so.2) is this file, wherever it looks; may be given again",
         "NAME=PATH"},
        {"clock", 0, 0, G_OPTION_ARG_STRING, &clock,
         "what the program's clocks show: host (unless given) or simulated time", "CLOCK"},
        {NULL}};
    int split = exec_split(argc, argv), own_argc = split, status_fd, shows = 0;
    char **program = argv + split;
    Options options;
    ExitCode code;

    if (split < argc && g_str_equal(*program, "--"))
        program++;
    char *end = argv[split];
    argv[split] = NULL;
    char **own_argv = argv;
    if (!options_parse(&options, &verb_exec, own, &own_argc, &own_argv, &code, error))
        return code;
    argv[split] = end;
    options.command = command_more(options.command, argv + split, argc - split);
    const char *system = options.system ? options.system : SYSTEM_DEFAULT;
    g_autofree char *libraries = libraries_dir(error);
    ReportStatus *status = exec_status(&status_fd);
    code = EXIT_USER;
    if (split >= argc || !*program)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "no program: fanout exec [OPTION...] -- PROGRAM");
    else if (!exec_check_report(report, error) || !exec_check_ranks(ranks, separate, error))
        code = EXIT_USER;
    else if (!exec_check_place(trays && separate, libraries, error) || (trace && !exec_check_trace(trace, error)) ||
             (clock && !options_parse_name("--clock", clock, clocks, &shows, error)))
        code = EXIT_USER;
    else if (libraries && status && exec_check_fidelity(&options, error) &&
             samples_check(&options, options.fidelity == COLL_FLOW, error) &&
             (!where || samples_check_where(&options, error)) && cli_machine_topology(system, &options, trays, error) &&
             exec_found(libraries, users, error) && monitor_open(&options, error)) {
        monitor_show(options.monitor, status->page, REPORT_STATUS_PAGES);
        monitor_step(options.monitor, 0, 0, program[0]);
        exec_setenv("FANOUT_PTX_TRACE", trace);
        exec_setenv("FANOUT_WHERE", where ? "1" : NULL);
        exec_environment(&options, system, report, ranks, libraries, status_fd);
        if (shows == 1)
            exec_preload(libraries, "libfanout_clock.so");
        gboolean named = report || ranks || options.html || options.perfetto || options.vcd || options.stats;
        if (trays)
            exec_preload(libraries, "libfanout_tray.so");
        exec_preload(libraries, "libfanout_wait.so");
        Owner *owner = exec_owner(separate, error);
        if (separate || owner)
            code = exec_start(program, status, owner, named, error);
    }
    monitor_close(&options);
    options_clear(&options);
    return code;
}

const Verb verb_exec = {
    .name = "exec",
    .usage = "-- PROGRAM [ARGS...]",
    .text = "run a program of the CUDA driver API on the simulated fabric",
    .flags = VERB_WAVEFORM | VERB_TIMELINE | VERB_FLOWS | VERB_STATS | VERB_MONITOR,
    .run = exec_run,
};
