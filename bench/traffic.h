/* Synthetic traffic: every GPU writes lines to GPUs drawn at random, at a given load.
 *
 * The classic load test of an interconnect: exponential gaps, destinations uniform over the others, 128 B
 * of payload. A GPU whose port has no room waits, so the offered load is what the links take at most. */
#ifndef BENCH_TRAFFIC_H
#define BENCH_TRAFFIC_H

#include "model/fabric/fabric.h"

typedef struct {
    guint64 packets;        /* data packets in all */
    guint32 load_per_mille; /* of a link direction's flits, counting the data packets only */
    guint32 bytes;          /* payload of a packet: 1 to 128 */
} TrafficSpec;

typedef struct Traffic Traffic;

/* Memory for it is made here; the run starts with the next sim_run(). */
Traffic *traffic_new(Fabric *fabric, const TrafficSpec *spec);
void traffic_free(Traffic *traffic);
void traffic_stop(Traffic *traffic); /* no more packets: those that are under way come to their end */
guint64 traffic_completed(const Traffic *traffic);
guint64 traffic_peak(const Traffic *traffic);   /* most packets between issue and completion, seen about once a gap */
SimTime traffic_end_ps(const Traffic *traffic); /* when the last answer came */

#endif
