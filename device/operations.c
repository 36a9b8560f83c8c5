/* The calls of device programs (fanout/device.h) that access memory, and those of order and time: each becomes
 * operations in the queues of the active warps. What is wrong is reported (check.c) and queues nothing. */
#include <string.h>

#include "device/device.h"

G_STATIC_ASSERT((int)FO_E5M2X4 == (int)NUMERIC_E5M2X4 && (int)FO_F16 == (int)NUMERIC_F16);
G_STATIC_ASSERT((int)FO_XOR == (int)NUMERIC_XOR && (int)FO_MUL == (int)NUMERIC_MUL &&
                (int)FO_ACC_F32 == (int)NUMERIC_ACC_F32);
G_STATIC_ASSERT((int)FO_WEAK == (int)PTX_WEAK && (int)FO_RELEASE == (int)PTX_RELEASE);
G_STATIC_ASSERT((int)FO_SCOPE_SYS == (int)PTX_SYS && (int)FO_ACC_F32 == (int)PTX_ACC_F32);

unsigned program_cta(const FoCta *cta) { return cta->cta->index; }
unsigned program_ctas(const FoCta *cta) { return cta->launch->ctas; }
unsigned program_threads(const FoCta *cta) { return cta->cta->threads; }
unsigned program_gpu(const FoCta *cta) { return cta->launch->gpu->id; }
uint64_t program_time_ps(FoCta *cta) { return sim_now_ps(cta->sim); }

/* ---- accesses */

/* One access of all active warps. `address`: of each active thread, or NULL: base + thread * width. */
static void device_access(FoCta *cta, Uop uop, guint32 width, FoAddress base, const FoAddress *address, FoReg *d,
                          const FoReg *s)
{
    guint32 at = 0; /* active threads so far */
    guint64 first = address && cta->count ? *address : base;
    if ((d && !device_check_reg(cta, d, first, uop.kind)) || (s && !device_check_reg(cta, s, first, uop.kind)))
        return;
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
        program_fence(cta);
}

/* A load or store of the active threads: by base, or (`at`) by an address of each. */
static void device_plain(FoCta *cta, UopKind kind, FoReg *d, const FoReg *s, FoAddress base, gboolean at,
                         const FoAddress *address, FoOrder order)
{
    const FoReg *reg = d ? d : s;
    Uop uop = {.kind = (guint8)kind, .acquire = order == FO_ACQUIRE};
    if (!device_check_reg(cta, reg, base, kind) || (at && !device_check_given(cta, address, "addresses", kind)))
        return;
    device_release(cta, order);
    device_access(cta, uop, reg->width, base, at ? address : NULL, d, s);
}

void program_ld(FoCta *cta, FoReg *d, FoAddress address)
{
    device_plain(cta, UOP_LOAD, d, NULL, address, FALSE, NULL, FO_WEAK);
}

void program_st(FoCta *cta, FoAddress address, const FoReg *s)
{
    device_plain(cta, UOP_STORE, NULL, s, address, FALSE, NULL, FO_WEAK);
}

void program_ld_at(FoCta *cta, FoReg *d, const FoAddress *address)
{
    device_plain(cta, UOP_LOAD, d, NULL, 0, TRUE, address, FO_WEAK);
}

void program_st_at(FoCta *cta, const FoAddress *address, const FoReg *s)
{
    device_plain(cta, UOP_STORE, NULL, s, 0, TRUE, address, FO_WEAK);
}

void program_ld_sys(FoCta *cta, FoReg *d, FoAddress address, FoOrder order)
{
    if (device_check_order(cta, order, FO_ACQUIRE, address, UOP_LOAD))
        device_plain(cta, UOP_LOAD, d, NULL, address, FALSE, NULL, order);
}

void program_st_sys(FoCta *cta, FoAddress address, const FoReg *s, FoOrder order)
{
    if (device_check_order(cta, order, FO_RELEASE, address, UOP_STORE))
        device_plain(cta, UOP_STORE, NULL, s, address, FALSE, NULL, order);
}

void program_st_sys_at(FoCta *cta, const FoAddress *address, const FoReg *s, FoOrder order)
{
    if (device_check_order(cta, order, FO_RELEASE, 0, UOP_STORE))
        device_plain(cta, UOP_STORE, NULL, s, 0, TRUE, address, order);
}

void program_red(FoCta *cta, FoAddress address, const FoReg *s, FoType type, FoOp op, FoOrder order)
{
    Uop uop = {.kind = UOP_RED, .type = (guint8)type, .op = (guint8)op};
    if (!device_check_reg(cta, s, address, UOP_RED) ||
        !device_check_atomic(cta, UOP_RED, address, type, op, s->width, order))
        return;
    device_release(cta, order);
    device_access(cta, uop, s->width, address, NULL, NULL, s);
}

void program_atom(FoCta *cta, FoReg *d, FoAddress address, const FoReg *s, FoType type, FoOp op, FoOrder order)
{
    Uop uop = {.kind = UOP_ATOM, .type = (guint8)type, .op = (guint8)op, .acquire = order == FO_ACQUIRE};
    if (!device_check_regs(cta, d, s, address, UOP_ATOM) ||
        !device_check_atomic(cta, UOP_ATOM, address, type, op, s->width, order))
        return;
    device_release(cta, order);
    device_access(cta, uop, s->width, address, NULL, d, s);
}

/* Exchange and compare-and-swap are of bits: words of 4 or 8 B. */
static gboolean device_check_word(FoCta *cta, FoAddress address, const FoReg *s, FoOrder order)
{
    if (s->width == 16)
        device_wrong(cta, address, UOP_ATOM, "an exchange of 16 B; registers of 4 or 8 B are right");
    return s->width != 16 && (order == FO_RELEASE || device_check_order(cta, order, FO_ACQUIRE, address, UOP_ATOM));
}

void program_atom_exch(FoCta *cta, FoReg *d, FoAddress address, const FoReg *s, FoOrder order)
{
    Uop uop = {.kind = UOP_ATOM, .op = TXN_ATOM_EXCH, .acquire = order == FO_ACQUIRE};
    if (!device_check_regs(cta, d, s, address, UOP_ATOM) || !device_check_word(cta, address, s, order))
        return;
    uop.type = s->width == 8 ? NUMERIC_B64 : NUMERIC_B32;
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

void program_atom_cas(FoCta *cta, FoReg *d, FoAddress address, const FoReg *compare, const FoReg *s, FoOrder order)
{
    guint32 w = cta->first / WARP_LANES;
    if (!device_check_regs(cta, d, s, address, UOP_ATOM) || !device_check_regs(cta, d, compare, address, UOP_ATOM) ||
        !device_check_word(cta, address, s, order))
        return;
    if (cta->count > 1)
        device_wrong(cta, address, UOP_ATOM, "a compare-and-swap by %u active threads; one is right", cta->count);
    if (cta->count != 1)
        return;
    if (!cta->cas) {
        cta->cas = program_reg(cta, 16);
        cta->cas->keep_bytes = TRUE;
    }
    DeviceCas *cas = g_new0(DeviceCas, 1);
    *cas = (DeviceCas){device_reg(compare, w), device_reg(s, w), device_reg(cta->cas, w), s->width};
    Uop stage = {.kind = UOP_CALL,
                 .lanes = 1,
                 .src = device_reg(compare, w),
                 .dst = device_reg(s, w),
                 .call = device_on_cas,
                 .arg = cas};
    Uop uop = {.kind = UOP_ATOM,
               .type = s->width == 8 ? NUMERIC_B64 : NUMERIC_B32,
               .op = TXN_ATOM_CAS,
               .acquire = order == FO_ACQUIRE};
    device_release(cta, order);
    device_push(cta, w, &stage);
    device_access(cta, uop, s->width, address, NULL, d, cta->cas);
}

/* ---- multimem */

/* The whole check of a call: a register and a form that fit each other. */
static gboolean device_check_multimem(FoCta *cta, PtxInstruction instruction, int uop, FoAddress address,
                                      const FoReg *reg, const FoMultimem *form)
{
    return device_check_reg(cta, reg, address, uop) && device_check_given(cta, form, "form", uop) &&
           device_check_form(cta, instruction, address, form, reg->width);
}

void program_multimem_ld_reduce(FoCta *cta, FoReg *d, FoAddress address, const FoMultimem *form)
{
    if (!device_check_multimem(cta, PTX_LD_REDUCE, UOP_MC_LOAD, address, d, form))
        return;
    Uop uop = {.kind = UOP_MC_LOAD,
               .type = (guint8)form->type,
               .op = (guint8)form->op,
               .acc = (guint8)form->acc,
               .acquire = form->order == FO_ACQUIRE};
    device_access(cta, uop, d->width, address, NULL, d, NULL);
}

void program_multimem_st(FoCta *cta, FoAddress address, const FoReg *s, const FoMultimem *form)
{
    if (!device_check_multimem(cta, PTX_ST, UOP_MC_STORE, address, s, form))
        return;
    Uop uop = {.kind = UOP_MC_STORE, .type = (guint8)form->type};
    device_release(cta, form->order);
    device_access(cta, uop, s->width, address, NULL, NULL, s);
}

void program_multimem_red(FoCta *cta, FoAddress address, const FoReg *s, const FoMultimem *form)
{
    if (!device_check_multimem(cta, PTX_RED, UOP_MC_RED, address, s, form))
        return;
    Uop uop = {.kind = UOP_MC_RED, .type = (guint8)form->type, .op = (guint8)form->op};
    device_release(cta, form->order);
    device_access(cta, uop, s->width, address, NULL, NULL, s);
}

/* ---- order and time */

void program_sync(FoCta *cta)
{
    Uop uop = {.kind = UOP_BARRIER, .lanes = WARP_LANES};
    for (guint32 w = 0; w < cta->cta->n_warps; w++)
        device_push(cta, w, &uop);
}

void program_sync_active(FoCta *cta, unsigned barrier)
{
    guint32 first = cta->first / WARP_LANES, warps = (cta->count + WARP_LANES - 1) / WARP_LANES;
    Uop uop = {.kind = UOP_BARRIER, .lanes = WARP_LANES, .value = UOP_BARRIER_VALUE(barrier, warps)};
    if (barrier < 1 || barrier >= CTA_BARRIERS)
        device_wrong(cta, 0, UOP_BARRIER, "barrier %u; 1 to %u are right", barrier, CTA_BARRIERS - 1);
    if (barrier < 1 || barrier >= CTA_BARRIERS || !device_check_warps(cta, UOP_BARRIER))
        return;
    for (guint32 w = first; w < first + warps; w++)
        device_push(cta, w, &uop);
}

void program_fence(FoCta *cta)
{
    Uop uop = {.kind = UOP_FENCE, .lanes = WARP_LANES};
    for (guint32 w = 0; w < cta->cta->n_warps; w++)
        if (device_lanes(cta, w))
            device_push(cta, w, &uop);
}

void program_wait(FoCta *cta) { device_drain(cta, 0, cta->cta->n_warps, "its warps"); }

void program_sleep_ps(FoCta *cta, uint64_t delay_ps)
{
    Uop uop = {.kind = UOP_DELAY, .lanes = WARP_LANES, .value = delay_ps};
    if (delay_ps > DEVICE_SLEEP_MAX_PS) {
        device_wrong(cta, 0, UOP_DELAY, "a sleep of %" G_GUINT64_FORMAT " ps; at most 10^15 (1000 s) are right",
                     delay_ps);
        return;
    }
    for (guint32 w = 0; w < cta->cta->n_warps; w++)
        if (device_lanes(cta, w))
            device_push(cta, w, &uop);
}
