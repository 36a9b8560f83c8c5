/* What matrix instructions cost. Source: docs/measurements/matrix_times.csv (H100); `assumed` where it has no row.
 *
 * The tensor core of a quarter is a unit as others are, which mma and wgmma share. wgmma keeps the SM's shared memory
 * busy, too: A and B are read at 128 B a clk, A by each warp for itself (16 clk a warpgroup), B once (N / 4 clk); no
 * product is faster than 13 clk. What an H100 has no instruction for (4-bit integers, xor, Volta's shape) is many
 * others, of which those of several chains of one warp are taken to overlap (measured: they do not). */
#include "ptx/fragment.h"
#include "ptx/translate/cost.h"
#include "ptx/translate/lower.h"

/* clang-format off */
#define CLK(x) ((guint32)((x) * COST_CLK + 0.5))
#define R(latency, slots, tensor) {CLK(latency), CLK(slots), COST_MATRIX, CLK(tensor), 0, 0}

typedef struct {
    guint8 type; /* of A; signed ones stand for both */
    guint8 m;
    guint16 k;
    PtxMatrixCost cost;
} Row;

static const Row rows[] = {
    {T_F16, 16, 8, R(16.8, 1, 4.1)},   {T_F16, 16, 16, R(24.1, 1, 6.15)},
    {T_BF16, 16, 8, R(16.8, 1, 4.1)},  {T_BF16, 16, 16, R(24.1, 1, 6.15)},
    {T_TF32, 16, 4, R(16.8, 1, 4.1)},  {T_TF32, 16, 8, R(24.1, 1, 6.15)},
    {T_F64, 8, 4, R(28.8, 1, 16.3)},   {T_F64, 16, 4, R(36.8, 1, 16.6)},
    {T_F64, 16, 8, R(52.2, 1, 32.6)},  {T_F64, 16, 16, R(84.2, 1, 64.4)},
    {T_S8, 8, 16, R(14.1, 1, 4.1)},    {T_S8, 16, 16, R(16.8, 1, 4.1)},    {T_S8, 16, 32, R(24.1, 1, 6.15)},
    {T_S4, 8, 32, R(179, 106, 0)},     {T_S4, 16, 32, R(235, 169, 0)},     {T_S4, 16, 64, R(381, 307, 0)},
    /* u4 with u4; the smaller ones assumed */
    {T_U4, 8, 32, R(100, 24, 0)},      {T_U4, 16, 32, R(110, 38, 0)},      {T_U4, 16, 64, R(139, 69.6, 0)},
    /* .and: the smaller ones assumed, as s8 */
    {T_B1, 8, 128, R(14.1, 1, 4.1)},   {T_B1, 16, 128, R(16.8, 1, 4.1)},   {T_B1, 16, 256, R(24.1, 1, 6.15)},
    /* The sum's way to itself. Left out: what makes f16 of A and B, which was done once for many products. */
    {T_E4M3, 16, 16, R(9.45, 4.9, 4.1)}, {T_E4M3, 16, 32, R(11.3, 5.7, 4.1)}};

static const Row xor_rows[] = {{T_B1, 8, 128, R(92.6, 28.2, 0)}, {T_B1, 16, 128, R(98.7, 35.8, 0)},
                               {T_B1, 16, 256, R(115, 44.8, 0)}};
static const PtxMatrixCost volta[] = {R(239, 133, 0), R(283, 167, 0)}; /* to f32, to f16 */
/* clang-format on */

static PtxType row_type(const PtxMatrixForm *form)
{
    PtxType a = (PtxType)form->type[MATRIX_A], b = (PtxType)form->type[MATRIX_B];
    switch (a) {
    case T_U8: return T_S8;
    case T_E5M2: return T_E4M3;
    case T_U4: return b == T_U4 ? T_U4 : T_S4;
    default: return a;
    }
}

static PtxMatrixCost mma_cost(const PtxIns *ins, const PtxMatrixForm *form)
{
    gboolean is_xor = form->type[MATRIX_A] == T_B1 && ins->mode == W_XOR;
    const Row *row = is_xor ? xor_rows : rows;
    if (form->m == 8 && form->type[MATRIX_A] == T_F16)
        return volta[form->type[MATRIX_D] == T_F16];
    for (guint i = 0; i < (is_xor ? G_N_ELEMENTS(xor_rows) : G_N_ELEMENTS(rows)); i++)
        if (row[i].type == row_type(form) && row[i].m == form->m && row[i].k == form->k)
            return row[i].cost;
    g_assert_not_reached(); /* ptx_mma_target() has the same shapes */
}

PtxMatrixCost ptx_cost_matrix(const PtxIns *ins)
{
    guint32 matrices = (guint32)ins->n_vec + ins->n_vec2;
    PtxMatrixForm form;
    switch (ins->op) {
    case OP_MOVMATRIX: return (PtxMatrixCost){CLK(24.2), CLK(1), COST_SHARED_PIPE, CLK(1.02), 0, 0};
    case OP_LDMATRIX:
        return (PtxMatrixCost){CLK(21.2) + matrices * CLK(2), CLK(1), COST_SHARED_PIPE, matrices * CLK(1.02), 0, 0};
    case OP_STMATRIX: return (PtxMatrixCost){0, CLK(1), COST_SHARED_PIPE, matrices * CLK(1.02), 0, 0};
    default: break;
    }
    form = ptx_matrix_unpack(ins->imm);
    if (ins->op == OP_MMA)
        return mma_cost(ins, &form);
    gboolean shared = ins->n_vec2 == ins->n_vec; /* A is not in registers: its part of a warp, and of B a quarter */
    return (PtxMatrixCost){0,
                           CLK(1),
                           COST_MATRIX,
                           MAX(CLK(13), form.n * CLK(0.5)),
                           COST_SHARED_PIPE,
                           (shared ? CLK(4) : 0) + form.n * CLK(1) / 16};
}

guint32 ptx_cost_wgmma_behind(const PtxIns *ins)
{
    PtxMatrixForm form = ptx_matrix_unpack(ins->imm);
    PtxMatrixCost cost = ptx_cost_matrix(ins);
    guint32 alone = (ins->n_vec2 == ins->n_vec ? CLK(54.4) : CLK(44.3)) + form.n * CLK(0.5);
    return alone - cost.busy;
}
