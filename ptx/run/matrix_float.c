/* Sums of products of f16, bf16, tf32 and fp8, as an H100's tensor cores make them.
 *
 * A tensor core takes all products of one element of D, and the addend, at once. Products are exact. Each term is
 * aligned to the greatest exponent among them (of products: the sum of the factors' exponents, before any
 * normalisation) and cut off, towards zero, FRACTION bits behind that exponent's unit. What is left is added exactly;
 * the sum is cut off to f32, or rounded to the nearest f16. The terms have no order, and nothing is rounded between
 * them: bits below the cut are lost, and sums that cancel show it. Subnormals count in full; NaN is 0x7fffffff or
 * 0x7fff.
 *
 * That holds for mma.sync of f16, bf16 and tf32 and for wgmma, whose sums of fp8 keep fewer bits. An H100 has no
 * mma.sync of fp8: its factors become f16, and two products follow each other, of the first and of the second two of
 * each four elements, from zero on; the addend is added to that as any two numbers are.
 *
 * Found by comparing with docs/measurements/matrix.csv, which has numbers that tell these apart: exponents far apart,
 * sums that cancel, subnormals, infinities. */
#include "ptx/run/matrix.h"
#include "ptx/run/scalar.h"

#define FRACTION 25
#define FRACTION_FP8 13 /* of wgmma */

static PtxMatrixFormat format_of(PtxType type, gboolean negate)
{
    static const struct {
        guint8 type, ignored, fraction, exponent_bits;
    } rows[] = {{T_F16, 0, 10, 5}, {T_BF16, 0, 7, 8}, {T_TF32, 13, 10, 8}, {T_E4M3, 0, 3, 4}, {T_E5M2, 0, 2, 5}};
    guint fraction = 23, exponent_bits = 8, ignored = 0; /* f32 */
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
        if (rows[i].type == type) {
            fraction = rows[i].fraction;
            exponent_bits = rows[i].exponent_bits;
            ignored = rows[i].ignored;
        }
    gint32 bias = (1 << (exponent_bits - 1)) - 1, one = 1 << fraction;
    return (PtxMatrixFormat){.ignored = ignored,
                             .fraction = fraction,
                             .sign_at = fraction + exponent_bits,
                             .bias = bias,
                             .top = (1 << exponent_bits) - 1 - bias,
                             .least_special = type == T_E4M3 ? 2 * one - 1 : one,
                             .negate = negate};
}

/* What a mantissa and its exponent are besides numbers. E4M3 has no infinities. */
static gboolean is_special(const PtxMatrixFormat *f, gint32 mantissa, gint32 exponent)
{
    return exponent == f->top && ABS(mantissa) >= f->least_special;
}
static gboolean is_infinite(const PtxMatrixFormat *f, gint32 mantissa, gint32 exponent)
{
    return is_special(f, mantissa, exponent) && ABS(mantissa) == 1 << f->fraction;
}

/* sum * 2^unit as f16, rounded to the nearest. */
static guint32 round_f16(gint64 sum, gint unit)
{
    const guint mantissa = 10, infinity = 0x7c00u;
    if (sum == 0)
        return 0;
    guint64 value = sum < 0 ? (guint64)-sum : (guint64)sum;
    gint top = 63 - __builtin_clzll(value), last = MAX(top + unit, -14) - (gint)mantissa, shift = last - unit;
    if (shift > 0) {
        guint64 rest = shift > 63 ? value : value & (((guint64)1 << shift) - 1);
        guint64 middle = shift > 63 ? G_MAXUINT64 : (guint64)1 << (shift - 1);
        value = shift > 63 ? 0 : value >> shift;
        if (rest > middle || (rest == middle && value & 1))
            value++;
    } else {
        value <<= -shift;
    }
    guint64 field = value >> mantissa ? value + ((guint64)(last + (gint)mantissa + 14) << mantissa) : value;
    return (sum < 0 ? 0x8000u : 0) | (field >= infinity ? infinity : (guint32)field);
}

/* A column of a row's sums in which a factor or the addend is infinite or no number. FALSE: there is no such term. */
static gboolean special_sum(const PtxMatrixRule *rule, const gint32 *a_mantissa, const gint32 *a_exponent,
                            const PtxMatrixColumns *b, const PtxMatrixSums *sums, guint column, guint32 *result)
{
    const PtxMatrixFormat *fa = &rule->a, *fb = &rule->b;
    gint32 addend = sums->addend_mantissa[column], addend_exponent = sums->addend_exponent[column];
    gboolean nan = FALSE, above = FALSE, below = FALSE;
    if (is_infinite(&rule->addend, addend, addend_exponent))
        *(addend < 0 ? &below : &above) = TRUE;
    else
        nan = is_special(&rule->addend, addend, addend_exponent);
    for (guint k = 0; k < rule->k; k++) {
        gint32 a = a_mantissa[k], b_ = b->mantissa[k][column];
        gboolean special_a = is_special(fa, a, a_exponent[k]), special_b = is_special(fb, b_, b->exponent[k][column]);
        if (!special_a && !special_b)
            continue;
        if (a == 0 || b_ == 0 || (special_a && !is_infinite(fa, a, a_exponent[k])) ||
            (special_b && !is_infinite(fb, b_, b->exponent[k][column])))
            nan = TRUE;
        else
            *((a < 0) != (b_ < 0) ? &below : &above) = TRUE;
    }
    if (!nan && !above && !below)
        return FALSE;
    if (nan || (above && below))
        *result = rule->half ? PTX_NAN_F16 : PTX_NAN_F32;
    else
        *result = rule->half ? (below ? 0xfc00u : 0x7c00u) : (below ? 0xff800000u : 0x7f800000u);
    return TRUE;
}

/* A, row by row: unpacked once, since every eight columns of B meet all of it. */
typedef struct {
    gint32 mantissa[MATRIX_M_MAX * MATRIX_K_FLOAT], exponent[MATRIX_M_MAX * MATRIX_K_FLOAT];
    gboolean special;
} Rows;

static void add_products(const PtxHot *hot, const PtxMatrixRule *rule, const gint32 *a_mantissa,
                         const gint32 *a_exponent, const PtxMatrixColumns *b, gboolean special, guint32 *c)
{
    PtxMatrixSums sums;
    guint32 out[MATRIX_COLUMNS];
    special |= hot->row_sums(rule, a_mantissa, a_exponent, b, c, &sums);
    if (!rule->half)
        hot->cut_f32(rule, &sums, out);
    for (guint i = 0; i < MATRIX_COLUMNS; i++) {
        if (rule->half)
            out[i] = round_f16((gint64)sums.part[0][i] + sums.part[1][i], sums.greatest[i] - (gint)rule->fraction);
        if (G_UNLIKELY(special))
            special_sum(rule, a_mantissa, a_exponent, b, &sums, i, &out[i]);
    }
    memcpy(c, out, sizeof out);
}

static PtxMatrixRule rule_of(const PtxMatrices *x, guint k, PtxType type_c, guint fraction, guint kept)
{
    PtxMatrixRule rule = {.k = k,
                          .fraction = fraction,
                          .kept = kept,
                          .half = x->form.type[MATRIX_D] == T_F16,
                          .a = format_of((PtxType)x->form.type[MATRIX_A], x->negate_a),
                          .b = format_of((PtxType)x->form.type[MATRIX_B], x->negate_b),
                          .addend = format_of(type_c, FALSE)};
    rule.lift = fraction - rule.a.fraction - rule.b.fraction;
    return rule;
}

static gboolean take_columns(const PtxMatrices *x, const PtxMatrixRule *rule, guint n, PtxMatrixColumns *b)
{
    gboolean special = FALSE;
    for (guint k = 0; k < x->k; k++)
        special |= x->hot->unpack(&rule->b, &x->b[k * x->form.n + n], MATRIX_COLUMNS, b->mantissa[k], b->exponent[k]);
    return special;
}

/* ---- fp8 of mma.sync */

/* In which part an element of k is, and where there: the first two of each four make the first part. */
static guint part_of(guint k) { return k % 4 / 2; }
static guint place_in_part(guint k) { return k / 4 * 2 + k % 2; }

static guint32 add_last(PtxType type, guint32 a, guint32 b)
{
    if (type == T_F16)
        return (guint32)ptx_format_round(
            &ptx_format_f16, ptx_format_value(&ptx_format_f16, a) + ptx_format_value(&ptx_format_f16, b), W_RN, FALSE);
    guint32 sum = ptx_float_bits(ptx_float(a) + ptx_float(b));
    return ptx_f32_is_nan(sum) ? PTX_NAN_F32 : sum;
}

static void multiply_fp8(PtxMatrices *x)
{
    const PtxMatrixForm *form = &x->form;
    PtxType type_d = (PtxType)form->type[MATRIX_D];
    guint half = x->k / 2;
    PtxMatrixRule rule = rule_of(x, half, type_d, FRACTION, 23);
    PtxMatrixColumns b, parted_b[2];
    gint32 mantissa[MATRIX_K_FLOAT], exponent[MATRIX_K_FLOAT], parted[2][2][MATRIX_K_FLOAT];
    for (guint n = 0; n < form->n; n += MATRIX_COLUMNS) {
        gboolean special_b = take_columns(x, &rule, n, &b);
        for (guint k = 0; k < x->k; k++) {
            memcpy(parted_b[part_of(k)].mantissa[place_in_part(k)], b.mantissa[k], sizeof b.mantissa[k]);
            memcpy(parted_b[part_of(k)].exponent[place_in_part(k)], b.exponent[k], sizeof b.exponent[k]);
        }
        for (guint m = 0; m < form->m; m++) {
            guint32 *c = &x->c[m * form->n + n], sum[MATRIX_COLUMNS] = {0};
            gboolean special = special_b | x->hot->unpack(&rule.a, &x->a[m * x->k], x->k, mantissa, exponent);
            for (guint k = 0; k < x->k; k++) {
                parted[part_of(k)][0][place_in_part(k)] = mantissa[k];
                parted[part_of(k)][1][place_in_part(k)] = exponent[k];
            }
            for (guint p = 0; p < 2; p++)
                add_products(x->hot, &rule, parted[p][0], parted[p][1], &parted_b[p], special, sum);
            for (guint i = 0; i < MATRIX_COLUMNS; i++)
                c[i] = add_last(type_d, sum[i], c[i]);
        }
    }
}

/* Volta's shape is no instruction of an H100: fused operations of f32 one after the other, from the addend on, of each
 * two of k the second one first, and then rounded to f16; to f32 from zero on, and the addend is added to their sum. */
static void multiply_volta(PtxMatrices *x)
{
    const PtxMatrixForm *form = &x->form;
    const gboolean half = form->type[MATRIX_D] == T_F16;
    for (guint m = 0; m < form->m; m++)
        for (guint n = 0; n < form->n; n++) {
            guint32 *c = &x->c[m * form->n + n];
            float addend = form->type[MATRIX_C] == T_F16 ? (float)ptx_format_value(&ptx_format_f16, *c) : ptx_float(*c);
            float sum = half ? addend : 0;
            for (guint i = 0; i < x->k; i++) {
                guint k = half ? i ^ 1 : i;
                sum = __builtin_fmaf((float)ptx_format_value(&ptx_format_f16, x->a[m * x->k + k]),
                                     (float)ptx_format_value(&ptx_format_f16, x->b[k * form->n + n]), sum);
            }
            *c = half ? (guint32)ptx_format_round(&ptx_format_f16, sum, W_RN, FALSE)
                      : add_last(T_F32, ptx_float_bits(sum), ptx_float_bits(addend));
        }
}

void ptx_matrix_float(PtxMatrices *x)
{
    const PtxMatrixForm *form = &x->form;
    gboolean fp8 = form->type[MATRIX_A] == T_E4M3 || form->type[MATRIX_A] == T_E5M2;
    if (fp8 && !x->is_wgmma) {
        multiply_fp8(x);
        return;
    }
    if (form->m == 8) {
        multiply_volta(x);
        return;
    }
    PtxMatrixRule rule = rule_of(x, x->k, (PtxType)form->type[MATRIX_C], fp8 ? FRACTION_FP8 : FRACTION,
                                 fp8 ? FRACTION_FP8 : 23);
    Rows a;
    PtxMatrixColumns b;
    a.special = x->hot->unpack(&rule.a, x->a, form->m * x->k, a.mantissa, a.exponent);
    for (guint n = 0; n < form->n; n += MATRIX_COLUMNS) {
        gboolean special = take_columns(x, &rule, n, &b) | a.special;
        for (guint m = 0; m < form->m; m++)
            add_products(x->hot, &rule, &a.mantissa[m * x->k], &a.exponent[m * x->k], &b, special,
                         &x->c[m * form->n + n]);
    }
}
