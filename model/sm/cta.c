/* CTAs, from their making to the SM that takes them in, and the registers of their warps. */
#include "model/sm/internal.h"
#include "model/sm/place.h"

Cta *cta_new(Gpu *gpu, Vas *vas, guint32 index, guint32 threads, const char *name)
{
    g_assert(threads >= 1 && threads <= 1024);
    Cta *cta = g_new0(Cta, 1);
    cta->gpu = gpu;
    cta->vas = vas;
    cta->index = index;
    cta->threads = threads;
    cta->n_warps = (threads + WARP_LANES - 1) / WARP_LANES;
    cta->name = name;
    cta->warp = g_new0(Warp, cta->n_warps);
    for (guint32 w = 0; w < cta->n_warps; w++)
        warp_init(&cta->warp[w], cta, w);
    return cta;
}

guint32 sm_shared_of_cta(const SmSpec *spec, guint32 bytes)
{
    return ((bytes + 127u) & ~127u) + (guint32)spec->shared_reserved;
}

#define ANY_GPC G_MAXUINT32

static gboolean sm_has_room(const Sm *sm, const Cta *cta)
{
    const SmSpec *spec = sm->gpu->sm_spec;
    return sm->ctas < spec->ctas_max && sm->warps + cta->n_warps <= spec->warps_max &&
           sm->registers + cta->registers <= spec->registers &&
           sm->shared_bytes + cta->shared_bytes <= spec->shared_bytes;
}

/* The SM with the fewest warps that has room; the lowest number among equals. */
static Sm *sm_choose(Gpu *gpu, const Cta *cta)
{
    Sm *best = NULL;
    for (guint64 i = 0; i < gpu->sm_spec->count; i++)
        if ((!best || gpu->sm[i].warps < best->warps) && sm_has_room(&gpu->sm[i], cta))
            best = &gpu->sm[i];
    return best;
}

/* The same of a GPC for a cluster, which fills TPC after TPC. */
static Sm *sm_choose_in(Gpu *gpu, const Cta *cta, guint32 gpc, gboolean large)
{
    Sm *best = NULL;
    guint32 best_tpc = 0;
    for (guint64 i = 0; i < gpu->sm_spec->count; i++) {
        Sm *sm = &gpu->sm[i];
        SmPlace place = place_of(&gpu->fabric->spec, i);
        if (place.gpc != gpc || (large && place.first) || !sm_has_room(sm, cta))
            continue;
        if (!best || sm->warps < best->warps || (sm->warps == best->warps && place.tpc < best_tpc)) {
            best = sm;
            best_tpc = place.tpc;
        }
    }
    return best;
}

static void cta_tell(const Cta *cta, gboolean begins)
{
    const Fabric *fabric = cta->gpu->fabric;
    if (fabric->on_cta)
        fabric->on_cta(fabric->on_cta_user, cta, begins, sim_now_ps(fabric->sim));
}

static void cta_take(Cta *cta, Sm *sm)
{
    cta->sm = sm;
    sm->ctas++;
    sm->warps += cta->n_warps;
    sm->registers += cta->registers;
    sm->shared_bytes += cta->shared_bytes;
    for (guint32 w = 0; w < cta->n_warps; w++)
        cta->warp[w].sm = sm;
    cta_tell(cta, TRUE);
}

static void cta_give(Cta *cta)
{
    cta_tell(cta, FALSE);
    cta->sm->ctas--;
    cta->sm->warps -= cta->n_warps;
    cta->sm->registers -= cta->registers;
    cta->sm->shared_bytes -= cta->shared_bytes;
    cta->sm = NULL;
}

/* All CTAs of a group at once, or none. */
static gboolean cta_take_group(Cta *first, guint32 gpc)
{
    guint64 ctas = 0;
    for (const Cta *cta = first; cta; cta = cta->group)
        ctas++;
    gboolean large = ctas > first->gpu->sm_spec->tpc_sms;
    for (Cta *cta = first; cta; cta = cta->group) {
        Sm *sm = gpc == ANY_GPC ? sm_choose(cta->gpu, cta) : sm_choose_in(cta->gpu, cta, gpc, large);
        if (sm) {
            cta_take(cta, sm);
            continue;
        }
        for (Cta *taken = first; taken != cta; taken = taken->group)
            cta_give(taken);
        return FALSE;
    }
    return TRUE;
}

/* In one GPC; the one with the fewest warps that has room, so that clusters spread. */
static gboolean cta_take_cluster(Cta *first)
{
    const FabricSpec *spec = &first->gpu->fabric->spec;
    g_autofree guint64 *warps = g_new0(guint64, spec->sm.gpcs);
    for (guint64 i = 0; i < spec->sm.count; i++)
        warps[place_of(spec, i).gpc] += first->gpu->sm[i].warps;
    for (guint64 tried = 0; tried < spec->sm.gpcs; tried++) {
        guint32 least = 0;
        for (guint32 gpc = 1; gpc < spec->sm.gpcs; gpc++)
            if (warps[gpc] < warps[least])
                least = gpc;
        if (cta_take_group(first, least))
            return TRUE;
        warps[least] = G_MAXUINT64;
    }
    return FALSE;
}

static gboolean cta_try(Cta *first)
{
    gboolean good = first->group ? cta_take_cluster(first) : cta_take_group(first, ANY_GPC);
    if (good)
        first->on_placed(first, sim_now_ps(first->gpu->sim));
    return good;
}

void cta_place(Cta *cta, void (*on_placed)(Cta *cta, SimTime now_ps))
{
    Gpu *gpu = cta->gpu;
    cta->on_placed = on_placed;
    if (!gpu->cta_head && cta_try(cta))
        return;
    if (gpu->cta_tail)
        gpu->cta_tail->next = cta;
    else
        gpu->cta_head = cta;
    gpu->cta_tail = cta;
}

static void cta_clear(Cta *cta)
{
    for (guint32 w = 0; w < cta->n_warps; w++)
        warp_clear(&cta->warp[w]);
    g_free(cta->warp);
    g_free(cta);
}

void cta_drop(Cta *cta) { cta_clear(cta); }

void cta_free(Cta *cta)
{
    Gpu *gpu = cta->gpu;
    for (guint32 w = 0; w < cta->n_warps; w++)
        g_assert(cta->warp[w].state == WARP_IDLE && cta->warp[w].stores == 0);
    if (cta->sm)
        cta_give(cta);
    cta_clear(cta);
    /* on_placed may queue the next one, so the queue is whole before each attempt */
    while (gpu->cta_head) {
        Cta *next = gpu->cta_head;
        gpu->cta_head = next->next;
        next->next = NULL;
        if (!gpu->cta_head)
            gpu->cta_tail = NULL;
        if (cta_try(next))
            continue;
        next->next = gpu->cta_head;
        gpu->cta_head = next;
        if (!gpu->cta_tail)
            gpu->cta_tail = next;
        break;
    }
}

/* ---- registers */

Reg *reg_new(guint32 width, gboolean keep_bytes)
{
    Reg *reg = g_new0(Reg, 1);
    reg->width = (guint8)width;
    reg->bytes = keep_bytes ? g_malloc0(REG_BYTES) : NULL;
    return reg;
}

void reg_drop(Reg *reg)
{
    g_free(reg->bytes);
    g_free(reg->lane_va);
    g_free(reg);
}

void reg_free(Reg *reg)
{
    g_assert(reg->pending == 0);
    reg_drop(reg);
}
