/* ldmatrix, stmatrix, movmatrix: matrices of 8 rows of 8 elements of 16 bits between shared memory and registers. Row i
 * of matrix j lies where lane 8 j + i says; lane l has elements 2 (l mod 4) and the next one of row l / 4, or with
 * .trans of the transposed matrix. */
#include "ptx/run/exec.h"

#define ROW_BYTES 16u

typedef struct {
    guint16 at[8][8];
} Matrix;

static void to_lanes(const Matrix *x, gboolean transposed, guint32 *lanes)
{
    for (guint l = 0; l < PTX_LANES; l++) {
        guint row = l / 4, col = 2 * (l % 4);
        lanes[l] = transposed ? x->at[col][row] | (guint32)x->at[col + 1][row] << 16
                              : x->at[row][col] | (guint32)x->at[row][col + 1] << 16;
    }
}

static void from_lanes(Matrix *x, gboolean transposed, const guint32 *lanes)
{
    for (guint l = 0; l < PTX_LANES; l++)
        for (guint e = 0; e < 2; e++) {
            guint row = l / 4, col = 2 * (l % 4) + e;
            *(transposed ? &x->at[col][row] : &x->at[row][col]) = (guint16)(lanes[l] >> (16 * e));
        }
}

/* The row of a lane in shared memory; NULL: a fault is set. */
static guint8 *row_of(PtxWarp *warp, const PtxIns *ins, guint64 va, guint lane, guint64 *offset)
{
    *offset = va;
    if (ins->space == SPACE_GENERIC && ptx_space_of(va, offset) != SPACE_SHARED_CLUSTER) {
        ptx_fault(warp, ins, lane, PTX_FAULT_ILLEGAL_ADDRESS, va,
                  "a row of a matrix at 0x%" G_GINT64_MODIFIER "x, which is not in shared memory", va);
        return NULL;
    }
    return ptx_lane_memory(warp, warp->current, ins, SPACE_SHARED, *offset, ROW_BYTES, lane);
}

/* Each matrix is a pass of its own over the banks: its rows are 16 B of eight lanes. */
static void count_pass(PtxWarp *warp, const guint64 *offset)
{
    guint64 words[PTX_LANES];
    for (guint l = 0; l < PTX_LANES; l++)
        words[l] = offset[l / 4] + l % 4 * 4;
    ptx_count_conflicts(warp, PTX_FULL_MASK, words, 4);
}

void ptx_run_matrix_move(PtxWarp *warp, const PtxIns *ins)
{
    gboolean transposed = (ins->flags & FLAG_RIGHT) != 0, stores = ins->op == OP_STMATRIX;
    const guint32 *places = warp->current->frame->code->places + (stores ? ins->vec2 : ins->vec);
    guint n = stores ? ins->n_vec2 : ins->n_vec;
    guint32 lanes[4][PTX_LANES];
    guint64 va[PTX_LANES], offset[PTX_LANES];
    Matrix x;
    if (ins->op == OP_MOVMATRIX) {
        from_lanes(&x, FALSE, ptx_lanes(warp, ins->src[0]));
        to_lanes(&x, TRUE, ptx_lanes_out(warp, ins->dst));
        return;
    }
    ptx_addresses(warp, ins, 0, ins->imm, va);
    for (guint j = 0; j < n; j++) {
        if (stores)
            from_lanes(&x, transposed, ptx_lanes(warp, places[j]));
        for (guint row = 0; row < 8; row++) {
            guint8 *memory = row_of(warp, ins, va[8 * j + row], 8 * j + row, &offset[8 * j + row]);
            if (!memory)
                return;
            if (stores)
                memcpy(memory, x.at[row], ROW_BYTES);
            else
                memcpy(x.at[row], memory, ROW_BYTES);
        }
        count_pass(warp, &offset[8 * j]);
        if (!stores)
            to_lanes(&x, transposed, lanes[j]);
    }
    for (guint j = 0; j < n && !stores; j++)
        if (places[j] != PLACE_NONE)
            memcpy(ptx_lanes_out(warp, places[j]), lanes[j], sizeof lanes[j]);
    if (stores)
        ptx_cluster_changed(warp->cta->cluster_of);
    warp->looked_at = offset[0];
    warp->looks += !stores;
}
