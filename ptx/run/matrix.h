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

/* Bits of elements as they stand in memory, row after row: m x k, k x n, m x n. Words of 64 bits for f64 alone
 * (m16n8k16 at most). */
typedef struct {
    PtxMatrixForm form;
    guint k; /* of elements, or of words of 32 bits */
    const PtxIns *ins;
    const PtxHot *hot;
    gboolean negate_a, negate_b, is_wgmma;
    guint32 a[MATRIX_M_MAX * MATRIX_K_MAX], b[MATRIX_N_MAX * 32], c[MATRIX_M_MAX * MATRIX_N_MAX];
    guint64 a64[16 * 16], b64[8 * 16], c64[16 * 8];
} PtxMatrices;

/* ---- sums of floating-point products (matrix_float.c) */

#define MATRIX_K_FLOAT 32u
#define MATRIX_COLUMNS 8u        /* that are summed at once: of each shape n is a multiple of it */
#define MATRIX_NO_EXPONENT -8192 /* zero's, which never is the greatest */

/* How bits are a number: a mantissa as an integer with a sign, times 2 to an exponent. */
typedef struct PtxMatrixFormat {
    guint ignored;  /* bits at the end that do not count: of tf32 */
    guint fraction; /* bits of the mantissa behind the point */
    guint sign_at;
    gint32 bias, top;     /* top: the exponent at which infinities and what is no number stand */
    gint32 least_special; /* mantissas from here on are special there */
    guint32 negate;       /* 1: the sign is the other one */
} PtxMatrixFormat;

typedef struct PtxMatrixColumns {
    gint32 mantissa[MATRIX_K_FLOAT][MATRIX_COLUMNS], exponent[MATRIX_K_FLOAT][MATRIX_COLUMNS];
} PtxMatrixColumns;

typedef struct PtxMatrixRule {
    guint k;
    guint fraction; /* bits of aligned terms */
    guint lift;     /* from a product's bits behind its point to them */
    guint kept;     /* bits of a sum in f32 */
    gboolean half;  /* D is f16 */
    PtxMatrixFormat a, b, addend;
} PtxMatrixRule;

/* In two parts, each of which 32 bits hold: a term has 27 bits at most, and k is 16 at most where it has so many. */
typedef struct PtxMatrixSums {
    gint32 part[2][MATRIX_COLUMNS], greatest[MATRIX_COLUMNS]; /* exponents that the terms are aligned to */
    gint32 addend_mantissa[MATRIX_COLUMNS], addend_exponent[MATRIX_COLUMNS];
} PtxMatrixSums;

/* ---- c = a * b + c */

void ptx_matrix_float(PtxMatrices *matrices);  /* matrix_float.c */
void ptx_matrix_double(PtxMatrices *matrices); /* matrix_exact.c */
void ptx_matrix_integer(PtxMatrices *matrices);
void ptx_matrix_bits(PtxMatrices *matrices);

/* matrix.c: between registers and matrices. */
void ptx_matrix_take(const PtxWarp *warp, PtxMatrices *matrices, PtxMatrixOperand of, const guint32 *places);
void ptx_matrix_put(PtxWarp *warp, const PtxMatrices *matrices, const guint32 *places);
void ptx_matrix_multiply(PtxMatrices *matrices);

#endif
