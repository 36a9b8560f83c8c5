/* What tracks.c shares with packets.c, which follows single requests through the fabric, and ctas.c. */
#ifndef OBSERVE_SERIES_TRACKS_PARTS_H
#define OBSERVE_SERIES_TRACKS_PARTS_H

#include "observe/series/tracks.h"
#include "observe/series/latency_breakdown.h"

/* The group of a unit: "gpu0", or "RUN: gpu0". */
guint32 tracks_group(Timeline *timeline, const char *run, const char *unit, gsize unit_bytes);

/* packets.c: a slice for each of the first 2,000 requests (48 of a GPU at a time), from its issue to its completion,
 * one for each of its packets on a wire, and arrows from each to what follows from it. The fabric is one of the
 * reference engine, before its first run. */
Packets *packets_new(Fabric *fabric, LatencyBreakdown *where,
                     gboolean shares); /* of each launch or copy an eighth of those that are left */
void packets_note_before(Packets *packets, const ProbeEvent *event); /* while `where` has not noted it yet, */
void packets_note(Packets *packets, const ProbeEvent *event);        /* and when it has */
void packets_forget(Packets *packets, const void *cause);            /* it has ended */
void packets_write(const Packets *packets, Timeline *timeline, const char *run, SimTime begin_ps,
                   const TracksOrigin *origin);
void packets_free(Packets *packets);

/* causes.c: which launch or copy a request is of. */
typedef struct Causes Causes;
struct Warp;
Causes *causes_new(Fabric *fabric);
void causes_note(Causes *causes, const struct Warp *warp);         /* it makes a request (PROBE_COALESCE) */
const void *causes_of(const Causes *causes, const Packet *packet); /* NULL: not known */
void causes_free(Causes *causes);

/* ctas.c: a slice for each CTA on its SM. Of one domain. */
typedef struct Ctas Ctas;
Ctas *ctas_new(Fabric *fabric);
void ctas_end(Ctas *ctas, SimTime at_ps);
void ctas_write(const Ctas *ctas, Timeline *timeline, const char *run, SimTime begin_ps);
void ctas_free(Ctas *ctas);

#endif
