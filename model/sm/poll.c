/* Polling: a warp that spins on a flag in its own GPU's memory.
 *
 * What hardware it stands for: a loop of dependent loads, each taking `local_ps`, whose value is read in the
 * L2 half-way.
 * Modelled: the loop is not run; a watch on the flag is called when it changes, and the loop sees it after the
 * mean of its possible waits (phases would lock otherwise, which real ones do not). Polls of other GPUs'
 * memory are real loads (the device side repeats them).
 * A poll of all members of a multicast object is a watch on each one's memory, its reads being as long as
 * to a remote L2. Left out: the polls' own load on links and L2. */
#include <string.h>

#include "model/sm/internal.h"

static inline gboolean poll_holds(const Uop *uop, const guint8 *bytes)
{
    guint64 value = 0, ref = uop->value;
    if (uop->width == 4) {
        guint32 word;
        memcpy(&word, bytes, 4);
        value = word;
        ref = (guint32)ref;
    } else {
        memcpy(&value, bytes, 8);
    }
    switch ((PollTest)uop->test) {
    case POLL_EQ: return value == ref;
    case POLL_NE: return value != ref;
    case POLL_GE: return value >= ref;
    case POLL_DIFF_GE: return uop->width == 4 ? (gint32)(guint32)(value - ref) >= 0 : (gint64)(value - ref) >= 0;
    }
    return FALSE;
}

/* What forbids a poll of this address. A watch stands for reads of the GPU's own memory; with a read's time of its
 * own, of any. */
static FaultKind poll_fault(const Warp *warp, const VasMapping *mapping, guint64 va)
{
    const Uop *uop = &warp->current;
    guint16 gpu = warp->cta->gpu->id;
    if (!mapping || va + uop->width > mapping->va + mapping->bytes)
        return FAULT_UNMAPPED;
    if (!(mapping->access[gpu] & VAS_ACCESS_READ))
        return FAULT_ACCESS;
    if (!mapping->region)
        return FAULT_PLAIN_ON_MULTICAST;
    return mapping->region->gpu == gpu || uop->rtt_ps ? FAULT_NONE : FAULT_ILLEGAL_FORM;
}

/* The mapping in which the last lane's flag stood: mostly the next one's, too. */
typedef struct {
    guint64 va, addresses; /* the first one, and how many from there on a flag may stand at */
    guint8 *bytes;         /* at `va` */
    MemRegion *region;
    guint64 offset; /* of `va` in the region */
    const VasMapping *mapping;
} PollView;

/* NULL: not allowed, and *fault says why; or the region keeps no bytes. */
static const guint8 *poll_look_up(Warp *warp, guint64 va, PollView *view, FaultKind *fault)
{
    VasMapping *mapping = vas_find(warp->cta->vas, va);
    *view = (PollView){0};
    *fault = poll_fault(warp, mapping, va);
    if (*fault != FAULT_NONE)
        return NULL;
    view->bytes = vas_poll(warp->cta->vas, mapping, mapping->va, &view->region, &view->offset);
    if (!view->bytes)
        return NULL;
    view->va = mapping->va;
    view->mapping = mapping;
    view->addresses = mapping->bytes - warp->current.width + 1;
    return view->bytes + (va - view->va);
}

static inline const guint8 *poll_look(Warp *warp, guint64 va, PollView *view, FaultKind *fault)
{
    if (G_LIKELY(va - view->va < view->addresses))
        return view->bytes + (va - view->va);
    return poll_look_up(warp, va, view, fault);
}

/* How many lanes from this one on are looked at together: all the others, if their flags stand one step apart and in
 * the same mapping as this one's. */
static guint32 poll_lanes_in(const Uop *uop, guint32 lane, const PollView *view)
{
    return !uop->lane_va && uop_lane_va(uop, uop->lanes - 1u) - view->va < view->addresses ? uop->lanes - lane : 1;
}

/* What stands around each lane's flag comes with the read that sees it: all at once where the lanes' parts stand side
 * by side in memory as they do in the register. */
static void poll_copy(Warp *warp)
{
    const Uop *uop = &warp->current;
    PollView view = {0};
    FaultKind fault;
    if (!uop->dst || !uop->dst->bytes)
        return;
    guint32 width = uop->dst->width;
    for (guint32 l = 0, n; l < uop->lanes; l += n) {
        guint64 va = uop_lane_va(uop, l);
        const guint8 *bytes = poll_look(warp, va, &view, &fault);
        n = uop->lane_stride == width ? poll_lanes_in(uop, l, &view) : 1;
        if (bytes)
            memcpy(uop->dst->bytes + l * width, bytes - (view.offset + (va - view.va)) % width, n * width);
    }
}

/* Where in its period a loop of long reads is: any place is as likely, and not the same in all CTAs, or they
 * would stay in step and leave links idle together. It is a hash of the waiting warp and the time. */
static SimTime poll_phase(const Warp *warp, SimTime visible_ps, SimTime period_ps)
{
    guint64 x = visible_ps ^ (guint64)warp->cta->gpu->id << 48 ^ (guint64)warp->cta->index << 32;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (x ^ x >> 31) % period_ps;
}

/* The first read of the loop after `visible_ps` sees it; the loop ends when that read is back. */
static void poll_finish(Warp *warp, SimTime visible_ps)
{
    Gpu *gpu = warp->cta->gpu;
    SimTime local_ps = warp->current.rtt_ps ? warp->current.rtt_ps : gpu->spec->local_ps;
    SimTime period_ps = local_ps + gpu->sm_spec->poll_ps;
    if (warp->current.acquire)
        period_ps += gpu->sm_spec->acquire_ps;
    SimTime read_ps = warp->poll_start_ps + local_ps / 2, at_ps = read_ps;
    if (visible_ps > read_ps) /* the mean over all phases of the loop: half a period until the next read */
        at_ps = visible_ps + (warp->current.rtt_ps ? poll_phase(warp, visible_ps, period_ps) : period_ps / 2);
    at_ps += local_ps / 2;
    if (warp->current.acquire)
        at_ps += gpu->sm_spec->acquire_ps;
    poll_copy(warp);
    sim_at(gpu->sim, &warp->timer, MAX(at_ps, sim_now_ps(gpu->sim)), EVENT_PRIORITY_DEVICE);
}

/* Of n lanes, the first one's flag being at `bytes`: how many hold before the first that does not. */
static guint32 poll_lanes_seen(const Uop *uop, const guint8 *bytes, guint32 n)
{
    guint32 seen = 0;
    for (; seen < n && poll_holds(uop, bytes); seen++)
        bytes += uop->lane_stride;
    return seen;
}

static void poll_on_written(MemWatch *watch, SimTime visible_ps);

/* A write that leaves the flag short changes nothing, unless the address leads elsewhere by now. */
static gboolean poll_wants(const MemWatch *watch, const guint8 *bytes)
{
    const Warp *warp = EVENT_OWNER(watch, Warp, watch);
    return poll_holds(&warp->current, bytes) || vas_unmapped(warp->cta->vas) != warp->polled_unmapped ||
           poll_fault(warp, warp->polled, uop_lane_va(&warp->current, warp->done_lanes)) != FAULT_NONE;
}

static void poll_report(const Warp *warp, guint64 va, FaultKind kind)
{
    const Cta *cta = warp->cta;
    FabricFault fault = {.kind = kind == FAULT_NONE ? FAULT_UNMAPPED : kind,
                         .gpu = cta->gpu->id,
                         .who = cta->name,
                         .cta = cta->index,
                         .va = va,
                         .uop = UOP_POLL,
                         .cause = cta->cause};
    if (kind == FAULT_ILLEGAL_FORM)
        fault.text = "a poll of memory that is not the GPU's own";
    fabric_fault(cta->gpu->fabric, &fault);
}

/* Goes on with the first lane whose flag has not been seen yet; all lanes' reads go out together, so the
 * last flag to come decides. */
static void poll_continue(Warp *warp, SimTime visible_ps)
{
    const Uop *uop = &warp->current;
    PollView view = {0};
    while (warp->done_lanes < uop->lanes) {
        FaultKind fault = FAULT_NONE;
        guint64 va = uop_lane_va(uop, warp->done_lanes);
        const guint8 *bytes = poll_look(warp, va, &view, &fault);
        if (!bytes) {
            poll_report(warp, va, fault);
            warp->done_lanes++;
            continue;
        }
        guint32 n = poll_lanes_in(uop, warp->done_lanes, &view), seen = poll_lanes_seen(uop, bytes, n);
        warp->done_lanes += seen;
        if (seen < n) {
            va = uop_lane_va(uop, warp->done_lanes);
            memory_watch(warp->cta->gpu->fabric->memory, &warp->watch, view.region, view.offset + (va - view.va),
                         uop->width, poll_on_written);
            warp->polled = view.mapping;
            warp->polled_unmapped = vas_unmapped(warp->cta->vas);
            warp->watch.wants = poll_wants;
            return;
        }
    }
    poll_finish(warp, visible_ps);
}

static void poll_on_written(MemWatch *watch, SimTime visible_ps)
{
    poll_continue(EVENT_OWNER(watch, Warp, watch), visible_ps);
}

gboolean warp_block_poll(Warp *warp, SimTime now_ps)
{
    if (warp->current.seen && poll_holds(&warp->current, warp->current.dst->bytes))
        return FALSE;
    warp->poll_start_ps = now_ps;
    warp->done_lanes = 0; /* here: how many lanes' flags have been seen */
    poll_continue(warp, now_ps);
    return TRUE;
}

/* ---- who polls what, for a run that got stuck */

typedef struct {
    const Gpu *gpu;
    Warp *first;
    guint32 warps;
} PollWaiters;

static void poll_count(MemWatch *watch, void *user)
{
    PollWaiters *waiters = user;
    Warp *warp = EVENT_OWNER(watch, Warp, watch);
    if (warp->cta->gpu != waiters->gpu)
        return;
    if (waiters->warps++ == 0)
        waiters->first = warp;
}

char *poll_waiter_text(void *unit)
{
    static const char *const tests[] = {
        [POLL_EQ] = "be", [POLL_NE] = "be other than", [POLL_GE] = "reach", [POLL_DIFF_GE] = "reach"};
    PollWaiters waiters = {.gpu = unit};
    guint64 value = 0;
    PollView view = {0};
    FaultKind fault;
    memory_each_watch(waiters.gpu->fabric->memory, poll_on_written, poll_count, &waiters);
    if (waiters.warps == 0)
        return NULL;
    Warp *warp = waiters.first;
    const Uop *uop = &warp->current;
    g_autoptr(GString) text = g_string_new(NULL);
    const guint8 *bytes = poll_look(warp, uop_lane_va(uop, warp->done_lanes), &view, &fault);
    g_string_append_printf(text, "%s: %s CTA %u polls for 0x%" G_GINT64_MODIFIER "x to %s %" G_GUINT64_FORMAT,
                           waiters.gpu->path, warp->cta->name, warp->cta->index, uop_lane_va(uop, warp->done_lanes),
                           tests[uop->test], uop->value);
    if (bytes) {
        memcpy(&value, bytes, uop->width == 4 ? 4 : 8);
        g_string_append_printf(text, ", and %" G_GUINT64_FORMAT " is there", value);
    }
    if (waiters.warps > 1)
        g_string_append_printf(text, "; %u more warps poll", waiters.warps - 1);
    return g_string_free(g_steal_pointer(&text), FALSE);
}
