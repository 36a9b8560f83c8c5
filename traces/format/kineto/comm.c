/* What the args and the name of a kernel, of a record_param_comms, or of an annotation say about a
 * communication. */
#include "traces/format/kineto/kineto.h"

#include <string.h>

static void bad(KinetoComm *comm, const char *reason, char *text)
{
    if (!comm->bad) {
        comm->bad = text;
        comm->reason = reason;
    } else {
        g_free(text);
    }
}

/* A whole number of 0 or more, if it is there. */
static gboolean number(KinetoComm *comm, const Json *args, const char *key, gint64 *value)
{
    const Json *member = json_get(args, key);
    if (!member)
        return FALSE;
    if (json_i64(member, value) && *value >= 0)
        return TRUE;
    char *is = json_describe(member);
    bad(comm, "wrong number", g_strdup_printf("\"%s\" is %s; it should be a whole number of 0 or more", key, is));
    g_free(is);
    *value = -1;
    return FALSE;
}

/* Who a message goes to or comes from: "Dst Rank" and "Src Rank" are ranks of the job, "Rank" is a place in the group;
 * of a rooted collective "Rank" is the root's place, of any other its own rank. A receive from any rank says -1. */
static void take_peer(KinetoComm *comm, const Json *args)
{
    gboolean send = comm->op == RECORD_SEND, message = send || comm->op == RECORD_RECV;
    gint64 any = 0;
    if (message)
        number(comm, args, send ? "Dst Rank" : "Src Rank", &comm->peer_job);
    if ((message || record_op_has_root(comm->op)) && !(json_i64(json_get(args, "Rank"), &any) && any < 0))
        number(comm, args, "Rank", &comm->peer);
}

void kineto_comm_init(KinetoComm *comm)
{
    *comm = (KinetoComm){
        .group_size = -1, .start = -1, .stride = -1, .peer = -1, .peer_job = -1, .external = -1, .correlation = -1};
}

/* The members that record_param_comms and, since 2024, NCCL kernels have. */
void kineto_comm_args(Kineto *kineto, KinetoComm *comm, const Json *args)
{
    Trace *trace = kineto->reader->trace;
    const char *name = json_string(json_get(args, "Collective name"));
    const char *dtype = json_string(json_get(args, "dtype"));
    gint64 value;
    comm->has_op = name && reader_torch_op(name, &comm->op);
    if (name && !comm->has_op)
        comm->unknown = trace_name(trace, name);
    if (dtype && !reader_torch_dtype(dtype, &comm->dtype, &comm->element_bytes)) {
        bad(comm, "unknown dtype",
            g_strdup_printf("unknown dtype \"%.60s\"; PyTorch's are Float, Half, BFloat16, "
                            "Long, Int, Byte, ...",
                            dtype));
    }
    gboolean in = number(comm, args, "In msg nelems", &value);
    comm->in_elements = in ? value : 0;
    gboolean out = number(comm, args, "Out msg nelems", &value);
    comm->out_elements = out ? value : 0;
    comm->has_size = (in || out) && dtype;
    number(comm, args, "Group size", &comm->group_size);
    number(comm, args, "Global rank start", &comm->start);
    number(comm, args, "Global rank stride", &comm->stride);
    const char *pg = json_string(json_get(args, "Process Group Name"));
    const char *ranks = json_string(json_get(args, "Process Group Ranks"));
    comm->pg_name = pg ? trace_name(trace, pg) : 0;
    comm->pg_ranks = ranks ? trace_name(trace, ranks) : 0;
    if (comm->has_op)
        take_peer(comm, args);
}

gboolean kineto_comm_elements(const Json *dims, guint64 *elements)
{
    guint64 size;
    *elements = 1;
    gboolean ok = dims && dims->type == JSON_ARRAY;
    for (const Json *at = ok ? dims->first : NULL; at && ok; at = at->next)
        ok = json_u64(at, &size) && !__builtin_mul_overflow(*elements, size, elements);
    return ok;
}

/* All tensors in a value that is a tensor's dims, or a list of such. */
static gboolean list_elements(const Json *value, guint64 *elements)
{
    if (!value || value->type != JSON_ARRAY || !value->first || value->first->type != JSON_ARRAY)
        return kineto_comm_elements(value, elements);
    guint64 sum = 0, one;
    gboolean ok = TRUE;
    for (const Json *at = value->first; at && ok; at = at->next)
        ok = list_elements(at, &one) && !__builtin_add_overflow(sum, one, &sum);
    *elements = sum;
    return ok;
}

/* The peer in "nccl:send 0->1" and "nccl:recv 1<-0", a rank of the group. */
static void annotation_peer(KinetoComm *comm, const char *name)
{
    const char *arrow = strstr(name, comm->op == RECORD_SEND ? "->" : "<-");
    guint64 peer;
    if (arrow && g_ascii_string_to_unsigned(arrow + 2, 10, 0, RECORD_WORLD_MAX, &peer, NULL))
        comm->peer = peer;
}

/* "nccl:all_to_all" with "Input Dims": [[8, 1024]], "Input type": ["float"]: traces of 2023 and
 * before, and kernels whose own args say nothing. A coalesced call moves all of its tensors. */
void kineto_comm_annotation(Kineto *kineto, KinetoComm *comm, const char *name, const Json *args)
{
    const Json *dims = json_get(args, "Input Dims"), *types = json_get(args, "Input type");
    char *word = g_strndup(name, strcspn(name, " "));
    comm->has_op = reader_torch_op(word, &comm->op);
    if (!comm->has_op)
        comm->unknown = trace_name(kineto->reader->trace, word);
    else if (comm->op == RECORD_SEND || comm->op == RECORD_RECV)
        annotation_peer(comm, name);
    comm->coalesced = strstr(word, "coalesced") != NULL;
    g_free(word);
    const Json *dim = dims ? dims->first : NULL;
    const char *type = types ? json_string(types->first) : NULL;
    if (!dim || dim->type != JSON_ARRAY || !type)
        return;
    while (!comm->coalesced && dim->first && dim->first->type == JSON_ARRAY)
        dim = dim->first; /* a list of tensors: the first one */
    comm->has_size = reader_torch_dtype(type, &comm->dtype, &comm->element_bytes) &&
                     (comm->coalesced ? list_elements(dims, &comm->in_elements)
                                      : kineto_comm_elements(dim, &comm->in_elements));
}

/* "void ns::multimem_all_reduce_kernel<c10::BFloat16, 16>(...)" -> "multimem_all_reduce_kernel":
 * what the function itself is called. Caller frees. */
char *kineto_comm_bare_name(const char *name)
{
    static const char anonymous[] = "(anonymous namespace)";
    GString *bare = g_string_new(NULL);
    guint depth = 0;
    for (const char *at = name; *at != 0; at++) {
        if (g_str_has_prefix(at, anonymous)) {
            at += strlen(anonymous) - 1;
        } else if (*at == '<') {
            depth++;
        } else if (*at == '>') {
            depth -= depth > 0;
        } else if (depth == 0 && *at == '(') {
            break;
        } else if (depth == 0) {
            g_string_append_c(bare, *at);
            if (*at == ' ' || (*at == ':' && at[1] != ':'))
                g_string_truncate(bare, 0); /* a return type, a namespace */
        }
    }
    if (bare->len == 0)
        g_string_assign(bare, name);
    return g_string_free(bare, FALSE);
}

/* NCCL's kernels are called ncclKernel_, ncclDevKernel_, ncclSymDevKernel_, ncclSymkDevKernel_; those
 * of symmetric memory, of inference libraries and of expert parallelism by what they do. */
gboolean kineto_comm_is_kernel(const char *name)
{
    static const char *const parts[] = {"nccl",          "msccl",           "nvshmem",     "multimem",
                                        "allreduce",     "all_reduce",      "allgather",   "all_gather",
                                        "reducescatter", "reduce_scatter",  "alltoall",    "all_to_all",
                                        "sendrecv",      "send_recv",       "userbuffers", "symm_mem",
                                        "deep_ep",       "put_signal",      "wait_signal", "cross_device_reduce",
                                        "oneshot_push",  "symmetric_memory"};
    static const char *const local[] = {"warpallreduce", "warp_all_reduce", "blockallreduce", "block_all_reduce"};
    char *bare = kineto_comm_bare_name(name), *lower = g_ascii_strdown(bare, -1);
    char *whole = g_ascii_strdown(name, strcspn(name, "<("));
    gboolean found = FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(parts) && !found; i++)
        found = strstr(lower, parts[i]) || strstr(whole, parts[i]);
    for (guint i = 0; i < G_N_ELEMENTS(local) && found; i++)
        found = !strstr(lower, local[i]);
    g_free(bare);
    g_free(lower);
    g_free(whole);
    return found;
}

/* ncclDevKernel_AllReduce_Sum_bf16_RING_LL, ncclKernel_AllReduce_RING_LL_Sum_float,
 * ncclSymkDevKernel_AllReduce_RSxLD_AGxST_sum_bf16. */
void kineto_comm_kernel_name(KinetoComm *comm, const char *name)
{
    static const struct {
        const char *part;
        RecordOp op;
    } ops[] = {{"_allreduce", RECORD_ALL_REDUCE}, {"_reducescatter", RECORD_REDUCE_SCATTER},
               {"_allgather", RECORD_ALL_GATHER}, {"_alltoall", RECORD_ALL_TO_ALL},
               {"_broadcast", RECORD_BROADCAST},  {"_reduce_", RECORD_REDUCE}};
    static const struct {
        const char *part;
        RecordReduction reduction;
    } reductions[] = {{"_sumpostdiv", RECORD_AVG}, {"_premulsum", RECORD_AVG}, {"_prod", RECORD_PROD},
                      {"_minmax", RECORD_MAX},     {"_max", RECORD_MAX},       {"_min", RECORD_MIN}};
    char *lower = g_ascii_strdown(name, strcspn(name, "("));
    for (guint i = 0; i < G_N_ELEMENTS(ops) && !comm->has_op; i++) {
        if (g_str_has_prefix(lower, "nccl") && strstr(lower, ops[i].part)) {
            comm->op = ops[i].op;
            comm->has_op = TRUE;
            comm->unknown = 0; /* "coalesced" of kernels that say what they do */
        }
    }
    for (guint i = 0; i < G_N_ELEMENTS(reductions); i++) {
        if (strstr(lower, reductions[i].part)) {
            comm->reduction = reductions[i].reduction;
            break;
        }
    }
    g_free(lower);
}
