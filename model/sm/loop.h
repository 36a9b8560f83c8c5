/* Bulk loops: the grid-stride loops of device code as one generator a warp, so that a 1 GB loop is one call.
 *
 *     for (i = first; i + (unroll - 1) * step < n; i += unroll * step)
 *         for each part of the body: for (k = 0; k < unroll; k++) part at element i + k * step
 *     then one element at a time for what is left
 *
 * The elements k of a warp's group may also lie unroll_step apart, `step` being the whole group's, and the
 * warps of a CTA warp_step: kernels that give each warp a stretch of consecutive lines.
 *
 * Element e is at base + e / per_segment * segment_stride + e % per_segment * width (plain: e * width).
 * The micro-operations are those of the same loop written out by hand, in the same order. */
#ifndef MODEL_SM_LOOP_H
#define MODEL_SM_LOOP_H

#include "model/sm/sm.h"

#define LOOP_PARTS_MAX 80
#define LOOP_UNROLL_MAX 32

typedef struct {
    guint8 kind; /* UOP_LOAD, UOP_STORE, UOP_MC_*, UOP_RED, UOP_ATOM, UOP_ARITH; UOP_DELAY, UOP_WORK (once a group) */
    guint8 reg;  /* loads, atomics: destination; stores, reds: source; arith: destination */
    guint8 with; /* arith: source register; LOOP_NO_REG: only waits for `reg` */
    guint8 type, op, acc;
    guint32 after_ps; /* of UOP_WORK */
    guint64 base;     /* address of element 0; of delays and work: picoseconds */
} LoopPart;
#define LOOP_NO_REG 0xffu

static inline gboolean loop_part_is_memory(const LoopPart *part)
{
    return part->kind != UOP_ARITH && part->kind != UOP_DELAY && part->kind != UOP_WORK;
}

typedef struct {
    guint64 elements;       /* of `width` bytes */
    guint64 per_segment;    /* 0: plain */
    guint64 segment_stride; /* bytes */
    guint64 first, step;    /* of this CTA's thread 0; threads of the whole grid */
    guint64 warp_step;      /* from a warp to the CTA's next one; 0: WARP_LANES */
    guint64 unroll_step;    /* 0: step */
    guint32 width, unroll, n_regs, n_parts;
    guint32 lanes;       /* active in each warp; 0: all */
    guint32 tail_unroll; /* of the last, incomplete group; 0: 1 */
    gboolean keep_bytes; /* registers carry data */
    LoopPart part[LOOP_PARTS_MAX];
} LoopSpec;

typedef struct Loop Loop; /* one warp's run of it */

/* Starts the loop on a warp (its queue runs first); on its end `done` is called and the Loop freed. */
void loop_start(Warp *warp, const LoopSpec *spec, void (*done)(Warp *warp, void *user, SimTime now_ps), void *user);

/* The same step by step, for generators that run several loops one after another. The spec must outlive
 * the Loop. loop_next gives the next micro-operation; FALSE: at its end, all registers awaited; then free it. */
Loop *loop_new(Warp *warp, const LoopSpec *spec);
gboolean loop_next(Loop *loop, Uop *uop);
void loop_free(Loop *loop);
/* Before the first step: what the stores of a loop without loads carry: 16 B, repeated over the bytes of all lanes. */
void loop_fill(Loop *loop, const guint32 fill[4]);
/* Whether this warp has any element of the loop. */
gboolean loop_concerns(const Warp *warp, const LoopSpec *spec);
/* How many of the loop's elements so many threads have, from a CTA's warp `first` on. */
guint64 loop_share(const LoopSpec *spec, guint32 first, guint32 threads);

#endif
