/* What tests of kernels on logical endpoints share: a system whose first GPUs have an endpoint each and one for all of
 * them, the kernels of fabric_operations.h, and what they found. */
#ifndef TESTS_DEVICE_KERNEL_FABRIC_KERNELS_H
#define TESTS_DEVICE_KERNEL_FABRIC_KERNELS_H

#include "tests/device/kernel/kernel_world.h"
#include "tests/device/kernel/fabric_operations.h"

#include "model/memory/endpoint.h"

#define FABRIC_BYTES (1u << 20) /* of each GPU's memory, all of it behind its endpoint and behind the one for all */
#define FABRIC_UNICAST 0x100u   /* + GPU */
#define FABRIC_ALL 0x200u

typedef struct {
    ParamSet *set;
    FabricSpec spec;
    Sim *sim;
    Fabric *fabric;
    Vas *vas;
    guint n;
    MemRegion *region[72];
    guint64 va[72];
    McObject *one[72], *all;
    PtxModule *module;
    PtxImage *image;
} FabricWorld;

/* `sets`: keys and values, NULL after the last. */
static inline FabricWorld *fabric_world_new(const char *preset, guint n, SimSpec sim, const char *const *sets)
{
    FabricWorld *w = g_new0(FabricWorld, 1);
    GError *error = NULL;
    w->n = n;
    w->set = param_set_new();
    device_params(w->set, &w->spec);
    assert_true(preset_load(w->set, preset, NULL));
    for (guint s = 0; sets && sets[s]; s++)
        if (!param_set_text(w->set, sets[s], &error))
            fail_msg("%s", error->message);
    w->sim = sim_new(&sim, NULL);
    w->fabric = fabric_new(w->sim, &w->spec, TRUE, NULL);
    const guint16 gpus = (guint16)w->spec.system.gpus;
    w->vas = vas_new(w->fabric->memory, gpus);
    w->all = fabric_mc_object(w->fabric, n, FABRIC_BYTES);
    EndpointTable *table = vas_endpoints_make(w->vas, 0);
    endpoint_reserve(table, FABRIC_UNICAST, n);
    endpoint_reserve(table, FABRIC_ALL, 1);
    for (guint16 g = 0; g < n; g++) {
        w->region[g] = memory_region_new(w->fabric->memory, g, FABRIC_BYTES, NULL);
        w->va[g] = vas_choose(w->vas, FABRIC_BYTES, 1u << 21);
        vas_set_access(vas_map(w->vas, w->va[g], FABRIC_BYTES, w->region[g], NULL, 0), g, VAS_ACCESS_READWRITE);
        w->one[g] = mcobject_new(w->fabric->memory, 1000u + g, 1, FABRIC_BYTES, gpus);
        mcobject_add_member(w->one[g], g);
        mcobject_add_member(w->all, g);
        assert_true(mcobject_bind(w->one[g], g, 0, w->region[g], 0, FABRIC_BYTES));
        assert_true(mcobject_bind(w->all, g, 0, w->region[g], 0, FABRIC_BYTES));
        assert_true(endpoint_set(table, FABRIC_UNICAST + g, w->one[g], ENDPOINT_COUNTED | ENDPOINT_READY));
    }
    assert_true(fabric_mc_attach(w->fabric, w->all, NULL));
    assert_true(endpoint_set(table, FABRIC_ALL, w->all, ENDPOINT_MULTICAST | ENDPOINT_COUNTED | ENDPOINT_READY));
    char *text = fabric_text();
    w->module = ptx_module_read("fabric.ptx", text, strlen(text), &error);
    free(text);
    if (!w->module)
        fail_msg("%s", error->message);
    w->image = ptx_image_new(w->module, 0, 0);
    return w;
}

static inline void fabric_world_free(FabricWorld *w)
{
    ptx_image_free(w->image);
    ptx_module_free(w->module);
    vas_free(w->vas);
    fabric_mc_detach(w->fabric, w->all);
    mcobject_free(w->all);
    for (guint g = 0; g < w->n; g++)
        mcobject_free(w->one[g]);
    fabric_free(w->fabric);
    sim_free(w->sim);
    param_set_free(w->set);
    g_free(w);
}

static inline guint32 *fabric_words(const FabricWorld *w, guint gpu, guint64 offset)
{
    return (guint32 *)(void *)(w->region[gpu]->host + offset);
}

static inline void fabric_start(FabricWorld *w, guint gpu, const char *kernel, const FabricArgs *args, Ended *ended)
{
    GError *error = NULL;
    const KernelSpec spec = {.image = w->image,
                             .entry = ptx_module_entry(w->module, kernel),
                             .grid = {1, 1, 1},
                             .block = {32, 1, 1},
                             .param = args};
    assert_non_null(spec.entry);
    if (!kernel_launch(w->fabric, (guint16)gpu, w->vas, &spec, 0, note_kernel, ended, &error))
        fail_msg("%s", error->message);
}

#endif
