/* Command lines by GOption; its errors are made to say what would be right. */
#include "cli/options.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/hints.h"
#include "cli/reference/reference.h"
#include "cli/live/samples.h"
#include "sim/param/size.h"

/* What GOption fills as text, parsed further afterwards. */
typedef struct {
    char *format, *seed, *fidelity, *calendar, *engine, *cores, *data, *max_memory, *interval, *monitor, **faults;
    gboolean help;
} RawOptions;

static GOptionContext *options_context(const Verb *verb, const GOptionEntry *own, const GOptionEntry *common)
{
    GOptionContext *context = g_option_context_new(verb->usage);
    g_option_context_set_help_enabled(context, FALSE);
    char *summary = g_strdup_printf("fanout %s: %s", verb->name, verb->text);
    g_option_context_set_summary(context, summary);
    g_free(summary);
    /* In groups, which help prints in this order: what the verb is about comes first. */
    GOptionGroup *group = g_option_group_new("own", "Options of this verb:", "", NULL, NULL);
    g_option_group_add_entries(group, own);
    if (own->long_name)
        g_option_context_add_group(context, group);
    else
        g_option_group_unref(group);
    group = g_option_group_new("common", "Options of every verb:", "", NULL, NULL);
    g_option_group_add_entries(group, common);
    g_option_context_add_group(context, group);
    return context;
}

/* A verb's own option takes the place of a common one of the same name: "--log" of plot. */
static void options_drop_shadowed(GOptionEntry *common, const GOptionEntry *own)
{
    GOptionEntry *to = common;
    for (const GOptionEntry *entry = common; entry->long_name; entry++) {
        gboolean shadowed = FALSE;
        for (const GOptionEntry *one = own; one->long_name; one++)
            shadowed |= strcmp(one->long_name, entry->long_name) == 0;
        if (!shadowed)
            *to++ = *entry;
    }
    *to = (GOptionEntry){NULL, 0, 0, 0, NULL, NULL, NULL};
}

/* "--fault KEY=NAME" sets the key of section fault, and adds to what it has by an earlier --fault or --set. */
static gboolean options_add_fault(Options *options, const char *fault, GError **error)
{
    const char *equals = strchr(fault, '=');
    if (!equals || equals == fault || !equals[1]) {
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                    "--fault: '%s' is not KEY=NAME[@FROM[-UNTIL]], as link_down=gpu0.link3@20us", fault);
        return FALSE;
    }
    g_autofree char *key = g_strdup_printf("fault.%.*s", (int)(equals + 1 - fault), fault);
    guint n = 0;
    for (; options->sets && options->sets[n]; n++)
        if (g_str_has_prefix(options->sets[n], key)) {
            char *both = g_strconcat(options->sets[n], ",", equals + 1, NULL);
            g_free(options->sets[n]);
            options->sets[n] = both;
            return TRUE;
        }
    options->sets = g_renew(char *, options->sets, n + 2);
    options->sets[n] = g_strconcat(key, equals + 1, NULL);
    options->sets[n + 1] = NULL;
    return TRUE;
}

static gboolean options_parse_format(const char *text, const Verb *verb, int *format, guint *settings, GError **error)
{
    GError *failure = NULL;

    for (guint i = 0; verb->flags & VERB_SETTINGS && options_settings[i]; i++)
        if (strcmp(text, options_settings[i]) == 0) {
            *settings = i + 1;
            return TRUE;
        }
    if (options_parse_name("--format", text, options_formats, format, &failure))
        return TRUE;
    if (strcmp(text, "html") == 0)
        options_tell_more(failure, "; ", "a page is --html FILE");
    if (verb->flags & VERB_SETTINGS)
        options_tell_more(failure, "; ", "nccl-tuner, vllm and sglang are files for these");
    g_propagate_error(error, failure);
    return FALSE;
}

static gboolean options_convert(Options *options, const RawOptions *raw, const Verb *verb, GError **error)
{
    int fidelity = verb->flags & VERB_FIDELITY ? COLL_FIDELITY_AUTO : COLL_PACKET;
    int format = REPORT_TEXT, calendar = SIM_CALENDAR_WHEEL, engine = SIM_ENGINE_FAST;
    int data = DATA_AUTO;
    guint64 cores = 0;
    options->seed = 1;
    options->max_memory = G_GUINT64_CONSTANT(4) << 30;
    if ((raw->format && !options_parse_format(raw->format, verb, &format, &options->settings, error)) ||
        (raw->fidelity && !options_parse_name("--fidelity", raw->fidelity, options_fidelities, &fidelity, error)) ||
        (raw->calendar && !options_parse_name("--calendar", raw->calendar, options_calendars, &calendar, error)) ||
        (raw->engine && !options_parse_name("--engine", raw->engine, options_engines, &engine, error)) ||
        (raw->cores && !options_parse_u64("--cores", raw->cores, 1, CORES_MAX, &cores, error)) ||
        (raw->data && !options_parse_name("--data", raw->data, options_data, &data, error)) ||
        (raw->seed && !options_parse_u64("--seed", raw->seed, 0, G_MAXUINT64, &options->seed, error)) ||
        (raw->max_memory && !size_parse("--max-memory", raw->max_memory, &options->max_memory, error)) ||
        (raw->interval && !samples_parse_interval(raw->interval, &options->stats_interval_ps, error)))
        return FALSE;
    /* HTML has an option of its own, with a file's name. */
    options->format = format < REPORT_HTML ? (ReportFormat)format : REPORT_FIELDS;
    options->fidelity = (CollFidelity)fidelity;
    options->calendar = (SimCalendar)calendar;
    options->engine = (SimEngine)engine;
    options->cores = (guint)cores;
    options->data = (DataMode)data;
    for (char **set = options->sets; set && *set; set++) {
        const char *dot = strchr(*set, '.'), *equals = strchr(*set, '=');
        if (!dot || !equals || dot == *set || equals < dot + 2 || !equals[1]) {
            g_autofree char *meant = hints_set(*set);
            g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE,
                        "--set: '%s' is not section.key=value, as link.flight_ps=200000%s%s", *set, meant ? "; " : "",
                        meant ? meant : "");
            return FALSE;
        }
    }
    g_autofree char *assignment = options->config ? hints_config(options->config) : NULL;
    if (assignment) {
        g_set_error_literal(error, CLI_ERROR, CLI_ERROR_USAGE, assignment);
        return FALSE;
    }
    for (char **fault = raw->faults; fault && *fault; fault++)
        if (!options_add_fault(options, *fault, error))
            return FALSE;
    return TRUE;
}

static void options_clear_raw(RawOptions *raw)
{
    g_free(raw->format);
    g_free(raw->seed);
    g_free(raw->fidelity);
    g_free(raw->calendar);
    g_free(raw->engine);
    g_free(raw->cores);
    g_free(raw->data);
    g_free(raw->max_memory);
    g_free(raw->interval);
    g_free(raw->monitor);
    g_strfreev(raw->faults);
}

static void options_print_help(GOptionContext *context, const Verb *verb)
{
    /* GOption names the program by itself; a verb is "fanout coll". */
    char *program = g_strdup(g_get_prgname()), *name = g_strdup_printf("fanout %s", verb->name);
    g_set_prgname(name);
    char *help = g_option_context_get_help(context, FALSE, NULL);
    g_autofree char *examples = reference_examples(verb);
    fputs(help, stdout);
    fputs(examples, stdout);
    g_set_prgname(program ? program : "fanout");
    g_free(help);
    g_free(name);
    g_free(program);
}

/* What stands behind a "--" is no option. */
static void options_drop_dashes(int *argc, char **argv)
{
    if (*argc <= 1 || strcmp(argv[1], "--") != 0)
        return;
    memmove(argv + 1, argv + 2, (gsize)(*argc - 1) * sizeof *argv);
    (*argc)--;
}

gboolean options_parse(Options *options, const Verb *verb, const GOptionEntry *own, int *argc, char ***argv,
                       ExitCode *code, GError **error)
{
    RawOptions raw = {0};
    memset(options, 0, sizeof *options);
    options->command = command_text(verb->name, *argv + 1, *argc - 1);
    GOptionEntry common[] = {
        {"system", 's', 0, G_OPTION_ARG_STRING, &options->system,
         "which system: a name from 'fanout systems', or an INI file", "SYSTEM"},
        {"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->sets, "change one parameter; may be repeated",
         "SECTION.KEY=VALUE"},
        {"fault", 0, 0, G_OPTION_ARG_STRING_ARRAY, &raw.faults,
         "break something, as link_down=gpu0.link3@20us-50us; may be repeated", "KEY=NAME[@FROM[-UNTIL]]"},
        {"config", 0, 0, G_OPTION_ARG_FILENAME, &options->config, "change the parameters that an INI file names",
         "FILE"},
        {"seed", 0, 0, G_OPTION_ARG_STRING, &raw.seed, "of all random streams (default 1)", "N"},
        {"fidelity", 0, 0, G_OPTION_ARG_STRING, &raw.fidelity,
         verb->flags & VERB_FIDELITY ? "auto (default), packet or flow" : "packet (default), flow or auto", "WHICH"},
        {"calendar", 0, 0, G_OPTION_ARG_STRING, &raw.calendar, "wheel (default), or systemc: slow, and the same bytes",
         "WHICH"},
        {"engine", 0, 0, G_OPTION_ARG_STRING, &raw.engine,
         "how packets are simulated: fast (default), or reference, with an event for every step; the same results",
         "ENGINE"},
        {"cores", 0, 0, G_OPTION_ARG_STRING, &raw.cores,
         "coll: GPUs and switches on so many cores, and the same bytes (default 1)", "N"},
        {"data", 0, 0, G_OPTION_ARG_STRING, &raw.data,
         "keep the bytes that move: auto (default, while they fit), full or off", "WHICH"},
        {"max-memory", 0, 0, G_OPTION_ARG_STRING, &raw.max_memory,
         "how much simulated memory --data auto keeps (default 4G)", "SIZE"},
        {"format", 0, 0, G_OPTION_ARG_STRING, &raw.format,
         "text (default), json, csv, or fields: what those of the JSON mean", "WHICH"},
        {"html", 0, 0, G_OPTION_ARG_FILENAME, &options->html, "write the report as a page", "FILE"},
        {"perfetto", 0, 0, G_OPTION_ARG_FILENAME, &options->perfetto, "write a timeline for ui.perfetto.dev", "FILE"},
        {"vcd", 0, 0, G_OPTION_ARG_FILENAME, &options->vcd, "write waveforms", "FILE"},
        {"stats", 0, 0, G_OPTION_ARG_FILENAME, &options->stats,
         "write statistics in time, as CSV or JSON lines by the file's name", "FILE.csv|.jsonl"},
        {"stats-interval", 0, 0, G_OPTION_ARG_STRING, &raw.interval, "of --stats: how much time a line sums up (1us)",
         "TIME"},
        {"monitor", 0, 0, G_OPTION_ARG_STRING, &raw.monitor,
         "serve this machine a page of the run while it goes on; port 0: one that is free", "127.0.0.1:PORT"},
        {"monitor-stop", 0, 0, G_OPTION_ARG_NONE, &options->monitor_stop,
         "the page of --monitor has a button that ends the run as Ctrl-C does", NULL},
        {"log", 0, 0, G_OPTION_ARG_STRING, &options->log, "what to tell on standard error, as link:debug,cuda:info",
         "SPEC"},
        {"help", 'h', 0, G_OPTION_ARG_NONE, &raw.help, "print this", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    options_drop_shadowed(common, own);
    if (reference_answer(verb, own, common, *argc, *argv)) {
        *code = EXIT_DONE;
        options_clear(options);
        return FALSE;
    }
    GOptionContext *context = options_context(verb, own, common);
    GError *failure = NULL;
    hints_sizes(verb->name, *argc, *argv);
    gboolean good = g_option_context_parse(context, argc, argv, &failure);
    if (!good)
        options_add_hint(&failure, verb, own, common, *argc, *argv);
    *code = good && raw.help ? EXIT_DONE : EXIT_USER;
    if (good && raw.help)
        options_print_help(context, verb);
    good = good && !raw.help && options_convert(options, &raw, verb, &failure) &&
           options_check(options, raw.monitor, verb, &failure);
    if (failure)
        g_propagate_error(error, failure);
    if (!good)
        options_clear(options);
    if (good)
        options_drop_dashes(argc, *argv);
    options_clear_raw(&raw);
    g_option_context_free(context);
    return good;
}

void options_clear(Options *options)
{
    g_free(options->system);
    g_free(options->command);
    g_strfreev(options->sets);
    g_free(options->config);
    g_free(options->html);
    g_free(options->perfetto);
    g_free(options->vcd);
    g_free(options->stats);
    g_free(options->log);
    memset(options, 0, sizeof *options);
}

static gboolean options_refuse_argument(const Verb *verb, const char *word, GError **error)
{
    g_autofree char *meant = hints_argument(verb->name, word);
    g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "'%s' is too much%s%s; usage: fanout %s %s", word, meant ? ": " : "",
                meant ? meant : "", verb->name, verb->usage);
    return FALSE;
}

gboolean options_check_args(const Verb *verb, int argc, char **argv, int least, int most, GError **error)
{
    if (argc - 1 < least)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "something is missing; usage: fanout %s %s", verb->name,
                    verb->usage);
    else if (argc - 1 > most)
        return options_refuse_argument(verb, argv[most + 1], error);
    else
        return TRUE;
    return FALSE;
}

void options_describe(const Options *options, Report *report)
{
    report_add_u64(report, "seed", options->seed, "");
    report_add_text(report, "fidelity", coll_fidelity_name(options->fidelity));
    if (options->config)
        report_add_text(report, "config", options->config);
    if (options->sets && *options->sets) {
        char *all = g_strjoinv(" ", options->sets);
        report_add_text(report, "set", all);
        g_free(all);
    }
}

ExitCode options_write_files(const Options *options, Report *report, GError **error)
{
    report_set_command(report, options->command);
    return options->html && !report_save(report, REPORT_HTML, options->html, error) ? EXIT_USER : EXIT_DONE;
}

static gboolean options_has_file(const Options *options)
{
    return options->html || options->stats || options->perfetto || options->vcd || options->has_own_file;
}

void options_keep_files(const Options *options)
{
    if (options_has_file(options))
        signal(SIGPIPE, SIG_IGN);
}

gboolean options_is_left(const Options *options)
{
    if (errno != EPIPE || !options_has_file(options))
        return FALSE;
    return freopen("/dev/null", "w", stdout) != NULL;
}

ExitCode options_print(const Options *options, const Report *report, GError **error)
{
    GString *text = report_format(report, options->format);
    errno = 0;
    const gboolean good = fwrite(text->str, 1, text->len, stdout) == text->len && fflush(stdout) == 0;
    g_string_free(text, TRUE);
    if (good || options_is_left(options))
        return EXIT_DONE;
    g_set_error(error, CLI_ERROR, CLI_ERROR_FILE, "cannot write standard output");
    return EXIT_USER;
}

ExitCode options_write(const Options *options, Report *report, GError **error)
{
    options_keep_files(options);
    ExitCode files = options_write_files(options, report, error);
    ExitCode code = options_print(options, report, files == EXIT_DONE ? error : NULL);
    return files == EXIT_DONE ? code : files;
}
