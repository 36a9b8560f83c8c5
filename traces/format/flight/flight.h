/* What is kept of PyTorch's flight recorder dumps, a file a rank, between reading them and making records. */
#ifndef TRACES_FORMAT_FLIGHT_FLIGHT_H
#define TRACES_FORMAT_FLIGHT_FLIGHT_H

#include "traces/format/reader.h"

typedef enum { FLIGHT_SCHEDULED, FLIGHT_STARTED, FLIGHT_COMPLETED } FlightState;

/* One call of one rank. */
typedef struct {
    Record record;    /* group, op, sizes, peer, times; source.node is the record_id */
    guint64 sequence; /* collective_seq_id; of a message its place among those of its kind */
    gboolean message;
    gboolean drop;
    FlightState state;
} FlightCall;

typedef struct {
    Reader *reader;    /* of the file being read */
    GArray *calls;     /* FlightCall, by file */
    guint8 *dumped;    /* by rank: its dump was read; of trace->world */
    guint8 *closed;    /* by rank: nothing fell out of its ring */
    GHashTable *ranks; /* of this file: name of a process group -> GArray of ranks */
} Flight;

/* judge.c. Which rank is missing in which collective, and what did not end: as notes. What cannot be replayed is marked
 * to be dropped: what fell out of some rank's ring, what not all ranks called, what they disagree on. */
void flight_judge(Flight *flight);

#endif
