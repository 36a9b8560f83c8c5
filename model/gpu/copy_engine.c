#include <string.h>

#include "model/gpu/copy_engine_internal.h"

struct CopyEngines {
    GPtrArray *busy; /* Copy on an engine */
    GQueue waiting;  /* Copy */
};

/* ---- ends */

gboolean copy_end_is_host(const CopyEnd *end)
{
    return end->place == COPY_HOST || (end->place == COPY_REGION && end->region->gpu == MEMORY_HOST);
}

static gboolean copy_end_is_remote(const CopyEnd *end, const Gpu *gpu)
{
    return end->place == COPY_OBJECT ||
           (end->place == COPY_REGION && end->region->gpu != gpu->id && end->region->gpu != MEMORY_HOST);
}

guint8 *copy_end_bytes(const CopyEnd *end, guint64 at)
{
    if (end->place == COPY_HOST)
        return end->host ? (guint8 *)end->host + end->offset + at : NULL;
    if (end->place == COPY_REGION && end->region->host)
        return memory_bytes(end->region, end->offset + at);
    return NULL;
}

static void copy_end_check(const CopyEnd *end, guint64 bytes)
{
    if (end->place == COPY_REGION)
        g_assert(bytes <= end->region->bytes && end->offset <= end->region->bytes - bytes);
    else if (end->place == COPY_OBJECT)
        g_assert(bytes <= end->object->bytes && end->offset <= end->object->bytes - bytes);
    else if (end->place == COPY_PATTERN)
        g_assert(end->pattern_bytes >= 1 && 16 % end->pattern_bytes == 0);
}

void copy_fill(const CopyEnd *src, guint64 at, guint8 *to, guint64 bytes)
{
    for (guint64 i = 0; i < bytes; i++)
        to[i] = src->pattern[(at + i) % src->pattern_bytes];
}

void copy_deliver(Copy *copy, guint64 at, const guint8 *from, guint64 bytes, SimTime now_ps)
{
    static const guint8 zeros[sizeof copy->src.pattern];
    guint8 *to = copy_end_bytes(&copy->dst, at);
    if (to && copy->src.place == COPY_PATTERN && copy->dst.place == COPY_REGION &&
        !memcmp(copy->src.pattern, zeros, copy->src.pattern_bytes))
        memory_region_zero(copy->dst.region, copy->dst.offset + at, bytes);
    else if (to && copy->src.place == COPY_PATTERN)
        copy_fill(&copy->src, at, to, bytes);
    else if (to && from)
        memmove(to, from, bytes);
    for (guint64 i = 0; copy->dst.place == COPY_REGION && i < bytes; i += COPY_BLOCK_BYTES)
        memory_written(copy->gpu->fabric->memory, copy->dst.region->id, copy->dst.offset + at + i,
                       (guint32)MIN(bytes - i, COPY_BLOCK_BYTES), now_ps);
}

SimTime copy_memory_serve(Copy *copy, const CopyEnd *end, guint32 bytes, SimTime now_ps)
{
    Gpu *gpu = copy->gpu;
    if (!end->region->cached || copy->bytes > gpu->spec->l2_bytes)
        return gpu_hbm_serve(gpu, end == &copy->src ? HBM_READ : HBM_WRITE, bytes, now_ps);
    return gpu_l2_serve(gpu, bytes, now_ps);
}

/* ---- the course of a copy */

static void copy_admit(Gpu *gpu);

void copy_next(Copy *copy, CopyPhase phase, SimTime at_ps)
{
    if (event_is_pending(&copy->event)) {
        if (phase == COPY_WORK)
            return;
        sim_cancel(copy->gpu->sim, &copy->event);
    }
    copy->phase = phase;
    sim_at(copy->gpu->sim, &copy->event, at_ps, EVENT_PRIORITY_DEVICE);
}

/* What it has moved went through the L2. */
static void copy_bring(const CopyEnd *end, guint64 bytes)
{
    if (end->place == COPY_REGION && end->region->l2)
        l2_lines_bring(end->region->l2, end->offset, bytes);
}

static void copy_free(Copy *copy)
{
    Fabric *fabric = copy->gpu->fabric;
    if (copy->dst.place == COPY_REGION)
        memory_region_unref(fabric->memory, copy->dst.region);
    if (copy->src.place == COPY_REGION)
        memory_region_unref(fabric->memory, copy->src.region);
    copy_piece_clear(&copy->pieces);
    g_free(copy);
}

static void copy_end(Copy *copy, SimTime now_ps)
{
    Gpu *gpu = copy->gpu;
    CopyDone done = copy->done;
    void *user = copy->user;
    FaultKind fault = copy->fault;
    g_ptr_array_remove(gpu->engines->busy, copy);
    copy_bring(&copy->src, copy->bytes);
    copy_bring(&copy->dst, copy->bytes);
    copy_free(copy);
    copy_admit(gpu);
    if (done)
        done(user, fault, now_ps);
}

static void copy_fail(Copy *copy, FaultKind kind, SimTime now_ps)
{
    FabricFault fault = {.kind = kind, .gpu = copy->gpu->id, .who = copy->who, .cause = copy->user};
    const CopyEnd *end = copy->src.place == COPY_OBJECT ? &copy->src : &copy->dst;
    fault.va = end->offset;
    fault.object = end->object->id;
    copy->fault = kind;
    fabric_fault(copy->gpu->fabric, &fault);
    copy_next(copy, COPY_END, now_ps);
}

/* ---- blocks: nothing crosses the fabric */

static void copy_work_block(Copy *copy, SimTime now_ps)
{
    Gpu *gpu = copy->gpu;
    SimTime latency_ps = gpu->spec->local_ps;
    if (copy->at > copy->moved) { /* the block whose time is over */
        copy_deliver(copy, copy->moved, copy_end_bytes(&copy->src, copy->moved), copy->at - copy->moved, now_ps);
        copy->moved = copy->at;
    }
    gboolean from_host = copy_end_is_host(&copy->src), to_host = copy_end_is_host(&copy->dst);
    if (from_host || to_host)
        latency_ps = gpu->fabric->spec.system.host_ps;
    if (copy->at == copy->bytes) {
        copy_next(copy, COPY_END, now_ps + latency_ps);
        return;
    }
    guint32 block = (guint32)MIN(copy->bytes - copy->at, COPY_BLOCK_BYTES);
    SimTime read_ps = now_ps, written_ps;
    if (from_host)
        read_ps = gpu_host_serve(gpu, GPU_FROM_HOST, block, now_ps);
    else if (copy->src.place == COPY_REGION)
        read_ps = copy_memory_serve(copy, &copy->src, block, now_ps);
    if (to_host)
        written_ps = gpu_host_serve(gpu, GPU_TO_HOST, block, now_ps);
    else
        written_ps = copy_memory_serve(copy, &copy->dst, block, now_ps);
    copy->at += block;
    copy_next(copy, COPY_WORK, MAX(read_ps, written_ps));
}

static void copy_begin(Copy *copy, SimTime now_ps)
{
    if (copy->src.place == COPY_OBJECT)
        copy_fail(copy, FAULT_PLAIN_ON_MULTICAST, now_ps);
    else if (copy->dst.place == COPY_OBJECT && copy->dst.object->mcid == MC_MCID_NONE)
        copy_fail(copy, FAULT_TEAM_INCOMPLETE, now_ps);
    else if (copy->bytes == 0)
        copy_next(copy, COPY_END, now_ps);
    else
        copy_next(copy, COPY_WORK, now_ps);
}

static void copy_on_event(Event *event, SimTime now_ps)
{
    Copy *copy = EVENT_OWNER(event, Copy, event);
    if (copy->phase == COPY_START)
        copy_begin(copy, now_ps);
    else if (copy->phase == COPY_END)
        copy_end(copy, now_ps);
    else if (copy->push || copy->pull)
        copy_work_packets(copy, now_ps);
    else
        copy_work_block(copy, now_ps);
}

/* ---- engines */

static void copy_admit(Gpu *gpu)
{
    struct CopyEngines *engines = gpu->engines;
    while (engines->busy->len < gpu->spec->engines && !g_queue_is_empty(&engines->waiting)) {
        Copy *copy = g_queue_pop_head(&engines->waiting);
        g_ptr_array_add(engines->busy, copy);
        copy_next(copy, COPY_START, sim_now_ps(gpu->sim) + gpu->spec->engine_ps);
    }
}

void copy_start(Fabric *fabric, guint16 gpu, const CopyEnd *dst, const CopyEnd *src, guint64 bytes, const char *who,
                CopyDone done, void *user)
{
    g_assert(gpu < fabric->spec.system.gpus && dst->place != COPY_PATTERN);
    copy_end_check(dst, bytes);
    copy_end_check(src, bytes);
    Copy *copy = g_new0(Copy, 1);
    copy->gpu = &fabric->gpu[gpu];
    copy->dst = *dst;
    copy->src = *src;
    copy->bytes = bytes;
    copy->who = who;
    copy->done = done;
    copy->user = user;
    copy->push = copy_end_is_remote(dst, copy->gpu);
    copy->pull = copy_end_is_remote(src, copy->gpu);
    copy->room.fire = copy_on_room;
    event_init(&copy->event, copy_on_event);
    if (dst->place == COPY_REGION)
        memory_region_ref(dst->region);
    if (src->place == COPY_REGION)
        memory_region_ref(src->region);
    copy->gpu->engine_copies++;
    copy->gpu->engine_bytes += bytes;
    g_queue_push_tail(&copy->gpu->engines->waiting, copy);
    copy_admit(copy->gpu);
}

void copy_init(Gpu *gpu)
{
    gpu->engines = g_new0(struct CopyEngines, 1);
    gpu->engines->busy = g_ptr_array_new();
    g_queue_init(&gpu->engines->waiting);
}

void copy_clear(Gpu *gpu)
{
    for (guint i = 0; i < gpu->engines->busy->len; i++) {
        Copy *copy = g_ptr_array_index(gpu->engines->busy, i);
        sim_cancel(gpu->sim, &copy->event);
        copy_free(copy);
    }
    for (Copy *copy; (copy = g_queue_pop_head(&gpu->engines->waiting));)
        copy_free(copy);
    g_ptr_array_free(gpu->engines->busy, TRUE);
    g_free(gpu->engines);
}

gboolean copy_is_quiet(const Gpu *gpu)
{
    return gpu->engines->busy->len == 0 && g_queue_is_empty(&((Gpu *)gpu)->engines->waiting);
}

char *copy_waiter_text(void *unit)
{
    const Gpu *gpu = unit;
    if (copy_is_quiet(gpu))
        return NULL;
    return g_strdup_printf("%s: %u copies are under way, %u wait for an engine", gpu->path, gpu->engines->busy->len,
                           g_queue_get_length(&gpu->engines->waiting));
}
