/* Kernels of one matrix instruction each, and the numbers that they are given: what was measured on an H100
 * (docs/measurements/matrix.c) and what Fanout computes (test_ptx_matrix.c) come from the same texts and the same
 * numbers. Standard C alone, so that the measuring program needs nothing but a driver. */
#ifndef TESTS_PTX_MATRIX_KERNELS_H
#define TESTS_PTX_MATRIX_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* How numbers are drawn. */
enum {
    STYLE_NARROW,  /* magnitudes near one another */
    STYLE_WIDE,    /* exponents far apart */
    STYLE_TINY,    /* subnormals, and what becomes one */
    STYLE_SPECIAL, /* infinities, NaN, zeros among others */
    STYLE_CANCEL,  /* few bits, so that sums cancel and their last places show */
    STYLE_HUGE,    /* near the largest */
    STYLES
};

typedef enum { MATRIX_MMA, MATRIX_WGMMA, MATRIX_LOAD, MATRIX_STORE, MATRIX_MOVE } MatrixKind;
typedef struct {
    char name[96]; /* of the instruction, with what tells its kernel from others of that name behind a blank */
    MatrixKind kind;
    unsigned threads;
    unsigned d, a, b, c;                     /* registers of a lane; wgmma: c is d */
    unsigned bytes;                          /* of a register */
    unsigned type_d, type_a, type_b, type_c; /* enum of matrix_kernels.c */
    unsigned n;                              /* wgmma: columns */
    int trans_a, trans_b, negate_a, negate_b, a_in_registers;
    unsigned layout; /* wgmma: 0 no swizzle, 1: 128 B, 2: 64 B, 3: 32 B */
} MatrixKernel;

#define MATRIX_SHARED 49152u /* bytes of shared memory of a wgmma or ldmatrix kernel */

size_t matrix_kernels(const MatrixKernel **list);
/* The text of a kernel, without the module's head; malloc'd. `entry` is its name. */
char *matrix_kernel_text(const MatrixKernel *kernel, const char *entry);
extern const char matrix_head[];
/* Bytes that one vector has of input and of output. */
size_t matrix_in_bytes(const MatrixKernel *kernel);
size_t matrix_out_bytes(const MatrixKernel *kernel);
void matrix_fill(const MatrixKernel *kernel, unsigned style, unsigned vector, void *in);
extern const char *const matrix_styles[STYLES];
uint64_t matrix_hash(const void *bytes, size_t n, uint64_t hash); /* FNV-1a; the first hash is MATRIX_HASH */
#define MATRIX_HASH 14695981039346656037u

#endif
