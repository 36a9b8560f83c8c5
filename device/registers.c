/* Registers of device programs, and which threads act (fanout/device.h). */
#include <string.h>

#include "device/device.h"

FoReg *program_reg(FoCta *cta, unsigned width)
{
    FoReg *reg = g_new0(FoReg, 1);
    reg->cta = cta;
    reg->width = width;
    reg->wrong = width != 4 && width != 8 && width != 16;
    if (reg->wrong)
        device_wrong(cta, 0, UOP_CALL, "a register of %u B; 4, 8 or 16 are right", width);
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

void program_get(FoCta *cta, const FoReg *reg, unsigned thread, void *value)
{
    guint32 w = thread / WARP_LANES;
    if (!device_check_given(cta, value, "place for the value", UOP_ARITH))
        return;
    if (!device_check_reg(cta, reg, 0, UOP_ARITH) || thread >= cta->cta->threads) {
        if (reg && !reg->wrong)
            device_wrong(cta, 0, UOP_ARITH, "the value of thread %u; the CTA has %u", thread, cta->cta->threads);
        memset(value, 0, reg ? MIN(reg->width, 16) : 0);
        return;
    }
    Uop wait = {.kind = UOP_ARITH, .lanes = WARP_LANES, .width = (guint8)reg->width, .src = device_reg(reg, w)};
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

void device_constant_drop(const Uop *uop)
{
    if (uop->kind == UOP_CALL && uop->call == device_on_constant)
        g_free(uop->arg);
}

void program_set(FoCta *cta, FoReg *reg, const void *value)
{
    if (!device_check_reg(cta, reg, 0, UOP_CALL) || !device_check_given(cta, value, "value", UOP_CALL))
        return;
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
        Uop uop = {.kind = UOP_CALL, .lanes = (guint8)lanes, .dst = part, .call = device_on_constant, .arg = constant};
        device_push(cta, w, &uop);
    }
}

void program_set_u64(FoCta *cta, FoReg *reg, uint64_t value)
{
    guint8 bytes[16] = {0};
    memcpy(bytes, &value, sizeof value);
    program_set(cta, reg, bytes);
}

void program_combine(FoCta *cta, FoReg *d, const FoReg *s, FoType type, FoOp op)
{
    if (!device_check_regs(cta, d, s, 0, UOP_ARITH) || !device_check_numeric(cta, UOP_ARITH, type, op, d->width))
        return;
    for (guint32 w = 0; w < cta->cta->n_warps; w++) {
        guint32 lanes = device_lanes(cta, w);
        Uop uop = {.kind = UOP_ARITH,
                   .lanes = (guint8)lanes,
                   .width = (guint8)d->width,
                   .type = (guint8)type,
                   .op = (guint8)op,
                   .dst = device_reg(d, w),
                   .src = device_reg(s, w)};
        if (lanes)
            device_push(cta, w, &uop);
    }
}

void program_only(FoCta *cta, unsigned first, unsigned count)
{
    guint32 threads = cta->cta->threads;
    gboolean right = first % WARP_LANES == 0 && first <= threads && count <= threads - first;
    if (!right)
        device_wrong(cta, 0, UOP_CALL,
                     "threads %u to %" G_GINT64_FORMAT " of %u made active; a multiple of %u and no more "
                     "than there are is right",
                     first, (gint64)first + count - 1, threads, WARP_LANES);
    cta->first = right ? first : 0;
    cta->count = right ? count : 0;
}

void program_all(FoCta *cta)
{
    cta->first = 0;
    cta->count = cta->cta->threads;
}
