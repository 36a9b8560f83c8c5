/* The instruction table: one row a form of an opcode, with the modifiers and types that PTX allows it, its
 * operands, what it does (PtxOp) and what it costs (PtxCost). To add an instruction, add a row.
 *
 * Source: PTX ISA 9.0, section "Instruction Set". */
#ifndef PTX_READ_OPTABLE_H
#define PTX_READ_OPTABLE_H

#include "ptx/read/mnemonic.h"

/* What an instruction does. Those up to OP_LAST_SCALAR are functions of the operands of one lane (scalar.h). */
typedef enum {
    OP_NONE,
    OP_ADD,
    OP_SUB,
    OP_MUL_LO,
    OP_MUL_HI,
    OP_MUL_WIDE,
    OP_MAD_LO,
    OP_MAD_HI,
    OP_MAD_WIDE,
    OP_MUL24,
    OP_MAD24,
    OP_SAD,
    OP_DIV,
    OP_REM,
    OP_ABS,
    OP_NEG,
    OP_MIN,
    OP_MAX,
    OP_POPC,
    OP_CLZ,
    OP_BFIND,
    OP_FNS,
    OP_BREV,
    OP_BFE,
    OP_BFI,
    OP_SZEXT,
    OP_BMSK,
    OP_DP4A,
    OP_DP2A,
    OP_AND,
    OP_OR,
    OP_XOR,
    OP_NOT,
    OP_CNOT,
    OP_LOP3,
    OP_SHL,
    OP_SHR,
    OP_SHF,
    OP_PRMT,
    OP_TESTP,
    OP_COPYSIGN,
    OP_FMA,
    OP_RCP,
    OP_SQRT,
    OP_RSQRT,
    OP_SIN,
    OP_COS,
    OP_LG2,
    OP_EX2,
    OP_TANH,
    OP_SETP,
    OP_SET,
    OP_SELP,
    OP_SLCT,
    OP_CVT,
    OP_CVT_PACK,
    OP_VIDEO,
    OP_VIDEO_SIMD,
    OP_MIX_ADD,
    OP_MIX_FMA,
    OP_ISSPACEP,
    OP_MAPA,
    OP_GETCTARANK,
    OP_MBAR_PENDING,
    OP_LAST_SCALAR = OP_MBAR_PENDING,
    OP_CARRY_ADD,
    OP_CARRY_SUB,
    OP_CARRY_MAD,
    OP_MOV,
    OP_CVTA,
    OP_NOP,
    OP_LD,
    OP_ST,
    OP_ATOM,
    OP_RED,
    OP_MC_LOAD,
    OP_MC_STORE,
    OP_MC_RED,
    OP_PREFETCH,
    OP_CREATEPOLICY,
    OP_CP_ASYNC,
    OP_CP_COMMIT,
    OP_CP_WAIT,
    OP_CP_WAIT_ALL,
    OP_CP_MBAR_ARRIVE,
    OP_BULK_G2S,
    OP_BULK_S2S,
    OP_BULK_S2G,
    OP_BULK_RED_S2S,
    OP_BULK_RED_S2G,
    OP_BULK_PREFETCH,
    OP_BULK_MC,
    OP_BULK_COMMIT,
    OP_BULK_WAIT,
    OP_ST_ASYNC,
    OP_RED_ASYNC,
    OP_ST_BULK,
    OP_MBAR_INIT,
    OP_MBAR_INVAL,
    OP_MBAR_ARRIVE,
    OP_MBAR_ARRIVE_TX,
    OP_MBAR_EXPECT_TX,
    OP_MBAR_COMPLETE_TX,
    OP_MBAR_TEST,
    OP_MBAR_TRY,
    OP_SHFL,
    OP_VOTE,
    OP_MATCH,
    OP_ACTIVEMASK,
    OP_REDUX,
    OP_ELECT,
    OP_BAR_SYNC,
    OP_BAR_ARRIVE,
    OP_BAR_RED,
    OP_BAR_WARP,
    OP_BAR_CLUSTER_ARRIVE,
    OP_BAR_CLUSTER_WAIT,
    OP_FENCE,
    OP_GRIDDEP,
    OP_NANOSLEEP,
    OP_BRA,
    OP_BRX,
    OP_CALL,
    OP_RET,
    OP_EXIT,
    OP_TRAP,
    OP_BRKPT,
    OP_ALLOCA,
    OP_SREG, /* reads a special register: made when a body is lowered */
    OP_COUNT
} PtxOp;

/* Issue and latency classes, as measured by kind of instruction on real chips. */
typedef enum {
    COST_FREE,
    COST_INT,
    COST_MUL,
    COST_MUL_HI,
    COST_INT64,
    COST_SHIFT,
    COST_FLOAT,
    COST_HALF,
    COST_DOUBLE,
    COST_SFU,
    COST_DIV,
    COST_CVT,
    COST_BITS,
    COST_SHUFFLE,
    COST_VOTE,
    COST_MATCH,
    COST_REDUX,
    COST_CONTROL,
    COST_CALL,
    COST_SHARED,
    COST_LOCAL,
    COST_BANK,
    COST_GLOBAL,
    COST_SYNC,
    COST_VIDEO,
    COST_COUNT
} PtxCost;

/* Roles of operands, a letter each: in `operands` of a row. '?' after one: it may be left out. */
#define ROLE_DST 'd'        /* register as wide as the first type */
#define ROLE_DST_WIDE 'D'   /* twice as wide */
#define ROLE_DST_32 'e'     /* 32 bits */
#define ROLE_DST_PRED 'p'
#define ROLE_DST_PAIR 'P'   /* predicate behind '|'; may always be left out */
#define ROLE_DST_ANY 'v' /* of the last type, a vector where .v2, .v4 or .v8 says so; may be wider, or the sink '_' */
#define ROLE_DST_CVT 'f'    /* of the first type; may be wider */
#define ROLE_SRC 'a'        /* as wide as the first type */
#define ROLE_SRC_LAST 'z'   /* as the last type */
#define ROLE_SRC_MID 'y'    /* as the second type */
#define ROLE_SRC_WIDE 'W'   /* twice as wide as the first */
#define ROLE_SRC_32 'i'
#define ROLE_SRC_64 'l'
#define ROLE_SRC_PRED 'n'   /* predicate, perhaps negated */
#define ROLE_SRC_ANY 's'    /* as ROLE_DST_ANY, and immediates */
#define ROLE_IMMEDIATE 'I'
#define ROLE_ADDRESS 'M'
#define ROLE_FREE '*'       /* checked where it is lowered (mov, bra, brx, call) */

typedef struct {
    const char *name;       /* first word of the opcode */
    const char *words;      /* groups of modifiers, of which one may be there; '!': must */
    const char *types;      /* a position each; alternatives by '|'; "" none */
    const char *operands;   /* roles */
    guint16 op;             /* PtxOp */
    guint8 cost;            /* PtxCost */
    guint8 sm;              /* least target, as 90 for sm_90; 0: any from sm_70 on */
    const char *refused;    /* why it is not supported, or NULL */
} PtxOpRow;
extern const PtxOpRow ptx_op_rows[];
extern const guint ptx_op_row_count;

/* The table made ready for look-ups. */
typedef struct PtxOpTable PtxOpTable;
PtxOpTable *ptx_optable_new(void);
void ptx_optable_free(PtxOpTable *table);

#define PTX_MODIFIERS_MAX 20
#define PTX_TYPES_MAX 4
typedef struct {
    const char *name;       /* as written, not terminated */
    guint32 name_length;
    guint n_words, n_types, n_args;
    guint8 words[PTX_MODIFIERS_MAX];
    guint8 types[PTX_TYPES_MAX];
} PtxOpKey;

typedef enum { OPTABLE_FOUND, OPTABLE_NAME, OPTABLE_WORD, OPTABLE_TYPE, OPTABLE_FORM, OPTABLE_OPERANDS } PtxOpLook;
/* The row of an instruction. Not FOUND: what is wrong, *which the offending word or type's index in the key, and *row
 * one that comes near, or NULL. */
PtxOpLook ptx_optable_find(const PtxOpTable *table, const PtxOpKey *key, const PtxOpRow **row, guint *which);
/* The refusing row of an opcode that begins so, or NULL: asked first, for such opcodes have words of their own. */
const PtxOpRow *ptx_optable_refused(const PtxOpTable *table, const PtxOpKey *key);
char *ptx_optable_family(const PtxOpRow *row, const PtxOpKey *key); /* "ld.global.acquire", "add.f"; g_free it */

#endif
