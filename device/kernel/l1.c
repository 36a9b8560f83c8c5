/* The L1 cache of an SM, as far as a kernel's loads see it.
 *
 * Weak loads put the 32 B sectors that they bring into it, of any GPU's memory; later ones of the same SM find them
 * there, or wait for those on their way. A fence or an acquire of more than the CTA empties it, as does the beginning
 * of a kernel. Stores and atomics go through it, and take their sectors out. Its size is what shared memory leaves of
 * the SM's 256 KiB.
 * Modelled as tags alone, direct-mapped: a hit gives what stands in memory when it is due, which PTX allows a weak load
 * to see.
 * Left out: replacement by age, what two kernels on one SM do to each other, write hits that keep a line.
 * Source: h100/memory.csv, ld.global latency (weak, ca, nc, acquire.cta; own and peer), ld.global by lane stride. */
#include <string.h>

#include "device/kernel/internal.h"

#define LINES 1024u /* of 128 B: half of what an SM has, since it is not associative */
#define SECTOR 32u
#define HIT_CLK 37u /* 43 with the address's addition */

typedef struct {
    guint64 line;     /* va / 128 + 1; 0: empty */
    SimTime ready_ps; /* when it is there */
    guint32 epoch;
    guint8 sectors;
} Line;

struct KernelL1 {
    guint32 epoch;
    Line lines[LINES];
};

typedef struct KernelHit {
    PtxAccess *access;
    SimTime due_ps;
} KernelHit;

static KernelL1 *l1_of(const KernelWarp *warp)
{
    KernelLaunch *launch = warp->cta->launch;
    KernelL1 **at = &launch->l1[warp->warp->sm->id];
    if (!*at)
        *at = g_new0(KernelL1, 1);
    return *at;
}

static Line *line_at(KernelL1 *l1, guint64 line)
{
    guint64 hash = line ^ line >> 10 ^ line >> 20;
    return &l1->lines[hash % LINES];
}

void kernel_l1_clear(KernelWarp *warp)
{
    KernelL1 *l1 = warp->cta->launch->l1[warp->warp->sm->id];
    if (l1)
        l1->epoch++;
}

void kernel_l1_free(KernelLaunch *launch)
{
    for (guint64 sm = 0; launch->l1 && sm < launch->fabric->spec.sm.count; sm++)
        g_free(launch->l1[sm]);
    g_free(launch->l1);
}

/* The sectors of a lane's bytes. */
static guint8 sectors_of(guint64 va, guint width)
{
    guint first = va % LINE_BYTES / SECTOR, last = (va % LINE_BYTES + width - 1) / SECTOR;
    return (guint8)((2u << last) - (1u << first));
}

/* When all lanes' bytes are in the cache; 0: some are not. */
static SimTime when_all_hit(KernelL1 *l1, const PtxAccess *access, SimTime now_ps)
{
    SimTime when_ps = now_ps;
    for (guint32 left = access->mask; left; left &= left - 1) {
        guint64 va = access->va[__builtin_ctz(left)];
        const Line *line = line_at(l1, va / LINE_BYTES);
        guint8 sectors = sectors_of(va, access->width);
        if (line->line != va / LINE_BYTES + 1 || line->epoch != l1->epoch || (line->sectors & sectors) != sectors)
            return 0;
        when_ps = MAX(when_ps, line->ready_ps);
    }
    return when_ps;
}

/* What a miss takes when nothing else is asked for: only how long others that need the same line wait depends on it. */
static SimTime trip_ps(const KernelLaunch *launch, guint64 va)
{
    const VasMapping *mapping = vas_find(launch->vas, va);
    const GpuSpec *spec = launch->gpu->spec;
    if (!mapping || !mapping->region || mapping->region->gpu != launch->gpu->id)
        return 5 * spec->local_ps; /* h100/memory.csv: a peer's L2 takes 5.6 times the own one's */
    return spec->local_ps;
}

static void fill(KernelL1 *l1, const KernelLaunch *launch, const PtxAccess *access, SimTime now_ps)
{
    SimTime ready_ps = now_ps + trip_ps(launch, access->va[__builtin_ctz(access->mask)]);
    for (guint32 left = access->mask; left; left &= left - 1) {
        guint64 va = access->va[__builtin_ctz(left)];
        Line *line = line_at(l1, va / LINE_BYTES);
        if (line->line != va / LINE_BYTES + 1 || line->epoch != l1->epoch)
            *line = (Line){.line = va / LINE_BYTES + 1, .epoch = l1->epoch};
        line->sectors |= sectors_of(va, access->width);
        line->ready_ps = ready_ps;
    }
}

static void take_bytes(const KernelLaunch *launch, PtxAccess *access)
{
    for (guint32 left = access->mask; left; left &= left - 1) {
        guint lane = (guint)__builtin_ctz(left);
        launch->host.read((void *)launch, access->va[lane], access->bytes + lane * access->width, access->width);
    }
}

/* What the SM stores is in the L2 alone afterwards: the next load goes there, behind the store. */
static void forget(KernelL1 *l1, const PtxAccess *access)
{
    for (guint32 left = access->mask; l1 && left; left &= left - 1) {
        guint64 va = access->va[__builtin_ctz(left)];
        Line *line = line_at(l1, va / LINE_BYTES);
        if (line->line == va / LINE_BYTES + 1)
            line->sectors &= (guint8)~sectors_of(va, access->width);
    }
}

gboolean kernel_l1_takes(KernelWarp *warp, PtxAccess *access)
{
    KernelLaunch *launch = warp->cta->launch;
    const PtxIns *ins = access->ins;
    gboolean near = access->scope == W_CTA;
    if (access->kind == PTX_ACCESS_STORE || access->kind == PTX_ACCESS_RED || access->kind == PTX_ACCESS_ATOM)
        forget(launch->l1[warp->warp->sm->id], access);
    if (access->kind != PTX_ACCESS_LOAD || access->target != TARGET_REGISTERS || ins->combine == W_CG ||
        (access->order && access->order != W_WEAK && !near))
        return FALSE;
    KernelL1 *l1 = l1_of(warp);
    SimTime when_ps = when_all_hit(l1, access, warp->time_ps);
    if (!when_ps) {
        fill(l1, launch, access, warp->time_ps);
        return FALSE;
    }
    if (!warp->hits)
        warp->hits = g_array_new(FALSE, FALSE, sizeof(KernelHit));
    KernelHit hit = {access, MAX(when_ps, warp->time_ps + HIT_CLK * launch->host.clock_ps)};
    launch->stats.bytes[KERNEL_L1] += (guint64)__builtin_popcount(access->mask) * access->width;
    g_array_append_val(warp->hits, hit);
    return TRUE;
}

SimTime kernel_l1_when(const KernelWarp *warp)
{
    SimTime when_ps = 0;
    for (guint i = 0; warp->hits && i < warp->hits->len; i++) {
        SimTime due_ps = g_array_index(warp->hits, KernelHit, i).due_ps;
        when_ps = when_ps ? MIN(when_ps, due_ps) : due_ps;
    }
    return when_ps;
}

void kernel_l1_due(KernelWarp *warp, SimTime now_ps)
{
    for (guint i = 0; warp->hits && i < warp->hits->len;) {
        KernelHit hit = g_array_index(warp->hits, KernelHit, i);
        if (hit.due_ps > now_ps) {
            i++;
            continue;
        }
        g_array_remove_index(warp->hits, i);
        take_bytes(warp->cta->launch, hit.access);
        ptx_access_complete(hit.access);
    }
}
