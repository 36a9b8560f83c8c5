#include "model/shared/multicast_request.h"

#include "model/shared/sparse.h"

static gsize mcrequests_operands_max(const McRequests *requests)
{
    return (gsize)requests->max * requests->gpus + requests->first;
}

void mcrequests_init(McRequests *requests, guint32 max, guint32 gpus, guint32 first)
{
    *requests = (McRequests){.max = max, .gpus = gpus, .first = first};
    requests->request = sparse_new(max * sizeof *requests->request);
    requests->operand = sparse_new(mcrequests_operands_max(requests) * sizeof *requests->operand);
    requests->order = sparse_new(mcrequests_operands_max(requests) * sizeof *requests->order);
    requests->order_ps = sparse_new(mcrequests_operands_max(requests) * sizeof *requests->order_ps);
}

void mcrequests_clear(McRequests *requests)
{
    sparse_free(requests->request, requests->max * sizeof *requests->request);
    sparse_free(requests->operand, mcrequests_operands_max(requests) * sizeof *requests->operand);
    sparse_free(requests->order, mcrequests_operands_max(requests) * sizeof *requests->order);
    sparse_free(requests->order_ps, mcrequests_operands_max(requests) * sizeof *requests->order_ps);
}

void mcrequests_note_answer(McRequests *requests, guint32 index, guint16 gpu, SimTime at_ps)
{
    guint16 *order = mcrequests_order(requests, index);
    SimTime *order_ps = &requests->order_ps[(gsize)index * requests->gpus];
    guint32 n = requests->request[index].got++;
    for (; n > 0 && (order_ps[n - 1] > at_ps || (order_ps[n - 1] == at_ps && order[n - 1] > gpu)); n--) {
        order[n] = order[n - 1];
        order_ps[n] = order_ps[n - 1];
    }
    order[n] = gpu;
    order_ps[n] = at_ps;
}
