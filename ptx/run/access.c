/* What is handed to the host: made, filled from registers, and completed into them. */
#include "ptx/run/exec.h"

PtxAccess *ptx_access_new(PtxWarp *warp, PtxPath *path, const PtxIns *ins, PtxAccessKind kind, guint32 mask)
{
    PtxAccess *access = warp->spare;
    if (access)
        warp->spare = access->next;
    else
        access = g_new(PtxAccess, 1);
    memset(access, 0, G_STRUCT_OFFSET(PtxAccess, va));
    access->kind = (guint8)kind;
    access->mask = mask;
    access->ins = ins;
    access->warp = warp;
    access->type = ins->type;
    access->op = ins->mode;
    access->acc = ins->combine;
    access->order = ins->order;
    access->scope = ins->scope;
    access->noftz = (ins->flags & FLAG_NOFTZ) != 0;
    access->block = NULL;
    access->piece_va = NULL;
    access->tensor = NULL;
    access->row_bytes = 0;
    access->parts = 0;
    access->target = TARGET_NONE;
    access->land = NULL;
    access->outstanding = TRUE;
    access->holds = FALSE;
    access->group = NULL;
    access->into = access->barrier_cta = NULL;
    access->serial = 0;
    access->fill_bytes = access->multicast = access->barrier_at = 0;
    access->frame = ptx_frame_ref(path->frame);
    access->next = warp->pending;
    warp->pending = access;
    warp->handed = access;
    return access;
}

void ptx_access_clear(PtxAccess *access)
{
    g_clear_pointer(&access->block, g_free);
    g_clear_pointer(&access->piece_va, g_free);
    g_clear_pointer(&access->tensor, g_free);
}

/* ---- registers and bytes */

static guint64 element_read(const guint8 *at, guint bytes, gboolean is_signed)
{
    guint64 value = 0;
    memcpy(&value, at, MIN(bytes, 8u));
    if (is_signed && bytes < 8)
        value = (guint64)((gint64)(value << (64 - 8 * bytes)) >> (64 - 8 * bytes));
    return value;
}

/* Bytes of lanes, each n_vec elements of so many bytes, into the registers of an instruction. */
void ptx_bytes_to_registers(PtxFrame *frame, const PtxIns *ins, guint32 mask, const guint8 *bytes, guint stride)
{
    guint element = ins->dst_bytes, width = ins->src_bytes[3];
    gboolean is_signed = ptx_type_is_signed((PtxType)ins->type);
    const guint32 *places = &frame->code->places[ins->vec];
    gboolean quads = ins->n_vec == 4 && element == 4 && width == 4 && stride == 16 && mask == PTX_FULL_MASK;
    if (quads && places[0] != PLACE_NONE && places[1] != PLACE_NONE && places[2] != PLACE_NONE &&
        places[3] != PLACE_NONE) {
        frame->code->hot->split((guint32 *)(void *)(frame->regs + places[0]),
                                (guint32 *)(void *)(frame->regs + places[1]),
                                (guint32 *)(void *)(frame->regs + places[2]),
                                (guint32 *)(void *)(frame->regs + places[3]), (const guint32 *)(const void *)bytes);
        return;
    }
    for (guint e = 0; e < ins->n_vec; e++) {
        guint32 place = frame->code->places[ins->vec + e];
        if (place == PLACE_NONE)
            continue;
        guint8 *to = frame->regs + place;
        const guint8 *from = bytes + e * element;
        if (element == 4 && width == 4 && mask == PTX_FULL_MASK) {
            guint32 *words = (guint32 *)(void *)to;
            for (guint l = 0; l < PTX_LANES; l++)
                memcpy(&words[l], from + l * stride, 4);
        } else if (element == 8 && width == 8 && mask == PTX_FULL_MASK) {
            guint64 *words = (guint64 *)(void *)to;
            for (guint l = 0; l < PTX_LANES; l++)
                memcpy(&words[l], from + l * stride, 8);
        } else {
            for (guint l = 0; l < PTX_LANES; l++) {
                if (!(mask >> l & 1))
                    continue;
                guint64 value[2] = {element_read(from + l * stride, element, is_signed), 0};
                if (element == 16)
                    memcpy(value, from + l * stride, 16);
                memcpy(to + l * width, value, width);
            }
        }
    }
}

void ptx_registers_to_bytes(const PtxWarp *warp, const guint32 *places, guint n, guint element, guint width,
                            guint8 *bytes, guint stride)
{
    if (n == 4 && element == 4 && width == 4 && stride == 16) {
        warp->current->frame->code->hot->join((guint32 *)(void *)bytes, ptx_lanes(warp, places[0]),
                                              ptx_lanes(warp, places[1]), ptx_lanes(warp, places[2]),
                                              ptx_lanes(warp, places[3]));
        return;
    }
    for (guint e = 0; e < n; e++) {
        const guint8 *from = ptx_lanes(warp, places[e]);
        guint8 *to = bytes + e * element;
        if (element == 4 && width == 4)
            for (guint l = 0; l < PTX_LANES; l++)
                memcpy(to + l * stride, from + l * 4, 4);
        else if (element == 8 && width == 8)
            for (guint l = 0; l < PTX_LANES; l++)
                memcpy(to + l * stride, from + l * 8, 8);
        else
            for (guint l = 0; l < PTX_LANES; l++)
                memcpy(to + l * stride, from + l * width, element);
    }
}

void ptx_mark_busy(PtxFrame *frame, const PtxIns *ins)
{
    for (guint i = 0; i < ins->n_vec; i++) {
        guint32 place = frame->code->places[ins->vec + i];
        if (place != PLACE_NONE)
            frame->busy |= (guint64)1 << (place / 64 % 64);
    }
    frame->pending++;
}

static void busy_again(PtxWarp *warp, PtxFrame *frame)
{
    frame->busy = 0;
    for (const PtxAccess *access = warp->pending; access && frame->pending; access = access->next)
        for (guint i = 0; access->frame == frame && access->target == TARGET_REGISTERS && i < access->ins->n_vec; i++) {
            guint32 place = frame->code->places[access->ins->vec + i];
            if (place != PLACE_NONE)
                frame->busy |= (guint64)1 << (place / 64 % 64);
        }
}

void ptx_access_complete(PtxAccess *access)
{
    PtxWarp *warp = access->warp;
    PtxFrame *frame = access->frame;
    g_assert(access->outstanding);
    access->outstanding = FALSE;
    PtxAccess **at = &warp->pending;
    while (*at != access)
        at = &(*at)->next;
    *at = access->next;
    if (access->target == TARGET_REGISTERS) {
        ptx_bytes_to_registers(frame, access->ins, access->mask, access->bytes, access->width);
        if (G_UNLIKELY(warp->traced != NULL))
            ptx_trace_answer(warp, access);
        frame->pending--;
        busy_again(warp, frame);
    } else if (access->land) {
        access->land(access);
    }
    for (PtxPath *path = warp->head; access->holds && path; path = path->next)
        if (path->state == PATH_ACCESS && path->access == access) {
            path->state = PATH_READY;
            path->access = NULL;
        }
    ptx_frame_unref(warp, frame);
    access->next = warp->spare;
    warp->spare = access;
}

const guint8 *ptx_access_registers(const PtxAccess *access, gsize *bytes)
{
    *bytes = access->frame->code->frame_bytes;
    return access->frame->regs;
}
