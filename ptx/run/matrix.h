/* Matrices as mma and wgmma multiply them: elements taken out of registers and shared memory, D = A * B + C, and D put
 * back.
 *
 * What hardware computes is exact for integers and a chain of fused operations for f64. Sums of f16, bf16, tf32 and fp8
 * are not those of IEEE arithmetic; matrix_float.c says what they are. */
#ifndef PTX_RUN_MATRIX_H
#define PTX_RUN_MATRIX_H

#include "ptx/fragment.h"
#include "ptx/run/exec.h"

#define MATRIX_K_MAX 64u /* elements; bits count as words of 32 */
#define MATRIX_N_MAX 256u
#define MATRIX_M_MAX 16u

/* Bits of elements as they stand in memory; b as columns. Words of 64 bits for f64 alone (m16n8k16 at most). */
typedef struct {
    PtxMatrixForm form;
    guint k; /* of elements, or of words of 32 bits */
    const PtxIns *ins;
    gboolean negate_a, negate_b, is_wgmma;
    guint32 a[MATRIX_M_MAX * MATRIX_K_MAX], b[MATRIX_N_MAX * 32], c[MATRIX_M_MAX * MATRIX_N_MAX];
    guint64 a64[16 * 16], b64[8 * 16], c64[16 * 8];
} PtxMatrices;

/* c = a * b + c */
void ptx_matrix_float(PtxMatrices *matrices);  /* matrix_float.c */
void ptx_matrix_double(PtxMatrices *matrices); /* matrix_exact.c */
void ptx_matrix_integer(PtxMatrices *matrices);
void ptx_matrix_bits(PtxMatrices *matrices);

/* matrix.c: between registers and matrices. */
void ptx_matrix_take(const PtxWarp *warp, PtxMatrices *matrices, PtxMatrixOperand of, const guint32 *places);
void ptx_matrix_put(PtxWarp *warp, const PtxMatrices *matrices, const guint32 *places);
void ptx_matrix_multiply(PtxMatrices *matrices);

#endif
