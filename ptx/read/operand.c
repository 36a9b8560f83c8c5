/* Operands: registers, numbers, names with offsets, vectors, addresses. */
#include <string.h>

#include "ptx/read/reader.h"

#define FAIL(reader, token, code, ...) ptx_lex_fail(&(reader)->lex, token, code, (reader)->error, __VA_ARGS__)

static gboolean read_number(PtxReader *reader, PtxArg *arg)
{
    PtxConstant constant;
    if (!ptx_expression_read(&reader->lex, &constant, reader->error))
        return FALSE;
    arg->kind = !constant.is_float ? ARG_INT : constant.is_single ? ARG_F32 : ARG_F64;
    arg->value = constant.value;
    return TRUE;
}

static gboolean read_offset(PtxReader *reader, guint64 *value)
{
    if (!ptx_lex_is(&reader->lex, '+') && !ptx_lex_is(&reader->lex, '-'))
        return TRUE;
    PtxToken token = reader->lex.token;
    PtxConstant constant;
    ptx_lex_take(&reader->lex, '+');
    if (!ptx_expression_read(&reader->lex, &constant, reader->error))
        return FALSE;
    if (constant.is_float)
        return FAIL(reader, &token, PTX_LOAD_ERROR_SYNTAX, "an offset is an integer");
    *value = constant.value;
    return TRUE;
}

/* A word: a register, a special register, a variable of the body, of the module, a function, else a label. */
static gboolean read_word(PtxReader *reader, PtxArg *arg)
{
    PtxLex *lex = &reader->lex;
    PtxToken token = lex->token;
    PtxType type;
    if (token.length == 1 && token.text[0] == '_') {
        arg->kind = ARG_SINK;
        ptx_lex_next(lex);
        return TRUE;
    }
    const PtxName *name = ptx_scope_find(reader, &token, &arg->index);
    if (name && (name->kind == NAME_REG || name->kind == NAME_RANGE)) {
        arg->kind = ARG_REG;
        ptx_lex_next(lex);
        if (lex->token.kind == TOKEN_DOT)
            return FAIL(reader, &lex->token, PTX_LOAD_ERROR_UNSUPPORTED,
                        "elements of vector registers and selectors of "
                        "bytes are not supported");
        return TRUE;
    }
    if (token.text[0] == '%') {
        PtxSreg sreg = ptx_sreg_read(lex, &type);
        if (sreg == SREG_NONE)
            return FAIL(reader, &token, PTX_LOAD_ERROR_SYMBOL, "no register has this name");
        arg->kind = ARG_SREG;
        arg->index = sreg;
        arg->value = type;
        return TRUE;
    }
    PtxSymbol *symbol = name ? NULL : ptx_unit_find(reader->body->unit, token.text, token.length);
    if (name && name->kind == NAME_VAR) {
        arg->kind = ARG_VAR;
    } else if (symbol) {
        arg->kind = ARG_SYMBOL;
        arg->symbol = symbol;
    } else {
        arg->kind = ARG_LABEL;
        if (name && name->kind == NAME_TABLE) {
            arg->base = NAME_TABLE;
            arg->index = name->index;
        } else {
            arg->base = NAME_LABEL;
            arg->index = ptx_scope_label(reader, &token);
            if (arg->index == G_MAXUINT32)
                return FALSE;
        }
        ptx_lex_next(lex);
        return TRUE;
    }
    ptx_lex_next(lex);
    if (ptx_lex_is(lex, '[')) { /* name[4] is name+4 in elements of bytes */
        PtxConstant index;
        ptx_lex_next(lex);
        if (!ptx_expression_read(lex, &index, reader->error) || !ptx_lex_expect(lex, ']', reader->error))
            return FALSE;
        PtxType element = arg->kind == ARG_SYMBOL ? arg->symbol->type
                                                  : g_array_index(reader->body->vars, PtxVar, arg->index).type;
        arg->value = index.value * ptx_types[element].memory;
        return TRUE;
    }
    return read_offset(reader, &arg->value);
}

static gboolean read_vector(PtxReader *reader, PtxArg *arg)
{
    PtxLex *lex = &reader->lex;
    PtxArg part[PTX_VECTOR_MAX] = {0};
    PtxToken token = lex->token;
    arg->kind = ARG_VECTOR;
    ptx_lex_next(lex);
    do {
        if (arg->n == PTX_VECTOR_MAX)
            return FAIL(reader, &token, PTX_LOAD_ERROR_SYNTAX, "a vector of more than %u elements", PTX_VECTOR_MAX);
        if (ptx_lex_is(lex, '{') || ptx_lex_is(lex, '['))
            return FAIL(reader, &lex->token, PTX_LOAD_ERROR_SYNTAX, "not known inside a vector");
        if (!ptx_arg_read(reader, &part[arg->n++]))
            return FALSE;
    } while (ptx_lex_take(lex, ','));
    arg->index = reader->body->parts->len;
    g_array_append_vals(reader->body->parts, part, arg->n);
    return ptx_lex_expect(lex, '}', reader->error);
}

static gboolean read_address(PtxReader *reader, PtxArg *arg)
{
    PtxLex *lex = &reader->lex;
    PtxArg inner = {0};
    ptx_lex_next(lex);
    PtxToken token = lex->token;
    if (token.kind == TOKEN_WORD ? !read_word(reader, &inner) : !read_number(reader, &inner))
        return FALSE;
    if (inner.kind == ARG_REG && !read_offset(reader, &inner.value))
        return FALSE;
    if (inner.kind != ARG_REG && inner.kind != ARG_SYMBOL && inner.kind != ARG_VAR && inner.kind != ARG_INT)
        return FAIL(reader, &token, PTX_LOAD_ERROR_SYMBOL, "an address is a register, a variable or a number");
    if (inner.kind == ARG_REG && inner.value == 0 && ptx_lex_is(lex, ',') && ptx_lex_peek(lex).kind == TOKEN_WORD)
        return ptx_handle_read(reader, &inner, arg);
    *arg = inner;
    arg->n = 0;
    if (ptx_lex_take(lex, ',')) { /* of a tensor map: coordinates follow */
        PtxArg vector = {0};
        if (!ptx_lex_is(lex, '{'))
            return FAIL(reader, &lex->token, PTX_LOAD_ERROR_SYNTAX, "coordinates in {braces} follow a tensor map");
        if (!read_vector(reader, &vector))
            return FALSE;
        arg->n = vector.n;
        arg->parts = vector.index;
    }
    arg->base = inner.kind;
    arg->kind = ARG_ADDRESS;
    return ptx_lex_expect(lex, ']', reader->error);
}

gboolean ptx_arg_read(PtxReader *reader, PtxArg *arg)
{
    PtxLex *lex = &reader->lex;
    PtxToken token = lex->token;
    gboolean good;
    *arg = (PtxArg){.line = token.line, .column = token.column};
    if (ptx_lex_is(lex, '{')) {
        good = read_vector(reader, arg);
    } else if (ptx_lex_is(lex, '[')) {
        good = read_address(reader, arg);
    } else if (ptx_lex_is(lex, '!') && ptx_lex_peek(lex).kind == TOKEN_WORD) {
        ptx_lex_next(lex);
        good = read_word(reader, arg);
        arg->negated = TRUE;
    } else if (token.kind == TOKEN_WORD && !ptx_lex_is_word(lex, "WARP_SZ")) {
        good = read_word(reader, arg);
    } else {
        good = read_number(reader, arg);
    }
    arg->line = token.line;
    arg->column = token.column;
    return good;
}
