/* The target side of a GPU: requests that come in by a link are served by the L2 (or HBM) and answered on the same
 * link.
 *
 * What hardware it stands for: the L2 slices' service of NVLink requests, the collapsing of write acknowledgements, and
 * the queue of responses at a port that holds up its requests.
 * accept: gpu_target_accept(), in order for each link; a request is held up, with its credits, while too many answers
 * wait at the port. advance: HBM and atomics take longer, through fixed-latency FIFOs (pipe.c). depart: read responses,
 * answers to replicas, merged acknowledgements.
 * The L2's own latency is part of the up link's response delay (model/fabric/fabric.c), so a hit costs no event.
 * Left out: L2 slices and the crossbar to them. Sources: see gpu.h. */
#include "model/gpu/gpu.h"

/* ---- answers */

static Txn *gpu_requester_txn(const Gpu *gpu, Packet packet)
{
    return txn_at(&gpu->fabric->txns[packet.src], packet.txn);
}

static Packet gpu_ack(const Gpu *gpu, guint32 src) { return packet_new(PACKET_ACK, 0, src, gpu->id, 1); }

void gpu_respond(Gpu *gpu, guint32 link, Packet packet, SimTime now_ps)
{
    Fabric *fabric = gpu->fabric;
    Txn *txn = gpu_requester_txn(gpu, packet);
    guint64 first = txn->offset / SECTOR_BYTES, last = (txn->offset + txn->bytes - 1) / SECTOR_BYTES;
    guint32 slot = packet.kind == PACKET_READ ? gpu_fixed_answer(fabric, txn->region, txn->offset) : 0;
    if (!slot) {
        slot = txn->region->host ? data_take(fabric->data) : 0;
        gpu_access(fabric, txn->region, txn->offset, txn, txn->data ? data_at(fabric->data, txn->data) : NULL,
                   slot ? data_at(fabric->data, slot) : NULL, now_ps + gpu->spec->l2_ps);
    }
    if (txn->data)
        data_give(fabric->data, txn->data);
    txn->data = slot;
    GpuPort *port = &gpu->port[link];
    if (gpu->spec->ack_flush_on_read)
        ack_flush(&port->acks[packet.src], &gpu->up[link], gpu_ack(gpu, packet.src));
    if (port->read_left_ps)
        port->read_left_ps[packet.src] = now_ps + gpu->spec->l2_ps;
    guint32 flits = 1 + (guint32)(last - first + 1) * (SECTOR_BYTES / FLIT_BYTES);
    PacketKind kind = packet.kind == PACKET_ATOM ? PACKET_ATOM_RSP : PACKET_READ_RSP;
    link_push(&gpu->up[link], packet_new(kind, packet.txn, packet.src, gpu->id, flits), now_ps);
}

/* The bytes of a write, if there are any, or if a program watches that memory. */
static void gpu_write_bytes(Gpu *gpu, Packet packet, SimTime now_ps)
{
    Fabric *fabric = gpu->fabric;
    Txn *txn = gpu_requester_txn(gpu, packet);
    if (txn->region->host || memory_watches(fabric->memory))
        gpu_access(fabric, txn->region, txn->offset, txn, txn->data ? data_at(fabric->data, txn->data) : NULL, NULL,
                   now_ps + gpu->spec->l2_ps);
    if (G_UNLIKELY(txn->op & TXN_COUNTED))
        gpu_count(fabric, gpu->id, txn, now_ps + gpu->spec->l2_ps);
    if (txn->data)
        data_give(fabric->data, txn->data);
    txn->data = 0;
}

/* How many writes one packet answers: one by one for a while after a read. */
static guint64 gpu_merge_max(const Gpu *gpu, guint32 link, guint32 src, SimTime now_ps)
{
    const SimTime *read_left_ps = gpu->port[link].read_left_ps;
    if (read_left_ps && read_left_ps[src] != 0 && read_left_ps[src] + gpu->spec->ack_hold_off_ps > now_ps)
        return 1;
    return gpu->spec->ack_merge_max;
}

static void gpu_acknowledge(Gpu *gpu, guint32 link, Packet packet, SimTime now_ps)
{
    const TxnPool *pool = &gpu->fabric->txns[packet.src];
    if (packet.place == MEMORY_LOOK_UP || gpu->fabric->keep_bytes)
        gpu_write_bytes(gpu, packet, now_ps);
    guint32 end = packet.txn; /* a write that others merged with at their SM is the head of a chain */
    for (guint32 next; (next = *txn_next(pool, end)) != TXN_NONE;)
        end = next;
    ack_add(&gpu->port[link].acks[packet.src], &gpu->up[link], gpu_ack(gpu, packet.src), packet.txn,
            txn_next(pool, end), gpu_merge_max(gpu, link, packet.src, now_ps), gpu->spec->ack_timer_ps, now_ps);
}

gboolean gpu_target_on_timer(void *node, Link *up, Packet timer, SimTime now_ps, Packet *answer)
{
    Gpu *gpu = node;
    return ack_expire(&gpu->port[up->source_port].acks[timer.src], timer, now_ps, answer);
}

/* Data leaves when HBM has read it, acknowledgements at once. */
static void gpu_hbm_answer(Gpu *gpu, guint32 link, Packet answer, guint64 line, guint32 bytes, SimTime now_ps)
{
    const gboolean read = answer.kind == PACKET_MC_OPERAND;
    gpu_hbm_serve(gpu, read ? HBM_READ : HBM_WRITE, bytes, now_ps);
    if (read)
        gpu_pipe_push(&gpu->pipe[GPU_PIPE_DRAM], hbm_ready_ps(&gpu->hbm) + hbm_late_ps(&gpu->hbm, line, now_ps), link,
                      answer);
    else
        link_push(&gpu->up[link], answer, now_ps);
}
const GpuHbmOps gpu_hbm_reference_ops = {.answer = gpu_hbm_answer};

/* Moves the bytes of a replica, which are at that place of a region. Returns the slot of a read's answer. */
static guint32 gpu_move_replica(Gpu *gpu, const McRequest *request, gboolean read, MemRegion *region, guint64 offset,
                                SimTime now_ps)
{
    Fabric *fabric = gpu->fabric;
    guint32 slot = read && region->host ? data_take(fabric->data) : 0;
    guint8 *answer = slot ? data_at(fabric->data, slot) : NULL;
    const guint8 *data = request->data ? data_at(fabric->data, request->data) : NULL;
    if (!request->plain) {
        const Txn *txn = txn_at(&fabric->txns[request->src], request->txn);
        gpu_access(fabric, region, offset, txn, data, answer, now_ps + gpu->spec->l2_ps);
        gpu_count(fabric, gpu->id, txn, now_ps + gpu->spec->l2_ps);
    } else if (!read || answer)
        gpu_access_plain(fabric, region, offset, request->bytes, data, answer, now_ps + gpu->spec->l2_ps);
    return slot;
}

/* This member's own mapping says where in its memory a replica goes. Returns the bytes that HBM has to move. */
static guint32 gpu_access_replica(Gpu *gpu, guint32 link, Packet packet, SimTime now_ps)
{
    McRequests *requests = gpu->port[link].requests;
    McRequest *request = &requests->request[packet.txn];
    const McBind *bind = mcobject_lookup(request->object, gpu->id, request->offset);
    if (!bind) { /* the member answers with an error, and nothing is touched */
        request->state = TXN_UNBOUND;
        return 0;
    }
    const gboolean read = packet.kind == PACKET_MC_READ;
    const guint64 offset = bind->region_offset + (request->offset - bind->offset);
    guint32 slot = read ? gpu_fixed_answer(gpu->fabric, bind->region, offset) : 0;
    if (!slot)
        slot = gpu_move_replica(gpu, request, read, bind->region, offset, now_ps);
    if (slot)
        mcrequests_add_operand(requests, packet.txn, gpu->id, slot);
    return bind->region->cached ? 0 : request->bytes;
}

static void gpu_serve_replica(Gpu *gpu, guint32 link, Packet packet, SimTime now_ps)
{
    gboolean read = packet.kind == PACKET_MC_READ;
    guint32 hbm_bytes = packet.place == MEMORY_IN_HBM ? (packet.answer_flits - 1u) * FLIT_BYTES : 0;
    if (packet.place == MEMORY_LOOK_UP || gpu->fabric->keep_bytes)
        hbm_bytes = gpu_access_replica(gpu, link, packet, now_ps);
    Packet answer = packet_new(read ? PACKET_MC_OPERAND : PACKET_MC_ACK, packet.txn, 0, gpu->id,
                               read ? packet.answer_flits : (guint32)gpu->fabric->spec.sw.replica_ack_flits);
    const guint64 line = hbm_bytes ? gpu->port[link].requests->request[packet.txn].offset / LINE_BYTES : 0;
    if (hbm_bytes)
        gpu->hbm_ops->answer(gpu, link, answer, line, hbm_bytes, now_ps);
    else /* its lines are in L2 */
        link_push(&gpu->up[link], answer, now_ps);
}

/* ---- service */

/* Of unicast; TRUE: the answer leaves when HBM has read it. */
static gboolean gpu_serve_missed(Gpu *gpu, guint32 link, Packet packet, SimTime now_ps)
{
    const Txn *txn = gpu_requester_txn(gpu, packet);
    const gboolean read = packet.kind == PACKET_READ;
    gpu_hbm_serve(gpu, read ? HBM_READ : HBM_WRITE, MAX(txn->bytes, SECTOR_BYTES), now_ps);
    if (!read)
        return FALSE;
    SimTime late_ps = hbm_late_ps(&gpu->hbm, gpu_hbm_line(txn->region, txn->offset), now_ps);
    gpu_pipe_push(&gpu->pipe[GPU_PIPE_DRAM], hbm_ready_ps(&gpu->hbm) + late_ps, link, packet);
    return TRUE;
}

void gpu_serve(Gpu *gpu, guint32 link, Packet packet, SimTime now_ps)
{
    gpu->served++;
    PROBE_POINT(gpu->fabric, PROBE_SERVE, gpu, &packet, now_ps);
    link_credit(&gpu->down[link], VC_CREQ, packet.flits, now_ps);
    if (packet_is_multicast(packet)) {
        gpu_serve_replica(gpu, link, packet, now_ps);
        return;
    }
    if (packet.kind == PACKET_ATOM) {
        gpu_pipe_push(&gpu->pipe[GPU_PIPE_ATOMIC], now_ps + gpu->spec->atomic_ps, link, packet);
        return;
    }
    if (packet.place == MEMORY_LOOK_UP && gpu_requester_txn(gpu, packet)->missed &&
        gpu_serve_missed(gpu, link, packet, now_ps))
        return;
    if (packet.kind == PACKET_READ)
        gpu_respond(gpu, link, packet, now_ps);
    else
        gpu_acknowledge(gpu, link, packet, now_ps);
}

static void gpu_target_drop(Gpu *gpu, guint32 link, Packet packet, SimTime now_ps)
{
    link_credit(&gpu->down[link], VC_CREQ, packet.flits, now_ps);
    gpu->dropped++;
    gpu->down[link].lose(&gpu->down[link], packet, now_ps);
}

void gpu_target_accept(Gpu *gpu, guint32 link, Packet packet, SimTime now_ps)
{
    TimedPacketRing *held = &gpu->port[link].held;
    if (fabric_is_silent(gpu->fabric, gpu->id)) {
        gpu_target_drop(gpu, link, packet, now_ps);
    } else if (held->count == 0 && link_has_room(&gpu->up[link], VC_RSP, gpu->limit.response_queue)) {
        gpu_serve(gpu, link, packet, now_ps);
    } else {
        *timed_packet_push(held) = (TimedPacket){now_ps, packet};
        if (held->count == 1)
            link_set_low_water(&gpu->up[link], VC_RSP, gpu->limit.response_queue);
    }
}

void gpu_target_drained(Gpu *gpu, guint32 link)
{
    TimedPacketRing *held = &gpu->port[link].held;
    SimTime now_ps = sim_now_ps(gpu->sim);
    while (held->count && gpu->up[link].queue[VC_RSP].count < gpu->limit.response_queue) {
        TimedPacket request = *timed_packet_peek(held);
        timed_packet_drop(held);
        if (held->count == 0)
            link_set_low_water(&gpu->up[link], VC_RSP, 0);
        gpu->stalls += now_ps > request.at_ps;
        gpu_serve(gpu, link, request.packet, now_ps);
    }
}
