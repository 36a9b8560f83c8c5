/* Operations of mscclpp plans, with their references to buffers and channels resolved. */
#include <string.h>

#include "traces/format/mscclpp/mscclpp.h"

gboolean mscclpp_fail(PlanReader *pr, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *what = g_strdup_vprintf(format, args);
    va_end(args);
    char *valid = g_utf8_make_valid(what, -1);
    g_set_error(pr->error, TRACE_ERROR, TRACE_ERROR_VALUE, "%s: gpu %u, thread block %u, operation %u: %s", pr->path,
                pr->gpu, pr->block, pr->op, valid);
    g_free(what);
    g_free(valid);
    return FALSE;
}

gboolean mscclpp_number(PlanReader *pr, const Json *object, const char *key, guint64 usual, guint64 max, guint64 *value)
{
    const Json *member = json_get(object, key);
    *value = usual;
    if (!member || (json_u64(member, value) && *value <= max))
        return TRUE;
    char *is = json_describe(member);
    mscclpp_fail(pr, "\"%s\" is %s; it should be a whole number up to %" G_GUINT64_FORMAT, key, is, max);
    g_free(is);
    return FALSE;
}

gboolean mscclpp_buffer(PlanReader *pr, const Json *value, PlanBuffer *buffer)
{
    const char *text = json_string(value);
    const char *known = "ios";
    const char *at = text && text[0] != 0 && text[1] == 0 ? strchr(known, text[0]) : NULL;
    if (!at)
        return mscclpp_fail(pr, "a buffer's type should be \"i\", \"o\" or \"s\"");
    *buffer = at - known;
    return TRUE;
}

/* The n-th number that the block's lists of one kind hold, one list behind the other: {"channel_type": "memory",
 * "channel_ids": [3, 5]}. */
static gboolean block_index(PlanReader *pr, const char *list, const char *kind_key, const char *kind, const char *ids,
                            guint64 n, guint64 *value)
{
    const Json *lists = json_get(pr->block_json, list);
    const guint64 wanted = n;
    for (const Json *at = lists ? lists->first : NULL; at != NULL; at = at->next) {
        const char *own = json_string(json_get(at, kind_key));
        if (kind && (!own || strcmp(own, kind) != 0))
            continue;
        const Json *numbers = json_get(at, ids);
        const Json *number_at = numbers ? numbers->first : NULL;
        guint64 left = n;
        for (; left > 0 && number_at; left--)
            number_at = number_at->next;
        if (json_u64(number_at, value))
            return TRUE;
        n = left; /* numbering goes on in the next list of that kind */
    }
    return mscclpp_fail(pr, "%s %" G_GUINT64_FORMAT " is not in the thread block's \"%s\"", kind ? kind : "number",
                        wanted, list);
}

/* One entry of src_buff or dst_buff. */
static gboolean read_ref(PlanReader *pr, const Json *json, const char *access, PlanRef *ref)
{
    PlanRank *rank = &g_array_index(pr->plan->ranks, PlanRank, pr->gpu);
    guint64 index, size, id;
    *ref = (PlanRef){.rank = pr->gpu, .channel = -1};
    if (!mscclpp_number(pr, json, "index", 0, MSCCLPP_CHUNKS_MAX, &index) ||
        !mscclpp_number(pr, json, "size", 1, MSCCLPP_CHUNKS_MAX, &size))
        return FALSE;
    ref->index = index;
    ref->size = size;
    const Json *channel = json_get(json, "switch_channel_id"), *remote = json_get(json, "buffer_id");
    if (channel) {
        if (!mscclpp_number(pr, json, "switch_channel_id", 0, MSCCLPP_CHUNKS_MAX, &id) ||
            !block_index(pr, "channels", "channel_type", "switch", "channel_ids", id, &id))
            return FALSE;
        if (id >= rank->switches->len)
            return mscclpp_fail(pr, "switch channel %" G_GUINT64_FORMAT " is not among the gpu's channels", id);
        ref->channel = id;
        ref->buffer = g_array_index(rank->switches, PlanSwitch, id).buffer;
        return TRUE;
    }
    if (!remote)
        return mscclpp_buffer(pr, json_get(json, "type"), &ref->buffer);
    guint64 owner;
    if (!mscclpp_number(pr, json, "buffer_id", 0, MSCCLPP_CHUNKS_MAX, &id) ||
        !block_index(pr, "remote_buffer_refs", "access_channel_type", access, "remote_buffer_ids", id, &id))
        return FALSE;
    const Json *list = json_get(pr->gpu_json, "remote_buffers"), *at = list ? list->first : NULL;
    for (guint64 i = 0; i < id && at; i++)
        at = at->next;
    if (!at || !json_u64(json_get(at, "rank"), &owner) || owner >= pr->plan->ranks->len) {
        return mscclpp_fail(
            pr, "remote buffer %" G_GUINT64_FORMAT " is not among the gpu's remote_buffers with a rank of the plan",
            id);
    }
    ref->rank = owner;
    return mscclpp_buffer(pr, json_get(at, "type"), &ref->buffer);
}

static gboolean read_refs(PlanReader *pr, const Json *op, const char *key, const char *access, PlanRef **refs,
                          guint32 *n)
{
    const Json *list = json_get(op, key);
    *n = list ? list->n : 0;
    if (*n > PLAN_REFS_MAX)
        return mscclpp_fail(pr, "\"%s\" has %u entries; at most %u are expected", key, *n, PLAN_REFS_MAX);
    *refs = g_new0(PlanRef, *n + 1);
    guint i = 0;
    for (const Json *at = *n > 0 ? list->first : NULL; at != NULL; at = at->next)
        if (!read_ref(pr, at, access, &(*refs)[i++]))
            return FALSE;
    return TRUE;
}

PlanChannelKind mscclpp_channel_kind(const char *name)
{
    return name && (strcmp(name, "port") == 0 || strcmp(name, "proxy") == 0) ? PLAN_PORT : PLAN_MEMORY;
}

/* The id-th channel of a kind: its index among all of the rank's, or their number. */
static guint channel_of(const PlanRank *rank, PlanChannelKind kind, guint64 id)
{
    guint at = 0;
    for (; at < rank->channels->len; at++)
        if (g_array_index(rank->channels, PlanChannel, at).kind == kind && id-- == 0)
            break;
    return at;
}

static gboolean read_peers(PlanReader *pr, const Json *json, const char *access, PlanOp *op)
{
    PlanRank *rank = &g_array_index(pr->plan->ranks, PlanRank, pr->gpu);
    const Json *list = json_get(json, "channel_ids");
    guint32 n = list ? MIN(list->n, PLAN_REFS_MAX) : 0;
    op->peers = g_new0(guint32, n + 1);
    op->channels = g_new0(guint32, n + 1);
    if (strcmp(access, "switch") == 0)
        return TRUE;
    for (const Json *at = n > 0 ? list->first : NULL; at && op->n_peers < n; at = at->next) {
        guint64 id;
        if (!json_u64(at, &id))
            return mscclpp_fail(pr, "\"channel_ids\" should hold whole numbers");
        if (!block_index(pr, "channels", "channel_type", access, "channel_ids", id, &id))
            return FALSE;
        guint index = channel_of(rank, mscclpp_channel_kind(access), id);
        if (index == rank->channels->len)
            return mscclpp_fail(pr, "%s channel %" G_GUINT64_FORMAT " is not among the gpu's channels", access, id);
        op->channels[op->n_peers] = index;
        op->peers[op->n_peers++] = g_array_index(rank->channels, PlanChannel, index).peer;
    }
    return TRUE;
}

#define NONE G_MAXUINT32
/* Packet forms: from which source and which destination on operands are packets (as mscclpp's
 * execution kernel has them). A put through a port channel has packets as its source, but does not
 * wait for them. */
static const struct {
    const char *name;
    PlanKind kind;
    gboolean signal, packet;
    guint32 packet_src, packet_dst; /* of packet forms */
} op_names[] = {
    {"nop", PLAN_NOP, FALSE, FALSE, NONE, NONE},
    {"barrier", PLAN_BARRIER, FALSE, FALSE, NONE, NONE},
    {"put", PLAN_PUT, FALSE, FALSE, NONE, NONE},
    {"pws", PLAN_PUT, TRUE, FALSE, NONE, NONE},
    {"pwsf", PLAN_PUT, TRUE, FALSE, NONE, NONE},
    {"get", PLAN_GET, FALSE, FALSE, NONE, NONE},
    {"copy", PLAN_COPY, FALSE, FALSE, NONE, NONE},
    {"signal", PLAN_SIGNAL, FALSE, FALSE, NONE, NONE},
    {"wait", PLAN_WAIT, FALSE, FALSE, NONE, NONE},
    {"rlxsignal", PLAN_SIGNAL, FALSE, FALSE, NONE, NONE},
    {"rlxwait", PLAN_WAIT, FALSE, FALSE, NONE, NONE},
    {"flush", PLAN_FLUSH, FALSE, FALSE, NONE, NONE},
    {"re", PLAN_REDUCE, FALSE, FALSE, NONE, NONE},
    {"res", PLAN_REDUCE, FALSE, FALSE, NONE, NONE},
    {"rre", PLAN_REDUCE, FALSE, FALSE, NONE, NONE},
    {"rres", PLAN_REDUCE, FALSE, FALSE, NONE, NONE},
    {"ppkt", PLAN_PUT, FALSE, TRUE, NONE, 0},
    {"rppkt", PLAN_PUT, FALSE, TRUE, 0, 0},
    {"respkt", PLAN_REDUCE, FALSE, TRUE, 1, 1},
    {"cpkt", PLAN_COPY, FALSE, TRUE, NONE, 0},
    {"upkt", PLAN_COPY, FALSE, TRUE, 0, NONE},
    {"repkt", PLAN_REDUCE, FALSE, TRUE, 1, 1},
    {"recpkt", PLAN_REDUCE, FALSE, TRUE, 1, 1},
    {"recspkt", PLAN_REDUCE, FALSE, TRUE, 1, 1},
    {"glres", PLAN_SWITCH_REDUCE_STORE, FALSE, FALSE, NONE, NONE},
    {"gstore", PLAN_SWITCH_STORE, FALSE, FALSE, NONE, NONE},
    {"gstorepkt", PLAN_SWITCH_STORE, FALSE, TRUE, 0, 0},
    {"sem_acquire", PLAN_SEM_ACQUIRE, FALSE, FALSE, NONE, NONE},
    {"sem_release", PLAN_SEM_RELEASE, FALSE, FALSE, NONE, NONE},
};

static gboolean check_shape(PlanReader *pr, const char *name, const PlanOp *op)
{
    gboolean moves = op->kind >= PLAN_PUT && op->kind <= PLAN_SWITCH_STORE;
    gboolean flags = op->kind == PLAN_SIGNAL || op->kind == PLAN_WAIT;
    if (moves && (op->n_src == 0 || op->n_dst == 0))
        return mscclpp_fail(pr, "'%s' should have src_buff and dst_buff", name);
    if (flags && op->n_peers == 0)
        return mscclpp_fail(pr, "'%s' should have channel_ids", name);
    gboolean from_switch = op->kind == PLAN_SWITCH_REDUCE_STORE;
    gboolean to_switch = from_switch || op->kind == PLAN_SWITCH_STORE;
    for (guint32 i = 0; moves && i < op->n_src; i++)
        if ((op->src[i].channel >= 0) != from_switch)
            return mscclpp_fail(pr, "src_buff of '%s' should %sbe a switch channel", name, from_switch ? "" : "not ");
    for (guint32 i = 0; moves && i < op->n_dst; i++)
        if ((op->dst[i].channel >= 0) != to_switch)
            return mscclpp_fail(pr, "dst_buff of '%s' should %sbe a switch channel", name, to_switch ? "" : "not ");
    return TRUE;
}

gboolean mscclpp_op(PlanReader *pr, const Json *json, GArray *ops)
{
    const char *name = json_string(json_get(json, "name"));
    const char *access = json_string(json_get(json, "channel_type"));
    const Json *inner = json_get(json, "ops");
    if (name && strcmp(name, "pipeline") == 0) { /* its operations, on the whole chunk at once */
        for (const Json *at = inner ? inner->first : NULL; at != NULL; at = at->next)
            if (json_get(at, "ops") || !mscclpp_op(pr, at, ops))
                return !json_get(at, "ops") ? FALSE : mscclpp_fail(pr, "a pipeline inside a pipeline");
        return TRUE;
    }
    PlanOp op = {.parts = 1, .line_op = pr->op};
    guint known = 0;
    while (known < G_N_ELEMENTS(op_names) && (!name || strcmp(name, op_names[known].name) != 0))
        known++;
    if (known == G_N_ELEMENTS(op_names)) {
        return mscclpp_fail(pr,
                            "unknown operation \"%.40s\"; known are nop, barrier, put, get, copy, signal, "
                            "wait, re, res, rre, rres, "
                            "the packet forms, glres, gstore, pipeline and semaphores",
                            name ? name : "");
    }
    op.kind = op_names[known].kind;
    if (op.kind == PLAN_SEM_ACQUIRE || op.kind == PLAN_SEM_RELEASE) {
        return mscclpp_fail(pr,
                            "'%s': semaphores are not supported; the plan should let its thread "
                            "blocks wait for each other with 'barrier', 'signal' and 'wait'",
                            name);
    }
    op.signal = op_names[known].signal;
    op.packet = op_names[known].packet;
    guint64 part = 0, parts = 1, barrier, blocks;
    const Json *group = json_get(json, "tbg_info");
    gboolean ok = read_refs(pr, json, "src_buff", access, &op.src, &op.n_src) &&
                  read_refs(pr, json, "dst_buff", access, &op.dst, &op.n_dst) &&
                  read_peers(pr, json, access ? access : "memory", &op) &&
                  mscclpp_number(pr, json, "barrier_id", 0, MSCCLPP_CHUNKS_MAX, &barrier) &&
                  mscclpp_number(pr, json, "num_threadblocks", 0, MSCCLPP_CHUNKS_MAX, &blocks) &&
                  (!group || (mscclpp_number(pr, group, "tb_id", 0, MSCCLPP_CHUNKS_MAX, &part) &&
                              mscclpp_number(pr, group, "tbg_size", 1, MSCCLPP_CHUNKS_MAX, &parts)));
    if (ok && part >= parts)
        ok = mscclpp_fail(pr, "\"tb_id\" should be below \"tbg_size\"");
    const char *reduction = json_string(json_get(json, "reduce_op"));
    if (ok && reduction && !record_reduction_parse(reduction, &op.reduction))
        ok = mscclpp_fail(pr, "unknown reduce_op \"%.20s\"; known are sum, min, max", reduction);
    ok = ok && check_shape(pr, name, &op);
    op.packet_src = MIN(op_names[known].packet_src, op.n_src);
    op.packet_dst = MIN(op_names[known].packet_dst, op.n_dst);
    op.part = part;
    op.parts = parts;
    op.barrier_id = ok ? barrier : 0;
    op.barrier_blocks = ok ? blocks : 0;
    g_array_append_val(ops, op); /* also a wrong one: plan_free gives back what it holds */
    return ok;
}
