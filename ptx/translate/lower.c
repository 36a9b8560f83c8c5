/* From a body to code: operands become places. */
#include "ptx/translate/lower.h"

#include <string.h>

gboolean ptx_lower_fail(PtxLower *lower, const PtxArg *arg, PtxLoadError code, const char *text)
{
    if (lower->error && *lower->error)
        return FALSE;
    return ptx_body_fail(lower->body, arg ? arg->line : lower->statement->line,
                         arg ? arg->column : lower->statement->column, code, lower->error, "%s", text);
}

guint ptx_lower_bytes(const PtxLower *lower, const PtxArg *arg)
{
    return ptx_types[g_array_index(lower->body->registers, guint8, arg->index)].bytes;
}

PtxIns ptx_lower_new(const PtxLower *lower)
{
    const PtxStatement *s = lower->statement;
    PtxIns ins = {.op = s->op, .guard = PLACE_NONE, .dst = PLACE_NONE, .dst2 = PLACE_NONE, .join = G_MAXUINT32};
    for (guint i = 0; i < 4; i++)
        ins.src[i] = PLACE_NONE;
    ins.cost = s->row ? s->row->cost : COST_CALL;
    ins.type = s->n_types ? s->types[0] : T_B32;
    ins.type2 = s->n_types ? s->types[s->n_types - 1] : T_B32;
    if (s->guarded) {
        ins.guard = PLACE_OF_REG(s->guard);
        ins.guard_negated = (guint8)s->guard_negated;
    }
    return ins;
}

PtxIns *ptx_lower_add(PtxLower *lower, const PtxIns *ins)
{
    PtxIns copy = *ins;
    copy.statement_line = lower->statement->line;
    copy.column = lower->statement->column;
    copy.source_line = lower->statement->source_line;
    g_array_append_val(lower->ins, copy);
    return &g_array_index(lower->ins, PtxIns, lower->ins->len - 1);
}

/* ---- the pool */

static guint32 pool_add(PtxLower *lower, guint64 value, guint bytes)
{
    guint32 at = lower->pool->len;
    g_byte_array_set_size(lower->pool, at + PTX_LANES * bytes);
    for (guint l = 0; l < PTX_LANES; l++) {
        memset(lower->pool->data + at + l * bytes, 0, bytes);
        memcpy(lower->pool->data + at + l * bytes, &value, MIN(bytes, 8u));
    }
    return at;
}

static guint32 pool_find(PtxLower *lower, char *key, guint64 value, guint bytes, gboolean *added)
{
    gpointer found = g_hash_table_lookup(lower->constants, key);
    *added = !found;
    if (found) {
        g_free(key);
        return GPOINTER_TO_UINT(found);
    }
    guint32 place = pool_add(lower, value, bytes) | PLACE_POOL;
    g_hash_table_insert(lower->constants, key, GUINT_TO_POINTER(place));
    return place;
}

guint32 ptx_lower_constant(PtxLower *lower, guint64 value, guint bytes)
{
    gboolean added;
    if (bytes < 8)
        value &= ((guint64)1 << (8 * bytes)) - 1;
    return pool_find(lower, g_strdup_printf("%u:%" G_GINT64_MODIFIER "x", bytes, value), value, bytes, &added);
}

/* The address of a symbol, known when the module is loaded; symbol NULL: of the kernel's own shared variables. */
static guint32 pool_symbol(PtxLower *lower, PtxSymbol *symbol, guint64 addend, guint bytes)
{
    gboolean added;
    char *key = g_strdup_printf("%s+%" G_GINT64_MODIFIER "x:%u", symbol ? symbol->name : "", addend, bytes);
    guint32 place = pool_find(lower, key, 0, bytes, &added);
    PtxPoolReloc reloc = {.place = place & ~PLACE_POOL, .bytes = (guint8)bytes, .symbol = symbol, .addend = addend};
    if (added)
        g_array_append_val(lower->code->relocs, reloc);
    return place;
}

/* ---- operands */

static guint64 number_bits(const PtxArg *arg, guint bytes, PtxType type)
{
    if (arg->kind == ARG_INT || !ptx_type_is_float(type))
        return arg->value;
    double wide;
    float narrow;
    guint32 low = (guint32)arg->value;
    guint64 bits = arg->value;
    if (arg->kind == ARG_F64 && bytes == 4) {
        memcpy(&wide, &arg->value, sizeof wide);
        narrow = (float)wide;
        memcpy(&low, &narrow, sizeof low);
        bits = low;
    } else if (arg->kind == ARG_F32 && bytes == 8) {
        memcpy(&narrow, &low, sizeof narrow);
        wide = narrow;
        memcpy(&bits, &wide, sizeof bits);
    }
    return bits;
}

static guint32 temporary(PtxLower *lower, guint bytes)
{
    return PLACE_OF_REG(ptx_body_register(lower->body, bytes == 8   ? T_B64
                                                       : bytes == 2 ? T_B16
                                                       : bytes == 0 ? T_PRED
                                                                    : T_B32));
}

/* An instruction of its own brings what only a warp knows into a register. */
static guint32 runtime_value(PtxLower *lower, guint bytes, PtxSreg sreg, guint64 addend, PtxSpace space)
{
    PtxIns ins = ptx_lower_new(lower);
    ins.op = OP_SREG;
    ins.mode = (guint8)sreg;
    ins.space = (guint8)space;
    ins.imm = addend;
    ins.dst = temporary(lower, bytes);
    ins.dst_bytes = (guint8)bytes;
    ins.cost = COST_FREE;
    ins.guard = PLACE_NONE;
    ptx_lower_add(lower, &ins);
    return ins.dst;
}

static guint32 symbol_value(PtxLower *lower, const PtxArg *arg, guint bytes)
{
    PtxSymbol *symbol = arg->symbol->resolved ? arg->symbol->resolved : arg->symbol;
    if (symbol->space == SPACE_SHARED && symbol->open_array) {
        lower->code->uses_dynamic_shared = TRUE;
        return runtime_value(lower, bytes, SREG_NONE, arg->value, SPACE_SHARED);
    }
    if (symbol->linkage == LINK_EXTERN || (symbol->space == SPACE_CODE && !symbol->function->body)) {
        g_autofree char *text = g_strdup_printf("%s is declared, but no unit of the module defines it", symbol->name);
        ptx_lower_fail(lower, arg, PTX_LOAD_ERROR_SYMBOL, text);
        return PLACE_NONE;
    }
    lower->code->uses_module_shared |= symbol->space == SPACE_SHARED;
    return pool_symbol(lower, symbol, arg->value, bytes);
}

static guint32 var_value(PtxLower *lower, const PtxArg *arg, guint bytes)
{
    const PtxVar *var = &g_array_index(lower->body->vars, PtxVar, arg->index);
    guint64 offset = var->offset + arg->value;
    if (var->space == SPACE_LOCAL)
        return runtime_value(lower, bytes, SREG_NONE, offset, SPACE_LOCAL);
    if (var->space == SPACE_SHARED)
        return pool_symbol(lower, NULL, offset, bytes);
    return ptx_lower_constant(lower, offset, bytes); /* .param: an offset in the area */
}

guint32 ptx_lower_source(PtxLower *lower, const PtxArg *arg, guint bytes, PtxType type)
{
    switch ((PtxArgKind)arg->kind) {
    case ARG_REG: return PLACE_OF_REG(arg->index);
    case ARG_INT:
    case ARG_F32:
    case ARG_F64: return ptx_lower_constant(lower, number_bits(arg, bytes, type), bytes);
    case ARG_SREG: return runtime_value(lower, bytes, (PtxSreg)arg->index, 0, SPACE_REG);
    case ARG_SYMBOL: return symbol_value(lower, arg, bytes);
    case ARG_VAR: return var_value(lower, arg, bytes);
    default: ptx_lower_fail(lower, arg, PTX_LOAD_ERROR_SYNTAX, "not a value"); return PLACE_NONE;
    }
}

/* Puts an address into src[at] and, for the first, imm: a base that may be missing, and an offset. */
void ptx_lower_address(PtxLower *lower, PtxIns *ins, guint at, const PtxArg *arg)
{
    PtxArg base = *arg;
    base.kind = arg->base;
    if (base.kind == ARG_REG) {
        ins->src[at] = PLACE_OF_REG(base.index);
        ins->src_bytes[at] = (guint8)ptx_lower_bytes(lower, &base);
        if (at == 0)
            ins->imm = arg->value;
        return;
    }
    if (base.kind == ARG_VAR && at == 0) {
        const PtxVar *var = &g_array_index(lower->body->vars, PtxVar, base.index);
        if (var->space == SPACE_LOCAL || var->space == SPACE_PARAM) {
            ins->imm = var->offset + arg->value; /* of the frame, without a base */
            ins->src_bytes[at] = 0;
            return;
        }
    }
    ins->src[at] = ptx_lower_source(lower, &base, 8, T_B64);
    ins->src_bytes[at] = 8;
}

void ptx_lower_base(PtxLower *lower, PtxIns *ins, guint at, const PtxArg *arg)
{
    if (at == 0 || arg->base != ARG_REG || arg->value == 0) {
        ptx_lower_address(lower, ins, at, arg);
        return;
    }
    PtxIns sum = ptx_lower_new(lower);
    PtxArg base = *arg;
    base.kind = ARG_REG;
    guint width = ptx_lower_bytes(lower, &base);
    sum.op = OP_ADD;
    sum.type = sum.type2 = width == 8 ? T_U64 : T_U32;
    sum.src[0] = PLACE_OF_REG(arg->index);
    sum.src[1] = ptx_lower_constant(lower, arg->value, width);
    sum.dst = PLACE_OF_REG(ptx_body_register(lower->body, sum.type));
    sum.dst_bytes = sum.src_bytes[0] = sum.src_bytes[1] = (guint8)width;
    sum.guard = PLACE_NONE;
    ptx_lower_add(lower, &sum);
    ins->src[at] = sum.dst;
    ins->src_bytes[at] = (guint8)width;
}

/* The registers of a vector have one width, to which numbers among them are made. */
guint32 ptx_lower_vector(PtxLower *lower, const PtxArg *arg, guint bytes, PtxType type, gboolean is_dst, guint8 *n,
                         guint8 *width)
{
    guint32 place[PTX_VECTOR_MAX];
    *n = arg->kind == ARG_VECTOR ? arg->n : 1;
    *width = 0;
    for (guint pass = 0; pass < 2; pass++) {
        for (guint i = 0; i < *n; i++) {
            const PtxArg *part = arg->kind == ARG_VECTOR ? &g_array_index(lower->body->parts, PtxArg, arg->index + i)
                                                         : arg;
            if (pass == 1) {
                place[i] = part->kind == ARG_SINK ? PLACE_NONE
                           : is_dst               ? PLACE_OF_REG(part->index)
                                                  : ptx_lower_source(lower, part, *width, type);
            } else if (part->kind == ARG_REG) {
                guint have = ptx_lower_bytes(lower, part);
                if (*width && have != *width)
                    ptx_lower_fail(lower, part, PTX_LOAD_ERROR_UNSUPPORTED,
                                   "a vector of registers of different widths");
                *width = (guint8)have;
            }
        }
        if (*width == 0)
            *width = (guint8)bytes;
    }
    guint32 at = lower->places->len;
    g_array_append_vals(lower->places, place, *n);
    return at;
}
