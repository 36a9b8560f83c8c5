/* mscclpp execution plans (JSON). A plan is one collective, written as a program for each rank: it
 * becomes one record a rank, and the program itself is kept in trace->plan for the replay to run on
 * the simulated GPUs. */
#include <string.h>

#include "traces/format/mscclpp/mscclpp.h"

static int mscclpp_probe(const char *head, gsize n)
{
    (void)n;
    gboolean plan = strstr(head, "\"gpus\"") || strstr(head, "\"threadblocks\"");
    return plan && (strstr(head, "\"collective\"") || strstr(head, "\"protocol\"")) ? 92 : 0;
}

/* Channels are numbered by kind: memory channels, port channels and switch channels each from 0. */
static gboolean read_channels(PlanReader *pr, PlanRank *rank)
{
    const Json *list = json_get(pr->gpu_json, "channels");
    for (const Json *at = list ? list->first : NULL; at != NULL; at = at->next) {
        const char *kind = json_string(json_get(at, "channel_type"));
        gboolean multicast = kind && strcmp(kind, "switch") == 0;
        const Json *groups = json_get(at, "rank_groups");
        const Json *ranks = json_get(at, "connected_to");
        PlanSwitch channel = {.ranks = g_array_new(FALSE, FALSE, sizeof(guint32))};
        gboolean ok = !multicast || mscclpp_buffer(pr, json_get(at, "buffer_type"), &channel.buffer);
        const Json *mine = NULL; /* of several groups, the one with this rank */
        for (const Json *g = multicast && groups ? groups->first : NULL; g != NULL; g = g->next) {
            const Json *members = json_get(g, "ranks");
            for (const Json *m = members ? members->first : NULL; m != NULL; m = m->next) {
                guint64 value;
                mine = json_u64(m, &value) && value == pr->gpu ? members : mine;
            }
        }
        ranks = multicast ? mine : ranks;
        for (const Json *r = ranks ? ranks->first : NULL; r && ok; r = r->next) {
            guint64 value = 0;
            ok = (json_u64(r, &value) && value < pr->plan->ranks->len) ||
                 mscclpp_fail(pr, "a channel should connect ranks of the plan, 0 to %u", pr->plan->ranks->len - 1);
            guint32 small = value;
            PlanChannel one = {mscclpp_channel_kind(kind), small};
            if (multicast)
                g_array_append_val(channel.ranks, small);
            else
                g_array_append_val(rank->channels, one);
        }
        if (ok && multicast && channel.ranks->len < 2)
            ok = mscclpp_fail(pr, "a switch channel should have this rank in one of its rank_groups");
        if (ok && multicast)
            g_array_append_val(rank->switches, channel);
        else
            g_array_free(channel.ranks, TRUE);
        if (!ok)
            return FALSE;
    }
    return TRUE;
}

static gboolean read_gpu(PlanReader *pr)
{
    static const char *const chunk_keys[] = {"input_chunks", "output_chunks", "scratch_chunks"};
    PlanRank *rank = &g_array_index(pr->plan->ranks, PlanRank, pr->gpu);
    guint64 value;
    pr->block = pr->op = 0;
    for (guint i = 0; i < PLAN_BUFFERS; i++) {
        if (!mscclpp_number(pr, pr->gpu_json, chunk_keys[i], 0, MSCCLPP_CHUNKS_MAX, &value))
            return FALSE;
        rank->chunks[i] = value;
    }
    if (!read_channels(pr, rank))
        return FALSE;
    const Json *blocks = json_get(pr->gpu_json, "threadblocks");
    for (pr->block_json = blocks ? blocks->first : NULL; pr->block_json != NULL;
         pr->block_json = pr->block_json->next) {
        PlanBlock block = {pr->block, g_array_new(FALSE, FALSE, sizeof(PlanOp))};
        g_array_append_val(rank->blocks, block);
        const Json *ops = json_get(pr->block_json, "ops");
        pr->op = 0;
        for (const Json *at = ops ? ops->first : NULL; at != NULL; at = at->next, pr->op++)
            if (!mscclpp_op(pr, at, block.ops))
                return FALSE;
        pr->block++;
    }
    return TRUE;
}

/* gpus[] may stand in any order: each has its id. */
static gboolean read_gpus(PlanReader *pr, const Json *gpus)
{
    guint32 n = gpus && gpus->type == JSON_ARRAY ? gpus->n : 0;
    if (n == 0 || n > RECORD_WORLD_MAX)
        return mscclpp_fail(pr, "\"gpus\" should be a list of at least one gpu");
    for (guint32 i = 0; i < n; i++) {
        PlanRank rank = {.blocks = g_array_new(FALSE, FALSE, sizeof(PlanBlock)),
                         .switches = g_array_new(FALSE, FALSE, sizeof(PlanSwitch)),
                         .channels = g_array_new(FALSE, FALSE, sizeof(PlanChannel))};
        g_array_append_val(pr->plan->ranks, rank);
    }
    guint8 *seen = g_new0(guint8, n);
    gboolean ok = TRUE;
    for (const Json *at = gpus->first; at && ok; at = at->next) {
        guint64 id = n;
        ok = json_u64(json_get(at, "id"), &id) && id < n && !seen[id];
        if (!ok) {
            ok = mscclpp_fail(pr, "gpu ids should be 0 to %u, each once", n - 1);
            break;
        }
        seen[id] = TRUE;
        pr->gpu = id;
        pr->gpu_json = at;
        ok = read_gpu(pr);
    }
    g_free(seen);
    return ok;
}

static gboolean mscclpp_build(Reader *reader, Plan *plan, GError **error)
{
    RecordOp op;
    if (!plan->collective || !reader_torch_op(plan->collective, &op) || !record_op_is_collective(op))
        op = RECORD_PLAN; /* custom and point-to-point plans */
    plan->op = op;
    if (!reader_set_world(reader, plan->ranks->len, error))
        return FALSE;
    guint32 group = trace_group_world(reader->trace, plan->ranks->len);
    for (guint32 rank = 0; rank < plan->ranks->len; rank++) {
        Record record;
        record_init(&record, rank, RECORD_PLAN);
        record.group = group;
        record.dtype = RECORD_F16;
        record.bytes_in = record.bytes_out = plan->bytes;
        char *name = g_strdup_printf("%s (%s)", plan->name, op == RECORD_PLAN ? "custom" : record_op_name(op));
        record.name = trace_name(reader->trace, name);
        g_free(name);
        record.source = reader_here(reader, 1, 0, rank);
        trace_add(reader->trace, &record);
    }
    trace_note(reader->trace,
               "%s: the plan is run as a device program with a message of %" G_GUINT64_FORMAT " bytes "
               "(--plan-bytes)",
               input_path(reader->input), plan->bytes);
    return TRUE;
}

static gboolean mscclpp_read(Reader *reader, GError **error)
{
    if (reader->trace->plan) { /* it would take the place of the first */
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_VALUE,
                    "%s: a second plan in one job; a plan has all ranks in one file, and each is a job of its own",
                    input_path(reader->input));
        return FALSE;
    }
    JsonDocument *document = json_read(reader->input, error);
    if (!document)
        return FALSE;
    const Json *root = json_root(document);
    Plan *plan = g_new0(Plan, 1);
    reader->trace->plan = plan;
    plan->ranks = g_array_new(FALSE, FALSE, sizeof(PlanRank));
    const char *name = json_string(json_get(root, "name"));
    const char *protocol = json_string(json_get(root, "protocol"));
    plan->name = g_utf8_make_valid(name ? name : "plan", -1);
    plan->collective = g_strdup(json_string(json_get(root, "collective")));
    plan->packets = protocol && strcmp(protocol, "LL") == 0;
    PlanReader pr = {.reader = reader, .plan = plan, .path = input_path(reader->input), .error = error};
    guint64 threads = 0;
    gboolean ok = mscclpp_number(&pr, root, "num_threads_per_block", 1024, 1024, &threads) &&
                  mscclpp_number(&pr, root, "min_message_size", 0, G_MAXUINT64, &plan->min_bytes) &&
                  mscclpp_number(&pr, root, "max_message_size", G_MAXUINT64, G_MAXUINT64, &plan->max_bytes);
    plan->threads = MAX(threads, 32);
    guint64 wanted = reader->spec->plan_bytes;
    plan->bytes = wanted > 0 ? wanted : CLAMP((guint64)1 << 20, plan->min_bytes, plan->max_bytes);
    if (ok && (plan->bytes < plan->min_bytes || plan->bytes > plan->max_bytes || plan->bytes > RECORD_BYTES_MAX)) {
        ok = mscclpp_fail(&pr,
                          "a message of %" G_GUINT64_FORMAT " bytes is outside of the plan's %" G_GUINT64_FORMAT
                          " to %" G_GUINT64_FORMAT,
                          plan->bytes, plan->min_bytes, MIN(plan->max_bytes, RECORD_BYTES_MAX));
    }
    ok = ok && read_gpus(&pr, json_get(root, "gpus")) && mscclpp_build(reader, plan, error);
    json_free(document);
    return ok;
}

const TraceFormat trace_format_mscclpp = {
    .name = "mscclpp",
    .title = "mscclpp execution plan",
    .probe = mscclpp_probe,
    .read = mscclpp_read,
};
