/* What an operation gives for one lane: the plain statement of PTX's arithmetic, slow and in one place. hot.c has
 * faster ways to the same bits for what loops are made of.
 *
 * Rounding: a result is worked out in double precision and rounded to odd, that is, its last bit says when something
 * was cut off. With 53 bits for at most 24 wanted (2 * 24 + 2 are needed) one rounding to the format then gives what
 * a single rounding of the exact result gives, in every mode: Boldo and Melquiond, "Emulation of a FMA and correctly
 * rounded sums: proved algorithms using rounding to odd". Directed roundings of f64 use the machine's. */
#ifndef PTX_RUN_SCALAR_H
#define PTX_RUN_SCALAR_H

#include "ptx/translate/code.h"

typedef struct {
    guint8 mantissa;   /* explicit bits */
    gint16 emin, emax; /* of normal numbers */
    guint8 bits;
    guint8 special; /* 0: infinities and NaN as in IEEE 754; 1: no infinity, one NaN (e4m3); 2: neither */
} PtxFormat;
extern const PtxFormat ptx_format_f32, ptx_format_f16, ptx_format_bf16, ptx_format_tf32, ptx_format_e4m3,
    ptx_format_e5m2, ptx_format_e2m3, ptx_format_e3m2, ptx_format_e2m1;

/* Rounds to a format; mode: W_RN, W_RZ, W_RM, W_RP, W_RNA; satfinite: too large becomes the largest. NaN: canonical. */
guint64 ptx_format_round(const PtxFormat *format, double value, PtxWord mode, gboolean satfinite);
double ptx_format_value(const PtxFormat *format, guint64 bits);

/* Rounded to odd. */
double ptx_odd_add(double a, double b);
double ptx_odd_fma(double a, double b, double c); /* a * b exact in double */
double ptx_odd_div(double a, double b);
double ptx_odd_sqrt(double a);
double ptx_odd_integer(guint64 magnitude);

/* f64 in a direction. */
typedef enum {
    DIRECTED_ADD,
    DIRECTED_MUL,
    DIRECTED_FMA,
    DIRECTED_DIV,
    DIRECTED_SQRT,
    DIRECTED_FROM_S64,
    DIRECTED_FROM_U64
} PtxDirected;
double ptx_directed(PtxDirected op, double a, double b, double c, guint64 integer, PtxWord mode);

static inline double ptx_double(guint64 bits)
{
    double v;
    __builtin_memcpy(&v, &bits, 8);
    return v;
}
static inline guint64 ptx_double_bits(double v)
{
    guint64 bits;
    __builtin_memcpy(&bits, &v, 8);
    return bits;
}
static inline float ptx_float(guint64 bits)
{
    guint32 low = (guint32)bits;
    float v;
    __builtin_memcpy(&v, &low, 4);
    return v;
}
static inline guint32 ptx_float_bits(float v)
{
    guint32 bits;
    __builtin_memcpy(&bits, &v, 4);
    return bits;
}

#define PTX_NAN_F32 0x7fffffffu
#define PTX_NAN_F16 0x7fffu

static inline gboolean ptx_f32_is_nan(guint64 bits) { return (bits & 0x7fffffffu) > 0x7f800000u; }
static inline guint64 ptx_f32_flush(guint64 bits) { return bits & 0x7f800000u ? bits : bits & 0x80000000u; }

/* scalar_*.c, by kind of type; ptx_scalar_find chooses. */
guint64 ptx_float_op(const PtxIns *ins, guint64 *in);
guint64 ptx_half_op(const PtxIns *ins, guint64 *in); /* f16, bf16 and pairs of them */
guint64 ptx_double_op(const PtxIns *ins, guint64 *in);
guint64 ptx_integer_op(const PtxIns *ins, guint64 *in);
guint64 ptx_bits_op(const PtxIns *ins, guint64 *in, const PtxCta *cta);
guint64 ptx_convert_op(const PtxIns *ins, guint64 *in);
guint64 ptx_compare_op(const PtxIns *ins, guint64 *in);
guint64 ptx_video_op(const PtxIns *ins, guint64 *in);

#endif
