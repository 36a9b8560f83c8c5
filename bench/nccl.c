/* The collectives of NCCL without multicast, back to back: nccl_all_reduce and its family.
 *
 * `variant` is the algorithm and protocol that were forced ("Ring_LL128", "Tree_Simple"), or "default" for
 * the library's own choice; `gpus` is how many ranks there are. A call's time is the kernel's and the launch
 * gap to the next one on its stream, or what the host thread takes for all ranks (launch.stream_nccl_ps). */
#include <string.h>

#include "bench/world.h"
#include "coll/coll.h"
#include "device/launch_time.h"

guint32 bench_nccl_calls(guint64 bytes) { return bytes <= 16u << 20 ? 4 : 2; }

gboolean bench_nccl_parse(const char *test, const char *variant, CollSpec *coll, GError **error)
{
    const char *name = test + strlen("nccl_");
    CollOp op;
    if (strcmp(name, "sendrecv_ring") == 0)
        name = "sendrecv";
    else if (strcmp(name, "alltoall") == 0)
        name = "all_to_all";
    if (!g_str_has_prefix(test, "nccl_") || !coll_op_parse(name, &op)) {
        g_set_error(error, BENCH_ERROR, BENCH_ERROR_REQUEST, "operation '%s' is not known", test);
        return FALSE;
    }
    *coll = coll_spec_default(op);
    coll->algo = COLL_AUTO;
    coll->unicast = TRUE;
    if (coll_algos_of(op).algo[0] == COLL_P2P || strcmp(variant, "default") == 0)
        return TRUE;
    g_auto(GStrv) words = g_strsplit(variant, "_", 2);
    if (!words[0] || !words[1] || !coll_algo_parse(words[0], &coll->algo) ||
        !coll_proto_parse(words[1], &coll->proto)) {
        g_set_error(error, BENCH_ERROR, BENCH_ERROR_REQUEST,
                    "variant '%s' is not known: default, Ring_Simple, Ring_LL, Ring_LL128 or Tree_... is right",
                    variant);
        return FALSE;
    }
    if (coll->algo == COLL_TREE && op != COLL_ALL_REDUCE)
        coll->algo = COLL_RING; /* NCCL has the tree for all-reduce only */
    return TRUE;
}

static gboolean nccl_run(BenchWorld *world, GError **error)
{
    CollSpec coll;
    CollResult result;
    guint32 n;
    if (!bench_nccl_parse(world->request->test, world->request->variant, &coll, error) ||
        !bench_parse_count(world, &n, error))
        return FALSE;
    coll.bytes = world->bytes;
    coll.check = FALSE;
    coll.calls = bench_nccl_calls(coll.bytes);
    coll.host_ps = launch_spec(&world->fabric->spec)->stream_nccl_ps;
    CollGroup *group = coll_group_new(world->fabric, NULL, n, error);
    if (!group)
        return FALSE;
    gboolean good = coll_run(group, &coll, &result, error);
    if (!good)
        return FALSE; /* a stuck group is left to the end of the world */
    coll_group_free(group);
    bench_add_row(world, world->request->gpus, 0, 1, result.kernel_ps, "us");
    return TRUE;
}

static guint64 nccl_crossings(const BenchSetup *setup, const BenchRequest *request)
{
    (void)setup;
    guint64 n = MAX(g_ascii_strtoull(request->gpus, NULL, 10), 2);
    return request->bytes / LINE_BYTES * bench_nccl_calls(request->bytes) *
           (strcmp(request->test, "nccl_all_reduce") == 0 ? 4 * n + 4 : 2 * n + 2);
}

#define NCCL_SHORT (32u << 20)
/* Up to 8 % off below that, 2 % above. */
static const char *nccl_packets(const BenchRequest *request)
{
    gboolean steps = strcmp(request->test, "nccl_sendrecv_ring") == 0 || strcmp(request->test, "nccl_broadcast") == 0;
    return steps && request->bytes < NCCL_SHORT ? "below 32 MiB its loops are too short to be flows" : NULL;
}

#define NCCL_VARIANTS "default, Ring_Simple, Ring_LL, Ring_LL128, Tree_Simple, Tree_LL, Tree_LL128"
#define NCCL_TEST(object, name_, text_)                                                                                \
    const BenchTest object = {                                                                                         \
        .name = name_,                                                                                                 \
        .variants = NCCL_VARIANTS,                                                                                     \
        .text = text_,                                                                                                 \
        .usual = {name_, "Ring_Simple", "4", 0, 0, 16u << 20},                                                         \
        .run = nccl_run,                                                                                               \
        .crossings = nccl_crossings,                                                                                   \
        .packets = nccl_packets,                                                                                       \
    }
NCCL_TEST(bench_nccl_all_reduce, "nccl_all_reduce", "NCCL's all-reduce, multicast off");
NCCL_TEST(bench_nccl_all_gather, "nccl_all_gather", "NCCL's all-gather, multicast off");
NCCL_TEST(bench_nccl_reduce_scatter, "nccl_reduce_scatter", "NCCL's reduce-scatter, multicast off");
NCCL_TEST(bench_nccl_broadcast, "nccl_broadcast", "NCCL's broadcast");
NCCL_TEST(bench_nccl_sendrecv, "nccl_sendrecv_ring", "each rank sends to the next one");
NCCL_TEST(bench_nccl_alltoall, "nccl_alltoall", "each rank sends to every one");
