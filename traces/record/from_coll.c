#include "traces/record/from_coll.h"

#include "traces/format/write.h"

Trace *record_coll_new(const char *name, guint32 ranks)
{
    Trace *trace = trace_new(name);
    trace->format = "coll";
    trace->world = ranks;
    trace_file(trace, name);
    trace_group_world(trace, ranks);
    return trace;
}

static RecordDtype dtype_of(NumericType type)
{
    switch (type) {
    case NUMERIC_U32:
    case NUMERIC_B32: return RECORD_U32;
    case NUMERIC_U64:
    case NUMERIC_B64: return RECORD_U64;
    case NUMERIC_S32: return RECORD_I32;
    case NUMERIC_S64: return RECORD_I64;
    case NUMERIC_F16:
    case NUMERIC_F16X2: return RECORD_F16;
    case NUMERIC_BF16:
    case NUMERIC_BF16X2: return RECORD_BF16;
    case NUMERIC_F64: return RECORD_F64;
    case NUMERIC_E4M3:
    case NUMERIC_E4M3X2:
    case NUMERIC_E4M3X4: return RECORD_E4M3;
    case NUMERIC_E5M2:
    case NUMERIC_E5M2X2:
    case NUMERIC_E5M2X4: return RECORD_E5M2;
    default: return RECORD_F32;
    }
}

static RecordOp op_of(CollOp op)
{
    static const RecordOp ops[COLL_OPS] = {[COLL_ALL_REDUCE] = RECORD_ALL_REDUCE,
                                           [COLL_ALL_GATHER] = RECORD_ALL_GATHER,
                                           [COLL_REDUCE_SCATTER] = RECORD_REDUCE_SCATTER,
                                           [COLL_BROADCAST] = RECORD_BROADCAST,
                                           [COLL_ALL_TO_ALL] = RECORD_ALL_TO_ALL,
                                           [COLL_SENDRECV] = RECORD_SEND,
                                           [COLL_REDUCE] = RECORD_REDUCE,
                                           [COLL_GATHER] = RECORD_GATHER,
                                           [COLL_SCATTER] = RECORD_SCATTER,
                                           [COLL_BARRIER] = RECORD_BARRIER};
    return ops[op];
}

static void add_shift(Trace *trace, Record *record)
{
    guint32 rank = record->rank, n = trace->world;
    record->group = RECORD_NO_GROUP;
    record->op = RECORD_SEND;
    record->peer = (rank + 1) % n;
    trace_add(trace, record);
    record->op = RECORD_RECV;
    record->peer = (rank + n - 1) % n;
    trace_add(trace, record);
}

void record_coll_add(Trace *trace, const CollSpec *spec, const CollResult *result)
{
    for (guint32 rank = 0; rank < trace->world; rank++) {
        Record record;
        record_init(&record, rank, op_of(spec->op));
        record.group = trace_group_world(trace, trace->world);
        record.dtype = dtype_of(spec->type);
        record.reduction = spec->average                 ? RECORD_AVG
                           : spec->reduce == NUMERIC_MUL ? RECORD_PROD
                           : spec->reduce == NUMERIC_MIN ? RECORD_MIN
                           : spec->reduce == NUMERIC_MAX ? RECORD_MAX
                                                         : RECORD_SUM;
        record.stream = 0;
        record.name = trace_name(trace, result ? coll_algo_name(result->algo) : "");
        record.duration_ps = result ? result->time_ps : 0;
        record.peer = coll_has_root(spec->op) ? (gint32)spec->root : RECORD_NO_PEER;
        record.bytes_in = spec->op == COLL_ALL_GATHER || spec->op == COLL_GATHER ? spec->bytes / trace->world
                                                                                 : spec->bytes;
        record.bytes_out = spec->op == COLL_REDUCE_SCATTER || spec->op == COLL_SCATTER ? spec->bytes / trace->world
                                                                                       : spec->bytes;
        if (spec->op == COLL_BARRIER)
            record.bytes_in = record.bytes_out = 0;
        if (spec->op == COLL_SENDRECV)
            add_shift(trace, &record);
        else
            trace_add(trace, &record);
    }
}

gboolean record_coll_save(Trace *trace, const char *path, GError **error)
{
    return trace_finish(trace, FALSE, error) && write_trace(trace, path, NULL, error);
}
