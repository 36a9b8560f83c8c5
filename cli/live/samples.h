/* Statistics in time, as a verb's options ask for them: --stats FILE, --stats-interval TIME, and charts of --html.
 *
 *     Samples samples; (where it stays: runs point to it)
 *     if (!samples_open(&samples, options, report, error))
 *         return EXIT_USER;
 *     samples.live = live; (while the report grows)
 *     Recording *recording = recording_new(fabric, &samples.spec, "all_reduce 1M nvls"); ... recording_end() ...
 *     code = samples_close(&samples, code, error); */
#ifndef CLI_LIVE_SAMPLES_H
#define CLI_LIVE_SAMPLES_H

#include "cli/live/live.h"
#include "observe/series/tables.h"

#define SAMPLES_WHERE_TEXT "take the time of every request apart: wires, credits, tags, memory, ..."
#define SAMPLES_ANIMATE_TEXT "the page of --html plays the run, packet by packet: one row of up to 500 packets on links"

typedef struct {
    RecordingSpec spec;    /* of runs that are shown, */
    RecordingSpec watched; /* and of others */
    SeriesTables tables;
    LatencyTables where_tables;
    Timeline *timeline; /* --perfetto; NULL: none */
    gboolean alone;     /* there is one run, which needs no name there */
    Live *live;         /* NULL: the report is this thread's alone */
    char *full, *parts; /* limits.h: of the last run that was recorded; NULL: nothing, or not known */
} Samples;

/* samples_check.c, for cli/options.c: "1us", whole picoseconds, and never without a unit; whether the verb has what
 * was asked for. */
gboolean samples_parse_interval(const char *text, guint64 *interval_ps, GError **error);
gboolean samples_check_verb(const Options *options, const Verb *verb, GError **error);
/* FALSE: flows are to run, which have no packets to count. */
gboolean samples_check(const Options *options, gboolean flows, GError **error);
gboolean samples_check_timeline(const Options *options, gboolean flows, GError **error); /* the same of --perfetto */
/* report: gets charts of each run if a page is written; NULL: there is none yet, or too many runs. GError: the file
 * cannot be written. Nothing to close after FALSE. */
gboolean samples_open(Samples *samples, const Options *options, Report *report, GError **error);
/* --perfetto of a verb whose runs have series; behind samples_open(). live: interruptions of it end the file. */
gboolean samples_open_timeline(Samples *samples, const Options *options, gboolean alone, Live *live, GError **error);
/* With --perfetto runs that move so much are of the reference engine, which shows packets, while they are small. */
void samples_choose_engine(Options *options, guint64 bytes);
/* --where of a verb: whether it can be done; then options->engine is the reference engine. */
gboolean samples_check_where(Options *options, GError **error);
/* Whether that many rows can be taken apart, and played. */
gboolean samples_check_rows(const Options *options, gboolean where, gboolean animate, guint rows, GError **error);
/* Behind samples_open(): the runs of so many rows are taken apart, and played, where that is wanted; the page says what
 * it does not show. */
void samples_watch(Samples *samples, const Options *options, Report *report, gboolean where, gboolean animate,
                   guint rows);
/* `code` is what the verb ends with so far; EXIT_USER with an error where the file could not be written whole. */
ExitCode samples_close(Samples *samples, ExitCode code, GError **error);

#endif
