/* Where the time went: the latency of every request taken apart into what it waited for, from what an observer of the
 * reference engine sees.
 *
 * Each event of a request ends a stretch of its time, which has one reason; so the parts add up to the latency, to the
 * picosecond. Of a multicast request the stretch between replication and the last answer is that of the member that
 * answered last; over two levels of switches that of the leaf switch, and there of the member. The time of the whole
 * run is that in which no request was under way (launch, computing, exit), and the rest, which is shared out among the
 * reasons as the requests' own time is.
 * Left out: requests to the GPU's own memory, and those that were lost. */
#ifndef OBSERVE_SERIES_WHERE_H
#define OBSERVE_SERIES_WHERE_H

#include "model/fabric/fabric.h"
#include "sim/report/figures.h"

typedef enum {
    WHERE_SM,      /* in the SM and on to its port */
    WHERE_QUEUE,   /* others on the wire */
    WHERE_CREDITS, /* the wire idle, and no credits (or the link down) */
    WHERE_SERIAL,
    WHERE_FLIGHT,
    WHERE_PIPELINES, /* fixed stages of GPUs and switches */
    WHERE_TAGS,
    WHERE_BUFFER,
    WHERE_ROUNDS,
    WHERE_ROOM, /* held at the target while too many answers wait */
    WHERE_MEMORY,
    WHERE_REDUCTION,
    WHERE_MERGING, /* an acknowledgement, for other writes that it can answer, too */
    WHERE_REASONS
} WhereReason;
extern const char *const where_names[]; /* "queueing"; by WhereReason */

typedef struct {
    guint64 requests;
    SimTime latency_ps;             /* of all of them together: */
    SimTime part_ps[WHERE_REASONS]; /* the sum of these */
} WhereSum;

#define WHERE_REQUESTS_MAX 2000000u /* of a run; what comes after the first so many is not taken apart */

typedef struct Where Where;
/* Observes the fabric until where_end(). It is of the reference engine and at rest. */
Where *where_new(Fabric *fabric);
/* What its observer does: for an observer of the caller's own, set behind where_new(), that sees more. */
void where_note(Where *where, const ProbeEvent *event);
void where_end(Where *where);                                   /* between runs */
void where_free(Where *where);                                  /* NULL is none */
const WhereSum *where_sum(const Where *where, PacketKind kind); /* of requests of that kind */

/* Several runs as one: sums are added. */
typedef struct {
    WhereSum sum[PACKET_MC_READ + 1]; /* by PacketKind of the request */
    SimTime time_ps, idle_ps;         /* how long the run was, and for how long of it no request was under way */
    guint64 seen;                     /* requests */
} WhereTotal;
void where_total_add(WhereTotal *into, const WhereTotal *from);
WhereTotal where_total(const Where *where);

/* Tables "where" (the run) and "where_requests" (each kind of request), with charts; run: a name, as in tables.h. */
typedef struct {
    Report *report;
    Table *run, *requests; /* NULL before the first */
} WhereTables;
extern const Column where_run_columns[], where_request_columns[];
void where_tables_begin(WhereTables *tables);
void where_tables_add(WhereTables *tables, const Where *where, const char *run);
void where_tables_add_total(WhereTables *tables, const WhereTotal *total, const char *run);

#endif
