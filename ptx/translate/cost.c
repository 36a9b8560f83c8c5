/* The costs of instructions, as measured on an H100: rows of operations.h, and here what depends on more than the type
 * of operands. See cost.h. */
#include "ptx/translate/cost.h"
#include "ptx/translate/lower.h"
/* clang-format off */ /* rows and one-line cases, read by column */
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

#define COST(name, ...) R(OP_##name, __VA_ARGS__),
static const Row rows[] = {
#include "ptx/operations.h"
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

static Row matrix_cost(const PtxIns *ins)
{
    PtxMatrixCost cost = ptx_cost_matrix(ins);
    return (Row){.op = ins->op, .latency = cost.latency, .slots = cost.slots, .unit = cost.unit, .busy = cost.busy,
                 .unit2 = cost.unit2, .busy2 = cost.busy2};
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
    case OP_LDMATRIX:
    case OP_STMATRIX:
    case OP_MOVMATRIX:
    case OP_MMA:
    case OP_WGMMA: return matrix_cost(ins);
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
