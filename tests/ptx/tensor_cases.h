/* Copies by tensor maps, drawn from a seed, and the kernels that make them: what was measured on an H100
 * (docs/measurements/tensor.c) and what Fanout computes (test_ptx_tensor.c) come from the same draws and the same
 * texts. Standard C alone, so that the measuring program needs nothing but a driver. */
#ifndef TESTS_PTX_TENSOR_CASES_H
#define TESTS_PTX_TENSOR_CASES_H

#include <stddef.h>
#include <stdint.h>

/* What is done with a map. The last are one kernel an operation. */
typedef enum { TENSOR_LOAD, TENSOR_MULTICAST, TENSOR_STORE, TENSOR_REDUCE } TensorWork;

typedef struct {
    TensorWork work;
    int im2col;    /* else tiled */
    unsigned type; /* CUtensorMapDataType, and so on below */
    unsigned rank, interleave, swizzle, fill;
    uint64_t offset; /* of the tensor in TENSOR_MEMORY */
    uint64_t dim[5], stride[4];
    uint32_t box[5], element[5];
    int32_t lower[3], upper[3];
    uint32_t channels, pixels;
    int32_t at[5];     /* coordinates */
    uint32_t shift[3]; /* im2col's offsets */
    uint32_t shared;   /* where in shared memory */
    uint32_t bytes;    /* that the copy has there */
    unsigned op;       /* of tensor_ops */
    unsigned random;   /* bytes in memory are drawn; else each word is its own offset */
} TensorCase;

#define TENSOR_MEMORY (256u << 10) /* bytes of global memory that a case has */
#define TENSOR_SHARED 32768u       /* and of shared memory, which a load gives back */
#define TENSOR_CASES 1200u
#define TENSOR_MAPS 1200u /* tensor_map_draw(): parameters of maps, many of them wrong */

void tensor_case_draw(unsigned index, TensorCase *x);
void tensor_map_draw(unsigned index, TensorCase *x); /* offset: of the address; is not in memory */
void tensor_memory_fill(const TensorCase *x, uint8_t *memory);
void tensor_shared_fill(const TensorCase *x, uint8_t *shared); /* of a store */
unsigned tensor_type_bytes(unsigned type);
extern const char *const tensor_ops[];

/* The texts of all kernels, malloc'd; and the name of the one that a case takes. */
char *tensor_text(void);
void tensor_kernel_name(const TensorCase *x, char *name, size_t room);
/* A kernel's parameters: the map, and these. */
typedef struct {
    int32_t at[5];
    uint32_t shift[3];
    uint32_t shared, bytes;
    uint64_t out, in;
    uint32_t mask, pad;
} TensorParam;
uint64_t tensor_hash(const void *bytes, size_t n);

#endif
