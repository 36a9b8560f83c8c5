/* What tests of device programs share: a DGX with a team of GPUs 0 to 3, each with 8 MiB that all may touch, at
 * addresses of their own and at a multicast address; and running a program on GPU 0. */
#ifndef TESTS_DEVICE_DEVICE_WORLD_H
#define TESTS_DEVICE_DEVICE_WORLD_H

#include "tests/test.h"

#include "device/device.h"
#include "device/launch_time.h"
#include "model/presets/preset.h"

typedef struct {
    ParamSet *set;
    FabricSpec spec;
    Sim *sim;
    Fabric *fabric;
    Vas *vas;
    MemRegion *region[4];
    FoAddress va[4]; /* 8 MiB on GPUs 0 to 3, readable and writable by all */
    McObject *object;
    FoAddress mc_va;
} World;

#define WORLD_BYTES (8u << 20)

static inline void world_map(World *world, FoAddress va, guint64 bytes, MemRegion *region, McObject *object)
{
    VasMapping *mapping = vas_map(world->vas, va, bytes, region, object, 0);
    for (guint16 g = 0; g < 4; g++)
        vas_set_access(mapping, g, VAS_ACCESS_READWRITE);
}

/* bound_bytes: how much of the multicast window has memory on every GPU. */
static inline World *world_new_on(guint64 bound_bytes, SimSpec sim)
{
    World *world = g_new0(World, 1);
    world->set = param_set_new();
    device_params(world->set, &world->spec);
    assert_true(preset_load(world->set, "dgx-h100", NULL));
    world->sim = sim_new(&sim, NULL);
    world->fabric = fabric_new(world->sim, &world->spec, TRUE, NULL);
    world->vas = vas_new(world->fabric->memory, (guint32)world->fabric->spec.system.gpus);
    world->object = fabric_mc_object(world->fabric, 4, WORLD_BYTES);
    for (guint16 g = 0; g < 4; g++) {
        world->region[g] = memory_region_new(world->fabric->memory, g, WORLD_BYTES, NULL);
        world->va[g] = vas_choose(world->vas, WORLD_BYTES, 1u << 21);
        world_map(world, world->va[g], WORLD_BYTES, world->region[g], NULL);
        mcobject_add_member(world->object, g);
        assert_true(mcobject_bind(world->object, g, 0, world->region[g], 0, bound_bytes));
    }
    assert_true(fabric_mc_attach(world->fabric, world->object, NULL));
    world->mc_va = vas_choose(world->vas, WORLD_BYTES, 1u << 21);
    world_map(world, world->mc_va, WORLD_BYTES, NULL, world->object);
    return world;
}

static inline World *world_new(guint64 bound_bytes)
{
    const SimSpec sim = {.seed = 1};
    return world_new_on(bound_bytes, sim);
}

static inline void world_free(World *world)
{
    assert_true(fabric_is_quiet(world->fabric));
    vas_free(world->vas);
    fabric_mc_detach(world->fabric, world->object);
    mcobject_free(world->object);
    fabric_free(world->fabric);
    sim_free(world->sim);
    param_set_free(world->set);
    g_free(world);
}

static inline void note_end(const DeviceLaunch *launch, void *user)
{
    *(SimTime *)user = launch->end_ps - launch->start_ps;
}

/* Runs a program on GPU 0 to its end; how long it took. */
static inline SimTime world_run(World *world, FoProgram program, const void *args, gsize bytes, guint ctas,
                                guint threads)
{
    const FoKernel kernel = {"test", program, args, bytes, ctas, threads};
    SimTime took_ps = 0;
    assert_non_null(device_launch(world->fabric, 0, world->vas, &kernel, note_end, &took_ps, NULL));
    assert_int_equal(sim_run(world->sim, SIMTIME_NEVER), SIM_IDLE);
    assert_true(took_ps > 0);
    return took_ps;
}

static inline guint32 word_of(const World *world, guint gpu, guint64 index)
{
    return ((const guint32 *)(const void *)world->region[gpu]->host)[index];
}

#endif
