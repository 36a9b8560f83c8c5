/* What several simulations of one system did, on one axis of time: a replay's stretches of communication, of which
 * equal ones are simulated once and count as often as they happen.
 *
 *     SeriesSum *all = series_sum_new(SERIES_POINTS);
 *     SeriesSum *one = series_sum_new(64);
 *     ... recording_end() ...  series_sum_take(one, run);       times from that run's begin
 *     series_sum_add(all, one, 5000000);  series_sum_add(all, one, 9000000);
 *     series_tables_add_sum(&tables, all, &spec, "replay", passed_ps, &error);
 */
#ifndef OBSERVE_SERIES_SUM_H
#define OBSERVE_SERIES_SUM_H

#include "observe/series/tables.h"

typedef struct SeriesSum SeriesSum;

/* points: at most so many intervals, which get longer as time goes on. */
SeriesSum *series_sum_new(guint points);
void series_sum_free(SeriesSum *sum); /* NULL is none */
/* Of a run that has ended, and whose fabric is still there. */
void series_sum_take(SeriesSum *sum, const RecordedRun *run);
/* What `from` has, at_ps later. */
void series_sum_add(SeriesSum *into, const SeriesSum *from, SimTime at_ps);
/* The points up to passed_ps, with those in which nothing happened; free with g_array_unref(). */
GArray *series_sum_points(const SeriesSum *sum, SimTime passed_ps);

/* As series_tables_add(), of one run. GError: no fabric can be made of spec. */
gboolean series_tables_add_sum(SeriesTables *tables, SeriesSum *sum, const FabricSpec *spec, const char *run,
                               SimTime passed_ps, GError **error);

/* For its tables: latencies of requests to other GPUs, and to multicast objects; NULL: there were none. */
const Hist *series_sum_latency(const SeriesSum *sum, gboolean multicast, PacketKind kind);
/* Sets the counters of a fabric that has run nothing. */
void series_sum_put(SeriesSum *sum, Fabric *fabric);

#endif
