/* A kernel that communicates becomes a record: sizes, group and peer from wherever the trace has
 * them. */
#include "traces/format/kineto/kineto.h"

#include <stdlib.h>

int kineto_launch_compare(const void *a, const void *b)
{
    const KinetoLaunch *x = a, *y = b;
    return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

/* Which of the spans is around a launch (the innermost, or of two alike the later one): `info`, or -1. */
static gint64 around(const GArray *spans, const KinetoLaunch *launch)
{
    const KinetoSpan *found = NULL;
    for (guint k = 0; k < spans->len; k++) {
        const KinetoSpan *span = &g_array_index(spans, KinetoSpan, k);
        if (span->thread == launch->thread && span->start_ns <= launch->time_ns && launch->time_ns <= span->end_ns &&
            (!found || span->start_ns >= found->start_ns))
            found = span;
    }
    return found ? (gint64)found->info : -1;
}

static KinetoComm *param_at(const Kineto *kineto, gint64 external)
{
    guint param = external < 0 ? 0 : GPOINTER_TO_UINT(g_hash_table_lookup(kineto->param_of, &external));
    return param > 0 ? &g_array_index(kineto->params, KinetoComm, param - 1) : NULL;
}

/* The operator that has a kernel's External id, or its launch's, or around which the launch stands. Launches are
 * sorted. */
static KinetoComm *operator_of(const Kineto *kineto, const KinetoComm *comm, const KinetoLaunch *launch)
{
    KinetoComm *param = param_at(kineto, comm->external);
    if (!param && launch && !comm->has_size) {
        param = param_at(kineto, launch->external);
        gint64 span = !param ? around(kineto->param_spans, launch) : -1;
        param = span >= 0 ? &g_array_index(kineto->params, KinetoComm, span) : param;
    }
    return param;
}

static const KinetoLaunch *launch_of(const Kineto *kineto, const KinetoComm *comm)
{
    KinetoLaunch key = {.correlation = comm->correlation};
    return kineto->launches->len > 0
               ? bsearch(&key, kineto->launches->data, kineto->launches->len, sizeof key, kineto_launch_compare)
               : NULL;
}

/* The word that its launch has is a group's name if there is such a group. */
static void take_said_group(Kineto *kineto, KinetoComm *comm)
{
    Trace *trace = kineto->reader->trace;
    if (comm->said != 0 && g_hash_table_contains(kineto->groups, trace->names->pdata[comm->said])) {
        comm->pg_name = comm->said;
    } else if (g_hash_table_size(kineto->groups) > 1) {
        trace_count(trace, "kernels whose launch does not say their group are taken for all ranks'",
                    trace->names->pdata[comm->name], 0);
    }
}

/* What a kernel's own args do not say, from its record_param_comms or its annotation. */
static void fill_comm(Kineto *kineto, KinetoComm *comm)
{
    const KinetoLaunch *launch = launch_of(kineto, comm);
    KinetoComm *other = operator_of(kineto, comm, launch);
    if (other) {
        comm->start = other->start;
        comm->stride = other->stride;
    } else if (!comm->has_size && launch) {
        gint64 span = around(kineto->annotations, launch);
        other = span >= 0 ? &g_array_index(kineto->annotated, KinetoComm, span) : NULL;
    }
    if (!other || comm->has_size || comm->bad)
        return;
    KinetoComm own = *comm;
    *comm = *other;
    comm->where = own.where;
    comm->name = own.name;
    if (other->by_launch)
        take_said_group(kineto, comm);
    comm->correlation = own.correlation;
    comm->reduction = other->by_launch ? other->reduction : own.reduction;
    comm->bad = g_strdup(other->bad);
    comm->op = other->has_op ? other->op : own.op;
    comm->has_op = other->has_op || own.has_op;
    comm->unknown = comm->has_op ? 0 : MAX(other->unknown, own.unknown);
    comm->further = other->coalesced && other->taken;
    other->taken = TRUE;
}

/* Why a communication cannot be replayed though nothing in it is wrong: the trace does not say what
 * it is. NULL: it does. */
static const char *not_understood(const KinetoComm *comm)
{
    gboolean message = comm->op == RECORD_SEND || comm->op == RECORD_RECV;
    if (comm->further) {
        return "kernels of coalesced calls, whose bytes the call's first kernel moves, take their "
               "recorded time";
    }
    if (!comm->has_op && comm->unknown != 0)
        return "kernels of collectives that are not known take their recorded time";
    if (!comm->has_op || (!comm->has_size && comm->op != RECORD_BARRIER))
        return "kernels that communicate, of which nothing says how much, take their recorded time";
    return message && comm->peer < 0 && comm->peer_job < 0
               ? "kernels that send or receive, of which nothing says the other rank, take their "
                 "recorded time"
               : NULL;
}

/* The communication's group, or a text that says what is wrong (the caller's to free). */
static char *group_of(Kineto *kineto, const KinetoComm *comm, guint32 *group)
{
    Trace *trace = kineto->reader->trace;
    const char *name = trace->names->pdata[comm->pg_name];
    GArray *ranks = g_array_new(FALSE, FALSE, sizeof(guint32));
    const GArray *config = comm->pg_name != 0 ? g_hash_table_lookup(kineto->groups, name) : NULL;
    gint64 size = comm->group_size;
    if (config && config->len > 0) {
        g_array_append_vals(ranks, config->data, config->len);
    } else if (comm->pg_ranks != 0 && reader_parse_ranks(trace->names->pdata[comm->pg_ranks], ranks) &&
               ranks->len > 0) {
        /* the list was whole */
    } else {
        g_array_set_size(ranks, 0);
        gboolean spaced = comm->start >= 0 && comm->stride > 0 && size > 0;
        size = size < 0 ? trace->world : size;
        spaced = spaced && comm->start < RECORD_WORLD_MAX && comm->stride < RECORD_WORLD_MAX;
        for (gint64 i = 0; (spaced || size == trace->world) && i < MIN(size, (gint64)RECORD_WORLD_MAX); i++) {
            gint64 rank = spaced ? comm->start + i * comm->stride : i;
            guint32 small = MIN(rank, (gint64)RECORD_WORLD_MAX);
            g_array_append_val(ranks, small);
        }
    }
    char *wrong = NULL;
    if (ranks->len == 0) {
        wrong = g_strdup_printf("the ranks of process group \"%s\" are not said; distributedInfo should list them in "
                                "pg_config, or --world N say how many ranks there are if it is all of them",
                                name);
    } else if (comm->group_size >= 0 && comm->group_size != ranks->len) {
        wrong = g_strdup_printf("process group \"%s\" has \"Group size\" %" G_GINT64_FORMAT
                                " but lists %u ranks; the two "
                                "should agree",
                                name, comm->group_size, ranks->len);
    }
    for (guint i = 0; i < ranks->len && !wrong; i++) {
        guint32 rank = g_array_index(ranks, guint32, i);
        if (rank >= trace->world) {
            wrong = g_strdup_printf("process group \"%s\" lists rank %u, but the job has %u ranks", name, rank,
                                    trace->world);
        }
    }
    *group = !wrong ? trace_group(trace, name[0] != 0 ? name : "world", (guint32 *)(void *)ranks->data, ranks->len)
                    : RECORD_NO_GROUP;
    g_array_free(ranks, TRUE);
    return wrong;
}

/* Sizes and peer; a text that says what is wrong, or NULL. */
static char *fill_record(Kineto *kineto, const KinetoComm *comm, Record *record)
{
    Trace *trace = kineto->reader->trace;
    char *wrong = group_of(kineto, comm, &record->group);
    if (wrong)
        return wrong;
    record->op = comm->op;
    record->reduction = comm->reduction;
    record->dtype = comm->dtype;
    guint element = MAX(comm->element_bytes, 1);
    if (comm->in_elements > RECORD_BYTES_MAX / element || comm->out_elements > RECORD_BYTES_MAX / element) {
        return g_strdup_printf("%" G_GUINT64_FORMAT " elements on one rank are over 1 TiB",
                               MAX(comm->in_elements, comm->out_elements));
    }
    const RecordGroup *group = trace_group_at(trace, record->group);
    record_set_bytes_in(record, comm->in_elements * element, group->n);
    if (comm->out_elements > 0)
        record->bytes_out = comm->out_elements * element;
    gboolean message = comm->op == RECORD_SEND || comm->op == RECORD_RECV;
    if (message && comm->peer_job >= 0 && comm->peer_job < (gint64)trace->world &&
        record_group_place(group, (guint32)comm->peer_job) != RECORD_NO_PLACE)
        record->peer = (gint32)comm->peer_job;
    else if (comm->peer_job < 0 && comm->peer >= 0 && comm->peer < group->n &&
             (message || record_op_has_root(comm->op)))
        record->peer = (gint32)group->ranks[comm->peer];
    else if (message)
        return g_strdup_printf("a send should have \"Dst Rank\", a recv \"Src Rank\", each a rank of the job that is "
                               "in its group; %" G_GINT64_FORMAT " is none of process group \"%s\"",
                               comm->peer_job >= 0 ? comm->peer_job : comm->peer, group->name);
    return NULL;
}

gboolean kineto_add_comm(Kineto *kineto, Record *record, gint32 index, GError **error)
{
    Reader *reader = kineto->reader;
    KinetoComm *comm = &g_array_index(kineto->comms, KinetoComm, index);
    fill_comm(kineto, comm);
    record->source = comm->where;
    record->name = comm->name;
    const char *why = !comm->bad ? not_understood(comm) : NULL;
    if (why) {
        char **names = (char **)reader->trace->names->pdata;
        guint32 name = !comm->has_op && comm->unknown != 0 ? comm->unknown : comm->name;
        trace_count(reader->trace, why, names[name], record->duration_ps);
        return TRUE;
    }
    gboolean ok, good = FALSE;
    char *wrong = comm->bad ? g_strdup(comm->bad) : fill_record(kineto, comm, record);
    if (wrong) {
        ok = reader_problem(reader, comm->where, comm->reason ? comm->reason : "wrong collective", error, "%s", wrong);
        record->op = record->group == RECORD_NO_GROUP ? RECORD_COMPUTE : record->op;
    } else {
        reader_empty(reader, record);
        ok = reader_check(reader, record, &good, error);
    }
    record->skipped = !good;
    g_free(wrong);
    return ok;
}
