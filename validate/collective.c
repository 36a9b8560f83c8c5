/* Rows that name a collective: which algorithm a library took, and what its launch costs.
 *
 * The simulated time is that of the kernel; to it comes one constant of the row's (timing, program) class
 * (device/launch_time.h). */
#include <string.h>

#include "bench/world.h"
#include "validate/collective.h"

static gboolean coll_fail(GError **error, const char *what, const char *text)
{
    g_set_error(error, VALIDATE_ERROR, VALIDATE_ERROR_RUN, "%s '%s' is not known", what, text);
    return FALSE;
}

/* ---- our own NCCL measurements: nccl_all_reduce, Ring_LL128 */

static gboolean coll_from_measured(const FabricSpec *spec, const ValidateRow *row, CollRequest *request, GError **error)
{
    if (!bench_nccl_parse(row->test, row->variant, &request->coll, error))
        return FALSE;
    request->n = (guint32)g_ascii_strtoull(row->gpus, NULL, 10);
    if (!coll_nccl_parse("2.28.9", &request->coll.nccl, error)) /* which measured them */
        return FALSE;
    request->coll.calls = bench_nccl_calls(row->bytes);
    request->coll.host_ps = launch_spec(spec)->stream_nccl_ps;
    return TRUE;
}

/* ---- published figures */

/* Rings of 8 ranks that were timed by graph take 5 us at 1 KiB, less than the flight of their 14 hops: NCCL
 * took its symmetric kernels, which come before NCCL_ALGO is asked. They are the same runs as the rows
 * of nccl-sym without multicast, and agree with these within 4 % at all sizes. */
static gboolean coll_is_symmetric(const ValidateRow *row)
{
    return strcmp(row->program, "nccl-sym") == 0 ||
           (strcmp(row->program, "nccl") == 0 && strcmp(row->timing, "graph") == 0 && strcmp(row->algo, "ring") == 0 &&
            !*row->proto);
}

/* What `auto` stands for, as far as the library does not say it by itself (coll_library_apply). */
static void coll_resolve_auto(const ValidateRow *row, const FabricSpec *spec, CollRequest *request)
{
    gboolean multicast = spec->mctable.entries > 0 && strcmp(row->algo, "auto") == 0;
    CollSpec *coll = &request->coll;
    gboolean peers = coll->op == COLL_ALL_TO_ALL || coll->op == COLL_SENDRECV;
    if (peers) {
        coll->algo = strcmp(row->program, "nccl") == 0 ? COLL_P2P : COLL_DIRECT;
    } else if (coll_is_symmetric(row) && coll->op != COLL_BROADCAST) {
        coll->algo = COLL_AUTO;
        coll->library = COLL_NCCL_SYM;
        coll->unicast = !multicast;
    } else {
        coll->algo = multicast || spec->mctable.entries == 0 ? COLL_AUTO : COLL_RING;
    }
}

/* What a program can run, by the words of the column `algo`; a row that says another one is a mistake of the table. */
static const struct {
    const char *program;
    const char *algos; /* space separated */
} program_algos[] = {
    {"kernel", "oneshot twoshot nvls nvls_oneshot push pull direct"},
    {"nccl", "auto auto-unicast unicast ring tree nvls nvls_buffered p2p"},
    {"nccl-registered", "auto auto-unicast ring tree nvls p2p"},
    {"nccl-sym", "auto auto-unicast unicast ring nvls direct sym_ll sym_llmc sym_lsa sym_mc"},
    {"trtllm", "auto oneshot twoshot lamport"},
    {"vllm", "auto oneshot twoshot nvls"},
    {"sglang", "auto oneshot twoshot nvls lamport"},
};

static gboolean coll_fits_program(const ValidateRow *row, GError **error)
{
    g_autoptr(GString) programs = g_string_new(NULL);
    for (guint i = 0; i < G_N_ELEMENTS(program_algos); i++) {
        g_string_append_printf(programs, "%s%s", i ? ", " : "", program_algos[i].program);
        if (strcmp(program_algos[i].program, row->program) != 0)
            continue;
        g_auto(GStrv) algos = g_strsplit(program_algos[i].algos, " ", 0);
        if (g_strv_contains((const char *const *)algos, row->algo))
            return TRUE;
        g_autofree char *right = g_strjoinv(", ", algos);
        g_set_error(error, VALIDATE_ERROR, VALIDATE_ERROR_RUN, "algo '%s' is none of the program '%s', which runs %s",
                    row->algo, row->program, right);
        return FALSE;
    }
    g_set_error(error, VALIDATE_ERROR, VALIDATE_ERROR_RUN, "program '%s' is not known; there are %s", row->program,
                programs->str);
    return FALSE;
}

static gboolean coll_from_published(const FabricSpec *spec, const ValidateRow *row, CollRequest *request,
                                    GError **error)
{
    CollOp op;
    if (!coll_op_parse(row->op, &op))
        return coll_fail(error, "operation", row->op);
    if (!coll_fits_program(row, error))
        return FALSE;
    request->coll = coll_spec_default(op);
    request->coll.nccl = row->nccl;
    if (row->dtype && !numeric_type_parse(row->dtype, &request->coll.type))
        return coll_fail(error, "element type", row->dtype);
    if (!coll_library_parse(row->program, &request->coll.library))
        request->coll.library = COLL_NCCL;
    if (row->threads_launch)
        request->coll.type = NUMERIC_F16; /* fp16, and bf16 in the frameworks */
    request->framework_ps = launch_spec(spec)->graph_nccl_ps;
    if (*row->proto && !coll_proto_parse(row->proto, &request->coll.proto))
        return coll_fail(error, "protocol", row->proto);
    if (g_str_has_prefix(row->algo, "auto") || strcmp(row->algo, "unicast") == 0 || coll_is_symmetric(row))
        coll_resolve_auto(row, spec, request);
    else if (!coll_algo_parse(row->algo, &request->coll.algo))
        return coll_fail(error, "algorithm", row->algo);
    request->coll.ctas = row->ctas;
    request->coll.nvls_chunk_bytes = row->nvls_chunk_bytes;
    request->unregistered = strcmp(row->program, "nccl") == 0 && strcmp(row->timing, "eager") == 0;
    if (request->coll.algo == COLL_NVLS && strcmp(row->program, "kernel") == 0)
        request->coll.threads = 512;
    if (row->moe && (request->coll.algo == COLL_DIRECT || request->coll.algo == COLL_PULL)) {
        request->coll.kernel = COLL_KERNEL_MOE;
        request->coll.token_bytes = row->token_bytes;
    }
    request->n = (guint32)g_ascii_strtoull(row->gpus, NULL, 10);
    const LaunchTiming timing = {.program = coll_is_symmetric(row) ? "nccl-sym" : row->program,
                                 .timing = row->timing,
                                 .gpus = request->n,
                                 .torch = row->torch,
                                 .threads = row->threads_launch};
    if (request->coll.kernel == COLL_KERNEL_MOE && strcmp(row->timing, "kernel") == 0) {
        request->coll.alone = TRUE; /* a profiler's time of the kernel itself */
        return TRUE;
    }
    if (launch_time_measured(spec, &timing, &request->launch))
        return TRUE;
    g_set_error(error, VALIDATE_ERROR, VALIDATE_ERROR_RUN, "no launch class for program '%s' timed '%s'", row->program,
                row->timing);
    return FALSE;
}

gboolean validate_collective_request(const FabricSpec *spec, const ValidateRow *row, CollRequest *request,
                                     GError **error)
{
    return row->schema == VALIDATE_PUBLISHED ? coll_from_published(spec, row, request, error)
                                             : coll_from_measured(spec, row, request, error);
}

/* ---- before it runs: how much it is, and with what it goes together */

static guint64 coll_crossings(CollOp op, guint32 calls, guint64 n, guint64 bytes)
{
    return bytes / LINE_BYTES * MAX(calls, 1) * (op == COLL_ALL_REDUCE ? 4 * n + 4 : 2 * n + 2);
}

guint64 validate_collective_crossings(const ValidateRow *row)
{
    CollOp op = COLL_ALL_REDUCE; /* of an unknown operation: what it is tells its worker */
    CollSpec coll = {.op = op};
    guint32 calls = 1;
    if (row->schema == VALIDATE_PUBLISHED)
        coll_op_parse(row->op, &op);
    else if (bench_nccl_parse(row->test, row->variant, &coll, NULL))
        op = coll.op;
    if (row->schema != VALIDATE_PUBLISHED)
        calls = bench_nccl_calls(row->bytes);
    return coll_crossings(op, calls, g_ascii_strtoull(row->gpus, NULL, 10), row->bytes);
}

/* Rows of one unit share a system; of those with the same text most share runs, or lie on one line. What NCCL does
 * not choose by variant (sendrecv) is one run for all variants. */
char *validate_collective_key(const ValidateRow *row)
{
    gboolean published = row->schema == VALIDATE_PUBLISHED;
    GString *key = g_string_new(published ? row->preset : "measured");
    g_string_append_printf(key, "|%s|%s", published ? row->op : row->test, row->gpus);
    CollSpec coll = {.algo = COLL_AUTO};
    if (!published && bench_nccl_parse(row->test, row->variant, &coll, NULL)) /* sendrecv knows no variants */
        g_string_append_printf(key, "|%d|%d|%" G_GUINT64_FORMAT, coll.algo, coll.proto, row->bytes);
    else if (!published)
        g_string_append_printf(key, "|%s|%" G_GUINT64_FORMAT, row->variant, row->bytes);
    else if (coll_is_symmetric(row))
        g_string_append_printf(key, "|sym|%s", strcmp(row->algo, "auto") == 0 ? "multicast" : "unicast");
    else
        g_string_append_printf(key, "|%s|%s|%u|%u|%" G_GUINT64_FORMAT, row->program, row->proto, row->ctas, row->nccl,
                               row->nvls_chunk_bytes);
    return g_string_free(key, FALSE);
}
