/* A function's body ready to run: instructions with their operands as places in a warp's registers, the pool of
 * constants, reconvergence points.
 *
 * A register is an array of 32 lanes; a predicate is one word with a bit a lane. The registers of one call of a
 * function lie in one block, its frame; two virtual registers that are never alive at once share a place (liveness,
 * then linear scan by width). Constants are such arrays too, in a pool beside the code, so that an instruction needs
 * not know where an operand comes from: bit 0 of a place says which. Addresses of variables are put into the pool
 * when the module is loaded into a context (PtxImage). */
#ifndef PTX_TRANSLATE_CODE_H
#define PTX_TRANSLATE_CODE_H

#include "ptx/read/module.h"
#include "ptx/read/sreg.h"
#include "ptx/translate/cost.h"

#define PTX_LANES 32u
#define PTX_FULL_MASK 0xffffffffu

typedef struct PtxWarp PtxWarp;
typedef struct PtxPath PtxPath;
typedef struct PtxIns PtxIns;
typedef struct PtxCta PtxCta;

typedef enum {
    STEP_NEXT,
    STEP_AGAIN /* same instruction, later */,
    STEP_JUMP /* the path's pc is set */,
    STEP_GONE /* the path is no more */,
    STEP_ACCESS /* NEXT, and the host has something to do */,
    STEP_FAULT
} PtxStep;
/* One instruction for the lanes of mask: those with nothing but registers, and all others. */
typedef void (*PtxHandler)(PtxWarp *warp, const PtxIns *ins, guint32 mask);
typedef PtxStep (*PtxStepper)(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask);
/* The result for one lane: in[0..3] are its operands' bits, in[4] may get a second result. */
typedef guint64 (*PtxScalar)(const PtxIns *ins, guint64 *in, const PtxCta *cta);

#define PLACE_NONE G_MAXUINT32
#define PLACE_POOL 1u

/* PtxIns.flags */
enum {
    FLAG_FTZ = 1 << 0,
    FLAG_SAT = 1 << 1,
    FLAG_RELU = 1 << 2,
    FLAG_NAN = 1 << 3,
    FLAG_XORSIGN = 1 << 4,
    FLAG_ABS = 1 << 5,
    FLAG_OOB = 1 << 6,
    FLAG_APPROX = 1 << 7,
    FLAG_FULL = 1 << 8,
    FLAG_HI = 1 << 9,
    FLAG_CC = 1 << 10 /* writes carry */,
    FLAG_CARRY = 1 << 11 /* reads it */,
    FLAG_WRAP = 1 << 12,
    FLAG_RIGHT = 1 << 13,
    FLAG_SHIFTAMT = 1 << 14,
    FLAG_SATFINITE = 1 << 15,
    FLAG_INTEGER = 1 << 16 /* cvt rounds to an integer */,
    FLAG_THREE = 1 << 17,
    FLAG_UNSIGNED_B = 1 << 18,
    FLAG_NOFTZ = 1 << 19,
    FLAG_DROP = 1 << 20,
    FLAG_PARITY = 1 << 21,
    FLAG_NOINC = 1 << 22,
    FLAG_READ = 1 << 23,
    FLAG_RELEASE = 1 << 24 /* a fence goes before */,
    FLAG_ACQUIRE = 1 << 25 /* what follows waits */,
    FLAG_WEAK = 1 << 26,
    FLAG_NC = 1 << 27,
    FLAG_SPIN = 1 << 28 /* branch that closes a loop that polls */,
    FLAG_NEGATE_C = 1 << 29,
    FLAG_EXPLICIT = 1 << 30 /* a rounding is written */
};

/* PtxIns.mode of fabric.try_*, whose `combine` is what is done and `order` what is summed in (W_ACC_F32, ...) */
enum { PTX_FABRIC_MULTIMEM = 1, PTX_FABRIC_COUNTED = 2, PTX_FABRIC_MASKED = 4, PTX_FABRIC_RESIZED = 8 };

/* PtxIns.combine of wgmma */
enum { PTX_WGMMA_TRANS_A = 1, PTX_WGMMA_TRANS_B = 2, PTX_WGMMA_NEGATE_A = 4, PTX_WGMMA_NEGATE_B = 8 };

struct PtxIns {
    PtxHandler run; /* or NULL: this and the next two are the executor's, put in when a warp first comes here */
    PtxStepper step;
    PtxScalar scalar;    /* of the plain handler of scalar.c */
    guint8 op;           /* PtxOp */
    guint8 type, type2;  /* PtxType: of the result, of the operands */
    guint8 mode;         /* PtxWord: rounding, comparison, atomic operation, ... */
    guint8 combine;      /* PtxWord: and, or, xor; 0 none */
    guint8 space;        /* PtxSpace */
    guint8 order, scope; /* PtxWord, 0 none */
    guint8 cost;         /* PtxCost */
    guint8 n_vec;        /* registers of a memory instruction: 1, 2, 4, 8; of a matrix instruction's result */
    guint8 n_vec2;       /* places at vec2 */
    guint16 n_uses;
    guint8 guard_negated;
    guint8 is_join; /* some branch's paths meet here */
    guint8 settles; /* other warps know of it: it happens when its time has come */
    guint8 turns;   /* so many of the SM's load/store unit go before it: turns.c */
    guint32 guard;  /* place, or PLACE_NONE */
    guint32 flags;
    guint32 dst, dst2; /* places */
    guint32 src[4];
    guint8 dst_bytes, dst2_bytes, src_bytes[4]; /* 0 none, 1 predicate, else of a lane; [3], of a vector's registers */
    guint32 vec;                                /* in PtxCode.places: n_vec places of a memory instruction */
    guint32 vec2;                               /* of atom and of matrix instructions: the places of operands */
    guint32 uses_at; /* in PtxCode.places: n_uses places that it reads or writes, in the order of PtxVisit */
    guint64 uses;    /* the same as bits, modulo 64, for a quick no */
    guint64 imm;     /* offset of an address; lut; number */
    guint32 target;  /* of a branch: instruction; call: PtxCode.calls; brx: first of n in PtxCode.places */
    guint32 n_targets;
    guint32 join; /* of a branch: where its paths meet again */
    guint32 statement_line, source_line, column;
};

/* How a call's arguments reach the callee: an actual in the caller's parameter area or a register. */
typedef struct {
    guint32 place; /* register or constant; PLACE_NONE: in the area at `offset` */
    guint32 offset, bytes;
} PtxActual;
typedef struct {
    PtxFunction *function; /* NULL: indirect, its address is ins->src[0] */
    guint n_rets, n_args;
    PtxActual *rets, *args;
} PtxCall;

struct PtxMatrixFormat; /* ptx/run/matrix.h */
struct PtxMatrixColumns;
struct PtxMatrixRule;
struct PtxMatrixSums;

/* What memory instructions with all lanes do with 32 addresses and with vectors of four words (hot_lanes.h), and the
 * sums of matrix products (matrix_lanes.h), in the best clone for this machine. */
typedef struct {
    /* The bits that any lane's result has. */
    guint64 (*add_offset)(guint64 *restrict va, const guint64 *restrict base, guint64 offset);
    void (*split)(guint32 *restrict a, guint32 *restrict b, guint32 *restrict c, guint32 *restrict d,
                  const guint32 *restrict lanes);
    void (*join)(guint32 *restrict lanes, const guint32 *restrict a, const guint32 *restrict b,
                 const guint32 *restrict c, const guint32 *restrict d);
    /* Elements as integers; TRUE: one may be infinite or no number. */
    gboolean (*unpack)(const struct PtxMatrixFormat *format, const guint32 *restrict bits, guint n,
                       gint32 *restrict mantissa, gint32 *restrict exponent);
    /* Eight elements of a row of D: a row of A times eight columns of B, and the addends. */
    gboolean (*row_sums)(const struct PtxMatrixRule *rule, const gint32 *a_mantissa, const gint32 *a_exponent,
                         const struct PtxMatrixColumns *b, const guint32 *addend, struct PtxMatrixSums *sums);
    void (*cut_f32)(const struct PtxMatrixRule *rule, const struct PtxMatrixSums *sums, guint32 *to);
} PtxHot;

/* A constant that is known only in a context. */
typedef struct {
    guint32 place; /* in the pool, without its bit */
    guint8 bytes;
    PtxSymbol *symbol;
    guint64 addend;
} PtxPoolReloc;

typedef struct PtxCode {
    PtxFunction *function;
    PtxIns *ins;
    guint32 n_ins; /* the last is the ret that every return branches to */
    guint32 *places, n_places;
    PtxCall *calls;
    guint n_calls;
    guint8 *pool; /* lane arrays; relocations not filled in */
    guint32 pool_bytes;
    GArray *relocs;       /* PtxPoolReloc */
    guint32 frame_bytes;  /* registers of one call */
    guint32 param_bytes;  /* of a lane: formals, and what it passes on */
    guint32 local_bytes;  /* of a lane */
    guint32 shared_bytes; /* variables of the body */
    guint32 shared_at;    /* of a function that kernels call: where they lie, from PTX_FUNCTIONS_SHARED on */
    gboolean uses_module_shared, uses_dynamic_shared, indirect_calls;
    guint32 live_bytes;       /* most alive at once, of a lane */
    guint8 *reloads, *spills; /* of each instruction: words that it has to load from and store to local memory, since
                                 registers do not suffice; NULL: they do */
    GPtrArray *callees;       /* PtxFunction that it calls directly */
    GHashTable *families;     /* name -> count */
    guint32 *formal_offset;   /* in the parameter area: returns first, then parameters */
    guint32 *formal_place;    /* of .reg formals, else PLACE_NONE */
    guint n_formals;
    guint32 statements;
    PtxCosts *costs;   /* n_ins + 1 */
    guint64 tag;       /* of its instructions: two functions that have the same are alike */
    const PtxHot *hot; /* not owned; the executor's, as PtxIns.run */
    gint bound;        /* both are there */
} PtxCode;

/* The code of a function, made at the first call, by any thread. NULL: *error, the same each time. */
PtxCode *ptx_function_code(PtxFunction *function, GError **error);

/* What a kernel needs, callees included. FALSE: one of them cannot be made. */
typedef struct {
    guint32 registers;        /* of a thread, 32 bits each, as liveness has it */
    guint32 shared_bytes;     /* static, */
    guint32 functions_shared; /* of that: variables of functions that it calls, which have places of their own, */
    guint32 functions_end;    /* up to here; 0: none */
    guint32 local_bytes;      /* of a thread, the deepest chain of calls */
    gboolean recursive;       /* local_bytes is of one round */
    gboolean dynamic_shared;
} PtxUsage;
gboolean ptx_function_usage(PtxFunction *entry, PtxUsage *usage, GError **error);
#define PTX_REGISTERS_MIN 16u
/* Behind what a CTA can have: a function's variables are at one place whatever kernel calls it. */
#define PTX_FUNCTIONS_SHARED (256u << 10)
#define PTX_REGISTERS_LIMIT 255u

#endif
