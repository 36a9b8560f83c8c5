/* The queue of recorded time, and what starts when. */
#include "traces/replay/replay.h"

#include <string.h>

#include "traces/record/graph.h"
#include "traces/replay/episode.h"
#include "traces/replay/memo.h"
#include "traces/replay/steps.h"

#define PPM 1000000u
#define NO_ITEM G_MAXUINT64

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
    GHashTable *memo;                 /* text of the work -> Memo; spec->known's, or its own */
    ReplayMemo *own;                  /* NULL: spec->known serves */
    Episode *episode;                 /* NULL: quiet, or tentative */
    SimTime base_ps;                  /* recorded time at the episode's 0 */
    guint64 pieces;                   /* started in the episode so far */
    char *alone;                      /* key of its only piece */
    guint64 tentative, tentative_tag; /* a remembered communication under way; tag NO_ITEM: none */
    SimTime tentative_ps;             /* its start */
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
        if (r->error == NULL) {
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
    if (r->spec->progress != NULL && r->done % 256 == 0)
        r->spec->progress(r->spec->user, r->done, r->all);
    for (guint32 u = state->graph.first[index]; u < state->graph.first[index + 1]; u++) {
        if (--state->graph.waits[state->graph.users[u]] == 0) {
            record_ready(r, job, state->graph.users[u]);
        }
    }
}

/* The bytes of a communication have arrived: its ranks go on; a receive that is not posted yet will
 * at once. */
static void item_end(Replay *r, guint32 job, guint32 index)
{
    JobState *state = &r->job[job];
    const MatchItem *item = &g_array_index(state->job->match->items, MatchItem, index);
    state->result->item[index].end_ps = r->now_ps;
    state->moved[index] = 1;
    if (r->spec->ended != NULL)
        r->spec->ended(r->spec->user, state->job, item, &state->result->item[index]);
    for (guint32 i = 0; i < item->n; i++) {
        guint32 record = g_array_index(state->job->match->members, guint32, item->first + i);
        if (state->arrived[record]) {
            record_end(r, job, record);
        }
    }
}

/* ---- what runs on the fabric */

static guint64 tag_of(guint32 job, guint32 index)
{
    return (guint64)job << 32 | index;
}

/* The work of an item, with the algorithm that this replay wants for it; FALSE as episode_work. */
static gboolean work_of(const Replay *r, const ReplayJob *job, guint32 index, EpisodeWork *work,
                        guint16 *gpu)
{
    gboolean moves = episode_work(job, index, work, gpu);
    replay_choice(r->spec, work, &work->algo, &work->proto);
    return moves;
}

static void on_done(void *user, guint64 tag, CollAlgo algo, CollProto proto)
{
    Replay *r = user;
    guint32 job = tag >> 32, index = (guint32)tag;
    r->now_ps = r->base_ps + episode_now_ps(r->episode);
    ReplayItem *item = &r->job[job].result->item[index];
    item->algo = algo;
    item->proto = proto;
    item->multicast = replay_algo_is_multicast(algo);
    if (r->pieces == 1 && r->alone != NULL && r->spec->memo && !fault_comes_or_goes(&r->spec->fabric->fault)) {
        Memo *memo = g_new0(Memo, 1);
        memo->time_ps = r->now_ps - item->start_ps;
        memo->algo = algo;
        memo->proto = proto;
        g_hash_table_insert(r->memo, g_strdup(r->alone), memo);
    }
    item_end(r, job, index);
}

static void close_episode(Replay *r)
{
    ReplayUsage usage;
    replay_usage_init(&usage, r->spec->fabric);
    episode_close(r->episode, &usage);
    r->episode = NULL;
    replay_usage_add(&r->result->usage, &usage, r->base_ps);
    Memo *memo = r->pieces == 1 && r->alone != NULL ? g_hash_table_lookup(r->memo, r->alone) : NULL;
    if (memo != NULL && memo->usage.flits == NULL) {
        memo->usage = usage;
    } else {
        replay_usage_clear(&usage);
    }
    g_clear_pointer(&r->alone, g_free);
    r->pieces = 0;
}

static gboolean open_episode(Replay *r, SimTime base_ps)
{
    r->episode = episode_open(r->spec, base_ps, on_done, r, r->result->notes, &r->error);
    r->base_ps = base_ps;
    return r->episode != NULL;
}

static gboolean start_piece(Replay *r, guint64 tag)
{
    JobState *state = &r->job[tag >> 32];
    guint16 *gpu = g_new(guint16, state->job->trace->world + 2);
    EpisodeWork work;
    work_of(r, state->job, (guint32)tag, &work, gpu);
    g_clear_pointer(&r->alone, g_free);
    r->alone = r->pieces++ == 0 ? episode_work_key(&work) : NULL;
    r->result->simulated++;
    gboolean ok = episode_start(r->episode, &work, tag, &r->error);
    g_free(gpu);
    return ok || episode_blame(state->job, (guint32)tag, &r->error);
}

/* Something comes upon a remembered communication: from its start on it is simulated after all. */
static gboolean simulate_after_all(Replay *r)
{
    guint64 tag = r->tentative_tag;
    r->tentative_tag = NO_ITEM;
    r->tentative++;
    r->result->overlapped++;
    r->result->job[tag >> 32].item[(guint32)tag].memoised = FALSE;
    r->result->memoised--;
    gboolean ended = FALSE;
    SimTime now_ps = r->now_ps;
    if (!open_episode(r, r->tentative_ps) || !start_piece(r, tag)) {
        return FALSE;
    }
    if (now_ps > r->tentative_ps &&
        !episode_run(r->episode, now_ps - r->tentative_ps, &ended, &r->error)) {
        return FALSE;
    }
    g_assert(!ended); /* it would have ended later, or it would have ended before */
    return TRUE;
}

static gboolean item_start(Replay *r, guint32 job, guint32 index)
{
    JobState *state = &r->job[job];
    ReplayItem *item = &state->result->item[index];
    item->start_ps = r->now_ps;
    guint16 *gpu = g_new(guint16, state->job->trace->world + 2);
    EpisodeWork work;
    gboolean moves = work_of(r, state->job, index, &work, gpu);
    char *key = moves ? episode_work_key(&work) : NULL;
    const Memo *memo = moves ? g_hash_table_lookup(r->memo, key) : NULL;
    gboolean ok = TRUE;
    if (!moves) {
        item_end(r, job, index);
    } else if (r->episode == NULL && r->tentative_tag == NO_ITEM && memo != NULL) {
        r->tentative_tag = tag_of(job, index);
        r->tentative_ps = r->now_ps;
        item->memoised = TRUE;
        item->algo = memo->algo;
        item->proto = memo->proto;
        item->multicast = replay_algo_is_multicast(memo->algo);
        r->result->memoised++;
        steps_push(&r->steps, (Step){.at_ps = r->now_ps + memo->time_ps,
                                     .kind = STEP_MEMO_END,
                                     .job = job,
                                     .index = index,
                                     .tentative = r->tentative});
    } else {
        ok = r->tentative_tag == NO_ITEM || simulate_after_all(r);
        ok = ok && (r->episode != NULL || open_episode(r, r->now_ps)) &&
             start_piece(r, tag_of(job, index));
    }
    g_free(key);
    g_free(gpu);
    return ok;
}

/* A rank has come to a communication. */
static gboolean record_arrive(Replay *r, guint32 job, guint32 record)
{
    JobState *state = &r->job[job];
    guint32 index = state->job->match->of_record[record];
    const MatchItem *item = &g_array_index(state->job->match->items, MatchItem, index);
    ReplayItem *result = &state->result->item[index];
    state->arrived[record] = 1;
    if (state->missing[index] == item->n) {
        result->first_ps = r->now_ps;
    }
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

static gboolean do_step(Replay *r, const Step *step)
{
    r->now_ps = step->at_ps;
    switch (step->kind) {
    case STEP_ARRIVE:
        return record_arrive(r, step->job, step->index);
    case STEP_END:
        record_end(r, step->job, step->index);
        return TRUE;
    default:
        if (step->tentative == r->tentative && r->tentative_tag != NO_ITEM) {
            guint16 *gpu = g_new(guint16, r->job[step->job].job->trace->world + 2);
            EpisodeWork work;
            work_of(r, r->job[step->job].job, step->index, &work, gpu);
            char *key = episode_work_key(&work);
            const Memo *memo = g_hash_table_lookup(r->memo, key);
            replay_usage_add(&r->result->usage, &memo->usage, r->tentative_ps);
            g_free(key);
            g_free(gpu);
            r->tentative_tag = NO_ITEM;
            r->tentative++;
            item_end(r, step->job, step->index);
        }
        return TRUE;
    }
}

static gboolean replay_loop(Replay *r)
{
    while (r->steps.heap->len > 0 || r->episode != NULL) {
        SimTime next = r->steps.heap->len > 0 ? g_array_index(r->steps.heap, Step, 0).at_ps : SIMTIME_NEVER;
        if (r->episode != NULL) {
            gboolean ended;
            SimTime until = next == SIMTIME_NEVER ? SIMTIME_NEVER : next - r->base_ps;
            if (!episode_run(r->episode, until, &ended, &r->error)) {
                return FALSE;
            }
            if (episode_active(r->episode) == 0) {
                close_episode(r);
            }
            if (ended) {
                continue;
            }
        }
        Step step = steps_pop(&r->steps);
        if (!do_step(r, &step) || r->error != NULL) {
            return FALSE;
        }
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

static void replay_clear(Replay *r, guint n)
{
    for (guint j = 0; j < n; j++) {
        graph_clear(&r->job[j].graph);
        g_free(r->job[j].missing);
        g_free(r->job[j].arrived);
        g_free(r->job[j].moved);
    }
    if (r->episode != NULL) {
        episode_close(r->episode, NULL);
    }
    g_free(r->job);
    g_free(r->alone);
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
        .own = spec->known == NULL ? replay_memo_new() : NULL,
        .tentative_tag = NO_ITEM,
    };
    r.memo = (r.own != NULL ? r.own : spec->known)->by_key;
    r.result->jobs = n;
    r.result->job = g_new0(ReplayJobResult, n);
    r.result->notes = g_ptr_array_new_with_free_func(g_free);
    replay_usage_init(&r.result->usage, spec->fabric);
    for (guint j = 0; j < n; j++) {
        job_init(&r, j, &jobs[j]);
    }
    for (guint j = 0; j < n; j++) {
        for (guint i = 0; i < jobs[j].trace->records->len; i++) {
            if (r.job[j].graph.waits[i] == 0) {
                record_ready(&r, j, i);
            }
        }
    }
    gboolean ok = r.error == NULL && replay_loop(&r) && r.error == NULL;
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
    if (result == NULL) {
        return;
    }
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
