/* Memory and multicast teams by number, and their contents. */
#include <gio/gio.h>
#include <string.h>

#include "lib/internal.h"

#define VA_ALIGNMENT (2u << 20)
#define GRAIN 256u

static guint64 whole_grains(guint64 bytes) { return (bytes + GRAIN - 1) / GRAIN * GRAIN; }

static LibMemory *memory_entry(FoSim *sim, FoSimMemory memory)
{
    return memory >= 1 && memory <= sim->memory->len ? &g_array_index(sim->memory, LibMemory, memory - 1) : NULL;
}

const LibMemory *memory_at(FoSim *sim, FoSimMemory memory, gboolean team, guint64 offset, guint64 bytes,
                           FoSimError *error)
{
    const LibMemory *entry = memory_entry(sim, memory);
    if (!entry)
        *error = lib_fail(sim, FO_SIM_ERROR_ARGUMENT,
                          "memory %u: no such memory; fo_sim_memory() and fo_sim_team() give numbers from 1 to %u here",
                          memory, sim->memory->len);
    else if (team != (entry->object != NULL))
        *error = lib_fail(sim, FO_SIM_ERROR_ARGUMENT, "memory %u is %s, and the operation is one on %s", memory,
                          team ? "that of a GPU" : "a multicast object",
                          team ? "a multicast object" : "memory of a GPU");
    else if (bytes == 0 || bytes > entry->bytes || offset > entry->bytes - bytes)
        *error = lib_fail(sim, FO_SIM_ERROR_ARGUMENT,
                          "memory %u: %" G_GUINT64_FORMAT " bytes at offset %" G_GUINT64_FORMAT
                          " are not in it; it has %" G_GUINT64_FORMAT,
                          memory, bytes, offset, entry->bytes);
    return *error == FO_SIM_OK ? entry : NULL;
}

/* The number of new memory; 0, with *error: none. */
static FoSimMemory memory_add(FoSim *sim, guint32 gpu, guint64 bytes, GError **error)
{
    LibMemory entry = {.bytes = bytes};
    entry.region = memory_region_new(sim->fabric->memory, (guint16)gpu, whole_grains(bytes), error);
    if (!entry.region)
        return 0;
    memory_set_cached(sim->fabric->memory, entry.region, bytes <= sim->spec.gpu.l2_bytes);
    entry.va = vas_choose(sim->vas, entry.region->bytes, VA_ALIGNMENT);
    VasMapping *mapping = vas_map(sim->vas, entry.va, entry.region->bytes, entry.region, NULL, 0);
    for (guint g = 0; g < fo_sim_gpus(sim); g++)
        vas_set_access(mapping, (guint16)g, VAS_ACCESS_READWRITE);
    g_array_append_val(sim->memory, entry);
    return sim->memory->len;
}

FoSimMemory memory_scratch(FoSim *sim, guint32 gpu, guint64 bytes)
{
    FoSimMemory *scratch = &g_array_index(sim->scratch, FoSimMemory, gpu);
    if (*scratch && memory_entry(sim, *scratch)->bytes >= bytes)
        return *scratch;
    const FoSimMemory made = memory_add(sim, gpu, bytes, NULL);
    if (made)
        *scratch = made;
    return made;
}

static gboolean memory_size(FoSim *sim, guint64 bytes, FoSimError *error)
{
    if (bytes == 0 || bytes > LIB_BYTES_MAX)
        *error = lib_fail(sim, FO_SIM_ERROR_ARGUMENT,
                          "%" G_GUINT64_FORMAT " bytes of memory; 1 to %" G_GUINT64_FORMAT " are right", bytes,
                          (guint64)LIB_BYTES_MAX);
    return *error == FO_SIM_OK;
}

FoSimError fo_sim_memory(FoSim *sim, uint32_t gpu, uint64_t bytes, FoSimMemory *memory)
{
    FoSimError error;
    GError *why = NULL;
    if (memory)
        *memory = 0;
    if (!lib_usable(sim, &error) || !lib_gpu(sim, "gpu", gpu, &error) || !memory_size(sim, bytes, &error))
        return error;
    if (!memory)
        return lib_fail(sim, FO_SIM_ERROR_ARGUMENT, "memory: NULL is no place for its number");
    *memory = memory_add(sim, gpu, bytes, &why);
    return *memory ? FO_SIM_OK : lib_fail_with(sim, FO_SIM_ERROR_FULL, why);
}

/* ---- teams */

static void memory_drop(FoSim *sim, LibMemory *entry)
{
    vas_unmap(sim->vas, entry->va, entry->region ? entry->region->bytes : entry->object->bytes);
    if (entry->object) {
        fabric_mc_detach(sim->fabric, entry->object);
        g_ptr_array_index(sim->fabric->objects, entry->object->id) = NULL;
        mcobject_free(entry->object);
    } else
        memory_region_unref(sim->fabric->memory, entry->region);
}

static gboolean team_attach(FoSim *sim, LibMemory *entry, const FoSimMemory *member, GError **error)
{
    McObject *object = entry->object;
    for (guint i = 0; i < object->n_gpus; i++) {
        MemRegion *region = memory_entry(sim, member[i])->region;
        mcobject_add_member(object, region->gpu);
        mcobject_bind(object, region->gpu, 0, region, 0, object->bytes);
    }
    if (!fabric_mc_attach(sim->fabric, object, error)) {
        g_ptr_array_index(sim->fabric->objects, object->id) = NULL;
        mcobject_free(object);
        return FALSE;
    }
    entry->va = vas_choose(sim->vas, object->bytes, VA_ALIGNMENT);
    VasMapping *mapping = vas_map(sim->vas, entry->va, object->bytes, NULL, object, 0);
    for (guint i = 0; i < object->n_gpus; i++)
        vas_set_access(mapping, memory_entry(sim, member[i])->region->gpu, VAS_ACCESS_READWRITE);
    return TRUE;
}

FoSimError fo_sim_team(FoSim *sim, const uint32_t *gpus, uint32_t n, uint64_t bytes, FoSimMemory *team,
                       FoSimMemory *member)
{
    FoSimError error;
    GError *why = NULL;
    if (team)
        *team = 0;
    if (!lib_usable(sim, &error) || !lib_gpus(sim, "team", gpus, n, &error) || !memory_size(sim, bytes, &error))
        return error;
    if (!team)
        return lib_fail(sim, FO_SIM_ERROR_ARGUMENT, "team: NULL is no place for its number");
    const guint before = sim->memory->len;
    g_autofree FoSimMemory *made = g_new0(FoSimMemory, n);
    gboolean good = TRUE;
    for (uint32_t i = 0; good && i < n; i++)
        good = (made[i] = memory_add(sim, gpus[i], bytes, &why)) != 0;
    LibMemory entry = {.bytes = bytes};
    if (good) {
        entry.object = fabric_mc_object(sim->fabric, n, whole_grains(bytes));
        good = team_attach(sim, &entry, made, &why);
    }
    if (!good) {
        while (sim->memory->len > before) {
            memory_drop(sim, &g_array_index(sim->memory, LibMemory, sim->memory->len - 1));
            g_array_set_size(sim->memory, sim->memory->len - 1);
        }
        return lib_fail_with(sim, FO_SIM_ERROR_FULL, why);
    }
    g_array_append_val(sim->memory, entry);
    *team = sim->memory->len;
    if (member)
        memcpy(member, made, n * sizeof *member);
    return FO_SIM_OK;
}

/* Teams first, which hold their members' memory. */
void memory_close(FoSim *sim)
{
    for (int teams = 1; teams >= 0; teams--)
        for (guint i = 0; i < sim->memory->len; i++) {
            LibMemory *entry = &g_array_index(sim->memory, LibMemory, i);
            if ((entry->object != NULL) == teams && (entry->object || entry->region)) {
                memory_drop(sim, entry);
                *entry = (LibMemory){0};
            }
        }
    vas_free(sim->vas);
}

/* ---- contents */

static guint8 *memory_host(FoSim *sim, FoSimMemory memory, guint64 offset, const void *data, gsize bytes,
                           FoSimError *error)
{
    if (!lib_usable(sim, error))
        return NULL;
    const LibMemory *entry = memory_at(sim, memory, FALSE, offset, bytes, error);
    if (!entry)
        return NULL;
    if (!data || !memory_keeps_bytes(sim->fabric->memory)) {
        *error = lib_fail(sim, FO_SIM_ERROR_ARGUMENT,
                          !data ? "data: NULL is no place for bytes"
                                : "memory has no contents here; open the simulator with keep_bytes");
        return NULL;
    }
    return memory_bytes(entry->region, offset);
}

FoSimError fo_sim_write(FoSim *sim, FoSimMemory memory, uint64_t offset, const void *data, size_t bytes)
{
    FoSimError error;
    guint8 *host = memory_host(sim, memory, offset, data, bytes, &error);
    if (host)
        memcpy(host, data, bytes);
    return error;
}

FoSimError fo_sim_read(FoSim *sim, FoSimMemory memory, uint64_t offset, void *data, size_t bytes)
{
    FoSimError error;
    const guint8 *host = memory_host(sim, memory, offset, data, bytes, &error);
    if (host)
        memcpy(data, host, bytes);
    return error;
}
