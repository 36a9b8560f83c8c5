/* Conversions between f32 and f16, bf16, e4m3, e5m2 by integer arithmetic on the bits, without
 * branches on the data, so that loops over them become vectors.
 *
 * Widening moves the fields into f32's places and scales by a power of two: exact, and it turns
 * subnormals into f32 normals by itself. Narrowing rounds to nearest even by adding half a unit
 * (less one when the kept part is even); results that are subnormal are rounded by adding a
 * float whose unit in the last place is the subnormal step. */
#include "model/memory/numeric_convert.h"

#include <string.h>

#include "model/memory/numeric.h"

static inline float as_float(guint32 bits)
{
    float f;
    memcpy(&f, &bits, 4);
    return f;
}
static inline guint32 as_bits(float f)
{
    guint32 bits;
    memcpy(&bits, &f, 4);
    return bits;
}

#define F32_INF 0x7f800000u

/* yes where a > b, else no; by masks and signed compares, which every vector unit has. */
static inline guint32 pick_above(guint32 a, guint32 b, guint32 yes, guint32 no)
{
    guint32 mask = -(guint32)((gint32)a > (gint32)b);
    return (yes & mask) | (no & ~mask);
}

static inline float f16_widen(guint16 h)
{
    guint32 magnitude = (guint32)(h & 0x7fff) << 13;
    guint32 bits = as_bits(as_float(magnitude) * 0x1p112f);
    bits |= pick_above(magnitude, (0x7c00u << 13) - 1, F32_INF, 0); /* infinity and NaN */
    return as_float(bits | (guint32)(h & 0x8000) << 16);
}

/* The common part: sign apart, `mantissa` kept bits, exponent bias `bias`; every magnitude above
 * `top` becomes `top`, NaN becomes `nan`. */
static inline guint32 narrow_bits(float value, guint mantissa, guint bias, guint32 top, guint32 nan)
{
    guint32 magnitude = as_bits(value) & 0x7fffffff;
    guint drop = 23 - mantissa;
    guint32 normal = magnitude - ((127 - bias) << 23);
    normal = (normal + (1u << (drop - 1)) - 1 + (normal >> drop & 1)) >> drop;
    guint32 magic = (127 - bias + drop + 1) << 23;
    guint32 tiny = as_bits(as_float(magnitude) + as_float(magic)) - magic;
    guint32 bits = pick_above((127 - bias + 1) << 23, magnitude, tiny, normal);
    bits = pick_above(bits, top, top, bits);
    return pick_above(magnitude, F32_INF, nan, bits);
}

static inline guint16 f16_narrow(float value)
{
    guint32 sign = as_bits(value) >> 16 & 0x8000;
    guint32 bits = narrow_bits(value, 10, 15, 0x7c00, 0x7fff);
    sign &= ~pick_above(bits, 0x7ffe, 0xffffffff, 0); /* a canonical NaN has none */
    return (guint16)(bits | sign);
}

static inline guint16 bf16_narrow(float value)
{
    guint32 bits = as_bits(value);
    guint32 near = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (guint16)pick_above(bits & 0x7fffffff, F32_INF, 0x7fff, near);
}

float numeric_from_f16(guint16 bits) { return f16_widen(bits); }
float numeric_from_bf16(guint16 bits) { return as_float((guint32)bits << 16); }
guint16 numeric_to_f16(float value) { return f16_narrow(value); }
guint16 numeric_to_bf16(float value) { return bf16_narrow(value); }

static inline float e4m3_widen(guint8 bits)
{
    guint32 magnitude = (guint32)(bits & 0x7f) << 20;
    guint32 wide = as_bits(as_float(magnitude) * 0x1p120f);
    wide |= pick_above(bits & 0x7f, 0x7e, 0x7fffffff, 0);
    return as_float(wide | (guint32)(bits & 0x80) << 24);
}
static inline float e5m2_widen(guint8 bits) { return f16_widen((guint16)(bits << 8)); }

static inline guint8 e4m3_narrow(float value)
{
    guint32 sign = as_bits(value) >> 24 & 0x80, bits = narrow_bits(value, 3, 7, 0x7e, 0x7f);
    return (guint8)(bits | (sign & pick_above(0x7f, bits, 0xff, 0)));
}
static inline guint8 e5m2_narrow(float value)
{
    guint32 sign = as_bits(value) >> 24 & 0x80, bits = narrow_bits(value, 2, 15, 0x7c, 0x7f);
    return (guint8)(bits | (sign & pick_above(0x7f, bits, 0xff, 0)));
}

float numeric_from_e4m3(guint8 bits) { return e4m3_widen(bits); }
float numeric_from_e5m2(guint8 bits) { return e5m2_widen(bits); }
guint8 numeric_to_e4m3(float value) { return e4m3_narrow(value); }
guint8 numeric_to_e5m2(float value) { return e5m2_narrow(value); }

/* Arrays: whole pieces of constant length first, which the compiler unrolls into vectors. */
#define PIECE 8
#define CONVERT_FROM(NAME, BITS, WIDEN)                                                                                \
    void NAME(float *to, const void *from, gsize n)                                                                    \
    {                                                                                                                  \
        BITS h[PIECE];                                                                                                 \
        gsize i = 0;                                                                                                   \
        for (; i + PIECE <= n; i += PIECE) {                                                                           \
            memcpy(h, (const BITS *)from + i, sizeof h);                                                               \
            for (guint k = 0; k < PIECE; k++)                                                                          \
                to[i + k] = WIDEN(h[k]);                                                                               \
        }                                                                                                              \
        for (; i < n; i++) {                                                                                           \
            memcpy(h, (const BITS *)from + i, sizeof h[0]);                                                            \
            to[i] = WIDEN(h[0]);                                                                                       \
        }                                                                                                              \
    }
#define CONVERT_TO(NAME, BITS, NARROW)                                                                                 \
    void NAME(void *to, const float *from, gsize n)                                                                    \
    {                                                                                                                  \
        BITS h[PIECE];                                                                                                 \
        gsize i = 0;                                                                                                   \
        for (; i + PIECE <= n; i += PIECE) {                                                                           \
            for (guint k = 0; k < PIECE; k++)                                                                          \
                h[k] = NARROW(from[i + k]);                                                                            \
            memcpy((BITS *)to + i, h, sizeof h);                                                                       \
        }                                                                                                              \
        for (; i < n; i++) {                                                                                           \
            h[0] = NARROW(from[i]);                                                                                    \
            memcpy((BITS *)to + i, h, sizeof h[0]);                                                                    \
        }                                                                                                              \
    }
static inline float bf16_widen(guint16 h) { return as_float((guint32)h << 16); }
CONVERT_FROM(convert_from_f16, guint16, f16_widen)
CONVERT_FROM(convert_from_bf16, guint16, bf16_widen)
CONVERT_FROM(convert_from_e4m3, guint8, e4m3_widen)
CONVERT_FROM(convert_from_e5m2, guint8, e5m2_widen)
CONVERT_TO(convert_to_f16, guint16, f16_narrow)
CONVERT_TO(convert_to_bf16, guint16, bf16_narrow)
CONVERT_TO(convert_to_e4m3, guint8, e4m3_narrow)
CONVERT_TO(convert_to_e5m2, guint8, e5m2_narrow)

void convert_canonical_f32(void *to, const float *from, gsize n)
{
    for (gsize i = 0; i < n; i++) {
        guint32 bits = as_bits(from[i]);
        bits = (bits & 0x7fffffff) > F32_INF ? 0x7fffffff : bits;
        memcpy((char *)to + i * 4, &bits, 4);
    }
}

void convert_canonical_f64(void *to, const double *from, gsize n)
{
    for (gsize i = 0; i < n; i++) {
        guint64 bits;
        memcpy(&bits, &from[i], 8);
        bits = (bits & G_MAXINT64) > G_GUINT64_CONSTANT(0x7ff0000000000000) ? G_GUINT64_CONSTANT(0x7ff8000000000000)
                                                                            : bits;
        memcpy((char *)to + i * 8, &bits, 8);
    }
}
