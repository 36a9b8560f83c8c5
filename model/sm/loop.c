#include "model/sm/loop.h"

#include <string.h>

struct Loop {
    const LoopSpec *spec;
    LoopSpec *own;  /* loop_start's copy */
    guint64 at;     /* element of lane 0 in this iteration */
    guint32 unroll; /* of this iteration */
    guint32 part, k;
    guint32 last;      /* part that is a memory instruction */
    gboolean draining; /* waiting for the last loads */
    guint32 drain;
    void (*done)(Warp *warp, void *user, SimTime now_ps);
    void *user;
    Warp *warp;
    Reg reg[]; /* n_regs x unroll */
};

static guint64 loop_address(const LoopSpec *spec, guint64 base, guint64 element)
{
    if (spec->per_segment == 0)
        return base + element * spec->width;
    return base + element / spec->per_segment * spec->segment_stride + element % spec->per_segment * spec->width;
}

void loop_free(Loop *loop)
{
    for (guint32 r = 0; r < loop->spec->n_regs * loop->spec->unroll; r++) {
        g_free(loop->reg[r].bytes);
        g_free(loop->reg[r].lane_va);
    }
    g_free(loop->own);
    g_free(loop);
}

static void loop_on_end(void *arg, SimTime now_ps)
{
    Loop *loop = arg;
    Warp *warp = loop->warp;
    void (*done)(Warp *, void *, SimTime) = loop->done;
    void *user = loop->user;
    warp->generate = NULL; /* `done` may start the next loop */
    warp->generator = NULL;
    loop_free(loop);
    if (done)
        done(warp, user, now_ps);
}

/* All registers are awaited before the loop ends. */
static gboolean loop_drain(Loop *loop, Uop *uop)
{
    guint32 n = loop->spec->n_regs * loop->spec->unroll;
    *uop = (Uop){.kind = UOP_ARITH, .lanes = 1, .width = (guint8)loop->spec->width};
    while (loop->drain < n) {
        Reg *reg = &loop->reg[loop->drain++];
        if (reg->pending) {
            uop->src = reg;
            return TRUE;
        }
    }
    return FALSE;
}

/* A warp whose lanes lie on several segments has one address a lane (a constant stride if only one lane
 * a segment). */
static void loop_lanes(const Loop *loop, guint64 base, guint64 element, Uop *uop)
{
    const LoopSpec *spec = loop->spec;
    uop->va = loop_address(spec, base, element);
    uop->lane_stride = spec->width;
    if (spec->per_segment == 0 || uop->lanes == 1)
        return;
    guint64 last = loop_address(spec, base, element + uop->lanes - 1);
    if (last == uop->va + (guint64)(uop->lanes - 1) * spec->width)
        return;
    if (spec->per_segment == 1) {
        uop->lane_stride = (gint64)spec->segment_stride;
        return;
    }
    guint64 *lane_va = warp_lanes(loop->warp);
    for (guint32 l = 0; l < uop->lanes; l++)
        lane_va[l] = loop_address(spec, base, element + l);
    uop->lane_va = lane_va;
}

static guint64 loop_first(const LoopSpec *spec, guint32 warp)
{
    return spec->first + warp * (spec->warp_step ? spec->warp_step : WARP_LANES);
}

static guint64 loop_apart(const LoopSpec *spec) { return spec->unroll_step ? spec->unroll_step : spec->step; }

gboolean loop_next(Loop *loop, Uop *uop)
{
    const Warp *warp = loop->warp;
    const LoopSpec *spec = loop->spec;
    if (loop->draining)
        return loop_drain(loop, uop);
    if (loop->part == 0 && loop->k == 0) {
        if (loop->at >= spec->elements) {
            loop->draining = TRUE;
            return loop_drain(loop, uop);
        }
        loop->unroll = spec->unroll;
        guint64 apart = loop_apart(spec);
        if (loop->at + (spec->unroll - 1) * apart >= spec->elements) {
            guint64 left = (spec->elements - loop->at + apart - 1) / apart;
            loop->unroll = (guint32)MIN(left, MAX(spec->tail_unroll, 1));
        }
    }
    const LoopPart *part = &spec->part[loop->part];
    guint64 element = loop->at + loop->k * loop_apart(spec);
    Reg *reg = spec->n_regs ? &loop->reg[part->reg * spec->unroll + loop->k] : NULL;
    guint32 lanes = MIN(spec->lanes ? spec->lanes : WARP_LANES, warp->cta->threads - warp->index * WARP_LANES);
    uop->kind = part->kind;
    uop->width = (guint8)spec->width;
    uop->lanes = (guint8)MIN((guint64)lanes, spec->elements - element);
    uop->type = part->type;
    uop->op = part->op;
    uop->acc = part->acc;
    uop->src = uop->dst = NULL;
    uop->lane_va = NULL;
    uop->followed = loop->part < loop->last || loop->k + 1 < loop->unroll;
    if (part->kind == UOP_ARITH) {
        uop->dst = part->with == LOOP_NO_REG ? NULL : reg;
        uop->src = part->with == LOOP_NO_REG ? reg : &loop->reg[part->with * spec->unroll + loop->k];
    } else if (part->kind == UOP_DELAY || part->kind == UOP_WORK) {
        uop->value = part->base;
        uop->after_ps = part->after_ps;
        loop->k = loop->unroll - 1; /* once a group */
    } else {
        if (part->kind == UOP_LOAD || part->kind == UOP_MC_LOAD || part->kind == UOP_ATOM)
            uop->dst = reg;
        else if (part->reg != LOOP_NO_REG)
            uop->src = reg;
        loop_lanes(loop, part->base, element, uop);
    }
    if (++loop->k == loop->unroll) {
        loop->k = 0;
        if (++loop->part == spec->n_parts) {
            loop->part = 0;
            loop->at += spec->unroll_step ? spec->step : loop->unroll * spec->step;
        }
    }
    return TRUE;
}

gboolean loop_concerns(const Warp *warp, const LoopSpec *spec)
{
    return loop_first(spec, warp->index) < spec->elements;
}

guint64 loop_share(const LoopSpec *spec, guint32 first, guint32 threads)
{
    guint64 share = 0, group = spec->unroll_step ? spec->unroll * WARP_LANES : WARP_LANES;
    for (guint32 t = 0; t < threads; t += WARP_LANES) {
        guint64 at = loop_first(spec, first + t / WARP_LANES);
        guint64 lanes = MIN(spec->lanes ? spec->lanes : WARP_LANES, threads - t);
        if (at >= spec->elements)
            continue;
        guint64 whole = (spec->elements - at) / spec->step, rest = (spec->elements - at) % spec->step;
        group = spec->unroll_step ? group : lanes;
        share += whole * group + MIN(rest, group);
    }
    return share;
}

/* Of those that the LSU does. */
static guint32 loop_last(const LoopSpec *spec)
{
    guint32 last = 0;
    for (guint32 p = 0; p < spec->n_parts; p++)
        if (loop_part_is_memory(&spec->part[p]))
            last = p;
    return last;
}

Loop *loop_new(Warp *warp, const LoopSpec *spec)
{
    g_assert(spec->unroll >= 1 && spec->unroll <= LOOP_UNROLL_MAX && spec->n_parts <= LOOP_PARTS_MAX);
    guint32 n = spec->n_regs * spec->unroll;
    Loop *loop = g_malloc0(sizeof *loop + n * sizeof(Reg));
    loop->spec = spec;
    loop->at = loop_first(spec, warp->index);
    loop->warp = warp;
    loop->last = loop_last(spec);
    for (guint32 r = 0; r < n; r++) {
        loop->reg[r].width = (guint8)spec->width;
        loop->reg[r].bytes = spec->keep_bytes ? g_malloc0(REG_BYTES) : NULL;
    }
    return loop;
}

void loop_fill(Loop *loop, const guint32 fill[4])
{
    const LoopSpec *spec = loop->spec;
    for (guint32 r = 0; r < spec->n_regs * spec->unroll; r++)
        for (guint32 at = 0; loop->reg[r].bytes && at < WARP_LANES * spec->width; at += 16)
            memcpy(loop->reg[r].bytes + at, fill, 16);
}

/* The loop is alone on its warp: a UOP_CALL announces its end. */
static gboolean loop_generate(Warp *warp, Uop *uop)
{
    Loop *loop = warp->generator;
    if (!loop_next(loop, uop))
        *uop = (Uop){.kind = UOP_CALL, .lanes = 1, .call = loop_on_end, .arg = loop};
    return TRUE;
}

void loop_start(Warp *warp, const LoopSpec *spec, void (*done)(Warp *warp, void *user, SimTime now_ps), void *user)
{
    LoopSpec *own = g_memdup2(spec, sizeof *spec);
    Loop *loop = loop_new(warp, own);
    loop->own = own;
    loop->done = done;
    loop->user = user;
    warp_generate(warp, loop_generate, loop);
}
