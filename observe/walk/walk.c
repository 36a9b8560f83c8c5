#include "observe/walk/internal.h"

#include <gio/gio.h>
#include <string.h>

#include "model/gpu/fabric_engine.h"
#include "model/memory/numeric.h"

const char *const walk_ops[] = {"store",       "load",           "atomic",
                                "multimem.st", "multimem.red",   "multimem.ld_reduce",
                                "fabric.put",  "fabric.pullred", NULL};
const char *const walk_meanings[] = {
    "32 lanes store 4 B each to GPU 1's memory",
    "32 lanes load 4 B each from GPU 1's memory",
    "one lane adds to a word of GPU 1's memory and gets the old value",
    "32 lanes store 4 B each to every team member's memory",
    "32 lanes add f32 values to every team member's memory",
    "32 lanes load the sum of every team member's f32 values",
    "the fabric engine puts 128 B of shared memory to GPU 1's logical endpoint",
    "the fabric engine brings the sum of every team member's 128 B of f32 into shared memory",
};

#define WALK_VA 0x10000u
#define WALK_BYTES 4096u
#define WALK_LANES 32u

typedef struct {
    WalkStep step; /* without its text */
    ProbeEvent event;
    Packet packet;
    WalkWait wait;
} WalkRaw;

typedef struct {
    Fabric *fabric;
    WalkOp op;
    guint32 n_gpus;
    gboolean multicast;
    Vas *vas;
    MemRegion *region[VAS_GPUS_MAX]; /* by GPU */
    McObject *object;
    Reg *reg; /* of a fabric operation: what is in shared memory */
    Cta *cta; /* NULL: no SM has anything to do */
    SimTime done_ps;
    SimTime start_ps;
    Event issue;
    const WalkBackground *background;
    const gint *stop; /* or NULL */
    gboolean over;    /* its answer is there */
    WalkWaits *waits;
    GArray *raw;        /* WalkRaw */
    Recorder *recorder; /* or NULL */
} Walk;

static gboolean walk_is_fabric(WalkOp op) { return op == WALK_FABRIC_PUT || op == WALK_FABRIC_PULLRED; }

/* A step before that at which the packet goes on, for each reason that it waited for. */
static void walk_add_waits(Walk *walk, const WalkRaw *seen)
{
    static const char *const file[WALK_REASONS] = {[WALK_WAIT_ROOM] = "model/sm/egress_queue.c",
                                                   [WALK_WAIT_PACKETS] = "model/link/link.c",
                                                   [WALK_WAIT_CREDITS] = "model/link/link.c",
                                                   [WALK_WAIT_ANSWERS] = "model/gpu/target.c",
                                                   [WALK_WAIT_MERGE] = "model/link/ack.c"};
    SimTime at_ps = seen->wait.from_ps - walk->start_ps;
    for (WalkReason reason = WALK_WAIT_ROOM; reason < WALK_REASONS; reason++) {
        const SimTime wait_ps = seen->wait.ps[reason];
        WalkRaw raw = *seen;
        raw.step = (WalkStep){.at_ps = at_ps,
                              .sequence = walk->raw->len,
                              .stage = PROBE_QUEUE,
                              .file = file[reason],
                              .reason = reason,
                              .wait_ps = wait_ps};
        if (wait_ps) {
            raw.step.unit = g_strdup(seen->event.path);
            g_array_append_val(walk->raw, raw);
        }
        at_ps += wait_ps;
    }
}

static void walk_on_event(void *user, const ProbeEvent *event)
{
    Walk *walk = user;
    if (walk->stop && g_atomic_int_get(walk->stop))
        sim_stop(walk->fabric->sim);
    if (walk->recorder && !(walk->over && walk->background))
        recorder_note(walk->recorder, event);
    if (event->stage > PROBE_ANSWER)
        return;
    if (walk->over || !walk_waits_is_own(walk->waits, event, walk->region[1])) {
        walk_waits_other(walk->waits, event);
        return;
    }
    WalkRaw raw = {.event = *event, .packet = *event->packet, .wait = walk_waits_own(walk->waits, event)};
    if (walk_is_fabric(walk->op) && event->stage == PROBE_REQUEST)
        raw.wait.ps[WALK_WAIT_ROOM] = 0; /* it is the engine's time: no SM made the packet before */
    walk_add_waits(walk, &raw);
    if (event->stage == PROBE_QUEUE)
        return;
    raw.step = walk_step(walk->fabric, event, walk->start_ps, walk->raw->len);
    g_array_append_val(walk->raw, raw);
    walk->over = event->stage == PROBE_ANSWER;
    if (walk->over && walk->background)
        walk->background->end(walk->background->user);
}

static gboolean walk_is_replica(const WalkRaw *raw, gboolean replicated)
{
    if (raw->step.stage == PROBE_GATHER || packet_is_counted(raw->packet))
        return TRUE;
    return replicated && packet_is_multicast(raw->packet);
}

static WalkStep walk_engine_step(const Walk *walk, SimTime at_ps, char *text)
{
    return (WalkStep){.at_ps = at_ps,
                      .stage = PROBE_QUEUE,
                      .file = "model/gpu/fabric_engine.c",
                      .unit = g_strdup(walk->fabric->gpu[0].path),
                      .text = text};
}

/* What the fabric engine does before its packet and behind the answer: no packet is there that could tell. */
static void walk_add_engine(const Walk *walk, GArray *steps)
{
    const GpuSpec *spec = &walk->fabric->spec.gpu;
    const WalkStep first[] = {
        walk_engine_step(walk, 0,
                         g_strdup_printf("fabric.submit hands an operation of %u B over: no warp has more to do; the "
                                         "fabric engine has it %.1f ns later",
                                         WALK_LANES * 4u, (double)spec->fabric_post_ps / 1000)),
        walk_engine_step(walk, spec->fabric_post_ps,
                         g_strdup_printf("there is room in its queue of %" G_GUINT64_FORMAT
                                         "; the endpoint is looked up, and the first packet made %.1f ns later",
                                         spec->fabric_queue, (double)spec->fabric_start_ps / 1000))};
    g_array_prepend_vals(steps, first, G_N_ELEMENTS(first));
    if (walk->done_ps) {
        const WalkStep last = walk_engine_step(
            walk, walk->done_ps - walk->start_ps,
            g_strdup_printf("all bytes are answered; %.1f ns later the mbarrier in shared memory is told: "
                            "complete_tx of %u",
                            (double)spec->fabric_report_ps / 1000,
                            walk->op == WALK_FABRIC_PUT ? WALK_LANES * 4u / 16u : WALK_LANES * 4u));
        g_array_append_val(steps, last);
    }
}

/* Raw steps to finished ones: by time, indented, with their texts. */
static GArray *walk_finish(Walk *walk)
{
    GArray *steps = g_array_new(FALSE, FALSE, sizeof(WalkStep));
    g_autofree WalkCount *count = g_new0(WalkCount, walk->fabric->n_switches);
    gboolean replicated = FALSE;
    walk_steps_sort(walk->raw);
    for (guint i = 0; i < walk->raw->len; i++) {
        WalkRaw *raw = &g_array_index(walk->raw, WalkRaw, i);
        raw->step.depth = walk_is_replica(raw, replicated);
        replicated |= raw->step.stage == PROBE_TABLE;
        WalkStep *step = &raw->step;
        raw->event.packet = &raw->packet;
        step->text = step->reason ? walk_text_wait(step->reason, &raw->wait)
                                  : walk_text(walk->fabric, &raw->event, replicated, count);
        g_array_append_val(steps, raw->step);
    }
    if (walk_is_fabric(walk->op))
        walk_add_engine(walk, steps);
    if (walk->recorder)
        walk_steps_show(steps, walk->recorder);
    return steps;
}

/* ---- the operation */

static float walk_value(guint32 gpu, guint32 lane) { return (float)(gpu + lane); }

static void walk_on_placed(Cta *cta, SimTime now_ps)
{
    static const guint8 kind[WALK_OPS] = {UOP_STORE,   UOP_LOAD, UOP_ATOM, UOP_MC_STORE, UOP_MC_RED,
                                          UOP_MC_LOAD, UOP_CALL, UOP_CALL}; /* these two are none of a warp */
    Walk *walk = cta->user;
    gboolean loads = walk->op == WALK_LOAD || walk->op == WALK_MC_LOAD_REDUCE || walk->op == WALK_ATOMIC;
    Uop uop = {.kind = kind[walk->op],
               .width = 4,
               .lanes = walk->op == WALK_ATOMIC ? 1 : 32,
               .va = WALK_VA,
               .lane_stride = 4,
               .op = NUMERIC_ADD,
               .type = walk->op == WALK_ATOMIC ? NUMERIC_U32 : NUMERIC_F32};
    if (loads)
        uop.dst = walk->reg;
    if (!loads || walk->op == WALK_ATOMIC)
        uop.src = walk->reg;
    walk->start_ps = now_ps;
    if (walk->recorder)
        recorder_begin(walk->recorder, now_ps);
    warp_push(&cta->warp[0], &uop);
}

static void walk_on_done(void *user, TxnFault fault, SimTime now_ps)
{
    Walk *walk = user;
    (void)fault;
    walk->done_ps = now_ps;
}

static void walk_post(Walk *walk, SimTime now_ps)
{
    gboolean pulls = walk->op == WALK_FABRIC_PULLRED;
    FabricWork work = {.kind = pulls ? PACKET_MC_READ : PACKET_WRITE,
                       .type = NUMERIC_F32,
                       .op = pulls ? NUMERIC_ADD : 0,
                       .byte_mask = 0xffffu,
                       .bytes = WALK_LANES * 4u,
                       .n_span = 1,
                       .span = g_new0(FabricSpan, 1),
                       .data = walk->reg->bytes,
                       .endpoint = 1,
                       .done = walk_on_done,
                       .user = walk};
    work.span[0] = (FabricSpan){.region = pulls ? NULL : walk->region[1], .object = walk->object, .bytes = work.bytes};
    walk->start_ps = now_ps;
    if (walk->recorder)
        recorder_begin(walk->recorder, now_ps);
    fabric_engine_post(&walk->fabric->gpu[0], &work);
}

static void walk_on_issue(Event *event, SimTime now_ps)
{
    Walk *walk = EVENT_OWNER(event, Walk, issue);
    if (walk_is_fabric(walk->op)) {
        walk_post(walk, now_ps);
        return;
    }
    walk->cta = cta_new(&walk->fabric->gpu[0], walk->vas, 0, 32, "walk");
    walk->cta->user = walk;
    cta_place(walk->cta, walk_on_placed);
}

static gboolean walk_prepare(Walk *walk, GError **error)
{
    Fabric *fabric = walk->fabric;
    guint32 n = walk->multicast ? walk->n_gpus : 2;
    if (n < 2 || n > fabric->spec.system.gpus) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                    "%u GPUs: the system has %" G_GUINT64_FORMAT ", and a walk needs at least 2", n,
                    fabric->spec.system.gpus);
        return FALSE;
    }
    if (walk->multicast) {
        walk->object = fabric_mc_object(fabric, n, WALK_BYTES);
        for (guint32 g = 0; g < n; g++)
            mcobject_add_member(walk->object, (guint16)g);
        g_autoptr(GError) full = NULL;
        if (!fabric_mc_attach(fabric, walk->object, &full)) {
            g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED, "no team of %u GPUs can be made: %s", n,
                        fabric->spec.mctable.entries ? full->message : "this system's switches have no multicast");
            return FALSE;
        }
    }
    for (guint32 g = 0; g < n; g++) {
        walk->region[g] = memory_region_new(fabric->memory, (guint16)g, WALK_BYTES, error);
        if (!walk->region[g])
            return FALSE;
        for (guint32 lane = 0; lane < 32; lane++)
            ((float *)(void *)walk->region[g]->host)[lane] = walk_value(g, lane);
        if (walk->object)
            mcobject_bind(walk->object, (guint16)g, 0, walk->region[g], 0, WALK_BYTES);
    }
    walk->vas = vas_new(fabric->memory, (guint32)fabric->spec.system.gpus);
    VasMapping *mapping = vas_map(walk->vas, WALK_VA, WALK_BYTES, walk->object ? NULL : walk->region[1], walk->object,
                                  0);
    vas_set_access(mapping, 0, VAS_ACCESS_READWRITE);
    walk->reg = reg_new(4, TRUE);
    for (guint32 lane = 0; lane < 32; lane++)
        ((float *)(void *)walk->reg->bytes)[lane] = walk_value(1000, lane);
    return TRUE;
}

/* What every lane should find: in the register of a load, in the memory of all others. */
static gboolean walk_check(const Walk *walk)
{
    guint32 n = walk->multicast ? walk->n_gpus : 2;
    for (guint32 lane = 0; lane < 32; lane++) {
        float got = ((float *)(void *)walk->reg->bytes)[lane], sum = 0;
        if (walk->op == WALK_ATOMIC) /* the register got lane 0's old bits; the word was changed */
            return memcmp(&got, &(float){walk_value(1, 0)}, 4) == 0 &&
                   ((float *)(void *)walk->region[1]->host)[0] != got;
        for (guint32 g = 0; g < n; g++)
            sum += walk_value(g, lane);
        if ((walk->op == WALK_LOAD && got != walk_value(1, lane)) ||
            ((walk->op == WALK_MC_LOAD_REDUCE || walk->op == WALK_FABRIC_PULLRED) && got != sum))
            return FALSE;
        for (guint32 g = walk->multicast ? 0 : 1; g < n; g++) {
            float there = ((float *)(void *)walk->region[g]->host)[lane], put = walk_value(1000, lane);
            if (((walk->op == WALK_STORE || walk->op == WALK_MC_STORE || walk->op == WALK_FABRIC_PUT) &&
                 there != put) ||
                (walk->op == WALK_MC_RED && there != put + walk_value(g, lane)))
                return FALSE;
        }
    }
    return TRUE;
}

static void walk_clear(Walk *walk)
{
    Fabric *fabric = walk->fabric;
    gboolean stuck = walk->cta && walk->cta->warp[0].state != WARP_IDLE;
    stuck = stuck || (walk->cta && (walk->cta->warp[0].stores || walk->reg->pending));
    if (walk->cta)
        (stuck ? cta_drop : cta_free)(walk->cta);
    if (walk->reg)
        (stuck ? reg_drop : reg_free)(walk->reg);
    if (walk->vas)
        vas_free(walk->vas);
    if (walk->object) {
        fabric_mc_detach(fabric, walk->object);
        mcobject_free(walk->object);
    }
    for (guint g = 0; g < VAS_GPUS_MAX; g++)
        if (walk->region[g])
            memory_region_unref(fabric->memory, walk->region[g]);
    g_array_free(walk->raw, TRUE);
    walk_waits_free(walk->waits);
    g_free(walk);
}

GArray *walk_run(Fabric *fabric, WalkOp op, guint32 n_gpus, const WalkBackground *background, gboolean *right,
                 GError **error)
{
    Recording *recording = recording_new(fabric, &(RecordingSpec){.shown = TRUE}, walk_ops[op]);
    const WalkWith with = {.background = background, .recording = recording};
    GArray *steps = walk_record(fabric, op, n_gpus, &with, right, error);
    recording_end(recording, NULL);
    recording_free(recording);
    return steps;
}

GArray *walk_record(Fabric *fabric, WalkOp op, guint32 n_gpus, const WalkWith *with, gboolean *right, GError **error)
{
    g_assert(fabric->keep_bytes && op < WALK_OPS);
    Walk *walk = g_new0(Walk, 1);
    GArray *steps = NULL;
    walk->fabric = fabric;
    walk->op = op;
    walk->n_gpus = n_gpus;
    walk->multicast = op >= WALK_MC_STORE && op != WALK_FABRIC_PUT;
    walk->background = with->background;
    walk->recorder = with->recorder;
    walk->stop = with->stop;
    walk->waits = walk_waits_new(fabric);
    walk->raw = g_array_new(FALSE, TRUE, sizeof(WalkRaw));
    if (walk_prepare(walk, error)) {
        recording_show(with->recording, walk_on_event, walk);
        event_init(&walk->issue, walk_on_issue);
        sim_after(fabric->sim, &walk->issue, walk->background ? walk->background->warm_up_ps : 0,
                  EVENT_PRIORITY_DEVICE);
        gboolean whole = sim_run(fabric->sim, SIMTIME_NEVER) != SIM_STOPPED;
        sim_cancel(fabric->sim, &walk->issue);
        recording_show(with->recording, NULL, NULL);
        *right = whole && walk_check(walk) && fabric_is_quiet(fabric);
        steps = walk_finish(walk);
    }
    walk_clear(walk);
    return steps;
}
