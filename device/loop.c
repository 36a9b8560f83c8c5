/* fo_loop: a program's loop as a LoopSpec (model/sm/loop.h) that all its warps run.
 *
 * The micro-operations are those that the same loop written out with fo_ld, fo_combine and fo_st would
 * queue, in the same order, so packets are the same; only the CTA's function and the warps' queues are not in between.
 * So is time, but that accesses of one turn follow each other at once here, as a compiler unrolls them, while each
 * access that is written out stands as a turn of its own (Uop.followed). */
#include <string.h>

#include "device/device.h"

static gboolean loop_is_multimem(FoAccess access)
{
    return access == FO_LD_REDUCE || access == FO_MULTIMEM_ST || access == FO_MULTIMEM_RED;
}

/* Numbers that no loop has. */
static gboolean loop_check_shape(FoCta *cta, const FoLoop *loop)
{
    const struct {
        const char *name;
        guint64 value;
    } sizes[] = {{"bytes", loop->bytes},
                 {"first", loop->first},
                 {"step", loop->step},
                 {"segment", loop->segment},
                 {"stride", loop->stride},
                 {"warp_step", loop->warp_step},
                 {"unroll_step", loop->unroll_step}};
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++)
        if (sizes[i].value > DEVICE_SIZE_MAX) {
            device_wrong(cta, 0, UOP_CALL, "a loop with %s %" G_GUINT64_FORMAT "; at most 2^56 is right", sizes[i].name,
                         sizes[i].value);
            return FALSE;
        }
    if (loop->width != 4 && loop->width != 8 && loop->width != 16)
        device_wrong(cta, 0, UOP_CALL, "a loop of %u B wide accesses; 4, 8 or 16 are right", loop->width);
    else if (loop->unroll < 1 || loop->unroll > LOOP_UNROLL_MAX)
        device_wrong(cta, 0, UOP_CALL, "a loop unrolled %u times; 1 to %u are right", loop->unroll, LOOP_UNROLL_MAX);
    else if (loop->sources > FO_LOOP_MAX || loop->destinations > FO_LOOP_MAX)
        device_wrong(cta, 0, UOP_CALL, "a loop of %u sources and %u destinations; at most %u each are right",
                     loop->sources, loop->destinations, FO_LOOP_MAX);
    else if (loop->sources + loop->destinations == 0 && loop->delay_ps == 0)
        device_wrong(cta, 0, UOP_CALL, "a loop with nothing to do: no source, no destination, no delay");
    else if (loop->segment % loop->width || (loop->segment && loop->stride % loop->width))
        device_wrong(cta, 0, UOP_CALL,
                     "a loop over segments of %" G_GUINT64_FORMAT " B, %" G_GUINT64_FORMAT
                     " B apart; multiples of its width are right",
                     loop->segment, loop->stride);
    else if (loop->bytes % loop->width && (loop->segment || loop->warp_step || loop->unroll_step))
        device_wrong(cta, 0, UOP_CALL,
                     "a loop with segment, warp_step or unroll_step over %" G_GUINT64_FORMAT
                     " B; a multiple of its width is right",
                     loop->bytes);
    else if (cta->count != program_threads(cta) && !loop->step)
        device_wrong(cta, 0, UOP_CALL, "a loop by %u of %u threads without step; a step is needed", cta->count,
                     program_threads(cta));
    else
        return TRUE;
    return FALSE;
}

/* One stream, accessed in this width. */
static gboolean loop_check_stream(FoCta *cta, const FoLoop *loop, const FoStream *stream, gboolean source,
                                  guint32 width)
{
    static const PtxInstruction instructions[] = {
        [FO_LD_REDUCE] = PTX_LD_REDUCE, [FO_MULTIMEM_ST] = PTX_ST, [FO_MULTIMEM_RED] = PTX_RED};
    if ((guint)stream->access > FO_MULTIMEM_RED || (stream->access <= FO_LD_REDUCE) != source) {
        device_wrong(cta, stream->base, UOP_CALL, "access %d of a loop's %s; %s are right", (int)stream->access,
                     source ? "source" : "destination", source ? "FO_LD and FO_LD_REDUCE" : "FO_ST to FO_MULTIMEM_RED");
        return FALSE;
    }
    if (loop_is_multimem(stream->access)) {
        FoMultimem form = {.type = loop->type, .op = loop->op};
        form.acc = stream->access == FO_LD_REDUCE ? loop->acc : FO_ACC_NATIVE;
        if (stream->access == FO_MULTIMEM_ST) /* bits are bits: st.v4.f32 moves any type */
            form.type = width == 8 ? FO_B64 : FO_F32;
        device_widen_form(&form, width);
        return device_check_form(cta, instructions[stream->access], stream->base, &form, width);
    }
    if (stream->access == FO_RED &&
        !device_check_atomic(cta, UOP_RED, stream->base, loop->type, loop->op, width, FO_RELAXED))
        return FALSE;
    if (stream->base % width)
        device_fault(cta, stream->base, UOP_LOAD, FAULT_MISALIGNED, NULL);
    return stream->base % width == 0;
}

/* Sums. Elements of 8 B may be moved in halves by neighbouring threads, which then begin and end together. */
static gboolean loop_check_sums(FoCta *cta, const FoLoop *loop, guint32 width, guint64 bytes)
{
    if (!device_check_numeric(cta, UOP_ARITH, loop->type, loop->op, 8))
        return FALSE;
    guint32 halves = numeric_element_bytes((NumericType)loop->type) / width;
    if (halves <= 1)
        return TRUE;
    guint64 all = bytes / width | (cta->count < WARP_LANES ? cta->count : 0);
    if (width == loop->width) /* not the tail of a wider one */
        all |= loop->first | loop->step | loop->warp_step | loop->unroll_step | cta->count;
    if (all % halves)
        device_wrong(cta, 0, UOP_ARITH, "sums of %s in %u B wide accesses that part elements; whole elements are right",
                     numeric_type_name((NumericType)loop->type), width);
    return all % halves == 0;
}

static gboolean loop_check(FoCta *cta, const FoLoop *loop, guint32 width, guint64 bytes)
{
    for (guint32 i = 0; i < loop->sources + loop->destinations; i++)
        if (!loop_check_stream(cta, loop, i < loop->sources ? &loop->source[i] : &loop->destination[i - loop->sources],
                               i < loop->sources, width))
            return FALSE;
    return loop->sources <= 1 || loop_check_sums(cta, loop, width, bytes);
}

static void loop_part(LoopSpec *spec, const FoLoop *loop, UopKind kind, guint32 reg, guint64 base)
{
    spec->part[spec->n_parts++] = (LoopPart){.kind = (guint8)kind,
                                             .reg = (guint8)reg,
                                             .with = LOOP_NO_REG,
                                             .base = base,
                                             .type = (guint8)loop->type,
                                             .op = (guint8)loop->op,
                                             .acc = (guint8)loop->acc};
}

/* All loads (or a batch of them), then the sums, then the stores. */
static void loop_body(LoopSpec *spec, const FoLoop *loop)
{
    static const UopKind kinds[] = {
        [FO_ST] = UOP_STORE, [FO_MULTIMEM_ST] = UOP_MC_STORE, [FO_RED] = UOP_RED, [FO_MULTIMEM_RED] = UOP_MC_RED};
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

/* fill_bytes: after so many the constant that is stored begins again. */
static DeviceLoopSpec *loop_translate(const FoCta *cta, const FoLoop *loop, guint32 fill_bytes)
{
    DeviceLoopSpec *shared = g_new0(DeviceLoopSpec, 1);
    LoopSpec *spec = &shared->spec;
    shared->refs = 1;
    shared->constant = loop->sources == 0;
    for (guint32 w = 0; w < 4; w++) /* by 4 B words, which a narrower access has the first of */
        shared->fill[w] = loop->fill[w % (fill_bytes / 4)];
    spec->elements = loop->bytes / loop->width;
    if (loop->segment && loop->segment != loop->stride) {
        spec->per_segment = loop->segment / loop->width;
        spec->segment_stride = loop->stride;
    }
    spec->first = loop->step ? loop->first : (guint64)program_cta(cta) * program_threads(cta);
    /* the first active thread's; wraps, and back with each thread's number */
    spec->first -= loop->warp_step ? cta->first / WARP_LANES * loop->warp_step : cta->first;
    spec->step = loop->step ? loop->step : (guint64)program_ctas(cta) * program_threads(cta);
    spec->warp_step = loop->warp_step;
    spec->unroll_step = loop->unroll_step;
    spec->width = loop->width;
    spec->unroll = loop->unroll;
    spec->tail_unroll = loop->tail_unroll ? loop->tail_unroll : loop->unroll;
    spec->keep_bytes = cta->launch->fabric->keep_bytes;
    loop_body(spec, loop);
    return shared;
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

/* One iteration from byte `done` of the loop's streams on. */
static void loop_push_tail(FoCta *cta, const FoLoop *tail, const FoLoop *loop, guint64 done)
{
    FoLoop part = *tail;
    for (guint32 s = 0; s < part.sources; s++)
        part.source[s].base += done;
    for (guint32 d = 0; d < part.destinations; d++)
        part.destination[d].base += done;
    for (guint32 w = 0; w < 4; w++)
        part.fill[w] = loop->fill[(done / 4 + w) % (loop->width / 4)];
    device_push_loops(cta, loop_translate(cta, &part, 16));
}

void program_loop(FoCta *cta, const FoLoop *loop)
{
    if (!device_check_given(cta, loop, "loop", UOP_CALL) || !loop_check_shape(cta, loop) ||
        !device_check_warps(cta, UOP_CALL))
        return;
    guint64 rest = loop->bytes % loop->width;
    if (loop->bytes == 0 || !loop_check(cta, loop, loop->width, loop->bytes - rest) ||
        (rest && !loop_check(cta, loop, 4, rest + 3)))
        return;
    if (loop->bytes >= loop->width)
        device_push_loops(cta, loop_translate(cta, loop, loop->width));
    if (rest == 0)
        return;
    /* The rest as one iteration of 4 B elements, by the warp of the thread whose turn the next element is. */
    FoLoop tail = *loop;
    guint64 done = loop->bytes - rest,
            step = loop->step ? loop->step : (guint64)program_ctas(cta) * program_threads(cta);
    guint64 first = loop->step ? loop->first : (guint64)program_cta(cta) * program_threads(cta);
    guint64 element = done / loop->width;
    if (element < first || (element - first) % step >= cta->count)
        return;
    tail.width = 4;
    tail.unroll = 1;
    tail.first = 0;
    tail.step = WARP_LANES;
    guint64 words = (rest + 3) / 4, each = MIN(words, cta->count); /* a CTA may have fewer threads than words */
    for (guint64 word = 0; word < words; word += each, done += 4 * each) {
        tail.bytes = 4 * MIN(each, words - word);
        loop_push_tail(cta, &tail, loop, done);
    }
}
