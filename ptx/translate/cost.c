/* The costs of instructions, as measured on an H100. See cost.h.
 *
 * Source of every row: h100/classes.csv (latency; throughput of one SM with 32 warps: a warp's instruction takes
 * 128 / lanes a clock of a quarter), which says for what is measured in pairs how much of it is the other one's. Where
 * a PTX instruction is several of SASS, slots are their number. Rows `assumed` are between those that are like them. */
#include "ptx/translate/cost.h"
#include "ptx/translate/lower.h"

typedef enum { ANY, WORD /* integers and bits up to 32 */, LONG /* of 64 */, F32, F64, HALF, HALF2, PRED } Group;

typedef struct {
    guint8 op, group;
    guint32 flag;             /* needed; 0: any */
    guint32 latency, slots;
    guint8 unit;              /* PtxCostSum; 0: none */
    guint32 busy;
    guint8 unit2;
    guint32 busy2;
} Row;

#define CLK(x) ((guint32)((x) * COST_CLK + 0.5))
#define ALU(x) COST_ALU, CLK(x)
#define FMA(x) COST_FMA, CLK(x)
#define XU(x) COST_XU, CLK(x)
#define FP64(x) COST_FP64, CLK(x)
#define LSU(x) COST_SHARED_PIPE, CLK(x)
#define R(op, group, flag, latency, slots, ...) {op, group, flag, CLK(latency), CLK(slots), __VA_ARGS__}

static const Row rows[] = {
    R(OP_ADD, WORD, 0, 4.6, 1, ALU(1.08), FMA(1.08)), R(OP_SUB, WORD, 0, 4.6, 1, ALU(1.08), FMA(1.08)),
    R(OP_ADD, LONG, 0, 6.3, 2, ALU(2.27), FMA(2.27)), R(OP_SUB, LONG, 0, 6.3, 2, ALU(2.27), FMA(2.27)),
    R(OP_ADD, F32, 0, 4.2, 1, FMA(1.09), 0, 0), R(OP_SUB, F32, 0, 4.2, 1, FMA(1.09), 0, 0),
    R(OP_ADD, F64, 0, 8.2, 1, FP64(2.04), 0, 0), R(OP_SUB, F64, 0, 8.2, 1, FP64(2.04), 0, 0),
    R(OP_ADD, HALF, 0, 4.2, 1, FMA(1.1), 0, 0), R(OP_SUB, HALF, 0, 4.2, 1, FMA(1.1), 0, 0),
    R(OP_ADD, HALF2, 0, 8.2, 1, FMA(1.13), 0, 0), R(OP_SUB, HALF2, 0, 8.2, 1, FMA(1.13), 0, 0),
    R(OP_CARRY_ADD, WORD, 0, 5.2, 1, ALU(1.17), FMA(1.17)), R(OP_CARRY_SUB, WORD, 0, 5.2, 1, ALU(1.17), FMA(1.17)),
    R(OP_CARRY_ADD, LONG, 0, 6.3, 2, ALU(2.27), FMA(2.27)), R(OP_CARRY_SUB, LONG, 0, 6.3, 2, ALU(2.27), FMA(2.27)),
    R(OP_CARRY_MAD, ANY, 0, 12.1, 2, FMA(3.15), 0, 0),
    R(OP_MUL_LO, WORD, 0, 4.2, 1, FMA(2.02), 0, 0), R(OP_MAD_LO, WORD, 0, 4.2, 1, FMA(2.02), 0, 0),
    R(OP_MUL_LO, LONG, 0, 17.1, 4, FMA(8.6), 0, 0), R(OP_MAD_LO, LONG, 0, 17.1, 4, FMA(8.3), 0, 0),
    R(OP_MUL_LO, F32, 0, 4.2, 1, FMA(1.08), 0, 0), R(OP_MUL_LO, F64, 0, 8.2, 1, FP64(2.04), 0, 0),
    R(OP_MUL_LO, HALF, 0, 4.2, 1, FMA(1.1), 0, 0), R(OP_MUL_LO, HALF2, 0, 8.2, 1, FMA(1.13), 0, 0),
    R(OP_MUL_HI, LONG, 0, 33.3, 8, FMA(16.9), 0, 0), R(OP_MAD_HI, LONG, 0, 33.3, 8, FMA(16.9), 0, 0),
    R(OP_MUL_HI, ANY, 0, 9.2, 1, FMA(4.02), 0, 0), R(OP_MAD_HI, ANY, 0, 9.4, 1, FMA(4.1), 0, 0),
    R(OP_MUL_WIDE, ANY, 0, 4.5, 1, FMA(2.02), 0, 0), R(OP_MAD_WIDE, ANY, 0, 12.3, 2.5, FMA(5.2), 0, 0),
    R(OP_MUL24, ANY, 0, 10.1, 2, FMA(2.2), 0, 0), R(OP_MAD24, ANY, 0, 10.1, 2, FMA(2.2), 0, 0),
    R(OP_SAD, ANY, 0, 4.3, 1, ALU(2.04), 0, 0), R(OP_DP4A, ANY, 0, 4.2, 1, FMA(2.02), 0, 0),
    R(OP_DP2A, ANY, 0, 4.2, 1, FMA(2.02), 0, 0),
    R(OP_FMA, F32, 0, 4.2, 1, FMA(1.08), 0, 0), R(OP_FMA, F64, 0, 8.2, 1, FP64(2.2), 0, 0),
    R(OP_FMA, HALF, 0, 4.2, 1, FMA(1.09), 0, 0), R(OP_FMA, HALF2, 0, 8.2, 1, FMA(1.53), 0, 0),
    R(OP_DIV, F32, FLAG_APPROX | FLAG_FTZ, 23.7, 2, XU(8.15), 0, 0),
    R(OP_DIV, F32, FLAG_APPROX, 41.8, 6, XU(8.3), 0, 0),
    R(OP_DIV, F32, FLAG_FULL, 45.9, 9, XU(9.0), 0, 0), R(OP_DIV, F32, 0, 44.6, 10, XU(17.2), 0, 0),
    R(OP_DIV, F64, 0, 112.5, 24, FP64(24.4), 0, 0),
    R(OP_DIV, LONG, 0, 319, 120, FMA(135), 0, 0), R(OP_REM, LONG, 0, 312, 110, FMA(124.5), 0, 0),
    R(OP_DIV, ANY, 0, 129, 25, FMA(33.6), 0, 0), R(OP_REM, ANY, 0, 131, 25, FMA(34.6), 0, 0),
    R(OP_RCP, F32, FLAG_APPROX | FLAG_FTZ, 19, 1, XU(8.1), 0, 0), R(OP_RCP, F32, FLAG_APPROX, 41.6, 7, XU(9.2), 0, 0),
    R(OP_RCP, F32, 0, 64.4, 10, XU(10.4), 0, 0), R(OP_RCP, F64, FLAG_APPROX, 18.9, 1, XU(8.1), 0, 0),
    R(OP_RCP, F64, 0, 62.3, 13, FP64(13.4), 0, 0),
    R(OP_SQRT, F32, FLAG_APPROX | FLAG_FTZ, 17, 1, XU(8.1), 0, 0),
    R(OP_SQRT, F32, FLAG_APPROX, 39.4, 4, XU(8.15), 0, 0),
    R(OP_SQRT, F32, 0, 42.9, 12, XU(9.2), 0, 0), R(OP_SQRT, F64, 0, 81.3, 25, FP64(25), 0, 0),
    R(OP_RSQRT, F64, 0, 56.3, 14, XU(16.4), 0, 0), R(OP_RSQRT, ANY, FLAG_FTZ, 17, 1, XU(8.1), 0, 0),
    R(OP_RSQRT, ANY, 0, 39.4, 4, XU(8.15), 0, 0), R(OP_LG2, ANY, FLAG_FTZ, 17, 1, XU(8.1), 0, 0),
    R(OP_LG2, ANY, 0, 39.4, 4, XU(8.15), 0, 0), R(OP_EX2, HALF2, 0, 17.3, 2, XU(16), 0, 0),
    R(OP_EX2, ANY, FLAG_FTZ, 17, 1, XU(8.1), 0, 0), R(OP_EX2, ANY, 0, 18.4, 1.2, XU(8.1), 0, 0),
    R(OP_SIN, ANY, 0, 22.7, 2, XU(8.2), 0, 0), R(OP_COS, ANY, 0, 22.7, 2, XU(8.2), 0, 0),
    R(OP_TANH, HALF2, 0, 17.3, 2, XU(16), 0, 0), R(OP_TANH, ANY, 0, 17, 1, XU(8.1), 0, 0),
    R(OP_MIN, F64, 0, 25.3, 8, FP64(8.2), 0, 0), R(OP_MAX, F64, 0, 25.3, 8, FP64(8.2), 0, 0),
    R(OP_MIN, LONG, 0, 12.2, 4, ALU(8.04), 0, 0), R(OP_MAX, LONG, 0, 12.2, 4, ALU(8.04), 0, 0),
    R(OP_MIN, ANY, 0, 4.25, 1, ALU(2.04), 0, 0), R(OP_MAX, ANY, 0, 4.25, 1, ALU(2.04), 0, 0),
    R(OP_ABS, WORD, 0, 5.2, 1, ALU(1.25), 0, 0), R(OP_NEG, WORD, 0, 5.2, 1, ALU(1.2), 0, 0),
    R(OP_ABS, LONG, 0, 6.3, 2, ALU(2.27), 0, 0), R(OP_NEG, LONG, 0, 6.3, 2, ALU(2.27), 0, 0),
    R(OP_ABS, ANY, 0, 0, 0, 0, 0, 0, 0), R(OP_NEG, ANY, 0, 0, 0, 0, 0, 0, 0), /* assumed: modifiers of operands */
    R(OP_POPC, ANY, 0, 17, 1, XU(8), 0, 0), R(OP_BFIND, ANY, 0, 17, 1, XU(8), 0, 0),
    R(OP_CLZ, ANY, 0, 23, 2, XU(8), 0, 0), R(OP_BREV, ANY, 0, 18, 1, XU(8.1), 0, 0),
    R(OP_FNS, ANY, 0, 186, 45, ALU(46.8), 0, 0),
    R(OP_BFE, ANY, 0, 8.2, 2, ALU(4.1), 0, 0), R(OP_BFI, ANY, 0, 10.2, 2, ALU(2.2), FMA(2.2)),
    R(OP_SZEXT, ANY, 0, 4.3, 1, ALU(2.04), 0, 0), R(OP_BMSK, ANY, 0, 4.3, 1, ALU(2.04), 0, 0),
    R(OP_AND, PRED, 0, 8.3, 1, ALU(2.04), 0, 0), R(OP_OR, PRED, 0, 8.3, 1, ALU(2.04), 0, 0), /* assumed: as setp */
    R(OP_XOR, PRED, 0, 8.3, 1, ALU(2.04), 0, 0), R(OP_NOT, PRED, 0, 0, 0, 0, 0, 0, 0),
    R(OP_AND, LONG, 0, 4.2, 2, ALU(4.1), 0, 0), R(OP_OR, LONG, 0, 4.2, 2, ALU(4.1), 0, 0),
    R(OP_XOR, LONG, 0, 4.2, 2, ALU(4.1), 0, 0), R(OP_NOT, LONG, 0, 4.2, 2, ALU(4.1), 0, 0),
    R(OP_AND, ANY, 0, 4.2, 1, ALU(2.04), 0, 0), R(OP_OR, ANY, 0, 4.2, 1, ALU(2.04), 0, 0),
    R(OP_XOR, ANY, 0, 4.2, 1, ALU(2.04), 0, 0), R(OP_NOT, ANY, 0, 4.2, 1, ALU(2.04), 0, 0),
    R(OP_CNOT, ANY, 0, 8.2, 2, ALU(4.1), 0, 0), R(OP_LOP3, ANY, 0, 4.2, 1, ALU(2.04), 0, 0),
    R(OP_SHL, LONG, 0, 6.1, 2, ALU(4.04), 0, 0), R(OP_SHR, LONG, 0, 8.1, 2, ALU(4.04), 0, 0),
    R(OP_SHL, ANY, 0, 4.25, 1, ALU(2.04), 0, 0), R(OP_SHR, ANY, 0, 4.25, 1, ALU(2.04), 0, 0),
    R(OP_SHF, ANY, 0, 4.25, 1, ALU(2.04), 0, 0), R(OP_PRMT, ANY, 0, 4.25, 1, ALU(2.04), 0, 0),
    R(OP_TESTP, ANY, 0, 4.3, 1, ALU(2.04), 0, 0), R(OP_COPYSIGN, ANY, 0, 4.2, 1, ALU(2.04), 0, 0),
    R(OP_SETP, F64, 0, 10.2, 1, FP64(2.2), 0, 0), R(OP_SETP, LONG, 0, 8.2, 2, ALU(4.1), 0, 0),
    R(OP_SETP, ANY, 0, 4.2, 1, ALU(2.04), 0, 0), R(OP_SET, ANY, 0, 8.3, 2, ALU(4.1), 0, 0),
    R(OP_SELP, LONG, 0, 4.2, 2, ALU(4.1), 0, 0), R(OP_SELP, F64, 0, 4.2, 2, ALU(4.1), 0, 0),
    R(OP_SELP, ANY, 0, 4.2, 1, ALU(2.04), 0, 0), R(OP_SLCT, ANY, 0, 8.2, 2, ALU(4.1), 0, 0),
    R(OP_CVT_PACK, ANY, 0, 9.5, 2, ALU(4.1), 0, 0),
    R(OP_MIX_ADD, ANY, 0, 4.2, 1, FMA(1.09), 0, 0), R(OP_MIX_FMA, ANY, 0, 4.2, 1, FMA(1.09), 0, 0),
    R(OP_VIDEO, ANY, 0, 12, 4, ALU(8), 0, 0), R(OP_VIDEO_SIMD, ANY, 0, 12, 4, ALU(8), 0, 0), /* assumed */
    R(OP_ISSPACEP, ANY, 0, 8.3, 2, ALU(4.1), 0, 0), R(OP_MAPA, ANY, 0, 5, 2, ALU(2.04), 0, 0),
    R(OP_GETCTARANK, ANY, 0, 5, 1, ALU(2.04), 0, 0), R(OP_MBAR_PENDING, ANY, 0, 4.2, 1, ALU(2.04), 0, 0),
    R(OP_SHFL, ANY, 0, 25, 1, LSU(1.09), 0, 0), R(OP_VOTE, ANY, 0, 13.2, 1, ALU(4.1), 0, 0),
    R(OP_ACTIVEMASK, ANY, 0, 13.2, 1, ALU(4.1), 0, 0), R(OP_ELECT, ANY, 0, 13.2, 1, ALU(4.1), 0, 0),
    R(OP_REDUX, ANY, 0, 43, 2, XU(8.1), 0, 0), R(OP_BAR_WARP, ANY, 0, 0, 1, 0, 0, 0, 0),
    R(OP_CREATEPOLICY, ANY, 0, 4.2, 1, ALU(2.04), 0, 0), R(OP_NANOSLEEP, ANY, 0, 8, 1, 0, 0, 0, 0),
    R(OP_CP_ASYNC, ANY, 0, 0, 1, LSU(3.85), 0, 0), R(OP_CP_COMMIT, ANY, 0, 0, 1, 0, 0, 0, 0),
    R(OP_CP_WAIT, ANY, 0, 0, 1, 0, 0, 0, 0), R(OP_CP_WAIT_ALL, ANY, 0, 0, 1, 0, 0, 0, 0),
};

static Group group_of(const PtxIns *ins)
{
    PtxType type = (PtxType)(ins->op == OP_SETP || ins->op == OP_SET ? ins->type2 : ins->type);
    switch (type) {
    case T_PRED: return PRED;
    case T_F32: return F32;
    case T_F64: return F64;
    case T_F16:
    case T_BF16: return HALF;
    case T_F16X2:
    case T_BF16X2: return HALF2;
    default: return ptx_types[type].bytes >= 8 ? LONG : WORD;
    }
}

static const Row *row_of(const PtxIns *ins)
{
    Group group = group_of(ins);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        if (rows[i].op == ins->op && (rows[i].group == ANY || rows[i].group == group) &&
            (ins->flags & rows[i].flag) == rows[i].flag)
            return &rows[i];
    return NULL;
}

/* Conversions: by what is converted to what. */
static Row convert_cost(const PtxIns *ins)
{
    const PtxTypeRow *to = &ptx_types[ins->type], *from = &ptx_types[ins->type2];
    gboolean to_float = to->kind == TYPE_FLOAT, from_float = from->kind == TYPE_FLOAT;
    if (!to_float && !from_float) { /* extensions and cuts */
        if (ins->flags & FLAG_SAT)
            return (Row)R(OP_CVT, ANY, 0, 9.3, 2, ALU(4.1), 0, 0);
        gboolean is_signed = ptx_type_is_signed((PtxType)ins->type2);
        return to->memory > from->memory && is_signed ? (Row)R(OP_CVT, ANY, 0, 4.2, 1, ALU(2.04), 0, 0)
                                                      : (Row)R(OP_CVT, ANY, 0, 0, 0, 0, 0, 0, 0);
    }
    if (to->memory == 8 || from->memory == 8)
        return (Row)R(OP_CVT, ANY, 0, 18, 1, XU(8.6), 0, 0);
    if (to_float != from_float)
        return to->memory == 2 || from->memory == 2 ? (Row)R(OP_CVT, ANY, 0, 17, 1, XU(8), 0, 0)
                                                    : (Row)R(OP_CVT, ANY, 0, 11.5, 1, XU(4.02), 0, 0);
    if (ins->type == ins->type2)
        return ins->flags & FLAG_INTEGER ? (Row)R(OP_CVT, ANY, 0, 19, 1, XU(8.1), 0, 0)
                                         : (Row)R(OP_CVT, ANY, 0, 4.2, 1, FMA(1.09), 0, 0);
    switch (ins->type) {
    case T_F32: return (Row)R(OP_CVT, ANY, 0, 5.1, 1, FMA(1.1), 0, 0);
    case T_F16X2:
    case T_BF16X2: return (Row)R(OP_CVT, ANY, 0, 4.46, 1, ALU(2.15), 0, 0);
    case T_BF16: return (Row)R(OP_CVT, ANY, 0, 18, 1, XU(6), 0, 0);
    case T_F16: return (Row)R(OP_CVT, ANY, 0, 5.1, 1, ALU(1.1), 0, 0);
    default: return (Row)R(OP_CVT, ANY, 0, 8.7, 2, ALU(4.2), 0, 0);
    }
}

static Row sreg_cost(const PtxIns *ins)
{
    switch ((PtxSreg)ins->imm) {
    case SREG_CLOCK64:
    case SREG_GLOBALTIMER: return (Row)R(OP_SREG, ANY, 0, 4, 1, XU(4), 0, 0);
    case SREG_CLOCK:
    case SREG_CLOCK_HI:
    case SREG_GLOBALTIMER_LO:
    case SREG_GLOBALTIMER_HI: return (Row)R(OP_SREG, ANY, 0, 17, 1, XU(4), 0, 0);
    case SREG_WARPID: return (Row)R(OP_SREG, ANY, 0, 27, 3, XU(8), 0, 0);
    case SREG_NTID_X:
    case SREG_NTID_Y:
    case SREG_NTID_Z:
    case SREG_NCTAID_X:
    case SREG_NCTAID_Y:
    case SREG_NCTAID_Z: return (Row)R(OP_SREG, ANY, 0, 0, 0, 0, 0, 0, 0); /* in the constant bank */
    default: return (Row)R(OP_SREG, ANY, 0, 22, 1, XU(8), 0, 0); /* S2R, as of %warpid, less what follows it there */
    }
}

/* Local memory: 32 B a clock are stored, 128 B loaded, of an SM.
 * Source: docs/measurements/local_memory.csv, 4.0 and 1.03 clk for 128 B of 17 warps; 29.1 clk from a load to its use,
 * of which one is the instruction after it. */
#define LOCAL_STORE CLK(4)
#define LOCAL_LOAD CLK(1.03)
#define LOCAL_LATENCY CLK(30.1)

/* An address that is known when the code is made: an operand from the bank of constants. */
static gboolean is_fixed(const PtxIns *ins) { return ins->src[0] == PLACE_NONE || ins->src[0] & PLACE_POOL; }

/* Memory that is not global. */
static Row inner_memory_cost(const PtxIns *ins)
{
    gboolean local = ins->space == SPACE_LOCAL, store = ins->op == OP_ST;
    guint32 width = (guint32)ins->n_vec * ins->dst_bytes, passes = MAX(width / 4, 1u);
    if (ins->space == SPACE_CONST || ins->space == SPACE_PARAM) {
        return is_fixed(ins) || store ? (Row)R(OP_LD, ANY, 0, 0, 0, 0, 0, 0, 0)
                                        : (Row)R(OP_LD, ANY, 0, 24, 1, LSU(2), 0, 0);
    }
    Row row = R(OP_LD, ANY, 0, 23, 1, LSU(1), 0, 0);
    row.busy = passes * (local && store ? LOCAL_STORE : CLK(1.02));
    row.latency = local ? LOCAL_LATENCY : CLK(21) + passes * CLK(2);
    if (store)
        row.latency = 0;
    return row;
}

static Row atomic_cost(const PtxIns *ins)
{
    gboolean plain = ins->mode != W_ADD || ins->type == T_U32 || ins->type == T_S32;
    Row row = R(OP_ATOM, ANY, 0, 23, 1, LSU(1.2), 0, 0);
    if (ins->mode == W_CAS)
        row = (Row)R(OP_ATOM, ANY, 0, 35, 2, LSU(2.2), 0, 0);
    else if (!plain) /* a loop of compare-and-swap */
        row = (Row)R(OP_ATOM, ANY, 0, 97, 8, LSU(4.6), 0, 0);
    if (ins->op == OP_RED)
        row.latency = 0;
    return row;
}

#define SKIPPED_BY_PREDICATES 6u /* assumed: ptxas has no branch for so few instructions, but guards them */

/* Whether ptxas guards the instructions that a forward branch jumps over. */
static gboolean branch_is_guard(const PtxCode *code, const PtxIns *ins, guint32 at)
{
    if (ins->target <= at || ins->target - at - 1 > SKIPPED_BY_PREDICATES || ins->guard == PLACE_NONE)
        return FALSE;
    for (guint32 i = at + 1; i < ins->target; i++)
        if ((code->ins[i].op >= OP_BAR_SYNC && code->ins[i].op != OP_SREG) || code->ins[i].guard != PLACE_NONE)
            return FALSE;
    return TRUE;
}

static Row control_cost(const PtxCode *code, const PtxIns *ins, guint32 at)
{
    switch (ins->op) {
    case OP_BRA:
        if (ins->guard == PLACE_NONE) /* assumed: half; most blocks of a loop stand one after the other */
            return ins->target == at + 1 ? (Row)R(OP_BRA, ANY, 0, 0, 0, 0, 0, 0, 0)
                                         : (Row)R(OP_BRA, ANY, 0, 9, 1, 0, 0, 0, 0);
        return branch_is_guard(code, ins, at) ? (Row)R(OP_BRA, ANY, 0, 0, 0, 0, 0, 0, 0)
                                              : (Row)R(OP_BRA, ANY, 0, 18, 1, 0, 0, 0, 0);
    case OP_BRX: return (Row)R(OP_BRX, ANY, 0, 35, 4, 0, 0, 0, 0);
    case OP_CALL: return code->calls[ins->target].function ? (Row)R(OP_CALL, ANY, 0, 30, 2, 0, 0, 0, 0)
                                                           : (Row)R(OP_CALL, ANY, 0, 76, 4, 0, 0, 0, 0);
    case OP_RET: return code->function->entry ? (Row)R(OP_RET, ANY, 0, 1, 1, 0, 0, 0, 0)
                                              : (Row)R(OP_RET, ANY, 0, 28, 1, 0, 0, 0, 0);
    default: return (Row)R(OP_EXIT, ANY, 0, 1, 1, 0, 0, 0, 0);
    }
}

static Row cost_of(const PtxCode *code, const PtxIns *ins, guint32 at)
{
    const Row *row = row_of(ins);
    if (row)
        return *row;
    gboolean inside = ins->space != SPACE_GLOBAL && ins->space != SPACE_GENERIC;
    switch (ins->op) {
    case OP_CVT: return convert_cost(ins);
    case OP_SREG: return sreg_cost(ins);
    case OP_MOV:
    case OP_CVTA:
    case OP_NOP: return (Row)R(OP_MOV, ANY, 0, 0, 0, 0, 0, 0, 0);
    case OP_MATCH: return ins->mode == W_ALL ? (Row)R(OP_MATCH, ANY, 0, 23, 1, XU(8.1), 0, 0)
                                             : (Row)R(OP_MATCH, ANY, 0, 368, 1, XU(256), 0, 0);
    case OP_LD:
    case OP_ST: return inside ? inner_memory_cost(ins) : (Row)R(OP_LD, ANY, 0, 0, 1, 0, 0, 0, 0);
    case OP_ATOM:
    case OP_RED: return inside ? atomic_cost(ins) : (Row)R(OP_ATOM, ANY, 0, 0, 1, 0, 0, 0, 0);
    case OP_BRA:
    case OP_BRX:
    case OP_CALL:
    case OP_RET:
    case OP_EXIT:
    case OP_TRAP: return control_cost(code, ins, at);
    case OP_BAR_SYNC:
    case OP_BAR_ARRIVE: return ins->src[1] != PLACE_NONE ? (Row)R(OP_NOP, ANY, 0, 12, 1, 0, 0, 0, 0)
                                                         : (Row)R(OP_NOP, ANY, 0, 0, 1, 0, 0, 0, 0);
    case OP_BAR_RED: return (Row)R(OP_NOP, ANY, 0, 43, 1, 0, 0, 0, 0);
    case OP_FENCE: return (Row)R(OP_FENCE, ANY, 0, ins->scope == W_CTA ? 11 : 0, 1, 0, 0, 0, 0);
    default: /* mbarriers, bulk copies: assumed, as an atomic on shared memory */
        return ins->cost == COST_SHARED ? (Row)R(OP_NOP, ANY, 0, 23, 1, LSU(1.2), 0, 0)
                                        : (Row)R(OP_NOP, ANY, 0, 1, 1, 0, 0, 0, 0);
    }
}

guint32 ptx_cost_latency(const PtxCode *code, const PtxIns *ins) { return cost_of(code, ins, 0).latency; }

/* The stores and loads of local memory that come with an instruction. */
static void add_local(Row *row, guint32 stores, guint32 loads)
{
    if (stores + loads == 0)
        return;
    guint32 *busy = row->unit == COST_SHARED_PIPE || !row->unit ? &row->busy : &row->busy2;
    *(busy == &row->busy ? &row->unit : &row->unit2) = COST_SHARED_PIPE;
    *busy += stores * LOCAL_STORE + loads * LOCAL_LOAD;
    row->slots += (stores + loads) * COST_CLK;
}

static void add_saves(const PtxCode *code, Row *row, const PtxIns *ins, guint32 at)
{
    guint32 saved = at == 0 || ins->op == OP_RET ? ptx_registers_saved(code) : 0;
    gboolean back = ins->op == OP_RET;
    add_local(row, back ? 0 : saved, back ? saved : 0);
    if (saved && back)
        row->latency += saved * COST_CLK + LOCAL_LATENCY;
}

/* A kernel's parameters are constants that no SM has yet when a launch begins: the first use waits for them. All warps
 * are taken to wait, those of later CTAs, too, which find them; others of their SM use that time.
 * Source: docs/measurements/parameters.csv, 104 clk from the first use to what depends on it, in each launch. */
#define PARAMETER_MISS CLK(100)

static gboolean is_first_look(const PtxCode *code, const PtxIns *ins, guint32 block)
{
    return code->function->entry && block == 0 && ins->op == OP_LD && ins->space == SPACE_PARAM && is_fixed(ins);
}

/* ---- a body */

typedef struct {
    guint32 *ready;            /* by place / 4: when its value is there, from the block's beginning */
    guint32 *block;            /* and in which block that was */
    guint32 now, at, latency, block_at;
    gboolean writes;
} Walk;

static void visit(void *user, guint32 *place, gboolean write)
{
    Walk *walk = user;
    guint32 slot = *place / 4;
    if (*place & PLACE_POOL)
        return;
    if (!walk->writes) {
        if (!write && walk->block[slot] == walk->block_at)
            walk->at = MAX(walk->at, walk->ready[slot]);
    } else if (write) {
        walk->ready[slot] = walk->at + walk->latency;
        walk->block[slot] = walk->block_at;
    }
}

static gboolean has_effects(const PtxIns *ins)
{
    return ins->op == OP_CALL || ins->op == OP_RET ||
           (ins->op > OP_NOP && ins->op < OP_BRA && ins->op != OP_LD && ins->op != OP_NANOSLEEP &&
            (ins->op < OP_SHFL || ins->op > OP_ELECT) && ins->op != OP_BAR_WARP && ins->op != OP_FENCE &&
            ins->op != OP_MBAR_TEST && ins->op != OP_MBAR_TRY);
}

void ptx_costs_make(PtxCode *code)
{
    PtxFlow flow;
    guint32 slots = code->frame_bytes / 4 + 64u;
    Walk walk = {.ready = g_new0(guint32, slots), .block = g_new(guint32, slots)};
    memset(walk.block, 0xff, slots * sizeof *walk.block);
    code->costs = g_aligned_alloc0(code->n_ins + 1u, sizeof(PtxCosts), 16);
    ptx_flow_make(&flow, code);
    guint32 begun = 0;         /* the time of the blocks before */
    for (guint32 i = 0; i < code->n_ins; i++) {
        PtxIns *ins = &code->ins[i];
        guint32 *sum = code->costs[i].sum, *next = code->costs[i + 1].sum;
        if (i == flow.block[flow.of[i]].first) {
            begun += walk.now;
            walk.now = 0;
            walk.block_at = flow.of[i];
        }
        Row row = cost_of(code, ins, i);
        if (is_first_look(code, ins, flow.of[i]))
            row.latency = PARAMETER_MISS;
        guint32 loads = code->reloads ? code->reloads[i] : 0;
        add_saves(code, &row, ins, i);
        add_local(&row, code->spills ? code->spills[i] : 0, loads);
        gboolean waits = ins->op == OP_BRA || ins->op == OP_BRX || ins->op == OP_CALL || ins->op == OP_RET ||
                         ins->op == OP_FENCE || (ins->op >= OP_BAR_SYNC && ins->op <= OP_BAR_RED);
        walk.at = walk.now;
        walk.latency = row.latency;
        walk.writes = FALSE;
        ptx_ins_visit(code, ins, visit, &walk);
        walk.writes = TRUE;
        ptx_ins_visit(code, ins, visit, &walk);
        sum[COST_STALL] = begun + walk.at;
        if (loads) /* which began with the block; what a branch back to it spends is not this wait */
            walk.at = MAX(walk.at, LOCAL_LATENCY);
        walk.now = walk.at + (waits ? row.latency : row.slots);
        memcpy(next, sum, sizeof code->costs[i].sum);
        next[COST_STALL] = begun + walk.now;
        next[COST_SLOTS] += row.slots;
        if (row.unit)
            next[row.unit] += row.busy;
        if (row.unit2)
            next[row.unit2] += row.busy2;
        next[COST_EFFECTS] += has_effects(ins);
    }
    ptx_flow_clear(&flow);
    g_free(walk.ready);
    g_free(walk.block);
}
