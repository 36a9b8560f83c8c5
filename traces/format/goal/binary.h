/* GOAL schedules as LogGOPSim's txt2bin makes them. All numbers begin with their least byte and stand without gaps:
 *
 *     u64 4223; u32 ranks; u8 cpu; u8 nic; for each rank: u64 begin, u64 end, from behind the first number
 *     of a rank: u32 nodes; u32 roots; u32 root[roots]; nodes; u32 appendix[]
 *     a node: u32 waits for so many; u8 type (1 send, 2 recv, 3 calc); u32 peer; u64 bytes or ns; u32 tag; u8 cpu;
 *             u8 nic; u32 n, u32 first: those in the appendix that wait for its end; u32 n, u32 first: for its start
 *
 * The header's cpu and nic are the highest of all nodes, from 0: the simulator makes one more of each for every rank
 * (GetNumCPU and GetNumNIC of LogGOPSim's and ATLAHS's Parser.hpp). */
#ifndef TRACES_FORMAT_GOAL_BINARY_H
#define TRACES_FORMAT_GOAL_BINARY_H

#include "traces/format/reader.h"

enum { GOAL_SEND = 1, GOAL_RECV, GOAL_CALC };

typedef struct {
    guint8 type;
    guint32 peer, tag;
    guint64 size;
} GoalNode;

typedef struct {
    guint32 on, node; /* node begins when on has ended; places in the rank's nodes */
} GoalEdge;

/* Bytes of a message: at least 1, since its receiver waits for it, which a note counts. */
guint64 goal_message_bytes(Reader *reader, RecordOp op, guint64 bytes);

typedef struct GoalBinary GoalBinary;
GoalBinary *goal_binary_new(guint32 ranks);
/* The next rank: arrays of GoalNode and GoalEdge, which are sorted. */
void goal_binary_add(GoalBinary *binary, const GArray *nodes, GArray *edges);
/* The file, when all ranks are in. Frees the binary. */
GByteArray *goal_binary_end(GoalBinary *binary);

#endif
