/* A body, statement by statement, into code; and the code of a function, made when it is first needed. */
#include "ptx/translate/lower.h"

#include <string.h>

/* Prefetches and the like. */
static gboolean ptx_lower_nothing(PtxLower *lower)
{
    (void)lower;
    return TRUE;
}

static gboolean lower_statement(PtxLower *lower)
{
#define OPERATION(name, lowering, step, traits) [OP_##name] = ptx_lower_##lowering,
    static gboolean (*const lowerings[OP_COUNT])(PtxLower *) = {
        [OP_NONE] = ptx_lower_plain,
#include "ptx/operations.h"
    };
    GError **error = lower->error;
    return lowerings[lower->statement->op](lower) && (!error || !*error);
}

static void add_formals(PtxLower *lower)
{
    PtxBody *body = lower->body;
    PtxCode *code = lower->code;
    const PtxFunction *function = body->function;
    const GArray *lists[] = {function->rets, function->params};
    guint32 reg = 0, at = 0;
    code->n_formals = function->rets->len + function->params->len;
    code->formal_offset = g_new0(guint32, code->n_formals + 1u);
    code->formal_place = g_new0(guint32, code->n_formals + 1u);
    for (guint l = 0; l < 2; l++)
        for (guint i = 0; i < lists[l]->len; i++, at++) {
            code->formal_offset[at] = g_array_index(body->vars, PtxVar, at).offset;
            code->formal_place[at] = g_array_index(lists[l], PtxParam, i).space == SPACE_REG ? PLACE_OF_REG(reg++)
                                                                                             : PLACE_NONE;
        }
}

static void patch_targets(PtxLower *lower)
{
    for (guint i = 0; i < lower->patches->len; i++) {
        PtxIns *ins = &g_array_index(lower->ins, PtxIns, g_array_index(lower->patches, guint32, i));
        if (ins->op == OP_BRA)
            ins->target = lower->start[ins->target];
        for (guint32 t = 0; ins->op == OP_BRX && t < ins->n_targets; t++) {
            guint32 *place = &g_array_index(lower->places, guint32, ins->target + t);
            *place = lower->start[*place];
        }
    }
}

static void count_family(PtxCode *code, const PtxStatement *statement)
{
    PtxOpKey key = {.n_words = statement->n_words, .n_types = statement->n_types};
    memcpy(key.words, statement->words, sizeof key.words);
    memcpy(key.types, statement->types, sizeof key.types);
    char *family = statement->row ? ptx_optable_family(statement->row, &key) : g_strdup("call");
    guint count = GPOINTER_TO_UINT(g_hash_table_lookup(code->families, family));
    g_hash_table_replace(code->families, family, GUINT_TO_POINTER(count + 1));
}

static gboolean lower_body(PtxLower *lower)
{
    static const PtxStatement last = {.op = OP_RET};
    GArray *statements = lower->body->statements;
    lower->start = g_new(guint32, statements->len + 1u);
    for (guint i = 0; i < statements->len; i++) {
        lower->statement = &g_array_index(statements, PtxStatement, i);
        lower->args = &g_array_index(lower->body->args, PtxArg, lower->statement->first_arg);
        lower->start[i] = lower->ins->len;
        if (!lower_statement(lower))
            return FALSE;
        count_family(lower->code, lower->statement);
    }
    lower->statement = &last;
    lower->start[statements->len] = lower->ins->len;
    PtxIns ret = ptx_lower_new(lower);
    ret.cost = COST_CONTROL;
    ptx_lower_add(lower, &ret);
    patch_targets(lower);
    return TRUE;
}

/* FNV-1a over what tells functions apart; not an address, which a run could not repeat. */
static guint64 code_tag(const PtxCode *code)
{
    guint64 tag = 14695981039346656037u;
    for (const char *c = code->function->symbol->name; *c; c++)
        tag = (tag ^ (guint8)*c) * 1099511628211u;
    for (guint32 i = 0; i < code->n_ins; i++) {
        const PtxIns *ins = &code->ins[i];
        guint64 word = ins->op | (guint64)ins->type << 16 | (guint64)ins->target << 32;
        tag = (tag ^ word) * 1099511628211u;
        tag = (tag ^ (guint64)ins->imm) * 1099511628211u;
    }
    return tag;
}

static void finish(PtxLower *lower)
{
    PtxCode *code = lower->code;
    PtxBody *body = lower->body;
    code->n_ins = lower->ins->len;
    code->ins = (PtxIns *)(void *)g_array_free(lower->ins, FALSE);
    code->n_places = lower->places->len;
    code->places = (guint32 *)(void *)g_array_free(lower->places, FALSE);
    code->pool_bytes = lower->pool->len;
    code->pool = g_byte_array_free(lower->pool, FALSE);
    lower->ins = lower->places = NULL;
    lower->pool = NULL;
    code->local_bytes = body->local_bytes;
    code->param_bytes = body->param_bytes;
    code->shared_bytes = body->shared_bytes;
    if (!code->function->entry && code->shared_bytes) { /* the module's lock is held */
        PtxModule *module = code->function->unit->module;
        code->shared_at = PTX_FUNCTIONS_SHARED + module->functions_shared;
        module->functions_shared += (code->shared_bytes + 127u) & ~127u;
    }
    code->statements = body->statements->len;
    PtxFlow flow;
    ptx_drop_results(code, body->registers->len);
    ptx_flow_make(&flow, code);
    ptx_flow_joins(&flow, code);
    ptx_schedule(code, &flow, body->registers->len);
    ptx_allocate(code, &flow, (const guint8 *)body->registers->data, body->registers->len);
    ptx_flow_clear(&flow);
    ptx_code_list_uses(code);
    ptx_costs_make(code);
    ptx_turns_mark(code);
    code->tag = code_tag(code);
}

static PtxCode *code_make(PtxFunction *function, GError **error)
{
    PtxBody *body = ptx_body_read(function, error);
    if (!body)
        return NULL;
    PtxCode *code = g_new0(PtxCode, 1);
    code->function = function;
    code->relocs = g_array_new(FALSE, FALSE, sizeof(PtxPoolReloc));
    code->callees = g_ptr_array_new();
    code->families = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    code->calls = g_new0(PtxCall, body->calls->len + 1u);
    code->n_calls = body->calls->len;
    GError *local = NULL;
    PtxLower lower = {.body = body, .code = code, .error = &local};
    lower.ins = g_array_new(FALSE, TRUE, sizeof(PtxIns));
    lower.places = g_array_new(FALSE, FALSE, sizeof(guint32));
    lower.patches = g_array_new(FALSE, FALSE, sizeof(guint32));
    lower.pool = g_byte_array_new();
    lower.constants = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    add_formals(&lower);
    gboolean good = lower_body(&lower);
    if (good) {
        finish(&lower);
    } else {
        g_propagate_error(error, local);
        g_array_unref(lower.ins);
        g_array_unref(lower.places);
        g_byte_array_unref(lower.pool);
        ptx_code_free(code);
        code = NULL;
    }
    g_array_unref(lower.patches);
    g_hash_table_unref(lower.constants);
    g_free(lower.start);
    ptx_body_free(body);
    return code;
}

PtxCode *ptx_function_code(PtxFunction *function, GError **error)
{
    PtxCode *code = g_atomic_pointer_get(&function->code);
    if (code)
        return code;
    g_mutex_lock(&function->unit->module->lock);
    if (!function->code && !function->broken)
        g_atomic_pointer_set(&function->code, code_make(function, &function->broken));
    function->code_free = ptx_code_free;
    code = function->code;
    g_mutex_unlock(&function->unit->module->lock);
    if (code)
        return code;
    if (error)
        *error = g_error_copy(function->broken);
    return NULL;
}
