/* Polling: a warp that spins on a flag in its own GPU's memory.
 *
 * What hardware it stands for: a loop of dependent loads, each taking `local_ps`, whose value is read in the
 * L2 half-way.
 * Modelled: the loop is not run; a watch on the flag tells when it changed, and the time at which the loop
 * would have seen it follows from when the loop began. Polls of other GPUs' memory are real loads (the
 * device side repeats them).
 * Left out: the polls' own load on the L2. */
#include <string.h>

#include "model/fabric.h"
#include "model/sm.h"

static gboolean poll_holds(const Uop *uop, const guint8 *bytes)
{
    guint64 value = 0;
    memcpy(&value, bytes, uop->width == 4 ? 4 : 8);
    guint64 mask = uop->width == 4 ? 0xffffffffu : G_MAXUINT64;
    guint64 ref = uop->value & mask;
    switch ((PollTest)uop->test) {
    case POLL_EQ:
        return value == ref;
    case POLL_NE:
        return value != ref;
    case POLL_GE:
        return value >= ref;
    case POLL_DIFF_GE:
        return uop->width == 4 ? (gint32)(guint32)(value - ref) >= 0 : (gint64)(value - ref) >= 0;
    }
    return FALSE;
}

static const guint8 *poll_bytes(Warp *warp, MemRegion **region, guint64 *offset)
{
    VasMapping *mapping = vas_find(warp->cta->vas, warp->current.va);
    if (!mapping || !mapping->region)
        return NULL;
    *region = mapping->region;
    *offset = mapping->offset + (warp->current.va - mapping->va);
    return mapping->region->host ? mapping->region->host + *offset : NULL;
}

/* The first read of the loop at or after `visible_ps` sees it; the loop ends when that read is back. */
static void poll_finish(Warp *warp, SimTime visible_ps)
{
    Gpu *gpu = warp->cta->gpu;
    SimTime period_ps = gpu->spec->local_ps, read_ps = warp->poll_start_ps + period_ps / 2;
    SimTime rounds = visible_ps > read_ps ? (visible_ps - read_ps + period_ps - 1) / period_ps : 0;
    SimTime at_ps = warp->poll_start_ps + (rounds + 1) * period_ps;
    if (warp->current.acquire)
        at_ps += gpu->fabric->spec.sm.acquire_ps;
    sim_at(gpu->sim, &warp->timer, MAX(at_ps, sim_now_ps(gpu->sim)), EVENT_PRIORITY_DEVICE);
}

static void poll_on_written(MemWatch *watch, SimTime visible_ps)
{
    Warp *warp = EVENT_OWNER(watch, Warp, watch);
    MemRegion *region = NULL;
    guint64 offset = 0;
    const guint8 *bytes = poll_bytes(warp, &region, &offset);
    g_assert(bytes);
    if (poll_holds(&warp->current, bytes))
        poll_finish(warp, visible_ps);
    else
        memory_watch(warp->cta->gpu->fabric->memory, watch, region, offset, warp->current.width,
                     poll_on_written);
}

void warp_block_poll(Warp *warp, SimTime now_ps)
{
    Gpu *gpu = warp->cta->gpu;
    MemRegion *region = NULL;
    guint64 offset = 0;
    warp->poll_start_ps = now_ps;
    const guint8 *bytes = poll_bytes(warp, &region, &offset);
    if (!bytes) {
        FabricFault fault = {.kind = FAULT_UNMAPPED, .gpu = gpu->id, .who = warp->cta->name,
                             .cta = warp->cta->index, .va = warp->current.va, .uop = UOP_POLL};
        fabric_fault(gpu->fabric, &fault);
        poll_finish(warp, now_ps);
    } else if (poll_holds(&warp->current, bytes)) {
        poll_finish(warp, now_ps);
    } else {
        memory_watch(gpu->fabric->memory, &warp->watch, region, offset, warp->current.width,
                     poll_on_written);
    }
}
