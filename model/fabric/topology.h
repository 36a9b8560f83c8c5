/* Topology: which switch each link of each GPU goes to, and which trunks join the switches.
 *
 * What hardware it stands for: the cabling of an NVLink network: leaf switches, to which GPUs are wired, and spine
 * switches, to which leaf switches are.
 * Modelled: one level (rails: link l of every GPU goes to the same switch), two levels, and any wiring of GPUs, leaf
 * and spine switches by rules (model/fabric/wiring.h). Each trunk runs between a leaf and a spine switch.
 * A link keeps its number: what leaves a GPU by link l reaches every other GPU by that GPU's link l. So links are
 * numbered by where they lead, as the address hash has them (model/memory/address_hash.h), a chunk of a multicast
 * object meets in one place, and an answer takes the way back of its request.
 * Left out: switches of more than two levels, GPUs wired to each other without a switch.
 * Sources: docs/hardware.md, "Systems"; docs/topologies.md says how packets find their way. */
#ifndef MODEL_FABRIC_TOPOLOGY_H
#define MODEL_FABRIC_TOPOLOGY_H

#include "model/shared/spec.h"

#define TOPOLOGY_NONE 0xffffu /* a link that is wired to nothing: it is lost from the start */
#define TOPOLOGY_SWITCHES_MAX 4096u
#define TOPOLOGY_PORTS_MAX 8192u /* of one switch */

/* A pair of links, one each way, between two switches. */
typedef struct {
    guint16 leaf, spine; /* their numbers among all switches: leaves first, spines behind them */
} Trunk;

typedef struct Topology {
    guint32 gpus, links; /* links of each GPU */
    guint32 leaves, spines;
    gboolean rails; /* leaves are called switches, as there is one level */
    guint16 *leaf;  /* of link l of GPU g at g * links + l: its switch, or TOPOLOGY_NONE */
    GArray *trunks; /* Trunk */
} Topology;

/* What [system] and [topology] describe. GError (PARAM_ERROR): names section, key and the parts that cannot be wired
 * so. Free with topology_free(). */
Topology *topology_new(const FabricSpec *spec, GError **error);
void topology_free(Topology *topology);

/* Of how many members a switch gathers answers at most: of its GPUs, or of the leaves below it. *sw: the first switch
 * that has so many. */
guint32 topology_members_max(const Topology *topology, guint32 *sw);

/* "switch3" of rails, else "leaf3", "spine1"; to be freed. */
char *topology_switch_name(const Topology *topology, guint32 sw);
static inline guint32 topology_switches(const Topology *topology) { return topology->leaves + topology->spines; }

#endif
