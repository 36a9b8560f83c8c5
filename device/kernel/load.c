/* Loads under way: an access has one part for each micro-operation, and is complete when all are back. */
#include <string.h>

#include "device/kernel/internal.h"

void kernel_bulk_completed(PtxAccess *access)
{
    KernelWarp *owner = access->warp->user;
    if (!access->block)
        return;
    owner->bulk--;
    warp_unpark(owner->warp);
}

static void on_loaded(Reg *reg, SimTime now_ps)
{
    KernelLoad *load = (KernelLoad *)reg;
    KernelWarp *warp = load->warp;
    PtxAccess *access = load->access;
    if (access->block) {
        memcpy(access->block + load->at, reg->bytes, MIN(access->block_bytes - load->at, REG_BYTES));
    } else if (load->is_run) {
        memcpy(access->bytes + (guint)__builtin_ctz(load->mask) * access->width, reg->bytes,
               (gsize)__builtin_popcount(load->mask) * access->width);
    } else {
        guint i = 0;
        for (guint32 left = load->mask; left; left &= left - 1, i++)
            memcpy(access->bytes + (guint)__builtin_ctz(left) * access->width, reg->bytes + i * access->width,
                   access->width);
    }
    load->next = warp->spare;
    warp->spare = load;
    warp->loads--;
    if (--access->parts == 0) {
        kernel_poll_answered(access->warp->user, access, now_ps);
        kernel_bulk_completed(access);
        if (warp->ptx)
            warp->time_ps = MAX(warp->time_ps, now_ps + kernel_acquire_ps(warp, access));
        ptx_access_complete(access);
    }
    if (warp->ptx)
        warp_unpark(warp->warp);
}

Reg *kernel_load_begin(KernelWarp *warp, PtxAccess *access, guint32 mask, gboolean is_run, guint32 at)
{
    KernelLoad *load = warp->spare;
    if (load) {
        warp->spare = load->next;
    } else {
        load = g_new0(KernelLoad, 1);
        load->reg.bytes = g_malloc0(REG_BYTES);
        load->reg.loaded = on_loaded;
        load->warp = warp;
    }
    load->access = access;
    load->mask = mask;
    load->is_run = is_run;
    load->at = at;
    warp->loads++;
    access->parts++;
    return &load->reg;
}

void kernel_loads_clear(KernelWarp *warp)
{
    while (warp->spare) {
        KernelLoad *next = warp->spare->next;
        g_free(warp->spare->reg.bytes);
        g_free(warp->spare->reg.lane_va);
        g_free(warp->spare);
        warp->spare = next;
    }
}
