/* Eight elements of a row of D at once, in the way that matrix_float.c describes: each place of a vector is a column,
 * and k goes on from product to product. Included once for each instruction set, as hot_lanes.h is, hence no guard; all
 * clones give the same bits, since all that is added here is exact. */
#include "ptx/run/matrix.h"

typedef gint32 HOT(Vector) __attribute__((vector_size(4 * MATRIX_COLUMNS), aligned(4), may_alias));

static gboolean HOT(unpack)(const PtxMatrixFormat *format, const guint32 *restrict bits, guint n,
                            gint32 *restrict mantissa, gint32 *restrict exponent)
{
    const PtxMatrixFormat f = *format;
    const guint32 one = 1u << f.fraction, most = (1u << (f.sign_at - f.fraction)) - 1;
    gint32 special = 0;
    for (guint i = 0; i < n; i++) {
        guint32 word = bits[i] >> f.ignored, field = word >> f.fraction & most;
        gint32 size = (gint32)((word & (one - 1)) | (field ? one : 0));
        gint32 power = (gint32)(field ? field : 1) - f.bias;
        exponent[i] = size == 0 ? MATRIX_NO_EXPONENT : power;
        mantissa[i] = (word >> f.sign_at ^ f.negate) & 1 ? -size : size;
        special |= power == f.top;
    }
    return special;
}

/* Each term is aligned to the greatest exponent and cut off. */
static gboolean HOT(row_sums)(const PtxMatrixRule *rule, const gint32 *a_mantissa, const gint32 *a_exponent,
                              const PtxMatrixColumns *b, const guint32 *addend, PtxMatrixSums *sums)
{
    gboolean special = HOT(unpack)(&rule->addend, addend, MATRIX_COLUMNS, sums->addend_mantissa, sums->addend_exponent);
    const HOT(Vector) addend_exponent = *(const HOT(Vector) *)sums->addend_exponent, none = {0};
    HOT(Vector) most = addend_exponent;
    for (guint k = 0; k < rule->k; k++) {
        HOT(Vector) exponent = *(const HOT(Vector) *)b->exponent[k] + a_exponent[k], above = exponent > most;
        most = (exponent & above) | (most & ~above);
    }
    HOT(Vector) value = *(const HOT(Vector) *)sums->addend_mantissa, sign = value >> 31, away = most - addend_exponent;
    HOT(Vector) size = (value ^ sign) - sign, far = away > 31;
    gint up = (gint)rule->fraction - (gint)rule->addend.fraction;
    away = (away & ~far) | (far & 31);
    size = up >= 0 ? size << up >> away : size >> -up >> away;
    HOT(Vector) part = (size ^ sign) - sign;
    for (guint p = 0; p < 2; p++, part = none) {
        for (guint k = p * rule->k / 2; k < (p + 1) * rule->k / 2; k++) {
            value = *(const HOT(Vector) *)b->mantissa[k] * a_mantissa[k];
            away = most - (*(const HOT(Vector) *)b->exponent[k] + a_exponent[k]);
            far = away > 31;
            away = (away & ~far) | (far & 31);
            sign = value >> 31;
            size = ((value ^ sign) - sign) << (gint)rule->lift >> away;
            part += (size ^ sign) - sign;
        }
        *(HOT(Vector) *)sums->part[p] = part;
    }
    *(HOT(Vector) *)sums->greatest = most;
    return special;
}

/* Towards zero. A double holds a sum exactly, whatever its exponent; below the least normal number of f32 its unit no
 * longer follows it. */
static void HOT(cut_f32)(const PtxMatrixRule *rule, const PtxMatrixSums *sums, guint32 *to)
{
    const gdouble least = 0x1p-126, units = (gdouble)(1u << rule->kept) / least;
    const guint64 whole = ~((G_GUINT64_CONSTANT(1) << (52 - rule->kept)) - 1);
    const guint below = 23 - rule->kept;
    const gint32 fraction = (gint32)rule->fraction;
    for (guint l = 0; l < MATRIX_COLUMNS; l++) {
        gint32 exponent = MAX(sums->greatest[l], -600) - fraction; /* -600: all terms are zero */
        gdouble sum = ((gdouble)sums->part[0][l] + sums->part[1][l]) * ptx_double((guint64)(exponent + 1023) << 52);
        guint64 bits = ptx_double_bits(sum);
        gdouble size = ptx_double(bits << 1 >> 1), small = MIN(size, least);
        guint32 normal = ptx_float_bits((gfloat)ptx_double(ptx_double_bits(size) & whole));
        guint32 subnormal = (guint32)(gint32)(small * units) << below;
        to[l] = (size < least ? subnormal : normal) | (guint32)(bits >> 63) << 31;
    }
}
