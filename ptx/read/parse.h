/* Between the files that read a module: names, declarations, initialisers, constant expressions. */
#ifndef PTX_READ_PARSE_H
#define PTX_READ_PARSE_H

#include "ptx/read/module.h"

/* module_symbol.c */
PtxSymbol *ptx_unit_find(const PtxUnit *unit, const char *name, gsize length);
PtxSymbol *ptx_unit_declare(PtxUnit *unit, PtxLex *lex, const PtxToken *token, const char *name, PtxLinkage linkage,
                            PtxSpace space, GError **error);
void ptx_param_clear(gpointer param);

/* declare.c: what stands before a name. */
typedef struct {
    PtxLinkage linkage;
    PtxSpace space;
    PtxType type;
    guint vector; /* 1, 2, 4 */
    guint64 align;
    gboolean managed, pointer;
    guint32 pointer_align;
} PtxDeclaration;
/* Reads ".align 8 .v4 .f32" and the like up to the name. */
gboolean ptx_declaration_read(PtxLex *lex, PtxDeclaration *declaration, GError **error);
/* Reads "[4][2]" behind a name; *elements gets the product, *open TRUE for a first "[]". */
gboolean ptx_dimensions_read(PtxLex *lex, guint64 *elements, gboolean *open, GError **error);
gboolean ptx_initialiser_read(PtxLex *lex, PtxSymbol *symbol, guint vector, GError **error); /* initialise.c */
/* "(.param .b64 a, .reg .u32 b)": adds to params (PtxParam) and lays them out from *bytes on. */
gboolean ptx_parameters_read(PtxLex *lex, GArray *params, guint32 *bytes, guint32 most, GError **error);
guint64 ptx_declaration_align(const PtxDeclaration *declaration);

/* expression.c: a constant expression, of integers or of floating point. */
typedef struct {
    gboolean is_float;
    guint64 value;
    gboolean is_single;
} PtxConstant; /* floats: bits of f64, or of f32 */
gboolean ptx_expression_read(PtxLex *lex, PtxConstant *constant, GError **error);

/* module_parse.c */
gboolean ptx_unit_parse(PtxUnit *unit, GError **error);

#endif
