/* Branches, returns, calls. */
#include "ptx/translate/lower.h"

static void patch_later(PtxLower *lower)
{
    guint32 at = lower->ins->len - 1;
    g_array_append_val(lower->patches, at);
}

static gboolean lower_branch(PtxLower *lower)
{
    PtxIns ins = ptx_lower_new(lower);
    const PtxArg *to = &lower->args[0];
    if (to->kind != ARG_LABEL || to->base != NAME_LABEL)
        return ptx_lower_fail(lower, to, PTX_LOAD_ERROR_SYNTAX, "a label is expected here");
    ins.target = ptx_body_label(lower->body, to->index);
    if (ins.target == G_MAXUINT32)
        return ptx_lower_fail(lower, to, PTX_LOAD_ERROR_SYMBOL, "nothing has this name here");
    ptx_lower_add(lower, &ins);
    patch_later(lower);
    return TRUE;
}

static gboolean lower_table_branch(PtxLower *lower)
{
    PtxIns ins = ptx_lower_new(lower);
    const PtxArg *index = &lower->args[0], *list = &lower->args[1];
    if (list->kind != ARG_LABEL || list->base != NAME_TABLE)
        return ptx_lower_fail(lower, list, PTX_LOAD_ERROR_SYNTAX, "a list of .branchtargets is expected here");
    if (index->kind == ARG_REG && ptx_lower_bytes(lower, index) != 4)
        return ptx_lower_fail(lower, index, PTX_LOAD_ERROR_SYNTAX, "an index has 32 bits");
    const GArray *table = lower->body->tables->pdata[list->index];
    ins.src[0] = ptx_lower_source(lower, index, 4, T_U32);
    ins.src_bytes[0] = 4;
    ins.target = lower->places->len;
    ins.n_targets = table->len;
    for (guint i = 0; i < table->len; i++) {
        guint32 statement = ptx_body_label(lower->body, g_array_index(table, guint32, i));
        if (statement == G_MAXUINT32)
            return ptx_lower_fail(lower, list, PTX_LOAD_ERROR_SYMBOL, "a label of the list stands nowhere");
        g_array_append_val(lower->places, statement);
    }
    ptx_lower_add(lower, &ins);
    patch_later(lower);
    return TRUE;
}

/* In a .func every return goes to the last instruction, where diverged lanes meet. */
gboolean ptx_lower_control(PtxLower *lower)
{
    if (lower->statement->op == OP_BRX)
        return lower_table_branch(lower);
    if (lower->statement->op == OP_BRA)
        return lower_branch(lower);
    PtxIns ins = ptx_lower_new(lower);
    if (!lower->body->function->entry) {
        ins.op = OP_BRA;
        ins.target = lower->body->statements->len;
    }
    ptx_lower_add(lower, &ins);
    if (!lower->body->function->entry)
        patch_later(lower);
    return TRUE;
}

/* ---- calls */

static gboolean lower_actual(PtxLower *lower, const PtxArg *arg, const PtxParam *formal, gboolean is_ret,
                             PtxActual *actual)
{
    guint bytes = formal->bytes;
    *actual = (PtxActual){.place = PLACE_NONE, .bytes = bytes};
    if (arg->kind == ARG_VAR) {
        const PtxVar *var = &g_array_index(lower->body->vars, PtxVar, arg->index);
        if (var->space == SPACE_PARAM) {
            actual->offset = var->offset;
            return var->bytes == bytes || ptx_lower_fail(lower, arg, PTX_LOAD_ERROR_SYNTAX,
                                                         "the argument has another size than the parameter");
        }
    }
    if (is_ret && arg->kind != ARG_REG && arg->kind != ARG_SINK)
        return ptx_lower_fail(lower, arg, PTX_LOAD_ERROR_SYNTAX, "a result goes to a register or a .param variable");
    if (arg->kind == ARG_SINK) {
        actual->bytes = 0;
        return TRUE;
    }
    guint width = arg->kind == ARG_REG ? ptx_lower_bytes(lower, arg) : MAX(bytes, 2u);
    if ((bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8 && bytes != 16) || width != MAX(bytes, 2u))
        return ptx_lower_fail(lower, arg, PTX_LOAD_ERROR_SYNTAX, "the argument has another size than the parameter");
    actual->place = ptx_lower_source(lower, arg, MAX(bytes, 2u), formal->type);
    return TRUE;
}

static gboolean lower_actuals(PtxLower *lower, const GArray *args, const GArray *formals, gboolean is_ret,
                              PtxActual **to, guint *n)
{
    if (args->len != formals->len) {
        g_autofree char *text = g_strdup_printf("%u %s given, the function has %u", args->len,
                                                is_ret ? "results" : "arguments", formals->len);
        return ptx_lower_fail(lower, NULL, PTX_LOAD_ERROR_SYNTAX, text);
    }
    *to = g_new0(PtxActual, args->len + 1u);
    *n = args->len;
    for (guint i = 0; i < args->len; i++)
        if (!lower_actual(lower, &g_array_index(args, PtxArg, i), &g_array_index(formals, PtxParam, i), is_ret,
                          &(*to)[i]))
            return FALSE;
    return TRUE;
}

/* Functions that the system gives a kernel: ptx/run/syscall.c. */
static gboolean is_system_call(const char *name)
{
    static const char *const names[] = {
        "vprintf", "__assertfail", "malloc", "free", "cudaFabricOpErrorStatusCount", "cudaFabricOpErrorStatusGet",
        NULL};
    return name && g_strv_contains(names, name);
}

static PtxFunction *call_target(PtxLower *lower, const PtxCallSite *site)
{
    PtxSymbol *symbol = site->target.symbol->resolved ? site->target.symbol->resolved : site->target.symbol;
    PtxFunction *function = symbol->function;
    if (function->entry) {
        ptx_lower_fail(lower, &site->target, PTX_LOAD_ERROR_SYMBOL, "a kernel is not called");
        return NULL;
    }
    if (!function->body && !is_system_call(symbol->name)) {
        gboolean launch = g_str_has_prefix(symbol->name, "cuda");
        g_autofree char *text = g_strdup_printf("%s is declared, but no unit of the module defines it%s", symbol->name,
                                                launch ? "; launching from the device is not simulated" : "");
        ptx_lower_fail(lower, &site->target, launch ? PTX_LOAD_ERROR_UNSUPPORTED : PTX_LOAD_ERROR_SYMBOL, text);
        return NULL;
    }
    g_ptr_array_add(lower->code->callees, function);
    return function;
}

gboolean ptx_lower_call(PtxLower *lower)
{
    const PtxCallSite *site = lower->body->calls->pdata[lower->statement->extra];
    static const PtxProto none;
    PtxCall *call = &lower->code->calls[lower->statement->extra];
    PtxIns ins = ptx_lower_new(lower);
    const GArray *rets = site->rets, *params = site->args; /* an indirect call without any needs no prototype */
    ins.target = lower->statement->extra;
    if (site->target.kind == ARG_SYMBOL) {
        call->function = call_target(lower, site);
        if (!call->function)
            return FALSE;
        rets = call->function->rets;
        params = call->function->params;
    } else {
        if (ptx_lower_bytes(lower, &site->target) != 8)
            return ptx_lower_fail(lower, &site->target, PTX_LOAD_ERROR_SYNTAX, "a function's address has 64 bits");
        const PtxProto *proto = site->proto >= 0 ? lower->body->protos->pdata[site->proto] : &none;
        rets = proto->rets ? proto->rets : rets;
        params = proto->params ? proto->params : params;
        ins.src[0] = PLACE_OF_REG(site->target.index);
        ins.src_bytes[0] = 8;
        lower->code->indirect_calls = TRUE;
    }
    if (!lower_actuals(lower, site->rets, rets, TRUE, &call->rets, &call->n_rets) ||
        !lower_actuals(lower, site->args, params, FALSE, &call->args, &call->n_args))
        return FALSE;
    ptx_lower_add(lower, &ins);
    return TRUE;
}
