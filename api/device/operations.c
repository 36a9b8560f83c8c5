/* The calls of device programs (fanout/device.h), except loops: each becomes operations in the queues
 * of the active warps. */
#include <string.h>

#include "api/device/device.h"

G_STATIC_ASSERT((int)FO_E5M2X4 == (int)NUMERIC_E5M2X4 && (int)FO_F16 == (int)NUMERIC_F16);
G_STATIC_ASSERT((int)FO_XOR == (int)NUMERIC_XOR && (int)FO_ACC_F32 == (int)NUMERIC_ACC_F32);
G_STATIC_ASSERT((int)FO_WEAK == (int)PTX_WEAK && (int)FO_RELEASE == (int)PTX_RELEASE);
G_STATIC_ASSERT((int)FO_SCOPE_SYS == (int)PTX_SYS && (int)FO_ACC_F32 == (int)PTX_ACC_F32);

unsigned fo_cta(const FoCta *cta) { return cta->cta->index; }
unsigned fo_ctas(const FoCta *cta) { return cta->launch->ctas; }
unsigned fo_threads(const FoCta *cta) { return cta->cta->threads; }
unsigned fo_gpu(const FoCta *cta) { return cta->launch->gpu->id; }
uint64_t fo_time_ps(FoCta *cta) { return sim_now_ps(cta->sim); }

/* ---- registers */

FoReg *fo_reg(FoCta *cta, unsigned width)
{
    g_assert(width == 4 || width == 8 || width == 16);
    FoReg *reg = g_new0(FoReg, 1);
    reg->width = width;
    reg->n_warps = cta->cta->n_warps;
    reg->keep_bytes = cta->launch->fabric->keep_bytes;
    reg->warp = g_new0(Reg *, reg->n_warps);
    g_ptr_array_add(cta->regs, reg);
    return reg;
}

/* A warp's part is made when it is first used: flags live in one warp only. */
Reg *device_reg(const FoReg *reg, guint32 warp)
{
    if (!reg->warp[warp])
        reg->warp[warp] = reg_new(reg->width, reg->keep_bytes);
    return reg->warp[warp];
}

void fo_get(FoCta *cta, const FoReg *reg, unsigned thread, void *value)
{
    guint32 w = thread / WARP_LANES;
    g_assert(thread < cta->cta->threads);
    Uop wait = {.kind = UOP_ARITH, .lanes = WARP_LANES, .width = (guint8)reg->width,
                .src = device_reg(reg, w)};
    device_push(cta, w, &wait);
    device_drain(cta, w, w + 1, "the value of a register");
    if (reg->warp[w]->bytes)
        memcpy(value, reg->warp[w]->bytes + (thread % WARP_LANES) * reg->width, reg->width);
    else
        memset(value, 0, reg->width);
}

/* A constant takes effect when the warp gets there, so it travels with the operation. */
typedef struct {
    Reg *reg;
    guint32 lanes, width;
    guint8 value[16];
} DeviceConstant;

static void device_on_constant(void *arg, SimTime now_ps)
{
    DeviceConstant *constant = arg;
    (void)now_ps;
    if (constant->reg->bytes)
        for (guint32 l = 0; l < constant->lanes; l++)
            memcpy(constant->reg->bytes + l * constant->width, constant->value, constant->width);
    g_free(constant);
}

void fo_set(FoCta *cta, FoReg *reg, const void *value)
{
    reg->keep_bytes = TRUE; /* flags are real even in a timing-only run */
    for (guint32 w = 0; w < cta->cta->n_warps; w++) {
        guint32 lanes = device_lanes(cta, w);
        if (lanes == 0)
            continue;
        DeviceConstant *constant = g_new0(DeviceConstant, 1);
        Reg *part = device_reg(reg, w);
        if (!part->bytes)
            part->bytes = g_malloc0(REG_BYTES);
        *constant = (DeviceConstant){.reg = part, .lanes = lanes, .width = reg->width};
        memcpy(constant->value, value, reg->width);
        Uop uop = {.kind = UOP_CALL, .lanes = (guint8)lanes, .dst = part,
                   .call = device_on_constant, .arg = constant};
        device_push(cta, w, &uop);
    }
}

void fo_set_u64(FoCta *cta, FoReg *reg, uint64_t value)
{
    guint8 bytes[16] = {0};
    memcpy(bytes, &value, sizeof value);
    fo_set(cta, reg, bytes);
}

void fo_combine(FoCta *cta, FoReg *d, const FoReg *s, FoType type, FoOp op)
{
    g_assert(d->width == s->width);
    for (guint32 w = 0; w < cta->cta->n_warps; w++) {
        guint32 lanes = device_lanes(cta, w);
        Uop uop = {.kind = UOP_ARITH, .lanes = (guint8)lanes, .width = (guint8)d->width,
                   .type = (guint8)type, .op = (guint8)op, .dst = device_reg(d, w), .src = device_reg(s, w)};
        if (lanes)
            device_push(cta, w, &uop);
    }
}

void fo_only(FoCta *cta, unsigned first, unsigned count)
{
    g_assert(first % WARP_LANES == 0);
    cta->first = first;
    cta->count = count;
}

void fo_all(FoCta *cta)
{
    cta->first = 0;
    cta->count = cta->cta->threads;
}

/* ---- accesses */

/* One access of all active warps. `address`: of each active thread, or NULL: base + thread * width. */
static void device_access(FoCta *cta, Uop uop, guint32 width, FoAddress base, const FoAddress *address,
                          FoReg *d, const FoReg *s)
{
    guint32 at = 0; /* active threads so far */
    uop.width = (guint8)width;
    uop.lane_stride = width;
    for (guint32 w = 0; w < cta->cta->n_warps; w++) {
        guint32 lanes = device_lanes(cta, w);
        if (lanes == 0)
            continue;
        uop.lanes = (guint8)lanes;
        uop.va = address ? address[at] : base + (guint64)w * WARP_LANES * width;
        uop.dst = d ? device_reg(d, w) : NULL;
        uop.src = s ? device_reg(s, w) : NULL;
        guint64 misaligned = uop.va % width ? uop.va : 0;
        guint64 *lane_va = NULL;
        if (address && lanes > 1) {
            lane_va = g_new0(guint64, WARP_LANES);
            memcpy(lane_va, address + at, lanes * sizeof *address);
            for (guint32 l = 0; l < lanes && !misaligned; l++)
                misaligned = lane_va[l] % width ? lane_va[l] : 0;
        }
        uop.lane_va = lane_va;
        if (misaligned) {
            device_fault(cta, misaligned, uop.kind, FAULT_MISALIGNED, NULL);
            g_free(lane_va);
        } else {
            device_push(cta, w, &uop);
        }
        at += lanes;
    }
}

static void device_release(FoCta *cta, FoOrder order)
{
    if (order == FO_RELEASE)
        fo_fence(cta);
}

void fo_ld(FoCta *cta, FoReg *d, FoAddress address)
{
    device_access(cta, (Uop){.kind = UOP_LOAD}, d->width, address, NULL, d, NULL);
}

void fo_st(FoCta *cta, FoAddress address, const FoReg *s)
{
    device_access(cta, (Uop){.kind = UOP_STORE}, s->width, address, NULL, NULL, s);
}

void fo_ld_at(FoCta *cta, FoReg *d, const FoAddress *address)
{
    device_access(cta, (Uop){.kind = UOP_LOAD}, d->width, 0, address, d, NULL);
}

void fo_st_at(FoCta *cta, const FoAddress *address, const FoReg *s)
{
    device_access(cta, (Uop){.kind = UOP_STORE}, s->width, 0, address, NULL, s);
}

void fo_ld_sys(FoCta *cta, FoReg *d, FoAddress address, FoOrder order)
{
    Uop uop = {.kind = UOP_LOAD, .acquire = order == FO_ACQUIRE};
    device_access(cta, uop, d->width, address, NULL, d, NULL);
}

void fo_st_sys(FoCta *cta, FoAddress address, const FoReg *s, FoOrder order)
{
    device_release(cta, order);
    fo_st(cta, address, s);
}

void fo_st_sys_at(FoCta *cta, const FoAddress *address, const FoReg *s, FoOrder order)
{
    device_release(cta, order);
    fo_st_at(cta, address, s);
}

void fo_red(FoCta *cta, FoAddress address, const FoReg *s, FoType type, FoOp op, FoOrder order)
{
    Uop uop = {.kind = UOP_RED, .type = (guint8)type, .op = (guint8)op};
    device_release(cta, order);
    device_access(cta, uop, s->width, address, NULL, NULL, s);
}

void fo_atom(FoCta *cta, FoReg *d, FoAddress address, const FoReg *s, FoType type, FoOp op,
             FoOrder order)
{
    Uop uop = {.kind = UOP_ATOM, .type = (guint8)type, .op = (guint8)op,
               .acquire = order == FO_ACQUIRE};
    device_release(cta, order);
    device_access(cta, uop, s->width, address, NULL, d, s);
}

void fo_atom_exch(FoCta *cta, FoReg *d, FoAddress address, const FoReg *s, FoOrder order)
{
    Uop uop = {.kind = UOP_ATOM, .type = s->width == 8 ? NUMERIC_B64 : NUMERIC_B32,
               .op = TXN_ATOM_EXCH, .acquire = order == FO_ACQUIRE};
    device_release(cta, order);
    device_access(cta, uop, s->width, address, NULL, d, s);
}

typedef struct { /* compare value and new value side by side, as the atomic carries them */
    const Reg *compare, *value;
    Reg *stage;
    guint32 width;
} DeviceCas;

static void device_on_cas(void *arg, SimTime now_ps)
{
    DeviceCas *cas = arg;
    (void)now_ps;
    if (cas->compare->bytes)
        memcpy(cas->stage->bytes, cas->compare->bytes, cas->width);
    if (cas->value->bytes)
        memcpy(cas->stage->bytes + DATA_SLOT_BYTES / 2, cas->value->bytes, cas->width);
    g_free(cas);
}

void fo_atom_cas(FoCta *cta, FoReg *d, FoAddress address, const FoReg *compare, const FoReg *s,
                 FoOrder order)
{
    guint32 w = cta->first / WARP_LANES;
    g_assert(cta->count == 1 && d->width == s->width && s->width == compare->width);
    if (!cta->cas) {
        cta->cas = fo_reg(cta, 16);
        cta->cas->keep_bytes = TRUE;
    }
    DeviceCas *cas = g_new0(DeviceCas, 1);
    *cas = (DeviceCas){device_reg(compare, w), device_reg(s, w), device_reg(cta->cas, w), s->width};
    Uop stage = {.kind = UOP_CALL, .lanes = 1, .src = device_reg(compare, w), .dst = device_reg(s, w),
                 .call = device_on_cas, .arg = cas};
    Uop uop = {.kind = UOP_ATOM, .type = s->width == 8 ? NUMERIC_B64 : NUMERIC_B32,
               .op = TXN_ATOM_CAS, .acquire = order == FO_ACQUIRE};
    device_release(cta, order);
    device_push(cta, w, &stage);
    device_access(cta, uop, s->width, address, NULL, d, cta->cas);
}

/* ---- multimem */

static const int device_multimem_uop[] = {[PTX_LD_REDUCE] = UOP_MC_LOAD, [PTX_ST] = UOP_MC_STORE,
                                          [PTX_RED] = UOP_MC_RED};

void device_widen_form(FoMultimem *form, guint32 width)
{
    static const FoType packed[NUMERIC_TYPES] = {
        [NUMERIC_F16] = FO_F16X2,   [NUMERIC_BF16] = FO_BF16X2,   [NUMERIC_E4M3] = FO_E4M3X4,
        [NUMERIC_E4M3X2] = FO_E4M3X4, [NUMERIC_E5M2] = FO_E5M2X4, [NUMERIC_E5M2X2] = FO_E5M2X4};
    if (packed[form->type])
        form->type = packed[form->type];
    form->vec = width / numeric_type_bytes((NumericType)form->type);
}

gboolean device_check_form(FoCta *cta, PtxInstruction instruction, FoAddress address,
                           const FoMultimem *form, guint32 width)
{
    PtxMultimem ptx = {instruction, (NumericOp)form->op, (NumericType)form->type,
                       form->vec ? form->vec : 1, (PtxAcc)form->acc, (PtxSem)form->order,
                       (PtxScope)form->scope};
    const PtxTarget target = {(guint)cta->launch->fabric->spec.sm.arch, TRUE};
    GError *error = NULL;
    if (ptx_check(&ptx, &target, &error) && ptx_check_address(&ptx, address, &error)) {
        g_assert(ptx_bytes(&ptx) == width);
        return TRUE;
    }
    device_fault(cta, address, device_multimem_uop[instruction], FAULT_ILLEGAL_FORM, error->message);
    g_error_free(error);
    return FALSE;
}

void fo_multimem_ld_reduce(FoCta *cta, FoReg *d, FoAddress address, const FoMultimem *form)
{
    Uop uop = {.kind = UOP_MC_LOAD, .type = (guint8)form->type, .op = (guint8)form->op,
               .acc = (guint8)form->acc, .acquire = form->order == FO_ACQUIRE};
    if (device_check_form(cta, PTX_LD_REDUCE, address, form, d->width))
        device_access(cta, uop, d->width, address, NULL, d, NULL);
}

void fo_multimem_st(FoCta *cta, FoAddress address, const FoReg *s, const FoMultimem *form)
{
    Uop uop = {.kind = UOP_MC_STORE, .type = (guint8)form->type};
    if (!device_check_form(cta, PTX_ST, address, form, s->width))
        return;
    device_release(cta, form->order);
    device_access(cta, uop, s->width, address, NULL, NULL, s);
}

void fo_multimem_red(FoCta *cta, FoAddress address, const FoReg *s, const FoMultimem *form)
{
    Uop uop = {.kind = UOP_MC_RED, .type = (guint8)form->type, .op = (guint8)form->op};
    if (!device_check_form(cta, PTX_RED, address, form, s->width))
        return;
    device_release(cta, form->order);
    device_access(cta, uop, s->width, address, NULL, NULL, s);
}

/* ---- order and time */

void fo_sync(FoCta *cta)
{
    Uop uop = {.kind = UOP_BARRIER, .lanes = WARP_LANES};
    for (guint32 w = 0; w < cta->cta->n_warps; w++)
        device_push(cta, w, &uop);
}

void fo_sync_active(FoCta *cta, unsigned barrier)
{
    guint32 first = cta->first / WARP_LANES, warps = (cta->count + WARP_LANES - 1) / WARP_LANES;
    Uop uop = {.kind = UOP_BARRIER, .lanes = WARP_LANES, .value = UOP_BARRIER_VALUE(barrier, warps)};
    g_assert(barrier >= 1 && barrier < CTA_BARRIERS);
    for (guint32 w = first; w < first + warps; w++)
        device_push(cta, w, &uop);
}

void fo_fence(FoCta *cta)
{
    Uop uop = {.kind = UOP_FENCE, .lanes = WARP_LANES};
    for (guint32 w = 0; w < cta->cta->n_warps; w++)
        if (device_lanes(cta, w))
            device_push(cta, w, &uop);
}

void fo_wait(FoCta *cta) { device_drain(cta, 0, cta->cta->n_warps, "its warps"); }

void fo_sleep_ps(FoCta *cta, uint64_t delay_ps)
{
    Uop uop = {.kind = UOP_DELAY, .lanes = WARP_LANES, .value = delay_ps};
    for (guint32 w = 0; w < cta->cta->n_warps; w++)
        if (device_lanes(cta, w))
            device_push(cta, w, &uop);
}

/* ---- reports */

void device_fault(FoCta *cta, guint64 va, int uop_kind, FaultKind kind, const char *text)
{
    FabricFault fault = {.kind = kind, .gpu = cta->launch->gpu->id, .who = cta->launch->name,
                         .cta = cta->cta->index, .va = va, .uop = (guint8)uop_kind};
    fault.text = text ? g_intern_string(text) : NULL;
    fabric_fault(cta->launch->fabric, &fault);
}
