/* wgmma: products of four warps with matrices that descriptors place in shared memory.
 *
 * Each warp multiplies its 16 rows of A by all of B, when it comes to the instruction: results are there at once, and
 * only time (matrix units that are busy, groups that are waited for) is as if they came later. A program that reads
 * its accumulators, or writes the matrices, before it has waited would see something else on hardware. Of such
 * mistakes one is found: a product without the fence that PTX wants before a warp's first one.
 *
 * Source: PTX ISA 9.0, "Matrix Descriptor Format", "Strides", "Swizzling Modes". */
#include "ptx/run/matrix.h"

#define FIELD_MASK 0x3fffu /* of addresses and strides, in units of 16 B */

typedef struct {
    guint32 start, leading, stride;
    guint32 width; /* bytes of a row of the pattern: 16 (no swizzle), 32, 64, 128 */
    gboolean k_major;
} Layout;

static gboolean read_descriptor(PtxWarp *warp, const PtxIns *ins, guint at, gboolean transposed, Layout *layout)
{
    static const guint8 widths[] = {16, 128, 64, 32};
    const guint64 *lanes = ptx_lanes(warp, ins->src[at]);
    guint64 bits = lanes[0];
    for (guint l = 1; l < PTX_LANES; l++)
        if (lanes[l] != bits) {
            ptx_fault(warp, ins, l, PTX_FAULT_ILLEGAL_INSTRUCTION, lanes[l],
                      "the lanes of a warp give wgmma different descriptors, 0x%" G_GINT64_MODIFIER
                      "x and 0x%" G_GINT64_MODIFIER "x",
                      bits, lanes[l]);
            return FALSE;
        }
    layout->start = (guint32)(bits & FIELD_MASK) << 4;
    layout->leading = (guint32)(bits >> 16 & FIELD_MASK) << 4;
    layout->stride = (guint32)(bits >> 32 & FIELD_MASK) << 4;
    layout->width = widths[bits >> 62];
    layout->k_major = !transposed;
    if (bits >> 49 & 7) {
        ptx_fault(warp, ins, 0, PTX_FAULT_ILLEGAL_INSTRUCTION, bits,
                  "the descriptor 0x%" G_GINT64_MODIFIER
                  "x has a base offset; those are not simulated: a swizzled matrix "
                  "begins at a multiple of %u bytes",
                  bits, 8 * layout->width);
        return FALSE;
    }
    return TRUE;
}

/* Where an element of a row (of A; of B a column) and of k, both in bytes of it, lies. */
static guint32 element_at(const Layout *x, guint row, guint k, guint bytes)
{
    guint32 at = x->start;
    if (x->k_major && x->width == 16)
        at += row / 8 * x->stride + row % 8 * 16 + k * bytes / 16 * x->leading + k * bytes % 16;
    else if (x->k_major)
        at += row / 8 * x->stride + row % 8 * x->width + k * bytes;
    else if (x->width == 16)
        at += row / 8 * x->stride + row % 8 * bytes + k / 8 * x->leading + k % 8 * 16;
    else
        at += row * bytes / x->width * x->leading + row * bytes % x->width + k / 8 * x->stride + k % 8 * x->width;
    return x->width == 16 ? at : at ^ ((at >> 7 & (x->width / 16 - 1)) << 4);
}

/* Rows (columns of B) from `first` on. Whatever the layout, 16 bytes lie side by side: of k, or, where that is not what
 * goes on fastest, of rows. */
static gboolean take_shared(PtxWarp *warp, PtxMatrices *x, const Layout *layout, PtxMatrixOperand of, guint first,
                            guint n)
{
    guint bits = ptx_fragment_bits((PtxType)x->form.type[of]), bytes = bits == 1 ? 4 : bits / 8, each = 16 / bytes;
    guint32 *to = of == MATRIX_A ? x->a : x->b;
    guint row_step = of == MATRIX_A ? x->k : 1, k_step = of == MATRIX_A ? 1 : x->form.n;
    guint rows = layout->k_major ? 1 : each, ks = layout->k_major ? each : 1;
    guint step = layout->k_major ? k_step : row_step;
    const PtxCta *cta = warp->cta;
    for (guint row = 0; row < n; row += rows)
        for (guint k = 0; k < x->k; k += ks) {
            guint32 at = element_at(layout, first + row, k, bytes), *element = &to[row * row_step + k * k_step];
            if (at + 16 > cta->shared_bytes) {
                ptx_fault(warp, x->ins, 0, PTX_FAULT_ILLEGAL_ADDRESS, at,
                          "matrix %c of wgmma reaches 0x%x, outside the %u bytes of shared memory",
                          of == MATRIX_A ? 'A' : 'B', at, cta->shared_bytes);
                return FALSE;
            }
            for (guint i = 0; i < each; i++, element += step) {
                *element = 0;
                memcpy(element, cta->shared + at + i * bytes, bytes);
            }
        }
    return TRUE;
}

static PtxStep multiply(PtxWarp *warp, const PtxIns *ins)
{
    const guint32 *places = warp->current->frame->code->places;
    PtxMatrices x;
    Layout a, b;
    x.form = ptx_matrix_unpack(ins->imm);
    x.ins = ins;
    x.k = x.form.type[MATRIX_A] == T_B1 ? x.form.k / 32 : x.form.k;
    x.hot = warp->current->frame->code->hot;
    x.is_wgmma = TRUE;
    x.negate_a = (ins->combine & PTX_WGMMA_NEGATE_A) != 0;
    x.negate_b = (ins->combine & PTX_WGMMA_NEGATE_B) != 0;
    if (!read_descriptor(warp, ins, 1, ins->combine & PTX_WGMMA_TRANS_B, &b))
        return STEP_FAULT;
    const guint32 *sources = places + ins->vec2; /* A, where it is in registers, and what is added to */
    guint n_a = ins->n_vec2 - ins->n_vec;
    if (n_a)
        ptx_matrix_take(warp, &x, MATRIX_A, sources);
    else if (!read_descriptor(warp, ins, 0, ins->combine & PTX_WGMMA_TRANS_A, &a) ||
             !take_shared(warp, &x, &a, MATRIX_A, 16 * (warp->index % 4), 16))
        return STEP_FAULT;
    if (!take_shared(warp, &x, &b, MATRIX_B, 0, x.form.n))
        return STEP_FAULT;
    guint32 add = ptx_predicate(warp, ins->src[2]);
    if (add & 1)
        ptx_matrix_take(warp, &x, MATRIX_C, sources + n_a);
    else
        memset(x.c, 0, sizeof *x.c * x.form.m * x.form.n);
    ptx_matrix_multiply(&x);
    ptx_matrix_put(warp, &x, places + ins->vec);
    return STEP_NEXT;
}

static void commit(PtxWgmma *w)
{
    guint32 oldest = w->n_groups == PTX_WGMMA_GROUPS ? w->group[PTX_WGMMA_GROUPS - 1] : 0;
    memmove(&w->group[1], &w->group[0], sizeof w->group - sizeof *w->group);
    w->group[0] = w->open;
    w->open = 0;
    w->n_groups = MIN(w->n_groups + 1, PTX_WGMMA_GROUPS);
    w->group[PTX_WGMMA_GROUPS - 1] += oldest;
}

/* Lets the host's time go on to where all but the newest groups are done. */
static PtxStep wait(PtxWarp *warp, PtxPath *path, const PtxIns *ins)
{
    const PtxGrid *grid = warp->cta->grid;
    PtxWgmma *w = &warp->wgmma;
    guint32 keep = (guint32)MIN(ins->imm, PTX_WGMMA_GROUPS);
    if (w->n_groups <= keep)
        return STEP_NEXT;
    if (!path->fenced && grid->host->keeps_time) {
        warp->matrix_waits = TRUE;
        warp->matrix_left = 0;
        for (guint32 i = 0; i < keep; i++)
            warp->matrix_left += w->group[i];
        path->fenced = TRUE;
        path->state = PATH_SLEEP; /* the host's turn */
        path->wake_ps = grid->host->now_ps(grid->user) + 1;
        return STEP_AGAIN;
    }
    path->fenced = FALSE;
    for (guint32 i = keep; i < PTX_WGMMA_GROUPS; i++)
        w->group[i] = 0;
    w->n_groups = keep;
    return STEP_NEXT;
}

PtxStep ptx_step_wgmma(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask)
{
    if (mask != PTX_FULL_MASK)
        return ptx_fault(warp, ins, (guint)__builtin_ctz(~mask), PTX_FAULT_ILLEGAL_INSTRUCTION, ~mask,
                         "wgmma takes all lanes of a warp; lanes 0x%x are not there", ~mask);
    switch (ins->op) {
    case OP_WGMMA_FENCE: warp->wgmma.fenced = TRUE; return STEP_NEXT;
    case OP_WGMMA_COMMIT: commit(&warp->wgmma); return STEP_NEXT;
    case OP_WGMMA_WAIT: return wait(warp, path, ins);
    default:
        if (!warp->wgmma.fenced)
            return ptx_fault(warp, ins, 0, PTX_FAULT_ILLEGAL_INSTRUCTION, 0,
                             "wgmma.mma_async without a wgmma.fence before it");
        warp->wgmma.open += ptx_cost_matrix(ins).busy;
        warp->wgmma.behind = ptx_cost_wgmma_behind(ins);
        return multiply(warp, ins);
    }
}
