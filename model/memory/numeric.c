/* Reductions on lines of elements; the conversions they need are in numeric_convert.c.
 *
 * Every float narrower than f64 is held as f32, which is exact for f16, bf16 and fp8, and the
 * sum of two such values rounded to f32 and then to the element type is the correctly rounded
 * sum (24 bits are at least 2p + 2 for p up to 11). Loops run over fixed pieces so that the
 * compiler makes vectors of them: they are paid for every operand packet in a switch. */
#include "model/memory/numeric.h"

#include <math.h>
#include <string.h>

#include "model/memory/numeric_convert.h"

/* clang-format off */
typedef enum { KIND_U32, KIND_S32, KIND_U64, KIND_S64, KIND_F16, KIND_BF16, KIND_F32, KIND_F64,
               KIND_E4M3, KIND_E5M2 } Kind;
/* clang-format on */

typedef struct {
    const char *name;
    const char *alias[4];
    Kind kind;
    guint type_bytes, element_bytes;
    guint ops; /* bit 1 << NumericOp */
} TypeRow;

#define OPS_ADD_MIN_MAX 0x47u /* and mul */
#define OPS_BITS 0x38u
static const TypeRow type_rows[NUMERIC_TYPES] = {
    [NUMERIC_U32] = {"u32", {"uint32"}, KIND_U32, 4, 4, OPS_ADD_MIN_MAX | OPS_BITS},
    [NUMERIC_U64] = {"u64", {"uint64"}, KIND_U64, 8, 8, OPS_ADD_MIN_MAX | OPS_BITS},
    [NUMERIC_S32] = {"s32", {"int32", "int"}, KIND_S32, 4, 4, OPS_ADD_MIN_MAX | OPS_BITS},
    [NUMERIC_S64] = {"s64", {"int64"}, KIND_S64, 8, 8, OPS_ADD_MIN_MAX | OPS_BITS},
    [NUMERIC_B32] = {"b32", {NULL}, KIND_U32, 4, 4, OPS_BITS},
    [NUMERIC_B64] = {"b64", {NULL}, KIND_U64, 8, 8, OPS_BITS},
    [NUMERIC_F16] = {"f16", {"half", "float16", "fp16"}, KIND_F16, 2, 2, OPS_ADD_MIN_MAX},
    [NUMERIC_F16X2] = {"f16x2", {NULL}, KIND_F16, 4, 2, OPS_ADD_MIN_MAX},
    [NUMERIC_BF16] = {"bf16", {"bfloat16"}, KIND_BF16, 2, 2, OPS_ADD_MIN_MAX},
    [NUMERIC_BF16X2] = {"bf16x2", {NULL}, KIND_BF16, 4, 2, OPS_ADD_MIN_MAX},
    [NUMERIC_F32] = {"f32", {"float", "float32", "fp32"}, KIND_F32, 4, 4, OPS_ADD_MIN_MAX},
    [NUMERIC_F64] = {"f64", {"double", "float64", "fp64"}, KIND_F64, 8, 8, OPS_ADD_MIN_MAX},
    [NUMERIC_E4M3] = {"e4m3", {"fp8_e4m3", "f8e4m3"}, KIND_E4M3, 1, 1, OPS_ADD_MIN_MAX},
    [NUMERIC_E4M3X2] = {"e4m3x2", {NULL}, KIND_E4M3, 2, 1, OPS_ADD_MIN_MAX},
    [NUMERIC_E4M3X4] = {"e4m3x4", {NULL}, KIND_E4M3, 4, 1, OPS_ADD_MIN_MAX},
    [NUMERIC_E5M2] = {"e5m2", {"fp8_e5m2", "f8e5m2"}, KIND_E5M2, 1, 1, OPS_ADD_MIN_MAX},
    [NUMERIC_E5M2X2] = {"e5m2x2", {NULL}, KIND_E5M2, 2, 1, OPS_ADD_MIN_MAX},
    [NUMERIC_E5M2X4] = {"e5m2x4", {NULL}, KIND_E5M2, 4, 1, OPS_ADD_MIN_MAX},
};
static const char *const op_names[NUMERIC_OPS + 1] = {"add", "min", "max", "and", "or", "xor", "mul"};

gboolean numeric_allows(NumericType type, NumericOp op) { return type_rows[type].ops >> op & 1; }
guint numeric_type_bytes(NumericType type) { return type_rows[type].type_bytes; }
guint numeric_element_bytes(NumericType type) { return type_rows[type].element_bytes; }
gboolean numeric_is_float(NumericType type) { return type_rows[type].kind >= KIND_F16; }
const char *numeric_type_name(NumericType type) { return type_rows[type].name; }
const char *numeric_op_name(NumericOp op) { return op_names[op]; }

gboolean numeric_type_parse(const char *name, NumericType *type)
{
    for (guint t = 0; t < NUMERIC_TYPES; t++) {
        gboolean hit = strcmp(name, type_rows[t].name) == 0;
        for (guint a = 0; a < G_N_ELEMENTS(type_rows[t].alias) && type_rows[t].alias[a]; a++)
            hit = hit || strcmp(name, type_rows[t].alias[a]) == 0;
        if (hit) {
            *type = (NumericType)t;
            return TRUE;
        }
    }
    return FALSE;
}

gboolean numeric_op_parse(const char *name, NumericOp *op)
{
    if (strcmp(name, "sum") == 0)
        name = "add";
    if (strcmp(name, "prod") == 0) { /* NCCL's; PTX has no word for it among the operations of memory */
        *op = NUMERIC_MUL;
        return TRUE;
    }
    for (guint i = 0; i < NUMERIC_OPS; i++)
        if (strcmp(name, op_names[i]) == 0) {
            *op = (NumericOp)i;
            return TRUE;
        }
    return FALSE;
}

/* ---- integers */
#define COMBINE_INT(NAME, U, S)                                                                                        \
    static void NAME(U *acc, const U *x, gsize n, NumericOp op, gboolean is_signed)                                    \
    {                                                                                                                  \
        switch (op) {                                                                                                  \
        case NUMERIC_ADD:                                                                                              \
            for (gsize i = 0; i < n; i++)                                                                              \
                acc[i] += x[i];                                                                                        \
            break;                                                                                                     \
        case NUMERIC_MUL:                                                                                              \
            for (gsize i = 0; i < n; i++)                                                                              \
                acc[i] *= x[i];                                                                                        \
            break;                                                                                                     \
        case NUMERIC_AND:                                                                                              \
            for (gsize i = 0; i < n; i++)                                                                              \
                acc[i] &= x[i];                                                                                        \
            break;                                                                                                     \
        case NUMERIC_OR:                                                                                               \
            for (gsize i = 0; i < n; i++)                                                                              \
                acc[i] |= x[i];                                                                                        \
            break;                                                                                                     \
        case NUMERIC_XOR:                                                                                              \
            for (gsize i = 0; i < n; i++)                                                                              \
                acc[i] ^= x[i];                                                                                        \
            break;                                                                                                     \
        case NUMERIC_MIN:                                                                                              \
            for (gsize i = 0; i < n; i++)                                                                              \
                acc[i] = (is_signed ? (S)x[i] < (S)acc[i] : x[i] < acc[i]) ? x[i] : acc[i];                            \
            break;                                                                                                     \
        case NUMERIC_MAX:                                                                                              \
            for (gsize i = 0; i < n; i++)                                                                              \
                acc[i] = (is_signed ? (S)x[i] > (S)acc[i] : x[i] > acc[i]) ? x[i] : acc[i];                            \
            break;                                                                                                     \
        default: g_assert_not_reached();                                                                               \
        }                                                                                                              \
    }
COMBINE_INT(combine_u32, guint32, gint32)
COMBINE_INT(combine_u64, guint64, gint64)

/* ---- floats: -0 is less than +0, a NaN gives way to a number */
static inline gboolean takes_other(double mine, double other, gboolean min)
{
    if (isnan(mine) || isnan(other))
        return isnan(mine);
    if (mine == other)
        return min ? signbit(other) != 0 : signbit(other) == 0;
    return min ? other < mine : other > mine;
}
#define PIECE 16 /* floats in one vectorised step */
static void combine_f32(float *acc, const float *x, gsize n, NumericOp op)
{
    if (op == NUMERIC_MUL) {
        for (gsize i = 0; i < n; i++)
            acc[i] *= x[i];
        return;
    }
    if (op != NUMERIC_ADD) {
        for (gsize i = 0; i < n; i++)
            acc[i] = takes_other(acc[i], x[i], op == NUMERIC_MIN) ? x[i] : acc[i];
        return;
    }
    gsize i = 0;
    for (; i + PIECE <= n; i += PIECE)
        for (guint k = 0; k < PIECE; k++)
            acc[i + k] += x[i + k];
    for (; i < n; i++)
        acc[i] += x[i];
}
static void combine_f64(double *acc, const double *x, gsize n, NumericOp op)
{
    for (gsize i = 0; i < n; i++)
        if (op == NUMERIC_ADD)
            acc[i] += x[i];
        else if (op == NUMERIC_MUL)
            acc[i] *= x[i];
        else if (takes_other(acc[i], x[i], op == NUMERIC_MIN))
            acc[i] = x[i];
}

static void widen(Kind kind, float *to, const void *from, gsize n)
{
    switch (kind) {
    case KIND_F16: convert_from_f16(to, from, n); break;
    case KIND_BF16: convert_from_bf16(to, from, n); break;
    case KIND_E4M3: convert_from_e4m3(to, from, n); break;
    case KIND_E5M2: convert_from_e5m2(to, from, n); break;
    default: memcpy(to, from, n * 4); break;
    }
}

static void narrow(Kind kind, void *to, const float *from, gsize n)
{
    switch (kind) {
    case KIND_F16: convert_to_f16(to, from, n); break;
    case KIND_BF16: convert_to_bf16(to, from, n); break;
    case KIND_E4M3: convert_to_e4m3(to, from, n); break;
    case KIND_E5M2: convert_to_e5m2(to, from, n); break;
    default: convert_canonical_f32(to, from, n); break;
    }
}

/* What the partial of this type is really kept in. */
static Kind kept_kind(Kind kind, NumericPrecision precision)
{
    gboolean fp8 = kind == KIND_E4M3 || kind == KIND_E5M2;
    if (precision == NUMERIC_ACC_F64 && kind == KIND_F32)
        return KIND_F64;
    if (precision == NUMERIC_ACC_F32 && kind != KIND_F64)
        return KIND_F32;
    if (precision == NUMERIC_ACC_F16 && fp8)
        return KIND_F16;
    return kind;
}

static void accumulate_float(NumericAcc *acc, Kind kind, NumericOp op, const void *operand, gsize n)
{
    Kind kept = kept_kind(kind, acc->precision);
    float f[NUMERIC_BYTES_MAX];
    double d[NUMERIC_BYTES_MAX / 4];
    if (kept == KIND_F64) {
        if (kind == KIND_F64) {
            memcpy(d, operand, n * 8);
        } else {
            widen(kind, f, operand, n);
            for (gsize i = 0; i < n; i++)
                d[i] = f[i];
        }
        if (acc->operands == 0)
            memcpy(acc->part.d, d, n * sizeof d[0]);
        else
            combine_f64(acc->part.d, d, n, op);
        return;
    }
    if (acc->operands == 0) {
        widen(kind, acc->part.f, operand, n);
        return;
    }
    widen(kind, f, operand, n);
    combine_f32(acc->part.f, f, n, op);
    if ((op == NUMERIC_ADD || op == NUMERIC_MUL) && kept != KIND_F32) { /* round to what the partial is kept in */
        guint16 rounded[NUMERIC_BYTES_MAX];
        narrow(kept, rounded, acc->part.f, n);
        widen(kept, acc->part.f, rounded, n);
    }
}

void numeric_accumulate(NumericAcc *acc, NumericType type, NumericOp op, const void *operand, gsize n_bytes)
{
    const TypeRow *row = &type_rows[type];
    g_assert(numeric_allows(type, op) && n_bytes <= NUMERIC_BYTES_MAX && n_bytes % row->element_bytes == 0);
    if (row->kind >= KIND_F16) {
        accumulate_float(acc, row->kind, op, operand, n_bytes / row->element_bytes);
    } else if (acc->operands == 0) {
        memcpy(&acc->part, operand, n_bytes);
    } else if (row->element_bytes == 4) {
        guint32 x[NUMERIC_BYTES_MAX / 4];
        memcpy(x, operand, n_bytes);
        combine_u32(acc->part.u32, x, n_bytes / 4, op, row->kind == KIND_S32);
    } else {
        guint64 x[NUMERIC_BYTES_MAX / 8];
        memcpy(x, operand, n_bytes);
        combine_u64(acc->part.u64, x, n_bytes / 8, op, row->kind == KIND_S64);
    }
    acc->operands++;
}

void numeric_finish(const NumericAcc *acc, NumericType type, void *result, gsize n_bytes)
{
    const TypeRow *row = &type_rows[type];
    gsize n = n_bytes / row->element_bytes;
    g_assert(acc->operands > 0);
    if (row->kind < KIND_F16) {
        memcpy(result, &acc->part, n_bytes);
    } else if (kept_kind(row->kind, acc->precision) != KIND_F64) {
        narrow(row->kind, result, acc->part.f, n);
    } else if (row->kind == KIND_F64) {
        convert_canonical_f64(result, acc->part.d, n);
    } else {
        float f[NUMERIC_BYTES_MAX / 4];
        for (gsize i = 0; i < n; i++)
            f[i] = (float)acc->part.d[i];
        narrow(row->kind, result, f, n);
    }
}

/* One integer, as the counter of a barrier is. */
static void numeric_apply_integer(const TypeRow *row, NumericOp op, void *dst, const void *operand)
{
    union {
        guint32 u32;
        guint64 u64;
    } now, with;
    memcpy(&now, dst, row->element_bytes);
    memcpy(&with, operand, row->element_bytes);
    if (row->element_bytes == 4)
        combine_u32(&now.u32, &with.u32, 1, op, row->kind == KIND_S32);
    else
        combine_u64(&now.u64, &with.u64, 1, op, row->kind == KIND_S64);
    memcpy(dst, &now, row->element_bytes);
}

void numeric_apply(NumericType type, NumericOp op, void *dst, const void *operand, gsize n_bytes)
{
    const TypeRow *row = &type_rows[type];
    if (row->kind < KIND_F16 && n_bytes == row->element_bytes) {
        g_assert(numeric_allows(type, op));
        numeric_apply_integer(row, op, dst, operand);
        return;
    }
    NumericAcc acc;
    for (gsize at = 0; at < n_bytes; at += NUMERIC_BYTES_MAX) {
        gsize piece = MIN(n_bytes - at, NUMERIC_BYTES_MAX);
        numeric_clear(&acc, NUMERIC_NATIVE);
        numeric_accumulate(&acc, type, op, (const char *)dst + at, piece);
        numeric_accumulate(&acc, type, op, (const char *)operand + at, piece);
        numeric_finish(&acc, type, (char *)dst + at, piece);
    }
}

double numeric_get(NumericType type, const void *element)
{
    union {
        gint32 s32;
        guint32 u32;
        gint64 s64;
        guint64 u64;
        double d;
    } v;
    float f;
    memcpy(&v, element, type_rows[type].element_bytes);
    switch (type_rows[type].kind) {
    case KIND_U32: return v.u32;
    case KIND_S32: return v.s32;
    case KIND_U64: return (double)v.u64;
    case KIND_S64: return (double)v.s64;
    case KIND_F64: return v.d;
    default: widen(type_rows[type].kind, &f, element, 1); return f;
    }
}

/* double -> element, rounding once: through f32 by "round to odd", which keeps the sticky bit. */
static float f64_to_f32_odd(double value)
{
    float near = (float)value;
    if (isnan(value) || isinf(near) || (double)near == value)
        return near;
    guint32 bits;
    memcpy(&bits, &near, 4);
    if (bits & 1)
        return near;
    gboolean up = fabs((double)near) < fabs(value);
    bits = up ? bits + 1 : bits - 1;
    memcpy(&near, &bits, 4);
    return near;
}

void numeric_set(NumericType type, void *element, double value)
{
    union {
        gint32 s32;
        guint32 u32;
        gint64 s64;
        guint64 u64;
        double d;
    } v;
    float f;
    switch (type_rows[type].kind) {
    case KIND_U32: v.u32 = (guint32)CLAMP(value, 0, 4294967295.0); break;
    case KIND_S32: v.s32 = (gint32)CLAMP(value, -2147483648.0, 2147483647.0); break;
    case KIND_U64: v.u64 = value >= 0x1p64 ? G_MAXUINT64 : (guint64)MAX(value, 0); break;
    case KIND_S64: v.s64 = value >= 0x1p63 ? G_MAXINT64 : (gint64)MAX(value, -0x1p63); break;
    case KIND_F64: v.d = value; break;
    default:
        f = type_rows[type].kind == KIND_F32 ? (float)value : f64_to_f32_odd(value);
        narrow(type_rows[type].kind, element, &f, 1);
        return;
    }
    memcpy(element, &v, type_rows[type].element_bytes);
}
