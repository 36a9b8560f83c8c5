/* PyTorch profiler traces (Kineto, chrome-trace JSON): collects what matters from the stream of
 * events. What becomes of it is in build.c. */
#include <string.h>

#include "traces/format/kineto/kineto.h"
#include "traces/record/select.h"

static int kineto_probe(const char *head, gsize n)
{
    (void)n;
    if (strstr(head, "\"traceEvents\""))
        return 95;
    if (strstr(head, "\"schemaVersion\"") || strstr(head, "\"deviceProperties\"") ||
        strstr(head, "\"distributedInfo\""))
        return 90;
    head += strspn(head, " \t\r\n");
    return *head == '[' && strstr(head, "\"ph\"") ? 70 : 0;
}

static gboolean times(Kineto *kineto, const Json *item, gint64 node, gint64 *start_ns, gint64 *end_ns, gboolean *good,
                      GError **error)
{
    static const char *const keys[] = {"ts", "dur"};
    gint64 value[2];
    for (guint i = 0; i < 2; i++) {
        const Json *member = json_get(item, keys[i]);
        gboolean fits = json_decimal(member, 3, &value[i]) && value[i] >= 0;
        if (fits && value[i] <= (i == 0 ? KINETO_NS_MAX : (gint64)(RECORD_PS_MAX / 1000)))
            continue;
        char *is = json_describe(member);
        gboolean ok = reader_problem(kineto->reader, reader_here(kineto->reader, item->line, item->byte, node),
                                     "wrong time", error, "\"%s\" of GPU work is %s; it should be microseconds%s",
                                     keys[i], is, i == 1 ? ", at most a day" : " since some start, below 2^52");
        g_free(is);
        return ok;
    }
    *start_ns = value[0];
    *end_ns = value[0] + value[1];
    *good = TRUE;
    return TRUE;
}

/* "External id"; Kineto of PyTorch 1.x wrote "external id" for GPU work. */
static gboolean external_id(const Json *args, gint64 *external)
{
    return json_i64(json_get(args, "External id"), external) || json_i64(json_get(args, "external id"), external);
}

static gboolean take_gpu_work(Kineto *kineto, const Json *item, const char *name, GError **error)
{
    const Json *args = json_get(item, "args");
    KinetoKernel kernel = {.comm = -1, .line = item->line, .byte = item->byte};
    gint64 stream = 0, device = 0, correlation = -1;
    gboolean good = FALSE;
    json_i64(json_get(args, "correlation"), &correlation);
    if (!times(kineto, item, correlation, &kernel.start_ns, &kernel.end_ns, &good, error) || !good)
        return good || kineto->reader->spec->lenient;
    if (!json_i64(json_get(args, "stream"), &stream))
        json_i64(json_get(item, "tid"), &stream);
    if (!json_i64(json_get(args, "device"), &device))
        json_i64(json_get(item, "pid"), &device);
    kineto->device = kineto->device < 0 ? device : kineto->device;
    guint64 far = (guint64)device - (guint64)kineto->device; /* any number: unsigned ones may wrap */
    kernel.stream = (guint32)(((guint64)stream + far * 65536) & 0x7fffffff);
    kernel.name = 0;
    if (kineto_comm_is_kernel(name) || json_get(args, "Collective name")) {
        KinetoComm comm;
        kineto_comm_init(&comm);
        comm.where = reader_here(kineto->reader, item->line, item->byte, correlation);
        comm.correlation = correlation;
        external_id(args, &comm.external);
        kineto_comm_args(kineto, &comm, args);
        kineto_comm_kernel_name(&comm, name);
        char *bare = kineto_comm_bare_name(name);
        comm.name = trace_name(kineto->reader->trace, bare);
        g_free(bare);
        kernel.comm = kineto->comms->len;
        g_array_append_val(kineto->comms, comm);
    }
    g_array_append_val(kineto->kernels, kernel);
    return TRUE;
}

static gboolean span_times(const Json *item, KinetoSpan *span)
{
    gint64 duration;
    gboolean good = json_decimal(json_get(item, "ts"), 3, &span->start_ns) &&
                    json_decimal(json_get(item, "dur"), 3, &duration) && ABS(span->start_ns / 2) < KINETO_NS_MAX &&
                    duration >= 0 && duration < KINETO_NS_MAX;
    span->end_ns = good ? span->start_ns + duration : 0;
    return good;
}

static gboolean take_step(GArray *steps, const Json *item, const char *name)
{
    KinetoSpan span = {0};
    guint64 step;
    if (span_times(item, &span) &&
        g_ascii_string_to_unsigned(name + strlen("ProfilerStep#"), 10, 0, G_MAXINT32, &step, NULL)) {
        span.info = step;
        g_array_append_val(steps, span);
    }
    return TRUE;
}

static void add_param(Kineto *kineto, const KinetoComm *comm, const Json *item)
{
    KinetoSpan span = {.info = kineto->params->len};
    g_array_append_val(kineto->params, *comm);
    if (json_i64(json_get(item, "tid"), &span.thread) && span_times(item, &span))
        g_array_append_val(kineto->param_spans, span);
    if (comm->external < 0)
        return;
    gint64 *key = g_new(gint64, 1);
    *key = comm->external;
    g_hash_table_insert(kineto->param_of, key, GUINT_TO_POINTER(kineto->params->len));
}

static gboolean take_host_work(Kineto *kineto, const Json *item, const char *cat, const char *name)
{
    const Json *args = json_get(item, "args");
    if (strcmp(name, "record_param_comms") == 0) {
        KinetoComm comm;
        kineto_comm_init(&comm);
        external_id(args, &comm.external);
        kineto_comm_args(kineto, &comm, args);
        add_param(kineto, &comm, item);
        return TRUE;
    }
    if (strcmp(cat, "cpu_op") == 0) {
        KinetoComm comm;
        kineto_comm_init(&comm);
        gboolean known = external_id(args, &comm.external) && g_hash_table_contains(kineto->param_of, &comm.external);
        if (!known && kineto_launch_op(kineto, &comm, name, args))
            add_param(kineto, &comm, item);
        return TRUE;
    }
    if (strcmp(cat, "user_annotation") == 0 && g_str_has_prefix(name, "nccl:")) {
        KinetoSpan span = {.info = kineto->annotated->len};
        KinetoComm comm;
        kineto_comm_init(&comm);
        kineto_comm_annotation(kineto, &comm, name, args);
        g_array_append_val(kineto->annotated, comm);
        json_i64(json_get(item, "tid"), &span.thread);
        if (span_times(item, &span))
            g_array_append_val(kineto->annotations, span);
        return TRUE;
    }
    if ((strcmp(cat, "cuda_runtime") == 0 || strcmp(cat, "cuda_driver") == 0) && strstr(name, "Launch")) {
        KinetoLaunch launch = {.external = -1};
        external_id(args, &launch.external);
        if (json_i64(json_get(args, "correlation"), &launch.correlation) &&
            json_decimal(json_get(item, "ts"), 3, &launch.time_ns) && json_i64(json_get(item, "tid"), &launch.thread))
            g_array_append_val(kineto->launches, launch);
    }
    return TRUE;
}

static gboolean kineto_item(void *user, const Json *item, GError **error)
{
    Kineto *kineto = user;
    const char *ph = json_string(json_get(item, "ph")), *cat = json_string(json_get(item, "cat"));
    const char *name = json_string(json_get(item, "name"));
    if (!ph || !cat || !name || strcmp(ph, "X") != 0)
        return TRUE;
    if (g_ascii_strcasecmp(cat, "kernel") == 0 || g_ascii_strcasecmp(cat, "gpu_memcpy") == 0 ||
        g_ascii_strcasecmp(cat, "gpu_memset") == 0 || strcmp(cat, "Memcpy") == 0 || strcmp(cat, "Memset") == 0)
        return take_gpu_work(kineto, item, name, error);
    if (g_str_has_prefix(name, "ProfilerStep#")) {
        gboolean gpu = strcmp(cat, "gpu_user_annotation") == 0;
        return take_step(gpu ? kineto->gpu_steps : kineto->host_steps, item, name);
    }
    return take_host_work(kineto, item, cat, name);
}

static void free_ranks(gpointer ranks) { g_array_free(ranks, TRUE); }

static void kineto_clear(Kineto *kineto)
{
    GArray *comms[] = {kineto->comms, kineto->params, kineto->annotated};
    for (guint i = 0; i < 3; i++) {
        for (guint k = 0; k < comms[i]->len; k++)
            g_free(g_array_index(comms[i], KinetoComm, k).bad);
        g_array_free(comms[i], TRUE);
    }
    g_array_free(kineto->kernels, TRUE);
    g_array_free(kineto->annotations, TRUE);
    g_array_free(kineto->param_spans, TRUE);
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
        .param_spans = g_array_new(FALSE, FALSE, sizeof(KinetoSpan)),
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
    JsonHandler handler = {
        .array = "traceEvents", .item = kineto_item, .wanted = kineto_wanted, .member = kineto_member, .user = &kineto};
    GError *broken = NULL;
    gboolean ok = json_stream(reader->input, &handler, &broken) || reader_skip(reader, &broken, error);
    ok = ok && kineto_build(&kineto, error);
    kineto_clear(&kineto);
    return ok;
}

/* People start their profilers when they please. */
static gboolean kineto_end(Reader *reader, GError **error)
{
    (void)error;
    trace_common_steps(reader->trace);
    return TRUE;
}

const TraceFormat trace_format_kineto = {
    .name = "kineto",
    .title = "PyTorch profiler (Kineto, chrome trace)",
    .probe = kineto_probe,
    .read = kineto_read,
    .end = kineto_end,
    .per_rank = TRUE,
    .identify = kineto_identify,
};
