/* The target side of a GPU: requests that come in by a link are served by the L2 (or HBM) and answered on
 * the same link.
 *
 * accept: in order for each link; held up (with their credits, in the port's lane) while too many answers wait at the
 * port. What moves no bytes is in that lane before it arrives (gpu_target_early), and makes no event.
 * advance: HBM and atomics take longer, through fixed-latency FIFOs.
 * depart: read responses, replica answers, merged acknowledgements.
 * The L2's own latency is part of the up link's response delay (fabric.c), so a hit costs no event. */
#include "model/fastpath/early.h"
#include "model/fastpath/gpu_acks.h"
#include "model/fastpath/gpu_replicas.h"
#include "sim/engine/prefetch.h"

SimTime gpu_hbm_serve(Gpu *gpu, guint32 bytes, SimTime now_ps)
{
    gpu->hbm_bytes += bytes;
    return hbm_serve(&gpu->hbm, bytes, now_ps);
}

/* ---- fixed-latency FIFOs */

SimTime gpu_pipe_add(GpuPipe *pipe, const GpuStep *step)
{
    SimTime last_ps = pipe->ring.count ? gpu_step_nth(&pipe->ring, pipe->ring.count - 1)->at_ps : 0;
    GpuStep *added = gpu_step_push(&pipe->ring);
    *added = *step;
    added->at_ps = MAX(step->at_ps, last_ps); /* served in order */
    if (pipe->ring.count == 1)
        sim_at(pipe->gpu->sim, &pipe->head, added->at_ps, EVENT_PRIORITY_FABRIC);
    return added->at_ps;
}

void gpu_pipe_push(GpuPipe *pipe, SimTime at_ps, guint32 link, const Packet *packet)
{
    GpuStep step = {.at_ps = at_ps, .packet = *packet, .link = link};
    gpu_pipe_add(pipe, &step);
}

/* ---- answers */

static Txn *gpu_requester_txn(const Gpu *gpu, const Packet *packet)
{
    return txn_at(&gpu->fabric->gpu[packet->src].txns, packet->txn);
}

/* A read's or atomic's answer, leaving by the link that the request came by. */
static void gpu_respond(Gpu *gpu, guint32 link, Packet packet, SimTime now_ps)
{
    Fabric *fabric = gpu->fabric;
    Txn *txn = gpu_requester_txn(gpu, &packet);
    guint64 first = txn->offset / SECTOR_BYTES, last = (txn->offset + txn->bytes - 1) / SECTOR_BYTES;
    guint32 slot = txn->region->host ? data_take(fabric->data) : 0;
    gpu_touch(fabric, txn->region, txn->offset, txn, txn->data ? data_at(fabric->data, txn->data) : NULL,
              slot ? data_at(fabric->data, slot) : NULL, now_ps + gpu->spec->l2_ps);
    if (txn->data)
        data_give(fabric->data, txn->data);
    txn->data = slot;
    GpuPort *port = &gpu->port[link];
    if (gpu->spec->ack_flush_on_read)
        gpu_acks_flush(gpu, link, packet.src);
    if (G_UNLIKELY(port->read_left_ps != NULL))
        port->read_left_ps[packet.src] = now_ps + gpu->spec->l2_ps;
    guint32 flits = packet_count(packet) + (guint32)(last - first + 1) * (SECTOR_BYTES / FLIT_BYTES);
    PacketKind kind = packet.kind == PACKET_ATOM ? PACKET_ATOM_RSP : PACKET_READ_RSP;
    link_push(&gpu->up[link], packet_new(kind, packet.txn, packet.train, packet.src, gpu->id, flits), now_ps);
}

/* The bytes of a write, which are read or watched, are there. */
static G_GNUC_NO_INLINE void gpu_write_bytes(Gpu *gpu, Packet packet, SimTime now_ps)
{
    Fabric *fabric = gpu->fabric;
    Txn *txn = gpu_requester_txn(gpu, &packet);
    if (txn->region->host || memory_watches(fabric->memory))
        gpu_touch(fabric, txn->region, txn->offset, txn, txn->data ? data_at(fabric->data, txn->data) : NULL,
                  NULL, now_ps + gpu->spec->l2_ps);
    if (txn->data)
        data_give(fabric->data, txn->data);
    txn->data = 0;
}

/* How many writes one packet answers: one by one for a while after a read. */
static inline guint64 gpu_merge_max(const Gpu *gpu, guint32 link, guint32 src, SimTime now_ps)
{
    const SimTime *read_left_ps = gpu->port[link].read_left_ps;
    if (G_UNLIKELY(read_left_ps != NULL) && read_left_ps[src] != 0 &&
        read_left_ps[src] + gpu->spec->ack_hold_off_ps > now_ps)
        return 1;
    return gpu->spec->ack_merge_max;
}

/* TRUE: *answer leaves. Whatever was due at the port before has been done. */
static ALWAYS_INLINE gboolean gpu_acknowledge(Gpu *gpu, guint32 link, Packet packet, SimTime now_ps, Packet *answer)
{
    if (!packet.plain)
        gpu_write_bytes(gpu, packet, now_ps);
    return gpu_acks_take(gpu, link, packet, gpu_merge_max(gpu, link, packet_src(packet), now_ps), now_ps, answer);
}

/* A replica of a multicast request: this GPU's own mapping says where in its memory it goes. */
static void gpu_serve_replica(Gpu *gpu, guint32 link, Packet packet, SimTime now_ps)
{
    Fabric *fabric = gpu->fabric;
    if (replica_answer(packet) != REPLICA_BY_RECORD) {
        Packet plain;
        if (gpu_answer_plain(gpu, link, packet, now_ps, &plain))
            link_push(&gpu->up[link], plain, now_ps);
        return;
    }
    Link *down = &gpu->down[link];
    Switch *sw = down->source_node;
    McDetail *detail = &sw->detail[packet.txn];
    const McBind *bind = mcobject_lookup(detail->object, gpu->id, detail->offset);
    Packet answer = gpu->replica_answer[FALSE][packet.train];
    answer.txn = packet.txn;
    gboolean read = packet.kind == PACKET_MC_READ;
    guint32 slot = read && bind && bind->region->host ? data_take(fabric->data) : 0;
    if (bind && (bind->region->host || memory_watches(fabric->memory))) {
        const Txn *txn = txn_at(&fabric->gpu[detail->src].txns, detail->txn);
        gpu_touch(fabric, bind->region, bind->region_offset + (detail->offset - bind->offset), txn,
                  detail->data ? data_at(fabric->data, detail->data) : NULL,
                  slot ? data_at(fabric->data, slot) : NULL, now_ps + gpu->spec->l2_ps);
    } else if (!bind) {
        detail->state = TXN_UNBOUND; /* the member answers with an error; nothing is touched */
    }
    if (read) {
        answer.kind = PACKET_MC_OPERAND;
        if (slot)
            reduction_operand(sw, packet.txn, gpu->id, slot);
        answer.flits = detail->answer_flits & 0x1fu;
    }
    if (gpu_answer_replica(gpu, link, answer, bind && !bind->region->cached ? detail->bytes : 0, now_ps))
        link_push(&gpu->up[link], answer, now_ps);
}

/* ---- service */

static void gpu_serve(Gpu *gpu, guint32 link, Packet packet, SimTime now_ps)
{
    PACKET_ADD(gpu->served, packet);
    PROBE_POINT(gpu->fabric, PROBE_SERVE, gpu->path, &packet, now_ps);
    link_credit(&gpu->down[link], VC_CREQ, packet.flits, now_ps);
    if (packet.kind >= PACKET_MC_WRITE) {
        gpu_serve_replica(gpu, link, packet, now_ps);
        return;
    }
    if (packet.kind == PACKET_ATOM) {
        gpu_pipe_push(&gpu->pipe[GPU_PIPE_ATOMIC], now_ps + gpu->spec->atomic_ps, link, &packet);
        return;
    }
    const Txn *txn = gpu_requester_txn(gpu, &packet);
    if (!packet.plain && !txn->region->cached) {
        SimTime hbm_ps = gpu_hbm_serve(gpu, MAX(txn->bytes, SECTOR_BYTES), now_ps);
        if (packet.kind == PACKET_READ) {
            gpu_pipe_push(&gpu->pipe[GPU_PIPE_DRAM], hbm_ps + gpu->spec->dram_ps, link, &packet);
            return;
        }
    }
    Packet answer;
    if (packet.kind == PACKET_READ) {
        gpu_respond(gpu, link, packet, now_ps);
        return;
    }
    ack_settle(&gpu->up[link]);
    if (gpu_acknowledge(gpu, link, packet, now_ps, &answer))
        link_push(&gpu->up[link], answer, 0);
}

static inline gboolean gpu_target_has_room(const Gpu *gpu, guint32 link)
{
    return link_has_room(&gpu->up[link], VC_RSP, gpu->limit.response_queue);
}

static inline void gpu_target_accept(Gpu *gpu, guint32 link, Packet packet, SimTime now_ps)
{
    Link *up = &gpu->up[link];
    if (G_UNLIKELY(gpu->silent)) {
        link_credit(&gpu->down[link], VC_CREQ, packet.flits, now_ps);
        PACKET_ADD(gpu->dropped, packet);
        return;
    }
    const SimTime *first_ps = up->first_ps;
    if (G_LIKELY(gpu_target_has_room(gpu, link) &&
                 MIN(first_ps[LINK_LANE_REQUESTS], first_ps[LINK_LANE_ANSWERS]) > now_ps)) /* which goes first */
        gpu_serve(gpu, link, packet, now_ps);
    else
        link_push_request(up, packet, now_ps, TRUE);
}

/* Fetches what a request will need: its own memory is read while the link is seen to. */
static inline void gpu_target_prefetch(const Gpu *gpu, Packet packet)
{
    if (packet.kind < PACKET_MC_WRITE && (!packet.plain || packet.kind != PACKET_WRITE))
        fetch_lines(txn_at(&gpu->fabric->gpu[packet.src].txns, packet.txn), 1);
}

static void gpu_target_on_request(Event *event, SimTime now_ps)
{
    Link *from = LINK_OF_ARRIVAL(event, VC_CREQ);
    gpu_target_prefetch(from->sink_node, link_next(from, VC_CREQ));
    do {
        Packet packet = link_arrive(from, VC_CREQ, &now_ps);
        gpu_target_accept(from->sink_node, from->sink_port, packet, now_ps);
    } while (link_goes_on(from));
}

static gboolean gpu_target_early(void *node, Link *from, Packet packet, SimTime at_ps)
{
    return gpu_early_here(node, from, packet, at_ps);
}

/* Requests that came early, those that answers held up, and acknowledgements that have waited long enough. */
static ALWAYS_INLINE gboolean gpu_target_serve_here(void *node, Link *up, const LinkReady *request, SimTime at_ps,
                                                    Packet *answer)
{
    Gpu *gpu = node;
    guint32 link = up->source_port;
    Packet packet = request->packet;
    if (packet.kind == PACKET_ACK)
        return gpu_acks_expire(gpu, link, packet, answer);
    gpu->stalls += at_ps > request->at_ps;
    if (packet.hold == LINK_IN_TIME) {
        gpu_serve(gpu, link, packet, at_ps);
        return FALSE;
    }
    PACKET_ADD(gpu->served, packet);
    link_credit(&gpu->down[link], VC_CREQ, packet.flits, at_ps);
    if (packet.kind >= PACKET_MC_WRITE)
        return gpu_answer_plain(gpu, link, packet, at_ps, answer);
    if (packet.kind != PACKET_READ)
        return gpu_acknowledge(gpu, link, packet, at_ps, answer);
    gpu_respond(gpu, link, packet, at_ps);
    return FALSE;
}

/* A LinkServe and a LinkSettle. */
static gboolean gpu_target_serve(void *node, Link *up, const LinkReady *request, SimTime at_ps, Packet *answer)
{
    return gpu_target_serve_here(node, up, request, at_ps, answer);
}
/* Timers, and writes that move no bytes. */
static ALWAYS_INLINE gboolean gpu_target_is_simple(const LinkReady *request)
{
    const guint32 kinds = 1u << PACKET_ACK | 1u << PACKET_WRITE | 1u << PACKET_RED;
    return kinds >> request->packet.kind & 1;
}

/* Replicas give an answer each: nothing is gained by taking them in first, but they have a loop of their own. */
static void gpu_target_settle(Link *up, SimTime now_ps)
{
    const LinkReadyRing *requests = &up->lane[LINK_LANE_REQUESTS];
    if (up->serving)
        return;
    up->mixed &= requests->count != 0;
    if (requests->count && requests->at[requests->head].packet.kind >= PACKET_MC_WRITE) {
        if (!gpu_settle_replicas(up, now_ps))
            link_settle_lanes_by(up, FALSE, gpu_target_serve_here, switch_early_here, now_ps);
        else if (up->someone_waits)
            link_see_to(up);
    } else {
        link_settle_simple_by(up, gpu_target_is_simple, gpu_target_serve_here, switch_early_here, now_ps);
    }
}

#define GPU_TARGET_EARLY                                                                                        \
    (1u << PACKET_READ | 1u << PACKET_WRITE | 1u << PACKET_RED | 1u << PACKET_MC_WRITE | 1u << PACKET_MC_RED |   \
     1u << PACKET_MC_READ)

void gpu_target_take(Gpu *gpu, Link *from, guint32 link)
{
    Link *up = &gpu->up[link];
    from->vc[VC_CREQ].arrive.fire = gpu_target_on_request;
    link_set_early(from, gpu_target_early, GPU_TARGET_EARLY);
    link_set_answers(from, up);
    link_set_lanes(up, gpu_target_serve, gpu->limit.response_queue, from);
    up->settle = gpu_target_settle;
}

void gpu_target_silence(Gpu *gpu)
{
    gpu->silent = TRUE;
    for (guint32 l = 0; l < gpu->links; l++) {
        link_set_early(&gpu->down[l], NULL, 0);
        link_set_answers(&gpu->down[l], NULL);
    }
}

static const Txn *gpu_step_txn(const Gpu *gpu, const GpuStep *step)
{
    return step->link == GPU_LINK_LOCAL ? txn_at(&gpu->txns, step->packet.txn)
                                        : gpu_requester_txn(gpu, &step->packet);
}

static void gpu_pipe_on_head(Event *event, SimTime now_ps)
{
    GpuPipe *pipe = EVENT_OWNER(event, GpuPipe, head);
    Gpu *gpu = pipe->gpu;
    GpuStep step = *gpu_step_peek(&pipe->ring);
    gpu_step_drop(&pipe->ring);
    if (pipe->ring.count) {
        const GpuStep *next = gpu_step_peek(&pipe->ring);
        sim_at(gpu->sim, &pipe->head, next->at_ps, EVENT_PRIORITY_FABRIC);
        if (!next->plain)
            __builtin_prefetch(gpu_step_txn(gpu, next), 1);
    }
    if (step.plain) {
        step.plain(step.owner, now_ps);
        return;
    }
    if (step.link != GPU_LINK_LOCAL) {
        gpu_respond(gpu, step.link, step.packet, now_ps);
        return;
    }
    Fabric *fabric = gpu->fabric;
    Txn *txn = txn_at(&gpu->txns, step.packet.txn);
    gboolean answers = txn->kind == PACKET_READ || txn->kind == PACKET_ATOM;
    guint32 slot = answers && txn->region->host ? data_take(fabric->data) : 0;
    guint8 *answer = slot ? data_at(fabric->data, slot) : NULL;
    gpu_touch(fabric, txn->region, txn->offset, txn,
              txn->data ? data_at(fabric->data, txn->data) : NULL, answer, now_ps);
    fabric_account(fabric, gpu->id, txn, TRUE, now_ps);
    txn->done(gpu, txn, answer, now_ps);
    if (slot)
        data_give(fabric->data, slot);
    if (txn->data)
        data_give(fabric->data, txn->data);
    txn_give(&gpu->txns, step.packet.txn);
}

void gpu_target_init(Gpu *gpu)
{
    gpu->ack = packet_new(PACKET_ACK, 0, 0, 0, gpu->id, 1);
    for (guint train = 0; train < 2; train++) {
        guint32 flits = (guint32)gpu->fabric->spec.sw.replica_ack_flits << train;
        gpu->replica_answer[FALSE][train] = packet_new(PACKET_MC_ACK, 0, train, 0, gpu->id, flits);
        gpu->replica_answer[TRUE][train] = packet_new(PACKET_MC_OPERAND, 0, train, 0, gpu->id, 0);
    }
    for (int p = 0; p < GPU_PIPES; p++) {
        gpu->pipe[p].gpu = gpu;
        event_init(&gpu->pipe[p].head, gpu_pipe_on_head);
    }
    for (guint32 l = 0; l < gpu->links; l++) {
        gsize gpus = gpu->fabric->spec.system.gpus;
        gpu->port[l].acks.more = g_new0(GpuAckMore, gpus);
        gpu->port[l].read_left_ps = gpu->spec->ack_hold_off_ps ? g_new0(SimTime, gpus) : NULL;
    }
}

void gpu_target_clear(Gpu *gpu)
{
    for (int p = 0; p < GPU_PIPES; p++)
        gpu_step_clear(&gpu->pipe[p].ring);
    for (guint32 l = 0; l < gpu->links; l++) {
        g_free(gpu->port[l].acks.more);
        g_free(gpu->port[l].read_left_ps);
    }
}
