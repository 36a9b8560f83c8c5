/* Statistics in time, as a verb's options ask for them: --stats FILE, --stats-interval TIME.
 *
 *     Samples samples;
 *     if (!samples_open(&samples, options, error))
 *         return EXIT_USER;
 *     Series *series = series_new(fabric, samples.wanted, "all_reduce 1M nvls"); ... series_end(), series_free() ...
 *     code = samples_close(&samples, code, error); */
#ifndef CLI_SAMPLES_H
#define CLI_SAMPLES_H

#include "cli/options.h"
#include "model/series/series.h"

typedef struct {
    SeriesSpec spec;
    const SeriesSpec *wanted; /* NULL: nothing was asked for */
} Samples;

/* For cli/options.c: "1us", whole picoseconds, and never without a unit; whether the verb has what was asked
 * for. */
gboolean samples_parse_interval(const char *text, guint64 *interval_ps, GError **error);
gboolean samples_check_verb(const Options *options, const Verb *verb, GError **error);
/* FALSE: flows are to run, which have no packets to count. */
gboolean samples_check(const Options *options, gboolean flows, GError **error);
/* GError: the file cannot be written. Nothing to close after FALSE. */
gboolean samples_open(Samples *samples, const Options *options, GError **error);
/* `code` is what the verb ends with so far; EXIT_USER with an error where the file could not be written whole. */
ExitCode samples_close(Samples *samples, ExitCode code, GError **error);

#endif
