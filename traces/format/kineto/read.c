/* PyTorch profiler traces (Kineto, chrome-trace JSON): collects what matters from the stream of
 * events. What becomes of it is in build.c. */
#include <string.h>

#include "traces/format/kineto/kineto.h"

static int kineto_probe(const char *head, gsize n)
{
    (void)n;
    if (strstr(head, "\"traceEvents\"") != NULL) {
        return 95;
    }
    if (strstr(head, "\"schemaVersion\"") != NULL || strstr(head, "\"deviceProperties\"") != NULL ||
        strstr(head, "\"distributedInfo\"") != NULL) {
        return 90;
    }
    head += strspn(head, " \t\r\n");
    return *head == '[' && strstr(head, "\"ph\"") != NULL ? 70 : 0;
}

static void bad(KinetoComm *comm, const char *reason, char *text)
{
    if (comm->bad == NULL) {
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
    if (member == NULL) {
        return FALSE;
    }
    if (json_i64(member, value) && *value >= 0) {
        return TRUE;
    }
    char *is = json_describe(member);
    bad(comm, "wrong number",
        g_strdup_printf("\"%s\" is %s; it should be a whole number of 0 or more", key, is));
    g_free(is);
    *value = -1;
    return FALSE;
}

static void comm_init(KinetoComm *comm)
{
    *comm = (KinetoComm){
        .group_size = -1, .start = -1, .stride = -1, .peer = -1, .external = -1, .correlation = -1};
}

/* The members that record_param_comms and, since 2024, NCCL kernels have. */
static void take_args(Kineto *kineto, KinetoComm *comm, const Json *args)
{
    Trace *trace = kineto->reader->trace;
    const char *name = json_string(json_get(args, "Collective name"));
    const char *dtype = json_string(json_get(args, "dtype"));
    gint64 value;
    if (name != NULL && !reader_torch_op(name, &comm->op)) {
        bad(comm, "unknown collective",
            g_strdup_printf("unknown collective \"%.60s\"; known are allreduce, broadcast, "
                            "reduce, allgather, reduce_scatter, alltoall, gather, scatter, "
                            "barrier, send, recv and their variants",
                            name));
    }
    comm->has_op = name != NULL;
    if (dtype != NULL && !reader_torch_dtype(dtype, &comm->dtype, &comm->element_bytes)) {
        bad(comm, "unknown dtype",
            g_strdup_printf("unknown dtype \"%.60s\"; PyTorch's are Float, Half, BFloat16, "
                            "Long, Int, Byte, ...",
                            dtype));
    }
    gboolean in = number(comm, args, "In msg nelems", &value);
    comm->in_elements = in ? value : 0;
    gboolean out = number(comm, args, "Out msg nelems", &value);
    comm->out_elements = out ? value : 0;
    comm->has_size = (in || out) && dtype != NULL;
    number(comm, args, "Group size", &comm->group_size);
    number(comm, args, "Global rank start", &comm->start);
    number(comm, args, "Global rank stride", &comm->stride);
    const char *pg = json_string(json_get(args, "Process Group Name"));
    const char *ranks = json_string(json_get(args, "Process Group Ranks"));
    comm->pg_name = pg != NULL ? trace_name(trace, pg) : 0;
    comm->pg_ranks = ranks != NULL ? trace_name(trace, ranks) : 0;
    const char *peer = comm->has_op && comm->op == RECORD_SEND   ? "Dst Rank"
                       : comm->has_op && comm->op == RECORD_RECV ? "Src Rank"
                                                                 : "Root Rank";
    number(comm, args, peer, &comm->peer);
}

/* "nccl:all_to_all" with "Input Dims": [[8, 1024]], "Input type": ["float"]: traces of 2023 and
 * before. */
static void take_annotation(KinetoComm *comm, const char *name, const Json *args)
{
    const Json *dims = json_get(args, "Input Dims"), *types = json_get(args, "Input type");
    if (!reader_torch_op(name, &comm->op)) {
        bad(comm, "unknown collective", g_strdup_printf("unknown collective \"%.60s\"", name));
    }
    comm->has_op = TRUE;
    const Json *dim = dims != NULL ? dims->first : NULL;
    const char *type = types != NULL ? json_string(types->first) : NULL;
    if (dim == NULL || dim->type != JSON_ARRAY || type == NULL) {
        return;
    }
    while (dim->first != NULL && dim->first->type == JSON_ARRAY) {
        dim = dim->first; /* a list of tensors: the first one */
    }
    guint64 elements = 1, size;
    gboolean ok = reader_torch_dtype(type, &comm->dtype, &comm->element_bytes);
    for (const Json *at = dim->first; at != NULL && ok; at = at->next) {
        ok = json_u64(at, &size) && !__builtin_mul_overflow(elements, size, &elements);
    }
    comm->in_elements = elements;
    comm->has_size = ok;
}

/* ncclDevKernel_AllReduce_Sum_bf16_RING_LL, ncclKernel_AllReduce_RING_LL_Sum_float. */
static void take_kernel_name(KinetoComm *comm, const char *name)
{
    static const struct {
        const char *part;
        RecordOp op;
    } ops[] = {{"AllReduce", RECORD_ALL_REDUCE},
               {"ReduceScatter", RECORD_REDUCE_SCATTER},
               {"AllGather", RECORD_ALL_GATHER},
               {"Broadcast", RECORD_BROADCAST},
               {"Reduce", RECORD_REDUCE}};
    static const struct {
        const char *part;
        RecordReduction reduction;
    } reductions[] = {{"_SumPostDiv", RECORD_AVG}, {"_PreMulSum", RECORD_AVG},
                      {"_Prod", RECORD_PROD},      {"_MinMax", RECORD_MAX},
                      {"_Max", RECORD_MAX},        {"_Min", RECORD_MIN}};
    for (guint i = 0; i < G_N_ELEMENTS(ops) && !comm->has_op; i++) {
        if (strstr(name, ops[i].part) != NULL) {
            comm->op = ops[i].op;
            comm->has_op = TRUE;
        }
    }
    for (guint i = 0; i < G_N_ELEMENTS(reductions); i++) {
        if (strstr(name, reductions[i].part) != NULL) {
            comm->reduction = reductions[i].reduction;
            break;
        }
    }
}

static gboolean times(Kineto *kineto, const Json *item, gint64 node, gint64 *start_ns,
                      gint64 *end_ns, gboolean *good, GError **error)
{
    static const char *const keys[] = {"ts", "dur"};
    gint64 value[2];
    for (guint i = 0; i < 2; i++) {
        const Json *member = json_get(item, keys[i]);
        gboolean fits = json_decimal(member, 3, &value[i]) && value[i] >= 0;
        if (fits && (i == 0 || value[i] <= (gint64)(RECORD_PS_MAX / 1000))) {
            continue;
        }
        char *is = json_describe(member);
        gboolean ok = reader_problem(
            kineto->reader, reader_here(kineto->reader, item->line, item->byte, node), "wrong time",
            error, "\"%s\" of GPU work is %s; it should be microseconds%s", keys[i], is,
            i == 1 ? ", at most a day" : "");
        g_free(is);
        return ok;
    }
    *start_ns = value[0];
    *end_ns = value[0] + value[1];
    *good = TRUE;
    return TRUE;
}

static gboolean is_nccl(const char *name)
{
    return g_str_has_prefix(name, "ncclKernel") || g_str_has_prefix(name, "ncclDevKernel") ||
           g_str_has_prefix(name, "ncclSymKernel") || g_str_has_prefix(name, "ncclSymDevKernel");
}

static gboolean take_gpu_work(Kineto *kineto, const Json *item, const char *name, GError **error)
{
    const Json *args = json_get(item, "args");
    KinetoKernel kernel = {.comm = -1, .line = item->line, .byte = item->byte};
    gint64 stream = 0, device = 0, correlation = -1;
    gboolean good = FALSE;
    json_i64(json_get(args, "correlation"), &correlation);
    if (!times(kineto, item, correlation, &kernel.start_ns, &kernel.end_ns, &good, error) ||
        !good) {
        return good || kineto->reader->spec->lenient;
    }
    if (!json_i64(json_get(args, "stream"), &stream)) {
        json_i64(json_get(item, "tid"), &stream);
    }
    if (!json_i64(json_get(args, "device"), &device)) {
        json_i64(json_get(item, "pid"), &device);
    }
    kineto->device = kineto->device < 0 ? device : kineto->device;
    kernel.stream = (guint32)((stream + (device - kineto->device) * 65536) & 0x7fffffff);
    kernel.name = 0;
    if (is_nccl(name)) {
        KinetoComm comm;
        comm_init(&comm);
        comm.where = reader_here(kineto->reader, item->line, item->byte, correlation);
        comm.correlation = correlation;
        json_i64(json_get(args, "External id"), &comm.external);
        take_args(kineto, &comm, args);
        take_kernel_name(&comm, name);
        char *bare = g_strndup(name, strcspn(name, "("));
        comm.name = trace_name(kineto->reader->trace, bare);
        g_free(bare);
        kernel.comm = kineto->comms->len;
        g_array_append_val(kineto->comms, comm);
    }
    g_array_append_val(kineto->kernels, kernel);
    return TRUE;
}

static gboolean take_step(GArray *steps, const Json *item, const char *name)
{
    KinetoSpan span = {0};
    gint64 duration;
    guint64 step;
    if (json_decimal(json_get(item, "ts"), 3, &span.start_ns) &&
        json_decimal(json_get(item, "dur"), 3, &duration) &&
        g_ascii_string_to_unsigned(name + strlen("ProfilerStep#"), 10, 0, G_MAXINT32, &step,
                                   NULL)) {
        span.end_ns = span.start_ns + duration;
        span.info = step;
        g_array_append_val(steps, span);
    }
    return TRUE;
}

static gboolean take_host_work(Kineto *kineto, const Json *item, const char *cat, const char *name)
{
    const Json *args = json_get(item, "args");
    if (strcmp(name, "record_param_comms") == 0) {
        KinetoComm comm;
        comm_init(&comm);
        json_i64(json_get(args, "External id"), &comm.external);
        take_args(kineto, &comm, args);
        g_array_append_val(kineto->params, comm);
        gint64 *key = g_new(gint64, 1);
        *key = comm.external;
        g_hash_table_insert(kineto->param_of, key, GUINT_TO_POINTER(kineto->params->len));
        return TRUE;
    }
    if (strcmp(cat, "user_annotation") == 0 && g_str_has_prefix(name, "nccl:")) {
        KinetoSpan span = {.info = kineto->annotated->len};
        gint64 duration;
        KinetoComm comm;
        comm_init(&comm);
        take_annotation(&comm, name, args);
        g_array_append_val(kineto->annotated, comm);
        json_i64(json_get(item, "tid"), &span.thread);
        if (json_decimal(json_get(item, "ts"), 3, &span.start_ns) &&
            json_decimal(json_get(item, "dur"), 3, &duration)) {
            span.end_ns = span.start_ns + duration;
            g_array_append_val(kineto->annotations, span);
        }
        return TRUE;
    }
    if ((strcmp(cat, "cuda_runtime") == 0 || strcmp(cat, "cuda_driver") == 0) &&
        strstr(name, "Launch") != NULL) {
        KinetoLaunch launch = {0};
        if (json_i64(json_get(args, "correlation"), &launch.correlation) &&
            json_decimal(json_get(item, "ts"), 3, &launch.time_ns) &&
            json_i64(json_get(item, "tid"), &launch.thread)) {
            g_array_append_val(kineto->launches, launch);
        }
    }
    return TRUE;
}

static gboolean kineto_item(void *user, const Json *item, GError **error)
{
    Kineto *kineto = user;
    const char *ph = json_string(json_get(item, "ph")), *cat = json_string(json_get(item, "cat"));
    const char *name = json_string(json_get(item, "name"));
    if (ph == NULL || cat == NULL || name == NULL || strcmp(ph, "X") != 0) {
        return TRUE;
    }
    if (g_ascii_strcasecmp(cat, "kernel") == 0 || g_ascii_strcasecmp(cat, "gpu_memcpy") == 0 ||
        g_ascii_strcasecmp(cat, "gpu_memset") == 0 || strcmp(cat, "Memcpy") == 0 ||
        strcmp(cat, "Memset") == 0) {
        return take_gpu_work(kineto, item, name, error);
    }
    if (g_str_has_prefix(name, "ProfilerStep#")) {
        gboolean gpu = strcmp(cat, "gpu_user_annotation") == 0;
        return take_step(gpu ? kineto->gpu_steps : kineto->host_steps, item, name);
    }
    return take_host_work(kineto, item, cat, name);
}

static gboolean kineto_wanted(void *user, const char *key)
{
    (void)user;
    return strcmp(key, "distributedInfo") == 0;
}

static void free_ranks(gpointer ranks)
{
    g_array_free(ranks, TRUE);
}

/* {"rank": 0, "world_size": 2, "pg_config": [{"pg_name": "0", "ranks": [0, 1], ...}]} */
static gboolean kineto_member(void *user, const Json *info, GError **error)
{
    Kineto *kineto = user;
    const char *path = input_path(kineto->reader->input);
    const Json *rank = json_get(info, "rank"), *world = json_get(info, "world_size");
    if ((rank != NULL && (!json_i64(rank, &kineto->rank) || kineto->rank < 0)) ||
        (world != NULL && (!json_i64(world, &kineto->world) || kineto->world < 1))) {
        g_set_error(error, TRACE_ERROR, TRACE_ERROR_VALUE,
                    "%s:%u: distributedInfo: \"rank\" and \"world_size\" should "
                    "be whole numbers",
                    path, info->line);
        return FALSE;
    }
    const Json *list = json_get(info, "pg_config");
    for (const Json *at = list != NULL ? list->first : NULL; at != NULL; at = at->next) {
        const char *name = json_string(json_get(at, "pg_name"));
        const Json *members = json_get(at, "ranks");
        GArray *ranks = g_array_new(FALSE, FALSE, sizeof(guint32));
        for (const Json *m = members != NULL ? members->first : NULL; m != NULL; m = m->next) {
            guint64 value = RECORD_WORLD_MAX;
            guint32 small =
                json_u64(m, &value) && value < RECORD_WORLD_MAX ? value : RECORD_WORLD_MAX;
            g_array_append_val(ranks, small);
            if (small == RECORD_WORLD_MAX) {
                g_set_error(error, TRACE_ERROR, TRACE_ERROR_VALUE,
                            "%s:%u: distributedInfo: \"ranks\" of group \"%s\" "
                            "should be whole numbers",
                            path, info->line, name != NULL ? name : "");
                g_array_free(ranks, TRUE);
                return FALSE;
            }
        }
        g_hash_table_insert(kineto->groups, g_strdup(name != NULL ? name : ""), ranks);
    }
    return TRUE;
}

/* distributedInfo stands before the events, as PyTorch writes it: reading stops where they begin. */
static gboolean identify_item(void *user, const Json *item, GError **error)
{
    (void)user;
    (void)item;
    g_set_error_literal(error, TRACE_ERROR, TRACE_ERROR_VALUE, "the events begin");
    return FALSE;
}

static gboolean identify_member(void *user, const Json *info, GError **error)
{
    (void)error;
    TraceIdentity *identity = user;
    gint64 rank, world;
    if (json_i64(json_get(info, "rank"), &rank) && rank >= 0 && rank < RECORD_WORLD_MAX) {
        identity->rank = rank;
    }
    if (json_i64(json_get(info, "world_size"), &world) && world >= 1 && world <= RECORD_WORLD_MAX) {
        identity->world = world;
    }
    return TRUE;
}

static void kineto_identify(Input *input, TraceIdentity *identity)
{
    JsonHandler handler = {.array = "traceEvents",
                           .item = identify_item,
                           .wanted = kineto_wanted,
                           .member = identify_member,
                           .user = identity};
    GError *broken = NULL;
    json_stream(input, &handler, &broken); /* what is wrong in it, its reading will say */
    g_clear_error(&broken);
}

static void kineto_clear(Kineto *kineto)
{
    GArray *comms[] = {kineto->comms, kineto->params, kineto->annotated};
    for (guint i = 0; i < 3; i++) {
        for (guint k = 0; k < comms[i]->len; k++) {
            g_free(g_array_index(comms[i], KinetoComm, k).bad);
        }
        g_array_free(comms[i], TRUE);
    }
    g_array_free(kineto->kernels, TRUE);
    g_array_free(kineto->annotations, TRUE);
    g_array_free(kineto->launches, TRUE);
    g_array_free(kineto->host_steps, TRUE);
    g_array_free(kineto->gpu_steps, TRUE);
    g_hash_table_destroy(kineto->param_of);
    g_hash_table_destroy(kineto->groups);
}

static gboolean kineto_read(Reader *reader, GError **error)
{
    Kineto kineto = {
        .reader = reader,
        .kernels = g_array_new(FALSE, FALSE, sizeof(KinetoKernel)),
        .comms = g_array_new(FALSE, FALSE, sizeof(KinetoComm)),
        .params = g_array_new(FALSE, FALSE, sizeof(KinetoComm)),
        .param_of = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
        .annotated = g_array_new(FALSE, FALSE, sizeof(KinetoComm)),
        .annotations = g_array_new(FALSE, FALSE, sizeof(KinetoSpan)),
        .launches = g_array_new(FALSE, FALSE, sizeof(KinetoLaunch)),
        .host_steps = g_array_new(FALSE, FALSE, sizeof(KinetoSpan)),
        .gpu_steps = g_array_new(FALSE, FALSE, sizeof(KinetoSpan)),
        .groups = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_ranks),
        .rank = -1,
        .world = -1,
        .device = -1,
    };
    JsonHandler handler = {.array = "traceEvents",
                           .item = kineto_item,
                           .wanted = kineto_wanted,
                           .member = kineto_member,
                           .user = &kineto};
    GError *broken = NULL;
    gboolean ok =
        json_stream(reader->input, &handler, &broken) || reader_forgive(reader, &broken, error);
    ok = ok && kineto_build(&kineto, error);
    kineto_clear(&kineto);
    return ok;
}

const TraceFormat trace_format_kineto = {
    .name = "kineto",
    .title = "PyTorch profiler (Kineto, chrome trace)",
    .probe = kineto_probe,
    .read = kineto_read,
    .per_rank = TRUE,
    .identify = kineto_identify,
};
