/* What fanout/device.h promises of wrong calls: a report that says what was wrong and what would be right, and no
 * effect. Every function here is FALSE after it has reported. */
#include <string.h>

#include "device/device.h"

void device_fault(FoCta *cta, guint64 va, int uop_kind, FaultKind kind, const char *text)
{
    FabricFault fault = {.kind = kind,
                         .gpu = cta->launch->gpu->id,
                         .who = cta->launch->name,
                         .cta = cta->cta->index,
                         .va = va,
                         .uop = (guint8)uop_kind,
                         .cause = cta->cta->cause};
    fault.text = text ? g_intern_string(text) : NULL;
    fabric_fault(cta->launch->fabric, &fault);
}

void device_wrong(FoCta *cta, guint64 va, int uop_kind, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    device_fault(cta, va, uop_kind, FAULT_ILLEGAL_FORM, text);
}

gboolean device_check_given(FoCta *cta, const void *pointer, const char *what, int uop_kind)
{
    if (!pointer)
        device_wrong(cta, 0, uop_kind, "no %s (NULL)", what);
    return pointer != NULL;
}

gboolean device_check_reg(FoCta *cta, const FoReg *reg, guint64 va, int uop_kind)
{
    if (!reg)
        device_wrong(cta, va, uop_kind, "no register (NULL)");
    else if (reg->cta != cta)
        device_wrong(cta, va, uop_kind, "a register of another CTA");
    else if (reg->wrong)
        device_wrong(cta, va, uop_kind, "a register of %u B; 4, 8 or 16 are right", reg->width);
    else
        return TRUE;
    return FALSE;
}

gboolean device_check_regs(FoCta *cta, const FoReg *d, const FoReg *s, guint64 va, int uop_kind)
{
    if (!device_check_reg(cta, d, va, uop_kind) || !device_check_reg(cta, s, va, uop_kind))
        return FALSE;
    if (d->width != s->width)
        device_wrong(cta, va, uop_kind, "registers of %u and %u B; equal ones are right", d->width, s->width);
    return d->width == s->width;
}

/* Relaxed, or the one that orders this side. */
gboolean device_check_order(FoCta *cta, FoOrder order, FoOrder other, guint64 va, int uop_kind)
{
    if (order == FO_RELAXED || order == other)
        return TRUE;
    device_wrong(cta, va, uop_kind, "order %d; relaxed and %s are right", (int)order,
                 other == FO_ACQUIRE ? "acquire" : "release");
    return FALSE;
}

gboolean device_check_warps(FoCta *cta, int uop_kind)
{
    gboolean whole = cta->count % WARP_LANES == 0 || cta->first + cta->count == cta->cta->threads;
    if (!whole)
        device_wrong(cta, 0, uop_kind, "%u active threads; whole warps of %u are right", cta->count, WARP_LANES);
    return whole && cta->count;
}

/* A type and an operation that exist. */
static gboolean check_known(FoCta *cta, guint64 va, int uop_kind, FoType type, FoOp op, FoOp last)
{
    if ((guint)type >= NUMERIC_TYPES)
        device_wrong(cta, va, uop_kind, "element type %d; FO_U32 to FO_E5M2X4 are right", (int)type);
    else if ((guint)op > (guint)last)
        device_wrong(cta, va, uop_kind, "operation %d; FO_ADD to %s are right", (int)op,
                     last == FO_MUL ? "FO_MUL" : "FO_XOR");
    else
        return TRUE;
    return FALSE;
}

gboolean device_check_numeric(FoCta *cta, int uop_kind, FoType type, FoOp op, guint32 width)
{
    if (!check_known(cta, 0, uop_kind, type, op, FO_MUL))
        return FALSE;
    const char *name = numeric_type_name((NumericType)type);
    guint32 bytes = numeric_type_bytes((NumericType)type);
    if (!numeric_allows((NumericType)type, (NumericOp)op))
        device_wrong(cta, 0, uop_kind, "%s of %s; bits of floating-point numbers are not combined",
                     numeric_op_name((NumericOp)op), name);
    else if (width % bytes)
        device_wrong(cta, 0, uop_kind, "%s in %u B; a multiple of its %u B is right", name, width, bytes);
    else
        return TRUE;
    return FALSE;
}

gboolean device_check_atomic(FoCta *cta, int uop_kind, guint64 va, FoType type, FoOp op, guint32 width, FoOrder order)
{
    g_autoptr(GError) error = NULL;
    if (!check_known(cta, va, uop_kind, type, op, FO_XOR))
        return FALSE;
    if (!(uop_kind == UOP_ATOM && order == FO_ACQUIRE) && !device_check_order(cta, order, FO_RELEASE, va, uop_kind))
        return FALSE;
    if (ptx_check_atomic(uop_kind == UOP_ATOM, (NumericType)type, (NumericOp)op, width, &error))
        return TRUE;
    device_fault(cta, va, uop_kind, FAULT_ILLEGAL_FORM, error->message);
    return FALSE;
}

/* ---- multimem */

static const int check_multimem_uop[] = {
    [PTX_LD_REDUCE] = UOP_MC_LOAD, [PTX_ST] = UOP_MC_STORE, [PTX_RED] = UOP_MC_RED};

void device_widen_form(FoMultimem *form, guint32 width)
{
    static const FoType packed[NUMERIC_TYPES] = {
        [NUMERIC_F16] = FO_F16X2,     [NUMERIC_BF16] = FO_BF16X2, [NUMERIC_E4M3] = FO_E4M3X4,
        [NUMERIC_E4M3X2] = FO_E4M3X4, [NUMERIC_E5M2] = FO_E5M2X4, [NUMERIC_E5M2X2] = FO_E5M2X4};
    if ((guint)form->type >= NUMERIC_TYPES)
        return; /* device_check_form says so */
    if (packed[form->type])
        form->type = packed[form->type];
    form->vec = width / numeric_type_bytes((NumericType)form->type);
}

/* Numbers that PTX has words for. */
static gboolean check_words(FoCta *cta, int uop_kind, FoAddress address, const FoMultimem *form)
{
    FoOp op = uop_kind == UOP_MC_STORE ? FO_ADD : form->op; /* of a store it is not looked at */
    if (!check_known(cta, address, uop_kind, form->type, op, FO_XOR))
        return FALSE;
    if ((guint)form->order > FO_RELEASE)
        device_wrong(cta, address, uop_kind, "order %d; 0 to FO_RELEASE are right", (int)form->order);
    else if ((guint)form->scope > FO_SCOPE_SYS)
        device_wrong(cta, address, uop_kind, "scope %d; FO_SCOPE_NONE to FO_SCOPE_SYS are right", (int)form->scope);
    else if ((guint)form->acc > FO_ACC_F32)
        device_wrong(cta, address, uop_kind, "accumulator %d; FO_ACC_NATIVE to FO_ACC_F32 are right", (int)form->acc);
    else
        return TRUE;
    return FALSE;
}

gboolean device_check_form(FoCta *cta, PtxInstruction instruction, FoAddress address, const FoMultimem *form,
                           guint32 width)
{
    PtxMultimem ptx = {instruction,       (NumericOp)form->op, (NumericType)form->type, form->vec ? form->vec : 1,
                       (PtxAcc)form->acc, (PtxSem)form->order, (PtxScope)form->scope};
    const PtxTarget target = {(guint)cta->launch->fabric->spec.sm.arch, TRUE};
    int uop_kind = check_multimem_uop[instruction];
    g_autoptr(GError) error = NULL;
    if (!check_words(cta, uop_kind, address, form))
        return FALSE;
    if (!ptx_check(&ptx, &target, &error) || !ptx_check_address(&ptx, address, &error)) {
        device_fault(cta, address, uop_kind, FAULT_ILLEGAL_FORM, error->message);
        return FALSE;
    }
    if (ptx_bytes(&ptx) == width)
        return TRUE;
    g_autofree char *spelled = ptx_spell(&ptx);
    device_wrong(cta, address, uop_kind, "%s: a register of %u B; %u are right", spelled, width, ptx_bytes(&ptx));
    return FALSE;
}
