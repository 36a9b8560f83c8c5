/* The queues between a CTA's function and its warps.
 *
 * Each warp has a queue here; its generator (sm.h) takes operations from it, so that a fine-grained operation and one
 * of a loop reach the SM by the same path. The CTA's function runs ahead of the queues and sleeps when one is full. */
#include "device/device.h"

#include <string.h>

static void device_wake_for_room(FoCta *cta)
{
    if (cta->wants_room) {
        cta->wants_room = FALSE;
        sim_wake(cta->sim, cta->process);
    }
}

static void device_begin_loop(DeviceWarp *queue, Warp *warp, DeviceLoopSpec *spec)
{
    queue->spec = spec;
    queue->loop = loop_new(warp, &spec->spec);
    if (spec->constant)
        loop_fill(queue->loop, spec->fill);
}

void device_loop_spec_unref(DeviceLoopSpec *spec)
{
    if (--spec->refs == 0)
        g_free(spec);
}

void device_uop_unref(DeviceUop *shared)
{
    if (--shared->refs)
        return;
    g_free((void *)shared->uop.lane_va);
    g_free(shared);
}

static void device_take_uop(DeviceUop *shared, Warp *warp, Uop *uop)
{
    *uop = shared->uop;
    if (uop->lane_va)
        uop->lane_va = memcpy(warp_lanes(warp), uop->lane_va, WARP_LANES * sizeof *uop->lane_va);
    device_uop_unref(shared);
}

guint8 *device_scratch(Warp *warp, guint32 regs)
{
    DeviceWarp *queue = warp->generator;
    if (queue->scratch_regs < regs) {
        g_free(queue->scratch);
        queue->scratch = g_malloc0_n(regs, REG_BYTES);
        queue->scratch_regs = regs;
    }
    return queue->scratch;
}

void device_op_free(DeviceOp op, void (*drop)(const Uop *uop))
{
    switch (op.kind) {
    case DEVICE_LOOP: device_loop_spec_unref(op.loop); break;
    case DEVICE_SOURCE: op.source->kind->free(op.source); break;
    case DEVICE_UOP:
        drop(&op.uop->uop);
        device_uop_unref(op.uop);
        break;
    }
}

void device_queue_drop(DeviceWarp *queue, void (*drop)(const Uop *uop))
{
    if (queue->loop)
        loop_free(queue->loop);
    if (queue->spec)
        device_loop_spec_unref(queue->spec);
    if (queue->source)
        queue->source->kind->free(queue->source);
    for (; queue->ring.count; device_op_drop(&queue->ring))
        device_op_free(*device_op_peek(&queue->ring), drop);
    device_op_clear(&queue->ring);
}

static gboolean device_next(Warp *warp, Uop *uop)
{
    DeviceWarp *queue = warp->generator;
    while (queue->loop || queue->source || queue->ring.count) {
        if (queue->loop) {
            if (loop_next(queue->loop, uop))
                return TRUE;
            g_clear_pointer(&queue->loop, loop_free);
            g_clear_pointer(&queue->spec, device_loop_spec_unref);
            continue;
        }
        if (queue->source) {
            if (queue->source->kind->next(queue->source, warp, uop))
                return TRUE;
            queue->source->kind->free(queue->source);
            queue->source = NULL;
            continue;
        }
        DeviceOp op = *device_op_peek(&queue->ring);
        device_op_drop(&queue->ring);
        if (queue->ring.count < DEVICE_QUEUE_MAX / 2)
            device_wake_for_room(queue->cta);
        switch (op.kind) {
        case DEVICE_LOOP: device_begin_loop(queue, warp, op.loop); break;
        case DEVICE_SOURCE: queue->source = op.source; break;
        case DEVICE_UOP: device_take_uop(op.uop, warp, uop); return TRUE;
        }
    }
    return FALSE;
}

static void device_append(FoCta *cta, guint32 warp, DeviceOp op)
{
    DeviceWarp *queue = &cta->warp[warp];
    cta->flow = NULL;
    if (queue->ring.count >= DEVICE_QUEUE_MAX) {
        cta->held = op; /* a simulation that is abandoned here still has to free it */
        cta->holds = TRUE;
        while (queue->ring.count >= DEVICE_QUEUE_MAX) {
            cta->wants_room = TRUE;
            sim_block(cta->sim, "room in a warp's queue");
        }
        cta->holds = FALSE;
    }
    *device_op_push(&queue->ring) = op;
    if (!cta->cta->warp[warp].generate)
        warp_generate(&cta->cta->warp[warp], device_next, queue);
}

void device_push(FoCta *cta, guint32 warp, const Uop *uop)
{
    if (!cta->last || uop->lane_va || memcmp(&cta->last->uop, uop, sizeof *uop) != 0) {
        g_clear_pointer(&cta->last, device_uop_unref);
        cta->last = g_new(DeviceUop, 1);
        *cta->last = (DeviceUop){*uop, 1};
    }
    cta->last->refs++;
    device_append(cta, warp, (DeviceOp){DEVICE_UOP, {.uop = cta->last}});
}

void device_push_loop(FoCta *cta, guint32 warp, DeviceLoopSpec *loop)
{
    device_append(cta, warp, (DeviceOp){DEVICE_LOOP, {.loop = loop}});
}

void device_push_source(FoCta *cta, guint32 warp, DeviceSource *source)
{
    device_append(cta, warp, (DeviceOp){DEVICE_SOURCE, {.source = source}});
}

static void device_on_marker(void *arg, SimTime now_ps)
{
    FoCta *cta = arg;
    (void)now_ps;
    if (--cta->calls == 0)
        sim_wake(cta->sim, cta->process);
}

void device_drain(FoCta *cta, guint32 from, guint32 to, const char *why)
{
    Uop marker = {.kind = UOP_CALL, .lanes = 1, .call = device_on_marker, .arg = cta};
    cta->calls++; /* not before all markers are queued */
    for (guint32 w = from; w < to; w++) {
        cta->calls++;
        device_push(cta, w, &marker);
    }
    cta->calls--;
    while (cta->calls > 0)
        sim_block(cta->sim, why);
}

guint32 device_lanes(const FoCta *cta, guint32 warp)
{
    guint32 low = warp * WARP_LANES, end = MIN(cta->first + cta->count, cta->cta->threads);
    if (low < cta->first || low >= end)
        return 0;
    return MIN(WARP_LANES, end - low);
}
