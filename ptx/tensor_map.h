/* Tensor maps: what the 128 opaque bytes of a CUtensorMap mean here, and which maps there are.
 *
 * The bytes are Fanout's own, not NVIDIA's: a map is made by the driver front end (cuTensorMapEncodeTiled, ...) or
 * by tensormap.replace, and read by copies. At 0 lies the address (8 bytes), at 8 a mark that says whose bytes these
 * are, from 12 on what the struct Packed of tensor_map.c says. Numbers of CUDA's enumerations are kept as they are.
 *
 * Source: CUDA driver API, section "Tensor Map Object Management"; which maps an H100's driver takes, and what copies
 * by them do: docs/measurements/tensor.csv. */
#ifndef PTX_TENSOR_MAP_H
#define PTX_TENSOR_MAP_H

#include <glib.h>

#include "ptx/read/module.h"

#define PTX_TENSOR_MAP_BYTES 128u
#define PTX_TENSOR_DIMS 5u

typedef enum { PTX_TENSOR_TILED, PTX_TENSOR_IM2COL } PtxTensorMode;

typedef struct {
    guint64 address;
    PtxTensorMode mode;
    guint32 type, rank, interleave, swizzle, promotion, fill; /* CUtensorMapDataType, ... */
    guint64 dim[PTX_TENSOR_DIMS];                             /* elements */
    guint64 stride[PTX_TENSOR_DIMS - 1];                      /* bytes; the first dimension has none */
    guint32 box[PTX_TENSOR_DIMS];                             /* of a tiled map */
    guint32 element[PTX_TENSOR_DIMS];                         /* steps: one element of so many is taken */
    gint32 lower[3], upper[3];                                /* of an im2col map: corners by W, H, D, */
    guint32 channels, pixels;                                 /* and what a copy takes */
} PtxTensorMap;

/* The rule that a map breaks, as a clause; NULL: none. Nothing of it need be right. */
const char *ptx_tensor_map_broken(const PtxTensorMap *map);
void ptx_tensor_map_pack(const PtxTensorMap *map, guint8 bytes[PTX_TENSOR_MAP_BYTES]); /* of a map that is good */
/* FALSE: these bytes are no map. One that was changed may break a rule. */
gboolean ptx_tensor_map_unpack(const guint8 bytes[PTX_TENSOR_MAP_BYTES], PtxTensorMap *map);
/* tensormap.replace, of a field by its word; `ordinal` counts dimensions. FALSE: there is no such one, or the value is
 * none. Bytes that are no map become one, whose fields are all to be replaced. */
gboolean ptx_tensor_map_replace(guint8 bytes[PTX_TENSOR_MAP_BYTES], PtxWord field, guint ordinal, guint64 value);

guint ptx_tensor_element_bytes(guint32 type);
/* As what an element is added up; T_NONE: an H100 refuses this operation on the type. */
PtxType ptx_tensor_reduction_type(guint32 type, PtxWord op);

#endif
