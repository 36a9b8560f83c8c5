/* The switches of a fabric: built as its topology says, connected by trunks, with a route to every GPU. */
#ifndef MODEL_FABRIC_SWITCHES_H
#define MODEL_FABRIC_SWITCHES_H

#include "model/fabric/topology.h"
#include "model/shared/fabric.h"
#include "model/switch/switch.h"

/* Builds fabric->sw, with ports for GPUs (in order of GPU and link) and behind them for trunks, and routes. The links
 * of the GPUs are connected by the caller, at the ports that switches_port() names. */
void switches_build(Fabric *fabric);
/* Initialises the trunks' links and connects them; GPUs' links are there already. */
void switches_join(Fabric *fabric);
void switches_clear(Fabric *fabric);
/* Works out every switch's routes anew, leaving out trunks that are down. */
void switches_route(Fabric *fabric);

/* The switch of a GPU's link, NULL: it is wired to none; and its port there. */
static inline Switch *switches_of(const Fabric *fabric, guint32 gpu, guint32 link)
{
    const guint32 s = fabric->topology->leaf[(gsize)gpu * fabric->links + link];
    return s == TOPOLOGY_NONE ? NULL : &fabric->sw[s];
}
static inline guint32 switches_port(const Switch *sw, guint32 gpu, guint32 link)
{
    return switch_port_of(sw, gpu, sw->link_rail[link]);
}

#endif
