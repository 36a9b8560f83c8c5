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

/* Whether it can be built. GError: names section and key. */
gboolean fabric_check(const FabricSpec *spec, GError **error);
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
/* New object with the next id, known to the statistics; free with mcobject_free after detaching. */
McObject *fabric_mc_object(Fabric *fabric, guint32 n_gpus, guint64 bytes);

/* Calls `probe` at every probe point from now on; NULL: stops. */
void fabric_observe(Fabric *fabric, Probe probe, void *user);

gboolean fabric_is_quiet(const Fabric *fabric); /* nothing in flight, all credits at home */
guint64 fabric_crossings(const Fabric *fabric); /* packets that crossed a link so far */

#endif
