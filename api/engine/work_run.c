/* What each kind of work does: copies and fills through the model's copy engines, launches on its
 * SMs, flags in memory, calls of host functions.
 *
 * Host memory that the fabric does not see is read when the work starts, or before the call returns
 * when the caller may change it then (as with a real driver's staging), and written when the work ends.
 * Host addresses are touched through the kernel, so that a bad one is an answer and not a crash. */
#include "api/engine/internal.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* The kernel moves less than 2 GiB a call. */
#define HOST_PIECE_BYTES ((guint64)1 << 30)

typedef ssize_t (*HostMove)(pid_t pid, const struct iovec *local, unsigned long n_local, const struct iovec *remote,
                            unsigned long n_remote, unsigned long flags);

/* FALSE: an address is not there. *refused: this system does not let a process do so to itself. */
static gboolean host_move(HostMove move, guint64 own, guint64 address, guint64 bytes, gboolean *refused)
{
    for (guint64 at = 0; at < bytes;) {
        const gsize piece = MIN(bytes - at, HOST_PIECE_BYTES);
        const struct iovec local = {(void *)(guintptr)(own + at), piece},
                           remote = {(void *)(guintptr)(address + at), piece};
        gssize n = move(getpid(), &local, 1, &remote, 1, 0);
        *refused = n < 0 && (errno == EPERM || errno == ENOSYS);
        if (n != (gssize)piece)
            return FALSE;
        at += piece;
    }
    return TRUE;
}

static gboolean host_read(guint8 *into, guint64 address, guint64 bytes)
{
    gboolean refused = FALSE;

    if (host_move(process_vm_readv, (guint64)(guintptr)into, address, bytes, &refused))
        return TRUE;
    if (refused)
        memcpy(into, (const void *)(guintptr)address, bytes);
    return refused;
}

static gboolean host_write(guint64 address, const guint8 *from, guint64 bytes)
{
    gboolean refused = FALSE;

    if (host_move(process_vm_writev, (guint64)(guintptr)from, address, bytes, &refused))
        return TRUE;
    if (refused)
        memcpy((void *)(guintptr)address, from, bytes);
    return refused;
}

static guint64 work_rows(const EngineRequest *request)
{
    return request->op == ENGINE_COPY || request->height == 0 ? 1 : request->height;
}

static gboolean read_source(Work *work)
{
    const EngineRequest *r = &work->request;
    guint64 rows = work_rows(r);

    for (guint64 row = 0; row < rows; row++)
        if (!host_read(work->staging + row * r->bytes, r->source + row * r->source_pitch, r->bytes))
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
    if (work->staging == NULL)
        return ENGINE_NO_MEMORY;
    for (guint64 at = 0; r->op == ENGINE_FILL && at < all; at += r->width)
        memcpy(work->staging + at, &r->value, r->width);
    return !(r->access & ENGINE_HOST_EARLY) || read_source(work) ? ENGINE_OK : ENGINE_FAULT;
}

static EngineStatus prepare_launch(Work *work)
{
    const FoKernel *kernel = (const FoKernel *)(guintptr)work->request.argument;

    if (kernel->program == NULL || kernel->ctas == 0 || kernel->ctas > 65535 ||
        kernel->threads == 0 || kernel->threads > 1024 ||
        (kernel->args == NULL && kernel->args_bytes != 0))
        return ENGINE_INVALID;
    work->kernel = *kernel;
    work->kernel.name = g_strdup(kernel->name != NULL ? kernel->name : "kernel");
    work->kernel.args = NULL;
    if (kernel->args_bytes == 0)
        return ENGINE_OK;
    guint8 *args = g_try_malloc(kernel->args_bytes);
    work->kernel.args = args;
    if (args == NULL)
        return ENGINE_NO_MEMORY;
    return host_read(args, (guint64)(guintptr)kernel->args, kernel->args_bytes) ? ENGINE_OK
                                                                                 : ENGINE_FAULT;
}

EngineStatus engine_run_prepare(Work *work)
{
    switch (work->request.op) {
    case ENGINE_COPY:
    case ENGINE_COPY_2D:
    case ENGINE_FILL:
        return prepare_bytes(work);
    case ENGINE_LAUNCH:
        return prepare_launch(work);
    case ENGINE_LAUNCH_PTX:
        return engine_kernel_prepare(work);
    default:
        return ENGINE_OK;
    }
}

void engine_run_clear(Work *work)
{
    g_free(work->staging);
    if (work->request.op == ENGINE_LAUNCH) {
        g_free((char *)work->kernel.name);
        g_free((void *)work->kernel.args);
    } else if (work->request.op == ENGINE_LAUNCH_PTX) {
        engine_kernel_clear(work);
    }
}

/* One end of a copy at an address; *room gets how far the mapping goes on. */
static gboolean end_at(Engine *engine, guint64 va, CopyEnd *end, guint64 *room)
{
    VasMapping *mapping = vas_find(engine->vas, va);

    if (mapping == NULL)
        return FALSE;
    *room = MIN(*room, mapping->va + mapping->bytes - va);
    *end = (CopyEnd){.place = mapping->object != NULL ? COPY_OBJECT : COPY_REGION,
                     .region = mapping->region,
                     .object = mapping->object,
                     .offset = mapping->offset + (va - mapping->va)};
    return TRUE;
}

static void fault_at(Work *work, guint64 va)
{
    FabricFault fault = {.kind = FAULT_UNMAPPED,
                         .gpu = (guint16)work->request.gpu,
                         .who = "copy engine",
                         .va = va,
                         .time_ps = sim_now_ps(work->engine->sim)};
    fabric_fault(work->engine->fabric, &fault);
}

static gboolean fill_pattern(const EngineRequest *request, CopyEnd *source)
{
    *source = (CopyEnd){.place = COPY_PATTERN, .pattern_bytes = (guint8)request->width};
    memcpy(source->pattern, &request->value, request->width);
    return TRUE;
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

    if (work->staging == NULL || work->dropped || !(r->access & ENGINE_HOST_DESTINATION))
        return FAULT_NONE;
    for (guint64 row = 0; row < rows; row++)
        if (!host_write(r->address + row * r->pitch, work->staging + row * r->bytes, r->bytes))
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
    CopyEnd to, from,
        host = {
            .place = COPY_HOST, .host = work->staging, .offset = work->row * r->bytes + work->at};

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
    if (!(r->access & ENGINE_HOST_DESTINATION) && !end_at(engine, destination, &to, &room)) {
        fault_at(work, destination);
        engine_work_done(work, FAULT_UNMAPPED, sim_now_ps(engine->sim));
        return;
    }
    if (r->op == ENGINE_FILL) {
        fill_pattern(r, &from);
    } else if (!(r->access & ENGINE_HOST_SOURCE) && !end_at(engine, source, &from, &room)) {
        fault_at(work, source);
        engine_work_done(work, FAULT_UNMAPPED, sim_now_ps(engine->sim));
        return;
    }
    work->at += room;
    copy_start(engine->fabric, (guint16)r->gpu, &to, &from, room,
               r->op == ENGINE_FILL ? "memset" : "memcpy", step_done, work);
}

static void launch_done(const DeviceLaunch *launch, void *user)
{
    Work *work = user;
    (void)launch;
    engine_work_done(work, work->fault, sim_now_ps(work->engine->sim));
}

static void launch(Work *work)
{
    Engine *engine = work->engine;
    g_autoptr(GError) error = NULL;

    if (device_launch_after(engine->fabric, (guint16)work->request.gpu, engine->vas, &work->kernel,
                            engine_launch_ps(work), launch_done, work, &error) != NULL)
        return;
    log_line(engine->spec.log, LOG_CUDA, LOG_ERROR, sim_now_ps(engine->sim), "%s", error->message);
    engine_work_done(work, FAULT_ILLEGAL_FORM, sim_now_ps(engine->sim));
}

/* The word that a value operation is about, or NULL when bytes are not kept. */
static guint8 *word_at(Work *work, MemRegion **region, guint64 *offset)
{
    Vas *vas = work->engine->vas;

    return vas_poll(vas, vas_find(vas, work->request.address), work->request.address, region, offset);
}

static void write_value(Work *work)
{
    Engine *engine = work->engine;
    const EngineRequest *r = &work->request;
    MemRegion *region = NULL;
    guint64 offset = 0;
    guint8 *word = word_at(work, &region, &offset);

    if (region == NULL) {
        fault_at(work, r->address);
        engine_work_done(work, FAULT_UNMAPPED, sim_now_ps(engine->sim));
        return;
    }
    if (word != NULL)
        memcpy(word, &r->value, r->width);
    memory_written(engine->fabric->memory, region->id, offset, r->width, sim_now_ps(engine->sim));
    engine_work_done(work, FAULT_NONE, sim_now_ps(engine->sim));
}

static gboolean value_holds(const EngineRequest *r, const guint8 *word)
{
    guint64 value = 0;

    memcpy(&value, word, r->width);
    switch (r->access & 3) {
    case 0: /* GEQ, cyclic */
        return r->width == 4 ? (gint32)((guint32)value - (guint32)r->value) >= 0
                             : (gint64)(value - r->value) >= 0;
    case 1:
        return value == r->value;
    case 2:
        return (value & r->value) != 0;
    default:
        return ~(value | r->value) << (64 - 8 * r->width) != 0;
    }
}

static void watch_value(Work *work);

static void watch_fired(MemWatch *watch, SimTime now_ps)
{
    (void)now_ps;
    watch_value(EVENT_OWNER(watch, Work, watch));
}

/* A poll of memory is a watch on it: time need not pass for it, and nobody spins. */
static void watch_value(Work *work)
{
    Engine *engine = work->engine;
    MemRegion *region = NULL;
    guint64 offset = 0;
    guint8 *word = word_at(work, &region, &offset);

    if (region == NULL) {
        fault_at(work, work->request.address);
        engine_work_done(work, FAULT_UNMAPPED, sim_now_ps(engine->sim));
    } else if (word == NULL || value_holds(&work->request, word)) {
        engine_work_done(work, FAULT_NONE, sim_now_ps(engine->sim));
    } else {
        memory_watch(engine->fabric->memory, &work->watch, region, offset, work->request.width,
                     watch_fired);
    }
}

/* A copy or fill; what nobody waits for any more touches no host memory. */
static void transfer(Work *work)
{
    const EngineRequest *r = &work->request;
    gboolean reads =
        (r->access & ENGINE_HOST_SOURCE) && !(r->access & ENGINE_HOST_EARLY) && work->staging != NULL;

    if (work->dropped && r->access != ENGINE_HOST_NONE)
        engine_work_done(work, FAULT_NONE, sim_now_ps(work->engine->sim));
    else if (reads && !read_source(work))
        engine_work_done(work, FAULT_HOST, sim_now_ps(work->engine->sim));
    else
        step(work);
}

void engine_run_start(Work *work)
{
    switch (work->request.op) {
    case ENGINE_COPY:
    case ENGINE_COPY_2D:
    case ENGINE_FILL:
        transfer(work);
        break;
    case ENGINE_LAUNCH:
        engine_groups_join(work);
        launch(work);
        break;
    case ENGINE_LAUNCH_PTX:
        engine_groups_join(work);
        engine_kernel_start(work);
        break;
    case ENGINE_HOST_CALL:
        engine_host_call(work->engine, work);
        break;
    case ENGINE_WRITE_VALUE:
        write_value(work);
        break;
    case ENGINE_WAIT_VALUE:
        watch_value(work);
        break;
    default: /* RECORD, WAIT_EVENT: a point in the stream */
        engine_work_done(work, FAULT_NONE, sim_now_ps(work->engine->sim));
        break;
    }
}
