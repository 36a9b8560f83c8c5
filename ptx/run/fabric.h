/* Between fabric.c, fabric_box.c and fabric_tensor.c: operations on logical endpoints. */
#ifndef PTX_RUN_FABRIC_H
#define PTX_RUN_FABRIC_H

#include "ptx/run/exec.h"

const char *ptx_fabric_name(const PtxFabricOp *op); /* "fabric.try_put" */
void ptx_fabric_free(PtxFabricOp *op);
void ptx_fabric_append(PtxFabricOp *op); /* to those of its CTA: it is issued */
/* Where an address in the own CTA's shared memory is; FALSE: a fault is set. */
gboolean ptx_fabric_shared(PtxWarp *warp, const PtxIns *ins, guint64 va, guint32 bytes, guint lane, guint32 *at);
/* Whether op->barrier_at is an mbarrier that carries a report; FALSE: a fault is set. */
gboolean ptx_fabric_reports(PtxWarp *warp, const PtxIns *ins, const PtxFabricOp *op, guint lane);

/* fabric_box.c: of a box, its bytes from shared memory into the block, and back. */
void ptx_fabric_gather(PtxFabricOp *op);
void ptx_fabric_land(PtxFabricOp *op);

#endif
