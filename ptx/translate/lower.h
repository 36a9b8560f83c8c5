/* Between the files that turn a body into code. */
#ifndef PTX_TRANSLATE_LOWER_H
#define PTX_TRANSLATE_LOWER_H

#include "ptx/read/body.h"
#include "ptx/translate/code.h"

/* While a body is lowered, a place with bit 0 clear is twice a virtual register. */
#define PLACE_OF_REG(reg) ((guint32)(reg) << 1)

typedef struct {
    PtxBody *body;
    PtxCode *code;
    GArray *ins;    /* PtxIns */
    GArray *places; /* guint32 */
    GByteArray *pool;
    GHashTable *constants; /* of the pool: key text -> place */
    guint32 *start;        /* of each statement: its first instruction */
    GArray *patches;       /* guint32: instructions whose target is a statement still */
    GError **error;
    const PtxStatement *statement; /* at hand */
    const PtxArg *args;
} PtxLower;

/* lower.c: operands. Places of numbers are in the pool; special registers and bases cost an instruction. */
guint32 ptx_lower_source(PtxLower *lower, const PtxArg *arg, guint bytes, PtxType type);
guint32 ptx_lower_constant(PtxLower *lower, guint64 value, guint bytes);
void ptx_lower_address(PtxLower *lower, PtxIns *ins, guint at, const PtxArg *arg);
/* The same of one of several: only the first has an offset beside it, that of another is an operand of an ADD. */
void ptx_lower_base(PtxLower *lower, PtxIns *ins, guint at, const PtxArg *arg);
PtxIns *ptx_lower_add(PtxLower *lower, const PtxIns *ins); /* with the statement's guard and lines */
PtxIns ptx_lower_new(const PtxLower *lower);
guint32 ptx_lower_vector(PtxLower *lower, const PtxArg *arg, guint bytes, PtxType type, gboolean is_dst, guint8 *n,
                         guint8 *width /* of its registers: all alike */);
guint ptx_lower_bytes(const PtxLower *lower, const PtxArg *arg); /* of a register */
gboolean ptx_lower_fail(PtxLower *lower, const PtxArg *arg, PtxLoadError code, const char *text);

gboolean ptx_lower_plain(PtxLower *lower); /* lower_plain.c: by the operands' roles */
gboolean ptx_lower_mov(PtxLower *lower);   /* lower_move.c */
gboolean ptx_lower_cvta(PtxLower *lower);
gboolean ptx_lower_isspacep(PtxLower *lower);
gboolean ptx_lower_memory(PtxLower *lower); /* lower_memory.c */
gboolean ptx_lower_mma(PtxLower *lower);    /* lower_matrix.c */
gboolean ptx_lower_wgmma(PtxLower *lower);
gboolean ptx_lower_wgmma_order(PtxLower *lower);
gboolean ptx_lower_setmaxnreg(PtxLower *lower);
gboolean ptx_lower_matrix_move(PtxLower *lower);
gboolean ptx_lower_tensor(PtxLower *lower); /* lower_tensor.c */
gboolean ptx_lower_tensormap_replace(PtxLower *lower);
gboolean ptx_lower_tensormap_copy(PtxLower *lower);
gboolean ptx_lower_fabric(PtxLower *lower); /* lower_fabric.c */
gboolean ptx_lower_fabric_tensor(PtxLower *lower);
gboolean ptx_lower_fabric_order(PtxLower *lower);
gboolean ptx_lower_control(PtxLower *lower); /* lower_control.c */
gboolean ptx_lower_call(PtxLower *lower);

/* flow.c: basic blocks and post-dominators: sets `join` of branches, FLAG_SPIN of those that close a polling loop. */
typedef struct {
    guint32 first, last; /* instructions; last inclusive */
    guint32 *next;       /* blocks that may follow */
    guint n_next;
    gboolean reaches;  /* the end */
    gboolean only_way; /* and by its conditional branch to a bare return alone */
} PtxBlock;
typedef struct {
    PtxBlock *block;
    guint32 n;
    guint32 *of; /* block of each instruction */
    guint32 *edges;
} PtxFlow;
void ptx_flow_make(PtxFlow *flow, const PtxCode *code);
void ptx_flow_joins(PtxFlow *flow, PtxCode *code);
void ptx_flow_clear(PtxFlow *flow);

/* code.c: what an instruction reads and writes: calls visit with each place. */
typedef void (*PtxVisit)(void *user, guint32 *place, gboolean write);
void ptx_ins_visit(PtxCode *code, PtxIns *ins, PtxVisit visit, void *user);
/* Sets `uses`, is_join and settles of each instruction. */
void ptx_code_list_uses(PtxCode *code);
/* turns.c: sets `turns` of each instruction. */
void ptx_turns_mark(PtxCode *code);
void ptx_code_free(PtxCode *code);

/* schedule.c: orders the instructions of each block as ptxas would. */
void ptx_schedule(PtxCode *code, const PtxFlow *flow, guint32 n_registers);

/* unused.c: atomics whose results nothing reads become reductions. */
void ptx_drop_results(PtxCode *code, guint32 n_registers);

/* allocate.c: gives virtual registers their places; sets frame_bytes and live_bytes. */
void ptx_allocate(PtxCode *code, const PtxFlow *flow, const guint8 *types, guint32 n_registers);

/* spill.c: what is alive where, and which of it the assembler keeps in local memory if it may take so many registers:
 * sets reloads and spills. */
typedef struct {
    PtxCode *code;
    const PtxFlow *flow;
    const guint8 *types;           /* of the virtual registers */
    const guint32 *dense, *sparse; /* register -> index among those that live across blocks, and back */
    guint32 n_dense, words;        /* words of 64 bits for a block */
    const guint64 *in, *out;       /* alive at each block's begin and end */
    guint32 *most;                 /* of each block: bytes alive at once; taken from by what is spilled */
} PtxLive;
void ptx_spill(const PtxLive *live, guint32 registers);
guint32 ptx_registers_allowed(const PtxFunction *function); /* that the assembler may take */
guint32 ptx_registers_saved(const PtxCode *code);           /* by a function at its begin */

#endif
