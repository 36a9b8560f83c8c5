/* fanout sweep: many points of a design space, from a SPEC.ini into one database (explore/spec.h, explore/store.h). */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/sweep/answer.h"
#include "cli/sweep/table.h"
#include "cli/live/monitor/monitor.h"
#include "cli/options.h"
#include "cli/sweep/pace.h"
#include "explore/peer.h"
#include "explore/ranks.h"
#include "explore/sweep.h"
#include "sim/report/file.h"

#define SWEEP_POINTS_MOST 10000

typedef struct {
    char *out, *csv, *max_points;
    gint jobs;
    gboolean retry;
} SweepWords;

/* What is known of other processes of this sweep. */
typedef struct {
    gboolean are_several, are_told; /* are_told: they know whether there is something to do */
    guint rank, n;
} SweepRanks;

static void sweep_on_progress(guint64 done, guint64 most, guint64 bad, gpointer user)
{
    pace_tell(user, done, most, bad);
}

/* "examples/search/nvswitch.ini" is kept in "nvswitch.db", where the command runs. */
static char *sweep_database(const char *spec)
{
    g_autofree char *base = g_path_get_basename(spec);
    char *dot = strrchr(base, '.');
    if (dot && dot != base)
        *dot = 0;
    return g_strconcat(base, ".db", NULL);
}

static ExitCode sweep_report(const Options *options, const SweepWords *words, const char *database, GError **error)
{
    Frame *frame = frame_load(database, "points", NULL, error);
    if (!frame)
        return EXIT_USER;
    Report *report = report_new("sweep", frame_fact(frame, "title"));
    report_add_text(report, "database", database);
    report_add_text(report, "spec", frame_fact(frame, "spec"));
    report_add_u64(report, "points", frame->rows, "");
    FrameTable *table = frame_table_add(report, frame, "rows");
    report_add_u64(report, "not_done", table->not_done, "");
    sweep_answer_add(report, frame);
    if (table->not_done)
        report_add_answer(report, "%" G_GUINT64_FORMAT " of the points failed or were not run", table->not_done);
    Frame *thresholds = frame_fact(frame, "metric") ? frame_load(database, "thresholds", NULL, NULL) : NULL;
    FrameTable *found = thresholds ? frame_table_add(report, thresholds, "thresholds") : NULL;
    const gboolean saved = !words->csv || report_save(report, REPORT_CSV, words->csv, error);
    ExitCode code = options_write(options, report, saved ? error : NULL);
    code = saved ? code : EXIT_USER;
    report_free(report);
    frame_table_free(table);
    frame_table_free(found);
    if (thresholds)
        frame_free(thresholds);
    frame_free(frame);
    return code;
}

/* A point, in a copy of this process. */
static int sweep_point(int argc, char **argv)
{
    static const Verb *const verbs[] = {&verb_coll, &verb_bench, &verb_replay}; /* of all workloads */
    for (guint i = 0; i < G_N_ELEMENTS(verbs); i++)
        if (argc > 1 && strcmp(argv[1], verbs[i]->name) == 0)
            return (int)verb_run(verbs[i], argc - 1, argv + 1);
    fprintf(stderr, "fanout sweep: no verb for a point\n");
    return EXIT_USER;
}

/* On the first rank of several the others learn where it is only when there is something for them to do. */
static ExitCode sweep_all(const Options *options, const SweepWords *words, const SweepSpec *spec, const char *database,
                          SweepRanks *ranks, GError **error)
{
    signal(SIGXFSZ, SIG_IGN); /* a limit on files is an error of the write */
    g_autofree char *program = g_file_read_link("/proc/self/exe", error);
    Store *store = program ? store_open(database, spec, PACKAGE_VERSION, error) : NULL;
    Hub *hub = store && ranks->are_several ? hub_new(error) : NULL;
    if (hub) {
        ranks->are_told = TRUE;
        ranks_tell(0, hub_invitation(hub));
    }
    if (!store || (ranks->are_several && !hub)) {
        if (store)
            store_close(store);
        return EXIT_USER;
    }
    guint jobs = words->jobs ? (guint)words->jobs : hub ? 1 : g_get_num_processors();
    SweepRun run = {.program = program,
                    .main = options->monitor ? NULL : sweep_point,
                    .jobs = jobs,
                    .hub = hub,
                    .progress = sweep_on_progress};
    Pace *pace = run.user = pace_new(options->monitor);
    monitor_show(options->monitor, NULL, 0); /* points are programs of their own */
    guint64 bad, done;
    SweepEnd end = words->retry && !store_forget_bad(store, error) ? SWEEP_ERROR : sweep_run(spec, store, &run, error);
    done = store_count(store, &bad);
    pace_free(pace);
    store_close(store);
    if (hub)
        hub_free(hub);
    if (end == SWEEP_COMPLETE)
        return sweep_report(options, words, database, error);
    if (end == SWEEP_INTERRUPTED)
        g_set_error(error, CLI_ERROR, CLI_ERROR_FILE,
                    "interrupted: %" G_GUINT64_FORMAT " points are in '%s', and the "
                    "same command goes on from there",
                    done, database);
    return end == SWEEP_INTERRUPTED ? EXIT_INTERRUPTED : EXIT_USER;
}

static ExitCode sweep_check(const SweepWords *words, const Options *options, guint64 *most, GError **error)
{
    *most = SWEEP_POINTS_MOST;
    if (options->system || options->sets || options->config)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--%s: what points run with stands in SPEC.ini, under [fixed]",
                    options->system   ? "system"
                    : options->config ? "config"
                                      : "set");
    else if (words->jobs < 0 || words->jobs > 4096)
        g_set_error(error, CLI_ERROR, CLI_ERROR_USAGE, "--jobs: %d is not from 1 to 4096", words->jobs);
    else if (words->max_points && !options_parse_u64("--max-points", words->max_points, 1, 100000000, most, error))
        return EXIT_USER;
    else if (words->csv && !file_check("--csv", words->csv, error))
        return EXIT_USER;
    else
        return EXIT_DONE;
    return EXIT_USER;
}

static ExitCode sweep_first_rank(Options *options, const SweepWords *words, const char *path, SweepRanks *ranks,
                                 GError **error)
{
    guint64 most;
    if (sweep_check(words, options, &most, error) != EXIT_DONE)
        return EXIT_USER;
    SweepSpec *spec = spec_load(path, most, error);
    g_autofree char *database = words->out ? g_strdup(words->out) : sweep_database(path);
    if (!spec && strchr(path, '=') && error && g_error_matches(*error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
        options_tell_more(*error, "; ",
                          "what is swept stands in an INI file: [sweep] run = coll all_reduce, and [grid] "
                          "with lines as switch.multicast_tags = 4..64 x2");
    if (!spec)
        return EXIT_USER;
    ExitCode code = monitor_open(options, error) ? sweep_all(options, words, spec, database, ranks, error) : EXIT_USER;
    monitor_close(options);
    spec_free(spec);
    return code;
}

/* Alone, or the first of several ranks: the sweep. Another rank: what the first one has for it. */
static ExitCode sweep_on_rank(Options *options, const SweepWords *words, const char *path, GError **error)
{
    SweepRanks ranks = {.are_several = ranks_are_several()};
    if (ranks.are_several && !ranks_begin(&ranks.rank, &ranks.n, error))
        return EXIT_USER;
    if (ranks.rank > 0) {
        g_autofree char *program = g_file_read_link("/proc/self/exe", error);
        g_autofree char *invitation = ranks_tell(ranks.rank, NULL);
        return program && (!invitation || peer_serve(invitation, program, error)) ? EXIT_DONE : EXIT_USER;
    }
    ExitCode code = sweep_first_rank(options, words, path, &ranks, error);
    if (ranks.are_several && !ranks.are_told)
        ranks_tell(0, NULL);
    return code;
}

static ExitCode sweep_run_verb(int argc, char **argv, GError **error)
{
    SweepWords words = {0};
    const GOptionEntry own[] = {
        {"out", 'o', 0, G_OPTION_ARG_FILENAME, &words.out, "the database (SPEC.db in this folder)", "FILE"},
        {"jobs", 'j', 0, G_OPTION_ARG_INT, &words.jobs, "points at a time (as many as there are cores)", "N"},
        {"max-points", 0, 0, G_OPTION_ARG_STRING, &words.max_points, "refuse a sweep of more points (10000)", "N"},
        {"retry", 0, 0, G_OPTION_ARG_NONE, &words.retry, "run points again that failed", NULL},
        {"csv", 0, 0, G_OPTION_ARG_FILENAME, &words.csv, "write all points as CSV, too", "FILE"},
        {NULL, 0, 0, 0, NULL, NULL, NULL}};
    Options options;
    ExitCode code;
    if (options_parse(&options, &verb_sweep, own, &argc, &argv, &code, error)) {
        code = EXIT_USER;
        if (options_check_args(&verb_sweep, argc, argv, 1, 1, error))
            code = sweep_on_rank(&options, &words, argv[1], error);
        options_clear(&options);
    }
    g_free(words.out);
    g_free(words.csv);
    g_free(words.max_points);
    return code;
}

const Verb verb_sweep = {
    .name = "sweep",
    .usage = "SPEC.ini",
    .text = "a design-space sweep: lists, ranges, samples, thresholds, into one database",
    .flags = VERB_MONITOR,
    .no_views = "its points are runs of their own; 'fanout plot' draws them",
    .run = sweep_run_verb,
};
