/* Where a copy by a tensor map finds, and puts, each 16 bytes.
 *
 * In memory an element lies at address + x * its size + y * stride[0] + z * stride[1] ...; in shared memory rows of
 * the box follow one another, each as long as the box's first dimension, or with a swizzle as long as its span. With
 * an interleave an element of the first dimension is a slice of 16 or 32 bytes, and of the dimension before the last
 * (that of slices of channels) a copy has one. Elements outside the tensor are filled by loads; stores leave them,
 * but write whole pieces of 16 bytes of which any is inside.
 *
 * im2col: `pixels` pixels from the coordinates on, W first, then H, D and N, each between the corners; to what is
 * taken of each the offsets are added.
 *
 * All of it as an H100 does it (docs/measurements/tensor.csv), what it refuses included: coordinates that are no
 * multiple of 16 bytes; stores with negative ones, or with corners outside the tensor. */
#include "ptx/run/tensor.h"

#include <string.h>

const char *ptx_tensor_plan(PtxTensorCopy *copy, gboolean loads)
{
    const PtxTensorMap *map = &copy->map;
    guint n = map->rank, bytes = ptx_tensor_element_bytes(map->type);
    gboolean tiled = map->mode == PTX_TENSOR_TILED;
    if (!tiled && map->interleave)
        return "im2col of interleaved layouts is not simulated";
    for (guint i = 0; i + 2 < n && !tiled && !loads; i++)
        if (map->lower[i] < 0 || map->upper[i] > 0)
            return "a store by an im2col tensor map has its corners inside the tensor";
    for (guint i = 0; i < n && !loads; i++)
        if (copy->at[i] < 0)
            return "a store by a tensor map has no negative coordinates";
    copy->unit = map->interleave ? 16 * map->interleave : bytes;
    if (!map->interleave && copy->at[0] * (gint64)bytes % PTX_TENSOR_PIECE)
        return "the first coordinate of a copy by a tensor map is a multiple of 16 bytes";
    for (guint i = 0; i < n; i++) {
        guint step = i == 0 && !map->interleave ? 1 : map->element[i];
        copy->count[i] = tiled ? (map->box[i] + step - 1) / step : 1;
    }
    if (map->interleave)
        copy->count[n - 2] = 1;
    if (!tiled) {
        copy->count[0] = map->channels;
        copy->count[1] = map->pixels;
    }
    copy->row_bytes = copy->count[0] * copy->unit;
    copy->pitch = map->swizzle && !map->interleave ? 16u << map->swizzle : copy->row_bytes;
    copy->rows = 1;
    for (guint i = 1; i < n; i++)
        copy->rows *= copy->count[i];
    return NULL;
}

guint64 ptx_tensor_bytes(const PtxTensorCopy *copy) { return copy->rows * copy->row_bytes; }
guint64 ptx_tensor_span(const PtxTensorCopy *copy) { return copy->rows * copy->pitch; }

/* Bits of an address that a swizzle adds to those of a piece. */
static guint32 swizzled(const PtxTensorCopy *copy, guint32 at)
{
    guint32 swizzle = copy->map.swizzle;
    return at ^ ((at >> 7 & ((1u << swizzle) - 1)) << 4);
}

/* The row that begins `offset` bytes behind the copy's begin; `place`: the other coordinates. */
static void walk_row(const PtxTensorCopy *copy, guint64 offset, const gint64 place[PTX_TENSOR_DIMS],
                     PtxTensorVisit visit, void *user)
{
    const PtxTensorMap *map = &copy->map;
    guint64 va = map->address;
    gboolean inside = TRUE;
    for (guint i = 1; i < map->rank; i++) {
        inside &= place[i] >= 0 && (guint64)place[i] < map->dim[i];
        va += (guint64)place[i] * map->stride[i - 1];
    }
    for (guint32 done = 0; done < copy->row_bytes; done += PTX_TENSOR_PIECE) {
        guint32 step = map->interleave ? map->element[0] : 1;
        gint64 x = copy->at[0] + (gint64)(done / copy->unit) * step; /* the first element of the piece */
        gint64 left = ((gint64)map->dim[0] - x) * copy->unit - done % copy->unit;
        PtxTensorPiece piece = {.at = swizzled(copy, copy->base + (guint32)offset + done),
                                .va = va + (guint64)x * copy->unit + done % copy->unit};
        if (inside && x >= 0 && left > 0)
            piece.valid = (guint)MIN(left, (gint64)PTX_TENSOR_PIECE);
        visit(user, &piece);
    }
}

static void walk_tiles(const PtxTensorCopy *copy, PtxTensorVisit visit, void *user)
{
    const PtxTensorMap *map = &copy->map;
    guint32 step[PTX_TENSOR_DIMS] = {0};
    gint64 place[PTX_TENSOR_DIMS];
    for (guint64 row = 0; row < copy->rows; row++) {
        for (guint i = 1; i < map->rank; i++)
            place[i] = copy->at[i] + (gint64)step[i] * map->element[i];
        walk_row(copy, row * copy->pitch, place, visit, user);
        for (guint i = 1; i < map->rank && ++step[i] == copy->count[i]; i++)
            step[i] = 0;
    }
}

static void walk_pixels(const PtxTensorCopy *copy, PtxTensorVisit visit, void *user)
{
    const PtxTensorMap *map = &copy->map;
    guint last = map->rank - 1;
    gint64 pixel[PTX_TENSOR_DIMS], place[PTX_TENSOR_DIMS];
    for (guint i = 1; i <= last; i++)
        pixel[i] = copy->at[i];
    for (guint64 row = 0; row < copy->rows; row++) {
        for (guint i = 1; i <= last; i++)
            place[i] = pixel[i] + (i < last ? (gint64)copy->shift[i - 1] : 0);
        walk_row(copy, row * copy->pitch, place, visit, user);
        guint i = 1;
        for (; i < last; i++) {
            pixel[i] += map->element[i];
            if (pixel[i] <= (gint64)map->dim[i] - 1 + map->upper[i - 1])
                break;
            pixel[i] = map->lower[i - 1];
        }
        if (i == last)
            pixel[last] += map->element[last];
    }
}

void ptx_tensor_walk(const PtxTensorCopy *copy, PtxTensorVisit visit, void *user)
{
    if (copy->map.mode == PTX_TENSOR_TILED)
        walk_tiles(copy, visit, user);
    else
        walk_pixels(copy, visit, user);
}

/* ---- elements */

#define TYPE_TF32 11u /* and 12 with .ftz, of which a copy makes nothing more */
#define FILL_NAN 0x7ff7u

/* To the nearest number with 10 bits of mantissa, ties to even; a NaN becomes one and the same. */
static guint32 to_tf32(guint32 bits)
{
    if ((bits & 0x7f800000u) == 0x7f800000u)
        return bits & 0x7fffffu ? 0x7fffe000u : bits;
    return (bits + 0xfffu + (bits >> 13 & 1)) & ~0x1fffu;
}

void ptx_tensor_piece(const PtxTensorCopy *copy, guint valid, const guint8 *from, guint8 to[PTX_TENSOR_PIECE])
{
    const guint16 fill = copy->map.fill ? FILL_NAN : 0;
    for (guint i = 0; i < PTX_TENSOR_PIECE; i += 2)
        memcpy(to + i, &fill, 2);
    memcpy(to, from, valid);
    if (copy->map.type < TYPE_TF32)
        return;
    for (guint i = 0; i < valid; i += 4) {
        guint32 bits;
        memcpy(&bits, to + i, 4);
        bits = to_tf32(bits);
        memcpy(to + i, &bits, 4);
    }
}
