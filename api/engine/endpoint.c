/* Logical endpoints of programs: which object an identifier leads to, and copies that name one. */
#include "api/engine/internal.h"

void engine_endpoint_request(Engine *engine, const EngineRequest *request, EngineReply *reply)
{
    EndpointTable *table = vas_endpoints_make(engine_vas(engine, request->client), engine->spec.clique_gpus);
    McObject *object = engine_object(engine, request->object);

    switch (request->op) {
    case ENGINE_ENDPOINT_RESERVE: endpoint_reserve(table, (guint32)request->value, (guint32)request->bytes); return;
    case ENGINE_ENDPOINT_RELEASE: endpoint_release(table, (guint32)request->value, (guint32)request->bytes); return;
    default:
        if (!endpoint_set(table, (guint32)request->value, object, request->access))
            reply->status = ENGINE_INVALID;
    }
}

void engine_endpoints_forget(Engine *engine, const McObject *object)
{
    for (guint i = 0; i < engine->vases->len; i++)
        if (engine_vas(engine, i))
            endpoint_forget(vas_endpoints(engine_vas(engine, i)), object);
}

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
