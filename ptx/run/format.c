/* Number formats and roundings: see scalar.h. */
#include <fenv.h>
#include <math.h>

#include "ptx/run/scalar.h"

const PtxFormat ptx_format_f32 = {23, -126, 127, 32, 0};
const PtxFormat ptx_format_f16 = {10, -14, 15, 16, 0};
const PtxFormat ptx_format_bf16 = {7, -126, 127, 16, 0};
const PtxFormat ptx_format_tf32 = {10, -126, 127, 19, 0};
const PtxFormat ptx_format_e4m3 = {3, -6, 8, 8, 1};
const PtxFormat ptx_format_e5m2 = {2, -14, 15, 8, 0};
const PtxFormat ptx_format_e2m3 = {3, 0, 2, 6, 2};
const PtxFormat ptx_format_e3m2 = {2, -2, 4, 6, 2};
const PtxFormat ptx_format_e2m1 = {1, 0, 2, 4, 2};

static guint64 format_largest(const PtxFormat *f)
{
    guint64 exponent = (guint64)(f->emax - f->emin + 1) << f->mantissa, ones = ((guint64)1 << f->mantissa) - 1;
    return f->special == 1 ? exponent | (ones - 1) : exponent | ones;
}

static guint64 format_infinity(const PtxFormat *f)
{
    return f->special == 0 ? (guint64)(f->emax - f->emin + 2) << f->mantissa : format_largest(f);
}

static guint64 format_nan(const PtxFormat *f)
{
    guint64 positive = ((guint64)1 << (f->bits - 1)) - 1;
    return f->special == 2 ? format_largest(f) : positive;
}

static gboolean rounds_up(PtxWord mode, gboolean negative, double rest, gboolean odd)
{
    switch (mode) {
    case W_RZ: return FALSE;
    case W_RM: return negative && rest > 0;
    case W_RP: return !negative && rest > 0;
    case W_RNA: return rest >= 0.5;
    default: return rest > 0.5 || (rest == 0.5 && odd);
    }
}

guint64 ptx_format_round(const PtxFormat *f, double value, PtxWord mode, gboolean satfinite)
{
    if (isnan(value))
        return format_nan(f);
    gboolean negative = signbit(value);
    guint64 sign = negative ? (guint64)1 << (f->bits - 1) : 0;
    if (isinf(value))
        return sign | (satfinite ? format_largest(f) : format_infinity(f));
    if (value == 0)
        return sign;
    int e = MAX(ilogb(value), f->emin);
    double scaled = ldexp(fabs(value), f->mantissa - e), whole = floor(scaled);
    guint64 n = (guint64)whole;
    n += rounds_up(mode, negative, scaled - whole, n & 1);
    guint64 bits = n >> f->mantissa ? n + ((guint64)(e - f->emin) << f->mantissa) : n;
    if (bits > format_largest(f)) {
        gboolean stays = satfinite || mode == W_RZ || (mode == W_RM && !negative) || (mode == W_RP && negative);
        bits = stays ? format_largest(f) : format_infinity(f);
    }
    return sign | bits;
}

double ptx_format_value(const PtxFormat *f, guint64 bits)
{
    guint64 magnitude = bits & (((guint64)1 << (f->bits - 1)) - 1), field = magnitude >> f->mantissa;
    guint64 ones = ((guint64)1 << f->mantissa) - 1, fraction = magnitude & ones;
    double value;
    if (f->special == 0 && (gint64)field == f->emax - f->emin + 2)
        value = fraction ? NAN : INFINITY;
    else if (f->special == 1 && magnitude == format_nan(f))
        value = NAN;
    else if (field == 0)
        value = ldexp((double)fraction, f->emin - f->mantissa);
    else
        value = ldexp((double)(fraction + ones + 1), (int)field - 1 + f->emin - f->mantissa);
    return bits >> (f->bits - 1) & 1 ? -value : value;
}

/* Of the two neighbours of what is not representable, the one with an odd last bit. */
static double to_odd(double nearest, double rest)
{
    guint64 bits = ptx_double_bits(nearest);
    if (rest == 0 || isnan(rest) || (bits & 1) || isinf(nearest))
        return nearest;
    gboolean away = (rest > 0) == (nearest > 0);
    if (nearest == 0)
        return rest;
    return ptx_double(away ? bits + 1 : bits - 1);
}

double ptx_odd_add(double a, double b)
{
    volatile double sum = a + b;
    if (!isfinite(sum))
        return sum;
    volatile double back = sum - a, rest = (a - (sum - back)) + (b - back);
    return to_odd(sum, rest);
}

double ptx_odd_fma(double a, double b, double c) { return ptx_odd_add(a * b, c); }

double ptx_odd_div(double a, double b)
{
    double q = a / b;
    if (!isfinite(q) || isinf(b) || q == 0)
        return q;
    double rest = fma(-q, b, a);
    return to_odd(q, signbit(b) ? -rest : rest);
}

double ptx_odd_sqrt(double a)
{
    double root = sqrt(a);
    if (!isfinite(root) || root == 0)
        return root;
    return to_odd(root, fma(-root, root, a));
}

double ptx_odd_integer(guint64 magnitude)
{
    guint shift = magnitude >> 53 ? 11u - (guint)__builtin_clzll(magnitude) : 0;
    if (!shift)
        return (double)magnitude;
    guint64 cut = magnitude & (((guint64)1 << shift) - 1);
    return ldexp((double)(magnitude >> shift | (cut != 0)), (int)shift);
}

double ptx_directed(PtxDirected op, double a, double b, double c, guint64 integer, PtxWord mode)
{
    static const struct {
        guint8 word;
        int round;
    } rows[] = {{W_RZ, FE_TOWARDZERO},  {W_RM, FE_DOWNWARD},  {W_RP, FE_UPWARD},
                {W_RZI, FE_TOWARDZERO}, {W_RMI, FE_DOWNWARD}, {W_RPI, FE_UPWARD}};
    int round = FE_TONEAREST, before = fegetround();
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        if (rows[i].word == mode)
            round = rows[i].round;
    volatile double x = a, y = b, z = c, result;
    volatile guint64 u = integer;
    volatile gint64 s = (gint64)integer;
    fesetround(round);
    switch (op) {
    case DIRECTED_ADD: result = x + y; break;
    case DIRECTED_MUL: result = x * y; break;
    case DIRECTED_FMA: result = fma(x, y, z); break;
    case DIRECTED_DIV: result = x / y; break;
    case DIRECTED_SQRT: result = sqrt(x); break;
    case DIRECTED_FROM_S64: result = (double)s; break;
    default: result = (double)u; break;
    }
    fesetround(before);
    return result;
}
