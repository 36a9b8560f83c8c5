/* Copies and fills as work of streams, through the model's copy engines.
 *
 * Host memory that the fabric does not see is read when the work starts, or before the call returns
 * when the caller may change it then (as with a real driver's staging), and written when the work ends. */
#include "machine/engine/endpoint.h"

#include <string.h>

static guint64 work_rows(const EngineRequest *request)
{
    return request->op == ENGINE_COPY || request->height == 0 ? 1 : request->height;
}

static gboolean read_source(Work *work)
{
    const EngineRequest *r = &work->request;
    guint64 rows = work_rows(r);

    for (guint64 row = 0; row < rows; row++)
        if (!engine_host_read(work, work->staging + row * r->bytes, r->source + row * r->source_pitch, r->bytes))
            return FALSE;
    return TRUE;
}

static EngineStatus prepare_bytes(Work *work)
{
    const EngineRequest *r = &work->request;
    guint64 all;

    if (r->access == ENGINE_HOST_NONE || !work->engine->spec.keep_bytes)
        return ENGINE_OK;
    if (!g_uint64_checked_mul(&all, work_rows(r), r->bytes))
        return ENGINE_INVALID;
    work->staging = g_try_malloc(all);
    if (!work->staging)
        return ENGINE_NO_MEMORY;
    for (guint64 at = 0; r->op == ENGINE_FILL && at < all; at += r->width)
        memcpy(work->staging + at, &r->value, r->width);
    return !(r->access & ENGINE_HOST_EARLY) || read_source(work) ? ENGINE_OK : ENGINE_FAULT;
}

/* One end of a copy at an address; *room gets how far the mapping goes on. */
static gboolean end_at(const Work *work, guint64 va, CopyEnd *end, guint64 *room)
{
    VasMapping *mapping = vas_find(engine_vas(work->engine, work->request.client), va);

    if (!mapping)
        return FALSE;
    *room = MIN(*room, mapping->va + mapping->bytes - va);
    *end = (CopyEnd){.place = mapping->object ? COPY_OBJECT : COPY_REGION,
                     .region = mapping->region,
                     .object = mapping->object,
                     .offset = mapping->offset + (va - mapping->va)};
    return TRUE;
}

static gboolean fill_pattern(const EngineRequest *request, CopyEnd *source)
{
    *source = (CopyEnd){.place = COPY_PATTERN, .pattern_bytes = (guint8)request->width};
    memcpy(source->pattern, &request->value, request->width);
    return TRUE;
}

/* The same of an address, or of an offset in an endpoint. FALSE: the work is done, with a fault. */
static gboolean side(Work *work, EngineEndpointSide which, guint64 id, guint64 at, CopyEnd *end, guint64 *room)
{
    if (work->request.op == ENGINE_COPY && work->request.width == which)
        return engine_endpoint_end(work, (guint32)id, at, end, room);
    if (end_at(work, at, end, room))
        return TRUE;
    engine_work_unmapped(work, at);
    return FALSE;
}

static void step(Work *work);

static void step_done(void *user, FaultKind fault, SimTime now_ps)
{
    Work *work = user;

    if (fault != FAULT_NONE)
        engine_work_done(work, fault, now_ps);
    else
        step(work);
}

/* Host destinations get their bytes at the end. */
static FaultKind copy_out(Work *work)
{
    const EngineRequest *r = &work->request;
    guint64 rows = work_rows(r);

    if (!work->staging || work->dropped || !(r->access & ENGINE_HOST_DESTINATION))
        return FAULT_NONE;
    for (guint64 row = 0; row < rows; row++)
        if (!engine_host_write(work, r->address + row * r->pitch, work->staging + row * r->bytes, r->bytes))
            return FAULT_HOST;
    return FAULT_NONE;
}

/* The next stretch of a copy or fill that stays within one mapping on either side and within a row.
 */
static void step(Work *work)
{
    Engine *engine = work->engine;
    const EngineRequest *r = &work->request;
    guint64 room = r->bytes - work->at;
    CopyEnd to, from, host = {.place = COPY_HOST, .host = work->staging, .offset = work->row * r->bytes + work->at};

    if (work->context->gone) { /* who asked for it has ended meanwhile */
        engine_work_done(work, FAULT_NONE, sim_now_ps(engine->sim));
        return;
    }
    if (room == 0 && ++work->row < work_rows(r)) {
        work->at = 0;
        room = r->bytes;
        host.offset = work->row * r->bytes;
    }
    gboolean on_host = (r->access & ENGINE_HOST_BOTH) == ENGINE_HOST_BOTH ||
                       (r->op == ENGINE_FILL && (r->access & ENGINE_HOST_DESTINATION));
    if (room == 0 || on_host) {
        engine_work_done(work, copy_out(work), sim_now_ps(engine->sim));
        return;
    }
    guint64 destination = r->address + work->row * r->pitch + work->at;
    guint64 source = r->source + work->row * r->source_pitch + work->at;
    to = from = host;
    if (!(r->access & ENGINE_HOST_DESTINATION) &&
        !side(work, ENGINE_ENDPOINT_DESTINATION, r->pitch, destination, &to, &room))
        return;
    if (r->op == ENGINE_FILL)
        fill_pattern(r, &from);
    else if (!(r->access & ENGINE_HOST_SOURCE) &&
             !side(work, ENGINE_ENDPOINT_SOURCE, r->source_pitch, source, &from, &room))
        return;
    work->at += room;
    copy_start(engine->fabric, (guint16)r->gpu, &to, &from, room, r->op == ENGINE_FILL ? "memset" : "memcpy", step_done,
               work);
}

/* A copy or fill; what no call waits for any more touches no host memory. */
static void transfer(Work *work)
{
    const EngineRequest *r = &work->request;
    gboolean reads = (r->access & ENGINE_HOST_SOURCE) && !(r->access & ENGINE_HOST_EARLY) && work->staging;

    if (work->dropped && r->access != ENGINE_HOST_NONE)
        engine_work_done(work, FAULT_NONE, sim_now_ps(work->engine->sim));
    else if (reads && !read_source(work))
        engine_work_done(work, FAULT_HOST, sim_now_ps(work->engine->sim));
    else
        step(work);
}

const WorkSteps engine_transfer_steps = {.prepare = prepare_bytes, .start = transfer};
