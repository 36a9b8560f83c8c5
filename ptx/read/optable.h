/* The instruction table: one row a form of an opcode, with the modifiers and types that PTX allows it, its
 * operands, what it does (PtxOp) and its kind (PtxCost). The rows stand in operations.h, those of what is refused in
 * optable.c.
 *
 * Source: PTX ISA 9.0, section "Instruction Set". */
#ifndef PTX_READ_OPTABLE_H
#define PTX_READ_OPTABLE_H

#include "ptx/read/mnemonic.h"

/* What an instruction does (operations.h). Those up to OP_LAST_SCALAR are functions of the operands of one lane. */
#define OPERATION(name, lowering, step, traits) OP_##name,
#define OTHER_OPERATIONS OP_OTHERS, OP_LAST_SCALAR = OP_OTHERS - 1, /* so that the first of the others is OP_OTHERS */
typedef enum {
    OP_NONE,
#include "ptx/operations.h"
    OP_COUNT
} PtxOp;

/* Traits. SETTLES: warps learn of each other by it. MEETS: lanes that do not take part meet the others behind it. */
#define PTX_SETTLES 1u
#define PTX_MEETS 2u

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
    COST_TENSOR,
    COST_COUNT
} PtxCost;

/* Roles of operands, a letter each: in `operands` of a row. '?' after one: it may be left out. */
#define ROLE_DST 'd'      /* register as wide as the first type */
#define ROLE_DST_WIDE 'D' /* twice as wide */
#define ROLE_DST_32 'e'   /* 32 bits */
#define ROLE_DST_PRED 'p'
#define ROLE_DST_PAIR 'P' /* predicate behind '|'; may always be left out */
#define ROLE_DST_ANY 'v'  /* of the last type, a vector where .v2, .v4 or .v8 says so; may be wider, or the sink '_' */
#define ROLE_DST_CVT 'f'  /* of the first type; may be wider */
#define ROLE_SRC 'a'      /* as wide as the first type */
#define ROLE_SRC_LAST 'z' /* as the last type */
#define ROLE_SRC_MID 'y'  /* as the second type */
#define ROLE_SRC_WIDE 'W' /* twice as wide as the first */
#define ROLE_SRC_32 'i'
#define ROLE_SRC_64 'l'
#define ROLE_SRC_PRED 'n' /* predicate, perhaps negated */
#define ROLE_SRC_ANY 's'  /* as ROLE_DST_ANY, and immediates */
#define ROLE_IMMEDIATE 'I'
#define ROLE_ADDRESS 'M'
#define ROLE_TENSOR 'T'  /* [address, {coordinates}] */
#define ROLE_HANDLE 'H'  /* [endpoint, offset]: registers of 32 and 64 bits */
#define ROLE_COUNTED 'K' /* [endpoint, offset, counter's offset] */
#define ROLE_SRC_16 'h'
#define ROLE_DST_8 'o' /* of .b8 */
#define ROLE_FREE '*'  /* checked where it is lowered (mov, bra, brx, call) */

typedef struct {
    const char *name;     /* first word of the opcode */
    const char *words;    /* groups of modifiers, of which one may be there; '!': must */
    const char *types;    /* a position each; alternatives by '|'; "" none */
    const char *operands; /* roles */
    guint16 op;           /* PtxOp */
    guint8 cost;          /* PtxCost */
    guint8 sm;            /* least target, as 90 for sm_90; 0: any from sm_70 on */
    const char *refused;  /* why it is not supported, or NULL */
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
    const char *name; /* as written, not terminated */
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
