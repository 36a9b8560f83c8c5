/* A function's body as it was read: statements with virtual registers, before anything is laid out (code.h).
 *
 * Names follow PTX's scopes (braces); a label may be used before it stands. Nothing of a body outlives its
 * lowering but the code. */
#ifndef PTX_READ_BODY_H
#define PTX_READ_BODY_H

#include "ptx/read/module.h"
#include "ptx/read/sreg.h"

#define PTX_REGISTERS_MAX (1u << 20) /* of one body */
#define PTX_STATEMENTS_MAX (1u << 21)
#define PTX_SCOPES_MAX 256
#define PTX_ARGS_MAX 12
#define PTX_VECTOR_MAX 128 /* accumulators of wgmma; other vectors have up to 8 */
#define PTX_CALL_ARGS_MAX 1024

typedef enum {
    ARG_NONE,
    ARG_REG,
    ARG_INT,
    ARG_F32,
    ARG_F64,
    ARG_SREG,
    ARG_SYMBOL,
    ARG_VAR,
    ARG_LABEL,
    ARG_SINK,
    ARG_VECTOR,
    ARG_ADDRESS,
    ARG_HANDLE
} PtxArgKind;

typedef enum { NAME_REG, NAME_RANGE, NAME_VAR, NAME_LABEL, NAME_PROTO, NAME_TABLE } PtxNameKind;
typedef struct {
    guint8 kind; /* PtxArgKind */
    guint8 base; /* of ARG_ADDRESS: kind of what stands before the offset */
    guint8 n; /* of ARG_VECTOR and ARG_HANDLE: elements, which follow in PtxBody.parts from `index` on; of ARG_ADDRESS:
                     * coordinates, from `parts` on */
    guint8 negated; /* !p */
    guint8 paired;  /* stands behind '|' of the one before */
    guint32 index;  /* register, special register, variable, label, first part */
    guint32 parts;  /* of ARG_ADDRESS with coordinates */
    guint32 line, column;
    PtxSymbol *symbol; /* ARG_SYMBOL */
    guint64 value;     /* number or bits; ARG_ADDRESS, ARG_SYMBOL, ARG_VAR: offset */
} PtxArg;

/* A .local, .shared or .param variable of a body. */
typedef struct {
    char *name;
    guint8 space; /* PtxSpace */
    guint8 type;
    gboolean formal; /* it is a parameter of the function */
    guint32 bytes, align, offset;
} PtxVar;

typedef struct {
    PtxArg target;       /* ARG_SYMBOL or ARG_REG */
    GArray *rets, *args; /* PtxArg */
    gint proto;          /* of an indirect call: index in PtxBody.protos, or -1 */
} PtxCallSite;

typedef struct {           /* .callprototype */
    GArray *params, *rets; /* PtxParam */
} PtxProto;

typedef struct {
    const PtxOpRow *row;
    guint8 op; /* row->op, or OP_CALL */
    guint8 n_args, n_words, n_types;
    guint8 words[PTX_MODIFIERS_MAX];
    guint8 types[PTX_TYPES_MAX];
    guint16 shape[3]; /* of .m16n8k16 and the like: m, n, k (0: none is written) */
    gboolean guarded, guard_negated;
    guint32 guard;     /* virtual register */
    guint32 first_arg; /* in PtxBody.args */
    guint32 extra;     /* call site; table of brx */
    guint32 line, column, source_line;
    const char *name; /* the opcode as written, not terminated */
} PtxStatement;

typedef struct {
    PtxFunction *function;
    PtxUnit *unit;
    GArray *statements;               /* PtxStatement */
    GArray *args, *parts;             /* PtxArg */
    GArray *registers;                /* guint8: PtxType of each */
    GArray *vars;                     /* PtxVar; formals first: returns, then parameters */
    GArray *labels;                   /* guint32: statement, or G_MAXUINT32 when not placed yet */
    GArray *label_alias;              /* guint32: the label that it turned out to be, itself mostly */
    GPtrArray *calls;                 /* PtxCallSite */
    GPtrArray *protos;                /* PtxProto */
    GPtrArray *tables;                /* GArray of guint32 labels */
    guint32 local_bytes, param_bytes; /* of variables; formals included */
    guint32 shared_bytes;             /* of variables of this body */
} PtxBody;

PtxBody *ptx_body_read(PtxFunction *function, GError **error);
void ptx_body_free(PtxBody *body);
guint32 ptx_body_register(PtxBody *body, PtxType type);     /* one more */
guint32 ptx_body_label(const PtxBody *body, guint32 label); /* its statement */
gboolean ptx_statement_has(const PtxStatement *statement, PtxWord word);
/* "file:line:column: text" for a statement; always FALSE. */
gboolean ptx_body_fail(const PtxBody *body, guint32 line, guint32 column, PtxLoadError code, GError **error,
                       const char *format, ...) G_GNUC_PRINTF(6, 7);

#endif
