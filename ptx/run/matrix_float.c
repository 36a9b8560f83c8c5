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
#define K_FLOAT 32u
#define NONE (-8192) /* the exponent of zero, which never is the greatest */

typedef enum { HAS_NAN = 1, HAS_INFINITY = 2 } Special;

/* A row of A or a column of B: mantissas with their signs, as integers with `bits` behind the point. */
typedef struct {
    gint32 mantissa[K_FLOAT], exponent[K_FLOAT];
    guint8 kind[K_FLOAT]; /* Special */
    guint8 special;
} Line;

typedef struct {
    guint mantissa, exponent_bits;
    gint bias;
} Format;

static Format format_of(PtxType type)
{
    switch (type) {
    case T_F16: return (Format){10, 5, 15};
    case T_BF16: return (Format){7, 8, 127};
    case T_TF32: return (Format){10, 8, 127}; /* the 13 bits behind do not count */
    case T_E4M3: return (Format){3, 4, 7};
    case T_E5M2: return (Format){2, 5, 15};
    default: return (Format){23, 8, 127};
    }
}

static gint32 unpack(const Format *f, PtxType type, guint32 bits, gint32 *exponent, guint8 *kind)
{
    if (type == T_TF32)
        bits >>= 13;
    guint32 most = (1u << f->exponent_bits) - 1, field = bits >> f->mantissa & most;
    guint32 fraction = bits & ((1u << f->mantissa) - 1);
    gboolean negative = bits >> (f->mantissa + f->exponent_bits) & 1;
    *kind = 0;
    if (type == T_E4M3 ? field == most && fraction == 7 : field == most)
        *kind = fraction ? HAS_NAN : HAS_INFINITY;
    gint32 mantissa = (gint32)(field ? fraction | 1u << f->mantissa : fraction);
    *exponent = mantissa == 0 ? NONE : (field ? (gint32)field : 1) - f->bias;
    return negative ? -mantissa : mantissa;
}

static void unpack_line(Line *line, PtxType type, const guint32 *bits, guint n, gboolean negate)
{
    Format format = format_of(type);
    line->special = 0;
    for (guint k = 0; k < n; k++) {
        line->mantissa[k] = unpack(&format, type, bits[k], &line->exponent[k], &line->kind[k]);
        line->special |= line->kind[k];
        if (negate)
            line->mantissa[k] = -line->mantissa[k];
    }
}

/* sum * 2^unit as f32, cut off, or f16, to the nearest. */
static guint32 pack(gint64 sum, gint unit, gboolean half, guint kept)
{
    const guint mantissa = half ? 10 : kept, exponent_bits = half ? 5 : 8;
    const gint bias = half ? 15 : 127;
    if (sum == 0)
        return 0;
    guint32 sign = sum < 0 ? 1u << (mantissa + exponent_bits) : 0, infinity = ((1u << exponent_bits) - 1) << mantissa;
    guint64 value = sum < 0 ? (guint64)-sum : (guint64)sum;
    gint top = 63 - __builtin_clzll(value), last = MAX(top + unit, 1 - bias) - (gint)mantissa, shift = last - unit;
    if (shift > 0) {
        guint64 rest = shift > 63 ? value : value & (((guint64)1 << shift) - 1);
        guint64 middle = shift > 63 ? G_MAXUINT64 : (guint64)1 << (shift - 1);
        value = shift > 63 ? 0 : value >> shift;
        if (half && (rest > middle || (rest == middle && value & 1)))
            value++;
    } else {
        value <<= -shift;
    }
    guint64 field = value >> mantissa ? value + ((guint64)(last + (gint)mantissa + bias - 1) << mantissa) : value;
    return (sign | (field >= infinity ? infinity : (guint32)field)) << (half ? 0 : 23 - kept);
}

/* Where a factor or the addend is infinite or no number. FALSE: no such term. */
static gboolean special_sum(const Line *a, const Line *b, guint k, guint32 addend, guint8 addend_kind, gboolean half,
                            guint addend_sign_bit, guint32 *result)
{
    gboolean nan = addend_kind == HAS_NAN, above = FALSE, below = FALSE;
    if (addend_kind == HAS_INFINITY)
        *(addend >> addend_sign_bit & 1 ? &below : &above) = TRUE;
    for (guint i = 0; i < k; i++) {
        guint kinds = a->kind[i] | b->kind[i];
        if (!kinds)
            continue;
        gboolean infinite_a = a->kind[i] == HAS_INFINITY, infinite_b = b->kind[i] == HAS_INFINITY;
        if ((kinds & HAS_NAN) || (infinite_a && b->mantissa[i] == 0) || (infinite_b && a->mantissa[i] == 0))
            nan = TRUE;
        else
            *((a->mantissa[i] < 0) != (b->mantissa[i] < 0) ? &below : &above) = TRUE;
    }
    if (!nan && !above && !below)
        return FALSE;
    if (nan || (above && below))
        *result = half ? PTX_NAN_F16 : PTX_NAN_F32;
    else
        *result = half ? (below ? 0xfc00u : 0x7c00u) : (below ? 0xff800000u : 0x7f800000u);
    return TRUE;
}

typedef struct {
    guint point;    /* bits behind the point of a product */
    guint fraction; /* of aligned terms */
    guint kept;     /* of a sum in f32 */
    PtxType type_c, type_d;
} Rule;

/* The products' terms, aligned: what vector units do well. */
static gint64 aligned_sum(const Line *a, const Line *b, guint k, guint lift, gint32 *greatest)
{
    gint32 product[K_FLOAT], exponent[K_FLOAT], most = *greatest;
    for (guint i = 0; i < k; i++) {
        exponent[i] = a->exponent[i] + b->exponent[i];
        most = MAX(most, exponent[i]);
    }
    for (guint i = 0; i < k; i++) {
        gint32 value = a->mantissa[i] * b->mantissa[i], size = value < 0 ? -value : value, away = most - exponent[i];
        guint32 kept = ((guint32)size << lift) >> MIN(away, 31);
        product[i] = value < 0 ? -(gint32)kept : (gint32)kept;
    }
    gint64 sum = 0;
    for (guint i = 0; i < k; i++)
        sum += product[i];
    *greatest = most;
    return sum;
}

static guint32 dot(const Rule *rule, const Line *a, const Line *b, guint k, guint32 addend)
{
    Format format = format_of(rule->type_c);
    gboolean half = rule->type_d == T_F16;
    gint32 exponent;
    guint8 kind;
    guint32 result;
    gint32 mantissa = unpack(&format, rule->type_c, addend, &exponent, &kind);
    if (G_UNLIKELY(a->special | b->special | kind) &&
        special_sum(a, b, k, addend, kind, half, format.mantissa + format.exponent_bits, &result))
        return result;
    gint32 most = exponent;

    guint lift = rule->fraction - rule->point; /* 5 at least: products never have more bits */

    gint64 sum = aligned_sum(a, b, k, lift, &most);
    if (mantissa != 0) {
        gint away = most - exponent + (gint)format.mantissa - (gint)rule->fraction;
        gint64 size = mantissa < 0 ? -(gint64)mantissa : mantissa;
        size = away >= 0 ? (away > 62 ? 0 : size >> away) : size << -away;
        sum += mantissa < 0 ? -size : size;
    }
    return pack(sum, most - (gint)rule->fraction, half, rule->kept);
}

/* ---- fp8 of mma.sync */

/* The first two of each four elements, then the others. */
static void part_line(const guint32 *bits, guint k, guint32 *to)
{
    for (guint i = 0; i < k; i++)
        to[(i % 4 < 2 ? 0 : k / 2) + i / 4 * 2 + i % 2] = bits[i];
}

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
    PtxType type_a = (PtxType)form->type[MATRIX_A], type_b = (PtxType)form->type[MATRIX_B];
    PtxType type_d = (PtxType)form->type[MATRIX_D];
    Format fa = format_of(type_a), fb = format_of(type_b);
    Rule rule = {fa.mantissa + fb.mantissa, FRACTION, 23, type_d, type_d};
    guint half = x->k / 2;
    for (guint n = 0; n < form->n; n++) {
        guint32 parted[K_FLOAT];
        Line b[2], a[2];
        part_line(&x->b[n * x->k], x->k, parted);
        unpack_line(&b[0], type_b, parted, half, FALSE);
        unpack_line(&b[1], type_b, parted + half, half, FALSE);
        for (guint m = 0; m < form->m; m++) {
            guint32 *c = &x->c[m * form->n + n];
            part_line(&x->a[m * x->k], x->k, parted);
            unpack_line(&a[0], type_a, parted, half, FALSE);
            unpack_line(&a[1], type_a, parted + half, half, FALSE);
            guint32 sum = dot(&rule, &a[1], &b[1], half, dot(&rule, &a[0], &b[0], half, 0));
            *c = add_last(type_d, sum, *c);
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
                                     (float)ptx_format_value(&ptx_format_f16, x->b[n * x->k + k]), sum);
            }
            *c = half ? (guint32)ptx_format_round(&ptx_format_f16, sum, W_RN, FALSE)
                      : add_last(T_F32, ptx_float_bits(sum), ptx_float_bits(addend));
        }
}

void ptx_matrix_float(PtxMatrices *x)
{
    const PtxMatrixForm *form = &x->form;
    PtxType type_a = (PtxType)form->type[MATRIX_A], type_b = (PtxType)form->type[MATRIX_B];
    Format fa = format_of(type_a), fb = format_of(type_b);
    gboolean fp8 = type_a == T_E4M3 || type_a == T_E5M2;
    if (fp8 && !x->is_wgmma) {
        multiply_fp8(x);
        return;
    }
    if (form->m == 8) {
        multiply_volta(x);
        return;
    }
    Rule rule = {fa.mantissa + fb.mantissa, fp8 ? FRACTION_FP8 : FRACTION, fp8 ? FRACTION_FP8 : 23,
                 (PtxType)form->type[MATRIX_C], (PtxType)form->type[MATRIX_D]};
    Line a[MATRIX_M_MAX], b;
    for (guint m = 0; m < form->m; m++)
        unpack_line(&a[m], type_a, &x->a[m * x->k], x->k, x->negate_a);
    for (guint n = 0; n < form->n; n++) {
        unpack_line(&b, type_b, &x->b[n * x->k], x->k, x->negate_b);
        for (guint m = 0; m < form->m; m++)
            x->c[m * form->n + n] = dot(&rule, &a[m], &b, x->k, x->c[m * form->n + n]);
    }
}
