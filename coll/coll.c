/* One collective from its spec to its result: buffers, launches on all ranks, time, verification. */
#include "coll/algo/primitives.h"
#include "device/launch_time.h"

#include <string.h>
#include <unistd.h>

CollSpec coll_spec_default(CollOp op)
{
    return (CollSpec){.op = op,
                      .algo = COLL_AUTO,
                      .proto = COLL_PROTO_AUTO,
                      .bytes = 1u << 20,
                      .type = NUMERIC_F32,
                      .reduce = NUMERIC_ADD,
                      .check = TRUE,
                      .iterations = 1};
}

/* ---- one under way */

void coll_free(Coll *coll)
{
    coll_buffer_free(coll->group, &coll->in);
    coll_buffer_free(coll->group, &coll->out);
    coll_buffer_free(coll->group, &coll->scratch);
    coll_buffer_free(coll->group, &coll->control);
    g_free(coll->steps);
    g_free(coll->stream);
    coll_fill_free(coll);
    g_free(coll);
}

/* What goes through slots is read soon after it was written, so in the L2, whatever they are together. */
static gboolean coll_scratch_new(Coll *coll, guint64 bytes, gboolean window, GError **error)
{
    if (!coll_buffer_new(coll->group, &coll->scratch, bytes, coll->flags, window, error))
        return FALSE;
    for (guint32 r = 0; coll->connections && r < coll->n; r++) {
        memory_set_cached(coll->fabric->memory, coll->scratch.region[r], TRUE);
        memory_set_written_back(coll->scratch.region[r], coll_slots_are_written_back(coll->group, &coll->spec, bytes));
    }
    return TRUE;
}

/* Scratch that is written whole before the first call takes the host's memory at once: of more than that, Linux would
 * end the process. */
static gboolean coll_host_holds(guint64 bytes, guint32 n, GError **error)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE); /* not positive: it does not say */
    const guint64 host = pages > 0 && page > 0 ? (guint64)pages * (guint64)page : G_MAXUINT64;
    return bytes <= host / n ||
           coll_refuse(error,
                       "%u times %" G_GUINT64_FORMAT
                       " bytes of scratch are more than the host's memory of %" G_GUINT64_FORMAT " bytes",
                       n, bytes, host);
}

static gboolean coll_prepare(Coll *coll, GError **error)
{
    CollGroup *group = coll->group;
    const CollRow *row = coll_row(coll->spec.op, coll->algo);
    const CollAlgorithm *own = coll_algorithm(coll->algo);
    guint64 bytes = coll->spec.bytes;
    coll->in_bytes = coll_bytes_in(coll->spec.op, bytes, coll->n);
    coll->out_bytes = coll_bytes_out(coll->spec.op, bytes, coll->n);
    coll->ctas = coll_ctas(group, &coll->spec, row, coll->proto);
    coll->threads = coll_threads(group, &coll->spec, row, coll->proto);
    coll->read = group->fabric->spec.sm.arch == 80; /* NCCL reads there, and writes on all other GPUs */
    guint64 control = CONTROL_FLAGS(coll->n) + (own->control ? own->control(coll->n) : 0);
    coll->control_stride = (control + 127) / 128 * 128;
    coll->program = row->program;
    gboolean window = row->multicast_in || row->multicast_out || row->buffered || coll->algo == COLL_NVLS;
    coll->flags = coll->proto != COLL_SIMPLE || row->polled;
    coll->connections = row->connections;
    coll->part_bytes = coll_is_tuned(row) ? coll_tune(group, &coll->spec, row, coll->proto).part : 0;
    coll->step_bytes = prim_step_bytes(coll->proto);
    coll->steps = g_new0(guint64, (gsize)coll->n * coll->ctas * 2 * MAX(row->connections, 1));
    guint64 scratch = coll_slots_bytes(row, coll->ctas, coll->proto);
    if (own->scratch)
        scratch = own->scratch(coll);
    if (own->clear && !coll_host_holds(scratch, coll->n, error))
        return FALSE;
    if (!coll_buffer_new(group, &coll->control, coll->ctas * coll->control_stride, TRUE, window, error) ||
        !coll_buffer_new(group, &coll->in, coll->in_bytes, FALSE, row->multicast_in, error) ||
        !coll_buffer_new(group, &coll->out, coll->out_bytes, FALSE, row->multicast_out, error) ||
        (scratch && !coll_scratch_new(coll, scratch, coll_lines_are_multicast(&coll->spec, row), error)))
        return FALSE;
    if (own->clear)
        own->clear(coll);
    coll_buffers_set_cached(coll);
    return TRUE;
}

static Coll *coll_new(CollGroup *group, const CollSpec *spec, GError **error)
{
    CollAlgo algo;
    CollProto proto;
    coll_choice(group, spec, &algo, &proto);
    if (!coll_check_algo(group, spec, algo, proto, error))
        return NULL;
    Coll *coll = g_new0(Coll, 1);
    coll->group = group;
    coll->fabric = group->fabric;
    coll->spec = *spec;
    coll->algo = algo;
    coll->proto = proto;
    coll->n = group->n;
    if (!coll_prepare(coll, error)) {
        coll_free(coll);
        return NULL;
    }
    if (spec->check)
        coll_fill(coll);
    return coll;
}

static void coll_account(Coll *coll, guint64 time_ps, guint64 kernel_ps)
{
    CollResult *result = &coll->result;
    result->algo = coll->algo;
    result->proto = coll->proto;
    result->ctas = coll->ctas;
    result->threads = coll->threads;
    coll_rate(coll->group, &coll->spec, result, time_ps, kernel_ps);
}

static void coll_on_launch_done(const DeviceLaunch *launch, void *user)
{
    Coll *coll = user;
    SimTime last_ps = launch->drained_ps;
    coll->first_ps = MIN(coll->first_ps, launch->start_ps);
    coll->last_ps = MAX(coll->last_ps, last_ps);
    coll->end_ps = MAX(coll->end_ps, launch->end_ps);
    if (--coll->running)
        return;
    coll->finished = TRUE;
    if (!coll->done)
        return; /* coll_run looks */
    coll_account(coll, coll->end_ps - coll->begin_ps, coll->last_ps - coll->first_ps);
    coll_verify(coll);
    coll->group->under_way--;
    coll->done(coll, &coll->result, coll->user);
    coll_free(coll);
}

static void coll_launch_rank(Coll *coll, guint32 rank, guint64 delay_ps, DeviceDone done, void *user)
{
    FoKernel kernel = {.name = coll_op_name(coll->spec.op),
                       .program = coll->program,
                       .args_bytes = sizeof(CollArgs),
                       .ctas = coll->ctas,
                       .threads = coll->threads};
    CollArgs args = {coll, rank};
    kernel.args = &args;
    DeviceLaunch *launch = device_launch_after(coll->fabric, coll->group->gpu[rank], coll->group->vas, &kernel,
                                               delay_ps, done, user, NULL);
    g_assert(launch);                                                      /* coll_check_algo saw to the grid */
    if (coll_algo_is_nccl(coll->algo) && coll->algo != COLL_NVLS_BUFFERED) /* whose rows know nothing of them yet */
        device_launch_cluster(launch, (guint32)launch_spec(&coll->fabric->spec)->nccl_cluster);
}

/* ---- calls that follow each other on each rank's stream */

/* The host launches call by call, rank by rank, and a kernel waits for the one before it on its stream. */
static void coll_next_call(CollStream *stream)
{
    const Coll *coll = stream->coll;
    const FabricSpec *spec = &coll->fabric->spec;
    const guint64 before = (guint64)stream->calls * coll->n + stream->rank; /* calls of the host */
    const SimTime submit_ps = coll->begin_ps + before * coll->spec.host_ps;
    const SimTime ready_ps = stream->calls ? launch_time_next_ps(spec, stream->last_ps) : 0;
    sim_after(coll->fabric->sim, &stream->next,
              launch_time_first_ps(spec, submit_ps, ready_ps, sim_now_ps(coll->fabric->sim)), EVENT_PRIORITY_DEVICE);
}

static void coll_on_call_done(const DeviceLaunch *launch, void *user)
{
    CollStream *stream = user;
    Coll *coll = stream->coll;
    stream->last_ps = launch->drained_ps;
    if (stream->calls++ == 0)
        stream->first_ps = stream->last_ps;
    if (stream->calls < coll->spec.calls)
        coll_next_call(stream);
    else if (--coll->running == 0)
        coll->finished = TRUE;
}

static void coll_on_next_call(Event *event, SimTime now_ps)
{
    CollStream *stream = EVENT_OWNER(event, CollStream, next);
    (void)now_ps;
    coll_launch_rank(stream->coll, stream->rank, 0, coll_on_call_done, stream);
}

static void coll_stream(Coll *coll)
{
    coll->stream = g_new0(CollStream, coll->n);
    coll->begin_ps = sim_now_ps(coll->fabric->sim);
    coll->finished = FALSE;
    coll->running = coll->n;
    for (guint32 r = 0; r < coll->n; r++) {
        coll->stream[r].coll = coll;
        coll->stream[r].rank = r;
        event_init(&coll->stream[r].next, coll_on_next_call);
        coll_next_call(&coll->stream[r]);
    }
}

/* From the slowest rank's first end to the slowest's last. */
static SimTime coll_period_ps(const Coll *coll)
{
    SimTime first_ps = 0, last_ps = 0;
    for (guint32 r = 0; r < coll->n; r++) {
        first_ps = MAX(first_ps, coll->stream[r].first_ps);
        last_ps = MAX(last_ps, coll->stream[r].last_ps);
    }
    return (last_ps - first_ps) / (coll->spec.calls - 1);
}

/* A library's copies come before the first CTA, those behind the kernel, too: the result waits for both. */
static void coll_launch(Coll *coll)
{
    guint64 delay_ps = launch_time_alone_ps(&coll->fabric->spec) + coll_copies_ps(coll->group, &coll->spec);
    coll->begin_ps = sim_now_ps(coll->fabric->sim);
    coll->first_ps = SIMTIME_NEVER;
    coll->last_ps = coll->end_ps = 0;
    coll->finished = FALSE;
    coll->running = coll->n;
    for (guint32 r = 0; r < coll->n; r++)
        coll_launch_rank(coll, r, delay_ps, coll_on_launch_done, coll);
}

Coll *coll_start(CollGroup *group, const CollSpec *spec, CollDone done, void *user, GError **error)
{
    g_assert(!coll_is_search(spec->algo));
    CollSpec taken = *spec;
    coll_library_apply(group, &taken);
    Coll *coll = coll_new(group, &taken, error);
    if (!coll)
        return NULL;
    coll->done = done;
    coll->user = user;
    group->under_way++;
    coll_launch(coll);
    return coll;
}

/* ---- measured alone */

static gboolean coll_run_once(Coll *coll, GError **error)
{
    Sim *sim = coll->fabric->sim;
    if (coll->spec.calls > 1 && coll->connections)
        coll_stream(coll);
    else
        coll_launch(coll);
    SimTime limit_ps = coll->group->limit_ps ? sim_now_ps(sim) + coll->group->limit_ps : SIMTIME_NEVER;
    while (!coll->finished) {
        SimStatus status = sim_run(sim, limit_ps);
        if (coll->finished || status == SIM_STOPPED)
            continue;
        if (status == SIM_LIMIT) {
            g_set_error(error, COLL_ERROR, COLL_ERROR_LATE, "%s with %s is not done in time",
                        coll_op_name(coll->spec.op), coll_algo_name(coll->algo));
            coll->group->late = coll;
            return FALSE;
        }
        coll->group->late = coll; /* for who ends its simulation; else it is left to the fabric's end */
        g_autofree char *lines = sim_waiters_text(sim);
        g_set_error(error, COLL_ERROR, COLL_ERROR_STUCK, "%s with %s got stuck; who waits:%s",
                    coll_op_name(coll->spec.op), coll_algo_name(coll->algo), lines);
        return FALSE;
    }
    return TRUE;
}

static void coll_clear_control(Coll *coll)
{
    memset(coll->steps, 0, sizeof *coll->steps * coll->n * coll->ctas * 2 * MAX(coll->connections, 1));
    for (guint32 r = 0; r < coll->n; r++) {
        memset(coll->control.region[r]->host, 0, coll->control.bytes);
        if (coll->flags && coll->scratch.region && coll->end_ps)
            memset(coll->scratch.region[r]->host, 0, coll->scratch.bytes);
    }
    if (coll_algorithm(coll->algo)->clear && coll->end_ps)
        coll_algorithm(coll->algo)->clear(coll); /* what "nothing here yet" is to it */
}

gboolean coll_run_one(CollGroup *group, const CollSpec *spec, CollResult *result, GError **error)
{
    Coll *coll = coll_new(group, spec, error);
    if (!coll)
        return FALSE;
    if (spec->calls > 1 && coll->connections) {
        if (!coll_run_once(coll, error))
            return FALSE;
        SimTime period_ps = coll_period_ps(coll);
        coll_account(coll, period_ps, period_ps);
        *result = coll->result;
        coll_free(coll);
        return TRUE;
    }
    guint64 time_ps = 0, kernel_ps = 0;
    guint32 times = MAX(spec->iterations, 1);
    for (guint32 i = 0; i < spec->warmup + times; i++) {
        coll_clear_control(coll);
        if (!coll_run_once(coll, error))
            return FALSE; /* kernels are still running: what they use stays */
        if (i >= spec->warmup) {
            time_ps += coll->end_ps - coll->begin_ps;
            kernel_ps += coll->last_ps - coll->first_ps;
        }
    }
    coll_account(coll, time_ps / times, kernel_ps / times);
    coll_verify(coll);
    *result = coll->result;
    coll_free(coll);
    return TRUE;
}
