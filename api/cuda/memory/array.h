/* Arrays, as copies see them. */
#ifndef API_CUDA_MEMORY_ARRAY_H
#define API_CUDA_MEMORY_ARRAY_H

#include "api/cuda/memory/mem.h"

typedef struct {
    guint64 handle;
    guint64 context; /* id */
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    guint64 va; /* of its memory: slices of rows, without gaps */
    guint64 row_bytes, rows, slices;
} Array;

Array *array_get(Call *call, CUarray handle);          /* NULL after a diagnostic */
void array_context_gone(Call *call, Context *context); /* their memory goes with the context's */

#endif
