/* What a matched communication asks of the fabric. */
#include "traces/replay/episode.h"

/* The work of an item: GPUs once each, in the group's order. FALSE: all its ranks are on one GPU.
 */
gboolean episode_work(const ReplayJob *job, guint32 index, EpisodeWork *work, guint16 *gpu)
{
    const Match *match = job->match;
    const MatchItem *item = &g_array_index(match->items, MatchItem, index);
    const Trace *trace = job->trace;
    const guint32 *members = &g_array_index(match->members, guint32, item->first);
    const Record *first = trace_record(trace, members[0]);
    *work = (EpisodeWork){
        .op = item->op, .dtype = first->dtype, .reduction = first->reduction, .gpu = gpu, .plan = trace->plan};
    gint32 root = RECORD_NO_PEER;
    for (guint32 i = 0; i < item->n; i++) {
        const Record *record = trace_record(trace, members[i]);
        guint16 at = job->gpu[record->rank];
        guint32 known = 0;
        while (known < work->n && gpu[known] != at)
            known++;
        if (known == work->n || item->op == RECORD_PLAN)
            gpu[work->n++] = at;
        work->bytes = MAX(work->bytes, record_bytes(record));
        root = record->peer >= 0 ? record->peer : root;
    }
    for (guint32 k = 0; root >= 0 && item->op != RECORD_SEND && k < work->n; k++)
        work->root = gpu[k] == job->gpu[root] ? k : work->root;
    return work->n > 1;
}

CollOp episode_coll_op(RecordOp op)
{
    switch (op) {
    case RECORD_ALL_REDUCE: return COLL_ALL_REDUCE;
    case RECORD_ALL_GATHER: return COLL_ALL_GATHER;
    case RECORD_REDUCE:
    case RECORD_REDUCE_SCATTER: return COLL_REDUCE_SCATTER;
    case RECORD_BROADCAST: return COLL_BROADCAST;
    case RECORD_ALL_TO_ALL: return COLL_ALL_TO_ALL;
    case RECORD_BARRIER: return COLL_BARRIER;
    default: return COLL_OPS;
    }
}

/* The library's type; what it does not have is replaced by what moves as many bytes. */
static NumericType type_of(const EpisodeWork *work)
{
    static const struct {
        RecordDtype record;
        NumericType numeric;
    } types[] = {
        {RECORD_I32, NUMERIC_S32},   {RECORD_U32, NUMERIC_U32},   {RECORD_I64, NUMERIC_S64}, {RECORD_U64, NUMERIC_U64},
        {RECORD_F16, NUMERIC_F16},   {RECORD_BF16, NUMERIC_BF16}, {RECORD_F32, NUMERIC_F32}, {RECORD_F64, NUMERIC_F64},
        {RECORD_E4M3, NUMERIC_E4M3}, {RECORD_E5M2, NUMERIC_E5M2},
    };
    NumericType type = NUMERIC_U32;
    for (guint i = 0; i < G_N_ELEMENTS(types) && record_op_reduces(work->op); i++)
        type = types[i].record == work->dtype ? types[i].numeric : type;
    return type;
}

CollSpec episode_coll_spec(const EpisodeWork *work)
{
    CollOp op = episode_coll_op(work->op);
    CollSpec spec = coll_spec_default(op);
    spec.check = FALSE;
    spec.root = work->root;
    spec.type = type_of(work);
    if (record_op_reduces(work->op)) {
        spec.reduce = work->reduction == RECORD_MAX   ? NUMERIC_MAX
                      : work->reduction == RECORD_MIN ? NUMERIC_MIN
                                                      : NUMERIC_ADD;
    }
    gboolean sliced = op == COLL_ALL_GATHER || op == COLL_REDUCE_SCATTER || op == COLL_ALL_TO_ALL;
    guint64 unit = 16 * (sliced ? work->n : 1);
    spec.bytes = (MAX(work->bytes, 1) + unit - 1) / unit * unit;
    return spec;
}

char *episode_work_key(const EpisodeWork *work)
{
    GString *key = g_string_new(NULL);
    g_string_append_printf(key, "%d %d %d %" G_GUINT64_FORMAT " %u %p %d %d:", work->op, work->dtype, work->reduction,
                           work->bytes, work->root, (const void *)work->plan, work->algo, work->proto);
    for (guint32 i = 0; i < work->n; i++)
        g_string_append_printf(key, " %u", work->gpu[i]);
    return g_string_free(key, FALSE);
}

gboolean episode_blame(const ReplayJob *job, guint32 index, GError **error)
{
    const MatchItem *item = &g_array_index(job->match->items, MatchItem, index);
    guint32 first = g_array_index(job->match->members, guint32, item->first);
    char *where = trace_where(job->trace, &trace_record(job->trace, first)->source);
    g_prefix_error(error, "%s%s: ", where, record_op_name(item->op));
    g_free(where);
    return FALSE;
}
