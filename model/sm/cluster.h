/* Where the CTAs of a cluster run: on SMs of one GPC, the clusters of a launch on different ones. */
#ifndef MODEL_SM_CLUSTER_H
#define MODEL_SM_CLUSTER_H

#include "model/sm/sm.h"

#define CLUSTER_CTAS_MAX 8u /* the portable size (CUDA programming guide) */

/* The GPC of a CTA of a launch that has the GPU for itself, in clusters of so many (0 and 1: none). */
guint32 sm_cta_gpc(const struct FabricSpec *spec, guint32 cta, guint32 cluster);

#endif
