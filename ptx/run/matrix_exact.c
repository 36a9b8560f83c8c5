/* Products of matrices whose results are exact, or rounded as IEEE 754 says: integers, bits, f64. */
#include "ptx/run/matrix.h"
#include "ptx/run/scalar.h"

static gint32 element(guint32 bits, PtxType type)
{
    switch (type) {
    case T_S8: return (gint8)bits;
    case T_S4: return (gint32)(bits << 28) >> 28;
    default: return (gint32)bits;
    }
}

/* .satfinite limits the whole sum, which has no steps that overflow. */
void ptx_matrix_integer(PtxMatrices *x)
{
    const PtxMatrixForm *form = &x->form;
    PtxType type_a = (PtxType)form->type[MATRIX_A], type_b = (PtxType)form->type[MATRIX_B];
    for (guint i = 0; i < x->k * form->n; i++)
        x->b[i] = (guint32)element(x->b[i], type_b);
    for (guint m = 0; m < form->m; m++) {
        gint32 dot[MATRIX_N_MAX] = {0}; /* 64 products of 16 bits */
        for (guint k = 0; k < x->k; k++) {
            gint32 a = element(x->a[m * x->k + k], type_a);
            for (guint n = 0; n < form->n; n++)
                dot[n] += a * (gint32)x->b[k * form->n + n];
        }
        for (guint n = 0; n < form->n; n++) {
            guint32 *c = &x->c[m * form->n + n];
            gint64 sum = (gint64)(gint32)*c + dot[n];
            if (x->ins->flags & FLAG_SATFINITE)
                sum = CLAMP(sum, G_MININT32, G_MAXINT32);
            *c = (guint32)sum;
        }
    }
}

void ptx_matrix_bits(PtxMatrices *x)
{
    const PtxMatrixForm *form = &x->form;
    for (guint m = 0; m < form->m; m++)
        for (guint k = 0; k < x->k; k++)
            for (guint n = 0; n < form->n; n++) {
                guint32 a = x->a[m * x->k + k], b = x->b[k * form->n + n];
                x->c[m * form->n + n] += (guint32)__builtin_popcount(x->ins->mode == W_XOR ? a ^ b : a & b);
            }
}

#define QUIET G_GUINT64_CONSTANT(0x0008000000000000)
#define NAN_F64 G_GUINT64_CONSTANT(0xfff8000000000000)

/* Of operands that are no numbers the first one of B, the addend and A, made quiet: unlike fma.f64. */
static guint64 nan_of(const double operand[3])
{
    for (guint i = 0; i < 3; i++)
        if (operand[i] != operand[i])
            return ptx_double_bits(operand[i]) | QUIET;
    return NAN_F64;
}

/* One fused operation after the other, in the order of k. */
void ptx_matrix_double(PtxMatrices *x)
{
    const PtxMatrixForm *form = &x->form;
    PtxWord mode = x->ins->mode ? (PtxWord)x->ins->mode : W_RN;
    for (guint m = 0; m < form->m; m++)
        for (guint n = 0; n < form->n; n++) {
            double sum = ptx_double(x->c64[m * form->n + n]);
            for (guint k = 0; k < x->k; k++) {
                double a = ptx_double(x->a64[m * x->k + k]), b = ptx_double(x->b64[k * form->n + n]);
                const double operand[] = {b, sum, a};
                sum = mode == W_RN ? __builtin_fma(a, b, sum) : ptx_directed(DIRECTED_FMA, a, b, sum, 0, mode);
                if (sum != sum)
                    sum = ptx_double(nan_of(operand));
            }
            x->c64[m * form->n + n] = ptx_double_bits(sum);
        }
}
