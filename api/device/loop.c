/* fo_loop: a program's loop as a LoopSpec (model/sm/loop.h) that all its warps run.
 *
 * The micro-operations are those that the same loop written out with fo_ld, fo_combine and fo_st would
 * queue, in the same order, so packets and time are the same; only the CTA's function and the warps'
 * queues are not in between. */
#include <string.h>

#include "api/device/device.h"

static gboolean loop_is_multimem(FoAccess access)
{
    return access == FO_LD_REDUCE || access == FO_MULTIMEM_ST || access == FO_MULTIMEM_RED;
}

static gboolean loop_check(FoCta *cta, const FoLoop *loop)
{
    g_assert(loop->width == 4 || loop->width == 8 || loop->width == 16);
    g_assert(loop->unroll >= 1 && loop->unroll <= LOOP_UNROLL_MAX);
    g_assert(loop->sources <= FO_LOOP_MAX && loop->destinations <= FO_LOOP_MAX);
    g_assert(loop->segment == 0 || loop->segment % loop->width == 0);
    static const PtxInstruction instructions[] = {
        [FO_LD_REDUCE] = PTX_LD_REDUCE, [FO_MULTIMEM_ST] = PTX_ST, [FO_MULTIMEM_RED] = PTX_RED};
    for (guint32 i = 0; i < loop->sources + loop->destinations; i++) {
        const FoStream *stream =
            i < loop->sources ? &loop->source[i] : &loop->destination[i - loop->sources];
        g_assert(i < loop->sources ? stream->access <= FO_LD_REDUCE : stream->access >= FO_ST);
        if (loop_is_multimem(stream->access)) {
            FoMultimem form = {.type = loop->type, .op = loop->op};
            form.acc = stream->access == FO_LD_REDUCE ? loop->acc : FO_ACC_NATIVE;
            if (stream->access == FO_MULTIMEM_ST) /* bits are bits: st.v4.f32 moves any type */
                form.type = loop->width == 8 ? FO_B64 : FO_F32;
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

static void loop_part(LoopSpec *spec, const FoLoop *loop, UopKind kind, guint32 reg, guint64 base)
{
    spec->part[spec->n_parts++] =
        (LoopPart){.kind = (guint8)kind, .reg = (guint8)reg, .with = LOOP_NO_REG, .base = base,
                   .type = (guint8)loop->type, .op = (guint8)loop->op, .acc = (guint8)loop->acc};
}

/* All loads (or a batch of them), then the sums, then the stores. */
static void loop_body(LoopSpec *spec, const FoLoop *loop)
{
    static const UopKind kinds[] = {[FO_ST] = UOP_STORE, [FO_MULTIMEM_ST] = UOP_MC_STORE,
                                    [FO_RED] = UOP_RED, [FO_MULTIMEM_RED] = UOP_MC_RED};
    if (loop->delay_ps)
        loop_part(spec, loop, UOP_DELAY, 0, loop->delay_ps);
    guint32 size = loop->batch_first ? loop->batch_first : loop->sources;
    for (guint32 from = 0; from < loop->sources; from += size, size = loop->batch ? loop->batch : size) {
        guint32 to = MIN(from + size, loop->sources);
        for (guint32 s = from; s < to; s++)
            loop_part(spec, loop, loop->source[s].access == FO_LD_REDUCE ? UOP_MC_LOAD : UOP_LOAD, s,
                      loop->source[s].base);
        for (guint32 s = MAX(from, 1); s < to; s++) {
            loop_part(spec, loop, UOP_ARITH, 0, 0);
            spec->part[spec->n_parts - 1].with = (guint8)s;
        }
    }
    if (loop->sources && loop->destinations == 0) /* waits for what it loaded */
        loop_part(spec, loop, UOP_ARITH, 0, 0);
    for (guint32 d = 0; d < loop->destinations; d++)
        loop_part(spec, loop, kinds[loop->destination[d].access], 0, loop->destination[d].base);
    spec->n_regs = MAX(loop->sources, 1);
}

static DeviceLoopSpec *loop_translate(const FoCta *cta, const FoLoop *loop)
{
    DeviceLoopSpec *shared = g_new0(DeviceLoopSpec, 1);
    LoopSpec *spec = &shared->spec;
    shared->refs = 1;
    shared->constant = loop->sources == 0;
    memcpy(shared->fill, loop->fill, sizeof shared->fill);
    spec->elements = loop->bytes / loop->width;
    if (loop->segment && loop->segment != loop->stride) {
        spec->per_segment = loop->segment / loop->width;
        spec->segment_stride = loop->stride;
    }
    spec->first = loop->step ? loop->first : (guint64)fo_cta(cta) * fo_threads(cta);
    /* the first active thread's; wraps, and back with each thread's number */
    spec->first -= loop->warp_step ? cta->first / WARP_LANES * loop->warp_step : cta->first;
    spec->step = loop->step ? loop->step : (guint64)fo_ctas(cta) * fo_threads(cta);
    spec->warp_step = loop->warp_step;
    spec->unroll_step = loop->unroll_step;
    spec->width = loop->width;
    spec->unroll = loop->unroll;
    spec->tail_unroll = loop->tail_unroll ? loop->tail_unroll : loop->unroll;
    spec->keep_bytes = cta->launch->fabric->keep_bytes;
    loop_body(spec, loop);
    return shared;
}

void device_loop_spec_unref(DeviceLoopSpec *spec)
{
    if (--spec->refs == 0)
        g_free(spec);
}

void device_push_loops(FoCta *cta, DeviceLoopSpec *shared)
{
    if (cta->launch->fabric->flow && device_push_flow(cta, shared)) {
        device_loop_spec_unref(shared);
        return;
    }
    for (guint32 w = 0; w < cta->cta->n_warps; w++)
        if (device_lanes(cta, w) && loop_concerns(&cta->cta->warp[w], &shared->spec)) {
            shared->refs++;
            device_push_loop(cta, w, shared);
        }
    device_loop_spec_unref(shared);
}

void fo_loop(FoCta *cta, const FoLoop *loop)
{
    guint64 rest = loop->bytes % loop->width;
    g_assert(cta->count == fo_threads(cta) || (loop->step && cta->count % WARP_LANES == 0));
    if (loop->bytes == 0 || !loop_check(cta, loop))
        return;
    if (loop->bytes >= loop->width)
        device_push_loops(cta, loop_translate(cta, loop));
    if (rest == 0)
        return;
    /* The rest as one iteration of 4 B elements, by the thread whose turn the next element is. */
    g_assert(loop->segment == 0 && loop->warp_step == 0 && loop->unroll_step == 0);
    FoLoop tail = *loop;
    guint64 done = loop->bytes - rest, step = loop->step ? loop->step : (guint64)fo_ctas(cta) * fo_threads(cta);
    guint64 first = loop->step ? loop->first : (guint64)fo_cta(cta) * fo_threads(cta);
    guint64 element = done / loop->width;
    if (element < first || (element - first) % step >= cta->count)
        return;
    for (guint32 s = 0; s < tail.sources; s++)
        tail.source[s].base += done;
    for (guint32 d = 0; d < tail.destinations; d++)
        tail.destination[d].base += done;
    tail.width = 4;
    tail.unroll = 1;
    tail.bytes = (rest + 3) / 4 * 4;
    tail.first = 0;
    tail.step = WARP_LANES;
    device_push_loops(cta, loop_translate(cta, &tail));
}
