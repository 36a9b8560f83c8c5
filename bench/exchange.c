/* Dispatch and combine of a mixture of experts: each token goes to k other GPUs, and what they make of it is summed.
 *
 * Half of the CTAs dispatch, the others combine, as where one batch of tokens is on its way out while another comes
 * back: by multimem.st and multimem.ld_reduce to the set of GPUs, or by k stores and k loads. Each GPU has tokens for
 * EXCHANGE_SETS sets, all of equal size, and every GPU is in as many sets as any other. Left out: the experts' work,
 * routing, and GPUs that are more popular than others. */
#include <stdio.h>
#include <string.h>

#include "bench/world.h"

#define EXCHANGE_SETS 4u
#define EXCHANGE_MEMBERS_MAX 16u

typedef struct {
    guint64 slice; /* bytes of tokens for one set */
    guint32 members;
    gboolean multicast;
    /* of a set's members, or of its team; tokens that come back are behind those that go */
    FoAddress base[EXCHANGE_SETS][EXCHANGE_MEMBERS_MAX];
} ExchangeArgs;

static LoopSpec exchange_loop(const ExchangeArgs *args, guint32 set, gboolean combine)
{
    const guint32 n = args->multicast ? 1 : args->members;
    LoopSpec loop = {.width = 16,
                     .unroll = combine ? (args->multicast ? 8 : 2) : 1,
                     .tail_unroll = 8,
                     .n_regs = combine ? n : 1,
                     .elements = args->slice / 16};
    const UopKind kind = combine ? (args->multicast ? UOP_MC_LOAD : UOP_LOAD)
                                 : (args->multicast ? UOP_MC_STORE : UOP_STORE);
    for (guint32 m = 0; m < n; m++)
        bench_part(&loop, kind, combine ? m : 0, args->base[set][m] + (combine ? args->slice : 0));
    for (guint32 m = 0; combine && m < n; m++)
        bench_part(&loop, UOP_ARITH, m, 0);
    return loop;
}

static void exchange_program(FoCta *cta, const void *of)
{
    const ExchangeArgs *args = of;
    const guint64 threads = fo_threads(cta);
    for (guint32 set = 0; set < EXCHANGE_SETS; set++) {
        LoopSpec loop = exchange_loop(args, set, fo_cta(cta) % 2 == 1);
        loop.first = fo_cta(cta) / 2 * threads;
        loop.step = fo_ctas(cta) / 2 * threads;
        bench_loop(cta, &loop);
    }
}

/* Memory of the GPUs that set number s of a GPU's tokens go to: others, in turn. */
static gboolean exchange_open(BenchWorld *world, guint32 gpu, guint32 n, guint32 s, ExchangeArgs *args, GError **error)
{
    guint16 member[EXCHANGE_MEMBERS_MAX];
    for (guint32 m = 0; m < args->members; m++)
        member[m] = (guint16)((gpu + 1 + (s * args->members + m) % (n - 1)) % n);
    if (args->multicast) {
        FoAddress own[EXCHANGE_MEMBERS_MAX];
        args->base[s][0] = bench_team(world, member, args->members, 2 * args->slice, world->request->bytes, own, error);
        return args->base[s][0] != 0;
    }
    for (guint32 m = 0; m < args->members; m++)
        args->base[s][m] = bench_memory(world, member[m], 2 * args->slice, world->request->bytes);
    return TRUE;
}

static gboolean exchange_parse(const char *variant, ExchangeArgs *args)
{
    char how[10];
    int end = 0;
    if (sscanf(variant, "%9[a-z]_top%u%n", how, &args->members, &end) != 2 || end == 0 || variant[end] != '\0')
        return FALSE;
    args->multicast = strcmp(how, "multicast") == 0;
    return args->multicast || strcmp(how, "unicast") == 0;
}

static gboolean exchange_run(BenchWorld *world, GError **error)
{
    guint32 n;
    SimTime last_ps = 0;
    const BenchRequest *request = world->request;
    g_autofree ExchangeArgs *of_gpu = NULL;
    ExchangeArgs args = {.slice = world->bytes / EXCHANGE_SETS / LINE_BYTES * LINE_BYTES};
    if (!bench_parse_count(world, &n, error))
        return FALSE;
    if (!exchange_parse(request->variant, &args))
        return bench_refuse_variant(world, error);
    if (args.members == 0 || args.members >= n || args.members > EXCHANGE_MEMBERS_MAX || request->ctas % 2) {
        g_set_error(error, BENCH_ERROR, BENCH_ERROR_REQUEST,
                    "exchange: %u of %u GPUs by %u CTAs; right are 1 to %u, "
                    "fewer than there are, and an even number of CTAs",
                    args.members, n, request->ctas, EXCHANGE_MEMBERS_MAX);
        return FALSE;
    }
    of_gpu = g_new(ExchangeArgs, n);
    for (guint32 g = 0; g < n; g++) { /* all of it before the first launch: a table may have no room */
        for (guint32 s = 0; s < EXCHANGE_SETS; s++)
            if (!exchange_open(world, g, n, s, &args, error))
                return FALSE;
        of_gpu[g] = args;
    }
    for (guint32 g = 0; g < n; g++)
        bench_launch(world, g, request->gpus, exchange_program, &of_gpu[g], sizeof args, request->ctas,
                     request->threads, world->bytes);
    if (!bench_go(world, error))
        return FALSE;
    for (guint i = 0; i < world->flows->len; i++)
        last_ps = MAX(last_ps, ((BenchFlow *)g_ptr_array_index(world->flows, i))->end_ps);
    bench_add_row(world, request->gpus, EXCHANGE_SETS * args.slice, 1, last_ps, "GB/s");
    return TRUE;
}

static const char *exchange_packets(const BenchRequest *request)
{
    return g_str_has_prefix(request->variant, "unicast")
               ? "requests of loads queue behind stores, of which flows know nothing"
               : NULL;
}

const BenchTest bench_exchange = {
    "exchange",
    "multicast_top8, unicast_top8, multicast_top2, ...",
    "tokens to k GPUs each, and sums of k answers back, at once, as in a mixture of experts: tokens of one GPU",
    {"exchange", "unicast_top2", "8", 32, 512, 1u << 20},
    exchange_run,
    NULL,
    exchange_packets};
