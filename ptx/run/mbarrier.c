/* mbarrier objects: 64 bits of shared memory. The fields are ours (PTX leaves them open): arrivals that are missing
 * in bits 0 to 19, arrivals that a phase needs in 20 to 39, bytes that are under way in 40 to 61 (signed), the
 * phase's parity in 63.
 *
 * With .layout::v1, which bit 62 says, there are 9 bits of each count of arrivals (0 to 8, 9 to 17), and reports: a
 * predicate and a value of 8 bits of the present phase (18, 19 to 26) and of the last one (27, 28 to 35), and the
 * parity of the conditional phase (36), which goes on only with phases that had nothing to report. */
#include "ptx/run/exec.h"

#define COUNT_MAX 0xfffffu
#define COUNT_MAX_V1 0x1ffu
#define TRY_WAIT_NS 10000u /* when no time is given */

typedef struct {
    guint32 missing, expected;
    gint32 bytes;
    guint32 phase;
    gboolean v1;
    guint32 conditional;  /* v1: parity */
    guint32 report, last; /* v1: bit 8: there is one; its value */
} Mbarrier;

static Mbarrier unpack(guint64 word)
{
    Mbarrier m = {.bytes = (gint32)((gint64)(word << 2) >> 42), .phase = word >> 63, .v1 = word >> 62 & 1};
    m.missing = word & (m.v1 ? COUNT_MAX_V1 : COUNT_MAX);
    m.expected = m.v1 ? word >> 9 & COUNT_MAX_V1 : word >> 20 & COUNT_MAX;
    m.conditional = m.v1 ? word >> 36 & 1 : m.phase;
    if (m.v1) {
        m.report = (guint32)(word >> 18 & 1) << 8 | (guint32)(word >> 19 & 0xff);
        m.last = (guint32)(word >> 27 & 1) << 8 | (guint32)(word >> 28 & 0xff);
    }
    return m;
}

static guint64 pack(const Mbarrier *m)
{
    guint64 common = ((guint64)(guint32)m->bytes & 0x3fffffu) << 40 | (guint64)m->phase << 63;
    if (!m->v1)
        return common | (m->missing & COUNT_MAX) | (guint64)(m->expected & COUNT_MAX) << 20;
    return common | (guint64)1 << 62 | (m->missing & COUNT_MAX_V1) | (guint64)(m->expected & COUNT_MAX_V1) << 9 |
           (guint64)(m->report >> 8) << 18 | (guint64)(m->report & 0xff) << 19 | (guint64)(m->last >> 8) << 27 |
           (guint64)(m->last & 0xff) << 28 | (guint64)m->conditional << 36;
}

static guint64 word_at(const PtxCta *cta, guint32 at)
{
    guint64 word;
    memcpy(&word, cta->shared + at, 8);
    return word;
}

static void set_word(PtxCta *cta, guint32 at, guint64 word) { memcpy(cta->shared + at, &word, 8); }

static void wake_waiting(PtxCta *cta, guint32 at)
{
    PtxCluster *cluster = cta->cluster_of;
    for (guint32 c = 0; c < cluster->size; c++)
        for (guint32 w = 0; w < cta->grid->n_warps; w++) {
            PtxWarp *warp = &cluster->cta[c]->warp[w];
            gboolean woken = FALSE;
            for (PtxPath *path = warp->head; path; path = path->next)
                if (path->state == PATH_MBARRIER && path->at == at && path->rank == cta->rank) {
                    path->state = PATH_READY;
                    path->timed_out = FALSE;
                    woken = TRUE;
                }
            if (woken)
                ptx_warp_wake(warp, PTX_WAKE_MBARRIER);
        }
}

static void put(PtxCta *cta, guint32 at, Mbarrier *m)
{
    gboolean complete = m->missing == 0 && m->bytes == 0;
    if (complete) {
        m->conditional ^= m->report ? 0 : 1;
        m->last = m->report;
        m->report = 0;
        m->phase ^= 1;
        m->missing = m->expected;
    }
    set_word(cta, at, pack(m));
    if (complete)
        wake_waiting(cta, at);
    ptx_cluster_changed(cta->cluster_of);
}

void ptx_mbarrier_complete_tx(PtxCta *cta, guint32 at, guint32 bytes)
{
    Mbarrier m = unpack(word_at(cta, at));
    m.bytes -= (gint32)bytes;
    put(cta, at, &m);
}

gboolean ptx_mbarrier_reports(const PtxCta *cta, guint32 at) { return word_at(cta, at) >> 62 & 1; }

void ptx_mbarrier_report(PtxCta *cta, guint32 at, guint8 value)
{
    Mbarrier m = unpack(word_at(cta, at));
    m.report |= 0x100u | value;
    set_word(cta, at, pack(&m));
}

void ptx_mbarrier_arrive(PtxCta *cta, guint32 at, guint32 count)
{
    Mbarrier m = unpack(word_at(cta, at));
    m.missing -= MIN(count, m.missing);
    put(cta, at, &m);
}

guint8 *ptx_shared_place(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint64 va, guint32 bytes, guint lane,
                         PtxCta **cta, guint32 *at)
{
    guint64 offset = va;
    PtxSpace space = va >> PTX_WINDOW_SHIFT ? ptx_space_of(va, &offset) : SPACE_SHARED_CLUSTER;
    if (space != SPACE_SHARED_CLUSTER || (va >> PTX_WINDOW_SHIFT == 0 && ins->space == SPACE_GENERIC)) {
        ptx_fault(warp, ins, lane, PTX_FAULT_ILLEGAL_ADDRESS, va, "0x%" G_GINT64_MODIFIER "x is not in shared memory",
                  va);
        return NULL;
    }
    guint8 *memory = ptx_lane_memory(warp, path, ins, SPACE_SHARED_CLUSTER, offset, bytes, lane);
    if (!memory)
        return NULL;
    *cta = ptx_shared_cta(warp->cta, &offset);
    *at = (guint32)offset;
    return memory;
}

static PtxStep arrive(PtxWarp *warp, const PtxIns *ins, PtxCta *cta, guint32 at, guint lane)
{
    Mbarrier m = unpack(word_at(cta, at));
    guint64 old = pack(&m);
    guint32 operand = ins->src[1] != PLACE_NONE ? ptx_lane_u32(warp, ins->src[1], lane) : 1;
    guint32 count = ins->op == OP_MBAR_ARRIVE ? operand : 1;
    if (ins->op == OP_MBAR_ARRIVE_TX)
        m.bytes += (gint32)operand;
    if (count > m.missing)
        return ptx_fault(warp, ins, lane, PTX_FAULT_BARRIER, at, "%u arrivals at an mbarrier that expects %u more",
                         count, m.missing);
    m.missing -= count;
    if (ins->flags & FLAG_DROP)
        m.expected -= MIN(count, m.expected);
    put(cta, at, &m);
    if (ins->dst != PLACE_NONE)
        ptx_lane_set(warp, ins->dst, ins->dst_bytes, lane, old);
    return STEP_NEXT;
}

static PtxStep one_lane(PtxWarp *warp, const PtxIns *ins, PtxCta *cta, guint32 at, guint lane)
{
    guint32 operand = ins->src[1] != PLACE_NONE ? ptx_lane_u32(warp, ins->src[1], lane) : 0;
    Mbarrier m = unpack(word_at(cta, at));
    switch (ins->op) {
    case OP_MBAR_INIT:
        if (operand == 0 || operand > (ins->mode == W_LAYOUT_V1 ? COUNT_MAX_V1 : COUNT_MAX))
            return ptx_fault(warp, ins, lane, PTX_FAULT_BARRIER, operand,
                             "an mbarrier for %u arrivals; 1 to 2^20 - 1, with .layout::v1 to 2^9 - 1", operand);
        m = (Mbarrier){.missing = operand, .expected = operand, .v1 = ins->mode == W_LAYOUT_V1};
        set_word(cta, at, pack(&m));
        break;
    case OP_MBAR_INVAL: set_word(cta, at, 0); break;
    case OP_MBAR_LAYOUT: ptx_lane_set(warp, ins->dst, 1, lane, m.v1 == (ins->mode == W_LAYOUT_V1)); return STEP_NEXT;
    case OP_MBAR_EXPECT_TX:
        m.bytes += (gint32)operand;
        set_word(cta, at, pack(&m));
        break;
    case OP_MBAR_COMPLETE_TX: ptx_mbarrier_complete_tx(cta, at, operand); return STEP_NEXT;
    default: return arrive(warp, ins, cta, at, lane);
    }
    ptx_cluster_changed(cta->cluster_of);
    return STEP_NEXT;
}

/* Whether the phase that a lane asks about is over. */
static gboolean phase_over(const PtxWarp *warp, const PtxIns *ins, const PtxCta *cta, guint32 at, guint lane)
{
    const Mbarrier m = unpack(word_at(cta, at));
    guint32 now = ins->mode == W_PHASE_CONDITIONAL ? m.conditional : m.phase;
    guint32 asked = ins->flags & FLAG_PARITY ? ptx_lane_u32(warp, ins->src[1], lane) & 1
                                             : (guint32)(ptx_lane_get(warp, ins->src[1], 8, lane) >> 63);
    return now != asked;
}

/* What the phase that is over had to report; of one that is not, nothing. */
static void give_reports(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask, const guint64 *va, guint32 over)
{
    for (guint l = 0; l < PTX_LANES; l++) {
        PtxCta *cta;
        guint32 at;
        if (!(mask >> l & 1) || !ptx_shared_place(warp, path, ins, va[l], 8, l, &cta, &at))
            continue;
        guint32 report = over >> l & 1 ? unpack(word_at(cta, at)).last : 0;
        if (ins->dst2 != PLACE_NONE)
            ptx_lane_set(warp, ins->dst2, 1, l, report >> 8);
        if (ins->n_vec)
            ptx_lane_set(warp, path->frame->code->places[ins->vec], 2, l, report & 0xff);
    }
}

static PtxStep wait_step(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask, const guint64 *va)
{
    const PtxGrid *grid = warp->cta->grid;
    guint32 over = 0, at = 0;
    PtxCta *cta = NULL;
    for (guint l = 0; l < PTX_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        if (!ptx_shared_place(warp, path, ins, va[l], 8, l, &cta, &at))
            return STEP_FAULT;
        over |= (guint32)phase_over(warp, ins, cta, at, l) << l;
    }
    warp->looked_at = at;
    warp->looks++;
    if (ins->op == OP_MBAR_TRY && over == 0 && !path->timed_out) {
        guint lane = (guint)__builtin_ctz(mask);
        guint64 ns = ins->src[2] != PLACE_NONE ? ptx_lane_u32(warp, ins->src[2], lane) : TRY_WAIT_NS;
        path->at = at;
        path->rank = cta->rank;
        path->state = PATH_MBARRIER;
        warp->tries++;
        path->wake_ps = grid->host->now_ps(grid->user) + ns * 1000;
        return STEP_AGAIN;
    }
    path->timed_out = FALSE;
    for (guint l = 0; l < PTX_LANES; l++)
        if ((mask >> l & 1) && ins->dst != PLACE_NONE)
            ptx_lane_set(warp, ins->dst, 1, l, over >> l & 1);
    if (ins->dst2 != PLACE_NONE || ins->n_vec)
        give_reports(warp, path, ins, mask, va, over);
    return STEP_NEXT;
}

PtxStep ptx_step_mbarrier(PtxWarp *warp, PtxPath *path, const PtxIns *ins, guint32 mask)
{
    guint64 va[PTX_LANES];
    ptx_addresses(warp, ins, 0, ins->imm, va);
    if (ins->op == OP_MBAR_TEST || ins->op == OP_MBAR_TRY)
        return wait_step(warp, path, ins, mask, va);
    for (guint l = 0; l < PTX_LANES; l++) {
        PtxCta *cta;
        guint32 at;
        if (!(mask >> l & 1))
            continue;
        if (!ptx_shared_place(warp, path, ins, va[l], 8, l, &cta, &at) || one_lane(warp, ins, cta, at, l) == STEP_FAULT)
            return STEP_FAULT;
    }
    return STEP_NEXT;
}
