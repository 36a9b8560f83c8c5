#include "ptx/read/parse.h"

#include <string.h>

#define ALIAS_STEPS_MAX 16

PtxModule *ptx_module_new(void)
{
    PtxModule *module = g_new0(PtxModule, 1);
    module->units = g_ptr_array_new();
    module->symbols = g_ptr_array_new();
    module->functions = g_ptr_array_new();
    module->names = g_hash_table_new(g_str_hash, g_str_equal);
    module->ops = ptx_optable_new();
    g_mutex_init(&module->lock);
    return module;
}

static void unit_free(PtxUnit *unit)
{
    g_hash_table_unref(unit->symbols);
    g_ptr_array_unref(unit->sources);
    g_free(unit->file);
    g_free(unit->text);
    g_free(unit);
}

static void ptx_symbol_free(PtxSymbol *symbol)
{
    if (symbol->data)
        g_byte_array_unref(symbol->data);
    if (symbol->relocs)
        g_array_unref(symbol->relocs);
    g_free(symbol->name);
    g_free(symbol);
}

static void ptx_function_free(PtxFunction *function)
{
    if (function->code)
        function->code_free(function->code);
    g_clear_error(&function->broken);
    g_array_unref(function->params);
    g_array_unref(function->rets);
    g_free(function);
}

void ptx_module_free(PtxModule *module)
{
    if (!module)
        return;
    for (guint i = 0; i < module->functions->len; i++)
        ptx_function_free(module->functions->pdata[i]);
    for (guint i = 0; i < module->symbols->len; i++)
        ptx_symbol_free(module->symbols->pdata[i]);
    for (guint i = 0; i < module->units->len; i++)
        unit_free(module->units->pdata[i]);
    g_ptr_array_unref(module->units);
    g_ptr_array_unref(module->symbols);
    g_ptr_array_unref(module->functions);
    g_hash_table_unref(module->names);
    ptx_optable_free(module->ops);
    g_mutex_clear(&module->lock);
    g_free(module);
}

gboolean ptx_module_add(PtxModule *module, const char *file, const char *text, gsize bytes, GError **error)
{
    g_assert(!module->linked);
    PtxUnit *unit = g_new0(PtxUnit, 1);
    unit->module = module;
    unit->file = g_strdup(file);
    unit->text = g_malloc(bytes + 1);
    memcpy(unit->text, text, bytes);
    unit->text[bytes] = 0;
    unit->bytes = bytes;
    unit->symbols = g_hash_table_new(g_str_hash, g_str_equal);
    unit->sources = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(module->units, unit);
    return ptx_unit_parse(unit, error);
}

void ptx_module_limit_registers(PtxModule *module, guint registers)
{
    g_assert(module->units->len > 0);
    PtxUnit *unit = module->units->pdata[module->units->len - 1];
    unit->registers_max = registers;
}

/* ---- linking */

static gboolean symbol_fail(const PtxSymbol *symbol, GError **error, const char *format, const char *other)
{
    g_autofree char *text = g_strdup_printf(format, symbol->name, other);
    g_set_error(error, PTX_LOAD_ERROR, PTX_LOAD_ERROR_SYMBOL, "%s:%u:%u: %s", symbol->unit->file, symbol->line,
                symbol->column, text);
    return FALSE;
}

static guint symbol_strength(const PtxSymbol *symbol)
{
    static const guint8 strength[] = {[LINK_EXTERN] = 0, [LINK_COMMON] = 1, [LINK_WEAK] = 2, [LINK_VISIBLE] = 3};
    gboolean body = !symbol->function || symbol->function->body;
    return body ? strength[symbol->linkage] : 0;
}

static gboolean link_name(PtxModule *module, PtxSymbol *symbol, GError **error)
{
    if (symbol->linkage == LINK_STATIC)
        return TRUE;
    PtxSymbol *other = g_hash_table_lookup(module->names, symbol->name);
    if (other && other->space != symbol->space)
        return symbol_fail(symbol, error, "'%s' is of another state space in %s", other->unit->file);
    if (other && symbol_strength(other) == 3 && symbol_strength(symbol) == 3 && !symbol->open_array)
        return symbol_fail(symbol, error, "'%s' is defined in %s, too", other->unit->file);
    if (!other || symbol_strength(symbol) > symbol_strength(other) ||
        (symbol->linkage == LINK_COMMON && other->linkage == LINK_COMMON && symbol->bytes > other->bytes))
        g_hash_table_insert(module->names, symbol->name, symbol);
    return TRUE;
}

static guint64 place(guint64 *bank, guint64 bytes, guint64 align)
{
    guint64 offset = (*bank + align - 1) / align * align;
    *bank = offset + bytes;
    return offset;
}

static gboolean layout_symbol(PtxModule *module, PtxSymbol *symbol, guint64 *shared, GError **error)
{
    guint64 *bank = symbol->space == SPACE_GLOBAL   ? &module->global_bytes
                    : symbol->space == SPACE_CONST  ? &module->const_bytes
                    : symbol->space == SPACE_SHARED ? shared
                                                    : NULL;
    if (!bank || symbol->resolved != symbol || (symbol->linkage == LINK_EXTERN && symbol->space != SPACE_SHARED) ||
        symbol->open_array)
        return TRUE;
    symbol->offset = place(bank, symbol->bytes, symbol->align);
    module->global_align = MAX(module->global_align, symbol->align);
    if (module->global_bytes > PTX_BANK_BYTES_MAX)
        return symbol_fail(symbol, error, "'%s' does not fit%s: all .global variables together exceed 1 TiB", "");
    if (module->const_bytes > PTX_CONST_BYTES_MAX)
        return symbol_fail(symbol, error, "'%s' does not fit%s: all .const variables together exceed 640 KiB", "");
    if (*shared > PTX_SHARED_BYTES_MAX)
        return symbol_fail(symbol, error, "'%s' does not fit%s: shared variables together exceed 256 KiB", "");
    return TRUE;
}

gboolean ptx_module_link(PtxModule *module, GError **error)
{
    guint64 shared = 0;
    for (guint i = 0; i < module->symbols->len; i++)
        if (!link_name(module, module->symbols->pdata[i], error))
            return FALSE;
    for (guint i = 0; i < module->symbols->len; i++) {
        PtxSymbol *symbol = module->symbols->pdata[i];
        if (symbol->resolved && symbol->resolved != symbol) { /* .alias: its target may be elsewhere */
            PtxSymbol *target = symbol->resolved;
            symbol->resolved = target->linkage == LINK_STATIC ? target
                                                              : g_hash_table_lookup(module->names, target->name);
            continue;
        }
        symbol->resolved = symbol->linkage == LINK_STATIC ? symbol : g_hash_table_lookup(module->names, symbol->name);
    }
    for (guint i = 0; i < module->symbols->len; i++) {
        PtxSymbol *symbol = module->symbols->pdata[i];
        for (guint step = 0; symbol->resolved->resolved != symbol->resolved; step++) {
            if (step == ALIAS_STEPS_MAX)
                return symbol_fail(symbol, error, "'%s' is an alias of itself%s", "");
            symbol->resolved = symbol->resolved->resolved;
        }
    }
    for (guint i = 0; i < module->symbols->len; i++)
        if (!layout_symbol(module, module->symbols->pdata[i], &shared, error))
            return FALSE;
    module->shared_bytes = (guint32)shared;
    module->linked = TRUE;
    return TRUE;
}

PtxModule *ptx_module_read(const char *file, const char *text, gsize bytes, GError **error)
{
    PtxModule *module = ptx_module_new();
    if (ptx_module_add(module, file, text, bytes, error) && ptx_module_link(module, error))
        return module;
    ptx_module_free(module);
    return NULL;
}

/* ---- look-ups */

PtxFunction *ptx_module_entry(const PtxModule *module, const char *name)
{
    for (guint i = 0; i < module->functions->len; i++) {
        PtxFunction *function = module->functions->pdata[i];
        if (function->entry && function->body && !strcmp(function->symbol->name, name))
            return function->symbol->resolved->function;
    }
    return NULL;
}

PtxSymbol *ptx_module_variable(const PtxModule *module, const char *name)
{
    PtxSymbol *symbol = g_hash_table_lookup(module->names, name);
    for (guint i = 0; !symbol && i < module->symbols->len; i++) {
        PtxSymbol *other = module->symbols->pdata[i];
        if (!strcmp(other->name, name) && other->linkage == LINK_STATIC)
            symbol = other;
    }
    return symbol && (symbol->space == SPACE_GLOBAL || symbol->space == SPACE_CONST) && symbol->linkage != LINK_EXTERN
               ? symbol
               : NULL;
}

guint64 ptx_symbol_address(const PtxSymbol *symbol, guint64 global_base, guint64 const_base)
{
    symbol = symbol->resolved;
    switch (symbol->space) {
    case SPACE_GLOBAL: return global_base + symbol->offset;
    case SPACE_CONST: return const_base + symbol->offset;
    case SPACE_SHARED: return symbol->offset;
    case SPACE_CODE: return PTX_CODE_WINDOW + symbol->function->index;
    default: return 0;
    }
}

void ptx_module_bank(const PtxModule *module, PtxSpace space, guint64 global_base, guint64 const_base, guint8 *bytes)
{
    memset(bytes, 0, space == SPACE_GLOBAL ? module->global_bytes : module->const_bytes);
    for (guint i = 0; i < module->symbols->len; i++) {
        const PtxSymbol *symbol = module->symbols->pdata[i];
        if (symbol->space != space || symbol->resolved != symbol || symbol->linkage == LINK_EXTERN)
            continue;
        guint8 *at = bytes + symbol->offset;
        if (symbol->data)
            memcpy(at, symbol->data->data, MIN(symbol->data->len, symbol->bytes));
        for (guint r = 0; symbol->relocs && r < symbol->relocs->len; r++) {
            const PtxReloc *reloc = &g_array_index(symbol->relocs, PtxReloc, r);
            guint64 address = ptx_symbol_address(reloc->target, global_base, const_base) + (guint64)reloc->addend;
            if (reloc->target->resolved->space == SPACE_SHARED && reloc->generic)
                address += PTX_SHARED_WINDOW;
            address >>= reloc->shift;
            memcpy(at + reloc->offset, &address, reloc->bytes);
        }
    }
}
