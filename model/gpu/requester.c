/* The requester side of a GPU: requests become transactions and packets, and answers end them. See gpu.h. */
#include "model/gpu/gpu.h"

#include <string.h>

/* ---- requests */

static guint32 gpu_data_flits(guint64 offset, guint32 bytes)
{
    guint64 first = offset / FLIT_BYTES, last = (offset + bytes - 1) / FLIT_BYTES;
    return (guint32)(last - first + 1);
}

static gboolean gpu_is_partial(const GpuRequest *request)
{
    guint32 words = (request->bytes + 3u) / 4u;
    guint32 full = words >= 32 ? GPU_ALL_WORDS : (1u << words) - 1;
    return request->offset % FLIT_BYTES || request->bytes % FLIT_BYTES || (request->word_mask & full) != full;
}

guint32 gpu_request_flits(const Gpu *gpu, const GpuRequest *request)
{
    if (request->kind == PACKET_READ)
        return 1;
    guint32 data = gpu_data_flits(request->offset, request->bytes);
    guint32 enable = gpu_is_partial(request) ? (guint32)gpu->spec->byte_enable_flits : 0;
    guint32 set = request->object ? (guint32)gpu->fabric->spec.mctable.set_flits : 0;
    if (request->op & TXN_COUNTED)
        set += (guint32)gpu->spec->fabric_counter_flits;
    switch (request->kind) {
    case PACKET_MC_READ: return (guint32)gpu->fabric->spec.sw.request_flits + set;
    case PACKET_WRITE:
    case PACKET_MC_WRITE: return 1 + set + enable + data;
    default: return 1 + set + (guint32)gpu->spec->operation_flits + enable + data;
    }
}

guint32 gpu_link_of(const Gpu *gpu, const GpuRequest *request)
{
    if (request->object)
        return route_multicast(gpu->fabric, request->object, request->offset);
    if (request->region->gpu == gpu->id || request->region->gpu == MEMORY_HOST)
        return GPU_LINK_LOCAL;
    return route_unicast(gpu->fabric, gpu->id, gpu->hash_turn, request->region, request->offset);
}

void gpu_wait_room(Gpu *gpu, guint32 link, GpuRoomWaiter *waiter)
{
    GpuRoomQueue *queue = &gpu->port[link].room[waiter->side];
    g_assert(!waiter->queued);
    waiter->next = NULL;
    waiter->queued = TRUE;
    if (queue->tail)
        queue->tail->next = waiter;
    else
        queue->head = waiter;
    queue->tail = waiter;
    link_set_low_water(&gpu->up[link], VC_CREQ, gpu->limit.source_queue);
}

gboolean gpu_port_waits(const GpuPort *port)
{
    return port->room[GPU_SIDE_ENGINES].head || port->room[GPU_SIDE_HALF_0].head || port->room[GPU_SIDE_HALF_1].head;
}

/* The waiter with the fewest turns, of the side with the fewest turns. At least one must be waiting at the port. */
static GpuRoomWaiter *gpu_next_waiter(Gpu *gpu, GpuPort *port)
{
    GpuRoomWaiter *best = NULL, *best_before = NULL, *before = NULL;
    GpuSide side = GPU_SIDES;
    for (GpuSide s = 0; s < GPU_SIDES; s++)
        if (port->room[s].head && (side == GPU_SIDES || gpu->side[s].turns < gpu->side[side].turns))
            side = s;
    GpuRoomQueue *queue = &port->room[side];
    for (GpuRoomWaiter *waiter = queue->head; waiter; before = waiter, waiter = waiter->next)
        if (!best || waiter->turns < best->turns) {
            best = waiter;
            best_before = before;
        }
    *(best_before ? &best_before->next : &queue->head) = best->next;
    if (queue->tail == best)
        queue->tail = best_before;
    best->queued = FALSE;
    return best;
}

void gpu_drained(void *node, Link *link, Vc vc)
{
    Gpu *gpu = node;
    GpuPort *port = &gpu->port[link->source_port];
    SimTime now_ps = sim_now_ps(gpu->sim);
    if (vc == VC_RSP) {
        gpu_target_drained(gpu, link->source_port);
        return;
    }
    GpuRoomWaiter *waiter = gpu_next_waiter(gpu, port);
    if (!gpu_port_waits(port))
        link_set_low_water(link, VC_CREQ, 0);
    waiter->fire(waiter, now_ps);
}

static guint32 gpu_take_data(const Gpu *gpu, const GpuRequest *request)
{
    DataPool *pool = gpu->fabric->data;
    guint32 slot = data_take(pool);
    memcpy(data_at(pool, slot), request->data, request->op >= TXN_ATOM_CAS ? DATA_SLOT_BYTES : request->bytes);
    return slot;
}

guint32 gpu_take_txn(Gpu *gpu, const GpuRequest *request, SimTime start_ps)
{
    guint32 index = txn_take(gpu->txns);
    Txn *txn = txn_at(gpu->txns, index);
    *txn_next(gpu->txns, index) = TXN_NONE;
    *txn = (Txn){.offset = request->offset,
                 .start_ps = start_ps,
                 .done = request->done,
                 .owner = request->owner,
                 .tag = request->tag,
                 .word_mask = request->word_mask,
                 .kind = (guint8)request->kind,
                 .type = request->type,
                 .op = request->op,
                 .acc = request->acc,
                 .bytes = request->bytes,
                 .reported = request->reported};
    if (request->data)
        txn->data = gpu_take_data(gpu, request);
    if (request->object)
        txn->object = request->object;
    else
        txn->missed = memory_misses(txn->region = request->region, request->offset, request->bytes,
                                    request->kind == PACKET_WRITE) != 0;
    return index;
}

/* Whether its bytes must change, or be read, just when it is served: it is small enough for a flag, or reads what it
 * writes. Those of whole lines that are written or read move any time before the answer leaves. */
static gboolean gpu_moves_in_time(const Gpu *gpu, const GpuRequest *request)
{
    gboolean plain = request->kind == PACKET_READ || request->kind == PACKET_WRITE || request->kind == PACKET_MC_READ ||
                     request->kind == PACKET_MC_WRITE;
    return (gpu->fabric->keep_bytes && (!plain || request->bytes < LINE_BYTES)) || request->op & TXN_COUNTED;
}

/* If all members answer a multicast request alike, its packet says how. */
static Packet gpu_prepare_multicast(Gpu *gpu, const GpuRequest *request, guint32 index)
{
    Packet packet = packet_new(request->kind, index, gpu->id, request->object->mcid, gpu_request_flits(gpu, request));
    packet.answer_flits = (guint8)(1u + (request->bytes + FLIT_BYTES - 1u) / FLIT_BYTES);
    if (request->bytes % FLIT_BYTES == 0 && !gpu_moves_in_time(gpu, request))
        packet.place = (guint8)mcobject_place(request->object);
    return packet;
}

Packet gpu_prepare(Gpu *gpu, const GpuRequest *request)
{
    guint32 index = gpu_take_txn(gpu, request, sim_now_ps(gpu->sim));
    if (request->object)
        return gpu_prepare_multicast(gpu, request, index);
    const MemRegion *region = request->region;
    Packet packet = packet_new(request->kind, index, gpu->id, region->gpu, gpu_request_flits(gpu, request));
    if (!txn_at(gpu->txns, index)->missed && !region->in_time && !gpu_moves_in_time(gpu, request))
        packet.place = MEMORY_IN_L2;
    return packet;
}

void gpu_send(Gpu *gpu, Packet packet, guint32 link)
{
    SimTime wait_ps = gpu->flows.wait_ps ? gpu->flows.packet_ps(gpu) : 0;
    gpu->requests++;
    PROBE_POINT(gpu->fabric, PROBE_REQUEST, gpu, &packet, sim_now_ps(gpu->sim));
    link_push(&gpu->up[link], packet, wait_ps ? sim_now_ps(gpu->sim) + wait_ps : 0);
}

void gpu_request(Gpu *gpu, const GpuRequest *request, guint32 link)
{
    if (link == GPU_LINK_LOCAL)
        gpu_request_own(gpu, request);
    else
        gpu_send(gpu, gpu_prepare(gpu, request), link);
}

/* ---- answers */

void gpu_complete(Gpu *gpu, Txn *txn, SimTime now_ps)
{
    guint32 data = txn->data;
    DataPool *pool = gpu->fabric->data;
    fabric_account(gpu->fabric, gpu->id, txn, FALSE, now_ps);
    txn->done(gpu, txn, data ? data_at(pool, data) : NULL, now_ps);
    if (data)
        data_give(pool, data);
}

void gpu_accept_answer(Gpu *gpu, Link *from, Packet packet, SimTime now_ps)
{
    gboolean many = packet.kind == PACKET_ACK || packet.kind == PACKET_MC_DONE; /* one answer for several writes */
    PROBE_POINT(gpu->fabric, PROBE_ANSWER, gpu, &packet, now_ps);
    link_credit(from, VC_RSP, packet.flits, now_ps);
    TxnPool *pool = gpu->txns;
    for (guint32 index = packet.txn, next; index != TXN_NONE; index = next) {
        next = many ? *txn_next(pool, index) : TXN_NONE;
        gpu_complete(gpu, txn_at(pool, index), now_ps);
        txn_give(pool, index);
    }
}

void gpu_accept(void *node, Link *from, Packet packet, SimTime now_ps)
{
    if (packet_vc(&packet) == VC_CREQ)
        gpu_target_accept(node, from->sink_port, packet, now_ps);
    else
        gpu_accept_answer(node, from, packet, now_ps);
}

void gpu_take(Gpu *gpu, Link *from, guint32 link, McRequests *requests)
{
    gpu->port[link].requests = requests;
    gpu->up[link].expire = gpu_target_on_timer;
    link_set_sink(from, gpu_accept, gpu, link);
}
