/* Between the files that execute instructions. */
#ifndef PTX_RUN_EXEC_H
#define PTX_RUN_EXEC_H

#include <string.h>

#include "ptx/run/path.h"

/* The 32 lanes of an operand. */
static inline const void *ptx_lanes(const PtxWarp *warp, guint32 place)
{
    return warp->base[place & PLACE_POOL] + (place & ~PLACE_POOL);
}
static inline void *ptx_lanes_out(PtxWarp *warp, guint32 place) { return (guint8 *)warp->base[0] + place; }
static inline guint32 ptx_predicate(const PtxWarp *warp, guint32 place)
{
    return *(const guint32 *)ptx_lanes(warp, place);
}

/* One lane of an operand of so many bytes (1: a predicate); 16-byte lanes give their low half. */
guint64 ptx_lane_get(const PtxWarp *warp, guint32 place, guint bytes, guint lane);
void ptx_lane_set(PtxWarp *warp, guint32 place, guint bytes, guint lane, guint64 value);
static inline guint32 ptx_lane_u32(const PtxWarp *warp, guint32 place, guint lane)
{
    return ((const guint32 *)ptx_lanes(warp, place))[lane];
}

/* Addresses of a memory operand: base and offset, 64 bits. Returns the bits that any of them has. */
guint64 ptx_addresses(const PtxWarp *warp, const PtxIns *ins, guint at, guint64 offset, guint64 va[PTX_LANES]);

/* Lines of 128 B that a stretch of instructions lies on, of 16 B each: are they there? */
static inline void ptx_fetch(PtxWarp *warp, const PtxCode *code, guint32 from, guint32 to)
{
    if (G_UNLIKELY(warp->fetch_code != code)) {
        const PtxGrid *grid = warp->cta->grid;
        warp->fetch_code = code;
        warp->fetch_lines = grid->host->fetched ? grid->host->fetched(grid->user, warp, code) : NULL;
    }
    for (guint32 line = from / PTX_LINE_SLOTS; warp->fetch_lines && line * PTX_LINE_SLOTS < to; line++) {
        guint64 *bits = &warp->fetch_lines[line / 64], bit = (guint64)1 << (line % 64);
        warp->fetches += !(*bits & bit);
        *bits |= bit;
    }
}

/* Adds what the instructions up to `ins`, itself not, cost and count. */
static inline void ptx_account(PtxWarp *warp, const PtxIns *ins)
{
    const PtxFrame *frame = warp->current->frame;
    const PtxIns *code = frame->code->ins;
    const PtxCosts *from = &frame->code->costs[warp->from - code], *to = &frame->code->costs[ins - code];
    for (guint i = 0; i < COST_SUMS / 4; i++)
        warp->costs.part[i] += to->part[i] - from->part[i];
    ptx_fetch(warp, frame->code, from->sum[COST_SLOTS], to->sum[COST_SLOTS]);
    warp->cta->grid->instructions += (guint64)(ins - warp->from);
    warp->from = ins;
}

/* access.c */
PtxAccess *ptx_access_new(PtxWarp *warp, PtxPath *path, const PtxIns *ins, PtxAccessKind kind, guint32 mask);
void ptx_access_clear(PtxAccess *access); /* what a bulk copy has beside itself */
/* Bytes of lanes, each n_vec elements, into the registers of an instruction, and the way back. */
void ptx_bytes_to_registers(PtxFrame *frame, const PtxIns *ins, guint32 mask, const guint8 *bytes, guint stride);
void ptx_registers_to_bytes(const PtxWarp *warp, const guint32 *places, guint n, guint element, guint width,
                            guint8 *bytes, guint stride);
void ptx_mark_busy(PtxFrame *frame, const PtxIns *ins); /* until the access at hand is complete */

/* memory.c */
/* A lane's bytes in shared (own or of the cluster), local or parameter memory; NULL: outside, and a fault is set. */
guint8 *ptx_lane_memory(PtxWarp *warp, PtxPath *path, const PtxIns *ins, PtxSpace space, guint64 offset, guint32 bytes,
                        guint lane);
/* The shared memory of the CTA that an address names, and the offset in it; NULL: none. */
PtxCta *ptx_shared_cta(PtxCta *cta, guint64 *offset);

/* steps by file */
PtxStep ptx_step_ld(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask);
PtxStep ptx_step_st(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask);
PtxStep ptx_step_atom(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask);
PtxStep ptx_step_multimem(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask);
PtxStep ptx_step_fence(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask);
PtxStep ptx_step_async(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask);
PtxStep ptx_step_bulk(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask);
PtxStep ptx_step_tensor(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask);    /* copies by tensor maps */
PtxStep ptx_step_tensormap(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask); /* changes of maps */
PtxStep ptx_step_remote(PtxWarp *warp, PtxPath *path, const PtxIns *ins,
                        guint32 mask); /* st.async, red.async, st.bulk */
PtxStep ptx_step_fabric(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask);        /* fabric.try_* */
PtxStep ptx_step_fabric_tensor(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask); /* fabric_tensor.c */
PtxStep ptx_step_fabric_order(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask);
PtxStep ptx_step_mbarrier(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask);
PtxStep ptx_step_member(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask); /* shfl, vote, ..., bar.warp */
PtxStep ptx_step_wgmma(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask);  /* and its fence, groups */
PtxStep ptx_step_barrier(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask);
PtxStep ptx_step_cluster(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask);
PtxStep ptx_step_griddep(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask);
PtxStep ptx_step_nanosleep(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask);
PtxStep ptx_step_brx(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask);
PtxStep ptx_step_call(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask);
PtxStep ptx_step_ret(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask);
PtxStep ptx_step_exit(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask);
PtxStep ptx_step_trap(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask);
PtxStep ptx_system_call(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask, const PtxCall *call);

/* Of all lanes of the current path, for ptx_step_member(); a fault may be set. */
void ptx_run_mma(PtxWarp *warp, const PtxIns *ins);         /* matrix.c */
void ptx_run_matrix_move(PtxWarp *warp, const PtxIns *ins); /* matrix_move.c: ldmatrix, stmatrix, movmatrix */
/* Bank conflicts of one pass over shared memory by these lanes. memory.c */
void ptx_count_conflicts(PtxWarp *warp, guint32 mask, const guint64 *offset, guint width);

/* plain handlers beside those of hot.c */
void ptx_run_scalar(PtxWarp *warp, const PtxIns *ins, guint32 mask);
void ptx_run_mov(PtxWarp *warp, const PtxIns *ins, guint32 mask);
void ptx_run_pack(PtxWarp *warp, const PtxIns *ins, guint32 mask);
void ptx_run_predicate(PtxWarp *warp, const PtxIns *ins, guint32 mask);
void ptx_run_carry(PtxWarp *warp, const PtxIns *ins, guint32 mask);
void ptx_run_sreg(PtxWarp *warp, const PtxIns *ins, guint32 mask);
void ptx_run_cvta(PtxWarp *warp, const PtxIns *ins, guint32 mask);

/* The scalar function of an operation; NULL: none. */
PtxScalar ptx_scalar_find(PtxOp op);
/* The handler of hot.c for exactly this instruction, of the best clone for this machine; NULL: none. */
PtxHandler ptx_hot_find(const PtxIns *ins);
const PtxHot *ptx_hot_functions(void);
void ptx_code_bind(PtxCode *code); /* handlers.c */

/* barrier.c: lanes of a warp have ended: barriers may be complete. */
void ptx_warp_ended(PtxWarp *warp);
void ptx_lanes_ended(PtxWarp *warp, guint32 lanes);
/* warp_collective.c: gathers may be complete. */
void ptx_gathers_check(PtxWarp *warp);
/* still.c: what other warps of the cluster may see has changed. */
void ptx_cluster_changed(PtxCluster *cluster);
/* mbarrier.c: for copies. */
void ptx_mbarrier_complete_tx(PtxCta *cta, guint32 at, guint32 bytes);
void ptx_mbarrier_arrive(PtxCta *cta, guint32 at, guint32 count);
gboolean ptx_mbarrier_reports(const PtxCta *cta, guint32 at); /* it has the layout that takes reports */
void ptx_mbarrier_report(PtxCta *cta, guint32 at, guint8 value);
/* fabric.c: one operation of a warp; FALSE: lanes may not end so, and a fault is set; what a CTA leaves behind. */
void ptx_run_pullred(PtxWarp *warp, const PtxIns *ins, guint32 mask);
gboolean ptx_fabric_lanes_end(PtxWarp *warp, const PtxIns *ins, guint32 mask);
void ptx_fabric_clear(PtxCta *cta);
/* trace.c: of a traced warp, before an instruction of the current path, behind it, and when a load's answer came. */
void ptx_trace_begin(PtxWarp *warp, const PtxIns *ins, guint32 mask);
void ptx_trace_end(PtxWarp *warp, const PtxIns *ins, guint32 mask, PtxStep step);
void ptx_trace_answer(PtxWarp *warp, const PtxAccess *access);
/* async.c: one more copy of its group is done. */
void ptx_group_landed(PtxAccess *access);

/* An arrival at an mbarrier that waits for a lane's earlier asynchronous copies. */
typedef struct PtxDeferred {
    struct PtxDeferred *next;
    guint64 serial; /* copies up to this one */
    guint32 lane, at;
    PtxCta *cta;
} PtxDeferred;
void ptx_warp_clear_async(PtxWarp *warp);
/* A place in shared memory that a lane's address means, of the own or another CTA; NULL: a fault is set. */
guint8 *ptx_shared_place(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint64 va, guint32 bytes, guint lane,
                         PtxCta **cta, guint32 *at);

#endif
