/* Copies that name a logical endpoint: where its memory is, when they run. */
#include "machine/engine/endpoint.h"

/* The end of work that names an endpoint which leads nowhere, or not as far. */
static void tell(Work *work, guint32 id, guint64 offset, EndpointStatus status)
{
    g_autofree char *text = g_strdup_printf("endpoint %u, which %s", id, endpoint_status_text(status));
    FabricFault fault = {.kind = FAULT_UNMAPPED,
                         .gpu = (guint16)work->request.gpu,
                         .who = "copy engine",
                         .text = g_intern_string(text),
                         .va = offset,
                         .cause = work,
                         .time_ps = sim_now_ps(work->engine->sim)};

    fabric_fault(work->engine->fabric, &fault);
    engine_work_done(work, FAULT_UNMAPPED, fault.time_ps);
}

gboolean engine_endpoint_end(Work *work, guint32 id, guint64 offset, CopyEnd *end, guint64 *room)
{
    const EndpointTable *table = vas_endpoints(engine_vas(work->engine, work->request.client));
    EndpointTarget target;
    EndpointStatus status = endpoint_resolve(table, id, offset, *room, (guint16)work->request.gpu, &target);

    if (status != ENDPOINT_OK) {
        tell(work, id, offset, status);
        return FALSE;
    }
    *room = target.bytes;
    if (target.flags & ENDPOINT_MULTICAST) {
        *end = (CopyEnd){.place = COPY_OBJECT, .object = target.object, .offset = target.offset};
        return TRUE;
    }
    EndpointPart part = endpoint_part(&target, 0);
    *end = (CopyEnd){.place = COPY_REGION, .region = part.region, .offset = part.offset};
    return TRUE;
}
