/* Operations on logical endpoints: from what fabric.submit hands over to the GPU's fabric engine, and back.
 *
 * An endpoint is looked up when its operation is submitted. What PTX leaves to the program to find out (an endpoint
 * that is not there, a range beyond it, a GPU that is not of its team or clique, packets that get lost) is no fault of
 * the kernel: the operation completes with a report at its mbarrier. See docs/fabric-operations.md. */
#include <string.h>

#include "device/kernel/internal.h"
#include "model/gpu/fabric_engine.h"
#include "model/memory/endpoint.h"

typedef struct {
    Gpu *gpu;
    PtxFabricOp *op;
    guint8 report;                /* KERNEL_FABRIC_*: found when it was looked up */
    Event event;                  /* of one that the engine does not get */
    guint8 slot[DATA_SLOT_BYTES]; /* of an atomic */
} KernelFabric;

static guint8 report_of_status(EndpointStatus status)
{
    return status == ENDPOINT_OK             ? 0
           : status == ENDPOINT_OUT_OF_RANGE ? KERNEL_FABRIC_RANGE
           : status == ENDPOINT_NOT_BOUND    ? KERNEL_FABRIC_RANGE
           : status == ENDPOINT_OTHER_CLIQUE ? KERNEL_FABRIC_UNREACHABLE
                                             : KERNEL_FABRIC_NO_ENDPOINT;
}

static guint8 report_of_fault(TxnFault fault)
{
    return fault == TXN_OK        ? 0
           : fault == TXN_TIMEOUT ? KERNEL_FABRIC_TIMEOUT
           : fault == TXN_LOST    ? KERNEL_FABRIC_LOST
           : fault == TXN_UNBOUND ? KERNEL_FABRIC_RANGE
                                  : KERNEL_FABRIC_NO_ENDPOINT;
}

const char *kernel_fabric_report_text(guint8 report)
{
    return report & KERNEL_FABRIC_NO_ENDPOINT   ? "no such endpoint, or it is not ready"
           : report & KERNEL_FABRIC_RANGE       ? "beyond the endpoint, or nothing is bound there"
           : report & KERNEL_FABRIC_UNREACHABLE ? "of another clique, or the GPU is not of its team"
           : report & KERNEL_FABRIC_KIND        ? "unicast or multicast where the other is asked for, or not for counts"
           : report & KERNEL_FABRIC_LOST        ? "lost"
           : report & KERNEL_FABRIC_TIMEOUT     ? "timed out"
                                                : "went well";
}

/* ---- ends */

static void count_report(Gpu *gpu, guint32 endpoint, guint8 report)
{
    const FabricReport first = {.endpoint = endpoint, .report = report, .operations = 1};
    if (!gpu->fabric_reports)
        gpu->fabric_reports = g_array_new(FALSE, FALSE, sizeof(FabricReport));
    for (guint i = 0; i < gpu->fabric_reports->len; i++) {
        FabricReport *known = &g_array_index(gpu->fabric_reports, FabricReport, i);
        if (known->endpoint == endpoint && known->report == report) {
            known->operations++;
            return;
        }
    }
    g_array_append_val(gpu->fabric_reports, first);
}

static void finish(KernelFabric *fabric, guint8 report)
{
    PtxFabricOp *op = fabric->op;
    if (op->kind == PTX_FABRIC_ATOM) {
        guint32 element = ptx_types[op->type].memory;
        memset(op->block, 0, op->bytes);
        memcpy(op->block + op->offset % 16, fabric->slot, element);
    }
    if (report)
        count_report(fabric->gpu, op->endpoint, report);
    ptx_fabric_complete(op, report);
    g_free(fabric);
}

static void on_done(void *user, TxnFault fault, SimTime now_ps)
{
    (void)now_ps;
    finish(user, report_of_fault(fault));
}

static void on_read(void *user, SimTime now_ps)
{
    const KernelFabric *fabric = user;
    (void)now_ps;
    ptx_fabric_read(fabric->op);
}

static void on_refused(Event *event, SimTime now_ps)
{
    KernelFabric *fabric = EVENT_OWNER(event, KernelFabric, event);
    (void)now_ps;
    fabric->gpu->fabric_failed++;
    finish(fabric, fabric->report);
}

static void on_drop(void *user)
{
    KernelFabric *fabric = user;
    ptx_fabric_drop(fabric->op);
    g_free(fabric);
}

/* ---- look-up */

static FabricSpan span_of(const EndpointTarget *target, guint32 at)
{
    FabricSpan span = {.at = at, .bytes = (guint32)target->bytes};
    if (target->flags & ENDPOINT_MULTICAST) {
        span.object = target->object;
        span.offset = target->offset;
    } else {
        EndpointPart part = endpoint_part(target, 0);
        span.region = part.region;
        span.offset = part.offset;
    }
    return span;
}

static guint8 check_kind(const KernelFabric *fabric, const EndpointTarget *target)
{
    const PtxFabricOp *op = fabric->op;
    gboolean multicast = (target->flags & ENDPOINT_MULTICAST) != 0;
    if (multicast != op->multicast || (op->counted && !(target->flags & ENDPOINT_COUNTED)))
        return KERNEL_FABRIC_KIND;
    return multicast && !mcobject_has_member(target->object, fabric->gpu->id) ? KERNEL_FABRIC_UNREACHABLE : 0;
}

static guint8 add_spans(const KernelFabric *fabric, const EndpointTable *table, const PtxFabricRun *run, GArray *spans)
{
    guint8 report = 0;
    EndpointTarget target = {0};
    for (guint32 done = 0; done < run->bytes && !report; done += (guint32)target.bytes) {
        report = report_of_status(endpoint_resolve(table, fabric->op->endpoint, run->offset + done, run->bytes - done,
                                                   fabric->gpu->id, &target));
        if (!report)
            report = check_kind(fabric, &target);
        if (report)
            break;
        FabricSpan span = span_of(&target, run->at + done);
        g_array_append_val(spans, span);
    }
    return report;
}

/* The spans of an operation's range, and its counter. */
static guint8 look_up(const KernelFabric *fabric, const EndpointTable *table, FabricWork *work)
{
    const PtxFabricOp *op = fabric->op;
    GArray *spans = g_array_new(FALSE, FALSE, sizeof(FabricSpan));
    const PtxFabricRun whole = {.offset = op->offset, .bytes = work->bytes};
    guint8 report = 0;
    EndpointTarget target;
    for (guint32 r = 0; r < MAX(op->n_run, 1u) && !report; r++)
        report = add_spans(fabric, table, op->run ? &op->run[r] : &whole, spans);
    if (!report && op->counted) {
        report = report_of_status(endpoint_resolve(table, op->endpoint, op->counter, 8, fabric->gpu->id, &target));
        if (!report && target.bytes < 8)
            report = KERNEL_FABRIC_RANGE;
        if (!report)
            work->counter = span_of(&target, 0);
    }
    work->n_span = spans->len;
    work->span = (FabricSpan *)(void *)g_array_free(spans, FALSE);
    return report;
}

/* ---- submission */

static void set_atomic(KernelFabric *fabric, FabricWork *work)
{
    const PtxFabricOp *op = fabric->op;
    guint32 element = ptx_types[op->type].memory, at = (guint32)(op->offset % 16);
    work->kind = PACKET_ATOM;
    work->bytes = element;
    work->type = op->type;
    work->op = TXN_ATOM_CALL;
    work->acc = op->op;
    work->data = fabric->slot;
    memcpy(fabric->slot, op->block + at + (op->op == W_CAS ? 16 : 0), element);
    if (op->op == W_CAS)
        memcpy(fabric->slot + DATA_SLOT_BYTES / 2, op->block + at, element);
}

static void set_transfer(const PtxFabricOp *op, FabricWork *work)
{
    static const guint8 kinds[][2] = {[PTX_FABRIC_PUT] = {PACKET_WRITE, PACKET_MC_WRITE},
                                      [PTX_FABRIC_GET] = {PACKET_READ, PACKET_READ},
                                      [PTX_FABRIC_RED] = {PACKET_RED, PACKET_MC_RED},
                                      [PTX_FABRIC_PULLRED] = {PACKET_MC_READ, PACKET_MC_READ}};
    work->kind = (PacketKind)kinds[op->kind][op->multicast];
    work->bytes = op->bytes;
    work->data = op->block;
    work->byte_mask = op->byte_mask;
    work->counted = op->counted;
    if (op->kind == PTX_FABRIC_RED || op->kind == PTX_FABRIC_PULLRED) {
        work->type = (guint8)kernel_numeric_type((PtxType)op->type);
        work->op = (guint8)kernel_numeric_op((PtxWord)op->op);
        work->acc = op->acc == W_ACC_F32 ? NUMERIC_ACC_F32 : op->acc == W_ACC_F16 ? NUMERIC_ACC_F16 : NUMERIC_NATIVE;
    }
}

void kernel_fabric(void *user, PtxFabricOp *op)
{
    const KernelLaunch *launch = user;
    const GpuSpec *spec = launch->gpu->spec;
    KernelFabric *fabric = g_new0(KernelFabric, 1);
    FabricWork work = {.endpoint = op->endpoint,
                       .byte_mask = 0xffffu,
                       .read = on_read,
                       .done = on_done,
                       .drop = on_drop,
                       .user = fabric};
    fabric->gpu = launch->gpu;
    fabric->op = op;
    op->host = fabric;
    if (op->kind == PTX_FABRIC_ATOM)
        set_atomic(fabric, &work);
    else
        set_transfer(op, &work);
    fabric->report = look_up(fabric, vas_endpoints(launch->vas), &work);
    if (!fabric->report) {
        fabric_engine_post(launch->gpu, &work);
        return;
    }
    g_free(work.span);
    event_init(&fabric->event, on_refused);
    sim_at(launch->fabric->sim, &fabric->event,
           sim_now_ps(launch->fabric->sim) + spec->fabric_post_ps + spec->fabric_report_ps, EVENT_PRIORITY_DEVICE);
}
