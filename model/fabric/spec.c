/* What a fabric is built of: the parameters of a system, and which specs can be built. */
#include "model/fabric/fabric.h"
#include "model/fabric/topology.h"
#include "model/sm/place.h"

#include <string.h>

const ParamRow system_params[] = {
    PARAM_STRING(SystemSpec, title, "what the system is called"),
    PARAM_U64(SystemSpec, gpus, "", 1, VAS_GPUS_MAX, "GPUs"),
    PARAM_LIST(SystemSpec, links_per_switch, "links", 1, 64, "links of each GPU to each switch, one number a switch"),
    PARAM_U64(SystemSpec, host_MBps, "MB/s", 1, 10000000, "link of a GPU to its host, one direction"),
    PARAM_U64(SystemSpec, host_ps, "ps", 0, 100000000, "latency of that link"),
    PARAM_U64(SystemSpec, host_fence_ps, "ps", 0, 100000000, "of fence.sys: what this host adds to sm.fence_ps"),
    PARAM_END,
};

void fabric_params(ParamSet *set, FabricSpec *spec)
{
    param_add(set, "system", system_params, &spec->system);
    param_add(set, "topology", topology_params, &spec->topology);
    param_add(set, "link", link_params, &spec->link);
    param_add(set, "switch", switch_params, &spec->sw);
    param_add(set, "multicast", mctable_params, &spec->mctable);
    param_add(set, "gpu", gpu_params, &spec->gpu);
    param_add(set, "sm", sm_params, &spec->sm);
    param_add(set, "policy", policy_params, &spec->policy);
    param_add(set, "fault", fault_params, &spec->fault);
    param_allow(set, "launch", "*"); /* of the room above, which may add its rows */
}

static gboolean fabric_is_named(const char *value) { return value && *value && strcmp(value, "none") != 0; }

gboolean fabric_needs_packets(const FabricSpec *spec)
{
    return fault_needs_packets(&spec->fault) || spec->sw.merge_entries || fabric_is_named(spec->sw.component);
}

/* A component is all of a switch, on one level, with nothing lost. */
static gboolean fabric_check_component(const FabricSpec *spec, GError **error)
{
    const char *wrong = spec->topology.kind != TOPOLOGY_RAILS     ? "[topology] kind = rails"
                        : spec->sw.merge_entries                  ? "[switch] merge_entries = 0"
                        : spec->mctable.set_flits                 ? "[multicast] set_flits = 0"
                        : fabric_is_named(spec->fault.gpu_silent) ? "[fault] gpu_silent = none"
                        : fault_needs_packets(&spec->fault)       ? "no [fault] in time"
                                                                  : NULL;
    if (!wrong || !fabric_is_named(spec->sw.component))
        return TRUE;
    g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE, "[switch] component: a component needs %s", wrong);
    return FALSE;
}

/* Where a load, or its answer, may be lost, those that were merged with it would wait for ever. */
static gboolean fabric_check_merge(const FabricSpec *spec, GError **error)
{
    if (spec->sw.merge_entries == 0 || (!fabric_is_named(spec->fault.gpu_silent) && !fault_needs_packets(&spec->fault)))
        return TRUE;
    g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                "[switch] merge_entries: loads are merged where none is lost; set it to 0, or no faults in time and no "
                "silent GPU under [fault]");
    return FALSE;
}

/* The longest request fits into the buffers that it passes, the members that it names included. */
static gboolean fabric_check_sets(const FabricSpec *spec, GError **error)
{
    const gboolean levels = spec->topology.kind != TOPOLOGY_RAILS;
    const guint64 set = spec->mctable.set_flits, enable = spec->gpu.byte_enable_flits, op = spec->gpu.operation_flits;
    const guint64 flits = 1 + set + enable + op + DATA_SLOT_BYTES / FLIT_BYTES;
    if (set == 0 ||
        (flits <= spec->link.credits_switch_flits && (!levels || flits <= spec->topology.trunk_credits_flits)))
        return TRUE;
    const gboolean at_link = flits > spec->link.credits_switch_flits;
    g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                "[multicast] set_flits: with %" G_GUINT64_FORMAT " of them a request has up to %" G_GUINT64_FORMAT
                " flits, and %s = %" G_GUINT64_FORMAT "; set fewer, or more there",
                set, flits, at_link ? "[link] credits_switch_flits" : "[topology] trunk_credits_flits",
                at_link ? spec->link.credits_switch_flits : spec->topology.trunk_credits_flits);
    return FALSE;
}

gboolean fabric_check(const FabricSpec *spec, GError **error)
{
    guint32 links = 0;
    for (guint32 s = 0; s < spec->system.links_per_switch.n; s++)
        links += spec->system.links_per_switch.value[s];
    if (spec->system.links_per_switch.n == 0 || links > HASH_LINKS_MAX) {
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                    "[system] links_per_switch: %u links a GPU; 1 to %u can be built", links, HASH_LINKS_MAX);
        return FALSE;
    }
    if (spec->gpu.engine_packet_bytes % FLIT_BYTES) {
        g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                    "[gpu] engine_packet_bytes: %" G_GUINT64_FORMAT " is no multiple of %u",
                    spec->gpu.engine_packet_bytes, FLIT_BYTES);
        return FALSE;
    }
    return place_check(spec, error) && fabric_check_sets(spec, error) && fabric_check_merge(spec, error) &&
           fabric_check_component(spec, error);
}

gboolean fabric_check_buffers(const FabricSpec *spec, const Topology *topology, GError **error)
{
    guint32 sw;
    const guint32 members = topology_members_max(topology, &sw);
    const guint64 held_bytes = (guint64)members * LINE_BYTES;
    if (spec->mctable.entries == 0 || spec->sw.reduction_hold != REDUCE_HOLD ||
        spec->sw.reduction_buffer_bytes >= held_bytes)
        return TRUE;
    g_autofree char *name = topology_switch_name(topology, sw);
    g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                "[switch] reduction_buffer_bytes: %" G_GUINT64_FORMAT " B do not hold one line of each of %u members "
                "of %s; give at least %" G_GUINT64_FORMAT ", or fewer [system] gpus",
                spec->sw.reduction_buffer_bytes, members, name, held_bytes);
    return FALSE;
}
