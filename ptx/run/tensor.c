/* Copies and reductions by tensor maps, and changes of such maps.
 *
 * A map is read when its copy is issued, without time: hardware keeps descriptors in a cache of each SM (the first use
 * of one costs 100 clk more, which is left out). It may lie in parameters, constants or global memory. */
#include "ptx/run/tensor.h"

typedef struct {
    PtxWarp *warp;
    PtxPath *path;
    const PtxIns *ins;
    guint lane;
    PtxTensorCopy copy;
    guint64 map_va;
} Tensor;

/* ---- the map and the coordinates */

static gboolean map_fail(PtxWarp *warp, const PtxIns *ins, guint lane, guint64 va, const char *text)
{
    ptx_fault(warp, ins, lane, PTX_FAULT_ILLEGAL_INSTRUCTION, va, "%s", text);
    return FALSE;
}

static gboolean map_bytes(PtxWarp *warp, const PtxIns *ins, guint lane, guint64 va, guint8 bytes[PTX_TENSOR_MAP_BYTES])
{
    const PtxGrid *grid = warp->cta->grid;
    guint64 offset;
    PtxSpace space = ptx_space_of(va, &offset);
    const PtxCode *code = ptx_function_code(grid->entry, NULL);
    gboolean there = FALSE;
    if (offset % 64)
        return map_fail(warp, ins, lane, va, "a tensor map lies at a multiple of 64");
    if (space == SPACE_PARAM) {
        there = code && offset + PTX_TENSOR_MAP_BYTES <= code->param_bytes;
        if (there)
            memcpy(bytes, grid->param + offset, PTX_TENSOR_MAP_BYTES);
    } else if (space == SPACE_GLOBAL || space == SPACE_CONST) {
        there = grid->host->read(grid->user, va, bytes, PTX_TENSOR_MAP_BYTES);
    }
    if (!there)
        ptx_fault(warp, ins, lane, PTX_FAULT_ILLEGAL_ADDRESS, va,
                  "no tensor map lies at 0x%" G_GINT64_MODIFIER "x: it is in parameters, constants or global memory",
                  va);
    return there;
}

gboolean ptx_tensor_read(PtxWarp *warp, const PtxIns *ins, guint lane, guint64 va, gboolean im2col, PtxTensorMap *map)
{
    guint8 bytes[PTX_TENSOR_MAP_BYTES];
    if (!map_bytes(warp, ins, lane, va, bytes))
        return FALSE;
    if (!ptx_tensor_map_unpack(bytes, map))
        return map_fail(warp, ins, lane, va, "these 128 bytes are no tensor map");
    const char *broken = ptx_tensor_map_broken(map);
    if (broken) {
        g_autofree char *text = g_strdup_printf("the tensor map is wrong: %s", broken);
        return map_fail(warp, ins, lane, va, text);
    }
    if (map->rank != ins->n_vec || (map->mode == PTX_TENSOR_IM2COL) != im2col) {
        g_autofree char *text = g_strdup_printf(
            "the tensor map has %u dimensions and is %s; the instruction is for %u, %s", map->rank,
            map->mode == PTX_TENSOR_IM2COL ? "of im2col" : "tiled", ins->n_vec, im2col ? "im2col" : "tiled");
        return map_fail(warp, ins, lane, va, text);
    }
    return TRUE;
}

static gboolean tensor_fail(const Tensor *t, const char *text)
{
    return map_fail(t->warp, t->ins, t->lane, t->map_va, text);
}

static guint64 place_value(const Tensor *t, guint32 at, guint bytes)
{
    return ptx_lane_get(t->warp, t->path->frame->code->places[at], bytes, t->lane);
}

static gboolean read_coordinates(Tensor *t)
{
    const PtxIns *ins = t->ins;
    guint offsets = ins->n_vec2 - ((ins->flags & FLAG_THREE) != 0);
    for (guint i = 0; i < ins->n_vec; i++)
        t->copy.at[i] = (gint32)place_value(t, ins->vec + i, 4);
    for (guint i = 0; i < offsets; i++)
        t->copy.shift[i] = (guint16)place_value(t, ins->vec2 + i, 2);
    const char *broken = ptx_tensor_plan(&t->copy, ins->op == OP_TENSOR_G2S);
    if (broken)
        return tensor_fail(t, broken);
    return TRUE;
}

/* Where in shared memory the copy begins, a multiple of 128. */
static gboolean place_shared(Tensor *t, guint64 va, PtxCta **cta)
{
    guint32 at;
    if (va % 128) {
        ptx_fault(
            t->warp, t->ins, t->lane, PTX_FAULT_MISALIGNED, va,
            "a copy by a tensor map has its place in shared memory at a multiple of 128, not at 0x%" G_GINT64_MODIFIER
            "x",
            va);
        return FALSE;
    }
    if (!ptx_shared_place(t->warp, t->path, t->ins, va, PTX_TENSOR_PIECE, t->lane, cta, &at))
        return FALSE;
    if (ptx_tensor_span(&t->copy) > PTX_SHARED_BYTES_MAX)
        return tensor_fail(t, "the box is larger than shared memory");
    t->copy.base = at;
    return TRUE;
}

/* ---- pieces */

typedef struct {
    const PtxTensorCopy *copy;
    PtxCta *cta;
    guint8 *block;
    guint64 *va;
    guint32 n;
    gboolean stores, outside; /* of shared memory, which a store may be with what it does not write */
} Pieces;

static void count_piece(void *user, const PtxTensorPiece *piece)
{
    Pieces *p = user;
    p->n += piece->valid > 0;
    p->outside |= piece->at + PTX_TENSOR_PIECE > p->cta->shared_bytes && (piece->valid || !p->stores);
}

static void note_piece(void *user, const PtxTensorPiece *piece)
{
    Pieces *p = user;
    if (!piece->valid)
        return;
    if (p->cta)
        memcpy(p->block + p->n * PTX_TENSOR_PIECE, p->cta->shared + piece->at, PTX_TENSOR_PIECE);
    p->va[p->n++] = piece->va;
}

static void land_piece(void *user, const PtxTensorPiece *piece)
{
    Pieces *p = user;
    guint8 *to = p->cta->shared + piece->at;
    ptx_tensor_piece(p->copy, piece->valid, p->block + p->n * PTX_TENSOR_PIECE, to);
    p->n += piece->valid > 0;
}

static void land(const PtxAccess *access)
{
    const PtxCluster *cluster = access->warp->cta->cluster_of;
    guint32 bytes = (guint32)ptx_tensor_bytes(access->tensor);
    for (guint32 c = 0; c < cluster->size; c++) {
        PtxCta *cta = cluster->cta[c];
        if (!(access->multicast ? access->multicast >> c & 1 : cta == access->into))
            continue;
        Pieces p = {.copy = access->tensor, .cta = cta, .block = access->block};
        ptx_tensor_walk(access->tensor, land_piece, &p);
        ptx_mbarrier_complete_tx(access->multicast ? cta : access->barrier_cta, access->barrier_at, bytes);
    }
}

static void land_tensor(PtxAccess *access)
{
    if (access->kind == PTX_ACCESS_BULK_LOAD)
        land(access);
    ptx_access_clear(access);
    ptx_group_landed(access);
}

/* `from`: whose shared memory a store takes; NULL: it is a load. FALSE: a fault. */
static PtxAccess *make_access(const Tensor *t, PtxCta *place, gboolean stores)
{
    Pieces p = {.copy = &t->copy, .cta = place, .stores = stores};
    ptx_tensor_walk(&t->copy, count_piece, &p);
    if (p.outside) {
        ptx_fault(t->warp, t->ins, t->lane, PTX_FAULT_ILLEGAL_ADDRESS, t->copy.base,
                  "the tensor map's box at %u of shared memory needs %" G_GUINT64_FORMAT " bytes; there are %u",
                  t->copy.base, ptx_tensor_span(&t->copy), place->shared_bytes);
        return NULL;
    }
    PtxAccess *access = ptx_access_new(t->warp, t->path, t->ins, stores ? PTX_ACCESS_BULK_STORE : PTX_ACCESS_BULK_LOAD,
                                       1u << t->lane);
    access->tensor = g_memdup2(&t->copy, sizeof t->copy);
    access->block_bytes = p.n * PTX_TENSOR_PIECE;
    access->block = g_malloc(MAX(access->block_bytes, 1u));
    access->piece_va = g_new(guint64, MAX(p.n, 1u));
    access->row_bytes = t->copy.row_bytes;
    access->target = TARGET_BULK;
    access->land = land_tensor;
    p = (Pieces){.copy = &t->copy, .cta = stores ? place : NULL, .block = access->block, .va = access->piece_va};
    ptx_tensor_walk(&t->copy, note_piece, &p);
    access->va[0] = p.n ? access->piece_va[0] : t->copy.map.address;
    return access;
}

/* One that has nothing to ask of memory is complete at once: all of it lies outside the tensor. */
static PtxStep issued(PtxWarp *warp, PtxAccess *access)
{
    if (access->block_bytes)
        return STEP_ACCESS;
    warp->handed = NULL;
    ptx_access_complete(access);
    return STEP_NEXT;
}

static PtxStep load(Tensor *t, guint64 to, guint64 barrier)
{
    PtxCta *into, *of;
    guint32 barrier_at, multicast = 0;
    if (!place_shared(t, to, &into) ||
        !ptx_shared_place(t->warp, t->path, t->ins, barrier, 8, t->lane, &of, &barrier_at))
        return STEP_FAULT;
    if (t->ins->flags & FLAG_THREE) {
        multicast = (guint32)place_value(t, t->ins->vec2 + t->ins->n_vec2 - 1u, 2) & 0xffffu;
        if (multicast == 0) /* no CTA gets anything, and no mbarrier hears of it */
            return STEP_NEXT;
        if (multicast >> t->warp->cta->cluster_of->size) {
            tensor_fail(t, "the mask names CTAs that the cluster does not have");
            return STEP_FAULT;
        }
    }
    PtxAccess *access = make_access(t, into, FALSE);
    if (!access)
        return STEP_FAULT;
    access->into = into;
    access->barrier_cta = of;
    access->barrier_at = barrier_at;
    access->multicast = multicast;
    return issued(t->warp, access);
}

static PtxStep store(Tensor *t, guint64 from)
{
    PtxWarp *warp = t->warp;
    PtxCta *out_of;
    PtxWord op = t->ins->combine;
    PtxType type = op ? ptx_tensor_reduction_type(t->copy.map.type, op) : T_B32;
    if (type == T_NONE) {
        g_autofree char *text = g_strdup_printf("no reduction by .%s of the tensor map's type", ptx_word_name(op));
        tensor_fail(t, text);
        return STEP_FAULT;
    }
    if (!place_shared(t, from, &out_of))
        return STEP_FAULT;
    PtxAccess *access = make_access(t, out_of, TRUE);
    if (!access)
        return STEP_FAULT;
    if (op) { /* an L2 takes words, of halves two in each */
        access->kind = PTX_ACCESS_BULK_RED;
        access->type = type == T_F16 ? T_F16X2 : type == T_BF16 ? T_BF16X2 : (guint8)type;
        access->op = op;
    }
    if (!warp->open[1])
        warp->open[1] = g_new0(PtxGroup, 1);
    access->group = warp->open[1];
    access->group->mask |= 1u << t->lane;
    access->group->pending++;
    return issued(warp, access);
}

/* As for other bulk copies: several lanes take turns. */
PtxStep ptx_step_tensor(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask)
{
    guint64 shared[PTX_LANES], map[PTX_LANES], barrier[PTX_LANES] = {0};
    guint lane = (guint)__builtin_ctz(mask);
    if (mask != path->mask)
        ptx_path_split(warp, path, path->mask & ~mask, path->pc + 1, path->pc + 1);
    if (mask & (mask - 1))
        ptx_path_split(warp, path, mask & ~(1u << lane), path->pc, path->pc + 1);
    ptx_addresses(warp, ins, 0, ins->imm, shared);
    ptx_addresses(warp, ins, 1, 0, map);
    if (ins->src[3] != PLACE_NONE)
        ptx_addresses(warp, ins, 3, 0, barrier);
    Tensor t = {.warp = warp, .path = path, .ins = ins, .lane = lane, .map_va = map[lane]};
    if (!ptx_tensor_read(warp, ins, lane, t.map_va, ins->mode == W_IM2COL, &t.copy.map) || !read_coordinates(&t))
        return STEP_FAULT;
    return ins->op == OP_TENSOR_G2S ? load(&t, shared[lane], barrier[lane]) : store(&t, shared[lane]);
}

/* ---- changes of maps */

static PtxStep replace(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint lane, guint64 va)
{
    PtxCta *cta;
    guint32 at;
    guint64 value = ptx_lane_get(warp, ins->src[2], ins->src_bytes[2], lane);
    guint ordinal = ins->src[3] != PLACE_NONE ? ptx_lane_u32(warp, ins->src[3], lane) : 0;
    guint8 *map = ptx_shared_place(warp, path, ins, va, PTX_TENSOR_MAP_BYTES, lane, &cta, &at);
    if (!map)
        return STEP_FAULT;
    if (!ptx_tensor_map_replace(map, (PtxWord)ins->mode, ordinal, value))
        return ptx_fault(warp, ins, lane, PTX_FAULT_ILLEGAL_INSTRUCTION, va,
                         "tensormap.replace: %s %u cannot be 0x%" G_GINT64_MODIFIER "x",
                         ptx_word_name((PtxWord)ins->mode), ordinal, value);
    ptx_cluster_changed(warp->cta->cluster_of);
    return STEP_NEXT;
}

/* All lanes of a warp name the same map: the first of them copies it, as a store of eight lanes. */
static PtxStep copy_map(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint lane, guint64 to, guint64 from)
{
    PtxCta *cta;
    guint32 at;
    const guint8 *map = ptx_shared_place(warp, path, ins, from, PTX_TENSOR_MAP_BYTES, lane, &cta, &at);
    if (!map)
        return STEP_FAULT;
    if (to % PTX_TENSOR_MAP_BYTES)
        return ptx_fault(warp, ins, lane, PTX_FAULT_MISALIGNED, to,
                         "tensormap.cp_fenceproxy to 0x%" G_GINT64_MODIFIER "x, which is no multiple of 128", to);
    PtxAccess *access = ptx_access_new(warp, path, ins, PTX_ACCESS_STORE, 0xffu);
    access->width = PTX_TENSOR_PIECE;
    memcpy(access->bytes, map, PTX_TENSOR_MAP_BYTES);
    for (guint l = 0; l < 8; l++)
        access->va[l] = to + l * PTX_TENSOR_PIECE;
    return STEP_ACCESS;
}

PtxStep ptx_step_tensormap(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask)
{
    guint64 to[PTX_LANES], from[PTX_LANES];
    ptx_addresses(warp, ins, 0, ins->imm, to);
    if (ins->op == OP_TENSORMAP_COPY) {
        guint lane = (guint)__builtin_ctz(mask);
        ptx_addresses(warp, ins, 1, 0, from);
        return copy_map(warp, path, ins, lane, to[lane], from[lane]);
    }
    for (guint l = 0; l < PTX_LANES; l++)
        if ((mask >> l & 1) && replace(warp, path, ins, l, to[l]) == STEP_FAULT)
            return STEP_FAULT;
    return STEP_NEXT;
}
