#include "model/fabric/fabric.h"
#include "model/link/down.h"

#include <gio/gio.h>
#include <string.h>

#include "model/fabric/switches.h"
#include "model/flow/rates.h"
#include "model/gpu/copy_engine.h"
#include "model/gpu/fabric_engine.h"
#include "model/fastpath/fastpath.h"
#include "model/parallel/parallel.h"
#include "sim/engine/domain.h"

/* The fast engine takes the ports over; a pair of links between two domains is a boundary. */
static void fabric_speed_up(Fabric *fabric)
{
    for (guint32 g = 0; g < fabric->spec.system.gpus; g++)
        for (guint32 l = 0; l < fabric->links; l++) {
            Switch *sw = switches_of(fabric, g, l);
            if (!sw)
                continue;
            fast_gpu_attach(&fabric->gpu[g], l);
            fast_switch_attach(sw, switches_port(sw, g, l));
            if (fabric->parallel)
                parallel_take(fabric->parallel, sw->id, &fabric->gpu[g].up[l], &fabric->gpu[g].down[l]);
        }
    for (guint32 t = 0; t < fabric->n_trunks; t++) {
        const Trunk *trunk = &g_array_index(fabric->topology->trunks, Trunk, t);
        fast_switch_attach(&fabric->sw[trunk->leaf], fabric->trunk_port[2 * t]);
        fast_switch_attach(&fabric->sw[trunk->spine], fabric->trunk_port[2 * t + 1]);
        for (guint32 end = 0; fabric->parallel && end < 2; end++)
            parallel_take_trunk(fabric->parallel, &fabric->trunk[2 * t + end]);
    }
}

static void fabric_on_polled(void *user, MemRegion *region)
{
    Fabric *fabric = user;
    if (region->gpu != MEMORY_HOST)
        fast_gpu_on_polled(&fabric->gpu[region->gpu]);
}

/* Both ways of a link of a GPU; one that is wired to no switch is down. */
static void fabric_connect(Fabric *fabric, guint16 g, guint32 l)
{
    const FabricSpec *spec = &fabric->spec;
    Gpu *gpu = &fabric->gpu[g];
    Switch *sw = switches_of(fabric, g, l);
    Link *up = &gpu->up[l], *down = &gpu->down[l];
    g_autofree char *up_path = g_strdup_printf("gpu%u.link%u.up", g, l);
    g_autofree char *down_path = g_strdup_printf("gpu%u.link%u.down", g, l);
    guint32 number = (l * (guint32)spec->system.gpus + g) * 2; /* a plane after the other */
    link_init(up, fabric->sim, &spec->link, spec->link.credits_switch_flits, number, up_path);
    link_init(down, sw ? sw->sim : fabric->sim, &spec->link, spec->link.credits_gpu_flits, number + 1, down_path);
    link_set_policies(up, &fabric->policies);
    link_set_policies(down, &fabric->policies);
    /* constant stages before and behind a port are part of the flight, so that they cost no event */
    link_set_delay(up, VC_CREQ, spec->link.flight_ps + spec->gpu.out_ps + spec->sw.latency_ps);
    link_set_delay(up, VC_RSP, fabric_answer_delay_ps(spec, &spec->gpu));
    link_set_delay(down, VC_RSP, spec->link.flight_ps + spec->gpu.in_ps);
    up->source_node = gpu;
    up->source_port = l;
    up->drained = gpu_drained;
    stat_add(fabric->stats, up_path, link_stats, up);
    stat_add(fabric->stats, down_path, link_stats, down);
    sim_add_waiter(fabric->sim, link_waiter_text, up);
    sim_add_waiter(fabric->sim, link_waiter_text, down);
    gpu_take(gpu, down, l, sw ? sw->requests : NULL);
    if (!sw) {
        link_set_state(up, LINK_DOWN);
        link_set_state(down, LINK_DOWN);
        return;
    }
    switch_take(sw, up, switches_port(sw, g, l));
    switch_send(sw, down, switches_port(sw, g, l));
}

static void fabric_build(Fabric *fabric)
{
    const FabricSpec *spec = &fabric->spec;
    guint32 gpus = (guint32)spec->system.gpus;
    fabric->links = fabric->topology->links;
    fabric->gpu = g_new0(Gpu, gpus);
    fabric->txns = g_new0(TxnPool, gpus);
    fabric->link = g_new0(Link, 2 * gpus * fabric->links);
    switches_build(fabric);
    for (guint32 g = 0; g < gpus; g++) {
        txn_pool_init(&fabric->txns[g]);
        gpu_init(&fabric->gpu[g], fabric, (guint16)g, fabric->links);
        stat_add(fabric->stats, fabric->gpu[g].path, gpu_stats, &fabric->gpu[g]);
        sim_add_cause(fabric->sim, gpu_silent_text, &fabric->gpu[g]);
        sim_add_waiter(fabric->sim, gpu_waiter_text, &fabric->gpu[g]);
        sim_add_waiter(fabric->sim, copy_waiter_text, &fabric->gpu[g]);
        sim_add_waiter(fabric->sim, fabric_engine_waiter_text, &fabric->gpu[g]);
        sm_init(&fabric->gpu[g]);
        for (guint32 l = 0; l < fabric->links; l++)
            fabric_connect(fabric, (guint16)g, l);
    }
    switches_join(fabric);
}

/* Components take the switches' place, or the fast engine takes the ports over. */
static gboolean fabric_equip(Fabric *fabric, const FoComponent *component, GError **error)
{
    if (!component && sim_engine(fabric->sim) == SIM_ENGINE_FAST && !fabric->lossy)
        fabric_speed_up(fabric);
    for (guint32 s = 0; component && s < fabric->n_switches; s++)
        if (!component_attach(&fabric->sw[s], component, error))
            return FALSE;
    return TRUE;
}

Fabric *fabric_new(Sim *sim, const FabricSpec *spec, gboolean keep_bytes, GError **error)
{
    if (!fabric_check(spec, error))
        return NULL;
    Policies policies;
    const FoComponent *component;
    if (!component_load(spec->sw.component, &component, error))
        return NULL;
    Topology *topology = policies_resolve(&spec->policy, &policies, error) ? topology_new(spec, error) : NULL;
    if (topology && !fabric_check_buffers(spec, topology, error))
        g_clear_pointer(&topology, topology_free);
    if (!topology)
        return NULL;
    Fabric *fabric = g_new0(Fabric, 1);
    fabric->policies = policies;
    fabric->topology = topology;
    fabric->n_switches = topology_switches(topology);
    fabric->n_trunks = topology->trunks->len;
    fabric->sim = sim;
    fabric->spec = *spec;
    if (spec->mctable.entries && spec->mctable.set_flits) /* IDs stand for sets that no table holds */
        fabric->spec.mctable.entries = MCTABLE_SETS;
    fabric->keep_bytes = keep_bytes;
    fabric->memory = memory_new(sim, keep_bytes);
    fabric->stats = stat_registry_new();
    fabric->faults = g_array_new(FALSE, FALSE, sizeof(FabricFault));
    fabric->objects = g_ptr_array_new();
    g_ptr_array_add(fabric->objects, NULL);
    fabric->op_object = g_ptr_array_new();
    g_ptr_array_add(fabric->op_object, NULL);
    fabric->data = data_pools_new(1 + fabric->n_switches);
    if (!fabric->data) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_NO_SPACE,
                    "the host gives no 8 GiB of address space for data in flight: raise its limit (ulimit -v)");
        fabric_free(fabric);
        return NULL;
    }
    if (sim_wants_domains(sim) && !parallel_split(fabric, error)) {
        fabric_free(fabric);
        return NULL;
    }
    fabric_build(fabric);
    memory_on_polled(fabric->memory, fabric_on_polled, fabric);
    hash_init(&fabric->hash, fabric->links);
    hash_replace(&fabric->hash, fabric->policies.link);
    for (guint32 g = 0; spec->gpu.hash_by_gpu && g < spec->system.gpus; g++)
        fabric->gpu[g].hash_turn = hash_gpu_turn(&fabric->hash, g);
    fabric->mc_hash = g_new0(Hash, fabric->links + 1);
    fabric->mc_route = g_new0(McRoute, fabric->spec.mctable.entries);
    fabric->mcid_free = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 id = (guint32)fabric->spec.mctable.entries; id-- > 0;)
        g_array_append_val(fabric->mcid_free, id);
    if (!fault_open(fabric, error) || (fabric->parallel && !parallel_check(fabric, error)) ||
        !fabric_equip(fabric, component, error) || !fault_apply(fabric, error)) {
        fabric_free(fabric);
        return NULL;
    }
    return fabric;
}

static void op_table_clear(OpTable *table)
{
    for (int k = 0; k <= PACKET_MC_READ; k++)
        g_free(table->kind[k]);
}

void fabric_free(Fabric *fabric)
{
    if (fabric->flow)
        flow_free(fabric->flow);
    for (guint32 i = 0; fabric->link && i < 2 * fabric->spec.system.gpus * fabric->links; i++) {
        parallel_detach(&fabric->link[i]);
        fast_detach(&fabric->link[i]);
    }
    for (guint64 g = 0; fabric->gpu && g < fabric->spec.system.gpus; g++) {
        sm_clear(&fabric->gpu[g]);
        fast_gpu_detach(&fabric->gpu[g]);
        gpu_clear(&fabric->gpu[g]);
        txn_pool_clear(&fabric->txns[g]);
    }
    for (guint32 t = 0; fabric->trunk && t < 2 * fabric->n_trunks; t++) {
        parallel_detach(&fabric->trunk[t]);
        fast_detach(&fabric->trunk[t]);
    }
    for (guint32 s = 0; fabric->sw && s < fabric->n_switches; s++)
        fast_switch_detach(&fabric->sw[s]);
    switches_clear(fabric);
    for (guint64 id = 0; fabric->mc_route && id < fabric->spec.mctable.entries; id++)
        g_free(fabric->mc_route[id].link);
    for (guint i = 1; i < fabric->op_object->len; i++) {
        op_table_clear(g_ptr_array_index(fabric->op_object, i));
        g_free(g_ptr_array_index(fabric->op_object, i));
    }
    op_table_clear(&fabric->op_remote);
    op_table_clear(&fabric->op_local);
    g_ptr_array_free(fabric->op_object, TRUE);
    g_ptr_array_free(fabric->objects, TRUE);
    if (fabric->mcid_free)
        g_array_free(fabric->mcid_free, TRUE);
    g_array_free(fabric->faults, TRUE);
    g_free(fabric->mc_route);
    g_free(fabric->mc_hash);
    g_free(fabric->link);
    g_free(fabric->gpu);
    g_free(fabric->txns);
    fault_close(fabric);
    g_free(fabric->silent);
    g_free(fabric->left);
    topology_free(fabric->topology);
    g_free(fabric->alive);
    if (fabric->data)
        data_pools_free(fabric->data, 1 + fabric->n_switches);
    if (fabric->parallel)
        parallel_free(fabric->parallel);
    stat_registry_free(fabric->stats);
    memory_free(fabric->memory);
    g_free(fabric);
}

void fabric_observe(Fabric *fabric, Probe probe, void *user)
{
    g_assert(sim_engine(fabric->sim) == SIM_ENGINE_REFERENCE); /* an observer is to see steps in order of time */
    fabric->probe = probe;
    fabric->probe_user = user;
    for (guint32 n = 0; n < fabric_n_links(fabric); n++)
        link_observe(fabric_link_at(fabric, n), probe, user);
}

void fabric_advance(Fabric *fabric, SimTime until_ps)
{
    for (guint32 n = 0; n < fabric_n_links(fabric); n++)
        link_advance(fabric_link_at(fabric, n), until_ps);
}

gboolean fabric_is_quiet(const Fabric *fabric)
{
    for (guint64 g = 0; g < fabric->spec.system.gpus; g++) {
        const Gpu *gpu = &fabric->gpu[g];
        if (!gpu_is_quiet(gpu))
            return FALSE;
        for (guint32 l = 0; l < fabric->links; l++)
            if (!link_is_quiet(&gpu->up[l], fabric->spec.link.credits_switch_flits) ||
                !link_is_quiet(&gpu->down[l], fabric->spec.link.credits_gpu_flits))
                return FALSE;
    }
    for (guint32 t = 0; t < 2 * fabric->n_trunks; t++)
        if (!link_is_quiet(&fabric->trunk[t], fabric->spec.topology.trunk_credits_flits))
            return FALSE;
    for (guint32 s = 0; s < fabric->n_switches; s++)
        if (!switch_is_quiet(&fabric->sw[s]))
            return FALSE;
    return data_used(fabric->data, 1 + fabric->n_switches) == (fabric->parallel ? parallel_slots(fabric->parallel) : 0);
}

guint64 fabric_crossings(const Fabric *fabric)
{
    guint64 sum = 0;
    for (guint32 n = 0; n < fabric_n_links(fabric); n++)
        sum += link_packets_total(fabric_link_at(fabric, n));
    return sum;
}
