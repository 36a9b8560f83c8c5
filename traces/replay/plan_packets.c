/* Flags of packets in a plan.
 *
 * On hardware every packet carries a flag beside its data, equal for all of one launch: a reader
 * waits for the packets that it reads, whoever wrote them, in whatever portions, and however often
 * they were read before. Here bytes and flags are apart, and a flag stands for a piece of a buffer
 * that no operation's packets divide: a writer raises the flags of the pieces that it wrote, a
 * reader waits until those of the pieces that it reads have been raised. */
#include <stdlib.h>

#include "traces/replay/plan_run.h"

guint64 plan_part(const PlanRun *run, const PlanOp *op, const PlanRef *ref, guint64 *bytes)
{
    guint64 all = ref->size * run->chunk_bytes;
    guint64 each = (all / op->parts + 15) / 16 * 16;
    guint64 start = MIN(each * op->part, all);
    *bytes = MIN(each, all - start);
    return ref->index * run->chunk_bytes + start;
}

static void add_cuts(PlanRun *run, guint32 rank, PlanBuffer buffer, guint64 from, guint64 to)
{
    GArray *cuts = run->rank[rank].packets.cuts[buffer];
    g_array_append_val(cuts, from);
    g_array_append_val(cuts, to);
}

static void add_ref(PlanRun *run, guint32 rank, const PlanOp *op, const PlanRef *ref)
{
    guint64 bytes, offset = plan_part(run, op, ref, &bytes);
    if (bytes == 0)
        return;
    if (ref->channel < 0) {
        add_cuts(run, ref->rank, ref->buffer, offset, offset + bytes);
        return;
    }
    const GArray *switches = g_array_index(run->plan->ranks, PlanRank, rank).switches;
    const PlanSwitch *channel = &g_array_index(switches, PlanSwitch, ref->channel);
    for (guint i = 0; i < channel->ranks->len; i++)
        add_cuts(run, g_array_index(channel->ranks, guint32, i), channel->buffer, offset, offset + bytes);
}

static int cuts_compare(const void *a, const void *b)
{
    guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;
    return (x > y) - (x < y);
}

static void sort_cuts(GArray *cuts)
{
    guint kept = 0;
    if (cuts->len > 0)
        qsort(cuts->data, cuts->len, sizeof(guint64), cuts_compare);
    for (guint i = 0; i < cuts->len; i++) {
        guint64 cut = g_array_index(cuts, guint64, i);
        if (kept == 0 || cut != g_array_index(cuts, guint64, kept - 1))
            g_array_index(cuts, guint64, kept++) = cut;
    }
    g_array_set_size(cuts, kept);
}

static void add_block(PlanRun *run, guint32 rank, const GArray *ops)
{
    for (guint i = 0; i < ops->len; i++) {
        const PlanOp *op = &g_array_index(ops, PlanOp, i);
        for (guint32 s = op->packet_src; s < op->n_src; s++)
            add_ref(run, rank, op, &op->src[s]);
        for (guint32 d = op->packet_dst; d < op->n_dst; d++)
            add_ref(run, rank, op, &op->dst[d]);
    }
}

void plan_packets_init(PlanRun *run)
{
    guint32 n = run->plan->ranks->len;
    for (guint32 r = 0; r < n; r++)
        for (guint b = 0; b < PLAN_BUFFERS; b++)
            run->rank[r].packets.cuts[b] = g_array_new(FALSE, FALSE, sizeof(guint64));
    for (guint32 r = 0; r < n; r++) {
        const GArray *blocks = g_array_index(run->plan->ranks, PlanRank, r).blocks;
        for (guint b = 0; b < blocks->len; b++)
            add_block(run, r, g_array_index(blocks, PlanBlock, b).ops);
    }
    for (guint32 r = 0; r < n; r++) {
        PlanPackets *packets = &run->rank[r].packets;
        for (guint b = 0; b < PLAN_BUFFERS; b++) {
            sort_cuts(packets->cuts[b]);
            packets->first[b] = packets->flags;
            packets->flags += packets->cuts[b]->len;
        }
    }
}

void plan_packets_clear(PlanPackets *packets)
{
    for (guint b = 0; b < PLAN_BUFFERS && packets->cuts[b]; b++)
        g_array_free(packets->cuts[b], TRUE);
}

static guint32 cut_index(const GArray *cuts, guint64 offset)
{
    const guint64 *found = bsearch(&offset, cuts->data, cuts->len, sizeof(guint64), cuts_compare);
    g_assert(found != NULL); /* plan_packets_init saw every operation */
    return found - (const guint64 *)(const void *)cuts->data;
}

guint32 plan_packets_flags(const PlanRun *run, guint32 rank, PlanBuffer buffer, guint64 offset, guint64 bytes,
                           guint32 *n)
{
    const PlanPackets *packets = &run->rank[rank].packets;
    guint32 from = cut_index(packets->cuts[buffer], offset);
    *n = cut_index(packets->cuts[buffer], offset + bytes) - from;
    return PLAN_FLAG_PACKET + packets->first[buffer] + from;
}
