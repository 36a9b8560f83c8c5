/* Copies by a copy engine, timed as their stream sees them. */
#include <string.h>

#include "bench/world.h"
#include "model/gpu/copy_engine.h"

static void copy_on_done(void *user, FaultKind fault, SimTime now_ps)
{
    g_assert(fault == FAULT_NONE);
    ((BenchFlow *)user)->end_ps = now_ps;
}

static gboolean copy_run(BenchWorld *world, GError **error)
{
    guint32 from, to;
    BenchFlow flow = {0};
    const BenchRequest *request = world->request;
    gboolean pull = strcmp(request->variant, "pull") == 0;
    if (!bench_parse_pair(world, &from, &to, error))
        return FALSE;
    if (!pull && strcmp(request->variant, "push") != 0)
        return bench_refuse_variant(world, error);
    VasMapping *mine = vas_find(world->vas, bench_memory(world, from, world->bytes, request->bytes));
    CopyEnd near = {.place = COPY_REGION, .region = mine->region};
    VasMapping *theirs = vas_find(world->vas, bench_memory(world, to, world->bytes, request->bytes));
    CopyEnd far = {.place = COPY_REGION, .region = theirs->region};
    copy_start(world->fabric, (guint16)from, pull ? &near : &far, pull ? &far : &near, world->bytes, request->test,
               copy_on_done, &flow);
    if (!bench_go(world, error))
        return FALSE;
    bench_add_row(world, request->gpus, world->bytes, 1, flow.end_ps, "GB/s");
    return TRUE;
}

static guint64 copy_crossings(const BenchSetup *setup, const BenchRequest *request)
{
    return request->bytes / setup->spec->gpu.engine_packet_bytes * 4;
}

const BenchTest bench_copy_engine = {"copy_engine_bw",
                                     "push, pull",
                                     "one copy by a copy engine, start-up included",
                                     {"copy_engine_bw", "push", "0>1", 0, 0, 4u << 20},
                                     copy_run,
                                     copy_crossings,
                                     NULL};
