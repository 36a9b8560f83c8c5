/* Ranks of which nothing was recorded do what one that was recorded did.
 *
 * Who stands for whom: the recorded rank that shares the smallest group with it; of several the first, the
 * second, ... in turn. A group stands for the groups that tile the job the same way, so those of a rank
 * are told by shape (how many ranks, how far apart) and by place among the groups of that shape that
 * the recorded rank uses. */
#include "traces/record/replicate.h"

#define RECORDS_MAX (1u << 24)

/* A group of evenly spaced ranks, and which of several of those it is. */
typedef struct {
    guint32 n, apart, first, place;
} Tile;

typedef struct {
    guint32 group;
    gboolean tiles;
    Tile tile; /* of a group that tiles */
} Use;

/* One recorded rank. */
typedef struct {
    guint32 rank;
    GArray *uses; /* Use, in the order of their first use */
} Recorded;

typedef struct {
    Trace *trace;
    GArray *recorded;    /* Recorded, by rank */
    GHashTable *of_tile; /* Tile -> group + 1 */
    guint32 *group;      /* of the rank at hand, by the group of the one that stands for it */
} Replicate;

static guint tile_hash(gconstpointer key)
{
    const Tile *t = key;
    return ((t->first * 2654435761u ^ t->n) * 16777619u ^ t->apart) * 16777619u ^ t->place;
}

static gboolean tile_equal(gconstpointer a, gconstpointer b)
{
    const Tile *x = a, *y = b;
    return x->n == y->n && x->apart == y->apart && x->first == y->first && x->place == y->place;
}

/* FALSE: the group is no evenly spaced block that tiles the ranks. */
static gboolean tile_of(const Trace *trace, const RecordGroup *group, Tile *tile)
{
    guint32 n = group->n, apart = n > 1 ? group->ranks[1] - group->ranks[0] : 1;
    if (n == 0 || (n > 1 && group->ranks[1] <= group->ranks[0]))
        return FALSE;
    guint64 block = (guint64)n * apart;
    gboolean tiles = block <= trace->world && trace->world % block == 0 && group->ranks[0] % block < apart;
    for (guint32 i = 1; i < n && tiles; i++)
        tiles = group->ranks[i] == group->ranks[0] + (guint64)i * apart;
    *tile = (Tile){n, apart, group->ranks[0], 0};
    return tiles;
}

static void add_use(Replicate *rep, Recorded *recorded, guint32 group)
{
    Use use = {.group = group};
    use.tiles = tile_of(rep->trace, trace_group_at(rep->trace, group), &use.tile);
    for (guint i = 0; i < recorded->uses->len && use.tiles; i++) {
        const Use *before = &g_array_index(recorded->uses, Use, i);
        use.tile.place += before->tiles && before->tile.n == use.tile.n && before->tile.apart == use.tile.apart;
    }
    if (use.tiles && !g_hash_table_contains(rep->of_tile, &use.tile))
        g_hash_table_insert(rep->of_tile, g_memdup2(&use.tile, sizeof use.tile), GUINT_TO_POINTER(group + 1));
    g_array_append_val(recorded->uses, use);
}

static void collect(Replicate *rep)
{
    Trace *trace = rep->trace;
    guint8 *used = g_new0(guint8, trace->groups->len + 1);
    for (guint32 rank = 0; rank < trace->world; rank++) {
        guint32 first = trace->rank_first[rank], end = trace->rank_first[rank + 1];
        if (first == end)
            continue;
        Recorded one = {rank, g_array_new(FALSE, FALSE, sizeof(Use))};
        for (guint32 i = first; i < end; i++) {
            guint32 group = trace_record(trace, i)->group;
            if (group != RECORD_NO_GROUP && !used[group]) {
                used[group] = 1;
                add_use(rep, &one, group);
            }
        }
        for (guint i = 0; i < one.uses->len; i++)
            used[g_array_index(one.uses, Use, i).group] = 0;
        g_array_append_val(rep->recorded, one);
    }
    g_free(used);
}

/* The smallest group of a recorded rank in which another rank is; G_MAXUINT32: none. */
static guint32 shared(const Trace *trace, const Recorded *recorded, guint32 rank)
{
    guint32 least = G_MAXUINT32;
    for (guint i = 0; i < recorded->uses->len; i++) {
        const RecordGroup *group = trace_group_at(trace, g_array_index(recorded->uses, Use, i).group);
        if (group->n < least && record_group_place(group, rank) != RECORD_NO_PLACE)
            least = group->n;
    }
    return least;
}

static const Recorded *stands_for(const Replicate *rep, guint32 rank)
{
    guint n = rep->recorded->len, alike = 0, turn;
    guint32 least = G_MAXUINT32;
    for (guint i = 0; i < n && n > 1; i++) {
        guint32 own = shared(rep->trace, &g_array_index(rep->recorded, Recorded, i), rank);
        alike = own < least ? 1 : alike + (own == least);
        least = MIN(own, least);
    }
    turn = alike > 1 ? rank % alike : 0;
    for (guint i = 0; i < n && n > 1; i++) {
        const Recorded *recorded = &g_array_index(rep->recorded, Recorded, i);
        if (shared(rep->trace, recorded, rank) == least && turn-- == 0)
            return recorded;
    }
    return &g_array_index(rep->recorded, Recorded, 0);
}

/* The group of a rank that is what `index` is of the one that stands for it. */
static gboolean map_group(Replicate *rep, const Recorded *from, guint at, guint32 rank, GError **error)
{
    Trace *trace = rep->trace;
    const Use *use = &g_array_index(from->uses, Use, at);
    const RecordGroup *group = trace_group_at(trace, use->group);
    Tile tile = use->tile;
    rep->group[use->group] = use->group;
    if (group->n == trace->world)
        return TRUE;
    if (!use->tiles) {
        if (record_group_place(group, rank) != RECORD_NO_PLACE && rep->recorded->len > 1)
            return TRUE;
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_MATCH,
                    "%s: rank %u was not recorded but rank %u, whose group '%s' of %u ranks is no evenly "
                    "spaced block that tiles the %u ranks, so the other ranks' groups cannot be told; give the "
                    "traces of all ranks",
                    trace->name, rank, from->rank, group->name, group->n, trace->world);
        return FALSE;
    }
    guint64 block = (guint64)tile.n * tile.apart;
    tile.first = rank - (guint32)(rank % block) + rank % tile.apart;
    guint known = GPOINTER_TO_UINT(g_hash_table_lookup(rep->of_tile, &tile));
    if (known == 0) {
        guint32 *ranks = g_new(guint32, tile.n);
        for (guint32 i = 0; i < tile.n; i++)
            ranks[i] = tile.first + i * tile.apart;
        char *name = g_strdup_printf("%s@%u", group->name, tile.first);
        known = trace_group(trace, name, ranks, tile.n) + 1;
        g_hash_table_insert(rep->of_tile, g_memdup2(&tile, sizeof tile), GUINT_TO_POINTER(known));
        g_free(name);
        g_free(ranks);
    }
    rep->group[use->group] = known - 1;
    if (trace->too_many_members) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_MATCH, "%s: the groups of all %u ranks have over %u members in all",
                    trace->name, trace->world, RECORD_MEMBERS_MAX);
    }
    return !trace->too_many_members;
}

static void copy_rank(Replicate *rep, const GArray *from, GArray *to, guint32 own, guint32 rank)
{
    Trace *trace = rep->trace;
    guint32 world = trace->world, begin = trace->rank_first[own], end = trace->rank_first[own + 1];
    guint32 at = to->len;
    for (guint32 i = begin; i < end; i++) {
        Record record = g_array_index(from, Record, i);
        if (record.group != RECORD_NO_GROUP && rank != own) {
            const RecordGroup *group = trace_group_at(trace, record.group);
            guint32 place = record.peer >= 0 ? record_group_place(group, record.peer) : RECORD_NO_PLACE;
            record.group = rep->group[record.group];
            gboolean rooted = record_op_has_root(record.op) && place != RECORD_NO_PLACE;
            record.peer = rooted ? (gint32)trace_group_at(trace, record.group)->ranks[place] : record.peer;
        }
        if (record.op == RECORD_SEND || record.op == RECORD_RECV)
            record.peer = ((gint64)record.peer - own + rank + world) % world;
        record.rank = rank;
        guint32 first = trace->deps->len;
        for (guint32 d = 0; d < record.dep_count; d++) {
            guint32 on = g_array_index(trace->deps, guint32, record.dep_first + d) - begin + at;
            g_array_append_val(trace->deps, on);
        }
        record.dep_first = first;
        g_array_append_val(to, record);
    }
}

static gboolean fits(const Trace *trace, GError **error)
{
    guint64 a_rank = (trace->records->len + trace->recorded_ranks - 1) / MAX(trace->recorded_ranks, 1);
    if (a_rank * trace->world <= RECORDS_MAX)
        return TRUE;
    g_set_error(error, TRACE_ERROR, TRACE_ERROR_MATCH,
                "%s: %" G_GUINT64_FORMAT " operations on each of %u ranks are more than 2^24; --limit N takes the "
                "first ones only",
                trace->name, a_rank, trace->world);
    return FALSE;
}

/* Every rank's operations, by rank. */
static gboolean copy_all(Replicate *rep, GError **error)
{
    Trace *trace = rep->trace;
    GArray *to = g_array_new(FALSE, FALSE, sizeof(Record));
    guint32 *first = g_new(guint32, trace->world + 1);
    gboolean ok = TRUE;
    for (guint32 rank = 0; rank < trace->world && ok; rank++) {
        gboolean own = trace->rank_first[rank] < trace->rank_first[rank + 1] ||
                       (trace->present && g_hash_table_contains(trace->present, GUINT_TO_POINTER(rank)));
        const Recorded *from = own ? NULL : stands_for(rep, rank);
        for (guint i = 0; from && i < from->uses->len && ok; i++)
            ok = map_group(rep, from, i, rank, error);
        first[rank] = to->len;
        if (ok)
            copy_rank(rep, trace->records, to, own ? rank : from->rank, rank);
        if (ok && to->len > RECORDS_MAX) {
            g_set_error(error, TRACE_ERROR, TRACE_ERROR_MATCH,
                        "%s: the %u ranks have more than 2^24 operations; --limit N takes the first ones only",
                        trace->name, trace->world);
            ok = FALSE;
        }
    }
    first[trace->world] = to->len;
    g_array_free(ok ? trace->records : to, TRUE);
    g_free(ok ? trace->rank_first : first);
    trace->records = ok ? to : trace->records;
    trace->rank_first = ok ? first : trace->rank_first;
    return ok;
}

static void note(const Replicate *rep)
{
    Trace *trace = rep->trace;
    guint32 first = g_array_index(rep->recorded, Recorded, 0).rank;
    guint32 last = g_array_index(rep->recorded, Recorded, rep->recorded->len - 1).rank;
    if (rep->recorded->len == 1) {
        trace_note(trace, "only rank %u was recorded: all %u ranks do what it did", first, trace->world);
    } else {
        trace_note(trace,
                   "%u of %u ranks were recorded, from rank %u to rank %u: each other rank does what the one did "
                   "with which it shares the smallest group",
                   rep->recorded->len, trace->world, first, last);
    }
}

gboolean trace_replicate(Trace *trace, GError **error)
{
    if (!trace->replicate || trace->replicated)
        return TRUE;
    if (!fits(trace, error))
        return FALSE;
    Replicate rep = {.trace = trace,
                     .recorded = g_array_new(FALSE, FALSE, sizeof(Recorded)),
                     .of_tile = g_hash_table_new_full(tile_hash, tile_equal, g_free, NULL),
                     .group = g_new(guint32, trace->groups->len + 1)};
    collect(&rep);
    gboolean ok = copy_all(&rep, error);
    if (ok) {
        trace->replicated = TRUE;
        note(&rep);
    }
    for (guint i = 0; i < rep.recorded->len; i++)
        g_array_free(g_array_index(rep.recorded, Recorded, i).uses, TRUE);
    g_array_free(rep.recorded, TRUE);
    g_hash_table_destroy(rep.of_tile);
    g_free(rep.group);
    return ok;
}
