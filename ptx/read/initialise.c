/* Initialisers of variables: nested lists of numbers, and of addresses of variables and functions. */
#include <string.h>

#include "ptx/read/parse.h"

#define DEPTH_MAX 16

typedef struct {
    PtxLex *lex;
    PtxSymbol *symbol;
    guint32 element_bytes;
    guint64 at, end;
    guint depth;
    GError **error;
} Filler;

static void put_bytes(Filler *filler, const void *bytes)
{
    PtxSymbol *symbol = filler->symbol;
    if (!symbol->data)
        symbol->data = g_byte_array_new();
    guint old = symbol->data->len;
    if (old < filler->at + filler->element_bytes) {
        g_byte_array_set_size(symbol->data, (guint)(filler->at + filler->element_bytes));
        memset(symbol->data->data + old, 0, symbol->data->len - old);
    }
    memcpy(symbol->data->data + filler->at, bytes, filler->element_bytes);
}

static guint64 constant_as(const PtxConstant *constant, PtxType type)
{
    if (!constant->is_float || !ptx_type_is_float(type))
        return constant->value;
    if (constant->is_single == (type == T_F32))
        return constant->value;
    guint64 bits = 0;
    if (type == T_F32) {
        double wide;
        memcpy(&wide, &constant->value, sizeof wide);
        float narrow = (float)wide;
        memcpy(&bits, &narrow, sizeof narrow);
    } else {
        float narrow;
        guint32 low = (guint32)constant->value;
        memcpy(&narrow, &low, sizeof narrow);
        double wide = narrow;
        memcpy(&bits, &wide, sizeof wide);
    }
    return bits;
}

/* name, name+4, generic(name)+4, mask(name). */
static gboolean put_address(Filler *filler)
{
    PtxLex *lex = filler->lex;
    PtxReloc reloc = {.offset = filler->at, .bytes = filler->element_bytes};
    guint closing = 0;
    PtxToken token = lex->token;
    if (filler->element_bytes == 1 && lex->token.kind == TOKEN_INTEGER) { /* 0xff00(name) */
        guint64 mask = lex->token.value;
        reloc.shift = mask ? (guint8)__builtin_ctzll(mask) : 0;
        ptx_lex_next(lex);
        if (!ptx_lex_expect(lex, '(', filler->error))
            return FALSE;
        closing++;
    }
    if (ptx_lex_is_word(lex, "generic") && ptx_lex_peek(lex).punct == '(') {
        reloc.generic = TRUE;
        ptx_lex_next(lex);
        ptx_lex_next(lex);
        closing++;
    }
    token = lex->token;
    if (token.kind != TOKEN_WORD)
        return ptx_lex_fail(lex, &token, PTX_LOAD_ERROR_SYNTAX, filler->error, "a number or a name is expected here");
    reloc.target = ptx_unit_find(filler->symbol->unit, token.text, token.length);
    if (!reloc.target)
        return ptx_lex_fail(lex, &token, PTX_LOAD_ERROR_SYMBOL, filler->error, "nothing has this name here");
    ptx_lex_next(lex);
    for (; closing; closing--)
        if (!ptx_lex_expect(lex, ')', filler->error))
            return FALSE;
    if (ptx_lex_is(lex, '+') || ptx_lex_is(lex, '-')) {
        PtxConstant addend;
        gboolean plus = ptx_lex_take(lex, '+');
        (void)plus;
        if (!ptx_expression_read(lex, &addend, filler->error))
            return FALSE;
        reloc.addend = (gint64)addend.value;
    }
    if (reloc.bytes != 8 && reloc.bytes != 4 && reloc.bytes != 1)
        return ptx_lex_fail(lex, &token, PTX_LOAD_ERROR_SYNTAX, filler->error, "an address needs 4 or 8 bytes");
    if (!filler->symbol->relocs)
        filler->symbol->relocs = g_array_new(FALSE, FALSE, sizeof(PtxReloc));
    g_array_append_val(filler->symbol->relocs, reloc);
    return TRUE;
}

static gboolean put_element(Filler *filler)
{
    PtxLex *lex = filler->lex;
    if (filler->at + filler->element_bytes > filler->end)
        return ptx_lex_fail(lex, &lex->token, PTX_LOAD_ERROR_SYNTAX, filler->error,
                            "more values than the variable has");
    PtxToken next = ptx_lex_peek(lex);
    if (lex->token.kind == TOKEN_WORD
            ? !ptx_lex_is_word(lex, "WARP_SZ")
            : lex->token.kind == TOKEN_INTEGER && next.kind == TOKEN_PUNCT && next.punct == '(') {
        if (!put_address(filler))
            return FALSE;
    } else {
        PtxConstant constant;
        if (!ptx_expression_read(lex, &constant, filler->error))
            return FALSE;
        guint64 bits[2] = {constant_as(&constant, filler->symbol->type), 0};
        put_bytes(filler, bits);
    }
    filler->at += filler->element_bytes;
    return TRUE;
}

static gboolean put_list(Filler *filler)
{
    PtxLex *lex = filler->lex;
    if (++filler->depth > DEPTH_MAX)
        return ptx_lex_fail(lex, &lex->token, PTX_LOAD_ERROR_LIMIT, filler->error, "initialiser is nested too deep");
    ptx_lex_next(lex);
    while (!ptx_lex_is(lex, '}')) {
        if (!(ptx_lex_is(lex, '{') ? put_list(filler) : put_element(filler)))
            return FALSE;
        if (!ptx_lex_take(lex, ','))
            break;
    }
    filler->depth--;
    return ptx_lex_expect(lex, '}', filler->error);
}

gboolean ptx_initialiser_read(PtxLex *lex, PtxSymbol *symbol, guint vector, GError **error)
{
    (void)vector;
    Filler filler = {.lex = lex,
                     .symbol = symbol,
                     .element_bytes = ptx_types[symbol->type].memory,
                     .end = symbol->bytes,
                     .error = error};
    PtxToken token = lex->token;
    if (symbol->space != SPACE_GLOBAL && symbol->space != SPACE_CONST)
        return ptx_lex_fail(lex, &token, PTX_LOAD_ERROR_SYNTAX, error, "only .global and .const have initial values");
    if (symbol->open_array)
        filler.end = G_MAXUINT32;
    if (!(ptx_lex_is(lex, '{') ? put_list(&filler) : put_element(&filler)))
        return FALSE;
    if (symbol->open_array) {
        symbol->bytes = filler.at;
        symbol->open_array = FALSE;
    }
    return TRUE;
}
