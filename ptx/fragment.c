#include "ptx/fragment.h"

guint64 ptx_matrix_pack(const PtxMatrixForm *form)
{
    guint64 bits = form->m | (guint64)form->n << 8 | (guint64)form->k << 17 | (guint64)form->a_col << 50 |
                   (guint64)form->b_row << 51;
    for (guint i = 0; i < 4; i++)
        bits |= (guint64)form->type[i] << (26 + 6 * i);
    return bits;
}

PtxMatrixForm ptx_matrix_unpack(guint64 bits)
{
    PtxMatrixForm form = {.m = bits & 0xff,
                          .n = bits >> 8 & 0x1ff,
                          .k = bits >> 17 & 0x1ff,
                          .a_col = bits >> 50 & 1,
                          .b_row = bits >> 51 & 1};
    for (guint i = 0; i < 4; i++)
        form.type[i] = bits >> (26 + 6 * i) & 0x3f;
    return form;
}

/* ---- what there is */

typedef struct {
    guint8 type; /* of A */
    guint8 m, n;
    guint16 k;
    guint8 sm;
} Shape;

static const Shape mma_shapes[] = {
    {T_F16, 8, 8, 4, 70},    {T_F16, 16, 8, 8, 75},   {T_F16, 16, 8, 16, 80},  {T_BF16, 16, 8, 8, 80},
    {T_BF16, 16, 8, 16, 80}, {T_TF32, 16, 8, 4, 80},  {T_TF32, 16, 8, 8, 80},  {T_E4M3, 16, 8, 16, 89},
    {T_E4M3, 16, 8, 32, 89}, {T_E5M2, 16, 8, 16, 89}, {T_E5M2, 16, 8, 32, 89}, {T_F64, 8, 8, 4, 80},
    {T_F64, 16, 8, 4, 90},   {T_F64, 16, 8, 8, 90},   {T_F64, 16, 8, 16, 90},  {T_S8, 8, 8, 16, 75},
    {T_S8, 16, 8, 16, 80},   {T_S8, 16, 8, 32, 80},   {T_S4, 8, 8, 32, 75},    {T_S4, 16, 8, 32, 80},
    {T_S4, 16, 8, 64, 80},   {T_B1, 8, 8, 128, 75},   {T_B1, 16, 8, 128, 80},  {T_B1, 16, 8, 256, 80}};

/* Signed or not, integers have the same shapes. */
static PtxType shape_type(PtxType type) { return type == T_U8 ? T_S8 : type == T_U4 ? T_S4 : type; }

guint ptx_mma_target(const PtxMatrixForm *form, const char **shapes)
{
    static const struct {
        guint8 type;
        const char *text;
    } texts[] = {{T_F16, "m8n8k4, m16n8k8, m16n8k16"},
                 {T_BF16, "m16n8k8, m16n8k16"},
                 {T_TF32, "m16n8k4, m16n8k8"},
                 {T_E4M3, "m16n8k16, m16n8k32"},
                 {T_E5M2, "m16n8k16, m16n8k32"},
                 {T_F64, "m8n8k4, m16n8k4, m16n8k8, m16n8k16"},
                 {T_S8, "m8n8k16, m16n8k16, m16n8k32"},
                 {T_S4, "m8n8k32, m16n8k32, m16n8k64"},
                 {T_B1, "m8n8k128, m16n8k128, m16n8k256"}};
    PtxType type = shape_type((PtxType)form->type[MATRIX_A]);
    *shapes = "none";
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        if (texts[i].type == type)
            *shapes = texts[i].text;
    for (guint i = 0; i < G_N_ELEMENTS(mma_shapes); i++) {
        const Shape *shape = &mma_shapes[i];
        if (shape->type == type && shape->m == form->m && shape->n == form->n && shape->k == form->k)
            return shape->sm;
    }
    return 0;
}

gboolean ptx_wgmma_has(const PtxMatrixForm *form, const char **shapes)
{
    PtxType type = shape_type((PtxType)form->type[MATRIX_A]);
    guint k = 256 / MAX(ptx_fragment_bits(type), 1u);
    gboolean integer = type == T_S8 || type == T_B1;
    if (type == T_TF32)
        k = 8;
    *shapes = integer ? "m64nNk32 (b1: k256), N of 8, 16, 24, 32 and multiples of 16 up to 256"
                      : "m64nNk16 (tf32: k8, e4m3 and e5m2: k32), N a multiple of 8 up to 256";
    gboolean n = form->n >= 8 && form->n <= 256 && form->n % 8 == 0;
    if (integer)
        n = n && (form->n <= 32 || form->n % 16 == 0);
    return form->m == 64 && form->k == k && n;
}

/* ---- where elements are */

guint ptx_fragment_bits(PtxType type)
{
    switch (type) {
    case T_F64: return 64;
    case T_F32:
    case T_TF32:
    case T_S32: return 32;
    case T_F16:
    case T_BF16: return 16;
    case T_S4:
    case T_U4: return 4;
    case T_B1: return 1;
    default: return 8;
    }
}

/* The shape of Volta, of which a warp computes four at once, each by four lanes and the four 16 further on. */
static gboolean is_volta(const PtxMatrixForm *form)
{
    return form->m == 8 && form->k == 4 && form->type[MATRIX_A] == T_F16;
}

guint ptx_fragment_registers(const PtxMatrixForm *form, PtxMatrixOperand of)
{
    guint elements = of == MATRIX_A ? form->m * form->k : of == MATRIX_B ? form->n * form->k : form->m * form->n;
    guint lanes = is_volta(form) ? 8 : 32;
    return elements * ptx_fragment_bits((PtxType)form->type[of]) / lanes / (8 * ptx_fragment_register_bytes(form));
}

static PtxFragmentPlace volta_place(const PtxMatrixForm *form, PtxMatrixOperand of, guint lane, guint reg)
{
    guint line = lane % 4 + (lane >= 16 ? 4 : 0);
    switch (of) {
    case MATRIX_A:
        return form->a_col ? (PtxFragmentPlace){2 * reg + (lane >= 16 ? 4 : 0), lane % 4, 1, 0}
                           : (PtxFragmentPlace){line, 2 * reg, 0, 1};
    case MATRIX_B:
        return form->b_row ? (PtxFragmentPlace){lane % 4, 2 * reg + (lane >= 16 ? 4 : 0), 0, 1}
                           : (PtxFragmentPlace){2 * reg, line, 1, 0};
    default:
        if (form->type[of] == T_F16)
            return (PtxFragmentPlace){line, 2 * reg, 0, 1};
        return (PtxFragmentPlace){(lane & 1) + (reg & 2) + (lane >= 16 ? 4 : 0), (reg & 4) + (lane & 2) + (reg & 1), 0,
                                  1};
    }
}

PtxFragmentPlace ptx_fragment_place(const PtxMatrixForm *form, PtxMatrixOperand of, guint lane, guint reg)
{
    if (is_volta(form))
        return volta_place(form, of, lane, reg);
    guint group = lane / 4, in = lane % 4,
          each = 8 * ptx_fragment_register_bytes(form) / ptx_fragment_bits((PtxType)form->type[of]);
    switch (of) {
    case MATRIX_A:
        return form->m == 8 ? (PtxFragmentPlace){group, each * (in + 4 * reg), 0, 1}
                            : (PtxFragmentPlace){group + 8 * (reg % 2), each * (in + 4 * (reg / 2)), 0, 1};
    case MATRIX_B: return (PtxFragmentPlace){each * (in + 4 * reg), group, 1, 0};
    default: break;
    }
    if (each == 2) /* f16: a pair of a row; rows 8 apart, then the next 8 columns */
        return (PtxFragmentPlace){group + 8 * (reg % 2), 2 * in + 8 * (reg / 2), 0, 1};
    guint row = form->m == 8 ? group : group + 8 * (reg / 2 % 2);
    guint tile = form->m == 8 ? reg / 2 : reg / 4;
    return (PtxFragmentPlace){row, 2 * in + reg % 2 + 8 * tile, 0, 1};
}
