#include "traces/replay/stretch.h"

#include <string.h>

/* ---- the memo: a tree of what started when */

/* A work that has ended. */
typedef struct {
    SimTime at_ps;
    guint32 work; /* the how manieth that started */
    CollAlgo algo;
    CollProto proto;
} MemoEnd;

typedef struct {
    guint64 number;
    GArray *ends;      /* MemoEnd, from the start of its last work on */
    SimTime known_ps;  /* up to here they are all; SIMTIME_NEVER: to the end of the stretch */
    ReplayUsage usage; /* of the whole, where known_ps says so */
} MemoNode;

/* Of what is never repeated there can be much; beyond this, new stretches are simulated and forgotten. */
#define MEMO_BYTES_MAX (256ull << 20)

struct ReplayMemo {
    GHashTable *nodes; /* number of the parent, time, key of the work -> MemoNode */
    guint64 bytes;
};

static void memo_free_node(gpointer data)
{
    MemoNode *node = data;
    replay_usage_clear(&node->usage);
    g_array_free(node->ends, TRUE);
    g_free(node);
}

ReplayMemo *replay_memo_new(void)
{
    ReplayMemo *memo = g_new0(ReplayMemo, 1);
    memo->nodes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, memo_free_node);
    return memo;
}

void replay_memo_free(ReplayMemo *memo)
{
    if (memo) {
        g_hash_table_destroy(memo->nodes);
        g_free(memo);
    }
}

static char *memo_key(const MemoNode *before, SimTime at_ps, const char *work)
{
    return g_strdup_printf("%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %s", before ? before->number : 0, at_ps, work);
}

/* The stretch that goes as `before` (NULL: nothing) and in which then the work of this key starts at this time.
 * NULL: there was none. */
static MemoNode *memo_find(ReplayMemo *memo, const MemoNode *before, SimTime at_ps, const char *work)
{
    g_autofree char *key = memo_key(before, at_ps, work);
    return g_hash_table_lookup(memo->nodes, key);
}

/* The same, made if there is none. NULL: the memo is full. */
static MemoNode *memo_add(ReplayMemo *memo, const MemoNode *before, SimTime at_ps, const char *work)
{
    MemoNode *node = memo_find(memo, before, at_ps, work);
    if (node || memo->bytes > MEMO_BYTES_MAX)
        return node;
    char *key = memo_key(before, at_ps, work);
    node = g_new0(MemoNode, 1);
    node->number = g_hash_table_size(memo->nodes) + 1;
    node->ends = g_array_new(FALSE, FALSE, sizeof(MemoEnd));
    node->known_ps = at_ps;
    memo->bytes += sizeof *node + strlen(key) + 8 * sizeof(MemoEnd);
    g_hash_table_insert(memo->nodes, key, node);
    return node;
}

/* The stretch has ended; takes the usage over unless it has it. */
static void memo_close(ReplayMemo *memo, MemoNode *node, ReplayUsage *usage)
{
    if (node->known_ps == SIMTIME_NEVER) {
        replay_usage_clear(usage);
        return;
    }
    node->known_ps = SIMTIME_NEVER;
    node->usage = *usage;
    memo->bytes += usage->ways * (usage->figures ? 1024 : 16);
}

/* ---- a stretch */

typedef struct {
    EpisodeWork work; /* gpu is a copy */
    guint16 *gpu;
    guint64 tag;
    SimTime at_ps; /* since the begin, as all times here */
    gboolean ended;
} Part;

struct Stretch {
    StretchSpec spec;
    SimTime base_ps, now_ps; /* of the replay's time; since then */
    GArray *parts;           /* Part: what has started; empty: nothing is on the fabric */
    guint active;
    MemoNode *node;   /* that goes as this one; NULL: nothing does, nor will be remembered */
    guint ends;       /* of the node that have come */
    Episode *episode; /* NULL: remembered so far */
};

static void part_clear(gpointer part) { g_free(((Part *)part)->gpu); }

Stretch *stretch_new(const StretchSpec *spec)
{
    Stretch *stretch = g_new0(Stretch, 1);
    stretch->spec = *spec;
    stretch->parts = g_array_new(FALSE, FALSE, sizeof(Part));
    g_array_set_clear_func(stretch->parts, part_clear);
    return stretch;
}

void stretch_free(Stretch *stretch)
{
    if (!stretch)
        return;
    if (stretch->episode)
        episode_close(stretch->episode, NULL);
    g_array_free(stretch->parts, TRUE);
    g_free(stretch);
}

gboolean stretch_is_busy(const Stretch *stretch) { return stretch->parts->len > 0; }
SimTime stretch_now_ps(const Stretch *stretch) { return stretch->base_ps + stretch->now_ps; }

/* ---- ends */

static void stretch_end_part(Stretch *stretch, guint64 index, CollAlgo algo, CollProto proto)
{
    Part *part = &g_array_index(stretch->parts, Part, index);
    stretch->ends++;
    stretch->active--;
    part->ended = TRUE;
    stretch->spec.done(stretch->spec.user, part->tag, algo, proto);
}

static void stretch_on_done(void *user, guint64 index, CollAlgo algo, CollProto proto)
{
    Stretch *stretch = user;
    if (g_array_index(stretch->parts, Part, index).ended)
        return; /* was remembered */
    stretch->now_ps = episode_now_ps(stretch->episode);
    if (stretch->node && stretch->ends == stretch->node->ends->len) {
        MemoEnd end = {stretch->now_ps, (guint32)index, algo, proto};
        g_array_append_val(stretch->node->ends, end);
    }
    stretch_end_part(stretch, index, algo, proto);
}

/* Nothing is on the fabric any more. */
static void stretch_close(Stretch *stretch)
{
    ReplayUsage own, *usage = stretch->node ? &stretch->node->usage : NULL;
    if (stretch->episode) {
        replay_usage_init(&own, stretch->spec.spec->fabric);
        episode_close(g_steal_pointer(&stretch->episode), &own);
        usage = &own;
    }
    replay_usage_add(stretch->spec.usage, usage, stretch->base_ps);
    if (usage == &own && stretch->node)
        memo_close(stretch->spec.memo, stretch->node, usage);
    else if (usage == &own)
        replay_usage_clear(usage);
    stretch->node = NULL;
    g_array_set_size(stretch->parts, 0);
}

/* ---- simulated */

/* Past works that end and were remembered to. */
static gboolean stretch_run_past(Stretch *stretch, SimTime until_ps, GError **error)
{
    gboolean ended = TRUE;
    while (ended)
        if (!episode_run(stretch->episode, until_ps, &ended, error))
            return FALSE;
    return TRUE;
}

/* From at_ps on it is not known how it goes: all up to there is simulated; at its begin that is nothing. */
static gboolean stretch_simulate(Stretch *stretch, SimTime at_ps, GError **error)
{
    stretch->episode = episode_open(stretch->spec.spec, stretch->base_ps, stretch_on_done, stretch, stretch->spec.notes,
                                    error);
    if (!stretch->episode)
        return FALSE;
    for (guint i = 0; i < stretch->parts->len; i++) {
        const Part *part = &g_array_index(stretch->parts, Part, i);
        stretch->spec.simulated(stretch->spec.user, part->tag);
        if ((i > 0 && !stretch_run_past(stretch, part->at_ps, error)) ||
            !episode_start(stretch->episode, &part->work, i, error))
            return FALSE;
    }
    return stretch->parts->len == 0 || stretch_run_past(stretch, at_ps, error);
}

/* ---- from outside */

gboolean stretch_start(Stretch *stretch, SimTime now_ps, const EpisodeWork *work, guint64 tag, gboolean *remembered,
                       GError **error)
{
    const gboolean first = stretch->parts->len == 0;
    if (first)
        stretch->base_ps = now_ps;
    const SimTime at_ps = stretch->now_ps = now_ps - stretch->base_ps;
    MemoNode *before = stretch->node;
    ReplayMemo *memo = first || before ? stretch->spec.memo : NULL;
    g_autofree char *key = memo ? episode_work_key(work) : NULL;
    stretch->node = memo && !stretch->episode ? memo_find(memo, before, at_ps, key) : NULL;
    *remembered = stretch->node != NULL;
    if (!*remembered) {
        if (before)
            before->known_ps = MAX(before->known_ps, at_ps);
        if (!stretch->episode && !stretch_simulate(stretch, at_ps, error))
            return FALSE;
        stretch->node = memo ? memo_add(memo, before, at_ps, key) : NULL;
    }
    stretch->ends = 0;
    Part part = {.work = *work, .gpu = g_memdup2(work->gpu, work->n * sizeof(guint16)), .tag = tag, .at_ps = at_ps};
    part.work.gpu = part.gpu;
    g_array_append_val(stretch->parts, part);
    stretch->active++;
    return *remembered || episode_start(stretch->episode, &part.work, stretch->parts->len - 1, error);
}

/* The next end that is remembered, if it comes by then. */
static gboolean stretch_run_remembered(Stretch *stretch, SimTime until_ps)
{
    const GArray *ends = stretch->node->ends;
    if (stretch->ends == ends->len || g_array_index(ends, MemoEnd, stretch->ends).at_ps > until_ps)
        return FALSE;
    const MemoEnd end = g_array_index(ends, MemoEnd, stretch->ends);
    stretch->now_ps = end.at_ps;
    stretch_end_part(stretch, end.work, end.algo, end.proto);
    return TRUE;
}

gboolean stretch_run(Stretch *stretch, SimTime until_ps, gboolean *ended, GError **error)
{
    until_ps = until_ps == SIMTIME_NEVER ? until_ps : until_ps - stretch->base_ps;
    *ended = !stretch->episode && stretch_run_remembered(stretch, until_ps);
    if (!stretch->episode && !*ended && until_ps > stretch->node->known_ps &&
        !stretch_simulate(stretch, stretch->node->known_ps, error))
        return FALSE;
    if (stretch->episode && !episode_run(stretch->episode, until_ps, ended, error))
        return FALSE;
    if (!*ended)
        stretch->now_ps = until_ps;
    if (stretch->active == 0)
        stretch_close(stretch);
    return TRUE;
}
