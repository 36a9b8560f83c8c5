/* A drawn matrix product: a form of mma or wgmma, where its matrices lie, its numbers, the text of a kernel that
 * computes it and what that must give. Fragments and descriptors are taken from PTX ISA, sections "Matrix Fragments
 * for mma" and "Asynchronous Warpgroup Level Matrix Shared Memory Layout", element by element: where the executor asks
 * what a register holds, this asks where an element goes. */
#ifndef TESTS_PTX_DRAWN_MATRIX_H
#define TESTS_PTX_DRAWN_MATRIX_H

#include <glib.h>

typedef struct {
    char *name; /* the instruction */
    char *text; /* a module with the entry k(.param .u64 in, .param .u64 out) */
    guint threads;
    guint8 *in;
    gsize in_bytes;
    guint register_bytes, registers; /* of D; register r of thread t is number r * threads + t of the output */
    guint64 *right;                  /* by that number */
} DrawnMatrix;

DrawnMatrix *drawn_matrix_new(guint64 seed);
void drawn_matrix_free(DrawnMatrix *drawn);

#endif
