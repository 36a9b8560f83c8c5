/* model/memory/numeric: every 8- and 16-bit pattern, rounding, special values, operations, precision. */
#include "tests/test.h"

#include <math.h>

#include "model/memory/numeric.h"

/* An independent formulation: a float format is (precision p, smallest exponent of a unit in the
 * last place, largest finite value); rounding is nearbyint() of the quotient by that unit. */
typedef struct {
    guint bits, mantissa, bias;
    double largest;
    gboolean has_inf;
} Format;
static const Format f16 = {16, 10, 15, 65504, TRUE};
static const Format bf16 = {16, 7, 127, 0x1.fep127, TRUE};
static const Format e4m3 = {8, 3, 7, 448, FALSE};
static const Format e5m2 = {8, 2, 15, 57344, TRUE};

static double decode(const Format *f, guint32 pattern)
{
    guint32 mantissa = pattern & ((1u << f->mantissa) - 1);
    guint exponent_bits = f->bits - 1 - f->mantissa;
    guint32 exponent = pattern >> f->mantissa & ((1u << exponent_bits) - 1);
    double sign = pattern >> (f->bits - 1) ? -1 : 1;
    if (f->has_inf && exponent == (1u << exponent_bits) - 1)
        return mantissa ? NAN : sign * INFINITY;
    if (!f->has_inf && (pattern & 0x7f) == 0x7f)
        return NAN;
    if (exponent == 0)
        return sign * ldexp(mantissa, 1 - (int)f->bias - (int)f->mantissa);
    return sign * ldexp(mantissa + (1u << f->mantissa), (int)exponent - (int)f->bias - (int)f->mantissa);
}

static double round_to(const Format *f, double x)
{
    if (isnan(x) || x == 0)
        return x;
    int exponent;
    frexp(x, &exponent);
    int unit = MAX(exponent - 1, 1 - (int)f->bias) - (int)f->mantissa;
    double rounded = isinf(x) ? x : ldexp(nearbyint(ldexp(x, -unit)), unit);
    if (fabs(rounded) > f->largest)
        return copysign(f->has_inf ? INFINITY : f->largest, x);
    return rounded;
}

static void same(double got, double want)
{
    if (isnan(want)) {
        assert_true(isnan(got));
        return;
    }
    assert_true(got == want && signbit(got) == signbit(want));
}

static double widen16(const Format *f, guint32 p)
{
    return f == &f16    ? numeric_from_f16((guint16)p)
           : f == &bf16 ? numeric_from_bf16((guint16)p)
           : f == &e4m3 ? numeric_from_e4m3((guint8)p)
                        : numeric_from_e5m2((guint8)p);
}
static guint32 narrow16(const Format *f, float x)
{
    return f == &f16    ? numeric_to_f16(x)
           : f == &bf16 ? numeric_to_bf16(x)
           : f == &e4m3 ? numeric_to_e4m3(x)
                        : numeric_to_e5m2(x);
}
static const Format *const formats[] = {&f16, &bf16, &e4m3, &e5m2};

/* Proves that each 8- or 16-bit pattern has the value its fields say, and comes back unchanged. */
static void test_every_pattern_widens_exactly(void **state)
{
    (void)state;
    for (guint k = 0; k < G_N_ELEMENTS(formats); k++)
        for (guint32 p = 0; p < 1u << formats[k]->bits; p++) {
            double want = decode(formats[k], p);
            same(widen16(formats[k], p), want);
            if (!isnan(want) && !(isinf(want) && !formats[k]->has_inf))
                assert_int_equal(narrow16(formats[k], (float)want), p);
        }
}

static void check_rounding(const Format *f, float x) { same(decode(f, narrow16(f, x)), round_to(f, x)); }

/* Proves nearest-even at, just below and just above each midpoint between neighbouring values. */
static void test_rounding_at_every_step(void **state)
{
    (void)state;
    for (guint k = 0; k < G_N_ELEMENTS(formats); k++) {
        const Format *f = formats[k];
        for (guint32 p = 0; p < 1u << f->bits; p++) {
            double here = decode(f, p), next = decode(f, p + 1);
            if (isnan(here) || isnan(next) || isinf(here))
                continue;
            if (isinf(next)) /* the first value past the largest, were there one */
                next = here + (here - decode(f, p - 1));
            float middle = (float)(here / 2 + next / 2);
            check_rounding(f, middle);
            check_rounding(f, nextafterf(middle, INFINITY));
            check_rounding(f, nextafterf(middle, -INFINITY));
        }
        float odd[] = {0.f,   -0.f,  INFINITY, -INFINITY, NAN,     0x1p-149f, -0x1p-126f, 0x1.fffffep127f,
                       464.f, 465.f, 480.f,    65519.f,   65520.f, 61439.f,   61440.f};
        for (guint i = 0; i < G_N_ELEMENTS(odd); i++)
            check_rounding(f, odd[i]);
    }
}

/* Proves narrowing on 400,000 random f32 patterns, all exponents included. */
static void test_random_floats_round_alike(void **state)
{
    (void)state;
    GRand *rng = g_rand_new_with_seed(1);
    for (guint i = 0; i < 100000; i++) {
        guint32 bits = g_rand_int(rng);
        float x;
        memcpy(&x, &bits, 4);
        for (guint k = 0; k < G_N_ELEMENTS(formats); k++)
            check_rounding(formats[k], x);
    }
    g_rand_free(rng);
}

static void add2(NumericType type, NumericPrecision precision, const void *a, const void *b, void *r, gsize n)
{
    NumericAcc acc;
    numeric_clear(&acc, precision);
    numeric_accumulate(&acc, type, NUMERIC_ADD, a, n);
    numeric_accumulate(&acc, type, NUMERIC_ADD, b, n);
    numeric_finish(&acc, type, r, n);
}

/* Proves that the native sum of all 65,536 pairs of each fp8 type is the rounded exact sum. */
static void test_every_fp8_sum(void **state)
{
    (void)state;
    const Format *f[] = {&e4m3, &e5m2};
    const NumericType type[] = {NUMERIC_E4M3X4, NUMERIC_E5M2X4};
    for (guint k = 0; k < 2; k++)
        for (guint a = 0; a < 256; a++) {
            guint8 x[256], y[256], sum[256];
            for (guint b = 0; b < 256; b++) {
                x[b] = (guint8)a;
                y[b] = (guint8)b;
            }
            add2(type[k], NUMERIC_NATIVE, x, y, sum, 256);
            for (guint b = 0; b < 256; b++)
                same(decode(f[k], sum[b]), round_to(f[k], decode(f[k], a) + decode(f[k], b)));
        }
}

/* Proves native f16 and bf16 sums against exact ones, each pattern with 64 random partners. */
static void test_16_bit_sums(void **state)
{
    (void)state;
    GRand *rng = g_rand_new_with_seed(2);
    const NumericType type[] = {NUMERIC_F16, NUMERIC_BF16X2};
    for (guint k = 0; k < 2; k++)
        for (guint32 p = 0; p < 65536; p++) {
            guint16 x[64], y[64], sum[64];
            for (guint i = 0; i < 64; i++) {
                x[i] = (guint16)p;
                y[i] = (guint16)(i < 32 ? g_rand_int(rng) : p + i - 48);
            }
            add2(type[k], NUMERIC_NATIVE, x, y, sum, 128);
            for (guint i = 0; i < 64; i++) {
                double a = decode(formats[k], x[i]), b = decode(formats[k], y[i]);
                if (k == 1 && fabs(a) < INFINITY && fabs(b) < INFINITY && a != 0 && b != 0 &&
                    fabs(log2(fabs(a)) - log2(fabs(b))) > 40)
                    continue; /* a double cannot hold the exact sum */
                same(decode(formats[k], sum[i]), round_to(formats[k], a + b));
                if (isnan(a + b))
                    assert_int_equal(sum[i], 0x7fff);
            }
        }
    g_rand_free(rng);
}

/* Proves that native f16 loses what .acc::f32 keeps: 2048 + 1 + 1, and likewise for fp8 in f16
 * and for f32 in f64; and that the order shows in native precision only. */
static void test_precision_of_the_partial(void **state)
{
    (void)state;
    struct {
        NumericType type;
        NumericPrecision wide;
        double big, small;
    } rows[] = {{NUMERIC_F16, NUMERIC_ACC_F32, 2048, 1}, {NUMERIC_BF16, NUMERIC_ACC_F32, 256, 1},
                {NUMERIC_E4M3, NUMERIC_ACC_F16, 16, 1},  {NUMERIC_E5M2, NUMERIC_ACC_F16, 8, 1},
                {NUMERIC_E4M3, NUMERIC_ACC_F32, 16, 1},  {NUMERIC_F32, NUMERIC_ACC_F64, 0x1p24, 1}};
    for (guint k = 0; k < G_N_ELEMENTS(rows); k++) {
        guint8 big[4], small[4], result[4];
        numeric_set(rows[k].type, big, rows[k].big);
        numeric_set(rows[k].type, small, rows[k].small);
        gsize n = numeric_element_bytes(rows[k].type);
        for (guint order = 0; order < 2; order++)
            for (guint wide = 0; wide < 2; wide++) {
                NumericAcc acc;
                numeric_clear(&acc, wide ? rows[k].wide : NUMERIC_NATIVE);
                for (guint i = 0; i < 3; i++) /* the big one comes first, then last */
                    numeric_accumulate(&acc, rows[k].type, NUMERIC_ADD, i == (order == 0 ? 0u : 2u) ? big : small, n);
                numeric_finish(&acc, rows[k].type, result, n);
                double want = !wide && order == 0 ? rows[k].big : rows[k].big + 2;
                same(numeric_get(rows[k].type, result), want);
            }
    }
}

/* Proves wrap-around, signed against unsigned order, and the bit operations. */
static void test_operations_on_integers(void **state)
{
    (void)state;
    guint32 a[4] = {0xffffffff, 1, 0x80000000, 0xf0f0}, b[4] = {2, 0xffffffff, 0x7fffffff, 0xff00};
    guint32 d[4];
#define OP32(type, op, w0, w1, w2, w3)                                                                                 \
    memcpy(d, a, sizeof d);                                                                                            \
    numeric_apply(type, op, d, b, sizeof d);                                                                           \
    assert_true(d[0] == (w0) && d[1] == (w1) && d[2] == (w2) && d[3] == (w3));                                         \
    for (guint i = 0; i < 4; i++) { /* each alone, too */                                                              \
        guint32 one = a[i];                                                                                            \
        numeric_apply(type, op, &one, &b[i], sizeof one);                                                              \
        assert_true(one == d[i]);                                                                                      \
    }
    OP32(NUMERIC_U32, NUMERIC_ADD, 1, 0, 0xffffffff, 0x1eff0);
    OP32(NUMERIC_U32, NUMERIC_MIN, 2, 1, 0x7fffffff, 0xf0f0);
    OP32(NUMERIC_S32, NUMERIC_MIN, 0xffffffff, 0xffffffff, 0x80000000, 0xf0f0);
    OP32(NUMERIC_S32, NUMERIC_MAX, 2, 1, 0x7fffffff, 0xff00);
    OP32(NUMERIC_B32, NUMERIC_AND, 2, 1, 0, 0xf000);
    OP32(NUMERIC_B32, NUMERIC_OR, 0xffffffff, 0xffffffff, 0xffffffff, 0xfff0);
    OP32(NUMERIC_B32, NUMERIC_XOR, 0xfffffffd, 0xfffffffe, 0xffffffff, 0x0ff0);
    guint64 x = G_MAXUINT64, y = 2, z = x;
    numeric_apply(NUMERIC_S64, NUMERIC_MAX, &z, &y, 8);
    assert_true(z == 2);
    z = x;
    numeric_apply(NUMERIC_U64, NUMERIC_MAX, &z, &y, 8);
    assert_true(z == x);
    numeric_apply(NUMERIC_U64, NUMERIC_ADD, &z, &y, 8);
    assert_true(z == 1);
}

/* Proves that a NaN gives way to a number, -0 is less than +0, two NaNs give the canonical one. */
static void test_min_max_of_special_floats(void **state)
{
    (void)state;
    float a[] = {NAN, 1, -0.f, 0.f, NAN}, b[] = {3, NAN, 0.f, -0.f, -NAN};
    float want_min[] = {3, 1, -0.f, -0.f, NAN}, want_max[] = {3, 1, 0.f, 0.f, NAN}, d[5];
    memcpy(d, a, sizeof d);
    numeric_apply(NUMERIC_F32, NUMERIC_MIN, d, b, sizeof d);
    for (guint i = 0; i < 5; i++)
        same(d[i], want_min[i]);
    memcpy(d, a, sizeof d);
    numeric_apply(NUMERIC_F32, NUMERIC_MAX, d, b, sizeof d);
    for (guint i = 0; i < 5; i++)
        same(d[i], want_max[i]);
    guint32 bits;
    memcpy(&bits, &d[4], 4);
    assert_int_equal(bits, 0x7fffffff);
}

/* Proves that every type and operation is found by its own name, aliases too, and nonsense not. */
static void test_names(void **state)
{
    (void)state;
    NumericType type;
    NumericOp op;
    for (guint t = 0; t < NUMERIC_TYPES; t++) {
        assert_true(numeric_type_parse(numeric_type_name((NumericType)t), &type));
        assert_int_equal(type, t);
    }
    for (guint o = 0; o < NUMERIC_OPS; o++) {
        assert_true(numeric_op_parse(numeric_op_name((NumericOp)o), &op));
        assert_int_equal(op, o);
    }
    assert_true(numeric_type_parse("bfloat16", &type) && type == NUMERIC_BF16);
    assert_true(numeric_op_parse("sum", &op) && op == NUMERIC_ADD);
    assert_false(numeric_type_parse("f8", &type));
    assert_false(numeric_op_parse("", &op));
    assert_false(numeric_allows(NUMERIC_F32, NUMERIC_XOR));
    assert_false(numeric_allows(NUMERIC_B32, NUMERIC_ADD));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_pattern_widens_exactly),
        cmocka_unit_test(test_rounding_at_every_step),
        cmocka_unit_test(test_random_floats_round_alike),
        cmocka_unit_test(test_every_fp8_sum),
        cmocka_unit_test(test_16_bit_sums),
        cmocka_unit_test(test_precision_of_the_partial),
        cmocka_unit_test(test_operations_on_integers),
        cmocka_unit_test(test_min_max_of_special_floats),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
