/* Arithmetic of reductions: what an L2 does for red and atom, what the switch does for
 * multimem.ld_reduce, and what a host check computes. Plain integer and float C, the same on every
 * host: no _Float16, no -ffast-math, round to nearest even throughout.
 *
 * Rules (PTX ISA 9.0, "Floating Point Instructions" and "multimem.ld_reduce"):
 * - add, min, max on every type; and, or, xor on the integer types only.
 * - Native precision rounds to the element type after every addition, so the order of operands
 *   shows in the result; a wider accumulator rounds once, at numeric_finish.
 * - NaN results are the canonical quiet NaN of their type. min and max drop a NaN when the other
 *   operand is a number and take -0 as less than +0.
 * - e4m3 has no infinity: too large (and infinite) values become +-448. e5m2 keeps IEEE infinities.
 * Left out: the flush of subnormals that some GPUs apply to red.f32 (PTX leaves it to the target).
 *
 * The order of operands is the caller's: accumulate them as they come, or in rank order. */
#ifndef MODEL_MEMORY_NUMERIC_H
#define MODEL_MEMORY_NUMERIC_H

#include <glib.h>

typedef enum {
    NUMERIC_U32,
    NUMERIC_U64,
    NUMERIC_S32,
    NUMERIC_S64,
    NUMERIC_B32,
    NUMERIC_B64,
    NUMERIC_F16,
    NUMERIC_F16X2,
    NUMERIC_BF16,
    NUMERIC_BF16X2,
    NUMERIC_F32,
    NUMERIC_F64,
    NUMERIC_E4M3,
    NUMERIC_E4M3X2,
    NUMERIC_E4M3X4,
    NUMERIC_E5M2,
    NUMERIC_E5M2X2,
    NUMERIC_E5M2X4,
    NUMERIC_TYPES
} NumericType;

typedef enum {
    NUMERIC_ADD,
    NUMERIC_MIN,
    NUMERIC_MAX,
    NUMERIC_AND,
    NUMERIC_OR,
    NUMERIC_XOR,
    NUMERIC_OPS,              /* those that memory and switches have, as PTX does */
    NUMERIC_MUL = NUMERIC_OPS /* of registers alone, on every type but bits */
} NumericOp;

/* What a partial sum is kept in. A precision narrower than, or foreign to, the type means NATIVE:
 * F16 acts on fp8; F32 on fp8, f16 and bf16; F64 on f32 (users report that GB200's f32 sums look
 * wider than f32). Integers always wrap in their own width. */
typedef enum { NUMERIC_NATIVE, NUMERIC_ACC_F16, NUMERIC_ACC_F32, NUMERIC_ACC_F64 } NumericPrecision;

/* One reduction under way, on up to a line of 256 bytes. All zero (or numeric_clear) is an empty
 * one; `precision` may be set before the first operand. */
#define NUMERIC_BYTES_MAX 256
typedef struct {
    NumericPrecision precision;
    guint32 operands; /* accumulated so far */
    union {
        float f[NUMERIC_BYTES_MAX];      /* fp8: one for each byte */
        double d[NUMERIC_BYTES_MAX / 4]; /* f64, and f32 kept wider */
        guint32 u32[NUMERIC_BYTES_MAX / 4];
        guint64 u64[NUMERIC_BYTES_MAX / 8];
    } part;
} NumericAcc;

static inline void numeric_clear(NumericAcc *acc, NumericPrecision precision)
{
    acc->precision = precision;
    acc->operands = 0;
}

/* acc = acc op operand; the first operand is just taken. n_bytes: a whole number of elements, at
 * most NUMERIC_BYTES_MAX, the same at each call, as are type and op. op must suit type. */
void numeric_accumulate(NumericAcc *acc, NumericType type, NumericOp op, const void *operand, gsize n_bytes);
/* Rounds to the element type into result; at least one operand must have come. acc is unchanged. */
void numeric_finish(const NumericAcc *acc, NumericType type, void *result, gsize n_bytes);
/* dst = dst op operand in native precision, as red and atom do in memory; any number of bytes. */
void numeric_apply(NumericType type, NumericOp op, void *dst, const void *operand, gsize n_bytes);

gboolean numeric_allows(NumericType type, NumericOp op);
guint numeric_type_bytes(NumericType type);    /* f16x2: 4 */
guint numeric_element_bytes(NumericType type); /* f16x2: 2 */
gboolean numeric_is_float(NumericType type);
const char *numeric_type_name(NumericType type); /* "f16x2" */
const char *numeric_op_name(NumericOp op);
/* By PTX name, or by NCCL's and nccl-tests' ("half", "float", "bfloat16", "double", "int32",
 * "uint64", "fp8_e4m3", "sum"). FALSE: unknown. */
gboolean numeric_type_parse(const char *name, NumericType *type);
gboolean numeric_op_parse(const char *name, NumericOp *op);

/* Conversions, round to nearest even. */
float numeric_from_f16(guint16 bits);
float numeric_from_bf16(guint16 bits);
float numeric_from_e4m3(guint8 bits);
float numeric_from_e5m2(guint8 bits);
guint16 numeric_to_f16(float value);
guint16 numeric_to_bf16(float value);
guint8 numeric_to_e4m3(float value);
guint8 numeric_to_e5m2(float value);

/* One element as a double and back: for filling buffers and for checks. Integers of more than 53
 * bits lose low bits; a value out of an integer type's range is clamped. */
double numeric_get(NumericType type, const void *element);
void numeric_set(NumericType type, void *element, double value);

#endif
