#include "traces/record/replicate.h"

#define RECORDS_MAX (1u << 24)

typedef struct {
    Trace *trace;
    guint32 own;     /* the rank recorded */
    guint32 *groups; /* [group * world + rank]: the rank's group of that kind; RECORD_NO_GROUP: not
                        yet */
    guint32 n_groups;
} Replicate;

/* The ranks of `rank`'s group of the kind of `group`; FALSE: it tiles nothing. */
static gboolean coset(const Trace *trace, const RecordGroup *group, guint32 rank, guint32 *ranks)
{
    guint32 n = group->n, d = n > 1 ? group->ranks[1] - group->ranks[0] : 1;
    if (n > 1 && group->ranks[1] <= group->ranks[0]) {
        return FALSE;
    }
    guint64 block = (guint64)n * d;
    guint32 first = rank - rank % block + rank % d;
    if (block > trace->world || trace->world % block != 0) {
        return FALSE;
    }
    for (guint32 i = 0; i < n; i++) {
        ranks[i] = first + i * d;
    }
    return TRUE;
}

static gboolean map_group(Replicate *rep, guint32 index, GError **error)
{
    Trace *trace = rep->trace;
    const RecordGroup *group = trace_group_at(trace, index);
    guint32 n = group->n;
    guint32 *ranks = g_new(guint32, n);
    gboolean whole = n == trace->world;
    gboolean ok = whole || coset(trace, group, rep->own, ranks);
    for (guint32 i = 0; i < n && ok && !whole; i++) {
        ok = ranks[i] == group->ranks[i];
    }
    guint32 *to = &rep->groups[(gsize)index * trace->world];
    for (guint32 rank = 0; rank < trace->world && ok; rank++) {
        to[rank] = whole ? index : RECORD_NO_GROUP;
    }
    for (guint32 rank = 0; rank < trace->world && ok && !whole; rank++) {
        if (to[rank] != RECORD_NO_GROUP) {
            continue; /* a member of a group that is known by now */
        }
        coset(trace, group, rank, ranks);
        group = trace_group_at(trace, index);
        gboolean same = ranks[0] == group->ranks[0];
        char *name = same ? g_strdup(group->name) : g_strdup_printf("%s@%u", group->name, ranks[0]);
        guint32 known = same ? index : trace_group(trace, name, ranks, n);
        for (guint32 i = 0; i < n; i++) {
            to[ranks[i]] = known;
        }
        g_free(name);
    }
    if (!ok) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_MATCH,
                    "%s: only rank %u was recorded, and its group '%s' of %u ranks is no evenly "
                    "spaced block that "
                    "tiles the %u ranks, so the other ranks' groups cannot be told; give the "
                    "traces of all ranks",
                    trace->name, rep->own, group->name, n, trace->world);
    }
    g_free(ranks);
    return ok;
}

static void copy_rank(Replicate *rep, const GArray *from, GArray *to, guint32 rank)
{
    Trace *trace = rep->trace;
    guint32 shift = to->len, world = trace->world;
    for (guint i = 0; i < from->len; i++) {
        Record record = g_array_index(from, Record, i);
        if (record.group != RECORD_NO_GROUP) {
            const RecordGroup *group = trace_group_at(trace, record.group);
            guint32 place = record.peer >= 0 ? record_group_place(group, record.peer)
                                             : RECORD_NO_PLACE;
            record.group = rep->groups[(gsize)record.group * world + rank];
            gboolean rooted = record_op_has_root(record.op) && place != RECORD_NO_PLACE;
            record.peer =
                rooted ? (gint32)trace_group_at(trace, record.group)->ranks[place] : record.peer;
        }
        if (record.op == RECORD_SEND || record.op == RECORD_RECV) {
            record.peer = ((gint64)record.peer - rep->own + rank + world) % world;
        }
        record.rank = rank;
        guint32 first = trace->deps->len;
        for (guint32 d = 0; d < record.dep_count; d++) {
            guint32 on = g_array_index(trace->deps, guint32, record.dep_first + d) + shift;
            g_array_append_val(trace->deps, on);
        }
        record.dep_first = first;
        g_array_append_val(to, record);
    }
}

static gboolean fits(const Trace *trace, GError **error)
{
    guint64 all = (guint64)trace->records->len * trace->world;
    if (all <= RECORDS_MAX) {
        return TRUE;
    }
    g_set_error(error, TRACE_ERROR, TRACE_ERROR_MATCH,
                "%s: %u operations on each of %u ranks are more than 2^24; --limit N takes the "
                "first ones only",
                trace->name, trace->records->len, trace->world);
    return FALSE;
}

gboolean trace_replicate(Trace *trace, GError **error)
{
    if (!trace->replicate || trace->replicated) {
        return TRUE;
    }
    if (!fits(trace, error)) {
        return FALSE;
    }
    Replicate rep = {
        .trace = trace, .own = trace_record(trace, 0)->rank, .n_groups = trace->groups->len};
    rep.groups = g_new(guint32, (gsize)rep.n_groups * trace->world + 1);
    gboolean *used = g_new0(gboolean, rep.n_groups + 1);
    for (guint i = 0; i < trace->records->len; i++) {
        guint32 group = trace_record(trace, i)->group;
        used[group == RECORD_NO_GROUP ? rep.n_groups : group] = TRUE;
    }
    gboolean ok = TRUE;
    for (guint32 g = 0; g < rep.n_groups && ok; g++) {
        ok = !used[g] || map_group(&rep, g, error);
    }
    if (ok && trace->crowded) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_MATCH,
                    "%s: the groups of all %u ranks have over %u members in all", trace->name,
                    trace->world, RECORD_MEMBERS_MAX);
        ok = FALSE;
    }
    if (ok) {
        GArray *from = trace->records, *to = g_array_new(FALSE, FALSE, sizeof(Record));
        for (guint32 rank = 0; rank < trace->world; rank++) {
            trace->rank_first[rank] = to->len;
            copy_rank(&rep, from, to, rank);
        }
        trace->rank_first[trace->world] = to->len;
        trace->records = to;
        g_array_free(from, TRUE);
        trace->replicated = TRUE;
        trace_note(trace, "only rank %u was recorded: all %u ranks do what it did", rep.own,
                   trace->world);
    }
    g_free(used);
    g_free(rep.groups);
    return ok;
}
