/* GPU memory: the bytes behind physical addresses, and the watches of programs that poll them.
 *
 * What hardware it stands for: HBM as seen through the L2 of its home GPU. Remote data is cached in
 * the home GPU's L2 only, so one copy of the bytes is enough.
 * Modelled: regions (physical allocations) backed by private memory of the host, or by a memfd that another process
 * made, so that memory costs the host only what is touched; which lines are in L2 (of a region as a whole, where who
 * made it says whether it, or the part of it in use, fits; else by l2_lines.h); watches.
 * Left out: ECC, compression, page tables (see address_space.h).
 * Timing is in model/gpu/requester.c; this file only holds state. */
#ifndef MODEL_MEMORY_MEMORY_H
#define MODEL_MEMORY_MEMORY_H

#include <glib.h>
#include <pthread.h>
#include <string.h>

#include "model/memory/l2_lines.h"
#include "sim/engine/sim.h"

#define MEMORY_HOST 0xffffu /* "gpu" of regions in host memory */

/* What a request says of the memory that it is for, so that the GPU that serves it need not look it up. */
typedef enum {
    MEMORY_LOOK_UP, /* programs may poll it, or a part is not bound, or a team's members differ */
    MEMORY_IN_L2,   /* its lines are in L2 (of all members) */
    MEMORY_IN_HBM,  /* its lines are in no L2 */
} MemoryPlace;

typedef struct MemWatch MemWatch;
/* The watches of a line, in the order of arming. */
typedef struct {
    MemWatch *head, *tail;
} MemWatchList;

typedef struct MemRegion {
    guint32 id;   /* index in the Memory, from 1 */
    guint16 gpu;  /* home GPU or MEMORY_HOST */
    guint16 numa; /* of host regions */
    guint64 bytes;
    guint64 address;       /* of its first byte in the home GPU's memory: what the link hash sees */
    guint8 *host;          /* room for its bytes, or NULL when timing-only: memory_bytes(), memory_read() */
    const guint8 *pattern; /* what it holds again and again; NULL: what stands in `host` */
    guint64 period;
    gboolean of_file;  /* `host` is mapped from one, of a memfd mostly */
    gboolean borrowed; /* `host` is the caller's */
    guint32 refs;
    gboolean cached;       /* lines are taken to be in the home L2 (see memory_set_cached) */
    gboolean written_back; /* so they are when they are read, but each that is written goes on to HBM */
    L2Lines *l2;           /* those that are; NULL: `cached` says it of all */
    gboolean in_time; /* programs poll it, or may: its bytes change just when the hardware changes them, never later */
    pthread_mutex_t *lock; /* of read-modify-writes, where another process may do some too; NULL: none does */
    guint32 watches;       /* armed on its lines, */
    MemWatchList **watch;  /* by line, in chunks; NULL: none yet */
} MemRegion;

/* Physical pages, 2 MiB each, are handed out in order and never again; regions below that size come from an
 * area of their own, so that equal large allocations have equal addresses in all GPUs. */
#define MEMORY_PAGES(bytes) (((bytes) + 0x1fffff) & ~(guint64)0x1fffff)
#define MEMORY_SMALL_ADDRESS (1ull << 44)
/* Processes that take memory of one GPU have arenas of their own there, so that the addresses of one do not depend on
 * when the other asks. */
#define MEMORY_ARENA_ADDRESS (1ull << 45)

typedef struct Memory Memory;

/* keep_bytes FALSE: timing-only, no region has bytes. */
Memory *memory_new(Sim *sim, gboolean keep_bytes);
void memory_free(Memory *memory);
gboolean memory_keeps_bytes(const Memory *memory);

/* A new region with one reference; bytes > 0. GError (GIO): the host has no memory for it. */
MemRegion *memory_region_new(Memory *memory, guint16 gpu, guint64 bytes, GError **error);
/* The same for flags and counters that programs poll: keeps its bytes even in a timing-only run. */
MemRegion *memory_control_region_new(Memory *memory, guint16 gpu, guint64 bytes, GError **error);
/* Zeros. Whole pages of the host are given back to it: they read as zeros until they are written. */
void memory_region_zero(MemRegion *region, guint64 offset, guint64 bytes);
/* Gives a region the contents of a pattern, repeated from its first byte on, which the host keeps once until one of
 * these bytes is changed. The pattern has MEMORY_READ_MAX bytes more than its period, as they follow in the region.
 * It is the caller's and outlives the region. */
void memory_region_repeat(MemRegion *region, const guint8 *pattern, guint64 period);
/* The same around a memfd that another process made, or a part of a file, from `offset` (a multiple of the host's
 * pages) on, with an address in that arena; all others are in arena 0. The descriptor is not kept. */
MemRegion *memory_region_from_fd(Memory *memory, guint16 gpu, guint16 arena, guint64 bytes, int fd, guint64 offset,
                                 GError **error);
/* The same around bytes that are the caller's, which keeps them for as long as the region lives. */
MemRegion *memory_region_around(Memory *memory, guint16 gpu, guint64 bytes, guint8 *host);
MemRegion *memory_region(Memory *memory, guint32 id); /* NULL: no such region */
void memory_region_ref(MemRegion *region);
/* The lock is robust: the changes of an owner that died stand as they are. If it cannot be locked within seconds, the
 * access goes on without it. */
void memory_lock(pthread_mutex_t *lock);
void memory_region_unref(Memory *memory, MemRegion *region); /* frees at 0 */
/* A program that sweeps more than the L2 holds says so here; the default is TRUE. */
void memory_set_cached(Memory *memory, MemRegion *region, gboolean cached);
/* Of this region, what programs do says which lines are in its GPU's L2 of so many bytes. */
void memory_keep_l2(Memory *memory, MemRegion *region, guint64 l2_bytes);
/* A program that reads what it wrote into this region soon, but writes it again only after more than the L2 holds, says
 * so here: what is written is written back to HBM. Left out: by multicast. */
static inline void memory_set_written_back(MemRegion *region, gboolean written_back)
{
    region->written_back = written_back;
}
/* Whether HBM moves the bytes of a read, or of a write, of a region without L2Lines. */
static inline gboolean memory_region_asks_hbm(const MemRegion *region, gboolean write)
{
    return !region->cached || (write && region->written_back);
}
/* Whether an access that is about to be made finds a line that is not in L2. It brings it there. */
static inline gboolean memory_misses(MemRegion *region, guint64 offset, guint32 bytes, gboolean write)
{
    return region->l2 ? l2_lines_miss(region->l2, offset, bytes) : memory_region_asks_hbm(region, write);
}

/* Watches: `fire` is called (once, then the watch is gone) with the time at which a write that touches
 * [offset, offset + bytes) became visible. The caller embeds the watch and owns it. Watches of one line are
 * fired in the order of arming; `fire` may arm its own watch again (for the next write) and unwatch others. */
typedef void (*MemWatchFire)(MemWatch *watch, SimTime now_ps);
/* Whether a watch that is alone on its line wants to know of a write that left these bytes at its offset: one that does
 * not need not arm itself again. Most writes to the counter of a barrier are of that kind. */
typedef gboolean (*MemWatchWants)(const MemWatch *watch, const guint8 *bytes);
struct MemWatch {
    MemWatch *next, *prev;
    guint32 region;
    guint32 bytes;
    guint64 offset;
    MemWatchFire fire;
    MemWatchWants wants; /* NULL: any; set by the owner once it is armed */
    SimTime visible_ps;  /* of the write, once due */
    gboolean armed, due; /* due: written, `fire` comes next */
};
void memory_watch(Memory *memory, MemWatch *watch, MemRegion *region, guint64 offset, guint32 bytes, MemWatchFire fire);
void memory_unwatch(Memory *memory, MemWatch *watch);
/* All watches that are armed with this `fire`, by region, line and order of arming; for messages. */
void memory_each_watch(Memory *memory, MemWatchFire fire, void (*each)(MemWatch *watch, void *user), void *user);

/* A program is about to poll a region; to be called before it looks at its bytes. At the first time, what has changed
 * them by now but was not done yet is done by `polled`. */
typedef void (*MemoryPolled)(void *user, MemRegion *region);
void memory_on_polled(Memory *memory, MemoryPolled polled, void *user);
void memory_poll_first(Memory *memory, MemRegion *region);
static inline void memory_poll(Memory *memory, MemRegion *region)
{
    if (G_UNLIKELY(!region->in_time))
        memory_poll_first(memory, region);
}

/* Until it is told NULL, `written` is called whenever the hardware has changed bytes of host memory. */
typedef void (*MemoryHostWritten)(void *user);
void memory_on_host_written(Memory *memory, MemoryHostWritten written, void *user);

/* Called by the hardware after bytes changed; cheap while no watch is armed. */
void memory_written_slow(Memory *memory, guint32 id, guint64 offset, guint32 bytes, SimTime now_ps);
/* Fires every watch, in address order: bytes may have changed behind the hardware's back, as when
 * another process shares the memory. */
void memory_poke(Memory *memory, SimTime now_ps);
/* The first members of every Memory: asked for with every packet. */
typedef struct {
    guint32 watches; /* on lines; one more while writes to host memory are told */
    guint32 epoch;
} MemoryHot;
static inline guint32 memory_watches(const Memory *memory)
{
    return ((const MemoryHot *)(const void *)memory)->watches;
}
/* Changes whenever a region's properties do. */
static inline guint32 memory_epoch(const Memory *memory) { return ((const MemoryHot *)(const void *)memory)->epoch; }
/* Bytes of a region that has some, from offset on: to look at or to change. */
void memory_region_write_out(MemRegion *region); /* its pattern, into its own bytes */
static inline guint8 *memory_bytes(MemRegion *region, guint64 offset)
{
    if (G_UNLIKELY(region->pattern != NULL))
        memory_region_write_out(region);
    return region->host + offset;
}
/* Bytes of one lane to or from a region that other processes may have mapped: 16, 8 or 4 of them go in one access of
 * the host's, so that no process sees half of them. (A memcpy() of any length goes by words of 8.) */
static inline void memory_move(guint8 *to, const guint8 *from, guint32 bytes)
{
    if (bytes == 16)
        memcpy(to, from, 16);
    else if (bytes == 8)
        memcpy(to, from, 8);
    else if (bytes == 4)
        memcpy(to, from, 4);
    else
        memcpy(to, from, bytes);
}
/* The words of `mask` (bit w: 4 bytes at 4 w; those beyond `bytes` count for nothing). Words side by side go as 16 or 8
 * bytes where they lie so: a lane's access is seen whole, as on a GPU (packets of data and flag rely on it). */
static inline void memory_move_words(guint8 *to, const guint8 *from, guint32 bytes, guint32 mask)
{
    for (guint32 at = 0, size; mask; mask >>= size / 4, at += size) {
        guint32 none = (guint32)__builtin_ctz(mask);
        mask >>= none;
        at += none * 4;
        if (at >= bytes)
            return;
        size = 4;
        if (mask & 2) {
            guint32 left = bytes - at, off = (guint32)((guintptr)(to + at) % 16);
            if (left >= 16 && (mask & 15) == 15 && off == 0)
                size = 16;
            else if (left >= 8 && off % 8 == 0)
                size = 8;
        }
        memory_move(to + at, from + at, size);
    }
}
/* memory_bytes() for up to MEMORY_READ_MAX bytes that are only looked at, before the region changes in any way. */
#define MEMORY_READ_MAX 256u
static inline const guint8 *memory_read(const MemRegion *region, guint64 offset)
{
    return G_UNLIKELY(region->pattern != NULL) ? region->pattern + offset % region->period : region->host + offset;
}

#define memory_written(memory, region, offset, bytes, now)                                                             \
    do {                                                                                                               \
        if (G_UNLIKELY(memory_watches(memory) > 0))                                                                    \
            memory_written_slow(memory, region, offset, bytes, now);                                                   \
    } while (0)

#endif
