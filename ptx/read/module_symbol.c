/* The names of a unit, and of parameters. */
#include <string.h>

#include "ptx/read/parse.h"

PtxSymbol *ptx_unit_find(const PtxUnit *unit, const char *name, gsize length)
{
    char text[256];
    if (length < sizeof text) {
        memcpy(text, name, length);
        text[length] = 0;
        return g_hash_table_lookup(unit->symbols, text);
    }
    g_autofree char *copy = g_strndup(name, length);
    return g_hash_table_lookup(unit->symbols, copy);
}

/* A name may be declared several times; a definition takes the place of declarations. */
PtxSymbol *ptx_unit_declare(PtxUnit *unit, PtxLex *lex, const PtxToken *token, const char *name, PtxLinkage linkage,
                            PtxSpace space, GError **error)
{
    PtxSymbol *symbol = g_hash_table_lookup(unit->symbols, name);
    if (symbol) {
        if (symbol->space != space) {
            ptx_lex_fail(lex, token, PTX_LOAD_ERROR_SYMBOL, error, "the name has another state space in line %u",
                         symbol->line);
            return NULL;
        }
        if (space != SPACE_CODE && symbol->linkage != LINK_EXTERN && linkage != LINK_EXTERN) {
            ptx_lex_fail(lex, token, PTX_LOAD_ERROR_SYMBOL, error, "the name is defined in line %u, too", symbol->line);
            return NULL;
        }
        if (symbol->linkage == LINK_EXTERN || symbol->linkage == LINK_STATIC)
            symbol->linkage = (guint8)(linkage == LINK_EXTERN ? symbol->linkage : linkage);
        return symbol;
    }
    symbol = g_new0(PtxSymbol, 1);
    symbol->name = g_strdup(name);
    symbol->unit = unit;
    symbol->space = (guint8)space;
    symbol->linkage = (guint8)linkage;
    symbol->line = token->line;
    symbol->column = token->column;
    symbol->align = 1;
    g_hash_table_insert(unit->symbols, symbol->name, symbol);
    g_ptr_array_add(unit->module->symbols, symbol);
    return symbol;
}

void ptx_param_clear(gpointer param) { g_free(((PtxParam *)param)->name); }
