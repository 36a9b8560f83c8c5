/* One warp: takes micro-operations in order, coalesces its lanes' addresses into packets, waits for
 * registers, fences, barriers and polled flags. See sm.h. */
#include <string.h>

#include "model/memory/numeric.h"
#include "model/sm/internal.h"

static void warp_on_timer(Event *event, SimTime now_ps);

void warp_init(Warp *warp, Cta *cta, guint32 index)
{
    warp->cta = cta;
    warp->index = index;
    warp->state = WARP_IDLE;
    event_init(&warp->timer, warp_on_timer);
}

void warp_clear(Warp *warp)
{
    uop_ring_clear(&warp->queue);
    g_free(warp->lane_va);
}

guint64 *warp_lanes(Warp *warp)
{
    if (!warp->lane_va)
        warp->lane_va = g_new(guint64, WARP_LANES);
    return warp->lane_va;
}

static void warp_free_run(Warp *warp)
{
    if (warp->sm && warp->state == WARP_IDLE && (warp->queue.count || warp->generate))
        warp_ready(warp);
}

void warp_push(Warp *warp, const Uop *uop)
{
    *uop_ring_push(&warp->queue) = *uop;
    warp_free_run(warp);
}

void warp_generate(Warp *warp, WarpNext next, void *generator)
{
    g_assert(!warp->generate);
    warp->generate = next;
    warp->generator = generator;
    warp_free_run(warp);
}

gboolean warp_fetch(Warp *warp)
{
    if (warp->have)
        return TRUE;
    warp->done_bytes = 0;
    warp->done_lanes = 0;
    warp->begun = FALSE;
    if (warp->queue.count) {
        warp->current = *uop_ring_peek(&warp->queue);
        uop_ring_drop(&warp->queue);
        warp->have = TRUE;
        return TRUE;
    }
    if (!warp->generate)
        return FALSE;
    warp->unparked = FALSE; /* the generator looks at all that came until now */
    if (warp->generate(warp, &warp->current)) {
        warp->have = TRUE;
        return TRUE;
    }
    warp->generate = NULL;
    return FALSE;
}

/* ---- answers */

static void warp_on_stored(Gpu *gpu, Txn *txn, const guint8 *bytes, SimTime now_ps)
{
    (void)gpu;
    (void)bytes;
    warp_end_store(txn->owner, txn->tag, now_ps);
}

void warp_end_store(Warp *warp, guint64 tag, SimTime now_ps)
{
    Sm *sm = warp->sm;
    sm->stores--;
    fence_answered(sm->gpu, tag, now_ps);
    if (--warp->stores == 0 && warp->fencing) {
        warp->fencing = FALSE;
        sim_at(sm->gpu->sim, &warp->timer, MAX(now_ps, warp->fence_at_ps), EVENT_PRIORITY_DEVICE);
    }
    if (sm->limited) {
        sm->limited = FALSE;
        sm_kick(sm, now_ps);
    }
}

guint64 warp_begin_store(Warp *warp)
{
    warp->sm->stores++;
    warp->stores++;
    return fence_tag(warp->sm->gpu);
}

static void warp_on_plain_load(void *owner, SimTime now_ps) { warp_end_load(owner, now_ps); }
static void warp_on_plain_store(void *owner, SimTime now_ps) { warp_end_store(owner, FENCE_LOCAL, now_ps); }

static void warp_on_timer(Event *event, SimTime now_ps)
{
    Warp *warp = EVENT_OWNER(event, Warp, timer);
    warp->parked = FALSE;
    if (!fence_issued(warp, now_ps))
        warp_ready(warp);
}

/* ---- memory operations */

static gboolean uop_is_load(const Uop *uop)
{
    return uop->kind == UOP_LOAD || uop->kind == UOP_ATOM || uop->kind == UOP_MC_LOAD;
}

static gboolean uop_is_multicast(const Uop *uop)
{
    return uop->kind == UOP_MC_LOAD || uop->kind == UOP_MC_STORE || uop->kind == UOP_MC_RED;
}

static const PacketKind uop_packet[UOP_KINDS] = {
    [UOP_LOAD] = PACKET_READ,     [UOP_STORE] = PACKET_WRITE,     [UOP_RED] = PACKET_RED,
    [UOP_ATOM] = PACKET_ATOM,     [UOP_MC_LOAD] = PACKET_MC_READ, [UOP_MC_STORE] = PACKET_MC_WRITE,
    [UOP_MC_RED] = PACKET_MC_RED,
};

/* What forbids an access of `current` there; if nothing does, what stands behind the address. */
FaultKind warp_look_up(const Warp *warp, guint64 va, guint64 bytes, GpuRequest *request)
{
    const Uop *uop = &warp->current;
    VasMapping *mapping = vas_find(warp->cta->vas, va);
    VasAccess need = uop->kind == UOP_LOAD || uop->kind == UOP_MC_LOAD ? VAS_ACCESS_READ : VAS_ACCESS_READWRITE;
    if (!mapping || va + bytes > mapping->va + mapping->bytes)
        return FAULT_UNMAPPED;
    if ((mapping->access[warp->cta->gpu->id] & need) != need)
        return FAULT_ACCESS;
    if (mapping->object && !uop_is_multicast(uop))
        return FAULT_PLAIN_ON_MULTICAST;
    if (!mapping->object && uop_is_multicast(uop))
        return FAULT_MULTIMEM_ON_UNICAST;
    if (mapping->object && mapping->object->mcid == MC_MCID_NONE)
        return FAULT_TEAM_INCOMPLETE;
    request->region = mapping->region;
    request->object = mapping->object;
    request->offset = mapping->offset + (va - mapping->va);
    return FAULT_NONE;
}

gboolean warp_translate(const Warp *warp, guint64 va, guint32 bytes, GpuRequest *request)
{
    const Cta *cta = warp->cta;
    FaultKind kind = warp_look_up(warp, va, bytes, request);
    if (G_LIKELY(kind == FAULT_NONE))
        return TRUE;
    FabricFault fault = {.kind = kind,
                         .gpu = cta->gpu->id,
                         .who = cta->name,
                         .cta = cta->index,
                         .va = va,
                         .uop = warp->current.kind,
                         .cause = cta->cause};
    fabric_fault(cta->gpu->fabric, &fault);
    return FALSE;
}

gboolean warp_at_limit(Warp *warp, const Uop *uop)
{
    Sm *sm = warp->sm;
    const GpuLimits *limit = &sm->gpu->limit;
    if (uop_is_load(uop) ? sm->loads < limit->loads : sm->stores < limit->stores)
        return FALSE;
    sm->stalls_limit++;
    sm->limited = TRUE;
    return TRUE;
}

/* To an observer, to whom the SM's path is made at its first packet. */
static void warp_show(Sm *sm, const GpuRequest *request)
{
    const Gpu *gpu = sm->gpu;
    const Packet packet = packet_new(request->kind, 0, gpu->id, 0, gpu_request_flits(gpu, request));
    if (*sm->path == '\0')
        g_snprintf(sm->path, sizeof sm->path, "%s.sm%u", gpu->path, sm->id);
    gpu->fabric->probe(gpu->fabric->probe_user,
                       PROBE_EVENT(PROBE_COALESCE, sm->path, sm, &packet, sim_now_ps(gpu->sim)));
}

gboolean warp_send(Warp *warp, GpuRequest *request, SimTime *cost_ps)
{
    const Uop *uop = &warp->current;
    Sm *sm = warp->sm;
    Gpu *gpu = sm->gpu;
    const SmSpec *spec = gpu->sm_spec;
    guint32 link = gpu_link_of(gpu, request);
    request->kind = uop_packet[uop->kind];
    SmOutWay way = sm_out_way(sm, request, link);
    if (way == SM_OUT_FULL) {
        sm_out_wait(sm);
        return FALSE;
    }
    request->type = uop->type;
    request->op = uop->op;
    request->acc = uop->acc;
    if (uop_is_load(uop)) {
        request->done = warp_on_loaded;
        request->plain = warp_on_plain_load;
        request->owner = uop->dst;
        sm->loads++;
        *cost_ps += spec->load_ps;
        uop->dst->pending++;
    } else {
        request->done = warp_on_stored;
        request->plain = warp_on_plain_store;
        request->owner = warp;
        request->tag = link == GPU_LINK_LOCAL ? FENCE_LOCAL : fence_tag(gpu);
        sm->stores++;
        warp->stores++;
        *cost_ps += (way == SM_OUT_MERGE      ? spec->merge_ps
                     : link == GPU_LINK_LOCAL ? spec->local_store_ps
                                              : spec->store_ps);
    }
    sm->packets++;
    if (G_UNLIKELY(gpu->fabric->probe))
        warp_show(sm, request);
    if (G_LIKELY(way == SM_OUT_DIRECT)) {
        if (link != GPU_LINK_LOCAL)
            gpu_count_turn(gpu, &sm->queue->room, 1);
        gpu_request(gpu, request, link);
    } else if (way == SM_OUT_QUEUE) {
        sm_out_queue(sm, request, link);
    } else {
        sm_out_merge(sm, request);
    }
    return TRUE;
}

/* Lanes side by side: the span is cut at 128 B lines. It is looked up whole, and by line where that fails. */
static IssueResult warp_issue_contiguous(Warp *warp, SimTime *cost_ps)
{
    const Uop *uop = &warp->current;
    guint32 span = (guint32)uop->lanes * uop->width;
    guint64 va = uop->va + warp->done_bytes;
    GpuRequest request = {.word_mask = GPU_ALL_WORDS};
    gboolean whole = warp_look_up(warp, va, span - warp->done_bytes, &request) == FAULT_NONE;
    while (warp->done_bytes < span) {
        guint32 bytes = MIN(span - warp->done_bytes, LINE_BYTES - (guint32)(va % LINE_BYTES));
        if (warp_at_limit(warp, uop))
            return ISSUE_STALLED;
        if (whole || warp_translate(warp, va, bytes, &request)) {
            request.bytes = (guint16)bytes;
            request.tag = warp->done_bytes;
            request.data = uop->src && uop->src->bytes ? uop->src->bytes + warp->done_bytes : NULL;
            if (!warp_send(warp, &request, cost_ps))
                return ISSUE_STALLED;
        }
        warp->done_bytes += bytes;
        va += bytes;
        request.offset += bytes;
    }
    return ISSUE_DONE;
}

static gboolean warp_wait_reg(Warp *warp, Reg *reg)
{
    if (!reg || reg->pending == 0)
        return FALSE;
    g_assert(!reg->waiter);
    reg->waiter = warp;
    return TRUE;
}

static IssueResult warp_issue_memory(Warp *warp, SimTime now_ps, SimTime *cost_ps)
{
    Uop *uop = &warp->current;
    if (!warp->begun) {
        if (warp_wait_reg(warp, uop->src) || warp_wait_reg(warp, uop->dst))
            return ISSUE_BLOCKED;
        warp->begun = TRUE;
        if (uop->dst) {
            uop->dst->sm = warp->sm;
            uop->dst->pending = 1; /* until all its packets are issued */
            uop->dst->va = uop->va;
            uop->dst->lane_stride = uop->lane_stride;
            if (uop->lane_va && !uop->dst->lane_va)
                uop->dst->lane_va = g_new0(guint64, WARP_LANES);
            if (uop->lane_va)
                memcpy(uop->dst->lane_va, uop->lane_va, uop->lanes * sizeof *uop->lane_va);
            else if (uop->dst->lane_va)
                g_clear_pointer(&uop->dst->lane_va, g_free);
            uop->dst->width = uop->width;
        }
    }
    gboolean contiguous = !uop->lane_va && uop->lane_stride == uop->width;
    IssueResult result = contiguous ? warp_issue_contiguous(warp, cost_ps) : warp_issue_scattered(warp, cost_ps);
    if (result == ISSUE_DONE && uop->dst)
        warp_loads_dropped(warp->sm, uop->dst, now_ps);
    return result;
}

/* ---- the rest */

static gboolean warp_wait_regs(Warp *warp)
{
    return warp_wait_reg(warp, warp->current.src) || warp_wait_reg(warp, warp->current.dst);
}

IssueResult warp_issue(Warp *warp, SimTime now_ps, SimTime *cost_ps)
{
    Uop *uop = &warp->current;
    IssueResult result = ISSUE_DONE;
    switch ((UopKind)uop->kind) {
    case UOP_ARITH:
        if (warp_wait_regs(warp))
            return ISSUE_BLOCKED;
        if (uop->dst && uop->dst->bytes && uop->src && uop->src->bytes)
            numeric_apply((NumericType)uop->type, (NumericOp)uop->op, uop->dst->bytes, uop->src->bytes,
                          (gsize)uop->lanes * uop->width);
        break;
    case UOP_FENCE:
    case UOP_BARRIER:
    case UOP_DRAIN:
    case UOP_DELAY:
    case UOP_UNTIL:
    case UOP_WORK:
    case UOP_PARK: warp->have = FALSE; return warp_issue_wait(warp, now_ps);
    case UOP_TURN: break;
    case UOP_POLL:
        warp->have = FALSE;
        if (!warp_block_poll(warp, now_ps))
            return ISSUE_DONE;
        if (uop->dst && !uop->seen) /* whole lines of data come with the flags */
            *cost_ps = (guint64)uop->lanes * uop->dst->width / LINE_BYTES * warp->sm->gpu->sm_spec->load_ps;
        return ISSUE_BLOCKED;
    case UOP_CALL:
        if (warp_wait_regs(warp))
            return ISSUE_BLOCKED;
        warp->have = FALSE;
        uop->call(uop->arg, now_ps);
        return ISSUE_DONE;
    default: result = warp_issue_memory(warp, now_ps, cost_ps); break;
    }
    if (result == ISSUE_DONE)
        warp->have = FALSE;
    return result;
}
