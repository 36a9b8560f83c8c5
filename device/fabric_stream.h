/* Loops of fabric operations: a CTA's first warp fetches chunks into shared memory and puts them elsewhere, without
 * touching a byte: try_get or try_pullred of a chunk, and when its mbarrier says that it is there, try_put or try_red
 * of it to one place or several. So many chunks are on their way at a time.
 *
 *     device_fabric_stream(cta, &stream);      // in a program of a CTA, as a loop is
 *
 * Of the SM's time there is what one thread issues for an operation (FABRIC_STREAM_CLK); all else is the GPU's fabric
 * engine (model/gpu/fabric_engine.h). Modelled: chunks, their buffers, waits. Left out: what a program does with a
 * report of an error but stop: a stream whose operation fails is a fault. Endpoints are named by addresses here: whose
 * memory an address of the program's space means is what a table of endpoints would say. */
#ifndef DEVICE_FABRIC_STREAM_H
#define DEVICE_FABRIC_STREAM_H

#include "device/device.h"
#include "model/memory/numeric.h"

#define FABRIC_STREAM_TO 72u
/* try_*, submit, arrive.expect_tx and a try_wait that ends, of one thread: assumed, about twice an mbarrier's arrival
 * and wait (20 clk, h100/memory.csv) and an issue of a bulk copy (20 clk of its 155). */
#define FABRIC_STREAM_CLK 60u

typedef struct {
    FoAddress source; /* of a multicast window: a pull reduction of its members' bytes; else a get */
    guint32 n_to;
    FoAddress to[FABRIC_STREAM_TO]; /* of a multicast window: a put to its members; multiples of 16, as `source` */
    gboolean reduces;               /* try_red in place of try_put */
    guint64 bytes;                  /* a multiple of 16 */
    guint32 chunk, depth;           /* bytes, a multiple of 16; chunks on their way */
    NumericType type;
    NumericOp op;
    NumericPrecision acc;
} FabricStream;

/* Returns at once: what the CTA's warps do next comes when all bytes are there, or later. Shared memory for depth
 * chunks is the caller's account. */
void device_fabric_stream(FoCta *cta, const FabricStream *stream);

#endif
