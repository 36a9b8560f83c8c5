/* Sets an execution plan up on the fabric and launches its ranks. */
#include "traces/replay/plan_run.h"

static gboolean fail(const Plan *plan, const char *text, GError **error)
{
    g_set_error(error, TRACE_ERROR, TRACE_ERROR_VALUE, "%s: %s", plan->name, text);
    return FALSE;
}

/* A reference ends within its buffer; through a switch channel, within that of each member. */
static gboolean fits_buffers(const PlanRun *run, guint32 r, const PlanRef *ref)
{
    const GArray *ranks = run->plan->ranks;
    guint64 end = (guint64)ref->index + ref->size;
    if (ref->channel < 0)
        return end <= g_array_index(ranks, PlanRank, ref->rank).chunks[ref->buffer];
    const PlanSwitch *channel = &g_array_index(g_array_index(ranks, PlanRank, r).switches, PlanSwitch, ref->channel);
    gboolean fits = TRUE;
    for (guint i = 0; i < channel->ranks->len; i++) {
        guint32 member = g_array_index(channel->ranks, guint32, i);
        fits &= end <= g_array_index(ranks, PlanRank, member).chunks[channel->buffer];
    }
    return fits;
}

/* Limits of what is run, over all operations of rank r. */
static gboolean check_op(const PlanRun *run, guint32 r, const PlanOp *op, GError **error)
{
    if (op->barrier_id >= PLAN_BARRIERS_MAX || op->n_src > FO_LOOP_MAX || op->n_dst > FO_LOOP_MAX)
        return fail(run->plan, "an operation of over 16 buffers, or over 64 barriers", error);
    for (guint32 i = 0; i < op->n_src + op->n_dst; i++) {
        const PlanRef *ref = i < op->n_src ? &op->src[i] : &op->dst[i - op->n_src];
        if (!fits_buffers(run, r, ref))
            return fail(run->plan, "an operation reaches over the end of its buffer's chunks", error);
    }
    return TRUE;
}

/* Products of what the plan says stay within 64 bits: chunks are 2^20 of 2^40 bytes at most. */
static gboolean check_buffers(const PlanRun *run, GError **error)
{
    for (guint r = 0; r < run->plan->ranks->len; r++) {
        const PlanRank *rank = &g_array_index(run->plan->ranks, PlanRank, r);
        for (guint b = 0; b < PLAN_BUFFERS; b++) {
            if (run->chunk_bytes * rank->chunks[b] > COLL_BYTES_MAX) {
                g_set_error(error, TRACE_ERROR, TRACE_ERROR_VALUE,
                            "%s: rank %u has a buffer of %u chunks of %" G_GUINT64_FORMAT
                            " bytes, more than a simulated GPU holds; a smaller --plan-bytes should "
                            "do",
                            run->plan->name, r, rank->chunks[b], run->chunk_bytes);
                return FALSE;
            }
        }
    }
    return TRUE;
}

static gboolean check_plan(const PlanRun *run, GError **error)
{
    const Plan *plan = run->plan;
    for (guint r = 0; r < plan->ranks->len; r++) {
        const PlanRank *rank = &g_array_index(plan->ranks, PlanRank, r);
        for (guint q = 0; q < r; q++)
            if (run->gpu[q] == run->gpu[r])
                return fail(plan, "an execution plan needs a GPU for each rank: it cannot be folded", error);
        if (rank->channels->len > PLAN_CHANNELS_MAX || rank->blocks->len > 65535)
            return fail(plan, "over 256 channels on one rank", error);
        for (guint b = 0; b < rank->blocks->len; b++) {
            const GArray *ops = g_array_index(rank->blocks, PlanBlock, b).ops;
            for (guint i = 0; i < ops->len; i++)
                if (!check_op(run, r, &g_array_index(ops, PlanOp, i), error))
                    return FALSE;
        }
    }
    return TRUE;
}

static void map_for_all(PlanRun *run, FoAddress va, guint64 bytes, MemRegion *region, McObject *object)
{
    VasMapping *mapping = vas_map(run->vas, va, bytes, region, object, 0);
    for (guint r = 0; r < run->plan->ranks->len; r++)
        vas_set_access(mapping, run->gpu[r], VAS_ACCESS_READWRITE);
}

/* A buffer holds its chunks twice over: packets need the room, and addresses stay simple. */
static gboolean make_buffers(PlanRun *run, guint32 r, GError **error)
{
    const PlanRank *rank = &g_array_index(run->plan->ranks, PlanRank, r);
    PlanPlace *place = &run->rank[r];
    for (guint b = 0; b <= PLAN_BUFFERS; b++) {
        gboolean flags = b == PLAN_BUFFERS;
        guint64 bytes = flags ? (PLAN_FLAG_PACKET + (guint64)place->packets.flags + 1) * PLAN_FLAG_BYTES
                              : 2 * run->chunk_bytes * MAX(rank->chunks[b], 1);
        bytes = (bytes + 255) / 256 * 256;
        place->region[b] = flags ? memory_control_region_new(run->fabric->memory, run->gpu[r], bytes, error)
                                 : memory_region_new(run->fabric->memory, run->gpu[r], bytes, error);
        if (!place->region[b])
            return FALSE;
        memory_set_cached(run->fabric->memory, place->region[b], bytes <= run->fabric->spec.gpu.l2_bytes);
        place->bytes[b] = bytes;
        place->va[b] = vas_choose(run->vas, bytes, 2u << 20);
        map_for_all(run, place->va[b], bytes, place->region[b], NULL);
    }
    return TRUE;
}

static gboolean make_window(PlanRun *run, const PlanSwitch *channel, guint32 *index, GError **error)
{
    for (guint w = 0; w < run->windows->len; w++) {
        const PlanWindow *known = &g_array_index(run->windows, PlanWindow, w);
        gboolean same = known->buffer == channel->buffer && known->ranks->len == channel->ranks->len;
        for (guint i = 0; i < channel->ranks->len && same; i++)
            same = g_array_index(known->ranks, guint32, i) == g_array_index(channel->ranks, guint32, i);
        if (same) {
            *index = w;
            return TRUE;
        }
    }
    guint64 bytes = G_MAXUINT64;
    for (guint i = 0; i < channel->ranks->len; i++)
        bytes = MIN(bytes, run->rank[g_array_index(channel->ranks, guint32, i)].bytes[channel->buffer]);
    McObject *object = fabric_mc_object(run->fabric, channel->ranks->len, bytes);
    for (guint i = 0; i < channel->ranks->len; i++) {
        guint32 r = g_array_index(channel->ranks, guint32, i);
        mcobject_add_member(object, run->gpu[r]);
        gboolean bound = mcobject_bind(object, run->gpu[r], 0, run->rank[r].region[channel->buffer], 0, bytes);
        g_assert(bound);
    }
    PlanWindow window = {object, vas_choose(run->vas, bytes, 2u << 20), channel->buffer, channel->ranks};
    g_autoptr(GError) full = NULL;
    if (!fabric_mc_attach(run->fabric, object, &full)) {
        g_autofree char *text =
            g_strdup_printf("the switches' multicast tables have no room for its switch channels: %s", full->message);
        g_ptr_array_index(run->fabric->objects, object->id) = NULL;
        mcobject_free(object);
        return fail(run->plan, text, error);
    }
    map_for_all(run, window.va, bytes, NULL, object);
    *index = run->windows->len;
    g_array_append_val(run->windows, window);
    return TRUE;
}

/* Channel c of rank r leads to peer p: the k-th such channel of its kind meets the k-th channel of
 * that kind of p that leads to r. */
static gboolean pair_channels(PlanRun *run, guint32 r, GError **error)
{
    const GArray *own = g_array_index(run->plan->ranks, PlanRank, r).channels;
    run->rank[r].theirs = g_new0(guint32, own->len + 1);
    for (guint c = 0; c < own->len; c++) {
        const PlanChannel *channel = &g_array_index(own, PlanChannel, c);
        const GArray *theirs = g_array_index(run->plan->ranks, PlanRank, channel->peer).channels;
        guint before = 0, at = 0;
        for (guint i = 0; i < c; i++) {
            const PlanChannel *other = &g_array_index(own, PlanChannel, i);
            before += other->peer == channel->peer && other->kind == channel->kind;
        }
        while (at < theirs->len && (g_array_index(theirs, PlanChannel, at).peer != r ||
                                    g_array_index(theirs, PlanChannel, at).kind != channel->kind || before-- > 0))
            at++;
        if (at == theirs->len)
            return fail(run->plan, "a channel leads to a rank that has none back", error);
        run->rank[r].theirs[c] = at;
    }
    return TRUE;
}

static gboolean set_up(PlanRun *run, GError **error)
{
    guint n = run->plan->ranks->len;
    plan_packets_init(run);
    for (guint r = 0; r < n; r++)
        if (!make_buffers(run, r, error) || !pair_channels(run, r, error))
            return FALSE;
    for (guint r = 0; r < n; r++) {
        const GArray *switches = g_array_index(run->plan->ranks, PlanRank, r).switches;
        run->rank[r].windows = g_new0(guint32, switches->len + 1);
        for (guint s = 0; s < switches->len; s++)
            if (!make_window(run, &g_array_index(switches, PlanSwitch, s), &run->rank[r].windows[s], error))
                return FALSE;
    }
    return TRUE;
}

static void run_free(PlanRun *run)
{
    for (guint w = 0; w < run->windows->len; w++) {
        PlanWindow *window = &g_array_index(run->windows, PlanWindow, w);
        vas_unmap(run->vas, window->va, window->object->bytes);
        fabric_mc_detach(run->fabric, window->object);
        g_ptr_array_index(run->fabric->objects, window->object->id) = NULL;
        mcobject_free(window->object);
    }
    for (guint r = 0; r < run->plan->ranks->len; r++) {
        PlanPlace *place = &run->rank[r];
        for (guint b = 0; b <= PLAN_BUFFERS && place->region[b]; b++) {
            vas_unmap(run->vas, place->va[b], place->bytes[b]);
            memory_region_unref(run->fabric->memory, place->region[b]);
        }
        plan_packets_clear(&place->packets);
        g_free(place->windows);
        g_free(place->theirs);
    }
    vas_free(run->vas);
    g_array_free(run->windows, TRUE);
    g_free(run->rank);
    g_free((gpointer)run->gpu);
    g_free(run);
}

static void on_launch_done(const DeviceLaunch *launch, void *user)
{
    (void)launch;
    PlanRun *run = user;
    if (--run->running == 0) {
        TransferDone done = run->done;
        void *done_user = run->user;
        run_free(run);
        done(done_user);
    }
}

static void launch_all(PlanRun *run)
{
    guint n = run->plan->ranks->len;
    for (guint r = 0; r < n; r++)
        run->running += g_array_index(run->plan->ranks, PlanRank, r).blocks->len > 0;
    for (guint r = 0; r < n; r++) {
        PlanArgs args = {run, r};
        FoKernel kernel = {
            .name = run->plan->name,
            .program = plan_program,
            .args = &args,
            .args_bytes = sizeof args,
            .ctas = g_array_index(run->plan->ranks, PlanRank, r).blocks->len,
            .threads = (run->plan->threads + 31) / 32 * 32,
        };
        if (kernel.ctas > 0) {
            DeviceLaunch *launch = device_launch(run->fabric, run->gpu[r], run->vas, &kernel, on_launch_done, run,
                                                 NULL);
            g_assert(launch != NULL); /* check_plan saw to the grid */
        }
    }
}

gboolean plan_start(Fabric *fabric, const Plan *plan, const guint16 *gpu, TransferDone done, void *user, GError **error)
{
    guint32 chunks = 1, blocks = 0;
    for (guint r = 0; r < plan->ranks->len; r++) {
        const PlanRank *rank = &g_array_index(plan->ranks, PlanRank, r);
        chunks = MAX(chunks, rank->chunks[PLAN_INPUT] > 0 ? rank->chunks[PLAN_INPUT] : rank->chunks[PLAN_OUTPUT]);
        blocks = MAX(blocks, rank->blocks->len);
    }
    if (blocks == 0)
        return fail(plan, "has no thread block", error);
    PlanRun *run = g_new0(PlanRun, 1);
    run->fabric = fabric;
    run->plan = plan;
    run->gpu = g_memdup2(gpu, plan->ranks->len * sizeof(guint16));
    run->vas = vas_new(fabric->memory, (guint32)fabric->spec.system.gpus);
    run->rank = g_new0(PlanPlace, plan->ranks->len);
    run->windows = g_array_new(FALSE, FALSE, sizeof(PlanWindow));
    run->chunk_bytes = (plan->bytes + chunks * 16ull - 1) / (chunks * 16ull) * 16;
    run->done = done;
    run->user = user;
    if (!check_buffers(run, error) || !check_plan(run, error) || !set_up(run, error)) {
        run_free(run);
        return FALSE;
    }
    launch_all(run);
    return TRUE;
}
