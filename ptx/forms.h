/* Which multimem instructions are legal: the PTX ISA's rules on operation, type, vector,
 * accumulator, ordering semantics and target, as one table. A program that breaks one gets an
 * error that states the rule; nothing is rounded to something similar. */
#ifndef PTX_FORMS_H
#define PTX_FORMS_H

#include <glib.h>

#include "model/memory/numeric.h"

typedef enum { PTX_LD_REDUCE, PTX_ST, PTX_RED, PTX_INSTRUCTIONS } PtxInstruction;
/* DEFAULT: PTX's assumption when nothing is written, weak for ld_reduce and st, relaxed for red. */
typedef enum { PTX_SEM_DEFAULT, PTX_WEAK, PTX_RELAXED, PTX_ACQUIRE, PTX_RELEASE } PtxSem;
typedef enum { PTX_SCOPE_DEFAULT, PTX_CTA, PTX_CLUSTER, PTX_GPU, PTX_SYS } PtxScope;
typedef enum { PTX_ACC_DEFAULT, PTX_ACC_F16, PTX_ACC_F32 } PtxAcc;

typedef struct {
    PtxInstruction instruction;
    NumericOp op; /* ignored for PTX_ST */
    NumericType type;
    guint vec; /* 1 (no .vec), 2, 4, 8 */
    PtxAcc acc;
    PtxSem sem;
    PtxScope scope;
} PtxMultimem;

/* A compilation target: 90 is sm_90; exact: the architecture-specific "a" form (sm_100a). */
typedef struct {
    guint sm;
    gboolean exact;
} PtxTarget;

/* TRUE when legal. Else GError (PTX_ERROR) with the instruction as written, the rule, and where PTX
 * states it. */
gboolean ptx_check(const PtxMultimem *form, const PtxTarget *target, GError **error);
/* The same, and that address is a multiple of the access's size. */
gboolean ptx_check_address(const PtxMultimem *form, guint64 address, GError **error);
/* The same for atom (`returns`) and red of so many bytes a thread: scalars, and vectors of sm_90. */
gboolean ptx_check_atomic(gboolean returns, NumericType type, NumericOp op, guint width, GError **error);
guint ptx_bytes(const PtxMultimem *form); /* of one thread's access: 4, 8 or 16 when legal */
char *ptx_spell(const PtxMultimem *form); /* "multimem.red.release.sys.add.u32"; g_free it */

#define PTX_ERROR (ptx_error_quark())
GQuark ptx_error_quark(void);
typedef enum { PTX_ERROR_ILLEGAL, PTX_ERROR_TARGET, PTX_ERROR_ALIGNMENT } PtxErrorCode;

#endif
