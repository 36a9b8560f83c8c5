/* The SMs' way out: what their LSUs issued and the NVLink ports had no room for yet.
 *
 * What hardware it stands for: the queues between SMs and ports. Requests leave them in the order in which they
 * came, whichever SM and port they belong to, so that the first one that finds its port full holds up all others.
 * A store to bytes that an earlier store of its SM in the queue brings already takes that one's place; one
 * acknowledgement answers both.
 * Modelled: a queue for each CPC, a limit for each SM and one for the queue; those that have some there share it
 * evenly, and a free place goes to the one that has fewest; which queue a port takes from: gpu_count_turn(). Reductions
 * wait in their SMs, whose limit alone holds them up: each SM of an H100 takes 64 to a peer before the ports have taken
 * 6.
 * Left out: merging of stores that share a line but not the same bytes (not measured); whether multimem.red waits in
 * its SM as red does (not measured: it counts as a store here).
 * Sources: h200 footprint_bw write rows (merging), loaded_latency of a GPU that writes itself (what a read waits
 * for), stream_bw write16 with few CTAs; docs/fidelity.md. */
#include <string.h>

#include "model/sm/internal.h"

static guint32 sm_out_key(const GpuRequest *request)
{
    if (request->object)
        return 0;
    guint64 line = (guint64)request->region->id << 44 ^ request->offset / LINE_BYTES;
    return (guint32)((line * 0x9e3779b97f4a7c15ull) >> 32) | 1;
}

/* The newest entry of the same line decides: an older one must not be overtaken. */
static guint32 sm_out_merge_target(Sm *sm, const GpuRequest *request, guint32 key)
{
    if (!sm->out_keys || !sm->out_keys[key / 2 % SM_OUT_KEYS]) /* mostly so */
        return TXN_NONE;
    for (guint32 n = sm->out.count; n-- > 0;) {
        const SmOut *entry = sm_out_nth(&sm->out, n);
        if (entry->key != key)
            continue;
        const Txn *txn = txn_at(sm->gpu->txns, entry->txn);
        gboolean same = txn->kind == PACKET_WRITE && txn->region == request->region && txn->offset == request->offset &&
                        txn->bytes == request->bytes && txn->word_mask == request->word_mask &&
                        txn->op == request->op && request->op != TXN_WRITE_BYTES;
        return same ? entry->txn : TXN_NONE;
    }
    return TXN_NONE;
}

/* As many places as it may have: SMs share them evenly, however fast each fills them again. */
static guint32 sm_out_part(const Sm *sm)
{
    guint32 sms = sm->queue->sms + (sm->out.count == 0);
    return MAX(sm->gpu->limit.out / sms, 1);
}

SmOutWay sm_out_queued_way(Sm *sm, const GpuRequest *request)
{
    const Gpu *gpu = sm->gpu;
    if (request->kind == PACKET_WRITE && gpu->fabric->spec.sm.merge_stores) {
        sm->merge_target = sm_out_merge_target(sm, request, sm_out_key(request));
        if (sm->merge_target != TXN_NONE)
            return SM_OUT_MERGE;
    }
    gboolean room = sm->out.count < gpu->limit.sm_out &&
                    (request->kind == PACKET_RED ||
                     (sm->queue->ring.count < gpu->limit.out && sm->out.count < sm_out_part(sm)));
    return room ? SM_OUT_QUEUE : SM_OUT_FULL;
}

void sm_out_merge(Sm *sm, const GpuRequest *request)
{
    Gpu *gpu = sm->gpu;
    guint32 index = txn_take(gpu->txns);
    Txn *txn = txn_at(gpu->txns, index), *target = txn_at(gpu->txns, sm->merge_target);
    *txn = (Txn){.offset = request->offset,
                 .region = request->region,
                 .start_ps = sim_now_ps(gpu->sim),
                 .done = request->done,
                 .owner = request->owner,
                 .tag = request->tag,
                 .word_mask = request->word_mask,
                 .bytes = request->bytes & 0x1ffu,
                 .kind = PACKET_WRITE};
    *txn_next(gpu->txns, index) = *txn_next(gpu->txns, sm->merge_target);
    *txn_next(gpu->txns, sm->merge_target) = index;
    if (!request->data)
        return;
    DataPool *pool = gpu->fabric->data;
    if (!target->data)
        target->data = data_take(pool);
    memcpy(data_at(pool, target->data), request->data, request->bytes);
}

void sm_out_queue(Sm *sm, const GpuRequest *request, guint32 link)
{
    Gpu *gpu = sm->gpu;
    Packet packet = gpu_prepare(gpu, request);
    *gpu_out_push(&sm->queue->ring) = (GpuOut){packet, (guint16)(sm - gpu->sm), (guint16)link};
    SmOut entry = {sm_out_key(request), packet.txn};
    sm->queue->sms += sm->out.count == 0;
    *sm_out_push(&sm->out) = entry;
    if (entry.key) {
        if (!sm->out_keys)
            sm->out_keys = g_new0(guint32, SM_OUT_KEYS);
        sm->out_keys[entry.key / 2 % SM_OUT_KEYS]++;
    }
    if (sm->queue->ring.count == 1)
        gpu_wait_room(gpu, link, &sm->queue->room);
}

static void sm_out_list(Sm *sm)
{
    GpuOutQueue *queue = sm->queue;
    if (sm->out_listed)
        return;
    sm->out_listed = TRUE;
    sm->out_next = NULL;
    if (queue->sm_tail)
        queue->sm_tail->out_next = sm;
    else
        queue->sm_head = sm;
    queue->sm_tail = sm;
}

static void sm_out_unlist(Sm *sm)
{
    GpuOutQueue *queue = sm->queue;
    Sm *before = NULL;
    for (Sm *at = queue->sm_head; at != sm; at = at->out_next)
        before = at;
    *(before ? &before->out_next : &queue->sm_head) = sm->out_next;
    if (queue->sm_tail == sm)
        queue->sm_tail = before;
    sm->out_listed = FALSE;
}

void sm_out_wait(Sm *sm)
{
    sm->stalled = TRUE;
    if (sm->out.count < sm->gpu->limit.sm_out) /* else its own next packet to leave makes room */
        sm_out_list(sm);
}

static void sm_out_resume(Sm *sm, SimTime now_ps)
{
    if (sm->out_listed)
        sm_out_unlist(sm);
    sm->stalled = FALSE;
    sm_kick(sm, now_ps);
}

/* Of those that wait for a place the one that has fewest, of several the one that waits longest; NULL: none. */
static Sm *sm_out_poorest(const GpuOutQueue *queue)
{
    Sm *best = NULL;
    for (Sm *sm = queue->sm_head; sm; sm = sm->out_next)
        if (sm->stalled && (!best || sm->out.count < best->out.count))
            best = sm;
    return best;
}

/* A request of this SM has left: its place is its own again, unless one that waits has fewer, or has less than its part
 * and this one does not wait. */
static void sm_out_freed(Sm *sm, SimTime now_ps)
{
    Sm *other = sm_out_poorest(sm->queue);
    if (sm->stalled) {
        sm_out_resume(other && other->out.count < sm->out.count ? other : sm, now_ps);
        if (sm->stalled)
            sm_out_list(sm);
    } else if (other && other->out.count < sm_out_part(other)) {
        sm_out_resume(other, now_ps);
    }
}

void sm_out_pass_on(Sm *sm, SimTime now_ps)
{
    Sm *other = sm->queue->ring.count == 0 ? sm_out_poorest(sm->queue) : NULL;
    if (other)
        sm_out_resume(other, now_ps);
}

static gboolean sm_out_is_load(const Packet *packet)
{
    return packet->kind == PACKET_READ || packet->kind == PACKET_MC_READ;
}

void sm_out_on_room(GpuRoomWaiter *waiter, SimTime now_ps)
{
    GpuOutQueue *queue = EVENT_OWNER(waiter, GpuOutQueue, room);
    do {
        GpuOut entry = *gpu_out_peek(&queue->ring);
        gpu_out_drop(&queue->ring);
        Sm *sm = &queue->gpu->sm[entry.sm];
        guint32 key = sm_out_peek(&sm->out)->key;
        if (key)
            sm->out_keys[key / 2 % SM_OUT_KEYS]--;
        sm_out_drop(&sm->out);
        gpu_count_turn(queue->gpu, waiter, sm_out_is_load(&entry.packet) ? queue->sms : 1);
        queue->sms -= sm->out.count == 0;
        gpu_send(queue->gpu, entry.packet, entry.link);
        sm_out_freed(sm, now_ps);
    } while (queue->ring.count && gpu_has_room(queue->gpu, gpu_out_peek(&queue->ring)->link));
    if (queue->ring.count)
        gpu_wait_room(queue->gpu, gpu_out_peek(&queue->ring)->link, &queue->room);
}
