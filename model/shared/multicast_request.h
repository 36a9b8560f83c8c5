/* Multicast requests in progress at one switch, as the members of the team see them.
 *
 * What hardware it stands for: what travels with a replica and its answer (address, data, operation), which packets of
 * this model carry only a number for. The tags and counters of the same request are the switch's own (McRecord).
 * An entry is filled when the switch replicates a request that members cannot serve from the packet alone (where bytes
 * are kept, or MEMORY_LOOK_UP, or MEMORY_IN_HBM), or when a member is silent; it is valid until the last member has
 * answered. Members write the operands of an ld_reduce into data slots that are listed here, and the switch
 * sums them. */
#ifndef MODEL_SHARED_MULTICAST_REQUEST_H
#define MODEL_SHARED_MULTICAST_REQUEST_H

#include "model/memory/multicast_object.h"
#include "model/shared/txn.h"

typedef struct {
    guint64 offset; /* in the object */
    McObject *object;
    guint32 data; /* data slot of a store, shared by the replicas; 0: none */
    guint32 txn;  /* of the requester */
    guint16 src;  /* requester */
    guint16 bytes;
    guint16 got;      /* answers noted in `order`: all, once one brings data */
    guint16 operands; /* with data */
    guint16 missing;  /* silent members */
    guint8 answer_flits;
    guint8 state; /* worst TxnFault of a replica */
    guint8 plain; /* reads or writes each of its bytes, and nothing else */
} McRequest;

/* Memory is reserved for as many as a switch can have, touched as far as it is used, and never moves: members read
 * entries while the switch fills others, perhaps on another thread. */
typedef struct {
    McRequest *request;       /* by the switch's number of the request */
    guint32 *operand;         /* data slot of member g's operand of request r at r * gpus + g; 0: none */
    guint16 *order;           /* from r * gpus on: members in the order in which they answer, */
    SimTime *order_ps;        /* and when */
    guint32 max, gpus, first; /* members are `first` and up, below first + gpus */
} McRequests;

void mcrequests_init(McRequests *requests, guint32 max, guint32 gpus, guint32 first);
void mcrequests_clear(McRequests *requests);

static inline guint32 *mcrequests_operands(const McRequests *requests, guint32 index)
{
    return &requests->operand[(gsize)index * requests->gpus];
}
static inline guint16 *mcrequests_order(const McRequests *requests, guint32 index)
{
    return &requests->order[(gsize)index * requests->gpus];
}
/* A member's operand of an ld_reduce is in that data slot. */
static inline void mcrequests_add_operand(McRequests *requests, guint32 index, guint16 gpu, guint32 slot)
{
    mcrequests_operands(requests, index)[gpu] = slot;
    requests->request[index].operands++;
}

/* A member's answer arrives at the switch at at_ps. Those that arrive at one instant are in order of GPUs. */
void mcrequests_note_answer(McRequests *requests, guint32 index, guint16 gpu, SimTime at_ps);

#endif
