/* What HBM adds to the cost of a bulk loop as a flow: turns between reads and writes, and how late loads are
 * (model/gpu/hbm.h). */
#include "device/flow/cost.h"

#include "model/flow/rates.h"

/* Lines a second for which a GPU's HBM, L2 and links have room, beside what others that run the same loop ask of it. */
static guint64 cost_room_lines(const DeviceCost *cost)
{
    guint64 all = G_MAXUINT64;
    for (guint32 r = 0; r < FLOW_RESOURCES; r++) {
        guint64 amount = 0;
        for (guint32 g = 0; g < cost->fabric->spec.system.gpus; g++)
            amount += cost->amount[g * FLOW_RESOURCES + r];
        all = MIN(all, flow_capacity(cost->fabric->flow, r) / MAX(amount, 1));
    }
    return all;
}

/* The turns between what the loop reads and writes take their part of each HBM's time, other GPUs being taken to read
 * and write as much of this one's memory as it does of theirs. */
static void cost_add_turns(DeviceCost *cost)
{
    const HbmRate *rate = &cost->fabric->gpu[cost->gpu].hbm.rate;
    const guint64 all = cost->hbm[HBM_READ] + cost->hbm[HBM_WRITE];
    const guint64 turns = all * hbm_turns_permille(rate, cost->hbm[HBM_READ], cost->hbm[HBM_WRITE]) / 1000;
    if (turns == 0)
        return;
    const guint64 moves = cost->hbm[HBM_READ] * 1000 / rate->reached_permille[HBM_READ] +
                          cost->hbm[HBM_WRITE] * 1000 / rate->reached_permille[HBM_WRITE];
    for (guint32 g = 0; g < cost->fabric->spec.system.gpus; g++)
        cost->amount[g * FLOW_RESOURCES + FLOW_HBM] += cost->amount[g * FLOW_RESOURCES + FLOW_HBM] * turns / moves;
}

/* Loads that miss are as late as turns of that length make them. */
static void cost_set_late(DeviceCost *cost, SimTime turn_ps)
{
    const HbmLateness *late = &cost->fabric->gpu[cost->gpu].hbm.late;
    const guint32 lines = cost->missed_lines / cost->missed_loads;
    SimTime load_ps = 0, packet_ps = 0;
    for (guint32 i = 0; i < ISSUE_LATE; i++) {
        cost->loop_steps->late_ps[i] = (guint32)hbm_latest_ps(late, turn_ps, lines, i, ISSUE_LATE);
        load_ps += cost->loop_steps->late_ps[i];
        packet_ps += hbm_latest_ps(late, turn_ps, cost->missed_parts, i, ISSUE_LATE);
    }
    cost->head_ps = MAX(cost->answer_ps, cost->missed_ps + load_ps / ISSUE_LATE);
    cost->packet_ps = MAX(cost->answer_ps, cost->missed_ps + packet_ps / ISSUE_LATE);
}

/* How long turns are at the rate at which the launch's CTAs go through the loop if turns are at_ps long. */
static SimTime cost_turn_ps(DeviceCost *cost, const LoopSpec *spec, guint64 lines, SimTime at_ps)
{
    const guint64 hbm = cost->fabric->spec.gpu.hbm_MBps * 1000000000u;
    cost_set_late(cost, at_ps);
    const guint64 all = MIN(device_cost_limit(cost, spec, lines) * cost->cta->launch->ctas, cost->room_lines);
    return hbm_turn_ps(&cost->fabric->gpu[cost->gpu].hbm.late, flow_part(all * cost->hbm[HBM_READ], PS_PER_S, hbm),
                       flow_part(all * cost->hbm[HBM_WRITE], PS_PER_S, hbm), PS_PER_S);
}

/* How late loads are depends on how much HBM reads and writes, and this on how late they are: the launch's CTAs are
 * taken to go through this loop at once, and other GPUs to read and write as much of this one's memory as it does
 * of theirs. What is looked for is the length of turns at which both agree, to some ns, so that few kinds of loops
 * have to be replayed. */
void device_cost_hbm(DeviceCost *cost, const LoopSpec *spec, guint64 lines)
{
    const SimTime step_ps = 16000;
    cost_add_turns(cost);
    if (cost->missed_ps == 0 || !hbm_is_late(&cost->fabric->gpu[cost->gpu].hbm.late))
        return;
    cost->answer_ps = cost->head_ps;
    cost->room_lines = cost_room_lines(cost);
    SimTime low = 0, high = cost_turn_ps(cost, spec, lines, 0) / step_ps + 1; /* steps: they are longer; they are not */
    while (high - low > 1) {
        const SimTime at = (low + high) / 2;
        *(cost_turn_ps(cost, spec, lines, at * step_ps) > at * step_ps ? &low : &high) = at;
    }
    cost_set_late(cost, low * step_ps);
}
