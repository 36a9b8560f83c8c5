/* Declarations: what stands before a name (state space, alignment, vector, type), and array dimensions behind it. */
#include <string.h>

#include "ptx/read/parse.h"

static gboolean read_align(PtxLex *lex, guint64 *align, GError **error)
{
    PtxToken token = lex->token;
    if (token.kind != TOKEN_INTEGER || token.value == 0 || token.value > PTX_ALIGN_MAX ||
        (token.value & (token.value - 1)))
        return ptx_lex_fail(lex, &token, PTX_LOAD_ERROR_SYNTAX, error, "an alignment is a power of two of at most %u",
                            PTX_ALIGN_MAX);
    *align = token.value;
    ptx_lex_next(lex);
    return TRUE;
}

static gboolean read_pointer(PtxLex *lex, PtxDeclaration *declaration, GError **error)
{
    guint64 align = 0;
    declaration->pointer = TRUE;
    while (ptx_lex_take_dot(lex, "global") || ptx_lex_take_dot(lex, "const") || ptx_lex_take_dot(lex, "shared") ||
           ptx_lex_take_dot(lex, "local"))
        ;
    if (ptx_lex_take_dot(lex, "align") && !read_align(lex, &align, error))
        return FALSE;
    declaration->pointer_align = (guint32)align;
    return TRUE;
}

gboolean ptx_declaration_read(PtxLex *lex, PtxDeclaration *declaration, GError **error)
{
    declaration->vector = 1;
    while (lex->token.kind == TOKEN_DOT) {
        PtxToken token = lex->token;
        PtxType type = ptx_type_find(token.text, token.length);
        ptx_lex_next(lex);
        if (type != T_NONE) {
            if (declaration->type != T_NONE)
                return ptx_lex_fail(lex, &token, PTX_LOAD_ERROR_SYNTAX, error, "a second type");
            declaration->type = type;
        } else if (token.length == 5 && !memcmp(token.text, "align", 5)) {
            if (!read_align(lex, &declaration->align, error))
                return FALSE;
        } else if (token.length == 2 && token.text[0] == 'v' && strchr("248", token.text[1])) {
            declaration->vector = (guint)(token.text[1] - '0');
        } else if (token.length == 3 && !memcmp(token.text, "ptr", 3)) {
            if (!read_pointer(lex, declaration, error))
                return FALSE;
        } else if (token.length == 9 && !memcmp(token.text, "attribute", 9)) {
            if (!ptx_lex_expect(lex, '(', error))
                return FALSE;
            while (!ptx_lex_is(lex, ')') && lex->token.kind != TOKEN_END) {
                declaration->managed |= ptx_lex_is_dot(lex, "managed");
                ptx_lex_next(lex);
            }
            if (!ptx_lex_expect(lex, ')', error))
                return FALSE;
        } else if (token.length >= 6 && !memcmp(token.text, "texref", 6)) {
            return ptx_lex_fail(lex, &token, PTX_LOAD_ERROR_UNSUPPORTED, error,
                                "textures and surfaces are not simulated");
        } else if (token.length >= 7 && (!memcmp(token.text, "surfref", 7) || !memcmp(token.text, "sampler", 7))) {
            return ptx_lex_fail(lex, &token, PTX_LOAD_ERROR_UNSUPPORTED, error,
                                "textures and surfaces are not simulated");
        } else {
            return ptx_lex_fail(lex, &token, PTX_LOAD_ERROR_SYNTAX, error, "not known in a declaration");
        }
    }
    if (declaration->type == T_NONE)
        return ptx_lex_fail(lex, &lex->token, PTX_LOAD_ERROR_SYNTAX, error, "a type is expected here");
    return TRUE;
}

gboolean ptx_dimensions_read(PtxLex *lex, guint64 *elements, gboolean *open, GError **error)
{
    *elements = 1;
    *open = FALSE;
    for (gboolean first = TRUE; ptx_lex_is(lex, '['); first = FALSE) {
        PtxToken token = lex->token;
        PtxConstant size;
        ptx_lex_next(lex);
        if (first && ptx_lex_take(lex, ']')) {
            *open = TRUE;
            continue;
        }
        if (!ptx_expression_read(lex, &size, error))
            return FALSE;
        if (size.is_float || size.value > PTX_BANK_BYTES_MAX || *elements * MAX(size.value, 1) > PTX_BANK_BYTES_MAX)
            return ptx_lex_fail(lex, &token, PTX_LOAD_ERROR_LIMIT, error, "an array of more than 1 TiB");
        *elements *= size.value;
        if (!ptx_lex_expect(lex, ']', error))
            return FALSE;
    }
    return TRUE;
}

guint64 ptx_declaration_align(const PtxDeclaration *declaration)
{
    guint64 natural = (guint64)MAX(ptx_types[declaration->type].memory, 1u) * declaration->vector;
    return declaration->align ? declaration->align : MIN(natural, 16u);
}

static gboolean read_parameter(PtxLex *lex, GArray *params, guint32 *bytes, guint32 most, GError **error)
{
    PtxToken token = lex->token;
    PtxDeclaration declaration = {.space = ptx_lex_is_dot(lex, "reg") ? SPACE_REG : SPACE_PARAM};
    if (!ptx_lex_take_dot(lex, "reg") && !ptx_lex_take_dot(lex, "param"))
        return ptx_lex_fail(lex, &token, PTX_LOAD_ERROR_SYNTAX, error, ".param or .reg is expected here");
    if (!ptx_declaration_read(lex, &declaration, error))
        return FALSE;
    g_autofree char *name = lex->token.kind == TOKEN_WORD ? ptx_lex_name(lex, "a name", NULL) : g_strdup("_");
    guint64 elements;
    gboolean open;
    if (!ptx_dimensions_read(lex, &elements, &open, error))
        return FALSE;
    if (declaration.type == T_PRED)
        return ptx_lex_fail(lex, &token, PTX_LOAD_ERROR_UNSUPPORTED, error, "predicates are no parameters");
    guint64 size = (guint64)ptx_types[declaration.type].memory * declaration.vector * elements;
    guint32 align = (guint32)ptx_declaration_align(&declaration);
    guint32 offset = (*bytes + align - 1) / align * align;
    if (open || size > most || offset + size > most)
        return ptx_lex_fail(lex, &token, PTX_LOAD_ERROR_LIMIT, error, "parameters of more than %u bytes", most);
    *bytes = offset + (guint32)size;
    PtxParam param = {.name = g_steal_pointer(&name),
                      .type = (guint8)declaration.type,
                      .space = (guint8)declaration.space,
                      .bytes = (guint32)size,
                      .align = align,
                      .offset = offset,
                      .pointer_align = declaration.pointer_align};
    g_array_append_val(params, param);
    return TRUE;
}

gboolean ptx_parameters_read(PtxLex *lex, GArray *params, guint32 *bytes, guint32 most, GError **error)
{
    if (!ptx_lex_expect(lex, '(', error))
        return FALSE;
    if (ptx_lex_take(lex, ')'))
        return TRUE;
    do {
        if (!read_parameter(lex, params, bytes, most, error))
            return FALSE;
    } while (ptx_lex_take(lex, ','));
    return ptx_lex_expect(lex, ')', error);
}
