/* Bulk copies and reductions, and asynchronous stores to shared memory of a cluster. */
#include "ptx/run/exec.h"

typedef struct {
    PtxWarp *warp;
    PtxPath *path;
    const PtxIns *ins;
    guint lane;
    guint64 to, from;
    guint32 bytes;
} Bulk;

static gboolean bulk_fail(const Bulk *b, const char *text)
{
    ptx_fault(b->warp, b->ins, b->lane, PTX_FAULT_ILLEGAL_INSTRUCTION, b->bytes, "%s", text);
    return FALSE;
}

static gboolean check(const Bulk *b)
{
    if (b->bytes % 16 || (b->to | b->from) % 16)
        return bulk_fail(b, "a bulk copy's addresses and size are multiples of 16");
    return TRUE;
}

static void combine(const PtxIns *ins, guint8 *memory, const guint8 *operand, guint32 bytes)
{
    guint element = ptx_types[ins->type].memory;
    for (guint32 i = 0; i + element <= bytes; i += element)
        ptx_atomic_apply((PtxType)ins->type, (PtxWord)ins->combine, element, memory + i, operand + i, NULL, NULL,
                         FALSE);
}

/* When its bytes have come, or have gone: those of a load are put where they belong. */
static void land_bulk(PtxAccess *access)
{
    PtxCluster *cluster = access->warp->cta->cluster_of;
    for (guint32 c = 0; access->kind == PTX_ACCESS_BULK_LOAD && c < cluster->size; c++) {
        PtxCta *cta = cluster->cta[c];
        gboolean chosen = access->multicast ? access->multicast >> c & 1 : cta == access->into;
        if (!chosen)
            continue;
        memcpy(cta->shared + access->shared_at[0], access->block, access->block_bytes);
        ptx_mbarrier_complete_tx(access->multicast ? cta : access->barrier_cta, access->barrier_at,
                                 access->block_bytes);
    }
    ptx_access_clear(access);
    ptx_group_landed(access);
}

static PtxAccess *block_access(const Bulk *b, PtxAccessKind kind, guint64 va)
{
    PtxAccess *access = ptx_access_new(b->warp, b->path, b->ins, kind, 1u << b->lane);
    access->va[0] = va;
    access->block_bytes = b->bytes;
    access->block = g_malloc(b->bytes);
    access->target = TARGET_BULK;
    access->land = land_bulk;
    access->op = b->ins->combine;
    return access;
}

/* Global to shared memory, of one CTA or of those of a mask. */
static gboolean global_to_shared(const Bulk *b, guint64 barrier)
{
    PtxCta *into, *of;
    guint32 at, barrier_at, multicast = 0;
    if (!ptx_shared_place(b->warp, b->path, b->ins, b->to, b->bytes, b->lane, &into, &at) ||
        !ptx_shared_place(b->warp, b->path, b->ins, barrier, 8, b->lane, &of, &barrier_at))
        return FALSE;
    if (b->ins->flags & FLAG_THREE) {
        multicast = (guint32)ptx_lane_get(b->warp, b->path->frame->code->places[b->ins->vec], b->ins->dst2_bytes,
                                          b->lane) &
                    0xffffu;
        if (multicast == 0 || multicast >> b->warp->cta->cluster_of->size)
            return bulk_fail(b, "the mask names CTAs that the cluster does not have");
    }
    PtxAccess *access = block_access(b, PTX_ACCESS_BULK_LOAD, b->from);
    access->into = into;
    access->shared_at[0] = at;
    access->barrier_cta = of;
    access->barrier_at = barrier_at;
    access->multicast = multicast;
    return TRUE;
}

static gboolean shared_to_shared(const Bulk *b, guint64 barrier)
{
    PtxCta *into, *out_of, *of;
    guint32 at, from_at, barrier_at;
    guint8 *to = ptx_shared_place(b->warp, b->path, b->ins, b->to, b->bytes, b->lane, &into, &at);
    guint8 *from = to ? ptx_shared_place(b->warp, b->path, b->ins, b->from, b->bytes, b->lane, &out_of, &from_at)
                      : NULL;
    if (!from || !ptx_shared_place(b->warp, b->path, b->ins, barrier, 8, b->lane, &of, &barrier_at))
        return FALSE;
    if (b->ins->op == OP_BULK_S2S)
        memmove(to, from, b->bytes);
    else
        combine(b->ins, to, from, b->bytes);
    ptx_mbarrier_complete_tx(of, barrier_at, b->bytes);
    return TRUE;
}

static gboolean shared_to_global(const Bulk *b)
{
    PtxCta *out_of;
    guint32 at;
    PtxAccessKind kind = b->ins->op == OP_BULK_S2G       ? PTX_ACCESS_BULK_STORE
                         : b->ins->op == OP_BULK_RED_S2G ? PTX_ACCESS_BULK_RED
                         : b->ins->combine               ? PTX_ACCESS_BULK_MC_RED
                                                         : PTX_ACCESS_BULK_MC_STORE;
    const guint8 *from = ptx_shared_place(b->warp, b->path, b->ins, b->from, b->bytes, b->lane, &out_of, &at);
    if (!from)
        return FALSE;
    if (b->ins->flags & FLAG_THREE)
        return bulk_fail(b, "masks of bytes are not supported");
    PtxAccess *access = block_access(b, kind, b->to);
    memcpy(access->block, from, b->bytes);
    if (kind == PTX_ACCESS_BULK_RED) /* an L2 takes words: two elements in each, of which there are always so many */
        access->type = access->type == T_F16 ? T_F16X2 : access->type == T_BF16 ? T_BF16X2 : access->type;
    if (!b->warp->open[1])
        b->warp->open[1] = g_new0(PtxGroup, 1);
    access->group = b->warp->open[1];
    access->group->mask |= 1u << b->lane;
    access->group->pending++;
    return TRUE;
}

/* One lane is the rule; several make one access each, and take turns. */
PtxStep ptx_step_bulk(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask)
{
    guint64 to[PTX_LANES], from[PTX_LANES], barrier[PTX_LANES] = {0};
    guint lane = (guint)__builtin_ctz(mask);
    gboolean shared_only = ins->op == OP_BULK_S2S || ins->op == OP_BULK_RED_S2S;
    if (mask != path->mask) /* the others go past; lanes that remain come one by one */
        ptx_path_split(warp, path, path->mask & ~mask, path->pc + 1, path->pc + 1);
    if (mask & (mask - 1))
        ptx_path_split(warp, path, mask & ~(1u << lane), path->pc, path->pc + 1);
    ptx_addresses(warp, ins, 0, ins->imm, to);
    ptx_addresses(warp, ins, 1, 0, from);
    if (ins->src[3] != PLACE_NONE)
        ptx_addresses(warp, ins, 3, 0, barrier);
    Bulk b = {.warp = warp,
              .path = path,
              .ins = ins,
              .lane = lane,
              .to = to[lane],
              .from = from[lane],
              .bytes = ptx_lane_u32(warp, ins->src[2], lane)};
    if (b.bytes == 0)
        return STEP_NEXT;
    gboolean good = check(&b) && (shared_only              ? shared_to_shared(&b, barrier[lane])
                                  : ins->op == OP_BULK_G2S ? global_to_shared(&b, barrier[lane])
                                                           : shared_to_global(&b));
    return !good ? STEP_FAULT : shared_only ? STEP_NEXT : STEP_ACCESS;
}

/* ---- st.async, red.async, st.bulk */

static gboolean remote_lane(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint lane, guint64 va, guint64 barrier)
{
    PtxCta *cta, *of;
    guint32 at, barrier_at, element = ptx_types[ins->type].memory, bytes = element * MAX(ins->n_vec, 1u);
    guint8 *memory = ptx_shared_place(warp, path, ins, va, bytes, lane, &cta, &at);
    if (!memory || !ptx_shared_place(warp, path, ins, barrier, 8, lane, &of, &barrier_at))
        return FALSE;
    if (ins->op == OP_ST_ASYNC) {
        for (guint e = 0; e < ins->n_vec; e++) {
            guint64 value = ptx_lane_get(warp, path->frame->code->places[ins->vec + e], ins->src_bytes[3], lane);
            memcpy(memory + e * element, &value, element);
        }
    } else {
        guint64 value = ptx_lane_get(warp, ins->src[1], ins->src_bytes[1], lane);
        ptx_atomic_apply((PtxType)ins->type, (PtxWord)ins->combine, element, memory, (const guint8 *)&value, NULL, NULL,
                         FALSE);
    }
    ptx_mbarrier_complete_tx(of, barrier_at, bytes);
    return TRUE;
}

PtxStep ptx_step_remote(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask)
{
    guint64 va[PTX_LANES], barrier[PTX_LANES] = {0};
    ptx_addresses(warp, ins, 0, ins->imm, va);
    if (ins->op != OP_ST_BULK)
        ptx_addresses(warp, ins, ins->op == OP_ST_ASYNC ? 1 : 2, 0, barrier);
    for (guint l = 0; l < PTX_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        if (ins->op != OP_ST_BULK) {
            if (!remote_lane(warp, path, ins, l, va[l], barrier[l]))
                return STEP_FAULT;
            continue;
        }
        PtxCta *cta;
        guint32 at;
        guint64 bytes = ptx_lane_get(warp, ins->src[1], 8, l);
        guint8 *memory = bytes && bytes <= PTX_SHARED_BYTES_MAX
                             ? ptx_shared_place(warp, path, ins, va[l], (guint32)bytes, l, &cta, &at)
                             : NULL;
        if (bytes && !memory)
            return ptx_fault(warp, ins, l, PTX_FAULT_ILLEGAL_ADDRESS, va[l], "st.bulk of %" G_GUINT64_FORMAT " bytes",
                             bytes);
        if (memory)
            memset(memory, 0, bytes);
        ptx_cluster_changed(warp->cta->cluster_of);
    }
    return STEP_NEXT;
}
