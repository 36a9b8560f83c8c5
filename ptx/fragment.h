/* Fragments: which lane and register of a warp holds which element of a matrix, for mma and wgmma, and which shapes and
 * types go together.
 *
 * Source: PTX ISA 9.0, "Warp Level Matrix Multiply-Accumulate Instructions" and "Asynchronous Warpgroup Level
 * Multiply-and-Accumulate Instructions"; which forms there are, and from which target on, is what ptxas 13.0 takes. */
#ifndef PTX_FRAGMENT_H
#define PTX_FRAGMENT_H

#include "ptx/read/module.h"

typedef enum { MATRIX_A, MATRIX_B, MATRIX_C, MATRIX_D } PtxMatrixOperand;

/* A form of mma or wgmma: the shape of what one warp computes (a quarter of a warpgroup's: m is 16), its types. */
typedef struct {
    guint16 m, n, k;
    guint8 type[4];      /* PtxType, by PtxMatrixOperand */
    guint8 a_col, b_row; /* of m8n8k4 of f16, which has all orders; else A has rows and B columns */
} PtxMatrixForm;

guint64 ptx_matrix_pack(const PtxMatrixForm *form);
PtxMatrixForm ptx_matrix_unpack(guint64 bits);

/* The least target of mma with this shape; 0: its types have no such shape, and *shapes says which they have. */
guint ptx_mma_target(const PtxMatrixForm *form, const char **shapes);
/* Whether wgmma has it: m is 64. */
gboolean ptx_wgmma_has(const PtxMatrixForm *form, const char **shapes);

guint ptx_fragment_bits(PtxType type);                                        /* of an element in a register */
guint ptx_fragment_registers(const PtxMatrixForm *form, PtxMatrixOperand of); /* of a lane */
static inline guint ptx_fragment_register_bytes(const PtxMatrixForm *form)
{
    return form->type[MATRIX_D] == T_F64 ? 8 : 4;
}

/* Where a register's first element is in its matrix (of B: row is k, col is n), and where each next one is from it. */
typedef struct {
    guint row, col, next_row, next_col;
} PtxFragmentPlace;
PtxFragmentPlace ptx_fragment_place(const PtxMatrixForm *form, PtxMatrixOperand of, guint lane, guint reg);

#endif
