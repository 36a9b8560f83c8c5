/* Virtual memory management: what the memory and multicast families share. */
#ifndef API_CUDA_MEMORY_VMM_H
#define API_CUDA_MEMORY_VMM_H

#include "api/cuda/memory/range.h"
#include "api/cuda/multicast/team.h"

#define VMM_GRANULARITY ((guint64)2 << 20) /* minimum and recommended. source: h200/driver.csv */

/* What a memory handle stands for: one object for each handle value. */
typedef struct {
    Phys *phys; /* holds a reference */
    gboolean by_fabric;
} MemoryHandle;

static inline gboolean aligned(guint64 value, guint64 to) { return value % to == 0; }
/* offset + bytes stays within limit, without wrap-around. */
static inline gboolean fits(guint64 offset, guint64 bytes, guint64 limit)
{
    return bytes <= limit && offset <= limit - bytes;
}

/* Fabric handles need devices that have them (device NULL: the first) and an IMEX channel. */
CUresult vmm_check_fabric(const Cuda *cuda, const CudaDevice *device, guint64 types);
/* A memory or multicast object by its handle; NULL after a diagnostic for stale or forged ones. */
MemoryHandle *vmm_memory(Call *call, guint64 handle);
Team *vmm_team(Call *call, guint64 handle);
/* What a new handle stands for; takes the caller's reference of the memory. */
MemoryHandle *vmm_memory_new(Phys *phys);
/* Drops what a dead handle stood for; call when handle_unref or handle_unpin said so. */
void vmm_memory_free(Call *call, MemoryHandle *memory);

/* Maps phys or team at va and enters the range; takes the references it needs. */
Range *vmm_enter(Call *call, RangeKind kind, guint64 va, guint64 bytes, Phys *phys, Team *team, guint64 offset);
void vmm_leave(Call *call, Range *range); /* unmaps; frees the range and its references */
void vmm_set_access(Call *call, Range *range, int device, guint8 flags);

#endif
