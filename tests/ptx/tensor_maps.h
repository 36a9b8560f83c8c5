/* A drawn copy as the tensor map that the executor takes. Apart from tensor_cases.h, which is standard C alone. */
#ifndef TESTS_PTX_TENSOR_MAPS_H
#define TESTS_PTX_TENSOR_MAPS_H

#include <string.h>

#include "ptx/tensor_map.h"
#include "tests/ptx/tensor_cases.h"

/* base: of the memory in which the tensor lies. */
static inline PtxTensorMap tensor_map_of(const TensorCase *x, guint64 base)
{
    PtxTensorMap map = {.address = base + x->offset,
                        .mode = x->im2col ? PTX_TENSOR_IM2COL : PTX_TENSOR_TILED,
                        .type = x->type,
                        .rank = x->rank,
                        .interleave = x->interleave,
                        .swizzle = x->swizzle,
                        .fill = x->fill,
                        .channels = x->channels,
                        .pixels = x->pixels};
    memcpy(map.dim, x->dim, sizeof map.dim);
    memcpy(map.stride, x->stride, sizeof map.stride);
    memcpy(map.box, x->box, sizeof map.box);
    memcpy(map.element, x->element, sizeof map.element);
    memcpy(map.lower, x->lower, sizeof map.lower);
    memcpy(map.upper, x->upper, sizeof map.upper);
    return map;
}

#endif
