/* What instructions take on an SM: results' latency, issue slots, and the units that are busy with them, in hundredths
 * of a clock cycle.
 *
 * A body's costs are sums from its beginning on, so that those of a stretch of instructions are one subtraction: the
 * executor adds them up when it leaves the stretch. `stall` is the time of a warp by itself: each instruction issues
 * when the one before has, and when its operands are there, within a basic block; the rest is what units of a quarter
 * of an SM (or of the whole: `shared`) are busy, which other warps may wait for.
 * Left out: the order in which ptxas puts instructions, fetch, dual use of register banks. */
#ifndef PTX_TRANSLATE_COST_H
#define PTX_TRANSLATE_COST_H

#include <glib.h>

typedef enum {
    COST_STALL, /* time of a warp alone */
    COST_SLOTS, /* issue slots of the quarter's scheduler: instructions of SASS */
    COST_ALU,   /* logic, shifts, comparisons */
    COST_FMA,   /* multiplications, float */
    COST_XU,    /* special functions, conversions, bits */
    COST_FP64,
    COST_MATRIX,      /* matrix units */
    COST_SHARED_PIPE, /* of the SM: shared and local memory, shuffles */
    COST_EFFECTS,     /* instructions that may change more than registers, each 1 */
    COST_SUMS = 12    /* a multiple of 4, as parts are */
} PtxCostSum;
#define COST_CLK 100u
#define PTX_LINE_SLOTS (8u * COST_CLK) /* slots on 128 B of SASS */

typedef guint32 PtxCostPart __attribute__((vector_size(16)));
typedef union {
    guint32 sum[COST_SUMS];
    PtxCostPart part[COST_SUMS / 4];
} PtxCosts;

struct PtxCode;
struct PtxIns;
/* Makes code->costs: n_ins + 1 of them; [i] is what has been spent when instruction i issues. */
void ptx_costs_make(struct PtxCode *code);
/* Of an instruction's result, for those that have no other way to be known. */
guint32 ptx_cost_latency(const struct PtxCode *code, const struct PtxIns *ins);

/* Of a matrix instruction (cost_matrix.c): hundredths of a clk; units are PtxCostSum. */
typedef struct {
    guint32 latency, slots;
    guint8 unit;
    guint32 busy;
    guint8 unit2;
    guint32 busy2;
} PtxMatrixCost;
PtxMatrixCost ptx_cost_matrix(const struct PtxIns *ins);
/* How long behind its unit's work the results of wgmma are there. */
guint32 ptx_cost_wgmma_behind(const struct PtxIns *ins);

#endif
