/* Diverged warps: a short list of paths, usually one, each a set of lanes at one instruction.
 *
 * A branch that the lanes of a path take differently splits it. The halves carry a join: the immediate
 * post-dominator of the branch and the lanes expected there. A path that comes to its join is put away; when all
 * expected lanes are there they go on as one path. That keeps accesses coalesced, as convergence barriers do in
 * hardware. Nothing depends on it: lanes that end are no longer expected, and lanes that wait at a join go on alone
 * when their siblings have branched back too often (PtxGrid.back_branches, spin_branches), or can do nothing until
 * those go on. A path gives way to the others at each backward branch, when it sleeps, and when it waits for a load.
 * So each lane makes progress, whatever the others do: spins and locks among siblings end.
 *
 * Paths at the same instruction of the same frame, with the same join, become one. Instructions with a member mask
 * (.sync) gather their lanes from all paths. Order is by age; nothing is random. */
#ifndef PTX_RUN_PATH_H
#define PTX_RUN_PATH_H

#include "ptx/run/warp.h"

/* One call of a function: its registers. Paths share it; it lives until the last of them has left. */
struct PtxFrame {
    PtxFrame *caller;
    const PtxCode *code;
    const guint8 *pool;
    guint8 *regs, *param; /* param: 32 areas of code->param_bytes */
    guint64 busy;         /* registers that loads have still to bring, as bits */
    guint32 refs, pending;
    guint32 return_pc, local_base, depth;
    const PtxCall *call; /* that made it */
};
#define PTX_CALL_DEPTH_MAX 1024u

struct PtxPath {
    PtxPath *next, *prev;
    PtxFrame *frame;
    PtxJoin *join;
    guint32 pc, mask;
    guint8 state; /* PtxPathState */
    guint8 barrier;
    gboolean fenced;         /* the fence before the instruction at hand is done */
    gboolean timed_out;      /* of mbarrier.try_wait */
    guint32 gather;          /* member mask */
    guint32 lanes;           /* that execute the instruction it waits at */
    guint32 phase, at, rank; /* cluster barrier's; mbarrier's address and CTA */
    guint64 wake_ps;
    PtxAccess *access;
    const PtxIns *ins;
};

struct PtxJoin {
    PtxJoin *outer, *next, *prev;
    PtxFrame *frame;
    guint32 pc, expected, arrived, turns, refs;
};

PtxFrame *ptx_frame_new(PtxWarp *warp, PtxCode *code, PtxFrame *caller); /* NULL: a fault is set */
PtxFrame *ptx_frame_ref(PtxFrame *frame);
void ptx_frame_unref(PtxWarp *warp, PtxFrame *frame);

PtxPath *ptx_path_new(PtxWarp *warp, PtxFrame *frame, PtxJoin *join, guint32 pc, guint32 mask); /* last in the order */
void ptx_path_free(PtxWarp *warp, PtxPath *path);
void ptx_path_last(PtxWarp *warp, PtxPath *path); /* to the end of the order */
/* Lanes `away` of the path go to pc `to` by themselves; both meet at `join` (or G_MAXUINT32: nowhere). */
PtxPath *ptx_path_split(PtxWarp *warp, PtxPath *path, guint32 away, guint32 to, guint32 join);
gboolean ptx_path_arrive(PtxWarp *warp, PtxPath *path); /* at its join; TRUE: it is put away */
void ptx_path_back_branch(PtxWarp *warp, PtxPath *path, gboolean spin);
void ptx_path_exit(PtxWarp *warp, PtxPath *path, guint32 lanes); /* frees the path when none is left */
gboolean ptx_warp_release(PtxWarp *warp);          /* lets the lanes at the newest join go; FALSE: none wait */
void ptx_warp_merge(PtxWarp *warp);                /* paths at one place become one */
void ptx_warp_enter(PtxWarp *warp, PtxPath *path); /* its registers are the current ones */

void ptx_warp_wake(PtxWarp *warp, PtxWakeKind kind); /* tells the host */

#endif
