/* One element of a matrix product, computed by itself: the reference of drawn products. It shares no code with
 * ptx/run: sums of floating-point numbers are made of doubles, which hold each cut-off term exactly, where the
 * executor shifts integers. Standard C alone. */
#ifndef TESTS_PTX_SCALAR_MATRIX_H
#define TESTS_PTX_SCALAR_MATRIX_H

#include <stdint.h>

typedef enum {
    SCALAR_F16,
    SCALAR_BF16,
    SCALAR_TF32,
    SCALAR_F32,
    SCALAR_F64,
    SCALAR_E4M3,
    SCALAR_E5M2,
    SCALAR_S8,
    SCALAR_U8,
    SCALAR_S4,
    SCALAR_U4,
    SCALAR_B1,
    SCALAR_S32,
    SCALAR_TYPES
} ScalarType;

typedef enum { SCALAR_MMA, SCALAR_VOLTA, SCALAR_WGMMA } ScalarWay;

typedef struct {
    ScalarWay way;
    ScalarType a, b, c, d;
    unsigned k;
    int negate_a, negate_b; /* floating point */
    int saturate;           /* integers */
    int is_xor;             /* single bits */
    int rounding;           /* f64: one of fenv.h's */
} ScalarRule;

extern const char *const scalar_names[SCALAR_TYPES];
extern const unsigned scalar_bits[SCALAR_TYPES]; /* of an element */

/* The bits of D's element of those of A's row, B's column and C's element. */
uint64_t scalar_dot(const ScalarRule *rule, const uint64_t *a, const uint64_t *b, uint64_t c);

#endif
