/* What instructions use of registers and of other warps, and the end of a code. */
#include "ptx/translate/lower.h"

void ptx_ins_visit(PtxCode *code, PtxIns *ins, PtxVisit visit, void *user)
{
    gboolean loads = ins->op == OP_LD || ins->op == OP_ATOM || ins->op == OP_MC_LOAD || ins->op == OP_LDMATRIX ||
                     ins->op == OP_MMA || ins->op == OP_WGMMA || ins->op == OP_MBAR_TEST || ins->op == OP_MBAR_TRY ||
                     (ins->op == OP_MOV && ins->dst == PLACE_NONE);
    if (ins->guard != PLACE_NONE)
        visit(user, &ins->guard, FALSE);
    for (guint i = 0; i < 4; i++)
        if (ins->src[i] != PLACE_NONE && !(ins->src[i] & PLACE_POOL))
            visit(user, &ins->src[i], FALSE);
    for (guint i = 0; i < ins->n_vec2; i++)
        if (code->places[ins->vec2 + i] != PLACE_NONE && !(code->places[ins->vec2 + i] & PLACE_POOL))
            visit(user, &code->places[ins->vec2 + i], FALSE);
    for (guint i = 0; i < ins->n_vec; i++) {
        guint32 *place = &code->places[ins->vec + i];
        if (*place != PLACE_NONE && !(*place & PLACE_POOL))
            visit(user, place, loads);
    }
    if (ins->op == OP_CALL) {
        PtxCall *call = &code->calls[ins->target];
        for (guint i = 0; i < call->n_args; i++)
            if (call->args[i].place != PLACE_NONE && !(call->args[i].place & PLACE_POOL))
                visit(user, &call->args[i].place, FALSE);
        for (guint i = 0; i < call->n_rets; i++)
            if (call->rets[i].place != PLACE_NONE)
                visit(user, &call->rets[i].place, TRUE);
    }
    if (ins->dst != PLACE_NONE)
        visit(user, &ins->dst, TRUE);
    if (ins->dst2 != PLACE_NONE)
        visit(user, &ins->dst2, TRUE);
}

typedef struct {
    GArray *places;
    PtxIns *ins;
} Uses;

static void collect(void *user, guint32 *place, gboolean write)
{
    Uses *uses = user;
    guint32 copy = *place;
    (void)write;
    g_array_append_val(uses->places, copy);
    uses->ins->n_uses++;
    uses->ins->uses |= (guint64)1 << (copy / 64 % 64);
}

#define OPERATION(name, lowering, step, traits) [OP_##name] = traits,
static const guint8 traits_of[OP_COUNT] = {
#include "ptx/operations.h"
};

void ptx_code_list_uses(PtxCode *code)
{
    Uses uses = {.places = g_array_new(FALSE, FALSE, sizeof(guint32))};
    g_array_append_vals(uses.places, code->places, code->n_places);
    for (guint32 i = 0; i < code->n_ins; i++) {
        PtxIns *ins = &code->ins[i];
        if (ins->join != G_MAXUINT32)
            code->ins[ins->join].is_join = TRUE;
        if (traits_of[ins->op] & PTX_MEETS)
            code->ins[i + 1].is_join = TRUE;
        ins->settles = (traits_of[ins->op] & PTX_SETTLES) != 0;
        uses.ins = ins;
        ins->uses_at = uses.places->len;
        ptx_ins_visit(code, ins, collect, &uses);
    }
    g_free(code->places);
    code->n_places = uses.places->len;
    code->places = (guint32 *)(void *)g_array_free(uses.places, FALSE);
}

void ptx_code_free(PtxCode *code)
{
    if (!code)
        return;
    for (guint i = 0; i < code->n_calls; i++) {
        g_free(code->calls[i].args);
        g_free(code->calls[i].rets);
    }
    g_free(code->calls);
    g_free(code->ins);
    g_free(code->places);
    g_free(code->pool);
    g_array_unref(code->relocs);
    g_ptr_array_unref(code->callees);
    g_hash_table_unref(code->families);
    g_free(code->formal_offset);
    g_free(code->formal_place);
    g_aligned_free(code->costs);
    g_free(code->reloads);
    g_free(code->spills);
    g_free(code);
}
