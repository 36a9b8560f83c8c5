/* One element of a matrix product: see scalar_matrix.h. What an H100 computes is told in docs/kernels.md. */
#include "tests/ptx/scalar_matrix.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#define NONE (-100000) /* the exponent of a zero */

const char *const scalar_names[SCALAR_TYPES] = {"f16", "bf16", "tf32", "f32", "f64", "e4m3", "e5m2",
                                                "s8",  "u8",   "s4",   "u4",  "b1",  "s32"};
const unsigned scalar_bits[SCALAR_TYPES] = {16, 16, 32, 32, 64, 8, 8, 8, 8, 4, 4, 1, 32};

typedef struct {
    double value; /* an infinity or a NaN, too */
    int exponent; /* of its leading digit's place; a product has the sum of both */
} Number;

typedef struct {
    int fraction, field; /* bits */
    int unused;          /* bits behind the fraction, which do not count */
} Layout;

static Layout layout_of(ScalarType type)
{
    switch (type) {
    case SCALAR_F16: return (Layout){10, 5, 0};
    case SCALAR_BF16: return (Layout){7, 8, 0};
    case SCALAR_TF32: return (Layout){10, 8, 13};
    case SCALAR_E4M3: return (Layout){3, 4, 0};
    case SCALAR_E5M2: return (Layout){2, 5, 0};
    default: return (Layout){23, 8, 0};
    }
}

static Number number_of(ScalarType type, uint64_t bits)
{
    const Layout l = layout_of(type);
    bits >>= l.unused;
    const int64_t fraction = (int64_t)(bits & ((1u << l.fraction) - 1));
    const int field = (int)(bits >> l.fraction & ((1u << l.field) - 1)), bias = (1 << (l.field - 1)) - 1;
    const int is_last = field == (1 << l.field) - 1;
    double size;
    int exponent = (field ? field : 1) - bias;
    if (type == SCALAR_E4M3 && is_last && fraction == 7)
        size = NAN;
    else if (type != SCALAR_E4M3 && is_last)
        size = fraction ? NAN : INFINITY;
    else
        size = ldexp((double)(fraction + (field ? (int64_t)1 << l.fraction : 0)), exponent - l.fraction);
    if (size == 0)
        exponent = NONE;
    return (Number){bits >> (l.fraction + l.field) & 1 ? -size : size, exponent};
}

/* A finite number in a format: what lies behind its last place is cut off, or rounded to the nearest, even if tied. */
static uint64_t bits_of(double value, int fraction, int field, int nearest)
{
    const int bias = (1 << (field - 1)) - 1;
    const uint64_t sign = value < 0 ? (uint64_t)1 << (fraction + field) : 0;
    int exponent;
    if (value == 0)
        return 0;
    value = fabs(value);
    frexp(value, &exponent);
    exponent = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
    double units = ldexp(value, fraction - exponent), whole = trunc(units), rest = units - whole;
    if (nearest && (rest > 0.5 || (rest == 0.5 && fmod(whole, 2) == 1)))
        whole += 1;
    if (whole == ldexp(1, fraction + 1)) {
        whole /= 2;
        exponent++;
    }
    const uint64_t one = (uint64_t)1 << fraction, infinity = (((uint64_t)1 << field) - 1) << fraction;
    if (exponent > bias)
        return sign | infinity;
    uint64_t digits = (uint64_t)whole;
    return sign | (digits < one ? digits : (uint64_t)(exponent + bias) << fraction | (digits - one));
}

static uint64_t float_bits(ScalarType type, double value, int kept)
{
    if (type == SCALAR_F16)
        return isnan(value) ? 0x7fff : isinf(value) ? (value < 0 ? 0xfc00 : 0x7c00) : bits_of(value, 10, 5, 1);
    if (isnan(value) || isinf(value))
        return isnan(value) ? 0x7fffffff : value < 0 ? 0xff800000 : 0x7f800000;
    return bits_of(value, kept, 8, 0) << (23 - kept);
}

/* All terms at once: cut off `fraction` bits behind the greatest exponent's unit, then added exactly. */
static uint64_t sum_of(const Number *term, unsigned n, int fraction, ScalarType type, int kept)
{
    int greatest = NONE;
    double sum = 0, special = 0;
    for (unsigned i = 0; i < n; i++)
        if (!isfinite(term[i].value))
            special += term[i].value; /* unlike infinities make a NaN, as here */
        else if (term[i].exponent > greatest)
            greatest = term[i].exponent;
    if (special != 0)
        return float_bits(type, special, kept);
    if (greatest == NONE)
        return 0;
    for (unsigned i = 0; i < n; i++)
        sum += trunc(ldexp(term[i].value, fraction - greatest));
    return float_bits(type, ldexp(sum, greatest - fraction), kept);
}

static Number product_of(const ScalarRule *rule, uint64_t a, uint64_t b)
{
    const Number x = number_of(rule->a, a), y = number_of(rule->b, b);
    Number p = {(rule->negate_a ? -x.value : x.value) * (rule->negate_b ? -y.value : y.value), x.exponent + y.exponent};
    if (p.value == 0)
        p.exponent = NONE;
    return p;
}

/* To f16 or f32, as one addition rounds. */
static uint64_t add_two(ScalarType type, uint64_t a, uint64_t b)
{
    const double x = number_of(type, a).value, y = number_of(type, b).value;
    if (type == SCALAR_F16)
        return x + y == 0 && (x != 0 || !signbit(x) || !signbit(y)) ? 0
               : x + y == 0                                         ? 0x8000
                                                                    : float_bits(type, x + y, 10);
    const float sum = (float)x + (float)y;
    uint32_t bits;
    memcpy(&bits, &sum, 4);
    return isnan(sum) ? 0x7fffffff : bits;
}

/* An H100 makes mma of fp8 of two products, of the first and the second two of each four. */
static uint64_t dot_fp8(const ScalarRule *rule, const uint64_t *a, const uint64_t *b, uint64_t c)
{
    uint64_t sum = 0;
    for (unsigned half = 0; half < 2; half++) {
        Number term[33];
        unsigned n = 0;
        for (unsigned i = 0; i < rule->k; i++)
            if (i / 2 % 2 == half)
                term[n++] = product_of(rule, a[i], b[i]);
        term[n++] = number_of(rule->d, sum);
        sum = sum_of(term, n, 25, rule->d, 23);
    }
    return add_two(rule->d, sum, c);
}

/* m8n8k4 of f16: fused operations of f32, of f16 the second of each two first. */
static uint64_t dot_volta(const ScalarRule *rule, const uint64_t *a, const uint64_t *b, uint64_t c)
{
    static const unsigned swapped[] = {1, 0, 3, 2};
    const float addend = (float)number_of(rule->c, c).value;
    const int half = rule->d == SCALAR_F16;
    float sum = half ? addend : 0;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned at = half ? swapped[i] : i;
        sum = fmaf((float)number_of(SCALAR_F16, a[at]).value, (float)number_of(SCALAR_F16, b[at]).value, sum);
    }
    if (!half) {
        sum += addend;
        uint32_t bits;
        memcpy(&bits, &sum, 4);
        return isnan(sum) ? 0x7fffffff : bits;
    }
    return sum == 0 ? (signbit(sum) ? 0x8000 : 0) : float_bits(SCALAR_F16, sum, 10);
}

static double f64_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

static uint64_t dot_double(const ScalarRule *rule, const uint64_t *a, const uint64_t *b, uint64_t c)
{
    volatile double sum = f64_of(c);
    uint64_t bits;
    const int before = fegetround();
    fesetround(rule->rounding);
    for (unsigned i = 0; i < rule->k; i++) {
        volatile double x = f64_of(a[i]), y = f64_of(b[i]);
        sum = fma(x, y, sum);
    }
    fesetround(before);
    const double result = sum;
    memcpy(&bits, &result, 8);
    return bits;
}

static int64_t integer_of(ScalarType type, uint64_t bits)
{
    switch (type) {
    case SCALAR_S8: return bits < 128 ? (int64_t)bits : (int64_t)bits - 256;
    case SCALAR_S4: return bits < 8 ? (int64_t)bits : (int64_t)bits - 16;
    case SCALAR_S32: return (int32_t)(uint32_t)bits;
    default: return (int64_t)bits;
    }
}

static uint64_t dot_integer(const ScalarRule *rule, const uint64_t *a, const uint64_t *b, uint64_t c)
{
    int64_t sum = integer_of(SCALAR_S32, c);
    for (unsigned i = 0; i < rule->k; i++)
        if (rule->a == SCALAR_B1)
            sum += rule->is_xor ? a[i] != b[i] : a[i] && b[i];
        else
            sum += integer_of(rule->a, a[i]) * integer_of(rule->b, b[i]);
    if (rule->saturate)
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (uint32_t)sum;
}

uint64_t scalar_dot(const ScalarRule *rule, const uint64_t *a, const uint64_t *b, uint64_t c)
{
    const int fp8 = rule->a == SCALAR_E4M3 || rule->a == SCALAR_E5M2;
    Number term[33];
    if (rule->a >= SCALAR_S8)
        return dot_integer(rule, a, b, c);
    if (rule->a == SCALAR_F64)
        return dot_double(rule, a, b, c);
    if (rule->way == SCALAR_VOLTA)
        return dot_volta(rule, a, b, c);
    if (fp8 && rule->way == SCALAR_MMA)
        return dot_fp8(rule, a, b, c);
    for (unsigned i = 0; i < rule->k; i++)
        term[i] = product_of(rule, a[i], b[i]);
    term[rule->k] = number_of(rule->c, c);
    return sum_of(term, rule->k + 1, fp8 ? 13 : 25, rule->d, fp8 ? 13 : 23);
}
