/* Assembly: builds all GPUs, links and switches of one system.
 *
 * fabric_new() builds everything from a FabricSpec (a preset); stages meet only here: each link gets its sink. What the
 * stages share (struct Fabric) stands below them, in model/shared/fabric.h.
 * Which switch each link goes to, and what joins the switches, is data: model/fabric/topology.h. */
#ifndef MODEL_FABRIC_FABRIC_H
#define MODEL_FABRIC_FABRIC_H

#include "model/fabric/fault.h"
#include "model/fabric/topology.h"
#include "model/gpu/gpu.h"
#include "model/shared/fabric.h"
#include "model/sm/sm.h"
#include "model/switch/switch.h"

/* All sections of a spec: "system", "link", "switch", "multicast", "gpu", "sm", "fault". */
void fabric_params(ParamSet *set, FabricSpec *spec);

/* What flows do not know: faults in time, merging of loads, components. */
gboolean fabric_needs_packets(const FabricSpec *spec);
/* Whether it can be built. GError: names section and key. */
gboolean fabric_check(const FabricSpec *spec, GError **error);
/* The same for what depends on how many members a switch has. */
gboolean fabric_check_buffers(const FabricSpec *spec, const Topology *topology, GError **error);
/* keep_bytes: FALSE for timing-only runs. GError: an impossible spec (names section and key). */
Fabric *fabric_new(Sim *sim, const FabricSpec *spec, gboolean keep_bytes, GError **error);
void fabric_free(Fabric *fabric);

/* Gives a complete team its multicast ID and programs the switches of its tree. GError: it does not fit the tables, or
 * no link number is left to all its members (nothing changed); names the key, the value needed and the value set. */
gboolean fabric_mc_attach(Fabric *fabric, McObject *object, GError **error);
void fabric_mc_detach(Fabric *fabric, McObject *object);
/* Programs all teams anew, around the links that are down now. A team that no link number is left to has no entries any
 * more. */
void fabric_mc_refit(Fabric *fabric);
gboolean fabric_mc_holds(const Fabric *fabric, const McObject *object); /* it is attached, and has entries */
/* New object with the next id, known to the statistics; free with mcobject_free after detaching. */
McObject *fabric_mc_object(Fabric *fabric, guint32 n_gpus, guint64 bytes);

/* From a GPU's port, by the L2's latency before it, to the switch's ingress: the flight of an answer. */
static inline SimTime fabric_answer_delay_ps(const FabricSpec *spec, const GpuSpec *gpu)
{
    return spec->link.flight_ps + gpu->l2_ps + spec->sw.latency_ps;
}

/* All links: those of GPUs, one GPU after the other, up and then down, and trunks, up and down by turns. */
static inline guint32 fabric_n_links(const Fabric *fabric)
{
    return 2 * (guint32)fabric->spec.system.gpus * fabric->links + 2 * fabric->n_trunks;
}
static inline Link *fabric_link_at(const Fabric *fabric, guint32 n)
{
    const guint32 of_gpus = 2 * (guint32)fabric->spec.system.gpus * fabric->links;
    return n < of_gpus ? &fabric->link[n] : &fabric->trunk[n - of_gpus];
}
static inline gboolean fabric_is_trunk(const Fabric *fabric, const Link *link)
{
    return fabric->trunk && link >= fabric->trunk && link < fabric->trunk + 2 * fabric->n_trunks;
}

static inline guint32 fabric_link_number(const Fabric *fabric, const Link *link)
{
    const guint32 of_gpus = 2 * (guint32)fabric->spec.system.gpus * fabric->links;
    return fabric_is_trunk(fabric, link) ? of_gpus + (guint32)(link - fabric->trunk) : (guint32)(link - fabric->link);
}

/* The GPU at an end of it, and whether it leads up from there; VAS_GPUS_MAX: it is a trunk. */
static inline guint32 fabric_link_gpu(const Fabric *fabric, const Link *link, gboolean *up)
{
    const guint32 number = fabric_link_number(fabric, link), gpu = number / (2 * fabric->links);
    *up = number % (2 * fabric->links) < fabric->links;
    return fabric_is_trunk(fabric, link) ? VAS_GPUS_MAX : gpu;
}

/* Ports that make decisions late make all those up to until_ps now. */
void fabric_advance(Fabric *fabric, SimTime until_ps);

/* Calls `probe` at every probe point from now on; NULL: stops. */
void fabric_observe(Fabric *fabric, Probe probe, void *user);

gboolean fabric_is_quiet(const Fabric *fabric); /* nothing in flight, all credits at home */
guint64 fabric_crossings(const Fabric *fabric); /* packets that crossed a link so far */

#endif
