#include "model/shared/multicast_request.h"

#include <sys/mman.h>

static gpointer mcrequests_map(gsize bytes)
{
    gpointer at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        g_error("switch: no %zu B of address space for the multicast requests of its tags", bytes);
    return at;
}

static gsize mcrequests_operands_max(const McRequests *requests) { return (gsize)requests->max * requests->gpus; }

void mcrequests_init(McRequests *requests, guint32 max, guint32 gpus)
{
    *requests = (McRequests){.max = max, .gpus = gpus};
    requests->request = mcrequests_map(max * sizeof *requests->request);
    requests->operand = mcrequests_map(mcrequests_operands_max(requests) * sizeof *requests->operand);
    requests->order = mcrequests_map(mcrequests_operands_max(requests) * sizeof *requests->order);
}

void mcrequests_clear(McRequests *requests)
{
    munmap(requests->request, requests->max * sizeof *requests->request);
    munmap(requests->operand, mcrequests_operands_max(requests) * sizeof *requests->operand);
    munmap(requests->order, mcrequests_operands_max(requests) * sizeof *requests->order);
}
