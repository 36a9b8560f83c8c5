/* Loops of fabric operations as what a warp does next. See fabric_stream.h. */
#include "device/fabric_stream.h"

#include "model/gpu/fabric_engine.h"

typedef enum { SLOT_FREE, SLOT_FETCHING, SLOT_FETCHED, SLOT_SENDING } SlotState;

typedef struct Run Run;
typedef struct {
    Run *run;
    SlotState state;
    guint64 at; /* of the stream's bytes */
    guint32 bytes;
    guint32 next_to; /* the destination to be posted next */
    guint32 sending; /* operations under way */
    guint8 *data;    /* NULL: timing only */
} Slot;

struct Run {
    DeviceSource source;
    FabricStream stream;
    Gpu *gpu;
    FoCta *cta;
    Warp *warp;
    guint64 at; /* to be fetched next */
    guint32 busy;
    gboolean failed;
    Slot slot[]; /* depth */
};

/* The spans of a range of addresses. */
static FabricSpan *spans_of(const Run *run, FoAddress va, guint32 bytes, guint32 *n)
{
    GArray *spans = g_array_new(FALSE, FALSE, sizeof(FabricSpan));
    for (guint32 at = 0; at < bytes;) {
        const VasMapping *mapping = vas_find(run->cta->cta->vas, va + at);
        g_assert(mapping != NULL); /* device_fabric_stream() has looked */
        guint64 inside = va + at - mapping->va;
        FabricSpan span = {.region = mapping->region,
                           .object = mapping->object,
                           .offset = mapping->offset + inside,
                           .at = at,
                           .bytes = (guint32)MIN(bytes - at, mapping->bytes - inside)};
        g_array_append_val(spans, span);
        at += span.bytes;
    }
    *n = spans->len;
    return (FabricSpan *)(void *)g_array_free(spans, FALSE);
}

static void failed(Run *run, FoAddress va, TxnFault fault)
{
    if (!run->failed && fault != TXN_OK)
        device_fault(run->cta, va, UOP_CALL, fault_kind_of(fault), "a fabric operation of a stream failed");
    run->failed |= fault != TXN_OK;
}

static void on_fetched(void *user, TxnFault fault, SimTime now_ps)
{
    Slot *slot = user;
    (void)now_ps;
    failed(slot->run, slot->run->stream.source + slot->at, fault);
    slot->state = SLOT_FETCHED;
    slot->next_to = 0;
    warp_unpark(slot->run->warp);
}

static void on_sent(void *user, TxnFault fault, SimTime now_ps)
{
    Slot *slot = user;
    (void)now_ps;
    failed(slot->run, slot->run->stream.to[0] + slot->at, fault);
    if (--slot->sending == 0 && slot->next_to == slot->run->stream.n_to) {
        slot->state = SLOT_FREE;
        slot->run->busy--;
    }
    warp_unpark(slot->run->warp);
}

static void fetch(Run *run, Slot *slot)
{
    const FabricStream *stream = &run->stream;
    slot->at = run->at;
    slot->bytes = (guint32)MIN(stream->chunk, stream->bytes - run->at);
    slot->state = SLOT_FETCHING;
    run->at += slot->bytes;
    run->busy++;
    FabricWork work = {.bytes = slot->bytes,
                       .byte_mask = 0xffffu,
                       .type = (guint8)stream->type,
                       .op = (guint8)stream->op,
                       .acc = (guint8)stream->acc,
                       .data = slot->data,
                       .done = on_fetched,
                       .user = slot};
    work.span = spans_of(run, stream->source + slot->at, slot->bytes, &work.n_span);
    work.kind = work.span[0].object ? PACKET_MC_READ : PACKET_READ;
    if (work.kind == PACKET_READ)
        work.type = work.op = work.acc = 0;
    fabric_engine_post(run->gpu, &work);
}

static void put(Run *run, Slot *slot)
{
    const FabricStream *stream = &run->stream;
    FabricWork work = {.bytes = slot->bytes, .byte_mask = 0xffffu, .data = slot->data, .done = on_sent, .user = slot};
    work.span = spans_of(run, stream->to[slot->next_to++] + slot->at, slot->bytes, &work.n_span);
    gboolean all = work.span[0].object != NULL;
    if (stream->reduces) {
        work.kind = all ? PACKET_MC_RED : PACKET_RED;
        work.type = (guint8)stream->type;
        work.op = (guint8)stream->op;
        work.acc = (guint8)stream->acc;
    } else {
        work.kind = all ? PACKET_MC_WRITE : PACKET_WRITE;
    }
    slot->sending++;
    if (slot->next_to == stream->n_to)
        slot->state = SLOT_SENDING;
    fabric_engine_post(run->gpu, &work);
}

/* A chunk that is there goes on before another is fetched. TRUE: something was posted. */
static gboolean post_one(Run *run)
{
    for (guint32 s = 0; s < run->stream.depth; s++)
        if (run->slot[s].state == SLOT_FETCHED && !run->failed) {
            put(run, &run->slot[s]);
            return TRUE;
        }
    for (guint32 s = 0; s < run->stream.depth && run->at < run->stream.bytes && !run->failed; s++)
        if (run->slot[s].state == SLOT_FREE) {
            fetch(run, &run->slot[s]);
            return TRUE;
        }
    return FALSE;
}

static gboolean is_over(const Run *run)
{
    for (guint32 s = 0; s < run->stream.depth; s++)
        if (run->slot[s].state == SLOT_FETCHING || run->slot[s].sending ||
            (run->slot[s].state == SLOT_FETCHED && !run->failed))
            return FALSE;
    return run->failed || run->at == run->stream.bytes;
}

static gboolean run_next(DeviceSource *source, Warp *warp, Uop *uop)
{
    Run *run = (Run *)source;
    run->warp = warp;
    if (post_one(run)) {
        *uop = (Uop){.kind = UOP_DELAY, .lanes = 1, .value = FABRIC_STREAM_CLK * run->gpu->sm_spec->clock_ps};
        return TRUE;
    }
    if (is_over(run))
        return FALSE;
    *uop = (Uop){.kind = UOP_PARK, .lanes = 1};
    return TRUE;
}

static void run_free(DeviceSource *source)
{
    Run *run = (Run *)source;
    for (guint32 s = 0; s < run->stream.depth; s++)
        g_free(run->slot[s].data);
    g_free(run);
}

static const DeviceSourceKind fabric_source = {run_next, run_free};

static gboolean is_mapped(FoCta *cta, FoAddress va, guint64 bytes)
{
    for (guint64 at = 0; at < bytes;) {
        const VasMapping *mapping = vas_find(cta->cta->vas, va + at);
        if (!mapping || va % 16) {
            device_fault(cta, va + at, UOP_CALL, mapping ? FAULT_MISALIGNED : FAULT_UNMAPPED, NULL);
            return FALSE;
        }
        at += mapping->bytes - (va + at - mapping->va);
    }
    return TRUE;
}

void device_fabric_stream(FoCta *cta, const FabricStream *stream)
{
    g_assert(stream->depth > 0 && stream->n_to > 0 && stream->n_to <= FABRIC_STREAM_TO);
    g_assert(stream->chunk > 0 && stream->chunk % 16 == 0 && stream->bytes % 16 == 0);
    if (stream->bytes == 0 || !is_mapped(cta, stream->source, stream->bytes))
        return;
    for (guint32 i = 0; i < stream->n_to; i++)
        if (!is_mapped(cta, stream->to[i], stream->bytes))
            return;
    Run *run = g_malloc0(sizeof *run + stream->depth * sizeof *run->slot);
    run->source.kind = &fabric_source;
    run->stream = *stream;
    run->gpu = cta->launch->gpu;
    run->cta = cta;
    for (guint32 s = 0; s < stream->depth; s++) {
        run->slot[s].run = run;
        run->slot[s].data = cta->launch->fabric->keep_bytes ? g_malloc0(stream->chunk) : NULL;
    }
    device_push_source(cta, 0, &run->source);
}
