/* Atomic operations on one word of memory. Sums of f32 in global memory flush subnormals, as NVIDIA's L2 does (and as
 * the H100 that was measured did); those in shared memory do not. */
#include "ptx/run/exec.h"
#include "ptx/run/scalar.h"

static guint64 integer(PtxType type, PtxWord op, guint bytes, guint64 a, guint64 b)
{
    guint shift = 64 - 8 * bytes;
    gint64 x = (gint64)(a << shift) >> shift, y = (gint64)(b << shift) >> shift;
    gboolean is_signed = ptx_type_is_signed(type);
    switch (op) {
    case W_ADD: return a + b;
    case W_MIN: return is_signed ? (x < y ? a : b) : MIN(a, b);
    case W_MAX: return is_signed ? (x > y ? a : b) : MAX(a, b);
    case W_INC: return a >= b ? 0 : a + 1;
    case W_DEC: return a == 0 || a > b ? b : a - 1;
    case W_AND: return a & b;
    case W_OR: return a | b;
    case W_XOR: return a ^ b;
    default: return b; /* exch */
    }
}

static guint64 floating(PtxType type, PtxWord op, guint64 a, guint64 b, gboolean in_l2)
{
    if (type == T_F64 && in_l2 && (a << 1 > 0xffe0000000000000u || b << 1 > 0xffe0000000000000u))
        return b << 1 > 0xffe0000000000000u ? b : a; /* an L2 passes a NaN on as it is */
    PtxIns ins = {.op = (guint8)(op == W_ADD   ? OP_ADD
                                 : op == W_MIN ? OP_MIN
                                               : OP_MAX),
                  .type = (guint8)type,
                  .type2 = (guint8)type,
                  .mode = W_RN,
                  .flags = in_l2 && type == T_F32 ? FLAG_FTZ : 0};
    guint64 in[5] = {a, b, 0, 0, 0};
    return ptx_scalar_find((PtxOp)ins.op)(&ins, in, NULL);
}

void ptx_atomic_apply(PtxType type, PtxWord op, guint bytes, guint8 *memory, const guint8 *operand,
                      const guint8 *compare, guint8 *old, gboolean in_l2)
{
    guint8 was[16], put[16];
    memcpy(was, memory, bytes);
    memcpy(put, operand, bytes);
    if (op == W_CAS) {
        if (!memcmp(was, compare, bytes))
            memcpy(memory, put, bytes);
    } else if (op == W_EXCH || bytes > 8) {
        memcpy(memory, put, bytes);
    } else {
        guint64 a = 0, b = 0;
        memcpy(&a, was, bytes);
        memcpy(&b, put, bytes);
        a = ptx_type_is_float(type) ? floating(type, op, a, b, in_l2) : integer(type, op, bytes, a, b);
        memcpy(memory, &a, bytes);
    }
    if (old)
        memcpy(old, was, bytes);
}
