/* Where the time went: the latency of every request taken apart into what it waited for, from what an observer of the
 * reference engine sees.
 *
 * Each event of a request ends a stretch of its time, which has one reason; so the parts add up to the latency, to the
 * picosecond. Of a multicast request the stretch between replication and the last answer is that of the member that
 * answered last; over two levels of switches that of the leaf switch, and there of the member. The time of the whole
 * run is that in which no request was under way (launch, computing, exit), and the rest, which is shared out among the
 * reasons as the requests' own time is.
 * Left out: requests to the GPU's own memory, and those that were lost. */
#ifndef OBSERVE_SERIES_LATENCY_BREAKDOWN_H
#define OBSERVE_SERIES_LATENCY_BREAKDOWN_H

#include "model/fabric/fabric.h"
#include "sim/report/figures.h"

typedef enum {
    LATENCY_SM,      /* in the SM and on to its port */
    LATENCY_QUEUE,   /* others on the wire */
    LATENCY_CREDITS, /* the wire idle, and no credits (or the link down) */
    LATENCY_SERIAL,
    LATENCY_FLIGHT,
    LATENCY_PIPELINES, /* fixed stages of GPUs and switches */
    LATENCY_TAGS,
    LATENCY_BUFFER,
    LATENCY_ROUNDS,
    LATENCY_ROOM, /* held at the target while too many answers wait */
    LATENCY_MEMORY,
    LATENCY_REDUCTION,
    LATENCY_MERGING, /* an acknowledgement, for other writes that it can answer, too */
    LATENCY_REASONS
} LatencyReason;
extern const char *const latency_breakdown_names[]; /* "queueing"; by LatencyReason */

typedef struct {
    guint64 requests;
    SimTime latency_ps;               /* of all of them together: */
    SimTime part_ps[LATENCY_REASONS]; /* the sum of these */
} LatencySum;

#define LATENCY_REQUESTS_MAX 2000000u /* of a run; what comes after the first so many is not taken apart */

typedef struct LatencyBreakdown LatencyBreakdown;
/* Observes the fabric until latency_breakdown_end(). It is of the reference engine and at rest. */
LatencyBreakdown *latency_breakdown_new(Fabric *fabric);
/* What its observer does: for an observer of the caller's own, set behind latency_breakdown_new(), that sees more. */
void latency_breakdown_note(LatencyBreakdown *breakdown, const ProbeEvent *event);
void latency_breakdown_end(LatencyBreakdown *breakdown);  /* between runs */
void latency_breakdown_free(LatencyBreakdown *breakdown); /* NULL is none */
const LatencySum *latency_breakdown_sum(const LatencyBreakdown *breakdown,
                                        PacketKind kind); /* of requests of that kind */

/* Several runs as one: sums are added. */
typedef struct {
    LatencySum sum[PACKET_MC_READ + 1]; /* by PacketKind of the request */
    SimTime time_ps, idle_ps;           /* how long the run was, and for how long of it no request was under way */
    guint64 seen;                       /* requests */
} LatencyTotal;
void latency_breakdown_total_add(LatencyTotal *into, const LatencyTotal *from);
LatencyTotal latency_breakdown_total(const LatencyBreakdown *breakdown);

/* Tables "where" (the run) and "where_requests" (each kind of request), with charts; run: a name, as in tables.h. */
typedef struct {
    Report *report;
    Table *run, *requests; /* NULL before the first */
} LatencyTables;
extern const Column latency_breakdown_run_columns[], latency_breakdown_request_columns[];
void latency_breakdown_tables_begin(LatencyTables *tables);
void latency_breakdown_tables_add(LatencyTables *tables, const LatencyBreakdown *breakdown, const char *run);
void latency_breakdown_tables_add_total(LatencyTables *tables, const LatencyTotal *total, const char *run);

#endif
