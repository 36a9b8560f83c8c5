/* mma.sync: its operands, by their fragments. */
#include "ptx/run/matrix.h"

static gboolean is_wide(const PtxMatrices *x) { return x->form.type[MATRIX_D] == T_F64; }

/* The element's place in the arrays of PtxMatrices. */
static guint index_of(const PtxMatrices *x, PtxMatrixOperand of, guint row, guint col)
{
    return row * (of == MATRIX_A ? x->k : x->form.n) + col;
}

/* Where a register of each lane has its first element. Lanes are groups of four, and each has a step of its own. */
typedef struct {
    guint first, step, lane_step, group_step; /* step: from element to element of a register */
} Places;

static guint place_at(const PtxMatrices *x, PtxMatrixOperand of, guint reg, guint lane, guint *step)
{
    guint words = x->form.type[of] == T_B1 ? 32 : 1; /* bits are taken as words */
    PtxFragmentPlace place = ptx_fragment_place(&x->form, of, lane, reg);
    *step = index_of(x, of, place.next_row, place.next_col);
    return index_of(x, of, of == MATRIX_B ? place.row / words : place.row,
                    of == MATRIX_A ? place.col / words : place.col);
}

static Places places_of(const PtxMatrices *x, PtxMatrixOperand of, guint reg)
{
    Places places;
    places.first = place_at(x, of, reg, 0, &places.step);
    places.lane_step = place_at(x, of, reg, 1, &places.step) - places.first;
    places.group_step = place_at(x, of, reg, 4, &places.step) - places.first;
    return places;
}

static guint place_of_lane(const Places *places, guint lane)
{
    return places->first + lane % 4 * places->lane_step + lane / 4 * places->group_step;
}

static void take_register(guint32 *to, const Places *places, const guint32 *lanes, guint bits)
{
    guint32 mask = bits == 32 ? 0xffffffffu : (1u << bits) - 1;
    for (guint lane = 0; lane < PTX_LANES; lane++) {
        guint at = place_of_lane(places, lane);
        guint32 word = lanes[lane];
        for (guint e = 0; e < 32; e += bits, at += places->step)
            to[at] = word >> e & mask;
    }
}

void ptx_matrix_take(const PtxWarp *warp, PtxMatrices *x, PtxMatrixOperand of, const guint32 *registers)
{
    const PtxMatrixForm *form = &x->form;
    guint bits = ptx_fragment_bits((PtxType)form->type[of]), n = ptx_fragment_registers(form, of);
    guint32 *to = of == MATRIX_A ? x->a : of == MATRIX_B ? x->b : x->c;
    guint64 *wide = of == MATRIX_A ? x->a64 : of == MATRIX_B ? x->b64 : x->c64;
    for (guint r = 0; r < n; r++) {
        Places places = places_of(x, of, r);
        const void *lanes = ptx_lanes(warp, registers[r]);
        if (is_wide(x))
            for (guint lane = 0; lane < PTX_LANES; lane++)
                wide[place_of_lane(&places, lane)] = ((const guint64 *)lanes)[lane];
        else if (bits == 32 || bits == 1)
            take_register(to, &places, lanes, 32);
        else if (bits == 16)
            take_register(to, &places, lanes, 16);
        else
            take_register(to, &places, lanes, bits);
    }
}

void ptx_matrix_put(PtxWarp *warp, const PtxMatrices *x, const guint32 *registers)
{
    const PtxMatrixForm *form = &x->form;
    guint bits = ptx_fragment_bits((PtxType)form->type[MATRIX_D]), n = ptx_fragment_registers(form, MATRIX_D);
    for (guint r = 0; r < n; r++) {
        if (registers[r] == PLACE_NONE)
            continue;
        Places places = places_of(x, MATRIX_D, r);
        void *lanes = ptx_lanes_out(warp, registers[r]);
        for (guint lane = 0; lane < PTX_LANES; lane++) {
            guint at = place_of_lane(&places, lane);
            if (is_wide(x))
                ((guint64 *)lanes)[lane] = x->c64[at];
            else
                ((guint32 *)lanes)[lane] = bits == 16 ? x->c[at] | x->c[at + 1] << 16 : x->c[at];
        }
    }
}

void ptx_matrix_multiply(PtxMatrices *x)
{
    switch (x->form.type[MATRIX_A]) {
    case T_F64: ptx_matrix_double(x); break;
    case T_S8:
    case T_U8:
    case T_S4:
    case T_U4: ptx_matrix_integer(x); break;
    case T_B1: ptx_matrix_bits(x); break;
    default: ptx_matrix_float(x);
    }
}

static void take_quad(const PtxWarp *warp, PtxMatrices *x, PtxMatrixOperand of, const guint32 *places, guint quad)
{
    guint n = ptx_fragment_registers(&x->form, of), bits = ptx_fragment_bits((PtxType)x->form.type[of]);
    guint32 *to = of == MATRIX_A ? x->a : of == MATRIX_B ? x->b : x->c;
    for (guint r = 0; r < n; r++)
        for (guint i = 0; i < 8; i++) {
            guint lane = 4 * quad + i % 4 + (i >= 4 ? 16 : 0);
            PtxFragmentPlace place = ptx_fragment_place(&x->form, of, lane, r);
            guint32 word = ptx_lane_u32(warp, places[r], lane);
            for (guint e = 0; e < 32 / bits; e++)
                to[index_of(x, of, place.row + e * place.next_row, place.col + e * place.next_col)] =
                    bits == 32 ? word : word >> (16 * e) & 0xffff;
        }
}

/* Volta's shape: four products of their own, each by the lanes of one quad and those of the quad 16 lanes on. Results
 * are written when all have been read, since registers may be both. */
static void multiply_volta(PtxWarp *warp, PtxMatrices *x, const guint32 *from, const guint32 *to)
{
    guint n = ptx_fragment_registers(&x->form, MATRIX_D), a = 2, b = 2;
    guint32 out[8][PTX_LANES];
    for (guint quad = 0; quad < 4; quad++) {
        take_quad(warp, x, MATRIX_A, from, quad);
        take_quad(warp, x, MATRIX_B, from + a, quad);
        take_quad(warp, x, MATRIX_C, from + a + b, quad);
        ptx_matrix_multiply(x);
        for (guint r = 0; r < n; r++)
            for (guint i = 0; i < 8; i++) {
                guint lane = 4 * quad + i % 4 + (i >= 4 ? 16 : 0);
                PtxFragmentPlace place = ptx_fragment_place(&x->form, MATRIX_D, lane, r);
                guint at = index_of(x, MATRIX_D, place.row, place.col);
                out[r][lane] = x->form.type[MATRIX_D] == T_F16 ? x->c[at] | x->c[at + 1] << 16 : x->c[at];
            }
    }
    for (guint r = 0; r < n; r++)
        if (to[r] != PLACE_NONE)
            memcpy(ptx_lanes_out(warp, to[r]), out[r], sizeof out[r]);
}

void ptx_run_mma(PtxWarp *warp, const PtxIns *ins)
{
    const guint32 *places = warp->current->frame->code->places, *from = places + ins->vec2;
    PtxMatrices x;
    warp->matrix_sync = TRUE;
    x.form = ptx_matrix_unpack(ins->imm);
    x.ins = ins;
    x.k = x.form.type[MATRIX_A] == T_B1 ? x.form.k / 32 : x.form.k;
    x.hot = warp->current->frame->code->hot;
    x.negate_a = x.negate_b = x.is_wgmma = FALSE;
    if (x.form.m == 8 && x.form.k == 4 && x.form.type[MATRIX_A] == T_F16) {
        multiply_volta(warp, &x, from, places + ins->vec);
        return;
    }
    guint a = ptx_fragment_registers(&x.form, MATRIX_A), b = ptx_fragment_registers(&x.form, MATRIX_B);
    ptx_matrix_take(warp, &x, MATRIX_A, from);
    ptx_matrix_take(warp, &x, MATRIX_B, from + a);
    ptx_matrix_take(warp, &x, MATRIX_C, from + a + b);
    ptx_matrix_multiply(&x);
    ptx_matrix_put(warp, &x, places + ins->vec);
}
