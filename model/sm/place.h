/* Where an SM stands in its GPU, and which SMs the CTAs of a launch get.
 *
 * What hardware it stands for: an SM is in a TPC, that in a CPC, that in a GPC, and GPCs stand in two halves of the
 * GPU, each with its own way to the NVLink ports. Which SMs stand together decides what each of them gets of the ports
 * (egress_queue.c), and with it when the CTAs of a kernel are through.
 * Modelled: TPCs that GPCs share out among themselves as evenly as they can, the last GPCs having one more; a GPC's
 * TPCs dealt to its CPCs in turn; the order in which CTAs get SMs.
 * Left out: which TPCs a chip lacks, which differs from chip to chip; with it a GPC's CPCs may be of other sizes.
 * Sources: h100b/dev_h100_place.csv (who gets CTAs, clusters), dev_h100_gpc.csv (halves), dev_h100_push.csv with 48, 64
 * and 132 CTAs (CPCs: SMs of one that has fewer CTAs are faster by as much). */
#ifndef MODEL_SM_PLACE_H
#define MODEL_SM_PLACE_H

#include "model/sm/sm.h"

#define CLUSTER_CTAS_MAX 8u /* the portable size (CUDA programming guide) */
#define GPC_CPCS 3u         /* of a full GPC of Hopper, nine TPCs: three each (dev_h100_push.csv) */

typedef struct {
    guint32 gpc;
    guint32 queue;  /* of its CPC, before the ports: 0 to place_queues() - 1 */
    guint32 tpc;    /* its number in its GPC */
    gboolean first; /* its TPC gets a grid's first CTAs, and none of clusters that do not fit it */
} SmPlace;

/* SMs are numbered in the order in which the CTAs of a grid get them: all SMs of the first GPC's first TPCs, then one
 * SM of every other TPC, GPC by GPC in turn, then these TPCs' other SMs. */
SmPlace place_of(const struct FabricSpec *spec, guint64 sm);
guint32 place_queues(const struct FabricSpec *spec);
guint32 place_half(const struct FabricSpec *spec, guint32 queue); /* 0 or 1 */
/* The queue of a CTA of a launch that has the GPU for itself, in clusters of so many (0 and 1: none). */
guint32 place_cta_queue(const struct FabricSpec *spec, guint32 cta, guint32 cluster);
/* Of so many CTAs of such a launch: into how many parts all that store share the ports, one of which is the CPC's that
 * has this queue: halves, times CPCs of its half. 0: none of them has it. */
guint32 place_parts(const struct FabricSpec *spec, guint32 ctas, guint32 cluster, guint32 queue);
/* Refuses GPCs that the parameters name and the GPU does not have. */
gboolean place_check(const struct FabricSpec *spec, GError **error);

#endif
