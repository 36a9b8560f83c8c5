#include "device/kernel/round.h"

#include <string.h>

static KernelRoundLoad load_of(const PtxAccess *access)
{
    KernelRoundLoad load = {access->ins, access->mask, access->width, {0}};
    for (guint32 left = load.mask; left; left &= left - 1)
        load.va[__builtin_ctz(left)] = access->va[__builtin_ctz(left)];
    return load;
}

KernelRound *kernel_round_new(const PtxAccess *first)
{
    KernelRound *round = g_new0(KernelRound, 1);
    round->first = load_of(first);
    return round;
}

gboolean kernel_round_begins(const KernelRound *round, const PtxAccess *access)
{
    if (round->first.ins != access->ins)
        return FALSE;
    KernelRoundLoad load = load_of(access);
    return !memcmp(&round->first, &load, sizeof load);
}

gboolean kernel_round_add(KernelRound *round, const PtxAccess *access)
{
    if (round->n[round->now] == KERNEL_ROUND_LOADS)
        return FALSE;
    round->load[round->now][round->n[round->now]++] = load_of(access);
    return TRUE;
}

gboolean kernel_round_repeats(const KernelRound *round)
{
    return round->n[0] == round->n[1] && !memcmp(round->load[0], round->load[1], round->n[0] * sizeof round->first);
}

void kernel_round_turn(KernelRound *round)
{
    round->turns++;
    round->now = !round->now;
    round->n[round->now] = 0;
}
