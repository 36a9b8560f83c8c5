/* Operands that name a place in a logical endpoint. */
#include "ptx/read/reader.h"

#define FAIL(reader, token, code, ...) ptx_lex_fail(&(reader)->lex, token, code, (reader)->error, __VA_ARGS__)

/* A place in a logical endpoint: [endpoint, offset] and, of counted operations, the counter's offset. Registers alone:
 * ptxas takes neither numbers nor sums there. */
gboolean ptx_handle_read(PtxReader *reader, const PtxArg *first, PtxArg *arg)
{
    PtxLex *lex = &reader->lex;
    PtxArg part[3] = {*first};
    guint n = 1;
    while (ptx_lex_take(lex, ',')) {
        PtxToken token = lex->token;
        const PtxName *name = n < G_N_ELEMENTS(part) && token.kind == TOKEN_WORD
                                  ? ptx_scope_find(reader, &token, &part[n].index)
                                  : NULL;
        if (!name || (name->kind != NAME_REG && name->kind != NAME_RANGE))
            return FAIL(reader, &token, PTX_LOAD_ERROR_SYNTAX, "a place in an endpoint is two or three registers");
        part[n++].kind = ARG_REG;
        ptx_lex_next(lex);
    }
    arg->kind = ARG_HANDLE;
    arg->n = (guint8)n;
    arg->index = reader->body->parts->len;
    g_array_append_vals(reader->body->parts, part, n);
    return ptx_lex_expect(lex, ']', reader->error);
}

/* [endpoint, offset] or [endpoint, offset, counter's offset]. */
gboolean ptx_handle_is(const PtxReader *reader, const PtxArg *arg, guint n)
{
    if (arg->kind != ARG_HANDLE || arg->n != n)
        return FALSE;
    for (guint i = 0; i < n; i++) {
        const PtxArg *part = &g_array_index(reader->body->parts, PtxArg, arg->index + i);
        PtxType type = g_array_index(reader->body->registers, guint8, part->index);
        if (ptx_types[type].bytes != (i ? 8u : 4u) || ptx_type_is_float(type))
            return FALSE;
    }
    return TRUE;
}
