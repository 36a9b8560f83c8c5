/* The options every verb has, and the way a verb declares its own.
 *
 *     static ExitCode coll_run_verb(int argc, char **argv, GError **error)
 *     {
 *         gint gpus = 0;
 *         const GOptionEntry own[] = {
 *             {"gpus", 'n', 0, G_OPTION_ARG_INT, &gpus, "how many GPUs take part", "N"}, {NULL}};
 *         Options options;
 *         ExitCode code;
 *         if (!options_parse(&options, &verb_coll, own, &argc, &argv, &code, error))
 *             return code; // --help was printed, or the command line is wrong
 *         ... argv[1] ... argv[argc - 1] are the arguments that are no options ...
 *         code = options_write(&options, report, error);
 *         options_clear(&options);
 *         return code;
 *     } */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "cli/verb/verb.h"
#include "coll/coll.h"
#include "sim/engine/sim.h"
#include "sim/report/report.h"

#define CORES_MAX 64

typedef enum { DATA_AUTO, DATA_FULL, DATA_OFF } DataMode;

typedef struct Monitor Monitor; /* cli/live/monitor/monitor.h */

typedef struct {
    char *command; /* the whole command line, for a shell */
    char *system;  /* -s: a preset's name, or the path of an INI file; NULL: the verb's default */
    char **sets;   /* --set section.key=value, in order; NULL: none */
    char *config;  /* --config FILE.ini; NULL: none */
    guint64 seed;  /* 1 unless given */
    CollFidelity fidelity;
    SimCalendar calendar;
    SimEngine engine;
    guint cores; /* for GPUs and switches; 0: not said */
    DataMode data;
    guint64 max_memory;          /* bytes of simulated memory that --data auto keeps */
    ReportFormat format;         /* of standard output */
    guint settings;              /* instead of it: of options_settings, from 1 on; 0: none */
    char *html, *perfetto, *vcd; /* files to write beside it; NULL: none */
    char *stats;                 /* the file of statistics in time; NULL: none */
    guint64 stats_interval_ps;   /* 0: not said */
    gboolean monitored;          /* --monitor; the next ones say where, and whether its page may end the run */
    gboolean monitor_ipv6, monitor_stop;
    gboolean has_own_file; /* the verb writes one more, which its own options name */
    guint16 monitor_port;
    Monitor *monitor; /* monitor_open(); NULL: none */
    char *log;        /* "link:debug,cuda:info"; NULL: FANOUT_LOG or nothing */
} Options;

/* words.c: the words that --format, --fidelity, --calendar, --engine and --data take; NULL-terminated. */
extern const char *const options_formats[],
    *const options_settings[], /* of VERB_SETTINGS */
        *const options_fidelities[], *const options_calendars[], *const options_engines[], *const options_data[];

/* Parses and removes all options from argv; common and own ones, which end with {NULL}. FALSE: the
 * verb returns *code at once, after --help (EXIT_DONE) or with `error` set (EXIT_USER); options
 * need no clearing then, but strings among the own ones are to be freed all the same. "--" ends the
 * options. */
gboolean options_parse(Options *options, const Verb *verb, const GOptionEntry *own, int *argc, char ***argv,
                       ExitCode *code, GError **error);
void options_clear(Options *options);
/* options_check.c, for options_parse(): FALSE: the verb lacks what is asked for, or a file cannot be written. monitor:
 * what --monitor says; NULL: it is not given. */
gboolean options_check(Options *options, const char *monitor, const Verb *verb, GError **error);

/* FALSE unless at least `least` and at most `most` arguments are left behind the verb. */
gboolean options_check_args(const Verb *verb, int argc, char **argv, int least, int most, GError **error);

/* The number of `text` in a NULL-terminated list of names; else an error: "--data: 'of' is unknown;
 * did you mean 'off'?". */
gboolean options_parse_name(const char *what, const char *text, const char *const *names, int *value, GError **error);
/* A whole number within bounds; errors say what the bounds are. */
gboolean options_parse_u64(const char *what, const char *text, guint64 min, guint64 max, guint64 *value,
                           GError **error);

/* --nccl: a version of NCCL. */
gboolean options_parse_nccl(const char *text, guint32 *version, GError **error);

/* The facts that every report opens with, after the verb's title: seed, fidelity, changed settings.
 */
void options_describe(const Options *options, Report *report);
/* Adds to what an error says already. */
void options_tell_more(GError *error, const char *between, const char *more);
/* To an error of GOption's: "Unknown option --sytem" gets a guess, among the verb's own and the common options; so does
 * "-n=8" of argv, which GOption finds faults of its own with. Nothing where no error is. */
void options_add_hint(GError **error, const Verb *verb, const GOptionEntry *own, const GOptionEntry *common, int argc,
                      char **argv);
/* Writes the files that were asked for, and then the report to standard output in --format: what reads that may be gone
 * (a pipe to head). EXIT_USER: some of it could not be written; the rest was. */
ExitCode options_write(const Options *options, Report *report, GError **error);
ExitCode options_print(const Options *options, const Report *report, GError **error); /* to standard output alone */
/* Where files are wanted: a reader of standard output that goes away does not end the process. */
void options_keep_files(const Options *options);
/* After a write to standard output that failed, with its errno: TRUE: its reader has gone, files are wanted, and what
 * is printed from now on goes nowhere. */
gboolean options_is_left(const Options *options);
ExitCode options_write_files(const Options *options, Report *report, GError **error); /* the files alone */

#endif
