/* Between the files that read a body: scopes, operands, statements. */
#ifndef PTX_READ_READER_H
#define PTX_READ_READER_H

#include "ptx/read/body.h"
#include "ptx/read/parse.h"

typedef struct {
    guint8 kind; /* PtxNameKind */
    guint8 type; /* of registers */
    guint32 index, count;
    guint32 *ids; /* of NAME_RANGE: register + 1, or 0 when not used yet */
} PtxName;

typedef struct PtxNameScope {
    GHashTable *names; /* char * -> PtxName, owned */
    struct PtxNameScope *outer;
} PtxNameScope;

typedef struct {
    PtxBody *body;
    PtxLex lex;
    PtxNameScope *scope;
    guint depth;
    guint32 source_line; /* of the last .loc */
    guint32 ranged;      /* registers that ranges may name so far */
    GError **error;
} PtxReader;

void ptx_scope_open(PtxReader *reader);
gboolean ptx_scope_close(PtxReader *reader); /* FALSE: labels of a body that stand nowhere */
PtxName *ptx_scope_add(PtxReader *reader, const PtxToken *token, const char *name, PtxNameKind kind);
PtxName *ptx_scope_own(const PtxReader *reader, const char *name);
/* TRUE when the word names something of the body; *reg gets the register of a range's member. */
const PtxName *ptx_scope_find(PtxReader *reader, const PtxToken *token, guint32 *reg);
guint32 ptx_scope_label(PtxReader *reader, const PtxToken *token); /* makes it if it is new */
gboolean ptx_scope_range(PtxReader *reader, const PtxToken *token, const char *prefix, PtxType type, guint64 count);

PtxBody *ptx_body_new(PtxFunction *function);

/* handle.c: the rest of [endpoint, offset] behind its first register; whether it is one of so many registers. */
gboolean ptx_handle_read(PtxReader *reader, const PtxArg *first, PtxArg *arg);
gboolean ptx_handle_is(const PtxReader *reader, const PtxArg *arg, guint n);
gboolean ptx_arg_read(PtxReader *reader, PtxArg *arg);                                           /* operand.c */
gboolean ptx_statement_read(PtxReader *reader);                                                  /* statement.c */
gboolean ptx_statement_check(PtxReader *reader, PtxStatement *statement, const PtxToken *token); /* operand_check.c */

/* sreg.c */
/* The register of a token like %tid with the dotted word behind it, which is taken; SREG_NONE: none. */
PtxSreg ptx_sreg_read(PtxLex *lex, PtxType *type);

#endif
