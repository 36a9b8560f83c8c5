/* Grid-stride loops of device programs as generators of warp operations.
 *
 * Each warp runs its own copy of the loop: for every group of `unroll` iterations all loads, then for
 * each iteration the sums of its sources and its stores. The operations are those that the same loop
 * written out with fo_ld, fo_combine and fo_st would queue, so packets and time are the same; only
 * the CTA's function and the queue are not in between. */
#include <string.h>

#include "api/device.h"

typedef enum { PHASE_LOAD, PHASE_USE, PHASE_TAIL } LoopPhase;

/* What the warps of one fo_loop share. */
typedef struct {
    FoLoop loop;
    guint32 refs;
} LoopSpec;

struct DeviceLoop {
    const FoLoop *loop;
    LoopSpec *shared;
    FoLoop *tail_loop;    /* this warp moves the last bytes % width, with a loop of its own */
    guint64 at;           /* element of lane 0 in the group's first iteration */
    guint64 elements;
    guint32 lanes_max;    /* of this warp */
    guint32 k, s;         /* next iteration in the group, next source or destination */
    guint32 group;        /* iterations of this group; 0: at the end */
    LoopPhase phase;
    gboolean tail;        /* not begun yet */
    guint32 n_regs;
    Reg **reg;            /* sources of the first iteration, of the second, ... */
    GPtrArray *pool;      /* the warp's spare registers */
    Gpu *gpu;
    guint64 lane_va[WARP_LANES];
};

static guint64 loop_address(const FoLoop *loop, guint64 base, guint64 element)
{
    guint64 byte = element * loop->width;
    if (loop->segment == 0)
        return base + byte;
    return base + byte / loop->segment * loop->stride + byte % loop->segment;
}

static guint32 loop_lanes(const DeviceLoop *loop, guint64 element)
{
    return element >= loop->elements ? 0 : (guint32)MIN(loop->lanes_max, loop->elements - element);
}

static Reg *loop_reg(const DeviceLoop *loop, guint32 iteration, guint32 source)
{
    return loop->reg[loop->loop->sources ? iteration * loop->loop->sources + source : 0];
}

/* Fills the addresses of one access of the warp. */
static void loop_place(DeviceLoop *loop, Uop *uop, guint64 base, guint64 element, guint32 lanes)
{
    const FoLoop *spec = loop->loop;
    uop->lanes = (guint8)lanes;
    uop->width = (guint8)spec->width;
    uop->va = loop_address(spec, base, element);
    uop->lane_stride = spec->width;
    if (spec->segment == 0 || spec->segment == spec->stride)
        return;
    if (spec->segment == spec->width) {
        uop->lane_stride = (gint64)spec->stride;
        return;
    }
    for (guint32 l = 0; l < lanes; l++)
        loop->lane_va[l] = loop_address(spec, base, element + l);
    uop->lane_va = loop->lane_va;
}

static void loop_source(const FoLoop *spec, guint32 s, Uop *uop)
{
    uop->kind = spec->source[s].access == FO_LD_REDUCE ? UOP_MC_LOAD : UOP_LOAD;
    uop->type = (guint8)spec->type;
    uop->op = (guint8)spec->op;
    uop->acc = (guint8)spec->acc;
}

static void loop_destination(const FoLoop *spec, guint32 d, Uop *uop)
{
    static const guint8 kinds[] = {[FO_ST] = UOP_STORE, [FO_MULTIMEM_ST] = UOP_MC_STORE,
                                   [FO_RED] = UOP_RED, [FO_MULTIMEM_RED] = UOP_MC_RED};
    uop->kind = kinds[spec->destination[d].access];
    uop->type = (guint8)spec->type;
    uop->op = (guint8)spec->op;
}

/* How many iterations the next group has. The last, incomplete one runs tail_unroll at a time. */
static guint32 loop_group(const DeviceLoop *loop)
{
    const FoLoop *spec = loop->loop;
    guint64 last = loop->at + (spec->unroll - 1) * spec->step + loop->lanes_max - 1;
    if (last < loop->elements)
        return spec->unroll;
    guint32 group = spec->tail_unroll ? spec->tail_unroll : spec->unroll;
    guint64 left = loop->at < loop->elements ? (loop->elements - loop->at + spec->step - 1) / spec->step : 0;
    return (guint32)MIN(group, left);
}

static gboolean loop_next_load(DeviceLoop *loop, Uop *uop)
{
    const FoLoop *spec = loop->loop;
    if (spec->sources == 0 || loop->k == loop->group) {
        loop->phase = PHASE_USE;
        loop->k = loop->s = 0;
        return FALSE;
    }
    guint64 element = loop->at + loop->k * spec->step;
    loop_source(spec, loop->s, uop);
    loop_place(loop, uop, spec->source[loop->s].base, element, loop_lanes(loop, element));
    uop->dst = loop_reg(loop, loop->k, loop->s);
    if (++loop->s == spec->sources) {
        loop->s = 0;
        loop->k++;
    }
    return TRUE;
}

/* Sums, then stores, of one iteration; a loop without destinations only waits for its loads. */
static gboolean loop_next_use(DeviceLoop *loop, Uop *uop)
{
    const FoLoop *spec = loop->loop;
    guint32 sums = spec->sources > 1 ? spec->sources - 1 : spec->destinations == 0 ? 1 : 0;
    if (loop->s == sums + spec->destinations) {
        loop->s = 0;
        loop->k++;
    }
    if (loop->k == loop->group) {
        loop->at += loop->group * spec->step;
        loop->k = loop->s = 0;
        loop->phase = PHASE_LOAD;
        loop->group = loop_group(loop);
        return FALSE;
    }
    guint64 element = loop->at + loop->k * spec->step;
    guint32 lanes = loop_lanes(loop, element), s = loop->s++;
    if (s >= sums) {
        loop_destination(spec, s - sums, uop);
        loop_place(loop, uop, spec->destination[s - sums].base, element, lanes);
        uop->src = loop_reg(loop, loop->k, 0);
        return TRUE;
    }
    *uop = (Uop){.kind = UOP_ARITH, .lanes = (guint8)lanes, .width = (guint8)spec->width,
                 .type = (guint8)spec->type, .op = (guint8)spec->op};
    uop->dst = spec->sources > 1 ? loop_reg(loop, loop->k, 0) : NULL;
    uop->src = loop_reg(loop, loop->k, spec->sources > 1 ? s + 1 : 0);
    return TRUE;
}

/* The last bytes that are no whole element, as one iteration of 4 B elements in one warp. */
static void loop_start_tail(DeviceLoop *loop)
{
    FoLoop *tail = g_memdup2(loop->loop, sizeof *loop->loop);
    guint64 done = loop->elements * tail->width;
    guint32 words = (guint32)(tail->bytes - done + 3) / 4;
    for (guint32 s = 0; s < tail->sources; s++)
        tail->source[s].base += done;
    for (guint32 d = 0; d < tail->destinations; d++)
        tail->destination[d].base += done;
    tail->width = 4;
    tail->unroll = 1;
    tail->step = words;
    loop->loop = loop->tail_loop = tail;
    loop->tail = FALSE;
    loop->at = 0;
    loop->elements = loop->lanes_max = words;
    loop->group = 1;
    loop->phase = PHASE_LOAD;
    loop->k = loop->s = 0;
}

static void loop_take_regs(DeviceLoop *loop)
{
    const FoLoop *spec = loop->loop;
    loop->n_regs = spec->sources ? spec->sources * spec->unroll : 1;
    loop->reg = g_new(Reg *, loop->n_regs);
    for (guint32 r = 0; r < loop->n_regs; r++)
        loop->reg[r] = loop->pool->len ? g_ptr_array_steal_index_fast(loop->pool, loop->pool->len - 1)
                                       : reg_new(loop->gpu, 16);
    if (spec->sources == 0 && loop->reg[0]->bytes)
        for (guint32 at = 0; at < REG_BYTES; at += spec->width)
            memcpy(loop->reg[0]->bytes + at, spec->fill, spec->width);
}

gboolean device_loop_next(DeviceLoop *loop, Uop *uop)
{
    if (!loop->reg)
        loop_take_regs(loop);
    for (;;) {
        if (loop->group == 0) {
            if (!loop->tail)
                return FALSE;
            loop_start_tail(loop);
        }
        memset(uop, 0, sizeof *uop);
        if (loop->phase == PHASE_LOAD ? loop_next_load(loop, uop) : loop_next_use(loop, uop))
            return TRUE;
    }
}

void device_loop_free(DeviceLoop *loop)
{
    for (guint32 r = 0; r < loop->n_regs; r++)
        g_ptr_array_add(loop->pool, loop->reg[r]);
    g_free(loop->reg);
    g_free(loop->tail_loop);
    if (--loop->shared->refs == 0)
        g_free(loop->shared);
    g_free(loop);
}

/* ---- from the program */

static gboolean loop_check(FoCta *cta, const FoLoop *loop)
{
    g_assert(loop->width == 4 || loop->width == 8 || loop->width == 16);
    g_assert(loop->unroll >= 1 && loop->unroll <= 32);
    g_assert(loop->sources <= FO_LOOP_MAX && loop->destinations <= FO_LOOP_MAX);
    g_assert(loop->segment == 0 ||
             (loop->bytes % loop->width == 0 && loop->segment % loop->width == 0));
    static const PtxInstruction instructions[] = {
        [FO_LD_REDUCE] = PTX_LD_REDUCE, [FO_MULTIMEM_ST] = PTX_ST, [FO_MULTIMEM_RED] = PTX_RED};
    for (guint32 i = 0; i < loop->sources + loop->destinations; i++) {
        const FoStream *stream =
            i < loop->sources ? &loop->source[i] : &loop->destination[i - loop->sources];
        gboolean multimem = stream->access == FO_LD_REDUCE || stream->access == FO_MULTIMEM_ST ||
                            stream->access == FO_MULTIMEM_RED;
        if (multimem) {
            FoMultimem form = {.type = loop->type, .op = loop->op};
            form.acc = stream->access == FO_LD_REDUCE ? loop->acc : FO_ACC_NATIVE;
            device_widen_form(&form, loop->width);
            if (!device_check_form(cta, instructions[stream->access], stream->base, &form, loop->width))
                return FALSE;
        } else if (stream->base % loop->width) {
            device_fault(cta, stream->base, UOP_LOAD, FAULT_MISALIGNED, NULL);
            return FALSE;
        }
    }
    return TRUE;
}

/* Whether the element behind the last whole one would be this warp's. */
static gboolean loop_has_tail(const FoLoop *loop, guint64 first, guint32 lanes)
{
    guint64 elements = loop->bytes / loop->width;
    if (loop->bytes % loop->width == 0)
        return FALSE;
    return elements >= first && (elements - first) % loop->step < lanes;
}

void fo_loop(FoCta *cta, const FoLoop *asked)
{
    if (!loop_check(cta, asked))
        return;
    LoopSpec *shared = g_new0(LoopSpec, 1);
    shared->loop = *asked;
    FoLoop *loop = &shared->loop;
    if (loop->step == 0) {
        loop->step = (guint64)fo_ctas(cta) * fo_threads(cta);
        loop->first = (guint64)fo_cta(cta) * fo_threads(cta);
    }
    shared->refs = 1;
    for (guint32 w = 0; w < cta->cta->n_warps; w++) {
        DeviceLoop run = {.loop = loop, .shared = shared, .at = loop->first + w * WARP_LANES,
                          .elements = loop->bytes / loop->width, .lanes_max = device_lanes(cta, w),
                          .pool = cta->warp[w].spare, .gpu = cta->launch->gpu};
        if (run.lanes_max == 0)
            continue;
        run.group = loop_group(&run);
        run.tail = loop_has_tail(loop, run.at, run.lanes_max);
        if (run.group == 0 && !run.tail)
            continue;
        shared->refs++;
        device_push_loop(cta, w, g_memdup2(&run, sizeof run));
    }
    if (--shared->refs == 0)
        g_free(shared);
}
