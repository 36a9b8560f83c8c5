/* What a warp loads from one load of a loop to the next time that it comes to it: the turn under way, and the one
 * before. Both have the loads in between alone. */
#ifndef DEVICE_KERNEL_ROUND_H
#define DEVICE_KERNEL_ROUND_H

#include "device/kernel/internal.h"

#define KERNEL_ROUND_LOADS 8u /* in a turn */

typedef struct {
    const PtxIns *ins;
    guint32 mask;
    guint32 width;
    guint64 va[PTX_LANES]; /* of lanes that are not in the mask: 0 */
} KernelRoundLoad;

typedef struct {
    KernelRoundLoad first, load[2][KERNEL_ROUND_LOADS];
    guint n[2], now, turns;
} KernelRound;

/* Turns begin at this load. g_free() it. */
KernelRound *kernel_round_new(const PtxAccess *first);
gboolean kernel_round_begins(const KernelRound *round, const PtxAccess *access);
/* One of the turn under way; FALSE: there are too many. */
gboolean kernel_round_add(KernelRound *round, const PtxAccess *access);
/* The turn under way has what the one before had. */
gboolean kernel_round_repeats(const KernelRound *round);
void kernel_round_turn(KernelRound *round);

#endif
