/* Copy engines: bulk copies and fills that no SM takes part in.
 *
 * What hardware it stands for: a GPU's DMA engines (cuMemcpy*, cuMemset*) and the link to its host.
 * Modelled: a start-up time, `gpu.engines` copies of a GPU at a time (others wait in order), packets of at
 * most `gpu.engine_packet_bytes` to and from other GPUs with at most `gpu.engine_in_flight` of one copy
 * under way, replicated writes to a multicast address, HBM and host link bandwidth. Copies that stay
 * within a GPU or go to its host move in blocks of COPY_BLOCK_BYTES, not in packets.
 * Left out: descriptors, two-dimensional copies (their rows are copies), compression.
 * Sources: 256 B packets: nccl-tests#149; start-up time: h200 copy_engine_bw.
 *
 * A write goes to other GPUs as a push, a read from them as a pull; from one other GPU to another the engine
 * pulls and then pushes. */
#ifndef MODEL_GPU_COPY_ENGINE_H
#define MODEL_GPU_COPY_ENGINE_H

#include "model/gpu/gpu.h"

#define COPY_BLOCK_BYTES 65536u

typedef enum {
    COPY_REGION,  /* memory of any GPU, or a region of host memory */
    COPY_OBJECT,  /* a multicast object's window: destination only */
    COPY_HOST,    /* bytes of this process */
    COPY_PATTERN, /* a fill: source only */
} CopyPlace;

typedef struct {
    CopyPlace place;
    MemRegion *region;    /* COPY_REGION: a reference is held until `done` */
    McObject *object;     /* COPY_OBJECT: must live until `done` */
    void *host;           /* COPY_HOST: must live until `done`; NULL: timing only */
    guint64 offset;       /* in region or object, or from `host` on */
    guint8 pattern[16];   /* COPY_PATTERN: repeated from the first byte of the destination on */
    guint8 pattern_bytes; /* 1, 2, 4, 8 or 16 */
} CopyEnd;

/* Called once. fault: FAULT_NONE, or why (part of) the copy did not take place; already reported with
 * fabric_fault(). */
typedef void (*CopyDone)(void *user, FaultKind fault, SimTime now_ps);

/* Starts a copy on one of `gpu`'s engines. Both ranges lie within their region, object or pattern (a
 * programming error otherwise); bytes may be 0. Source bytes are read as the copy proceeds. Bytes move
 * where both ends keep them; timing is the same where they do not. `done` is never called from inside
 * copy_start(). who: for fault reports, or NULL; not copied. */
void copy_start(Fabric *fabric, guint16 gpu, const CopyEnd *dst, const CopyEnd *src, guint64 bytes, const char *who,
                CopyDone done, void *user);

/* `user` of the copy that a transaction of the GPU is of; NULL: it is of none. */
void *copy_user_of(const Txn *txn);

/* Engines of a GPU: part of struct Gpu. */
void copy_init(Gpu *gpu);
void copy_clear(Gpu *gpu); /* forgets copies that have not ended, without calling them back */
gboolean copy_is_quiet(const Gpu *gpu);
char *copy_waiter_text(void *gpu);

#endif
