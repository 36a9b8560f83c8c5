/* A function's body as it was read: statements with virtual registers, before anything is laid out (code.h).
 *
 * Names follow PTX's scopes (braces); a label may be used before it stands. Nothing of a body outlives its
 * lowering but the code. */
#ifndef PTX_READ_BODY_H
#define PTX_READ_BODY_H

#include "ptx/read/module.h"

#define PTX_REGISTERS_MAX (1u << 20)  /* of one body */
#define PTX_STATEMENTS_MAX (1u << 21)
#define PTX_SCOPES_MAX 256
#define PTX_ARGS_MAX 12
#define PTX_VECTOR_MAX 8
#define PTX_CALL_ARGS_MAX 1024

typedef enum {
    ARG_NONE, ARG_REG, ARG_INT, ARG_F32, ARG_F64, ARG_SREG, ARG_SYMBOL, ARG_VAR, ARG_LABEL, ARG_SINK, ARG_VECTOR,
    ARG_ADDRESS
} PtxArgKind;

typedef struct {
    guint8 kind;           /* PtxArgKind */
    guint8 base;           /* of ARG_ADDRESS: kind of what stands before the offset */
    guint8 n;              /* of ARG_VECTOR: elements, which follow in PtxBody.parts from `index` on */
    guint8 negated;        /* !p */
    guint8 paired;         /* stands behind '|' of the one before */
    guint32 index;         /* register, special register, variable, label, first part */
    guint32 line, column;
    PtxSymbol *symbol;     /* ARG_SYMBOL */
    guint64 value;         /* number or bits; ARG_ADDRESS, ARG_SYMBOL, ARG_VAR: offset */
} PtxArg;

/* A .local, .shared or .param variable of a body. */
typedef struct {
    char *name;
    guint8 space;          /* PtxSpace */
    guint8 type;
    gboolean formal;       /* it is a parameter of the function */
    guint32 bytes, align, offset;
} PtxVar;

typedef struct {
    PtxArg target;         /* ARG_SYMBOL or ARG_REG */
    GArray *rets, *args;   /* PtxArg */
    gint proto;            /* of an indirect call: index in PtxBody.protos, or -1 */
} PtxCallSite;

typedef struct {           /* .callprototype */
    GArray *params, *rets; /* PtxParam */
} PtxProto;

typedef struct {
    const PtxOpRow *row;
    guint8 op;             /* row->op, or OP_CALL */
    guint8 n_args, n_words, n_types;
    guint8 words[PTX_MODIFIERS_MAX];
    guint8 types[PTX_TYPES_MAX];
    gboolean guarded, guard_negated;
    guint32 guard;         /* virtual register */
    guint32 first_arg;     /* in PtxBody.args */
    guint32 extra;         /* call site; table of brx */
    guint32 line, column, source_line;
    const char *name;      /* the opcode as written, not terminated */
} PtxStatement;

typedef struct {
    PtxFunction *function;
    PtxUnit *unit;
    GArray *statements;    /* PtxStatement */
    GArray *args, *parts;  /* PtxArg */
    GArray *registers;     /* guint8: PtxType of each */
    GArray *vars;          /* PtxVar; formals first: returns, then parameters */
    GArray *labels;        /* guint32: statement, or G_MAXUINT32 when not placed yet */
    GArray *label_alias;   /* guint32: the label that it turned out to be, itself mostly */
    GPtrArray *calls;      /* PtxCallSite */
    GPtrArray *protos;     /* PtxProto */
    GPtrArray *tables;     /* GArray of guint32 labels */
    guint32 local_bytes, param_bytes; /* of variables; formals included */
    guint32 shared_bytes;  /* of variables of this body */
} PtxBody;

PtxBody *ptx_body_read(PtxFunction *function, GError **error);
void ptx_body_free(PtxBody *body);
guint32 ptx_body_label(const PtxBody *body, guint32 label); /* its statement */
gboolean ptx_statement_has(const PtxStatement *statement, PtxWord word);
/* "file:line:column: text" for a statement; always FALSE. */
gboolean ptx_body_fail(const PtxBody *body, guint32 line, guint32 column, PtxLoadError code, GError **error,
                       const char *format, ...) G_GNUC_PRINTF(6, 7);

/* ---- between the files that read a body */

typedef enum { NAME_REG, NAME_RANGE, NAME_VAR, NAME_LABEL, NAME_PROTO, NAME_TABLE } PtxNameKind;
typedef struct {
    guint8 kind;           /* PtxNameKind */
    guint8 type;           /* of registers */
    guint32 index, count;
    guint32 *ids;          /* of NAME_RANGE: register + 1, or 0 when not used yet */
} PtxName;

typedef struct PtxNameScope {
    GHashTable *names;     /* char * -> PtxName, owned */
    struct PtxNameScope *outer;
} PtxNameScope;

typedef struct {
    PtxBody *body;
    PtxLex lex;
    PtxNameScope *scope;
    guint depth;
    guint32 source_line;   /* of the last .loc */
    guint32 ranged;        /* registers that ranges may name so far */
    GError **error;
} PtxReader;

void ptx_scope_open(PtxReader *reader);
gboolean ptx_scope_close(PtxReader *reader); /* FALSE: labels of a body that stand nowhere */
PtxName *ptx_scope_add(PtxReader *reader, const PtxToken *token, const char *name, PtxNameKind kind);
PtxName *ptx_scope_own(const PtxReader *reader, const char *name);
/* TRUE when the word names something of the body; *reg gets the register of a range's member. */
const PtxName *ptx_scope_find(PtxReader *reader, const PtxToken *token, guint32 *reg);
guint32 ptx_scope_label(PtxReader *reader, const PtxToken *token); /* makes it if it is new */
guint32 ptx_body_register(PtxBody *body, PtxType type);
gboolean ptx_scope_range(PtxReader *reader, const PtxToken *token, const char *prefix, PtxType type, guint64 count);

gboolean ptx_arg_read(PtxReader *reader, PtxArg *arg);            /* operand.c */
gboolean ptx_statement_read(PtxReader *reader);                   /* statement.c */
gboolean ptx_statement_check(PtxReader *reader, PtxStatement *statement, const PtxToken *token); /* roles.c */

/* sreg.c: special registers */
typedef enum {
    SREG_NONE, SREG_TID_X, SREG_TID_Y, SREG_TID_Z, SREG_NTID_X, SREG_NTID_Y, SREG_NTID_Z, SREG_CTAID_X, SREG_CTAID_Y,
    SREG_CTAID_Z, SREG_NCTAID_X, SREG_NCTAID_Y, SREG_NCTAID_Z, SREG_LANEID, SREG_WARPID, SREG_NWARPID, SREG_SMID,
    SREG_NSMID, SREG_GRIDID, SREG_LANEMASK_EQ, SREG_LANEMASK_LE, SREG_LANEMASK_LT, SREG_LANEMASK_GE, SREG_LANEMASK_GT,
    SREG_CLOCK, SREG_CLOCK_HI, SREG_CLOCK64, SREG_GLOBALTIMER, SREG_GLOBALTIMER_LO, SREG_GLOBALTIMER_HI,
    SREG_CLUSTERID_X, SREG_CLUSTERID_Y, SREG_CLUSTERID_Z, SREG_NCLUSTERID_X, SREG_NCLUSTERID_Y, SREG_NCLUSTERID_Z,
    SREG_CLUSTER_CTAID_X, SREG_CLUSTER_CTAID_Y, SREG_CLUSTER_CTAID_Z, SREG_CLUSTER_NCTAID_X, SREG_CLUSTER_NCTAID_Y,
    SREG_CLUSTER_NCTAID_Z, SREG_CLUSTER_CTARANK, SREG_CLUSTER_NCTARANK, SREG_IS_EXPLICIT_CLUSTER,
    SREG_DYNAMIC_SMEM, SREG_TOTAL_SMEM, SREG_AGGR_SMEM, SREG_ENVREG1, SREG_ENVREG2,
    SREG_ZERO /* counters that nothing drives */,
    SREG_COUNT
} PtxSreg;
/* The register of a token like %tid with the dotted word behind it, which is taken; SREG_NONE: none. */
PtxSreg ptx_sreg_read(PtxLex *lex, PtxType *type);

#endif
