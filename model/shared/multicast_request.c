#include "model/shared/multicast_request.h"

#include <sys/mman.h>

static gpointer mcrequests_map(gsize bytes)
{
    gpointer at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        g_error("switch: no %zu B of address space for the multicast requests of its tags", bytes);
    return at;
}

static gsize mcrequests_operands_max(const McRequests *requests)
{
    return (gsize)requests->max * requests->gpus + requests->first;
}

void mcrequests_init(McRequests *requests, guint32 max, guint32 gpus, guint32 first)
{
    *requests = (McRequests){.max = max, .gpus = gpus, .first = first};
    requests->request = mcrequests_map(max * sizeof *requests->request);
    requests->operand = mcrequests_map(mcrequests_operands_max(requests) * sizeof *requests->operand);
    requests->order = mcrequests_map(mcrequests_operands_max(requests) * sizeof *requests->order);
    requests->order_ps = mcrequests_map(mcrequests_operands_max(requests) * sizeof *requests->order_ps);
}

void mcrequests_clear(McRequests *requests)
{
    munmap(requests->request, requests->max * sizeof *requests->request);
    munmap(requests->operand, mcrequests_operands_max(requests) * sizeof *requests->operand);
    munmap(requests->order, mcrequests_operands_max(requests) * sizeof *requests->order);
    munmap(requests->order_ps, mcrequests_operands_max(requests) * sizeof *requests->order_ps);
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
