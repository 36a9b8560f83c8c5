/* The operations: what an instruction does, a row each.
 *
 *     ROW(name, lowering, step, traits)
 *
 * makes OP_name. Its statements are lowered by ptx_lower_<lowering>() in translate/ (plain: by the roles of their
 * operands; nothing: without effect), and lanes execute it by ptx_step_<step>() in run/. "none" is a scalar function
 * (run/scalar.c), has a handler (run/plain.c, run/hot.c), or is never executed. How an operation is written stands in
 * optable.c, what it costs in translate/cost.c. */
#ifndef PTX_READ_OPERATIONS_H
#define PTX_READ_OPERATIONS_H

/* Traits. SETTLES: warps learn of each other by it. MEETS: lanes that do not take part meet the others behind it. */
#define PTX_SETTLES 1u
#define PTX_MEETS 2u

/* Each is a function of the operands of one lane (run/scalar.h). */
#define PTX_SCALAR_OPERATIONS(ROW) \
    ROW(ADD, plain, none, 0) \
    ROW(SUB, plain, none, 0) \
    ROW(MUL_LO, plain, none, 0) \
    ROW(MUL_HI, plain, none, 0) \
    ROW(MUL_WIDE, plain, none, 0) \
    ROW(MAD_LO, plain, none, 0) \
    ROW(MAD_HI, plain, none, 0) \
    ROW(MAD_WIDE, plain, none, 0) \
    ROW(MUL24, plain, none, 0) \
    ROW(MAD24, plain, none, 0) \
    ROW(SAD, plain, none, 0) \
    ROW(DIV, plain, none, 0) \
    ROW(REM, plain, none, 0) \
    ROW(ABS, plain, none, 0) \
    ROW(NEG, plain, none, 0) \
    ROW(MIN, plain, none, 0) \
    ROW(MAX, plain, none, 0) \
    ROW(POPC, plain, none, 0) \
    ROW(CLZ, plain, none, 0) \
    ROW(BFIND, plain, none, 0) \
    ROW(FNS, plain, none, 0) \
    ROW(BREV, plain, none, 0) \
    ROW(BFE, plain, none, 0) \
    ROW(BFI, plain, none, 0) \
    ROW(SZEXT, plain, none, 0) \
    ROW(BMSK, plain, none, 0) \
    ROW(DP4A, plain, none, 0) \
    ROW(DP2A, plain, none, 0) \
    ROW(AND, plain, none, 0) \
    ROW(OR, plain, none, 0) \
    ROW(XOR, plain, none, 0) \
    ROW(NOT, plain, none, 0) \
    ROW(CNOT, plain, none, 0) \
    ROW(LOP3, plain, none, 0) \
    ROW(SHL, plain, none, 0) \
    ROW(SHR, plain, none, 0) \
    ROW(SHF, plain, none, 0) \
    ROW(PRMT, plain, none, 0) \
    ROW(TESTP, plain, none, 0) \
    ROW(COPYSIGN, plain, none, 0) \
    ROW(FMA, plain, none, 0) \
    ROW(RCP, plain, none, 0) \
    ROW(SQRT, plain, none, 0) \
    ROW(RSQRT, plain, none, 0) \
    ROW(SIN, plain, none, 0) \
    ROW(COS, plain, none, 0) \
    ROW(LG2, plain, none, 0) \
    ROW(EX2, plain, none, 0) \
    ROW(TANH, plain, none, 0) \
    ROW(SETP, plain, none, 0) \
    ROW(SET, plain, none, 0) \
    ROW(SELP, plain, none, 0) \
    ROW(SLCT, plain, none, 0) \
    ROW(CVT, plain, none, 0) \
    ROW(CVT_PACK, plain, none, 0) \
    ROW(VIDEO, plain, none, 0) \
    ROW(VIDEO_SIMD, plain, none, 0) \
    ROW(MIX_ADD, plain, none, 0) \
    ROW(MIX_FMA, plain, none, 0) \
    ROW(ISSPACEP, isspacep, none, 0) \
    ROW(MAPA, plain, none, 0) \
    ROW(GETCTARANK, plain, none, 0) \
    ROW(MBAR_PENDING, plain, none, 0)

#define PTX_OTHER_OPERATIONS(ROW) \
    ROW(CARRY_ADD, plain, none, 0) \
    ROW(CARRY_SUB, plain, none, 0) \
    ROW(CARRY_MAD, plain, none, 0) \
    ROW(MOV, mov, none, 0) \
    ROW(CVTA, cvta, none, 0) \
    ROW(NOP, nothing, none, 0) \
    ROW(LD, memory, ld, 0) \
    ROW(ST, memory, st, 0) \
    ROW(ATOM, memory, atom, 0) \
    ROW(RED, memory, atom, 0) \
    ROW(MC_LOAD, memory, multimem, 0) \
    ROW(MC_STORE, memory, multimem, 0) \
    ROW(MC_RED, memory, multimem, 0) \
    ROW(PREFETCH, nothing, none, 0) \
    ROW(CREATEPOLICY, plain, none, 0) \
    ROW(CP_ASYNC, plain, async, 0) \
    ROW(CP_COMMIT, plain, async, 0) \
    ROW(CP_WAIT, plain, async, 0) \
    ROW(CP_WAIT_ALL, plain, async, 0) \
    ROW(CP_MBAR_ARRIVE, plain, async, 0) \
    ROW(BULK_G2S, plain, bulk, PTX_MEETS) \
    ROW(BULK_S2S, plain, bulk, PTX_MEETS) \
    ROW(BULK_S2G, plain, bulk, PTX_MEETS) \
    ROW(BULK_RED_S2S, plain, bulk, PTX_MEETS) \
    ROW(BULK_RED_S2G, plain, bulk, PTX_MEETS) \
    ROW(BULK_PREFETCH, nothing, none, PTX_MEETS) \
    ROW(BULK_MC, plain, bulk, PTX_MEETS) \
    ROW(BULK_COMMIT, plain, async, 0) \
    ROW(BULK_WAIT, plain, async, 0) \
    ROW(ST_ASYNC, plain, remote, 0) \
    ROW(RED_ASYNC, plain, remote, 0) \
    ROW(ST_BULK, plain, remote, 0) \
    ROW(MBAR_INIT, plain, mbarrier, PTX_SETTLES) \
    ROW(MBAR_INVAL, plain, mbarrier, PTX_SETTLES) \
    ROW(MBAR_ARRIVE, plain, mbarrier, PTX_SETTLES) \
    ROW(MBAR_ARRIVE_TX, plain, mbarrier, PTX_SETTLES) \
    ROW(MBAR_EXPECT_TX, plain, mbarrier, PTX_SETTLES) \
    ROW(MBAR_COMPLETE_TX, plain, mbarrier, PTX_SETTLES) \
    ROW(MBAR_TEST, plain, mbarrier, PTX_SETTLES) \
    ROW(MBAR_TRY, plain, mbarrier, PTX_SETTLES) \
    ROW(SHFL, plain, member, 0) \
    ROW(VOTE, plain, member, 0) \
    ROW(MATCH, plain, member, 0) \
    ROW(ACTIVEMASK, plain, member, 0) \
    ROW(REDUX, plain, member, 0) \
    ROW(ELECT, plain, member, 0) \
    ROW(BAR_SYNC, plain, barrier, PTX_SETTLES) \
    ROW(BAR_ARRIVE, plain, barrier, PTX_SETTLES) \
    ROW(BAR_RED, plain, barrier, PTX_SETTLES) \
    ROW(BAR_WARP, plain, member, 0) \
    ROW(BAR_CLUSTER_ARRIVE, plain, cluster, PTX_SETTLES) \
    ROW(BAR_CLUSTER_WAIT, plain, cluster, PTX_SETTLES) \
    ROW(FENCE, plain, fence, 0) \
    ROW(GRIDDEP, plain, griddep, PTX_SETTLES) \
    ROW(NANOSLEEP, plain, nanosleep, 0) \
    ROW(BRA, control, none, 0) \
    ROW(BRX, control, brx, 0) \
    ROW(CALL, call, call, PTX_MEETS) \
    ROW(RET, control, ret, PTX_SETTLES) \
    ROW(EXIT, plain, exit, PTX_SETTLES) \
    ROW(TRAP, plain, trap, 0) \
    ROW(BRKPT, nothing, none, 0) \
    ROW(ALLOCA, plain, none, 0) \
    ROW(SREG, plain, none, 0)

#define PTX_OPERATIONS(ROW) PTX_SCALAR_OPERATIONS(ROW) PTX_OTHER_OPERATIONS(ROW)

#endif
