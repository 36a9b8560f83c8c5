/* What a kernel needs of an SM, with all that it calls. */
#include "ptx/translate/lower.h"

typedef struct {
    PtxUsage usage;
    GHashTable *open; /* functions on the way here */
    GHashTable *done;
    gboolean module_shared;
    guint32 own_shared, registers;
    GError **error;
} Walk;

static guint32 code_registers(const PtxCode *code)
{
    guint32 registers = (code->live_bytes + 3) / 4;
    return CLAMP(registers, PTX_REGISTERS_MIN, PTX_REGISTERS_LIMIT);
}

static gboolean walk_indirect(Walk *walk, const PtxCode *code, guint32 *deepest);

static void add_functions_shared(Walk *walk, const PtxCode *code)
{
    if (!code->shared_bytes)
        return;
    walk->usage.functions_shared += (code->shared_bytes + 127u) & ~127u;
    walk->usage.functions_end = MAX(walk->usage.functions_end, code->shared_at + code->shared_bytes);
}

static gboolean walk_function(Walk *walk, PtxFunction *function, guint32 *local)
{
    const PtxCode *code = NULL;
    guint32 deepest = 0;
    *local = 0;
    if (!function->body)
        return TRUE;
    if (g_hash_table_contains(walk->open, function)) {
        walk->usage.recursive = TRUE;
        return TRUE;
    }
    gpointer known;
    if (g_hash_table_lookup_extended(walk->done, function, NULL, &known)) {
        *local = GPOINTER_TO_UINT(known);
        return TRUE;
    }
    code = ptx_function_code(function, walk->error);
    if (!code)
        return FALSE;
    g_hash_table_add(walk->open, function);
    walk->registers = MAX(walk->registers, code_registers(code));
    walk->module_shared |= code->uses_module_shared;
    if (!function->entry)
        add_functions_shared(walk, code);
    walk->usage.dynamic_shared |= code->uses_dynamic_shared;
    for (guint i = 0; i < code->callees->len; i++) {
        guint32 below;
        if (!walk_function(walk, code->callees->pdata[i], &below))
            return FALSE;
        deepest = MAX(deepest, below);
    }
    if (code->indirect_calls && !walk_indirect(walk, code, &deepest))
        return FALSE;
    g_hash_table_remove(walk->open, function);
    *local = ((code->local_bytes + 15u) & ~15u) + deepest;
    g_hash_table_insert(walk->done, function, GUINT_TO_POINTER(*local));
    return TRUE;
}

/* Any function that has a body may be called: those of other units are counted by their frames alone when they are
 * known already, so that bodies stay unread until they are called. */
static gboolean walk_indirect(Walk *walk, const PtxCode *code, guint32 *deepest)
{
    const PtxModule *module = code->function->unit->module;
    walk->module_shared = walk->module_shared || module->shared_bytes > 0;
    for (guint i = 0; i < module->functions->len; i++) {
        PtxFunction *function = module->functions->pdata[i];
        const PtxCode *other = g_atomic_pointer_get(&function->code);
        if (function->entry || !other)
            continue;
        *deepest = MAX(*deepest, other->local_bytes);
        add_functions_shared(walk, other);
    }
    return TRUE;
}

gboolean ptx_function_usage(PtxFunction *entry, PtxUsage *usage, GError **error)
{
    Walk walk = {.error = error};
    guint32 local;
    walk.open = g_hash_table_new(NULL, NULL);
    walk.done = g_hash_table_new(NULL, NULL);
    gboolean good = walk_function(&walk, entry, &local);
    if (good) {
        guint32 base = (entry->unit->module->shared_bytes + 127u) & ~127u;
        walk.usage.local_bytes = local;
        walk.usage.registers = MIN(walk.registers, ptx_registers_allowed(entry));
        walk.usage.shared_bytes = entry->code->shared_bytes +
                                  (!walk.module_shared         ? 0
                                   : entry->code->shared_bytes ? base
                                                               : entry->unit->module->shared_bytes) +
                                  walk.usage.functions_shared;
        *usage = walk.usage;
    }
    g_hash_table_unref(walk.open);
    g_hash_table_unref(walk.done);
    return good;
}
