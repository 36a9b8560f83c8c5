/* A preset's fabric with a group of its GPUs, for tests of what runs there. */
#ifndef TESTS_COLL_COLL_MACHINE_H
#define TESTS_COLL_COLL_MACHINE_H

#include "tests/test.h"

#include "coll/coll.h"
#include "device/launch_time.h"
#include "model/presets/preset.h"

typedef struct {
    ParamSet *set;
    FabricSpec *spec;
    Sim *sim;
    Fabric *fabric;
    CollGroup *group;
} Machine;

static inline Machine machine_open(const char *preset, guint32 gpus, gboolean keep_bytes)
{
    Machine machine = {0};
    const SimSpec sim = {.seed = 1};
    machine.spec = g_new0(FabricSpec, 1);
    machine.set = param_set_new();
    device_params(machine.set, machine.spec);
    assert_true(preset_load(machine.set, preset, NULL));
    machine.sim = sim_new(&sim, NULL);
    machine.fabric = fabric_new(machine.sim, machine.spec, keep_bytes, NULL);
    machine.group = coll_group_new(machine.fabric, NULL, gpus, NULL);
    assert_non_null(machine.group);
    return machine;
}

static inline void machine_close(Machine *machine)
{
    coll_group_free(machine->group);
    fabric_free(machine->fabric);
    sim_free(machine->sim);
    param_set_free(machine->set);
    g_free(machine->spec);
}

#endif
