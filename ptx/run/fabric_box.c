/* A box of a tensor between shared memory and the block of bytes that its operation on an endpoint moves. */
#include "ptx/run/fabric.h"
#include "ptx/run/tensor.h"

typedef struct {
    const PtxFabricOp *op;
    guint32 n;
} Pieces;

static void gather_piece(void *user, const PtxTensorPiece *piece)
{
    Pieces *p = user;
    if (piece->valid)
        memcpy(p->op->block + p->n++ * PTX_TENSOR_PIECE, p->op->cta->shared + piece->at, PTX_TENSOR_PIECE);
}

void ptx_fabric_gather(PtxFabricOp *op)
{
    Pieces p = {.op = op};
    if (op->kind != PTX_FABRIC_GET)
        ptx_tensor_walk(op->tensor, gather_piece, &p);
}

static void land_piece(void *user, const PtxTensorPiece *piece)
{
    Pieces *p = user;
    ptx_tensor_piece(p->op->tensor, piece->valid, p->op->block + p->n * PTX_TENSOR_PIECE,
                     p->op->cta->shared + piece->at);
    p->n += piece->valid > 0;
}

void ptx_fabric_land(PtxFabricOp *op)
{
    Pieces p = {.op = op};
    if (op->kind == PTX_FABRIC_GET)
        ptx_tensor_walk(op->tensor, land_piece, &p);
}
