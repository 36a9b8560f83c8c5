/* What the two halves of the copy engines share: copy_engine.c (engines, the course of a copy, blocks) and
 * copy_engine_packets.c (what crosses the fabric). */
#ifndef MODEL_GPU_COPY_ENGINE_INTERNAL_H
#define MODEL_GPU_COPY_ENGINE_INTERNAL_H

#include "model/gpu/copy_engine.h"

typedef struct {
    guint64 at; /* in the copy */
    guint32 bytes;
    gboolean has_data;
    guint8 data[DATA_SLOT_BYTES];
} CopyPiece; /* pulled from one GPU, to be pushed to another */
RING_DEFINE(CopyPieceRing, copy_piece, CopyPiece)

typedef enum { COPY_START, COPY_WORK, COPY_END } CopyPhase;

typedef struct {
    Gpu *gpu;
    CopyEnd dst, src;
    guint64 bytes;
    guint64 at;          /* first byte not yet asked for (pulls) or sent (pushes) */
    guint64 staged;      /* bytes of a host source that are on this side of the host link */
    guint64 moved;       /* bytes that arrived */
    guint32 in_flight;   /* packets */
    gboolean push, pull; /* destination, source behind the fabric */
    gboolean stalled;    /* waits for room at a port */
    CopyPhase phase;
    CopyPieceRing pieces;
    GpuRoomWaiter room;
    Event event;
    SimTime end_ps;
    FaultKind fault;
    const char *who;
    CopyDone done;
    void *user;
} Copy;

/* The bytes of a plain end from `at` on, or NULL when it keeps none. */
guint8 *copy_end_bytes(const CopyEnd *end, guint64 at);
gboolean copy_end_is_host(const CopyEnd *end);
void copy_fill(const CopyEnd *src, guint64 at, guint8 *to, guint64 bytes);
/* Puts bytes into a plain destination; from NULL: it keeps what it has. */
void copy_deliver(Copy *copy, guint64 at, const guint8 *from, guint64 bytes, SimTime now_ps);
/* When the GPU's own memory has moved that many bytes of a copy. */
SimTime copy_memory_serve(Copy *copy, const CopyEnd *end, guint32 bytes, SimTime now_ps);
/* Goes on with `phase` then; WORK gives way to what is planned already. */
void copy_next(Copy *copy, CopyPhase phase, SimTime at_ps);

/* copy_engine_packets.c */
void copy_work_packets(Copy *copy, SimTime now_ps);
void copy_on_room(GpuRoomWaiter *waiter, SimTime now_ps);

#endif
