#include "bench/world.h"

#include <stdio.h>
#include <string.h>

#include "model/fabric/waves.h"

#define BENCH_PAGE (2u << 20)

G_DEFINE_QUARK(bench - error - quark, bench_error)

BenchWorld *bench_world_new(const BenchSetup *setup, const BenchTest *test, const BenchRequest *request, guint64 bytes,
                            gboolean flows, GError **error)
{
    SimSpec sim_spec = {
        .seed = setup->seed, .calendar = setup->calendar, .engine = setup->engine, .vcd_path = setup->vcd_path};
    Sim *sim = sim_new(&sim_spec, error);
    if (!sim)
        return NULL;
    Fabric *fabric = fabric_new(sim, setup->spec, FALSE, error);
    if (!fabric) {
        sim_free(sim);
        return NULL;
    }
    fabric_trace(fabric);
    BenchWorld *world = g_new0(BenchWorld, 1);
    world->test = test;
    world->request = request;
    world->bytes = bytes;
    world->sim = sim;
    world->fabric = fabric;
    world->run = g_strdup_printf("%s %s %s %" G_GUINT64_FORMAT " B %u x %u", request->test, request->variant,
                                 request->gpus, bytes, request->ctas, request->threads);
    RecordingSpec record = setup->record ? *setup->record : (RecordingSpec){0};
    record.where = record.where && !flows;
    record.film = record.film && !flows;
    world->recording = recording_new(fabric, &record, world->run);
    world->vas = vas_new(fabric->memory, (guint32)fabric->spec.system.gpus);
    world->regions = g_ptr_array_new();
    world->objects = g_ptr_array_new();
    world->flows = g_ptr_array_new_with_free_func(g_free);
    world->rows = g_array_new(FALSE, TRUE, sizeof(BenchRow));
    if (flows)
        device_flow_begin(fabric);
    return world;
}

void bench_world_free(BenchWorld *world)
{
    recording_end(world->recording, NULL);
    recording_free(world->recording);
    g_free(world->run);
    if (world->fabric->flow)
        device_flow_end(world->fabric);
    sim_free(world->sim); /* first: abandoned CTAs still point into the fabric */
    vas_free(world->vas);
    for (guint i = 0; i < world->objects->len; i++) {
        McObject *object = g_ptr_array_index(world->objects, i);
        fabric_mc_detach(world->fabric, object);
        mcobject_free(object);
    }
    for (guint i = 0; i < world->regions->len; i++)
        memory_region_unref(world->fabric->memory, g_ptr_array_index(world->regions, i));
    fabric_free(world->fabric);
    g_ptr_array_free(world->regions, TRUE);
    g_ptr_array_free(world->objects, TRUE);
    g_ptr_array_free(world->flows, TRUE);
    if (world->rows)
        g_array_free(world->rows, TRUE);
    g_free(world);
}

/* ---- memory */

static FoAddress bench_map(BenchWorld *world, guint64 bytes, MemRegion *region, McObject *object)
{
    FoAddress va = vas_choose(world->vas, bytes, BENCH_PAGE);
    VasMapping *mapping = vas_map(world->vas, va, bytes, region, object, 0);
    for (guint64 g = 0; g < world->fabric->spec.system.gpus; g++)
        vas_set_access(mapping, (guint16)g, VAS_ACCESS_READWRITE);
    return va;
}

static MemRegion *bench_region(BenchWorld *world, guint32 gpu, guint64 bytes, guint64 footprint, gboolean control)
{
    GError *error = NULL;
    Memory *memory = world->fabric->memory;
    MemRegion *region = control ? memory_control_region_new(memory, (guint16)gpu, bytes, &error)
                                : memory_region_new(memory, (guint16)gpu, bytes, &error);
    if (!region)
        g_error("%s", error->message);
    memory_set_cached(memory, region, footprint <= world->fabric->spec.gpu.l2_bytes);
    g_ptr_array_add(world->regions, region);
    return region;
}

static guint64 bench_pages(guint64 bytes) { return (bytes / BENCH_PAGE + 1) * BENCH_PAGE; }

FoAddress bench_memory(BenchWorld *world, guint32 gpu, guint64 bytes, guint64 footprint)
{
    bytes = bench_pages(bytes);
    return bench_map(world, bytes, bench_region(world, gpu, bytes, footprint, FALSE), NULL);
}

FoAddress bench_flags(BenchWorld *world, guint32 gpu, guint64 bytes)
{
    bytes = bench_pages(bytes);
    return bench_map(world, bytes, bench_region(world, gpu, bytes, 0, TRUE), NULL);
}

static FoAddress bench_object(BenchWorld *world, const guint16 *member, guint32 n, guint64 bytes, guint64 footprint,
                              gboolean flags, FoAddress *own, GError **error)
{
    bytes = bench_pages(bytes);
    McObject *object = fabric_mc_object(world->fabric, n, bytes);
    g_ptr_array_add(world->objects, object);
    for (guint32 m = 0; m < n; m++) {
        MemRegion *region = bench_region(world, member[m], bytes, footprint, flags);
        own[m] = bench_map(world, bytes, region, NULL);
        mcobject_add_member(object, member[m]);
        mcobject_bind(object, member[m], 0, region, 0, bytes);
    }
    g_autoptr(GError) full = NULL;
    if (!fabric_mc_attach(world->fabric, object, &full)) {
        g_set_error(error, BENCH_ERROR, BENCH_ERROR_SYSTEM,
                    "the switches' multicast tables hold no team of %u GPUs: %s", n, full->message);
        return 0;
    }
    return bench_map(world, bytes, NULL, object);
}

FoAddress bench_team(BenchWorld *world, const guint16 *member, guint32 n, guint64 bytes, guint64 footprint,
                     FoAddress *own, GError **error)
{
    return bench_object(world, member, n, bytes, footprint, FALSE, own, error);
}

FoAddress bench_multicast(BenchWorld *world, guint32 n, guint64 bytes, guint64 footprint, gboolean flags,
                          FoAddress *own, GError **error)
{
    g_autofree guint16 *member = g_new(guint16, n);
    for (guint32 g = 0; g < n; g++)
        member[g] = (guint16)g;
    return bench_object(world, member, n, bytes, footprint, flags, own, error);
}

/* ---- kernels */

static void bench_on_done(const DeviceLaunch *launch, void *user)
{
    BenchFlow *flow = user;
    flow->end_ps = launch->end_ps;
}

void bench_launch(BenchWorld *world, guint32 gpu, const char *gpus, FoProgram program, const void *args,
                  size_t args_bytes, guint32 ctas, guint32 threads, guint64 amount)
{
    GError *error = NULL;
    BenchFlow *flow = g_new0(BenchFlow, 1);
    flow->begin_ps = sim_now_ps(world->sim);
    flow->amount = amount;
    flow->ctas = ctas;
    g_strlcpy(flow->gpus, gpus, sizeof flow->gpus);
    g_ptr_array_add(world->flows, flow);
    FoKernel kernel = {.name = world->request->test,
                       .program = program,
                       .args = args,
                       .args_bytes = args_bytes,
                       .ctas = ctas,
                       .threads = threads};
    if (!device_launch(world->fabric, (guint16)gpu, world->vas, &kernel, bench_on_done, flow, &error))
        g_error("%s", error->message); /* requests were checked */
}

/* "gpu1, gpu2": those that dropped what came for them. Switches answer for a GPU that is silent, after a time-out, and
 * a kernel ends well then: but what was timed is the time-out. NULL: none. */
static char *bench_silent(const Fabric *fabric)
{
    GString *text = g_string_new(NULL);
    for (guint64 g = 0; g < fabric->spec.system.gpus; g++)
        if (fabric->gpu[g].dropped)
            g_string_append_printf(text, "%sgpu%" G_GUINT64_FORMAT, text->len ? ", " : "", g);
    return g_string_free(text, text->len == 0);
}

gboolean bench_go(BenchWorld *world, GError **error)
{
    SimStatus status = sim_run(world->sim, SIMTIME_NEVER);
    g_autofree char *silent = bench_silent(world->fabric);
    if (status != SIM_STUCK && !silent)
        return TRUE;
    g_autofree char *waiters = sim_waiters_text(world->sim);
    g_set_error(error, BENCH_ERROR, BENCH_ERROR_STUCK, "%s: %s%s%s%s%s", world->request->test, silent ? silent : "",
                silent ? " answered nothing (fault.gpu_silent)" : "", silent && status == SIM_STUCK ? "; " : "",
                status == SIM_STUCK ? "the fabric is stuck, who waits:" : "", status == SIM_STUCK ? waiters : "");
    return FALSE;
}

BenchRow *bench_add_row(BenchWorld *world, const char *gpus, guint64 amount, guint64 repeats, SimTime time_ps,
                        const char *unit)
{
    BenchRow row = {
        .amount = amount, .repeats = repeats, .time_ps = MAX(time_ps, 1), .unit = unit, .ctas = world->request->ctas};
    g_strlcpy(row.test, world->request->test, sizeof row.test);
    g_strlcpy(row.gpus, gpus, sizeof row.gpus);
    g_array_append_val(world->rows, row);
    return &g_array_index(world->rows, BenchRow, world->rows->len - 1);
}

void bench_add_flows(BenchWorld *world)
{
    for (guint i = 0; i < world->flows->len; i++) {
        const BenchFlow *flow = g_ptr_array_index(world->flows, i);
        if (flow->amount)
            bench_add_row(world, flow->gpus, flow->amount, 1, flow->end_ps - flow->begin_ps, "GB/s")->ctas = flow->ctas;
    }
}

/* ---- loops */

LoopPart *bench_part(LoopSpec *spec, UopKind kind, guint32 reg, FoAddress base)
{
    g_assert(spec->n_parts < LOOP_PARTS_MAX);
    LoopPart *part = &spec->part[spec->n_parts++];
    *part = (LoopPart){
        .kind = (guint8)kind, .reg = (guint8)reg, .with = LOOP_NO_REG, .base = base, .type = FO_F32, .op = FO_ADD};
    return part;
}

void bench_loop(FoCta *cta, const LoopSpec *spec)
{
    DeviceLoopSpec *shared = g_new0(DeviceLoopSpec, 1);
    shared->spec = *spec;
    shared->refs = 1;
    shared->constant = TRUE;
    device_push_loops(cta, shared);
}

/* ---- requests */

static gboolean bench_refuse_gpus(const BenchWorld *world, GError **error)
{
    g_set_error(error, BENCH_ERROR, BENCH_ERROR_REQUEST,
                "%s: GPUs '%s' cannot be run on a system of %" G_GUINT64_FORMAT " GPUs", world->request->test,
                world->request->gpus, world->fabric->spec.system.gpus);
    return FALSE;
}

gboolean bench_parse_pair(BenchWorld *world, guint32 *from, guint32 *to, GError **error)
{
    int end = 0;
    guint64 gpus = world->fabric->spec.system.gpus;
    if (sscanf(world->request->gpus, "%u>%u%n", from, to, &end) != 2 || world->request->gpus[end] != '\0' ||
        *from >= gpus || *to >= gpus)
        return bench_refuse_gpus(world, error);
    return TRUE;
}

gboolean bench_parse_count(BenchWorld *world, guint32 *n, GError **error)
{
    int end = 0;
    if (sscanf(world->request->gpus, "%u%n", n, &end) != 1 || world->request->gpus[end] != '\0' || *n < 2 ||
        *n > world->fabric->spec.system.gpus)
        return bench_refuse_gpus(world, error);
    return TRUE;
}

gboolean bench_refuse_variant(const BenchWorld *world, GError **error)
{
    g_set_error(error, BENCH_ERROR, BENCH_ERROR_REQUEST, "%s: no variant '%s'; there is %s", world->request->test,
                world->request->variant, world->test->variants);
    return FALSE;
}
