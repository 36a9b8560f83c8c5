#include "traces/replay/episode.h"

#include <string.h>

#include "device/device.h"
#include "model/fabric/switches.h"
#include "model/fabric/topology.h"
#include "model/fabric/waves.h"
#include "traces/record/plan.h"

typedef struct {
    Episode *episode;
    guint64 tag;
    CollAlgo algo;
    CollProto proto;
    EpisodeWork work; /* gpu is a copy */
    guint16 *gpu;
    CollGroup *group;
    gboolean second; /* of two phases */
} Piece;

struct Episode {
    const ReplaySpec *spec;
    Sim *sim;
    Fabric *fabric;
    Recording *recording; /* NULL: none is wanted */
    EpisodeDone done;
    void *user;
    GPtrArray *notes;
    GHashTable *groups; /* GPU list as text -> CollGroup */
    guint32 active;
    gboolean ended;
    GError *error; /* from inside a callback */
};

static void group_free(gpointer group) { coll_group_free(group); }

Episode *episode_open(const ReplaySpec *spec, SimTime begin_ps, EpisodeDone done, void *user, GPtrArray *notes,
                      GError **error)
{
    Episode *episode = g_new0(Episode, 1);
    episode->spec = spec;
    episode->done = done;
    episode->user = user;
    episode->notes = notes;
    FabricSpec fabric = *spec->fabric;
    fabric.fault.begin_ps = begin_ps;
    SimSpec sim = spec->sim;
    if (spec->wave && spec->wave->stretches++ == 0) {
        sim.vcd_path = spec->wave->path;
        spec->wave->begin_ps = begin_ps;
    }
    episode->sim = sim_new(&sim, error);
    episode->fabric = episode->sim ? fabric_new(episode->sim, &fabric, FALSE, error) : NULL;
    if (!episode->fabric) {
        if (episode->sim)
            sim_free(episode->sim);
        g_free(episode);
        return NULL;
    }
    fabric_trace(episode->fabric);
    episode->fabric->log = spec->log;
    RecordingSpec record = spec->record ? *spec->record : (RecordingSpec){0};
    record.points |= spec->figures;
    record.where = spec->where;
    record.begin_ps = begin_ps;
    episode->recording = recording_new(episode->fabric, &record, "replay");
    if (spec->flow)
        device_flow_begin(episode->fabric);
    episode->groups = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, group_free);
    return episode;
}

void episode_close(Episode *episode, ReplayUsage *usage)
{
    recording_end(episode->recording, NULL);
    if (episode->spec->wave)
        episode->spec->wave->lost |= !sim_trace_end(episode->sim);
    if (usage)
        replay_usage_take(usage, episode->fabric, episode->recording, episode->spec->figures);
    recording_free(episode->recording);
    if (episode->active == 0) {
        g_hash_table_destroy(episode->groups);
    } else { /* stuck: kernels still hold the groups' memory */
        GHashTableIter groups;
        gpointer key;
        g_hash_table_iter_init(&groups, episode->groups);
        while (g_hash_table_iter_next(&groups, &key, NULL)) {
            g_hash_table_iter_steal(&groups);
            g_free(key);
        }
        g_hash_table_destroy(episode->groups);
    }
    if (episode->spec->flow)
        device_flow_end(episode->fabric);
    fabric_free(episode->fabric);
    sim_free(episode->sim);
    g_clear_error(&episode->error);
    g_free(episode);
}

SimTime episode_now_ps(const Episode *episode) { return sim_now_ps(episode->sim); }

static void note(Episode *episode, char *text)
{
    for (guint i = 0; i < episode->notes->len; i++) {
        if (strcmp(episode->notes->pdata[i], text) == 0) {
            g_free(text);
            return;
        }
    }
    g_ptr_array_add(episode->notes, text);
}

static CollGroup *group_of(Episode *episode, const guint16 *gpu, guint32 n, GError **error)
{
    GString *key = g_string_new(NULL);
    for (guint32 i = 0; i < n; i++)
        g_string_append_printf(key, "%u,", gpu[i]);
    CollGroup *group = g_hash_table_lookup(episode->groups, key->str);
    if (!group) {
        group = coll_group_new(episode->fabric, gpu, n, error);
        if (group)
            g_hash_table_insert(episode->groups, g_strdup(key->str), group);
    }
    g_string_free(key, TRUE);
    return group;
}

static void piece_end(Piece *piece)
{
    Episode *episode = piece->episode;
    episode->active--;
    episode->ended = TRUE;
    episode->done(episode->user, piece->tag, piece->algo, piece->proto);
    sim_stop(episode->sim);
    g_free(piece->gpu);
    g_free(piece);
}

static void on_transfer(void *user) { piece_end(user); }

static gboolean start_parts(Piece *piece, GError **error)
{
    const EpisodeWork *work = &piece->work;
    guint64 part = MAX(work->bytes / work->n, 1);
    TransferPart *parts = g_new0(TransferPart, work->n);
    guint32 n = 0;
    for (guint32 i = 0; i < work->n; i++) {
        guint16 root = work->gpu[work->root], other = work->gpu[i];
        if (i != work->root) {
            gboolean out = work->op == RECORD_SCATTER;
            parts[n++] = (TransferPart){out ? root : other, out ? other : root, part};
        }
    }
    gboolean ok = transfer_start(piece->episode->fabric, parts, n, on_transfer, piece, error);
    g_free(parts);
    return ok;
}

static void on_coll(Coll *coll, const CollResult *result, void *user)
{
    (void)coll;
    Piece *piece = user;
    piece->algo = result->algo;
    piece->proto = result->proto;
    if (piece->work.op == RECORD_REDUCE && !piece->second) { /* reduced slices; now they meet at the root */
        piece->second = TRUE;
        GError *error = NULL;
        if (!start_parts(piece, &error)) {
            piece->episode->error = error;
            sim_stop(piece->episode->sim);
        }
        return;
    }
    piece_end(piece);
}

/* What of the type and the reduction is not as the trace says. */
static void note_type(Episode *episode, const EpisodeWork *work, const CollSpec *spec)
{
    if (!record_op_reduces(work->op))
        return;
    if (spec->type == NUMERIC_U32 && work->dtype != RECORD_U32) {
        note(episode, g_strdup_printf("reductions of %s run as u32: the switches sum nothing narrower",
                                      record_dtype_name(work->dtype)));
    }
    if (work->reduction == RECORD_PROD || work->reduction == RECORD_AVG) {
        note(episode,
             g_strdup_printf("%s runs as sum: as many bytes and operations", record_reduction_name(work->reduction)));
    }
}

/* What is taken where nothing was asked for, and by whose rule. */
static void note_auto(Episode *episode, const CollGroup *group, const CollSpec *spec)
{
    CollSpec taken = *spec;
    CollAlgo algo;
    CollProto proto;
    coll_library_apply(group, &taken);
    coll_choice(group, &taken, &algo, &proto);
    g_autofree char *why = coll_library_why(group, spec);
    note(episode, g_strdup_printf("auto (--program %s), %s on %u GPUs: %s %s, %s", coll_library_names[spec->library],
                                  coll_op_name(spec->op), coll_group_ranks(group), coll_algo_name(algo),
                                  coll_proto_name(proto), why));
}

static gboolean start_coll(Piece *piece, CollOp op, GError **error)
{
    Episode *episode = piece->episode;
    const EpisodeWork *work = &piece->work;
    CollSpec spec = episode_coll_spec(work);
    note_type(episode, work, &spec);
    if (spec.bytes != work->bytes && op != COLL_BARRIER)
        note(episode, g_strdup("sizes are rounded up to whole 16-byte accesses of each rank"));
    piece->group = group_of(episode, work->gpu, work->n, error);
    if (!piece->group)
        return FALSE;
    char *fallback = NULL;
    spec.proto = work->proto;
    spec.library = episode->spec->library;
    spec.algo = replay_algo(episode->spec->fabric, piece->group, &spec, work->algo, &fallback);
    if (fallback)
        note(episode, fallback);
    if (spec.algo == COLL_AUTO && episode->spec->algo[op] == COLL_AUTO && op != COLL_BARRIER)
        note_auto(episode, piece->group, &spec);
    return coll_start(piece->group, &spec, on_coll, piece, error) != NULL;
}

gboolean episode_start(Episode *episode, const EpisodeWork *work, guint64 tag, GError **error)
{
    Piece *piece = g_new0(Piece, 1);
    piece->episode = episode;
    piece->tag = tag;
    piece->algo = COLL_ALGOS;
    piece->work = *work;
    piece->gpu = g_memdup2(work->gpu, work->n * sizeof(guint16));
    piece->work.gpu = piece->gpu;
    episode->active++;
    CollOp op = episode_coll_op(work->op);
    gboolean ok;
    if (work->op == RECORD_PLAN) {
        ok = plan_start(episode->fabric, work->plan, work->gpu, on_transfer, piece, error);
    } else if (work->op == RECORD_SEND) {
        TransferPart part = {work->gpu[0], work->gpu[1], work->bytes};
        ok = transfer_start(episode->fabric, &part, 1, on_transfer, piece, error);
    } else if (op == COLL_OPS) {
        ok = start_parts(piece, error);
    } else {
        ok = start_coll(piece, op, error);
    }
    if (!ok) {
        episode->active--;
        g_free(piece->gpu);
        g_free(piece);
    }
    return ok;
}

gboolean episode_run(Episode *episode, SimTime until_ps, gboolean *ended, GError **error)
{
    episode->ended = FALSE;
    SimStatus status = SIM_STOPPED;
    while (!episode->ended && !episode->error && status == SIM_STOPPED)
        status = sim_run(episode->sim, until_ps);
    *ended = episode->ended;
    if (episode->error) {
        g_propagate_error(error, g_steal_pointer(&episode->error));
        return FALSE;
    }
    if (episode->ended || status == SIM_LIMIT)
        return TRUE;
    g_autofree char *lines = sim_waiters_text(episode->sim);
    g_set_error(error, COLL_ERROR, COLL_ERROR_STUCK, "the simulated fabric got stuck; who waits:%s", lines);
    return FALSE;
}
