/* A copy by a tensor map, piece by piece. Internal to tensor.c and tensor_walk.c. */
#ifndef PTX_RUN_TENSOR_H
#define PTX_RUN_TENSOR_H

#include "ptx/run/exec.h"
#include "ptx/tensor_map.h"

#define PTX_TENSOR_PIECE 16u /* bytes: what swizzles move, what memory is asked for */

typedef struct PtxTensorCopy {
    PtxTensorMap map;
    gint32 at[PTX_TENSOR_DIMS];
    guint32 shift[3];               /* im2col's offsets */
    guint32 base;                   /* in shared memory */
    guint32 unit;                   /* bytes from one element of the first dimension to the next in memory */
    guint32 count[PTX_TENSOR_DIMS]; /* elements that it takes; [1] of im2col: pixels */
    guint32 row_bytes, pitch;       /* of shared memory: of a row, and from one to the next */
    guint64 rows;
} PtxTensorCopy;

typedef struct {
    guint32 at;  /* in shared memory */
    guint valid; /* bytes that lie inside the tensor, from the first on */
    guint64 va;  /* if any do */
} PtxTensorPiece;
typedef void (*PtxTensorVisit)(void *user, const PtxTensorPiece *piece);

/* tensor.c: the map at that address, as the instruction's coordinates and mode want it. FALSE: a fault is set. */
gboolean ptx_tensor_read(PtxWarp *warp, const PtxIns *ins, guint lane, guint64 va, gboolean im2col, PtxTensorMap *map);

/* Of map, at, shift and base, the rest. A text: what hardware refuses. */
const char *ptx_tensor_plan(PtxTensorCopy *copy, gboolean loads);
guint64 ptx_tensor_bytes(const PtxTensorCopy *copy); /* that it moves, what is outside the tensor included */
guint64 ptx_tensor_span(const PtxTensorCopy *copy);  /* of shared memory */
/* Row by row, in the order of shared memory but for swizzles. */
void ptx_tensor_walk(const PtxTensorCopy *copy, PtxTensorVisit visit, void *user);
/* A piece as a load leaves it: as many of `from` as are valid, rounded as the type says, and what fills the rest. */
void ptx_tensor_piece(const PtxTensorCopy *copy, guint valid, const guint8 *from, guint8 to[PTX_TENSOR_PIECE]);

#endif
