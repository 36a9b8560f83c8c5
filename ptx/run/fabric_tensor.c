/* Operations on boxes of a tensor in a logical endpoint: fabric.try_get, try_put, try_red with .async.tensor.
 *
 * The box is that of a copy by tensor map (tensor.c), whose address is the offset in the endpoint; where the
 * instruction says so, its dimensions and strides, too (PTX ISA 9.4, "Overriding tensor property value"). What lies
 * outside the tensor is filled by a get, left alone by puts and reductions, and counts as moved at the mbarrier. */
#include "ptx/run/fabric.h"
#include "ptx/run/tensor.h"

typedef struct {
    PtxWarp *warp;
    const PtxIns *ins;
    guint lane;
    PtxFabricOp *op;
} Box;

static gboolean box_fail(const Box *box, const char *text)
{
    ptx_fault(box->warp, box->ins, box->lane, PTX_FAULT_ILLEGAL_INSTRUCTION, box->op->offset, "%s to endpoint 0x%x: %s",
              ptx_fabric_name(box->op), box->op->endpoint, text);
    return FALSE;
}

/* The value of operand `at` of vec2. */
static guint64 value(const Box *box, guint at, guint bytes)
{
    return ptx_lane_get(box->warp, box->warp->current->frame->code->places[box->ins->vec2 + at], bytes, box->lane);
}

/* ---- the map */

/* Dimensions have 8 bits here; of a stride the high 4 bits of 36 lie beside those of the others, in units of 16 B. */
static gboolean resize(const Box *box, PtxTensorMap *map, guint at)
{
    guint rank = map->rank, high = at + rank + rank - 1;
    for (guint i = 0; i < rank; i++) {
        map->dim[i] = value(box, at + i, 2) & 0xff;
        if (map->dim[i] == 0)
            return box_fail(box, "a dimension in place of the map's is not 0");
        if (box->op->tensor->at[i])
            return box_fail(box, "with dimensions in place of the map's all coordinates are 0");
    }
    for (guint i = 0; i + 1 < rank; i++)
        map->stride[i] = (value(box, at + rank + i, 4) | (value(box, high, 2) >> 4 * i & 0xf) << 32) << 4;
    return TRUE;
}

static gboolean read_tensor(const Box *box, guint64 map_va)
{
    PtxTensorCopy *copy = box->op->tensor;
    const PtxIns *ins = box->ins;
    const guint32 *places = box->warp->current->frame->code->places;
    if (!ptx_tensor_read(box->warp, ins, box->lane, map_va, FALSE, &copy->map))
        return FALSE;
    for (guint i = 0; i < ins->n_vec; i++)
        copy->at[i] = (gint32)ptx_lane_get(box->warp, places[ins->vec + i], 4, box->lane);
    if ((ins->mode & PTX_FABRIC_RESIZED) && !resize(box, &copy->map, box->op->counted ? 3 : 2))
        return FALSE;
    copy->map.address = box->op->offset;
    const char *broken = ptx_tensor_plan(copy, box->op->kind == PTX_FABRIC_GET);
    return !broken || box_fail(box, broken);
}

/* ---- runs */

static void add_piece(void *user, const PtxTensorPiece *piece)
{
    GArray *runs = user;
    PtxFabricRun *last = runs->len ? &g_array_index(runs, PtxFabricRun, runs->len - 1) : NULL;
    PtxFabricRun next = {.offset = piece->va, .at = last ? last->at + last->bytes : 0, .bytes = PTX_TENSOR_PIECE};
    if (!piece->valid)
        return;
    if (last && last->offset + last->bytes == piece->va)
        last->bytes += PTX_TENSOR_PIECE;
    else
        g_array_append_val(runs, next);
}

/* Where in the endpoint the box's bytes lie; FALSE: a counter is among them. */
static gboolean find_runs(PtxFabricOp *op)
{
    GArray *runs = g_array_new(FALSE, FALSE, sizeof(PtxFabricRun));
    gboolean apart = TRUE;
    ptx_tensor_walk(op->tensor, add_piece, runs);
    op->n_run = runs->len;
    op->run = (PtxFabricRun *)(void *)g_array_free(runs, FALSE);
    for (guint32 r = 0; r < op->n_run; r++) {
        op->bytes += op->run[r].bytes;
        apart &= !op->counted || op->counter >= op->run[r].offset + op->run[r].bytes ||
                 op->run[r].offset >= op->counter + 8;
    }
    return apart;
}

/* What PTX calls undefined is a fault, as for operations without a tensor. */
static gboolean check(const Box *box, guint64 shared, guint64 size)
{
    PtxFabricOp *op = box->op;
    guint64 bytes = ptx_tensor_bytes(op->tensor);
    const PtxTensorMap *map = &op->tensor->map;
    if (op->offset % PTX_TENSOR_PIECE)
        return box_fail(box, "its offset is aligned to 16");
    if (shared % PTX_TENSOR_PIECE)
        return box_fail(box, "its address in shared memory is aligned to 16");
    if (op->kind != PTX_FABRIC_GET && size != bytes) {
        g_autofree char *text = g_strdup_printf(
            "its size is that of the map's box, %" G_GUINT64_FORMAT " bytes, not %" G_GUINT64_FORMAT, bytes, size);
        return box_fail(box, text);
    }
    if (op->counted && op->counter % 256)
        return box_fail(box, "its counter's offset is aligned to 256");
    op->type = op->op ? (guint8)ptx_tensor_reduction_type(map->type, (PtxWord)op->op) : T_B128;
    if (op->type == T_NONE)
        return box_fail(box, "there is no such reduction of the tensor map's type");
    return find_runs(op) || box_fail(box, "its counter lies outside the data");
}

static gboolean place(const Box *box, guint64 shared, guint64 barrier)
{
    PtxFabricOp *op = box->op;
    guint64 span = ptx_tensor_span(op->tensor);
    if (span > PTX_SHARED_BYTES_MAX)
        return box_fail(box, "the box is larger than shared memory");
    return ptx_fabric_shared(box->warp, box->ins, shared, (guint32)span, box->lane, &op->tensor->base) &&
           ptx_fabric_shared(box->warp, box->ins, barrier, 8, box->lane, &op->barrier_at) &&
           ptx_fabric_reports(box->warp, box->ins, op, box->lane);
}

static gboolean one_lane(PtxWarp *warp, const PtxIns *ins, guint lane, guint64 shared, guint64 map, guint64 barrier)
{
    PtxFabricOp *op = g_new0(PtxFabricOp, 1);
    Box box = {.warp = warp, .ins = ins, .lane = lane, .op = op};
    op->tensor = g_new0(PtxTensorCopy, 1);
    op->kind = ins->op == OP_FABRIC_TENSOR_GET   ? PTX_FABRIC_GET
               : ins->op == OP_FABRIC_TENSOR_PUT ? PTX_FABRIC_PUT
                                                 : PTX_FABRIC_RED;
    op->op = ins->combine;
    op->multicast = (ins->mode & PTX_FABRIC_MULTIMEM) != 0;
    op->counted = (ins->mode & PTX_FABRIC_COUNTED) != 0;
    op->endpoint = (guint32)value(&box, 0, 4);
    op->offset = value(&box, 1, 8);
    op->counter = op->counted ? value(&box, 2, 8) : 0;
    op->byte_mask = 0xffffu;
    op->ins = ins;
    op->warp = warp;
    op->cta = warp->cta;
    op->lanes = 1u << lane;
    guint64 size = op->kind == PTX_FABRIC_GET ? 0 : ptx_lane_u32(warp, ins->src[2], lane);
    if (!read_tensor(&box, map) || !check(&box, shared, size) || !place(&box, shared, barrier)) {
        ptx_fabric_free(op);
        return FALSE;
    }
    op->box_bytes = (guint32)ptx_tensor_bytes(op->tensor);
    ptx_fabric_append(op);
    return TRUE;
}

PtxStep ptx_step_fabric_tensor(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask)
{
    guint64 shared[PTX_LANES], map[PTX_LANES], barrier[PTX_LANES];
    (void)path;
    ptx_addresses(warp, ins, 0, ins->imm, shared);
    ptx_addresses(warp, ins, 1, 0, barrier);
    ptx_addresses(warp, ins, 3, 0, map);
    for (guint l = 0; l < PTX_LANES; l++)
        if ((mask >> l & 1) && !one_lane(warp, ins, l, shared[l], map[l], barrier[l]))
            return STEP_FAULT;
    return STEP_NEXT;
}
