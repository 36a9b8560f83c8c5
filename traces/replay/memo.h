/* What a replay remembers of communications that nothing overlapped. */
#ifndef TRACES_REPLAY_MEMO_H
#define TRACES_REPLAY_MEMO_H

#include "traces/replay/replay.h"

typedef struct {
    SimTime time_ps;
    CollAlgo algo;
    CollProto proto;
    ReplayUsage usage;
} Memo;

struct ReplayMemo {
    GHashTable *by_key; /* text of the work -> Memo */
};

#endif
