/* Statistics in time and what a run did at all, as tables, charts and a picture of the system in a report.
 *
 *     SeriesTables tables = {.report = report};
 *     ... recording_end() of a run ...
 *     series_tables_add(&tables, run);       for each run; up to SERIES_RUNS of them, others are left out
 *
 * Tables "in_time" and "latencies" have a column that says of which run a row is; charts of several runs stand side by
 * side on the same axes. In text nothing of it appears. */
#ifndef OBSERVE_SERIES_TABLES_H
#define OBSERVE_SERIES_TABLES_H

#include "observe/recording.h"
#include "sim/report/figures.h"

#define SERIES_RUNS 4
/* Why a page has less than others. */
#define SERIES_ASK_WHERE "Where the time of requests went is told with --where."
#define SERIES_NO_FLOWS                                                                                                \
    "Flows have no packets: there are no charts over time, and not where the time went; --fidelity packet has them."

typedef struct {
    Report *report;
    Table *in_time, *latencies, *switches; /* NULL before the first run */
    guint runs, left_out;
} SeriesTables;

extern const Column series_in_time_columns[], series_latency_columns[];
/* What is drawn of a table "in_time" and of one "latencies", also of runs that other reports are of. */
void series_tables_begin(SeriesTables *tables);
void series_tables_add(SeriesTables *tables, const RecordedRun *run);

/* map.c: the system with its GPUs, switches and links, coloured by how busy they were from from_ps to to_ps, as SVG.
 * All counters are of that time. Free with g_free(). NULL: more pairs are joined by links than a picture can show. */
char *series_map(const Fabric *fabric, SimTime passed_ps);

#endif
