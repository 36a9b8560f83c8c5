/* The polling calls of device programs (fanout/device.h): watches on memory, see model/sm/poll.c. */
#include <string.h>

#include "device/device.h"

static const PollTest device_polls[] = {POLL_EQ, POLL_NE, POLL_DIFF_GE};

/* A load's way to another GPU's L2 and back, without its time on the wires. */
static guint32 device_remote_ps(const FoCta *cta)
{
    const FabricSpec *spec = &cta->launch->fabric->spec;
    return (guint32)(spec->gpu.out_ps + spec->gpu.in_ps + spec->gpu.l2_ps +
                     2 * (2 * spec->link.flight_ps + spec->sw.latency_ps));
}

static gboolean poll_check(FoCta *cta, unsigned n, unsigned width, FoCompare compare, FoOrder order)
{
    if (width != 4 && width != 8)
        device_wrong(cta, 0, UOP_POLL, "a poll of %u B; 4 or 8 are right", width);
    else if ((guint)compare >= G_N_ELEMENTS(device_polls))
        device_wrong(cta, 0, UOP_POLL, "comparison %d; FO_EQ, FO_NE and FO_GE are right", (int)compare);
    else if (n > cta->count && cta->count)
        device_wrong(cta, 0, UOP_POLL, "a poll by %u threads; at most the %u active ones are right", n, cta->count);
    else
        return device_check_order(cta, order, FO_ACQUIRE, 0, UOP_POLL) && cta->count;
    return FALSE;
}

static void device_poll(FoCta *cta, const FoAddress *address, unsigned n, unsigned width, FoCompare compare,
                        uint64_t value, FoOrder order, guint32 rtt_ps)
{
    if (!poll_check(cta, n, width, compare, order) || !device_check_given(cta, address, "addresses", UOP_POLL))
        return;
    Uop uop = {.kind = UOP_POLL,
               .width = (guint8)width,
               .test = (guint8)device_polls[compare],
               .value = value,
               .acquire = order == FO_ACQUIRE,
               .lane_stride = width,
               .rtt_ps = rtt_ps};
    for (guint32 t = 0; t < n; t++)
        if (address[t] % width) {
            device_fault(cta, address[t], UOP_POLL, FAULT_MISALIGNED, NULL);
            return;
        }
    for (guint32 t = 0; t < n; t += WARP_LANES) {
        uop.lanes = (guint8)MIN(WARP_LANES, n - t);
        uop.va = address[t];
        guint64 *lane_va = uop.lanes > 1 ? g_new0(guint64, WARP_LANES) : NULL;
        if (lane_va)
            memcpy(lane_va, address + t, uop.lanes * sizeof *address);
        uop.lane_va = lane_va;
        device_push(cta, (cta->first + t) / WARP_LANES, &uop);
    }
}

void program_poll_at(FoCta *cta, const FoAddress *address, unsigned n, unsigned width, FoCompare compare,
                     uint64_t value, FoOrder order)
{
    device_poll(cta, address, n, width, compare, value, order, 0);
}

void program_poll_members(FoCta *cta, const FoAddress *address, unsigned n, unsigned width, uint64_t value,
                          FoOrder order)
{
    device_poll(cta, address, n, width, FO_GE, value, order, device_remote_ps(cta));
}

void program_poll(FoCta *cta, FoAddress address, unsigned width, FoCompare compare, uint64_t value, FoOrder order)
{
    program_poll_at(cta, &address, 1, width, compare, value, order);
}

void program_poll_seen(FoCta *cta, FoReg *seen, FoAddress address, FoCompare compare, uint64_t value, FoOrder order)
{
    guint32 warp = cta->first / WARP_LANES;
    if (!device_check_reg(cta, seen, address, UOP_POLL) || !poll_check(cta, 1, seen->width, compare, order))
        return;
    if (address % seen->width) {
        device_fault(cta, address, UOP_POLL, FAULT_MISALIGNED, NULL);
        return;
    }
    seen->keep_bytes = TRUE;
    Uop uop = {.kind = UOP_POLL,
               .width = (guint8)seen->width,
               .test = (guint8)device_polls[compare],
               .value = value,
               .acquire = order == FO_ACQUIRE,
               .seen = TRUE,
               .lanes = 1,
               .va = address,
               .lane_stride = seen->width,
               .dst = device_reg(seen, warp)};
    device_push(cta, warp, &uop);
}
