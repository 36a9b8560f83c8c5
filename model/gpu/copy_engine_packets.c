/* Copies that cross the fabric: pushes, pulls and relays in packets. See copy_engine.h. */
#include <string.h>

#include "model/gpu/copy_engine_internal.h"

/* Packets keep to aligned blocks at both remote ends, and a payload of 192 B is not legal on the wire. */
static guint32 copy_cut(const Copy *copy, guint64 at, guint64 bytes)
{
    guint64 packet = copy->gpu->spec->engine_packet_bytes;
    guint64 cut = MIN(bytes, packet), first = 0;
    if (copy->push)
        cut = MIN(cut, packet - (first = copy->dst.offset + at) % packet);
    if (copy->pull)
        cut = MIN(cut, packet - (first = copy->src.offset + at) % packet);
    if ((first + cut - 1) / FLIT_BYTES - first / FLIT_BYTES + 1 == 12)
        cut = LINE_BYTES - first % FLIT_BYTES;
    return (guint32)cut;
}

static void copy_arrived(Copy *copy, guint32 bytes, FaultKind fault, SimTime now_ps)
{
    copy->in_flight--;
    copy->moved += bytes;
    copy->end_ps = MAX(copy->end_ps, now_ps);
    if (fault != FAULT_NONE)
        copy->fault = fault;
    if (copy->moved == copy->bytes)
        copy_next(copy, COPY_END, copy->end_ps);
    else if (!copy->stalled)
        copy_next(copy, COPY_WORK, now_ps);
}

static void copy_on_pushed(Gpu *gpu, Txn *txn, const guint8 *bytes, SimTime now_ps)
{
    (void)gpu;
    (void)bytes;
    copy_arrived(txn->owner, txn->bytes, fault_kind_of((TxnFault)txn->state), now_ps);
}

static void copy_on_pulled(Gpu *gpu, Txn *txn, const guint8 *bytes, SimTime now_ps)
{
    Copy *copy = txn->owner;
    if (txn->state != TXN_OK) {
        copy_arrived(copy, txn->bytes, fault_kind_of((TxnFault)txn->state), now_ps);
        return;
    }
    if (copy->push) { /* on to the other GPU; it stays in flight until that has it */
        CopyPiece *piece = copy_piece_push(&copy->pieces);
        piece->at = txn->tag;
        piece->bytes = txn->bytes;
        piece->has_data = bytes != NULL;
        if (bytes)
            memcpy(piece->data, bytes, txn->bytes);
        if (!copy->stalled)
            copy_next(copy, COPY_WORK, now_ps);
        return;
    }
    copy_deliver(copy, txn->tag, bytes, txn->bytes, now_ps);
    if (copy_end_is_host(&copy->dst)) {
        SimTime there_ps = gpu_host_serve(gpu, GPU_TO_HOST, txn->bytes, now_ps);
        copy->end_ps = MAX(copy->end_ps, there_ps + gpu->fabric->spec.system.host_ps);
    } else {
        copy_memory_serve(copy, &copy->dst, txn->bytes, now_ps);
    }
    copy_arrived(copy, txn->bytes, FAULT_NONE, now_ps);
}

void *copy_user_of(const Txn *txn)
{
    return txn->done == copy_on_pushed || txn->done == copy_on_pulled ? ((const Copy *)txn->owner)->user : NULL;
}

/* FALSE: no room at the port; the copy goes on when there is. */
static gboolean copy_send(Copy *copy, GpuRequest *request)
{
    Gpu *gpu = copy->gpu;
    guint32 link = gpu_link_of(gpu, request);
    if (!gpu_has_room(gpu, link)) {
        copy->stalled = TRUE;
        gpu_wait_room(gpu, link, &copy->room);
        return FALSE;
    }
    request->word_mask = GPU_ALL_WORDS;
    request->owner = copy;
    gpu->engine_packets++;
    if (link != GPU_LINK_LOCAL)
        gpu_count_turn(gpu, &copy->room, 1);
    gpu_request(gpu, request, link);
    return TRUE;
}

static gboolean copy_pull(Copy *copy, guint64 at, guint32 bytes)
{
    GpuRequest request = {.kind = PACKET_READ,
                          .region = copy->src.region,
                          .bytes = (guint16)bytes,
                          .offset = copy->src.offset + at,
                          .tag = at,
                          .done = copy_on_pulled};
    return copy_send(copy, &request);
}

static gboolean copy_push(Copy *copy, guint64 at, guint32 bytes, const guint8 *data)
{
    GpuRequest request = {.kind = PACKET_WRITE,
                          .offset = copy->dst.offset + at,
                          .tag = at,
                          .bytes = (guint16)bytes,
                          .data = data,
                          .done = copy_on_pushed};
    if (copy->dst.place == COPY_OBJECT) {
        request.kind = PACKET_MC_WRITE;
        request.object = copy->dst.object;
    } else {
        request.region = copy->dst.region;
    }
    return copy_send(copy, &request);
}

/* A push's next packet, from this GPU's memory, the host or a pattern. */
static gboolean copy_push_plain(Copy *copy, guint32 bytes, SimTime now_ps)
{
    guint8 filled[DATA_SLOT_BYTES];
    const guint8 *data = copy_end_bytes(&copy->src, copy->at);
    if (copy->src.place == COPY_PATTERN && copy->gpu->fabric->keep_bytes) {
        copy_fill(&copy->src, copy->at, filled, bytes);
        data = filled;
    }
    if (!copy_push(copy, copy->at, bytes, data))
        return FALSE;
    if (copy->src.place == COPY_REGION && !copy_end_is_host(&copy->src))
        copy_memory_serve(copy, &copy->src, bytes, now_ps); /* charged, not waited for */
    return TRUE;
}

/* The host link brings the source in blocks; FALSE: the next one is on its way. */
static gboolean copy_stage(Copy *copy, SimTime now_ps)
{
    if (!copy_end_is_host(&copy->src) || copy->at < copy->staged)
        return TRUE;
    guint32 block = (guint32)MIN(copy->bytes - copy->staged, COPY_BLOCK_BYTES);
    SimTime at_ps = gpu_host_serve(copy->gpu, GPU_FROM_HOST, block, now_ps);
    if (copy->staged == 0)
        at_ps += copy->gpu->fabric->spec.system.host_ps;
    copy->staged += block;
    copy_next(copy, COPY_WORK, at_ps);
    return FALSE;
}

void copy_work_packets(Copy *copy, SimTime now_ps)
{
    guint64 limit = copy->gpu->spec->engine_in_flight;
    while (copy->pieces.count) {
        const CopyPiece *piece = copy_piece_peek(&copy->pieces);
        if (!copy_push(copy, piece->at, piece->bytes, piece->has_data ? piece->data : NULL))
            return;
        copy_piece_drop(&copy->pieces);
    }
    while (copy->at < copy->bytes && copy->in_flight < limit) {
        if (event_is_pending(&copy->event) || !copy_stage(copy, now_ps))
            return;
        guint64 ready = copy_end_is_host(&copy->src) ? copy->staged : copy->bytes;
        guint32 bytes = copy_cut(copy, copy->at, ready - copy->at);
        gboolean sent = copy->pull ? copy_pull(copy, copy->at, bytes) : copy_push_plain(copy, bytes, now_ps);
        if (!sent)
            return;
        copy->in_flight++;
        copy->at += bytes;
    }
}

void copy_on_room(GpuRoomWaiter *waiter, SimTime now_ps)
{
    Copy *copy = EVENT_OWNER(waiter, Copy, room);
    copy->stalled = FALSE;
    copy_next(copy, COPY_WORK, now_ps);
}
