/* Tensor maps: rules, and the 128 bytes: see tensor_map.h. */
#include "ptx/tensor_map.h"

#include <string.h>

#define MARK 0x70616d46u /* "Fmap" */
#define TYPE_FLOATS_FROM 6u
#define TYPES 13u

typedef struct {
    guint64 address;
    guint32 mark;
    guint8 mode, type, rank, interleave, swizzle, promotion, fill, spare;
    guint32 dim[PTX_TENSOR_DIMS]; /* less 1 */
    guint64 stride[PTX_TENSOR_DIMS - 1];
    guint16 box[PTX_TENSOR_DIMS];
    guint8 element[PTX_TENSOR_DIMS], spare_2;
    gint16 lower[3], upper[3];
    guint16 channels, pixels;
    guint8 rest[24];
} Packed;
G_STATIC_ASSERT(sizeof(Packed) == PTX_TENSOR_MAP_BYTES);

static const struct {
    guint8 bytes, reduced; /* PtxType */
} types[TYPES] = {{1, T_NONE}, {2, T_NONE}, {4, T_U32},  {4, T_S32}, {8, T_U64}, {8, T_S64}, {2, T_F16},
                  {4, T_F32},  {8, T_F64},  {2, T_BF16}, {4, T_F32}, {4, T_F32}, {4, T_F32}};

guint ptx_tensor_element_bytes(guint32 type) { return types[type].bytes; }

PtxType ptx_tensor_reduction_type(guint32 type, PtxWord op)
{
    PtxType of = types[type].reduced;
    switch (op) {
    case W_ADD: return of == T_S64 ? T_NONE : of;
    case W_MIN:
    case W_MAX: return of == T_F32 || of == T_F64 ? T_NONE : of;
    case W_INC:
    case W_DEC: return of == T_U32 ? T_U32 : T_NONE;
    default: return of == T_U32 || of == T_S32 ? T_B32 : of == T_U64 ? T_B64 : T_NONE;
    }
}

/* ---- rules */

static const char *broken_words(const PtxTensorMap *map)
{
    if (map->type >= TYPES)
        return "the data type is none that this GPU has";
    if (map->rank < 1 || map->rank > PTX_TENSOR_DIMS)
        return "a tensor has 1 to 5 dimensions";
    if (map->interleave > 2 || map->swizzle > 3 || map->promotion > 3 || map->fill > 1)
        return "interleave, swizzle, promotion or fill is none that this GPU has";
    if (map->rank < 3 && (map->interleave || map->mode == PTX_TENSOR_IM2COL))
        return "interleaved layouts and im2col take 3 to 5 dimensions";
    if (map->fill && map->type < TYPE_FLOATS_FROM)
        return "NaN fills floating-point types alone";
    return NULL;
}

static const char *broken_numbers(const PtxTensorMap *map)
{
    guint64 unit = map->interleave == 2 ? 32 : 16;
    if (map->address % unit)
        return unit == 32 ? "the address is a multiple of 32 for an interleave of 32 bytes"
                          : "the address is a multiple of 16";
    for (guint i = 0; i < map->rank; i++) {
        if (map->dim[i] < 1 || map->dim[i] > (guint64)1 << 32)
            return "a dimension has 1 to 2^32 elements";
        if (map->element[i] < 1 || map->element[i] > 8)
            return "an element's stride is 1 to 8";
        if (map->mode == PTX_TENSOR_TILED && (map->box[i] < 1 || map->box[i] > 256))
            return "a box has 1 to 256 elements in each dimension";
        if (i + 1 < map->rank && (map->stride[i] % unit || map->stride[i] >= (guint64)1 << 40))
            return unit == 32 ? "a stride is a multiple of 32, for an interleave of 32 bytes, below 2^40"
                              : "a stride is a multiple of 16, below 2^40";
    }
    return NULL;
}

static const char *broken_corners(const PtxTensorMap *map)
{
    gint32 limit = map->rank == 3 ? 32768 : map->rank == 4 ? 128 : 16;
    if (map->channels < 1 || map->channels > 256)
        return "a pixel has 1 to 256 channels";
    if (map->pixels < 1 || map->pixels > 1024)
        return "a column has 1 to 1024 pixels";
    for (guint i = 0; i + 2 < map->rank; i++) {
        guint64 dim = map->dim[map->interleave ? i : i + 1];
        if (map->lower[i] < -limit || map->lower[i] >= limit || map->upper[i] < -limit || map->upper[i] >= limit)
            return "a corner is within 16 bits for 3 dimensions, 8 bits for 4, 5 bits for 5";
        if ((gint64)dim - 1 + map->upper[i] < map->lower[i])
            return "the box between the corners is empty";
    }
    return NULL;
}

const char *ptx_tensor_map_broken(const PtxTensorMap *map)
{
    const char *broken = broken_words(map);
    gboolean tiled = map->mode == PTX_TENSOR_TILED;
    if (!broken)
        broken = broken_numbers(map);
    if (!broken && !tiled)
        broken = broken_corners(map);
    if (broken)
        return broken;
    guint32 inner = (tiled ? map->box[0] : map->channels) * types[map->type].bytes;
    if (inner % (tiled && map->interleave == 2 ? 32 : 16))
        return "the box's first dimension has a multiple of 16 bytes (32 for an interleave of 32)";
    if (map->swizzle && !map->interleave && inner > 16u << map->swizzle)
        return "the box's first dimension is no longer than the swizzle's span";
    return NULL;
}

/* ---- bytes */

void ptx_tensor_map_pack(const PtxTensorMap *map, guint8 bytes[PTX_TENSOR_MAP_BYTES])
{
    Packed p = {.address = map->address,
                .mark = MARK,
                .mode = (guint8)map->mode,
                .type = (guint8)map->type,
                .rank = (guint8)map->rank,
                .interleave = (guint8)map->interleave,
                .swizzle = (guint8)map->swizzle,
                .promotion = (guint8)map->promotion,
                .fill = (guint8)map->fill,
                .channels = (guint16)map->channels,
                .pixels = (guint16)map->pixels};
    for (guint i = 0; i < map->rank; i++) {
        p.dim[i] = (guint32)(map->dim[i] - 1);
        p.box[i] = (guint16)map->box[i];
        p.element[i] = (guint8)map->element[i];
        if (i + 1 < map->rank)
            p.stride[i] = map->stride[i];
    }
    for (guint i = 0; i < 3; i++) {
        p.lower[i] = (gint16)map->lower[i];
        p.upper[i] = (gint16)map->upper[i];
    }
    memcpy(bytes, &p, sizeof p);
}

gboolean ptx_tensor_map_unpack(const guint8 bytes[PTX_TENSOR_MAP_BYTES], PtxTensorMap *map)
{
    Packed p;
    memcpy(&p, bytes, sizeof p);
    if (p.mark != MARK || p.mode > PTX_TENSOR_IM2COL)
        return FALSE;
    *map = (PtxTensorMap){.address = p.address,
                          .mode = p.mode,
                          .type = p.type,
                          .rank = p.rank,
                          .interleave = p.interleave,
                          .swizzle = p.swizzle,
                          .promotion = p.promotion,
                          .fill = p.fill,
                          .channels = p.channels,
                          .pixels = p.pixels};
    for (guint i = 0; i < PTX_TENSOR_DIMS; i++) {
        map->dim[i] = (guint64)p.dim[i] + 1;
        map->box[i] = p.box[i];
        map->element[i] = p.element[i];
        if (i + 1 < PTX_TENSOR_DIMS)
            map->stride[i] = p.stride[i];
    }
    for (guint i = 0; i < 3; i++) {
        map->lower[i] = p.lower[i];
        map->upper[i] = p.upper[i];
    }
    return TRUE;
}

gboolean ptx_tensor_map_replace(guint8 bytes[PTX_TENSOR_MAP_BYTES], PtxWord field, guint ordinal, guint64 value)
{
    Packed p;
    memcpy(&p, bytes, sizeof p);
    if (p.mark != MARK) { /* such bytes are zeros mostly, which a kernel has put there itself */
        memset(&p, 0, sizeof p);
        p.mark = MARK;
    }
    if (ordinal >= PTX_TENSOR_DIMS || (field == W_GLOBAL_STRIDE && ordinal >= PTX_TENSOR_DIMS - 1))
        return FALSE;
    guint64 most = field == W_GLOBAL_ADDRESS || field == W_GLOBAL_STRIDE ? G_MAXUINT64
                   : field == W_GLOBAL_DIM                               ? G_MAXUINT32
                   : field == W_BOX_DIM                                  ? 256
                   : field == W_ELEMENT_STRIDE                           ? 8
                                                                         : 15;
    if (value > most)
        return FALSE;
    switch (field) {
    case W_GLOBAL_ADDRESS: p.address = value; break;
    case W_RANK: p.rank = (guint8)(value + 1); break; /* the instruction's operand is one less */
    case W_BOX_DIM: p.box[ordinal] = (guint16)value; break;
    case W_GLOBAL_DIM: p.dim[ordinal] = (guint32)(value - 1); break;
    case W_GLOBAL_STRIDE: p.stride[ordinal] = value; break;
    case W_ELEMENT_STRIDE: p.element[ordinal] = (guint8)value; break;
    case W_ELEMTYPE: p.type = (guint8)value; break;
    case W_INTERLEAVE_LAYOUT: p.interleave = (guint8)value; break;
    case W_SWIZZLE_MODE: p.swizzle = (guint8)value; break;
    case W_FILL_MODE: p.fill = (guint8)value; break;
    default: return value == 0; /* swizzle_atomicity: of 16 bytes */
    }
    memcpy(bytes, &p, sizeof p);
    return TRUE;
}
