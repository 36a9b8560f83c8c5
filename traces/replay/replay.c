/* The queue of recorded time, and what starts when. */
#include "traces/replay/replay.h"

#include <string.h>

#include "traces/record/graph.h"
#include "traces/replay/steps.h"
#include "traces/replay/stretch.h"

#define PPM 1000000u

typedef struct {
    const ReplayJob *job;
    ReplayJobResult *result;
    Graph graph;
    guint32 *missing; /* ranks that an item still waits for */
    guint8 *arrived;  /* by record */
    guint8 *moved;    /* by item: its bytes have arrived */
} JobState;

typedef struct {
    const ReplaySpec *spec;
    ReplayResult *result;
    JobState *job;
    Steps steps;
    guint64 done, all;
    SimTime now_ps;
    ReplayMemo *own;  /* NULL: spec->known serves */
    Stretch *stretch; /* what is on the fabric */
    GError *error;
} Replay;

#define REPLAY_PS_MAX ((guint64)1 << 62) /* 53 days */

static guint64 scaled(const Replay *r, guint64 ps)
{
    __uint128_t all_ps = (__uint128_t)ps * r->spec->compute_ppm / PPM;
    return all_ps > REPLAY_PS_MAX ? REPLAY_PS_MAX + 1 : (guint64)all_ps;
}

/* All that a record waits for has ended: its gap begins. */
static void record_ready(Replay *r, guint32 job, guint32 index)
{
    Record record = record_effective(trace_record(r->job[job].job->trace, index));
    gboolean communicates = r->job[job].job->match->of_record[index] != MATCH_NONE;
    SimTime begin = r->now_ps + scaled(r, record.gap_ps);
    if (begin > REPLAY_PS_MAX || scaled(r, record.duration_ps) > REPLAY_PS_MAX - begin) {
        if (!r->error) {
            g_set_error(&r->error, TRACE_ERROR, TRACE_ERROR_VALUE,
                        "%s: the replay would take over 53 simulated days; a smaller "
                        "--compute-scale, or a part of the trace (--limit), should do",
                        r->job[job].job->trace->name);
        }
        return;
    }
    r->job[job].result->start_ps[index] = begin;
    Step step = {.at_ps = begin, .kind = STEP_ARRIVE, .job = job, .index = index};
    if (!communicates) {
        step.at_ps = begin + scaled(r, record.duration_ps);
        step.kind = STEP_END;
    }
    steps_push(&r->steps, step);
}

static void record_end(Replay *r, guint32 job, guint32 index)
{
    JobState *state = &r->job[job];
    state->result->end_ps[index] = r->now_ps;
    r->result->total_ps = MAX(r->result->total_ps, r->now_ps);
    r->done++;
    if (r->spec->progress && r->done % 256 == 0)
        r->spec->progress(r->spec->user, r->done, r->all);
    for (guint32 u = state->graph.first[index]; u < state->graph.first[index + 1]; u++)
        if (--state->graph.waits[state->graph.users[u]] == 0)
            record_ready(r, job, state->graph.users[u]);
}

/* The bytes of a communication have arrived: its ranks go on; a receive that is not posted yet will
 * at once. */
static void item_end(Replay *r, guint32 job, guint32 index)
{
    JobState *state = &r->job[job];
    const MatchItem *item = &g_array_index(state->job->match->items, MatchItem, index);
    state->result->item[index].end_ps = r->now_ps;
    state->moved[index] = 1;
    if (r->spec->ended)
        r->spec->ended(r->spec->user, state->job, item, &state->result->item[index]);
    for (guint32 i = 0; i < item->n; i++) {
        guint32 record = g_array_index(state->job->match->members, guint32, item->first + i);
        if (state->arrived[record])
            record_end(r, job, record);
    }
}

/* ---- what runs on the fabric */

/* The work of an item, with the algorithm that this replay wants for it; FALSE as episode_work. */
static gboolean work_of(const Replay *r, const ReplayJob *job, guint32 index, EpisodeWork *work, guint16 *gpu)
{
    gboolean moves = episode_work(job, index, work, gpu);
    replay_choice(r->spec, work, &work->algo, &work->proto);
    return moves;
}

static void on_done(void *user, guint64 tag, CollAlgo algo, CollProto proto)
{
    Replay *r = user;
    guint32 job = tag >> 32, index = (guint32)tag;
    r->now_ps = stretch_now_ps(r->stretch);
    ReplayItem *item = &r->job[job].result->item[index];
    item->algo = algo;
    item->proto = proto;
    item->multicast = replay_algo_is_multicast(algo);
    item_end(r, job, index);
}

/* Something came upon a remembered communication, which is simulated after all. */
static void on_simulated(void *user, guint64 tag)
{
    Replay *r = user;
    r->result->job[tag >> 32].item[(guint32)tag].memoised = FALSE;
    r->result->memoised--;
    r->result->simulated++;
    r->result->overlapped++;
}

static gboolean item_start(Replay *r, guint32 job, guint32 index)
{
    JobState *state = &r->job[job];
    ReplayItem *item = &state->result->item[index];
    item->start_ps = r->now_ps;
    g_autofree guint16 *gpu = g_new(guint16, state->job->trace->world + 2);
    EpisodeWork work;
    if (!work_of(r, state->job, index, &work, gpu)) {
        item_end(r, job, index);
        return TRUE;
    }
    const guint64 tag = (guint64)job << 32 | index;
    if (!stretch_start(r->stretch, r->now_ps, &work, tag, &item->memoised, &r->error))
        return episode_blame(state->job, index, &r->error);
    r->result->memoised += item->memoised;
    r->result->simulated += !item->memoised;
    return TRUE;
}

/* A rank has come to a communication. */
static gboolean record_arrive(Replay *r, guint32 job, guint32 record)
{
    JobState *state = &r->job[job];
    guint32 index = state->job->match->of_record[record];
    const MatchItem *item = &g_array_index(state->job->match->items, MatchItem, index);
    ReplayItem *result = &state->result->item[index];
    state->arrived[record] = 1;
    if (state->missing[index] == item->n)
        result->first_ps = r->now_ps;
    result->last_rank = trace_record(state->job->trace, record)->rank;
    state->missing[index]--;
    if (item->skipped || state->moved[index]) {
        record_end(r, job, record);
        return TRUE;
    }
    gboolean message = item->op == RECORD_SEND;
    gboolean sends = message && trace_record(state->job->trace, record)->op == RECORD_SEND;
    return sends || (!message && state->missing[index] == 0) ? item_start(r, job, index) : TRUE;
}

static gboolean replay_loop(Replay *r)
{
    while (r->steps.heap->len > 0 || stretch_is_busy(r->stretch)) {
        SimTime next = r->steps.heap->len > 0 ? g_array_index(r->steps.heap, Step, 0).at_ps : SIMTIME_NEVER;
        if (stretch_is_busy(r->stretch)) {
            gboolean ended;
            if (!stretch_run(r->stretch, next, &ended, &r->error))
                return FALSE;
            if (ended)
                continue;
        }
        const Step step = steps_pop(&r->steps);
        r->now_ps = step.at_ps;
        if (step.kind == STEP_END)
            record_end(r, step.job, step.index);
        if ((step.kind == STEP_ARRIVE && !record_arrive(r, step.job, step.index)) || r->error)
            return FALSE;
    }
    return TRUE;
}

/* ---- before and after */

static void job_init(Replay *r, guint32 j, const ReplayJob *job)
{
    JobState *state = &r->job[j];
    guint n = job->trace->records->len, items = job->match->items->len;
    state->job = job;
    state->result = &r->result->job[j];
    state->result->start_ps = g_new0(SimTime, n + 1);
    state->result->end_ps = g_new0(SimTime, n + 1);
    state->result->item = g_new0(ReplayItem, items + 1);
    state->missing = g_new0(guint32, items + 1);
    state->arrived = g_new0(guint8, n + 1);
    state->moved = g_new0(guint8, items + 1);
    graph_init(&state->graph, job->trace);
    for (guint i = 0; i < items; i++) {
        state->missing[i] = g_array_index(job->match->items, MatchItem, i).n;
        state->result->item[i].algo = COLL_ALGOS;
    }
    r->all += n;
}

static void replay_open_stretch(Replay *r)
{
    const ReplaySpec *spec = r->spec;
    StretchSpec stretch = {.spec = spec,
                           .notes = r->result->notes,
                           .usage = &r->result->usage,
                           .done = on_done,
                           .simulated = on_simulated,
                           .user = r};
    if (spec->memo && !fault_comes_or_goes(&spec->fabric->fault)) {
        r->own = spec->known ? NULL : replay_memo_new();
        stretch.memo = r->own ? r->own : spec->known;
    }
    r->stretch = stretch_new(&stretch);
}

static void replay_clear(Replay *r, guint n)
{
    for (guint j = 0; j < n; j++) {
        graph_clear(&r->job[j].graph);
        g_free(r->job[j].missing);
        g_free(r->job[j].arrived);
        g_free(r->job[j].moved);
    }
    stretch_free(r->stretch);
    g_free(r->job);
    g_array_free(r->steps.heap, TRUE);
    replay_memo_free(r->own);
}

ReplayResult *replay_run(const ReplaySpec *spec, const ReplayJob *jobs, guint n, GError **error)
{
    Replay r = {
        .spec = spec,
        .result = g_new0(ReplayResult, 1),
        .job = g_new0(JobState, n),
        .steps.heap = g_array_new(FALSE, FALSE, sizeof(Step)),
    };
    r.result->jobs = n;
    r.result->job = g_new0(ReplayJobResult, n);
    r.result->notes = g_ptr_array_new_with_free_func(g_free);
    replay_usage_init(&r.result->usage, spec->fabric);
    replay_open_stretch(&r);
    for (guint j = 0; j < n; j++)
        job_init(&r, j, &jobs[j]);
    for (guint j = 0; j < n; j++) {
        for (guint i = 0; i < jobs[j].trace->records->len; i++)
            if (r.job[j].graph.waits[i] == 0)
                record_ready(&r, j, i);
    }
    gboolean ok = !r.error && replay_loop(&r) && !r.error;
    g_assert(!ok || r.done == r.all); /* match_new saw to it that the traces come to an end */
    replay_clear(&r, n);
    if (!ok) {
        g_propagate_error(error, r.error);
        replay_result_free(r.result);
        return NULL;
    }
    return r.result;
}

void replay_result_free(ReplayResult *result)
{
    if (!result)
        return;
    for (guint32 j = 0; j < result->jobs; j++) {
        g_free(result->job[j].start_ps);
        g_free(result->job[j].end_ps);
        g_free(result->job[j].item);
    }
    g_free(result->job);
    g_ptr_array_free(result->notes, TRUE);
    replay_usage_clear(&result->usage);
    g_free(result);
}
