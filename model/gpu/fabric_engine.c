/* The course of an operation through a GPU's fabric engine. See fabric_engine.h. */
#include "model/gpu/fabric_engine.h"

#include <string.h>

typedef enum { TASK_ARRIVES, TASK_WORKS, TASK_ENDS } TaskPhase;

typedef struct {
    Gpu *gpu;
    FabricWork work;
    guint64 number;     /* of the GPU's operations, from 1 on */
    guint32 span, sent; /* the span at hand; bytes sent or asked for */
    guint32 moved;      /* bytes that are answered */
    guint32 in_flight;  /* packets */
    gboolean stalled;   /* waits for room at a port */
    gboolean refused;   /* it has been, at least once */
    SimTime tried_ps;   /* when it was refused last */
    TaskPhase phase;
    GpuRoomWaiter room;
    Event event;
    SimTime end_ps;
    TxnFault fault;
} Task;

struct FabricEngine {
    GPtrArray *posted;  /* on their way, or refused and to be tried again */
    GQueue waiting;     /* in the queue */
    GPtrArray *working; /* at work: their packets take turns */
    SimTime free_ps;    /* when the next packet can be made */
    guint64 posts;
};

static void on_event(Event *event, SimTime now_ps);
static void on_room(GpuRoomWaiter *waiter, SimTime now_ps);

static void schedule(Task *task, TaskPhase phase, SimTime at_ps)
{
    if (event_is_pending(&task->event))
        return;
    task->phase = phase;
    sim_at(task->gpu->sim, &task->event, at_ps, EVENT_PRIORITY_DEVICE);
}

static void task_free(Task *task)
{
    Memory *memory = task->gpu->fabric->memory;
    for (guint32 s = 0; s < task->work.n_span; s++)
        if (task->work.span[s].region)
            memory_region_unref(memory, task->work.span[s].region);
    if (task->work.counted && task->work.counter.region)
        memory_region_unref(memory, task->work.counter.region);
    g_free(task->work.span);
    g_free(task);
}

/* ---- the queue */

/* Posts that were refused are tried again at fixed times of their own, and nothing changes before there is room: they
 * sleep until then, so that a queue that stays full for ever is a stuck run. The tries of that time count. */
static void wake_refused(Gpu *gpu, SimTime now_ps)
{
    const SimTime every_ps = gpu->spec->fabric_retry_ps;
    struct FabricEngine *engine = gpu->fabric_engine;
    for (guint i = 0; i < engine->posted->len; i++) {
        Task *task = g_ptr_array_index(engine->posted, i);
        if (!task->refused || event_is_pending(&task->event))
            continue;
        const guint64 slept = now_ps > task->tried_ps ? (now_ps - task->tried_ps - 1) / every_ps : 0;
        gpu->fabric_retries += slept;
        schedule(task, TASK_ARRIVES, task->tried_ps + (slept + 1) * every_ps);
    }
}

static void admit(Gpu *gpu, SimTime now_ps)
{
    struct FabricEngine *engine = gpu->fabric_engine;
    const guint waiting = engine->waiting.length;
    while (engine->working->len < gpu->spec->fabric_operations && !g_queue_is_empty(&engine->waiting)) {
        Task *task = g_queue_pop_head(&engine->waiting);
        g_ptr_array_add(engine->working, task);
        schedule(task, TASK_WORKS, now_ps + gpu->spec->fabric_start_ps);
    }
    if (engine->waiting.length < waiting)
        wake_refused(gpu, now_ps);
}

static void arrive(Task *task, SimTime now_ps)
{
    Gpu *gpu = task->gpu;
    struct FabricEngine *engine = gpu->fabric_engine;
    if (g_queue_get_length(&engine->waiting) >= gpu->spec->fabric_queue) {
        gpu->fabric_refused += !task->refused;
        gpu->fabric_retries++;
        task->refused = TRUE;
        task->tried_ps = now_ps;
        return; /* room wakes it */
    }
    g_ptr_array_remove(engine->posted, task);
    g_queue_push_tail(&engine->waiting, task);
    admit(gpu, now_ps);
}

/* ---- packets */

static void answered(Task *task, const Txn *txn, SimTime now_ps)
{
    task->in_flight--;
    task->moved += txn->bytes;
    task->end_ps = MAX(task->end_ps, now_ps);
    if (txn->state != TXN_OK && task->fault == TXN_OK)
        task->fault = (TxnFault)txn->state;
    if (task->moved == task->work.bytes)
        schedule(task, TASK_ENDS, task->end_ps + task->gpu->spec->fabric_report_ps);
    else if (!task->stalled && task->sent < task->work.bytes)
        schedule(task, TASK_WORKS, MAX(now_ps, task->gpu->fabric_engine->free_ps));
}

static void on_sent(Gpu *gpu, Txn *txn, const guint8 *bytes, SimTime now_ps)
{
    (void)gpu;
    (void)bytes;
    answered(txn->owner, txn, now_ps);
}

static void on_fetched(Gpu *gpu, Txn *txn, const guint8 *bytes, SimTime now_ps)
{
    Task *task = txn->owner;
    (void)gpu;
    if (task->work.data && bytes && txn->state == TXN_OK)
        memcpy(task->work.data + txn->tag, bytes, txn->bytes);
    answered(task, txn, now_ps);
}

/* What of a put or reduction goes into the slot of a packet's data: its bytes and, in the other half, which of them are
 * written, or where they are counted. */
static void fill_slot(const Task *task, guint32 bytes, guint8 slot[DATA_SLOT_BYTES])
{
    const FabricWork *work = &task->work;
    memcpy(slot, work->data + task->sent, bytes);
    for (guint32 b = 0; work->byte_mask != 0xffffu && b < bytes; b++)
        slot[DATA_SLOT_BYTES / 2 + b] = work->byte_mask >> (task->sent + b) % 16 & 1;
}

static void count_at(const FabricWork *work, guint8 slot[DATA_SLOT_BYTES])
{
    const GpuCounter counter = {work->counter.region, work->counter.offset};
    memcpy(slot + DATA_SLOT_BYTES / 2, &counter, sizeof counter);
}

/* Lines of 128 B: what an SM's packets carry, and what a switch reduces at most. */
static guint32 cut(const Task *task, const FabricSpan *span)
{
    guint32 done = task->sent - span->at;
    guint32 left = LINE_BYTES - (guint32)((span->offset + done) % LINE_BYTES);
    return MIN(span->bytes - done, left);
}

static gboolean fetches(PacketKind kind) { return kind == PACKET_READ || kind == PACKET_MC_READ; }

static gboolean send_packet(Task *task, const FabricSpan *span, guint32 bytes)
{
    Gpu *gpu = task->gpu;
    const FabricWork *work = &task->work;
    guint8 slot[DATA_SLOT_BYTES];
    GpuRequest request = {.kind = work->kind,
                          .region = span->region,
                          .object = span->object,
                          .offset = span->offset + (task->sent - span->at),
                          .bytes = (guint16)bytes,
                          .type = work->type,
                          .op = work->op,
                          .acc = work->acc,
                          .word_mask = GPU_ALL_WORDS,
                          .owner = task,
                          .tag = task->sent,
                          .reported = TRUE,
                          .done = fetches(work->kind) || work->kind == PACKET_ATOM ? on_fetched : on_sent};
    guint32 link = gpu_link_of(gpu, &request);
    if (!gpu_has_room(gpu, link)) {
        task->stalled = TRUE;
        gpu_wait_room(gpu, link, &task->room);
        return FALSE;
    }
    if (work->kind == PACKET_ATOM) {
        request.data = work->data;
    } else if (!fetches(work->kind) && (work->data || work->counted)) {
        memset(slot, 0, sizeof slot);
        if (work->data)
            fill_slot(task, bytes, slot);
        if (work->counted)
            count_at(work, slot);
        request.data = slot;
        if (work->byte_mask != 0xffffu)
            request.op = TXN_WRITE_BYTES;
        else if (work->counted)
            request.op |= TXN_COUNTED;
    }
    gpu->fabric_packets++;
    if (link != GPU_LINK_LOCAL)
        gpu_count_turn(gpu, &task->room, 1);
    gpu_request(gpu, &request, link);
    return TRUE;
}

/* One packet, then the others' turn. */
static void work_on(Task *task, SimTime now_ps)
{
    Gpu *gpu = task->gpu;
    struct FabricEngine *engine = gpu->fabric_engine;
    if (task->sent == task->work.bytes || task->in_flight >= gpu->spec->fabric_in_flight)
        return; /* an answer goes on with it */
    if (engine->free_ps > now_ps) {
        schedule(task, TASK_WORKS, engine->free_ps);
        return;
    }
    const FabricSpan *span = &task->work.span[task->span];
    guint32 bytes = cut(task, span);
    if (!send_packet(task, span, bytes))
        return;
    engine->free_ps = now_ps + gpu->spec->fabric_issue_ps;
    task->in_flight++;
    task->sent += bytes;
    task->span += task->sent == span->at + span->bytes;
    if (task->sent < task->work.bytes)
        schedule(task, TASK_WORKS, engine->free_ps);
    else if (task->work.read)
        task->work.read(task->work.user, now_ps);
}

static void on_room(GpuRoomWaiter *waiter, SimTime now_ps)
{
    Task *task = EVENT_OWNER(waiter, Task, room);
    task->stalled = FALSE;
    schedule(task, TASK_WORKS, MAX(now_ps, task->gpu->fabric_engine->free_ps));
}

/* ---- ends */

static void end(Task *task, SimTime now_ps)
{
    Gpu *gpu = task->gpu;
    const FabricWork work = task->work;
    gpu->fabric_failed += task->fault != TXN_OK;
    g_ptr_array_remove(gpu->fabric_engine->working, task);
    if (work.done)
        work.done(work.user, task->fault, now_ps);
    task_free(task);
    admit(gpu, now_ps);
}

static void on_event(Event *event, SimTime now_ps)
{
    Task *task = EVENT_OWNER(event, Task, event);
    if (task->phase == TASK_ARRIVES)
        arrive(task, now_ps);
    else if (task->phase == TASK_WORKS)
        work_on(task, now_ps);
    else
        end(task, now_ps);
}

void fabric_engine_post(Gpu *gpu, const FabricWork *work)
{
    g_assert(work->bytes > 0 && work->n_span > 0);
    if (!gpu->fabric_engine) {
        gpu->fabric_engine = g_new0(struct FabricEngine, 1);
        gpu->fabric_engine->posted = g_ptr_array_new();
        gpu->fabric_engine->working = g_ptr_array_new();
        g_queue_init(&gpu->fabric_engine->waiting);
    }
    Task *task = g_new0(Task, 1);
    task->gpu = gpu;
    task->work = *work;
    task->number = ++gpu->fabric_engine->posts;
    task->room.fire = on_room;
    event_init(&task->event, on_event);
    for (guint32 s = 0; s < work->n_span; s++)
        if (work->span[s].region)
            memory_region_ref(work->span[s].region);
    if (work->counted && work->counter.region)
        memory_region_ref(work->counter.region);
    gpu->fabric_operations++;
    gpu->fabric_bytes += work->bytes;
    g_ptr_array_add(gpu->fabric_engine->posted, task);
    schedule(task, TASK_ARRIVES, sim_now_ps(gpu->sim) + gpu->spec->fabric_post_ps);
}

/* ---- all operations of a GPU */

static void each_task(const struct FabricEngine *engine, void (*visit)(Task *task, void *user), void *user)
{
    for (guint i = 0; i < engine->working->len; i++)
        visit(g_ptr_array_index(engine->working, i), user);
    for (const GList *at = engine->waiting.head; at; at = at->next)
        visit(at->data, user);
    for (guint i = 0; i < engine->posted->len; i++)
        visit(g_ptr_array_index(engine->posted, i), user);
}

static void drop(Task *task, void *user)
{
    (void)user;
    if (event_is_pending(&task->event))
        sim_cancel(task->gpu->sim, &task->event);
    if (task->work.drop)
        task->work.drop(task->work.user);
    task_free(task);
}

void fabric_engine_clear(Gpu *gpu)
{
    struct FabricEngine *engine = gpu->fabric_engine;
    g_clear_pointer(&gpu->fabric_reports, g_array_unref);
    if (!engine)
        return;
    each_task(engine, drop, NULL);
    g_ptr_array_unref(engine->posted);
    g_ptr_array_unref(engine->working);
    g_queue_clear(&engine->waiting);
    g_clear_pointer(&gpu->fabric_engine, g_free);
}

gboolean fabric_engine_is_quiet(const Gpu *gpu)
{
    const struct FabricEngine *engine = gpu->fabric_engine;
    return !engine || (engine->working->len == 0 && engine->posted->len == 0 && engine->waiting.length == 0);
}

typedef struct {
    const McObject *object;
    const McBind *bind;
    guint32 n;
} Uses;

static gboolean meets(guint64 a, guint64 a_bytes, guint64 b, guint64 b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

static void count_use(Task *task, void *user)
{
    Uses *uses = user;
    const McBind *bind = uses->bind;
    gboolean met = FALSE;
    for (guint32 s = 0; s < task->work.n_span && !met; s++) {
        const FabricSpan *span = &task->work.span[s];
        met = span->object
                  ? span->object == uses->object && meets(span->offset, span->bytes, bind->offset, bind->bytes)
                  : span->region == bind->region && meets(span->offset, span->bytes, bind->region_offset, bind->bytes);
    }
    uses->n += met;
}

guint32 fabric_engine_uses(const Gpu *gpu, const McObject *object, const McBind *bind)
{
    Uses uses = {.object = object, .bind = bind};
    if (gpu->fabric_engine)
        each_task(gpu->fabric_engine, count_use, &uses);
    return uses.n;
}

static void find_oldest(Task *task, void *user)
{
    const Task **oldest = user;
    if (!*oldest || task->number < (*oldest)->number)
        *oldest = task;
}

char *fabric_engine_waiter_text(void *unit)
{
    static const char *const names[] = {
        [PACKET_READ] = "get from",      [PACKET_WRITE] = "put to",    [PACKET_RED] = "reduction to",
        [PACKET_ATOM] = "atomic of",     [PACKET_MC_WRITE] = "put to", [PACKET_MC_READ] = "pull reduction of",
        [PACKET_MC_RED] = "reduction to"};
    const Gpu *gpu = unit;
    const Task *oldest = NULL;
    if (fabric_engine_is_quiet(gpu))
        return NULL;
    const struct FabricEngine *engine = gpu->fabric_engine;
    each_task(engine, find_oldest, &oldest);
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_append_printf(text,
                           "%s: %u fabric operations are at work, %u wait in the queue of %" G_GUINT64_FORMAT
                           ", %u are posted or refused; the oldest is a %s endpoint 0x%x",
                           gpu->path, engine->working->len, engine->waiting.length, gpu->spec->fabric_queue,
                           engine->posted->len, names[oldest->work.kind], oldest->work.endpoint);
    g_string_append_printf(text, " at offset 0x%" G_GINT64_MODIFIER "x, %u of %u bytes answered",
                           oldest->work.span[0].offset, oldest->moved, oldest->work.bytes);
    return g_string_free(g_steal_pointer(&text), FALSE);
}
