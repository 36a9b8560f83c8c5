/* The file of statistics in time: CSV, or JSON lines where its name ends in ".jsonl". One line for each statistic and
 * interval in which there is something to say; docs/statistics.md has the columns. Written as it happens. */
#ifndef OBSERVE_SERIES_STATS_FILE_H
#define OBSERVE_SERIES_STATS_FILE_H

#include "sim/engine/simtime.h"
#include "sim/stat.h"

typedef struct StatsFile StatsFile;

/* What a name has to end in. */
gboolean stats_file_check(const char *path, GError **error);
/* GError: G_FILE_ERROR, naming the file. */
StatsFile *stats_file_open(const char *path, GError **error);
/* Ends the file and frees. FALSE: it could not be written completely. NULL is none. */
gboolean stats_file_close(StatsFile *file, GError **error);

typedef struct {
    const char *run; /* "all_reduce 1M nvls" */
    SimTime from_ps, to_ps;
    const char *where;     /* "gpu0.link3.up" */
    const char *statistic; /* "flits" */
    StatType type;         /* no histogram */
    guint64 value;         /* of a counter: what was added in the interval; else: what it is at its end */
    const char *unit;
} StatsLine;
void stats_file_add(StatsFile *file, const StatsLine *line);

#endif
