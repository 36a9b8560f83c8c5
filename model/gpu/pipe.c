/* Fixed-latency FIFOs inside a GPU: HBM reads, atomics, accesses to the GPU's own and its host's memory. What enters
 * one leaves it in order; only the first is in the calendar. Where reads of HBM may be late (hbm.h), those that are not
 * overtake them: these are kept in a heap by time. */
#include "model/gpu/gpu.h"

SimTime gpu_hbm_serve(Gpu *gpu, HbmWay way, guint32 bytes, SimTime now_ps)
{
    if (gpu->hbm_ops->catch_up)
        gpu->hbm_ops->catch_up(gpu);
    gpu->hbm_bytes += bytes;
    return hbm_serve(&gpu->hbm, way, bytes, now_ps);
}

static gboolean gpu_step_is_before(const GpuStep *a, const GpuStep *b)
{
    return a->at_ps < b->at_ps || (a->at_ps == b->at_ps && (gint32)(a->turn - b->turn) < 0);
}

/* Into the heap, whose first is the one that leaves next. */
static void gpu_heap_add(GpuPipe *pipe, const GpuStep *step)
{
    GpuStepRing *heap = &pipe->ring;
    gpu_step_push(heap);
    guint32 n = heap->count - 1;
    for (; n > 0 && gpu_step_is_before(step, gpu_step_nth(heap, (n - 1) / 2)); n = (n - 1) / 2)
        *gpu_step_nth(heap, n) = *gpu_step_nth(heap, (n - 1) / 2);
    *gpu_step_nth(heap, n) = *step;
    if (n > 0)
        return;
    sim_cancel(pipe->gpu->sim, &pipe->head);
    sim_at(pipe->gpu->sim, &pipe->head, step->at_ps, EVENT_PRIORITY_FABRIC);
}

static void gpu_heap_drop(GpuStepRing *heap)
{
    const GpuStep last = *gpu_step_last(heap);
    guint32 n = 0;
    heap->count--;
    for (guint32 next; (next = 2 * n + 1) < heap->count; n = next) {
        next += next + 1 < heap->count && gpu_step_is_before(gpu_step_nth(heap, next + 1), gpu_step_nth(heap, next));
        if (!gpu_step_is_before(gpu_step_nth(heap, next), &last))
            break;
        *gpu_step_nth(heap, n) = *gpu_step_nth(heap, next);
    }
    *gpu_step_nth(heap, n) = last;
}

SimTime gpu_pipe_add(GpuPipe *pipe, const GpuStep *step)
{
    if (pipe->overtakes) {
        GpuStep late = *step;
        late.turn = pipe->turns++;
        gpu_heap_add(pipe, &late);
        return step->at_ps;
    }
    SimTime last_ps = pipe->ring.count ? gpu_step_last(&pipe->ring)->at_ps : 0;
    GpuStep *added = gpu_step_push(&pipe->ring);
    *added = *step;
    added->at_ps = MAX(step->at_ps, last_ps);
    if (pipe->ring.count == 1)
        sim_at(pipe->gpu->sim, &pipe->head, added->at_ps, EVENT_PRIORITY_FABRIC);
    return added->at_ps;
}

void gpu_pipe_push(GpuPipe *pipe, SimTime at_ps, guint32 link, Packet packet)
{
    GpuStep step = {.at_ps = at_ps, .packet = packet, .link = link};
    gpu_pipe_add(pipe, &step);
}

void gpu_pipe_push_own(GpuPipe *pipe, SimTime at_ps, guint32 txn)
{
    GpuStep step = {.at_ps = at_ps, .packet.txn = txn, .link = GPU_LINK_LOCAL};
    gpu_pipe_add(pipe, &step);
}

/* An access to the GPU's own or its host's memory is done. A read's bytes are taken where they stand. */
static void gpu_pipe_complete(Gpu *gpu, guint32 index, SimTime now_ps)
{
    Fabric *fabric = gpu->fabric;
    Txn *txn = txn_at(gpu->txns, index);
    guint8 old[DATA_SLOT_BYTES];
    const guint8 *answer = NULL;
    if (txn->kind == PACKET_READ && txn->region->host) {
        answer = memory_read(txn->region, txn->offset);
    } else {
        guint8 *before = txn->kind == PACKET_ATOM && txn->region->host ? old : NULL;
        gpu_access(fabric, txn->region, txn->offset, txn, txn->data ? data_at(fabric->data, txn->data) : NULL, before,
                   now_ps);
        answer = before;
    }
    if (G_UNLIKELY(txn->op & TXN_COUNTED))
        gpu_count(fabric, gpu->id, txn, now_ps);
    fabric_account(fabric, gpu->id, txn, TRUE, now_ps);
    txn->done(gpu, txn, answer, now_ps);
    if (txn->data)
        data_give(fabric->data, txn->data);
    txn_give(gpu->txns, index);
}

static void gpu_pipe_on_head(Event *event, SimTime now_ps)
{
    GpuPipe *pipe = EVENT_OWNER(event, GpuPipe, head);
    Gpu *gpu = pipe->gpu;
    GpuStep step = *gpu_step_peek(&pipe->ring);
    if (pipe->overtakes)
        gpu_heap_drop(&pipe->ring);
    else
        gpu_step_drop(&pipe->ring);
    if (pipe->ring.count)
        sim_at(gpu->sim, &pipe->head, gpu_step_peek(&pipe->ring)->at_ps, EVENT_PRIORITY_FABRIC);
    if (step.plain)
        step.plain(step.owner, now_ps);
    else if (step.link == GPU_LINK_LOCAL)
        gpu_pipe_complete(gpu, step.packet.txn, now_ps);
    else if (packet_is_counted(step.packet))
        link_push(&gpu->up[step.link], step.packet, now_ps);
    else
        gpu_respond(gpu, step.link, step.packet, now_ps);
}

void gpu_pipes_init(Gpu *gpu)
{
    for (int p = 0; p < GPU_PIPES; p++) {
        gpu->pipe[p].gpu = gpu;
        gpu->pipe[p].overtakes = (p == GPU_PIPE_DRAM || p == GPU_PIPE_LOCAL_DRAM) && hbm_is_late(&gpu->hbm.late);
        event_init(&gpu->pipe[p].head, gpu_pipe_on_head);
    }
}

void gpu_pipes_clear(Gpu *gpu)
{
    for (int p = 0; p < GPU_PIPES; p++)
        gpu_step_clear(&gpu->pipe[p].ring);
}
